//! The conversation of a machine, and where its messages go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{MessageId, Values};
use dragoman_ros::diagnostics::Refusals;
use dragoman_ros::raw;
use futures::channel::oneshot;
use serde_json::Value;

use super::goals::{Goals, Outcome};
use crate::client_node::FirstAnswer;
use crate::clock;
use crate::machine::conversation::{Conversation, Event, Heard, Refusal, Ticket};
use crate::machine::interface::{Failure, Publication, Service, Switch};
use crate::machine::outbox::Outbox;
use crate::machine::outgoing::OutgoingFrame;
use crate::machine::plan::Plan;
use crate::machine::standard::Standard;

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
    /// Requests that wait for the machine.
    pub(super) waiting: BTreeMap<Ticket, Waiting>,
    pub(super) goals: Goals,
    /// What is to be published.
    pub(super) out: Outbox,
    pub(super) first: FirstAnswer,
    pub(super) refusals: Refusals,
    /// Why the last message could not be published.
    pub(super) trouble: Option<String>,
}

/// Who waits for an answer of the machine.
pub(super) enum Waiting {
    /// A request of the service of this number.
    Service(usize, oneshot::Sender<Value>),
    /// A caller that has switched something.
    Switch(Arc<Switch>, oneshot::Sender<Result<(), String>>),
}

impl Inner {
    /// Whether commands are possible, in this state if it is given.
    pub(super) fn admit(&self, state: Option<usize>) -> Result<(), Refusal> {
        if self.is_closing { Err(Refusal::NotConnected) } else { self.conversation.admit(state) }
    }

    pub(super) fn handle_messages(&mut self, now: Duration, stamp: Duration) {
        while let Some(heard) = self.conversation.next_message(now) {
            self.heard(now, heard, stamp);
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Duration) {
        // First what knows why a motion ends.
        self.outputs.goals.handle_timeout(&mut self.conversation, now);
        self.conversation.handle_timeout(now);
    }

    pub(super) fn lost_goals(&mut self) {
        self.outputs.goals.lost(&mut self.conversation);
    }

    /// A message of the machine.
    pub(super) fn heard(&mut self, now: Duration, Heard { message, ticket }: Heard, stamp: Duration) {
        self.outputs.first.arrived();
        let plan = Arc::clone(self.conversation.plan());
        let values = self.conversation.take_values();
        if let Some(ticket) = ticket {
            self.resolve(now, ticket, &Outcome::Answered(plan.codec(), message, &values));
        }
        self.outputs.goals.heard(&mut self.conversation, now, &plan, message, &values);
        if let Err(reason) = self.outputs.publish(&plan, message, &values, stamp) {
            self.conversation.note_no_value();
            self.outputs.trouble = Some(reason);
        }
        self.conversation.return_values(values);
        self.handle_events();
    }

    /// Passes an outcome to the caller.
    fn resolve(&mut self, now: Duration, ticket: Ticket, outcome: &Outcome<'_>) {
        let Self { conversation, outputs, .. } = self;
        if outputs.goals.answered(conversation, now, ticket, outcome) {
            return;
        }
        // Who has asked may be gone.
        match outputs.waiting.remove(&ticket) {
            None => {}
            Some(Waiting::Service(number, sender)) => {
                let Some(service) = outputs.services.get(number) else { return };
                let _ = sender.send(match outcome {
                    Outcome::Sent => service.answered(conversation.plan().codec(), None),
                    Outcome::Answered(codec, message, values) => {
                        service.answered(codec, Some((*message, *values)))
                    }
                    Outcome::Failed(reason) => service.response(Err((*reason).to_owned())),
                });
            }
            Some(Waiting::Switch(switch, sender)) => {
                let _ = sender.send(match outcome {
                    Outcome::Sent => Ok(()),
                    Outcome::Answered(codec, message, values) => {
                        Failure::check(switch.fails.as_ref(), codec, *message, values)
                    }
                    Outcome::Failed(reason) => Err((*reason).to_owned()),
                });
            }
        }
    }

    pub(super) fn handle_events(&mut self) {
        self.outputs.goals.handle_stops(&mut self.conversation);
        while let Some(event) = self.conversation.poll_event() {
            match event {
                Event::Ready => tracing::debug!("the start is over"),
                Event::Sent(ticket) => self.resolve(clock::now(), ticket, &Outcome::Sent),
                Event::Failed(ticket, reason) => {
                    self.resolve(clock::now(), ticket, &Outcome::Failed(&reason));
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
                Event::Silent => {
                    tracing::warn!("the machine is silent");
                    // It may have been off: its counters begin again then.
                    self.outputs.standard.reset();
                }
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
    /// Puts `prefix` in front of the frames of all messages.
    pub(super) fn prefix_frames(&mut self, prefix: &str) {
        self.standard.prefix_frames(prefix);
        self.publications.iter_mut().for_each(|(publication, _)| publication.to.prefix_frames(prefix));
    }

    fn publish(
        &mut self,
        plan: &Plan,
        message: MessageId,
        values: &Values,
        stamp: Duration,
    ) -> Result<(), String> {
        let codec = plan.codec();
        let out = &mut self.out;
        let mut result = self.standard.publish(codec, message, values, stamp, out);
        let due = |one: &Publication| one.from == message && one.period.is_over(stamp);
        for (publication, publisher) in self.publications.iter_mut().filter(|(one, _)| due(one)) {
            match publication.to.message(codec, message, values, stamp) {
                Ok(Some(data)) => {
                    out.send_raw(&publication.topic, publisher, data);
                    publication.period.begins(stamp);
                }
                Ok(None) => {}
                Err(reason) => result = result.and(Err(format!("{}: {reason}", publication.topic))),
            }
        }
        result
    }
}
