//! Player's server in the lab, and clients that send the same messages as Player's own libraries.

mod arms;
mod pairs;
mod unread;

use std::io::Write;
use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::player::{PlayerClient, SERVER, TIME_LIMIT, base, base_without_services, header};
use crate::common::{Folder, Lab};
use crate::host::{now, sleep};
use dragoman_bridge::player::wire::common::{Point3d, Pose2d};
use dragoman_bridge::player::wire::player::{DEVICES, MODE};
use dragoman_bridge::player::wire::{
    Device, MapData, MessageKind, actarray, camera, gripper, limb, log, map, planner, player, position2d,
    properties, ranger, simulation, vectormap,
};
use dragoman_ros::dragoman_msgs::msg::{MotionStatus, PlaybackStatus, RecordingStatus};
use dragoman_ros::dragoman_msgs::srv::{SetCommandMode, StartPlayback, StartRecording};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_time::{since, wall_time};

/// The calls of the RoMAA page's client in their order: the speed is set once, then the pose is read.
#[test]
fn the_client_of_the_romaa_page_drives_every_base_of_the_lab() {
    let lab = Lab::start();
    let mut client = PlayerClient::connect(lab.player);
    // TurtleBot, Neobotix platform, two robots in Apolo's world; the second is the RoMAA.
    for base in [base(0), base(1), base(2), base(4)] {
        client.subscribe(base);
        let geometry = client.granted(base, position2d::GET_GEOMETRY.subtype, &());
        let geometry = position2d::GET_GEOMETRY.answer(&geometry).unwrap();
        assert!((0.2..1.0).contains(&geometry.size.length), "{geometry:?}");
        client.granted(base, position2d::MOTOR_POWER.subtype, &true);
        let pose = Pose2d { x: 1.0, y: 2.0, yaw: 0.5 };
        client.granted(base, position2d::SET_ODOMETRY.subtype, &pose);
        client.until("the odometry is set", base, |state| (state.pose.x - 1.0).abs() < 0.05);
        // ResetOdometry of Player's client sends zeros.
        client.granted(base, position2d::SET_ODOMETRY.subtype, &Pose2d::default());
        client.until("the odometry is reset", base, |state| state.pose.x.abs() < 0.05);
        client.set_speed(base, 0.0, 0.4);
        let state = client.until("the base turns", base, |state| state.pose.yaw > 0.6);
        assert!(state.velocity.yaw > 0.2, "{state:?}");
        client.set_speed(base, 0.0, 0.0);
        client.until("the base stands", base, |state| state.velocity.yaw.abs() < 0.01);
    }
    // The page's client asks for 10 m/s; the lab's RoMAA has the limits of the one on a port.
    client.set_speed(base(4), 10.0, 0.0);
    let state = client.until("the RoMAA drives", base(4), |state| state.velocity.x > 0.45);
    assert!(state.velocity.x < 0.55, "{state:?}");
    client.set_speed(base(4), 0.0, 10.0);
    let state = client.until("the RoMAA turns", base(4), |state| state.velocity.yaw > 1.8);
    assert!(state.velocity.yaw < 2.2, "{state:?}");
}

/// Commanded by Player or by a ROS program, switched by Player's request or by the service of every base.
#[test]
fn a_base_waits_for_the_next_command_when_its_motors_are_on_again() {
    let lab = Lab::start();
    let mut client = PlayerClient::connect(lab.player);
    let mut beside = Beside::new(lab.domain);
    let names = ["mobile_base", "neobotix", "apolo/marvin", "apolo/pioneer3at", "apolo/romaa"];
    for (index, name) in (0..).zip(names) {
        let base = base(index);
        client.subscribe(base);
        for (commanded_by_player, switched_by_player) in [(true, true), (true, false), (false, false)] {
            client.set_speed(base, 0.0, 0.4);
            client.until("the base turns", base, |state| state.velocity.yaw > 0.2);
            if !commanded_by_player {
                // The ROS program sends it once.
                client.set_speed(base, 0.0, 0.0);
                client.until("the base stands", base, |state| state.velocity.yaw.abs() < 0.01);
                let topic = format!("/{name}/{}", if index == 0 { "commands/velocity" } else { "cmd_vel" });
                let mut twist = Twist::default();
                twist.angular.z = 0.4;
                beside.publish(&topic, &twist);
                client.until("the base turns", base, |state| state.velocity.yaw > 0.05);
            }
            for on in [false, true] {
                if switched_by_player {
                    client.granted(base, position2d::MOTOR_POWER.subtype, &on);
                } else {
                    let service = format!("/{name}/set_motor_power");
                    let answer = beside.call::<SetBool::Service>(&service, SetBool::Request { data: on });
                    assert!(answer.success, "{name}: {}", answer.message);
                }
            }
            let before = client.state(base).pose.yaw;
            sleep(Duration::from_secs(1));
            let turned = client.state(base).pose.yaw - before;
            assert!(
                turned.abs() < 0.05,
                "{name} drives on: {turned}; by Player: {commanded_by_player}, {switched_by_player}"
            );
        }
        client.set_speed(base, 0.0, 0.4);
        client.until("the base turns", base, |state| state.velocity.yaw > 0.2);
        client.set_speed(base, 0.0, 0.0);
    }
}

