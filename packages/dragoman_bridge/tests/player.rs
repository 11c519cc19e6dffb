//! Player's protocol: its messages, its server, its configuration files.

#[path = "player/bytes.rs"]
mod bytes;
#[path = "player/config_file.rs"]
mod config_file;
#[path = "player/documentation.rs"]
mod documentation;
#[path = "player/literals.rs"]
pub(crate) mod literals;
#[path = "player/server.rs"]
mod server;
#[path = "player/wire_properties.rs"]
mod wire_properties;
