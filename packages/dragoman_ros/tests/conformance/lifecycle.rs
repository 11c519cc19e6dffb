//! Life cycles as used by other nodes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman_ros::lifecycle::{
    self, CallbackReturn, Change, Lifecycle, LifecycleState, Managed, Refused, TRANSITIONS,
};
use dragoman_ros::lifecycle_msgs::msg::{Transition, TransitionEvent};
use dragoman_ros::lifecycle_msgs::srv::{ChangeState, GetAvailableStates, GetAvailableTransitions, GetState};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Client, Node, QosProfile, WrappedServiceTypeSupport};
use futures::channel::oneshot;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

use super::{Working, first, node, run, soon};

/// Hardware whose next callbacks return the test's results, and wait for the test if requested.
#[derive(Clone, Default)]
struct Hardware(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    outcomes: Vec<CallbackReturn>,
    calls: Vec<String>,
    gate: Option<oneshot::Receiver<()>>,
}

impl Hardware {
    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    async fn called(&self, name: &str) -> CallbackReturn {
        let (gate, outcome) = {
            let mut script = self.script();
            script.calls.push(name.to_owned());
            (script.gate.take(), script.outcomes.pop().unwrap_or(CallbackReturn::Success))
        };
        if let Some(gate) = gate {
            let _ = gate.await;
        }
        outcome
    }

    /// Callbacks called since the last check.
    fn calls(&self) -> String {
        std::mem::take(&mut self.script().calls).join(" ")
    }
}

impl Managed for Hardware {
    async fn configure(&mut self) -> CallbackReturn {
        self.called("configure").await
    }

    async fn activate(&mut self) -> CallbackReturn {
        self.called("activate").await
    }

    async fn deactivate(&mut self) -> CallbackReturn {
        self.called("deactivate").await
    }

    async fn clean_up(&mut self) -> CallbackReturn {
        self.called("clean_up").await
    }

    async fn shut_down(&mut self, from: LifecycleState) -> CallbackReturn {
        self.called(&format!("shut_down({})", from.label())).await
    }

    async fn process_error(&mut self) -> CallbackReturn {
        self.called("process_error").await
    }
}

struct Fixture {
    hardware: Hardware,
    lifecycle: Lifecycle,
    change: Client<ChangeState::Service>,
    get: Client<GetState::Service>,
    states: Client<GetAvailableStates::Service>,
    available: Client<GetAvailableTransitions::Service>,
    graph: Client<GetAvailableTransitions::Service>,
    events: BoxStream<'static, TransitionEvent>,
    _working: [Working; 2],
}

impl Fixture {
    fn new(test: &str) -> Self {
        let mut tasks = NodeTasks::new(node("arm", test));
        let hardware = Hardware::default();
        let (lifecycle, server) = lifecycle::manage(tasks.node(), hardware.clone()).unwrap();
        tasks.spawn(server);
        let arm = run(tasks);
        let mut node = node("user", test);
        let change = client(&mut node, "change_state");
        let get = client(&mut node, "get_state");
        let states = client(&mut node, "get_available_states");
        let available = client(&mut node, "get_available_transitions");
        let graph = client(&mut node, "get_transition_graph");
        let events = node.subscribe("arm/transition_event", QosProfile::default().keep_last(100)).unwrap();
        let there = [
            Node::is_available(&change).unwrap().boxed_local(),
            Node::is_available(&get).unwrap().boxed_local(),
            Node::is_available(&states).unwrap().boxed_local(),
            Node::is_available(&available).unwrap().boxed_local(),
            Node::is_available(&graph).unwrap().boxed_local(),
        ];
        let working = [arm, run(NodeTasks::new(node))];
        for service in there {
            soon(service).unwrap();
        }
        let events = events.boxed();
        Self { hardware, lifecycle, change, get, states, available, graph, events, _working: working }
    }

    fn ask(&self, label: &str) -> bool {
        let transition = Transition { id: 0, label: label.into() };
        soon(self.change.request(&ChangeState::Request { transition }).unwrap()).unwrap().success
    }

    fn ask_number(&self, id: u8) -> bool {
        let transition = Transition { id, label: String::new() };
        soon(self.change.request(&ChangeState::Request { transition }).unwrap()).unwrap().success
    }

    fn state(&self) -> String {
        let state = soon(self.get.request(&GetState::Request::default()).unwrap()).unwrap().current_state;
        assert_eq!(state.label, self.lifecycle.state().label());
        assert_eq!(state.id, self.lifecycle.state().id());
        state.label
    }

    /// Checks the transitions since the last check, as `id:goal`.
    #[track_caller]
    fn expect(&mut self, expected: &str) {
        for expected in expected.split_whitespace() {
            let event = first(&mut self.events);
            assert!(event.timestamp > 0);
            assert_eq!(format!("{}:{}", event.transition.id, event.goal_state.label), expected);
        }
        assert!(self.events.next().now_or_never().is_none(), "nothing besides");
    }
}

fn client<S: WrappedServiceTypeSupport + 'static>(node: &mut Node, name: &str) -> Client<S> {
    node.create_client(&format!("arm/{name}"), QosProfile::services_default()).unwrap()
}