/// Also one that has sent the beginning of a long message, or more requests than the server reads at a time.
#[test]
fn a_client_that_vanishes_leaves_no_robot_driving() {
    let table = base_without_services("vanishes");
    let lab = Lab::start_with(
        0,
        &["up", "--only", "turtlebot,player", "--player-devices", &table],
        &["-p", "player:service_timeout:=60.0"],
    );
    let mut watcher = PlayerClient::connect(lab.player);
    watcher.subscribe(base(0));
    let mut long = header(base(0), MessageKind::Request, position2d::GET_GEOMETRY.subtype, &vec![0; 1 << 20]);
    long.truncate(200_000);
    let requests = header(base(0), MessageKind::Request, position2d::GET_GEOMETRY.subtype, &[]).repeat(2000);
    for last in [Vec::new(), long, requests] {
        let mut driver = PlayerClient::connect(lab.player);
        driver.subscribe(base(0));
        driver.set_speed(base(0), 0.0, 0.5);
        watcher.until("the base turns", base(0), |state| state.velocity.yaw > 0.3);
        driver.stream.write_all(&last).unwrap();
        drop(driver);
        let left = now();
        watcher.until("the base stands", base(0), |state| state.velocity.yaw.abs() < 0.01);
        // It brakes for up to 0.2 s, and the server reads what was sent before the end.
        assert!(since(left) < Duration::from_millis(400), "{:?}", since(left));
    }
}

/// A goal is not a velocity: it stays valid until it is reached.
#[test]
fn a_velocity_holds_as_long_as_a_parameter_says() {
    let limit = ["-p", "player:command_timeout:=0.5"];
    let lab = Lab::start_with(0, &["up", "--only", "turtlebot,player"], &limit);
    let mut client = PlayerClient::connect(lab.player);
    client.subscribe(base(0));
    client.until("the odometry", base(0), |_| true);
    client.set_speed(base(0), 0.0, 0.5);
    let commanded = now();
    client.until("the base has turned and stands", base(0), |state| {
        state.pose.yaw > 0.05 && state.velocity.yaw.abs() < 0.01
    });
    // The limit, and up to 0.3 s in which it brakes.
    let stood = since(commanded).as_secs_f64();
    assert!((0.5..0.8).contains(&stood), "{stood}");
    let goal = Pose2d { x: 0.5, y: 0.0, yaw: 0.0 };
    let goal = position2d::Position { pose: goal, velocity: Pose2d::default(), motors_on: true };
    client.send(base(0), MessageKind::Command, position2d::POSITION.subtype, &goal);
    client.until("the goal", base(0), |state| (state.pose.x - 0.5).hypot(state.pose.y) < 0.06);
}

