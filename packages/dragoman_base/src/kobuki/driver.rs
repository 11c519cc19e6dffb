//! The driver of a Kobuki, without I/O and clock.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Driver`]: its inputs and outputs |
//! | `config` | [`Config`]: timeouts, limits, options |
//! | `events` | [`Event`]: a change, reported once |
//! | `battery` | [`Battery`]: charge and charging |
//! | `state` | [`KobukiState`]: the state of the base |
//! | `clock` | compares the base's clock with ours: detects restarts |
//! | `heading` | the gyro's heading, relative to its first reading |
//! | `identity` | versions and gains: requested until they arrive |
//! | `outputs` | LEDs, digital outputs, external power |
//! | `recorder` | [`Record`]: the traffic on the line, for debugging |
//!
//! How to use it: pass every input to the driver with the time, on a clock with any epoch; then
//! [`poll_transmit`](Driver::poll_transmit) returns the bytes to send, [`poll_event`](Driver::poll_event) the changes, and
//! [`poll_timeout`](Driver::poll_timeout) the latest time to call [`handle_timeout`](Driver::handle_timeout).
//!
//! ```
//! # use std::time::Duration;
//! use dragoman_base::kobuki::driver::{Config, Driver};
//! use dragoman_geometry::Twist;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut driver = Driver::new(Config::default())?;
//! driver.handle_connected(Duration::from_millis(0));
//! let mut bytes: &[u8] = &[/* from the port */];
//! while driver.handle_bytes(Duration::from_millis(20), &mut bytes) {
//!     println!("{:?}", driver.state().pose); // once for each frame of feedback
//! }
//! let refusal = driver.command(Duration::from_millis(20), Twist::new(0.1, 0.0)).unwrap_err();
//! assert_eq!(refusal.to_string(), "no data of the base received yet");
//! # Ok(())
//! # }
//! ```

mod battery;
mod clock;
mod config;
mod events;
mod heading;
mod identity;
mod outputs;
mod recorder;
mod state;

use std::collections::VecDeque;
use std::time::Duration;

use super::wire::{
    BaseControl, Command, ControllerGains, CoreSensors, Decoder, Feedback, GainsRequest, Inertia, Sound,
    SoundSequence,
};
use crate::commander::{Commander, Link, Refusal, Standstill};
use crate::odometry::{GyroReading, Measurement, NotFinite, Odometry, WheelGeometry};
use crate::outbox::Outbox;
use crate::safety::{Change, Contact, Safety};

pub use battery::{Battery, BatteryConfig, BatteryLevel};
pub use config::{Config, ConfigError, HeadingSource};
pub use events::{Event, PowerEvent, Side, Wheel};
pub use identity::Identity;
pub use outputs::{Led, LedColor};
pub use recorder::{Record, Recorded};
pub use state::{KobukiState, Sensors};

use clock::{DeviceClock, Step};
use dragoman_geometry::limits::{LimitError, Limits};
use dragoman_geometry::{Pose, Twist};
use events::Edges;
use heading::Heading;
use outputs::Wanted;
use recorder::Recorder;

/// Maximum number of queued events; beyond that the oldest are dropped.
const MAX_EVENTS: usize = 256;

/// A Kobuki: bytes, commands and time come in; bytes, events and states go out.
///
/// It sends nothing before the first feedback. When the connection, feedback, commands, the wheels' contact with the
/// ground or the clock fail, the base is commanded to stand still, and needs a new command to move.
#[derive(Debug)]
pub struct Driver {
    config: Config,
    commander: Commander,
    odometry: Odometry,
    heading: Heading,
    decoder: Decoder,
    /// Its data are frames of feedback.
    contact: Contact,
    now: Duration,
    device_clock: DeviceClock,
    sensors: Sensors,
    /// Counters of the encoders, left and right, that are reported as 0.
    encoder_zero: [u16; 2],
    identity: Identity,
    /// Time of the last request to the base.
    asked: Option<Duration>,
    edges: Edges,
    outputs: Wanted,
    recorder: Recorder,
    feedback_frames: u64,
    malformed: u64,
    clock_jumps: u64,
    events: VecDeque<Event>,
    outbox: Outbox,
}

