//! One client: its received messages, and the messages that wait for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::player::wire::player::{PULL, PUSH, READ, ReplaceRule, Request, SYNCH, SYNCH_OVERFLOW};
use crate::player::wire::{Address, Bytes, Decoder, Device, Header, MessageKind, Xdr};

/// Maximum bytes of one transmission, unless a message is longer.
const CHUNK: usize = 64 << 10;
/// Maximum bytes of data that wait for a client.
const MAX_DATA_BYTES: usize = 32 << 20;
/// Maximum bytes of data that wait for all clients. Above it, clients with more than their share lose data.
pub(super) const MAX_DATA_IN_ALL: usize = 128 << 20;
/// Share of a client, bytes: the limits of all clients together do not apply to a client with less.
pub(super) const SHARE: usize = 1 << 20;
/// Maximum time for which data waits for more data. A later end means that the clock was set back.
const MAX_REST: Duration = Duration::from_secs(5);
/// Maximum number of rules of a client.
const MAX_RULES: usize = 64;

/// An encoded message of a device for all its clients. It counts while it waits for at least one of them.
#[derive(Debug)]
pub(super) struct Encoded {
    bytes: Vec<u8>,
    /// Bytes of all waiting messages.
    all: Arc<AtomicUsize>,
}

impl Encoded {
    pub(super) fn new(bytes: Vec<u8>, all: &Arc<AtomicUsize>) -> Arc<Self> {
        all.fetch_add(bytes.len(), Ordering::Relaxed);
        Arc::new(Self { bytes, all: Arc::clone(all) })
    }
}

