//! A base with two driven wheels and a line protocol: robots other than the Kobuki (RoMAA, Pioneer, Neobotix), and many
//! self-made ones.
//!
//! | file | holds |
//! | --- | --- |
//! | [`mod@line`] | requests and answers, in both directions |
//! | [`driver`] | the driver without I/O: commands, encoders, odometry |

pub mod driver;
pub mod line;
