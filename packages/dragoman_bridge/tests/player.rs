//! Player's protocol: its messages and its configuration files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]

#[path = "player/bytes.rs"]
mod bytes;
#[path = "player/literals.rs"]
mod literals;
#[path = "player/wire_properties.rs"]
mod wire_properties;
