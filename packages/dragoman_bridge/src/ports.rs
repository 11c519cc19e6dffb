//! The ports of the server sides.

use std::net::{IpAddr, SocketAddr};

use dragoman_io::net::{TcpListener, UdpSocket};
use dragoman_ros::parameters::{Declaration, Parameters};

use crate::error::BridgeError;

/// Length of the kernel's accept queue. With the standard library's 128, some of a thousand clients that connect at
/// once would wait a second.
const BACKLOG: i32 = 1024;

/// Parameter `bind`.
pub(crate) fn declaration(bind: IpAddr) -> Declaration {
    Declaration::new(
        "bind",
        bind.to_string().as_str(),
        "Address of the interface to listen on; 0.0.0.0 is all.",
    )
}

/// Opens the TCP port of this number on the interface of parameter `bind`.
pub(crate) fn tcp(
    protocol: &'static str,
    parameters: &Parameters,
    port: i64,
) -> Result<TcpListener, BridgeError> {
    let address = address(parameters, port)?;
    TcpListener::bind(address, BACKLOG).map_err(|source| BridgeError::Bind {
        transport: "TCP",
        protocol,
        address,
        source,
    })
}

/// As [`tcp`], for UDP.
pub(crate) fn udp(
    protocol: &'static str,
    parameters: &Parameters,
    port: i64,
) -> Result<UdpSocket, BridgeError> {
    open_udp(protocol, address(parameters, port)?)
}

/// Opens a UDP socket.
pub(crate) fn open_udp(protocol: &'static str, address: SocketAddr) -> Result<UdpSocket, BridgeError> {
    UdpSocket::bind(address).map_err(|source| BridgeError::Bind {
        transport: "UDP",
        protocol,
        address,
        source,
    })
}

fn address(parameters: &Parameters, port: i64) -> Result<SocketAddr, BridgeError> {
    let text: String = parameters.value("bind");
    let ip: IpAddr = text.parse().map_err(|_parse| BridgeError::Address { text })?;
    // The declaration ensures that the number is a port.
    Ok(SocketAddr::new(ip, u16::try_from(port).unwrap_or_default()))
}
