//! The control table of a servo. The registers used here have the same addresses in AX-12, MX-28 and MX-64.

use std::f64::consts::TAU;
use std::fmt;

/// A register of the control table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// Its name in words.
    pub name: &'static str,
    /// Its first address.
    pub address: u8,
    /// Its size in bytes: 1 or 2.
    pub size: u8,
    /// The highest writable value; `None`: read-only.
    pub max: Option<u16>,
}

impl Register {
    const fn new(name: &'static str, address: u8, size: u8, max: Option<u16>) -> Self {
        Self { name, address, size, max }
    }

    /// Whether it is in EEPROM; EEPROM registers can be written only while the torque is off.
    pub fn is_permanent(&self) -> bool {
        self.address < TORQUE_ENABLE.address
    }
}

#[allow(missing_docs, reason = "their names say it")]
mod registers {
    use super::Register;

    pub const MODEL_NUMBER: Register = Register::new("model number", 0, 2, None);
    pub const FIRMWARE_VERSION: Register = Register::new("firmware version", 2, 1, None);
    pub const ID: Register = Register::new("id", 3, 1, Some(253));
    pub const BAUD_RATE: Register = Register::new("baud rate", 4, 1, Some(254));
    pub const RETURN_DELAY: Register = Register::new("return delay", 5, 1, Some(254));
    pub const CW_ANGLE_LIMIT: Register = Register::new("clockwise angle limit", 6, 2, Some(4095));
    pub const CCW_ANGLE_LIMIT: Register = Register::new("counter-clockwise angle limit", 8, 2, Some(4095));
    pub const TEMPERATURE_LIMIT: Register = Register::new("temperature limit", 11, 1, Some(150));
    pub const MIN_VOLTAGE: Register = Register::new("lowest voltage", 12, 1, Some(250));
    pub const MAX_VOLTAGE: Register = Register::new("highest voltage", 13, 1, Some(250));
    pub const MAX_TORQUE: Register = Register::new("maximum torque", 14, 2, Some(1023));
    pub const STATUS_RETURN_LEVEL: Register = Register::new("status return level", 16, 1, Some(2));
    pub const ALARM_LED: Register = Register::new("alarm LED", 17, 1, Some(127));
    pub const ALARM_SHUTDOWN: Register = Register::new("alarm shutdown", 18, 1, Some(127));
    pub const TORQUE_ENABLE: Register = Register::new("torque enable", 24, 1, Some(1));
    pub const LED: Register = Register::new("LED", 25, 1, Some(1));
    pub const GOAL_POSITION: Register = Register::new("goal position", 30, 2, Some(4095));
    pub const MOVING_SPEED: Register = Register::new("moving speed", 32, 2, Some(1023));
    pub const TORQUE_LIMIT: Register = Register::new("torque limit", 34, 2, Some(1023));
    pub const PRESENT_POSITION: Register = Register::new("present position", 36, 2, None);
    pub const PRESENT_SPEED: Register = Register::new("present speed", 38, 2, None);
    pub const PRESENT_LOAD: Register = Register::new("present load", 40, 2, None);
    pub const PRESENT_VOLTAGE: Register = Register::new("present voltage", 42, 1, None);
    pub const PRESENT_TEMPERATURE: Register = Register::new("present temperature", 43, 1, None);
    pub const REGISTERED: Register = Register::new("registered", 44, 1, None);
    pub const MOVING: Register = Register::new("moving", 46, 1, None);
    pub const LOCK: Register = Register::new("lock", 47, 1, Some(1));
    pub const PUNCH: Register = Register::new("punch", 48, 2, Some(1023));
}
pub use registers::*;

/// All registers, by address. Gains and compliances (26 to 29) differ between models and are never changed.
pub const REGISTERS: [Register; 28] = [
    MODEL_NUMBER,
    FIRMWARE_VERSION,
    ID,
    BAUD_RATE,
    RETURN_DELAY,
    CW_ANGLE_LIMIT,
    CCW_ANGLE_LIMIT,
    TEMPERATURE_LIMIT,
    MIN_VOLTAGE,
    MAX_VOLTAGE,
    MAX_TORQUE,
    STATUS_RETURN_LEVEL,
    ALARM_LED,
    ALARM_SHUTDOWN,
    TORQUE_ENABLE,
    LED,
    GOAL_POSITION,
    MOVING_SPEED,
    TORQUE_LIMIT,
    PRESENT_POSITION,
    PRESENT_SPEED,
    PRESENT_LOAD,
    PRESENT_VOLTAGE,
    PRESENT_TEMPERATURE,
    REGISTERED,
    MOVING,
    LOCK,
    PUNCH,
];

/// Size of the control table in bytes.
pub const TABLE_LENGTH: usize = 50;

/// A servo model, and its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are names")]
pub enum Model {
    Ax12,
    Mx28,
    Mx64,
}

impl Model {
    /// All models.
    pub const ALL: [Self; 3] = [Self::Ax12, Self::Mx28, Self::Mx64];

    /// The value of [`MODEL_NUMBER`] of this model.
    pub fn number(self) -> u16 {
        match self {
            Self::Ax12 => 12,
            Self::Mx28 => 29,
            Self::Mx64 => 310,
        }
    }

