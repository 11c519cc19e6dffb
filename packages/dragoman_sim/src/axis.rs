//! The motor and shaft of a simulated drive: position loop with a period of 360 us, current, temperature.
//!
//! The state changes at ticks only, at whole multiples of the loop's period since the epoch of the virtual time. An
//! axis at rest needs no computation, however long it rests.

mod load;

use std::time::Duration;

use dragoman_arm::simpliq::POSITION_LOOP;

pub(crate) use load::Drive;
use load::Shaft;

/// Difference to the temperature limit below which a hot motor can be switched on again, degrees.
const COOL_DOWN: f64 = 5.0;

/// Properties of the motor and its load. Counts are those of the encoder.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisSettings {
    /// Maximum velocity, counts/s; a motion that needs more is a fault.
    pub velocity_limit: f64,
    /// Velocity with which the position loop follows set-points, counts/s: where they are faster, the shaft falls
    /// behind, and catches up later (Ranger thesis, 4.5.4). Infinity: it always keeps up.
    pub following_limit: f64,
    /// Acceleration of profiles, counts/s^2.
    pub acceleration: f64,
    /// Deceleration when the motor is switched off and the brake engages, counts/s^2.
    pub brake_deceleration: f64,
    /// Maximum current, A.
    pub current_limit: f64,
    /// Current per velocity, A per count/s.
    pub friction: f64,
    /// Current per acceleration, A per count/s^2.
    pub inertia: f64,
    /// Temperature at rest, degrees Celsius.
    pub ambient: f64,
    /// Temperature rise per squared current, degrees per A^2.
    pub heating: f64,
    /// Time constant of the warming (63 %).
    pub warming_time: Duration,
    /// Temperature at which it switches off, degrees Celsius.
    pub temperature_limit: f64,
    /// Minimum and maximum position of the shaft, counts, while it follows a current, with an arm as its load.
    pub position_limits: [f64; 2],
}

impl Default for AxisSettings {
    fn default() -> Self {
        Self {
            velocity_limit: 500_000.0,
            following_limit: f64::INFINITY,
            acceleration: 1e6,
            brake_deceleration: 2e7,
            current_limit: 5.0,
            friction: 2e-6,
            inertia: 2e-6,
            ambient: 25.0,
            heating: 4.0,
            warming_time: Duration::from_secs(300),
            temperature_limit: 85.0,
            position_limits: [f64::NEG_INFINITY, f64::INFINITY],
        }
    }
}

/// Current motion of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Motion {
    /// At rest, held by the position loop or the brake.
    Rest,
    /// Changes to a velocity (counts/s) with an acceleration (counts/s^2), and keeps it.
    Velocity { target: f64, acceleration: f64 },
    /// Moves to a position with a trapezoidal profile.
    Point { target: f64, speed: f64, deceleration: f64 },
    /// Follows a cubic.
    Segment(Segment),
    /// Follows a current, A.
    Current(f64),
}

/// A cubic between two positions, with the velocities at both ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Segment {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Counts per tick.
    pub(crate) from_velocity: f64,
    /// Counts per tick.
    pub(crate) to_velocity: f64,
    pub(crate) start: u64,
    pub(crate) ticks: u32,
}

/// Event of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisEvent {
    /// The end of the segment was reached.
    SegmentEnd,
    /// The motion needs more than the maximum velocity.
    TooFast,
    /// The temperature has reached its limit.
    TooHot,
    /// The position is beyond its limits.
    OutOfRange,
}

/// Motor and shaft.
#[derive(Debug, Clone)]
pub struct Axis {
    settings: AxisSettings,
    motion: Motion,
    tick: u64,
    position: f64,
    /// Position of the shaft when the counter was 0.
    shaft_offset: f64,
    velocity: f64,
    current: f64,
    temperature: f64,
    load: Option<Shaft>,
}

impl Axis {
    pub(crate) fn new(settings: AxisSettings) -> Self {
        let temperature = settings.ambient;
        Self {
            settings,
            motion: Motion::Rest,
            tick: 0,
            position: 0.0,
            shaft_offset: 0.0,
            velocity: 0.0,
            current: 0.0,
            temperature,
            load: None,
        }
    }

    /// The encoder's counter without its wrap at 32 bits, counts.
    pub fn position(&self) -> f64 {
        match &self.load {
            Some(shaft) if !shaft.is_braked => shaft.position,
            _ => self.position,
        }
    }

