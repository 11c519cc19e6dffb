//! A simulated WidowX: six Dynamixel servos on one half-duplex line, byte by byte, and the arm that they move.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Widowx`]: the chain, and what the world does to it ([`Inputs`]) |
//! | `servo` | a servo's firmware: control table, answers, alarms |
//! | `joint` | motor, gear and joint: position loop, torque, friction, heat |
//!
//! Ids, models, limits and senses of rotation are those of [`dragoman_arm::dynamixel::widowx`], numbers those of seed 003 (section 3.6.2)
//! where it has them. Whatever a servo is told, no joint turns beyond its limits.

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

/// Joints: five of the arm, and the gripper.
pub const COUNT: usize = JOINTS.len();
/// Of them, the gripper.
pub const GRIPPER: usize = COUNT - 1;

/// Events that wait to be fetched; then the oldest is lost.
const MAX_EVENTS: usize = 256;
/// How often it is looked at what the joints do, while nothing is asked.
const LOOK: Duration = Duration::from_millis(100);
/// From power to the first answer, ms.
const BOOT_TICKS: u64 = 300;

/// What a simulated WidowX is like.
#[derive(Debug, Clone, PartialEq)]
pub struct WidowxSettings {
    /// Where its joints are at the start, base first, rad; the gripper last, 0 open to 2.5 closed.
    pub positions: [f64; COUNT],
    /// Whether the servos hold these positions at the start, as after a program that ended with the arm held. Servos that have just got
    /// power have no torque.
    pub is_held: bool,
    /// Speed of the line, bit/s, by which answers take their time; `None`: they come at once.
    pub baud: Option<u32>,
    /// Where its random numbers begin.
    pub seed: u64,
}

/// The seed's first positions, held; answers at once.
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

/// What the world does to the arm. Plain data: set what you like, it counts from the next millisecond on. Values that are not finite
/// count as nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// Torque that gravity and what the arm carries put on its joints, N m, base first; positive turns the joint to positive positions. More than
    /// ten times what a joint's motor can give counts as that.
    pub load: [f64; GRIPPER],
    /// The joints of the arm cannot turn below these positions, rad: something is in the way.
    pub lowest: [Option<f64>; GRIPPER],
    /// They cannot turn beyond these positions, rad.
    pub highest: [Option<f64>; GRIPPER],
    /// The gripper cannot close beyond this position (0 open to 2.5 closed): something is between its fingers.
    pub gripper_stop: Option<f64>,
}

/// What the arm did.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A servo has got power.
    PowerOn {
        /// Whose, from 0.
        joint: usize,
    },
    /// A motor has got torque, or has none any more.
    Torque {
        /// Whose, from 0.
        joint: usize,
        /// Whether it has.
        on: bool,
    },
    /// A servo was told to go elsewhere.
    Goal {
        /// Whose, from 0.
        joint: usize,
        /// Where, rad; of the gripper 0 to 2.5.
        position: f64,
    },
    /// A servo has shut its motor down.
    Shutdown {
        /// Whose, from 0.
        joint: usize,
        /// Why.
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
    /// What the world does to it.
    pub inputs: Inputs,
    settings: WidowxSettings,
    /// Whole milliseconds since the epoch.
    tick: u64,
    servos: [Servo; COUNT],
    joints: [Joint; COUNT],
    decoder: Decoder,
    sender: Sender,
    /// Answers that are still on the line, and when they have arrived.
    answers: VecDeque<(Duration, Vec<u8>)>,
    events: VecDeque<Event>,
}

impl Widowx {
    /// An arm whose servos have power. Positions beyond the joints' limits count as the limits, those that are not finite as 0.
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

    /// Switches a servo, or all, off and on: its motor has no torque, and what it was told is forgotten. Joints stay where they are, as far
    /// as their friction holds them.
    pub fn reset(&mut self, joint: Option<usize>) {
        for i in self.chosen(joint) {
            self.servos[i] = Servo::new(&JOINTS[i], &self.joints[i]);
            self.servos[i].silent_until = self.tick + BOOT_TICKS;
            self.tell(Event::PowerOn { joint: i });
        }
    }

