//! The lab's arm over the 31-byte protocol, and an arm behind a controller of that protocol.

use std::time::Duration;

use dragoman_bridge::arm31::wire::{Command, Role};
use dragoman_ros::dragoman_msgs::msg::{DriveStatus, MotionStatus};
use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::moveit_msgs::srv::GetPositionFK;
use dragoman_ros::rcl_interfaces::srv::GetParameters;
use dragoman_ros::std_msgs::msg::String as StringMessage;
use dragoman_ros::{Node, QosProfile, WrappedTypesupport};
use futures::Stream;

use crate::common::{
    self, ArmClient, ArmReply, Folder, Lab, call, distance, find, latched, node, roll_pitch_yaw, sleep,
    within,
};
use crate::device::Device;

const NOTHING: [f32; 7] = [0.0; 7];
/// Tool position at home, from table 2.1 of the Ranger thesis: y is the sum of a2, a3 and the tool minus d4, z that of
/// d1, a3 and tool.
const HOME: [f32; 3] = [0.0, 0.0201, 0.6671];

fn values(given: &[f32]) -> [f32; 7] {
    std::array::from_fn(|i| given.get(i).copied().unwrap_or(0.0))
}

fn reply(letters: &str, answer: &ArmReply) -> [f32; 7] {
    match answer {
        ArmReply::Values(got, values, _) => {
            assert_eq!(std::str::from_utf8(got), Ok(letters));
            *values
        }
        ArmReply::Text(text) => panic!("{letters} was expected, not '{text}'"),
    }
}

/// The goal `height` metres above the tool, in the form for `GT`.
fn above(client: &ArmClient, height: f32) -> [f32; 7] {
    let pose = client.ask("PS", NOTHING, 0).values();
    let [roll, pitch, yaw] = roll_pitch_yaw(pose);
    [pose[0], pose[1], pose[2] + height, roll, pitch, yaw, 0.0]
}

/// Begins a motion after the end of the last one.
fn begin(client: &ArmClient) {
    within(Duration::from_secs(1), "BG is accepted", || {
        matches!(client.ask("BG", NOTHING, 0), ArmReply::Values(..))
    });
}

#[test]
fn a_client_moves_the_arm_three_centimetres_up_and_stops_it_midway_down() {
    let lab = Lab::only("ranger");
    let client = lab.client();
    let home = client.position();
    assert!(distance(home, HOME) < 1e-5, "{home:?}");
    assert_eq!(reply("MC", &client.ask("CM", values(&[2.0]), 0)), values(&[2.0]));
    let goal = above(&client, 0.03);
    assert_eq!(reply("TG", &client.ask("GT", goal, 0)), goal);
    reply("GB", &client.ask("BG", NOTHING, 0));
    assert_eq!(client.ask("BG", NOTHING, 0).text(), "ER20 Cmd BG rejected", "while a motion runs");
    assert!(
        client.arrives([goal[0], goal[1], goal[2]], 1e-4, Duration::from_secs(20)),
        "{:?}",
        client.position()
    );

    let start = client.position();
    client.ask("GT", above(&client, -0.03), 0);
    begin(&client);
    common::until("it is on its way", || distance(client.position(), start) >= 0.005);
    reply("TS", &client.ask("ST", NOTHING, 0));
    sleep(Duration::from_millis(500));
    let stopped = client.position();
    sleep(Duration::from_millis(300));
    assert!(distance(stopped, client.position()) < 1e-5, "the arm rests");
    assert!((0.005..0.02).contains(&distance(stopped, start)), "midway: {stopped:?}");
}

