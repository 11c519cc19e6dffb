//! Nav2's actions: those that the lab's platform offers, and a Nav2 that drives in its place.

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::platform::Operator;
use crate::common::{TIME_LIMIT, block_on, next, sleep};
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{PlatformMoveToPose, PlatformMoveToStation};
use dragoman_ros::geometry_msgs::msg::{Pose2D, PoseStamped, Twist};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::nav2_msgs::action::{FollowPath, NavigateToPose};
use dragoman_ros::tasks::{Goal, NodeTasks, Outcome};
use dragoman_ros::{ActionClient, GoalStatus, Node, WrappedActionTypeSupport};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};

type Navigate = NavigateToPose::Action;

fn pose(frame: &str, [x, y, heading]: [f64; 3]) -> PoseStamped {
    let mut pose = PoseStamped::default();
    pose.header.frame_id = frame.to_owned();
    (pose.pose.position.x, pose.pose.position.y) = (x, y);
    (pose.pose.orientation.z, pose.pose.orientation.w) = (heading / 2.0).sin_cos();
    pose
}

fn goal(frame: &str, place: [f64; 3]) -> NavigateToPose::Goal {
    NavigateToPose::Goal { pose: pose(frame, place), ..Default::default() }
}

fn angle(a: f64, b: f64) -> f64 {
    (a - b).sin().atan2((a - b).cos()).abs()
}

fn heading(pose: &PoseStamped) -> f64 {
    2.0 * pose.pose.orientation.z.atan2(pose.pose.orientation.w)
}

/// The result of an accepted goal.
async fn end<T>(result: impl Future<Output = dragoman_ros::Result<T>>) -> T {
    dragoman_time::timeout(TIME_LIMIT, result).await.expect("the goal ends").unwrap()
}

/// Whether a goal is accepted. An accepted goal is cancelled.
fn is_accepted<A: WrappedActionTypeSupport + 'static>(client: &ActionClient<A>, goal: A::Goal) -> bool {
    block_on(async {
        dragoman_time::timeout(TIME_LIMIT, Node::is_available(client).unwrap()).await.unwrap().unwrap();
        match client.send_goal_request(goal).unwrap().await {
            Ok((goal, ..)) => goal.cancel().unwrap().await.is_ok(),
            Err(_) => false,
        }
    })
}

