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
