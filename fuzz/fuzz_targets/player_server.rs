//! Bytes of two clients, data, outcomes and lost connections into the server core of Player's protocol.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: amount or variant), followed
//! by its data. Bytes wait as in a socket until the server wants them. Checked: no panic, bounded buffers, what is sent
//! are messages, a device is opened and closed in turn, a third client is always answered, and all that the clients have
//! sent is taken in the end.

#![no_main]

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_bridge::player::server::{Call, ClientId, DeviceInfo, Server, ServerConfig};
use dragoman_bridge::player::wire::player::DEVICES;
use dragoman_bridge::player::wire::position2d;
use dragoman_bridge::player::wire::{Address, BANNER_LEN, Decoder, Device, Header, MessageKind, Xdr, player};
use libfuzzer_sys::fuzz_target;

const NOW: Duration = Duration::from_secs(1000);
const SERVER: Device = player::INTERFACE.device(0);
const DEVICES_THERE: [Device; 2] = [position2d::INTERFACE.device(0), position2d::INTERFACE.device(1)];
const MAX_DATA: usize = 8;
const MAX_BUFFERED: usize = 4096;
/// Bytes that a server takes from a socket at a time.
const READ_LEN: usize = 512;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fn message(device: Device, kind: MessageKind, subtype: u8, body: &[u8]) -> Vec<u8> {
    let address = Address { device, ..Address::default() };
    let mut bytes = Vec::new();
    Header { address, kind, subtype, timestamp: 0.0, sequence: 1 }.write_message(body, &mut bytes);
    bytes
}

/// A device, as its owner knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum DeviceState {
    Closed,
    Asked,
    Open,
}

/// A client, and what it has sent and the server has not taken.
struct Peer {
    id: ClientId,
    socket: VecDeque<u8>,
}

struct ServerFixture {
    server: Server,
    states: [DeviceState; 2],
    /// Clients whose requests are open.
    asked: Vec<ClientId>,
}

impl ServerFixture {
    fn connect(&mut self) -> ClientId {
        let client = self.server.handle_connected(6665);
        assert_eq!(self.server.poll_transmit(NOW, client).map(|bytes| bytes.len()), Some(BANNER_LEN));
        client
    }

    /// Sends bytes; the server takes of them what it wants.
    fn send(&mut self, peer: &mut Peer, bytes: &[u8]) {
        peer.socket.extend(bytes);
        self.take_input(peer);
    }

    fn take_input(&mut self, peer: &mut Peer) {
        while !peer.socket.is_empty() && self.server.wants_input(peer.id) {
            let part: Vec<u8> = peer.socket.drain(..READ_LEN.min(peer.socket.len())).collect();
            self.server.handle_bytes(NOW, peer.id, &part);
        }
    }

    /// The client reads, and its requests are answered, until nothing is left to do.
    fn finish(&mut self, peer: &mut Peer) {
        loop {
            let before = peer.socket.len();
            let answered = self.asked.iter().filter(|asked| **asked == peer.id).count();
            self.asked.retain(|asked| *asked != peer.id);
            for _ in 0..answered {
                self.server.handle_outcome(NOW, peer.id, Ok(Vec::new()));
            }
            let read = self.read(peer.id);
            self.calls();
            self.take_input(peer);
            if answered == 0 && read == 0 && peer.socket.len() == before {
                break;
            }
        }
        let is_taken = peer.socket.is_empty() || self.server.is_closing(peer.id);
        assert!(is_taken, "{} bytes are never read", peer.socket.len());
    }

    /// Reads all that waits for a client.
    fn read(&mut self, client: ClientId) -> usize {
        let mut decoder = Decoder::default();
        while let Some(bytes) = self.server.poll_transmit(NOW, client) {
            assert!(!bytes.is_empty());
            decoder.push(&bytes);
        }
        let messages = std::iter::from_fn(|| decoder.next()).map(|message| message.expect("a message"));
        let count = messages.count();
        assert_eq!(decoder.buffered(), 0);
        count
    }

