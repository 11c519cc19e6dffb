//! A mobile base: its wire protocol, its odometry, and what moves it.
//!
//! | file | holds |
//! | --- | --- |
//! | [`kobuki`] | the Kobuki base: frames and sub-payloads on the serial line, and the driver |
//! | [`differential`] | any other base with two driven wheels, behind a line protocol |
//! | [`odometry`] | where a base with two driven wheels is |
//! | [`limits`] | velocities and accelerations that a base may have |
//! | [`commander`] | what every base is told to do: whether it may, how fast, until when |
//! | `safety` | what brings every base to a standstill |
//! | [`motion`] | poses, velocities, outer measures |
//! | [`base`] | what every driver does |
//! | [`connection`] | where a device is: on a port, or simulated in this process |
//! | [`mod@line`] | a driver and its byte stream: reading, writing, opening again |
//! | [`serial`] | serial ports |
//! | [`node`] | the ROS node |

pub mod base;
pub mod commander;
#[cfg(feature = "node")]
pub mod connection;
pub mod differential;
pub mod kobuki;
pub mod limits;
#[cfg(feature = "node")]
pub mod line;
pub mod motion;
#[cfg(feature = "node")]
pub mod node;
pub mod odometry;
mod outbox;
mod safety;
#[cfg(feature = "node")]
pub mod serial;
