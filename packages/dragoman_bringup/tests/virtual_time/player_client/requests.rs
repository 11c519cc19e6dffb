//! Commands, services and the action.

use std::time::Duration;

use super::Operator;
use crate::common::block_on;
use dragoman_bridge::player::wire::common::{Point3d, Pose2d};
use dragoman_bridge::player::wire::*;
use dragoman_ros::arbotix_msgs::srv::SetSpeed;
use dragoman_ros::dragoman_msgs::srv::{
    GetGeometry, GetLocation, Place, SetOdometry, StartPlayback, StartRecording,
};
use dragoman_ros::geometry_msgs::msg::{PointStamped, Pose2D, PoseStamped, PoseWithCovarianceStamped, Twist};
use dragoman_ros::nav_msgs::msg::Path;
use dragoman_ros::nav2_msgs::action::NavigateToPose;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64, UInt8MultiArray};
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{GoalStatus, Node};
use futures::StreamExt;

const BASE: Device = position2d::INTERFACE.device(0);

fn twist(x: f64, turn: f64) -> Twist {
    let mut twist = Twist::default();
    (twist.linear.x, twist.angular.z) = (x, turn);
    twist
}

#[test]
fn a_base_has_the_services_of_every_base_and_stops_without_commands() {
    let mut operator = Operator::new(&[], &[]);
    let geometry = operator.call::<GetGeometry::Service>("get_geometry", GetGeometry::Request::default());
    assert!(geometry.success, "{}", geometry.message);
    assert_eq!((geometry.size.x, geometry.size.y, geometry.size.z), (0.5, 0.4, 0.3));
    assert_eq!(geometry.pose.x, -0.05);
    let refused =
        operator.call::<GetGeometry::Service>("position2d1/get_geometry", GetGeometry::Request::default());
    assert!(!refused.success && refused.message.contains("refused"), "{}", refused.message);

    assert!(operator.call::<SetBool::Service>("set_motor_power", SetBool::Request { data: true }).success);
    let sent = operator.server.script().bodies(BASE, MessageKind::Request, position2d::MOTOR_POWER.subtype);
    assert_eq!(sent, [true.to_bytes()]);
    let pose = Pose2D { x: 1.0, y: -2.0, theta: 0.5 };
    assert!(operator.call::<SetOdometry::Service>("set_odometry", SetOdometry::Request { pose }).success);
    let pose = Pose2D { x: f64::NAN, ..Default::default() };
    let refused = operator.call::<SetOdometry::Service>("set_odometry", SetOdometry::Request { pose });
    assert!(!refused.success && refused.message == "the pose is not finite");
    assert!(operator.call::<Trigger::Service>("reset_odometry", Trigger::Request::default()).success);
    let sent = operator.server.script().bodies(BASE, MessageKind::Request, position2d::SET_ODOMETRY.subtype);
    assert_eq!(sent, [Pose2d { x: 1.0, y: -2.0, yaw: 0.5 }.to_bytes(), Pose2d::default().to_bytes()]);

    operator.beside.publish("/player/cmd_vel", &twist(f64::NAN, 0.0));
    operator.beside.publish("/player/cmd_vel", &twist(0.25, -0.5));
    let velocities = |operator: &mut Operator| {
        let script = operator.server.script();
        script
            .bodies(BASE, MessageKind::Command, position2d::VELOCITY.subtype)
            .iter()
            .map(|body| position2d::VELOCITY.body(body).unwrap().velocity)
            .collect::<Vec<_>>()
    };
    operator.until("the base is stopped", |operator| velocities(operator).len() == 3);
    let driven = Pose2d { x: 0.25, y: 0.0, yaw: -0.5 };
    // The first is that of the motors: a driver keeps its velocity while they are off.
    assert_eq!(velocities(&mut operator), [Pose2d::default(), driven, Pose2d::default()]);
    let script = operator.server.script();
    let times: Vec<_> = script
        .received
        .iter()
        .filter(|message| message.1 == BASE && message.2 == MessageKind::Command)
        .map(|message| message.0)
        .collect();
    assert_eq!(times[2] - times[1], Duration::from_millis(600));
}