    /// A servo, or all, neither hears nor answers for this long, though it goes on with what it does.
    pub fn silence(&mut self, joint: Option<usize>, time: Duration) {
        let ticks = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        for i in self.chosen(joint) {
            self.servos[i].silent_until = self.tick.saturating_add(ticks);
        }
    }

    /// Makes a servo this hot, degrees Celsius, 0 to 150; it cools down, or warms up, as it does.
    pub fn set_temperature(&mut self, joint: usize, celsius: f64) {
        if let (Some(joint), true) = (self.joints.get_mut(joint), celsius.is_finite()) {
            joint.celsius = celsius.clamp(0.0, 150.0);
        }
    }

    /// Puts so many random bytes on the line.
    pub fn garbage(&mut self, count: usize) {
        self.sender.garbage(self.now(), count);
    }

    /// From now on changes a random byte in this share of the answers, 0 to 1.
    pub fn corrupt(&mut self, share: f64) {
        self.sender.corrupt(share);
    }

    /// The time that it has reached.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.tick)
    }

    /// Where the joints really are, base first, rad; the gripper last, 0 open to 2.5 closed.
    pub fn positions(&self) -> [f64; COUNT] {
        std::array::from_fn(|i| self.joints[i].position)
    }

    /// How fast they turn, rad/s.
    pub fn velocities(&self) -> [f64; COUNT] {
        std::array::from_fn(|i| self.joints[i].velocity)
    }

    /// What the motors give, N m, positive towards positive positions.
    pub fn torques(&self) -> [f64; COUNT] {
        std::array::from_fn(|i| self.joints[i].torque)
    }

    /// Which motors have torque.
    pub fn torque_enabled(&self) -> [bool; COUNT] {
        std::array::from_fn(|i| self.servos[i].has_torque())
    }

    /// Where the joints are told to be, rad; whether they go there depends on their torque.
    pub fn goals(&self) -> [f64; COUNT] {
        std::array::from_fn(|i| self.joints[i].position_of(self.servos[i].goal_ticks()))
    }

    /// What it did since the last call, oldest first.
    pub fn next_happening(&mut self) -> Option<Event> {
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
                self.tell(Event::Shutdown { joint: i, errors });
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

    /// Takes the line's bytes.
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
                        // Nobody answers what is for all.
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
                    self.tell(Event::Goal { joint: i, position });
                }
                if before != after {
                    self.tell(Event::Torque { joint: i, on: after });
                }
            }
        }
        self.decoder = decoder;
    }

    /// Puts an answer on the line, behind those that are there.
    fn answer(&mut self, now: Duration, answer: Vec<u8>) {
        let Some(baud) = self.settings.baud.filter(|baud| *baud > 0) else {
            self.sender.send(self.now(), answer);
            return;
        };
        let start = self.answers.back().map_or(now, |(end, _)| now.max(*end));
        // A byte is ten bits with its start and its stop.
        let time = Duration::from_secs_f64(answer.len() as f64 * 10.0 / f64::from(baud));
        self.answers.push_back((start + time, answer));
    }

    fn tell(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl SerialDevice for Widowx {
    fn receive(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        // What is sent takes its time as well.
        let time = self.settings.baud.filter(|baud| *baud > 0);
        let time = time.map(|baud| Duration::from_secs_f64(bytes.len() as f64 * 10.0 / f64::from(baud)));
        self.take(now + time.unwrap_or_default(), bytes);
    }

    fn advance(&mut self, now: Duration) {
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

    fn transmit(&mut self) -> Option<Vec<u8>> {
        self.sender.next()
    }

    fn next_event(&self) -> Duration {
        let look = self.now() + LOOK;
        self.answers.front().map_or(look, |(arrived, _)| look.min(*arrived))
    }
}
