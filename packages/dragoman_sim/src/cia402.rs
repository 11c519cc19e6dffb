//! A simulated servo drive of the profile CiA 402 (IEC 61800-7-201) with cyclic synchronous position.

#[cfg(test)]
mod tests;

use std::time::Duration;

use canopen_rs::{Address, Entry, NodeId, Value};
use dragoman_arm::canopen::Emergency;
use dragoman_arm::driver::cia402::{
    CONTROL_WORD, CYCLIC_SYNCHRONOUS_POSITION, DriveState, INTERPOLATION_TIME, MODE, STATUS_WORD,
    TARGET_POSITION, control,
};
use dragoman_arm::simpliq::POSITION_LOOP;
use dragoman_arm::simpliq::objects::{ABORT_CONNECTION, AT_ONCE, POSITION};

use crate::axis::{Axis, AxisEvent, AxisSettings, Motion, Segment, tick_at, time_of};
use crate::device::objects::abort;
use crate::device::{Application, Device, Direction, Mappable, Output, PdoDefault};

/// One simulated drive of the profile.
pub type Cia402Drive = Device<Cia402>;

const ERROR_CODE: Address = Address::new(0x603f, 0);
const MODE_DISPLAY: Address = Address::new(0x6061, 0);
const VELOCITY: Address = Address::new(0x606c, 0);
const PERIOD_MANTISSA: Address = Address::new(INTERPOLATION_TIME, 1);
const PERIOD_EXPONENT: Address = Address::new(INTERPOLATION_TIME, 2);
/// Supported modes: bit 7 is cyclic synchronous position.
const SUPPORTED_MODES: Address = Address::new(0x6502, 0);
/// Object 0x6007 at start: a fault.
const DEFAULT_CONNECTION_LOSS: i16 = 1;

/// Bits of the status word that are not part of the state.
const VOLTAGE_ENABLED: u16 = 1 << 4;
const REMOTE: u16 = 1 << 9;
const FOLLOWS_TARGETS: u16 = 1 << 12;
/// The command bits of the control word.
const COMMAND: u16 = 0x0f;

/// Number of position loops by which a target may be late before the drive holds its position.
const GRACE: u64 = 3;
/// Number of position loops between two checks of a motion for failures.
const LOOK_EVERY: u64 = 28;

/// Settings of a simulated drive of the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Cia402Settings {
    /// Motor and shaft.
    pub axis: AxisSettings,
    /// Time from power-up to the boot-up message; the first one is sent at once.
    pub boot_time: Duration,
    /// Deceleration of the quick stop, counts/s^2; after it the power stage is switched off.
    pub quick_stop_deceleration: f64,
}

impl Default for Cia402Settings {
    fn default() -> Self {
        Self {
            axis: AxisSettings::default(),
            boot_time: Duration::from_millis(200),
            quick_stop_deceleration: 2e6,
        }
    }
}

/// A simulated drive of the profile behind its CANopen interface.
#[derive(Debug)]
pub struct Cia402 {
    settings: Cia402Settings,
    axis: Axis,
    state: DriveState,
    control: u16,
    mode: i8,
    target: i32,
    /// Number of position loops between two targets.
    period: u32,
    mantissa: u8,
    exponent: i8,
    error_code: u16,
    is_overheated: bool,
    on_connection_loss: i16,
}

impl Cia402Drive {
    /// A drive that is powered up at time zero.
    pub fn new(node: NodeId, settings: Cia402Settings) -> Self {
        Self::power_up(node, Cia402::new(settings))
    }

    /// The state of the power stage.
    pub fn state(&self) -> DriveState {
        self.application.state
    }

    /// Object 0x6041 of the drive profile.
    pub fn status_word(&self) -> u16 {
        self.application.status_word()
    }
}

impl Cia402 {
    fn new(settings: Cia402Settings) -> Self {
        let mut drive = Self {
            axis: Axis::new(settings.axis.clone()),
            state: DriveState::SwitchOnDisabled,
            control: 0,
            mode: 0,
            target: 0,
            period: 1,
            mantissa: 1,
            exponent: -3,
            error_code: 0,
            is_overheated: false,
            on_connection_loss: DEFAULT_CONNECTION_LOSS,
            settings,
        };
        drive.set_period();
        drive
    }

    fn status_word(&self) -> u16 {
        let follows = self.state == DriveState::OperationEnabled && self.mode == CYCLIC_SYNCHRONOUS_POSITION;
        let follows = if follows { FOLLOWS_TARGETS } else { 0 };
        self.state.status_bits() | VOLTAGE_ENABLED | REMOTE | follows
    }

    /// Whether the motor is powered.
    fn is_powered(&self) -> bool {
        matches!(self.state, DriveState::OperationEnabled | DriveState::QuickStopActive)
    }

    fn is_too_hot(&self) -> bool {
        self.is_overheated && self.axis.is_too_hot()
    }

