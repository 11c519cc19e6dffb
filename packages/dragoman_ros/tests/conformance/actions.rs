//! Actions, offered with the helper and directly.

use dragoman_ros::tasks::{Goal, NodeTasks, Outcome};
use dragoman_ros::tf2_msgs::action::LookupTransform;
use dragoman_ros::{ActionClient, ActionServerGoalRequest, Context, GoalStatus, Node};
use futures::StreamExt;

use super::{first, run, soon};

#[test]
fn actions_do_what_our_nodes_rely_on() {
    let context = Context::create().unwrap();
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "conformance", "/actions").unwrap());

    // With the helper: goals that end by themselves, and goals that wait to be cancelled.
    let check = |goal: &LookupTransform::Goal| match goal.source_frame.as_str() {
        "" => Err("no source frame".to_owned()),
        _ => Ok(()),
    };
    let execute = |goal: Goal<LookupTransform::Action>| async move {
        let mut result = LookupTransform::Result::default();
        result.transform.child_frame_id.clone_from(&goal.goal().source_frame);
        goal.publish_feedback(LookupTransform::Feedback::default());
        if goal.goal().advanced {
            goal.canceled().await;
            assert!(goal.is_canceled());
            return Outcome::Canceled(result);
        }
        Outcome::Succeeded(result)
    };
    tasks.serve_action::<LookupTransform::Action, _>("~/lookup", check, execute).unwrap();

    // Without the helper.
    let mut requests = tasks.node().create_action_server::<LookupTransform::Action>("~/other").unwrap();
    tasks.spawn(async move {
        while let Some(request) = requests.next().await {
            let request: ActionServerGoalRequest<LookupTransform::Action> = request;
            if request.goal.source_frame.is_empty() {
                request.reject().unwrap();
                continue;
            }
            let (mut goal, mut cancels) = request.accept().unwrap();
            assert!(!goal.is_cancelling().unwrap());
            if !goal.goal.advanced {
                goal.publish_feedback(LookupTransform::Feedback::default()).unwrap();
                goal.abort(LookupTransform::Result::default()).unwrap();
                continue;
            }
            cancels.next().await.unwrap().reject();
            let request = cancels.next().await.unwrap();
            assert_eq!(request.uuid, goal.uuid);
            request.accept();
            goal.cancel(LookupTransform::Result::default()).unwrap();
        }
    });
    let _serving = run(tasks);

    let mut node = Node::create(context, "client", "/actions").unwrap();
    let clients = ["lookup", "other"].map(|name| {
        let name = format!("/actions/conformance/{name}");
        node.create_action_client::<LookupTransform::Action>(&name).unwrap()
    });
    let [lookup, other]: [ActionClient<LookupTransform::Action>; 2] = clients;
    let available = [&lookup, &other].map(|client| Box::pin(Node::is_available(client).unwrap()));
    let _client = run(NodeTasks::new(node));
    for action in available {
        soon(action).unwrap();
    }
    let goal = |frame: &str, advanced: bool| LookupTransform::Goal {
        source_frame: frame.into(),
        advanced,
        ..Default::default()
    };
    for client in [&lookup, &other] {
        assert!(soon(client.send_goal_request(goal("", false)).unwrap()).is_err());
    }
    let (handle, result, mut feedback) =
        soon(lookup.send_goal_request(goal("tool", false)).unwrap()).unwrap();
    assert!(!handle.uuid.is_nil());
    first(&mut feedback);
    let (status, result) = soon(result).unwrap();
    assert_eq!((status, result.transform.child_frame_id.as_str()), (GoalStatus::Succeeded, "tool"));

    let (handle, result, _) = soon(lookup.send_goal_request(goal("tool", true)).unwrap()).unwrap();
    soon(handle.cancel().unwrap()).unwrap();
    assert_eq!(soon(result).unwrap().0, GoalStatus::Canceled);

    let (_, result, _) = soon(other.send_goal_request(goal("tool", false)).unwrap()).unwrap();
    assert_eq!(soon(result).unwrap().0, GoalStatus::Aborted);
    let (handle, result, _) = soon(other.send_goal_request(goal("tool", true)).unwrap()).unwrap();
    assert!(soon(handle.cancel().unwrap()).is_err(), "the first request is rejected");
    soon(handle.cancel().unwrap()).unwrap();
    assert_eq!(soon(result).unwrap().0, GoalStatus::Canceled);
    handle.get_status().unwrap();
}

