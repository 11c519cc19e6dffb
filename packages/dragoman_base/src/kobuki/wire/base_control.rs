//! Command 1: motion of the base.

use std::fmt;

use super::put;

const WHEEL_SEPARATION_MM: f64 = 230.0;

/// Motion of the base: speed of the outer wheel, and radius of the arc.
///
/// | radius | motion | speed |
/// | --- | --- | --- |
/// | 0 | straight ahead | of the base |
/// | 1 (and -1) | turning on the spot | of the right wheel |
/// | other | arc; positive: to the left when moving forward | of the outer wheel |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct BaseControl {
    pub speed_mm_per_s: i16,
    /// Radius of the arc of the base's centre, mm.
    pub radius_mm: i16,
}

impl BaseControl {
    /// Number of the sub-payload.
    pub const ID: u8 = 1;
    /// Standstill.
    pub const STOP: Self = Self { speed_mm_per_s: 0, radius_mm: 0 };
    /// Velocities below this count as 0, m/s and rad/s.
    pub const EPSILON: f64 = 1e-4;

    /// The command for these velocities, m/s forward and rad/s counterclockwise. Rounded to whole mm; saturated: an arc
    /// too wide for the field becomes one of 32767 mm, at the given speed. Values that are not finite mean standstill.
    pub fn from_velocities(linear: f64, angular: f64) -> Self {
        if !linear.is_finite() || !angular.is_finite() {
            return Self::STOP;
        }
        // Conversion of floats saturates.
        let whole = |value: f64| value.round() as i16;
        if angular.abs() < Self::EPSILON {
            return Self { speed_mm_per_s: whole(1000.0 * linear), radius_mm: 0 };
        }
        let half = WHEEL_SEPARATION_MM / 2.0;
        let radius = 1000.0 * linear / angular;
        if linear.abs() < Self::EPSILON || radius.abs() <= 1.0 {
            return Self { speed_mm_per_s: whole(half * angular), radius_mm: 1 };
        }
        let speed = (radius + half.copysign(radius)) * angular;
        // A radius of 1 mm would mean turning on the spot, in the wrong direction if negative.
        let radius = radius.abs().round().max(2.0).copysign(radius);
        Self { speed_mm_per_s: whole(speed), radius_mm: whole(radius) }
    }

    /// The resulting velocities of the base, m/s forward and rad/s counterclockwise.
    pub fn velocities(&self) -> (f64, f64) {
        let (speed, radius) = (f64::from(self.speed_mm_per_s), f64::from(self.radius_mm));
        let half = WHEEL_SEPARATION_MM / 2.0;
        match self.radius_mm {
            0 => (speed / 1000.0, 0.0),
            -1 | 1 => (0.0, radius * speed / half),
            _ => {
                let angular = speed / (radius + half.copysign(radius));
                (angular * radius / 1000.0, angular)
            }
        }
    }

    /// Reads the sub-payload's data; `None` unless it has four bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [s0, s1, r0, r1] = *<&[u8; 4]>::try_from(data).ok()?;
        Some(Self { speed_mm_per_s: i16::from_le_bytes([s0, s1]), radius_mm: i16::from_le_bytes([r0, r1]) })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let ([s0, s1], [r0, r1]) = (self.speed_mm_per_s.to_le_bytes(), self.radius_mm.to_le_bytes());
        put(out, Self::ID, [s0, s1, r0, r1]);
    }
}

impl fmt::Display for BaseControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "base control: {} mm/s, radius {} mm", self.speed_mm_per_s, self.radius_mm)
    }
}
