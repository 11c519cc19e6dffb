//! One servo: its desired state, its known state, and the writes that lead to the desired one.

use std::time::Duration;

use super::config::JointConfig;
use super::state::{Event, JointState, Motion, Problem, Refusal};
use crate::dynamixel::wire::table::{self, Control, Identity, Measurement};
use crate::dynamixel::wire::{ErrorFlags, Model};

/// Mode of a joint (TurtleBot thesis, 3.6.2 and table B.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It holds its position, and follows commands.
    Enabled,
    /// Only friction holds it, until the next command.
    Relaxed,
    /// Only friction holds it, and it accepts no commands.
    Disabled,
}

/// A pending write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    Torque(bool),
    /// The speed and the torque limit, which are adjacent registers.
    Speed {
        speed: u16,
        torque_limit: u16,
    },
    Goal(u16),
}

impl Write {
    /// Address and data.
    pub(super) fn encode<'a>(&self, data: &'a mut [u8; 4]) -> (u8, &'a [u8]) {
        let (register, length) = match *self {
            Self::Torque(on) => {
                data[0] = u8::from(on);
                (table::TORQUE_ENABLE, 1)
            }
            Self::Speed { speed, torque_limit } => {
                let ([s0, s1], [t0, t1]) = (speed.to_le_bytes(), torque_limit.to_le_bytes());
                *data = [s0, s1, t0, t1];
                (table::MOVING_SPEED, 4)
            }
            Self::Goal(ticks) => {
                let [low, high] = ticks.to_le_bytes();
                (data[0], data[1]) = (low, high);
                (table::GOAL_POSITION, 2)
            }
        };
        (register.address, data.get(..length).unwrap_or_default())
    }
}

/// An unexpected state found in a servo's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Reset,
    Shutdown(ErrorFlags),
    Refused,
}

impl Change {
    pub(super) fn event(self, joint: usize) -> Event {
        match self {
            Self::Reset => Event::Reset { joint },
            Self::Shutdown(errors) => Event::Shutdown { joint, errors },
            Self::Refused => Event::Refused { joint, errors: ErrorFlags::empty() },
        }
    }
}

/// Attempts of a write before it is given up.
const MAX_ATTEMPTS: u32 = 5;
/// Maximum number of writes to one servo in a cycle: those of switching on, and one more.
const WRITES_PER_CYCLE: u32 = 4;
/// Failed requests before a servo counts as silent: we may have paused ourselves.
const MIN_FAILURES: u32 = 3;
/// A measurement is published as long as no more cycles than this have ended since: the cycle that it belongs to. An
/// unanswered request is repeated once within its cycle, so one lost packet hides nothing.
const MAX_AGE: u32 = 1;
/// Speeds below this count as standstill, in units of the servo's speed.
const STANDSTILL: i16 = 2;

#[derive(Debug)]
pub(super) struct Servo {
    pub(super) config: JointConfig,
    pub(super) is_online: bool,
    /// Requests without an answer since the last answer.
    pub(super) failures: u32,
    last_received: Option<Duration>,
    probed: Option<Duration>,
    identity: Option<Identity>,
    model: Option<Model>,
    problem: Option<Problem>,
    /// Its command registers, as read or confirmed.
    known: Option<Control>,
    /// Whether `known` must be read again.
    is_unsure: bool,
    measurement: Option<Measurement>,
    /// Cycles that have ended since the measurement.
    age: u32,
    errors: ErrorFlags,
    /// The desired mode; `None`: the mode that is read from the servo.
    mode: Option<Mode>,
    /// The goal of an enabled joint; `None`: the goal that is read from the servo.
    goal_ticks: Option<u16>,
    speed: f64,
    /// Failed attempts of the present write.
    attempts: u32,
    writes_left: u32,
}

impl Servo {
    pub(super) fn new(config: JointConfig) -> Self {
        Self {
            is_online: false,
            failures: 0,
            last_received: None,
            probed: None,
            identity: None,
            model: None,
            problem: None,
            known: None,
            is_unsure: false,
            measurement: None,
            age: 0,
            errors: ErrorFlags::empty(),
            mode: None,
            goal_ticks: None,
            speed: config.speed,
            attempts: 0,
            writes_left: WRITES_PER_CYCLE,
            config,
        }
    }

