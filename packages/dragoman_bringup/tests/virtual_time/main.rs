//! Tests of whole labs on virtual time: the nodes of `dragoman` as a user starts them, in the test's own thread, without
//! network. A wait takes no time, and runs are repeatable: tests check exact times.
//!
//! | file | holds |
//! | --- | --- |
//! | `common` | [`common::Lab`] and its clients; [`common::block_on`], [`common::until`] and the like run the lab |
//! | `common::beside`, `common::platform` | nodes of other programs, with what they read and call |
//! | `device` | a simulated device on a serial line of the lab |
//! | `host` | the clock and the sockets of the test's programs |

#![allow(dead_code, unreachable_pub, reason = "clients are shared with the tests of processes")]

mod common;
mod device;
mod host;

mod apolo;
mod apps;
mod arm;
mod arm31;
mod base;
mod calibrate;
mod camera;
mod control;
mod described;
mod determinism;
mod endings;
mod evaluate;
mod headers;
mod latency;
mod machine;
mod machine_gripper;
mod machines;
mod motor;
mod navigation;
mod neobotix;
mod neobotix_chain;
mod neobotix_client;
mod own_protocols;
mod own_robot;
mod parts;
mod platform;
mod platform_lab;
mod platform_original;
mod player;
mod player_client;
mod position2d;
mod printed;
mod record;
mod relay;
mod simulation;
mod supervision;
mod task;
mod turtlebot;
mod web;
mod widowx;
