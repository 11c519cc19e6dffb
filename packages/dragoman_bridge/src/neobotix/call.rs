//! How a call of one of a platform's services ends. [`Command`](super::wire::Command) is the call itself.

use super::client::Loss;
use super::wire::{DecodeError, EncodeError, Reply};

/// Which call an outcome belongs to. The owner of a core chooses the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was done, and there is nothing to tell.
    Done,
    /// What was asked for.
    Answered(Reply),
    /// Nothing was done, as far as anyone knows.
    Refused(Refusal),
}

/// Why a call was not done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The platform says no, for this reason.
    #[error("{0}")]
    Rejected(String),
    /// A value that the other side has no way to say.
    #[error(transparent)]
    Inexpressible(#[from] Inexpressible),
    /// A message that is too long for the protocol.
    #[error(transparent)]
    TooLong(#[from] EncodeError),
    /// Nobody offers the service, or there is no connection to the platform.
    #[error("the platform is not there")]
    NotConnected,
    /// No answer in time. It may have been done all the same.
    #[error("no answer in time")]
    TimedOut,
    /// Too many calls wait already.
    #[error("too many calls are waiting")]
    Busy,
    /// The connection to the platform ended when the call was under way.
    #[error("the connection to the platform was lost ({0}); the command may have arrived or not")]
    Lost(Loss),
    /// The platform has answered a later question.
    #[error("the platform does not answer this")]
    Unanswered,
    /// The platform's answer is none of the guide's.
    #[error("the answer makes no sense: {0}")]
    Undecodable(DecodeError),
    /// The state that the platform told after the command is none in which it has an effect, or has not become the one that
    /// was asked for.
    #[error("no effect: {0}")]
    NoEffect(String),
}

/// A value that one side can say and the other cannot: not finite, or too large.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field}: {value} cannot be passed on")]
pub struct Inexpressible {
    /// Which value, with its unit.
    pub field: &'static str,
    /// The value.
    pub value: f64,
}
