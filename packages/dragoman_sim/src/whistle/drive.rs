//! The function of a simulated SimplIQ drive: motor, modes, motions, failures.

use std::time::Duration;

use dragoman_arm::canopen::Emergency;
use dragoman_arm::simpliq::commands::{error, unit_mode};
use dragoman_arm::simpliq::{POSITION_LOOP, Status, emergencies};

use super::WhistleSettings;
use super::interpreter::Slots;
use super::queue::{Next, Queue};
use crate::axis::{Axis, AxisEvent, Motion, Segment, tick_at, time_of};
use crate::device::Output;

/// Number of position loops between two checks of a motion for failures, if it sends nothing.
const LOOK_EVERY: u64 = 28;

/// Values of `MF`: reasons why the motor was switched off.
pub mod failure {
    /// The position error was too large.
    pub const POSITION_TRACKING: i32 = 0x100;
    /// Too fast.
    pub const SPEED_LIMIT: i32 = 0x2_0000;
    /// The position is beyond its limits.
    pub const POSITION_LIMIT: i32 = 0x40_0000;
    /// Too hot.
    pub const TEMPERATURE: i32 = 0xd000;
    /// The master's heartbeat is missing. The value of real drives is unknown.
    pub const MASTER_LOST: i32 = 0x4000_0000;
}

/// A simulated SimplIQ drive behind its CANopen interface.
#[derive(Debug)]
pub struct Simpliq {
    pub(super) settings: WhistleSettings,
    pub(super) axis: Axis,
    pub(super) queue: Queue,
    pub(super) slots: Slots,
    pub(super) unit_mode: i32,
    pub(super) is_motor_on: bool,
    is_latched: bool,
    is_overheated: bool,
    pub(super) failure: i32,
    pub(super) last_error: i32,
    pub(super) prepared: Option<Prepared>,
    pub(super) jog: i32,
    pub(super) point: i32,
    pub(super) torque: f32,
    pub(super) stop_deceleration: i32,
    pub(super) on_connection_loss: i16,
    pub(super) record: Option<Vec<(Duration, i32)>>,
}

/// The motion that `BG` starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prepared {
    Jog,
    Point,
    Queue,
}

impl Simpliq {
    pub(super) fn new(settings: WhistleSettings) -> Self {
        Self {
            axis: Axis::new(settings.axis.clone()),
            queue: Queue::new(),
            slots: Slots::default(),
            unit_mode: settings.unit_mode,
            is_motor_on: false,
            is_latched: false,
            is_overheated: false,
            failure: 0,
            last_error: 0,
            prepared: None,
            jog: 0,
            point: 0,
            torque: 0.0,
            stop_deceleration: settings.stop_deceleration,
            on_connection_loss: super::DEFAULT_CONNECTION_LOSS,
            record: None,
            settings,
        }
    }

    /// Restarts; the shaft stays, or comes to rest, at its position.
    pub(super) fn restart(&mut self, power_failed: bool) {
        let mut axis = self.axis.clone();
        axis.restart(power_failed);
        let record = self.record.take();
        *self = Self { axis, record, ..Self::new(self.settings.clone()) };
    }

    pub(super) fn status(&self) -> Status {
        let bits = [
            (Status::ERROR, self.is_too_hot()),
            (Status::MOTOR_ON, self.is_motor_on),
            (Status::FAILURE_LATCHED, self.is_latched),
            (Status::CURRENT_LIMIT, self.axis.is_current_limited()),
        ];
        Status(bits.into_iter().filter(|(_, is_set)| *is_set).map(|(bit, _)| bit).sum())
    }

    /// Whether the motor is too hot to be switched on.
    fn is_too_hot(&self) -> bool {
        self.is_overheated && self.axis.is_too_hot()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.is_latched || self.is_too_hot()
    }

    pub(super) fn switch_on(&mut self) -> Result<(), u8> {
        if self.is_motor_on {
            return Ok(());
        }
        if self.is_too_hot() {
            return Err(error::MOTOR_COULD_NOT_START);
        }
        (self.is_motor_on, self.is_latched, self.is_overheated, self.failure) = (true, false, false, 0);
        self.axis.stop(self.stop_deceleration.into());
        if self.unit_mode == unit_mode::TORQUE {
            self.axis.set_motion(Motion::Current(0.0));
        }
        Ok(())
    }

