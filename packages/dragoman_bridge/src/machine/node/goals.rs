//! The goals that the machine is carrying out, one of each action.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, MessageId, Values};
use futures::channel::{mpsc, oneshot};
use serde_json::{Map, Value};

use crate::machine::conversation::{Conversation, Refusal, Ticket};
use crate::machine::interface::{Action, Ended, Failure};
use crate::machine::plan::Plan;

/// Feedback that waits to be published.
const FEEDBACK_LEN: usize = 16;

/// The goals that are being carried out.
pub(super) struct Goals {
    pub(super) actions: Arc<Vec<Action>>,
    /// By the places of their actions.
    running: BTreeMap<usize, Running>,
    started: u64,
    /// How often the machine had been stopped when this was seen last.
    stops: u64,
}

struct Running {
    id: GoalId,
    phase: Phase,
    deadline: Duration,
    feedback: mpsc::Sender<Value>,
    ended: oneshot::Sender<Ended>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Its message is to be sent, or to be answered.
    Asked(Ticket),
    /// Messages may end it from this time on.
    Active(Duration),
    /// It is being ended on request.
    Canceling(Ticket),
}

/// A goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GoalId {
    action: usize,
    number: u64,
}

/// What a running goal says.
pub(super) struct Reports {
    pub(super) id: GoalId,
    pub(super) feedback: mpsc::Receiver<Value>,
    pub(super) ended: oneshot::Receiver<Ended>,
}

impl Goals {
    pub(super) fn new(actions: Arc<Vec<Action>>) -> Self {
        Self { actions, running: BTreeMap::new(), started: 0, stops: 0 }
    }

    /// Sends a goal; another one of its action ends.
    ///
    /// # Errors
    /// There is no link, or a value is not possible.
    pub(super) fn start(
        &mut self,
        conversation: &mut Conversation,
        now: Duration,
        number: usize,
        goal: &Value,
    ) -> Result<Reports, Refusal> {
        let actions = Arc::clone(&self.actions);
        let none = || Refusal::Values("there is no such action".to_owned());
        let action = actions.get(number).ok_or_else(none)?;
        let command = &action.command;
        // What was stopped before has nothing to do with this goal.
        self.handle_stops(conversation);
        conversation.admit(command.state)?;
        let prepared = conversation.prepare(&command.outgoing, &command.lookup(goal))?;
        if let Some(Running { phase: Phase::Asked(ticket), .. }) = self.running.get(&number) {
            conversation.withdraw(*ticket);
        }
        let ticket = conversation.ask(now, prepared, command.timeout, command.state)?;
        self.started += 1;
        let id = GoalId { action: number, number: self.started };
        let (feedback, feedbacks) = mpsc::channel(FEEDBACK_LEN);
        let (ended, end) = oneshot::channel();
        let deadline = now + action.timeout;
        let running = Running { id, phase: Phase::Asked(ticket), deadline, feedback, ended };
        if let Some(older) = self.running.insert(number, running) {
            // Its motion goes over into the new one.
            let _ = older.ended.send(action.failed(Map::new(), "another goal has come"));
        }
        Ok(Reports { id, feedback: feedbacks, ended: end })
    }

    /// Ends a goal on request: what it moves is stopped.
    pub(super) fn cancel(&mut self, conversation: &mut Conversation, id: GoalId) {
        let actions = Arc::clone(&self.actions);
        let Some(action) = actions.get(id.action) else { return };
        let Some(running) = self.running.get_mut(&id.action).filter(|running| running.id == id) else {
            return;
        };
        match running.phase {
            Phase::Canceling(_) => return,
            Phase::Asked(ticket) => conversation.withdraw(ticket),
            Phase::Active(_) => {}
        }
        let moves = action.command.timeout.is_some();
        if action.cancel.is_empty() && !moves {
            self.end(conversation, id.action, Ended::Canceled);
            return;
        }
        let canceled = if action.cancel.is_empty() {
            conversation.stop_with_outcome()
        } else {
            conversation.cancel(action.command.outgoing.message, &action.cancel)
        };
        match canceled {
            Ok(ticket) => running.phase = Phase::Canceling(ticket),
            Err(refusal) => {
                let failed = action.failed(Map::new(), &refusal.to_string());
                self.end(conversation, id.action, failed);
            }
        }
    }

    /// The machine has answered a question, or the message without an answer was sent; whether it is a goal's.
    pub(super) fn answered(
        &mut self,
        conversation: &mut Conversation,
        now: Duration,
        ticket: Ticket,
        outcome: &Outcome<'_>,
    ) -> bool {
        let actions = Arc::clone(&self.actions);
        let found = self.running.iter_mut().find(|(_, running)| running.phase.ticket() == Some(ticket));
        let Some((&number, running)) = found else { return false };
        let Some(action) = actions.get(number) else { return false };
        if let Phase::Canceling(_) = running.phase {
            if let Outcome::Failed(reason) = outcome {
                tracing::warn!(action = action.name, reason, "ending a goal on request failed");
            }
            self.end(conversation, number, Ended::Canceled);
            return true;
        }
        let refused = match outcome {
            Outcome::Sent => None,
            Outcome::Answered(codec, message, values) => {
                Failure::check(action.fails.as_ref(), codec, *message, values).err()
            }
            Outcome::Failed(reason) => Some((*reason).to_owned()),
        };
        match refused {
            None => running.phase = Phase::Active(now + action.settle),
            Some(reason) => self.fail(conversation, number, &reason),
        }
        true
    }

