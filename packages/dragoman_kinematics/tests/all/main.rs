//! The tests of the package in one program, so that the library is linked once: `cargo test -p dragoman_kinematics --test
//! all motion::`.

mod common;

mod calibration;
mod control;
mod descriptions;
mod dynamics;
mod evaluation;
mod geometry;
mod geometry_bad;
mod ik;
mod motion;
#[cfg(feature = "node")]
mod node;
mod pin;
mod planning;
#[cfg(feature = "node")]
mod state;
