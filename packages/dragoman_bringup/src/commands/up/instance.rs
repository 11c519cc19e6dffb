//! `--instance`: several labs on one machine, each with ports and a ROS domain of its own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::builder::{RangedU64ValueParser, TypedValueParser};
use dragoman_bridge::{apolo, arm31, neobotix, player};
use dragoman_io::net::{TcpListener, UdpSocket};

use crate::commands::console;

/// TCP ports of the first instance: of Apolo's, PlatformCtrl's and Player's protocol.
const SERVERS: [u16; 4] = {
    let [platform, second] = neobotix::wire::DEFAULT_PORTS;
    [apolo::wire::DEFAULT_PORT, platform, second, player::wire::DEFAULT_PORT]
};
/// TCP ports of its console.
const WEB: [u16; 2] = [console::PORT, console::FOXGLOVE_PORT];
/// Distance between the ports of two instances.
const STEP: u16 = 100;
/// The last instance: none of its ports is one of the first that another server has.
const LAST: u16 = 9;

/// The number of a lab on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instance(u16);

impl Instance {
    /// The only one, unless there are more.
    pub(super) const FIRST: Self = Self(1);

    /// Reads it from the command line.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        RangedU64ValueParser::<u16>::new().range(1..=u64::from(LAST)).map(Self)
    }

    /// What is added to the ROS domain.
    pub(super) fn domains(self) -> u16 {
        self.0 - 1
    }

    /// Its port for one of the first instance.
    pub(super) fn port(self, of_first: u16) -> u16 {
        of_first + STEP * (self.0 - 1)
    }

    /// The ports of its servers as arguments; none for the first instance, whose ports are the defaults.
    pub(super) fn arguments(self) -> Vec<String> {
        if self == Self::FIRST {
            return Vec::new();
        }
        let [platform, second] = neobotix::wire::DEFAULT_PORTS.map(|port| self.port(port));
        let values = [
            format!("arm31:port:={}", self.port(arm31::wire::DEFAULT_PORT)),
            format!("apolo:port:={}", self.port(apolo::wire::DEFAULT_PORT)),
            format!("neobotix:ports:=[{platform},{second}]"),
            format!("player:port:={}", self.port(player::wire::DEFAULT_PORT)),
        ];
        values.into_iter().flat_map(|value| ["-p".to_owned(), value]).collect()
    }

    /// The first one that finds its ports free, beside labs that have others.
    pub(super) fn free(bind: IpAddr) -> Option<Self> {
        (2..=LAST).map(Self).find(|instance| instance.is_free(bind))
    }

    fn is_free(self, bind: IpAddr) -> bool {
        let at = |address: IpAddr, port: u16| SocketAddr::new(address, self.port(port));
        let listens = |address| TcpListener::bind(address, 1).is_ok();
        UdpSocket::bind(at(bind, arm31::wire::DEFAULT_PORT)).is_ok()
            && SERVERS.iter().all(|port| listens(at(bind, *port)))
            && WEB.iter().all(|port| listens(at(Ipv4Addr::LOCALHOST.into(), *port)))
    }
}

impl std::fmt::Display for Instance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_first_has_the_defaults_and_no_two_share_a_port() {
        assert_eq!((Instance(1).arguments(), Instance(1).port(8080)), (Vec::new(), 8080));
        let second = Instance(2).arguments();
        let values: Vec<&str> = second.iter().filter(|word| *word != "-p").map(String::as_str).collect();
        let expected =
            ["arm31:port:=5131", "apolo:port:=12100", "neobotix:ports:=[10100,10102]", "player:port:=6765"];
        assert_eq!(values, expected);
        let of_first = [&[arm31::wire::DEFAULT_PORT], &SERVERS[..], &WEB].concat();
        assert_eq!(of_first.len(), 7);
        let of = |number| of_first.iter().map(move |port| Instance(number).port(*port));
        let all: Vec<u16> = (1..=LAST).flat_map(of).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}
