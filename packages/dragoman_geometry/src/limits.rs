//! Limits of a base's velocities and accelerations.

use std::time::Duration;

use crate::Twist;

/// Limits of one velocity, linear (m/s, m/s^2) or angular (rad/s, rad/s^2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisLimits {
    /// The fastest, both ways.
    pub velocity: f64,
    /// How fast it may grow; `None`: at once.
    pub acceleration: Option<f64>,
    /// How fast it may fall; `None`: at once.
    pub deceleration: Option<f64>,
}

impl AxisLimits {
    /// Up to this velocity, at once.
    pub fn velocity(velocity: f64) -> Self {
        Self { velocity, acceleration: None, deceleration: None }
    }

    /// The velocity after this time on the way to the target. Whoever turns round brakes first.
    fn ramp(&self, velocity: f64, target: f64, time: f64) -> f64 {
        let target = target.clamp(-self.velocity, self.velocity);
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
    /// Forward and backward.
    pub linear: AxisLimits,
    /// Turning.
    pub angular: AxisLimits,
}

impl Limits {
    /// The Kobuki: 0.7 m/s and 180 deg/s (seed 003, section 2.1), at once.
    pub const KOBUKI: Self = Self {
        linear: AxisLimits { velocity: 0.7, acceleration: None, deceleration: None },
        angular: AxisLimits { velocity: std::f64::consts::PI, acceleration: None, deceleration: None },
    };

    /// Checks that every limit is finite and more than 0.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check(&self) -> Result<(), LimitError> {
        self.linear.check("linear")?;
        self.angular.check("angular")
    }
}

/// A limit that is none.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the limit of the {axis} {limit} is {value}; it has to be finite and more than 0")]
pub struct LimitError {
    /// "linear" or "angular".
    pub axis: &'static str,
    /// "velocity", "acceleration" or "deceleration".
    pub limit: &'static str,
    /// What it is.
    pub value: f64,
}

/// Brings a velocity to what is wanted, within limits.
#[derive(Debug, Clone)]
pub struct Ramp {
    limits: Limits,
    velocity: Twist,
}

/// Longer steps count as this one: nobody was there to see what the base did meanwhile.
const MAX_STEP: Duration = Duration::from_millis(100);

impl Ramp {
    /// From standing still.
    ///
    /// # Errors
    /// A limit is none.
    pub fn new(limits: Limits) -> Result<Self, LimitError> {
        limits.check()?;
        Ok(Self { limits, velocity: Twist::ZERO })
    }

    /// Goes towards the target for this time; 0.1 s at most. A target that is not finite is standing still.
    pub fn step(&mut self, target: Twist, time: Duration) -> Twist {
        let target = if target.is_finite() { target } else { Twist::ZERO };
        let time = time.min(MAX_STEP).as_secs_f64();
        self.velocity = Twist {
            linear: self.limits.linear.ramp(self.velocity.linear, target.linear, time),
            angular: self.limits.angular.ramp(self.velocity.angular, target.angular, time),
        };
        self.velocity
    }

    /// Stands still at once.
    pub fn stop(&mut self) {
        self.velocity = Twist::ZERO;
    }

    /// What was reached.
    pub fn velocity(&self) -> Twist {
        self.velocity
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets other limits; the velocity reached stays, and goes on from there.
    ///
    /// # Errors
    /// A limit is none; the old ones stay.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        limits.check()?;
        self.limits = limits;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
