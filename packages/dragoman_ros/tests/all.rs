//! Tests of the embedded layer that may share a process. Those that measure its memory (`packets`, `wire`) and those that
//! also run on r2r (`conformance`) are programs of their own.

#![cfg(not(feature = "r2r"))]

mod actions;
mod embedded;
mod publishers;
mod warnings;