    // The desired state.

    pub(super) fn command(&mut self, position: f64) -> Result<(), Refusal> {
        let [low, high] = self.config.limits;
        let joint = || self.config.name.clone();
        if !position.is_finite() {
            return Err(Refusal::NotFinite { joint: joint(), position });
        }
        if !(low..=high).contains(&position) {
            return Err(Refusal::OutOfLimits { joint: joint(), position, low, high });
        }
        if self.mode == Some(Mode::Disabled) {
            return Err(Refusal::Disabled { joint: joint() });
        }
        let (model, identity) = self.usable()?;
        let ticks = self.ticks(model, position);
        // Rounding may exceed the limit by a tick.
        let allowed = f64::from(identity.cw_limit_ticks) - 1.0..=f64::from(identity.ccw_limit_ticks) + 1.0;
        if !allowed.contains(&ticks) {
            return Err(Refusal::ServoLimits { joint: joint(), position });
        }
        let (cw, ccw) = (f64::from(identity.cw_limit_ticks), f64::from(identity.ccw_limit_ticks));
        self.go(ticks.clamp(cw, ccw) as u16);
        Ok(())
    }

    pub(super) fn relax(&mut self) {
        if self.mode != Some(Mode::Disabled) {
            self.mode = Some(Mode::Relaxed);
        }
        self.goal_ticks = None;
    }

    pub(super) fn enable(&mut self, on: bool) -> Result<(), Refusal> {
        if !on {
            self.mode = Some(Mode::Disabled);
            self.goal_ticks = None;
            return Ok(());
        }
        if self.mode == Some(Mode::Enabled) {
            return Ok(());
        }
        if self.mode == Some(Mode::Disabled) {
            self.mode = Some(Mode::Relaxed);
        }
        self.usable()?;
        let Some(measurement) = self.measurement else {
            return Err(self.silent());
        };
        self.go(measurement.position_ticks);
        Ok(())
    }

    pub(super) fn set_speed(&mut self, speed: f64) -> Result<(), Refusal> {
        let max = self.config.max_speed;
        if !(speed > 0.0 && speed <= max) {
            return Err(Refusal::Speed { joint: self.config.name.clone(), speed, max });
        }
        self.speed = speed;
        Ok(())
    }

    /// Stops a moving joint; a joint pressing against an obstacle keeps pressing.
    pub(super) fn halt(&mut self) {
        if let (Some(Mode::Enabled), Some(measurement)) = (self.mode, self.measurement)
            && measurement.speed.abs() > STANDSTILL
        {
            self.goal_ticks = Some(measurement.position_ticks);
        }
    }

    /// Forgets mode, goal and speed; the mode is adopted when its command registers are read next.
    pub(super) fn begin_again(&mut self) {
        self.mode = None;
        self.goal_ticks = None;
        self.speed = self.config.speed;
        self.attempts = 0;
        self.is_unsure = true;
    }

    fn go(&mut self, ticks: u16) {
        self.mode = Some(Mode::Enabled);
        self.goal_ticks = Some(ticks);
        self.attempts = 0;
    }

    /// The model, if it can be moved now.
    fn usable(&self) -> Result<(Model, Identity), Refusal> {
        let joint = || self.config.name.clone();
        if let Some(problem) = self.problem {
            return Err(Refusal::Problem { joint: joint(), problem });
        }
        let (Some(model), Some(identity), Some(_)) = (self.model, self.identity, self.known) else {
            return Err(self.silent());
        };
        if self.errors.contains(ErrorFlags::OVERHEATING) {
            let celsius = self.measurement.map_or(0.0, |measurement| f64::from(measurement.celsius));
            return Err(Refusal::TooHot { joint: joint(), celsius });
        }
        Ok((model, identity))
    }

    fn silent(&self) -> Refusal {
        Refusal::Silent { joint: self.config.name.clone(), id: self.config.id }
    }

