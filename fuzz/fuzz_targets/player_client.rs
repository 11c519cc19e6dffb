//! Bytes of a server, calls, velocities, time steps and lost connections into the client core of Player's protocol.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: amount), followed by its
//! data. Checked: no panic, bounded buffers, sent bytes are messages, every call ends exactly once, and there is no
//! busy loop.

#![no_main]

use std::collections::BTreeSet;
use std::time::Duration;

use dragoman_bridge::CallId;
use dragoman_bridge::player::client::{Client, ClientConfig, ClientEvent};
use dragoman_bridge::player::wire::common::Pose2d;
use dragoman_bridge::player::wire::{
    Address, BANNER_LEN, Decoder, Device, Header, INTERFACES, MessageKind, RequestMessage, Xdr, player,
};
use libfuzzer_sys::fuzz_target;

const MAX_CALLS: usize = 8;
const MAX_UNSENT: usize = 8192;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fn message(device: Device, kind: MessageKind, subtype: u8, body: &[u8]) -> Vec<u8> {
    let address = Address { device, ..Address::default() };
    let mut bytes = Vec::new();
    Header { address, kind, subtype, timestamp: 1.0, sequence: 0 }.write_message(body, &mut bytes);
    bytes
}

struct ClientFixture {
    now: Duration,
    client: Client,
    sent: Decoder,
    open: BTreeSet<CallId>,
    next: u64,
}

impl ClientFixture {
    /// Sends what waits. `serves`: the server answers its own requests, and opens every device.
    fn send(&mut self, serves: bool) {
        let unsent = self.client.unsent().to_vec();
        self.client.handle_sent(unsent.len());
        self.sent.push(&unsent);
        while let Some(sent) = self.sent.next() {
            let Header { address, kind, subtype, .. } = sent.expect("messages").header;
            let is_own = address.device == player::INTERFACE.device(0) && kind == MessageKind::Request;
            if !(serves && is_own) {
                continue;
            }
            let full = |device| Address { device, ..Address::default() };
            let body = if subtype == player::DEVICES.subtype {
                let list: Vec<Address> =
                    INTERFACES.iter().map(|interface| full(interface.device(0))).collect();
                list.to_bytes()
            } else if subtype == player::SUBSCRIBE.subtype {
                player::Subscription { access: player::OPEN, ..Default::default() }.to_bytes()
            } else {
                Vec::new()
            };
            let answer = message(address.device, MessageKind::Acknowledge, subtype, &body);
            self.client.handle_bytes(self.now, &answer);
        }
    }

    fn collect(&mut self) {
        if self.client.poll_connect(self.now) {
            self.sent = Decoder::default();
            if self.next % 3 == 2 {
                self.client.handle_connect_failed(self.now);
            } else {
                self.client.handle_connected(self.now);
                let mut banner = b"Player v.3.1".to_vec();
                banner.resize(BANNER_LEN, 0);
                self.client.handle_bytes(self.now, &banner);
            }
        }
        // A command and its body may pass the limit.
        assert!(self.client.unsent().len() <= MAX_UNSENT + 256);
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Result { id, .. } => assert!(self.open.remove(&id), "every call ends once"),
                ClientEvent::Disconnected(_) => self.sent = Decoder::default(),
                _ => {}
            }
        }
        assert!(self.open.len() <= MAX_CALLS);
    }
}

fuzz_target!(|input: &[u8]| {
    let mut input = input;
    let config = ClientConfig {
        pull_period: (input.len() % 2 == 0).then_some(Duration::from_millis(50)),
        max_calls: MAX_CALLS,
        max_unsent: MAX_UNSENT,
        ..ClientConfig::default()
    };
    let client = Client::new(Duration::ZERO, config);
    let mut fixture = ClientFixture {
        now: Duration::ZERO,
        client,
        sent: Decoder::default(),
        open: BTreeSet::new(),
        next: 0,
    };
    fixture.collect();
    while let [operation, rest @ ..] = input {
        input = rest;
        let amount = usize::from(operation >> 3);
        match operation & 7 {
            0 => fixture.client.handle_bytes(fixture.now, take(&mut input, amount)),
            // A message of any interface.
            1 | 2 => {
                let head = take(&mut input, 3);
                let [interface, kind, subtype] = head.try_into().unwrap_or([4, 1, 1]);
                let body = take(&mut input, amount * 4);
                let device = Device { interface: interface.into(), index: 0 };
                let kind = MessageKind::from_code(kind % 8).unwrap_or(MessageKind::Data);
                fixture.client.handle_bytes(fixture.now, &message(device, kind, subtype, body));
            }
            3 => {
                let interface = INTERFACES[amount % INTERFACES.len()];
                let subtype = take(&mut input, 1).first().copied().unwrap_or(1);
                let id = CallId(fixture.next);
                fixture.next += 1;
                fixture.open.insert(id);
                let ask = RequestMessage::<(), ()>::new(subtype);
                fixture.client.handle_call(fixture.now, id, interface.device(0), &ask, &());
            }
            4 => {
                let bytes = take(&mut input, 8).try_into().unwrap_or_default();
                let velocity = Pose2d { x: f64::from_le_bytes(bytes), ..Pose2d::default() };
                let base = Device { interface: 4, index: 0 };
                let _ = fixture.client.handle_velocity(fixture.now, base, velocity);
            }
            5 => {
                fixture.now += Duration::from_millis(amount as u64 * amount as u64 * 10);
                fixture.client.handle_timeout(fixture.now);
                // A connection attempt waits for its owner.
                let due = fixture.client.poll_timeout().filter(|_| fixture.client.is_connected());
                assert!(due.is_none_or(|due| due > fixture.now), "due again");
            }
            6 => fixture.send(amount % 4 != 0),
            _ => fixture.client.handle_disconnected(fixture.now, "lost"),
        }
        fixture.collect();
    }
    fixture.client.handle_disconnected(fixture.now, "over");
    fixture.collect();
    assert!(fixture.open.is_empty(), "every call ends");
});
