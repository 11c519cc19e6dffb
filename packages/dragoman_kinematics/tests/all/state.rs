//! Links of whole robots, against `k`; and the node of their state over its topics.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{link_poses, root_of};
use dragoman_kinematics::motion::MotionConfig;
use dragoman_kinematics::node::state::{NODE_NAME, StateNodeError, StateSettings, start};
use dragoman_kinematics::node::{self as kinematics, KinematicsSettings};
use dragoman_kinematics::state::{Merged, Tree};
use dragoman_kinematics::{Model, ModelError, Robot};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::String as StringMessage;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use futures::executor::block_on;
use proptest::prelude::*;

const BRANCHES: &str = include_str!("../data/branches.urdf");
const RANGER: &str = include_str!("../../../../urdf/ranger_mk1.urdf");
const TIMEOUT: Duration = Duration::from_secs(20);

/// Compares all links with those of `k`, which resolves chains of mimic joints one step at a time.
fn compare(urdf: &str, positions: &[f64]) {
    let mut tree = Tree::from_urdf(urdf).unwrap();
    let robot = urdf_rs::read_from_string(urdf).unwrap();
    let chain = k::Chain::<f64>::from(&robot);
    let inputs: Vec<(String, f64)> =
        tree.joint_names().map(str::to_owned).zip(positions.iter().copied()).collect();
    for (name, position) in &inputs {
        // Joints beyond their limits keep their positions.
        chain.find(name).unwrap().set_joint_position_unchecked(*position);
    }
    for (name, position) in &inputs {
        let mut followed = vec![(name.clone(), *position)];
        while let Some((name, position)) = followed.pop() {
            for joint in robot.joints.iter() {
                let Some(mimic) = joint.mimic.as_ref().filter(|mimic| mimic.joint == name) else { continue };
                let own = mimic.multiplier.unwrap_or(1.0) * position + mimic.offset.unwrap_or(0.0);
                chain.find(&joint.name).unwrap().set_joint_position_unchecked(own);
                followed.push((joint.name.clone(), own));
            }
        }
    }
    chain.update_transforms();
    let known = |joint: &str| inputs.iter().find(|(name, _)| name == joint).map(|(_, position)| *position);
    let poses = link_poses(&mut tree, root_of(&robot), known);
    assert_eq!(poses.len(), robot.links.len());
    for (link, pose) in poses {
        let expected = if link == root_of(&robot) {
            nalgebra::Isometry3::identity()
        } else {
            chain.find_link(&link).unwrap().world_transform().unwrap()
        };
        let error = expected.inverse() * pose;
        assert!(
            error.translation.vector.norm() < 1e-9 && error.rotation.angle() < 1e-7,
            "{link}: {pose} not {expected}"
        );
    }
}

proptest! {
    #[test]
    fn links_are_where_k_has_them(positions in prop::collection::vec(-2.0..2.0_f64, 6)) {
        compare(BRANCHES, &positions);
        compare(RANGER, &positions);
    }
}

#[test]
fn links_beyond_an_unknown_joint_have_no_pose() {
    let mut tree = Tree::from_urdf(BRANCHES).unwrap();
    assert_eq!(tree.joint_names().count(), 5);
    let poses = link_poses(&mut tree, "base_footprint", |joint| (joint != "arm_1_joint").then_some(0.0));
    let links: Vec<&str> = poses.iter().map(|(link, _)| link.as_str()).collect();
    assert_eq!(
        links,
        ["base_footprint", "base_link", "arm_base_link", "wheel_left_link", "wheel_right_link"]
    );
    let moving = tree.moving(|joint| (joint == "gripper_1_joint").then_some(2.5));
    let carried: Vec<_> =
        moving.iter().map(|t| (t.child.as_str(), (t.pose.translation.y * 1e6).round())).collect();
    assert_eq!(
        carried,
        [("gripper_link", 2.5e6), ("gripper_left_link", 3000.0), ("gripper_right_link", -3000.0)]
    );
}

#[test]
fn joints_that_follow_others_are_added_to_a_state() {
    let tree = Tree::from_urdf(BRANCHES).unwrap();
    let mut state = Merged {
        names: vec!["gripper_1_joint".to_owned()],
        positions: vec![1.0],
        velocities: vec![2.0],
        ..Merged::default()
    };
    tree.complete(&mut state);
    assert_eq!(state.names, ["gripper_1_joint", "finger_left", "finger_right"]);
    let expected = [(1.0, 2.0), (0.0141, -0.0148), (-0.0141, 0.0148)];
    for (at, (position, velocity)) in expected.into_iter().enumerate() {
        assert!(
            (state.positions[at] - position).abs() < 1e-12 && (state.velocities[at] - velocity).abs() < 1e-12
        );
    }
}

