//! The edges of Neobotix' protocol: together with `services` the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: old clients use the platform of a namespace |
//! | `clients.rs` | [`Command`](super::wire::Command)s as requests to the platform's services |
//! | `client.rs` | [`start_client`]: provides a real platform in a namespace |
//! | `offers.rs` | requests to the platform's services as [`Command`](super::wire::Command)s |
//! | `port.rs` | [`PlatformPort`]: a platform for one caller, over its services or a socket |
//! | `picture.rs` | the platform's state as topics |

mod client;
mod clients;
mod offers;
mod picture;
mod port;
mod server;

pub use client::{ClientParameters, start_client};
pub use port::PlatformPort;
pub use server::{NeobotixServer, ServerParameters, start_server};
