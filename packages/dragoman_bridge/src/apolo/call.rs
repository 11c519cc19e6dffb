//! Outcomes of calls of the world's services.

use super::wire::{EncodeError, LandMark};

/// Outcome of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Success, without data.
    Done,
    /// `check_robot_joints`: collision; `move_m_robot`: the robot moved; `place_m_robot`: the robot stands.
    Verdict(bool),
    /// The requested values, in the order of the protocol; metres and radians.
    Values(Vec<f64>),
    /// The landmarks that a laser sees.
    LandMarks(Vec<LandMark>),
    /// The call failed.
    Refused(Refusal),
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Unknown world, or no object of that name in it.
    #[error("{0}")]
    UnknownName(String),
    /// The service refused, with this reason.
    #[error("{0}")]
    Rejected(String),
    /// A value is NaN or infinite.
    #[error("a value is not finite")]
    NotFinite,
    /// No answer in time. The call may have been carried out.
    #[error("no answer in time; an original server does not answer unknown names")]
    TimedOut,
    /// There is no connection to the server.
    #[error("not connected to the server")]
    NotConnected,
    /// Too many calls are waiting.
    #[error("too many calls are waiting")]
    Busy,
    /// The protocol cannot encode the request.
    #[error("{0}")]
    NotEncodable(#[from] EncodeError),
}

impl Refusal {
    /// `false` if the outcome says that the name is unknown.
    pub fn is_of_known_name(&self) -> bool {
        !matches!(self, Self::UnknownName(_))
    }
}
