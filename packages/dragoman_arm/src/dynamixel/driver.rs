//! The driver of a chain of Dynamixel servos, without I/O and clock.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Driver`]: its inputs and outputs; one request at a time |
//! | `config` | [`Config`]: joints, rate, timeouts |
//! | `servo` | one servo: its desired and known state, and the writes that lead to the desired one |
//! | `state` | [`ChainState`], [`Event`], [`Refusal`]: the driver's published state |
//!
//! How to use it: pass every input to the driver with the time, on a clock with any epoch; then
//! [`poll_transmit`](Driver::poll_transmit) returns the bytes to send, [`poll_event`](Driver::poll_event) the changes, and
//! [`poll_timeout`](Driver::poll_timeout) the latest time to call [`handle_timeout`](Driver::handle_timeout).
//!
//! In every cycle each servo's measurements are read, and the command registers of one servo, in turn: this detects a
//! servo that was power-cycled or a lost goal. Requests without an answer are repeated once; goals go to all servos in
//! one packet.
//!
//! ```
//! # use std::time::Duration;
//! use dragoman_arm::dynamixel::driver::{Config, Driver};
//!
//! let mut driver = Driver::new(Config::widowx()).expect("a valid configuration");
//! driver.handle_connected(Duration::ZERO);
//! assert_eq!(driver.poll_transmit(), [0xff, 0xff, 0x02, 0x04, 0x02, 0x00, 0x13, 0xe4]); // ping servo 2
//! let refusal = driver.command(Duration::ZERO, 0, 0.5).unwrap_err();
//! assert_eq!(refusal.to_string(), "arm_1_joint: its servo (id 1) does not answer");
//! ```

mod config;
mod servo;
mod state;

use std::collections::VecDeque;
use std::time::Duration;

use super::wire::table::{self, Block, Control, Identity, Measurement};
use super::wire::{Decoder, ErrorFlags, Instruction, Status, sync_write_words};
use servo::{Servo, Write};

pub use config::{Config, ConfigError, JointConfig, MAX_JOINTS};
pub use servo::Mode;
pub use state::{ChainState, Event, JointState, Motion, Problem, Refusal, Statistics};

/// Maximum number of queued events; beyond that the oldest are dropped.
const MAX_EVENTS: usize = 256;
/// Maximum number of parameters of an expected answer.
const MAX_PARAMETERS: usize = 32;
/// Period of the goals.
const GOAL_GAP: Duration = Duration::from_millis(5);

/// A request to a servo.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ServoRequest {
    Identity,
    Control,
    Measurement,
    Write(Write),
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ServoAnswer {
    Identity(Identity),
    Control(Control),
    Measurement(Measurement),
    Written(Write),
}

impl ServoRequest {
    /// Decodes the parameters of an answer; `None` if they do not fit the request.
    fn answer(&self, parameters: &[u8]) -> Option<ServoAnswer> {
        match self {
            Self::Identity => Identity::decode(parameters).map(ServoAnswer::Identity),
            Self::Control => Control::decode(parameters).map(ServoAnswer::Control),
            Self::Measurement => Measurement::decode(parameters).map(ServoAnswer::Measurement),
            Self::Write(write) => parameters.is_empty().then_some(ServoAnswer::Written(*write)),
        }
    }
}

/// A pending request.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    joint: usize,
    request: ServoRequest,
    /// Timeout of the answer.
    until: Duration,
    is_repeated: bool,
}

/// A chain of servos: bytes, commands and time come in; bytes, events and states go out.
///
/// No joint moves and no motor gains or loses torque without a command: joints are adopted as they are found, holding
/// or relaxed.
#[derive(Debug)]
pub struct Driver {
    config: Config,
    servos: Vec<Servo>,
    decoder: Decoder,
    is_connected: bool,
    /// The line is being closed, or other servos come: their state is then adopted.
    is_released: bool,
    now: Duration,
    outstanding: Option<Outstanding>,
    /// Remaining requests of this cycle; `None` between cycles.
    cycle: Option<VecDeque<(usize, ServoRequest)>>,
    next_cycle: Duration,
    /// Time before which no goals are sent.
    next_goals: Duration,
    /// The servo whose command registers are read in the next cycle.
    turn: usize,
    statistics: Statistics,
    events: VecDeque<Event>,
    output: Vec<u8>,
    sent: Vec<u8>,
}

