//! A simulated WidowX: six Dynamixel servos on one half-duplex line, byte by byte, and the arm that they move.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Widowx`]: the chain of servos, and the inputs from the world ([`Inputs`]) |
//! | `servo` | a servo's firmware: control table, answers, alarms |
//! | `joint` | motor, gear and joint: position loop, torque, friction, heat |
//!
//! Ids, models, limits and directions of rotation are those of [`dragoman_arm::dynamixel::widowx`], figures those of
//! the TurtleBot thesis (3.6.2) where available. No command turns a joint beyond its limits.

mod joint;
mod servo;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::f64::consts::FRAC_PI_4;
use std::fmt;
use std::time::Duration;

use dragoman_arm::dynamixel::widowx::JOINTS;
use dragoman_arm::dynamixel::wire::{BROADCAST, Decoder, ErrorFlags, Instruction};

use crate::serial::{Sender, SerialDevice};
use joint::{Ends, Joint};
use servo::Servo;

/// Number of joints: five of the arm, and the gripper.
pub const COUNT: usize = JOINTS.len();
/// Index of the gripper.
pub const GRIPPER: usize = COUNT - 1;

/// Maximum number of waiting events; then the oldest is lost.
const MAX_EVENTS: usize = 256;
/// Period of simulating the joints while there are no requests.
const LOOK: Duration = Duration::from_millis(100);
/// Time from power-up to the first answer, ms.
const BOOT_TICKS: u64 = 300;

/// Settings of a simulated WidowX.
#[derive(Debug, Clone, PartialEq)]
pub struct WidowxSettings {
    /// Initial joint positions, base first, rad; the gripper last, 0 open to 2.5 closed.
    pub positions: [f64; COUNT],
    /// Whether the servos hold these positions at the start, as after a program that ended with the arm held. Servos
    /// that were just powered up have no torque.
    pub is_held: bool,
    /// Speed of the line, bit/s, which delays answers; `None`: no delay.
    pub baud: Option<u32>,
    /// Seed of its random numbers.
    pub seed: u64,
}

/// The initial positions of the TurtleBot thesis, held; answers without delay.
impl Default for WidowxSettings {
    fn default() -> Self {
        Self {
            positions: [FRAC_PI_4, 0.0, -FRAC_PI_4, -FRAC_PI_4, 0.0, 0.0],
            is_held: true,
            baud: None,
            seed: 0,
        }
    }
}

/// Inputs of the arm from the world. Changes take effect at the next millisecond. Values that are not finite are
/// ignored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// Torque of gravity and the carried load on the joints, N m, base first; positive turns the joint to positive
    /// positions. Limited to ten times the maximum torque of a joint's motor.
    pub load: [f64; GRIPPER],
    /// An obstacle prevents the joints from turning below these positions, rad.
    pub lowest: [Option<f64>; GRIPPER],
    /// An obstacle prevents the joints from turning beyond these positions, rad.
    pub highest: [Option<f64>; GRIPPER],
    /// An object prevents the gripper from closing beyond this position (0 open to 2.5 closed).
    pub gripper_stop: Option<f64>,
}

/// An event of the arm.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A servo was powered up.
    PowerOn {
        /// The joint, from 0.
        joint: usize,
    },
    /// A motor's torque was switched.
    Torque {
        /// The joint, from 0.
        joint: usize,
        /// Whether it is on.
        on: bool,
    },
    /// A servo got a new goal.
    Goal {
        /// The joint, from 0.
        joint: usize,
        /// The goal, rad; of the gripper 0 to 2.5.
        position: f64,
    },
    /// A servo has shut its motor down.
    Shutdown {
        /// The joint, from 0.
        joint: usize,
        /// The reason.
        errors: ErrorFlags,
    },
}

/// A line, as `dragoman device widowx` prints it.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |joint: usize| JOINTS.get(joint).map_or("?", |joint| joint.name);
        match *self {
            Self::PowerOn { joint } => write!(f, "{} power on", name(joint)),
            Self::Torque { joint, on } => {
                write!(f, "{} torque {}", name(joint), if on { "on" } else { "off" })
            }
            Self::Goal { joint, position } => write!(f, "{} goal {position:.3}", name(joint)),
            Self::Shutdown { joint, errors } => write!(f, "{} shutdown: {errors}", name(joint)),
        }
    }
}