#[test]
fn every_device_of_the_lab_can_be_opened_and_answers() {
    let lab = Lab::start();
    let mut client = PlayerClient::connect(lab.player);
    let list = client.granted(SERVER, DEVICES.subtype, &());
    let devices: Vec<Device> =
        DEVICES.answer(&list).unwrap().into_iter().map(|address| address.device).collect();
    assert!(devices.len() > 20, "{devices:?}");
    for device in &devices {
        // Those without data, and images, are for tests of their own.
        let others = [
            &simulation::INTERFACE,
            &camera::INTERFACE,
            &log::INTERFACE,
            &map::INTERFACE,
            &vectormap::INTERFACE,
        ];
        if others.iter().any(|other| other.code == device.interface) {
            continue;
        }
        let mut client = PlayerClient::connect(lab.player);
        client.subscribe(*device);
        let data = client.read();
        assert!(data.iter().all(|message| message.header.address.device == *device), "{device:?}");
    }

    let world = simulation::INTERFACE.device(0);
    client.subscribe(world);
    let named = |name: &str, x: f64| simulation::NamedPose2d {
        name: name.to_owned(),
        pose: Pose2d { x, y: 1.0, yaw: 0.0 },
    };
    client.granted(world, simulation::SET_POSE2D.subtype, &named("pieza", 1.5));
    let body = client.granted(world, simulation::GET_POSE2D.subtype, &named("pieza", 0.0));
    assert!((simulation::GET_POSE2D.answer(&body).unwrap().pose.x - 1.5).abs() < 1e-6);
    let asked = simulation::NamedPose3d { name: "pieza".to_owned(), ..Default::default() };
    let body = client.granted(world, simulation::GET_POSE3D.subtype, &asked);
    let age = wall_time().as_secs_f64() - simulation::GET_POSE3D.answer(&body).unwrap().time;
    assert!((0.0..1.0).contains(&age), "its time is in seconds: {age}");
    let unknown = client.ask(world, simulation::GET_POSE2D.subtype, &named("nobody", 0.0));
    assert_eq!(unknown.header.kind, MessageKind::Refuse);
    let there = |body: &[u8]| simulation::GET_POSE2D.answer(body).unwrap().pose;
    for (own, further) in [
        ("turtlebot2_widowx", ["TurtleBot 2", "turtlebot", "kobuki"]),
        ("neobotix_platform", ["Neobotix", "neobotix", "platform"]),
    ] {
        let pose = there(&client.granted(world, simulation::GET_POSE2D.subtype, &named(own, 0.0)));
        for name in further {
            let body = client.granted(world, simulation::GET_POSE2D.subtype, &named(name, 0.0));
            let found = there(&body);
            assert!((found.x - pose.x).hypot(found.y - pose.y) < 0.1, "{name}: {found:?}");
        }
    }

    let grid = map::INTERFACE.device(0);
    client.subscribe(grid);
    let info = map::GET_INFO.answer(&client.granted(grid, map::GET_INFO.subtype, &())).unwrap();
    let tile = MapData { width: info.width, height: info.height, ..MapData::default() };
    let tile = map::GET_DATA.answer(&client.granted(grid, map::GET_DATA.subtype, &tile)).unwrap();
    let cells = tile.decompress().unwrap().data;
    assert!(cells.contains(&1) && cells.contains(&255), "walls and free ground");

    let shapes = vectormap::INTERFACE.device(0);
    client.subscribe(shapes);
    let info = client.granted(shapes, vectormap::GET_INFO.subtype, &());
    let name = vectormap::GET_INFO.answer(&info).unwrap().layers[0].name.clone();
    let asked = vectormap::Layer { name, ..vectormap::Layer::default() };
    let layer = client.granted(shapes, vectormap::GET_LAYER.subtype, &asked);
    assert!(vectormap::GET_LAYER.answer(&layer).unwrap().features.len() > 10, "walls");
    let asked = vectormap::Layer { name: "roads".to_owned(), ..vectormap::Layer::default() };
    assert_eq!(client.ask(shapes, vectormap::GET_LAYER.subtype, &asked).header.kind, MessageKind::Refuse);

    // A scanner, and sensors with one range each: the first question, before anything was measured.
    for index in [0, 2] {
        let sensor = ranger::INTERFACE.device(index);
        client.subscribe(sensor);
        let config = client.granted(sensor, ranger::GET_CONFIG.subtype, &());
        let config = ranger::GET_CONFIG.answer(&config).unwrap();
        assert!(config.max_range > 1.0 && config.max_angle > config.min_angle, "{index}: {config:?}");
        for (on, expected) in [(false, MessageKind::Acknowledge), (true, MessageKind::Refuse)] {
            let answer = client.ask(sensor, ranger::SEND_INTENSITIES.subtype, &on);
            assert_eq!(answer.header.kind, expected, "{index}");
        }
    }

    let (arm, hand) = (actarray::INTERFACE.device(0), gripper::INTERFACE.device(0));
    client.subscribe(arm);
    client.subscribe(hand);
    let goal = actarray::JointPosition { joint: 0, position: 0.3 };
    let end = now() + TIME_LIMIT;
    // Once, before the robot is discovered: a command has no answer, so it waits.
    client.send(arm, MessageKind::Command, actarray::POSITION.subtype, &goal);
    client.send(hand, MessageKind::Command, gripper::CLOSE.subtype, &());
    let (mut reached, mut closed) = (false, false);
    while !(reached && closed) {
        for message in client.read() {
            match message.header.address.device {
                device if device == arm => {
                    let joints = actarray::STATE.body(&message.body).unwrap().joints;
                    reached = (joints[0].position - 0.3).abs() < 0.02;
                }
                device if device == hand => {
                    let fingers = gripper::STATE.body(&message.body).unwrap().fingers;
                    closed = fingers == gripper::Fingers::Closed;
                }
                _ => {}
            }
        }
        assert!(now() < end, "arm {reached}, gripper {closed}");
    }
}

