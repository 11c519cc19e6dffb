//! `dragoman bridge FILE`: a machine in ROS by the description of its protocol.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dragoman_bridge::ClientNode;
use dragoman_bridge::machine::link::{Place, serial_settings};
use dragoman_bridge::machine::node::{Link as GivenLink, NODE_NAME, names, start, types};
use dragoman_bridge::machine::{Interface, MachineNode};
use dragoman_protocol::Protocol;
use dragoman_protocol::codec::Codec;
use dragoman_protocol::model::Link;
use dragoman_ros::naming::below;
use dragoman_ros::process::Process;
use dragoman_ros::startup::Preset;
use dragoman_tools::bridge;
use dragoman_types::schema::Types;
use parking_lot::Mutex;

use crate::program::{Later, Server};
use crate::{address, known, machine};

#[derive(Args)]
pub(crate) struct MachineOptions {
    /// The description of its protocol, a YAML file (docs/own-protocol.md).
    #[arg(required = true)]
    file: Option<PathBuf>,
    /// Where the machine is: a serial port such as /dev/ttyUSB0; HOST[:PORT] of TCP or UDP; [ADDRESS:]PORT to which it connects;
    /// a CAN interface such as can0. A port that is not given is that of the description.
    #[arg(long, value_name = "PLACE")]
    link: Option<String>,
    /// Namespace in which the machine appears; by default the name of its protocol.
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,
}

impl Server for MachineOptions {
    fn preset(&self) -> Result<Preset, Box<dyn Error>> {
        // A file that cannot be read is reported when it is needed.
        Ok(known::with_machines(self.file.iter().filter_map(|file| parameters(file).ok())))
    }

    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let file = self.file.as_deref().ok_or("no description")?;
        let machine = Described::read(file, self.link.as_deref())?;
        let namespace = below("/", self.namespace.as_deref().unwrap_or(machine.name()));
        // Two bridges would both send each command.
        process.claims.claim_name(&process.context, NODE_NAME, &namespace)?;
        process.claims.alone().await;
        let title = machine.codec.protocol().title.clone();
        let (client, place) = machine.start(process, &namespace)?;
        Ok(machine::connect(process, client, &format!("{title} at {place}"), &namespace))
    }
}

/// The names of the parameters of a machine's node.
pub(crate) fn parameters(file: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    Ok(names(&Interface::new(bridge::load(file)?, &types())?))
}

/// A machine whose description was read.
pub(crate) struct Described {
    codec: Arc<Codec>,
    interface: Interface,
    types: Types,
    link: Option<String>,
    /// Its own name, if it is not that of its protocol.
    given_name: Option<String>,
}

impl Described {
    /// Reads the description in `file`; `link` says where the machine is.
    pub(crate) fn read(file: &Path, link: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let codec = bridge::load(file)?;
        let types = types();
        let interface = Interface::new(Arc::clone(&codec), &types)?;
        Ok(Self { codec, interface, types, link: link.map(str::to_owned), given_name: None })
    }

    /// The same machine with a name of its own, which its frames have in front.
    pub(crate) fn named(self, name: Option<&str>) -> Self {
        Self { given_name: name.map(str::to_owned), ..self }
    }

    /// Its own name, or that of its protocol.
    pub(crate) fn name(&self) -> &str {
        self.given_name.as_deref().unwrap_or(&self.codec.protocol().name)
    }

    /// Starts its node in `namespace`, and stops the machine at the end. Returns where it is, too.
    pub(crate) fn start(
        self,
        process: &Process,
        namespace: &str,
    ) -> Result<(ClientNode, String), Box<dyn Error>> {
        let Self { codec, interface, types, link, given_name } = self;
        let open = move |given: &str| {
            let given = Some(given).filter(|given| !given.is_empty());
            Self::place(codec.protocol(), given).map_err(|error| error.to_string())
        };
        // Machines of one protocol would have the same frames.
        let prefix = given_name.map(|name| format!("{}/", name.trim_matches('/'))).unwrap_or_default();
        let link = GivenLink { given: link.unwrap_or_default(), open: Box::new(open) };
        let MachineNode { client, place, stop } =
            start(&process.context, namespace, interface, &types, link, &prefix)?;
        process.supervisor.on_stop(stop);
        Ok((client, place))
    }

