//! The lab's arm as another ROS node uses it: trajectories, switching, single joints, life cycle, diagnostics.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::common::{self, Lab, block_on, next, sleep, within};
use dragoman_ros::arbotix_msgs::srv::{Enable, Relax, SetSpeed};
use dragoman_ros::control_msgs::action::FollowJointTrajectory::{Action, Goal};
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::dragoman_msgs::srv::{PlaceXyz, PlanToPose, SetCommandMode, SetJointGoal};
use dragoman_ros::geometry_msgs::msg::Pose;
use dragoman_ros::lifecycle_msgs::srv::{ChangeState, GetState};
use dragoman_ros::moveit_msgs::msg::{
    CollisionObject, Constraints, JointConstraint, MotionPlanRequest, MotionPlanResponse,
    OrientationConstraint, PlanningScene, PositionConstraint,
};
use dragoman_ros::moveit_msgs::srv::{GetMotionPlan, GetPositionFK, GetPositionIK};
use dragoman_ros::rcl_interfaces::msg::{Parameter, ParameterType};
use dragoman_ros::rcl_interfaces::srv::{GetParameters, SetParameters};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::shape_msgs::msg::SolidPrimitive;
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::trajectory_msgs::msg::JointTrajectoryPoint;
use dragoman_ros::visualization_msgs::msg::MarkerArray;
use dragoman_ros::{GoalStatus, Node, Publisher, QosProfile, WrappedServiceTypeSupport, WrappedTypesupport};
use dragoman_time::timeout;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

/// Time limit of events whose time is not known exactly.
const SOON: Duration = Duration::from_secs(1);
const NAMES: [&str; 6] = ["joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"];

/// A node in the lab's domain.
struct Operator {
    _lab: Lab,
    node: Node,
    states: BoxStream<'static, JointState>,
}

impl Operator {
    fn new() -> Self {
        Self::with("ranger")
    }

    /// With these parts of the lab.
    fn with(parts: &str) -> Self {
        let lab = Lab::only(parts);
        let mut node = common::node(lab.domain);
        let states = node.subscribe("/ranger/joint_states", QosProfile::default().keep_last(1)).unwrap();
        Self { _lab: lab, node, states: states.boxed() }
    }

    /// The newest positions.
    fn positions(&mut self) -> Vec<f64> {
        while self.states.next().now_or_never().is_some() {}
        let state = next(&mut self.states);
        assert_eq!(state.name, NAMES);
        state.position
    }

    #[track_caller]
    fn until(&mut self, what: &str, holds: impl Fn(&[f64]) -> bool) {
        within(SOON, what, || holds(&self.positions()));
    }

    #[track_caller]
    fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        let client = self.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
        common::call(&client, &request)
    }

    fn publisher<T: WrappedTypesupport>(&mut self, topic: &str) -> Publisher<T> {
        self.node.create_publisher(topic, QosProfile::default()).unwrap()
    }

    fn trigger(&mut self, name: &str) -> (bool, String) {
        let answer = self.call::<Trigger::Service>(&format!("/ranger/{name}"), Trigger::Request::default());
        (answer.success, answer.message)
    }

    /// Sets a parameter of the arm's motion node.
    fn set(&mut self, name: &str, set: impl FnOnce(&mut Parameter)) {
        let mut parameter = Parameter { name: name.to_owned(), ..Default::default() };
        set(&mut parameter);
        let request = SetParameters::Request { parameters: vec![parameter] };
        let answer = self.call::<SetParameters::Service>("/ranger/kinematics/set_parameters", request);
        assert!(answer.results.iter().all(|result| result.successful), "{:?}", answer.results);
    }

    /// The pose of the tool at these joint positions.
    fn tool(&mut self, positions: &[f64]) -> Pose {
        let mut request = GetPositionFK::Request::default();
        request.robot_state.joint_state.name = NAMES.iter().map(|name| (*name).to_owned()).collect();
        request.robot_state.joint_state.position = positions.to_vec();
        request.fk_link_names = vec!["tool0".to_owned()];
        let answer = self.call::<GetPositionFK::Service>("/ranger/compute_fk", request);
        answer.pose_stamped.into_iter().next().expect("the tool's pose").pose
    }

    fn life(&mut self) -> String {
        self.call::<GetState::Service>("/ranger/arm/get_state", GetState::Request::default())
            .current_state
            .label
    }
}