impl Driver {
    /// A driver without connection.
    ///
    /// # Errors
    /// An invalid limit, timeout or voltage.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            commander: Commander::new(config.limits, config.command_timeout)?,
            odometry: Odometry::new(WheelGeometry::KOBUKI),
            heading: Heading::default(),
            decoder: Decoder::new(),
            contact: Contact::new(config.feedback_timeout),
            now: Duration::ZERO,
            device_clock: DeviceClock::default(),
            sensors: Sensors::default(),
            encoder_zero: [0; 2],
            identity: Identity::default(),
            asked: None,
            edges: Edges::default(),
            outputs: Wanted::default(),
            recorder: Recorder::default(),
            feedback_frames: 0,
            malformed: 0,
            clock_jumps: 0,
            events: VecDeque::new(),
            outbox: Outbox::default(),
            config,
        })
    }

    /// The connection was opened. Nothing is sent before the first feedback.
    pub fn handle_connected(&mut self, now: Duration) {
        self.handle_disconnected(now);
        self.contact.link = Link::NoFeedback;
    }

    /// The connection was lost, or closed. Commands are dropped; desired outputs are kept for the next connection. The
    /// odometry continues from its pose.
    pub fn handle_disconnected(&mut self, now: Duration) {
        self.advance(now);
        self.commander.forget();
        self.outbox.take();
        self.decoder.clear();
        self.odometry.interrupt();
        self.heading.interrupt();
        self.device_clock = DeviceClock::default();
        self.contact.last_received = None;
        self.sensors = Sensors::default();
        self.encoder_zero = [0; 2];
        self.identity = Identity::default();
        self.set_link(Link::Disconnected);
    }

    /// Takes bytes from the port, up to and including the next frame of feedback. `true`: there was one, its
    /// [`state`](Self::state) can be read, and bytes may remain; call again with the rest. `false`: all bytes were
    /// taken.
    ///
    /// Feedback is a frame with the base's core sensors. It is answered with the due commands. Frames get the present
    /// time: they may have been buffered, and silence is detected only after reading them.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &mut &[u8]) -> bool {
        self.advance(now);
        self.expire(self.now);
        if self.contact.link == Link::Disconnected {
            *bytes = &[];
            return false;
        }
        loop {
            let Some(payload) = self.decoder.next(bytes) else {
                self.handle_timeout(now);
                return false;
            };
            self.recorder.received(payload);
            let mut with_core = false;
            let mut gyro = None;
            for part in Feedback::read(payload) {
                let Ok(part) = part else {
                    self.malformed += 1;
                    continue;
                };
                match part {
                    Feedback::Core(_) => with_core = true,
                    Feedback::Inertia(inertia) => gyro = Some(inertia),
                    _ => {}
                }
                self.sensors.take(&part);
                self.events.extend(self.identity.take(&part));
            }
            self.trim_events();
            if with_core {
                self.feedback(gyro);
                return true;
            }
        }
    }

    /// Advances the time: detects silence, expires commands. Must be called at [`poll_timeout`](Self::poll_timeout);
    /// earlier calls are allowed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        if self.notice_silence(self.now) {
            self.identity = Identity::default();
        }
        self.expire(self.now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called at the latest. `None`: not before another input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.contact.poll_timeout().into_iter().chain(self.commander.poll_timeout()).min()
    }

    /// Moves with this velocity, until the next command or until it expires. Returns all bytes to send, including the
    /// command. Silence is not detected here: data may wait unread on the line.
    ///
    /// # Errors
    /// Not finite, or the base must not move; nothing changes then, and a moving base continues with its last command.
    pub fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal> {
        self.advance(now);
        self.expire(self.now);
        self.commander.accept(self.now, twist, self.contact.link)?;
        self.send_velocity();
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

    /// Selects the traffic to record from now on.
    pub fn record(&mut self, recorded: Recorded) {
        self.recorder.set(recorded);
    }

    /// The next record, oldest first.
    pub fn poll_record(&mut self) -> Option<Record> {
        self.recorder.take()
    }

    /// Stops the base at once; the next command moves it again.
    pub fn halt(&mut self) {
        self.stand();
    }

    /// Switches the motors on or off: while they are off, the base is commanded to stand still and commands are
    /// refused.
    ///
    /// # Errors
    /// Switching on while a wheel has dropped, if that is configured to switch them off.
    pub fn set_motor_power(&mut self, on: bool) -> Result<(), Refusal> {
        let dropped = self.config.motors_off_on_wheel_drop
            && self.contact.link == Link::Alive
            && self.sensors.core.is_some_and(|core| !core.wheel_drops.is_empty());
        if on && dropped {
            return Err(Refusal::Standstill(Standstill::WheelDrop));
        }
        if on {
            self.commander.wheel_dropped = false;
        }
        self.switch_motors(on);
        Ok(())
    }

    /// Sets an LED; kept while the base is disconnected.
    pub fn set_led(&mut self, led: Led, color: LedColor) {
        self.outputs.set_led(led, color);
        self.send_outputs();
    }

    /// Sets the given ones of the four digital outputs; kept while the base is disconnected.
    pub fn set_digital_outputs(&mut self, values: [Option<bool>; 4]) {
        self.outputs.set_digital(values);
        self.send_outputs();
    }

    /// Switches the given ones of the four external power outputs, 3.3 V, 5 V, 12 V 5 A, 12 V 1.5 A; kept while the
    /// base is disconnected.
    pub fn set_external_power(&mut self, values: [Option<bool>; 4]) {
        self.outputs.set_power(values);
        self.send_outputs();
    }

    /// Plays a melody.
    ///
    /// # Errors
    /// No feedback arrives.
    pub fn play_sequence(&mut self, sequence: SoundSequence) -> Result<(), Refusal> {
        self.send_if_connected(&Command::SoundSequence(sequence))
    }

    /// Plays a tone.
    ///
    /// # Errors
    /// No feedback arrives.
    pub fn play(&mut self, sound: Sound) -> Result<(), Refusal> {
        self.send_if_connected(&Command::Sound(sound))
    }

    /// Sets the gains of the wheels' controller. The resulting gains come as [`Event::Gains`].
    ///
    /// # Errors
    /// No feedback arrives.
    pub fn set_controller_gains(&mut self, gains: ControllerGains) -> Result<(), Refusal> {
        self.send_if_connected(&Command::SetControllerGains(gains))?;
        self.identity.gains = None;
        self.send(&Command::RequestControllerGains(GainsRequest::default()));
        Ok(())
    }

    /// Resets the pose to the origin and the wheels to 0; the reported encoders only if they are configured so.
    pub fn reset_odometry(&mut self) {
        self.odometry.reset();
        self.heading.reset();
        if let Some(core) = self.sensors.core.filter(|_| self.config.reset_encoders) {
            self.encoder_zero = [core.left_encoder_ticks, core.right_encoder_ticks];
        }
    }

    /// Sets the pose of the odometry; the origin is a [reset](Self::reset_odometry).
    ///
    /// # Errors
    /// Not finite.
    pub fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite> {
        self.odometry.set(pose)?;
        if pose == Pose::ORIGIN {
            self.reset_odometry();
        }
        Ok(())
    }

    /// Sets other limits.
    ///
    /// # Errors
    /// An invalid limit; the old ones stay.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        self.commander.set_limits(limits)
    }

    /// The state of the base.
    pub fn state(&self) -> KobukiState {
        KobukiState {
            connected: self.contact.link != Link::Disconnected,
            alive: self.contact.link == Link::Alive,
            standstill: self.commander.standstill(self.contact.link),
            motor_power: self.commander.motor_power,
            last_received: self.contact.last_received,
            pose: self.odometry.pose(),
            pose_covariance: self.odometry.pose_covariance(),
            twist: self.odometry.twist(),
            wheels: self.odometry.wheels(),
            heading: self.heading.heading(),
            sensors: self.reported(),
            battery: self.sensors.core.map(|core| Battery::new(&core, &self.config.battery)),
            identity: self.identity,
            outputs: self.outputs.outputs,
            limits: self.commander.limits(),
            feedback_frames: self.feedback_frames,
            malformed_sub_payloads: self.malformed,
            line: self.decoder.statistics(),
            clock_jumps: self.clock_jumps,
            encoder_jumps: self.odometry.jumps(),
        }
    }

    /// The sensors, with the encoders relative to their last reset.
    fn reported(&self) -> Sensors {
        let [left, right] = self.encoder_zero;
        let core = self.sensors.core.map(|core| CoreSensors {
            left_encoder_ticks: core.left_encoder_ticks.wrapping_sub(left),
            right_encoder_ticks: core.right_encoder_ticks.wrapping_sub(right),
            ..core
        });
        Sensors { core, ..self.sensors }
    }

    /// Advances the time. If it goes back, the age of all data is unknown, so the base is stopped.
    fn advance(&mut self, now: Duration) {
        if now < self.now {
            self.clock_jumps += 1;
            self.halt();
            self.contact.last_received = self.contact.last_received.map(|_| now);
            self.device_clock.set_back(now);
            self.commander.set_back(now);
            self.asked = None;
        }
        self.now = now;
    }

    /// Handles a frame of feedback, including its gyro readings.
    fn feedback(&mut self, gyro: Option<Inertia>) {
        let Some(core) = self.sensors.core else { return };
        self.feedback_frames += 1;
        let after_silence = self.contact.link == Link::Silent;
        let Step { interval, restarted } = self.device_clock.step(self.now, core.timestamp_ms, after_silence);
        if restarted {
            self.clock_jumps += 1;
            self.encoder_zero = [0; 2];
            self.odometry.interrupt();
            self.heading.interrupt();
            self.identity = Identity::default();
            self.halt();
        }
        self.contact.last_received = Some(self.now);
        if self.contact.link != Link::Alive || restarted {
            self.send_outputs_now();
            // The base may have an unknown old command.
            self.commander.extend_stop(self.now);
        }
        self.set_link(Link::Alive);
        if let Some(inertia) = &gyro {
            self.heading.update(inertia.angle());
        }
        let gyro = gyro.filter(|_| self.config.heading == HeadingSource::Gyro);
        self.odometry.update(Measurement {
            ticks: [i64::from(core.left_encoder_ticks), i64::from(core.right_encoder_ticks)],
            interval,
            speeds: None,
            gyro: gyro.map(|inertia| GyroReading { heading: inertia.angle(), rate: inertia.rate() }),
        });
        self.edges.update(&self.sensors, &self.config.battery, &mut self.events);
        if self.config.motors_off_on_wheel_drop && !core.wheel_drops.is_empty() {
            self.commander.wheel_dropped = true;
            self.switch_motors(false);
        }
        if self.commander.is_moving() {
            self.send_velocity();
        } else if self.commander.repeats_stop(self.now) {
            self.send_base_control(BaseControl::STOP, Twist::ZERO);
        }
        self.ask();
        self.trim_events();
    }

    /// Requests the missing parts of the base's identity.
    fn ask(&mut self) {
        let due = |asked: Duration| self.now - asked >= self.config.request_interval;
        if !self.asked.is_none_or(due) {
            return;
        }
        let missing = self.identity.missing();
        if !missing.is_empty() {
            self.send(&Command::RequestExtra(missing));
            self.asked = Some(self.now);
        }
        if self.identity.gains.is_none() {
            self.send(&Command::RequestControllerGains(GainsRequest::default()));
            self.asked = Some(self.now);
        }
    }

    fn send_velocity(&mut self) {
        let twist = self.commander.velocity(self.now);
        self.send_base_control(BaseControl::from_velocities(twist.linear, twist.angular), twist);
        self.commander.extend_stop(self.now);
    }

    fn send_outputs(&mut self) {
        if self.contact.link == Link::Alive {
            self.send_outputs_now();
        }
    }

    fn send_outputs_now(&mut self) {
        self.send(&Command::SetOutputs(self.outputs.outputs));
    }

    fn send_if_connected(&mut self, command: &Command) -> Result<(), Refusal> {
        let reason = match self.contact.link {
            Link::Alive => {
                self.send(command);
                return Ok(());
            }
            Link::Disconnected => Standstill::Disconnected,
            Link::NoFeedback => Standstill::NoFeedback,
            Link::Silent => Standstill::Silent,
        };
        Err(Refusal::Standstill(reason))
    }

    fn send_base_control(&mut self, control: BaseControl, twist: Twist) {
        self.recorder.velocity(control, twist);
        self.send(&Command::BaseControl(control));
    }

    fn send(&mut self, command: &Command) {
        let bytes = self.outbox.bytes();
        let begin = bytes.len();
        command.encode_frame(bytes);
        self.recorder.sent(bytes.get(begin..).unwrap_or_default());
    }

    fn push(&mut self, event: Event) {
        self.events.push_back(event);
        self.trim_events();
    }

    fn trim_events(&mut self) {
        let excess = self.events.len().saturating_sub(MAX_EVENTS);
        self.events.drain(..excess);
    }
}

impl Safety for Driver {
    fn commander(&mut self) -> &mut Commander {
        &mut self.commander
    }

    fn contact(&mut self) -> &mut Contact {
        &mut self.contact
    }

    fn send_stop(&mut self) {
        self.send_base_control(BaseControl::STOP, Twist::ZERO);
        self.commander.extend_stop(self.now);
    }

    fn note(&mut self, change: Change) {
        self.push(match change {
            Change::Robot { online } => Event::Robot { online },
            Change::MotorPower { on } => Event::MotorPower { on },
            Change::CommandExpired => Event::CommandExpired,
        });
    }
}

#[cfg(test)]
mod tests;
