//! The driver of a differential drive behind the [line protocol](mod@super::line), without I/O and clock. It is used as the Kobuki's
//! [`Driver`](crate::kobuki::driver::Driver) is.

mod config;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use super::line::{Answer, Lines, Request};
use crate::commander::{Commander, Link, Refusal, Standstill};
use crate::odometry::{Measurement, NotFinite, Odometry, Wheel};
use crate::outbox::Outbox;
use crate::safety::{Change, Contact, Safety};

pub use config::{Config, ConfigError};
use dragoman_geometry::limits::{LimitError, Limits};
use dragoman_geometry::{Pose, Twist};

/// Events that nobody takes are dropped, the oldest first.
const MAX_EVENTS: usize = 256;

/// What has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The base is heard, or is not any more.
    Robot {
        /// Whether it is.
        online: bool,
    },
    /// The motors were switched on or off.
    MotorPower {
        /// Whether they are on.
        on: bool,
    },
    /// Commands stopped coming while the base was moving; it was stopped.
    CommandExpired,
}

/// What came over the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Counts of the encoders.
    pub measurements: u64,
    /// Requests without an answer in time.
    pub timeouts: u64,
    /// Lines that were no answer, or none to what was asked.
    pub garbage: u64,
    /// Requests that the base did not understand.
    pub not_understood: u64,
}

/// All that is known of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Whether there is a connection.
    pub connected: bool,
    /// Whether the base answers.
    pub alive: bool,
    /// Why the base is not told to move; `None`: it is.
    pub standstill: Option<Standstill>,
    /// Whether the motors are on.
    pub motor_power: bool,
    /// When the encoders were read last on this connection, on the caller's clock.
    pub heard: Option<Duration>,
    /// Where the base is, seen from where its odometry began.
    pub pose: Pose,
    /// The covariance of the pose: x, y, z and turns about them, row by row.
    pub pose_covariance: [f64; 36],
    /// How the base moves, in its own frame.
    pub twist: Twist,
    /// The left and the right wheel.
    pub wheels: [Wheel; 2],
    /// Counts of the left and the right encoder.
    pub encoders: Option<[i32; 2]>,
    /// Limits in force.
    pub limits: Limits,
    /// What came over the line.
    pub line: Statistics,
    /// How often our clock has gone back.
    pub clock_jumps: u64,
    /// How often an encoder has jumped further than a wheel can roll.
    pub encoder_jumps: u64,
}

/// A base with two driven wheels: bytes, commands and time come in; bytes, events and states go out.
///
/// There is one request under way at a time, but for standing still, which waits for nothing. The base stands still, and has to be told anew
/// to move, when the connection, its answers, commands or the sense of time are lost.
#[derive(Debug)]
pub struct Driver {
    config: Config,
    commander: Commander,
    odometry: Odometry,
    lines: Lines,
    /// Heard are the encoders.
    contact: Contact,
    now: Duration,
    encoders: Option<[i32; 2]>,
    /// Requests under way, and when they were sent.
    pending: VecDeque<(Request, Duration)>,
    /// Until when answers are late ones, and nothing is asked.
    quiet: Option<Duration>,
    /// When the encoders are read next.
    next_cycle: Duration,
    /// Whether speeds are to be sent as soon as the line is free.
    tell: bool,
    statistics: Statistics,
    clock_jumps: u64,
    events: VecDeque<Event>,
    outbox: Outbox,
}

