//! Bytes of a platform, calls, velocities, time steps and lost connections into the client core of Neobotix' protocol.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: amount), followed by its
//! data. Checked: no panic, bounded buffers, sent bytes are commands, every call ends exactly once, and there is no
//! busy loop.

#![no_main]

use std::collections::BTreeSet;
use std::time::Duration;

use dragoman_bridge::neobotix::wire::{Command, Decoder, Framing, Message, MoveVelocity, Reply, Tail};
use dragoman_bridge::neobotix::{CallId, Client, ClientConfig, ClientEvent};
use libfuzzer_sys::fuzz_target;

const MAX_CALLS: usize = 8;
const MAX_UNSENT: usize = 4096;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

struct ClientFixture {
    now: Duration,
    client: Client,
    sent: Decoder<Command>,
    open: BTreeSet<CallId>,
    next: u64,
}

impl ClientFixture {
    fn call(&mut self, command: Command) {
        let id = CallId(self.next);
        self.next += 1;
        self.open.insert(id);
        self.client.handle_call(self.now, id, command);
    }

    fn send(&mut self, len: usize) {
        let unsent = self.client.unsent();
        let len = len.min(unsent.len());
        self.sent.push(&unsent[..len]);
        self.client.handle_sent(self.now, len);
        while let Some(received) = self.sent.next().expect("messages") {
            received.message.expect("a command");
        }
    }

    fn collect(&mut self) {
        if self.client.poll_connect(self.now) {
            self.sent = Decoder::default();
            if self.next % 3 == 2 {
                self.client.handle_connect_failed(self.now);
            } else {
                self.client.handle_connected(self.now);
            }
        }
        // Polls and a velocity are in addition to the calls' data.
        assert!(self.client.unsent().len() < MAX_UNSENT + 512);
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Result { id, .. } => assert!(self.open.remove(&id), "every call ends once"),
                ClientEvent::Position(position) => assert!(position.is_finite()),
                ClientEvent::Disconnected(_) => self.sent = Decoder::default(),
                _ => {}
            }
        }
        assert!(self.open.len() <= MAX_CALLS);
    }
}

fuzz_target!(|input: &[u8]| {
    let mut input = input;
    let now = Duration::ZERO;
    let config = ClientConfig {
        framing: if input.len() % 2 == 0 { Framing::Header } else { Framing::Bare },
        max_calls: MAX_CALLS,
        max_unsent: MAX_UNSENT,
        ..ClientConfig::default()
    };
    let mut fixture = ClientFixture {
        now,
        client: Client::new(now, config),
        sent: Decoder::default(),
        open: BTreeSet::new(),
        next: 0,
    };
    fixture.collect();
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = usize::from(operation >> 3);
        match operation & 7 {
            0 | 1 => fixture.client.handle_bytes(fixture.now, take(&mut input, 8 * argument + 1)),
            2 => {
                // An answer of the kind of the byte, with the fields decoded from the data.
                let len = take(&mut input, 2).iter().fold(0, |len, byte| 256 * len + usize::from(*byte));
                let data = take(&mut input, len);
                if let Ok(reply) = Reply::decode(data) {
                    let bytes = reply.encode(Framing::Header).expect("it came");
                    fixture.client.handle_bytes(fixture.now, &bytes);
                }
            }
            3 => {
                if let Ok(command) = Command::decode(take(&mut input, argument + 1)) {
                    fixture.call(command);
                }
            }
            4 => {
                let velocity = MoveVelocity {
                    translation_mm_per_s: argument as i32,
                    rotation_mrad_per_s: -1,
                    lateral_mm_per_s: Tail((argument & 1 != 0).then_some(1)),
                };
                fixture.client.handle_velocity(fixture.now, velocity);
            }
            5 => fixture.send(1 << (argument & 15)),
            6 => {
                fixture.now += Duration::from_millis(1 << (argument & 15));
                fixture.client.handle_timeout(fixture.now);
            }
            _ => fixture.client.handle_disconnected(fixture.now, "gone"),
        }
        fixture.collect();
    }
    for _ in 0..20 {
        // All actions that are due are performed; afterwards nothing is due.
        for _ in 0..20 {
            fixture.send(usize::MAX);
            fixture.collect();
            fixture.client.handle_timeout(fixture.now);
        }
        assert!(fixture.client.poll_timeout().is_none_or(|due| due > fixture.now), "no busy loop");
        fixture.now += Duration::from_secs(25);
        fixture.client.handle_timeout(fixture.now);
        fixture.collect();
    }
    assert!(fixture.open.is_empty(), "every call ends");
});
