//! A mobile base: its wire protocol, its odometry, and what moves it.
//!
//! | file | holds |
//! | --- | --- |
//! | [`kobuki`] | the Kobuki base: frames and sub-payloads on the serial line, and the driver |
//! | [`differential`] | any other base with two driven wheels, behind a line protocol |
//! | [`odometry`] | where a base with two driven wheels is |
//! | [`commander`] | what every base is told to do: whether it may, how fast, until when |
//! | `safety` | what brings every base to a standstill |
//! | [`geometry`] | outer dimensions |
//! | [`base`] | what every driver does |
//! | [`node`] | the ROS node |

pub mod base;
pub mod commander;
pub mod differential;
pub mod geometry;
pub mod kobuki;
#[cfg(feature = "node")]
pub mod node;
pub mod odometry;
mod outbox;
mod safety;
