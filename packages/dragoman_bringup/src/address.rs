//! Addresses on the command line.

use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs};

/// The IPv4 address of HOST:PORT; the error names the option.
pub(crate) fn resolve(option: &str, text: &str) -> Result<SocketAddr, Box<dyn Error>> {
    let mut addresses = text.to_socket_addrs().map_err(|error| format!("{option} {text}: {error}"))?;
    addresses.find(SocketAddr::is_ipv4).ok_or_else(|| format!("{option} {text}: no IPv4 address").into())
}