#[test]
fn arms_grippers_and_objects_take_commands() {
    let mut operator = Operator::new(&[], &[]);
    let arm = actarray::INTERFACE.device(0);
    operator.beside.publish("/player/actarray_joint_1/command", &Float64 { data: 0.5 });
    let command = actarray::JointPosition { joint: 1, position: 0.5 }.to_bytes();
    let subtype = actarray::POSITION.subtype;
    operator.until("the joint moves", |operator| {
        operator.server.script().bodies(arm, MessageKind::Command, subtype) == [command.clone()]
    });
    let all = JointState { position: vec![0.25, 0.75], ..Default::default() };
    operator.beside.publish("/player/joint_command", &all);
    let command = actarray::Positions { positions: vec![0.25, 0.75] }.to_bytes();
    let subtype = actarray::MULTI_POSITION.subtype;
    operator.until("the joints move", |operator| {
        operator.server.script().bodies(arm, MessageKind::Command, subtype) == [command.clone()]
    });
    let named =
        JointState { name: vec!["actarray_joint_0".to_owned()], position: vec![1.5], ..Default::default() };
    operator.beside.publish("/player/joint_command", &named);
    let command = actarray::JointPosition { joint: 0, position: 1.5 }.to_bytes();
    let subtype = actarray::POSITION.subtype;
    operator.until("the named joint moves", |operator| {
        operator.server.script().bodies(arm, MessageKind::Command, subtype).last() == Some(&command)
    });
    operator.call::<SetSpeed::Service>("actarray_joint_0/set_speed", SetSpeed::Request { speed: 0.5 });
    let sent = operator.server.script().bodies(arm, MessageKind::Request, actarray::SET_SPEED.subtype);
    assert_eq!(sent, [actarray::JointSpeed { joint: 0, speed: 0.5 }.to_bytes()]);
    assert!(operator.call::<SetBool::Service>("set_power", SetBool::Request { data: true }).success);
    // Not in its table of answers.
    assert!(!operator.call::<SetBool::Service>("set_brakes", SetBool::Request { data: true }).success);
    assert!(operator.call::<Trigger::Service>("home", Trigger::Request::default()).success);
    assert!(operator.call::<Trigger::Service>("gripper/open", Trigger::Request::default()).success);
    let fingers = gripper::INTERFACE.device(0);
    // The service answers when the command is sent.
    operator.until("the gripper opens", |operator| {
        operator.server.script().bodies(fingers, MessageKind::Command, gripper::OPEN.subtype).len() == 1
    });

    let request = GetLocation::Request { object: "box".to_owned(), ..Default::default() };
    let found = operator.call::<GetLocation::Service>("get_location", request);
    assert!(found.success && found.found, "{}", found.message);
    assert_eq!((found.position.x, found.position.y, found.rpy.z), (5.0, 6.0, 0.75));
    let mut request = Place::Request { object: "box".to_owned(), ..Default::default() };
    (request.position.x, request.rpy.z) = (1.5, 0.25);
    assert!(operator.call::<Place::Service>("place", request.clone()).success);
    let world = simulation::INTERFACE.device(0);
    let sent = operator.server.script().bodies(world, MessageKind::Request, simulation::SET_POSE2D.subtype);
    let pose = Pose2d { x: 1.5, y: 0.0, yaw: 0.25 };
    assert_eq!(sent, [simulation::NamedPose2d { name: "box".to_owned(), pose }.to_bytes()]);
    request.position.x = f64::INFINITY;
    let refused = operator.call::<Place::Service>("place", request);
    assert!(!refused.success && refused.message == "a value is not finite");
}

#[test]
fn limbs_recorders_and_opaque_devices_take_commands() {
    let mut operator = Operator::new(&[], &[]);
    let arm = limb::INTERFACE.device(0);
    let sent = |operator: &mut Operator, device, kind, subtype| {
        operator.server.script().bodies(device, kind, subtype)
    };
    let mut goal = PoseStamped::default();
    (goal.pose.position.x, goal.pose.orientation.w) = (0.5, 1.0);
    operator.beside.publish("/player/limb/goal_pose", &goal);
    let pose = limb::Pose {
        position: Point3d { x: 0.5, ..Default::default() },
        approach: Point3d { z: 1.0, ..Default::default() },
        orientation: Point3d { y: 1.0, ..Default::default() },
    };
    let subtype = limb::SET_POSE.subtype;
    operator.until("the limb moves", |operator| {
        sent(operator, arm, MessageKind::Command, subtype) == [pose.to_bytes()]
    });
    let mut place = PointStamped::default();
    place.point.z = 0.75;
    operator.beside.publish("/player/limb/goal_position", &place);
    let subtype = limb::SET_POSITION.subtype;
    operator.until("the limb moves to a position", |operator| {
        let position = Point3d { z: 0.75, ..Default::default() };
        sent(operator, arm, MessageKind::Command, subtype) == [position.to_bytes()]
    });
    assert!(operator.call::<SetBool::Service>("limb/set_power", SetBool::Request { data: true }).success);
    assert!(!operator.call::<SetBool::Service>("limb/set_brakes", SetBool::Request { data: true }).success);
    operator.call::<SetSpeed::Service>("limb/set_speed", SetSpeed::Request { speed: 0.25 });
    assert_eq!(
        sent(&mut operator, arm, MessageKind::Request, limb::SET_SPEED.subtype),
        [0.25_f32.to_bytes()]
    );
    for (name, subtype) in [("limb/home", limb::HOME.subtype), ("limb/stop", limb::STOP.subtype)] {
        assert!(operator.call::<Trigger::Service>(name, Trigger::Request::default()).success);
        operator.until(name, |operator| sent(operator, arm, MessageKind::Command, subtype).len() == 1);
    }

    let bytes = UInt8MultiArray { data: vec![7, 8], ..Default::default() };
    operator.beside.publish("/player/opaque/command", &bytes);
    let device = opaque::INTERFACE.device(0);
    operator.until("bytes", |operator| {
        let body = Bytes(vec![7, 8]).to_bytes();
        sent(operator, device, MessageKind::Command, opaque::COMMAND.subtype) == [body]
    });

    let device = log::INTERFACE.device(0);
    let request = StartRecording::Request { name: "drive.log".to_owned(), ..Default::default() };
    assert!(operator.call::<StartRecording::Service>("start_recording", request.clone()).success);
    let topics = vec!["/odom".to_owned()];
    let refused = StartRecording::Request { topics, ..request };
    assert!(!operator.call::<StartRecording::Service>("start_recording", refused).success);
    assert!(operator.call::<Trigger::Service>("stop_recording", Trigger::Request::default()).success);
    let request = StartPlayback::Request::default();
    assert!(operator.call::<StartPlayback::Service>("start_playback", request.clone()).success);
    let faster = StartPlayback::Request { rate: 2.0, ..request };
    assert!(!operator.call::<StartPlayback::Service>("start_playback", faster).success);
    assert!(operator.call::<Trigger::Service>("stop_playback", Trigger::Request::default()).success);
    let asked = |operator: &mut Operator, subtype| sent(operator, device, MessageKind::Request, subtype);
    assert_eq!(asked(&mut operator, log::SET_FILE_NAME.subtype), ["drive.log".to_owned().to_bytes()]);
    for subtype in [log::SET_WRITE_STATE.subtype, log::SET_READ_STATE.subtype] {
        assert_eq!(asked(&mut operator, subtype), [true.to_bytes(), false.to_bytes()], "{subtype}");
    }
    assert_eq!(asked(&mut operator, log::REWIND.subtype).len(), 1);
}