    fn take_control(&mut self, word: u16) {
        let is_reset = word & !self.control & control::FAULT_RESET != 0;
        self.control = word;
        if self.state == DriveState::Fault {
            if is_reset && !self.is_too_hot() {
                (self.error_code, self.is_overheated) = (0, false);
                self.state = DriveState::SwitchOnDisabled;
            }
            return;
        }
        let next = self.commanded(word & COMMAND);
        let was_powered = self.is_powered();
        self.state = next;
        if was_powered && !self.is_powered() {
            self.axis.brake();
        } else if !was_powered && self.is_powered() || next == DriveState::QuickStopActive {
            self.axis.stop(self.settings.quick_stop_deceleration);
        }
    }

    /// Next state after a command.
    fn commanded(&self, command: u16) -> DriveState {
        use DriveState::{OperationEnabled, QuickStopActive, ReadyToSwitchOn, SwitchOnDisabled, SwitchedOn};
        let is_on_the_way = matches!(self.state, ReadyToSwitchOn | SwitchedOn | OperationEnabled);
        // Bit 1 off: disable voltage. Bit 2 off: quick stop. Then bits 0 and 3 decide.
        if command & control::QUICK_STOP == 0 {
            return if is_on_the_way || self.state == QuickStopActive {
                SwitchOnDisabled
            } else {
                self.state
            };
        }
        if command & control::SHUTDOWN == control::QUICK_STOP {
            return match self.state {
                OperationEnabled => QuickStopActive,
                ReadyToSwitchOn | SwitchedOn => SwitchOnDisabled,
                state => state,
            };
        }
        if command & control::SWITCH_ON == control::SHUTDOWN {
            let leads_there = is_on_the_way || self.state == SwitchOnDisabled;
            return if leads_there { ReadyToSwitchOn } else { self.state };
        }
        match (command & control::ENABLE_OPERATION == control::ENABLE_OPERATION, is_on_the_way) {
            (true, true) => OperationEnabled,
            (false, true) => SwitchedOn,
            (_, false) => self.state,
        }
    }

    fn take_target(&mut self, output: &mut Output) {
        if self.state != DriveState::OperationEnabled || self.mode != CYCLIC_SYNCHRONOUS_POSITION {
            return;
        }
        let from = self.axis.position();
        let to = Axis::unwrapped(from, self.target);
        let velocity = (to - from) / f64::from(self.period);
        // A shaft that may fall behind is not at the last target.
        let settings = self.axis.settings();
        let keeps_up = settings.following_limit.is_infinite();
        if keeps_up && velocity.abs() / POSITION_LOOP.as_secs_f64() > settings.velocity_limit {
            self.fail(0x8611, 0x21, output);
            return;
        }
        if to == from && !self.axis.is_at_rest() {
            self.axis.hold();
        } else if to != from {
            self.axis.set_motion(Motion::Segment(Segment {
                from,
                to,
                from_velocity: velocity,
                to_velocity: velocity,
                start: self.axis.tick(),
                ticks: self.period,
            }));
        }
    }

    fn fail(&mut self, code: u16, register: u8, output: &mut Output) {
        self.state = DriveState::Fault;
        self.error_code = code;
        self.axis.brake();
        output.emergency(Emergency { code, register, maker: [0; 5] });
    }

    fn run_position_loop(&mut self, now: Duration, output: &mut Output) {
        let last = tick_at(now);
        while self.axis.tick() < last {
            if self.axis.is_at_rest() {
                self.axis.rest_until(last);
                break;
            }
            match self.axis.step() {
                Some(AxisEvent::SegmentEnd) => self.hold_without_target(),
                Some(AxisEvent::TooHot) if self.is_powered() => {
                    self.is_overheated = true;
                    self.fail(0x4310, 0x09, output);
                }
                _ => {}
            }
        }
        if self.state == DriveState::QuickStopActive && self.axis.is_at_rest() {
            self.state = DriveState::SwitchOnDisabled;
        }
    }

    fn hold_without_target(&mut self) {
        if let Motion::Segment(segment) = self.axis.motion()
            && self.axis.tick() > segment.start + u64::from(segment.ticks) + GRACE
        {
            let target = segment.to;
            self.axis.hold_at(target);
        }
    }

    fn set_period(&mut self) {
        let seconds = f64::from(self.mantissa) * 10_f64.powi(self.exponent.into());
        self.period = (seconds / POSITION_LOOP.as_secs_f64()).round().max(1.0) as u32;
    }
}

const MAPPABLE: [Mappable; 7] = [
    mappable(STATUS_WORD, 16, Direction::Transmit),
    mappable(ERROR_CODE, 16, Direction::Transmit),
    mappable(POSITION, 32, Direction::Transmit),
    mappable(VELOCITY, 32, Direction::Transmit),
    mappable(MODE_DISPLAY, 8, Direction::Transmit),
    mappable(CONTROL_WORD, 16, Direction::Receive),
    mappable(TARGET_POSITION, 32, Direction::Receive),
];

const fn mappable(address: Address, bits: u8, direction: Direction) -> Mappable {
    Mappable { address, bits, min_bits: bits, direction }
}

