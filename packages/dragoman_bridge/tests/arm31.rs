//! The cores of the 31-byte arm protocol, on virtual time.

#[path = "arm31/support.rs"]
mod support;

#[path = "arm31/arm_state.rs"]
mod arm_state;
#[path = "arm31/bytes.rs"]
mod bytes;
#[path = "arm31/client_core.rs"]
mod client_core;
#[path = "arm31/documentation.rs"]
mod documentation;
#[path = "arm31/floods.rs"]
mod floods;
#[path = "arm31/network.rs"]
mod network;
#[path = "arm31/server_core.rs"]
mod server_core;
#[path = "arm31/stops.rs"]
mod stops;
#[path = "arm31/wire_properties.rs"]
mod wire_properties;
