//! The node of a machine, in its namespace: the topics and services of its description, its link, its diagnostics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{MessageId, Values};
use dragoman_ros::diagnostics::{Diagnostics, Refusals, Severity};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::tasks::{NodeError, NodeTasks};
use dragoman_ros::times::{self, SharedClock};
use dragoman_ros::{Context, Node, QosProfile, raw, velocity};
use dragoman_types::json;
use dragoman_types::schema::Types;
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::StreamExt;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

use super::conversation::{Conversation, Event, Heard, Refusal, Statistics, Ticket};
use super::interface::{Interface, Publication, Service};
use super::link::{self, Place};
use super::outgoing::{Outgoing, OutgoingFrame};
use super::plan::Plan;
use super::services;
use super::standard::Standard;
use super::term::Lookup;
use crate::client_node::{ClientNode, FirstAnswer};
use crate::clock;

/// Name of the node.
pub const NODE_NAME: &str = "machine";
/// Maximum number of kinds of wrong frames that are logged.
const MAX_REPORTED: usize = 16;
/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);
/// Requests of a service that are open at the same time.
const MAX_REQUESTS: usize = 16;
/// How long the end waits for a stop to be sent.
const STOP_TIME: Duration = Duration::from_millis(500);
const STOP_STEP: Duration = Duration::from_millis(2);

/// A running machine.
pub struct MachineNode {
    /// The node, and whether the machine has been heard.
    pub client: ClientNode,
    /// Stops the machine and closes its link; await it before dropping the node.
    pub stop: BoxFuture<'static, ()>,
}

/// Error starting the node of a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The frames of the description cannot be found in a stream.
    #[error("{0}")]
    Frames(String),
    /// Error of the middleware.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(MachineError);

/// What the link's task and the node's tasks share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    wake: Notify,
    clock: SharedClock,
    plan: Arc<Plan>,
}

struct Inner {
    conversation: Conversation,
    outputs: Outputs,
    /// Why the link is not there.
    failure: Option<String>,
    is_closing: bool,
    /// A frame is being written.
    is_sending: bool,
    /// A frame that the bus did not take.
    again: Option<OutgoingFrame>,
    /// Messages received when the link was opened.
    heard_before: u64,
    /// Kinds of frames that were reported as no messages.
    reported: BTreeSet<String>,
    /// Questions that were reported as not answered.
    unanswered: BTreeSet<String>,
}

/// Where messages of the machine go.
struct Outputs {
    publications: Vec<(Publication, raw::Publisher)>,
    standard: Standard,
    services: Arc<Vec<Service>>,
    /// Requests that wait for the machine: the number of the service, and who waits.
    waiting: BTreeMap<Ticket, (usize, oneshot::Sender<Value>)>,
    first: FirstAnswer,
    refusals: Refusals,
    /// Why the last message could not be published.
    trouble: Option<String>,
}

/// The types of messages that this program knows.
pub fn types() -> Types {
    let distribution = dragoman_ros::Distribution::from_variables(dragoman_time::variable);
    let installed = dragoman_time::variable_os("AMENT_PREFIX_PATH").unwrap_or_default();
    // With rcl the installed definitions are the program's; without, the built-in ones are.
    Types::of_program(distribution.name(), &installed, raw::CALLS_ARE_JSON)
}

