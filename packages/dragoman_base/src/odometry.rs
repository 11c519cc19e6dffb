//! Pose of a base with two driven wheels from its encoders, and from its gyro if it has one (TurtleBot thesis, 3.6.1).

use std::time::Duration;

use dragoman_geometry::{Pose, Twist, wrap_angle};

/// Dimensions of the wheels and resolution of the encoders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WheelGeometry {
    /// Distance of the wheels' centres, m.
    pub separation: f64,
    /// Radius of the wheels, m.
    pub radius: f64,
    /// Encoder ticks per metre that the wheel rolls.
    pub ticks_per_metre: f64,
    /// Value at which the encoders wrap: 65536 for 16 bits.
    pub tick_modulus: u64,
    /// Upper bound of a wheel's speed, m/s. Faster changes are not motion but a restart of the encoder.
    pub max_speed: f64,
}

impl WheelGeometry {
    /// The Kobuki: 230 mm, 35 mm, 2578.33 ticks per turn, which is 11.7 per mm; 16 bits; 0.7 m/s (TurtleBot thesis,
    /// 2.1).
    pub const KOBUKI: Self = Self {
        separation: 0.23,
        radius: 0.035,
        ticks_per_metre: 2578.333869740464 / (std::f64::consts::TAU * 0.035),
        tick_modulus: 1 << 16,
        max_speed: 2.0,
    };

    /// Speeds of the left and the right wheel on the ground for a motion of the base, m/s.
    pub fn wheel_speeds(&self, twist: Twist) -> [f64; 2] {
        let turning = twist.angular * self.separation / 2.0;
        [twist.linear - turning, twist.linear + turning]
    }

    /// The motion of the base for these wheel speeds (m/s) or distances (m).
    pub fn twist(&self, [left, right]: [f64; 2]) -> Twist {
        Twist::new((left + right) / 2.0, (right - left) / self.separation)
    }
}

/// A measurement of the gyro.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GyroReading {
    /// Heading, counterclockwise, rad; relative to any fixed direction.
    pub heading: f64,
    /// Turn rate, rad/s.
    pub rate: f64,
}

/// The measurements of a base at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Encoders of the left and the right wheel; they wrap.
    pub ticks: [i64; 2],
    /// Time since the previous measurement, by the base's clock; without a clock, the maximum possible time.
    pub interval: Duration,
    /// Speeds of the left and the right wheel on the ground, m/s; `None`: those in the interval. A base without a clock
    /// has no exact interval.
    pub speeds: Option<[f64; 2]>,
    /// Measurement of the gyro, if the heading comes from it.
    pub gyro: Option<GyroReading>,
}

/// State of a wheel, as in `/joint_states`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wheel {
    /// Angle of forward rotation since the start or the last reset, rad.
    pub angle: f64,
    /// Angular velocity, rad/s.
    pub rate: f64,
}

/// Tolerance on a wheel's maximum distance per interval: the base's clock is quantized.
const TIME_TOLERANCE: f64 = 0.1;

/// Integrates the pose of a base over its measurements. The first one after the start, or after
/// [`interrupt`](Self::interrupt), is only the reference of the next.
#[derive(Debug, Clone)]
pub struct Odometry {
    geometry: WheelGeometry,
    pose: Pose,
    twist: Twist,
    wheels: [Wheel; 2],
    last: Option<Measurement>,
    heading_from_gyro: bool,
    jumps: u64,
}

impl Odometry {
    /// At the origin.
    pub fn new(geometry: WheelGeometry) -> Self {
        Self {
            geometry,
            pose: Pose::ORIGIN,
            twist: Twist::ZERO,
            wheels: [Wheel::default(); 2],
            last: None,
            heading_from_gyro: false,
            jumps: 0,
        }
    }