fn goal(names: &[&str], points: &[(f64, Vec<f64>)]) -> Goal {
    let mut goal = Goal::default();
    goal.trajectory.joint_names = names.iter().map(|name| (*name).to_owned()).collect();
    goal.trajectory.points = points
        .iter()
        .map(|(time, positions)| {
            let mut point = JointTrajectoryPoint { positions: positions.clone(), ..Default::default() };
            point.time_from_start.sec = *time as i32;
            point.time_from_start.nanosec = (time.fract() * 1e9) as u32;
            point
        })
        .collect();
    goal
}

/// Seven periods of the drives: their set-points are sent four ahead, and up to three pass until a goal begins, its last
/// set-point is due, and the drives have reported.
const LATE: Duration = Duration::from_micros(7 * 10_080);

/// Checks that as much time has passed since `begin`.
#[track_caller]
fn lasts(begin: Instant, expected: Duration) {
    let passed = dragoman_time::since(begin);
    assert!((expected..expected + LATE).contains(&passed), "{passed:?} instead of {expected:?}");
}

fn moved(start: &[f64], by: f64) -> Vec<f64> {
    start.iter().map(|position| position + by).collect()
}

#[test]
fn trajectories_are_followed_refused_cancelled_and_replaced() {
    let mut operator = Operator::new();
    let start = operator.positions();
    let client = operator.node.create_action_client::<Action>("/ranger/follow_joint_trajectory").unwrap();
    block_on(async {
        timeout(SOON, Node::is_available(&client).unwrap()).await.unwrap().unwrap();

        // Joints in another order than the arm's.
        let reversed: Vec<&str> = NAMES.iter().rev().copied().collect();
        let mut way: Vec<f64> = moved(&start, 0.2);
        way[0] = start[0] + 0.1;
        way.reverse();
        let sent = client.send_goal_request(goal(&reversed, &[(0.5, way.clone())])).unwrap().await;
        let (_goal, result, feedback) = sent.expect("accepted");
        let accepted = dragoman_time::now();
        let (status, result) = timeout(SOON, result).await.unwrap().unwrap();
        lasts(accepted, Duration::from_millis(500));
        assert_eq!((status, result.error_code), (GoalStatus::Succeeded, 0), "{}", result.error_string);
        let feedback: Vec<_> = feedback.collect().await;
        assert!(feedback.len() > 3, "{}", feedback.len());
        let last = feedback.last().unwrap();
        assert_eq!((last.joint_names.len(), last.desired.positions.len()), (6, 6));

        // Invalid goals are refused.
        for bad in [
            goal(&NAMES, &[]),
            goal(&NAMES[..5], &[(1.0, way[..5].to_vec())]),
            goal(&["elbow"; 6], &[(1.0, way.clone())]),
            goal(&NAMES, &[(1.0, vec![f64::NAN; 6])]),
            goal(&NAMES, &[(0.01, moved(&start, 3.0))]),
            goal(&NAMES, &[(1.0, start.clone()), (1.0, start.clone())]),
        ] {
            assert!(client.send_goal_request(bad).unwrap().await.is_err());
        }

        // Cancelled during the motion.
        let back = goal(&NAMES, &[(30.0, start.clone())]);
        let (handle, result, mut feedback) = client.send_goal_request(back.clone()).unwrap().await.unwrap();
        timeout(SOON, feedback.next()).await.unwrap().expect("it moves");
        let cancelled = dragoman_time::now();
        handle.cancel().unwrap().await.unwrap();
        let (status, _) = timeout(SOON, result).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Canceled);
        // At once, not with the next feedback after 50 ms.
        let passed = dragoman_time::since(cancelled);
        assert!(passed < Duration::from_micros(3 * 10_080), "{passed:?}");

        // Another goal replaces it.
        let (_first, first, _) = client.send_goal_request(back).unwrap().await.unwrap();
        let again = goal(&NAMES, &[(1.0, start.clone())]);
        let (_second, second, _) = client.send_goal_request(again).unwrap().await.unwrap();
        let replaced = dragoman_time::now();
        let (status, _) = timeout(SOON, first).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Aborted);
        lasts(replaced, Duration::ZERO);
        let (status, result) = timeout(2 * SOON, second).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Succeeded, "{}", result.error_string);
        lasts(replaced, Duration::from_secs(1));
    });
    let end = operator.positions();
    assert!(end.iter().zip(&start).all(|(now, then)| (now - then).abs() < 1e-3), "{end:?}");
}

