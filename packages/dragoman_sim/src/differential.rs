//! A simulated base with two driven wheels, and its microcontroller: the protocol of ROSArduinoBridge, the counterpart
//! of `dragoman_base::differential`.
//!
//! As in that firmware, every line gets one answer; speeds are encoder ticks per period of its controller; without a
//! new speed for 2 s the wheels stop; resetting the encoders stops them too.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use dragoman_base::differential::driver::Config;
use dragoman_base::differential::line::{BaseAnswer, BaseRequest, Lines};
use dragoman_base::odometry::WheelGeometry;
use dragoman_geometry::{Pose, Twist};

use crate::chassis::{Chassis, Contact, Wheels};
use crate::serial::{Sender, SerialDevice};

/// Time without a new speed after which the wheels stop.
pub const AUTO_STOP: Duration = Duration::from_secs(2);

/// Maximum number of waiting events; then the oldest is lost.
const MAX_EVENTS: usize = 256;
/// Period of simulating the wheels while there are no requests.
const LOOK: Duration = Duration::from_millis(100);

/// Settings of a simulated base; the defaults match `dragoman_base`'s driver.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferentialSettings {
    /// Distance between the wheels, m.
    pub wheel_separation: f64,
    /// Radius of a wheel, m.
    pub wheel_radius: f64,
    /// Encoder ticks per revolution of a wheel.
    pub ticks_per_turn: f64,
    /// Rate of its controller, Hz; speeds are in ticks per period.
    pub controller_rate: f64,
    /// Maximum rolling speed of a wheel, m/s.
    pub max_speed: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for DifferentialSettings {
    fn default() -> Self {
        let Config { wheel_separation, wheel_radius, ticks_per_turn, controller_rate, .. } =
            Config::default();
        Self { wheel_separation, wheel_radius, ticks_per_turn, controller_rate, max_speed: 1.0, seed: 0 }
    }
}

/// A setting is not positive, or not finite.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{name} cannot be {value}")]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct SettingsError {
    /// Name of the setting.
    pub name: &'static str,
    pub value: f64,
}

/// An event of the base.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Powered up.
    PowerOn,
    /// Commanded speeds of the wheels, m/s.
    Speeds(Wheels<f64>),
    /// No speed was received for 2 s, and the wheels stop.
    AutoStop,
}

/// A line, as `dragoman device wheels` prints it.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PowerOn => f.write_str("power on"),
            Self::Speeds(Wheels { left, right }) => write!(f, "speeds {left:.3} m/s {right:.3} m/s"),
            Self::AutoStop => f.write_str("motors off"),
        }
    }
}

/// A simulated base. Times are since an arbitrary epoch, and virtual.
#[derive(Debug)]
pub struct DifferentialBase {
    /// Blocked wheels.
    pub stalled: Wheels<bool>,
    /// The base's velocity, if it does not follow from the wheels; values that are not finite count as zero.
    pub motion: Option<Twist>,
    settings: DifferentialSettings,
    geometry: WheelGeometry,
    /// Whole milliseconds since the epoch.
    tick: u64,
    lines: Lines,
    chassis: Chassis,
    speeds: Wheels<f64>,
    commanded_at: Option<Duration>,
    sender: Sender,
    events: VecDeque<Event>,
}

