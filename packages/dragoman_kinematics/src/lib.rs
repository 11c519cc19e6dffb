//! Kinematics of serial robots: models, forward and inverse kinematics, trajectories.
//!
//! Map of the crate, in the order of reading:
//!
//! | module | holds |
//! | --- | --- |
//! | [`model`] | [`Model`]: geometry and limits, read from URDF or a Denavit-Hartenberg table; [`RobotSettings`] |
//! | `solver` | [`Robot`]: the compiled chain; forward kinematics, Jacobian, inverse kinematics, tracking |
//! | [`motion`] | trajectories, limits and the command pipeline of an arm |
//! | [`state`] | a robot as a tree of links; the joints of several sources as one state |
//! | [`calibration`] | geometry and joint offsets from measured tool positions |
//! | [`control`] | torques that make an arm follow, also with an unknown payload |
//! | [`dynamics`] | torques that a motion needs, and the motion that torques cause |
//! | [`evaluation`] | how well an arm follows its path: the tests of the Ranger thesis |
//! | [`planning`] | paths round obstacles, and their timing |
//! | `node` (feature of that name) | the ROS nodes |
//!
//! SI units and radians throughout; poses are those of the tool frame in the base frame. Outside of `node` there is no
//! I/O, no ROS type and no clock. Poses are types of [`nalgebra`], which is re-exported.
//!
//! ```
//! use dragoman_kinematics::{IkOptions, Model, Robot};
//!
//! let table = "
//! name: two links
//! joints:
//!   - { name: shoulder, type: revolute, a: 0, alpha: 0, d: 0, theta: 0, lower: -3, upper: 3 }
//!   - { name: elbow, type: revolute, a: 0.4, alpha: 0, d: 0, theta: 0, lower: -3, upper: 3 }
//! tool: { a: 0.3, alpha: 0, d: 0, theta: 0 }
//! ";
//! let robot = Robot::new(&Model::from_dh_yaml(table)?)?;
//! let target = robot.forward(&[0.3, 0.8]);
//! let mut joints = [0.0; 2];
//! robot.inverse(&target, &[0.0, 1.0], &IkOptions::default(), &mut joints)?;
//! assert!((joints[1] - 0.8).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Indices are of joints, links and the elements of vectors and matrices.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod calibration;
pub mod control;
pub mod dynamics;
pub mod evaluation;
pub mod model;
pub mod motion;
#[cfg(feature = "node")]
pub mod node;
pub mod planning;
mod solver;
pub mod state;

pub use nalgebra;

pub use model::{Joint, JointKind, Link, Model, ModelError, RobotSettings};
pub use solver::{
    FreeRotation, FreeRotationError, GoalMask, IkError, IkOptions, IkReport, Manipulability, Robot,
    SearchEnd, VelocityReport,
};