#[test]
fn the_arm_is_switched_halted_and_publishes_its_life_cycle() {
    let mut operator = Operator::new();
    // The drives are set up after the start.
    within(SOON, "it is active", || operator.life() == "active");
    assert_eq!(operator.trigger("disable"), (true, "disabled".to_owned()));
    // The life cycle looks at the drives every 100 ms.
    within(Duration::from_millis(100) + LATE, "it is inactive", || operator.life() == "inactive");
    let mut activate = ChangeState::Request::default();
    activate.transition.label = "activate".to_owned();
    assert!(operator.call::<ChangeState::Service>("/ranger/arm/change_state", activate).success);
    assert_eq!(operator.life(), "active");
    assert_eq!(operator.trigger("enable"), (true, "enabled".to_owned()), "again, which changes nothing");
    assert!(operator.trigger("halt").0);
    assert!(operator.trigger("recover").0, "nothing is to be acknowledged");

    let mut diagnostics =
        operator.node.subscribe::<DiagnosticArray>("/diagnostics", QosProfile::default()).unwrap();
    let begin = dragoman_time::now();
    let status = common::find(&mut diagnostics, |array| {
        array.status.into_iter().find(|status| status.name == "ranger/arm: drives")
    });
    assert!(dragoman_time::since(begin) <= SOON, "every second");
    let values: BTreeMap<String, String> =
        status.values.into_iter().map(|pair| (pair.key, pair.value)).collect();
    assert_eq!((status.level, values["drives"].as_str()), (0, "enabled"), "{}", status.message);
    assert!(values["frames sent"].parse::<u64>().unwrap() > 100);
}

#[test]
fn single_joints_are_commanded_relaxed_and_slowed_down() {
    let mut operator = Operator::new();
    let start = operator.positions();
    let command = operator.publisher::<Float64>("/ranger/joint_4/command");
    let to = |position: f64| command.publish(&Float64 { data: position }).unwrap();

    to(start[3] + 0.2);
    operator.until("commanded", |now| (now[3] - start[3] - 0.2).abs() < 1e-3);
    operator.call::<Relax::Service>("/ranger/joint_4/relax", Relax::Request::default());
    to(start[3] + 0.1);
    operator.until("relaxed and commanded again", |now| (now[3] - start[3] - 0.1).abs() < 1e-3);
    assert!((operator.positions()[0] - start[0]).abs() < 1e-4, "the others stay");

    let ignored =
        operator.call::<Enable::Service>("/ranger/joint_4/enable", Enable::Request { enable: false });
    assert!(!ignored.state);
    to(start[3]);
    sleep(Duration::from_millis(500));
    assert!((operator.positions()[3] - start[3] - 0.1).abs() < 1e-3, "commands are not heeded");
    assert!(
        operator.call::<Enable::Service>("/ranger/joint_4/enable", Enable::Request { enable: true }).state
    );

    operator.call::<SetSpeed::Service>("/ranger/joint_4/set_speed", SetSpeed::Request { speed: 0.05 });
    // 0.1 rad at 0.05 rad/s take 2 s. At the arm's own speed they take 0.2 s.
    let begin = dragoman_time::now();
    to(start[3]);
    within(3 * SOON, "slowly there", || (operator.positions()[3] - start[3]).abs() < 1e-3);
    lasts(begin, Duration::from_secs(2));
}

