//! A simulated Elmo SimplIQ Whistle, frame by frame.
//!
//! | file | holds |
//! | --- | --- |
//! | [`drive`] | motor, modes, motions, failures |
//! | `interpreter` | the binary interpreter: its two slots, its commands |
//! | `queue` | the queue of PT motion |

pub mod drive;
mod interpreter;
mod queue;
#[cfg(test)]
mod tests;

use std::time::Duration;

use canopen_rs::{Address, Entry, NodeId, Value};
use dragoman_arm::simpliq::{Status, commands::unit_mode, objects};

pub use drive::Simpliq;

use crate::axis::{Axis, AxisSettings};
use crate::device::objects::abort;
use crate::device::{Application, Device, Direction, Mappable, Output, PdoDefault};

/// One simulated Whistle. `QP` and `PA` mean the nearest position with these 32 bits: see
/// [`Device::position_counts`].
pub type Whistle = Device<Simpliq>;

/// Object 0x6007 at start (CiA 402): the motor is switched off.
const DEFAULT_CONNECTION_LOSS: i16 = 1;
/// The interpreter's output.
const INTERPRETER_OUTPUT: Address = Address::new(0x2013, 0);

/// Settings of a simulated Whistle, and the initial content of its memory.
#[derive(Debug, Clone, PartialEq)]
pub struct WhistleSettings {
    /// Motor and shaft.
    pub axis: AxisSettings,
    /// Execution time of an interpreter command.
    pub execution_time: Duration,
    /// Time from power-up to the boot-up message; the first one is sent at once.
    pub boot_time: Duration,
    /// `UM`.
    pub unit_mode: i32,
    /// `SD`, counts/s^2.
    pub stop_deceleration: i32,
    /// Velocity of a motion to `PA`, counts/s.
    pub profile_speed: f64,
    /// Maximum distance of the shaft from the start of a motion, counts.
    pub tracking_window: f64,
}

impl Default for WhistleSettings {
    fn default() -> Self {
        Self {
            axis: AxisSettings::default(),
            execution_time: Duration::from_micros(500),
            boot_time: Duration::from_millis(200),
            unit_mode: unit_mode::POSITION,
            stop_deceleration: 3_000_000,
            profile_speed: 100_000.0,
            tracking_window: 200.0,
        }
    }
}

impl Whistle {
    /// A drive that is powered up at time zero.
    pub fn new(node: NodeId, settings: WhistleSettings) -> Self {
        Self::power_up(node, Simpliq::new(settings))
    }

    /// The status register.
    pub fn status(&self) -> Status {
        self.application.status()
    }

    /// From now on records when each row of PT motion was reached, and the counter at that time.
    pub fn record(&mut self) {
        self.application.record = Some(Vec::new());
    }

    /// The records since [`Whistle::record`].
    pub fn reached(&self) -> &[(Duration, i32)] {
        self.application.record.as_deref().unwrap_or_default()
    }
}

const MAPPABLE: [Mappable; 5] = [
    mappable(objects::STATUS, 32, 32, Direction::Transmit),
    mappable(objects::POSITION, 32, 32, Direction::Transmit),
    mappable(INTERPRETER_OUTPUT, 64, 64, Direction::Transmit),
    mappable(objects::PT_DATA, 64, 64, Direction::Receive),
    // A request without a value has four bytes.
    mappable(objects::INTERPRETER_INPUT, 64, 32, Direction::Receive),
];

const fn mappable(address: Address, bits: u8, min_bits: u8, direction: Direction) -> Mappable {
    Mappable { address, bits, min_bits, direction }
}

impl Application for Simpliq {
    fn name(&self) -> &str {
        "Whistle (simulated by Dragoman)"
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
        let write_only = Entry { value: Value::Unsigned64(0), access: canopen_rs::AccessType::Wo };
        vec![
            (objects::STATUS, Entry::ro(Value::Unsigned32(0))),
            (objects::PT_DATA, write_only),
            (objects::INTERPRETER_INPUT, write_only),
            (INTERPRETER_OUTPUT, Entry::ro(Value::Unsigned64(0))),
            (objects::ABORT_CONNECTION, Entry::rw(Value::Integer16(DEFAULT_CONNECTION_LOSS))),
            (objects::POSITION, Entry::ro(Value::Integer32(0))),
        ]
    }

    fn mappable(&self) -> &'static [Mappable] {
        &MAPPABLE
    }

    fn process_data(&self) -> Vec<PdoDefault> {
        let pdo = |direction, number, mapping: &[Address]| PdoDefault {
            direction,
            number,
            transmission: objects::AT_ONCE,
            mapping: mapping.to_vec(),
        };
        vec![
            pdo(Direction::Receive, 1, &[]),
            pdo(Direction::Receive, 2, &[objects::INTERPRETER_INPUT]),
            pdo(Direction::Receive, 3, &[]),
            pdo(Direction::Transmit, 1, &[]),
            pdo(Direction::Transmit, 2, &[INTERPRETER_OUTPUT]),
            pdo(Direction::Transmit, 4, &[]),
        ]
    }

    fn read(&self, address: Address) -> Option<Value> {
        match address {
            objects::STATUS => Some(Value::Unsigned32(self.status().0)),
            objects::POSITION => Some(Value::Integer32(self.axis.counter())),
            _ => None,
        }
    }

    fn write(&mut self, _now: Duration, address: Address, value: Value) -> Result<(), u32> {
        match (address, value) {
            (objects::ABORT_CONNECTION, Value::Integer16(reaction @ 0..=3)) => {
                self.on_connection_loss = reaction;
                Ok(())
            }
            (objects::ABORT_CONNECTION, _) => Err(abort::VALUE),
            // Process data only.
            _ => Err(abort::UNSUPPORTED_ACCESS),
        }
    }

    fn handle_data(&mut self, now: Duration, address: Address, data: &[u8], output: &mut Output) {
        match address {
            objects::INTERPRETER_INPUT => self.slots.put(now, self.settings.execution_time, data),
            objects::PT_DATA => {
                let [a, b, c, d, e, f, g, h] = *data else { return };
                let rows = [[a, b, c, d], [e, f, g, h]].map(i32::from_le_bytes);
                if let Err(code) = self.queue.put(&rows) {
                    output.emergency(self.queue.emergency(code));
                }
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Duration, output: &mut Output) {
        self.run_position_loop(now, output);
        while let Some(input) = self.slots.take(now, self.settings.execution_time) {
            self.execute(input, output);
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        [self.slots.next_event(), self.next_look()].into_iter().flatten().min()
    }

    fn error_register(&self) -> u8 {
        self.has_failed().into()
    }

    fn connection_lost(&mut self, _now: Duration) {
        self.lose_connection();
    }

    fn restart(&mut self, _now: Duration, power_failed: bool) {
        Simpliq::restart(self, power_failed);
    }

    fn exit_enabled(&mut self, _now: Duration) {
        self.switch_off();
    }
}
