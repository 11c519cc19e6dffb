//! The answer to the next question shows the effect of a command, also in the same packet; refusals are reported.

use std::time::Duration;

use dragoman_bridge::neobotix::parameters::declarations;
use dragoman_bridge::neobotix::wire::CommandKind;
use dragoman_ros::std_msgs::msg::Float64;

use super::Site;
use super::original::begin;
use crate::common::beside::Beside;
use crate::common::neobotix::{
    BREAK, CONNECT, CONTINUE, EXIT, Fields, GET_MAP, GET_POSITION, GET_STATUS, INIT, MOVE_TO_STATION,
    NeobotixClient, SET_MAP, SET_MODE, START, STOP, Status, ints, queue, texts,
};
use crate::common::{sleep, until};

const GET_DEBUG_DATA: u8 = 50;
const SHUTDOWN: u8 = 1;
const RECORDING: u8 = 58;
const PLANNING: i32 = 1;

/// How the effect of a command is visible in the answer to a question in the same packet.
enum CommandCheck {
    Seen {
        /// Before the packet.
        before: Vec<Vec<u8>>,
        /// In the packet: the command, with those that it needs.
        orders: Vec<Vec<u8>>,
        question: Vec<u8>,
        is_seen: fn(Fields) -> bool,
    },
    /// The reason why no answer shows it.
    Unseen(&'static str),
}

/// Seen in the status.
fn in_status(before: &[Vec<u8>], order: Vec<u8>, is_seen: fn(Fields) -> bool) -> CommandCheck {
    CommandCheck::Seen { before: before.to_vec(), orders: vec![order], question: vec![GET_STATUS], is_seen }
}

/// In this motion mode, started.
fn started(mode: i32) -> Vec<Vec<u8>> {
    vec![ints(SET_MODE, &[mode]), vec![START]]
}

fn operation<const N: u8>(fields: Fields) -> bool {
    Status::read(fields).operation == N
}

/// A move command: the planner works, and the last reached target is not the new one.
fn is_planning(fields: Fields) -> bool {
    let status = Status::read(fields);
    status.planner == PLANNING && !status.is_target_reached
}

const MAP: &str = "<map Version=\"1.0\"><!-- first --></map>";
const ROADMAP: &str = "<roadmap><stations/><edges/><!-- first --></roadmap>";
const PROGRAM: &str = "<program><!-- first --></program>";

fn is_first_document(mut fields: Fields) -> bool {
    fields.byte();
    fields.text().contains("first")
}

fn is_first_program(mut fields: Fields) -> bool {
    fields.text().contains("first")
}

/// A document that is set; or, with `load` and `save`, that is saved, replaced by another one, and loaded.
fn document(set: u8, text: &str, files: Option<[u8; 2]>) -> CommandCheck {
    let is_program = text == PROGRAM;
    let setting = |text: &str| if is_program { texts(set, &[text]) } else { texts(set, &["name", text]) };
    let other = setting(&text.replace("first", "second"));
    let (before, orders) = match files {
        None => (vec![other], vec![setting(text)]),
        Some([load, save]) => (vec![other.clone()], vec![setting(text), vec![save], other, vec![load]]),
    };
    let is_seen = if is_program { is_first_program } else { is_first_document };
    CommandCheck::Seen { before, orders, question: vec![set + 1], is_seen }
}

fn is_mapping(mut debug: Fields) -> bool {
    debug.list::<8>();
    debug.flag()
}

/// The row of a command; none for a question.
fn row(kind: CommandKind) -> Option<CommandCheck> {
    use CommandKind as Kind;
    const NO_FIELD: &str = "no reply has a field for it";
    const BUS: &str = "CAN messages come from the bus";
    const EVENT: &str = "an event for a program";
    Some(match kind {
        // Refused without a connection.
        Kind::ConnectToPltf => CommandCheck::Seen {
            before: vec![vec![SHUTDOWN]],
            orders: vec![vec![CONNECT], vec![INIT]],
            question: vec![GET_STATUS],
            is_seen: operation::<0>,
        },
        Kind::ShutdownPltf => in_status(&[], vec![SHUTDOWN], operation::<3>),
        Kind::InitPltf => in_status(&[vec![SHUTDOWN], vec![CONNECT]], vec![INIT], operation::<0>),
        Kind::SetBrake => in_status(&started(3), vec![3, 1, 0], operation::<2>),
        Kind::SetDigout => in_status(&[], [&ints(4, &[0, 3])[..], &[1]].concat(), |fields| {
            Status::read(fields).digital_out == 0b1000
        }),
        Kind::StartUltrasonic => CommandCheck::Unseen("a sensor shows a distance when it has measured"),
        Kind::StopUltrasonic => in_status(&[ints(5, &[0xffff])], vec![6], |fields| {
            Status::read(fields).ultrasonic == [10_000; 16]
        }),
        Kind::AddCanListeningId | Kind::RemoveCanListeningId | Kind::SendCanMessage => {
            CommandCheck::Unseen(BUS)
        }
        Kind::Start => in_status(&[ints(SET_MODE, &[3])], vec![START], operation::<1>),
        Kind::Break => in_status(&started(3), vec![BREAK], operation::<2>),
        Kind::Continue => {
            in_status(&[started(3), vec![vec![BREAK]]].concat(), vec![CONTINUE], operation::<1>)
        }
        Kind::Stop => in_status(&started(3), vec![STOP], operation::<0>),
        Kind::SetMode => in_status(&[], ints(SET_MODE, &[2]), |fields| Status::read(fields).mode == 2),
        Kind::Exit => in_status(&[], vec![EXIT], operation::<3>),
        Kind::CloseSocket => CommandCheck::Unseen("there is no further question"),
        Kind::MovePath => in_status(&started(4), ints(19, &[2, 4500, 3000, 0, 4500, 2500, 0]), is_planning),
        Kind::MoveToStation => in_status(&started(4), texts(MOVE_TO_STATION, &["middle"]), is_planning),
        Kind::MoveAbs => in_status(&started(4), ints(21, &[4500, 3000, -90_000]), is_planning),
        Kind::MoveRel => in_status(&started(4), ints(22, &[500, 0, 0]), is_planning),
        Kind::MoveVelWheel | Kind::MoveVel => {
            CommandCheck::Unseen("the status has the velocity of the ramp, which begins with the next cycle")
        }
        Kind::SetMap => document(SET_MAP, MAP, None),
        Kind::LoadMap | Kind::SaveMap => document(SET_MAP, MAP, Some([27, 28])),
        Kind::MappingStart => CommandCheck::Seen {
            before: vec![],
            orders: vec![vec![29]],
            question: vec![GET_DEBUG_DATA],
            is_seen: is_mapping,
        },
        Kind::MappingReset => CommandCheck::Unseen("the next scan maps lines again"),
        Kind::MappingStop => CommandCheck::Seen {
            before: vec![vec![29]],
            orders: vec![vec![31]],
            question: vec![GET_DEBUG_DATA],
            is_seen: |debug| !is_mapping(debug),
        },
        Kind::SetRoadmap => document(32, ROADMAP, None),
        Kind::LoadRoadmap | Kind::SaveRoadmap => document(32, ROADMAP, Some([34, 35])),
        Kind::SetFrmPltf => CommandCheck::Seen {
            before: vec![],
            orders: vec![ints(36, &[4123, 3456, 0])],
            question: vec![GET_POSITION],
            is_seen: |mut fields| fields.ints() == [4123, 3456],
        },
        Kind::SetPltfParam => CommandCheck::Seen {
            before: vec![],
            orders: vec![texts(37, &["IpoRotvel", "0.5"])],
            question: texts(38, &["IpoRotvel"]),
            is_seen: |mut fields| (fields.text(), fields.text()) == ("IpoRotvel".into(), "0.5".into()),
        },
        Kind::SetProgram => document(40, PROGRAM, None),
        Kind::LoadProgram | Kind::SaveProgram => document(40, PROGRAM, Some([42, 43])),
        Kind::SetPosHeadDrive => in_status(&[], ints(47, &[45]), |fields| Status::read(fields).head == 45),
        Kind::SpeakText | Kind::PlaySound | Kind::GrabImage => CommandCheck::Unseen(NO_FIELD),
        Kind::SetVelHeadDrive | Kind::SetPosPanTiltCamera => CommandCheck::Unseen(NO_FIELD),
        Kind::Debug1 | Kind::Debug2 | Kind::Debug3 | Kind::Debug4 => CommandCheck::Unseen(EVENT),
        Kind::MouseMove => CommandCheck::Seen {
            before: vec![],
            orders: vec![ints(55, &[1000, 1000, 2])],
            question: vec![GET_DEBUG_DATA],
            is_seen: |mut debug| {
                let _ = (debug.list::<8>(), debug.flag(), debug.list::<3>());
                let near = |place: i32| (500..=1500).contains(&place);
                debug.list::<9>().iter().any(|[_, _, x, y, ..]| near(*x) && near(*y))
            },
        },
        Kind::SetLogEnabled | Kind::SetPostProcessFilename => {
            CommandCheck::Unseen("no effect, as on the original")
        }
        // A replay, of what the test has recorded.
        Kind::SetEvent => in_status(&[ints(SET_MODE, &[6])], ints(RECORDING, &[3]), operation::<1>),
        Kind::GetCanMessages
        | Kind::GetStatus
        | Kind::GetMap
        | Kind::GetRoadmap
        | Kind::GetPltfParam
        | Kind::GetPltfParamVec
        | Kind::GetProgram
        | Kind::GetDebugData
        | Kind::GetCamera
        | Kind::GetPosition => return None,
    })
}

/// The guide's commands have no answer: a client that wants to know what became of one asks.
#[test]
fn a_question_in_the_packet_of_a_command_sees_its_effect() {
    let mut asked = 0;
    for kind in CommandKind::all() {
        let Some(row) = row(kind) else {
            assert!(kind.is_answered(), "{kind}");
            continue;
        };
        let CommandCheck::Seen { before, orders, question, is_seen } = row else { continue };
        let site = Site::new();
        let _head = Beside::new(site.lab.domain).subscribe::<Float64>("/neobotix/head/position");
        let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
        begin(client, 3);
        client.until("it knows where it is", |status| !status.is_lost);
        if kind == CommandKind::SetEvent {
            client.order(&ints(RECORDING, &[1]));
            sleep(Duration::from_secs(1));
            client.order(&ints(RECORDING, &[2]));
        }
        client.order(&[STOP]);
        before.iter().for_each(|order| client.order(order));
        if kind == CommandKind::StopUltrasonic {
            client.until("the sensors measure", |status| status.ultrasonic != [10_000; 16]);
        }
        assert!(!is_seen(client.ask(&question)), "{kind} has an effect before it comes");
        assert!(is_seen(client.ask_with(&orders, &question)), "{kind}");
        asked += 1;
    }
    assert!(asked > 30, "{asked}");
}

/// What the reply to CMD_GET_PLTF_PARAM says of minimum and maximum is true, and a refusal names the parameter.
#[test]
fn every_parameter_is_accepted_from_its_minimum_to_its_maximum_and_not_beyond() {
    let site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    client.status();
    let value = |client: &mut NeobotixClient, key: &str| {
        let mut reply = client.ask(&texts(38, &[key]));
        let (_, value) = (reply.text(), reply.text());
        let [_, _, minimum, maximum] = reply.ints();
        (value, minimum, maximum)
    };
    for one in declarations() {
        let key = one.key;
        let (default, minimum, maximum) = value(client, key);
        for accepted in [minimum, maximum].map(|limit| limit.to_string()) {
            client.order(&texts(37, &[key, &accepted]));
            let now = value(client, key).0;
            let is_same = now == accepted || [("0", "false"), ("1", "true")].contains(&(&*accepted, &*now));
            assert!(is_same, "{key} = {accepted}: {now}, {:?}", queue(client.ask(&[GET_DEBUG_DATA])));
            assert_eq!(queue(client.ask(&[GET_DEBUG_DATA])), Vec::<String>::new(), "{key} = {accepted}");
        }
        let before = value(client, key).0;
        for refused in [f64::from(minimum) - 0.001, f64::from(maximum) + 0.001] {
            client.order(&texts(37, &[key, &refused.to_string()]));
            assert_eq!(value(client, key).0, before, "{key} = {refused}");
            let lines = queue(client.ask(&[GET_DEBUG_DATA]));
            let begins = format!("CMD_SET_PLTF_PARAM: {key} = ");
            assert!(lines.len() == 1 && lines[0].starts_with(&begins), "{key} = {refused}: {lines:?}");
        }
        client.order(&texts(37, &[key, &default]));
        assert_eq!(value(client, key).0, default);
    }
}

/// The protocol's status says PLANNER_NO_PATH; the queue says which station was meant.
#[test]
fn refusals_say_what_is_wrong_in_few_words() {
    let site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    begin(client, 4);
    queue(client.ask(&[GET_DEBUG_DATA]));
    let long = "x".repeat(1000);
    let tasks: String = (0..257).map(|at| format!("<task name='{at}'/>")).collect();
    let many = format!("<program>{tasks}</program>");
    for (order, words) in [
        (
            texts(MOVE_TO_STATION, &["midle"]),
            "CMD_MOVE_TO_STATION: there is no station \"midle\" in the roadmap; did you mean 'middle'?".to_owned(),
        ),
        (
            texts(MOVE_TO_STATION, &["kitchen"]),
            "CMD_MOVE_TO_STATION: there is no station \"kitchen\" in the roadmap; known: north, middle, west"
                .to_owned(),
        ),
        (
            texts(MOVE_TO_STATION, &[&long]),
            format!(
                "CMD_MOVE_TO_STATION: there is no station \"{}... (920 more characters)\" in the roadmap; \
                 known: north, middle, west",
                "x".repeat(80)
            ),
        ),
        (
            ints(21, &[i32::MAX, 0, 0]),
            "CMD_MOVE_ABS: a coordinate is more than 100000 m from the origin of the map".to_owned(),
        ),
        (
            ints(36, &[0, i32::MIN, 0]),
            "CMD_SET_FRM_PLTF: a coordinate is more than 100000 m from the origin of the map".to_owned(),
        ),
        (
            texts(
                SET_MAP,
                &["m", "<map><layer><prohibit><point x='0' y='0'/><point x='1' y='1'/></prohibit></layer></map>"],
            ),
            "CMD_SET_MAP: m: line 1, column 13: <prohibit> needs at least three <point>; it has 2".to_owned(),
        ),
        (
            texts(
                SET_MAP,
                &["m", "<map><layer><circle><center x='1e300' y='0'/><radius r='1'/></circle></layer></map>"],
            ),
            "CMD_SET_MAP: m: line 1, column 21: a coordinate in mm is 1e300, which is not between \
             -2147483647 and 2147483647"
                .to_owned(),
        ),
        (
            texts(
                SET_MAP,
                &["m", "<map><layer><circle><center x='0' y='0'/><radius r='-5'/></circle></layer></map>"],
            ),
            "CMD_SET_MAP: m: line 1, column 42: the radius in mm is -5, which is not between 0.001 and 2147483647"
                .to_owned(),
        ),
        (
            texts(40, &[&many]),
            "CMD_SET_PROGRAM: program: line 1, column 1: the program has 257 tasks; the maximum is 256".to_owned(),
        ),
    ] {
        client.order(&order);
        assert_eq!(queue(client.ask(&[GET_DEBUG_DATA])), [words]);
    }
    let status = client.status();
    assert!(!status.is_target_reached, "{status:?}");
    // A lateral velocity is not ignored silently.
    client.order(&[STOP]);
    client.order(&ints(SET_MODE, &[3]));
    client.order(&[START]);
    client.order(&ints(24, &[100, 0, 100]));
    let words = "CMD_MOVE_VEL: the drives cannot move the platform sideways; leave out the lateral velocity";
    assert_eq!(queue(client.ask(&[GET_DEBUG_DATA])), [words]);
}

/// A declared encoding is that of the text: in the reply, in the file, and for the names of stations.
#[test]
fn documents_in_latin_1_are_read_with_their_letters() {
    let site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    begin(client, 4);
    client.until("it knows where it is", |status| !status.is_lost);
    let latin: Vec<u8> = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><roadmap><stations>\
        <station id=\"1\" name=\"K\u{fc}che\" angle=\"0\"><point x=\"4000\" y=\"3500\"/></station>\
        </stations><edges/></roadmap>"
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)).unwrap())
        .collect();
    let text = |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    client.order(&[&[32][..], &text(b"latin"), &text(&latin)].concat());
    client.order(&[35]);
    let mut reply = client.ask(&[33]);
    reply.byte();
    let kept = reply.text();
    assert!(kept.contains("K\u{fc}che") && kept.contains("encoding=\"UTF-8\""), "{kept}");
    let file = site.folder.0.join("roadmaps/latin.xml");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), kept);
    // A file of the original's.
    std::fs::write(&file, &latin).unwrap();
    client.order(&[34]);
    for name in [&b"K\xfcche"[..], "K\u{fc}che".as_bytes()] {
        client.order(&[&[MOVE_TO_STATION][..], &text(name)].concat());
        assert_eq!(client.status().planner, PLANNING, "{:?}", queue(client.ask(&[GET_DEBUG_DATA])));
        client.order(&[STOP]);
        client.order(&[START]);
    }
}

