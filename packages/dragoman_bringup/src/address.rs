//! Addresses and ports on the command line.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};

use dragoman_bridge::BridgeError;
use dragoman_io::net::{Holder, Transport};

/// The IPv4 address of HOST:PORT, or of HOST with the protocol's own port; the error names the option.
pub(crate) fn resolve(option: &str, text: &str, own_port: u16) -> Result<SocketAddr, Box<dyn Error>> {
    let complete = if text.contains(':') { text.to_owned() } else { format!("{text}:{own_port}") };
    let mut addresses = complete.to_socket_addrs().map_err(|error| format!("{option} {text}: {error}"))?;
    addresses.find(SocketAddr::is_ipv4).ok_or_else(|| format!("{option} {text}: no IPv4 address").into())
}

/// A port that cannot be opened: the program that has it, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{what}{holder}; choose another with {advice}")]
pub(crate) struct PortError {
    /// The error of opening it.
    what: String,
    holder: String,
    /// The options that choose another port.
    advice: String,
    /// Whether another program has it.
    pub(crate) is_taken: bool,
}

impl PortError {
    pub(crate) fn new(
        what: String,
        (transport, address): (Transport, SocketAddr),
        error: &io::Error,
        advice: String,
    ) -> Self {
        let is_taken = error.kind() == ErrorKind::AddrInUse;
        let holder = if is_taken { Holder::of(transport, address.port()) } else { None };
        let holder = holder.map_or(String::new(), |Holder { command, process }| {
            format!(", by `{}` with process id {process}", dragoman_text::excerpt(&command))
        });
        Self { what, holder, advice, is_taken }
    }
}

/// The error of a server side; if its port cannot be opened, with the options that choose another. `parameter` is the
/// parameter for the port.
pub(crate) fn with_advice(error: BridgeError, parameter: &str) -> Box<dyn Error> {
    let BridgeError::Bind { transport, address, source, .. } = &error else { return error.into() };
    let transport = if *transport == "UDP" { Transport::Udp } else { Transport::Tcp };
    let advice = format!("--bind ADDRESS or --ros-args -p {parameter}");
    PortError::new(error.to_string(), (transport, *address), source, advice).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_port_has_that_of_its_protocol() {
        let of = |text| resolve("--server", text, 6665).map_err(|error| error.to_string());
        assert_eq!(of("127.0.0.1"), Ok(([127, 0, 0, 1], 6665).into()));
        assert_eq!(of("127.0.0.1:7000"), Ok(([127, 0, 0, 1], 7000).into()));
        for wrong in ["127.0.0.1:", "127.0.0.1:70000", ":6665", ""] {
            let error = of(wrong).unwrap_err();
            assert!(error.starts_with(&format!("--server {wrong}: ")), "{error}");
        }
    }
}
