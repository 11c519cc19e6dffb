//! Poses, velocities, angles and shapes in the plane. Metres and radians; x forward, counterclockwise
//! positive (REP 103).
//!
//! | file | holds |
//! | --- | --- |
//! | `pose` | [`Pose`], [`Twist`], [`wrap_angle`], [`yaw`] |
//! | `frames` | points, and poses in other frames |
//! | [`limits`] | limits of velocities and accelerations, and velocity ramps |
//! | [`wheels`] | kinematics of platforms with two driven wheels, Mecanum wheels, steered drives |
//! | `shapes` | [`Segment`], [`Polygon`], [`Footprint`] |
//!
//! ```
//! use dragoman_geometry::{Footprint, Point, Polygon, Pose};
//!
//! let table = [[1.0, -0.5], [2.0, -0.5], [2.0, 0.5], [1.0, 0.5]].map(Point::from);
//! let table = Polygon::new(table.into()).unwrap();
//! let robot = Footprint { front: 0.4, rear: 0.3, side: 0.25 };
//! assert!(!robot.at(Pose::ORIGIN).overlaps(&table));
//! assert!(robot.at(Pose::new(0.7, 0.0, 0.0)).overlaps(&table));
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod frames;
pub mod limits;
mod pose;
mod shapes;
pub mod wheels;

pub use frames::{
    Frame, Point, Vector, compose, direction, heading, inverse_transform, position, relative, transform,
};
pub use pose::{Pose, Twist, rotation_about_z, wrap_angle, yaw};
pub use shapes::{Footprint, Polygon, PolygonError, Segment, is_finite};
