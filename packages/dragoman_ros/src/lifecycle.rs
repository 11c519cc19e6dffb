//! Life cycles: nodes that acquire and release their hardware on request, by `ros2 lifecycle` or a launch file.
//!
//! ```no_run
//! # use dragoman_ros::{Context, Node, lifecycle::{self, CallbackReturn, Managed}, tasks::NodeTasks};
//! struct Arm;
//!
//! impl Managed for Arm {
//!     async fn configure(&mut self) -> CallbackReturn {
//!         CallbackReturn::Success // The bus is open.
//!     }
//! }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut tasks = NodeTasks::new(Node::create(Context::create()?, "arm", "/lab")?);
//! let (lifecycle, server) = lifecycle::manage(tasks.node(), Arm)?;
//! tasks.spawn(server);
//! // Later, in a task that has lost the bus:
//! lifecycle.report_error("no answer from drive 3");
//! # Ok(()) }
//! ```

mod machine;

pub use machine::{CallbackReturn, Change, LifecycleState, Machine, Refused, TRANSITIONS, Transition};

use std::sync::Arc;
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use futures::future::{BoxFuture, Fuse, FutureExt};
use futures::stream::StreamExt;
use parking_lot::Mutex;

use crate::lifecycle_msgs::msg::{
    State as StateMessage, Transition as TransitionMessage, TransitionDescription, TransitionEvent,
};
use crate::lifecycle_msgs::srv::{ChangeState, GetAvailableStates, GetAvailableTransitions, GetState};
use crate::{Clock, ClockType, Node, Publisher, QosProfile, ServiceRequest};

/// Callbacks of a node at changes of its state. They do nothing by default.
pub trait Managed: Send + 'static {
    /// Acquires the hardware.
    fn configure(&mut self) -> impl Future<Output = CallbackReturn> + Send {
        async { CallbackReturn::Success }
    }

    /// Starts operation.
    fn activate(&mut self) -> impl Future<Output = CallbackReturn> + Send {
        async { CallbackReturn::Success }
    }

    /// Stops operation.
    fn deactivate(&mut self) -> impl Future<Output = CallbackReturn> + Send {
        async { CallbackReturn::Success }
    }

    /// Releases the hardware.
    fn clean_up(&mut self) -> impl Future<Output = CallbackReturn> + Send {
        async { CallbackReturn::Success }
    }

    /// Stops and releases everything, in state `from`.
    fn shut_down(&mut self, from: LifecycleState) -> impl Future<Output = CallbackReturn> + Send {
        let _ = from;
        async { CallbackReturn::Success }
    }

    /// Stops and releases everything after an error: on success the node can be configured again, otherwise it is
    /// finalized.
    fn process_error(&mut self) -> impl Future<Output = CallbackReturn> + Send {
        async { CallbackReturn::Failure }
    }
}

/// A node's life cycle, for the node itself. Clones share it.
#[derive(Clone)]
pub struct Lifecycle {
    machine: Arc<Mutex<Machine>>,
    /// Not cloned: each clone of a sender has one more place in the queue.
    requests: Arc<Mutex<mpsc::Sender<Request>>>,
}

/// Maximum number of requests of the node itself waiting for the present transition; further ones are refused.
const REQUESTS: usize = 16;

enum Request {
    Change(Change, Requester),
    Error(String),
}