#[test]
fn a_goal_ends_when_its_server_is_gone() {
    let context = Context::create().unwrap();
    let namespace = super::namespace("lost");
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "server", &namespace).unwrap());
    let execute = |_goal: Goal<LookupTransform::Action>| std::future::pending();
    tasks.serve_action::<LookupTransform::Action, _>("lookup", |_| Ok(()), execute).unwrap();
    let serving = run(tasks);

    let mut node = Node::create(context, "client", &namespace).unwrap();
    let client = node.create_action_client::<LookupTransform::Action>("lookup").unwrap();
    let available = Node::is_available(&client).unwrap();
    let _client = run(NodeTasks::new(node));
    soon(available).unwrap();
    let goal = LookupTransform::Goal::default();
    let (_goal, result, _feedback) = soon(client.send_goal_request(goal).unwrap()).unwrap();
    drop(serving);
    // The server may have had time to end its goals.
    match soon(result) {
        Err(_) => {}
        Ok((status, _)) => assert_eq!(status, GoalStatus::Aborted),
    }
}

/// With an action of our nodes, which r2r's documentation build does not have.
#[cfg(not(feature = "r2r-doc-only"))]
#[test]
fn goals_run_concurrently_and_send_feedback() {
    use std::time::Duration;

    use dragoman_ros::control_msgs::action::FollowJointTrajectory;

    let context = Context::create().unwrap();
    let namespace = super::namespace("goals");
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "arm", &namespace).unwrap());
    let check = |goal: &FollowJointTrajectory::Goal| match goal.trajectory.joint_names.as_slice() {
        [] => Err("no joints".to_owned()),
        _ => Ok(()),
    };
    // Each counts until it is cancelled.
    let execute = |goal: Goal<FollowJointTrajectory::Action>| async move {
        let joint_names = &goal.goal().trajectory.joint_names;
        let mut feedback =
            FollowJointTrajectory::Feedback { joint_names: joint_names.clone(), ..Default::default() };
        feedback.desired.positions = vec![0.0];
        while !goal.is_canceled() {
            feedback.desired.positions[0] += 1.0;
            goal.publish_feedback(feedback.clone());
            futures_timer::Delay::new(Duration::from_millis(10)).await;
        }
        let result = FollowJointTrajectory::Result { error_code: -1, error_string: joint_names.join(" ") };
        Outcome::Canceled(result)
    };
    tasks.serve_action::<FollowJointTrajectory::Action, _>("follow", check, execute).unwrap();
    let _serving = run(tasks);

    let mut node = Node::create(context, "client", &namespace).unwrap();
    let client: ActionClient<FollowJointTrajectory::Action> = node.create_action_client("follow").unwrap();
    let available = Node::is_available(&client).unwrap();
    let _client = run(NodeTasks::new(node));
    soon(available).unwrap();
    let send = |joints: &[&str]| {
        let mut goal = FollowJointTrajectory::Goal::default();
        goal.trajectory.joint_names = joints.iter().map(|joint| (*joint).to_owned()).collect();
        soon(client.send_goal_request(goal).unwrap())
    };
    assert!(send(&[]).is_err());
    let (left, left_result, mut left_feedback) = send(&["left"]).unwrap();
    let (right, right_result, mut right_feedback) = send(&["right"]).unwrap();
    for (joint, feedback) in [("left", &mut left_feedback), ("right", &mut right_feedback)] {
        let steps: Vec<_> = (0..5).map(|_| first(feedback)).collect();
        assert!(steps.iter().all(|step| step.joint_names == [joint]), "{joint}: {steps:?}");
        let positions: Vec<_> = steps.iter().map(|step| step.desired.positions[0]).collect();
        assert!(positions.is_sorted_by(|sooner, later| sooner < later), "{joint}: {positions:?}");
    }

    soon(left.cancel().unwrap()).unwrap();
    let (status, result) = soon(left_result).unwrap();
    assert_eq!((status, result.error_code, result.error_string.as_str()), (GoalStatus::Canceled, -1, "left"));
    assert!(soon(left.cancel().unwrap()).is_err(), "it has ended");

    // The other continues: this is more than a stream buffers.
    for _ in 0..20 {
        assert_eq!(first(&mut right_feedback).joint_names, ["right"]);
    }
    soon(right.cancel().unwrap()).unwrap();
    assert_eq!(soon(right_result).unwrap().1.error_string, "right");
}
