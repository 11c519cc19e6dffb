//! Actions of the embedded layer: both sides, within a process and over the network.

use std::time::Duration;

use dragoman_ros::action_msgs::msg::{GoalInfo, GoalStatusArray};
use dragoman_ros::action_msgs::srv::CancelGoal;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::tasks::{Goal, NodeTasks, Outcome};
use dragoman_ros::test_msgs::action::Fibonacci;
use dragoman_ros::unique_identifier_msgs::msg::UUID;
use dragoman_ros::{
    ActionClient, ActionServerGoalRequest, Arguments, Client, Context, Discovery, DiscoveryRange, Error,
    GoalStatus, Node, QosProfile, WrappedActionTypeSupport, WrappedServiceTypeSupport, WrappedTypesupport,
};
use futures::executor::block_on;
use futures::future::{Either, select};
use futures::{Stream, StreamExt};

/// Every test has its own domain, and every run of it a namespace.
fn context(test: u16) -> Context {
    let discovery =
        Discovery { domain_id: 92 + test, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

fn node(context: Context, name: &str) -> Node {
    Node::create(context, name, &format!("/run{}", std::process::id())).unwrap()
}

#[track_caller]
fn soon<T>(future: impl Future<Output = T>) -> T {
    let timeout = futures_timer::Delay::new(Duration::from_secs(10));
    match block_on(select(Box::pin(future), timeout)) {
        Either::Left((value, _)) => value,
        Either::Right(_) => panic!("nothing happens for ten seconds"),
    }
}

/// Goals of order 100 and more run until they are cancelled.
const ENDLESS: i32 = 100;

async fn fibonacci(goal: Goal<Fibonacci::Action>) -> Outcome<Fibonacci::Result> {
    let order = goal.goal().order;
    let mut sequence = vec![0, 1];
    for step in 1..order.min(8) as usize {
        sequence.push(sequence[step] + sequence[step - 1]);
        goal.publish_feedback(Fibonacci::Feedback { sequence: sequence.clone() });
    }
    if order >= ENDLESS {
        goal.canceled().await;
        assert!(goal.is_canceled());
        return Outcome::Canceled(Fibonacci::Result { sequence });
    }
    // Clients drop feedback that arrives after the result.
    futures_timer::Delay::new(Duration::from_millis(50)).await;
    Outcome::Succeeded(Fibonacci::Result { sequence })
}

/// Offers Fibonacci while the returned value lives.
fn serve(node: Node) -> futures::channel::oneshot::Sender<()> {
    let mut tasks = NodeTasks::new(node);
    let check = |goal: &Fibonacci::Goal| match goal.order {
        2.. => Ok(()),
        order => Err(format!("order {order} is less than 2")),
    };
    tasks.serve_action::<Fibonacci::Action, _>("fibonacci", check, fibonacci).unwrap();
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let running = tasks.start().unwrap();
    std::thread::spawn(move || block_on(select(running, stopped)));
    stop
}

fn action_client(node: &mut Node) -> ActionClient<Fibonacci::Action> {
    let client = node.create_action_client("fibonacci").unwrap();
    soon(Node::is_available(&client).unwrap()).unwrap();
    client
}

fn service_client<S: WrappedServiceTypeSupport + 'static>(node: &mut Node, part: &str) -> Client<S> {
    let name = format!("fibonacci/_action/{part}");
    let client = node.create_client(&name, QosProfile::services_default()).unwrap();
    soon(Node::is_available(&client).unwrap()).unwrap();
    client
}

fn a_goal_runs_to_its_end(server: Context, client: Context) {
    let _server = serve(node(server, "server"));
    let mut node = node(client, "client");
    let client = action_client(&mut node);

    let sent = client.send_goal_request(Fibonacci::Goal { order: 6 }).unwrap();
    let (goal, result, feedback) = soon(sent).unwrap();
    let steps: Vec<_> = soon(feedback.map(|feedback| feedback.sequence.len()).collect());
    assert_eq!(steps, [3, 4, 5, 6, 7]);
    let (status, result) = soon(result).unwrap();
    assert_eq!((status, result.sequence), (GoalStatus::Succeeded, vec![0, 1, 1, 2, 3, 5, 8]));
    assert_eq!(goal.get_status().unwrap(), GoalStatus::Succeeded);
    assert!(matches!(soon(goal.cancel().unwrap()), Err(Error::GoalCancelAlreadyTerminated)));

    let refused = soon(client.send_goal_request(Fibonacci::Goal { order: 1 }).unwrap());
    assert!(matches!(refused.err(), Some(Error::RCL_RET_ACTION_GOAL_REJECTED)));

    // Two at a time; one is cancelled and the other continues.
    let sent =
        [ENDLESS, ENDLESS + 1].map(|order| client.send_goal_request(Fibonacci::Goal { order }).unwrap());
    let [(first, first_result, _), (second, second_result, _)] = sent.map(|sent| soon(sent).unwrap());
    soon(first.cancel().unwrap()).unwrap();
    let (status, result) = soon(first_result).unwrap();
    assert_eq!((status, result.sequence.len()), (GoalStatus::Canceled, 9));
    assert!(!second.get_status().unwrap().to_string().contains("cancel"));
    soon(second.cancel().unwrap()).unwrap();
    assert_eq!(soon(second_result).unwrap().0, GoalStatus::Canceled);
}

#[test]
fn a_goal_runs_to_its_end_within_a_process() {
    let context = context(0);
    a_goal_runs_to_its_end(context.clone(), context);
}

#[test]
fn a_goal_runs_to_its_end_over_the_network() {
    a_goal_runs_to_its_end(context(1), context(1));
}

type GoalRequests = dyn Stream<Item = ActionServerGoalRequest<Fibonacci::Action>> + Send + Unpin;

/// A server implemented by the test, and a node.
fn by_hand(test: u16) -> (Box<GoalRequests>, Node) {
    let mut node = node(context(test), "node");
    (Box::new(node.create_action_server("fibonacci").unwrap()), node)
}

fn accept(
    requests: &mut GoalRequests,
) -> (
    dragoman_ros::ActionServerGoal<Fibonacci::Action>,
    impl Stream<Item = dragoman_ros::ActionServerCancelRequest> + use<>,
) {
    soon(requests.next()).unwrap().accept().unwrap()
}

#[test]
fn a_goal_without_a_server_ends() {
    let mut node = node(context(1), "alone");
    let client = node.create_action_client::<Fibonacci::Action>("nowhere").unwrap();
    let sent = client.send_goal_request(Fibonacci::Goal::default()).unwrap();
    assert!(matches!(soon(sent), Err(Error::Timeout(_))));
}

fn id(number: u8) -> UUID {
    UUID { uuid: vec![number; 16] }
}

fn cancel_request(goal: UUID, stamp: Time) -> CancelGoal::Request {
    CancelGoal::Request { goal_info: GoalInfo { goal_id: goal, stamp } }
}

#[test]
fn a_goal_id_that_is_taken_is_refused() {
    let (mut requests, mut node) = by_hand(2);
    let send = service_client::<Fibonacci::SendGoal::Service>(&mut node, "send_goal");
    let goal = || Fibonacci::Action::make_goal_request_msg(id(1), Fibonacci::Goal { order: 2 });
    let first = send.request(&goal()).unwrap();
    let (mut running, _cancels) = accept(&mut requests);
    let response = soon(first).unwrap();
    assert!(response.accepted && response.stamp.sec > 0);

    let second = send.request(&goal()).unwrap();
    let refused = soon(async { select(second, requests.next()).await });
    assert!(
        matches!(refused, Either::Left((Ok(response), _)) if !response.accepted),
        "the server was not asked"
    );
    running.succeed(Fibonacci::Result::default()).unwrap();
    assert!(matches!(
        running.abort(Fibonacci::Result::default()),
        Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID)
    ));
}