impl Driver {
    /// A driver without connection.
    ///
    /// # Errors
    /// A measure, a limit or a timeout makes no sense.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            commander: Commander::new(config.limits, config.command_timeout)?,
            odometry: Odometry::new(config.wheel_geometry()),
            lines: Lines::new(),
            contact: Contact::new(config.feedback_timeout),
            now: Duration::ZERO,
            encoders: None,
            pending: VecDeque::new(),
            quiet: None,
            next_cycle: Duration::ZERO,
            tell: false,
            statistics: Statistics::default(),
            clock_jumps: 0,
            events: VecDeque::new(),
            outbox: Outbox::default(),
            config,
        })
    }

    /// The connection was opened. The end of a line is sent, so that what was left of one is none.
    pub fn opened(&mut self, now: Duration) {
        self.lost(now);
        self.contact.link = Link::Unheard;
        self.outbox.bytes().push(b'\r');
        self.quiet = Some(self.now.saturating_add(self.config.answer_timeout));
        self.next_cycle = self.now;
    }

    /// The connection was lost, or closed. Commands are forgotten. The odometry goes on from where it is.
    pub fn lost(&mut self, now: Duration) {
        self.advance(now);
        self.commander.forget();
        self.tell = false;
        self.pending.clear();
        self.quiet = None;
        self.outbox.take();
        self.lines.clear();
        self.odometry.interrupt();
        self.contact.heard = None;
        self.encoders = None;
        self.set_link(Link::Disconnected);
    }

    /// Takes what came from the port, up to and including the next counts of the encoders. `true`: there were some, the
    /// [`state`](Self::state) can be read, and there may be more; call again with the rest. `false`: all was taken.
    ///
    /// Answers count as heard now: they may have waited for us, and whether the base is silent is judged after them.
    pub fn receive(&mut self, now: Duration, bytes: &mut &[u8]) -> bool {
        self.advance(now);
        self.expire(self.now);
        if self.contact.link == Link::Disconnected {
            *bytes = &[];
            return false;
        }
        while let Some(line) = self.lines.next(bytes) {
            let answer = line.parse();
            if self.quiet.is_some() {
                continue;
            }
            let measured = match answer {
                Ok(answer) => self.answer(answer),
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
        self.poll(now);
        false
    }

    /// Lets time pass: encoders are read, silence is noticed, commands expire. To be called at the [`deadline`](Self::deadline), and whenever it
    /// suits.
    pub fn poll(&mut self, now: Duration) {
        self.advance(now);
        if self.notice_silence(self.now) {
            // Whether the base counts on, or has restarted, nobody knows.
            self.odometry.interrupt();
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

    /// When [`poll`](Self::poll) has to be called at the latest. `None`: not before something else happens.
    pub fn deadline(&self) -> Option<Duration> {
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
            .deadline()
            .into_iter()
            .chain(self.commander.deadline())
            .chain(self.quiet)
            .chain([line])
            .min()
    }

    /// Moves with this velocity, until the next command or until it expires. Returns all bytes that are to be sent. While an answer is
    /// awaited the speeds are not among them: they follow as soon as it is there. Whether the base is silent is judged elsewhere: what waits
    /// on the line may not have been read yet.
    ///
    /// # Errors
    /// NaN or infinite, or the base would not move; nothing changes then.
    pub fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal> {
        self.advance(now);
        self.expire(self.now);
        self.commander.accept(self.now, twist, self.contact.link)?;
        self.tell = true;
        self.go_on();
        Ok(self.outbox.take())
    }

    /// All bytes that are to be sent; none are left.
    pub fn transmit(&mut self) -> &[u8] {
        self.outbox.take()
    }

    /// What has changed, the oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Stands still at once, whatever was commanded; the next command moves again.
    pub fn halt(&mut self) {
        self.stand();
    }

    /// Switches the motors on or off: while they are off, the base is told to stand still and commands are refused.
    pub fn set_motor_power(&mut self, on: bool) {
        self.switch_motors(on);
    }

    /// Declares the base to be at the origin, with wheels at 0.
    pub fn reset_odometry(&mut self) {
        self.odometry.reset();
    }

    /// Declares the base to be here; the origin is a [reset](Self::reset_odometry).
    ///
    /// # Errors
    /// NaN or infinite.
    pub fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite> {
        self.odometry.set(pose)
    }

    /// Sets other limits.
    ///
    /// # Errors
    /// A limit is none; the old ones stay.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        self.commander.set_limits(limits)
    }

    /// All that is known of the base.
    pub fn state(&self) -> State {
        State {
            connected: self.contact.link != Link::Disconnected,
            alive: self.contact.link == Link::Alive,
            standstill: self.commander.standstill(self.contact.link),
            motor_power: self.commander.motor_power,
            heard: self.contact.heard,
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

    /// Time goes on. If it goes back, nobody knows how old anything is, so the base stands still.
    fn advance(&mut self, now: Duration) {
        let back = now < self.now;
        self.now = now;
        if back {
            self.clock_jumps += 1;
            self.halt();
            self.odometry.interrupt();
            self.contact.heard = self.contact.heard.map(|_| now);
            self.commander.set_back(now);
            self.pending.iter_mut().for_each(|(_, sent)| *sent = now);
            self.quiet = self.quiet.map(|_| now.saturating_add(self.config.answer_timeout));
            self.next_cycle = now;
        }
    }

    /// Asks for, or tells, what is due, if the line is free.
    fn go_on(&mut self) {
        if self.contact.link == Link::Disconnected || self.quiet.is_some() || !self.pending.is_empty() {
            return;
        }
        if std::mem::take(&mut self.tell) {
            let speeds = self.config.speeds(self.commander.velocity(self.now));
            self.send(Request::SetSpeeds(speeds));
        } else if self.now >= self.next_cycle {
            self.next_cycle = self.now.saturating_add(self.config.period);
            self.send(Request::Encoders);
        }
    }

    /// An answer has come; whether it was what the encoders count.
    fn answer(&mut self, answer: Answer) -> bool {
        // An answer before it may have been lost.
        let asked = self.pending.iter().position(|(request, _)| match answer {
            Answer::Encoders(_) => *request == Request::Encoders,
            Answer::Done => *request != Request::Encoders,
            Answer::NotUnderstood => true,
        });
        let Some(asked) = asked else {
            self.statistics.garbage += 1;
            return false;
        };
        self.pending.drain(..=asked);
        match answer {
            Answer::Encoders(counts) => {
                self.measured(counts);
                true
            }
            Answer::Done => false,
            Answer::NotUnderstood => {
                self.statistics.not_understood += 1;
                false
            }
        }
    }

    fn measured(&mut self, counts: [i32; 2]) {
        self.statistics.measurements += 1;
        let interval = self.contact.heard.map_or(Duration::ZERO, |heard| self.now - heard);
        self.odometry.update(Measurement { ticks: counts.map(i64::from), interval, gyro: None });
        self.encoders = Some(counts);
        self.contact.heard = Some(self.now);
        if self.contact.link != Link::Alive {
            // Nobody knows what the base was told before.
            self.commander.tell(self.now);
        }
        self.set_link(Link::Alive);
        self.tell |= self.commander.is_moving() || self.commander.repeats_stop(self.now);
        if self.commander.is_moving() {
            self.commander.tell(self.now);
        }
    }

    fn send(&mut self, request: Request) {
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
    fn tell_stop(&mut self) {
        const STOP: Request = Request::SetSpeeds([0, 0]);
        self.tell = false;
        self.commander.tell(self.now);
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
