//! ROS 2 for Dragoman's nodes: r2r where ROS is installed, the same API in pure Rust where it is not.

#[cfg(not(feature = "r2r"))]
mod embedded;
#[cfg(not(feature = "r2r"))]
pub use embedded::*;
#[cfg(feature = "r2r")]
pub use r2r::*;
