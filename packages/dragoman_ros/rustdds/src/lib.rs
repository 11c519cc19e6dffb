//! rustdds 0.15.1 as published, with the mends of `build.rs`, which says what they are and why.

#![allow(warnings, clippy::all, clippy::pedantic)]

include!(concat!(env!("OUT_DIR"), "/src/crate.rs"));
