//! Converts a laser's points to the ranges of its beams.

use std::f64::consts::TAU;

use dragoman_geometry::{Point, Pose, inverse_transform};

/// Properties of a laser that the protocol does not transmit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaserGeometry {
    /// Mounting pose on the platform.
    pub pose: Pose,
    /// Direction of the first beam, rad.
    pub angle_min: f64,
    /// Angle between two beams, rad; not 0.
    pub angle_increment: f64,
    /// Number of beams.
    pub beams: usize,
    /// m
    pub range_min: f64,
    /// m
    pub range_max: f64,
}

impl LaserGeometry {
    /// The range of each beam, m; infinite if it hit nothing (REP 117). Each point belongs to the nearest beam, and the
    /// nearest of several points counts. `points` are in the map, and so is the platform's pose `at`.
    pub fn ranges(&self, at: Pose, points: impl IntoIterator<Item = Point>) -> Vec<f32> {
        let mut ranges = vec![f32::INFINITY; self.beams];
        for point in points {
            let seen = inverse_transform(self.pose, inverse_transform(at, point));
            let range = seen.coords.norm();
            let beam = self.beam(seen.y.atan2(seen.x));
            // Skips points beyond the last beam, and NaN. Otherwise it is a small whole number.
            let is_seen =
                (0.0..self.beams as f64).contains(&beam) && (self.range_min..self.range_max).contains(&range);
            if let Some(place) = ranges.get_mut(beam as usize).filter(|_| is_seen) {
                *place = place.min(range as f32);
            }
        }
        ranges
    }

    /// The number of the beam nearest to a direction.
    fn beam(&self, direction: f64) -> f64 {
        let turn = ((direction - self.angle_min) * self.angle_increment.signum()).rem_euclid(TAU);
        let step = self.angle_increment.abs();
        // Slightly before the first beam.
        let turn = if turn > TAU - step / 2.0 { 0.0 } else { turn };
        (turn / step).round()
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

    use super::*;

    #[test]
    fn points_belong_to_the_beams_that_have_seen_them() {
        let mut laser = LaserGeometry {
            pose: Pose::new(0.4, 0.0, 0.0),
            angle_min: -FRAC_PI_2,
            angle_increment: FRAC_PI_4,
            beams: 5,
            range_min: 0.1,
            range_max: 20.0,
        };
        // The platform faces up; the laser is at (1, 2.4).
        let at = Pose::new(1.0, 2.0, FRAC_PI_2);
        let points = [
            Point::new(1.0, 5.4),   // ahead
            Point::new(1.0, 4.4),   // nearer
            Point::new(3.0, 2.4),   // on the right
            Point::new(3.0, 2.38),  // a little before the first beam
            Point::new(0.0, 3.4),   // left ahead
            Point::new(1.0, 0.0),   // behind: no beam
            Point::new(-30.0, 2.4), // too far
            Point::new(1.0, 2.45),  // too near
            Point::new(f64::NAN, 0.0),
        ];
        let ranges = laser.ranges(at, points);
        let expected = [2.0, f32::INFINITY, 2.0, 2_f32.sqrt(), f32::INFINITY];
        assert!(ranges.iter().zip(expected).all(|(a, b)| a == &b || (a - b).abs() < 1e-3), "{ranges:?}");
        // Mounted upside down.
        (laser.angle_min, laser.angle_increment) = (FRAC_PI_2, -FRAC_PI_4);
        let turned: Vec<f32> = laser.ranges(at, points).into_iter().rev().collect();
        assert_eq!(turned, ranges);
        laser.beams = 0;
        assert!(laser.ranges(at, points).is_empty());
    }
}
