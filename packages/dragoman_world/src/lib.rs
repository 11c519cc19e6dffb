//! The simulated world: bodies, arms, robots on wheels, range sensors, landmarks. No I/O, no clock, and outside of
//! `node` no ROS type.
//!
//! A part uses only parts in rows below its own:
//!
//! | part | holds |
//! | --- | --- |
//! | `node` (feature of that name) | the world and the simulator in ROS; the only part that knows ROS |
//! | [`turtlebot`], [`console`] | couples a TurtleBot 2 with WidowX to its simulated base and servos; the simulator's console |
//! | `worlds` | [`Worlds`]: one method for each of Apolo's functions (Apolo port manual), by name |
//! | `files` | worlds from YAML, shapes and arms from URDF; [`import`]: worlds of the simulator Apolo as YAML |
//! | `world` | [`World`]: objects and their parts, contacts, motion, measurements |
//! | `robots`, `sensors` | models of arms, robots on wheels, range sensors and cameras, independent of a world |
//! | `geometry` | shapes, and all solids in a tree of bounding boxes |
//! | `error`, `limits`, `noise` | errors of requests and files; limits of values; random errors of sensors |
//!
//! SI units and radians. Rotations are `Rz(yaw) Ry(pitch) Rx(roll)`. Names are compared without regard to case and
//! blanks. If the world is `None` or empty, the first one with the object is used. A refused request changes nothing.
//!
//! ```
//! use dragoman_world::Worlds;
//!
//! let mut lab = Worlds::load_default().unwrap();
//! assert_eq!(lab.laser_data(None, "LMS100").unwrap().len(), 541);
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod console;
mod error;
mod files;
mod geometry;
mod limits;
#[cfg(feature = "node")]
pub mod node;
mod noise;
mod robots;
mod sensors;
#[cfg(test)]
mod tests;
pub mod turtlebot;
mod world;
mod worlds;

pub use error::{LoadError, WorldError};
pub use files::{Files, import};
#[cfg(feature = "node")]
pub(crate) use geometry::polygon;
pub use geometry::{Geometry, Mesh, pose};
pub use robots::arm::{ArmJoint, JointKind};
#[cfg(feature = "node")]
pub(crate) use robots::wheeled::Step;
#[cfg(feature = "node")]
pub(crate) use sensors::camera::optical_frame;
pub use sensors::camera::{CameraFigures, ColorImage, DepthImage, View};
#[cfg(feature = "node")]
pub(crate) use sensors::range::Echo;
pub use sensors::range::{Landmark, LaserFigures, Publication, Sighting, UltrasonicFigures};
pub use turtlebot::Turtlebot;
#[cfg(feature = "node")]
pub(crate) use world::heading;
pub use world::{Charger, Object, ObjectKind, Part, RobotDescription, Shape, World};
pub use worlds::{SCENES, Worlds};
