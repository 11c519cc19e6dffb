//! Programs for the TurtleBot 2 with WidowX (TurtleBot thesis, chapter 5).
//!
//! | file | holds |
//! | --- | --- |
//! | [`program`] | a program's inputs and actions, the same in ROS and on virtual time |
//! | [`depth`] | depth images: positions of their points, grey values |
//! | [`carry`] | the first application: a cube from one table to the other |
//! | [`navigate`] | the second: from target to target with the Kinect |
//! | `node` (feature of that name) | a program on the topics and services of the robot in ROS |
//! | `command` (the same feature) | shared parts of the commands `carry` and `navigate` |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod carry;
#[cfg(feature = "node")]
pub mod command;
pub mod depth;
pub mod navigate;
#[cfg(feature = "node")]
pub mod node;
pub mod program;
