//! The cores of Apolo's protocol, on virtual time.

#[path = "apolo/client_core.rs"]
mod client_core;
#[path = "apolo/documentation.rs"]
mod documentation;
#[path = "apolo/robot_cycle.rs"]
mod robot_cycle;
#[path = "apolo/server_core.rs"]
mod server_core;
#[path = "apolo/wire_properties.rs"]
pub(crate) mod wire_properties;