#[test]
fn goals_of_nav2s_actions_are_driven_to_cancelled_replaced_and_refused() {
    let mut operator = Operator::new();
    let client = operator.beside.node.create_action_client::<Navigate>("/neobotix/navigate_to_pose").unwrap();
    let near = [3.6, 3.8, 3.0];
    assert!(!is_accepted(&client, goal("map", near)), "it is not initialized");
    operator.begin(4);

    let sent = client.send_goal_request(goal("map", near)).unwrap();
    let (status, feedback) = block_on(async {
        let (_goal, result, feedback) = sent.await.expect("accepted");
        let feedback = dragoman_time::spawn(feedback.collect::<Vec<_>>());
        let (status, result) = end(result).await;
        assert_eq!((result.error_code, result.error_msg.as_str()), (0, ""));
        (status, feedback.await.unwrap())
    });
    assert_eq!(status, GoalStatus::Succeeded);
    let [x, y, yaw] = operator.truth();
    assert!((x - near[0]).hypot(y - near[1]) < 0.02 && angle(yaw, near[2]) < 0.018, "{x} {y} {yaw}");
    let (first, last) = (feedback.first().unwrap(), feedback.last().unwrap());
    assert!(first.distance_remaining > 0.5 && last.distance_remaining < 0.1, "{first:?} {last:?}");
    assert_eq!(last.current_pose.header.frame_id, "map");
    assert!((last.current_pose.pose.position.x - x).abs() < 0.1 && last.navigation_time.sec >= 1);

    // Invalid or unreachable goals.
    let mut tree = goal("map", near);
    tree.behavior_tree = "spin.xml".to_owned();
    let mut none = goal("map", near);
    none.pose.pose.orientation.w = 0.0;
    none.pose.pose.orientation.z = 0.0;
    for bad in [
        goal("", near),
        goal("world", near),
        goal("map", [f64::NAN, 3.0, 0.0]),
        goal("map", [1e9, 3.0, 0.0]),
        goal("map", [-0.25, 0.2, 0.0]),
        goal("map", [7.0, 3.8, 0.0]),
        tree,
        none,
    ] {
        assert!(!is_accepted(&client, bad.clone()), "{bad:?}");
    }

    // In the odometry frame: 0.3 m ahead of the present position.
    let mut odometry = operator.beside.subscribe::<Odometry>("/neobotix/odom");
    let odometry = operator.beside.next("odometry", &mut odometry);
    let here = PoseStamped { pose: odometry.pose.pose, ..Default::default() };
    let (place, looks) = (&here.pose.position, heading(&here));
    let ahead = [place.x + 0.3 * looks.cos(), place.y + 0.3 * looks.sin(), looks];
    let before = operator.truth();
    let sent = client.send_goal_request(goal(&odometry.header.frame_id, ahead)).unwrap();
    let (status, _) = block_on(async { end(sent.await.expect("accepted").1).await });
    assert_eq!(status, GoalStatus::Succeeded);
    let [x, y, _] = operator.truth();
    let there = [before[0] + 0.3 * before[2].cos(), before[1] + 0.3 * before[2].sin()];
    assert!((x - there[0]).hypot(y - there[1]) < 0.05, "{x} {y} {there:?}");

    // Cancelled during the motion: it brakes, and stays started.
    let far = goal("map", [1.0, 3.0, 0.0]);
    let sent = client.send_goal_request(far.clone()).unwrap();
    let (handle, result, _feedback) = block_on(sent).expect("accepted");
    operator.until("it moves", |operator| (operator.truth()[0] - x).abs() > 0.2);
    let (status, _) = block_on(async {
        handle.cancel().unwrap().await.unwrap();
        end(result).await
    });
    assert_eq!(status, GoalStatus::Canceled);
    let stopped = operator.truth();
    sleep(Duration::from_millis(500));
    let later = operator.truth();
    assert!((later[0] - stopped[0]).hypot(later[1] - stopped[1]) < 0.02, "{stopped:?} {later:?}");
    operator.is(PlatformStatus::MOVING);
    assert!(!operator.status().target_reached);

    // Another goal replaces it; a stop ends that one.
    let sent = client.send_goal_request(far.clone()).unwrap();
    let (_first, first, _) = block_on(sent).expect("accepted");
    let sent = client.send_goal_request(goal("map", [4.5, 3.8, 0.0])).unwrap();
    let (_second, second, _) = block_on(sent).expect("accepted");
    let (status, result) = block_on(end(first));
    assert_eq!((status, result.error_msg.as_str()), (GoalStatus::Aborted, "another command took over"));
    operator.order("stop").unwrap();
    let (status, result) = block_on(end(second));
    assert_eq!((status, result.error_msg.as_str()), (GoalStatus::Aborted, "the motion was stopped"));
    assert!(!is_accepted(&client, far), "it is not started");

    // A path as dense as those of planners.
    operator.order("start").unwrap();
    operator.until("it stands", |operator| operator.status().translation_velocity == 0.0);
    let client =
        operator.beside.node.create_action_client::<FollowPath::Action>("/neobotix/follow_path").unwrap();
    assert!(!is_accepted(&client, FollowPath::Goal::default()), "it has no poses");
    let [x, y, _] = operator.truth();
    let mut path = FollowPath::Goal::default();
    path.path.header.frame_id = "map".to_owned();
    path.path.poses = (0..=20)
        .map(|part| {
            let along = f64::from(part) * 0.05;
            pose("", [x - along, y + 0.1 * (along * 3.0).sin(), 3.1])
        })
        .collect();
    let last = path.path.poses.last().unwrap().pose.position.clone();
    let sent = client.send_goal_request(path).unwrap();
    let (status, result) = block_on(async { end(sent.await.expect("accepted").1).await });
    assert_eq!(status, GoalStatus::Succeeded, "{}", result.error_msg);
    let [x, y, yaw] = operator.truth();
    assert!((x - last.x).hypot(y - last.y) < 0.05 && angle(yaw, 3.1) < 0.05, "{x} {y} {yaw} {last:?}");
}