/// As the guide's client sees it: the platform drives on to its target.
#[test]
fn a_goal_is_reached_though_the_map_and_the_pose_are_set_on_the_way() {
    let mut site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    begin(client, 4);
    client.until("it knows where it is", |status| !status.is_lost);
    let map = client.ask(&[GET_MAP]).text_after_byte();
    client.order(&texts(MOVE_TO_STATION, &["middle"]));
    for _ in 0..2 {
        client.until("it drives", |status| status.velocity[0] > 300);
        client.order(&texts(SET_MAP, &["again", &map]));
        assert_eq!(client.status().planner, PLANNING);
        client.until("it drives again", |status| status.velocity[0] > 300);
        let [x, y, angle] = client.status().estimated;
        client.order(&ints(36, &[x, y, angle]));
        assert_eq!(client.status().planner, PLANNING);
    }
    client.until("it is there", |status| status.is_target_reached);
    let [x, y, ..] = site.truth();
    assert!((x - 1.0).hypot(y - 3.0) < 0.03, "{x} {y}");
    // A map in which the goal cannot be reached: the planner says so, and the queue.
    client.order(&texts(MOVE_TO_STATION, &["north"]));
    client.until("it drives", |status| status.velocity[0] > 300);
    queue(client.ask(&[GET_DEBUG_DATA]));
    let area = "<prohibit><point x=\"3500\" y=\"3000\"/><point x=\"5500\" y=\"3000\"/>\
                <point x=\"5500\" y=\"4600\"/><point x=\"3500\" y=\"4600\"/></prohibit>";
    client.order(&texts(SET_MAP, &["closed", &map.replacen("</layer>", &format!("{area}</layer>"), 1)]));
    let status = client.status();
    assert!(status.planner == 5 && !status.is_target_reached, "{status:?}");
    let mut lines = Vec::new();
    until("the failure is reported", || {
        lines.extend(queue(client.ask(&[GET_DEBUG_DATA])));
        lines.iter().any(|line| line.starts_with("the motion has failed: "))
    });
    client.until("it stands", |status| status.velocity == [0, 0]);
    assert!(site.stands());
}

