//! The messages to a CiA 402 drive in cyclic synchronous position mode (IEC 61800-7-201).
//!
//! RPDO1 carries control word and target position, TPDO4 status word and position, both at every SYNC.

use canopen_rs::{Address, NmtCommand, NodeId, Value};
use dragoman_io::can::Frame;

use super::config::GroupConfig;
use super::conversation::{Condition, Step};
use super::queue::round;
use super::whistle::DRIVE_HEARTBEAT;
use crate::canopen::Service;
use crate::simpliq::objects::{
    self, EVERY_SYNC, HEARTBEAT_CONSUMER, HEARTBEAT_PRODUCER, POSITION, RPDO1, TPDO4,
};

/// Control word, unsigned 16.
pub const CONTROL_WORD: Address = Address::new(0x6040, 0);
/// Status word, unsigned 16.
pub const STATUS_WORD: Address = Address::new(0x6041, 0);
/// Mode of operation, signed 8.
pub const MODE: Address = Address::new(0x6060, 0);
/// Target position, signed 32, counts.
pub const TARGET_POSITION: Address = Address::new(0x607a, 0);
/// Period of the targets: mantissa (unsigned 8) and power of ten of a second (signed 8).
pub const INTERPOLATION_TIME: u16 = 0x60c2;
/// Value of [`MODE`]: cyclic synchronous position.
pub const CYCLIC_SYNCHRONOUS_POSITION: i8 = 8;
/// Reaction of the drive to a lost master (object 0x6007): quick stop.
pub const ON_LOSS_QUICK_STOP: i16 = 3;

/// State of the power stage, from the status word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveState {
    /// Starting.
    NotReady,
    /// Waits for the command "shutdown".
    SwitchOnDisabled,
    /// Waits for "switch on".
    ReadyToSwitchOn,
    /// Waits for "enable operation".
    SwitchedOn,
    /// Follows targets.
    OperationEnabled,
    /// Brakes, or stands after a quick stop.
    QuickStopActive,
    /// Reacts to a fault.
    FaultReaction,
    /// Waits for "fault reset".
    Fault,
}

/// Masks and values of the status word.
const STATES: [(u32, u32, DriveState); 8] = [
    (0x4f, 0x00, DriveState::NotReady),
    (0x4f, 0x40, DriveState::SwitchOnDisabled),
    (0x6f, 0x21, DriveState::ReadyToSwitchOn),
    (0x6f, 0x23, DriveState::SwitchedOn),
    (0x6f, 0x27, DriveState::OperationEnabled),
    (0x6f, 0x07, DriveState::QuickStopActive),
    (0x4f, 0x0f, DriveState::FaultReaction),
    (0x4f, 0x08, DriveState::Fault),
];

/// Bits of the control word.
pub mod control {
    /// Command "disable voltage", to "switch on disabled".
    pub const DISABLE_VOLTAGE: u16 = 0x00;
    /// Command "quick stop".
    pub const QUICK_STOP: u16 = 0x02;
    /// Command "shutdown", to "ready to switch on".
    pub const SHUTDOWN: u16 = 0x06;
    /// Command "switch on", to "switched on".
    pub const SWITCH_ON: u16 = 0x07;
    /// Command "enable operation", to "operation enabled".
    pub const ENABLE_OPERATION: u16 = 0x0f;
    /// Clears a fault on its rising edge.
    pub const FAULT_RESET: u16 = 0x80;
}

impl DriveState {
    /// The state that a status word encodes.
    pub fn of(status: u32) -> Self {
        let found = STATES.iter().find(|(mask, value, _)| status & mask == *value);
        found.map_or(Self::NotReady, |(_, _, state)| *state)
    }

    /// The bits of the status word that encode this state.
    pub fn status_bits(self) -> u16 {
        let found = STATES.iter().find(|(_, _, state)| *state == self);
        found.map_or(0, |(_, value, _)| u16::try_from(*value).unwrap_or_default())
    }

    /// The next control word towards the power stage being on or off.
    ///
    /// A fault is reset only when switching on. The reset takes effect on its rising edge and the drive then leaves the
    /// fault state, so the next cycle sends another word. A drive that stays in the quick stop is released when it is
    /// at rest.
    pub fn next_control(self, on: bool, at_rest: bool) -> u16 {
        match (self, on) {
            (Self::Fault, true) => control::FAULT_RESET,
            (Self::SwitchOnDisabled, true) => control::SHUTDOWN,
            (Self::ReadyToSwitchOn, true) => control::SWITCH_ON,
            (Self::SwitchedOn | Self::OperationEnabled, true) => control::ENABLE_OPERATION,
            (Self::OperationEnabled, false) => control::QUICK_STOP,
            (Self::QuickStopActive, false) if !at_rest => control::QUICK_STOP,
            _ => control::DISABLE_VOLTAGE,
        }
    }
}

