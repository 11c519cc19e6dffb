//! The edges of Player's protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs`, `server/` | [`start_server`]: old clients use the devices of a table |
//! | `client.rs`, `client/` | [`start_client`]: provides the devices of a Player server in a namespace |
//! | `tool.rs` | the pose of a tool as Player's vectors |

mod client;
mod server;
mod tool;

pub use client::{ClientParameters, start_client};
pub use server::{
    BaseParameters, Configured, PlayerServer, ServerParameters, Table, TableError, base_parameters,
    start_server,
};
