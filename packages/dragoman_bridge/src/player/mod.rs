//! Player (`player` 2.1 to 3.1): TCP, XDR, devices that clients subscribe to.
//!
//! - `wire`: bytes;
//! - `server`: answers clients from devices that their owner feeds;
//! - `client`: opens the devices of a server.

pub mod client;
#[cfg(feature = "node")]
pub mod node;
pub mod server;
pub mod wire;

pub use client::{Client, ClientConfig, ClientEvent, ClientStatistics};