/// Starts the node of a machine in `namespace`.
///
/// # Errors
/// An error of the middleware; frames that cannot be found.
pub fn start(
    context: &Context,
    namespace: &str,
    interface: Interface,
    types: &Types,
    place: Place,
) -> Result<MachineNode, MachineError> {
    let Interface { plan, publications, subscriptions, services, velocity, motor_power, mut standard } =
        interface;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let clock = tasks.node().get_ros_clock();
    let conversation = Conversation::new(Arc::clone(&plan)).map_err(MachineError::Frames)?;
    standard.open(tasks.node())?;
    let mut topics = Vec::new();
    for publication in publications {
        let qos = publication.qos.clone();
        let publisher = raw::create_publisher(tasks.node(), &publication.topic, &publication.kind, qos)?;
        topics.push((publication, publisher));
    }
    let services = Arc::new(services);
    let (first, answered) = FirstAnswer::new();
    let refusals = Refusals::default();
    let outputs = Outputs {
        publications: topics,
        standard,
        services: Arc::clone(&services),
        waiting: BTreeMap::new(),
        first,
        refusals: refusals.clone(),
        trouble: None,
    };
    let failure = Some("it has not been opened yet".to_owned());
    let inner = Inner {
        conversation,
        outputs,
        failure,
        is_closing: false,
        is_sending: false,
        again: None,
        heard_before: 0,
        reported: BTreeSet::new(),
        unanswered: BTreeSet::new(),
    };
    let shared =
        Arc::new(Shared { inner: Mutex::new(inner), wake: Notify::new(), clock, plan: Arc::clone(&plan) });

    for (number, subscription) in subscriptions.into_iter().enumerate() {
        let (shared, refusals) = (Arc::clone(&shared), refusals.clone());
        let mut messages =
            raw::subscribe(tasks.node(), &subscription.topic, &subscription.kind, subscription.qos.clone())?;
        tasks.spawn(async move {
            while let Some(message) = messages.next().await {
                let command = &subscription.command;
                let sent = json::from_cdr(&command.structure, &message.data)
                    .map_err(|error| error.to_string())
                    .and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()))
                    .and_then(|value| {
                        let lookup = command.lookup(&value);
                        shared
                            .command(number + 1, &command.outgoing, &lookup, command.timeout, command.state)
                            .map_err(|refusal| refusal.to_string())
                    });
                if let Err(reason) = sent {
                    refusals.note(&format_args!("{}: {reason}", subscription.topic));
                }
            }
        });
    }
    if let Some(limits) = velocity {
        let (shared, refusals) = (Arc::clone(&shared), refusals.clone());
        let limits = Arc::new(limits);
        let handle = move |twist: Twist| {
            let velocities = [twist.linear.x, twist.linear.y, twist.angular.z];
            // What stands still needs no end.
            let timeout = (velocities != [0.0; 3]).then_some(limits.timeout);
            let sent = limits
                .limited(velocities)
                .map_err(Refusal::Values)
                .and_then(|limited| shared.command(0, &limits.outgoing, &limited, timeout, limits.state));
            if let Err(reason) = sent {
                refusals.note(&format_args!("cmd_vel: {reason}"));
            }
        };
        // Of queued velocities only the last counts.
        let newest = QosProfile::default().keep_last(1);
        velocity::subscribe(&mut tasks, &velocity::VelocityParameters::default(), "cmd_vel", newest, handle)?;
    }
    for number in 0..services.len() {
        services::serve(&mut tasks, types, &services, number, MAX_REQUESTS, {
            let shared = Arc::clone(&shared);
            move |services: &Arc<Vec<Service>>, request| shared.ask(services, number, &request)
        })?;
    }
    if !plan.stop.is_empty() {
        let shared = Arc::clone(&shared);
        tasks.serve::<Trigger::Service>("stop", move |_request| match shared.stop() {
            Ok(()) => Trigger::Response { success: true, message: "the stop is sent".to_owned() },
            Err(refusal) => Trigger::Response { success: false, message: refusal.to_string() },
        })?;
    }
    if let Some(messages) = motor_power {
        let shared = Arc::clone(&shared);
        tasks.serve::<SetBool::Service>("set_motor_power", move |request| {
            let [on, off] = &messages;
            let outgoing = if request.data { on } else { off };
            match shared.command(usize::MAX, outgoing, &super::plan::Missing, None, None) {
                Ok(()) => SetBool::Response {
                    success: true,
                    message: if request.data { "motors on" } else { "motors off" }.to_owned(),
                },
                Err(refusal) => SetBool::Response { success: false, message: refusal.to_string() },
            }
        })?;
    }
    report(&mut tasks, &shared, &place)?;
    tasks.spawn(link::run(Arc::clone(&shared), place));
    let stop = async move {
        shared.stop_at_the_end();
        let sent = async {
            while shared.is_stopping() {
                dragoman_time::sleep(STOP_STEP).await;
            }
        };
        if dragoman_time::timeout(STOP_TIME, sent).await.is_err() {
            tracing::warn!("the machine could not be stopped in time");
        }
        shared.close();
    };
    Ok(MachineNode { client: ClientNode { node: tasks.start()?, answered }, stop: stop.boxed() })
}

