//! The lab's arm as another ROS node uses it: trajectories, switching, single joints, life cycle, diagnostics.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::common::Lab;
use dragoman_ros::arbotix_msgs::srv::{Enable, Relax, SetSpeed};
use dragoman_ros::control_msgs::action::FollowJointTrajectory::{Action, Goal};
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::dragoman_msgs::srv::PlanToPose;
use dragoman_ros::geometry_msgs::msg::Pose;
use dragoman_ros::lifecycle_msgs::srv::{ChangeState, GetState};
use dragoman_ros::moveit_msgs::msg::CollisionObject;
use dragoman_ros::moveit_msgs::srv::{GetPositionFK, GetPositionIK};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::shape_msgs::msg::SolidPrimitive;
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::trajectory_msgs::msg::JointTrajectoryPoint;
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Error, GoalStatus, Node, QosProfile,
    WrappedServiceTypeSupport,
};
use futures::StreamExt;
use futures::stream::BoxStream;

const PATIENCE: Duration = Duration::from_secs(20);
const NAMES: [&str; 6] = ["joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"];

/// A node in the lab's domain.
struct Operator {
    lab: Lab,
    runtime: tokio::runtime::Runtime,
    node: Node,
    states: BoxStream<'static, JointState>,
}

impl Operator {
    fn new() -> Self {
        let lab = Lab::start();
        let discovery =
            Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let mut node = Node::create(context, "operator", "").unwrap();
        let states = node.subscribe("/ranger/joint_states", QosProfile::default().keep_last(1)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { lab, runtime, node, states: states.boxed() }
    }

    /// The newest positions.
    fn positions(&mut self) -> Vec<f64> {
        while futures::FutureExt::now_or_never(self.states.next()).is_some() {}
        let next = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, self.states.next()).await });
        let state = next.expect("joint_states come").expect("the stream goes on");
        assert_eq!(state.name, NAMES);
        state.position
    }

    #[track_caller]
    fn until(&mut self, what: &str, holds: impl Fn(&[f64]) -> bool) {
        let start = Instant::now();
        loop {
            let positions = self.positions();
            if holds(&positions) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{what}: {positions:?}");
        }
    }

    fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        let client = self.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
        let called = async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        };
        let answered = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, called).await });
        answered.unwrap_or_else(|_| panic!("{name} does not answer"))
    }

    fn trigger(&mut self, name: &str) -> (bool, String) {
        let answer = self.call::<Trigger::Service>(&format!("/ranger/{name}"), Trigger::Request::default());
        (answer.success, answer.message)
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

fn moved(start: &[f64], by: f64) -> Vec<f64> {
    start.iter().map(|position| position + by).collect()
}

#[test]
fn trajectories_are_followed_refused_cancelled_and_replaced() {
    let mut operator = Operator::new();
    let start = operator.positions();
    let client = operator.node.create_action_client::<Action>("/ranger/follow_joint_trajectory").unwrap();
    operator.runtime.block_on(async {
        tokio::time::timeout(PATIENCE, Node::is_available(&client).unwrap()).await.unwrap().unwrap();

        // Joints in another order than the arm's.
        let reversed: Vec<&str> = NAMES.iter().rev().copied().collect();
        let mut way: Vec<f64> = moved(&start, 0.2);
        way[0] = start[0] + 0.1;
        way.reverse();
        let sent = client.send_goal_request(goal(&reversed, &[(0.5, way.clone())])).unwrap().await;
        let (_goal, result, feedback) = sent.expect("accepted");
        let (status, result) = tokio::time::timeout(PATIENCE, result).await.unwrap().unwrap();
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
        let back = goal(&NAMES, &[(5.0, start.clone())]);
        let (handle, result, _feedback) = client.send_goal_request(back.clone()).unwrap().await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        handle.cancel().unwrap().await.unwrap();
        let (status, _) = tokio::time::timeout(PATIENCE, result).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Canceled);

        // Another goal replaces it.
        let (_first, first, _) = client.send_goal_request(back).unwrap().await.unwrap();
        let again = goal(&NAMES, &[(1.0, start.clone())]);
        let (_second, second, _) = client.send_goal_request(again).unwrap().await.unwrap();
        let (status, _) = tokio::time::timeout(PATIENCE, first).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Aborted);
        let (status, result) = tokio::time::timeout(PATIENCE, second).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Succeeded, "{}", result.error_string);
    });
    operator.until("the start again", |positions| {
        positions.iter().zip(&start).all(|(now, then)| (now - then).abs() < 1e-3)
    });
}

