//! The edges of Apolo's protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: old clients use the world of a namespace |
//! | `client.rs` | [`start_client`]: provides an old server's world in a namespace |
//! | `robots.rs` | its mobile robots: `cmd_vel`, `odom`, `scan`, `tf` |
//! | `clients.rs` | [`Request`](super::wire::Request)s as requests to the world's services |

mod client;
mod clients;
mod robots;
mod server;

pub use client::{ClientParameters, start_client};
pub use server::{ApoloServer, ServerParameters, start_server};
