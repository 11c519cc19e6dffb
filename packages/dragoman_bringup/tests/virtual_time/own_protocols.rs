//! `dragoman bridge` with the descriptions of our own protocols, against our own servers of them, which are compiled: queries,
//! settings, refusals and stops of the 31-byte protocol over UDP and of Apolo's over TCP.

use std::time::Duration;

use dragoman_ros::dragoman_msgs::srv::{
    GetLocation, GetLocationMRobot, MoveMRobot, Place, PlaceMRobot, SetCommandMode, SetJointGoal,
};
use dragoman_ros::geometry_msgs::msg::{Point, PoseStamped, Vector3};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::std_srvs::srv::Trigger;
use futures::stream::BoxStream;

use crate::common::beside::Beside;
use crate::common::{Folder, Lab, sleep};

const ARM31: &str = include_str!("../../../dragoman_protocol/protocols/arm31.yaml");
const APOLO: &str = include_str!("../../../dragoman_protocol/protocols/apolo.yaml");

const ARM31_BRIDGE: &str = r#"
bridge:
  timing: { answer: 0.3, silence: 1 }
  every:
    - { send: pose, period: 0.05 }
    - { send: joint_positions, period: 0.05 }
    - { send: temperatures, period: 1 }
  stop: stop
  answers:
    - from: error
      of: [pose, joint_positions, temperatures, begin_motion, set_command_mode, set_goal_pose, set_timed_goal_pose, begin_joint_motion, set_joint_goal, enable, disable]
      when: (number == 10) | (number == 11) | (number == 20)
      fails: true
      reason: text
  publish:
    - topic: pose
      type: geometry_msgs/msg/PoseStamped
      from: pose
      frame: base_link
      fields: { pose.position.x: "position[0]", pose.position.y: "position[1]", pose.position.z: "position[2]", pose.orientation.w: "quaternion[3]" }
    - { topic: errors, type: std_msgs/msg/String, from: error, fields: { data: text } }
    - { topic: warnings, type: std_msgs/msg/String, from: warning, fields: { data: text } }
  joint_states:
    - from: joint_positions
      joints: { joint_1: { position: "joints[0]" }, joint_2: { position: "joints[1]" } }
  services:
    - { service: enable, type: std_srvs/srv/Trigger, send: enable }
    - { service: disable, type: std_srvs/srv/Trigger, send: disable }
    - { service: set_command_mode, type: dragoman_msgs/srv/SetCommandMode, send: set_command_mode, fields: { mode: mode }, response: { mode: mode } }
    - { service: set_joint_goal, type: dragoman_msgs/srv/SetJointGoal, send: set_joint_goal, fields: { joints: position } }
    - { service: begin_motion, type: std_srvs/srv/Trigger, send: begin_motion, moves: true, timeout: 60 }
    - { service: begin_joint_motion, type: std_srvs/srv/Trigger, send: begin_joint_motion, moves: true, timeout: 60 }
"#;

const APOLO_BRIDGE: &str = r#"
bridge:
  timing: { answer: 1, silence: 5 }
  stop: { send: move_m_robot, fields: { robot: "'Neo'" } }
  answers:
    - { from: numbers, of: [get_location, get_location_m_robot, get_odometry] }
    - { from: "yes", of: [move_m_robot, place_m_robot] }
    - { from: "no", of: [get_location, get_location_m_robot, get_odometry, move_m_robot, place_m_robot], fails: true }
  services:
    - service: get_location
      type: dragoman_msgs/srv/GetLocation
      send: get_location
      fields: { world: world, object: object }
      response: { found: 1, position.x: "values[0]", position.y: "values[1]", position.z: "values[2]", rpy.z: "values[5]" }
    - service: get_location_m_robot
      type: dragoman_msgs/srv/GetLocationMRobot
      send: get_location_m_robot
      fields: { world: world, robot: robot }
      response: { found: 1, position.x: "values[0]", position.y: "values[1]", yaw: "values[3]" }
    - service: move_m_robot
      type: dragoman_msgs/srv/MoveMRobot
      send: move_m_robot
      fields: { world: world, robot: robot, speed: speed, rotation_speed: rotation_speed, duration: duration }
      limits: { speed: [-2, 2], rotation_speed: [-1, 1], duration: [0, 60] }
      moves: true
      response: { found: 1, moved: 1 }
    - service: place_m_robot
      type: dragoman_msgs/srv/PlaceMRobot
      send: place_m_robot
      fields: { world: world, robot: robot, "position[0]": position.x, "position[1]": position.y, "position[2]": position.z, yaw: yaw }
      response: { found: 1, placed: 1 }
    - service: place
      type: dragoman_msgs/srv/Place
      send: place
      fields: { world: world, object: object, "position[0]": position.x, "position[1]": position.y, "position[2]": position.z, "rpy[2]": rpy.z }
