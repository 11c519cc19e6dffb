//! A joint with its motor and gear, at steps of a millisecond.

use dragoman_arm::dynamixel::widowx::Joint as Design;
use dragoman_arm::dynamixel::wire::Model;

/// A step, s.
const STEP: f64 = 0.001;
/// The position loop: how fast a joint goes for each rad that it is away from its goal, 1/s.
const POSITION_GAIN: f64 = 30.0;
/// What a joint's motor and what hangs on it put up against being accelerated, kg m^2: about what half an arm is.
const INERTIA: f64 = 0.01;
/// A gear that is turned from outside brakes: friction for each rad/s, beside the dry one, as a multiple of it, s.
const DAMPING_TIME: f64 = 2.0;
/// No load turns a joint with more than this many times what its motor can give: a real gear would break.
const MAX_LOAD: f64 = 10.0;
/// Of the motor, degrees Celsius.
const AMBIENT: f64 = 25.0;
/// How much hotter than its surroundings a motor becomes that gives all it can, degrees.
const HEAT_AT_STALL: f64 = 60.0;
/// How long it takes for two thirds of that, s.
const HEAT_TIME: f64 = 600.0;

/// What the firmware wants of the motor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drive {
    /// Where to, rad, as the joint counts.
    pub(super) goal: f64,
    /// How fast at most, rad/s.
    pub(super) speed: f64,
    /// With what torque at most, N m.
    pub(super) torque: f64,
}

/// Where the joint's way ends, rad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ends {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A joint.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    pub(super) model: Model,
    is_inverted: bool,
    /// rad.
    pub(super) position: f64,
    /// rad/s.
    pub(super) velocity: f64,
    /// Of the motor, N m.
    pub(super) torque: f64,
    /// Degrees Celsius.
    pub(super) celsius: f64,
}

/// What holds a joint without torque, N m (seed 003, section 3.6.2).
fn friction(model: Model) -> f64 {
    match model {
        Model::Ax12 => 0.13,
        Model::Mx28 => 0.26,
        Model::Mx64 => 0.50,
    }
}

/// Where the servo says that it is.
pub(super) fn position_ticks(joint: &Joint) -> u16 {
    let sign = if joint.is_inverted { -1.0 } else { 1.0 };
    let ticks =
        sign * joint.position / joint.model.radians_per_tick() + f64::from(joint.model.middle_ticks());
    ticks.round().clamp(0.0, f64::from(joint.model.max_position_ticks())) as u16
}

impl Joint {
    pub(super) fn new(design: &Design, position: f64) -> Self {
        let [low, high] = design.limits;
        Self {
            model: design.model,
            is_inverted: design.is_inverted,
            position: if position.is_finite() { position.clamp(low, high) } else { 0.0 },
            velocity: 0.0,
            torque: 0.0,
            celsius: AMBIENT,
        }
    }

    /// As the joint counts, rad.
    pub(super) fn position_of(&self, ticks: u16) -> f64 {
        let turn = (f64::from(ticks) - f64::from(self.model.middle_ticks())) * self.model.radians_per_tick();
        self.as_joint(turn)
    }

    /// A turn, speed or torque of the servo as the joint counts it, and the reverse.
    pub(super) fn as_joint(&self, value: f64) -> f64 {
        if self.is_inverted { -value } else { value }
    }

    /// A millisecond. `load` turns the joint, N m; finite, and limited to [`MAX_LOAD`].
    pub(super) fn step(&mut self, drive: Option<&Drive>, load: f64, ends: Ends) {
        let most = MAX_LOAD * self.model.stall_torque();
        let load = load.clamp(-most, most);
        match drive {
            Some(drive) => self.drive(drive, load, ends),
            None => self.slide(load),
        }
        let from = self.position;
        self.position += self.velocity * STEP;
        // What is beyond an end already stays there; it only goes no further.
        let (low, high) = (ends.low.min(from), ends.high.max(from));
        if self.position <= low || self.position >= high {
            self.position = self.position.clamp(low, high);
            self.velocity = 0.0;
        }
        let effort = self.torque / self.model.stall_torque();
        let heat = HEAT_AT_STALL * effort * effort;
        self.celsius += (AMBIENT + heat - self.celsius) * STEP / HEAT_TIME;
    }

    /// The motor gives what the speed to the goal needs, as far as it has it; what it has not, the load takes.
    fn drive(&mut self, drive: &Drive, load: f64, ends: Ends) {
        let error = drive.goal - self.position;
        let wanted = (POSITION_GAIN * error).clamp(-drive.speed, drive.speed);
        let is_blocked =
            (error > 0.0 && self.position >= ends.high) || (error < 0.0 && self.position <= ends.low);
        if is_blocked {
            // It presses.
            self.torque = drive.torque.copysign(error);
            self.velocity = 0.0;
            return;
        }
        let needed = INERTIA * (wanted - self.velocity) / STEP - load;
        self.torque = needed.clamp(-drive.torque, drive.torque);
        if self.torque == needed {
            self.velocity = wanted;
        } else {
            // The gear's friction helps to hold what the motor cannot.
            self.accelerate(self.torque + load);
        }
    }

    /// Only friction holds it.
    fn slide(&mut self, load: f64) {
        self.torque = 0.0;
        self.accelerate(load);
    }

    fn accelerate(&mut self, torque: f64) {
        let dry = friction(self.model);
        if self.velocity == 0.0 && torque.abs() <= dry {
            return;
        }
        let direction = if self.velocity == 0.0 { torque.signum() } else { self.velocity.signum() };
        // The damping as at the end of the step, so that it does not overshoot.
        let damping = dry * DAMPING_TIME;
        let pushed = self.velocity + (torque - direction * dry) / INERTIA * STEP;
        let velocity = pushed / (1.0 + damping / INERTIA * STEP);
        // Friction brings to rest, and not back.
        self.velocity = if velocity * direction < 0.0 { 0.0 } else { velocity };
    }
}