impl Drop for Encoded {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// A waiting message.
#[derive(Debug)]
enum Queued {
    Data { device: Device, subtype: u8, message: Arc<Encoded> },
    Answer(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Session {
    /// The server's address on this connection.
    pub(super) address: Address,
    pub(super) decoder: Decoder,
    pub(super) is_authenticated: bool,
    /// No more is read from the client.
    pub(super) is_closing: bool,
    /// Nothing is sent to the client any more.
    pub(super) is_aborted: bool,
    /// When its incomplete message started to arrive.
    pub(super) begun: Duration,
    /// The kind and the device of its last message, until it is fetched.
    pub(super) last: Option<(MessageKind, Device)>,
    /// Requests to devices that wait for the request in progress.
    pub(super) waiting: VecDeque<(Header, Vec<u8>)>,
    /// The request that the owner carries out, and the length of its body.
    pub(super) open: Option<(Header, usize)>,
    /// Requests for devices that are not open yet.
    pub(super) opening: Vec<(Header, Device)>,
    /// Number of its commands that the owner has not fetched.
    pub(super) commands: usize,
    /// Bytes of these commands.
    pub(super) command_bytes: usize,
    pulls: bool,
    /// In pull mode: the client waits for data.
    is_reading: bool,
    /// In pull mode: whether data was sent since it waits.
    has_read: bool,
    /// Dropped messages since the last synch message.
    dropped: u32,
    rules: Vec<ReplaceRule>,
    queue: VecDeque<Queued>,
    data: usize,
    max_data: usize,
    data_bytes: usize,
    answer_bytes: usize,
    /// In push mode: further data waits until this time, and is sent together.
    rest: Option<Duration>,
    /// Bytes that are sent before the queue.
    unsent: Vec<u8>,
}

impl Session {
    pub(super) fn new(address: Address, is_authenticated: bool, max_data: usize) -> Self {
        Self {
            address,
            decoder: Decoder::default(),
            is_authenticated,
            is_closing: false,
            is_aborted: false,
            begun: Duration::ZERO,
            last: None,
            waiting: VecDeque::new(),
            open: None,
            opening: Vec::new(),
            commands: 0,
            command_bytes: 0,
            pulls: false,
            is_reading: false,
            has_read: false,
            dropped: 0,
            rules: Vec::new(),
            queue: VecDeque::new(),
            data: 0,
            max_data,
            data_bytes: 0,
            answer_bytes: 0,
            rest: None,
            unsent: Vec::new(),
        }
    }

    /// Sends bytes before all waiting messages.
    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.unsent.extend_from_slice(bytes.as_ref());
    }

    /// Bytes of the waiting requests, including their headers.
    pub(super) fn waiting_len(&self) -> usize {
        let bodies: usize = self.waiting.iter().map(|(_, body)| body.len()).sum();
        bodies + self.waiting.len() * size_of::<(Header, Vec<u8>)>()
    }

    /// Bytes of incomplete messages, and of messages that are not carried out.
    pub(super) fn input_len(&self) -> usize {
        let open = self.open.as_ref().map_or(0, |(_, len)| *len);
        self.decoder.buffered() + self.waiting_len() + self.command_bytes + open
    }

    /// Adds bytes received from the client.
    pub(super) fn receive(&mut self, now: Duration, bytes: &[u8]) {
        if self.decoder.buffered() == 0 {
            self.begun = now;
        }
        self.decoder.push(bytes);
    }

    /// Drops the client's messages and those that wait for it, because its connection is closed at once.
    pub(super) fn abort(&mut self) {
        self.is_closing = true;
        self.is_aborted = true;
        self.decoder = Decoder::default();
        self.waiting = VecDeque::new();
        self.queue = VecDeque::new();
        (self.data, self.data_bytes, self.answer_bytes) = (0, 0, 0);
        self.unsent = Vec::new();
    }

    /// Bytes of all waiting messages.
    pub(super) fn held_len(&self) -> usize {
        self.input_len() + self.unsent_len() + self.data_bytes
    }

    /// Bytes of waiting answers.
    pub(super) fn unsent_len(&self) -> usize {
        self.unsent.len() + self.answer_bytes
    }

    /// Carries out a request that concerns only this client.
    pub(super) fn handle_request(&mut self, request: Request, key: Option<&str>) -> Result<(), String> {
        match request {
            Request::Mode(PUSH) => self.pulls = false,
            Request::Mode(PULL) => self.pulls = true,
            Request::ReplaceRule(rule) => {
                let is_same = |other: &ReplaceRule| {
                    ReplaceRule { replace: 0, ..other.clone() } == ReplaceRule { replace: 0, ..rule.clone() }
                };
                if let Some(other) = self.rules.iter_mut().find(|other| is_same(other)) {
                    other.replace = rule.replace;
                } else if self.rules.len() < MAX_RULES {
                    self.rules.push(rule);
                } else {
                    return Err(format!("more than {MAX_RULES} rules"));
                }
            }
            Request::Authenticate(Bytes(given)) => {
                let given = given.split(|byte| *byte == 0).next();
                self.is_authenticated = given == key.map(str::as_bytes);
                self.is_closing |= !self.is_authenticated;
                if !self.is_authenticated {
                    return Err("wrong key".to_owned());
                }
            }
            // As in the original, the mode stays when it is unknown.
            Request::Mode(_) | Request::Read => {}
            Request::Devices | Request::Driver(_) | Request::Subscribe(_) | Request::NameService(_) => {
                return Err("this request is the server's".to_owned());
            }
        }
        Ok(())
    }

    /// Updates the state after the answer to a request of this client.
    pub(super) fn after_answer(&mut self, header: &Header) {
        if header.subtype == READ.subtype && header.kind == MessageKind::Request {
            self.is_reading = true;
            self.has_read = false;
        }
    }

    /// Appends an answer. The answer to [`READ`] precedes the data.
    pub(super) fn push_answer(&mut self, header: &Header, body: &[u8]) {
        let mut bytes = Vec::new();
        header.write_message(body, &mut bytes);
        let is_read =
            header.address.device.interface == super::PLAYER.interface && header.subtype == READ.subtype;
        self.answer_bytes += bytes.len();
        let queued = Queued::Answer(bytes);
        if is_read { self.queue.push_front(queued) } else { self.queue.push_back(queued) }
    }

    /// Appends a device's data, unless a rule or a limit forbids it. `is_crowded`: much data waits for other clients.
    /// Returns `false` if data was dropped because of a limit.
    pub(super) fn push_data(
        &mut self,
        device: Device,
        subtype: u8,
        message: Arc<Encoded>,
        is_crowded: bool,
    ) -> bool {
        match self.rule(device, subtype) {
            // Dropped without being counted.
            2 => return true,
            1 => {
                let same = |queued: &Queued| match queued {
                    Queued::Data { device: of, subtype: kind, .. } => (*of, *kind) == (device, subtype),
                    Queued::Answer(_) => false,
                };
                let old = self.queue.iter().rposition(same).and_then(|at| self.queue.remove(at));
                if let Some(Queued::Data { message, .. }) = old {
                    self.data -= 1;
                    self.data_bytes -= message.bytes.len();
                }
            }
            _ => {}
        }
        let length = message.bytes.len();
        let is_too_much = self.data_bytes + length > MAX_DATA_BYTES;
        if self.data >= self.max_data || is_too_much || (is_crowded && self.data_bytes > SHARE) {
            self.dropped = self.dropped.saturating_add(1);
            return false;
        }
        self.data += 1;
        self.data_bytes += length;
        self.queue.push_back(Queued::Data { device, subtype, message });
        true
    }

    /// The first matching rule about replacing older waiting messages by a new one.
    fn rule(&self, device: Device, subtype: u8) -> i32 {
        let fits = |rule: i32, value: i32| rule == -1 || rule == value;
        let first = self.rules.iter().find(|rule| {
            fits(rule.interface, device.interface.into())
                && fits(rule.index, device.index.into())
                && fits(rule.kind, MessageKind::Data as i32)
                && fits(rule.subtype, subtype.into())
        });
        first.map_or(0, |rule| rule.replace)
    }

    /// Whether there are bytes to send.
    pub(super) fn has_transmit(&self) -> bool {
        !self.unsent.is_empty() || self.has_answers() || (self.is_delivering() && !self.queue.is_empty())
    }

    /// Whether answers are in the queue.
    fn has_answers(&self) -> bool {
        self.queue.len() > self.data
    }

    fn is_delivering(&self) -> bool {
        if self.pulls { self.is_reading } else { self.rest.is_none() }
    }

    /// When data may be sent again.
    pub(super) fn rest(&self) -> Option<Duration> {
        self.rest
    }

    /// The next bytes to send. In pull mode data is sent when the client reads. In push mode data is sent after the
    /// time that `rest` returned for the previous bytes of data, or before an answer, so that the order is kept. In
    /// pull mode the synch message ends the data, if there was any.
    pub(super) fn poll_transmit(
        &mut self,
        now: Duration,
        rest: impl Fn(usize) -> Option<Duration>,
    ) -> Option<Vec<u8>> {
        self.rest.take_if(|end| *end <= now || now + MAX_REST < *end);
        let waiting = self.data_bytes;
        while self.unsent.len() < CHUNK
            && (self.is_delivering() || self.has_answers())
            && let Some(queued) = self.queue.pop_front()
        {
            match queued {
                Queued::Data { message, .. } => {
                    self.data -= 1;
                    self.data_bytes -= message.bytes.len();
                    self.has_read |= self.is_reading;
                    self.unsent.extend_from_slice(&message.bytes);
                }
                Queued::Answer(bytes) => {
                    self.answer_bytes -= bytes.len();
                    self.unsent.extend_from_slice(&bytes);
                }
            }
        }
        if !self.pulls && self.data_bytes < waiting {
            self.rest = rest(waiting - self.data_bytes).map(|rest| now + rest.min(MAX_REST)).max(self.rest);
        }
        if self.pulls && self.is_reading && self.has_read && self.queue.is_empty() {
            self.is_reading = false;
            self.synch();
        }
        (!self.unsent.is_empty()).then(|| std::mem::take(&mut self.unsent))
    }

    fn synch(&mut self) {
        let dropped = std::mem::take(&mut self.dropped);
        let (subtype, body) =
            if dropped == 0 { (SYNCH, Vec::new()) } else { (SYNCH_OVERFLOW, dropped.to_bytes()) };
        let address = Address { host: 0, robot: 0, device: super::PLAYER };
        Header { address, kind: MessageKind::Synch, subtype, timestamp: 0.0, sequence: 0 }
            .write_message(&body, &mut self.unsent);
    }
}
