//! Trapezoidal velocity profile along one axis, or along a path parameter.
//!
//! A profile accelerates, cruises and decelerates to rest; when the distance is too short to reach the velocity limit
//! it is triangular. It may start with a velocity, for braking a motion and for ending a shape.
//! Source: Ranger thesis, 3.5: "trapezoidal trajectory ... within configured velocity and acceleration limits".

/// Limits of one axis, both positive: unit/s and unit/s^2, where the unit is the axis' own (m, rad, or 1 for a path
/// parameter).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisLimits {
    /// Maximum speed, unit/s.
    pub velocity: f64,
    /// Maximum acceleration and deceleration, unit/s^2.
    pub acceleration: f64,
}

/// State of a profile at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisState {
    /// Position, unit.
    pub position: f64,
    /// Velocity, unit/s.
    pub velocity: f64,
    /// Acceleration, unit/s^2.
    pub acceleration: f64,
}

/// A profile in closed form: sampling at any time is exact and costs a few operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrapezoidalProfile {
    start: f64,
    end: f64,
    /// +1 or -1: the direction of the motion. Everything below is measured along it, so is never negative.
    direction: f64,
    initial_velocity: f64,
    peak_velocity: f64,
    acceleration: f64,
    ramp_up: f64,
    cruise: f64,
    ramp_down: f64,
}

impl TrapezoidalProfile {
    /// From rest at `start` to rest at `end`, as fast as `limits` allow.
    pub fn new(start: f64, end: f64, limits: AxisLimits) -> Self {
        Self::with_initial_velocity(start, end, 0.0, limits)
    }

    /// From `start`, moving at `speed` (not negative, towards `end`), to rest at `end`.
    ///
    /// If `end` is nearer than the braking distance, the limits cannot be kept; the deceleration is then raised to stop
    /// exactly there. Callers that must keep the limit choose `end` with [`braking_distance`].
    pub fn with_initial_velocity(start: f64, end: f64, speed: f64, limits: AxisLimits) -> Self {
        let distance = (end - start).abs();
        let direction = if end < start { -1.0 } else { 1.0 };
        let speed = speed.clamp(0.0, f64::MAX);
        if distance == 0.0 {
            return Self::at_rest(end);
        }
        let brake = braking_distance(speed, limits.acceleration);
        let acceleration =
            if brake > distance { speed * speed / (2.0 * distance) } else { limits.acceleration };
        // Triangular peak: ramping up from `speed` and down to rest uses the whole distance.
        let triangular = (acceleration * distance + 0.5 * speed * speed).sqrt();
        let peak_velocity = triangular.min(limits.velocity.max(speed)).max(speed);
        let ramp_up = (peak_velocity - speed) / acceleration;
        let ramp_down = peak_velocity / acceleration;
        let ramps = 0.5 * (peak_velocity + speed) * ramp_up + 0.5 * peak_velocity * ramp_down;
        let cruise = ((distance - ramps) / peak_velocity).max(0.0);
        Self {
            start,
            end,
            direction,
            initial_velocity: speed,
            peak_velocity,
            acceleration,
            ramp_up,
            cruise,
            ramp_down,
        }
    }

    /// Accelerates from rest at `start` to `limits.velocity` and keeps it without end.
    pub fn endless(start: f64, limits: AxisLimits) -> Self {
        Self {
            start,
            end: f64::INFINITY,
            direction: 1.0,
            initial_velocity: 0.0,
            peak_velocity: limits.velocity,
            acceleration: limits.acceleration,
            ramp_up: limits.velocity / limits.acceleration,
            cruise: f64::INFINITY,
            ramp_down: 0.0,
        }
    }

    /// A profile that stays at `position`.
    pub fn at_rest(position: f64) -> Self {
        Self {
            start: position,
            end: position,
            direction: 1.0,
            initial_velocity: 0.0,
            peak_velocity: 0.0,
            acceleration: 0.0,
            ramp_up: 0.0,
            cruise: 0.0,
            ramp_down: 0.0,
        }
    }

    /// Time from start to rest, s; infinite for an [`endless`](Self::endless) profile.
    pub fn duration(&self) -> f64 {
        self.ramp_up + self.cruise + self.ramp_down
    }

