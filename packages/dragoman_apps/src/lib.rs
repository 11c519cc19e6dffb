//! Programs for the TurtleBot 2 with WidowX (seed 003, chapter 5).
//!
//! | file | holds |
//! | --- | --- |
//! | [`program`] | what a program sees and does, the same in ROS and on virtual time |
//! | [`depth`] | depth images: where what they show is, grey values |
//! | [`carry`] | the first application: a cube from one table to the other |
//! | [`navigate`] | the second: with the Kinect from target to target |
//! | `node` (feature of that name) | a program on the topics and services of the robot in ROS |
//! | `command` (the same feature) | what the commands `carry` and `navigate` have in common |

pub mod carry;
#[cfg(feature = "node")]
pub mod command;
pub mod depth;
pub mod navigate;
#[cfg(feature = "node")]
pub mod node;
pub mod program;