/// Commands come at 100 Hz, the drives' cycles at 99.2 Hz: every 1.26 s a cycle finds two commands.
#[test]
fn a_planned_motion_keeps_its_speed_from_cycle_to_cycle() {
    // Of the first joint, rad/s; and one count per cycle, in rad/s.
    const LIMIT: f64 = 0.07;
    const COUNT: f64 = std::f64::consts::TAU / 817_741.0 / 0.010_08;
    let mut operator = Operator::new();
    let start = operator.positions();
    let joint_mode = SetCommandMode::Request { mode: 1 };
    assert!(operator.call::<SetCommandMode::Service>("/ranger/set_command_mode", joint_mode).success);
    let mut position = start.clone();
    position[0] -= 0.35;
    let goal = SetJointGoal::Request { position, min_duration: 0.0 };
    assert!(operator.call::<SetJointGoal::Service>("/ranger/set_joint_goal", goal).success);
    let begun = operator.trigger("begin_joint_motion");
    assert!(begun.0, "{}", begun.1);

    let mut speeds = Vec::new();
    while (operator.positions()[0] - start[0] + 0.35).abs() > 1e-3 {
        speeds.push(next(&mut operator.states).velocity[0].abs());
        assert!(speeds.len() < 1000, "it does not arrive");
    }
    let (begin, end) = (speeds.len() / 4, speeds.len() * 3 / 4);
    let slowest = speeds[begin..end].iter().copied().fold(f64::MAX, f64::min);
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    assert!(fastest < LIMIT + COUNT, "{fastest} rad/s");
    assert!(slowest > LIMIT - COUNT, "{slowest} rad/s: a command was left out");
}

#[test]
fn stop_ends_what_the_drives_do_by_themselves() {
    let mut operator = Operator::new();
    let start = operator.positions();
    let command = operator.publisher::<Float64>("/ranger/joint_4/command");
    // 1 rad at 0.1 rad/s take 10 s.
    operator.call::<SetSpeed::Service>("/ranger/joint_4/set_speed", SetSpeed::Request { speed: 0.1 });
    for is_relaxed in [false, true] {
        if is_relaxed {
            operator.call::<Relax::Service>("/ranger/joint_4/relax", Relax::Request::default());
        }
        command.publish(&Float64 { data: start[3] + 1.0 }).unwrap();
        if !is_relaxed {
            operator.until("it moves", |now| now[3] - start[3] > 0.05);
        }
        assert!(operator.trigger("stop").0);
        sleep(Duration::from_millis(500));
        let stopped = operator.positions();
        sleep(Duration::from_secs(1));
        assert!((operator.positions()[3] - stopped[3]).abs() < 1e-3, "relaxed before: {is_relaxed}");
    }
    // It obeys the next command.
    command.publish(&Float64 { data: start[3] }).unwrap();
    operator.until("it moves back", |now| (now[3] - start[3]).abs() < 1e-3);
}

