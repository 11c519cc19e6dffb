//! Web page, rosbridge v2, rosapi and Foxglove's protocol: ROS for browsers and for programs without ROS.
//!
//! | module | content |
//! | --- | --- |
//! | [`schema`] | message types known at run time |
//! | `cdr` | serialized messages of such types |
//! | [`json`] | to JSON and back, with rosbridge's conventions |
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
mod cdr;
pub mod foxglove;
pub mod json;
#[cfg(feature = "node")]
pub mod node;
pub mod parameter;
pub mod rosbridge;
pub mod schema;