/// Publishes `/diagnostics`.
fn report(tasks: &mut NodeTasks, shared: &Arc<Shared>, place: &Place) -> dragoman_ros::Result<()> {
    let title = shared.plan.codec().protocol().title.clone();
    let mut diagnostics = Diagnostics::new(tasks.node(), &shared.plan.codec().protocol().name, &title)?;
    let (shared, place) = (Arc::clone(shared), place.to_string());
    let mut before = 0;
    tasks.every(REPORT_PERIOD, move || {
        let mut inner = shared.inner.lock();
        let statistics = inner.conversation.statistics();
        let (refused, refusal) = inner.outputs.refusals.take();
        let wrong = statistics.wrong + statistics.left_out + statistics.no_value;
        let is_garbled = std::mem::replace(&mut before, wrong) < wrong;
        let reason = inner.conversation.take_reason();
        let trouble = inner.outputs.trouble.take();
        if let Some(reason) = reason.as_ref().filter(|_| is_garbled) {
            // Each kind of mistake once: what is before the bytes.
            let kind = reason.split(':').next().unwrap_or_default().to_owned();
            if inner.reported.len() < MAX_REPORTED && inner.reported.insert(kind) {
                tracing::warn!(reason, "received what is no message");
            }
        }
        let state = inner.conversation.state().map(|(name, is_fault)| (name.to_owned(), is_fault));
        let (severity, message) = if let Some(failure) = &inner.failure {
            (Severity::Error, format!("no link: {failure}"))
        } else if let Some((name, true)) = &state {
            (Severity::Error, format!("the machine is in state {name}"))
        } else if inner.conversation.is_silent() {
            (Severity::Stale, "the machine is silent".to_owned())
        } else if !inner.conversation.is_ready() {
            (Severity::Warn, "the machine is being started".to_owned())
        } else if let Some(refusal) = refusal {
            (Severity::Warn, format!("refused: {refusal}"))
        } else if let Some(trouble) = trouble {
            (Severity::Warn, trouble)
        } else if is_garbled {
            (
                Severity::Warn,
                reason
                    .map_or("bytes that are no message".to_owned(), |reason| format!("no message: {reason}")),
            )
        } else {
            (Severity::Ok, "running".to_owned())
        };
        drop(inner);
        let mut values = vec![("link", place.clone()), ("commands refused", refused.to_string())];
        values.extend(state.map(|(name, _)| ("state", name)));
        values.extend(figures(&statistics));
        diagnostics.publish(severity, &message, &values);
    })
}

fn figures(statistics: &Statistics) -> Vec<(&'static str, String)> {
    let Statistics { received, sent, wrong, left_out, unanswered, unexpected, repeated, expired, no_value } =
        statistics;
    [
        ("messages received", received),
        ("messages sent", sent),
        ("frames that are no message", wrong),
        ("bytes outside of frames", left_out),
        ("questions without an answer", unanswered),
        ("answers late or twice", unexpected),
        ("questions repeated", repeated),
        ("commands expired", expired),
        ("values that do not exist", no_value),
    ]
    .map(|(name, count)| (name, count.to_string()))
    .to_vec()
}

impl Shared {
    fn with<R>(&self, action: impl FnOnce(Duration, &mut Inner) -> R) -> R {
        let mut inner = self.inner.lock();
        action(clock::now(), &mut inner)
    }

    /// Delay before a lost link is opened again: the first, and the longest.
    pub(crate) fn reconnect(&self) -> [Duration; 2] {
        self.plan.reconnect
    }

    pub(crate) fn connected(&self) {
        self.with(|now, inner| {
            inner.failure = None;
            inner.heard_before = inner.conversation.statistics().received;
            inner.unanswered.clear();
            inner.conversation.handle_connected(now);
        });
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.with(|_, inner| inner.failure.is_none())
    }

    /// As [`connected`](Self::connected), unless the link is there; whether it was not.
    pub(crate) fn connected_again(&self) -> bool {
        let was_lost = !self.is_connected();
        if was_lost {
            self.connected();
        }
        was_lost
    }

    /// Whether the machine has said anything since the link was opened.
    pub(crate) fn was_heard(&self) -> bool {
        self.with(|_, inner| inner.conversation.statistics().received > inner.heard_before)
    }

