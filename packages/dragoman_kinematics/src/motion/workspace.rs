//! Workspace limits: outer bounds and forbidden boxes, aligned with the axes of the robot's base frame.
//!
//! Only the origin of the tool frame is checked, as in the Ranger thesis; these zones protect against gross errors and
//! do not check the links for collisions. Source: Ranger thesis, 3.5.2, `wslimiter.cpp`, `wslimits.cpf`.

use nalgebra::Point3;
use serde::{Deserialize, Serialize};

/// A box aligned with the axes of the base frame; each axis is `[min, max]` in metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisBox {
    /// Extent along x, m.
    pub x: [f64; 2],
    /// Extent along y, m.
    pub y: [f64; 2],
    /// Extent along z, m.
    pub z: [f64; 2],
}

impl AxisBox {
    fn extents(&self) -> [[f64; 2]; 3] {
        [self.x, self.y, self.z]
    }

    /// Whether all extents are numbers with minimum below maximum; they may be infinite.
    pub fn is_valid(&self) -> bool {
        self.extents().iter().all(|[min, max]| min < max)
    }

    /// Whether `point` is in the box, its faces included.
    pub fn contains(&self, point: &Point3<f64>) -> bool {
        self.extents().iter().zip(point.iter()).all(|([min, max], value)| min <= value && value <= max)
    }

    /// Whether `point` is inside the box, its faces excluded.
    pub fn contains_strictly(&self, point: &Point3<f64>) -> bool {
        self.extents().iter().zip(point.iter()).all(|([min, max], value)| min < value && value < max)
    }

    /// Whether the straight segment from `a` to `b` passes through the inside of the box.
    ///
    /// Checking the segment and not only its ends keeps a fast set-point from jumping across a thin wall.
    pub fn intersects_segment(&self, a: &Point3<f64>, b: &Point3<f64>) -> bool {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for ([min, max], (from, to)) in self.extents().iter().zip(a.iter().zip(b.iter())) {
            let delta = to - from;
            if delta == 0.0 {
                if from <= min || from >= max {
                    return false;
                }
                continue;
            }
            let (first, second) = ((min - from) / delta, (max - from) / delta);
            enter = enter.max(first.min(second));
            leave = leave.min(first.max(second));
        }
        enter < leave
    }
}

/// The rule that a point breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Outside of the outer bounds.
    OutOfBounds,
    /// Inside the forbidden box of this index.
    ForbiddenBox(usize),
}

/// The allowed region of the tool frame's origin, base frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workspace {
    /// Outer bounds, m; the faces are allowed.
    pub bounds: AxisBox,
    /// Boxes that must not be entered, m; the faces are allowed.
    pub forbidden: Vec<AxisBox>,
}

impl Default for Workspace {
    /// `wslimits.cpf` of the Ranger thesis, for Ranger Mark I.
    fn default() -> Self {
        Self {
            bounds: AxisBox { x: [-0.8, 2.0], y: [-2.0, 2.0], z: [-1.0, 2.0] },
            forbidden: vec![AxisBox { x: [-0.2, 0.2], y: [-0.2, 0.2], z: [-0.1, 0.4] }],
        }
    }
}

impl Workspace {
    /// No limit.
    pub fn unlimited() -> Self {
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        Self { bounds: AxisBox { x: all, y: all, z: all }, forbidden: Vec::new() }
    }

    /// The rule that `point` breaks, if any. NaN is out of bounds.
    pub fn violation(&self, point: &Point3<f64>) -> Option<Violation> {
        if !self.bounds.contains(point) {
            return Some(Violation::OutOfBounds);
        }
        self.forbidden.iter().position(|zone| zone.contains_strictly(point)).map(Violation::ForbiddenBox)
    }

    /// The rule that a straight motion from `a` to `b` breaks: at `b`, or by crossing a box in between.
    pub fn violation_between(&self, a: &Point3<f64>, b: &Point3<f64>) -> Option<Violation> {
        self.violation(b).or_else(|| {
            let crossed = self.forbidden.iter().position(|zone| zone.intersects_segment(a, b));
            crossed.map(Violation::ForbiddenBox)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thesis_zones() {
        let workspace = Workspace::default();
        assert_eq!(workspace.violation(&Point3::new(0.5, 0.2, 0.1)), None);
        assert_eq!(workspace.violation(&Point3::new(2.01, 0.0, 0.5)), Some(Violation::OutOfBounds));
        assert_eq!(workspace.violation(&Point3::new(0.0, 0.0, 0.3)), Some(Violation::ForbiddenBox(0)));
        assert_eq!(workspace.violation(&Point3::new(0.2, 0.0, 0.3)), None, "faces are allowed");
        assert_eq!(workspace.violation(&Point3::new(f64::NAN, 0.0, 0.3)), Some(Violation::OutOfBounds));
    }

    #[test]
    fn a_segment_across_a_box_is_seen() {
        let workspace = Workspace::default();
        let (left, right) = (Point3::new(-0.5, 0.0, 0.3), Point3::new(0.5, 0.0, 0.3));
        assert_eq!(workspace.violation_between(&left, &right), Some(Violation::ForbiddenBox(0)));
        let above = (Point3::new(-0.5, 0.0, 0.4), Point3::new(0.5, 0.0, 0.4));
        assert_eq!(workspace.violation_between(&above.0, &above.1), None, "sliding along a face");
        assert_eq!(workspace.violation_between(&right, &Point3::new(0.3, 0.1, 0.3)), None);
    }

    #[test]
    fn boxes_must_have_an_extent() {
        assert!(AxisBox { x: [0.0, 1.0], y: [0.0, 1.0], z: [f64::NEG_INFINITY, 1.0] }.is_valid());
        assert!(!AxisBox { x: [1.0, 1.0], y: [0.0, 1.0], z: [0.0, 1.0] }.is_valid());
        assert!(!AxisBox { x: [f64::NAN, 1.0], y: [0.0, 1.0], z: [0.0, 1.0] }.is_valid());
    }
}