"#;

/// A part of the lab, and a bridge to its server.
struct Chain {
    beside: Beside,
    _bridge: Lab,
    _lab: Lab,
    _folder: Folder,
}

impl Chain {
    /// `parts` of the lab; the bridge is in the namespace `/described`.
    fn new(parts: &str, description: &str, link: impl FnOnce(&Lab) -> String) -> Self {
        let lab = Lab::only(parts);
        let folder = Folder::new();
        let file = folder.write("described.yaml", description);
        let link = link(&lab);
        let bridge = Lab::start_with(0, &["bridge", &file, "--link", &link, "--namespace", "described"], &[]);
        let beside = Beside::new(lab.domain);
        // The link is opened after the services are there.
        sleep(Duration::from_secs(1));
        Self { beside, _bridge: bridge, _lab: lab, _folder: folder }
    }

    fn trigger(&mut self, name: &str) -> (bool, String) {
        let answer =
            self.beside.call::<Trigger::Service>(&format!("/described/{name}"), Trigger::Request::default());
        (answer.success, answer.message)
    }

    /// The newest positions.
    fn joints(&self, states: &mut BoxStream<'static, JointState>) -> Vec<f64> {
        sleep(Duration::from_millis(200));
        while let Some(Some(_)) = futures::FutureExt::now_or_never(futures::StreamExt::next(states)) {}
        self.beside.next("joint states", states).position
    }
}

#[test]
fn the_31_byte_protocol_by_its_description() {
    let description = format!("{ARM31}{ARM31_BRIDGE}");
    let mut chain = Chain::new("ranger", &description, |lab| lab.address.to_string());
    let mut poses = chain.beside.subscribe::<PoseStamped>("/described/pose");
    let mut measured = chain.beside.subscribe::<PoseStamped>("/ranger/pose");
    let mut states = chain.beside.subscribe::<JointState>("/described/joint_states");
    let mut errors = chain.beside.subscribe::<Text>("/described/errors");
    // Queries.
    let (pose, expected) =
        (chain.beside.next("a pose", &mut poses).pose, chain.beside.next("its pose", &mut measured).pose);
    assert!(
        (pose.position.x - expected.position.x).abs() < 1e-6
            && (pose.position.z - expected.position.z).abs() < 1e-6
    );
    assert!((pose.orientation.w - expected.orientation.w.abs()).abs() < 1e-6, "{pose:?} {expected:?}");
    let start = chain.joints(&mut states);
    // Settings, and what the controller refuses.
    assert_eq!(chain.trigger("enable"), (true, String::new()));
    let joint = u8::try_from(SetCommandMode::Request::JOINT).unwrap();
    let mode = SetCommandMode::Request { mode: joint };
    let mode = chain.beside.call::<SetCommandMode::Service>("/described/set_command_mode", mode);
    assert_eq!((mode.success, mode.mode), (true, joint), "{}", mode.message);
    let (success, reason) = chain.trigger("begin_motion");
    assert_eq!((success, &*reason), (false, " Cmd BG rejected"));
    assert_eq!(chain.beside.next("the error", &mut errors).data, " Cmd BG rejected");
    // A motion, and its stop.
    let mut position = [start[0] - 0.35, start[1], 0.0, 0.0, 0.0, 0.0].to_vec();
    position[2..].copy_from_slice(&[std::f64::consts::FRAC_PI_2, 0.0, std::f64::consts::FRAC_PI_2, 0.0]);
    let goal = SetJointGoal::Request { position, min_duration: 0.0 };
    let set = chain.beside.call::<SetJointGoal::Service>("/described/set_joint_goal", goal);
    assert!(set.success, "{}", set.message);
    assert_eq!(chain.trigger("begin_joint_motion"), (true, String::new()));
    sleep(Duration::from_millis(500));
    assert_eq!(chain.trigger("stop"), (true, "stopping the machine".to_owned()));
    sleep(Duration::from_secs(1));
    let stopped = chain.joints(&mut states);
    sleep(Duration::from_secs(1));
    let later = chain.joints(&mut states);
    let moved = (stopped[0] - start[0]).abs();
    assert!(moved > 0.01 && moved < 0.34, "{start:?} {stopped:?}");
    assert!((later[0] - stopped[0]).abs() < 1e-3, "{stopped:?} {later:?}");
}

