//! The cores of the 31-byte arm protocol, on virtual time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]

#[path = "arm31/wire_properties.rs"]
mod wire_properties;
