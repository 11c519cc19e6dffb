//! The ports of the server sides.

use std::net::{IpAddr, SocketAddr};

use dragoman_io::net::{TcpListener, UdpSocket};
use dragoman_ros::parameters;

use crate::error::BridgeError;

/// Length of the kernel's accept queue. With the standard library's 128, some of a thousand clients that connect at
/// once would wait a second.
const BACKLOG: i32 = 1024;

parameters! {
    /// Address on which a server listens.
    pub struct BindParameters {
        /// Address of the interface to listen on; 0.0.0.0 is all.
        bind: String;
    }
}

impl BindParameters {
    /// The default address.
    pub(crate) fn new(bind: IpAddr) -> Self {
        Self { bind: bind.to_string() }
    }

    /// Opens the TCP port of this number on the interface.
    pub(crate) fn tcp(&self, protocol: &'static str, port: u16) -> Result<TcpListener, BridgeError> {
        let address = self.address(port)?;
        TcpListener::bind(address, BACKLOG).map_err(|source| BridgeError::Bind {
            transport: "TCP",
            protocol,
            address,
            source,
        })
    }

    /// As [`Self::tcp`], for UDP.
    pub(crate) fn udp(&self, protocol: &'static str, port: u16) -> Result<UdpSocket, BridgeError> {
        open_udp(protocol, self.address(port)?)
    }

    fn address(&self, port: u16) -> Result<SocketAddr, BridgeError> {
        let ip: IpAddr =
            self.bind.parse().map_err(|_parse| BridgeError::Address { text: self.bind.clone() })?;
        Ok(SocketAddr::new(ip, port))
    }
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
