//! Outcomes of calls of a platform's services. [`Command`](super::wire::Command) is the call itself.

use super::client::Loss;
use super::wire::{DecodeError, EncodeError, Reply};

/// Outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Success, without data.
    Done,
    /// The answer.
    Answered(Reply),
    /// The call failed.
    Refused(Refusal),
}

impl From<OutOfRange> for Outcome {
    fn from(out_of_range: OutOfRange) -> Self {
        Self::Refused(out_of_range.into())
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The platform refused, with this reason.
    #[error("{0}")]
    Rejected(String),
    /// A value cannot be represented on the other side.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The message is too long for the protocol.
    #[error(transparent)]
    TooLong(#[from] EncodeError),
    /// The service does not exist, or the platform is not connected.
    #[error("the platform is not connected")]
    NotConnected,
    /// No answer in time. The call may have been carried out.
    #[error("no answer in time")]
    TimedOut,
    /// Too many calls are waiting.
    #[error("too many calls are waiting")]
    Busy,
    /// The connection to the platform ended during the call.
    #[error("the connection to the platform was lost ({0}); the command may have arrived or not")]
    Lost(Loss),
    /// The platform answered a later question instead.
    #[error("the platform does not answer this")]
    Unanswered,
    /// The platform's answer does not follow the PlatformCtrl guide.
    #[error("invalid answer: {0}")]
    Undecodable(DecodeError),
    /// The command has no effect in the state that the platform reported after it, or the requested state was not
    /// reached.
    #[error("no effect: {0}")]
    NoEffect(String),
}

/// A value that only one side can represent: not finite, or too large.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field}: {} cannot be represented", dragoman_text::number(*.value))]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct OutOfRange {
    /// Name of the value, with its unit.
    pub field: &'static str,
    pub value: f64,
}
