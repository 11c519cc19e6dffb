//! Limits of a base's velocities and accelerations.

use std::time::Duration;

use crate::Twist;

/// Limits of one velocity, linear (m/s, m/s^2) or angular (rad/s, rad/s^2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisLimits {
    /// Maximum velocity, in both directions.
    pub velocity: f64,
    /// Maximum acceleration; `None`: no limit.
    pub acceleration: Option<f64>,
    /// Maximum deceleration; `None`: no limit.
    pub deceleration: Option<f64>,
}

impl AxisLimits {
    /// Limits the velocity only.
    pub fn velocity(velocity: f64) -> Self {
        Self { velocity, acceleration: None, deceleration: None }
    }

    /// The velocity after this time on the way to the target. A reversal first decelerates to 0.
    fn ramp(&self, velocity: f64, target: f64, time: f64) -> f64 {
        let slower = if velocity * target <= 0.0 { 0.0 } else { target };
        let (mut velocity, mut time) = (velocity, time);
        if (velocity - slower).abs() > 0.0 && velocity.abs() > slower.abs() {
            let excess = velocity.abs() - slower.abs();
            let braking = self.deceleration.map_or(0.0, |rate| excess / rate);
            if braking > time {
                return velocity - velocity.signum() * excess * (time / braking);
            }
            (velocity, time) = (slower, time - braking);
        }
        match self.acceleration {
            Some(rate) => velocity + (target - velocity).clamp(-rate * time, rate * time),
            None => target,
        }
    }

    fn check(&self, axis: &'static str) -> Result<(), LimitError> {
        let values = [("velocity", Some(self.velocity)), ("acceleration", self.acceleration)];
        for (limit, value) in values.into_iter().chain([("deceleration", self.deceleration)]) {
            if let Some(value) = value
                && !(value.is_finite() && value > 0.0)
            {
                return Err(LimitError { axis, limit, value });
            }
        }
        Ok(())
    }
}

/// Limits of a base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Forward and backward; also sideways.
    pub linear: AxisLimits,
    /// Turning.
    pub angular: AxisLimits,
}

impl Limits {
    /// The Kobuki: 0.7 m/s and 180 deg/s (TurtleBot thesis, 2.1), without acceleration limits.
    pub const KOBUKI: Self = Self {
        linear: AxisLimits { velocity: 0.7, acceleration: None, deceleration: None },
        angular: AxisLimits { velocity: std::f64::consts::PI, acceleration: None, deceleration: None },
    };

    /// Checks that every limit is finite and positive.
    ///
    /// # Errors
    /// The first invalid limit.
    pub fn check(&self) -> Result<(), LimitError> {
        self.linear.check("linear")?;
        self.angular.check("angular")
    }
}

/// An invalid limit.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the limit of the {axis} {limit} is {value}; it must be finite and more than 0")]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct LimitError {
    /// "linear" or "angular".
    pub axis: &'static str,
    /// "velocity", "acceleration" or "deceleration".
    pub limit: &'static str,
    pub value: f64,
}

/// Changes a velocity towards its target, within limits.
#[derive(Debug, Clone)]
pub struct Ramp {
    limits: Limits,
    velocity: Twist,
}

/// Maximum step: it is unknown what the base does during a longer one.
const MAX_STEP: Duration = Duration::from_millis(100);

impl Ramp {
    /// A ramp at standstill.
    ///
    /// # Errors
    /// An invalid limit.
    pub fn new(limits: Limits) -> Result<Self, LimitError> {
        limits.check()?;
        Ok(Self { limits, velocity: Twist::ZERO })
    }

    /// Advances towards the target by this time; 0.1 s at most. A target that is not finite means standstill.
    pub fn step(&mut self, target: Twist, time: Duration) -> Twist {
        self.velocity = self.next(self.reachable(target), time);
        self.velocity
    }

    /// As [`step`](Self::step), with all axes on the way to the target to the same extent: from standstill, the base
    /// drives the arc of the target from the start, and stops on the arc that it drives.
    pub fn step_along(&mut self, target: Twist, time: Duration) -> Twist {
        let (before, target) = (self.velocity, self.reachable(target));
        let alone = self.next(target, time);
        let part = |axis: fn(&Twist) -> f64| {
            let (before, alone, target) = (axis(&before), axis(&alone), axis(&target));
            if target == before { 1.0 } else { (alone - before) / (target - before) }
        };
        let axes: [fn(&Twist) -> f64; 3] =
            [|twist| twist.linear, |twist| twist.lateral, |twist| twist.angular];
        let part = axes.into_iter().map(part).fold(1.0, f64::min);
        self.velocity = if part < 1.0 {
            Twist {
                linear: before.linear + part * (target.linear - before.linear),
                lateral: before.lateral + part * (target.lateral - before.lateral),
                angular: before.angular + part * (target.angular - before.angular),
            }
        } else {
            target
        };
        self.velocity
    }

    /// The target within the limits of velocity; standstill if it is not finite.
    fn reachable(&self, target: Twist) -> Twist {
        if !target.is_finite() {
            return Twist::ZERO;
        }
        let Limits { linear, angular } = self.limits;
        Twist {
            linear: target.linear.clamp(-linear.velocity, linear.velocity),
            lateral: target.lateral.clamp(-linear.velocity, linear.velocity),
            angular: target.angular.clamp(-angular.velocity, angular.velocity),
        }
    }

    /// The velocity after this time, each axis for itself.
    fn next(&self, target: Twist, time: Duration) -> Twist {
        let time = time.min(MAX_STEP).as_secs_f64();
        Twist {
            linear: self.limits.linear.ramp(self.velocity.linear, target.linear, time),
            lateral: self.limits.linear.ramp(self.velocity.lateral, target.lateral, time),
            angular: self.limits.angular.ramp(self.velocity.angular, target.angular, time),
        }
    }

    /// Sets the velocity to 0 at once.
    pub fn stop(&mut self) {
        self.velocity = Twist::ZERO;
    }

    /// The present velocity.
    pub fn velocity(&self) -> Twist {
        self.velocity
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets other limits; the present velocity is kept as the starting point.
    ///
    /// # Errors
    /// An invalid limit; the old ones stay.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        limits.check()?;
        self.limits = limits;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
