//! Points, directions and frames.

use crate::{Pose, wrap_angle};

/// A point, m.
pub type Point = nalgebra::Point2<f64>;
/// A vector, m.
pub type Vector = nalgebra::Vector2<f64>;

/// The origin of a frame.
pub fn position(pose: Pose) -> Point {
    Point::new(pose.x, pose.y)
}

/// The unit vector of this direction, rad.
pub fn direction(heading: f64) -> Vector {
    let (sin, cos) = heading.sin_cos();
    Vector::new(cos, sin)
}

/// The direction from one point to another, rad; 0 if they are equal.
pub fn heading(from: Point, to: Point) -> f64 {
    let way = to - from;
    way.y.atan2(way.x)
}

/// A frame whose sine and cosine are computed, for many points.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    origin: Point,
    sin: f64,
    cos: f64,
}

impl Frame {
    /// The frame at `pose` in its parent frame.
    pub fn at(pose: Pose) -> Self {
        let (sin, cos) = pose.heading.sin_cos();
        Self { origin: position(pose), sin, cos }
    }

    /// As the function [`transform`].
    pub fn transform(&self, point: Point) -> Point {
        let Self { origin, sin, cos } = self;
        Point::new(origin.x + cos * point.x - sin * point.y, origin.y + sin * point.x + cos * point.y)
    }
}

/// Transforms a point of the frame `frame` into the parent frame, in which `frame` is given.
pub fn transform(frame: Pose, point: Point) -> Point {
    Frame::at(frame).transform(point)
}

/// The reverse of [`transform`]: a point of the parent frame in `frame`.
pub fn inverse_transform(frame: Pose, point: Point) -> Point {
    let (sin, cos) = frame.heading.sin_cos();
    let (x, y) = (point.x - frame.x, point.y - frame.y);
    Point::new(cos * x + sin * y, cos * y - sin * x)
}

/// The pose `inner` of the frame `frame` in the parent frame.
pub fn compose(frame: Pose, inner: Pose) -> Pose {
    let point = transform(frame, position(inner));
    Pose::new(point.x, point.y, wrap_angle(frame.heading + inner.heading))
}

/// The reverse of [`compose`]: `pose` in the frame `frame`.
pub fn relative(frame: Pose, pose: Pose) -> Pose {
    let point = inverse_transform(frame, position(pose));
    Pose::new(point.x, point.y, wrap_angle(pose.heading - frame.heading))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn frames_there_and_back(values in prop::array::uniform6(-10.0..10.0_f64)) {
            let [x, y, a, u, v, b] = values;
            let (frame, pose) = (Pose::new(x, y, a), Pose::new(u, v, wrap_angle(b)));
            let back = relative(frame, compose(frame, pose));
            prop_assert!((position(back) - position(pose)).norm() < 1e-9);
            prop_assert!(wrap_angle(back.heading - pose.heading).abs() < 1e-9);
        }
    }
}
