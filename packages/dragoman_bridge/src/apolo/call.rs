//! How a call of one of the world's services ends.

use super::wire::{EncodeError, LandMark};

/// Names one call of a service until its outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It was done, and there is nothing to tell.
    Done,
    /// `check_robot_joints`: it collides; `move_m_robot`: it moved; `place_m_robot`: it stands.
    Verdict(bool),
    /// What was asked for, in the order of the protocol; metres and radians.
    Values(Vec<f64>),
    /// The landmarks that a laser sees.
    LandMarks(Vec<LandMark>),
    /// Nothing was done, as far as anyone knows.
    Refused(Refusal),
}

/// Why a call was not done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such world, or nothing of that name in it.
    #[error("{0}")]
    UnknownName(String),
    /// The service says no, for this reason.
    #[error("{0}")]
    Rejected(String),
    /// A value is NaN or infinite.
    #[error("a value is not finite")]
    NotFinite,
    /// No answer in time. It may have been done all the same.
    #[error("no answer in time; an original server answers nothing to names that it does not know")]
    TimedOut,
    /// There is no connection to the server.
    #[error("not connected to the server")]
    NotConnected,
    /// Too many calls wait already.
    #[error("too many calls are waiting")]
    Busy,
    /// The protocol cannot say this.
    #[error("{0}")]
    Inexpressible(#[from] EncodeError),
}

impl Refusal {
    /// Whether the name is known, as far as anyone can tell.
    pub fn is_of_known_name(&self) -> bool {
        !matches!(self, Self::UnknownName(_))
    }
}