    /// The next write. Torque is switched off first and switched on last, so that the joint never jumps.
    pub(super) fn due(&self) -> Option<Write> {
        let (known, mode, identity) = (self.known?, self.mode?, self.identity?);
        let holds = mode == Mode::Enabled;
        if !holds && known.torque_enable {
            return Some(Write::Torque(false));
        }
        let speed = self.speed_register()?;
        // A servo that has shut down has a torque limit of 0.
        let torque_limit =
            if holds && known.torque_limit == 0 { identity.max_torque } else { known.torque_limit };
        if (speed, torque_limit) != (known.moving_speed, known.torque_limit) {
            return Some(Write::Speed { speed, torque_limit });
        }
        let goal = self.goal_ticks.filter(|_| holds)?;
        if goal != known.goal_ticks {
            return Some(Write::Goal(goal));
        }
        (!known.torque_enable).then_some(Write::Torque(true))
    }

    /// Whether another write is allowed in this cycle: a servo that refuses or misses writes must not delay the others.
    pub(super) fn may_write(&mut self) -> bool {
        let may = self.writes_left > 0 && self.failures == 0;
        self.writes_left = self.writes_left.saturating_sub(1);
        may
    }

    pub(super) fn begin_cycle(&mut self) {
        self.writes_left = WRITES_PER_CYCLE;
    }

    pub(super) fn end_cycle(&mut self) {
        self.age = self.age.saturating_add(1);
    }

    // Inputs from the servo.

    pub(super) fn received(&mut self, now: Duration) {
        self.last_received = Some(now);
        self.failures = 0;
    }

    /// The error flags, if they have changed.
    pub(super) fn conditions(&mut self, errors: ErrorFlags) -> Option<ErrorFlags> {
        let errors = errors & ErrorFlags::CONDITIONS;
        (std::mem::replace(&mut self.errors, errors) != errors).then_some(errors)
    }