    /// Position at which the profile ends.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// The same motion, slowed uniformly to last at least `duration` seconds; a shorter or non-finite one changes
    /// nothing.
    ///
    /// Time is scaled as a whole, so velocities fall by the ratio and accelerations by its square: a stretched profile
    /// keeps its shape and stays within every limit. Meant for profiles that start at rest.
    #[must_use]
    pub fn stretched(mut self, duration: f64) -> Self {
        let own = self.duration();
        if !(duration.is_finite() && own > 0.0 && duration > own) {
            return self;
        }
        let ratio = duration / own;
        self.initial_velocity /= ratio;
        self.peak_velocity /= ratio;
        self.acceleration /= ratio * ratio;
        self.ramp_up *= ratio;
        self.cruise *= ratio;
        self.ramp_down *= ratio;
        self
    }

    /// State `time` seconds after the start: before it, the start; from the end on, exactly the end, at rest.
    pub fn sample(&self, time: f64) -> AxisState {
        let (travelled, velocity, acceleration) = if time >= self.duration() {
            return AxisState { position: self.end, velocity: 0.0, acceleration: 0.0 };
        } else if time <= 0.0 {
            (0.0, self.initial_velocity, 0.0)
        } else if time < self.ramp_up {
            let travelled = self.initial_velocity * time + 0.5 * self.acceleration * time * time;
            (travelled, self.initial_velocity + self.acceleration * time, self.acceleration)
        } else if time < self.ramp_up + self.cruise {
            let ramp = 0.5 * (self.initial_velocity + self.peak_velocity) * self.ramp_up;
            (ramp + self.peak_velocity * (time - self.ramp_up), self.peak_velocity, 0.0)
        } else {
            // Measured back from the end, so that rounding errors of the earlier phases vanish.
            let left = self.duration() - time;
            let position = self.end - self.direction * 0.5 * self.acceleration * left * left;
            let velocity = self.direction * self.acceleration * left;
            return AxisState { position, velocity, acceleration: -self.direction * self.acceleration };
        };
        AxisState {
            position: self.start + self.direction * travelled,
            velocity: self.direction * velocity,
            acceleration: self.direction * acceleration,
        }
    }
}

/// Distance to rest from `speed` at a constant `deceleration` (> 0): v^2 / 2a.
pub fn braking_distance(speed: f64, deceleration: f64) -> f64 {
    speed * speed / (2.0 * deceleration)
}

/// A profile together with the time spent in it: the clock of a motion along a path.
///
/// The clock is advanced by the caller, who may advance it more slowly than real time when the robot cannot follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathClock {
    profile: TrapezoidalProfile,
    time: f64,
}

impl PathClock {
    /// A clock at the start of `profile`.
    pub fn new(profile: TrapezoidalProfile) -> Self {
        Self { profile, time: 0.0 }
    }

    /// Moves on by `dt` seconds and returns the new state.
    pub fn advance(&mut self, dt: f64) -> AxisState {
        self.time += dt;
        self.state()
    }

    /// The present state.
    pub fn state(&self) -> AxisState {
        self.profile.sample(self.time)
    }

    /// Whether the profile has ended.
    pub fn is_done(&self) -> bool {
        self.time >= self.profile.duration()
    }

    /// Position at which the motion would come to rest if it were braked now at `deceleration`; never beyond its own
    /// end.
    pub fn stop_position(&self, deceleration: f64) -> f64 {
        let now = self.state();
        let stop = now.position + now.velocity.signum() * braking_distance(now.velocity, deceleration);
        if self.profile.direction > 0.0 { stop.min(self.profile.end) } else { stop.max(self.profile.end) }
    }

    /// Brakes from the present state at `deceleration` (> 0), along the same path.
    pub fn brake(&mut self, deceleration: f64) {
        let now = self.state();
        self.head_for(
            self.stop_position(deceleration),
            AxisLimits { velocity: now.velocity.abs(), acceleration: deceleration },
        );
    }