#[test]
fn a_motion_is_planned_round_a_body_and_driven() {
    let mut operator = Operator::new();
    let start = operator.positions();
    // The lab's arm rests folded.
    let goal_positions = vec![0.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let request =
        |positions: &[f64]| PlanToPose::Request { positions: positions.to_vec(), ..Default::default() };
    let plan = |operator: &mut Operator, request| {
        operator.call::<PlanToPose::Service>("/ranger/plan_to_pose", request)
    };
    let free = plan(&mut operator, request(&goal_positions));
    assert!(free.success, "{}", free.message);

    // A ball where the tool would be halfway.
    let state = |position: &[f64]| {
        let mut request = GetPositionFK::Request::default();
        request.robot_state.joint_state.name = NAMES.iter().map(|name| (*name).to_owned()).collect();
        request.robot_state.joint_state.position = position.to_vec();
        request.fk_link_names = vec!["tool0".to_owned()];
        request
    };
    let between = free.trajectory.points[free.trajectory.points.len() / 2].positions.clone();
    let pose = |operator: &mut Operator, positions: &[f64]| {
        let answer = operator.call::<GetPositionFK::Service>("/ranger/compute_fk", state(positions));
        answer.pose_stamped.into_iter().next().expect("the tool's pose").pose
    };
    let obstacle = pose(&mut operator, &between);
    let reached = pose(&mut operator, &goal_positions);
    let objects = operator.node.create_publisher::<CollisionObject>(
        "/ranger/collision_object",
        QosProfile::default().keep_last(100),
    );
    let objects = objects.unwrap();
    let mut post = CollisionObject { id: "post".to_owned(), pose: obstacle, ..Default::default() };
    let mut ball = SolidPrimitive { type_: SolidPrimitive::SPHERE as _, ..Default::default() };
    ball.dimensions = vec![0.08];
    post.primitives = vec![ball];
    post.primitive_poses = vec![Pose::default()];
    post.primitive_poses[0].orientation.w = 1.0;
    // Shapes that are refused change nothing.
    let mut wrong = post.clone();
    wrong.id = "wrong".to_owned();
    wrong.primitives[0].dimensions = vec![f64::NAN];

    objects.publish(&wrong).unwrap();
    objects.publish(&post).unwrap();
    let answer = plan(&mut operator, request(&goal_positions));
    assert!(answer.success, "{}", answer.message);
    let trajectory = answer.trajectory;
    assert_ne!(trajectory, free.trajectory, "the straight way is planned without the body");
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-3);
    assert!(near(&trajectory.points[0].positions, &start));
    assert!(near(&trajectory.points.last().unwrap().positions, &goal_positions));
    assert!(trajectory.points.iter().all(|point| !near(&point.positions, &between)));

    // The same by the tool's pose.
    let mut by_pose = PlanToPose::Request { velocity_scaling: 0.5, ..Default::default() };
    by_pose.pose.pose = reached.clone();
    let answer = plan(&mut operator, by_pose.clone());
    assert!(answer.success, "{}", answer.message);
    // Inverse kinematics obeys the scene, too.
    let mut ik = GetPositionIK::Request::default();
    ik.ik_request.avoid_collisions = true;
    ik.ik_request.pose_stamped.pose = reached;
    assert_eq!(operator.call::<GetPositionIK::Service>("/ranger/compute_ik", ik.clone()).error_code.val, 1);
    ik.ik_request.pose_stamped.pose = post.pose.clone();
    let answer = operator.call::<GetPositionIK::Service>("/ranger/compute_ik", ik);
    // GOAL_IN_COLLISION
    assert_eq!(answer.error_code.val, -12, "{:?}", answer.error_code);

    for (wrong, reason) in [
        (request(&goal_positions[..5]), "5 values"),
        (request(&[f64::NAN; 6]), "NaN"),
        (request(&between), "too near to post"),
        (PlanToPose::Request { velocity_scaling: 2.0, ..by_pose.clone() }, "velocity_scaling is 2"),
        (
            PlanToPose::Request { acceleration_scaling: f64::NAN, ..by_pose.clone() },
            "acceleration_scaling is NaN",
        ),
    ] {
        let answer = plan(&mut operator, wrong);
        assert!(!answer.success && answer.message.contains(reason), "{reason}: {}", answer.message);
    }
    by_pose.pose.header.frame_id = "moon".to_owned();
    assert!(plan(&mut operator, by_pose).message.contains("moon"));

    let client = operator.node.create_action_client::<Action>("/ranger/follow_joint_trajectory").unwrap();
    block_on(async {
        timeout(SOON, Node::is_available(&client).unwrap()).await.unwrap().unwrap();
        let takes = trajectory.points.last().unwrap().time_from_start.clone();
        let takes = Duration::new(takes.sec as u64, takes.nanosec);
        let goal = Goal { trajectory, ..Goal::default() };
        let (_goal, result, _feedback) = client.send_goal_request(goal).unwrap().await.expect("accepted");
        let accepted = dragoman_time::now();
        let (status, result) = timeout(takes + SOON, result).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Succeeded, "{}", result.error_string);
        lasts(accepted, takes);
    });
    let end = operator.positions();
    assert!(near(&end, &goal_positions), "{end:?}");
    // Without the body the straight way back is free.
    post.operation = CollisionObject::REMOVE as _;
    objects.publish(&post).unwrap();
    let answer = plan(&mut operator, request(&between));
    assert!(answer.success, "the body is still there: {}", answer.message);
}

/// A goal as `MoveGroupInterface` makes it of joint positions.
fn joint_goal(positions: &[f64]) -> Constraints {
    let joint = |(name, position): (&&str, &f64)| {
        let (joint_name, position) = ((*name).to_owned(), *position);
        JointConstraint { joint_name, position, tolerance_above: 1e-3, tolerance_below: 1e-3, weight: 1.0 }
    };
    let joint_constraints = NAMES.iter().zip(positions).map(joint).collect();
    Constraints { joint_constraints, ..Constraints::default() }
}

