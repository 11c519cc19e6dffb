//! Errors of commands to joints.

/// The value for "temperature not reported", in degrees Celsius (31-byte protocol, `TM`).
pub const TEMPERATURE_ABSENT: f64 = -1000.0;

/// Why a command to the drives was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum DriveError {
    /// The number of values is not the number of joints.
    #[error("{given} joint values were given; the arm has {joints} joints")]
    WrongLength {
        /// Number of joints of the arm.
        joints: usize,
        /// Number of values given.
        given: usize,
    },
    /// NaN or infinite.
    #[error("the value of joint {joint} is {value}")]
    NotFinite {
        /// Index of the joint, from the base.
        joint: usize,
        value: f64,
    },
    /// The drives are disabled.
    #[error("the drives are disabled")]
    Disabled,
    /// The drives did not execute a command; the text gives the reason.
    #[error("{0}")]
    Fault(String),
}

/// Checks a vector of joint values.
///
/// # Errors
/// Wrong number of values, or a value that is not finite.
pub(crate) fn check_joint_values(values: &[f64], joints: usize) -> Result<(), DriveError> {
    if values.len() != joints {
        return Err(DriveError::WrongLength { joints, given: values.len() });
    }
    match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((joint, value)) => Err(DriveError::NotFinite { joint, value: *value }),
        None => Ok(()),
    }
}
