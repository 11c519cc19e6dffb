//! The edges of Player's protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `client.rs`, `client/` | [`start_client`]: provides the devices of a Player server in a namespace |

mod client;

pub use client::{client_declarations, start_client};
