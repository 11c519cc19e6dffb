//! The driver of a differential drive with the [line protocol](mod@super::line), without I/O and clock. It is used like
//! the Kobuki's [`Driver`](crate::kobuki::driver::Driver).

mod config;
mod speeds;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use super::line::{BaseAnswer, BaseRequest, Lines};
use crate::commander::{Commander, Link, Refusal, Standstill};
use crate::odometry::{Measurement, NotFinite, Odometry, Wheel};
use crate::outbox::Outbox;
use crate::safety::{Change, Contact, Safety};

pub use config::{Config, ConfigError};
use dragoman_geometry::limits::{LimitError, Limits};
use dragoman_geometry::{Pose, Twist};
use speeds::Speeds;

/// Maximum number of queued events; beyond that the oldest are dropped.
const MAX_EVENTS: usize = 256;

/// A change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Data of the base started or stopped arriving.
    Robot {
        /// Whether data arrives.
        online: bool,
    },
    /// The motors were switched on or off.
    MotorPower {
        /// Whether they are on.
        on: bool,
    },
    /// The last command expired while the base was moving; it was stopped.
    CommandExpired,
}

/// Counters of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Encoder readings received.
    pub measurements: u64,
    /// Requests without an answer in time.
    pub timeouts: u64,
    /// Lines that are not an answer, or not to the pending request.
    pub garbage: u64,
    /// Requests that the base did not understand, and encoder readings of other than two numbers.
    pub not_understood: u64,
}

/// State of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferentialState {
    /// Whether there is a connection.
    pub connected: bool,
    /// Whether the base answers.
    pub alive: bool,
    /// Why the base is commanded to stand still; `None`: it is commanded to move.
    pub standstill: Option<Standstill>,
    /// Whether the motors are on.
    pub motor_power: bool,
    /// Time of the last encoder reading on this connection, on the caller's clock.
    pub last_received: Option<Duration>,
    /// Pose relative to the start of its odometry.
    pub pose: Pose,
    /// Covariance of the pose: x, y, z and rotations about them, row by row.
    pub pose_covariance: [f64; 36],
    /// Velocity in its own frame.
    pub twist: Twist,
    /// The left and the right wheel.
    pub wheels: [Wheel; 2],
    /// Counts of the left and the right encoder.
    pub encoders: Option<[i32; 2]>,
    /// Limits in force.
    pub limits: Limits,
    /// Counters of the line.
    pub line: Statistics,
    /// How often our clock has gone back.
    pub clock_jumps: u64,
    /// How often an encoder has jumped by more than a wheel can roll.
    pub encoder_jumps: u64,
}

/// A base with two driven wheels: bytes, commands and time come in; bytes, events and states go out.
///
/// One request is pending at a time, except stop commands, which are sent at once. The base stops, and needs a new
/// command, when the connection, its answers, commands or the clock fail.
#[derive(Debug)]
pub struct Driver {
    config: Config,
    commander: Commander,
    odometry: Odometry,
    speeds: Speeds,
    lines: Lines,
    /// Its data are encoder readings.
    contact: Contact,
    now: Duration,
    encoders: Option<[i32; 2]>,
    /// Pending requests with the times they were sent.
    pending: VecDeque<(BaseRequest, Duration)>,
    /// Time until which answers are late ones, and no request is sent.
    quiet: Option<Duration>,
    /// Time of the next encoder reading.
    next_cycle: Duration,
    /// Whether speeds must be sent when the line is free.
    speeds_due: bool,
    statistics: Statistics,
    clock_jumps: u64,
    events: VecDeque<Event>,
    outbox: Outbox,
}

