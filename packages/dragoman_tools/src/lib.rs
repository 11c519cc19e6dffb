//! The tools of the command `dragoman`.
//!
//! | file | holds |
//! | --- | --- |
//! | `arms` | the existing arms, for a user who has named a missing one |
//! | `bag` | recordings in MCAP: reading and writing |
//! | [`bridge`] | `dragoman bridge`: descriptions of protocols that users write |
//! | [`calibrate`] | `dragoman calibrate`: an arm's geometry from measurements |
//! | [`can`] | `dragoman can`: monitor of a CAN bus |
//! | [`device`] | `dragoman device`: simulated devices for other programs |
//! | [`evaluate`] | `dragoman evaluate`: how accurately an arm goes to points and follows paths |
//! | [`info`] | `dragoman info`: what a recording holds |
//! | [`latency`] | `dragoman latency`: delay from a robot's messages to a program |
//! | [`play`] | `dragoman play`: publishes a recording again |
//! | [`record`] | `dragoman record`: records topics in an MCAP file |
//! | [`relay`] | `dragoman relay`: connects programs with several robots in separate namespaces |
//! | [`station`] | `dragoman station`: the command station of an arm, on a terminal |
//! | [`task`] | `dragoman task`: programs of a platform, checked, converted, run |
//! | [`teleop`] | `dragoman teleop`: a base driven from the keyboard |
//! | `worker` | tasks with a thread of their own that end when their owner drops them |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
// The reader of the output may go away: see `dragoman_ros::output`.
#![deny(clippy::print_stdout)]

mod arms;
mod bag;
pub mod bridge;
pub mod calibrate;
pub mod can;
pub mod device;
pub mod evaluate;
pub mod info;
pub mod latency;
pub mod play;
pub mod record;
pub mod relay;
pub mod station;
pub mod task;
pub mod teleop;
mod worker;