#[test]
fn a_file_with_motion_parameters_can_be_given() {
    let folder = common::Folder::new();
    let text = "/ranger/kinematics:\n  ros__parameters:\n    cartesian:\n      \
        max_velocity: [0.02, 0.02, 0.02, 0.04, 0.04, 0.04]\n    twist_timeout: 0.25\n";
    let arguments = ["up", "--only", "ranger", "--config", &folder.write("motion.yaml", text)];
    let lab = Lab::start_with(0, &arguments, &[]);
    assert!(distance(lab.client().position(), HOME) < 1e-5);
    let names = vec!["cartesian.max_velocity".to_owned(), "twist_timeout".to_owned()];
    let client = node(lab.domain).create_client::<GetParameters::Service>(
        "/ranger/kinematics/get_parameters",
        QosProfile::services_default(),
    );
    let values = call(&client.unwrap(), &GetParameters::Request { names }).values;
    assert_eq!(values[0].double_array_value, [0.02, 0.02, 0.02, 0.04, 0.04, 0.04]);
    assert_eq!(values[1].double_value, 0.25);
}

#[test]
fn every_included_robot_takes_commands() {
    for robot in ["ranger_mk2", "platform_arm", "widowx"] {
        let lab = Lab::start_with(0, &["up", "--only", "ranger", "--robot", robot], &[]);
        let client = lab.client();
        reply("MC", &client.ask("CM", values(&[2.0]), 0));
        let start = client.position();
        client.ask("GT", above(&client, 0.01), 0);
        begin(&client);
        let goal = [start[0], start[1], start[2] + 0.01];
        assert!(client.arrives(goal, 1e-4, Duration::from_secs(20)), "{robot}: {:?}", client.position());
    }
}

#[test]
fn every_command_of_appendix_a_is_answered() {
    let lab = Lab::only("ranger");
    let client = lab.client();
    client.position();
    let joints = client.ask("jP", NOTHING, 0).values();
    let home = [
        std::f32::consts::FRAC_PI_2,
        0.0,
        std::f32::consts::FRAC_PI_2,
        0.0,
        std::f32::consts::FRAC_PI_2,
        0.0,
        0.0,
    ];
    assert!(joints.iter().zip(home).all(|(got, home)| (got - home).abs() < 1e-6), "{joints:?}");
    let temperatures = client.ask("TM", NOTHING, 0).values();
    assert!(temperatures[..6].iter().all(|celsius| (20.0..60.0).contains(celsius)), "{temperatures:?}");
    assert_eq!(temperatures[6], -1000.0, "there is no seventh drive");

    // Joint space.
    reply("MC", &client.ask("CM", values(&[1.0]), 0));
    let goal = values(&[1.60, 0.02, 1.55, 0.01, 1.56, 0.01]);
    assert_eq!(reply("Gj", &client.ask("jG", goal, 0)), goal);
    reply("Bj", &client.ask("jB", NOTHING, 0));
    common::until("the joints arrive", || {
        client.ask("jP", NOTHING, 0).values().iter().zip(goal).all(|(got, goal)| (got - goal).abs() < 1e-4)
    });
    reply("Rj", &client.ask("jR", NOTHING, 0));
    for (index, offset) in [(0, 0.01), (1, 0.02)] {
        let point = values(&[1.60 - offset, 0.02, 1.55, 0.01, 1.56, 0.01, 0.2]);
        let answer = client.ask("jV", point, index);
        assert_eq!(answer, ArmReply::Values(*b"Vj", point, index));
    }
    reply("Ej", &client.ask("jE", NOTHING, 0));
    common::until("the last via point is reached", || {
        (client.ask("jP", NOTHING, 0).values()[0] - 1.58).abs() < 1e-3
    });
    reply("TS", &client.ask("ST", NOTHING, 0));
    reply("Cj", &client.ask("jC", NOTHING, 0));
    assert_eq!(client.ask("jE", NOTHING, 0).text(), "ER20 Cmd jE rejected", "no via points");

    // Cartesian space.
    reply("MC", &client.ask("CM", values(&[2.0]), 0));
    let pose = client.ask("PS", NOTHING, 0).values();
    reply("LG", &client.ask("GL", pose, 0));
    let up = above(&client, 0.005);
    assert_eq!(client.ask("VP", up, 0), ArmReply::Values(*b"PV", up, 0));
    reply("EV", &client.ask("VE", NOTHING, 0));
    assert!(client.arrives([up[0], up[1], up[2]], 1e-4, Duration::from_secs(20)));
    reply("TS", &client.ask("ST", NOTHING, 0));
    reply("CV", &client.ask("VC", NOTHING, 0));
    assert_eq!(client.ask("VE", NOTHING, 0).text(), "ER20 Cmd VE rejected", "no via points");

    // Drives.
    reply("FO", &client.ask("OF", NOTHING, 0));
    sleep(Duration::from_millis(50));
    assert_eq!(client.ask("BG", NOTHING, 0).text(), "ER20 Cmd BG rejected", "disabled");
    reply("NO", &client.ask("ON", NOTHING, 0));
    reply("MC", &client.ask("CM", NOTHING, 0));
    reply("CR", &client.ask("RC", values(&[1.5, 0.1, 1.5, 0.0, 1.5, 0.0]), 0));
    sleep(Duration::from_millis(200));
    assert!((client.ask("jP", NOTHING, 0).values()[1] - 0.1).abs() < 1e-6);
}

