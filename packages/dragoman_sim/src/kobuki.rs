//! A simulated Kobuki: the firmware of a TurtleBot 2's base, byte by byte, and the robot's body.
//!
//! | file | holds |
//! | --- | --- |
//! | [`inputs`] | inputs from the world and the user |
//! | `protocol` | received commands, sent packets |
//! | [`chassis`](crate::chassis) | wheels, motors, encoders; the true pose |
//! | `gyro` | the gyro and the heading from it |
//! | `power` | battery and charger |
//! | `sound` | the loudspeaker |
//!
//! Figures are those of the TurtleBot thesis (2.1 and 3.6.1) where available. As far as is known, the firmware stops
//! its wheels for one reason only: 0.6 s without a speed command. It reports bumpers, cliffs and hanging wheels, but
//! leaves stopping to the computer (the public driver has a separate node for this, its safety controller). This
//! simulation does the same.

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
pub use inputs::{ChargerSource, FrontSensors, Inputs};
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

/// Maximum speed, m/s.
pub const MAX_SPEED: f64 = 0.7;
/// Maximum turn rate, rad/s: 180 degrees/s.
pub const MAX_TURN_RATE: f64 = std::f64::consts::PI;
/// Time between two packets.
pub const PACKET_PERIOD: Duration = Duration::from_millis(PACKET_TICKS);
/// Time without a speed command after which the wheels stop.
pub const WATCHDOG: Duration = Duration::from_millis(600);

const PACKET_TICKS: u64 = 20;
/// Maximum number of waiting events; then the oldest is lost.
const MAX_EVENTS: usize = 256;

/// Settings of a simulated Kobuki.
#[derive(Debug, Clone, PartialEq)]
pub struct KobukiSettings {
    /// Noise of its gyro.
    pub noise: Noise,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Initial battery voltage, V, in [`BATTERY_RANGE`].
    pub battery_volts: f64,
    /// Time from power-up to the first packet.
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
    /// Inputs of its sensors.
    pub inputs: Inputs,
    settings: KobukiSettings,
    /// Whole milliseconds since the epoch.
    tick: u64,
    /// End of the boot, in ticks.
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
    /// A Kobuki that is powered up at time zero; its start pose is its origin.
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

    /// Power cycle: encoders, heading, outputs and gains are as after power-up. The pose and the battery's charge are
    /// unchanged.
    pub fn reset(&mut self) {
        let boot = u64::try_from(self.settings.boot_time.as_millis()).unwrap_or(u64::MAX);
        self.booted_at = self.tick.saturating_add(boot.max(1));
        self.protocol = Protocol::default();
        self.player = Player::default();
        self.sender.restart();
        self.report(Event::PowerOn);
    }

    /// A new one with the same settings.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::new(self.settings.clone())
    }

    /// Sets the noise of its gyro.
    pub fn set_noise(&mut self, noise: Noise) {
        self.settings.noise = noise;
        self.gyro.set_noise(noise);
    }

    /// Suppresses all packets for this time; the base continues to work.
    pub fn silence(&mut self, time: Duration) {
        self.sender.silence(self.now().saturating_add(time));
    }

    /// Sends this number of random bytes, between two packets.
    pub fn garbage(&mut self, count: usize) {
        self.sender.garbage(self.now(), count);
    }

    /// From now on changes a random byte in this fraction of the packets, 0 to 1.
    pub fn corrupt(&mut self, share: f64) {
        self.sender.corrupt(share);
    }

    /// Sets the charge such that the battery has this voltage, limited to [`BATTERY_RANGE`].
    pub fn set_battery(&mut self, volts: f64) {
        if !volts.is_nan() {
            self.battery.set(volts);
        }
    }

    /// Moves the robot to another pose. Its wheels and its gyro do not notice it. Poses that are not finite are
    /// ignored.
    pub fn set_pose(&mut self, pose: Pose) {
        if pose.is_finite() {
            self.chassis.pose = pose;
        }
    }

    /// The simulated time.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.tick)
    }

    /// True pose, relative to the start or to the last set pose.
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

    /// Rates of the wheels, rad/s.
    pub fn wheel_rates(&self) -> Wheels<f64> {
        self.chassis.wheels.map(|wheel| wheel.rate)
    }

    /// Motors with an overcurrent for some time.
    pub fn overcurrent(&self) -> Wheels<bool> {
        self.chassis.wheels.map(|wheel| wheel.has_overcurrent())
    }

    /// State of the charger.
    pub fn charger(&self) -> Charger {
        self.battery.charger
    }

    /// Voltage at the battery's terminals, V.
    pub fn battery_volts(&self) -> f64 {
        self.battery.volts()
    }

    /// Both programmable LEDs.
    pub fn leds(&self) -> [LedColor; 2] {
        self.protocol.leds()
    }

    /// Levels of the expansion port's outputs 0 to 3; true is high.
    pub fn digital_outputs(&self) -> [bool; 4] {
        self.protocol.digital_outputs()
    }

    /// The switches of the external power: 3.3 V, 5 V, 12 V 5 A, 12 V 1.5 A.
    pub fn external_power(&self) -> [bool; 4] {
        self.protocol.external_power()
    }

    /// The current note.
    pub fn sounding(&self) -> Option<Note> {
        self.player.sounding()
    }

    /// Events since the last call, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
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
            self.report(Event::Charger(charger));
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

    fn report(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl SerialDevice for Kobuki {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.handle_timeout(now);
        if self.has_booted() {
            self.take(bytes);
        }
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
        let since_boot = self.tick.saturating_sub(self.booted_at);
        let base = self.booted_at.max(self.tick - since_boot % PACKET_TICKS);
        Duration::from_millis(base.saturating_add(PACKET_TICKS))
    }
}