    /// The counter: the low 32 bits.
    pub(crate) fn counter(&self) -> i32 {
        low_bits(self.position())
    }

    /// Sets the counter without a motion.
    pub(crate) fn set_position(&mut self, position: f64) {
        let change = position - self.position();
        self.shaft_offset -= change;
        self.position += change;
        if let Some(shaft) = &mut self.load {
            shaft.position += change;
        }
    }

    /// Position of the shaft in counts since the start: setting the counter does not change it.
    pub fn shaft_position(&self) -> f64 {
        self.shaft_offset + self.position()
    }

    /// The drive restarts: the brake engages; after a power failure the count is lost.
    pub(crate) fn restart(&mut self, power_failed: bool) {
        self.brake();
        if power_failed {
            self.set_position(0.0);
        }
    }

    /// The position with this counter that is nearest to `near`.
    pub(crate) fn unwrapped(near: f64, counter: i32) -> f64 {
        near.round() + f64::from(counter.wrapping_sub(low_bits(near)))
    }

    /// Velocity, counts/s.
    pub fn velocity(&self) -> f64 {
        match &self.load {
            Some(shaft) if !shaft.is_braked => shaft.velocity,
            _ => self.velocity,
        }
    }

    pub(crate) fn current(&self) -> f64 {
        self.current
    }

    pub(crate) fn is_current_limited(&self) -> bool {
        self.current.abs() >= self.settings.current_limit
    }

    pub(crate) fn settings(&self) -> &AxisSettings {
        &self.settings
    }

