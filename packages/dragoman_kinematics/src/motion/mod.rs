//! Motion: trajectories, limits, via points and the command pipeline of an arm.
//!
//! Map, from the outside in:
//!
//! | file | holds |
//! | --- | --- |
//! | [`pipeline`] | [`Pipeline`]: one `step` per cycle turns commands and measured joints into joint commands |
//! | `course`, `goals` | the motion in progress and the next one; goals and via points |
//! | `reconfigure` | the arm with its configuration, and a new one for the next motion |
//! | `follow` | one step along a Cartesian path: workspace, inverse kinematics, divergence, rates |
//! | [`command`] | the commands, one method each, and their accepted values |
//! | [`event`] | the result of a step: [`Step`], [`Status`], [`Event`] |
//! | [`config`] | [`MotionConfig`]: every parameter, with its unit, default and check |
//! | [`via_points`] | lists of via points and the rules of their execution |
//! | [`workspace`], [`joint_limits`] | limits of set-points and joint commands |
//! | [`cartesian`], [`joint`], [`shapes`], [`trapezoid`] | the trajectory generators |
//!
//! No I/O, no clock, no thread: values and a time in seconds go in, values and events come out. A step does not
//! allocate. SI units and radians; poses are those of the tool frame in the base frame.
//! Source: Ranger thesis, 3.3 to 3.5, 4.5, 4.6 and the programs of its appendix C.

pub mod cartesian;
pub mod command;
pub mod config;
mod course;
pub mod event;
mod follow;
mod goals;
pub mod joint;
pub mod joint_limits;
pub mod pipeline;
mod reconfigure;
pub mod shapes;
pub mod trapezoid;
pub mod via_points;
pub mod workspace;

pub use cartesian::CartesianLimits;
pub use command::{CommandMode, RawPose, Rejected};
pub use config::{ConfigError, MotionConfig};
pub use event::{Event, Events, Status, Step};
pub use joint::JointMotionLimits;
pub use pipeline::{MAX_PATH_RATE, Pipeline};
pub use shapes::Axis;
pub use workspace::{AxisBox, Violation, Workspace};
