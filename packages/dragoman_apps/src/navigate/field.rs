//! The virtual forces of the TurtleBot thesis, 5.3.

use dragoman_geometry::Pose;

use super::NEAR_TARGET;
use crate::depth::{DepthImage, column_angle, grey};

/// Attraction per metre. The thesis gives only the names of the two factors; the values are ours.
pub const KA: f64 = 1.0;
/// Repulsion per grey value beyond [`NEAR_GREY`].
pub const KR: f64 = 0.002;
/// Darker points, that is farther than 2.57 m, do not repel.
pub const NEAR_GREY: f64 = 120.0;

/// The repulsion of the last image's vision line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Field {
    /// Strength, and direction of its source, rad, counterclockwise from straight ahead.
    repulsion: (f64, f64),
}

impl Field {
    /// Updates the repulsion: its source is the nearest point on the vision line of the image.
    pub fn look(&mut self, image: &DepthImage) {
        let line = image.vision_line().unwrap_or_default();
        let greys = line.iter().map(|depth| grey(f64::from(*depth))).enumerate();
        let (column, nearest) = greys.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
        self.repulsion = if nearest < NEAR_GREY {
            (0.0, 0.0)
        } else {
            (KR * (nearest - NEAR_GREY), column_angle(column, line.len()))
        };
    }

    /// Direction of the sum of the forces at this pose, rad, in the frame of the odometry.
    pub fn direction(&self, target: [f64; 2], pose: Pose) -> f64 {
        let (x, y) = (target[0] - pose.x, target[1] - pose.y);
        let attraction = KA * x.hypot(y).max(NEAR_TARGET);
        let (force, angle) = self.repulsion;
        let (sin, cos) = (pose.heading + angle + std::f64::consts::PI).sin_cos();
        (attraction * y + force * sin).atan2(attraction * x + force * cos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(depths: Vec<f32>) -> DepthImage {
        DepthImage { width: depths.len(), height: 1, rows: vec![(0, depths)] }
    }

    #[test]
    fn without_obstacles_it_points_to_the_target() {
        let mut field = Field::default();
        field.look(&line(vec![4.0; 640]));
        let direction = field.direction([3.0, 4.0], Pose::new(1.0, 2.0, 0.5));
        assert!((direction - std::f64::consts::FRAC_PI_4).abs() < 1e-12);
    }

    #[test]
    fn an_obstacle_on_the_left_turns_it_to_the_right() {
        let mut field = Field::default();
        let mut depths = vec![4.0; 640];
        depths[100] = 0.5;
        field.look(&line(depths));
        let direction = field.direction([1.0, 0.0], Pose::ORIGIN);
        assert!((-1.5..-0.05).contains(&direction), "{direction}");
    }
}