/// Gives `node` the life cycle that `managed` implements: its services and its topic are offered while the returned
/// future is polled.
///
/// # Errors
/// An error of the middleware.
pub fn manage<T: Managed>(
    node: &mut Node,
    managed: T,
) -> crate::Result<(Lifecycle, impl Future<Output = ()> + Send + use<T>)> {
    let qos = QosProfile::services_default();
    let mut change = node.create_service::<ChangeState::Service>("~/change_state", qos.clone())?.fuse();
    let mut state = node.create_service::<GetState::Service>("~/get_state", qos.clone())?.fuse();
    let mut states =
        node.create_service::<GetAvailableStates::Service>("~/get_available_states", qos.clone())?.fuse();
    let mut transitions = node
        .create_service::<GetAvailableTransitions::Service>("~/get_available_transitions", qos.clone())?
        .fuse();
    let mut graph =
        node.create_service::<GetAvailableTransitions::Service>("~/get_transition_graph", qos)?.fuse();
    let events = node.create_publisher("~/transition_event", QosProfile::default())?;
    let name = node.fully_qualified_name()?;
    let (sender, mut requests) = mpsc::channel(REQUESTS);
    let machine = Arc::new(Mutex::new(Machine::default()));
    let lifecycle = Lifecycle { machine: Arc::clone(&machine), requests: Arc::new(Mutex::new(sender)) };
    let clock = Clock::create(ClockType::SystemTime)?;
    let mut driver = Driver {
        name,
        machine,
        events,
        clock,
        managed: Some(managed),
        running: Fuse::terminated(),
        asked: None,
        pending_error: None,
    };
    let server = async move {
        loop {
            let answered = futures::select_biased! {
                (managed, outcome) = &mut driver.running => driver.finish(managed, outcome),
                request = requests.select_next_some() => driver.request(request),
                request = change.select_next_some() => driver.change(request),
                request = state.select_next_some() => driver.send_state(request),
                request = states.select_next_some() => send_states(request),
                request = transitions.select_next_some() => {
                    let available = driver.machine.lock().available().collect();
                    send_transitions(request, available)
                }
                request = graph.select_next_some() => send_transitions(request, TRANSITIONS.to_vec()),
                complete => return,
            };
            if let Err(error) = answered {
                tracing::warn!(%error, node = driver.name, "sending a response failed");
            }
        }
    };
    Ok((lifecycle, server))
}

impl Lifecycle {
    /// The present state.
    pub fn state(&self) -> LifecycleState {
        self.machine.lock().state()
    }

    /// Requests a transition, as other nodes do with the service. The future resolves with the resulting state, which
    /// differs from the requested one if a callback did not succeed.
    ///
    /// # Errors
    /// The future's: the transition is not possible now, for example because another one is in progress.
    pub fn change(
        &self,
        change: Change,
    ) -> impl Future<Output = Result<LifecycleState, Refused>> + Send + Unpin + use<> {
        let (sender, done) = oneshot::channel();
        let refused = match self.requests.lock().try_send(Request::Change(change, Requester::Node(sender))) {
            Err(error) if error.is_full() => Refused::Busy,
            _ => Refused::Ended,
        };
        done.map(|done| done.unwrap_or(Err(refused)))
    }

    /// Reports an error: error processing starts now or after the present transition. Without effect in a node that
    /// holds no hardware.
    pub fn report_error(&self, reason: impl Into<String>) {
        // If the queue is full, errors are already waiting.
        let _ = self.requests.lock().try_send(Request::Error(reason.into()));
    }
}

/// The source of the present transition's request.
enum Requester {
    Service(ServiceRequest<ChangeState::Service>),
    Node(oneshot::Sender<Result<LifecycleState, Refused>>),
}

impl Requester {
    fn refuse(self, refused: Refused) -> crate::Result<()> {
        match self {
            Self::Service(request) => request.respond(ChangeState::Response { success: false }),
            Self::Node(sender) => {
                let _ = sender.send(Err(refused));
                Ok(())
            }
        }
    }

    fn done(self, success: bool, state: LifecycleState) -> crate::Result<()> {
        match self {
            Self::Service(request) => request.respond(ChangeState::Response { success }),
            Self::Node(sender) => {
                let _ = sender.send(Ok(state));
                Ok(())
            }
        }
    }
}

type Running<T> = Fuse<BoxFuture<'static, (T, CallbackReturn)>>;

/// Runs callbacks and publishes states.
struct Driver<T> {
    name: String,
    machine: Arc<Mutex<Machine>>,
    events: Publisher<TransitionEvent>,
    clock: Clock,
    /// Contains the callback while one runs.
    managed: Option<T>,
    running: Running<T>,
    asked: Option<(Requester, Option<CallbackReturn>)>,
    /// Reported during a change.
    pending_error: Option<String>,
}

impl<T: Managed> Driver<T> {
    fn change(&mut self, request: ServiceRequest<ChangeState::Service>) -> crate::Result<()> {
        let asked = request.message.transition.clone();
        let begun = match asked.label.as_str() {
            "" => self.machine.lock().begin_numbered(asked.id),
            label => self.machine.lock().begin_named(label),
        };
        self.start(begun, Requester::Service(request))
    }

    fn request(&mut self, request: Request) -> crate::Result<()> {
        match request {
            Request::Change(change, answer) => {
                let begun = self.machine.lock().begin(change);
                self.start(begun, answer)
            }
            Request::Error(reason) if self.managed.is_none() => {
                self.pending_error.get_or_insert(reason);
                Ok(())
            }
            Request::Error(reason) => {
                self.process(&reason);
                Ok(())
            }
        }
    }