/// A simulated WidowX. Times are since an arbitrary epoch, and virtual.
#[derive(Debug)]
pub struct Widowx {
    /// Inputs from the world.
    pub inputs: Inputs,
    settings: WidowxSettings,
    /// Whole milliseconds since the epoch.
    tick: u64,
    servos: [Servo; COUNT],
    joints: [Joint; COUNT],
    decoder: Decoder,
    sender: Sender,
    /// Answers on the line, and when they arrive.
    answers: VecDeque<(Duration, Vec<u8>)>,
    events: VecDeque<Event>,
}

#[expect(clippy::indexing_slicing, reason = "`i` and `joint` count the joints")]
impl Widowx {
    /// An arm with powered servos. Positions beyond the joints' limits are clamped, those that are not finite become 0.
    pub fn new(settings: WidowxSettings) -> Self {
        let joints = std::array::from_fn(|i| Joint::new(&JOINTS[i], settings.positions[i]));
        let servos = std::array::from_fn(|i| {
            let mut servo = Servo::new(&JOINTS[i], &joints[i]);
            if settings.is_held {
                servo.hold(joint::position_ticks(&joints[i]));
            }
            servo
        });
        Self {
            inputs: Inputs::default(),
            tick: 0,
            servos,
            joints,
            decoder: Decoder::default(),
            sender: Sender::new(settings.seed),
            answers: VecDeque::new(),
            events: VecDeque::new(),
            settings,
        }
    }

