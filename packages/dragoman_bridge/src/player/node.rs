//! The edges of Player's protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs`, `server/` | [`start_server`]: old clients use the devices of a table |
//! | `client.rs`, `client/` | [`start_client`]: provides the devices of a Player server in a namespace |

mod client;
mod server;

pub use client::{client_declarations, start_client};
pub use server::{Configured, PlayerServer, Table, TableError, server_declarations, start_server};
