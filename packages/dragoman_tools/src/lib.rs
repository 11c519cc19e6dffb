//! The tools of the command `dragoman`.
//!
//! | file | holds |
//! | --- | --- |
//! | [`can`] | `dragoman can`: monitor of a CAN bus |
//! | [`device`] | `dragoman device`: simulated devices for other programs |
//! | [`latency`] | `dragoman latency`: delay from a robot's messages to a program |
//! | [`record`] | `dragoman record`: records topics in an MCAP file |
//! | [`relay`] | `dragoman relay`: connects programs with several robots in separate namespaces |
//! | [`teleop`] | `dragoman teleop`: a base driven from the keyboard |

pub mod can;
pub mod device;
pub mod latency;
pub mod record;
pub mod relay;
pub mod teleop;
mod worker;