/// The conversation from an unknown state to a drive that reports and is ready to be switched on.
pub(super) fn set_up(group: &GroupConfig, node: NodeId) -> Vec<Step> {
    let milliseconds = |time: std::time::Duration| u16::try_from(time.as_millis()).unwrap_or(u16::MAX);
    let watched = u32::from(group.master) << 16 | u32::from(milliseconds(group.heartbeat_loss));
    let (mantissa, exponent) = interpolation_time(group.cycle());
    let mut writes = vec![
        (objects::ABORT_CONNECTION, Value::Integer16(ON_LOSS_QUICK_STOP)),
        (HEARTBEAT_CONSUMER, Value::Unsigned32(watched)),
        (HEARTBEAT_PRODUCER, Value::Unsigned16(milliseconds(DRIVE_HEARTBEAT))),
        (MODE, Value::Integer8(CYCLIC_SYNCHRONOUS_POSITION)),
        (Address::new(INTERPOLATION_TIME, 1), Value::Unsigned8(mantissa)),
        (Address::new(INTERPOLATION_TIME, 2), Value::Integer8(exponent)),
    ];
    objects::map(&mut writes, node, RPDO1, EVERY_SYNC, &[(CONTROL_WORD, 16), (TARGET_POSITION, 32)]);
    objects::map(&mut writes, node, TPDO4, EVERY_SYNC, &[(STATUS_WORD, 16), (POSITION, 32)]);
    let mut steps = vec![Step::Nmt(NmtCommand::EnterPreOperational)];
    steps.extend(writes.into_iter().map(|(address, value)| Step::Write(address, value)));
    steps.extend([Step::Nmt(NmtCommand::StartRemoteNode), Step::Await(Condition::Reports)]);
    steps
}

/// The period as a one-byte mantissa and a power of ten of a second, rounded to the nearest.
fn interpolation_time(cycle: std::time::Duration) -> (u8, i8) {
    for (exponent, unit) in [(-4_i8, 100_000_u128), (-3, 1_000_000), (-2, 10_000_000)] {
        if let Ok(mantissa) = u8::try_from((cycle.as_nanos() + unit / 2) / unit) {
            return (mantissa.max(1), exponent);
        }
    }
    (u8::MAX, -2)
}

/// Control word and target (RPDO1).
pub(super) fn command_frame(node: NodeId, control: u16, target: f64) -> Frame {
    let ([a, b], [c, d, e, f]) = (control.to_le_bytes(), round(target).to_le_bytes());
    Service::Rpdo(1, node).frame(&[a, b, c, d, e, f])
}

/// Position and status word from TPDO4's data.
pub(super) fn report(data: &[u8]) -> Option<(i32, u32)> {
    let [a, b, c, d, e, f] = *<&[u8; 6]>::try_from(data).ok()?;
    Some((i32::from_le_bytes([c, d, e, f]), u32::from(u16::from_le_bytes([a, b]))))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_control_words_lead_through_the_states() {
        let path =
            [0x0250, 0x0231, 0x0233, 0x0237].map(|word| DriveState::of(word).next_control(true, false));
        assert_eq!(path, [0x06, 0x07, 0x0f, 0x0f]);
        assert_eq!(DriveState::of(0x0218), DriveState::Fault);
        assert_eq!(DriveState::Fault.next_control(true, false), 0x80);
        assert_eq!(DriveState::Fault.next_control(false, false), 0x00);
        assert_eq!(DriveState::of(0x0237).next_control(false, false), 0x02);
        assert_eq!(DriveState::of(0x0217).next_control(false, false), 0x02);
        assert_eq!(DriveState::of(0x0217).next_control(false, true), 0x00);
    }

    #[test]
    fn every_status_word_is_a_state() {
        for word in 0..=0xffff {
            let _ = DriveState::of(word).next_control(word % 2 == 0, word % 3 == 0);
        }
    }

    #[test]
    fn periods_are_rounded_to_what_the_object_holds() {
        assert_eq!(interpolation_time(Duration::from_micros(3_960)), (40, -4));
        assert_eq!(interpolation_time(Duration::from_micros(10_080)), (101, -4));
        assert_eq!(interpolation_time(Duration::from_millis(250)), (250, -3));
    }

    #[test]
    fn commands_and_reports_have_the_mapped_layout() {
        let node = NodeId::new(5).unwrap();
        assert_eq!(command_frame(node, 0x0f, -2.0).to_string(), "205#0F00FEFFFFFF");
        assert_eq!(report(&[0x37, 0x02, 0xff, 0xff, 0xff, 0xff]), Some((-1, 0x0237)));
        assert_eq!(report(&[0; 8]), None);
    }
}
