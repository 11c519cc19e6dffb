//! Discovery settings: ROS's environment variables, with the defaults of Jazzy.

use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};

use super::error::{Error, Result};

/// Range of automatic discovery (`ROS_AUTOMATIC_DISCOVERY_RANGE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiscoveryRange {
    /// Only nodes of this machine.
    Localhost,
    /// Nodes in multicast range: the default.
    #[default]
    Subnet,
    /// No discovery; only static peers are found.
    Off,
}

/// Discovery settings of a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// DDS domain, 0 to 232.
    pub domain_id: u16,
    /// Range of automatic discovery.
    pub range: DiscoveryRange,
    /// Addresses of peers outside the multicast range (`ROS_STATIC_PEERS`).
    pub static_peers: Vec<IpAddr>,
}

/// The maximum domain whose ports are valid UDP ports.
pub const MAX_DOMAIN_ID: u16 = 232;

impl Discovery {
    /// Reads `ROS_DOMAIN_ID`, `ROS_LOCALHOST_ONLY`, `ROS_AUTOMATIC_DISCOVERY_RANGE` and `ROS_STATIC_PEERS` through
    /// `variable`. As in Jazzy, `ROS_LOCALHOST_ONLY=1` takes precedence over the range and the peers.
    ///
    /// # Errors
    /// A domain that is not a number from 0 to 232; an unknown range.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let read =
            |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let domain_id = match read("ROS_DOMAIN_ID") {
            None => 0,
            Some(text) => domain_id(&text).map_err(|error| in_variable("ROS_DOMAIN_ID", &error))?,
        };
        if read("ROS_LOCALHOST_ONLY").as_deref() == Some("1") {
            return Ok(Self { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() });
        }
        let range = match read("ROS_AUTOMATIC_DISCOVERY_RANGE").as_deref() {
            None | Some("SUBNET" | "SYSTEM_DEFAULT") => DiscoveryRange::Subnet,
            Some("LOCALHOST") => DiscoveryRange::Localhost,
            Some("OFF") => DiscoveryRange::Off,
            Some(other) => {
                return Err(Error::InvalidArgument(format!(
                    "ROS_AUTOMATIC_DISCOVERY_RANGE is '{other}'; it may be SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT"
                )));
            }
        };
        let peers = read("ROS_STATIC_PEERS").unwrap_or_default();
        let mut static_peers = Vec::new();
        for peer in peers.split(';').map(str::trim).filter(|peer| !peer.is_empty()) {
            let mut addresses = (peer, 0)
                .to_socket_addrs()
                .map_err(|error| Error::InvalidArgument(format!("ROS_STATIC_PEERS: '{peer}': {error}")))?;
            static_peers.extend(addresses.find(|address| address.is_ipv4()).map(|address| address.ip()));
        }
        Ok(Self { domain_id, range, static_peers })
    }

    /// Whether a static peer is on another machine.
    pub(crate) fn has_distant_peers(&self) -> bool {
        self.static_peers.iter().any(|peer| !peer.is_loopback())
    }

    /// The address for binding sockets: other hosts cannot reach them unless discovery includes other hosts.
    pub(crate) fn bind_address(&self) -> Ipv4Addr {
        match self.range {
            DiscoveryRange::Subnet => Ipv4Addr::UNSPECIFIED,
            DiscoveryRange::Localhost if self.has_distant_peers() => Ipv4Addr::UNSPECIFIED,
            DiscoveryRange::Localhost | DiscoveryRange::Off => Ipv4Addr::LOCALHOST,
        }
    }
}

/// A domain id from its text.
///
/// # Errors
/// Not a number, or above 232.
pub fn domain_id(text: &str) -> Result<u16> {
    text.parse().ok().filter(|id| *id <= MAX_DOMAIN_ID).ok_or_else(|| {
        Error::InvalidArgument(format!("'{text}' is not a domain id: a number from 0 to {MAX_DOMAIN_ID}"))
    })
}

fn in_variable(name: &str, error: &Error) -> Error {
    Error::InvalidArgument(format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Discovery> {
        Discovery::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn defaults_are_those_of_jazzy() {
        assert_eq!(read(&[]).unwrap(), Discovery::default());
        assert_eq!(read(&[("ROS_DOMAIN_ID", "")]).unwrap().domain_id, 0);
        assert_eq!(Discovery::default().range, DiscoveryRange::Subnet);
    }

    #[test]
    fn localhost_only_wins_over_the_range() {
        let found = read(&[
            ("ROS_LOCALHOST_ONLY", "1"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
            ("ROS_STATIC_PEERS", "192.0.2.1"),
        ]);
        let found = found.unwrap();
        assert_eq!(found.range, DiscoveryRange::Localhost);
        assert!(found.static_peers.is_empty());
    }

    #[test]
    fn static_peers_are_separated_by_semicolons() {
        let found = read(&[("ROS_STATIC_PEERS", " 127.0.0.2; 192.0.2.7;")]).unwrap();
        assert_eq!(
            found.static_peers,
            ["127.0.0.2".parse::<IpAddr>().unwrap(), "192.0.2.7".parse().unwrap()]
        );
    }

    #[test]
    fn invalid_values_are_named() {
        for (name, value) in
            [("ROS_DOMAIN_ID", "233"), ("ROS_DOMAIN_ID", "lab"), ("ROS_AUTOMATIC_DISCOVERY_RANGE", "subnet!")]
        {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
    }
}
