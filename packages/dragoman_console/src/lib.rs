//! Web page, rosbridge v2, rosapi and Foxglove's protocol: ROS for browsers and for programs without ROS.
//!
//! | module | content |
//! | --- | --- |
//! | [`cbor`] | to CBOR and back |
//! | `bounded` | parsing of both with a limit on the number of values |
//! | [`parameter`] | values of parameters as JSON |
//! | [`rosbridge`] | the protocol: a session takes frames and gives orders |
//! | [`foxglove`] | the same for Foxglove's protocol |
//! | `node` | sockets and ROS; feature `node` |
//!
//! All but `node` is without I/O: it takes bytes and a time, and gives bytes and orders.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod bounded;
pub mod cbor;
pub mod foxglove;
#[cfg(feature = "node")]
pub mod node;
pub mod parameter;
pub mod rosbridge;
