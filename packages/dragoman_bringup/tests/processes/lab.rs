//! The whole lab over its real interfaces: the 31-byte protocol on UDP, signals, the command line.

use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant};

use dragoman_ros::dragoman_msgs::msg::{DriveStatus, MotionStatus};
use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::moveit_msgs::srv::GetPositionFK;
use dragoman_ros::rcl_interfaces::srv::GetParameters;
use dragoman_ros::std_msgs::msg::String as StringMessage;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile, WrappedTypesupport};
use futures::{FutureExt, Stream, StreamExt};

use crate::common::beside::Beside;
use crate::common::{Answer, ArmClient, Lab, distance, domain, roll_pitch_yaw};

const NOTHING: [f32; 7] = [0.0; 7];
/// Tool position at home, from table 2.1 of the Ranger thesis: y is the sum of a2, a3 and the tool minus d4, z that of
/// d1, a3 and tool.
const HOME: [f32; 3] = [0.0, 0.0201, 0.6671];

fn values(given: &[f32]) -> [f32; 7] {
    std::array::from_fn(|i| given.get(i).copied().unwrap_or(0.0))
}

fn reply(letters: &str, answer: &Answer) -> [f32; 7] {
    match answer {
        Answer::Values(got, values, _) => {
            assert_eq!(std::str::from_utf8(got), Ok(letters));
            *values
        }
        Answer::Text(text) => panic!("{letters} was expected, not '{text}'"),
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
    let start = Instant::now();
    while !matches!(client.ask("BG", NOTHING, 0), Answer::Values(..)) {
        assert!(start.elapsed() < Duration::from_secs(5), "BG is accepted");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_client_moves_the_arm_three_centimetres_up_and_stops_it_midway_down() {
    let lab = Lab::start();
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
    while distance(client.position(), start) < 0.005 {
        std::thread::sleep(Duration::from_millis(10));
    }
    reply("TS", &client.ask("ST", NOTHING, 0));
    std::thread::sleep(Duration::from_millis(500));
    let stopped = client.position();
    std::thread::sleep(Duration::from_millis(300));
    assert!(distance(stopped, client.position()) < 1e-5, "the arm rests");
    assert!((0.005..0.02).contains(&distance(stopped, start)), "midway: {stopped:?}");
}

#[test]
fn a_file_with_motion_parameters_can_be_given() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("motion.yaml");
    let text = "/ranger/kinematics:\n  ros__parameters:\n    cartesian:\n      \
        max_velocity: [0.02, 0.02, 0.02, 0.04, 0.04, 0.04]\n    twist_timeout: 0.25\n";
    std::fs::write(&file, text).unwrap();
    let arguments = ["up", "--config", file.to_str().unwrap()];
    let lab = Lab::start_with(domain(), &arguments, &["-p", "arm31:port:=0"]);
    assert!(distance(lab.client().position(), HOME) < 1e-5);
    let names = vec!["cartesian.max_velocity".to_owned(), "twist_timeout".to_owned()];
    let values = Beside::new(lab.domain)
        .call::<GetParameters::Service>("/ranger/kinematics/get_parameters", GetParameters::Request { names })
        .values;
    assert_eq!(values[0].double_array_value, [0.02, 0.02, 0.02, 0.04, 0.04, 0.04]);
    assert_eq!(values[1].double_value, 0.25);
}

#[test]
fn every_robot_that_comes_along_takes_commands() {
    for robot in ["ranger_mk2", "platform_arm", "widowx"] {
        let lab = Lab::start_with(domain(), &["up", "--robot", robot], &["-p", "arm31:port:=0"]);
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
    let lab = Lab::start();
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
    let start = Instant::now();
    while client.ask("jP", NOTHING, 0).values().iter().zip(goal).any(|(got, goal)| (got - goal).abs() > 1e-4)
    {
        assert!(start.elapsed() < Duration::from_secs(20), "the joints arrive");
        std::thread::sleep(Duration::from_millis(20));
    }
    reply("Rj", &client.ask("jR", NOTHING, 0));
    for (index, offset) in [(0, 0.01), (1, 0.02)] {
        let point = values(&[1.60 - offset, 0.02, 1.55, 0.01, 1.56, 0.01, 0.2]);
        let answer = client.ask("jV", point, index);
        assert_eq!(answer, Answer::Values(*b"Vj", point, index));
    }
    reply("Ej", &client.ask("jE", NOTHING, 0));
    let start = Instant::now();
    while (client.ask("jP", NOTHING, 0).values()[0] - 1.58).abs() > 1e-3 {
        assert!(start.elapsed() < Duration::from_secs(20), "the last via point is reached");
        std::thread::sleep(Duration::from_millis(20));
    }
    reply("TS", &client.ask("ST", NOTHING, 0));
    reply("Cj", &client.ask("jC", NOTHING, 0));
    assert_eq!(client.ask("jE", NOTHING, 0).text(), "ER20 Cmd jE rejected", "no via points");

    // Cartesian space.
    reply("MC", &client.ask("CM", values(&[2.0]), 0));
    let pose = client.ask("PS", NOTHING, 0).values();
    reply("LG", &client.ask("GL", pose, 0));
    let up = above(&client, 0.005);
    assert_eq!(client.ask("VP", up, 0), Answer::Values(*b"PV", up, 0));
    reply("EV", &client.ask("VE", NOTHING, 0));
    assert!(client.arrives([up[0], up[1], up[2]], 1e-4, Duration::from_secs(20)));
    reply("TS", &client.ask("ST", NOTHING, 0));
    reply("CV", &client.ask("VC", NOTHING, 0));
    assert_eq!(client.ask("VE", NOTHING, 0).text(), "ER20 Cmd VE rejected", "no via points");

    // Drives.
    reply("FO", &client.ask("OF", NOTHING, 0));
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(client.ask("BG", NOTHING, 0).text(), "ER20 Cmd BG rejected", "disabled");
    reply("NO", &client.ask("ON", NOTHING, 0));
    reply("MC", &client.ask("CM", NOTHING, 0));
    reply("CR", &client.ask("RC", values(&[1.5, 0.1, 1.5, 0.0, 1.5, 0.0]), 0));
    std::thread::sleep(Duration::from_millis(200));
    assert!((client.ask("jP", NOTHING, 0).values()[1] - 0.1).abs() < 1e-6);
}

#[test]
fn every_error_text_is_seen() {
    // A ceiling just above the tool, and speeds at which a far goal is reached soon. Paths are slowed to what the drives
    // can follow: otherwise the tool leaves its path, through the ceiling.
    let ros_arguments = [
        ["-p", "arm31:port:=0"],
        ["-p", "kinematics:workspace.bounds:=[-0.8, 2.0, -2.0, 2.0, -1.0, 0.68]"],
        ["-p", "kinematics:cartesian.max_velocity:=[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]"],
        ["-p", "kinematics:cartesian.max_acceleration:=[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]"],
        ["-p", "kinematics:joint.max_rate:=[0.9, 0.9, 0.9, 0.9, 0.9, 0.9]"],
        ["-p", "kinematics:joint.limit_paths:=true"],
    ];
    let lab = Lab::start_with(domain(), &["up"], ros_arguments.as_flattened());
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

/// Whether `text` arrives within `patience`.
fn listen(client: &ArmClient, text: &str, patience: Duration) -> bool {
    let start = Instant::now();
    client.socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut is_received = false;
    while !is_received && start.elapsed() < patience {
        is_received = matches!(client.receive(), Some(Answer::Text(got)) if got == text);
    }
    client.socket.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    is_received
}

#[test]
fn signals_end_the_lab_within_two_seconds_and_without_an_error() {
    for signal in ["-INT", "-TERM"] {
        let mut lab = Lab::start();
        lab.client().position();
        lab.signal(signal);
        let start = Instant::now();
        let status = loop {
            if let Some(status) = lab.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{signal}");
            std::thread::sleep(Duration::from_millis(10));
        };
        println!("{signal}: {:?}", start.elapsed());
        assert_eq!(status.code(), Some(0), "{signal}");
        assert!(start.elapsed() < Duration::from_secs(2), "{signal}: {:?}", start.elapsed());
    }
}

/// Ctrl-Z and `fg`: the waits of all threads are interrupted, and all deadlines are missed.
#[test]
fn a_lab_that_was_stopped_for_a_while_goes_on() {
    let lab = Lab::start();
    let discovery =
        Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    let mut node = Node::create(context, "observer", "/ranger").unwrap();
    let fk =
        node.create_client::<GetPositionFK::Service>("compute_fk", QosProfile::services_default()).unwrap();
    let mut poses = node.subscribe::<PoseStamped>("pose", QosProfile::default()).unwrap();
    let client = lab.client();
    let look = async |poses: &mut (dyn Stream<Item = PoseStamped> + Unpin)| {
        Node::is_available(&fk).unwrap().await.unwrap();
        let answer = fk.request(&GetPositionFK::Request::default()).unwrap().await.unwrap();
        (answer.error_code.val, poses.next().await.unwrap().pose.position.z)
    };
    let before = futures::executor::block_on(look(&mut poses));
    for _ in 0..3 {
        lab.signal("-STOP");
        std::thread::sleep(Duration::from_secs(1));
        lab.signal("-CONT");
        while poses.next().now_or_never().is_some() {}
        // The joints' states count as too old until new ones have come.
        let end = Instant::now() + Duration::from_secs(2);
        while futures::executor::block_on(look(&mut poses)) != before {
            assert!(Instant::now() < end, "the lab goes on");
        }
        assert!(distance(client.position(), HOME) < 1e-5);
    }
    reply("MC", &client.ask("CM", values(&[2.0]), 0));
    client.ask("GT", above(&client, 0.01), 0);
    begin(&client);
    awaited(&mut poses, |pose| pose.pose.position.z - before.1 > 0.0099);
}

#[test]
fn a_taken_port_is_named_with_the_option_that_changes_it() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["--domain", &domain().to_string(), "--ros-args", "-p", &format!("arm31:port:={port}")])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains(&port.to_string()) && error.contains("--bind") && error.contains("arm31:port"),
        "{error}"
    );
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    for (arguments, named) in [
        (vec!["up", "--robot", "puma"], "puma"),
        (vec!["up", "--config", "/none.yaml"], "/none.yaml"),
        (vec!["up", "--domain", "300"], "300"),
        (vec!["--ros-args", "-p", "arm:rate:=0.1"], "rate"),
        (vec!["arm31", "--controller", "nowhere"], "nowhere"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dragoman")).args(&arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(named), "{arguments:?}: {error}");
    }
}

#[test]
fn the_client_side_makes_the_server_side_an_arm_of_another_graph() {
    let lab = Lab::start();
    let controller = lab.address.to_string();
    // The bridged arm is in another domain, and a second server side in that domain closes the circle.
    let other = domain();
    let bridge = Lab::start_with(other, &["arm31", "--controller", &controller], &[]);
    let far = Lab::start_with(other, &["up", "--bridge-only"], &["-p", "arm31:port:=0"]);
    let (near, through) = (lab.client(), far.client());
    let start = Instant::now();
    while !matches!(through.ask("PS", NOTHING, 0), Answer::Values(..)) {
        assert!(start.elapsed() < Duration::from_secs(20), "the pose comes through");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(distance(near.position(), through.position()) < 1e-6);
    reply("MC", &through.ask("CM", values(&[2.0]), 0));
    assert_eq!(through.ask("BG", NOTHING, 0).text(), "ER20 Cmd BG rejected", "no goal");
    let goal = above(&through, 0.01);
    reply("TG", &through.ask("GT", goal, 0));
    reply("GB", &through.ask("BG", NOTHING, 0));
    assert!(through.arrives([goal[0], goal[1], goal[2]], 1e-4, Duration::from_secs(20)));
    assert!(distance(near.position(), [goal[0], goal[1], goal[2]]) < 1e-4);
    drop(bridge);
}

/// The next message that `holds`, within 20 s.
fn awaited<T>(messages: &mut (impl Stream<Item = T> + Unpin), holds: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        match messages.next().now_or_never() {
            Some(Some(message)) if holds(&message) => return message,
            Some(_) => {}
            None => std::thread::sleep(Duration::from_millis(5)),
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the message arrives");
    }
}

#[test]
fn an_arm_behind_a_controller_has_the_topics_of_one_in_the_lab() {
    let lab = Lab::start();
    let controller = lab.address.to_string();
    let arguments = ["arm31", "--controller", &controller, "--robot", "ranger_mk1"];
    let bridge = Lab::start_with(domain(), &arguments, &[]);
    let far = Lab::start_with(bridge.domain, &["up", "--bridge-only"], &["-p", "arm31:port:=0"]);
    let discovery =
        Discovery { domain_id: bridge.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    let mut node = Node::create(context, "observer", "/ranger").unwrap();
    fn subscribe<T: WrappedTypesupport + 'static>(
        node: &mut Node,
        topic: &str,
        qos: QosProfile,
    ) -> impl Stream<Item = T> + Unpin + use<T> {
        node.subscribe::<T>(topic, qos).unwrap()
    }
    let latched = QosProfile::default().keep_last(1).transient_local();
    let mut statuses = subscribe::<MotionStatus>(&mut node, "motion_status", latched.clone().keep_last(100));
    let mut drives = subscribe::<DriveStatus>(&mut node, "drive_status", latched.clone().keep_last(100));
    let mut descriptions = subscribe::<StringMessage>(&mut node, "robot_description", latched);
    let mut setpoints = subscribe::<PoseStamped>(&mut node, "setpoint", QosProfile::default());
    let mut poses = subscribe::<PoseStamped>(&mut node, "pose", QosProfile::default());
    assert!(awaited(&mut descriptions, |_| true).data.contains("<robot"));
    assert!(!awaited(&mut statuses, |_| true).moving);

    let client = far.client();
    let start = Instant::now();
    while !matches!(client.ask("PS", NOTHING, 0), Answer::Values(..)) {
        assert!(start.elapsed() < Duration::from_secs(20), "the pose comes through");
        std::thread::sleep(Duration::from_millis(100));
    }
    let home = awaited(&mut poses, |_| true).pose;
    let fk =
        node.create_client::<GetPositionFK::Service>("compute_fk", QosProfile::services_default()).unwrap();
    let mut request = GetPositionFK::Request::default();
    request.fk_link_names.push("tool0".to_owned());
    let answer = futures::executor::block_on(async {
        Node::is_available(&fk).unwrap().await.unwrap();
        fk.request(&request).unwrap().await.unwrap()
    });
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
fn a_robot_with_more_joints_than_the_protocol_tells_of_is_refused() {
    let arguments = ["arm31", "--controller", "127.0.0.1:9", "--robot", "ranger_mk2"];
    let output = Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(arguments)
        .args(["--domain", &domain().to_string()])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.contains("8 joints") && complaint.contains("at most 7"), "{complaint}");
}
