//! Tests of whole processes: `dragoman` and the applications as a user starts them. One program, so that it is linked once
//! and its tests run at the same time: `cargo test -p dragoman_bringup --test processes apolo::`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/host.rs"]
mod host;

mod actions;
mod apolo;
mod arm;
mod base;
mod calibrate;
mod camera;
mod console;
mod described;
mod device;
mod evaluate;
mod fast;
mod flood;
mod foxglove;
mod hosts;
mod implementation;
mod interop;
mod lab;
mod latency;
mod launch;
mod machine;
mod machines;
mod neobotix;
mod network;
mod output;
mod player;
mod player_client;
mod printed;
mod record;
mod station;
mod supervision;
mod task;
mod teleop;
mod turtlebot_peer;
mod widowx;