#[test]
fn results_are_sent_to_all_requests_before_and_after_the_end() {
    let (mut requests, mut node) = by_hand(3);
    let client = action_client(&mut node);
    let get = service_client::<Fibonacci::GetResult::Service>(&mut node, "get_result");
    let sent = client.send_goal_request(Fibonacci::Goal { order: 2 }).unwrap();
    let (mut goal, _cancels) = accept(&mut requests);
    let (_, result, _) = soon(sent).unwrap();
    let ask = |id: &[u8]| get.request(&Fibonacci::GetResult::Request { goal_id: UUID { uuid: id.to_vec() } });
    let early = ask(goal.uuid.as_bytes()).unwrap();
    let unknown = soon(ask(&[9; 16]).unwrap()).unwrap();
    assert_eq!(unknown.status, GoalStatus::Unknown.to_rcl());
    goal.abort(Fibonacci::Result { sequence: vec![7] }).unwrap();
    let late = ask(goal.uuid.as_bytes()).unwrap();
    for answer in [soon(early).unwrap(), soon(late).unwrap()] {
        assert_eq!((answer.status, answer.result.sequence), (GoalStatus::Aborted.to_rcl(), vec![7]));
    }
    assert_eq!(soon(result).unwrap().0, GoalStatus::Aborted);
}

