//! The commands, and which of the tools of `dragoman_tools` need no more than their own options.
//!
//! | file | holds |
//! | --- | --- |
//! | `up.rs`, `up/` | `dragoman up`: the lab in one process, a list of parts |
//! | `apolo.rs` | `dragoman apolo`: a real Apolo in ROS |
//! | `arm31.rs` | `dragoman arm31`: a real controller of the 31-byte protocol as a ROS arm |
//! | `neobotix.rs` | `dragoman neobotix`: a real PlatformCtrl in ROS |
//! | `machine.rs` | `dragoman bridge FILE`: a machine in ROS by the description of its protocol |
//! | `player.rs` | `dragoman player`: the devices of a real Player server in ROS |
//! | `base.rs` | `dragoman base`: a mobile base in ROS |
//! | `arm.rs` | `dragoman arm`: an arm of servos on a serial port in ROS |
//! | `calibrate.rs` | `dragoman calibrate`: an arm's geometry from measurements |
//! | `evaluate.rs` | `dragoman evaluate`: how accurately an arm moves |
//! | `station.rs` | `dragoman station`: the command station of an arm |
//! | `task.rs` | `dragoman task`: programs of a platform |
//! | `platform.rs` | `dragoman platform`: a mobile platform in front of a base |
//! | `relay.rs` | `dragoman relay`: programs with several robots |
//! | `console.rs` | `dragoman console`: web page and rosbridge beside any ROS 2 system |
//! | `world.rs` | `dragoman world`: imports worlds of the simulator Apolo |

pub(crate) mod apolo;
pub(crate) mod arm;
pub(crate) mod arm31;
pub(crate) mod base;
pub(crate) mod calibrate;
pub(crate) mod console;
pub(crate) mod evaluate;
pub(crate) mod machine;
pub(crate) mod neobotix;
pub(crate) mod platform;
pub(crate) mod player;
pub(crate) mod relay;
pub(crate) mod station;
pub(crate) mod task;
pub(crate) mod up;
pub(crate) mod world;

use std::error::Error;

use dragoman_ros::{Context, outln};
use dragoman_tools::latency::{self, LatencyOptions};
use dragoman_tools::play::{self, PlayOptions};
use dragoman_tools::record::{self, RecordOptions};
use futures::future::LocalBoxFuture;

use crate::program::Tool;

impl Tool for LatencyOptions {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        latency::run(context, &self, stop).await
    }
}

impl Tool for PlayOptions {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        let played = play::run(context.clone(), self, stop).await?;
        outln!("{played}");
        Ok(played.complete()?)
    }
}

impl Tool for RecordOptions {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        let summary = record::run(context.clone(), self.shown(), stop).await?;
        outln!("{summary}");
        Ok(summary.complete()?)
    }
}