    /// The model with this number.
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.number() == number)
    }

    /// The highest position, in ticks: the counter-clockwise end.
    pub fn max_position_ticks(self) -> u16 {
        if self == Self::Ax12 { 1023 } else { 4095 }
    }

    /// The middle of its range, in ticks.
    pub fn middle_ticks(self) -> u16 {
        if self == Self::Ax12 { 512 } else { 2048 }
    }

    /// Angle per tick, rad: 1024 ticks are 300 degrees, or 4096 a full turn.
    pub fn radians_per_tick(self) -> f64 {
        if self == Self::Ax12 { TAU * 300.0 / 360.0 / 1024.0 } else { TAU / 4096.0 }
    }

    /// Unit of the speed, rad/s: 0.111 or 0.114 revolutions per minute.
    pub fn speed_unit(self) -> f64 {
        TAU / 60.0 * if self == Self::Ax12 { 0.111 } else { 0.114 }
    }

    /// Stall torque of the motor, N m (TurtleBot thesis, 3.6.2).
    pub fn stall_torque(self) -> f64 {
        match self {
            Self::Ax12 => 1.5,
            Self::Mx28 => 2.5,
            Self::Mx64 => 6.0,
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ax12 => "AX-12",
            Self::Mx28 => "MX-28",
            Self::Mx64 => "MX-64",
        })
    }
}

/// Decodes a number whose bit 10 is the sign, set for clockwise.
pub fn signed(value: u16) -> i16 {
    let magnitude = (value & 0x3ff) as i16;
    if value & 0x400 == 0 { magnitude } else { -magnitude }
}

/// The reverse of [`signed`]; magnitudes saturate at 1023.
pub fn to_signed(value: i16) -> u16 {
    let magnitude = value.unsigned_abs().min(0x3ff);
    if value < 0 { magnitude | 0x400 } else { magnitude }
}

/// Identity and stored settings of a servo: bytes 0 to 18.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Identity {
    pub model_number: u16,
    /// Firmware version.
    pub firmware: u8,
    /// Lower angle limit; lower goals are refused.
    pub cw_limit_ticks: u16,
    /// Upper angle limit; higher goals are refused.
    pub ccw_limit_ticks: u16,
    /// Torque limit after power-up, thousandths (1023: full torque).
    pub max_torque: u16,
    /// 2: it answers everything; 1: only reads; 0: only pings.
    pub status_return_level: u8,
}

/// Command registers of a servo: bytes 24 to 35.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Whether the motor has power.
    pub torque_enable: bool,
    /// Goal position; followed while the torque is on.
    pub goal_ticks: u16,
    /// Goal speed, in [`Model::speed_unit`]; 0: maximum speed.
    pub moving_speed: u16,
    /// Torque limit (1023: full torque); 0 after it has shut down.
    pub torque_limit: u16,
}

/// Measurements of a servo: bytes 36 to 43.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Measurement {
    pub position_ticks: u16,
    /// Speed, in [`Model::speed_unit`], counter-clockwise positive.
    pub speed: i16,
    /// Load, of 1023, counter-clockwise positive.
    pub load: i16,
    /// Supply voltage, 0.1 V.
    pub decivolts: u8,
    /// Temperature, degrees Celsius.
    pub celsius: u8,
}

/// A block of the table that is read in one request.
pub trait Block: Sized {
    /// First address.
    const ADDRESS: u8;
    /// Size in bytes.
    const LENGTH: u8;

    /// Decodes it; `None` if the length is wrong.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

fn word(low: u8, high: u8) -> u16 {
    u16::from_le_bytes([low, high])
}

impl Block for Identity {
    const ADDRESS: u8 = MODEL_NUMBER.address;
    const LENGTH: u8 = 19;

    fn decode(bytes: &[u8]) -> Option<Self> {
        let &[m0, m1, firmware, _, _, _, cw0, cw1, ccw0, ccw1, _, _, _, _, torque0, torque1, level, _, _] =
            bytes
        else {
            return None;
        };
        Some(Self {
            model_number: word(m0, m1),
            firmware,
            cw_limit_ticks: word(cw0, cw1),
            ccw_limit_ticks: word(ccw0, ccw1),
            max_torque: word(torque0, torque1),
            status_return_level: level,
        })
    }
}

impl Block for Control {
    const ADDRESS: u8 = TORQUE_ENABLE.address;
    const LENGTH: u8 = 12;

    fn decode(bytes: &[u8]) -> Option<Self> {
        let &[torque, _, _, _, _, _, goal0, goal1, speed0, speed1, limit0, limit1] = bytes else {
            return None;
        };
        Some(Self {
            torque_enable: torque != 0,
            goal_ticks: word(goal0, goal1),
            moving_speed: word(speed0, speed1),
            torque_limit: word(limit0, limit1),
        })
    }
}

impl Block for Measurement {
    const ADDRESS: u8 = PRESENT_POSITION.address;
    const LENGTH: u8 = 8;

    fn decode(bytes: &[u8]) -> Option<Self> {
        let &[position0, position1, speed0, speed1, load0, load1, decivolts, celsius] = bytes else {
            return None;
        };
        Some(Self {
            position_ticks: word(position0, position1),
            speed: signed(word(speed0, speed1)),
            load: signed(word(load0, load1)),
            decivolts,
            celsius,
        })
    }
}