#[test]
fn cancel_requests_reach_the_selected_goals() {
    let (mut requests, mut node) = by_hand(4);
    let client = action_client(&mut node);
    let cancel = service_client::<CancelGoal::Service>(&mut node, "cancel_goal");
    let statuses = node
        .subscribe::<GoalStatusArray>(
            "fibonacci/_action/status",
            QosProfile::default().keep_last(1).transient_local(),
        )
        .unwrap();
    let mut start = || {
        let sent = client.send_goal_request(Fibonacci::Goal { order: 2 }).unwrap();
        let accepted = accept(&mut requests);
        let (goal, result, _) = soon(sent).unwrap();
        (accepted, goal, result)
    };
    let ((mut first, mut first_cancels), first_goal, first_result) = start();
    let ((second, mut second_cancels), second_goal, second_result) = start();

    let unknown = soon(cancel.request(&cancel_request(id(9), Time::default())).unwrap()).unwrap();
    assert_eq!(u32::try_from(unknown.return_code).unwrap(), CancelGoal::Response::ERROR_UNKNOWN_GOAL_ID);

    // The server may refuse.
    let refused = first_goal.cancel().unwrap();
    soon(first_cancels.next()).unwrap().reject();
    assert!(matches!(soon(refused), Err(Error::GoalCancelRejected)));
    assert!(!first.is_cancelling().unwrap());

    // All goals; one agrees.
    let all = cancel.request(&cancel_request(id(0), Time::default())).unwrap();
    soon(first_cancels.next()).unwrap().accept();
    soon(second_cancels.next()).unwrap().reject();
    let answer = soon(all).unwrap();
    assert_eq!(u32::try_from(answer.return_code).unwrap(), CancelGoal::Response::ERROR_NONE);
    let canceling: Vec<_> = answer.goals_canceling.into_iter().map(|goal| goal.goal_id.uuid).collect();
    assert_eq!(canceling, [first.uuid.as_bytes().to_vec()]);
    assert!(first.is_cancelling().unwrap() && !second.is_cancelling().unwrap());
    first.cancel(Fibonacci::Result::default()).unwrap();
    assert_eq!(soon(first_result).unwrap().0, GoalStatus::Canceled);

    // All goals up to a time before the second; then the second, which is dropped while cancelling.
    let before = soon(cancel.request(&cancel_request(id(0), Time { sec: 1, nanosec: 0 })).unwrap()).unwrap();
    assert!(before.goals_canceling.is_empty() && before.return_code == 0);
    let agreed = second_goal.cancel().unwrap();
    soon(second_cancels.next()).unwrap().accept();
    soon(agreed).unwrap();
    drop((second, second_cancels));
    assert_eq!(soon(second_result).unwrap().0, GoalStatus::Canceled);

    // A goal without a handle is aborted, and a late subscriber receives the status of all three.
    let (accepted, _, result) = start();
    drop(accepted);
    assert_eq!(soon(result).unwrap().0, GoalStatus::Aborted);
    let message =
        soon(statuses.filter(|message| std::future::ready(message.status_list.len() == 3)).next()).unwrap();
    let statuses: Vec<_> = message.status_list.iter().map(|goal| GoalStatus::from_rcl(goal.status)).collect();
    assert_eq!(statuses[..2], [GoalStatus::Canceled, GoalStatus::Canceled]);
}

#[test]
fn an_action_without_a_server_is_not_available() {
    let mut node = node(context(5), "client");
    let client = node.create_action_client::<Fibonacci::Action>("fibonacci").unwrap();
    let available = Node::is_available(&client).unwrap();
    let patience = futures_timer::Delay::new(Duration::from_millis(600));
    assert!(matches!(block_on(select(Box::pin(available), patience)), Either::Right(_)));
}

/// The hashes in the installed `test_msgs` and `action_msgs` of ROS 2 Jazzy.
#[test]
fn types_have_the_names_and_hashes_that_ros_gives_them() {
    fn of<T: WrappedTypesupport>() -> (&'static str, &'static str) {
        (T::TYPE_NAME, T::TYPE_HASH)
    }
    let action = (Fibonacci::Action::TYPE_NAME, Fibonacci::Action::TYPE_HASH);
    let service = (Fibonacci::SendGoal::Service::TYPE_NAME, Fibonacci::SendGoal::Service::TYPE_HASH);
    for ((name, hash), expected_name, expected_hash) in [
        (
            action,
            "test_msgs/action/Fibonacci",
            "RIHS01_be9273e3557225044b4a040811112491f7079326e3a573f83258b0b4c30bd069",
        ),
        (
            of::<Fibonacci::Goal>(),
            "test_msgs/action/Fibonacci_Goal",
            "RIHS01_e58ef5a8f4f039ab522a740823547c460b1d5aed8031c8b7825d33d345d90df8",
        ),
        (
            of::<Fibonacci::FeedbackMessage>(),
            "test_msgs/action/Fibonacci_FeedbackMessage",
            "RIHS01_37487bae8cea358366b97003c1ef1ca7ce7c08df36f9e8cca496624226aee64e",
        ),
        (
            service,
            "test_msgs/action/Fibonacci_SendGoal",
            "RIHS01_d807633803e38e164276573cd97e9fbd71e109c290bbf4cc312a0a1c9da7bbd9",
        ),
        (
            of::<Fibonacci::GetResult::Response>(),
            "test_msgs/action/Fibonacci_GetResult_Response",
            "RIHS01_ef88159d47a3d21d9bf4bec690cf668939d9542db28a9cfd77dbcd97eaf1add2",
        ),
        (
            of::<CancelGoal::Request>(),
            "action_msgs/srv/CancelGoal_Request",
            "RIHS01_3d3c84653c1f96918086887e1dcb236faec88b81a5b14fd4cf4840065bcdf8af",
        ),
    ] {
        assert_eq!((name, hash), (expected_name, expected_hash));
    }
}