#[test]
fn every_error_text_is_seen() {
    // A ceiling just above the tool, and speeds at which a far goal is reached soon. Paths are slowed to what the drives
    // can follow: otherwise the tool leaves its path, through the ceiling.
    let ros_arguments = [
        ["-p", "kinematics:workspace.bounds:=[-0.8, 2.0, -2.0, 2.0, -1.0, 0.68]"],
        ["-p", "kinematics:cartesian.max_velocity:=[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]"],
        ["-p", "kinematics:cartesian.max_acceleration:=[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]"],
        ["-p", "kinematics:joint.max_rate:=[0.9, 0.9, 0.9, 0.9, 0.9, 0.9]"],
        ["-p", "kinematics:joint.limit_paths:=true"],
    ];
    let lab = Lab::start_with(0, &["up", "--only", "ranger"], ros_arguments.as_flattened());
    let client = lab.client();
    client.position();
    client.socket.send(b"PS 29 bytes are not enough...").unwrap();
    assert_eq!(client.receive().unwrap().text(), "ER01 Msg PS undersized.");
    assert_eq!(client.ask("QQ", NOTHING, 0).text(), "ER00 Cmd QQ not understood");
    assert_eq!(client.ask("BG", NOTHING, 0).text(), "ER20 Cmd BG rejected");
    assert_eq!(
        client.ask("GL", values(&[0.1, 0.5, 0.4]), 0).text(),
        "ER20 Cmd GL rejected",
        "zero quaternion"
    );
    for bad in [f32::NAN, f32::INFINITY] {
        assert_eq!(client.ask("GT", values(&[0.1, bad, 0.4]), 0).text(), "ER20 Cmd GT rejected");
        assert_eq!(client.ask("jG", values(&[bad]), 0).text(), "ER20 Cmd jG rejected");
        assert_eq!(client.ask("CM", values(&[bad]), 0).text(), "ER20 Cmd CM rejected");
    }
    assert_eq!(client.ask("CM", values(&[3.0]), 0).text(), "ER20 Cmd CM rejected");
    assert_eq!(client.ask("VP", NOTHING, 20).text(), "ER20 Cmd VP rejected");
    assert_eq!(client.ask("jV", NOTHING, 20).text(), "ER20 Cmd jV rejected");

    // A joint goal beyond the limit is clamped, with a warning; the motion continues.
    client.ask("CM", values(&[1.0]), 0);
    let beyond = values(&[1.57, 0.0, 1.7, 0.0, 1.57, 0.0]);
    client.send("jG", beyond, 0);
    let is_received = listen(&client, "WN12 Joint limit.", Duration::from_secs(5));
    assert!(is_received, "WN12");
    // A Cartesian goal above the ceiling is approached and abandoned.
    client.ask("CM", values(&[2.0]), 0);
    let mut above = client.ask("PS", NOTHING, 0).values();
    above[2] += 0.1;
    client.ask("GL", above, 0);
    client.send("BG", NOTHING, 0);
    assert!(listen(&client, "ER21 Work space limit.", Duration::from_secs(20)), "ER21");
    // A goal out of reach.
    client.ask("ST", NOTHING, 0);
    let mut far = client.ask("PS", NOTHING, 0).values();
    far[1] = 1.9;
    client.ask("GL", far, 0);
    client.send("BG", NOTHING, 0);
    assert!(listen(&client, "WN22 Inv Kin Divergence.", Duration::from_secs(60)), "WN22");
}