    fn start(&mut self, begun: Result<Transition, Refused>, answer: Requester) -> crate::Result<()> {
        match begun {
            Ok(transition) => {
                self.asked = Some((answer, None));
                self.enter(transition);
                Ok(())
            }
            Err(refused) => {
                tracing::warn!(node = self.name, %refused, "state change refused");
                answer.refuse(refused)
            }
        }
    }

    fn process(&mut self, reason: &str) {
        let failed = self.machine.lock().fail();
        match failed {
            Ok(transition) => {
                tracing::error!(node = self.name, reason, "node failed; entering error processing");
                self.enter(transition);
            }
            Err(refused) => {
                tracing::warn!(node = self.name, reason, %refused, "node failed; no error processing in this state")
            }
        }
    }

    /// Publishes a transition and runs the callback of the new state, if it has one.
    fn enter(&mut self, transition: Transition) {
        tracing::debug!(
            node = self.name,
            transition = transition.label,
            state = transition.goal.label(),
            "state changed"
        );
        let mut event = TransitionEvent {
            transition: transition_message(&transition),
            start_state: state_message(transition.start),
            goal_state: state_message(transition.goal),
            ..Default::default()
        };
        set_time(&mut event, self.clock.get_now().unwrap_or_default());
        if let Err(error) = self.events.publish(&event) {
            tracing::warn!(%error, node = self.name, "publishing a transition event failed");
        }
        if TRANSITIONS.iter().any(|t| t.start == transition.goal && t.label.starts_with("transition_"))
            && let Some(managed) = self.managed.take()
        {
            self.running = callback(managed, transition).boxed().fuse();
        }
    }

    fn finish(&mut self, managed: T, outcome: CallbackReturn) -> crate::Result<()> {
        self.managed = Some(managed);
        let transition = self.machine.lock().finish(outcome);
        if let Some((_, first)) = &mut self.asked {
            first.get_or_insert(outcome);
        }
        if let Some(transition) = transition {
            self.enter(transition);
        }
        if self.managed.is_none() {
            return Ok(()); // The response follows after error processing.
        }
        let answered = match self.asked.take() {
            Some((answer, outcome)) => {
                answer.done(outcome == Some(CallbackReturn::Success), self.machine.lock().state())
            }
            None => Ok(()),
        };
        if let Some(reason) = self.pending_error.take() {
            self.process(&reason);
        }
        answered
    }

    fn send_state(&self, request: ServiceRequest<GetState::Service>) -> crate::Result<()> {
        let current_state = state_message(self.machine.lock().state());
        request.respond(GetState::Response { current_state })
    }
}

async fn callback<T: Managed>(mut managed: T, transition: Transition) -> (T, CallbackReturn) {
    let outcome = match transition.goal {
        LifecycleState::Configuring => managed.configure().await,
        LifecycleState::CleaningUp => managed.clean_up().await,
        LifecycleState::Activating => managed.activate().await,
        LifecycleState::Deactivating => managed.deactivate().await,
        LifecycleState::ShuttingDown => managed.shut_down(transition.start).await,
        _ => managed.process_error().await,
    };
    (managed, outcome)
}

fn send_states(request: ServiceRequest<GetAvailableStates::Service>) -> crate::Result<()> {
    let available_states = LifecycleState::ALL.into_iter().map(state_message).collect();
    request.respond(GetAvailableStates::Response { available_states })
}

fn send_transitions(
    request: ServiceRequest<GetAvailableTransitions::Service>,
    transitions: Vec<Transition>,
) -> crate::Result<()> {
    let description = |transition: &Transition| TransitionDescription {
        transition: transition_message(transition),
        start_state: state_message(transition.start),
        goal_state: state_message(transition.goal),
    };
    let available_transitions = transitions.iter().map(description).collect();
    request.respond(GetAvailableTransitions::Response { available_transitions })
}

fn state_message(state: LifecycleState) -> StateMessage {
    StateMessage { id: state.id(), label: state.label().to_owned() }
}

/// Sets the time since 1970, for which the message has another field from Lyrical on.
fn set_time(event: &mut TransitionEvent, time: Duration) {
    #[cfg(not(rcl_of_lyrical))]
    {
        event.timestamp = u64::try_from(time.as_nanos()).unwrap_or_default();
    }
    #[cfg(fields_of_lyrical)]
    {
        event.stamp = Clock::to_builtin_time(&time);
    }
}

fn transition_message(transition: &Transition) -> TransitionMessage {
    TransitionMessage { id: transition.id, label: transition.label.to_owned() }
}