impl Driver {
    /// A driver without connection.
    ///
    /// # Errors
    /// Invalid joints, speeds, limits or times.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            servos: config.joints.iter().cloned().map(Servo::new).collect(),
            decoder: Decoder::up_to(MAX_PARAMETERS),
            is_connected: false,
            is_released: false,
            now: Duration::ZERO,
            outstanding: None,
            cycle: None,
            next_cycle: Duration::ZERO,
            next_goals: Duration::ZERO,
            turn: 0,
            statistics: Statistics::default(),
            events: VecDeque::new(),
            output: Vec::new(),
            sent: Vec::new(),
            config,
        })
    }

    /// The line was opened. The servos are queried at once.
    pub fn handle_connected(&mut self, now: Duration) {
        self.handle_disconnected(now);
        self.is_connected = true;
        self.is_released = false;
        (self.next_cycle, self.next_goals) = (now, now);
        self.servos.iter_mut().for_each(Servo::look_for);
        self.proceed();
    }

    /// The line was lost, or closed. Unsent goals are dropped; the modes of the joints (hold, relaxed, disabled) are
    /// kept.
    pub fn handle_disconnected(&mut self, now: Duration) {
        self.advance(now);
        self.is_connected = false;
        self.outstanding = None;
        self.cycle = None;
        self.output.clear();
        self.decoder.clear();
        for joint in 0..self.servos.len() {
            self.gone(joint);
            if self.is_released
                && let Some(servo) = self.servos.get_mut(joint)
            {
                servo.release();
            }
        }
    }

    /// Takes bytes from the port, up to the end of a cycle. `true`: a cycle is complete, [`state`](Self::state) can be
    /// read, and bytes may remain; `false`: all bytes were taken.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &mut &[u8]) -> bool {
        self.advance(now);
        if !self.is_connected {
            *bytes = &[];
            return false;
        }
        let before = self.statistics.cycles;
        while let Some(packet) = self.decoder.next(bytes) {
            let status = Status::new(&packet);
            let asked = self.outstanding.filter(|asked| {
                self.servos.get(asked.joint).is_some_and(|servo| servo.config.id == status.id)
            });
            let answer = asked.and_then(|asked| Some((asked, asked.request.answer(status.parameters)?)));
            let errors = status.errors;
            match answer {
                Some((asked, answer)) => self.answered(asked, answer, errors),
                // A late answer, or the echo of our request, which some lines return.
                None => self.statistics.unexpected += 1,
            }
            if self.statistics.cycles != before {
                return true;
            }
        }
        self.handle_timeout(now);
        self.statistics.cycles != before
    }

    /// Advances the time: detects timeouts and starts cycles. Must be called at [`poll_timeout`](Self::poll_timeout);
    /// earlier calls are allowed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        if let Some(asked) = self.outstanding.filter(|asked| asked.until <= self.now) {
            self.statistics.timeouts += 1;
            self.failed(asked);
        }
        self.proceed();
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called at the latest. `None`: not before another input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        if !self.is_connected {
            return None;
        }
        if let Some(asked) = &self.outstanding {
            return Some(asked.until);
        }
        let has_goals = self.servos.iter().any(|servo| matches!(servo.due(), Some(Write::Goal(_))));
        Some(if has_goals { self.next_cycle.min(self.next_goals) } else { self.next_cycle })
    }

    /// Takes all bytes to send.
    pub fn poll_transmit(&mut self) -> &[u8] {
        std::mem::swap(&mut self.sent, &mut self.output);
        self.output.clear();
        &self.sent
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Moves a joint to a position, rad, and holds it there. A relaxed joint, or one that has shut down, gets torque
    /// again.
    ///
    /// # Errors
    /// Not finite, beyond the joint's limits, or the joint is disabled, too hot or silent; nothing changes then.
    pub fn command(&mut self, now: Duration, joint: usize, position: f64) -> Result<(), Refusal> {
        self.advance(now);
        self.servo(joint)?.command(position)?;
        self.proceed();
        Ok(())
    }

    /// Switches a joint's torque off; only friction holds it then. The next command switches it on again. A disabled
    /// joint stays disabled.
    ///
    /// # Errors
    /// No such joint.
    pub fn relax(&mut self, now: Duration, joint: usize) -> Result<(), Refusal> {
        self.advance(now);
        self.servo(joint)?.relax();
        self.proceed();
        Ok(())
    }

    /// Enables a joint: it holds its position unless it already holds or moves, and accepts commands. Or disables it:
    /// it accepts none, and only friction holds it.
    ///
    /// # Errors
    /// The joint cannot hold: silent, too hot. A joint that was disabled is relaxed then.
    pub fn enable(&mut self, now: Duration, joint: usize, on: bool) -> Result<(), Refusal> {
        self.advance(now);
        let result = self.servo(joint)?.enable(on);
        self.proceed();
        result
    }

    /// Sets the speed of commanded motions of a joint, rad/s; takes effect also during a motion.
    ///
    /// # Errors
    /// Not positive, NaN, or above the joint's highest speed; nothing changes then.
    pub fn set_speed(&mut self, now: Duration, joint: usize, speed: f64) -> Result<(), Refusal> {
        self.advance(now);
        self.servo(joint)?.set_speed(speed)?;
        self.proceed();
        Ok(())
    }

    /// Forgets what programs have set, as at the start: speeds are the configured ones, and the modes of the joints are
    /// adopted as they are found, now and after the next loss of the line.
    pub fn begin_again(&mut self, now: Duration) {
        self.advance(now);
        self.is_released = true;
        self.servos.iter_mut().for_each(Servo::begin_again);
        self.proceed();
    }

    /// Stops moving joints at their present positions; all continue to hold. Sent at once, as the line may be closed
    /// next; later changes by other programs are adopted.
    pub fn stop(&mut self) {
        self.is_released = true;
        for servo in &mut self.servos {
            servo.halt();
        }
        self.next_goals = self.now;
        self.send_goals();
    }

    /// The state of the chain.
    pub fn state(&self) -> ChainState {
        ChainState {
            is_connected: self.is_connected,
            joints: self.servos.iter().map(Servo::state).collect(),
            statistics: self.statistics,
            line: self.decoder.statistics(),
        }
    }

    /// The configured names of the joints.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.config.joints.iter().map(|joint| joint.name.as_str())
    }

    fn servo(&mut self, joint: usize) -> Result<&mut Servo, Refusal> {
        let joints = self.servos.len();
        self.servos.get_mut(joint).ok_or(Refusal::NoSuchJoint { joint, joints })
    }

    /// Advances the time. If it goes back, all timeouts restart.
    fn advance(&mut self, now: Duration) {
        if now < self.now {
            if let Some(asked) = &mut self.outstanding {
                asked.until = now + self.config.answer_timeout;
            }
            (self.next_cycle, self.next_goals) = (now, now);
            for servo in &mut self.servos {
                servo.set_back(now);
            }
        }
        self.now = now;
    }

    fn answered(&mut self, asked: Outstanding, answer: ServoAnswer, errors: ErrorFlags) {
        if errors.contains(ErrorFlags::CHECKSUM) {
            // The servo did not understand the request.
            self.statistics.damaged += 1;
            return self.failed(asked);
        }
        self.outstanding = None;
        self.statistics.answers += 1;
        let joint = asked.joint;
        let Some(servo) = self.servos.get_mut(joint) else { return };
        let was_online = servo.is_online;
        servo.received(self.now);
        let mut events = Vec::new();
        events.extend(servo.conditions(errors).map(|errors| Event::Alarm { joint, errors }));
        match answer {
            ServoAnswer::Identity(identity) => {
                if let Err(problem) = servo.identified(identity) {
                    events.push(Event::Problem { joint, problem });
                }
                if !was_online {
                    servo.is_online = true;
                    events.push(Event::Servo { joint, online: true });
                }
            }
            ServoAnswer::Control(control) => {
                events.extend(servo.controlled(control).map(|change| change.event(joint)))
            }
            ServoAnswer::Measurement(measurement) => servo.measured(measurement),
            ServoAnswer::Written(write) => {
                let refused = errors - ErrorFlags::CONDITIONS;
                if servo.written(write, !refused.is_empty()) {
                    events.push(Event::Refused { joint, errors: refused });
                }
            }
        }
        // A servo's pending commands are sent once its model is known.
        if let (ServoAnswer::Identity(_), Some(cycle)) = (&answer, &mut self.cycle)
            && servo.needs_control()
        {
            cycle.push_front((joint, ServoRequest::Measurement));
            cycle.push_front((joint, ServoRequest::Control));
        }
        for event in events {
            self.push(event);
        }
        self.proceed();
    }

    /// A request got no usable answer.
    fn failed(&mut self, asked: Outstanding) {
        self.outstanding = None;
        let (now, joint) = (self.now, asked.joint);
        let silence = self.config.silence;
        let Some(servo) = self.servos.get_mut(joint) else { return };
        servo.failures += 1;
        // The first bytes on a newly opened line may get lost.
        if !asked.is_repeated && (servo.is_online || servo.failures == 1) {
            self.ask(joint, asked.request, true);
            return;
        }
        if servo.is_silent(now, silence) {
            self.gone(joint);
        }
        self.proceed();
    }

    /// A servo stopped answering.
    fn gone(&mut self, joint: usize) {
        let Some(servo) = self.servos.get_mut(joint) else { return };
        let was_online = servo.is_online;
        servo.forget();
        if let Some(cycle) = &mut self.cycle {
            cycle.retain(|(asked, _)| *asked != joint);
        }
        if was_online {
            self.push(Event::Servo { joint, online: false });
        }
    }

    /// Sends all due packets, up to one that needs an answer.
    fn proceed(&mut self) {
        while self.is_connected && self.outstanding.is_none() && self.say_next() {}
    }

    /// Sends the next packet; returns whether there was one.
    fn say_next(&mut self) -> bool {
        let write = self.servos.iter_mut().enumerate().find_map(|(joint, servo)| {
            let write = servo.due().filter(|write| !matches!(write, Write::Goal(_)));
            write.filter(|_| servo.may_write()).map(|write| (joint, write))
        });
        if let Some((joint, write)) = write {
            self.ask(joint, ServoRequest::Write(write), false);
            return true;
        }
        if self.now >= self.next_goals && self.send_goals() {
            return true;
        }
        match &mut self.cycle {
            Some(cycle) => match cycle.pop_front() {
                Some((joint, request)) => self.ask(joint, request, false),
                None => self.end_cycle(),
            },
            None if self.now >= self.next_cycle => self.begin_cycle(),
            None => return false,
        }
        true
    }

    /// Sends all changed goals in one packet; returns whether there were any.
    fn send_goals(&mut self) -> bool {
        let mut goals = Vec::new();
        for servo in &mut self.servos {
            if let Some(Write::Goal(ticks)) = servo.due() {
                goals.push((servo.config.id, ticks));
                servo.goal_sent(ticks);
            }
        }
        if goals.is_empty() {
            return false;
        }
        // A configuration has no more joints than fit.
        let fitted = sync_write_words(&mut self.output, table::GOAL_POSITION.address, goals);
        debug_assert!(fitted.is_ok());
        self.next_goals = self.now + GOAL_GAP;
        self.statistics.requests += 1;
        true
    }

    fn begin_cycle(&mut self) {
        let mut cycle = VecDeque::new();
        let count = self.servos.len();
        self.turn = (self.turn + 1) % count.max(1);
        let mut has_probe = false;
        // Starts with another servo each time, so that silent servos take turns.
        for joint in (0..count).map(|at| (self.turn + at) % count) {
            let Some(servo) = self.servos.get_mut(joint) else { continue };
            servo.begin_cycle();
            if !servo.is_online {
                // All at first, then one at a time, since each missing servo costs a timeout.
                let is_first = servo.was_not_looked_for();
                if (is_first || !has_probe) && servo.is_probe_due(self.now, self.config.probe_interval) {
                    has_probe = true;
                    cycle.push_back((joint, ServoRequest::Identity));
                }
            } else if servo.has_problem() {
                cycle.push_back((joint, ServoRequest::Identity));
            } else {
                cycle.push_back((joint, ServoRequest::Measurement));
                if joint == self.turn || servo.needs_control() {
                    cycle.push_back((joint, ServoRequest::Control));
                }
            }
        }
        let on_time = self.next_cycle + self.config.period;
        self.next_cycle = if on_time > self.now { on_time } else { self.now + self.config.period };
        self.cycle = Some(cycle);
    }

    fn end_cycle(&mut self) {
        self.cycle = None;
        self.servos.iter_mut().for_each(Servo::end_cycle);
        if self.servos.iter().any(|servo| servo.is_online) {
            self.statistics.cycles += 1;
        }
        if self.now >= self.next_cycle {
            self.statistics.late_cycles += 1;
        }
    }

    fn ask(&mut self, joint: usize, request: ServoRequest, is_repeated: bool) {
        let Some(servo) = self.servos.get_mut(joint) else { return };
        let id = servo.config.id;
        // Earlier bytes cannot be the answer.
        self.decoder.clear();
        let mut data = [0; 4];
        let instruction = match &request {
            ServoRequest::Identity => read::<Identity>(),
            ServoRequest::Control => read::<Control>(),
            ServoRequest::Measurement => read::<Measurement>(),
            ServoRequest::Write(write) => {
                let (address, data) = write.encode(&mut data);
                Instruction::Write { address, data }
            }
        };
        let fitted = instruction.encode(&mut self.output, id);
        debug_assert!(fitted.is_ok(), "a few bytes fit");
        self.statistics.requests += 1;
        if let ServoRequest::Write(write) = request
            && !servo.answers_writes()
        {
            servo.written(write, false);
            return;
        }
        let until = self.now + self.config.answer_timeout;
        self.outstanding = Some(Outstanding { joint, request, until, is_repeated });
    }

    fn push(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

fn read<B: Block>() -> Instruction<'static> {
    Instruction::Read { address: B::ADDRESS, length: B::LENGTH }
}
