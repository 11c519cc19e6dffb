//! A server core with its environment: virtual time, addresses, and helpers for requests and answers.

use std::net::SocketAddr;
use std::time::Duration;

use dragoman_bridge::arm31::wire::{Datagram, Letters};
use dragoman_bridge::arm31::{ArmCall, CallId, Outcome, Refusal, Server, ServerConfig};

pub(crate) const REFUSED: Outcome = Outcome::Refused(Refusal::Rejected);

pub(crate) fn client(number: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, (number >> 8) as u8, number as u8], 40_000))
}

pub(crate) fn message(letters: &[u8; 2], values: [f32; 7], index: u8) -> [u8; 31] {
    *Datagram::new(Letters(*letters), values, index).bytes()
}

pub(crate) fn plain(letters: &[u8; 2]) -> [u8; 31] {
    message(letters, [0.0; 7], 0)
}

/// A text as on the wire: padded with NUL to 31 bytes.
pub(crate) fn text(words: &str) -> [u8; 31] {
    let mut bytes = [0; 31];
    bytes[..words.len()].copy_from_slice(words.as_bytes());
    bytes
}

/// A server core on virtual time.
pub(crate) struct ServerFixture {
    pub(crate) server: Server,
    pub(crate) now: Duration,
}

impl ServerFixture {
    pub(crate) fn new() -> Self {
        Self::with(ServerConfig::default())
    }

    pub(crate) fn with(config: ServerConfig) -> Self {
        Self { server: Server::new(config), now: Duration::ZERO }
    }

    pub(crate) fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.server.handle_timeout(self.now);
    }

    pub(crate) fn receive(&mut self, from: u16, bytes: &[u8]) {
        self.server.handle_datagram(self.now, client(from), bytes);
    }

    pub(crate) fn result(&mut self, id: CallId, outcome: Outcome) {
        self.server.handle_outcome(self.now, id, outcome);
    }

    /// The only call that is ready.
    pub(crate) fn call(&mut self) -> (CallId, ArmCall) {
        let call = self.server.poll_call().expect("a call");
        assert_eq!(self.server.poll_call(), None, "one call only");
        call
    }

    pub(crate) fn no_call(&mut self) {
        assert_eq!(self.server.poll_call(), None);
    }

    /// All datagrams to send, with the clients' numbers.
    pub(crate) fn sent(&mut self) -> Vec<(u16, [u8; 31])> {
        let number = |address: SocketAddr| match address.ip() {
            std::net::IpAddr::V4(ip) => u16::from_be_bytes([ip.octets()[2], ip.octets()[3]]),
            std::net::IpAddr::V6(_) => unreachable!("test clients are IPv4"),
        };
        std::iter::from_fn(|| self.server.poll_transmit())
            .map(|(address, bytes)| (number(address), bytes))
            .collect()
    }

    /// Sends a request from client 1, ends its service call with `outcome`, and returns the call and the answer.
    pub(crate) fn served(&mut self, request: &[u8], outcome: Outcome) -> (ArmCall, [u8; 31]) {
        self.receive(1, request);
        let (id, call) = self.call();
        assert_eq!(self.sent(), [], "no answer before the result");
        self.result(id, outcome);
        (call, self.only_answer())
    }

    /// Sends a request from client 1 that needs no service call, and returns the answer.
    pub(crate) fn answered(&mut self, request: &[u8]) -> [u8; 31] {
        self.receive(1, request);
        self.no_call();
        self.only_answer()
    }

    fn only_answer(&mut self) -> [u8; 31] {
        match self.sent()[..] {
            [(1, answer)] => answer,
            ref other => panic!("one answer to client 1, not {other:?}"),
        }
    }
}

/// Splitmix64: random behaviour of the network, repeatable with a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
