//! A joint with its motor and gear, simulated in steps of a millisecond.

use dragoman_arm::dynamixel::widowx::Joint as Design;
use dragoman_arm::dynamixel::wire::Model;

/// A step, s.
const STEP: f64 = 0.001;
/// Gain of the position loop: speed per distance from the goal, 1/s.
const POSITION_GAIN: f64 = 30.0;
/// Moment of inertia at a joint, kg m^2: about that of half an arm.
const INERTIA: f64 = 0.01;
/// Damping of a gear that is turned from outside: viscous friction as a multiple of the dry friction, s.
const DAMPING_TIME: f64 = 2.0;
/// Maximum load on a joint as a multiple of its motor's torque: a real gear would break.
const MAX_LOAD: f64 = 10.0;
/// Ambient temperature, degrees Celsius.
const AMBIENT: f64 = 25.0;
/// Temperature rise of a motor at full torque, degrees.
const HEAT_AT_STALL: f64 = 60.0;
/// Time constant of the warming, s.
const HEAT_TIME: f64 = 600.0;

/// The firmware's command to the motor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drive {
    /// Goal, rad, in the joint's direction.
    pub(super) goal: f64,
    /// Maximum speed, rad/s.
    pub(super) speed: f64,
    /// Maximum torque, N m.
    pub(super) torque: f64,
}

/// Ends of the joint's range, rad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ends {
    pub(super) low: f64,
    pub(super) high: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Joint {
    pub(super) model: Model,
    is_inverted: bool,
    /// Position, rad.
    pub(super) position: f64,
    /// Velocity, rad/s.
    pub(super) velocity: f64,
    /// Torque of the motor, N m.
    pub(super) torque: f64,
    /// Temperature of the motor, degrees Celsius.
    pub(super) celsius: f64,
}

/// Friction of a joint without torque, N m (TurtleBot thesis, 3.6.2).
fn friction(model: Model) -> f64 {
    match model {
        Model::Ax12 => 0.13,
        Model::Mx28 => 0.26,
        Model::Mx64 => 0.50,
    }
}

/// Position in the servo's ticks.
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

    /// Position in the joint's direction, rad.
    pub(super) fn position_of(&self, ticks: u16) -> f64 {
        let turn = (f64::from(ticks) - f64::from(self.model.middle_ticks())) * self.model.radians_per_tick();
        self.as_joint(turn)
    }

    /// Converts an angle, speed or torque between the directions of servo and joint.
    pub(super) fn as_joint(&self, value: f64) -> f64 {
        if self.is_inverted { -value } else { value }
    }

    /// Simulates one millisecond. `load` is the torque on the joint, N m; finite, and limited to [`MAX_LOAD`].
    pub(super) fn step(&mut self, drive: Option<&Drive>, load: f64, ends: Ends) {
        let most = MAX_LOAD * self.model.stall_torque();
        let load = load.clamp(-most, most);
        match drive {
            Some(drive) => self.drive(drive, load, ends),
            None => self.slide(load),
        }
        let from = self.position;
        self.position += self.velocity * STEP;
        // A joint that is already beyond an end stays there; it only moves no further.
        let (low, high) = (ends.low.min(from), ends.high.max(from));
        if self.position <= low || self.position >= high {
            self.position = self.position.clamp(low, high);
            self.velocity = 0.0;
        }
        let effort = self.torque / self.model.stall_torque();
        let heat = HEAT_AT_STALL * effort * effort;
        self.celsius += (AMBIENT + heat - self.celsius) * STEP / HEAT_TIME;
    }

    /// The motor provides the torque for the speed towards the goal, up to its limit; beyond that the load moves the
    /// joint.
    fn drive(&mut self, drive: &Drive, load: f64, ends: Ends) {
        let error = drive.goal - self.position;
        let wanted = (POSITION_GAIN * error).clamp(-drive.speed, drive.speed);
        let is_blocked =
            (error > 0.0 && self.position >= ends.high) || (error < 0.0 && self.position <= ends.low);
        if is_blocked {
            // It pushes against an obstacle.
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

    /// Motion without torque, against the friction only.
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
        // The damping at the end of the step, so that it does not overshoot.
        let damping = dry * DAMPING_TIME;
        let pushed = self.velocity + (torque - direction * dry) / INERTIA * STEP;
        let velocity = pushed / (1.0 + damping / INERTIA * STEP);
        // Friction stops the joint, but does not reverse it.
        self.velocity = if velocity * direction < 0.0 { 0.0 } else { velocity };
    }
}
