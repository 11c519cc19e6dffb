//! The lab's arm in a process of its own, where it must be one: its server is killed, and a search runs in a thread of its
//! own while a request comes that ends it. On virtual time a search takes no place in which it could be interrupted.

use std::time::{Duration, Instant};

use crate::common::Lab;
use crate::common::beside::Beside;
use dragoman_ros::control_msgs::action::FollowJointTrajectory::{Action, Goal};
use dragoman_ros::geometry_msgs::msg::Pose;
use dragoman_ros::moveit_msgs::msg::{CollisionObject, Constraints, JointConstraint, MotionPlanRequest};
use dragoman_ros::moveit_msgs::srv::GetMotionPlan;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::shape_msgs::msg::SolidPrimitive;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::trajectory_msgs::msg::JointTrajectoryPoint;
use dragoman_ros::{Error, Node, QosProfile};
use futures::FutureExt;
use tokio::time::timeout;

const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Discovery detects a killed process only after its lease.
const LEASE: Duration = Duration::from_secs(90);
const NAMES: [&str; 6] = ["joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"];

fn names() -> Vec<String> {
    NAMES.map(str::to_owned).to_vec()
}

fn arm() -> Lab {
    Lab::start_with(crate::common::domain(), &["up", "--only", "ranger"], &["-p", "arm31:port:=0"])
}

#[test]
fn a_goal_ends_when_its_server_is_killed() {
    let mut lab = arm();
    let mut operator = Beside::new(lab.domain);
    let mut states = operator.subscribe::<JointState>("/ranger/joint_states");
    let start = operator.next("the arm's state", &mut states).position;
    let client = operator.node.create_action_client::<Action>("/ranger/follow_joint_trajectory").unwrap();
    let mut long = Goal::default();
    long.trajectory.joint_names = names();
    let positions = start.iter().map(|position| position + 0.1).collect();
    let mut point = JointTrajectoryPoint { positions, ..Default::default() };
    point.time_from_start.sec = 500;
    long.trajectory.points.push(point);
    operator.runtime.block_on(async {
        timeout(TIME_LIMIT, Node::is_available(&client).unwrap()).await.unwrap().unwrap();
        let (_goal, result, _feedback) = client.send_goal_request(long).unwrap().await.expect("accepted");
        lab.child.kill().unwrap();
        let killed = Instant::now();
        let ended = timeout(LEASE, result).await.expect("it ends");
        assert!(matches!(ended, Err(Error::Timeout(_))));
        println!("the goal ended {:?} after its server", killed.elapsed());
    });
}

/// Two walls from the arm's axis outwards, and a post on the axis above the shoulder: there is no way from one side to the
/// other.
fn walls() -> CollisionObject {
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
    walls
}

#[test]
fn searches_end_when_they_are_cancelled() {
    // The searches themselves would run for ten minutes.
    let ros_arguments = ["-p", "arm31:port:=0", "-p", "kinematics:planning_time:=600.0"];
    let lab = Lab::start_with(crate::common::domain(), &["up", "--only", "ranger"], &ros_arguments);
    let operator = &mut Beside::new(lab.domain);
    let walls = walls();
    let objects = operator
        .node
        .create_publisher::<CollisionObject>("/ranger/collision_object", QosProfile::default().keep_last(100))
        .unwrap();
    let joint = |(name, position): (&str, f64)| JointConstraint {
        joint_name: name.to_owned(),
        position,
        tolerance_above: 1e-3,
        tolerance_below: 1e-3,
        weight: 1.0,
    };
    let goal = NAMES.into_iter().zip([3.0, 1.0, -1.0, 0.0, 1.57, 0.0]).map(joint).collect();
    let goal = Constraints { joint_constraints: goal, ..Default::default() };
    let mut request = MotionPlanRequest { goal_constraints: vec![goal], ..Default::default() };
    request.start_state.joint_state.name = names();
    request.start_state.joint_state.position = vec![-0.1, 1.0, -1.0, 0.0, 1.57, 0.0];
    let services = QosProfile::services_default;
    let planner = operator
        .node
        .create_client::<GetMotionPlan::Service>("/ranger/plan_kinematic_path", services())
        .unwrap();
    let cancel =
        operator.node.create_client::<Trigger::Service>("/ranger/cancel_planning", services()).unwrap();
    let plan = |seconds: f64| {
        let request = MotionPlanRequest { allowed_planning_time: seconds, ..request.clone() };
        planner.request(&GetMotionPlan::Request { motion_plan_request: request }).unwrap()
    };
    let ended = operator.runtime.block_on(async {
        let ended = async {
            Node::is_available(&planner).unwrap().await.unwrap();
            Node::is_available(&cancel).unwrap().await.unwrap();
            // Until the node has the walls, a way is found.
            loop {
                objects.publish(&walls).unwrap();
                if plan(0.1).await.unwrap().motion_plan_response.error_code.val != 1 {
                    break;
                }
            }
            let searches = [(); 2].map(|()| plan(0.0));
            let mut ended = futures::future::join_all(searches).fuse();
            // The start of a search is not reported.
            loop {
                futures::select_biased! {
                    answers = ended => return answers,
                    () = tokio::time::sleep(Duration::from_millis(100)).fuse() => {}
                }
                cancel.request(&Trigger::Request::default()).unwrap().await.unwrap();
            }
        };
        timeout(TIME_LIMIT, ended).await.expect("they end")
    });
    for answer in ended {
        let error = answer.unwrap().motion_plan_response.error_code;
        // PREEMPTED
        assert!(error.val == -7 && error.message.starts_with("cancelled: "), "{error:?}");
    }
}
