//! Actions between our nodes and those of ROS 2, in both directions. `interop.rs` describes the peers.
//! Real: the peers are rclpy.

use std::time::Duration;

use crate::common::domain;
use crate::common::peers::{Peer, Running};
use dragoman_ros::tasks::{Goal, NodeTasks, Outcome};
use dragoman_ros::test_msgs::action::Fibonacci;
use dragoman_ros::{ActionClient, Arguments, Context, Discovery, DiscoveryRange, Error, GoalStatus, Node};
use futures::StreamExt;

fn node(domain_id: u16) -> Node {
    let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    Node::create(context, "ours", "/interop").unwrap()
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it happens within 20 s")
}

/// Goals of order 100 and more run until they are cancelled; the peer's server does the same.
const ENDLESS: i32 = 100;

/// Clients drop feedback that arrives after the result.
const FEEDBACK_LEAD: Duration = Duration::from_millis(200);

async fn fibonacci(goal: Goal<Fibonacci::Action>) -> Outcome<Fibonacci::Result> {
    let order = goal.goal().order;
    let mut sequence = vec![0, 1];
    for step in 1..order.min(8) as usize {
        sequence.push(sequence[step] + sequence[step - 1]);
        goal.publish_feedback(Fibonacci::Feedback { sequence: sequence.clone() });
    }
    if order >= ENDLESS {
        goal.canceled().await;
        return Outcome::Canceled(Fibonacci::Result { sequence });
    }
    tokio::time::sleep(FEEDBACK_LEAD).await;
    Outcome::Succeeded(Fibonacci::Result { sequence })
}

#[tokio::test]
async fn a_client_of_ros_2_uses_our_action_server() {
    let Some(peer) = Peer::RosActions.command() else { return };
    let domain = domain();
    let mut tasks = NodeTasks::new(node(domain));
    let check = |goal: &Fibonacci::Goal| match goal.order {
        2.. => Ok(()),
        order => Err(format!("order {order} is less than 2")),
    };
    tasks.serve_action::<Fibonacci::Action, _>("fibonacci", check, fibonacci).unwrap();
    let serving = tokio::spawn(tasks.start().unwrap());
    let peer = Running::start(peer, domain, &["client", "/interop/fibonacci"]);
    let facts = tokio::task::spawn_blocking(move || peer.facts(Duration::from_secs(120))).await.unwrap();
    serving.abort();

    assert_eq!(facts.text("action"), "/interop/fibonacci=test_msgs/action/Fibonacci");
    assert_eq!(facts.text("server"), "/interop/ours");
    assert_eq!(facts.text("accepted"), "True, stamped True");
    assert_eq!(facts.text("feedback"), "3 4 5 6 7");
    assert_eq!(facts.text("result"), "4 [0, 1, 1, 2, 3, 5, 8]");
    assert_eq!(facts.text("result_again"), "4 [0, 1, 1, 2, 3, 5, 8]");
    assert_eq!(facts.text("result_of_unknown"), "0 []");
    assert_eq!(facts.text("refused_goal"), "False");
    assert_eq!(facts.text("same_id_twice"), "True False");
    assert_eq!(facts.text("cancel"), "code 0, 1 goals");
    assert_eq!(facts.text("cancelled"), "5 [0, 1, 1, 2, 3, 5, 8, 13, 21]");
    assert_eq!(facts.text("cancel_again"), "code 3, 0 goals");
    assert_eq!(facts.text("cancel_unknown"), "code 2, 0 goals");
    assert_eq!(facts.text("cancel_before"), "code 0, 1 goals");
    assert_eq!(facts.text("cancel_all"), "code 0, 2 goals");
    assert_eq!(facts.text("ended"), "5 5 5");
    assert_eq!(facts.text("statuses"), "4 5 5 5 5");
    assert_eq!(facts.text("done"), "client");
}

#[tokio::test]
async fn our_action_client_uses_a_server_of_ros_2() {
    let Some(peer) = Peer::RosActions.command() else { return };
    let domain = domain();
    let peer = Running::start(peer, domain, &["server", "/interop/fibonacci"]);
    let mut node = node(domain);
    let client: ActionClient<Fibonacci::Action> = node.create_action_client("fibonacci").unwrap();
    soon(Node::is_available(&client).unwrap()).await.unwrap();
    assert_eq!(peer.line(Duration::from_secs(1)), "serving: /interop/fibonacci");

    let send = |order| soon(client.send_goal_request(Fibonacci::Goal { order }).unwrap());
    assert!(matches!(send(1).await.err(), Some(Error::RCL_RET_ACTION_GOAL_REJECTED)));

    let (goal, result, feedback) = send(6).await.unwrap();
    let steps: Vec<_> = soon(feedback.map(|feedback| feedback.sequence.len()).collect()).await;
    assert_eq!(steps, [3, 4, 5, 6, 7]);
    let (status, result) = soon(result).await.unwrap();
    assert_eq!((status, result.sequence), (GoalStatus::Succeeded, vec![0, 1, 1, 2, 3, 5, 8]));
    assert_eq!(goal.get_status().unwrap(), GoalStatus::Succeeded);
    let late = soon(goal.cancel().unwrap()).await;
    assert!(matches!(late, Err(Error::GoalCancelAlreadyTerminated)), "{late:?}");

    let (goal, result, mut feedback) = send(ENDLESS).await.unwrap();
    soon(feedback.next()).await.expect("feedback");
    soon(async {
        while goal.get_status().unwrap() != GoalStatus::Executing {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    soon(goal.cancel().unwrap()).await.unwrap();
    assert_eq!(soon(result).await.unwrap().0, GoalStatus::Canceled);
}
