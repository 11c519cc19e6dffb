//! Tests of whole labs on virtual time: the nodes of `dragoman` as a user starts them, in the test's own thread, without
//! network. A wait takes no time, and a run repeats: what a test says of times is exact.
//!
//! | file | holds |
//! | --- | --- |
//! | `common` | [`common::Lab`] and its clients; [`common::block_on`], [`common::until`] and the like run the lab |
//! | `host` | the clock and the sockets of the test's programs |

#![allow(dead_code, unreachable_pub, reason = "clients are shared with the tests of processes")]

mod common;
mod host;

mod arm;
mod calibrate;
mod camera;
mod control;
mod determinism;
mod evaluate;
mod lab;
mod latency;
mod parts;
mod position2d;
mod record;
mod supervision;
