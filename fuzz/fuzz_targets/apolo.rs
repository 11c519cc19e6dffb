//! Bytes into both cores of Apolo's protocol: requests into the server's, replies into the client's.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: amount or variant), followed
//! by its data. Checked: no panic, bounded buffers, every answer decodes, every call ends exactly once, and all queues
//! become empty.

#![no_main]

use std::collections::BTreeSet;
use std::time::Duration;

use dragoman_bridge::apolo::wire::{LandMark, Received, ReplyDecoder, Request, RequestDecoder, SizeBase};
use dragoman_bridge::apolo::{
    CallId, Client, ClientConfig, ClientEvent, Connection, Outcome, Refusal, ServerConfig,
};
use dragoman_bridge::session::ServerSession;
use libfuzzer_sys::fuzz_target;

const MAX_BUFFERED: usize = 512;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fn outcome(choice: u8, data: &[u8]) -> Outcome {
    match choice % 7 {
        0 => Outcome::Done,
        1 => Outcome::Verdict(true),
        2 => Outcome::Verdict(false),
        3 => Outcome::Values(data.iter().map(|byte| f64::from(*byte)).collect()),
        4 => Outcome::LandMarks(
            data.iter().map(|byte| LandMark { id: (*byte).into(), angle: 0.1, distance: 1.0 }).collect(),
        ),
        5 => Outcome::Refused(Refusal::UnknownName(String::new())),
        _ => Outcome::Refused(Refusal::Rejected(String::new())),
    }
}

/// State of the owner of both cores.
struct CoresFixture {
    server: Connection,
    client: Client,
    called: bool,
    attempts: u32,
    open: BTreeSet<CallId>,
}

impl CoresFixture {
    fn collect(&mut self, now: Duration) {
        if !self.called
            && let Some(request) = self.server.poll_call(now)
        {
            assert!(request.is_finite());
            self.called = true;
        }
        while self.server.poll_event().is_some() {}
        assert!(self.server.unsent().len() < MAX_BUFFERED + 70_000);
        if self.client.poll_connect(now) {
            self.attempts += 1;
            if self.attempts % 3 == 2 {
                self.client.handle_connect_failed(now);
            } else {
                self.client.handle_connected(now);
            }
        }
        while let Some(bytes) = self.client.poll_transmit() {
            let mut decoder = RequestDecoder::default();
            decoder.push(&bytes);
            assert!(matches!(decoder.next(), Some(Received::Message(_))), "what we send is a request");
            assert_eq!(decoder.buffered(), 0);
        }
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Result { id, .. } = event {
                assert!(self.open.remove(&id), "every call ends once");
            }
        }
    }
}

/// Decodes a stream in pieces of this size.
fn decoded(input: &[u8], piece: usize) -> Vec<String> {
    let mut requests = RequestDecoder::default();
    let mut replies = ReplyDecoder::new(SizeBase::Full256);
    let (mut seen, mut answers) = (Vec::new(), Vec::new());
    for part in input.chunks(piece) {
        requests.push(part);
        seen.extend(std::iter::from_fn(|| requests.next()).map(|received| format!("{received:?}")));
        replies.push(part);
        answers.extend(std::iter::from_fn(|| replies.next()).map(|received| format!("{received:?}")));
    }
    seen.extend(answers);
    seen
}

fuzz_target!(|input: &[u8]| {
    if input.len() < 2000 {
        assert_eq!(decoded(input, 1), decoded(input, input.len().max(1)), "independent of the pieces");
    }
    let mut input = input;
    let mut now = Duration::ZERO;
    let size_base = if input.len() % 2 == 0 { SizeBase::Full256 } else { SizeBase::Annex255 };
    let config = ServerConfig { size_base, max_buffered: MAX_BUFFERED, ..ServerConfig::default() };
    let mut fixture = CoresFixture {
        server: Connection::new(config),
        client: Client::new(now, ClientConfig { size_base, max_waiting: 4, ..ClientConfig::default() }),
        called: false,
        attempts: 0,
        open: BTreeSet::new(),
    };
    let mut next = 0;
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = operation >> 3;
        match operation & 7 {
            0 | 1 => {
                let bytes = take(&mut input, 4 * usize::from(argument) + 1);
                if fixture.server.wants_input() {
                    fixture.server.handle_bytes(now, bytes);
                }
            }
            2 => {
                let data = take(&mut input, argument.into());
                if std::mem::take(&mut fixture.called) {
                    fixture.server.handle_outcome(now, outcome(argument, data));
                }
            }
            3 => {
                // The client must receive whole answers.
                let mut decoder = ReplyDecoder::new(size_base);
                decoder.push(fixture.server.unsent());
                while let Some(received) = decoder.next() {
                    assert!(matches!(received, Received::Message(_)), "{received:?}");
                }
                assert_eq!((decoder.buffered(), decoder.skipped()), (0, 0));
                let all = fixture.server.unsent().len();
                fixture.server.handle_sent(all);
            }
            4 | 5 => fixture.client.handle_bytes(now, take(&mut input, 4 * usize::from(argument) + 1)),
            6 => {
                let bytes = take(&mut input, 40);
                let mut decoder = RequestDecoder::default();
                decoder.push(bytes);
                let request = match decoder.next() {
                    Some(Received::Message(request)) => request,
                    _ => Request::GetLocation { world: String::new(), object: argument.to_string() },
                };
                fixture.open.insert(CallId(next));
                fixture.client.handle_call(now, CallId(next), request);
                next += 1;
            }
            _ => {
                now += Duration::from_millis(1 << (argument & 15));
                if argument > 28 {
                    fixture.client.handle_disconnected(now);
                }
                fixture.client.handle_timeout(now);
            }
        }
        // The owner may be slow: it does not poll after every step.
        if operation & 0x20 == 0 {
            fixture.collect(now);
        }
    }
    for _ in 0..40 {
        now += Duration::from_secs(3);
        fixture.client.handle_timeout(now);
        fixture.collect(now);
    }
    assert!(fixture.open.is_empty(), "every call ends");
});
