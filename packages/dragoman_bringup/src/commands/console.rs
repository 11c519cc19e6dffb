//! `dragoman console`: the web page, rosbridge and Foxglove's protocol beside any ROS 2 system.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use dragoman_console::node::{ConsoleError, NODE_NAME, Settings, Token, start};
use dragoman_io::net::Transport;
use dragoman_ros::naming::below;
use dragoman_ros::outln;
use dragoman_ros::process::Process;

use crate::address::PortError;
use crate::program::{Later, Server};

/// The console's port.
pub(crate) const PORT: u16 = 8080;
/// Topic of a recorder.
pub(crate) const RECORDER: &str = "recording_status";
/// The port of Foxglove's protocol, its default.
pub(crate) const FOXGLOVE_PORT: u16 = 8765;

#[derive(Args)]
pub(crate) struct ConsoleOptions {
    /// Address of the page and of rosbridge: ADDRESS:PORT, ADDRESS for port 8080, or PORT on loopback. Others than loopback
    /// need a token.
    #[arg(long, value_name = "ADDRESS", default_value_t = loopback(PORT), value_parser = address)]
    listen: SocketAddr,
    #[command(flatten)]
    access: AccessOptions,
}

/// What `up` and `console` share.
#[derive(Args)]
pub(crate) struct AccessOptions {
    /// Address for Foxglove and Lichtblick: ADDRESS:PORT, ADDRESS for port 8765, PORT on loopback, or off; by default
    /// 127.0.0.1:8765. Others than loopback need the console's token.
    #[arg(long, value_name = "ADDRESS|off", value_parser = foxglove_address)]
    foxglove: Option<Where>,
    /// Origins of pages that may connect there, separated by commas. Desktop applications need file://, which also lets
    /// in every HTML file that is opened on this machine.
    #[arg(
        long,
        value_name = "ORIGINS",
        value_delimiter = ',',
        default_value = "https://app.foxglove.dev",
        value_parser = origin
    )]
    foxglove_origins: Vec<String>,
    /// File with the token that clients must show, readable only by its owner; by default an address that others can
    /// reach gets a new token with every start.
    #[arg(long, value_name = "FILE")]
    console_token: Option<PathBuf>,
}

/// Where something listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    Off,
    At(SocketAddr),
}

/// A port that only this machine can reach.
pub(crate) const fn loopback(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

/// `ADDRESS:PORT`, `ADDRESS`, or `PORT` on loopback.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    address_with(PORT, text)
}

fn address_with(port: u16, text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.strip_prefix("localhost") {
        Some(rest) if rest.is_empty() || rest.starts_with(':') => format!("{}{rest}", Ipv4Addr::LOCALHOST),
        _ => text.to_owned(),
    };
    let with_port = || numbers.parse().map(|address| SocketAddr::new(address, port));
    let on_loopback = || text.parse().map(loopback);
    let address = numbers.parse().or_else(|_| with_port()).or_else(|_| on_loopback());
    address.map_err(|_| format!("'{text}' is not ADDRESS:PORT, ADDRESS or PORT"))
}

/// The console's address, or `off`.
pub(crate) fn address_or_off(text: &str) -> Result<Where, String> {
    if text == "off" { Ok(Where::Off) } else { address(text).map(Where::At) }
}

fn foxglove_address(text: &str) -> Result<Where, String> {
    if text == "off" { Ok(Where::Off) } else { address_with(FOXGLOVE_PORT, text).map(Where::At) }
}

/// `SCHEME://HOST[:PORT]`, as browsers send it.
fn origin(text: &str) -> Result<String, String> {
    let is_origin = text.split_once("://").is_some_and(|(scheme, host)| {
        !scheme.is_empty() && !host.contains(['/', '*']) && (scheme == "file") == host.is_empty()
    });
    let invalid = || format!("'{text}' is not an origin such as https://app.foxglove.dev");
    is_origin.then(|| text.to_owned()).ok_or_else(invalid)
}

/// A started console.
pub(crate) struct Started {
    /// For the address line of a browser, with the token.
    pub(crate) page: String,
    /// Of Foxglove's protocol, with the token.
    pub(crate) foxglove: Option<String>,
}

