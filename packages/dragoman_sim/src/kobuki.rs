//! A simulated Kobuki: the firmware of a TurtleBot 2's base, byte by byte, and the machine around it.
//!
//! | file | holds |
//! | --- | --- |
//! | [`inputs`] | what the world and the user do to it |
//! | `protocol` | the commands that it takes, the packets that it sends |
//! | [`chassis`](crate::chassis) | wheels, motors, encoders; where the machine really is |
//! | `gyro` | the gyro and the heading from it |
//! | `power` | battery and charger |
//! | `sound` | the loudspeaker |
//!
//! Numbers are those of seed 003 (sections 2.1 and 3.6.1) where it has them. As far as anybody tells, the firmware stops its wheels for one
//! reason only: 0.6 s without a speed command. Bumpers, cliffs and hanging wheels it reports; to stop for them is left to the computer
//! (the public driver does so in a node of its own, its safety controller). So does this one.

mod gyro;
pub mod inputs;
mod power;
mod protocol;
mod sound;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

pub use crate::chassis::Wheels;
pub use gyro::Noise;
pub use inputs::{ChargerSource, Inputs, Row};
pub use power::BATTERY_RANGE;
pub use protocol::Event;
pub use sound::Note;

use dragoman_base::kobuki::driver::LedColor;
use dragoman_base::kobuki::wire::{Charger, Charging, SoundSequence};
use dragoman_base::odometry::WheelGeometry;
use dragoman_geometry::{Pose, Twist};

use crate::chassis::{Chassis, Contact};
use crate::serial::{Sender, SerialDevice};
use gyro::Gyro;
use power::Battery;
use protocol::Protocol;
use sound::Player;

/// The fastest that it drives, m/s.
pub const MAX_SPEED: f64 = 0.7;
/// The fastest that it turns, rad/s: 180 degrees/s.
pub const MAX_TURN_RATE: f64 = std::f64::consts::PI;
/// Time between two packets.
pub const PACKET_PERIOD: Duration = Duration::from_millis(PACKET_TICKS);
/// Without a speed command for longer than this the wheels stop.
pub const WATCHDOG: Duration = Duration::from_millis(600);

const PACKET_TICKS: u64 = 20;
/// Events that wait to be fetched; then the oldest is lost.
const MAX_EVENTS: usize = 256;

/// What a simulated Kobuki is like.
#[derive(Debug, Clone, PartialEq)]
pub struct KobukiSettings {
    /// How exact its gyro is.
    pub noise: Noise,
    /// Where its random numbers begin.
    pub seed: u64,
    /// Battery at the start, V, in [`BATTERY_RANGE`].
    pub battery_volts: f64,
    /// From power to the first packet.
    pub boot_time: Duration,
}

impl Default for KobukiSettings {
    fn default() -> Self {
        Self { noise: Noise::Typical, seed: 0, battery_volts: 16.0, boot_time: Duration::from_millis(200) }
    }
}

/// A simulated Kobuki. Times are since an arbitrary epoch, and virtual.
#[derive(Debug)]
pub struct Kobuki {
    /// What its sensors meet.
    pub inputs: Inputs,
    settings: KobukiSettings,
    /// Whole milliseconds since the epoch.
    tick: u64,
    /// When it has booted, in ticks.
    booted_at: u64,
    protocol: Protocol,
    chassis: Chassis,
    gyro: Gyro,
    battery: Battery,
    player: Player,
    sender: Sender,
    events: VecDeque<Event>,
}

impl Kobuki {
    /// A machine that gets power at time zero, with its origin where it stands.
    pub fn new(settings: KobukiSettings) -> Self {
        let mut kobuki = Self {
            inputs: Inputs::default(),
            tick: 0,
            booted_at: 0,
            protocol: Protocol::default(),
            chassis: Chassis::new(WheelGeometry::KOBUKI),
            gyro: Gyro::new(settings.noise, settings.seed),
            battery: Battery::new(settings.battery_volts),
            player: Player::default(),
            sender: Sender::new(!settings.seed),
            events: VecDeque::new(),
            settings,
        };
        kobuki.reset();
        kobuki
    }

    /// Switches it off and on: encoders, heading, outputs and gains are as after power-up. Where it stands and the
    /// battery's charge stay.
    pub fn reset(&mut self) {
        let boot = u64::try_from(self.settings.boot_time.as_millis()).unwrap_or(u64::MAX);
        self.booted_at = self.tick.saturating_add(boot.max(1));
        self.protocol = Protocol::default();
        self.player = Player::default();
        self.sender.restart();
        self.tell(Event::PowerOn);
    }

    /// How exact its gyro is from now on.
    pub fn set_noise(&mut self, noise: Noise) {
        self.gyro.set_noise(noise);
    }