/// A goal as it makes it of a pose of the tool.
fn pose_goal(pose: &Pose) -> Constraints {
    let mut position = PositionConstraint { link_name: "tool0".to_owned(), ..Default::default() };
    let mut ball = SolidPrimitive { type_: SolidPrimitive::SPHERE as _, ..Default::default() };
    ball.dimensions = vec![1e-3];
    position.constraint_region.primitives = vec![ball];
    let mut centre = Pose { position: pose.position.clone(), ..Pose::default() };
    centre.orientation.w = 1.0;
    position.constraint_region.primitive_poses = vec![centre];
    let orientation = OrientationConstraint {
        link_name: "tool0".to_owned(),
        orientation: pose.orientation.clone(),
        absolute_x_axis_tolerance: 1e-3,
        absolute_y_axis_tolerance: 1e-3,
        absolute_z_axis_tolerance: 1e-3,
        ..Default::default()
    };
    Constraints {
        position_constraints: vec![position],
        orientation_constraints: vec![orientation],
        ..Constraints::default()
    }
}

#[test]
fn motions_are_planned_with_the_interface_of_moveit() {
    let mut operator = Operator::new();
    let start = operator.positions();
    let plan = |operator: &mut Operator, request: &MotionPlanRequest| -> MotionPlanResponse {
        let request = GetMotionPlan::Request { motion_plan_request: request.clone() };
        operator.call::<GetMotionPlan::Service>("/ranger/plan_kinematic_path", request).motion_plan_response
    };
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-3);
    let goal_positions = [0.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let mut request = MotionPlanRequest {
        group_name: "arm".to_owned(),
        goal_constraints: vec![joint_goal(&goal_positions)],
        allowed_planning_time: 5.0,
        max_velocity_scaling_factor: 0.5,
        ..Default::default()
    };
    let mut markers = operator
        .node
        .subscribe::<MarkerArray>(
            "/ranger/planned_path_markers",
            QosProfile::default().keep_last(1).transient_local(),
        )
        .unwrap();
    let free = plan(&mut operator, &request);
    assert_eq!(free.error_code.val, 1, "{}", free.error_code.message);
    assert_eq!(
        (free.group_name.as_str(), &free.trajectory.joint_trajectory.joint_names[..]),
        ("arm", &NAMES.map(str::to_owned)[..])
    );
    let points = &free.trajectory.joint_trajectory.points;
    assert!(near(&points[0].positions, &start) && near(&points.last().unwrap().positions, &goal_positions));
    assert!(near(&free.trajectory_start.joint_state.position, &start));
    let line = &next(&mut markers).markers[0];
    assert_eq!(line.points.len(), points.len());

    // By a pose, from a start that is not the arm's.
    let state = |positions: &[f64]| {
        let mut state = JointState { position: positions.to_vec(), ..Default::default() };
        state.name = NAMES.iter().map(|name| (*name).to_owned()).collect();
        state
    };
    let forward = |operator: &mut Operator, positions: &[f64]| {
        let mut request = GetPositionFK::Request::default();
        request.robot_state.joint_state = state(positions);
        request.fk_link_names = vec!["tool0".to_owned()];
        let answer = operator.call::<GetPositionFK::Service>("/ranger/compute_fk", request);
        answer.pose_stamped.into_iter().next().expect("the tool's pose").pose
    };
    let from = forward(&mut operator, &goal_positions);
    let mut to = from.clone();
    to.position.y += 0.15;
    to.position.z -= 0.1;
    request.start_state.joint_state = state(&goal_positions);
    request.goal_constraints = vec![pose_goal(&to)];
    let answer = plan(&mut operator, &request);
    assert_eq!(answer.error_code.val, 1, "{}", answer.error_code.message);
    assert!(near(&answer.trajectory.joint_trajectory.points[0].positions, &goal_positions));

    // Straight, until a body is in the way.
    request.planner_id = "LIN".to_owned();
    let answer = plan(&mut operator, &request);
    assert_eq!(answer.error_code.val, 1, "{}", answer.error_code.message);
    let points = &answer.trajectory.joint_trajectory.points;
    for point in [&points[points.len() / 3], &points[points.len() / 2]] {
        let at = forward(&mut operator, &point.positions).position;
        let (y, z) = ((at.y - from.position.y) / 0.15, (at.z - from.position.z) / -0.1);
        assert!((at.x - from.position.x).abs() < 1e-4 && (y - z).abs() < 2e-3, "{at:?}");
    }
    let scenes = operator
        .node
        .create_publisher::<PlanningScene>("/ranger/planning_scene", QosProfile::default().keep_last(10));
    let scenes = scenes.unwrap();
    let mut ball = CollisionObject { id: "ball".to_owned(), pose: from.clone(), ..Default::default() };
    (ball.pose.position.y, ball.pose.position.z) = (from.position.y + 0.12, from.position.z - 0.08);
    let mut shape = SolidPrimitive { type_: SolidPrimitive::SPHERE as _, ..Default::default() };
    shape.dimensions = vec![0.02];
    ball.primitives = vec![shape];
    ball.primitive_poses = vec![Pose::default()];
    ball.primitive_poses[0].orientation.w = 1.0;
    let mut scene = PlanningScene { is_diff: true, ..Default::default() };
    scene.world.collision_objects = vec![ball];
    scenes.publish(&scene).unwrap();
    let blocked = plan(&mut operator, &request).error_code;
    // PLANNING_FAILED
    assert_eq!(blocked.val, -1);
    assert!(blocked.message.ends_with("is too near to ball"), "{}", blocked.message);
    // An empty scene has no bodies.
    scenes.publish(&PlanningScene::default()).unwrap();
    let answer = plan(&mut operator, &request);
    assert_eq!(answer.error_code.val, 1, "the body is still there: {}", answer.error_code.message);

    let wrong = |change: &dyn Fn(&mut MotionPlanRequest)| {
        let mut request = request.clone();
        change(&mut request);
        request
    };
    for (request, code, reason) in [
        (wrong(&|request| request.goal_constraints.clear()), -16, "one goal"),
        (wrong(&|request| request.path_constraints = joint_goal(&start)), -16, "path_constraints"),
        (
            wrong(&|request| {
                request.goal_constraints[0].joint_constraints = joint_goal(&start).joint_constraints
            }),
            -16,
            "a goal is",
        ),
        (wrong(&|request| request.goal_constraints = vec![joint_goal(&[f64::NAN; 6])]), -16, "NaN"),
        (wrong(&|request| request.allowed_planning_time = f64::NAN), -16, "allowed_planning_time"),
        (wrong(&|request| request.max_velocity_scaling_factor = -1.0), -16, "velocity_scaling is -1"),
        (wrong(&|request| request.start_state.joint_state.position[2] = 9.0), -17, "joint_3"),
    ] {
        let error = plan(&mut operator, &request).error_code;
        assert!(error.val == code && error.message.contains(reason), "{reason}: {error:?}");
    }
    // A search that is over before it begins.
    request.planner_id.clear();
    request.start_state = Default::default();
    request.goal_constraints = vec![joint_goal(&goal_positions)];
    assert!(operator.trigger("cancel_planning").0);
}

