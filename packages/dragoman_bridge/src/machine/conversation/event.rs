//! What a conversation reports: outcomes, events, counters.

use dragoman_protocol::codec::MessageId;

use super::MAX_QUEUE;

/// Identifies a question of a service until its outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Why a command is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no link.
    #[error("the machine is not connected")]
    NotConnected,
    /// The start is not over.
    #[error("the machine is being started")]
    Starting,
    /// The output is for another state.
    #[error("the machine is in state {is}, not in {needed}")]
    State {
        /// The present state.
        is: String,
        /// The state that is needed.
        needed: String,
    },
    /// Too many messages wait.
    #[error("{MAX_QUEUE} messages wait to be sent")]
    Full,
    /// The values are not possible.
    #[error("{0}")]
    Values(String),
}

/// What has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The start is over.
    Ready,
    /// A question without an answer was sent.
    Sent(Ticket),
    /// A question was not answered, or could not be sent.
    Failed(Ticket, String),
    /// Another question was not answered: its name.
    NotAnswered(String),
    /// The machine has refused another question: its name, and the reason.
    Refused(String, String),
    /// A command was not renewed: the machine was stopped.
    Expired,
    /// The machine has not said anything for a while; if it was moved, it was stopped.
    Silent,
    /// It is not silent any more.
    Heard,
    /// The machine is in another state.
    State {
        /// Its name.
        name: String,
        /// It is a fault.
        is_fault: bool,
    },
}

/// Counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Messages that were received and understood.
    pub received: u64,
    /// Messages that were sent.
    pub sent: u64,
    /// Frames that are no messages.
    pub wrong: u64,
    /// Bytes that belong to no frame.
    pub left_out: u64,
    /// Questions that were not answered in time.
    pub unanswered: u64,
    /// Answers for which no question is open: they are late, or there twice.
    pub unexpected: u64,
    /// Questions that were asked again.
    pub repeated: u64,
    /// Stops because a command was not renewed.
    pub expired: u64,
    /// Values that a term does not have, and messages of the plan that could not be made.
    pub no_value: u64,
}

/// A message that was received, and the question of a service that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// Which message; its values are [`Conversation::values`](super::Conversation::values).
    pub message: MessageId,
    /// The question.
    pub ticket: Option<Ticket>,
}
