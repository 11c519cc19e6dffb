//! The clock and the sockets of a test's programs, in real time. Those on virtual time are in `virtual_time/host.rs`.

#![allow(dead_code, unused_imports, unreachable_pub)] // Every test target uses its part.

pub use std::net::{TcpStream, UdpSocket};
pub use std::thread::sleep;
use std::time::Instant;

pub fn now() -> Instant {
    Instant::now()
}