/// The proxies of Player's C library for these interfaces take no data: any ends the next read of their program.
#[test]
fn devices_whose_proxies_take_no_data_send_none() {
    let arguments = ["up", "--only", "neobotix,apolo,recorder,player"];
    let lab = Lab::start_with(0, &arguments, &[]);
    let mut client = PlayerClient::connect(lab.player);
    let grid = map::INTERFACE.device(0);
    let others = [&vectormap::INTERFACE, &simulation::INTERFACE, &log::INTERFACE].map(|it| it.device(0));
    for device in others.into_iter().chain([grid]) {
        client.subscribe(device);
    }
    // The map has arrived. A read waits for data, so that of another device comes.
    client.granted(grid, map::GET_INFO.subtype, &());
    client.subscribe(base(1));
    let end = now() + Duration::from_secs(3);
    while now() < end {
        let data = client.read();
        assert!(data.iter().all(|message| message.header.address.device == base(1)), "{data:?}");
    }
}

/// A joint moves with a speed until the next command; what a client has begun ends with it.
#[test]
fn joints_move_with_a_speed_and_stop_without_their_client() {
    let lab = Lab::only("turtlebot,player");
    let mut client = PlayerClient::connect(lab.player);
    let arm = actarray::INTERFACE.device(0);
    client.subscribe(arm);
    let joint =
        |client: &mut PlayerClient| actarray::STATE.body(&client.newest(arm).body).unwrap().joints[0].clone();
    // Its services are there.
    client.granted(arm, actarray::SET_SPEED.subtype, &actarray::JointSpeed { joint: 0, speed: 0.5 });
    let start = joint(&mut client).position;
    let speed = |speed: f32| actarray::JointSpeed { joint: 0, speed };
    let end = now() + TIME_LIMIT;
    while joint(&mut client).position < start + 0.2 {
        client.send(arm, MessageKind::Command, actarray::SPEED.subtype, &speed(0.4));
        assert!(now() < end, "it does not move");
    }
    client.send(arm, MessageKind::Command, actarray::SPEED.subtype, &speed(0.0));
    let stands = |client: &mut PlayerClient| {
        let end = now() + TIME_LIMIT;
        let mut last = joint(client).position;
        loop {
            sleep(Duration::from_millis(500));
            let position = joint(client).position;
            if (position - last).abs() < 1e-3 {
                return position;
            }
            assert!(now() < end, "it moves on: {position}");
            last = position;
        }
    };
    let before = stands(&mut client);
    // Its limit is at 3.14.
    assert!(before < 2.5, "{before}");

    let mut other = PlayerClient::connect(lab.player);
    other.subscribe(arm);
    let goal = actarray::JointPosition { joint: 0, position: before - 3.0 };
    other.send(arm, MessageKind::Command, actarray::POSITION.subtype, &goal);
    let end = now() + TIME_LIMIT;
    while joint(&mut client).position > before - 0.1 {
        assert!(now() < end, "it does not move");
    }
    drop(other);
    let after = stands(&mut client);
    assert!(after > before - 2.5, "{before} {after}");

    // What the arm can do, and devices of every interface.
    let handles = |client: &mut PlayerClient, kind: MessageKind, subtype: u8| {
        let asked = properties::Capability { kind: kind as u32, subtype: subtype.into() };
        client.ask(arm, properties::CAPABILITY.subtype, &asked).header.kind == MessageKind::Acknowledge
    };
    for subtype in [actarray::POSITION.subtype, actarray::SPEED.subtype, actarray::MULTI_SPEED.subtype] {
        assert!(handles(&mut client, MessageKind::Command, subtype), "{subtype}");
    }
    assert!(handles(&mut client, MessageKind::Request, properties::CAPABILITY.subtype));
    assert!(!handles(&mut client, MessageKind::Command, actarray::CURRENT.subtype));
    assert!(!handles(&mut client, MessageKind::Request, actarray::BRAKES.subtype));
    assert!(!handles(&mut client, MessageKind::Command, 99));
    let name = properties::DoubleProperty { name: "gain".to_owned(), value: 0.0 };
    assert_eq!(client.ask(arm, properties::GET_DOUBLE.subtype, &name).header.kind, MessageKind::Refuse);
}