#[test]
fn the_arm_is_switched_halted_and_tells_its_life() {
    let mut operator = Operator::new();
    assert_eq!(operator.life(), "active");
    assert_eq!(operator.trigger("disable"), (true, "disabled".to_owned()));
    let start = Instant::now();
    while operator.life() != "inactive" {
        assert!(start.elapsed() < PATIENCE, "{}", operator.life());
    }
    let mut activate = ChangeState::Request::default();
    activate.transition.label = "activate".to_owned();
    assert!(operator.call::<ChangeState::Service>("/ranger/arm/change_state", activate).success);
    assert_eq!(operator.life(), "active");
    assert_eq!(operator.trigger("enable"), (true, "enabled".to_owned()), "again, which changes nothing");
    assert!(operator.trigger("halt").0);
    assert!(operator.trigger("recover").0, "nothing is to be acknowledged");

    let mut diagnostics =
        operator.node.subscribe::<DiagnosticArray>("/diagnostics", QosProfile::default()).unwrap();
    let found = async {
        loop {
            let array = diagnostics.next().await.unwrap();
            if let Some(status) = array.status.into_iter().find(|status| status.name == "ranger/arm: drives")
            {
                return status;
            }
        }
    };
    let status =
        operator.runtime.block_on(async { tokio::time::timeout(PATIENCE, found).await }).expect("they come");
    let values: HashMap<String, String> =
        status.values.into_iter().map(|pair| (pair.key, pair.value)).collect();
    assert_eq!((status.level, values["drives"].as_str()), (0, "enabled"), "{}", status.message);
    assert!(values["frames sent"].parse::<u64>().unwrap() > 100);
}

#[test]
fn single_joints_are_commanded_relaxed_and_slowed_down() {
    let mut operator = Operator::new();
    let start = operator.positions();
    let command =
        operator.node.create_publisher::<Float64>("/ranger/joint_4/command", QosProfile::default()).unwrap();
    let wait = command.wait_for_inter_process_subscribers().unwrap();
    operator.runtime.block_on(async { tokio::time::timeout(PATIENCE, wait).await }).unwrap().unwrap();
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
    std::thread::sleep(Duration::from_millis(500));
    assert!((operator.positions()[3] - start[3] - 0.1).abs() < 1e-3, "commands are not heeded");
    assert!(
        operator.call::<Enable::Service>("/ranger/joint_4/enable", Enable::Request { enable: true }).state
    );

    operator.call::<SetSpeed::Service>("/ranger/joint_4/set_speed", SetSpeed::Request { speed: 0.05 });
    to(start[3]);
    std::thread::sleep(Duration::from_millis(500));
    let on_the_way = operator.positions()[3] - start[3];
    assert!(on_the_way > 0.04, "slowly: {on_the_way}");
    operator.until("slowly there", |now| (now[3] - start[3]).abs() < 1e-3);
}

/// Discovery detects a killed process only after its lease.
const LEASE: Duration = Duration::from_secs(90);

#[test]
fn a_goal_ends_when_its_server_is_killed() {
    let mut operator = Operator::new();
    let start = operator.positions();
    let client = operator.node.create_action_client::<Action>("/ranger/follow_joint_trajectory").unwrap();
    operator.runtime.block_on(async {
        tokio::time::timeout(PATIENCE, Node::is_available(&client).unwrap()).await.unwrap().unwrap();
        let long = goal(&NAMES, &[(500.0, moved(&start, 0.1))]);
        let (_goal, result, _feedback) = client.send_goal_request(long).unwrap().await.expect("accepted");
        operator.lab.child.kill().unwrap();
        let killed = Instant::now();
        let ended = tokio::time::timeout(LEASE, result).await.expect("it ends");
        assert!(matches!(ended, Err(Error::Timeout(_))));
        println!("the goal ended {:?} after its server", killed.elapsed());
    });
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

    // Until the node has the body, the straight way is planned.
    let begin = Instant::now();
    let answer = loop {
        objects.publish(&wrong).unwrap();
        objects.publish(&post).unwrap();
        let answer = plan(&mut operator, request(&goal_positions));
        assert!(answer.success, "{}", answer.message);
        if answer.trajectory != free.trajectory {
            break answer;
        }
        assert!(begin.elapsed() < PATIENCE, "the body has no effect");
    };
    let trajectory = answer.trajectory;
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
    operator.runtime.block_on(async {
        tokio::time::timeout(PATIENCE, Node::is_available(&client).unwrap()).await.unwrap().unwrap();
        let takes = Duration::from_secs(trajectory.points.last().unwrap().time_from_start.sec as u64);
        let goal = Goal { trajectory, ..Goal::default() };
        let (_goal, result, _feedback) = client.send_goal_request(goal).unwrap().await.expect("accepted");
        let (status, result) = tokio::time::timeout(takes + PATIENCE, result).await.unwrap().unwrap();
        assert_eq!(status, GoalStatus::Succeeded, "{}", result.error_string);
    });
    operator.until("the goal", |positions| near(positions, &goal_positions));
    // Without the body the straight way back is free.
    post.operation = CollisionObject::REMOVE as _;
    let begin = Instant::now();
    loop {
        objects.publish(&post).unwrap();
        if plan(&mut operator, request(&between)).success {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "the body is still there");
    }
}