    /// A message of the machine: feedback, and the end of goals.
    pub(super) fn heard(
        &mut self,
        conversation: &mut Conversation,
        now: Duration,
        plan: &Plan,
        message: MessageId,
        values: &Values,
    ) {
        let (actions, codec) = (Arc::clone(&self.actions), plan.codec());
        for (number, action) in actions.iter().enumerate() {
            let Some(running) = self.running.get_mut(&number) else { continue };
            let Phase::Active(from) = running.phase else { continue };
            if let Some((from, to)) = &action.feedback
                && *from == message
                && let Some(Ok(feedback)) = to.fields(codec, message, values)
            {
                // A client that does not keep up gets less.
                let _ = running.feedback.try_send(Value::Object(feedback));
            }
            if now < from {
                continue;
            }
            match action.ended(codec, message, values) {
                None => {}
                Some(failed @ Ended::Failed(_)) => {
                    self.end(conversation, number, failed);
                    self.stop(conversation, action);
                }
                Some(ended) => self.end(conversation, number, ended),
            }
        }
    }

    /// Ends goals whose time is over, and those that moved what was stopped.
    pub(super) fn handle_timeout(&mut self, conversation: &mut Conversation, now: Duration) {
        let late = |(number, running): (&usize, &Running)| (now >= running.deadline).then_some(*number);
        let late: Vec<usize> = self.running.iter().filter_map(late).collect();
        for number in late {
            let timeout = self.actions.get(number).map(|action| action.timeout.as_secs_f64());
            self.fail(conversation, number, &format!("not done within {} s", timeout.unwrap_or_default()));
        }
    }

    /// Ends the goals that moved what was stopped since this was called last.
    pub(super) fn handle_stops(&mut self, conversation: &mut Conversation) {
        let stops = conversation.stops();
        if std::mem::replace(&mut self.stops, stops) == stops {
            return;
        }
        let actions = Arc::clone(&self.actions);
        for (number, action) in actions.iter().enumerate() {
            let is_moving = self.running.get(&number).is_some_and(|running| {
                action.command.timeout.is_some() && !matches!(running.phase, Phase::Canceling(_))
            });
            if is_moving {
                self.end(conversation, number, action.failed(Map::new(), "the machine was stopped"));
            }
        }
    }

    /// The link is lost.
    pub(super) fn lost(&mut self, conversation: &mut Conversation) {
        let actions = Arc::clone(&self.actions);
        for (number, action) in actions.iter().enumerate() {
            if self.running.contains_key(&number) {
                let reason = "the connection to the machine is lost";
                self.end(conversation, number, action.failed(Map::new(), reason));
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called.
    pub(super) fn poll_timeout(&self) -> Option<Duration> {
        self.running.values().map(|running| running.deadline).min()
    }

    /// A goal has failed: what it moves is stopped.
    fn fail(&mut self, conversation: &mut Conversation, number: usize, reason: &str) {
        let actions = Arc::clone(&self.actions);
        let Some(action) = actions.get(number) else { return };
        let failed = match self.running.get(&number).map(|running| running.phase) {
            Some(Phase::Canceling(_)) => Ended::Canceled,
            _ => action.failed(Map::new(), reason),
        };
        self.end(conversation, number, failed);
        self.stop(conversation, action);
    }

    fn stop(&mut self, conversation: &mut Conversation, action: &Action) {
        if action.command.timeout.is_some() {
            // Without a link there is nothing to stop.
            let _ = conversation.stop();
        }
    }

    fn end(&mut self, conversation: &mut Conversation, number: usize, ended: Ended) {
        let Some(running) = self.running.remove(&number) else { return };
        if let Some(action) = self.actions.get(number) {
            conversation.motion_ended(action.command.outgoing.message);
        }
        // Who has asked may be gone.
        let _ = running.ended.send(ended);
    }
}

/// What has become of a question.
pub(super) enum Outcome<'a> {
    /// It was sent; nothing answers it.
    Sent,
    /// The machine has answered.
    Answered(&'a Codec, MessageId, &'a Values),
    /// It was not answered, or not sent, or the machine has refused.
    Failed(&'a str),
}

impl Phase {
    fn ticket(self) -> Option<Ticket> {
        match self {
            Self::Asked(ticket) | Self::Canceling(ticket) => Some(ticket),
            Self::Active(_) => None,
        }
    }
}
