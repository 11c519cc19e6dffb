//! The driver of a Kobuki, without I/O and clock.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Driver`]: what comes in, what goes out |
//! | `config` | [`Config`]: timeouts, limits, options |
//! | `events` | [`Event`]: what has changed, told once |
//! | `battery` | [`Battery`]: charge and charging |
//! | `state` | [`State`]: all that is known of the base |
//! | `clock` | the base's clock beside ours: whether it has restarted |
//! | `heading` | the gyro's heading, relative to its first reading |
//! | `identity` | versions and gains: asked for until they are there |
//! | `outputs` | LEDs, digital outputs, external power |
//! | `recorder` | [`Record`]: what goes over the line, for who looks for a fault there |
//!
//! How it is used: whatever happens is told to the driver with the time, on a clock that begins anywhere; then
//! [`transmit`](Driver::transmit) gives the bytes to send, [`poll_event`](Driver::poll_event) what has changed, and
//! [`deadline`](Driver::deadline) when [`poll`](Driver::poll) has to be called at the latest.
//!
//! ```
//! # use std::time::Duration;
//! use dragoman_base::kobuki::driver::{Config, Driver};
//! use dragoman_geometry::Twist;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut driver = Driver::new(Config::default())?;
//! driver.opened(Duration::from_millis(0));
//! let mut bytes: &[u8] = &[/* from the port */];
//! while driver.receive(Duration::from_millis(20), &mut bytes) {
//!     println!("{:?}", driver.state().pose); // once for each frame of feedback
//! }
//! let refusal = driver.command(Duration::from_millis(20), Twist::new(0.1, 0.0)).unwrap_err();
//! assert_eq!(refusal.to_string(), "nothing was heard of the base yet");
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
    BaseControl, Command, ControllerGains, Decoder, Feedback, GainsRequest, Inertia, Sound, SoundSequence,
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
pub use state::{Sensors, State};

use clock::{DeviceClock, Step};
use dragoman_geometry::limits::{LimitError, Limits};
use dragoman_geometry::{Pose, Twist};
use events::Edges;
use heading::Heading;
use outputs::Wanted;
use recorder::Recorder;

/// Events that nobody takes are dropped, the oldest first.
const MAX_EVENTS: usize = 256;

/// A Kobuki: bytes, commands and time come in; bytes, events and states go out.
///
/// It says nothing until it has heard the base. Whatever is lost, the connection, feedback, commands, the wheels' contact with the ground or
/// the sense of time, the base is told to stand still, and has to be told anew to move.
#[derive(Debug)]
pub struct Driver {
    config: Config,
    commander: Commander,
    odometry: Odometry,
    heading: Heading,
    decoder: Decoder,
    /// Heard is feedback.
    contact: Contact,
    now: Duration,
    device_clock: DeviceClock,
    sensors: Sensors,
    identity: Identity,
    /// When the base was asked for it last.
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
    /// A limit, a timeout or a voltage makes no sense.
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

    /// The connection was opened. Nothing is sent before the base is heard.
    pub fn opened(&mut self, now: Duration) {
        self.lost(now);
        self.contact.link = Link::Unheard;
    }

    /// The connection was lost, or closed. Commands are forgotten, and what is to be told to the base when it is back stays. The odometry
    /// goes on from where it is.
    pub fn lost(&mut self, now: Duration) {
        self.advance(now);
        self.commander.forget();
        self.outbox.take();
        self.decoder.clear();
        self.odometry.interrupt();
        self.heading.interrupt();
        self.device_clock = DeviceClock::default();
        self.contact.heard = None;
        self.sensors = Sensors::default();
        self.identity = Identity::default();
        self.set_link(Link::Disconnected);
    }