#[test]
fn invalid_joints_move_by_themselves_or_not_at_all() {
    let names = |from: &str, to: &str| {
        assert!(BRANCHES.contains(from));
        let tree = Tree::from_urdf(&BRANCHES.replace(from, to)).unwrap();
        tree.joint_names().map(str::to_owned).collect::<Vec<_>>()
    };
    let mimic = r#"<mimic joint="gripper_1_joint""#;
    let fingers = |names: &[String]| names.iter().filter(|name| name.starts_with("finger")).count();
    assert_eq!(fingers(&names(mimic, mimic)), 0);
    assert!(fingers(&names(mimic, r#"<mimic joint="finger_right""#)) > 0, "a circle");
    assert!(fingers(&names(mimic, r#"<mimic joint="arm_mount""#)) > 0, "a fixed joint");
    assert!(fingers(&names("-0.0074", "inf")) > 0, "no number");
    assert!(names(r#"type="revolute""#, r#"type="floating""#).len() < names(mimic, mimic).len());
    assert!(matches!(Tree::from_urdf("<robot"), Err(ModelError::Urdf { .. })));
}

fn context(test: u16, arguments: &str) -> Context {
    let domain_id = 71 + (std::process::id() % 5) as u16 * 4 + test;
    let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let arguments = Arguments::parse(arguments.split_whitespace().map(str::to_owned)).unwrap();
    Context::with_options(&discovery, arguments).unwrap()
}

fn settings(sources: &[&str]) -> StateSettings {
    StateSettings {
        node_name: NODE_NAME.to_owned(),
        namespace: "/robot".to_owned(),
        urdf: BRANCHES.to_owned(),
        sources: sources.iter().map(|topic| (*topic).to_owned()).collect(),
        frame_prefix: String::new(),
    }
}

#[derive(Default)]
struct Seen {
    joints: Vec<JointState>,
    moving: Vec<TFMessage>,
    fixed: Option<TFMessage>,
    description: Option<String>,
}

#[test]
fn wheels_and_arm_are_one_message_and_one_tree() {
    let context = context(0, "");
    let node = start(&context, &settings(&["wheels", "arm"])).unwrap();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut tasks = NodeTasks::new(Node::create(context, "observer", "/robot").unwrap());
    let latched = || QosProfile::default().keep_last(1).transient_local();
    let sink = Arc::clone(&seen);
    tasks
        .subscribe("joint_states", QosProfile::default(), move |m| sink.lock().unwrap().joints.push(m))
        .unwrap();
    let sink = Arc::clone(&seen);
    tasks.subscribe("/tf", QosProfile::default(), move |m| sink.lock().unwrap().moving.push(m)).unwrap();
    let sink = Arc::clone(&seen);
    tasks.subscribe("/tf_static", latched(), move |m| sink.lock().unwrap().fixed = Some(m)).unwrap();
    let sink = Arc::clone(&seen);
    tasks
        .subscribe("robot_description", latched(), move |m: StringMessage| {
            sink.lock().unwrap().description = Some(m.data);
        })
        .unwrap();
    let wheels = tasks.node().create_publisher::<JointState>("wheels", QosProfile::default()).unwrap();
    let arm = tasks.node().create_publisher::<JointState>("arm", QosProfile::default()).unwrap();
    let observer = tasks.start().unwrap();
    std::thread::spawn(move || block_on(futures::future::join(node, observer)));

    let state = |names: &[&str], position: f64, sec: i32| {
        let mut state = JointState {
            name: names.iter().map(|name| (*name).to_owned()).collect(),
            position: vec![position; names.len()],
            velocity: vec![0.5; names.len()],
            ..Default::default()
        };
        state.header.stamp.sec = sec;
        state
    };
    let arm_joints = ["arm_1_joint", "arm_2_joint", "gripper_1_joint"];
    let start = Instant::now();
    let (merged, transforms) = loop {
        wheels.publish(&state(&["wheel_left_joint", "wheel_right_joint"], 1.0, 7)).unwrap();
        arm.publish(&state(&arm_joints, 0.25, 8)).unwrap();
        // Refused, without effect on the others.
        arm.publish(&state(&arm_joints, f64::NAN, 9)).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let seen = seen.lock().unwrap();
        let whole = seen.joints.iter().find(|state| state.name.len() == 7);
        let tree = seen.moving.iter().find(|message| message.transforms.len() == 7);
        if let (Some(state), Some(tree)) = (whole, tree) {
            break (state.clone(), tree.clone());
        }
        assert!(start.elapsed() < TIMEOUT);
    };
    assert_eq!(
        merged.name,
        [
            "wheel_left_joint",
            "wheel_right_joint",
            "arm_1_joint",
            "arm_2_joint",
            "gripper_1_joint",
            "finger_left",
            "finger_right"
        ]
    );
    assert_eq!(merged.position[..5], [1.0, 1.0, 0.25, 0.25, 0.25]);
    assert_eq!((merged.velocity.len(), merged.header.stamp.sec), (7, 8));
    let wheel = &transforms.transforms[0];
    assert_eq!((&*wheel.header.frame_id, &*wheel.child_frame_id), ("base_link", "wheel_left_link"));
    assert_eq!(wheel.transform.translation.y, 0.115);
    let seen = seen.lock().unwrap();
    assert!(seen.joints.iter().all(|state| state.position.iter().all(|position| position.is_finite())));
    let fixed = &seen.fixed.as_ref().unwrap().transforms;
    let children: Vec<&str> = fixed.iter().map(|transform| transform.child_frame_id.as_str()).collect();
    assert_eq!(children, ["base_link", "arm_base_link", "gripper_rail_link"]);
    assert_eq!(seen.description.as_deref(), Some(BRANCHES));
}

#[test]
fn without_sources_all_links_are_published_once() {
    let context = context(1, "");
    let settings = StateSettings { frame_prefix: "still/".to_owned(), ..settings(&[]) };
    let node = start(&context, &settings).unwrap();
    let (sender, received) = std::sync::mpsc::channel();
    let mut tasks = NodeTasks::new(Node::create(context, "observer", "/robot").unwrap());
    let latched = QosProfile::default().keep_last(1).transient_local();
    tasks.subscribe("/tf_static", latched, move |m: TFMessage| sender.send(m).unwrap_or_default()).unwrap();
    let observer = tasks.start().unwrap();
    std::thread::spawn(move || block_on(futures::future::join(node, observer)));
    let message = received.recv_timeout(TIMEOUT).unwrap();
    let links = urdf_rs::read_from_string(BRANCHES).unwrap().links;
    assert_eq!(message.transforms.len(), links.len() - 1);
    for transform in &message.transforms {
        assert!(
            transform.header.frame_id.starts_with("still/") && transform.child_frame_id.starts_with("still/")
        );
    }
    let finger = message.transforms.iter().find(|t| t.child_frame_id == "still/gripper_left_link").unwrap();
    // Where the mimic rule puts it at zero.
    assert_eq!(finger.transform.translation.y, 0.0215);
}

#[test]
fn beside_robot_state_publisher_neither_description_nor_transforms_are_published() {
    let context = context(3, "--ros-args -p publish_tf:=false");
    let state = start(&context, &settings(&["wheels"])).unwrap();
    let model = Model::from_urdf(RANGER, Some("base_link"), Some("tool0")).unwrap();
    let settings = KinematicsSettings {
        namespace: "/arm".to_owned(),
        motion: MotionConfig::for_robot(&Robot::new(&model).unwrap()),
        model,
        urdf: RANGER.to_owned(),
    };
    let arm = kinematics::start(&context, settings).unwrap();
    let observer = Node::create(context, "observer", "/").unwrap();
    std::thread::spawn(move || block_on(futures::future::join(state, arm.node)));
    let start = Instant::now();
    let topics = loop {
        let topics = observer.get_topic_names_and_types().unwrap();
        if ["/robot/joint_states", "/arm/pose"].iter().all(|topic| topics.contains_key(*topic)) {
            break topics;
        }
        assert!(start.elapsed() < TIMEOUT);
        std::thread::sleep(Duration::from_millis(5));
    };
    for topic in topics.keys() {
        let is_published =
            ["tf", "tf_static", "robot_description"].iter().any(|name| topic.ends_with(&format!("/{name}")));
        assert!(!is_published, "{topic}");
    }
}

#[test]
fn a_node_does_not_accept_its_own_topics_as_sources() {
    let context = context(2, "");
    for sources in [&["joint_states"][..], &["/robot/joint_states"], &["wheels", "/robot/wheels"]] {
        let refused = start(&context, &settings(sources));
        assert!(matches!(refused, Err(StateNodeError::Source { .. })), "{sources:?}");
    }
    let nothing = StateSettings { urdf: String::new(), ..settings(&[]) };
    assert!(matches!(start(&context, &nothing), Err(StateNodeError::Nothing)));
}