#[test]
fn apolos_protocol_by_its_description() {
    let description = format!("{APOLO}{APOLO_BRIDGE}");
    let mut chain = Chain::new("apolo", &description, |lab| lab.apolo.to_string());
    let object = || "pieza".to_owned();
    let robot = || "Neo".to_owned();
    let location = |chain: &mut Chain, object: &str| {
        let request = GetLocation::Request { world: String::new(), object: object.to_owned() };
        chain.beside.call::<GetLocation::Service>("/described/get_location", request)
    };
    let expected = GetLocation::Request { world: String::new(), object: object() };
    let expected = chain.beside.call::<GetLocation::Service>("/apolo/get_location", expected);
    let found = location(&mut chain, "pieza");
    assert!(found.success && found.found, "{}", found.message);
    assert_eq!((found.position, found.rpy.z), (expected.position, expected.rpy.z));
    // A name that does not exist.
    let unknown = location(&mut chain, "nobody");
    assert_eq!((unknown.success, unknown.found, &*unknown.message), (false, false, "no"));
    // A setting that nothing answers.
    let place = Place::Request {
        world: "World 1".to_owned(),
        object: object(),
        position: Point { x: 1.0, y: -0.5, z: 0.25 },
        rpy: Vector3 { x: 0.0, y: 0.0, z: 0.5 },
    };
    assert!(chain.beside.call::<Place::Service>("/described/place", place).success);
    let found = location(&mut chain, "pieza");
    assert_eq!((found.position.x, found.position.y, found.position.z, found.rpy.z), (1.0, -0.5, 0.25, 0.5));
    // Answers that are true or false.
    let moved = |chain: &mut Chain, speed: f64, duration: f64| {
        let request = MoveMRobot::Request {
            world: String::new(),
            robot: robot(),
            speed,
            rotation_speed: 0.1,
            duration,
        };
        chain.beside.call::<MoveMRobot::Service>("/described/move_m_robot", request)
    };
    let at = |chain: &mut Chain, namespace: &str| {
        let request = GetLocationMRobot::Request { world: String::new(), robot: robot() };
        let name = format!("{namespace}/get_location_m_robot");
        let found = chain.beside.call::<GetLocationMRobot::Service>(&name, request);
        // A stop sets the pose again, with rounding.
        [found.position.x, found.position.y, found.yaw].map(|value| (value * 1e9).round())
    };
    let before = at(&mut chain, "/described");
    let answer = moved(&mut chain, 0.2, 0.5);
    assert!(answer.success && answer.moved, "{}", answer.message);
    assert_ne!(at(&mut chain, "/described"), before);
    assert_eq!(at(&mut chain, "/described"), at(&mut chain, "/apolo"));
    let before = at(&mut chain, "/described");
    // Through a wall: the robot stays.
    assert!(!moved(&mut chain, 2.0, 60.0).success);
    // Beyond the limits: it is not even sent.
    let refused = moved(&mut chain, 2.5, 1.0);
    assert_eq!((refused.success, &*refused.message), (false, "speed: 2.5 is outside of -2 to 2"));
    assert_eq!(at(&mut chain, "/described"), before);
    assert_eq!(chain.trigger("stop"), (true, "stopping the machine".to_owned()));
    assert_eq!(at(&mut chain, "/described"), before);
    let nowhere = PlaceMRobot::Request {
        world: String::new(),
        robot: "Pioneer3AT".to_owned(),
        position: Point { x: 70.0, y: 0.7, z: 0.0 },
        yaw: 0.23,
    };
    assert!(!chain.beside.call::<PlaceMRobot::Service>("/described/place_m_robot", nowhere).success);
}
