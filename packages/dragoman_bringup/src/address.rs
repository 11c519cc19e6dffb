//! Addresses and ports on the command line.

use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs};

use dragoman_bridge::BridgeError;

/// The IPv4 address of HOST:PORT; the error names the option.
pub(crate) fn resolve(option: &str, text: &str) -> Result<SocketAddr, Box<dyn Error>> {
    let mut addresses = text.to_socket_addrs().map_err(|error| format!("{option} {text}: {error}"))?;
    addresses.find(SocketAddr::is_ipv4).ok_or_else(|| format!("{option} {text}: no IPv4 address").into())
}

/// The error of a server side; if its port cannot be opened, with the options that choose another. `parameter` is the
/// parameter for the port.
pub(crate) fn with_advice(error: BridgeError, parameter: &str) -> Box<dyn Error> {
    match error {
        BridgeError::Bind { .. } => {
            format!("{error}; choose another with --bind ADDRESS or --ros-args -p {parameter}").into()
        }
        other => other.into(),
    }
}