/// A command that the Nav2 of this test received.
#[derive(Debug)]
enum Received {
    Pose(PoseStamped),
    Path(Vec<PoseStamped>),
    Cancelled,
}

/// A Nav2 that does not drive: its first path lasts until it is cancelled, the others end at once; the first pose
/// cannot be reached.
fn serve_nav2(domain: u16) -> UnboundedReceiver<Received> {
    let (sender, commands) = unbounded();
    let mut tasks = NodeTasks::new(Beside::new(domain).node);
    let (paths, poses) = (sender.clone(), sender);
    let mut is_first = true;
    let follow = move |goal: Goal<FollowPath::Action>| {
        let (paths, lasts) = (paths.clone(), std::mem::replace(&mut is_first, false));
        async move {
            paths.unbounded_send(Received::Path(goal.goal().path.poses.clone())).unwrap();
            if lasts {
                goal.canceled().await;
                paths.unbounded_send(Received::Cancelled).unwrap();
                return Outcome::Canceled(FollowPath::Result::default());
            }
            Outcome::Succeeded(FollowPath::Result::default())
        }
    };
    tasks.serve_action::<FollowPath::Action, _>("/nav/follow_path", |_| Ok(()), follow).unwrap();
    let navigate = move |goal: Goal<Navigate>| {
        let poses = poses.clone();
        async move {
            poses.unbounded_send(Received::Pose(goal.goal().pose.clone())).unwrap();
            Outcome::Aborted(NavigateToPose::Result::default())
        }
    };
    tasks.serve_action::<Navigate, _>("/nav/navigate_to_pose", |_| Ok(()), navigate).unwrap();
    dragoman_time::spawn(tasks.start().unwrap());
    commands
}

#[test]
fn a_running_nav2_is_commanded_to_drive() {
    let mut operator = Operator::with_arguments(&["-p", "platform:nav2:=/nav"]);
    let mut nav2 = serve_nav2(operator.lab.domain);
    let mut command = || next(&mut nav2);
    operator.begin(4);
    let mut velocities = operator.beside.subscribe::<Twist>("/apolo/neobotix_platform/cmd_vel");

    let request = PlatformMoveToStation::Request { station: "middle".to_owned() };
    assert!(operator.call::<PlatformMoveToStation::Service>("move_to_station", request).success);
    let Received::Path(path) = command() else { panic!("a path is wanted") };
    let last = path.last().unwrap();
    assert!(path.len() > 60 && path.iter().all(|pose| pose.header.frame_id == "map"), "{}", path.len());
    assert!((last.pose.position.x - 1.0).abs() < 1e-6 && (last.pose.position.y - 3.0).abs() < 1e-6);
    assert!(angle(heading(last), 170_f64.to_radians()) < 1e-6);
    operator.until("the plan is in force", |operator| operator.status().planner_state == 3);
    assert!(!operator.status().target_reached);
    let silence = async { dragoman_time::timeout(Duration::from_millis(700), velocities.next()).await };
    assert!(block_on(silence).is_err(), "the base is Nav2's to drive");

    operator.order("break").unwrap();
    assert!(matches!(command(), Received::Cancelled));
    operator.order("continue").unwrap();
    let Received::Path(rest) = command() else { panic!("a path is wanted") };
    assert!((rest.last().unwrap().pose.position.x - 1.0).abs() < 1e-6);
    operator.until("the goal is reached", |operator| operator.status().target_reached);

    // A pose that Nav2 does not reach, and one that the map prohibits.
    let to = |operator: &mut Operator, x, y| {
        let request = PlatformMoveToPose::Request { pose: Pose2D { x, y, theta: 1.0 } };
        operator.call::<PlatformMoveToPose::Service>("move_abs", request).success
    };
    assert!(to(&mut operator, 2.0, 3.5));
    let Received::Pose(pose) = command() else { panic!("a pose is wanted") };
    assert!((pose.pose.position.x - 2.0).abs() < 1e-9 && angle(heading(&pose), 1.0) < 1e-9);
    operator.until("it is not reached", |operator| operator.status().planner_state == 2);
    assert!(!operator.status().target_reached);
    assert!(!to(&mut operator, -0.25, 0.2));
    operator.order("stop").unwrap();
    operator.is(PlatformStatus::READY);
}