    /// Temperature, degrees Celsius.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    pub(crate) fn is_too_hot(&self) -> bool {
        self.temperature > self.settings.temperature_limit - COOL_DOWN
    }

    /// Number of the last executed position loop.
    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    pub(crate) fn motion(&self) -> &Motion {
        &self.motion
    }

    pub(crate) fn set_motion(&mut self, motion: Motion) {
        self.release();
        self.motion = motion;
    }

    /// Decelerates to rest, counts/s^2.
    pub(crate) fn stop(&mut self, deceleration: f64) {
        self.release();
        self.motion = if self.velocity == 0.0 {
            Motion::Rest
        } else {
            Motion::Velocity { target: 0.0, acceleration: deceleration }
        };
    }

    /// Holds the current position.
    pub(crate) fn hold(&mut self) {
        self.release();
        (self.motion, self.velocity, self.current) = (Motion::Rest, 0.0, 0.0);
    }

    /// Holds a set-point: stands there, or still has to catch up with it.
    pub(crate) fn hold_at(&mut self, target: f64) {
        if self.position == target {
            return self.hold();
        }
        self.release();
        let deceleration = self.settings.brake_deceleration;
        self.motion = Motion::Point { target, speed: self.settings.following_limit, deceleration };
    }

    /// Switches the motor off; the brake engages.
    pub(crate) fn brake(&mut self) {
        if let Some(shaft) = self.load.as_mut().filter(|shaft| !shaft.is_braked) {
            (self.position, self.velocity) = (shaft.position, shaft.velocity);
            (shaft.is_braked, self.current) = (true, 0.0);
        }
        self.motion = if self.velocity == 0.0 {
            Motion::Rest
        } else {
            Motion::Velocity { target: 0.0, acceleration: self.settings.brake_deceleration }
        };
    }

    /// Whether the state stays constant.
    pub(crate) fn is_at_rest(&self) -> bool {
        if self.load.as_ref().is_some_and(|shaft| !shaft.is_braked) {
            return false;
        }
        match self.motion {
            Motion::Rest => true,
            Motion::Current(current) => current == 0.0 && self.velocity == 0.0,
            _ => false,
        }
    }

    /// Skips the loops until `tick`, at rest.
    pub(crate) fn rest_until(&mut self, tick: u64) {
        self.velocity = 0.0;
        self.current = 0.0;
        self.warm(tick.saturating_sub(self.tick));
        self.tick = tick;
    }

    /// Executes the next position loop.
    pub(crate) fn step(&mut self) -> Option<AxisEvent> {
        self.tick += 1;
        let period = POSITION_LOOP.as_secs_f64();
        let before = self.velocity;
        let mut event = None;
        match self.motion {
            Motion::Rest => self.velocity = 0.0,
            Motion::Velocity { target, acceleration } => {
                self.velocity = approach(self.velocity, target, acceleration * period);
                self.position += self.velocity * period;
                if self.velocity == 0.0 && target == 0.0 {
                    self.motion = Motion::Rest;
                }
            }
            Motion::Point { target, speed, deceleration } => self.step_to_point(target, speed, deceleration),
            Motion::Segment(segment) => {
                let elapsed = self.tick.saturating_sub(segment.start);
                let (position, velocity) = segment.at(elapsed);
                let (way, most) = (position - self.position, self.settings.following_limit * period);
                if way.abs() <= most {
                    (self.position, self.velocity) = (position, velocity / period);
                } else {
                    self.velocity = self.settings.following_limit.copysign(way);
                    self.position += most.copysign(way);
                }
                if elapsed >= u64::from(segment.ticks) {
                    event = Some(AxisEvent::SegmentEnd);
                }
            }
            Motion::Current(_) if self.load.is_some() => {}
            Motion::Current(current) => {
                // Friction increases with velocity, so every current has its final velocity.
                let last = current / self.settings.friction;
                let decay = (-period * self.settings.friction / self.settings.inertia).exp();
                self.velocity = last + (self.velocity - last) * decay;
                if current == 0.0 && self.velocity.abs() < 1.0 {
                    self.velocity = 0.0;
                }
                self.position += self.velocity * period;
                if self.velocity.abs() > self.settings.velocity_limit {
                    event = Some(AxisEvent::TooFast);
                }
            }
        }
        let limit = self.settings.current_limit;
        self.current = match self.motion {
            Motion::Rest => 0.0,
            Motion::Current(current) => current,
            _ => {
                let acceleration = (self.velocity - before) / period;
                let needed = self.settings.inertia * acceleration + self.settings.friction * self.velocity;
                needed.clamp(-limit, limit)
            }
        };
        event = self.run_loaded(period).or(event);
        self.warm(1);
        if self.temperature >= self.settings.temperature_limit { Some(AxisEvent::TooHot) } else { event }
    }

    fn step_to_point(&mut self, target: f64, speed: f64, deceleration: f64) {
        let period = POSITION_LOOP.as_secs_f64();
        let distance = target - self.position;
        let step = self.settings.acceleration.max(deceleration) * period;
        if distance.abs() <= step * period && self.velocity.abs() <= 2.0 * step {
            (self.position, self.velocity, self.motion) = (target, 0.0, Motion::Rest);
            return;
        }
        // The velocity from which the axis can still stop in time, one loop from now.
        let reach = (2.0 * deceleration * distance.abs()).sqrt().min(distance.abs() / period);
        let wanted = distance.signum() * speed.min(reach);
        let is_faster = wanted.abs() > self.velocity.abs() && wanted * self.velocity >= 0.0;
        let acceleration = if is_faster { self.settings.acceleration } else { 2.0 * deceleration };
        self.velocity = approach(self.velocity, wanted, acceleration * period);
        self.position += self.velocity * period;
    }

    fn warm(&mut self, ticks: u64) {
        let settings = &self.settings;
        let last = settings.ambient + settings.heating * self.current * self.current;
        let elapsed = POSITION_LOOP.as_secs_f64() * ticks as f64;
        self.temperature =
            last + (self.temperature - last) * (-elapsed / settings.warming_time.as_secs_f64()).exp();
    }
}

impl Segment {
    /// Position in counts and velocity in counts per tick, `elapsed` ticks after the start.
    pub(crate) fn at(&self, elapsed: u64) -> (f64, f64) {
        if elapsed >= u64::from(self.ticks) {
            return (self.to, self.to_velocity);
        }
        let ticks = f64::from(self.ticks);
        let s = elapsed as f64 / ticks;
        let [a, b, c] = self.coefficients();
        (self.from + s * (c + s * (b + s * a)), (c + s * (2.0 * b + s * 3.0 * a)) / ticks)
    }

    /// Maximum velocity of the segment, counts per tick, absolute.
    pub(crate) fn peak_velocity(&self) -> f64 {
        let [a, b, c] = self.coefficients();
        let ends = self.from_velocity.abs().max(self.to_velocity.abs());
        let extreme = -b / (3.0 * a);
        if extreme > 0.0 && extreme < 1.0 {
            let inner = (c + extreme * (2.0 * b + extreme * 3.0 * a)) / f64::from(self.ticks);
            ends.max(inner.abs())
        } else {
            // No extremum inside, or a straight line; the extrema of a parabola's velocity are at its ends.
            ends.max(((self.to - self.from) / f64::from(self.ticks)).abs())
        }
    }

