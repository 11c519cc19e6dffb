//! What the link's task and the node's tasks share.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::times::{self, SharedClock};
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

use super::goals::{GoalId, Reports};
use super::inner::{Inner, Waiting};
use crate::clock;
use crate::machine::conversation::{OutputId, Refusal};
use crate::machine::interface::{Action, Service, Switch, Velocity};
use crate::machine::outgoing::{Outgoing, OutgoingFrame};
use crate::machine::plan::{Missing, Plan, Timings};
use crate::machine::term::Lookup;

/// What the link's task and the node's tasks share.
pub(crate) struct Shared {
    pub(super) inner: Mutex<Inner>,
    pub(super) wake: Notify,
    pub(super) clock: SharedClock,
    pub(super) plan: Arc<Plan>,
    /// Messages whose fields need nothing but constants, beside those of the plan.
    pub(super) constant: Vec<Outgoing>,
    pub(super) velocity: Option<Arc<Velocity>>,
}

impl Shared {
    pub(super) fn with<R>(&self, action: impl FnOnce(Duration, &mut Inner) -> R) -> R {
        let mut inner = self.inner.lock();
        action(clock::now(), &mut inner)
    }

    /// As [`with`](Self::with), and publishes what came of it, without holding up commands. Only the link does this, so the
    /// messages keep their order.
    fn publishing<R>(&self, action: impl FnOnce(Duration, &mut Inner) -> R) -> R {
        let (result, out) = self.with(|now, inner| {
            let result = action(now, inner);
            (result, std::mem::take(&mut inner.outputs.out))
        });
        if let Err(reason) = out.publish() {
            self.with(|_, inner| inner.outputs.trouble = Some(reason));
        }
        result
    }

    /// Delay before a lost link is opened again: the first, and the longest.
    pub(crate) fn reconnect(&self) -> [Duration; 2] {
        self.with(|_, inner| inner.conversation.timings().reconnect)
    }

    /// Whether all messages that need no others are possible with these values of the constants.
    pub(super) fn check_constants(&self, values: &[f64]) -> Result<(), String> {
        // While this is locked nothing is computed with them.
        self.with(|_, _inner| {
            let (constants, codec) = (&self.plan.constants, self.plan.codec());
            let before: Vec<f64> = constants.iter().map(|(_, value)| value).collect();
            constants.set(values);
            let check = |outgoing: &Outgoing| {
                let name = self.plan.name_of(outgoing.message);
                outgoing.check(codec).map_err(|reason| format!("{name} would not be possible: {reason}"))
            };
            let result = self.plan.own().chain(&self.constant).try_for_each(check);
            let velocity = self.velocity.as_ref();
            let result = result.and_then(|()| velocity.map_or(Ok(()), |velocity| velocity.check(codec)));
            constants.set(&before);
            result
        })
    }

    /// Changes times, limits and constants, from the next message on.
    pub(super) fn configure(&self, timings: Timings, constants: &[f64]) {
        self.with(|_, inner| {
            self.plan.constants.set(constants);
            inner.conversation.set_timings(timings);
        });
        self.wake.notify_one();
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
            inner.lost_goals();
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
        self.publishing(|now, inner| {
            let before = inner.conversation.statistics().received;
            if is_datagram {
                inner.conversation.handle_datagram(now, bytes);
            } else {
                inner.conversation.handle_bytes(now, bytes);
            }
            inner.handle_messages(now, stamp);
            // A machine that never pauses does not hold up what is due.
            inner.handle_timeout(now);
            inner.handle_events();
            inner.conversation.statistics().received > before
        })
    }

    /// Takes a frame of a CAN bus, whose message has one of these codes.
    pub(crate) fn handle_frame(&self, mut codes: impl Iterator<Item = u64>, data: &[u8]) {
        let stamp = times::now(&self.clock);
        self.publishing(|now, inner| {
            if let Some(heard) = codes.find_map(|code| inner.conversation.handle_frame(now, code, data)) {
                inner.heard(now, heard, stamp);
            }
        });
    }

    pub(crate) fn handle_timeout(&self) {
        let stamp = times::now(&self.clock);
        self.publishing(|now, inner| {
            inner.handle_timeout(now);
            // A silence may be the end of a frame.
            inner.handle_messages(now, stamp);
            inner.handle_events();
        });
    }

    pub(crate) fn handle_events(&self) {
        self.with(|_, inner| inner.handle_events());
    }

    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.with(|_, inner| {
            inner.conversation.poll_timeout().into_iter().chain(inner.outputs.goals.poll_timeout()).min()
        })
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

    /// Sends a command of a topic: each message, unless one of them is not possible.
    pub(super) fn command(
        &self,
        outputs: &[(OutputId, &Outgoing)],
        lookup: &dyn Lookup,
        timeout: Option<Duration>,
        state: Option<usize>,
    ) -> Result<(), Refusal> {
        let sent = self.with(|now, inner| {
            inner.admit(state)?;
            let all = outputs
                .iter()
                .map(|(output, outgoing)| Ok((*output, inner.conversation.prepare(outgoing, lookup)?)));
            for (output, prepared) in all.collect::<Result<Vec<_>, Refusal>>()? {
                inner.conversation.command(now, output, prepared, timeout, state)?;
            }
            Ok(())
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
            inner.outputs.waiting.insert(ticket, Waiting::Service(number, sender));
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

    /// Switches something; resolves when the machine has answered, or when the message is sent if nothing answers it.
    pub(super) fn switch(&self, switch: &Arc<Switch>) -> BoxFuture<'static, Result<(), String>> {
        let asked = self.with(|now, inner| {
            inner.admit(None)?;
            let prepared = inner.conversation.prepare(&switch.outgoing, &Missing)?;
            let ticket = inner.conversation.ask(now, prepared, None, None)?;
            let (sender, outcome) = oneshot::channel();
            inner.outputs.waiting.insert(ticket, Waiting::Switch(Arc::clone(switch), sender));
            Ok::<_, Refusal>(outcome)
        });
        self.wake.notify_one();
        match asked {
            Ok(outcome) => outcome
                .map(|outcome| outcome.unwrap_or_else(|_| Err("the machine's node has ended".to_owned())))
                .boxed(),
            Err(refusal) => futures::future::ready(Err(refusal.to_string())).boxed(),
        }
    }

    /// Whether a goal is possible now.
    pub(super) fn check_goal(&self, action: &Action, goal: &Value) -> Result<(), String> {
        let checked = self.with(|_, inner| {
            inner.admit(action.command.state)?;
            inner.conversation.prepare(&action.command.outgoing, &action.command.lookup(goal)).map(|_| ())
        });
        checked.map_err(|refusal| {
            self.with(|_, inner| inner.outputs.refusals.note(&format_args!("{}: {refusal}", action.name)));
            refusal.to_string()
        })
    }

    /// Sends a goal.
    pub(super) fn start_goal(&self, number: usize, goal: &Value) -> Result<Reports, Refusal> {
        let started = self.with(|now, inner| {
            inner.admit(None)?;
            inner.outputs.goals.start(&mut inner.conversation, now, number, goal)
        });
        self.wake.notify_one();
        started
    }

    /// Ends a goal on request.
    pub(super) fn cancel_goal(&self, id: GoalId) {
        self.with(|_, inner| {
            inner.outputs.goals.cancel(&mut inner.conversation, id);
            inner.handle_events();
        });
        self.wake.notify_one();
    }
}
