//! The binary interpreter of a simulated drive: waiting requests, and the effects of the commands.

use std::time::Duration;

use dragoman_arm::simpliq::commands::{Command, error, unit_mode};
use dragoman_arm::simpliq::{Argument, DriveAnswer, DriveRequest};

use super::drive::{Prepared, Simpliq};
use crate::device::Output;

/// Version of the firmware, as an integer.
const VERSION: i32 = 0x0001_0000;

/// The executing request and a waiting one. A third replaces the waiting one, as observed in the Ranger thesis, 3.2.2.
#[derive(Debug, Default)]
pub(super) struct Slots {
    executed: Option<(Input, Duration)>,
    waiting: Option<Input>,
}

/// Input: a request, or letters that are not a request.
type Input = Result<DriveRequest, Command>;

impl Slots {
    /// Adds a request's data, which are executed as soon as no other request is before them.
    pub(super) fn put(&mut self, now: Duration, execution: Duration, data: &[u8]) {
        let Some(input) = input(data) else { return };
        if self.executed.is_none() {
            self.executed = Some((input, now + execution));
        } else {
            self.waiting = Some(input);
        }
    }

    /// When the execution of the current request ends.
    pub(super) fn next_event(&self) -> Option<Duration> {
        self.executed.map(|(_, done)| done)
    }

    /// The request whose execution ends at `now`; the waiting one follows.
    pub(super) fn take(&mut self, now: Duration, execution: Duration) -> Option<Input> {
        let (input, done) = self.executed.filter(|(_, done)| *done <= now)?;
        self.executed = self.waiting.take().map(|next| (next, done + execution));
        Some(input)
    }
}

fn input(data: &[u8]) -> Option<Input> {
    if let Some(request) = DriveRequest::decode(data) {
        return Some(Ok(request));
    }
    let [first, second, ..] = *data else { return None };
    Some(Err(Command::new(&[first, second])))
}

impl Simpliq {
    /// Executes a request and answers it.
    pub(super) fn execute(&mut self, input: Input, output: &mut Output) {
        let (command, result) = match input {
            Ok(request) => (request.command(), self.result(request, output)),
            Err(command) => (command, Err(error::BAD_COMMAND)),
        };
        if let Err(code) = result {
            self.last_error = code.into();
        }
        output.process_data(2, DriveAnswer { command, result }.encode());
    }

    fn result(&mut self, request: DriveRequest, output: &mut Output) -> Result<Argument, u8> {
        let command = request.command();
        let info = command.info().ok_or(error::BAD_COMMAND)?;
        let (lowest, highest) = info.indices;
        if !(lowest..=highest).contains(&command.index) {
            return Err(error::BAD_INDEX);
        }
        match request {
            DriveRequest::Get(_) => self.get(command, output),
            DriveRequest::Set(_, argument) => {
                self.set(command, argument)?;
                Ok(argument)
            }
        }
    }

    fn get(&mut self, command: Command, output: &mut Output) -> Result<Argument, u8> {
        let index = command.index;
        let value = match &command.letters {
            b"BG" => self.begin(output).map(|()| 0)?,
            b"ST" => {
                self.stop();
                0
            }
            b"IQ" => return Ok(Argument::Float(self.axis.current() as f32)),
            b"TC" => return Ok(Argument::Float(self.torque)),
            b"EC" => self.last_error,
            b"JV" => self.jog,
            b"MF" => self.failure,
            b"MO" => self.is_motor_on.into(),
            b"MP" => self.queue.parameter(index).ok_or(error::BAD_INDEX)?,
            b"PA" => self.point,
            b"PT" => self.queue.read_row().into(),
            b"PX" => self.axis.counter(),
            b"QP" => self.queue.position(index).ok_or(error::BAD_INDEX)?,
            b"QT" => self.queue.time(index).ok_or(error::BAD_INDEX)?,
            b"SD" => self.stop_deceleration,
            b"SR" => self.status().0 as i32,
            b"TI" => self.axis.temperature().round() as i32,
            b"UM" => self.unit_mode,
            b"VR" => VERSION,
            b"VX" => self.axis.velocity().round() as i32,
            _ => return Err(error::BAD_COMMAND),
        };
        Ok(Argument::Integer(value))
    }

    fn set(&mut self, command: Command, argument: Argument) -> Result<(), u8> {
        let index = command.index;
        if command == Command::TORQUE {
            return self.set_torque(float(argument));
        }
        let value = integer(argument)?;
        match &command.letters {
            b"JV" => self.set_jog(value),
            b"MO" => match value {
                0 => {
                    self.switch_off();
                    Ok(())
                }
                1 => self.switch_on(),
                _ => Err(error::OUT_OF_RANGE),
            },
            b"MP" => self.queue.set_parameter(index, value),
            b"PA" => self.prepare(Prepared::Point, |drive| drive.point = value),
            b"PT" => {
                if !self.is_motor_on {
                    return Err(error::MOTOR_MUST_BE_ON);
                }
                if self.unit_mode != unit_mode::POSITION {
                    return Err(error::BAD_UNIT_MODE);
                }
                self.queue.start_at(value)?;
                self.prepared = Some(Prepared::Queue);
                Ok(())
            }
            b"PX" => self.set_counter(value),
            b"QP" => self.queue.set_position(index, value),
            b"QT" => self.queue.set_time(index, value),
            b"SD" => {
                if value <= 0 {
                    return Err(error::OUT_OF_RANGE);
                }
                self.stop_deceleration = value;
                Ok(())
            }
            b"UM" => self.set_unit_mode(value),
            // Commands that can only be read or executed.
            _ => Err(error::BAD_COMMAND),
        }
    }
}

fn integer(argument: Argument) -> Result<i32, u8> {
    match argument {
        Argument::Integer(value) => Ok(value),
        Argument::Float(value) if value.is_finite() && value.abs() < 2_147_483_648.0 => Ok(value as i32),
        Argument::Float(_) => Err(error::OUT_OF_RANGE),
    }
}

fn float(argument: Argument) -> f32 {
    match argument {
        Argument::Integer(value) => value as f32,
        Argument::Float(value) => value,
    }
}
