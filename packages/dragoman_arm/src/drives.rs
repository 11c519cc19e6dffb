//! The port between an arm's node and what moves the joints.

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

/// The drives of an arm, one per joint, base of the chain first; positions in rad, or m for prismatic joints.
pub trait JointDrives: Send {
    /// Advances to `now`, seconds on a steady clock, and brings the state up to date.
    ///
    /// # Errors
    /// The drives do not answer.
    fn update(&mut self, now: f64) -> Result<(), DriveError>;

    /// Sets the positions to go to.
    ///
    /// # Errors
    /// Wrong number of values, not finite, disabled, or a drive's fault; then nothing has changed.
    fn command(&mut self, position: &[f64]) -> Result<(), DriveError>;

    /// Switches the drives on; they hold their positions.
    ///
    /// # Errors
    /// A drive did not start.
    fn enable(&mut self) -> Result<(), DriveError>;

    /// Switches the drives off; they ignore commands.
    ///
    /// # Errors
    /// A drive did not stop.
    fn disable(&mut self) -> Result<(), DriveError>;

    /// Declares the present positions to be `position`; nothing moves.
    ///
    /// # Errors
    /// Wrong number of values, or not finite.
    fn recalibrate(&mut self, position: &[f64]) -> Result<(), DriveError>;

    /// Whether the drives hold or follow commands.
    fn is_enabled(&self) -> bool;

    /// Measured positions.
    fn position(&self) -> &[f64];

    /// Measured velocities, rad/s or m/s.
    fn velocity(&self) -> &[f64];

    /// The positions that were commanded last.
    fn commanded(&self) -> &[f64];

    /// Temperatures in degrees Celsius, [`TEMPERATURE_ABSENT`] where a drive reports none.
    fn temperature(&self) -> &[f64];
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
