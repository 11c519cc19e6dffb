//! The client core of Player's protocol, on virtual time, connected to a simulated server.

#[path = "player_client/any_bytes.rs"]
mod any_bytes;
#[path = "player_client/connections.rs"]
mod connections;
#[path = "player_client/devices.rs"]
mod devices;
#[path = "player_client/requests.rs"]
mod requests;

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_bridge::player::client::{Client, ClientConfig, ClientEvent};
use dragoman_bridge::player::wire::*;

const MS: Duration = Duration::from_millis(1);
const SERVER: Device = player::INTERFACE.device(0);
const BASE: Device = position2d::INTERFACE.device(0);

/// A server that answers without delay.
#[derive(Default)]
struct Server {
    decoder: Decoder,
    received: Vec<Message>,
    devices: Vec<Device>,
    /// The driver of its devices, if it is not "maker".
    driver: Option<&'static str>,
    /// Devices that cannot be opened.
    broken: Vec<Device>,
    /// Answers to requests to devices; others are refused.
    answers: BTreeMap<(Device, u8), Vec<u8>>,
    /// The value of all cells of its maps, whatever tile is asked for.
    cell: Option<u8>,
    /// Requests that it does not answer.
    ignores: Vec<(Device, u8)>,
}

impl Server {
    fn with_base() -> Self {
        let answer = position2d::Geometry::default().to_bytes();
        let answers = BTreeMap::from([((BASE, position2d::GET_GEOMETRY.subtype), answer)]);
        Self { devices: vec![BASE], answers, ..Self::default() }
    }

    fn handle(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.decoder.push(bytes);
        let mut sent = Vec::new();
        while let Some(message) = self.decoder.next() {
            let message = message.expect("the client sends messages");
            let Header { address, kind, subtype, .. } = message.header;
            if kind == MessageKind::Request && !self.ignores.contains(&(address.device, subtype)) {
                let (kind, body) = self.answer(&message);
                // As the original: its own answers have the request's number, those of drivers 0.
                let own = address.device == SERVER;
                let sequence = if own { message.header.sequence } else { 0 };
                Header { kind, sequence, ..message.header }.write_message(&body, &mut sent);
            }
            self.received.push(message);
        }
        sent
    }

    fn answer(&self, message: &Message) -> (MessageKind, Vec<u8>) {
        let Header { address, subtype, .. } = message.header;
        if let Some(cell) = self.cell
            && (address.device.interface, subtype) == (map::INTERFACE.code, map::GET_DATA.subtype)
        {
            let asked = map::GET_DATA.question(&message.body).unwrap();
            let data = vec![cell; asked.width as usize * asked.height as usize];
            return (MessageKind::Acknowledge, MapData { range: 1, data, ..asked }.compress().to_bytes());
        }
        if address.device != SERVER {
            return match self.answers.get(&(address.device, subtype)) {
                Some(body) => (MessageKind::Acknowledge, body.clone()),
                None => (MessageKind::Refuse, Vec::new()),
            };
        }
        let body = if subtype == player::DEVICES.subtype {
            let full = |device: &Device| Address { host: 16_777_343, robot: 6665, device: *device };
            self.devices.iter().map(full).collect::<Vec<_>>().to_bytes()
        } else if subtype == player::DRIVER.subtype {
            let address = player::DRIVER.question(&message.body).unwrap().address;
            player::Driver { address, name: self.driver.unwrap_or("maker").to_owned() }.to_bytes()
        } else if subtype == player::SUBSCRIBE.subtype {
            let mut answer = player::SUBSCRIBE.question(&message.body).unwrap();
            let is_broken = self.broken.contains(&answer.address.device);
            answer.access = if is_broken { player::DENIED } else { player::OPEN };
            answer.to_bytes()
        } else {
            Vec::new()
        };
        (MessageKind::Acknowledge, body)
    }

    /// Subtypes of the messages to a device.
    fn subtypes(&self, device: Device) -> Vec<u8> {
        let to_it = |message: &&Message| message.header.address.device == device;
        self.received.iter().filter(to_it).map(|message| message.header.subtype).collect()
    }
}

fn banner() -> Vec<u8> {
    let mut banner = b"Player v.3.1.0".to_vec();
    banner.resize(BANNER_LEN, 0);
    banner
}

fn data(device: Device, subtype: u8, body: &[u8]) -> Vec<u8> {
    let address = Address { host: 0, robot: 0, device };
    let mut bytes = Vec::new();
    Header { address, kind: MessageKind::Data, subtype, timestamp: 2.5, sequence: 0 }
        .write_message(body, &mut bytes);
    bytes
}

struct ClientFixture {
    now: Duration,
    client: Client,
    server: Server,
    events: Vec<ClientEvent>,
    /// Whether connection attempts succeed.
    is_there: bool,
    attempts: Vec<Duration>,
}

impl ClientFixture {
    fn new(server: Server) -> Self {
        Self::with(server, ClientConfig::default())
    }

    fn with(server: Server, config: ClientConfig) -> Self {
        let now = Duration::ZERO;
        let client = Client::new(now, config);
        let (events, attempts) = (Vec::new(), Vec::new());
        let mut fixture = Self { now, client, server, events, is_there: true, attempts };
        fixture.settle();
        fixture
    }

    /// Delivers everything between client and server.
    fn settle(&mut self) {
        loop {
            self.events.extend(std::iter::from_fn(|| self.client.poll_event()));
            if self.client.poll_connect(self.now) {
                self.attempts.push(self.now);
                self.server.decoder = Decoder::default();
                if self.is_there {
                    self.client.handle_connected(self.now);
                    self.client.handle_bytes(self.now, &banner());
                } else {
                    self.client.handle_connect_failed(self.now);
                }
                continue;
            }
            let unsent = self.client.unsent().to_vec();
            if unsent.is_empty() {
                return;
            }
            self.client.handle_sent(unsent.len());
            let answers = self.server.handle(&unsent);
            self.client.handle_bytes(self.now, &answers);
        }
    }

    /// Lets time pass; the client gets its timeouts.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(due) = self.client.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.client.handle_timeout(self.now);
            self.settle();
        }
        self.now = end;
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.client.handle_bytes(self.now, bytes);
        self.settle();
    }

    fn take(&mut self) -> Vec<ClientEvent> {
        std::mem::take(&mut self.events)
    }
}
