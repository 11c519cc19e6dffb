//! The states of a machine.

use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::MessageId;

use super::{Conversation, Event, Kind, LinkState};
use crate::machine::term::Message;

impl Conversation {
    /// Follows the changes of state to which a message leads.
    pub(super) fn change_state(&mut self, now: Duration, message: MessageId) {
        let plan = Arc::clone(&self.plan);
        let Some(state) = plan.states.get(self.state) else { return };
        let values = &self.values;
        let change = state.next.iter().find(|change| {
            change.from == Some(message)
                && change.when.as_ref().is_none_or(|term| {
                    term.is_true(&Message { codec: &plan.codec, message, values, paths: &change.paths })
                })
        });
        if let Some(change) = change {
            self.enter(now, change.to);
        }
    }

    /// Follows the change of state to which silence leads.
    pub(super) fn change_state_silent(&mut self, now: Duration) {
        let plan = Arc::clone(&self.plan);
        let state = plan.states.get(self.state);
        if let Some(change) = state.and_then(|state| state.next.iter().find(|change| change.is_silent)) {
            self.enter(now, change.to);
        }
    }

    pub(super) fn enter(&mut self, now: Duration, state: usize) {
        (self.state, self.entered) = (state, now);
        let plan = Arc::clone(&self.plan);
        let Some(described) = plan.states.get(state) else { return };
        self.event(Event::State { name: described.name.clone(), is_fault: described.is_fault });
        if described.is_fault && !self.moving.is_empty() {
            // What a description names a fault is no time to move; without a stop there is no motion.
            let _ = self.stop();
        }
        // What waits for another state is not sent in this one.
        let is_here = |needed: Option<usize>| needed.is_none_or(|needed| needed == state);
        self.drop_waiting(|queued| !is_here(queued.state), "the machine is in another state now");
        if self.link != LinkState::Up {
            return;
        }
        for (due, every) in self.due.iter_mut().zip(&plan.every) {
            if !is_here(every.state) {
                *due = None;
            } else if due.is_none() {
                *due = Some(now);
            }
        }
        for outgoing in &described.enter {
            self.send_own(Kind::Enter, outgoing, Some(state));
        }
    }
}