/// Whether `text` arrives within `time_limit`.
fn listen(client: &ArmClient, text: &str, time_limit: Duration) -> bool {
    let start = dragoman_time::now();
    client.socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut is_received = false;
    while !is_received && dragoman_time::since(start) < time_limit {
        is_received = matches!(client.receive(), Some(ArmReply::Text(got)) if got == text);
    }
    client.socket.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    is_received
}

#[test]
fn the_client_side_makes_the_server_side_an_arm_of_another_graph() {
    let lab = Lab::only("ranger");
    let controller = lab.address.to_string();
    // The bridged arm is in another domain, and a second server side in that domain closes the circle.
    let _bridge = Lab::start_with(OTHER, &["arm31", "--controller", &controller], &[]);
    let far = bridge_only();
    let (near, through) = (lab.client(), far.client());
    within(Duration::from_secs(1), "the pose comes through", || {
        matches!(through.ask("PS", NOTHING, 0), ArmReply::Values(..))
    });
    assert!(distance(near.position(), through.position()) < 1e-6);
    reply("MC", &through.ask("CM", values(&[2.0]), 0));
    assert_eq!(through.ask("BG", NOTHING, 0).text(), "ER20 Cmd BG rejected", "no goal");
    let goal = above(&through, 0.01);
    reply("TG", &through.ask("GT", goal, 0));
    reply("GB", &through.ask("BG", NOTHING, 0));
    assert!(through.arrives([goal[0], goal[1], goal[2]], 1e-4, Duration::from_secs(20)));
    assert!(distance(near.position(), [goal[0], goal[1], goal[2]]) < 1e-4);
}

/// Values set by commands that no query returns: goals, via points, the mode, whether the drives are on.
const WITHOUT_QUERY: [Command; 11] = [
    Command::SetCommandMode,
    Command::SetGoalPose,
    Command::SetTimedGoalPose,
    Command::ClearJointViaPoints,
    Command::SetJointGoal,
    Command::ResetJointMotion,
    Command::SetJointViaPoint,
    Command::Disable,
    Command::Enable,
    Command::ClearViaPoints,
    Command::SetViaPoint,
];

/// The queries are the next datagrams, and do not wait for the answer.
#[test]
fn what_was_set_is_in_the_next_answer() {
    let lab = Lab::only("ranger");
    let client = lab.client();
    let start = reply("Pj", &client.ask("jP", NOTHING, 0));
    for round in 0_u8..12 {
        let shift = if round % 2 == 0 { 0.05 } else { 0.0 };
        let mut declared = start;
        declared[1] += shift;
        declared[4] -= shift;
        for (letters, given) in [("RC", declared), ("jP", NOTHING), ("PS", NOTHING)] {
            client.send(letters, given, 0);
        }
        let answers: Vec<ArmReply> = (0..3).map(|_| client.receive().unwrap()).collect();
        reply("CR", &answers[0]);
        let joints = reply("Pj", &answers[1]);
        let nearest = joints.iter().zip(declared).map(|(shown, declared)| (shown - declared).abs());
        assert!(nearest.fold(0.0, f32::max) < 1e-3, "{joints:?} instead of {declared:?}");
        let pose = reply("SP", &answers[2]);
        sleep(Duration::from_millis(300 + u64::from(round)));
        let later = reply("SP", &client.ask("PS", NOTHING, 0));
        assert!(
            distance([pose[0], pose[1], pose[2]], [later[0], later[1], later[2]]) < 1e-4,
            "{pose:?} {later:?}"
        );
    }
    for command in Command::all().filter(|command| command.role() == Role::Setting) {
        let is_listed = WITHOUT_QUERY.contains(&command);
        assert!(is_listed != (command == Command::Recalibrate), "{command} is in one of the lists");
    }
}

