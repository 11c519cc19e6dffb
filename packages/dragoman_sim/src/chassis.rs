//! Two wheels with their motors, and the chassis between them: motion and currents.

use dragoman_base::odometry::WheelGeometry;
use dragoman_geometry::{Pose, Twist, wrap_angle};

/// Period of the simulation, s. The state changes at whole milliseconds only, independently of when it is read.
pub(crate) const TICK_S: f64 = 1e-3;

/// Lag of a wheel behind its set-point, s.
const LAG: f64 = 0.04;
/// Maximum acceleration of a wheel's rim, m/s^2.
const MAX_ACCELERATION: f64 = 2.0;
/// Difference below which a wheel takes its set-point, rad/s.
const SETTLED: f64 = 1e-3;

/// Current of a turning wheel on level ground, A.
const ROLLING_CURRENT: f64 = 0.12;
/// Current for acceleration, A per rad/s^2.
const INERTIA_CURRENT: f64 = 0.008;
/// Current of a wheel that is blocked while driven, A.
const STALL_CURRENT: f64 = 2.4;
/// Rate at which the current rises to that, A/s.
const STALL_RISE: f64 = 12.0;
/// Overcurrent of a motor, A.
const OVERCURRENT: f64 = 2.0;
/// Duration of an overcurrent before it is reported, ms.
const OVERCURRENT_TICKS: u32 = 100;
/// Voltage that the turning motor induces, V per rad/s of the wheel.
const INDUCED: f64 = 0.59;
/// Resistance of a motor, ohm.
const RESISTANCE: f64 = 4.0;
/// Nominal supply of the motors, V.
const SUPPLY: f64 = 14.8;

/// Maximum velocity of a chassis that is carried, m/s and rad/s.
const MAX_CARRIED: f64 = 100.0;

/// One value per wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Wheels<T> {
    /// Left in the direction of travel.
    pub left: T,
    pub right: T,
}

impl<T> Wheels<T> {
    /// Applies a function to both values.
    pub fn map<U>(self, mut function: impl FnMut(T) -> U) -> Wheels<U> {
        Wheels { left: function(self.left), right: function(self.right) }
    }
}

/// A wheel with its motor and encoder.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Wheel {
    /// Angle, rad.
    pub(crate) angle: f64,
    /// Turn rate, rad/s.
    pub(crate) rate: f64,
    /// Current, A; positive if it drives forward.
    pub(crate) current: f64,
    overloaded: u32,
    /// Angle at which the encoder's counter was zero, rad.
    zero: f64,
}

impl Wheel {
    /// Simulates one millisecond; returns the mean rate in it.
    fn step(&mut self, set_point: f64, max_change: f64, is_stalled: bool) -> f64 {
        let mut mean = 0.0;
        if is_stalled {
            self.rate = 0.0;
            let wanted = if set_point == 0.0 { 0.0 } else { STALL_CURRENT.copysign(set_point) };
            let rise = STALL_RISE * TICK_S;
            self.current += (wanted - self.current).clamp(-rise, rise);
        } else {
            let error = set_point - self.rate;
            let change = if error.abs() < SETTLED {
                error
            } else {
                (error * TICK_S / LAG).clamp(-max_change, max_change)
            };
            mean = self.rate + change / 2.0;
            self.angle += mean * TICK_S;
            self.rate += change;
            let rolling = if self.rate == 0.0 { 0.0 } else { ROLLING_CURRENT.copysign(self.rate) };
            self.current = rolling + INERTIA_CURRENT * change / TICK_S;
        }
        self.overloaded =
            if self.current.abs() > OVERCURRENT { self.overloaded.saturating_add(1) } else { 0 };
        mean
    }

    /// Fraction of the supply applied to the motor, -1 to 1.
    fn effort(&self) -> f64 {
        ((INDUCED * self.rate + RESISTANCE * self.current) / SUPPLY).clamp(-1.0, 1.0)
    }

    /// The protocol's PWM: the fraction of the supply in 127ths.
    pub(crate) fn pwm(&self) -> i8 {
        (self.effort() * 127.0).round() as i8
    }

    /// Current from the battery to the motor, A.
    pub(crate) fn supply_current(&self) -> f64 {
        (self.current * self.effort()).max(0.0)
    }

    pub(crate) fn has_overcurrent(&self) -> bool {
        self.overloaded >= OVERCURRENT_TICKS
    }

    fn restart(&mut self) {
        self.zero = self.angle;
    }
}

/// Interaction of a chassis with its environment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Contact {
    /// Blocked wheels.
    pub(crate) stalled: Wheels<bool>,
    /// A wheel is in the air.
    pub(crate) is_lifted: bool,
    /// Velocity of the chassis, if it does not follow from the wheels.
    pub(crate) motion: Option<Twist>,
}

/// Both wheels and the chassis between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chassis {
    geometry: WheelGeometry,
    pub(crate) wheels: Wheels<Wheel>,
    pub(crate) pose: Pose,
    pub(crate) twist: Twist,
}

impl Chassis {
    pub(crate) fn new(geometry: WheelGeometry) -> Self {
        Self { geometry, wheels: Wheels::default(), pose: Pose::ORIGIN, twist: Twist::ZERO }
    }

    /// Simulates one millisecond, with these rim speeds (m/s) as set-points.
    pub(crate) fn step(&mut self, set_points: Wheels<f64>, contact: &Contact) {
        let WheelGeometry { radius, .. } = self.geometry;
        let max_change = MAX_ACCELERATION / radius * TICK_S;
        let set_points = set_points.map(|speed| speed / radius);
        let Wheels { left, right } = &mut self.wheels;
        let left = left.step(set_points.left, max_change, contact.stalled.left) * radius;
        let right = right.step(set_points.right, max_change, contact.stalled.right) * radius;
        self.twist = match contact.motion {
            Some(twist) => Twist::new(sound(twist.linear), sound(twist.angular)),
            None if contact.is_lifted => Twist::ZERO,
            None => self.geometry.twist([left, right]),
        };
        if self.twist == Twist::ZERO {
            return;
        }
        let turn = self.twist.angular * TICK_S;
        let way = self.twist.linear * TICK_S;
        // The chord of the arc.
        let chord = if turn == 0.0 { way } else { way * (turn / 2.0).sin() / (turn / 2.0) };
        let (sin, cos) = (self.pose.heading + turn / 2.0).sin_cos();
        self.pose.x += chord * cos;
        self.pose.y += chord * sin;
        self.pose.heading = wrap_angle(self.pose.heading + turn);
    }

    /// Counters of the encoders.
    pub(crate) fn ticks(&self) -> Wheels<i64> {
        let ticks_per_radian = self.geometry.ticks_per_metre * self.geometry.radius;
        self.wheels.map(|wheel| ((wheel.angle - wheel.zero) * ticks_per_radian).floor() as i64)
    }

    /// Resets the counters of the encoders.
    pub(crate) fn restart(&mut self) {
        self.wheels.left.restart();
        self.wheels.right.restart();
    }
}

/// Sanitizes an external value, so that it cannot corrupt the pose.
fn sound(value: f64) -> f64 {
    if value.is_finite() { value.clamp(-MAX_CARRIED, MAX_CARRIED) } else { 0.0 }
}