    fn calls(&mut self) {
        while let Some(call) = self.server.poll_call() {
            match call {
                Call::Open(device) => {
                    let state = &mut self.states[usize::from(device.index)];
                    assert_eq!(*state, DeviceState::Closed);
                    *state = DeviceState::Asked;
                }
                Call::Close(device) => {
                    let state = &mut self.states[usize::from(device.index)];
                    assert_ne!(*state, DeviceState::Closed);
                    *state = DeviceState::Closed;
                }
                Call::Request { client, .. } => self.asked.push(client),
                Call::Release(_) | Call::Command { .. } => {}
            }
        }
        while self.server.poll_ready_client().is_some() || self.server.poll_event().is_some() {}
    }
}

fuzz_target!(|input: &[u8]| {
    let mut input = input;
    let info = |device| DeviceInfo { device, driver: "driver".to_owned(), robot: "robot".to_owned() };
    let config = ServerConfig { max_data: MAX_DATA, max_buffered: MAX_BUFFERED, ..ServerConfig::default() };
    let server = Server::new(config, DEVICES_THERE.map(info).to_vec());
    let mut fixture = ServerFixture { server, states: [DeviceState::Closed; 2], asked: Vec::new() };
    let mut clients = [(); 2].map(|()| Peer { id: fixture.connect(), socket: VecDeque::new() });
    let witness = fixture.connect();
    while let [operation, rest @ ..] = input {
        input = rest;
        let amount = usize::from(operation >> 3);
        let which = amount % 2;
        let (peer, device) = (&mut clients[which], DEVICES_THERE[amount / 2 % 2]);
        let client = peer.id;
        match operation % 8 {
            0 => {
                let bytes = take(&mut input, amount).to_vec();
                fixture.send(peer, &bytes);
            }
            1 => {
                let head = take(&mut input, 3);
                let [kind, subtype, len] = head.try_into().unwrap_or([3, 3, 28]);
                let kind = MessageKind::from_code(kind % 6 + 1).expect("a kind");
                let device = if amount / 4 % 2 == 0 { SERVER } else { device };
                let mut body = take(&mut input, usize::from(len)).to_vec();
                // Longer than what may wait otherwise.
                if amount / 8 % 4 == 3 {
                    body.resize(4 * MAX_BUFFERED, 0);
                }
                fixture.send(peer, &message(device, kind, subtype, &body));
            }
            2 => {
                let body = position2d::State::default().to_bytes();
                fixture.server.handle_data(device, position2d::STATE.subtype, 1.0, &body);
            }
            3 => {
                let works = amount / 4 % 2 == 0;
                let opened = if works { Ok(()) } else { Err("broken".to_owned()) };
                fixture.server.handle_opened(NOW, device, opened);
                let state = &mut fixture.states[usize::from(device.index)];
                if *state == DeviceState::Asked {
                    *state = if works { DeviceState::Open } else { DeviceState::Closed };
                }
            }
            4 => {
                if let Some(asked) = fixture.asked.pop() {
                    let outcome = if amount % 4 < 2 { Ok(vec![0; amount]) } else { Err("no".to_owned()) };
                    fixture.server.handle_outcome(NOW, asked, outcome);
                }
            }
            5 => {
                fixture.server.handle_disconnected(client);
                fixture.asked.retain(|asked| *asked != client);
                *peer = Peer { id: fixture.connect(), socket: VecDeque::new() };
            }
            6 => drop(fixture.read(client)),
            _ => {
                let access = u8::try_from(amount % 4).expect("small");
                let address = Address { device, ..Address::default() };
                let body = player::Subscription { address, access, driver: String::new() }.to_bytes();
                let subscribe = message(SERVER, MessageKind::Request, player::SUBSCRIBE.subtype, &body);
                fixture.send(peer, &subscribe);
            }
        }
        fixture.calls();
        fixture.take_input(&mut clients[which]);
        fixture.server.handle_bytes(
            NOW,
            witness,
            &message(SERVER, MessageKind::Request, DEVICES.subtype, &[]),
        );
        assert_eq!(fixture.read(witness), 1, "another client is answered");
    }
    for peer in &mut clients {
        fixture.finish(peer);
    }
});