    /// A new one with the same settings.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::new(self.settings.clone())
    }

    /// Power cycle of a servo, or of all: its motor has no torque, and its goal is lost. Joints keep their positions as
    /// far as their friction holds them.
    pub fn reset(&mut self, joint: Option<usize>) {
        for i in self.chosen(joint) {
            self.servos[i] = Servo::new(&JOINTS[i], &self.joints[i]);
            self.servos[i].silent_until = self.tick + BOOT_TICKS;
            self.report(Event::PowerOn { joint: i });
        }
    }

    /// A servo, or all, neither receives nor answers for this time; it continues its motion.
    pub fn silence(&mut self, joint: Option<usize>, time: Duration) {
        let ticks = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        for i in self.chosen(joint) {
            self.servos[i].silent_until = self.tick.saturating_add(ticks);
        }
    }

    /// Sets the temperature of a servo, degrees Celsius, 0 to 150; from there it cools or warms normally.
    pub fn set_temperature(&mut self, joint: usize, celsius: f64) {
        if let (Some(joint), true) = (self.joints.get_mut(joint), celsius.is_finite()) {
            joint.celsius = celsius.clamp(0.0, 150.0);
        }
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

    /// True joint positions, base first, rad; the gripper last, 0 open to 2.5 closed.
    pub fn positions(&self) -> [f64; COUNT] {
        self.joints.each_ref().map(|joint| joint.position)
    }

    /// Joint velocities, rad/s.
    pub fn velocities(&self) -> [f64; COUNT] {
        self.joints.each_ref().map(|joint| joint.velocity)
    }

    /// Motor torques, N m, positive towards positive positions.
    pub fn torques(&self) -> [f64; COUNT] {
        self.joints.each_ref().map(|joint| joint.torque)
    }

    /// Which motors have torque.
    pub fn torque_enabled(&self) -> [bool; COUNT] {
        self.servos.each_ref().map(Servo::has_torque)
    }

    /// Goals of the joints, rad; they move there only with torque.
    pub fn goals(&self) -> [f64; COUNT] {
        std::array::from_fn(|i| self.joints[i].position_of(self.servos[i].goal_ticks()))
    }

    /// Events since the last call, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn chosen(&self, joint: Option<usize>) -> std::ops::Range<usize> {
        match joint {
            None => 0..COUNT,
            Some(joint) => joint.min(COUNT)..(joint + 1).min(COUNT),
        }
    }

    fn step(&mut self) {
        self.tick += 1;
        for i in 0..COUNT {
            let load = self.inputs.load.get(i).copied().filter(|load| load.is_finite()).unwrap_or(0.0);
            let ends = self.ends(i);
            let drive = self.servos[i].drive(&self.joints[i]);
            self.joints[i].step(drive.as_ref(), load, ends);
            if let Some(errors) = self.servos[i].supervise(&self.joints[i]) {
                self.report(Event::Shutdown { joint: i, errors });
            }
        }
    }

    fn ends(&self, joint: usize) -> Ends {
        let [low, high] = JOINTS[joint].limits;
        let within =
            |stop: Option<f64>| stop.filter(|stop| stop.is_finite()).map(|stop| stop.clamp(low, high));
        let Inputs { lowest, highest, gripper_stop, .. } = &self.inputs;
        let highest = if joint == GRIPPER { *gripper_stop } else { highest.get(joint).copied().flatten() };
        let lowest = lowest.get(joint).copied().flatten();
        Ends { low: within(lowest).unwrap_or(low), high: within(highest).unwrap_or(high) }
    }

    /// Receives bytes from the line.
    fn take(&mut self, now: Duration, mut bytes: &[u8]) {
        let mut decoder = std::mem::take(&mut self.decoder);
        while let Some(packet) = decoder.next(&mut bytes) {
            let instruction = Instruction::decode(&packet);
            for i in 0..COUNT {
                if self.servos[i].silent_until > self.tick {
                    continue;
                }
                let (before, goal) = (self.servos[i].has_torque(), self.servos[i].goal_ticks());
                self.servos[i].measure(&self.joints[i]);
                let answer = match &instruction {
                    Ok(Instruction::SyncWrite(write)) => {
                        self.servos[i].sync_write(write);
                        None
                    }
                    _ if packet.id == BROADCAST => {
                        // Broadcasts are not answered.
                        self.servos[i].execute(&instruction);
                        None
                    }
                    _ if packet.id == self.servos[i].id() => self.servos[i].execute(&instruction),
                    _ => None,
                };
                if let Some(answer) = answer {
                    self.answer(now, answer);
                }
                let after = self.servos[i].has_torque();
                if self.servos[i].goal_ticks() != goal {
                    let position = self.joints[i].position_of(self.servos[i].goal_ticks());
                    self.report(Event::Goal { joint: i, position });
                }
                if before != after {
                    self.report(Event::Torque { joint: i, on: after });
                }
            }
        }
        self.decoder = decoder;
    }

    /// Puts an answer on the line, after those already on it.
    fn answer(&mut self, now: Duration, answer: Vec<u8>) {
        let Some(baud) = self.settings.baud.filter(|baud| *baud > 0) else {
            self.sender.send(self.now(), answer);
            return;
        };
        let start = self.answers.back().map_or(now, |(end, _)| now.max(*end));
        // A byte has ten bits including its start and stop bit.
        let time = Duration::from_secs_f64(answer.len() as f64 * 10.0 / f64::from(baud));
        self.answers.push_back((start + time, answer));
    }

    fn report(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl SerialDevice for Widowx {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.handle_timeout(now);
        // A sent packet takes its time as well.
        let time = self.settings.baud.filter(|baud| *baud > 0);
        let time = time.map(|baud| Duration::from_secs_f64(bytes.len() as f64 * 10.0 / f64::from(baud)));
        self.take(now + time.unwrap_or_default(), bytes);
    }

    fn handle_timeout(&mut self, now: Duration) {
        let end = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        while self.tick < end {
            self.step();
        }
        while self.answers.front().is_some_and(|(arrived, _)| *arrived <= now) {
            if let Some((_, answer)) = self.answers.pop_front() {
                self.sender.send(self.now(), answer);
            }
        }
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.sender.next()
    }

    fn poll_timeout(&self) -> Duration {
        let look = self.now() + LOOK;
        self.answers.front().map_or(look, |(arrived, _)| look.min(*arrived))
    }
}