    /// It says nothing for this long, though it goes on working.
    pub fn silence(&mut self, time: Duration) {
        self.sender.silence(self.now().saturating_add(time));
    }

    /// Puts so many random bytes on the line, between two packets.
    pub fn garbage(&mut self, count: usize) {
        self.sender.garbage(self.now(), count);
    }

    /// From now on changes a random byte in this share of the packets, 0 to 1.
    pub fn corrupt(&mut self, share: f64) {
        self.sender.corrupt(share);
    }

    /// Charges or discharges the battery at once until it has this voltage; what is outside [`BATTERY_RANGE`] counts as its end.
    pub fn set_battery(&mut self, volts: f64) {
        if !volts.is_nan() {
            self.battery.set(volts);
        }
    }

    /// Puts the machine elsewhere. Its wheels and its gyro notice nothing. Poses that are not finite are passed over.
    pub fn set_pose(&mut self, pose: Pose) {
        if pose.is_finite() {
            self.chassis.pose = pose;
        }
    }

    /// The time that it has reached.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.tick)
    }

    /// Where it really is, from where it was made or put.
    pub fn pose(&self) -> Pose {
        self.chassis.pose
    }

    /// How it really moves.
    pub fn twist(&self) -> Twist {
        self.chassis.twist
    }

    /// Angles of the wheels since it was made, rad.
    pub fn wheel_angles(&self) -> Wheels<f64> {
        self.chassis.wheels.map(|wheel| wheel.angle)
    }

    /// Rates of the wheels, rad/s.
    pub fn wheel_rates(&self) -> Wheels<f64> {
        self.chassis.wheels.map(|wheel| wheel.rate)
    }

    /// Currents of the motors, A.
    pub fn motor_currents(&self) -> Wheels<f64> {
        self.chassis.wheels.map(|wheel| wheel.current)
    }

    /// Motors that have had too much current for a while.
    pub fn overcurrent(&self) -> Wheels<bool> {
        self.chassis.wheels.map(|wheel| wheel.has_overcurrent())
    }

    /// How the battery is charged.
    pub fn charger(&self) -> Charger {
        self.battery.charger
    }

    /// At the battery's terminals, V.
    pub fn battery_volts(&self) -> f64 {
        self.battery.volts()
    }

    /// Both programmable LEDs.
    pub fn leds(&self) -> [LedColor; 2] {
        self.protocol.leds()
    }

    /// The digital outputs.
    pub fn digital_outputs(&self) -> [bool; 4] {
        self.protocol.digital_outputs()
    }

    /// The switches of the external power: 3.3 V, 5 V, 12 V 5 A, 12 V 1.5 A.
    pub fn external_power(&self) -> [bool; 4] {
        self.protocol.external_power()
    }

    /// The note that sounds.
    pub fn sounding(&self) -> Option<Note> {
        self.player.sounding()
    }

    /// What it did since the last call, oldest first.
    pub fn next_happening(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn contact(&self) -> Contact {
        let Inputs { stalled, wheel_drops, motion, .. } = self.inputs;
        Contact { stalled, is_lifted: wheel_drops.left || wheel_drops.right, motion }
    }

    fn has_booted(&self) -> bool {
        self.tick >= self.booted_at
    }

    fn step(&mut self) {
        self.tick += 1;
        let set_points = self.watch_motors();
        self.chassis.step(set_points, &self.contact());
        self.gyro.step(self.tick, self.chassis.twist.angular);
        let wheels = &self.chassis.wheels;
        let motors = wheels.left.supply_current() + wheels.right.supply_current();
        let before = self.battery.charger;
        self.battery.step(motors, self.inputs.charger);
        let charger = self.battery.charger;
        if charger != before {
            self.tell(Event::Charger(charger));
            if charger.charging() == Charging::Charging {
                self.play(SoundSequence::Recharge);
            }
        }
        self.player.step(self.now());
        if self.tick == self.booted_at {
            self.chassis.restart();
            self.gyro.restart();
            self.play(SoundSequence::On);
        }
        if self.tick > self.booted_at && (self.tick - self.booted_at).is_multiple_of(PACKET_TICKS) {
            let packet = self.feedback();
            self.sender.send(self.now(), packet);
        }
    }

    fn tell(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl SerialDevice for Kobuki {
    fn receive(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        if self.has_booted() {
            self.take(bytes);
        }
    }

    fn advance(&mut self, now: Duration) {
        let end = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        while self.tick < end {
            self.step();
        }
    }

    fn transmit(&mut self) -> Option<Vec<u8>> {
        self.sender.next()
    }

    fn next_event(&self) -> Duration {
        let since_boot = self.tick.saturating_sub(self.booted_at);
        let base = self.booted_at.max(self.tick - since_boot % PACKET_TICKS);
        Duration::from_millis(base.saturating_add(PACKET_TICKS))
    }
}