/// The planner drives the platform to a goal, and stops when it is disabled.
#[test]
fn a_planner_drives_the_platform() {
    let lab = Lab::only("neobotix,player");
    let mut client = PlayerClient::connect(lab.player);
    let device = planner::INTERFACE.device(0);
    client.subscribe(device);
    client.subscribe(base(1));
    let newest = |client: &mut PlayerClient| planner::STATE.body(&client.newest(device).body).unwrap();
    let start = newest(&mut client).pose;
    let goal = Pose2d { x: start.x, y: start.y - 1.0, yaw: start.yaw };
    client.send(device, MessageKind::Command, planner::GOAL.subtype, &planner::Goal { pose: goal.clone() });
    let end = now() + TIME_LIMIT;
    loop {
        let state = newest(&mut client);
        if state.valid && (state.pose.y - start.y).abs() > 0.2 {
            assert!((state.goal.y - goal.y).abs() < 1e-6);
            break;
        }
        assert!(now() < end, "{state:?}");
    }
    let waypoints = client.granted(device, planner::GET_WAYPOINTS.subtype, &());
    assert!(planner::GET_WAYPOINTS.answer(&waypoints).unwrap().length > 0.1);
    client.granted(device, planner::ENABLE.subtype, &false);
    client.until("the platform stands", base(1), |state| state.velocity.x.abs() < 0.01);
    client.granted(device, planner::ENABLE.subtype, &true);
    let end = now() + TIME_LIMIT;
    while !newest(&mut client).done {
        assert!(now() < end, "the goal is not reached");
    }
}

#[test]
fn a_limb_moves_the_tool_of_the_arm() {
    let lab = Lab::only("ranger,player");
    let mut client = PlayerClient::connect(lab.player);
    let device = limb::INTERFACE.device(0);
    client.subscribe(device);
    let newest = |client: &mut PlayerClient| limb::STATE.body(&client.newest(device).body).unwrap();
    // Its services are there.
    client.granted(device, limb::POWER.subtype, &true);
    let start = newest(&mut client).position;
    let direction = Point3d { x: 0.0, y: 0.0, z: 1.0 };
    let along = |length| limb::Move { direction: direction.clone(), length };
    client.send(device, MessageKind::Command, limb::MOVE_ALONG.subtype, &along(0.03));
    let end = now() + TIME_LIMIT;
    loop {
        let state = newest(&mut client);
        if (state.position.z - start.z - 0.03).abs() < 1e-3 {
            break;
        }
        assert!(now() < end, "{state:?}");
    }

    // The motion of a client that goes at once may not have begun yet, and does not begin any more.
    for pause in [0, 20, 100] {
        let before = newest(&mut client).position.z;
        let mut other = PlayerClient::connect(lab.player);
        other.subscribe(device);
        other.send(device, MessageKind::Command, limb::MOVE_ALONG.subtype, &along(-0.15));
        sleep(Duration::from_millis(pause));
        drop(other);
        let end = now() + Duration::from_secs(3);
        while now() < end {
            let z = newest(&mut client).position.z;
            assert!((z - before).abs() < 0.05, "after {pause} ms: {before} {z}");
        }
    }
}