    pub(crate) fn lost(&self, failure: String) {
        self.with(|_, inner| {
            inner.failure = Some(failure);
            inner.again = None;
            inner.conversation.handle_disconnected();
            inner.outputs.standard.reset();
            inner.handle_events();
        });
    }

    pub(crate) fn next_frame(&self) -> Option<OutgoingFrame> {
        self.with(|now, inner| {
            // A stop passes what the bus did not take.
            let is_stopping = inner.conversation.is_stopping();
            let again = inner.again.take().filter(|again| again.is_stop || !is_stopping);
            let frame = again.or_else(|| inner.conversation.poll_transmit(now));
            inner.is_sending = frame.is_some();
            frame
        })
    }

    /// The bus did not take a frame.
    pub(crate) fn send_again(&self, frame: OutgoingFrame) {
        self.with(|_, inner| inner.again = Some(frame));
    }

    /// Takes received bytes; whether there was a message.
    pub(crate) fn handle_bytes(&self, bytes: &[u8], is_datagram: bool) -> bool {
        let stamp = times::now(&self.clock);
        self.with(|now, inner| {
            let before = inner.conversation.statistics().received;
            if is_datagram {
                inner.conversation.handle_datagram(now, bytes);
            } else {
                inner.conversation.handle_bytes(now, bytes);
            }
            inner.handle_messages(now, stamp);
            // A machine that never pauses does not hold up what is due.
            inner.conversation.handle_timeout(now);
            inner.handle_events();
            inner.conversation.statistics().received > before
        })
    }

    /// Takes a frame of a CAN bus, whose message has one of these codes.
    pub(crate) fn handle_frame(&self, mut codes: impl Iterator<Item = u64>, data: &[u8]) {
        let stamp = times::now(&self.clock);
        self.with(|now, inner| {
            if let Some(heard) = codes.find_map(|code| inner.conversation.handle_frame(now, code, data)) {
                inner.heard(heard, stamp);
            }
        });
    }

    pub(crate) fn handle_timeout(&self) {
        let stamp = times::now(&self.clock);
        self.with(|now, inner| {
            inner.conversation.handle_timeout(now);
            // A silence may be the end of a frame.
            inner.handle_messages(now, stamp);
            inner.handle_events();
        });
    }

    pub(crate) fn handle_events(&self) {
        self.with(|_, inner| inner.handle_events());
    }

    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.with(|_, inner| inner.conversation.poll_timeout())
    }

    /// Resolves when there is something to send.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.with(|_, inner| inner.is_closing)
    }

    /// Whether a stop waits to be sent.
    pub(crate) fn is_stopping(&self) -> bool {
        self.with(|_, inner| {
            let waits = inner.again.as_ref().is_some_and(|again| again.is_stop);
            inner.conversation.is_stopping() || waits || inner.is_closing && inner.is_sending
        })
    }

    /// Closes the link once a stop that waits is sent.
    pub(crate) fn close(&self) {
        self.with(|_, inner| inner.is_closing = true);
        self.wake.notify_one();
    }

    fn stop_at_the_end(&self) {
        self.with(|_, inner| {
            // From now on no command is taken.
            inner.is_closing = true;
            if inner.conversation.has_moved() {
                // Without a link there is nothing to stop.
                let _ = inner.conversation.stop();
            }
        });
        self.wake.notify_one();
    }

    fn stop(&self) -> Result<(), Refusal> {
        let stopped = self.with(|_, inner| inner.conversation.stop());
        self.wake.notify_one();
        stopped
    }

    /// Sends a command of a topic.
    fn command(
        &self,
        output: usize,
        outgoing: &Outgoing,
        lookup: &dyn Lookup,
        timeout: Option<Duration>,
        state: Option<usize>,
    ) -> Result<(), Refusal> {
        let sent = self.with(|now, inner| {
            inner.admit(state)?;
            let prepared = inner.conversation.prepare(outgoing, lookup)?;
            inner.conversation.command(now, output, prepared, timeout, state)
        });
        self.wake.notify_one();
        sent
    }

    /// Asks the machine for a service; resolves with the response.
    fn ask(&self, services: &[Service], number: usize, request: &Value) -> BoxFuture<'static, Value> {
        let Some(service) = services.get(number) else { return futures::future::ready(Value::Null).boxed() };
        let command = &service.command;
        let asked = self.with(|now, inner| {
            inner.admit(command.state)?;
            let prepared = inner.conversation.prepare(&command.outgoing, &command.lookup(request))?;
            let ticket = inner.conversation.ask(now, prepared, command.timeout, command.state)?;
            let (sender, response) = oneshot::channel();
            inner.outputs.waiting.insert(ticket, (number, sender));
            Ok::<_, Refusal>(response)
        });
        match asked {
            Ok(response) => {
                self.wake.notify_one();
                let ended = service.response(Err("the machine's node has ended".to_owned()));
                response.map(move |response| response.unwrap_or(ended)).boxed()
            }
            Err(refusal) => {
                let reason = format!("{}: {refusal}", service.name);
                self.with(|_, inner| inner.outputs.refusals.note(&reason));
                futures::future::ready(service.response(Err(refusal.to_string()))).boxed()
            }
        }
    }
}