/// The next message that `holds`.
#[track_caller]
fn awaited<T>(messages: &mut (impl Stream<Item = T> + Unpin), holds: impl Fn(&T) -> bool) -> T {
    find(messages, |message| Some(message).filter(&holds))
}

/// The domain of the arm behind a controller.
const OTHER: u16 = 1;

/// A server side for that arm, beside that of the lab.
fn bridge_only() -> Lab {
    Lab::start_with(OTHER, &["up", "--bridge-only", "--only", "ranger"], &["-p", "arm31:port:=5032"])
}

#[test]
fn an_arm_behind_a_controller_has_the_topics_of_one_in_the_lab() {
    let lab = Lab::only("ranger");
    let controller = lab.address.to_string();
    let arguments = ["arm31", "--controller", &controller, "--robot", "ranger_mk1"];
    let _bridge = Lab::start_with(OTHER, &arguments, &[]);
    let far = bridge_only();
    let mut node = Node::create(common::context(OTHER), "observer", "/ranger").unwrap();
    fn subscribe<T: WrappedTypesupport + 'static>(
        node: &mut Node,
        topic: &str,
        qos: QosProfile,
    ) -> impl Stream<Item = T> + Unpin + use<T> {
        node.subscribe::<T>(topic, qos).unwrap()
    }
    let mut statuses = subscribe::<MotionStatus>(&mut node, "motion_status", latched().keep_last(100));
    let mut drives = subscribe::<DriveStatus>(&mut node, "drive_status", latched().keep_last(100));
    let mut descriptions = subscribe::<StringMessage>(&mut node, "robot_description", latched());
    let mut setpoints = subscribe::<PoseStamped>(&mut node, "setpoint", QosProfile::default());
    let mut poses = subscribe::<PoseStamped>(&mut node, "pose", QosProfile::default());
    assert!(awaited(&mut descriptions, |_| true).data.contains("<robot"));
    assert!(!awaited(&mut statuses, |_| true).moving);

    let client = far.client();
    within(Duration::from_secs(1), "the pose comes through", || {
        matches!(client.ask("PS", NOTHING, 0), ArmReply::Values(..))
    });
    let home = awaited(&mut poses, |_| true).pose;
    let fk =
        node.create_client::<GetPositionFK::Service>("compute_fk", QosProfile::services_default()).unwrap();
    let mut request = GetPositionFK::Request::default();
    request.fk_link_names.push("tool0".to_owned());
    let answer = call(&fk, &request);
    assert_eq!(answer.error_code.val, 1, "{}", answer.error_code.message);
    let computed = &answer.pose_stamped[0].pose.position;
    assert!((computed.z - home.position.z).abs() < 1e-5 && (computed.y - home.position.y).abs() < 1e-5);

    reply("MC", &client.ask("CM", values(&[2.0]), 0));
    let goal = above(&client, 0.01);
    client.ask("GT", goal, 0);
    begin(&client);
    let status = awaited(&mut statuses, |status| status.moving);
    assert_eq!((status.mode, status.has_goal_pose, status.via_point), (2, true, -1));
    let setpoint = awaited(&mut setpoints, |setpoint| (setpoint.pose.position.z - home.position.z) > 0.0099);
    assert!((setpoint.pose.position.z - f64::from(goal[2])).abs() < 1e-5);
    awaited(&mut statuses, |status| !status.moving);
    assert!((client.position()[2] - goal[2]).abs() < 1e-3);

    assert!(awaited(&mut drives, |_| true).enabled);
    reply("FO", &client.ask("OF", NOTHING, 0));
    awaited(&mut drives, |status| !status.enabled);
    reply("NO", &client.ask("ON", NOTHING, 0));
    awaited(&mut drives, |status| status.enabled);
}

