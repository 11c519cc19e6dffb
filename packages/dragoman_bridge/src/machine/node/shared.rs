//! What the link's task and the node's tasks share: the conversation, and where its messages go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{MessageId, Values};
use dragoman_ros::diagnostics::Refusals;
use dragoman_ros::raw;
use dragoman_ros::times::{self, SharedClock};
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

use crate::client_node::FirstAnswer;
use crate::clock;
use crate::machine::conversation::{Conversation, Event, Heard, Refusal, Ticket};
use crate::machine::interface::{Publication, Service};
use crate::machine::outbox::Outbox;
use crate::machine::outgoing::{Outgoing, OutgoingFrame};
use crate::machine::plan::Plan;
use crate::machine::standard::Standard;
use crate::machine::term::Lookup;

/// What the link's task and the node's tasks share.
pub(crate) struct Shared {
    pub(super) inner: Mutex<Inner>,
    pub(super) wake: Notify,
    pub(super) clock: SharedClock,
    pub(super) plan: Arc<Plan>,
}

pub(super) struct Inner {
    pub(super) conversation: Conversation,
    pub(super) outputs: Outputs,
    /// Why the link is not there.
    pub(super) failure: Option<String>,
    pub(super) is_closing: bool,
    /// A frame is being written.
    pub(super) is_sending: bool,
    /// A frame that the bus did not take.
    pub(super) again: Option<OutgoingFrame>,
    /// Messages received when the link was opened.
    pub(super) heard_before: u64,
    /// Kinds of frames that were reported as no messages.
    pub(super) reported: BTreeSet<String>,
    /// Questions that were reported as not answered.
    pub(super) unanswered: BTreeSet<String>,
}

/// Where messages of the machine go.
pub(super) struct Outputs {
    pub(super) publications: Vec<(Publication, raw::Publisher)>,
    pub(super) standard: Standard,
    pub(super) services: Arc<Vec<Service>>,
    /// Requests that wait for the machine: the number of the service, and who waits.
    pub(super) waiting: BTreeMap<Ticket, (usize, oneshot::Sender<Value>)>,
    pub(super) first: FirstAnswer,
    pub(super) refusals: Refusals,
    /// Why the last message could not be published.
    pub(super) trouble: Option<String>,
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

    pub(super) fn stop_at_the_end(&self) {
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

    pub(super) fn stop(&self) -> Result<(), Refusal> {
        let stopped = self.with(|_, inner| inner.conversation.stop());
        self.wake.notify_one();
        stopped
    }

    /// Sends a command of a topic.
    pub(super) fn command(
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
    pub(super) fn ask(
        &self,
        services: &[Service],
        number: usize,
        request: &Value,
    ) -> BoxFuture<'static, Value> {
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
        let mut out = Outbox::default();
        let mut result = self.standard.publish(codec, message, values, stamp, &mut out);
        for (publication, publisher) in self.publications.iter().filter(|(one, _)| one.from == message) {
            match publication.to.message(codec, message, values, stamp) {
                Ok(Some(data)) => out.send_raw(&publication.topic, publisher, data),
                Ok(None) => {}
                Err(reason) => result = result.and(Err(format!("{}: {reason}", publication.topic))),
            }
        }
        result.and(out.publish())
    }
}