#[test]
fn motions_are_planned_round_the_bodies_of_the_world() {
    let mut operator = Operator::with("ranger,apolo");
    let goal = [0.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let plan = |operator: &mut Operator| {
        let request = PlanToPose::Request { positions: goal.to_vec(), ..Default::default() };
        let answer = operator.call::<PlanToPose::Service>("/ranger/plan_to_pose", request);
        if answer.success { String::new() } else { answer.message }
    };
    assert_eq!(plan(&mut operator), "");
    // The lab's ball, where the tool would end. The arm stands on its bench.
    let base = [-3.0, -2.5, 0.3];
    let tool = operator.tool(&goal).position;
    let place = |operator: &mut Operator, [x, y, z]: [f64; 3]| {
        let mut request = PlaceXyz::Request { object: "ball".to_owned(), ..Default::default() };
        (request.position.x, request.position.y, request.position.z) = (x, y, z);
        let answer = operator.call::<PlaceXyz::Service>("/apolo/place_xyz", request);
        assert!(answer.success, "{}", answer.message);
    };
    let until = |operator: &mut Operator, what: &str, is_expected: &dyn Fn(&str) -> bool| {
        within(SOON, what, || is_expected(&plan(operator)));
    };
    let is_blocked = |answer: &str| answer.ends_with("is too near to ball");
    place(&mut operator, [base[0] + tool.x, base[1] + tool.y, base[2] + tool.z]);
    until(&mut operator, "the ball is in the way", &is_blocked);
    let avoid = |operator: &mut Operator, avoids: bool| {
        operator.set("avoid_world", |parameter| {
            parameter.value.type_ = ParameterType::PARAMETER_BOOL as _;
            parameter.value.bool_value = avoids;
        });
    };
    avoid(&mut operator, false);
    until(&mut operator, "it does not count", &str::is_empty);
    avoid(&mut operator, true);
    until(&mut operator, "it counts again", &is_blocked);
    place(&mut operator, [1.5, -3.5, 0.15]);
    until(&mut operator, "it is away", &str::is_empty);
}

#[test]
fn a_search_ends_in_time() {
    let mut operator = Operator::new();
    let objects = operator
        .node
        .create_publisher::<CollisionObject>("/ranger/collision_object", QosProfile::default().keep_last(100))
        .unwrap();
    // Two walls from the arm's axis outwards, between it and the goal, and a post on the axis above the shoulder: there is no way.
    let mut walls = CollisionObject { id: "walls".to_owned(), ..Default::default() };
    for yaw in [90.0_f64, -90.0].map(f64::to_radians) {
        let mut wall = SolidPrimitive { type_: SolidPrimitive::BOX as _, ..Default::default() };
        wall.dimensions = vec![2.4, 0.02, 6.0];
        let mut pose = Pose::default();
        (pose.position.x, pose.position.y) = (1.32 * yaw.cos(), 1.32 * yaw.sin());
        (pose.orientation.z, pose.orientation.w) = ((yaw / 2.0).sin(), (yaw / 2.0).cos());
        walls.primitives.push(wall);
        walls.primitive_poses.push(pose);
    }
    let mut post = SolidPrimitive { type_: SolidPrimitive::CYLINDER as _, ..Default::default() };
    post.dimensions = vec![2.4, 0.12];
    let mut pose = Pose::default();
    (pose.position.z, pose.orientation.w) = (1.9, 1.0);
    walls.primitives.push(post);
    walls.primitive_poses.push(pose);
    let goal = [3.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let start = [-0.1, 1.0, -1.0, 0.0, 1.57, 0.0];
    let mut request = MotionPlanRequest { goal_constraints: vec![joint_goal(&goal)], ..Default::default() };
    let joint_state = &mut request.start_state.joint_state;
    joint_state.name = NAMES.iter().map(|name| (*name).to_owned()).collect();
    joint_state.position = start.to_vec();
    let plan = |operator: &mut Operator, seconds: f64| {
        let request = MotionPlanRequest { allowed_planning_time: seconds, ..request.clone() };
        let request = GetMotionPlan::Request { motion_plan_request: request };
        operator.call::<GetMotionPlan::Service>("/ranger/plan_kinematic_path", request).motion_plan_response
    };
    objects.publish(&walls).unwrap();
    let begin = dragoman_time::now();
    let error = plan(&mut operator, 0.1).error_code;
    lasts(begin, Duration::from_millis(100));
    // TIMED_OUT
    assert_eq!(error.val, -6, "{error:?}");
    assert!(error.message.starts_with("0.1 s have passed: the search was ended after"), "{}", error.message);

    // The node's own limit is the maximum.
    operator.set("planning_time", |parameter| {
        parameter.value.type_ = ParameterType::PARAMETER_DOUBLE as _;
        parameter.value.double_value = 0.05;
    });
    for seconds in [0.0, 100.0] {
        let begin = dragoman_time::now();
        let error = plan(&mut operator, seconds).error_code;
        lasts(begin, Duration::from_millis(50));
        assert!(error.val == -6 && error.message.starts_with("0.05 s have passed"), "{error:?}");
    }

    // Refused settings of the motion are reset; this setting belongs to the planner, and keeps its value.
    operator.set("joint.max_velocity", |parameter| {
        parameter.value.type_ = ParameterType::PARAMETER_DOUBLE_ARRAY as _;
        parameter.value.double_array_value = vec![0.5];
    });
    within(SOON, "it is reset", || {
        let request = GetParameters::Request { names: vec!["joint.max_velocity".to_owned()] };
        let answer = operator.call::<GetParameters::Service>("/ranger/kinematics/get_parameters", request);
        answer.values.first().is_some_and(|value| value.double_array_value.len() == NAMES.len())
    });
    let error = plan(&mut operator, 0.0).error_code;
    assert!(error.val == -6 && error.message.starts_with("0.05 s have passed"), "{error:?}");
}