    /// # Errors
    /// It cannot be used; reported once.
    pub(super) fn identified(&mut self, identity: Identity) -> Result<(), Problem> {
        let before = self.problem;
        self.identity = Some(identity);
        self.model = Model::from_number(identity.model_number);
        self.problem = match self.model {
            None => Some(Problem::UnknownModel(identity.model_number)),
            Some(_) if (identity.cw_limit_ticks, identity.ccw_limit_ticks) == (0, 0) => {
                Some(Problem::WheelMode)
            }
            Some(_) => None,
        };
        match self.problem.filter(|_| self.problem != before) {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }

    /// Its command registers were read.
    pub(super) fn controlled(&mut self, control: Control) -> Option<Change> {
        let before = self.known.replace(control);
        self.is_unsure = false;
        match self.mode {
            None => {
                let holds = control.torque_enable && control.torque_limit > 0;
                self.mode = Some(if holds { Mode::Enabled } else { Mode::Relaxed });
                self.goal_ticks = holds.then_some(control.goal_ticks);
                None
            }
            Some(Mode::Enabled) => self.supervised(before, control),
            Some(Mode::Relaxed | Mode::Disabled) => None,
        }
    }

    /// Compares its registers with the command for an enabled joint.
    fn supervised(&mut self, before: Option<Control>, control: Control) -> Option<Change> {
        if control.torque_limit == 0 && before.is_none_or(|before| before.torque_limit != 0) {
            self.relax();
            return Some(Change::Shutdown(self.errors));
        }
        if !control.torque_enable && before.is_none_or(|before| before.torque_enable) {
            self.relax();
            return Some(Change::Reset);
        }
        let goal = *self.goal_ticks.get_or_insert(control.goal_ticks);
        if goal == control.goal_ticks {
            self.attempts = 0;
            return None;
        }
        self.attempts += 1;
        (self.attempts > MAX_ATTEMPTS).then(|| {
            self.goal_ticks = Some(control.goal_ticks);
            self.attempts = 0;
            Change::Refused
        })
    }

    pub(super) fn measured(&mut self, measurement: Measurement) {
        self.measurement = Some(measurement);
        self.age = 0;
    }

    /// A write was confirmed or failed. `true`: it is given up.
    pub(super) fn written(&mut self, write: Write, is_refused: bool) -> bool {
        self.is_unsure = true;
        if is_refused {
            self.attempts += 1;
            let is_given_up = self.attempts > MAX_ATTEMPTS;
            if is_given_up {
                self.relax();
                self.attempts = 0;
            }
            return is_given_up;
        }
        if let Some(known) = &mut self.known {
            match write {
                Write::Torque(on) => known.torque_enable = on,
                Write::Speed { speed, torque_limit } => {
                    (known.moving_speed, known.torque_limit) = (speed, torque_limit);
                }
                Write::Goal(ticks) => known.goal_ticks = ticks,
            }
        }
        false
    }

    /// An unconfirmed goal was sent: read it back.
    pub(super) fn goal_sent(&mut self, ticks: u16) {
        self.is_unsure = true;
        if let Some(known) = &mut self.known {
            known.goal_ticks = ticks;
        }
    }

    /// Clears the known state, but keeps the desired mode. Goals are dropped: the program that set them may be gone.
    pub(super) fn forget(&mut self) {
        self.is_online = false;
        self.identity = None;
        self.known = None;
        self.measurement = None;
        self.goal_ticks = None;
        self.errors = ErrorFlags::empty();
        self.problem = None;
        self.failures = 0;
    }

    /// Another program may use the servo: its state is adopted afterwards. Disabled joints stay disabled.
    pub(super) fn release(&mut self) {
        if self.mode != Some(Mode::Disabled) {
            self.mode = None;
        }
    }

    pub(super) fn is_silent(&self, now: Duration, silence: Duration) -> bool {
        let since = self.last_received.map(|received| now.saturating_sub(received));
        self.is_online && self.failures >= MIN_FAILURES && since.is_none_or(|since| since >= silence)
    }

    /// Schedules a ping at once.
    pub(super) fn look_for(&mut self) {
        self.probed = None;
    }

    pub(super) fn was_not_looked_for(&self) -> bool {
        self.probed.is_none()
    }

    /// Whether a ping is due; if so, schedules the next.
    pub(super) fn is_probe_due(&mut self, now: Duration, interval: Duration) -> bool {
        let is_due = self.probed.is_none_or(|probed| now.saturating_sub(probed) >= interval);
        if is_due {
            self.probed = Some(now);
        }
        is_due
    }

    pub(super) fn set_back(&mut self, now: Duration) {
        self.last_received = self.last_received.map(|_| now);
        self.probed = None;
    }

    pub(super) fn has_problem(&self) -> bool {
        self.problem.is_some()
    }

    pub(super) fn needs_control(&self) -> bool {
        self.problem.is_none() && (self.known.is_none() || self.is_unsure)
    }

    /// Whether it confirms writes.
    pub(super) fn answers_writes(&self) -> bool {
        self.identity.is_some_and(|identity| identity.status_return_level >= 2)
    }

    pub(super) fn state(&self) -> JointState {
        let known = self.known.filter(|_| self.is_online);
        let measurement = self.measurement.filter(|_| self.age <= MAX_AGE);
        let motion = self.model.zip(measurement).map(|(model, measured)| Motion {
            position: self.position(model, measured.position_ticks),
            velocity: self.as_joint(f64::from(measured.speed) * model.speed_unit()),
            effort: self.as_joint(f64::from(measured.load) / 1023.0 * model.stall_torque()),
            volts: f64::from(measured.decivolts) / 10.0,
            celsius: f64::from(measured.celsius),
        });
        JointState {
            name: self.config.name.clone(),
            id: self.config.id,
            is_online: self.is_online,
            mode: self.mode,
            has_torque: known.is_some_and(|known| known.torque_enable && known.torque_limit > 0),
            motion,
            goal: self.model.zip(self.goal_ticks).map(|(model, ticks)| self.position(model, ticks)),
            speed: self.speed,
            errors: self.errors,
            model: self.model.filter(|_| self.identity.is_some()),
            firmware: self.identity.map(|identity| identity.firmware),
            problem: self.problem,
        }
    }

    fn speed_register(&self) -> Option<u16> {
        // 0 would mean maximum speed.
        Some((self.speed / self.model?.speed_unit()).round().clamp(1.0, 1023.0) as u16)
    }

    fn as_joint(&self, value: f64) -> f64 {
        if self.config.is_inverted { -value } else { value }
    }

    fn ticks(&self, model: Model, position: f64) -> f64 {
        let turn = self.as_joint(position) + self.config.offset;
        (turn / model.radians_per_tick() + f64::from(model.middle_ticks())).round()
    }

    fn position(&self, model: Model, ticks: u16) -> f64 {
        let turn = (f64::from(ticks) - f64::from(model.middle_ticks())) * model.radians_per_tick();
        self.as_joint(turn - self.config.offset)
    }
}
