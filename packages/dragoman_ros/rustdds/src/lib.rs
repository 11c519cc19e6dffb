//! rustdds 0.15.1 as published, with the patches in `patches/`.

#![allow(warnings, clippy::all, clippy::pedantic)]

include!(concat!(env!("OUT_DIR"), "/src/crate.rs"));
