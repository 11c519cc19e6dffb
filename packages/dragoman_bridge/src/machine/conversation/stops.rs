//! Motions and their end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::MessageId;

use super::{Conversation, Event, Kind, LinkState, Queued, Refusal, Ticket};
use crate::machine::outgoing::Outgoing;
use crate::machine::plan::Missing;

const STOPPED: &str = "the machine was stopped before";

impl Conversation {
    pub(super) fn moves(&mut self, now: Duration, message: usize, timeout: Option<Duration>) {
        if let Some(timeout) = timeout {
            self.moving.insert(message, now + timeout);
            self.has_moved = true;
        }
    }

    /// Stops the machine: before everything that waits. Commands that wait are not sent any more.
    ///
    /// # Errors
    /// There is no link, or no message that stops the machine.
    pub fn stop(&mut self) -> Result<(), Refusal> {
        if self.link == LinkState::Down {
            return Err(Refusal::NotConnected);
        }
        if self.plan.stop.is_empty() {
            return Err(Refusal::Values(
                "the description names no message that stops the machine".to_owned(),
            ));
        }
        let plan = Arc::clone(&self.plan);
        let stop = self.halts(&plan.stop)?;
        for ticket in std::mem::replace(&mut self.urgent, stop).iter().filter_map(Queued::ticket) {
            self.event(Event::Failed(ticket, STOPPED.to_owned()));
        }
        self.stops += 1;
        self.moving.clear();
        self.drop_waiting(|queued| queued.moves, STOPPED);
        Ok(())
    }

    /// As [`stop`](Self::stop); its outcome comes with the ticket.
    ///
    /// # Errors
    /// As there.
    pub fn stop_with_outcome(&mut self) -> Result<Ticket, Refusal> {
        self.stop()?;
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        if let Some(last) = self.urgent.back_mut() {
            last.kind = Kind::Cancel(ticket);
        }
        Ok(ticket)
    }

    fn halts(&mut self, messages: &[Outgoing]) -> Result<VecDeque<Queued>, Refusal> {
        let halt = |outgoing| {
            let prepared = self.prepare(outgoing, &Missing)?;
            Ok::<_, Refusal>(Queued { kind: Kind::Stop, prepared, tries: 0, moves: false, state: None })
        };
        messages.iter().map(halt).collect()
    }

    /// Ends one motion, that of `message`, with messages that pass all others. Their outcome comes with the ticket.
    ///
    /// # Errors
    /// There is no link; a message has no values.
    pub fn cancel(&mut self, message: MessageId, messages: &[Outgoing]) -> Result<Ticket, Refusal> {
        if self.link == LinkState::Down {
            return Err(Refusal::NotConnected);
        }
        let mut halts = self.halts(messages)?;
        let last = halts.back_mut().ok_or_else(|| Refusal::Values("no message ends it".to_owned()))?;
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        last.kind = Kind::Cancel(ticket);
        self.urgent.append(&mut halts);
        self.moving.remove(&message.number);
        Ok(ticket)
    }

    /// A motion has ended by itself.
    pub fn motion_ended(&mut self, message: MessageId) {
        self.moving.remove(&message.number);
    }

    /// A question that was not sent yet is not sent any more, and has no outcome.
    pub fn withdraw(&mut self, ticket: Ticket) {
        self.queue.retain(|queued| queued.ticket() != Some(ticket));
    }

    /// How often the machine was stopped as a whole.
    pub fn stops(&self) -> u64 {
        self.stops
    }

    /// Whether a stop waits to be sent.
    pub fn is_stopping(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// Whether the machine has been moved since the link is there, so that it must be stopped at the end.
    pub fn has_moved(&self) -> bool {
        self.has_moved
    }
}