impl Driver {
    /// A driver without connection.
    ///
    /// # Errors
    /// An invalid dimension, limit or timeout.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            commander: Commander::new(config.limits, config.command_timeout)?,
            odometry: Odometry::new(config.wheel_geometry()),
            speeds: Speeds::new(config.period),
            lines: Lines::new(),
            contact: Contact::new(config.feedback_timeout),
            now: Duration::ZERO,
            encoders: None,
            pending: VecDeque::new(),
            quiet: None,
            next_cycle: Duration::ZERO,
            speeds_due: false,
            statistics: Statistics::default(),
            clock_jumps: 0,
            events: VecDeque::new(),
            outbox: Outbox::default(),
            config,
        })
    }

    /// The connection was opened. Sends a line end, which terminates the rest of an old line.
    pub fn handle_connected(&mut self, now: Duration) {
        self.handle_disconnected(now);
        self.contact.link = Link::NoFeedback;
        self.outbox.bytes().push(b'\r');
        self.quiet = Some(self.now.saturating_add(self.config.answer_timeout));
        self.next_cycle = self.now;
    }

    /// The connection was lost, or closed. Commands are dropped. The odometry continues from its pose.
    pub fn handle_disconnected(&mut self, now: Duration) {
        self.advance(now);
        self.commander.forget();
        self.speeds_due = false;
        self.pending.clear();
        self.quiet = None;
        self.outbox.take();
        self.lines.clear();
        self.interrupt();
        self.contact.last_received = None;
        self.encoders = None;
        self.set_link(Link::Disconnected);
    }

    /// Takes bytes from the port, up to and including the next encoder reading. `true`: there was one, the
    /// [`state`](Self::state) can be read, and bytes may remain; call again with the rest. `false`: all bytes were
    /// taken.
    ///
    /// Answers get the present time: they may have been buffered, and silence is detected only after reading them.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &mut &[u8]) -> bool {
        self.advance(now);
        self.expire(self.now);
        if self.contact.link == Link::Disconnected {
            *bytes = &[];
            return false;
        }
        while let Some(line) = self.lines.next(bytes) {
            let answer = line.parse::<BaseAnswer>();
            // Some firmware reads four wheels.
            let is_reading =
                answer.is_err() && line.split_ascii_whitespace().all(|word| word.parse::<i64>().is_ok());
            if self.quiet.is_some() {
                continue;
            }
            let measured = match answer {
                Ok(answer) => self.answer(answer),
                Err(_) if is_reading && self.take_asked(|asked| asked == BaseRequest::Encoders).is_some() => {
                    self.statistics.not_understood += 1;
                    false
                }
                Err(_) => {
                    self.statistics.garbage += 1;
                    false
                }
            };
            self.go_on();
            if measured {
                return true;
            }
        }
        self.handle_timeout(now);
        false
    }

    /// Advances the time: reads encoders, detects silence, expires commands. Must be called at the
    /// [`poll_timeout`](Self::poll_timeout); earlier calls are allowed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        if self.notice_silence(self.now) {
            // It is unknown whether the base kept its counts or has restarted.
            self.interrupt();
        }
        self.expire(self.now);
        if self.quiet.is_some_and(|until| self.now >= until) {
            self.quiet = None;
        }
        if self.pending.front().is_some_and(|(_, sent)| self.now - *sent >= self.config.answer_timeout) {
            self.statistics.timeouts += 1;
            self.pending.clear();
            self.quiet = Some(self.now.saturating_add(self.config.answer_timeout));
        }
        self.go_on();
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called at the latest. `None`: not before another input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.contact.link == Link::Disconnected {
            return None;
        }
        let after = |since: Duration, timeout: Duration| since.saturating_add(timeout);
        let line = match (self.pending.front(), self.quiet) {
            (Some((_, sent)), _) => after(*sent, self.config.answer_timeout),
            (None, Some(until)) => until,
            (None, None) => self.next_cycle,
        };
        self.contact
            .poll_timeout()
            .into_iter()
            .chain(self.commander.poll_timeout())
            .chain(self.quiet)
            .chain([line])
            .min()
    }

    /// Moves with this velocity, until the next command or until it expires. Returns all bytes to send. While an answer
    /// is pending they do not include the speeds, which follow after the answer. Silence is not detected here: data may
    /// wait unread on the line.
    ///
    /// # Errors
    /// Not finite, or the base must not move; nothing changes then.
    pub fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal> {
        self.advance(now);
        self.expire(self.now);
        self.commander.accept(self.now, twist, self.contact.link)?;
        self.speeds_due = true;
        self.go_on();
        Ok(self.outbox.take())
    }

    /// Takes all bytes to send.
    pub fn poll_transmit(&mut self) -> &[u8] {
        self.outbox.take()
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Stops the base at once; the next command moves it again.
    pub fn halt(&mut self) {
        self.stand();
    }

    /// Switches the motors on or off: while they are off, the base is commanded to stand still and commands are
    /// refused.
    pub fn set_motor_power(&mut self, on: bool) {
        self.switch_motors(on);
    }

    /// Resets the pose to the origin and the wheels to 0.
    pub fn reset_odometry(&mut self) {
        self.odometry.reset();
    }

    /// Sets the pose of the odometry; the origin is a [reset](Self::reset_odometry).
    ///
    /// # Errors
    /// Not finite.
    pub fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite> {
        self.odometry.set(pose)
    }

    /// Sets other limits.
    ///
    /// # Errors
    /// An invalid limit; the old ones stay.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        self.commander.set_limits(limits)
    }

    /// The state of the base.
    pub fn state(&self) -> DifferentialState {
        DifferentialState {
            connected: self.contact.link != Link::Disconnected,
            alive: self.contact.link == Link::Alive,
            standstill: self.commander.standstill(self.contact.link),
            motor_power: self.commander.motor_power,
            last_received: self.contact.last_received,
            pose: self.odometry.pose(),
            pose_covariance: self.odometry.pose_covariance(),
            twist: self.odometry.twist(),
            wheels: self.odometry.wheels(),
            encoders: self.encoders,
            limits: self.commander.limits(),
            line: Statistics { garbage: self.statistics.garbage + self.lines.dropped(), ..self.statistics },
            clock_jumps: self.clock_jumps,
            encoder_jumps: self.odometry.jumps(),
        }
    }

    /// The options.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Advances the time. If it goes back, the age of all data is unknown, so the base is stopped.
    fn advance(&mut self, now: Duration) {
        let back = now < self.now;
        self.now = now;
        if back {
            self.clock_jumps += 1;
            self.halt();
            self.interrupt();
            self.contact.last_received = self.contact.last_received.map(|_| now);
            self.commander.set_back(now);
            self.pending.iter_mut().for_each(|(_, sent)| *sent = now);
            self.quiet = self.quiet.map(|_| now.saturating_add(self.config.answer_timeout));
            self.next_cycle = now;
        }
    }

    /// The next encoder reading is only the reference of later ones.
    fn interrupt(&mut self) {
        self.odometry.interrupt();
        self.speeds.clear();
    }

    /// Sends the due request, if the line is free.
    fn go_on(&mut self) {
        if self.contact.link == Link::Disconnected || self.quiet.is_some() || !self.pending.is_empty() {
            return;
        }
        if std::mem::take(&mut self.speeds_due) {
            let speeds = self.config.speeds(self.commander.velocity(self.now));
            self.send(BaseRequest::SetSpeeds(speeds));
        } else if self.now >= self.next_cycle {
            self.next_cycle = self.now.saturating_add(self.config.period);
            self.send(BaseRequest::Encoders);
        }
    }

    /// Handles an answer; returns whether it was an encoder reading.
    fn answer(&mut self, answer: BaseAnswer) -> bool {
        let asked = self.take_asked(|request| match answer {
            BaseAnswer::Encoders(_) => request == BaseRequest::Encoders,
            BaseAnswer::Done => request != BaseRequest::Encoders,
            BaseAnswer::NotUnderstood => true,
        });
        let Some(asked) = asked else {
            self.statistics.garbage += 1;
            return false;
        };
        match answer {
            BaseAnswer::Encoders(counts) => {
                self.measured(asked, counts);
                true
            }
            BaseAnswer::Done => false,
            BaseAnswer::NotUnderstood => {
                self.statistics.not_understood += 1;
                false
            }
        }
    }

    /// Removes the first pending request that the answer fits, and those before it: their answers may have been lost.
    /// Returns when it was sent.
    fn take_asked(&mut self, fits: impl Fn(BaseRequest) -> bool) -> Option<Duration> {
        let index = self.pending.iter().position(|(request, _)| fits(*request))?;
        self.pending.drain(..=index).next_back().map(|(_, asked)| asked)
    }

    /// Takes encoder counts that were requested at `asked`.
    fn measured(&mut self, asked: Duration, counts: [i32; 2]) {
        self.statistics.measurements += 1;
        let ticks_per_metre = self.config.wheel_geometry().ticks_per_metre;
        let speeds = self.speeds.update(asked, self.now, counts).map(|speed| speed / ticks_per_metre);
        let jumps = self.odometry.jumps();
        self.odometry.update(Measurement {
            ticks: counts.map(i64::from),
            interval: self.speeds.max_interval(),
            speeds: Some(speeds),
            gyro: None,
        });
        if self.odometry.jumps() != jumps {
            // These counts are the reference of the next.
            self.speeds.clear();
            self.speeds.update(asked, self.now, counts);
        }
        self.encoders = Some(counts);
        self.contact.last_received = Some(self.now);
        if self.contact.link != Link::Alive {
            // The base may have an unknown old command.
            self.commander.extend_stop(self.now);
        }
        self.set_link(Link::Alive);
        self.speeds_due |= self.commander.is_moving() || self.commander.repeats_stop(self.now);
        if self.commander.is_moving() {
            self.commander.extend_stop(self.now);
        }
    }

    fn send(&mut self, request: BaseRequest) {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = write!(line, "{request}");
        self.outbox.bytes().extend_from_slice(line.as_bytes());
        self.pending.push_back((request, self.now));
    }
}

impl Safety for Driver {
    fn commander(&mut self) -> &mut Commander {
        &mut self.commander
    }

    fn contact(&mut self) -> &mut Contact {
        &mut self.contact
    }

    /// Without waiting for an answer.
    fn send_stop(&mut self) {
        const STOP: BaseRequest = BaseRequest::SetSpeeds([0, 0]);
        self.speeds_due = false;
        self.commander.extend_stop(self.now);
        if self.contact.link != Link::Disconnected
            && self.pending.back().is_none_or(|(last, _)| *last != STOP)
        {
            self.send(STOP);
        }
    }

    fn note(&mut self, change: Change) {
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(match change {
            Change::Robot { online } => Event::Robot { online },
            Change::MotorPower { on } => Event::MotorPower { on },
            Change::CommandExpired => Event::CommandExpired,
        });
    }
}

#[cfg(test)]
mod tests;