impl Application for Cia402 {
    fn name(&self) -> &str {
        "CiA 402 (simulated by Dragoman)"
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn axis_mut(&mut self) -> &mut Axis {
        &mut self.axis
    }

    fn boot_time(&self) -> Duration {
        self.settings.boot_time
    }

    fn objects(&self) -> Vec<(Address, Entry)> {
        vec![
            (ABORT_CONNECTION, Entry::rw(Value::Integer16(self.on_connection_loss))),
            (ERROR_CODE, Entry::ro(Value::Unsigned16(0))),
            (CONTROL_WORD, Entry::rw(Value::Unsigned16(0))),
            (STATUS_WORD, Entry::ro(Value::Unsigned16(0))),
            (MODE, Entry::rw(Value::Integer8(self.mode))),
            (MODE_DISPLAY, Entry::ro(Value::Integer8(0))),
            (POSITION, Entry::ro(Value::Integer32(0))),
            (VELOCITY, Entry::ro(Value::Integer32(0))),
            (TARGET_POSITION, Entry::rw(Value::Integer32(self.target))),
            (Address::new(INTERPOLATION_TIME, 0), Entry::constant(Value::Unsigned8(2))),
            (PERIOD_MANTISSA, Entry::rw(Value::Unsigned8(self.mantissa))),
            (PERIOD_EXPONENT, Entry::rw(Value::Integer8(self.exponent))),
            (SUPPORTED_MODES, Entry::constant(Value::Unsigned32(1 << 7))),
        ]
    }

    fn mappable(&self) -> &'static [Mappable] {
        &MAPPABLE
    }

    fn process_data(&self) -> Vec<PdoDefault> {
        let pdo =
            |direction, number| PdoDefault { direction, number, transmission: AT_ONCE, mapping: vec![] };
        vec![
            pdo(Direction::Receive, 1),
            pdo(Direction::Receive, 2),
            pdo(Direction::Transmit, 1),
            pdo(Direction::Transmit, 4),
            pdo(Direction::Transmit, 2),
        ]
    }

    fn read(&self, address: Address) -> Option<Value> {
        Some(match address {
            CONTROL_WORD => Value::Unsigned16(self.control),
            STATUS_WORD => Value::Unsigned16(self.status_word()),
            ERROR_CODE => Value::Unsigned16(self.error_code),
            MODE_DISPLAY => Value::Integer8(self.mode),
            POSITION => Value::Integer32(self.axis.counter()),
            VELOCITY => Value::Integer32(self.axis.velocity().round() as i32),
            TARGET_POSITION => Value::Integer32(self.target),
            _ => return None,
        })
    }

    fn write(&mut self, _now: Duration, address: Address, value: Value) -> Result<(), u32> {
        match (address, value) {
            (ABORT_CONNECTION, Value::Integer16(reaction @ 0..=3)) => self.on_connection_loss = reaction,
            (CONTROL_WORD, Value::Unsigned16(word)) => self.take_control(word),
            (MODE, Value::Integer8(mode @ (0 | CYCLIC_SYNCHRONOUS_POSITION))) => self.mode = mode,
            // Acyclic targets are stored and used with the next cyclic one.
            (TARGET_POSITION, Value::Integer32(target)) => self.target = target,
            (PERIOD_MANTISSA, Value::Unsigned8(mantissa @ 1..)) => self.mantissa = mantissa,
            (PERIOD_EXPONENT, Value::Integer8(exponent @ -6..=-1)) => self.exponent = exponent,
            _ => return Err(abort::VALUE),
        }
        self.set_period();
        Ok(())
    }

    fn handle_data(&mut self, _now: Duration, address: Address, data: &[u8], output: &mut Output) {
        match (address, data) {
            (CONTROL_WORD, [low, high]) => self.take_control(u16::from_le_bytes([*low, *high])),
            (TARGET_POSITION, [a, b, c, d]) => {
                self.target = i32::from_le_bytes([*a, *b, *c, *d]);
                self.take_target(output);
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Duration, output: &mut Output) {
        self.run_position_loop(now, output);
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let is_watched = self.is_powered() && !self.axis.is_at_rest();
        is_watched.then(|| time_of(self.axis.tick() + LOOK_EVERY))
    }

    fn error_register(&self) -> u8 {
        (self.state == DriveState::Fault).into()
    }

    fn connection_lost(&mut self, _now: Duration) {
        if self.state != DriveState::OperationEnabled {
            return;
        }
        match self.on_connection_loss {
            1 => {
                (self.state, self.error_code) = (DriveState::Fault, 0x8130);
                self.axis.brake();
            }
            2 => self.take_control(control::DISABLE_VOLTAGE),
            3 => self.take_control(control::QUICK_STOP),
            _ => {}
        }
    }

    fn restart(&mut self, _now: Duration, power_failed: bool) {
        let mut axis = self.axis.clone();
        axis.restart(power_failed);
        *self = Self { axis, ..Self::new(self.settings.clone()) };
    }

    fn exit_enabled(&mut self, _now: Duration) {
        self.state = DriveState::SwitchOnDisabled;
        self.axis.brake();
    }
}
