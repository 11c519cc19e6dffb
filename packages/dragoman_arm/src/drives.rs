//! What commands to joints are refused for.

/// The temperature that stands for "not reported", in degrees Celsius (31-byte protocol, `TM`).
pub const TEMPERATURE_ABSENT: f64 = -1000.0;

/// Why drives refuse.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// Not one value per joint.
    #[error("{given} joint values were given; the arm has {joints} joints")]
    WrongLength {
        /// Joints of the arm.
        joints: usize,
        /// Values given.
        given: usize,
    },
    /// NaN or infinite.
    #[error("the value of joint {joint} is {value}")]
    NotFinite {
        /// Index of the joint, from the base.
        joint: usize,
        /// Its value.
        value: f64,
    },
    /// The drives are disabled.
    #[error("the drives are disabled")]
    Disabled,
    /// The drives did not do what they were told; the text says which and why.
    #[error("{0}")]
    Fault(String),
}

/// Checks a vector of joint values from outside.
///
/// # Errors
/// Wrong number of values, or not finite.
pub fn check_joint_values(values: &[f64], joints: usize) -> Result<(), DriveError> {
    if values.len() != joints {
        return Err(DriveError::WrongLength { joints, given: values.len() });
    }
    match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((joint, value)) => Err(DriveError::NotFinite { joint, value: *value }),
        None => Ok(()),
    }
}