    pub(super) fn switch_off(&mut self) {
        self.is_motor_on = false;
        self.prepared = None;
        self.torque = 0.0;
        self.end_queue();
        self.axis.brake();
    }

    /// Switches the motor off because of a failure.
    fn fail(&mut self, cause: i32, emergency: Option<Emergency>, output: &mut Output) {
        self.switch_off();
        self.is_latched = true;
        self.failure = cause;
        if let Some(emergency) = emergency {
            output.emergency(emergency);
        }
    }

    pub(super) fn stop(&mut self) {
        self.end_queue();
        if !self.is_motor_on {
            return;
        }
        self.torque = 0.0;
        if self.unit_mode == unit_mode::TORQUE {
            self.axis.set_motion(Motion::Current(0.0));
        } else {
            self.axis.stop(self.stop_deceleration.into());
        }
    }

    /// The master is lost: object 0x6007 determines the reaction.
    pub(super) fn lose_connection(&mut self) {
        if !self.is_motor_on {
            return;
        }
        match self.on_connection_loss {
            1 | 2 => {
                self.switch_off();
                (self.is_latched, self.failure) = (true, failure::MASTER_LOST);
            }
            3 => {
                self.prepared = None;
                self.torque = 0.0;
                self.end_queue();
                self.axis.stop(self.stop_deceleration.into());
            }
            _ => {}
        }
    }

    pub(super) fn set_unit_mode(&mut self, mode: i32) -> Result<(), u8> {
        if self.is_motor_on {
            return Err(error::MOTOR_MUST_BE_OFF);
        }
        if ![unit_mode::TORQUE, unit_mode::SPEED, unit_mode::POSITION].contains(&mode) {
            return Err(error::OUT_OF_RANGE);
        }
        (self.unit_mode, self.prepared) = (mode, None);
        Ok(())
    }

    pub(super) fn set_counter(&mut self, value: i32) -> Result<(), u8> {
        if self.is_motor_on {
            return Err(error::MOTOR_MUST_BE_OFF);
        }
        self.axis.set_position(value.into());
        Ok(())
    }

    pub(super) fn set_torque(&mut self, current: f32) -> Result<(), u8> {
        if self.unit_mode != unit_mode::TORQUE {
            return Err(error::BAD_UNIT_MODE);
        }
        if !self.is_motor_on {
            return Err(error::MOTOR_MUST_BE_ON);
        }
        let amperes = f64::from(current);
        if !amperes.is_finite() || amperes.abs() > self.axis.settings().current_limit {
            return Err(error::OUT_OF_RANGE);
        }
        self.torque = current;
        self.axis.set_motion(Motion::Current(amperes));
        Ok(())
    }

    pub(super) fn set_jog(&mut self, velocity: i32) -> Result<(), u8> {
        if self.unit_mode == unit_mode::TORQUE {
            return Err(error::BAD_UNIT_MODE);
        }
        if f64::from(velocity).abs() > self.axis.settings().velocity_limit {
            return Err(error::OUT_OF_RANGE);
        }
        (self.jog, self.prepared) = (velocity, Some(Prepared::Jog));
        Ok(())
    }

    /// Prepares a motion of the position mode.
    pub(super) fn prepare(&mut self, motion: Prepared, set: impl FnOnce(&mut Self)) -> Result<(), u8> {
        if self.unit_mode != unit_mode::POSITION {
            return Err(error::BAD_UNIT_MODE);
        }
        set(self);
        self.prepared = Some(motion);
        Ok(())
    }

    /// `BG`.
    pub(super) fn begin(&mut self, output: &mut Output) -> Result<(), u8> {
        if !self.is_motor_on {
            return Err(error::MOTOR_MUST_BE_ON);
        }
        if self.unit_mode == unit_mode::TORQUE {
            return Err(error::BAD_UNIT_MODE);
        }
        match self.prepared.ok_or(error::BAD_INITIAL_DATA)? {
            Prepared::Jog => {
                self.end_queue();
                let acceleration = self.axis.settings().acceleration;
                self.axis.set_motion(Motion::Velocity { target: self.jog.into(), acceleration });
            }
            Prepared::Point => {
                self.end_queue();
                let target = Axis::unwrapped(self.axis.position(), self.point);
                let speed = self.settings.profile_speed;
                let deceleration = self.stop_deceleration.into();
                self.axis.set_motion(Motion::Point { target, speed, deceleration });
            }
            Prepared::Queue => self.begin_queue(output)?,
        }
        Ok(())
    }