/// Refused effects of programs: the program continues, and clients receive the reason.
#[test]
fn refused_effects_of_a_program_are_in_the_queue() {
    let site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    begin(client, 4);
    client.order(&[STOP]);
    let program = "<program><task name='t'>\
        <motion><settarget><station name='midle'/></settarget></motion>\
        <motion><moveto><trackedball/></moveto></motion>\
        <load map='none'/>\
        <audio><speak text='a'/></audio><audio><play filename='none.wav'/></audio>\
        <turnhead angle='10'/>\
        <surveillance><movecamera position='home'/></surveillance>\
        <surveillance><grab filename='../x' grabscan='1'/></surveillance>\
        <surveillance><grab filename='p' grabimage='true'/></surveillance>\
        <log message='done'/></task></program>";
    queue(client.ask(&[GET_DEBUG_DATA]));
    client.order(&texts(40, &[program]));
    client.order(&ints(SET_MODE, &[5]));
    client.order(&[START]);
    let expected = [
        "refused: there is no station \"midle\" in the roadmap; did you mean 'middle'?",
        "refused: the position of the Ball is unknown",
        "maps/none.xml: ",
        "refused: there is no speech: its topic has no subscribers",
        "refused: there is no sound file ",
        "refused: there is no head: its topic has no subscribers",
        "refused: there is no pan-tilt camera: its topic has no subscribers",
        "refused: '../x' is not a plain file name: '/' is not permitted",
        "refused: there is no camera: parameter image_topic is empty",
        "done",
    ];
    let mut lines: Vec<String> = Vec::new();
    until("all is reported", || {
        lines.extend(queue(client.ask(&[GET_DEBUG_DATA])));
        lines.len() >= expected.len()
    });
    for words in expected {
        assert_eq!(lines.iter().filter(|line| line.contains(words)).count(), 1, "{words}: {lines:#?}");
    }
}