#[test]
fn a_robot_with_more_joints_than_the_protocol_has_is_refused() {
    let arguments = ["arm31", "--controller", "127.0.0.1:9", "--robot", "ranger_mk2"];
    let refused = Lab::try_start(1, &[], OTHER, &arguments, &[]).err().expect("it is refused");
    assert!(refused.contains("8 joints") && refused.contains("at most 7"), "{refused}");
}

#[test]
fn unknown_names_are_refused_with_suggestions() {
    let refused = |arguments: &[&str], ros: &[&str]| {
        Lab::try_start(1, &[], OTHER, arguments, ros).err().expect("it is refused")
    };
    for (given, reason) in [
        ("traker:misalignment:=0.1", "there is no node 'traker'; did you mean 'tracker'?"),
        (
            "tracker:misalignmnt:=0.1",
            "node tracker has no parameter 'misalignmnt'; did you mean 'misalignment'?",
        ),
        ("misalignmnt:=0.1", "no node has a parameter 'misalignmnt'; did you mean 'misalignment'?"),
    ] {
        // Whether the node is started or not.
        for arguments in [&["up"][..], &["up", "--only", "apolo"], &["arm31", "--controller", "127.0.0.1:9"]]
        {
            let refused = refused(arguments, &["-p", given]);
            assert!(refused.ends_with(reason), "{given}: {refused}");
        }
    }
    let folder = Folder::new();
    let file = folder.write("lab.yaml", "/ranger/traker: {ros__parameters: {misalignment: [0.0]}}");
    let reason = format!("parameter file {file}, line 1: there is no node 'traker'; did you mean 'tracker'?");
    assert!(refused(&["up", "--config", &file], &[]).ends_with(&reason));
    assert!(refused(&["up"], &["--params-file", &file]).ends_with(&reason));
    let refused = |option, name| refused(&["up", option, name], &[]);
    assert!(
        refused("--world", "labb")
            .ends_with("there is no world 'labb', and no such file; did you mean 'lab'?")
    );
    assert!(refused("--world", "kitchen").ends_with("known: lab, laboratory, corridor"));
    assert!(refused("--robot", "widowxx").ends_with("did you mean 'widowx'?"));
}

#[test]
fn a_parameter_file_may_be_for_other_programs_as_well() {
    let folder = Folder::new();
    let text =
        "/nav/planner: {ros__parameters: {radius: 1.0}}\n/ranger/tracker: {ros__parameters: {rate: 25.0}}\n";
    let file = folder.write("shared.yaml", text);
    let lab = Lab::start_with(OTHER, &["up", "--only", "ranger", "--config", &file], &[]);
    assert_eq!(lab.end().0, Ok(()));
}

#[test]
fn a_lab_ends_as_soon_as_it_is_asked_to() {
    let lab = Lab::start();
    lab.client().position();
    let (ended, time) = lab.end();
    println!("it ended after {time:?}");
    assert_eq!(ended, Ok(()));
    assert!(time < Duration::from_millis(100), "{time:?}");
    assert!(lab.output().ends_with("stopping\n"));
}

