//! TCP and UDP: of the system, or on virtual time those of the lab's own network.
//!
//! | file | holds |
//! | --- | --- |
//! | `keepalive` | [`Keepalive`]: when a silent peer counts as lost |
//! | `listener` | [`TcpListener`] |
//! | `stream` | [`TcpStream`] |
//! | `datagrams` | [`UdpSocket`] |
//! | `holder` | [`Holder`]: which program has a port |
//! | `network` | the network of a lab, and its [`Conditions`]: delay, loss, order |
//! | `places` | how many connections a server may have |
//! | `pipe` | one direction of a connection in that network |

mod datagrams;
mod holder;
mod keepalive;
mod listener;
mod network;
mod pipe;
mod places;
mod stream;

pub use datagrams::UdpSocket;
pub use holder::{Holder, Transport};
pub use keepalive::Keepalive;
pub use listener::TcpListener;
pub use network::{Conditions, set_conditions};
pub use places::{Group, Place};
pub use stream::TcpStream;

#[cfg(test)]
mod tests;