    /// Of `from + c s + b s^2 + a s^3` with s from 0 to 1 (cubic Hermite polynomial).
    fn coefficients(&self) -> [f64; 3] {
        let (start, end) =
            (self.from_velocity * f64::from(self.ticks), self.to_velocity * f64::from(self.ticks));
        let distance = self.to - self.from;
        [start + end - 2.0 * distance, 3.0 * distance - 2.0 * start - end, start]
    }
}

/// Number of position loops executed until a time.
pub(crate) fn tick_at(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() / POSITION_LOOP.as_nanos()).unwrap_or(u64::MAX)
}

/// Time of a position loop.
pub(crate) fn time_of(tick: u64) -> Duration {
    let period = POSITION_LOOP.as_micros() as u64;
    Duration::from_micros(tick.saturating_mul(period))
}

fn approach(value: f64, target: f64, step: f64) -> f64 {
    value + (target - value).clamp(-step, step)
}

fn low_bits(position: f64) -> i32 {
    // Wraps like a counter of 32 bits; the cast to 64 bits saturates far beyond any travel.
    (position.round() as i64) as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_counter_wraps_and_positions_near_the_wrap_are_found_again() {
        let mut axis = Axis::new(AxisSettings::default());
        axis.set_position(f64::from(i32::MAX) + 3.0);
        assert_eq!(axis.counter(), i32::MIN + 2);
        assert_eq!(Axis::unwrapped(axis.position(), i32::MIN + 5), f64::from(i32::MAX) + 6.0);
        assert_eq!(Axis::unwrapped(axis.position(), i32::MAX), f64::from(i32::MAX));
    }

    #[test]
    fn a_point_is_reached_exactly_and_within_the_speed() {
        let mut axis = Axis::new(AxisSettings::default());
        axis.set_motion(Motion::Point { target: -12_345.0, speed: 50_000.0, deceleration: 2e6 });
        let mut fastest = 0.0_f64;
        while !axis.is_at_rest() {
            assert_eq!(axis.step(), None);
            fastest = fastest.max(axis.velocity().abs());
            assert!(axis.tick() < 5000, "{axis:?}");
        }
        assert_eq!(axis.position(), -12_345.0);
        assert!((40_000.0..=50_000.0).contains(&fastest), "{fastest}");
    }

    #[test]
    fn resting_in_one_go_cools_as_much_as_loop_by_loop() {
        let settings = AxisSettings { warming_time: Duration::from_secs(1), ..AxisSettings::default() };
        let mut axis = Axis::new(settings);
        axis.temperature = 60.0;
        let mut other = axis.clone();
        axis.rest_until(1000);
        (0..1000).for_each(|_| assert_eq!(other.step(), None));
        assert!((axis.temperature() - other.temperature()).abs() < 1e-9);
    }

    #[test]
    fn a_shaft_falls_behind_fast_set_points_and_catches_up() {
        let settings = AxisSettings { following_limit: 10_000.0, ..AxisSettings::default() };
        let mut axis = Axis::new(settings);
        // 20,000 counts/s for 0.36 s.
        let velocity = 20_000.0 * POSITION_LOOP.as_secs_f64();
        let segment = Segment {
            from: 0.0,
            to: 1000.0 * velocity,
            from_velocity: velocity,
            to_velocity: velocity,
            start: 0,
            ticks: 1000,
        };
        axis.set_motion(Motion::Segment(segment));
        while axis.step() != Some(AxisEvent::SegmentEnd) {
            assert!(axis.velocity().abs() <= 10_000.0);
        }
        assert!((axis.position() - 3600.0).abs() < 1.0, "{}", axis.position());
        axis.hold_at(segment.to);
        while !axis.is_at_rest() {
            axis.step();
            assert!(axis.velocity().abs() <= 10_000.0 && axis.tick() < 3000, "{axis:?}");
        }
        assert_eq!(axis.position(), segment.to);
    }

    proptest! {
        #[test]
        fn no_point_of_a_segment_is_faster_than_its_peak(
            to in -1e6..1e6_f64, from_velocity in -1e3..1e3_f64, to_velocity in -1e3..1e3_f64, ticks in 1_u32..256
        ) {
            let segment = Segment { from: 0.0, to, from_velocity, to_velocity, start: 0, ticks };
            let peak = segment.peak_velocity();
            for elapsed in 0..=u64::from(ticks) {
                prop_assert!(segment.at(elapsed).1.abs() <= peak * 1.000_001 + 1e-9);
            }
            prop_assert_eq!(segment.at(u64::from(ticks)).0, to);
        }
    }
}