/// Where the servers of a console are.
pub(crate) struct Places {
    /// The page and rosbridge.
    pub(crate) console: SocketAddr,
    /// Foxglove's protocol, unless an option says where.
    pub(crate) foxglove: SocketAddr,
    /// The options that choose another address of the page.
    pub(crate) advice: &'static str,
}

/// Starts the console under the supervisor, with the recorder of this topic.
pub(crate) fn start_console(
    process: &Process,
    recorder: String,
    places: &Places,
    options: &AccessOptions,
) -> Result<Started, Box<dyn Error>> {
    let address = places.console;
    let foxglove = match options.foxglove.unwrap_or(Where::At(places.foxglove)) {
        Where::Off => None,
        Where::At(address) => Some(address),
    };
    let token = match &options.console_token {
        Some(path) => {
            let token = Token::from_file(path);
            Some(token.map_err(|error| format!("--console-token {}: {error}", path.display()))?)
        }
        None if address.ip().is_loopback() && foxglove.is_none_or(|at| at.ip().is_loopback()) => None,
        None => Some(Token::random()),
    };
    let origins = options.foxglove_origins.clone();
    let supervisor = Some(process.supervisor.clone());
    let mut settings = Settings { address, foxglove, origins, token, recorder, supervisor };
    let console = start(&process.context, &settings).map_err(|error| -> Box<dyn Error> {
        let ConsoleError::Bind { address, error: source } = &error else { return error.into() };
        let advice = match Some(*address) == foxglove {
            true => "--foxglove ADDRESS:PORT, or --foxglove off",
            false => places.advice,
        };
        PortError::new(error.to_string(), (Transport::Tcp, *address), source, advice.to_owned()).into()
    })?;
    (settings.address, settings.foxglove) = (console.address, console.foxglove);
    let query = settings.token.as_ref().map(|token| format!("?token={}", token.as_str())).unwrap_or_default();
    let page = format!("http://{}/{query}", console.address);
    let foxglove = console.foxglove.map(|address| format!("ws://{address}/{query}"));
    let context = process.context.clone();
    process.supervisor.spawn_restartable(below("", NODE_NAME), console.node, move || {
        start(&context, &settings).map(|console| console.node)
    });
    Ok(Started { page, foxglove })
}

impl Started {
    /// Text for users.
    pub(crate) fn lines(&self) -> Vec<String> {
        let foxglove =
            self.foxglove.iter().map(|address| format!("Foxglove and Lichtblick: connect to {address}"));
        foxglove.chain([format!("console: open {}", self.page)]).collect()
    }
}

impl Server for ConsoleOptions {
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let places = Places {
            console: self.listen,
            foxglove: loopback(FOXGLOVE_PORT),
            advice: "--listen ADDRESS:PORT",
        };
        let console = start_console(process, below("", RECORDER), &places, &self.access)?;
        for line in console.lines() {
            outln!("{line}");
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_port_and_a_port_without_an_address_are_accepted() {
        assert_eq!(address("8090"), Ok(([127, 0, 0, 1], 8090).into()));
        assert_eq!(foxglove_address("8090"), Ok(Where::At(([127, 0, 0, 1], 8090).into())));
        assert_eq!(address("127.0.0.1"), Ok(loopback(PORT)));
        assert_eq!(address("0.0.0.0:81"), Ok(([0, 0, 0, 0], 81).into()));
        assert_eq!(address("[::1]:0").unwrap().port(), 0);
        assert_eq!(address("localhost"), Ok(loopback(PORT)));
        assert_eq!(address("localhost:81"), Ok(([127, 0, 0, 1], 81).into()));
        for wrong in ["robot:8080", "localhosts", "70000", "-1", "", ":80"] {
            let reason = address(wrong).unwrap_err();
            assert!(reason.contains("ADDRESS:PORT, ADDRESS or PORT"), "{reason}");
        }
        assert_eq!(foxglove_address("::1"), Ok(Where::At("[::1]:8765".parse().unwrap())));
        assert_eq!(address_or_off("off"), Ok(Where::Off));
    }

    #[test]
    fn origins_are_those_of_browsers() {
        for text in ["https://app.foxglove.dev", "http://localhost:8080", "file://"] {
            assert_eq!(origin(text), Ok(text.to_owned()));
        }
        for text in ["", "*", "app.foxglove.dev", "https://", "https://*.dev", "https://a/b", "file:///home"]
        {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