    /// Takes what came from the port, up to and including the next frame of feedback. `true`: there was one, its [`state`](Self::state) can be
    /// read, and there may be more; call again with the rest. `false`: all was taken.
    ///
    /// Feedback is a frame with the base's core sensors. It is answered with what the base has to be told. Frames count as heard now: they may
    /// have waited for us, and whether the base is silent is judged after them.
    pub fn receive(&mut self, now: Duration, bytes: &mut &[u8]) -> bool {
        self.advance(now);
        self.expire(self.now);
        if self.contact.link == Link::Disconnected {
            *bytes = &[];
            return false;
        }
        loop {
            let Some(payload) = self.decoder.next(bytes) else {
                self.poll(now);
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

    /// Lets time pass: silence is noticed, commands expire. To be called at the [`deadline`](Self::deadline), and whenever it suits.
    pub fn poll(&mut self, now: Duration) {
        self.advance(now);
        if self.notice_silence(self.now) {
            self.identity = Identity::default();
        }
        self.expire(self.now);
    }

    /// When [`poll`](Self::poll) has to be called at the latest. `None`: not before something else happens.
    pub fn deadline(&self) -> Option<Duration> {
        self.contact.deadline().into_iter().chain(self.commander.deadline()).min()
    }

    /// Moves with this velocity, until the next command or until it expires. Returns all bytes that are to be sent, those of the command
    /// included. Whether the base is silent is judged elsewhere: what waits on the line may not have been read yet.
    ///
    /// # Errors
    /// NaN or infinite, or the base would not move; nothing changes then, but that a base that was moving goes on as it was told before.
    pub fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal> {
        self.advance(now);
        self.expire(self.now);
        self.commander.accept(self.now, twist, self.contact.link)?;
        self.tell_velocity();
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

    /// Sets what is recorded from now on of what goes over the line.
    pub fn record(&mut self, recorded: Recorded) {
        self.recorder.set(recorded);
    }

    /// What was recorded, the oldest first.
    pub fn poll_record(&mut self) -> Option<Record> {
        self.recorder.take()
    }

    /// Stands still at once, whatever was commanded; the next command moves again.
    pub fn halt(&mut self) {
        self.stand();
    }

    /// Switches the motors on or off: while they are off, the base is told to stand still and commands are refused.
    ///
    /// # Errors
    /// They are to be switched on while a wheel has dropped, and that switches them off.
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

    /// Sets an LED; kept while the base is away.
    pub fn set_led(&mut self, led: Led, color: LedColor) {
        self.outputs.set_led(led, color);
        self.tell_outputs();
    }

    /// Sets those of the four digital outputs that are given; kept while the base is away.
    pub fn set_digital_outputs(&mut self, values: [Option<bool>; 4]) {
        self.outputs.set_digital(values);
        self.tell_outputs();
    }

    /// Switches those of the four external power outputs that are given, 3.3 V, 5 V, 12 V 5 A, 12 V 1.5 A; kept while the base is away.
    pub fn set_external_power(&mut self, values: [Option<bool>; 4]) {
        self.outputs.set_power(values);
        self.tell_outputs();
    }

    /// Plays a melody.
    ///
    /// # Errors
    /// The base is not heard.
    pub fn play_sequence(&mut self, sequence: SoundSequence) -> Result<(), Refusal> {
        self.say_if_heard(&Command::SoundSequence(sequence))
    }

    /// Plays a tone.
    ///
    /// # Errors
    /// The base is not heard.
    pub fn play(&mut self, sound: Sound) -> Result<(), Refusal> {
        self.say_if_heard(&Command::Sound(sound))
    }

    /// Sets the gains of the wheels' controller. What the base has made of it comes as [`Event::Gains`].
    ///
    /// # Errors
    /// The base is not heard.
    pub fn set_controller_gains(&mut self, gains: ControllerGains) -> Result<(), Refusal> {
        self.say_if_heard(&Command::SetControllerGains(gains))?;
        self.identity.gains = None;
        self.say(&Command::RequestControllerGains(GainsRequest::default()));
        Ok(())
    }

    /// Declares the base to be at the origin, with wheels at 0.
    pub fn reset_odometry(&mut self) {
        self.odometry.reset();
        self.heading.reset();
    }

    /// Declares the base to be here; the origin is a [reset](Self::reset_odometry).
    ///
    /// # Errors
    /// NaN or infinite.
    pub fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite> {
        self.odometry.set(pose)?;
        if pose == Pose::ORIGIN {
            self.heading.reset();
        }
        Ok(())
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
            heading: self.heading.heading(),
            sensors: self.sensors,
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

    /// Time goes on. If it goes back, nobody knows how old anything is, so the base stands still.
    fn advance(&mut self, now: Duration) {
        if now < self.now {
            self.clock_jumps += 1;
            self.halt();
            self.contact.heard = self.contact.heard.map(|_| now);
            self.device_clock.set_back(now);
            self.commander.set_back(now);
            self.asked = None;
        }
        self.now = now;
    }

    /// A frame of feedback was read; the gyro's part of it.
    fn feedback(&mut self, gyro: Option<Inertia>) {
        let Some(core) = self.sensors.core else { return };
        self.feedback_frames += 1;
        let after_silence = self.contact.link == Link::Silent;
        let Step { interval, restarted } = self.device_clock.step(self.now, core.timestamp_ms, after_silence);
        if restarted {
            self.clock_jumps += 1;
            self.odometry.interrupt();
            self.heading.interrupt();
            self.identity = Identity::default();
            self.halt();
        }
        self.contact.heard = Some(self.now);
        if self.contact.link != Link::Alive || restarted {
            self.tell_outputs_now();
            // Nobody knows what the base was told before.
            self.commander.tell(self.now);
        }
        self.set_link(Link::Alive);
        if let Some(inertia) = &gyro {
            self.heading.update(inertia.angle());
        }
        let gyro = gyro.filter(|_| self.config.heading == HeadingSource::Gyro);
        self.odometry.update(Measurement {
            ticks: [i64::from(core.left_encoder_ticks), i64::from(core.right_encoder_ticks)],
            interval,
            gyro: gyro.map(|inertia| GyroReading { heading: inertia.angle(), rate: inertia.rate() }),
        });
        self.edges.update(&self.sensors, &self.config.battery, &mut self.events);
        if self.config.motors_off_on_wheel_drop && !core.wheel_drops.is_empty() {
            self.commander.wheel_dropped = true;
            self.switch_motors(false);
        }
        if self.commander.is_moving() {
            self.tell_velocity();
        } else if self.commander.repeats_stop(self.now) {
            self.say_velocity(BaseControl::STOP, Twist::ZERO);
        }
        self.ask();
        self.trim_events();
    }

    /// Asks for what is not yet known of the base.
    fn ask(&mut self) {
        let due = |asked: Duration| self.now - asked >= self.config.request_interval;
        if !self.asked.is_none_or(due) {
            return;
        }
        let missing = self.identity.missing();
        if !missing.is_empty() {
            self.say(&Command::RequestExtra(missing));
            self.asked = Some(self.now);
        }
        if self.identity.gains.is_none() {
            self.say(&Command::RequestControllerGains(GainsRequest::default()));
            self.asked = Some(self.now);
        }
    }

    fn tell_velocity(&mut self) {
        let twist = self.commander.velocity(self.now);
        self.say_velocity(BaseControl::from_velocities(twist.linear, twist.angular), twist);
        self.commander.tell(self.now);
    }

    fn tell_outputs(&mut self) {
        if self.contact.link == Link::Alive {
            self.tell_outputs_now();
        }
    }

    fn tell_outputs_now(&mut self) {
        self.say(&Command::SetOutputs(self.outputs.outputs));
    }

    fn say_if_heard(&mut self, command: &Command) -> Result<(), Refusal> {
        let reason = match self.contact.link {
            Link::Alive => {
                self.say(command);
                return Ok(());
            }
            Link::Disconnected => Standstill::Disconnected,
            Link::Unheard => Standstill::Unheard,
            Link::Silent => Standstill::Silent,
        };
        Err(Refusal::Standstill(reason))
    }

    fn say_velocity(&mut self, control: BaseControl, twist: Twist) {
        self.recorder.velocity(control, twist);
        self.say(&Command::BaseControl(control));
    }

    fn say(&mut self, command: &Command) {
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

    fn tell_stop(&mut self) {
        self.say_velocity(BaseControl::STOP, Twist::ZERO);
        self.commander.tell(self.now);
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