/// The recorder, as Player clients and as ROS nodes use it.
#[test]
fn a_log_records_in_a_file_and_plays_it() {
    let Folder(folder) = &Folder::new();
    let parameter = format!("recorder:folder:={}", folder.display());
    let lab = Lab::start_with(0, &["up", "--only", "turtlebot,player,recorder"], &["-p", &parameter]);
    let mut client = PlayerClient::connect(lab.player);
    let device = log::INTERFACE.device(0);
    client.subscribe(device);
    client.granted(device, log::SET_FILE_NAME.subtype, &"drive".to_owned());
    client.granted(device, log::SET_WRITE_STATE.subtype, &true);
    let state = client.granted(device, log::GET_STATE.subtype, &());
    assert!(log::GET_STATE.answer(&state).unwrap().enabled);
    // One at a time, and it does not play while it records.
    for (subtype, value) in [(log::SET_WRITE_STATE.subtype, true), (log::SET_READ_STATE.subtype, true)] {
        assert_eq!(client.ask(device, subtype, &value).header.kind, MessageKind::Refuse);
    }
    let mut beside = Beside::new(lab.domain);
    let mut status = beside.latched::<RecordingStatus>("/recording_status");
    let found = beside.find("messages", &mut status, |status| status.duration > 3.0);
    assert!(found.recording && found.messages > 100 && found.bytes > 1000 && found.topics > 3, "{found:?}");
    client.granted(device, log::SET_WRITE_STATE.subtype, &false);
    let found = beside.find("the end", &mut status, |status| !status.recording);
    let length = std::fs::metadata(folder.join("drive.mcap")).unwrap().len();
    assert_eq!((found.bytes, found.error.as_str()), (length, ""));

    let mut played = beside.subscribe::<Odometry>("/playback/odom");
    let is_playing = |client: &mut PlayerClient| {
        let body = client.granted(device, log::GET_STATE.subtype, &());
        let state = log::GET_STATE.answer(&body).unwrap();
        state.kind == log::LogKind::Read && state.enabled
    };
    // On a slow machine it may end before these questions do; then they are asked again.
    let end = now() + TIME_LIMIT;
    loop {
        client.granted(device, log::REWIND.subtype, &());
        client.granted(device, log::SET_READ_STATE.subtype, &true);
        // While it plays, it goes on from the start.
        client.granted(device, log::REWIND.subtype, &());
        let answers = [log::SET_WRITE_STATE.subtype, log::SET_READ_STATE.subtype]
            .map(|subtype| client.ask(device, subtype, &true).header.kind);
        if is_playing(&mut client) {
            assert_eq!(answers, [MessageKind::Refuse; 2]);
            break;
        }
        client.ask(device, log::SET_WRITE_STATE.subtype, &false);
        client.ask(device, log::SET_READ_STATE.subtype, &false);
        assert!(now() < end, "it does not play");
    }
    beside.next("recorded odometry", &mut played);
    let mut status = beside.latched::<PlaybackStatus>("/playback_status");
    // It may have ended by itself.
    client.ask(device, log::SET_READ_STATE.subtype, &false);
    let found = beside.find("the end", &mut status, |status| !status.playing);
    assert!(found.messages > 0 && found.error.is_empty() && found.path.ends_with("drive.mcap"), "{found:?}");
    for name in ["", "../drive", "none"] {
        let request = StartPlayback::Request { name: name.to_owned(), ..Default::default() };
        let refused = beside.call::<StartPlayback::Service>("/start_playback", request);
        assert!(!refused.success && !refused.message.is_empty(), "{name}");
    }

    let ask = |beside: &mut Beside, name: &str| {
        let topics = vec!["/odom".to_owned()];
        let request = StartRecording::Request { topics, name: name.to_owned(), ..Default::default() };
        beside.call::<StartRecording::Service>("/start_recording", request)
    };
    let refused = ask(&mut beside, "drive");
    assert!(!refused.success && refused.message.contains("drive.mcap"), "it exists: {refused:?}");
    assert!(!ask(&mut beside, "../drive").success);
    let started = ask(&mut beside, "");
    assert!(started.success && started.path.ends_with(".mcap"), "{started:?}");
    let stopped = beside.call::<Trigger::Service>("/stop_recording", Default::default());
    assert_eq!((stopped.success, stopped.message.as_str()), (true, started.path.as_str()));
    assert!(!beside.call::<Trigger::Service>("/stop_recording", Default::default()).success);
}

