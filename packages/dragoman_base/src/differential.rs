//! A base with two driven wheels behind a line protocol: machines that are not a Kobuki (RoMAA, Pioneer, Neobotix), and many self-made ones.
//!
//! | file | holds |
//! | --- | --- |
//! | [`mod@line`] | requests and answers, in both directions |
//! | [`driver`] | the driver without I/O: commands, encoders, odometry |

pub mod driver;
pub mod line;