    /// Continues from the present position and velocity to rest at `end`, which must lie ahead.
    pub fn head_for(&mut self, end: f64, limits: AxisLimits) {
        let now = self.state();
        let speed = now.velocity.abs();
        self.profile = TrapezoidalProfile::with_initial_velocity(now.position, end, speed, limits);
        self.time = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: AxisLimits = AxisLimits { velocity: 0.03, acceleration: 0.01 };

    #[test]
    fn long_distance_is_a_trapezoid_and_ends_exactly() {
        let profile = TrapezoidalProfile::new(0.1, 0.7, LIMITS);
        // 3 s ramps cover 0.045 m each; the remaining 0.51 m take 17 s at 0.03 m/s.
        assert!((profile.duration() - 23.0).abs() < 1e-12);
        assert_eq!(profile.sample(23.0).position, 0.7);
        assert_eq!(profile.sample(1e9).position, 0.7);
        assert_eq!(profile.sample(-1.0).position, 0.1);
        assert!((profile.sample(10.0).velocity - 0.03).abs() < 1e-15);
    }

    #[test]
    fn short_distance_is_a_triangle() {
        let profile = TrapezoidalProfile::new(0.0, -0.01, LIMITS);
        assert!((profile.duration() - 2.0).abs() < 1e-12);
        let middle = profile.sample(1.0);
        assert!((middle.velocity + 0.01).abs() < 1e-12 && (middle.position + 0.005).abs() < 1e-12);
        assert_eq!(profile.sample(2.0).position, -0.01);
    }

    #[test]
    fn stretching_scales_time_and_never_shortens() {
        let profile = TrapezoidalProfile::new(0.0, 0.6, LIMITS);
        let slow = profile.stretched(46.0);
        assert!((slow.duration() - 46.0).abs() < 1e-9);
        assert!((slow.sample(20.0).velocity - 0.015).abs() < 1e-12);
        assert_eq!(profile.stretched(1.0), profile);
        assert_eq!(profile.stretched(f64::NAN), profile);
        assert_eq!(TrapezoidalProfile::at_rest(1.0).stretched(5.0).duration(), 0.0);
    }

    #[test]
    fn sampled_velocity_and_acceleration_keep_the_limits_and_agree_with_the_position() {
        for distance in [1e-9, 1e-4, 0.01, 0.09, 0.091, 1.0, 50.0] {
            let profile = TrapezoidalProfile::new(-0.3, -0.3 + distance, LIMITS);
            let step = profile.duration() / 5_000.0;
            let mut previous = profile.sample(0.0);
            for index in 1..=5_000 {
                let now = profile.sample(index as f64 * step);
                assert!(now.velocity <= LIMITS.velocity * (1.0 + 1e-9) && now.velocity >= -1e-15);
                assert!(now.acceleration.abs() <= LIMITS.acceleration * (1.0 + 1e-9));
                let mean = 0.5 * (now.velocity + previous.velocity);
                assert!((now.position - previous.position - mean * step).abs() < 1e-3 * distance);
                previous = now;
            }
            assert_eq!(previous.position, -0.3 + distance);
        }
    }

    #[test]
    fn braking_stops_at_the_braking_distance_from_any_moment() {
        for time in [0.0, 0.5, 2.9, 3.0, 10.0, 20.5, 22.99, 23.0, 40.0] {
            let mut clock = PathClock::new(TrapezoidalProfile::new(0.0, 0.6, LIMITS));
            let moving = clock.advance(time);
            let stop = clock.stop_position(0.3);
            clock.brake(0.3);
            assert!((clock.state().velocity - moving.velocity).abs() < 1e-12);
            let rest = clock.advance(moving.velocity / 0.3 + 1e-9);
            assert!(clock.is_done() && rest.position == stop && stop <= 0.6);
            assert!((stop - moving.position - braking_distance(moving.velocity, 0.3)).abs() < 1e-12);
        }
    }

    #[test]
    fn heading_for_an_end_keeps_position_and_velocity_continuous() {
        let limits = AxisLimits { velocity: 1.0, acceleration: 2.0 };
        let mut clock = PathClock::new(TrapezoidalProfile::endless(0.0, limits));
        let before = clock.advance(7.3);
        clock.head_for(10.0, limits);
        assert_eq!(clock.state().position, before.position);
        assert!((clock.state().velocity - before.velocity).abs() < 1e-12);
        clock.advance(100.0);
        assert!(clock.is_done() && clock.state().position == 10.0);
    }
}