impl Inner {
    /// Whether commands are possible, in this state if it is given.
    fn admit(&self, state: Option<usize>) -> Result<(), Refusal> {
        if self.is_closing { Err(Refusal::NotConnected) } else { self.conversation.admit(state) }
    }

    fn handle_messages(&mut self, now: Duration, stamp: Duration) {
        while let Some(heard) = self.conversation.next_message(now) {
            self.heard(heard, stamp);
        }
    }

    /// A message of the machine.
    fn heard(&mut self, Heard { message, ticket }: Heard, stamp: Duration) {
        let Self { conversation, outputs, .. } = self;
        outputs.first.arrived();
        let plan = Arc::clone(conversation.plan());
        let values = conversation.values();
        if let Some((number, sender)) = ticket.and_then(|ticket| outputs.waiting.remove(&ticket))
            && let Some(service) = outputs.services.get(number)
        {
            // Who has asked may be gone.
            let _ = sender.send(service.answered(plan.codec(), Some((message, values))));
        }
        if let Err(reason) = outputs.publish(&plan, message, values, stamp) {
            conversation.note_no_value();
            outputs.trouble = Some(reason);
        }
        self.handle_events();
    }

    fn handle_events(&mut self) {
        while let Some(event) = self.conversation.poll_event() {
            match event {
                Event::Ready => tracing::debug!("the start is over"),
                Event::Sent(ticket) => {
                    let codec = Arc::clone(self.conversation.plan().codec());
                    self.outputs.respond(ticket, |service| service.answered(&codec, None));
                }
                Event::Failed(ticket, reason) => {
                    self.outputs.respond(ticket, |service| service.response(Err(reason)));
                }
                Event::NotAnswered(name) => {
                    // Each question once per link: a machine that is off answers none of them.
                    if self.unanswered.insert(name.clone()) {
                        tracing::warn!(question = name, "the machine does not answer");
                    }
                }
                Event::Refused(name, reason) => {
                    tracing::warn!(question = name, reason, "the machine refuses");
                }
                Event::Expired => tracing::warn!("command timed out; stopping the machine"),
                Event::Silent => tracing::warn!("the machine is silent"),
                Event::Heard => tracing::info!("the machine is heard again"),
                Event::State { name, is_fault: true } => {
                    tracing::warn!(state = name, "the machine has a fault")
                }
                Event::State { name, .. } => {
                    tracing::info!(state = name, "the state of the machine has changed")
                }
            }
        }
    }
}

impl Outputs {
    fn respond(&mut self, ticket: Ticket, response: impl FnOnce(&Service) -> Value) {
        if let Some((number, sender)) = self.waiting.remove(&ticket)
            && let Some(service) = self.services.get(number)
        {
            let _ = sender.send(response(service));
        }
    }

    fn publish(
        &mut self,
        plan: &Plan,
        message: MessageId,
        values: &Values,
        stamp: Duration,
    ) -> Result<(), String> {
        let codec = plan.codec();
        let mut result = self.standard.publish(codec, message, values, stamp);
        for (publication, publisher) in self.publications.iter().filter(|(one, _)| one.from == message) {
            let published = match publication.to.message(codec, message, values, stamp) {
                Ok(Some(data)) => publisher.publish(&data).map_err(|error| error.to_string()),
                Ok(None) => Ok(()),
                Err(reason) => Err(reason),
            };
            let place = |reason| format!("{}: {reason}", publication.topic);
            result = result.and(published.map_err(place));
        }
        result
    }
}