impl DifferentialBase {
    /// A base that is powered up at time zero; its start pose is its origin.
    ///
    /// # Errors
    /// A setting is invalid.
    pub fn new(settings: DifferentialSettings) -> Result<Self, SettingsError> {
        let DifferentialSettings {
            wheel_separation,
            wheel_radius,
            ticks_per_turn,
            controller_rate,
            max_speed,
            ..
        } = settings;
        for (name, value) in [
            ("wheel separation", wheel_separation),
            ("wheel radius", wheel_radius),
            ("ticks per turn", ticks_per_turn),
            ("controller rate", controller_rate),
            ("maximum speed", max_speed),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(SettingsError { name, value });
            }
        }
        let geometry = WheelGeometry {
            separation: wheel_separation,
            radius: wheel_radius,
            ticks_per_metre: ticks_per_turn / (std::f64::consts::TAU * wheel_radius),
            tick_modulus: 1 << 32,
            max_speed,
        };
        Ok(Self {
            stalled: Wheels::default(),
            motion: None,
            geometry,
            tick: 0,
            lines: Lines::new(),
            chassis: Chassis::new(geometry),
            speeds: Wheels::default(),
            commanded_at: None,
            sender: Sender::new(settings.seed),
            events: VecDeque::from([Event::PowerOn]),
            settings,
        })
    }

    /// Power cycle: the wheels stop, the encoders are reset to 0.
    pub fn reset(&mut self) {
        self.lines = Lines::new();
        self.sender.restart();
        self.stop();
        self.chassis.restart();
        self.report(Event::PowerOn);
    }

    /// Suppresses all answers for this time; the base continues to work.
    pub fn silence(&mut self, time: Duration) {
        self.sender.silence(self.now().saturating_add(time));
    }

    /// Sends this number of random bytes.
    pub fn garbage(&mut self, count: usize) {
        self.sender.garbage(self.now(), count);
    }

    /// From now on changes a random byte in this fraction of the answers, 0 to 1.
    pub fn corrupt(&mut self, share: f64) {
        self.sender.corrupt(share);
    }

    /// The simulated time.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.tick)
    }

    /// True pose, relative to the start.
    pub fn pose(&self) -> Pose {
        self.chassis.pose
    }

    /// True velocity.
    pub fn twist(&self) -> Twist {
        self.chassis.twist
    }

    /// Angles of the wheels since the start, rad.
    pub fn wheel_angles(&self) -> Wheels<f64> {
        self.chassis.wheels.map(|wheel| wheel.angle)
    }

    /// Events since the last call, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn step(&mut self) {
        self.tick += 1;
        if self.commanded_at.is_some_and(|at| self.now() > at + AUTO_STOP) {
            self.stop();
            self.report(Event::AutoStop);
        }
        let contact = Contact { stalled: self.stalled, is_lifted: false, motion: self.motion };
        self.chassis.step(self.speeds, &contact);
    }

    fn stop(&mut self) {
        self.commanded_at = None;
        self.speeds = Wheels::default();
    }

    fn answer(&mut self, line: &str) -> BaseAnswer {
        match line.parse() {
            Ok(BaseRequest::Encoders) => {
                // The counters wrap.
                let ticks = self.chassis.ticks().map(|ticks| ticks as i32);
                BaseAnswer::Encoders([ticks.left, ticks.right])
            }
            Ok(BaseRequest::SetSpeeds([left, right])) => {
                self.drive(Wheels { left, right });
                BaseAnswer::Done
            }
            Ok(BaseRequest::ResetEncoders) => {
                self.stop();
                self.chassis.restart();
                BaseAnswer::Done
            }
            Err(_) => BaseAnswer::NotUnderstood,
        }
    }

    fn drive(&mut self, ticks_per_period: Wheels<i16>) {
        let limit = self.geometry.max_speed;
        let per_tick = self.settings.controller_rate / self.geometry.ticks_per_metre;
        let speeds = ticks_per_period.map(|ticks| (f64::from(ticks) * per_tick).clamp(-limit, limit));
        if speeds != self.speeds {
            self.speeds = speeds;
            self.report(Event::Speeds(speeds));
        }
        self.commanded_at = (speeds != Wheels::default()).then(|| self.now());
    }

    fn report(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl SerialDevice for DifferentialBase {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.handle_timeout(now);
        let mut bytes = bytes;
        let mut lines = std::mem::take(&mut self.lines);
        while let Some(line) = lines.next(&mut bytes) {
            let answer = self.answer(line);
            self.sender.send(self.now(), answer.to_string().into_bytes());
        }
        self.lines = lines;
    }

    fn handle_timeout(&mut self, now: Duration) {
        let end = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        while self.tick < end {
            self.step();
        }
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.sender.next()
    }

    fn poll_timeout(&self) -> Duration {
        self.now() + LOOK
    }
}

#[cfg(test)]
mod tests;