    /// Takes a measurement. Rates are unchanged if it has no speeds and the base's clock has not advanced.
    ///
    /// The path between two measurements is an arc. Its angle comes from the gyro if both have its data.
    pub fn update(&mut self, measurement: Measurement) {
        self.heading_from_gyro = measurement.gyro.is_some();
        let Some(last) = self.last.replace(measurement) else {
            return;
        };
        let interval = measurement.interval.as_secs_f64();
        let (before, ticks) = (last.ticks, measurement.ticks);
        let [left, right] = [self.distance(before[0], ticks[0]), self.distance(before[1], ticks[1])];
        let most = self.geometry.max_speed * (interval + TIME_TOLERANCE);
        if left.abs().max(right.abs()) > most {
            self.jumps += 1;
            self.stand();
            return;
        }
        let step = self.geometry.twist([left, right]);
        let turn = match (last.gyro, measurement.gyro) {
            (Some(last), Some(gyro)) => wrap_angle(gyro.heading - last.heading),
            _ => step.angular,
        };
        // The chord of an arc with this angle.
        let half = turn / 2.0;
        let chord = if half.abs() < 1e-6 { step.linear } else { step.linear * half.sin() / half };
        let direction = self.pose.heading + half;
        self.pose.x += chord * direction.cos();
        self.pose.y += chord * direction.sin();
        self.pose.heading = wrap_angle(self.pose.heading + turn);
        for (wheel, distance) in self.wheels.iter_mut().zip([left, right]) {
            wheel.angle += distance / self.geometry.radius;
        }
        let in_interval = || (interval > 0.0).then(|| [left / interval, right / interval]);
        if let Some(speeds) = measurement.speeds.or_else(in_interval) {
            for (wheel, speed) in self.wheels.iter_mut().zip(speeds) {
                wheel.rate = speed / self.geometry.radius;
            }
            let Twist { linear, angular, .. } = self.geometry.twist(speeds);
            self.twist = Twist::new(linear, measurement.gyro.map_or(angular, |gyro| gyro.rate));
        }
    }

    /// Makes the next measurement a mere reference for later ones; the pose is unchanged. For use when the counts may
    /// have restarted: the connection was lost, the base was power-cycled.
    pub fn interrupt(&mut self) {
        self.last = None;
        self.stand();
    }

    /// Restarts at the origin, with wheels at 0.
    pub fn reset(&mut self) {
        self.pose = Pose::ORIGIN;
        for wheel in &mut self.wheels {
            wheel.angle = 0.0;
        }
    }

    /// Sets the pose, which must be finite. The origin is a [reset](Self::reset), as in Player's interface (RoMAA
    /// page).
    ///
    /// # Errors
    /// Returns the pose that is not finite.
    pub fn set(&mut self, pose: Pose) -> Result<(), NotFinite> {
        if !pose.is_finite() {
            return Err(NotFinite(pose));
        }
        if pose == Pose::ORIGIN {
            self.reset();
        } else {
            self.pose = Pose { heading: wrap_angle(pose.heading), ..pose };
        }
        Ok(())
    }

    /// The pose relative to the start.
    pub fn pose(&self) -> Pose {
        self.pose
    }

    /// The velocity in the base's own frame.
    pub fn twist(&self) -> Twist {
        self.twist
    }

    /// The left and the right wheel.
    pub fn wheels(&self) -> [Wheel; 2] {
        self.wheels
    }

    /// How often the encoders have jumped, which does not count as motion.
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// The covariance of the pose, row by row: x, y, z and rotations about them. Entries that a base in the plane does
    /// not measure have the maximum, as in the driver of a Kobuki and in the TurtleBot thesis (4.2.5).
    pub fn pose_covariance(&self) -> [f64; 36] {
        const UNKNOWN: f64 = f64::MAX;
        let heading = if self.heading_from_gyro { 0.05 } else { 0.2 };
        let diagonal = [0.1, 0.1, UNKNOWN, UNKNOWN, UNKNOWN, heading];
        let mut covariance = [0.0; 36];
        covariance.iter_mut().step_by(7).zip(diagonal).for_each(|(entry, value)| *entry = value);
        covariance
    }

    /// The distance of a wheel between two counts, m: the shorter direction.
    fn distance(&self, from: i64, to: i64) -> f64 {
        let modulus = i128::from(self.geometry.tick_modulus.max(1));
        let ahead = (i128::from(to) - i128::from(from)).rem_euclid(modulus);
        let ticks = if ahead >= modulus - ahead { ahead - modulus } else { ahead };
        ticks as f64 / self.geometry.ticks_per_metre
    }

    fn stand(&mut self) {
        self.twist = Twist::ZERO;
        for wheel in &mut self.wheels {
            wheel.rate = 0.0;
        }
    }
}

/// A pose with a value that is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("x {x}, y {y}, heading {heading} are not all finite", x = .0.x, y = .0.y, heading = .0.heading)]
pub struct NotFinite(pub Pose);

#[cfg(test)]
mod tests;