    fn begin_queue(&mut self, output: &mut Output) -> Result<(), u8> {
        let first = self.queue.begin()?;
        self.prepared = None;
        let position = self.axis.position();
        let distance = Axis::unwrapped(position, first) - position;
        if distance.abs() > self.settings.tracking_window {
            self.fail_to_track(output);
            return Ok(());
        }
        // The next position loop is the first of the motion.
        let start = self.axis.tick() + 1;
        self.note_row(start);
        self.follow(start, position, self.axis.velocity() * POSITION_LOOP.as_secs_f64(), output);
        Ok(())
    }

    /// Moves to the next row, from a position with a velocity in counts per position loop.
    fn follow(&mut self, start: u64, from: f64, from_velocity: f64, output: &mut Output) {
        let Next::Row(next, behind) = self.queue.next() else {
            self.end_queue();
            if from_velocity == 0.0 {
                self.axis.hold_at(from);
            } else {
                self.axis.stop(self.stop_deceleration.into());
            }
            output.emergency(self.queue.emergency(emergencies::code::TERMINATED));
            return;
        };
        let ticks = u32::from(self.queue.sample_ratio);
        let to = Axis::unwrapped(from, next);
        // Through a row with the mean velocity of the two adjacent segments; to rest at the last row.
        let to_velocity =
            behind.map_or(0.0, |behind| (Axis::unwrapped(to, behind) - from) / (2.0 * f64::from(ticks)));
        let segment = Segment { from, to, from_velocity, to_velocity, start, ticks };
        let needed = segment.peak_velocity() / POSITION_LOOP.as_secs_f64();
        if needed > self.axis.settings().velocity_limit {
            self.fail_to_track(output);
        } else {
            self.axis.set_motion(Motion::Segment(segment));
        }
    }

    fn reach_row(&mut self, output: &mut Output) {
        let Motion::Segment(segment) = *self.axis.motion() else { return };
        self.note_row(self.axis.tick());
        if self.queue.reach_next() {
            output.emergency(self.queue.emergency(emergencies::code::QUEUE_LOW));
        }
        self.follow(self.axis.tick(), segment.to, segment.to_velocity, output);
    }

    fn note_row(&mut self, tick: u64) {
        if let Some(record) = &mut self.record {
            record.push((time_of(tick), self.axis.counter()));
        }
    }

    fn fail_to_track(&mut self, output: &mut Output) {
        let emergency = Emergency { code: 0x8611, register: 0x21, maker: [0; 5] };
        self.fail(failure::POSITION_TRACKING, Some(emergency), output);
    }

    fn end_queue(&mut self) {
        self.queue.end();
    }

    /// Executes the position loops up to `now`.
    pub(super) fn run_position_loop(&mut self, now: Duration, output: &mut Output) {
        let last = tick_at(now);
        while self.axis.tick() < last {
            if self.axis.is_at_rest() {
                self.axis.rest_until(last);
                return;
            }
            match self.axis.step() {
                Some(AxisEvent::SegmentEnd) => self.reach_row(output),
                Some(AxisEvent::TooFast) if self.is_motor_on => {
                    let emergency = Emergency { code: 0x8481, register: 0x21, maker: [0; 5] };
                    self.fail(failure::SPEED_LIMIT, Some(emergency), output);
                }
                Some(AxisEvent::OutOfRange) if self.is_motor_on => {
                    let emergency = Emergency { code: 0x8680, register: 0x21, maker: [0; 5] };
                    self.fail(failure::POSITION_LIMIT, Some(emergency), output);
                }
                Some(AxisEvent::TooHot) if self.is_motor_on => {
                    let emergency = Emergency { code: 0x4310, register: 0x09, maker: [0; 5] };
                    self.fail(failure::TEMPERATURE, Some(emergency), output);
                    self.is_overheated = true;
                }
                _ => {}
            }
        }
    }

    /// When the motion may have something to send.
    pub(super) fn next_look(&self) -> Option<Duration> {
        if !self.is_motor_on || self.axis.is_at_rest() {
            return None;
        }
        Some(time_of(match self.axis.motion() {
            Motion::Segment(segment) => segment.start + u64::from(segment.ticks),
            _ => self.axis.tick() + LOOK_EVERY,
        }))
    }
}