#[test]
fn a_node_passes_all_states_of_its_life_cycle() {
    let mut fixture = Fixture::new("life");
    assert_eq!(fixture.state(), "unconfigured");
    assert!(fixture.ask("configure") && fixture.ask_number(3));
    assert_eq!(fixture.state(), "active");
    assert!(fixture.ask("deactivate") && fixture.ask("cleanup") && fixture.ask_number(5));
    assert_eq!(fixture.state(), "finalized");
    assert_eq!(fixture.hardware.calls(), "configure activate deactivate clean_up shut_down(unconfigured)");
    fixture.expect(
        "1:configuring 10:inactive 3:activating 30:active 4:deactivating 40:inactive 2:cleaningup \
         20:unconfigured 5:shuttingdown 50:finalized",
    );
}

#[test]
fn what_the_chart_does_not_have_is_refused_and_calls_nothing() {
    let mut fixture = Fixture::new("refusals");
    for label in ["activate", "deactivate", "cleanup", "transition_success", "fly"] {
        assert!(!fixture.ask(label), "{label}");
    }
    for id in [0, 2, 6, 8, 10, 99, 255] {
        assert!(!fixture.ask_number(id), "{id}");
    }
    let refused = soon(fixture.lifecycle.change(Change::Activate)).unwrap_err();
    assert_eq!(
        refused,
        Refused::NotPossible { asked: "activate".into(), state: LifecycleState::Unconfigured }
    );
    fixture.lifecycle.report_error("nothing is open yet");
    assert_eq!((fixture.state().as_str(), fixture.hardware.calls().as_str()), ("unconfigured", ""));
    fixture.expect("");
}

#[test]
fn failed_callbacks_are_reported() {
    let mut fixture = Fixture::new("failures");
    fixture.hardware.script().outcomes = vec![CallbackReturn::Failure];
    assert!(!fixture.ask("configure"));
    assert_eq!(fixture.state(), "unconfigured");
    // An error whose processing succeeds.
    fixture.hardware.script().outcomes = vec![CallbackReturn::Success, CallbackReturn::Error];
    assert!(!fixture.ask("configure"));
    assert_eq!(fixture.state(), "unconfigured");
    assert_eq!(fixture.hardware.calls(), "configure configure process_error");
    fixture.expect("1:configuring 11:unconfigured 1:configuring 12:errorprocessing 60:unconfigured");
    // And one whose processing fails.
    fixture.hardware.script().outcomes =
        vec![CallbackReturn::Failure, CallbackReturn::Error, CallbackReturn::Success];
    assert_eq!(soon(fixture.lifecycle.change(Change::Configure)), Ok(LifecycleState::Inactive));
    assert_eq!(soon(fixture.lifecycle.change(Change::Activate)), Ok(LifecycleState::Finalized));
    assert!(!fixture.ask("shutdown"));
}

#[test]
fn a_node_reports_its_own_errors() {
    let mut fixture = Fixture::new("errors");
    for change in [Change::Configure, Change::Activate] {
        soon(fixture.lifecycle.change(change)).unwrap();
    }
    fixture.hardware.calls();
    fixture.expect("1:configuring 10:inactive 3:activating 30:active");
    fixture.lifecycle.report_error("the bus is gone");
    while fixture.lifecycle.state() != LifecycleState::Unconfigured {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fixture.hardware.calls(), "process_error");
    assert_eq!(fixture.state(), "unconfigured");
    fixture.expect("99:errorprocessing 60:unconfigured");
}

#[test]
fn while_a_callback_runs_the_state_is_available_and_changes_are_refused() {
    let fixture = Fixture::new("busy");
    let (open, gate) = oneshot::channel();
    fixture.hardware.script().gate = Some(gate);
    let configured = fixture.lifecycle.change(Change::Configure);
    while fixture.lifecycle.state() != LifecycleState::Configuring {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fixture.state(), "configuring");
    assert!(!fixture.ask("configure") && !fixture.ask("shutdown"));
    fixture.lifecycle.report_error("a cable was pulled meanwhile");
    assert_eq!(fixture.hardware.calls(), "configure");
    open.send(()).unwrap();
    assert_eq!(soon(configured), Ok(LifecycleState::Inactive));
    while fixture.lifecycle.state() != LifecycleState::Unconfigured {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fixture.hardware.calls(), "process_error");
}

#[test]
fn states_and_transitions_are_listed() {
    let fixture = Fixture::new("lists");
    let states = soon(fixture.states.request(&GetAvailableStates::Request::default()).unwrap()).unwrap();
    assert_eq!(states.available_states.len(), 11);
    let list = |client: &Client<GetAvailableTransitions::Service>| {
        let answer = soon(client.request(&GetAvailableTransitions::Request::default()).unwrap()).unwrap();
        let transitions = answer.available_transitions.into_iter();
        transitions
            .map(|t| format!("{}:{}:{}", t.transition.id, t.start_state.label, t.goal_state.label))
            .collect::<Vec<_>>()
    };
    let available = list(&fixture.available);
    assert_eq!(available, ["1:unconfigured:configuring", "5:unconfigured:shuttingdown"]);
    assert_eq!(list(&fixture.graph).len(), TRANSITIONS.len());
}