#[test]
fn goals_go_to_the_planner_and_end_when_it_has_arrived() {
    let mut operator = Operator::new(&[], &[]);
    let planner = planner::INTERFACE.device(0);
    let mut path = operator.beside.latched::<Path>("/player/path");
    let mut goal = PoseStamped::default();
    goal.header.frame_id = "map".to_owned();
    (goal.pose.position.x, goal.pose.orientation.w) = (2.0, 1.0);
    operator.beside.publish("/player/goal_pose", &goal);
    let wanted = Pose2d { x: 2.0, y: 0.0, yaw: 0.0 };
    let subtype = planner::GOAL.subtype;
    operator.until("the goal", |operator| {
        operator.server.script().bodies(planner, MessageKind::Command, subtype) == [wanted.to_bytes()]
    });
    let state = |x: f64, done: bool| planner::State {
        valid: !done,
        done,
        goal: Pose2d { x, ..Pose2d::default() },
        waypoint_count: 2,
        ..planner::State::default()
    };
    let show = |operator: &mut Operator, x, done| {
        let data = vec![(planner::STATE.subtype, state(x, done).to_bytes())];
        operator.server.script().data.insert(planner, data);
    };
    show(&mut operator, 2.0, false);
    let shown = operator.beside.find("a path", &mut path, |path| !path.poses.is_empty());
    assert_eq!(shown.poses.len(), 2);

    let name = "/player/navigate_to_pose";
    let client = operator.beside.node.create_action_client::<NavigateToPose::Action>(name).unwrap();
    let available = Node::is_available(&client).unwrap();
    block_on(available).unwrap();
    let send = |pose: &PoseStamped| {
        client.send_goal_request(NavigateToPose::Goal { pose: pose.clone(), ..Default::default() }).unwrap()
    };
    let (_, result, feedback) = block_on(send(&goal)).unwrap();
    let mut feedback = feedback.boxed();
    operator.until("the second goal", |operator| {
        operator.server.script().bodies(planner, MessageKind::Command, subtype).len() == 2
    });
    operator.beside.next("the planner is at work", &mut feedback);
    show(&mut operator, 2.0, true);
    let (status, _) = block_on(result).unwrap();
    assert_eq!(status, GoalStatus::Succeeded);

    // Another goal: that the last one is done may still be on its way.
    goal.pose.position.x = 3.0;
    show(&mut operator, 3.0, false);
    let (running, result, _feedback) = block_on(send(&goal)).unwrap();
    block_on(running.cancel().unwrap()).unwrap();
    let (status, _) = block_on(result).unwrap();
    assert_eq!(status, GoalStatus::Canceled);
    let sent = operator.server.script().bodies(planner, MessageKind::Request, planner::ENABLE.subtype);
    assert_eq!(sent.last(), Some(&false.to_bytes()));

    goal.header.frame_id = "odom".to_owned();
    assert!(block_on(send(&goal)).is_err(), "a goal in another frame");

    let mut pose = PoseWithCovarianceStamped::default();
    (pose.pose.pose.position.x, pose.pose.pose.orientation.w) = (1.0, 1.0);
    pose.pose.covariance[0] = 0.25;
    operator.beside.publish("/player/initialpose", &pose);
    let localize = localize::INTERFACE.device(0);
    let estimate = localize::Estimate {
        mean: Pose2d { x: 1.0, y: 0.0, yaw: 0.0 },
        covariance: [0.25, 0.0, 0.0, 0.0, 0.0, 0.0],
    };
    operator.until("the pose", |operator| {
        let script = operator.server.script();
        script.bodies(localize, MessageKind::Request, localize::SET_POSE.subtype) == [estimate.to_bytes()]
    });
}
