//! Actions, served with the helper and by hand.

use dragoman_ros::tasks::{Goal, NodeTasks, Outcome};
use dragoman_ros::tf2_msgs::action::LookupTransform;
use dragoman_ros::{ActionClient, ActionServerGoalRequest, Context, GoalStatus, Node};
use futures::StreamExt;

use super::{first, run, soon};

#[test]
fn actions_do_what_our_nodes_rely_on() {
    let context = Context::create().unwrap();
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "conformance", "/actions").unwrap());

    // With the helper: goals of their own accord, and such that wait to be cancelled.
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

    // By hand.
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
