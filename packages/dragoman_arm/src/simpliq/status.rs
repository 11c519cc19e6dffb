//! The status register `SR`, also object 0x1002.

/// Bits of the status register (protocols.md, SimplIQ).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status(pub u32);

impl Status {
    /// The drive has an error.
    pub const ERROR: u32 = 1 << 0;
    /// The motor is on.
    pub const MOTOR_ON: u32 = 1 << 4;
    /// A failure is latched since the motor was last switched on.
    pub const FAILURE_LATCHED: u32 = 1 << 6;
    /// The current is at its limit.
    pub const CURRENT_LIMIT: u32 = 1 << 13;

    /// Whether the motor is on.
    pub fn is_motor_on(self) -> bool {
        self.0 & Self::MOTOR_ON != 0
    }

    /// Whether the drive has an error, or had one that switched the motor off.
    pub fn has_failed(self) -> bool {
        self.0 & (Self::ERROR | Self::FAILURE_LATCHED) != 0
    }

    /// Whether the current is at its limit.
    pub fn is_current_limited(self) -> bool {
        self.0 & Self::CURRENT_LIMIT != 0
    }
}