/// A configuration file names the drivers; their devices are those of the lab.
#[test]
fn a_configuration_file_of_player_chooses_devices() {
    let Folder(folder) = &Folder::new();
    let path = folder.join("romaa.cfg");
    let text = "driver ( name \"romaa\" provides [\"position2d:0\"] max_xspeed 0.1 port \"/dev/ttyS0\" )";
    std::fs::write(&path, text).unwrap();
    let arguments = ["up", "--only", "apolo,player", "--player-devices", path.to_str().unwrap()];
    let lab = Lab::start_with(0, &arguments, &[]);
    let mut client = PlayerClient::connect(lab.player);
    let list = client.granted(SERVER, DEVICES.subtype, &());
    assert_eq!(DEVICES.answer(&list).unwrap().len(), 1);
    client.subscribe(base(0));
    let geometry = client.granted(base(0), position2d::GET_GEOMETRY.subtype, &());
    let size = position2d::GET_GEOMETRY.answer(&geometry).unwrap().size;
    assert!((size.length - 0.57).abs() < 0.01 && (size.width - 0.52).abs() < 0.01, "{size:?}");
    client.set_speed(base(0), 10.0, 0.0);
    let state = client.until("the base drives", base(0), |state| state.pose.x > 0.1);
    assert!(state.velocity.x < 0.12, "{state:?}");
}

/// A client that has more data to read than its socket holds, and reads nothing: images.
#[test]
fn a_client_that_does_not_read_delays_no_other() {
    const ROUNDS: usize = 20;
    let lab = Lab::only("turtlebot,player");
    let eye = camera::INTERFACE.device(0);
    let (mut watcher, mut driver) = (PlayerClient::connect(lab.player), PlayerClient::connect(lab.player));
    watcher.subscribe(eye);
    driver.subscribe(base(0));
    let ask = |driver: &mut PlayerClient| {
        let asked = now();
        driver.granted(SERVER, DEVICES.subtype, &());
        driver.state(base(0));
        since(asked)
    };
    let images = |watcher: &mut PlayerClient, driver: &mut PlayerClient| {
        let (mut bytes, mut times) = (0, Vec::new());
        for _ in 0..ROUNDS {
            bytes += watcher.newest(eye).body.len();
            times.push(ask(driver));
        }
        times.sort();
        (bytes, times[times.len() / 2])
    };
    let (_, alone) = images(&mut watcher, &mut driver);
    let mut unread = PlayerClient::connect(lab.player);
    unread.ask(SERVER, MODE.subtype, &player::PUSH);
    unread.subscribe(eye);
    let (bytes, beside) = images(&mut watcher, &mut driver);
    // More than Linux keeps for both ends of a connection.
    assert!(bytes > 15_000_000, "{bytes}");
    println!("a read takes {alone:?}, beside a client that does not read {beside:?}");
    // Its data comes at other times, which are not multiples of a nanosecond.
    assert!(beside.abs_diff(alone) < Duration::from_micros(1), "{alone:?} {beside:?}");
    drop(unread);
}

/// Clients that send half a message or use another protocol; and two hundred good ones.
#[test]
fn two_hundred_clients_are_served_beside_bad_ones() {
    let lab = Lab::only("turtlebot,player");
    let mut half = PlayerClient::connect(lab.player);
    half.stream.write_all(&[0; 39]).unwrap();
    let mut other = PlayerClient::connect(lab.player);
    let _ = other.stream.write_all(&[0xff; 4096]);

    let mut clients: Vec<PlayerClient> = (0..200).map(|_| PlayerClient::connect(lab.player)).collect();
    clients.iter_mut().for_each(|client| client.subscribe(base(0)));
    for _ in 0..5 {
        for client in &mut clients {
            let asked = now();
            client.granted(SERVER, DEVICES.subtype, &());
            // There and back.
            assert_eq!(since(asked), Duration::from_micros(100));
        }
    }
    for client in &mut clients {
        assert!(client.state(base(0)).pose.x.is_finite());
    }
}

#[test]
fn a_wrong_table_is_named_with_its_reason() {
    let Folder(folder) = &Folder::new();
    let path = folder.join("player.yaml");
    std::fs::write(&path, "devices:\n- device: position2d:0\n  odometry: odom\n").unwrap();
    let arguments = ["up", "--only", "player", "--player-devices", path.to_str().unwrap()];
    let error = Lab::try_start(1, &[], 0, &arguments, &[]).err().expect("it does not start");
    assert!(error.contains("player.yaml") && error.contains("velocity"), "{error}");
}