    /// Where the machine is.
    fn place(protocol: &Protocol, given: Option<&str>) -> Result<Place, Box<dyn Error>> {
        let address = |port: u16| match given {
            Some(text) => address::resolve("--link", text, port),
            None => Err("where is the machine? --link HOST or HOST:PORT".into()),
        };
        Ok(match protocol.link {
            Link::Serial(serial) => {
                let path = given.ok_or("where is the machine? --link PATH, for example /dev/ttyUSB0")?;
                Place::Serial { path: path.into(), settings: serial_settings(serial)? }
            }
            Link::Tcp(tcp) if tcp.listen => Place::Listen(own_address(given, tcp.port)?),
            Link::Tcp(tcp) => Place::Connect(address(tcp.port)?),
            Link::Udp(udp) if udp.listen => {
                Place::Udp { local: own_address(given, udp.local)?, peer: None, broadcast: false }
            }
            Link::Udp(udp) => {
                let all = SocketAddr::from((Ipv4Addr::BROADCAST, udp.port));
                let peer = if udp.broadcast && given.is_none() { all } else { address(udp.port)? };
                // A machine on this computer is reached from it; on virtual time there is nothing else.
                let own = if peer.ip().is_loopback() {
                    IpAddr::from(Ipv4Addr::LOCALHOST)
                } else {
                    Ipv4Addr::UNSPECIFIED.into()
                };
                Place::Udp { local: (own, udp.local).into(), peer: Some(peer), broadcast: udp.broadcast }
            }
            Link::Can(can) => {
                let name = given.ok_or("where is the machine? --link INTERFACE, for example can0")?;
                let bus = Mutex::new(dragoman_io::can::open(name)?);
                Place::Can { bus, extended: can.extended, name: name.to_owned() }
            }
        })
    }
}

/// The address of a port to which the machine connects.
fn own_address(given: Option<&str>, own_port: u16) -> Result<SocketAddr, Box<dyn Error>> {
    let local = IpAddr::from(Ipv4Addr::LOCALHOST);
    let Some(text) = given else { return Ok((local, own_port).into()) };
    if let Ok(port) = text.parse::<u16>() {
        return Ok((local, port).into());
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok((address, own_port).into());
    }
    text.parse()
        .map_err(|_| format!("--link {text}: expected [ADDRESS:]PORT, for example 0.0.0.0:{own_port}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(link: &str, given: Option<&str>) -> Result<String, String> {
        let text = format!(
            "{{ protocol: a, title: A, source: b, link: {link}, frame: {{ cut: {{ line: x }}, fields: [{{ name: c, type: u8, is: code }}, {{ name: d, is: body }}] }} }}"
        );
        let protocol = Protocol::read(&text).unwrap();
        Described::place(&protocol, given).map(|place| place.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_machine_is_where_its_link_can_be() {
        for (link, given, expected) in [
            ("{ serial: 9600 }", Some("/dev/ttyUSB0"), "/dev/ttyUSB0"),
            ("{ tcp: 5000 }", Some("127.0.0.1"), "127.0.0.1:5000"),
            ("{ tcp: 5000 }", Some("127.0.0.1:6000"), "127.0.0.1:6000"),
            ("{ tcp: { port: 5000, listen: true } }", None, "TCP port 127.0.0.1:5000"),
            ("{ tcp: { port: 5000, listen: true } }", Some("0.0.0.0"), "TCP port 0.0.0.0:5000"),
            ("{ tcp: { port: 5000, listen: true } }", Some("6000"), "TCP port 127.0.0.1:6000"),
            ("{ udp: 4000 }", Some("127.0.0.1"), "127.0.0.1:4000"),
            ("{ udp: { port: 4000, broadcast: true } }", None, "255.255.255.255:4000"),
            ("{ udp: { port: 0, local: 4000, listen: true } }", None, "UDP port 127.0.0.1:4000"),
        ] {
            assert_eq!(place(link, given).as_deref(), Ok(expected), "{link} {given:?}");
        }
        for (link, given, expected) in [
            ("{ serial: 9600 }", None, "where is the machine? --link PATH, for example /dev/ttyUSB0"),
            ("{ serial: { rate: 9600, data_bits: 9 } }", Some("a"), "data bits are 7 or 8, not 9"),
            ("{ tcp: 5000 }", None, "where is the machine? --link HOST or HOST:PORT"),
            (
                "{ tcp: { port: 5000, listen: true } }",
                Some("host"),
                "--link host: expected [ADDRESS:]PORT, for example 0.0.0.0:5000",
            ),
        ] {
            assert_eq!(place(link, given), Err(expected.to_owned()), "{link} {given:?}");
        }
    }
}