#[test]
fn a_second_lab_has_ports_of_its_own() {
    let first = Lab::start();
    let refused = || Lab::try_start(1, &[], OTHER, &["up"], &[]).err().expect("it is refused");
    let error = refused();
    assert!(error.contains("127.0.0.1:5031") && error.ends_with("dragoman up --instance 2"), "{error}");
    let second = Lab::start_with(OTHER, &["up", "--instance", "2"], &["-p", "player:port:=6700"]);
    let ports = |lab: &Lab| {
        let platform = lab.neobotix.iter().copied();
        let all = [lab.address, lab.apolo].into_iter().chain(platform);
        all.chain([lab.player, lab.console, lab.foxglove]).map(|address| address.port()).collect::<Vec<_>>()
    };
    assert_eq!(ports(&first), [5031, 12000, 10000, 10002, 6665, 8080, 8765]);
    assert_eq!(ports(&second), [5131, 12100, 10100, 10102, 6700, 8180, 8865], "what is given holds");
    let domain = format!("ROS 2 programs see this lab with ROS_DOMAIN_ID={OTHER}");
    assert!(
        second.banner.contains(&domain) && !first.banner.iter().any(|line| line.contains("ROS_DOMAIN_ID"))
    );
    assert!(refused().ends_with("dragoman up --instance 3"));
    // Each moves its own arm.
    let [of_first, of_second] = [&first, &second].map(|lab| lab.client());
    assert_eq!(reply("MC", &of_second.ask("CM", values(&[2.0]), 0)), values(&[2.0]));
    let goal = above(&of_second, 0.02);
    of_second.ask("GT", goal, 0);
    begin(&of_second);
    assert!(of_second.arrives([goal[0], goal[1], goal[2]], 1e-4, Duration::from_secs(20)));
    assert!(distance(of_first.position(), HOME) < 1e-5);
    for wrong in ["0", "10"] {
        let error =
            Lab::try_start(1, &[], OTHER, &["up", "--instance", wrong], &[]).err().expect("it is refused");
        assert!(error.contains("1..=9"), "{error}");
    }
}

#[test]
fn programs_report_which_server_they_wait_for_and_when_it_appears() {
    let clients = [
        (&["arm31", "--controller", "127.0.0.1"], "the controller at 127.0.0.1:5031", "/ranger"),
        (&["apolo", "--server", "127.0.0.1"], "Apolo at 127.0.0.1:12000", "/apolo"),
        (&["neobotix", "--server", "127.0.0.1"], "PlatformCtrl at 127.0.0.1:10000", "/neobotix"),
        (&["player", "--server", "127.0.0.1"], "Player at 127.0.0.1:6665", "/player"),
    ];
    let clients = clients.map(|(words, who, namespace)| (Lab::start_with(OTHER, words, &[]), who, namespace));
    sleep(Duration::from_secs(3));
    for (client, who, _) in &clients {
        let check = "no answer yet; is it on, is the address right, is there a firewall between?";
        assert_eq!(client.output(), format!("waiting for {who}: {check}\n"));
    }
    let _lab = Lab::start();
    sleep(Duration::from_secs(10));
    for (client, who, namespace) in &clients {
        assert_eq!(client.output(), format!("{who} appears in {namespace}\nready\n"));
    }
}

#[test]
fn a_base_that_is_missing_is_waited_for_with_the_ports_that_there_are() {
    let _other = Device::start("/dev/ttyUSB1", &["widowx"]);
    let base = Lab::start_with(OTHER, &["base", "--port", "/dev/ttyUSB0"], &[]);
    sleep(Duration::from_secs(2));
    let waiting = "waiting for the Kobuki at /dev/ttyUSB0: no data received yet (for another base: --kind \
                   differential); serial ports of this machine: /dev/ttyUSB1\n";
    assert_eq!(base.banner.join("\n") + "\n", waiting);
    let _device = Device::start("/dev/ttyUSB0", &["kobuki"]);
    sleep(Duration::from_secs(2));
    assert_eq!(base.output(), "Kobuki at /dev/ttyUSB0 appears as /mobile_base\nready\n");
}
