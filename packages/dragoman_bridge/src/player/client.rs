//! Client side: opens all devices of a server, receives their data, sends commands and requests.
//!
//! # Map
//!
//! - this file: [`Client`], its inputs and outputs;
//! - `config`: options and times, counters, events;
//! - `setup`: the steps after connecting: the list of devices, subscriptions, requests for geometry;
//! - `data`: the supported interfaces, and the requests for their geometry;
//! - `map`: maps, which the server sends in tiles;
//! - `motion`: velocities that have to be repeated;
//! - `requests`: requests and their answers;
//! - `silence`: devices that have to be opened again.
//!
//! # Rules
//!
//! After the banner the client sets the mode (push or pull), requests the list of devices, opens each device with a
//! known interface, and requests its geometry. It sends one request at a time, because a server opens one device after
//! the other. A device that cannot be opened is reported, and tried again every [`ClientConfig::retry_period`]; the
//! other devices continue.
//!
//! Answers are matched by device and subtype: many drivers answer with number 0 instead of the number of the request.
//! So a request waits while another one of the same subtype to the same device is open. A request without an answer for
//! [`ClientConfig::answer_timeout`] ends as [`Refusal::TimedOut`]; the connection stays. Because its answer may still
//! arrive, the next request of this subtype to this device waits for the same time again.
//!
//! A device of Stage that has sent no data for [`ClientConfig::silence_timeout`] is opened again, see `silence`.
//!
//! A device whose data is not needed ([`Client::handle_interest`]) is closed at the server, and opened again when the
//! data is needed.
//!
//! Bytes that are not messages end the connection; a new one is made after a pause. The pause doubles from
//! [`ClientConfig::reconnect_min`] to [`ClientConfig::reconnect_max`] until a server has sent its list of devices. A
//! message of unknown kind, or whose body is malformed, is counted and skipped.

mod config;
mod data;
pub mod map;
mod motion;
mod requests;
mod setup;
mod silence;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

pub use config::{ClientConfig, ClientEvent, ClientStatistics, DeviceInfo, DeviceState, Refusal};

use self::map::{Known, Reading};
use self::motion::Motions;
use self::requests::{Key, OpenRequest, Purpose, WaitingRequest};
use self::setup::Setup;
use self::silence::Silences;
use super::wire::player::{self, Subscription};
use super::wire::{
    Address, BANNER, BANNER_LEN, BodyError, Data, Decoder, Device, Header, Message, MessageKind,
    OneWayMessage, RequestMessage, StreamError, Xdr,
};
use crate::CallId;

/// Address of the server itself.
const SERVER: Device = player::INTERFACE.device(0);

/// State of the connection, as reported by the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Connect at this time.
    Down {
        attempt: Duration,
    },
    /// A connection attempt is under way.
    Connecting,
    /// Connected; the server's banner is not complete.
    Greeting {
        deadline: Duration,
    },
    Up,
}

/// State of the requests for data in pull mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pull {
    /// Send a request at this time.
    Due(Duration),
    /// A request was sent; send another one at this time if the server does not end its data.
    Asked { deadline: Duration },
}

/// The client core. It owns no socket and no clock; see the module's documentation for its rules.
///
/// After every input, look at [`poll_connect`](Self::poll_connect), send [`unsent`](Self::unsent) bytes, drain
/// [`poll_event`](Self::poll_event), then sleep until the next input or [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    link: Link,
    pause: Duration,
    banner: Vec<u8>,
    decoder: Decoder,
    unsent: Vec<u8>,
    events: VecDeque<ClientEvent>,
    open: BTreeMap<Key, OpenRequest>,
    waiting: VecDeque<WaitingRequest>,
    sequence: u32,
    setup: Setup,
    reading: Option<Reading>,
    /// Devices whose maps have to be read; `true`: also if size and pose are unchanged.
    unread: VecDeque<(Device, bool)>,
    /// The maps that were read.
    known: BTreeMap<Device, Known>,
    /// When maps are asked for again.
    map_due: Option<Duration>,
    /// Open devices whose data is not needed; they are closed at the server.
    unwanted: BTreeSet<Device>,
    motions: Motions,
    silences: Silences,
    pull: Option<Pull>,
    /// When the last bytes from the server were received.
    last_received: Duration,
    statistics: ClientStatistics,
}

impl Client {
    /// A client whose first connection attempt is due at `now`.
    pub fn new(now: Duration, config: ClientConfig) -> Self {
        Self {
            link: Link::Down { attempt: now },
            pause: config.reconnect_min,
            banner: Vec::new(),
            decoder: Decoder::default(),
            unsent: Vec::new(),
            events: VecDeque::new(),
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            sequence: 0,
            setup: Setup::default(),
            reading: None,
            unread: VecDeque::new(),
            known: BTreeMap::new(),
            map_due: None,
            unwanted: BTreeSet::new(),
            motions: Motions::default(),
            silences: Silences::default(),
            pull: None,
            last_received: now,
            statistics: ClientStatistics::default(),
            config,
        }
    }

    /// A request to a device. Exactly one [`ClientEvent::Result`] with this id will follow.
    pub fn handle_call<Q: Xdr + Default, A: Xdr>(
        &mut self,
        now: Duration,
        id: CallId,
        device: Device,
        message: &RequestMessage<Q, A>,
        question: &Q,
    ) {
        let calls = self.purposes().filter(|purpose| matches!(purpose, Purpose::Call(_))).count();
        let refusal = if let Err(refusal) = self.check(device) {
            refusal
        } else if calls >= self.config.max_calls {
            Refusal::Busy
        } else {
            self.ask(now, device, message.subtype, &question.to_bytes(), Purpose::Call(id));
            return;
        };
        self.events.push_back(ClientEvent::Result { id, outcome: Err(refusal) });
    }

    /// A command to a device. It has no answer.
    ///
    /// # Errors
    /// There is no connection; the device is not open; the server does not read.
    pub fn handle_command<T: Xdr>(
        &mut self,
        device: Device,
        message: &OneWayMessage<T>,
        command: &T,
    ) -> Result<(), Refusal> {
        self.check(device)?;
        if self.unsent.len() > self.config.max_unsent {
            return Err(Refusal::Busy);
        }
        self.statistics.commands += 1;
        self.send(device, message.kind, message.subtype, 0, &command.to_bytes());
        Ok(())
    }

    /// Sets whether the data of an open device is needed, initially `true`. If not, the device is closed at the server,
    /// but stays in the list of devices.
    pub fn handle_interest(&mut self, now: Duration, device: Device, is_wanted: bool) {
        if self.check(device).is_err() || is_wanted != self.unwanted.contains(&device) {
            return;
        }
        if is_wanted {
            self.unwanted.remove(&device);
        } else {
            self.unwanted.insert(device);
            self.silences.forget(device);
        }
        let access = if is_wanted { player::OPEN } else { player::CLOSE };
        self.change_access(now, device, access);
    }

    /// Opens or closes a device at the server; in the list of devices it stays open.
    fn change_access(&mut self, now: Duration, device: Device, access: u8) {
        let address = Address { host: 0, robot: 0, device };
        let subscription = Subscription { address, access, driver: String::new() };
        let (subtype, purpose) = (player::SUBSCRIBE.subtype, Purpose::Interest(device));
        self.ask(now, SERVER, subtype, &subscription.to_bytes(), purpose);
    }

    /// The connection requested by [`poll_connect`](Self::poll_connect) is established.
    pub fn handle_connected(&mut self, now: Duration) {
        self.clear();
        self.statistics.connections += 1;
        self.last_received = now;
        self.link = Link::Greeting { deadline: now + self.config.answer_timeout };
    }

    /// The connection ended, for example because the server closed it.
    pub fn handle_disconnected(&mut self, now: Duration, reason: &str) {
        self.give_up_connection(now, reason);
    }

    /// The connection requested by [`poll_connect`](Self::poll_connect) failed.
    pub fn handle_connect_failed(&mut self, now: Duration) {
        if self.link == Link::Connecting {
            self.schedule_reconnect(now);
        }
    }

    /// Receives bytes from the server, in pieces of any size.
    pub fn handle_bytes(&mut self, now: Duration, mut bytes: &[u8]) {
        if !bytes.is_empty() {
            self.last_received = now;
        }
        if let Link::Greeting { .. } = self.link {
            let missing = BANNER_LEN.saturating_sub(self.banner.len()).min(bytes.len());
            let (greeting, rest) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
            bytes = rest;
            self.banner.extend_from_slice(greeting);
            if self.banner.len() == BANNER_LEN {
                self.handle_banner(now);
            }
        }
        if self.link != Link::Up {
            return;
        }
        self.decoder.push(bytes);
        while self.link == Link::Up
            && let Some(received) = self.decoder.next()
        {
            match received {
                Ok(message) => self.handle_message(now, &message),
                // The stream continues.
                Err(StreamError::UnknownKind { .. }) => self.statistics.undecodable += 1,
                Err(error) => self.give_up_connection(now, &error.to_string()),
            }
        }
    }

    /// The first `len` unsent bytes were sent.
    pub fn handle_sent(&mut self, len: usize) {
        self.unsent.drain(..len.min(self.unsent.len()));
    }

    /// Performs all actions that are due. May be called early.
    pub fn handle_timeout(&mut self, now: Duration) {
        match self.link {
            Link::Greeting { deadline } if deadline <= now => {
                self.give_up_connection(now, "the server sent no banner");
            }
            Link::Up => {}
            _ => return,
        }
        if self.end_timed_out(now) {
            return self.give_up_connection(now, "the server does not answer any more");
        }
        self.send_waiting(now);
        for (device, command) in self.motions.expired(now) {
            self.send_velocity(device, &command);
        }
        if self.setup.retry_is_due(now) {
            self.advance(now);
        }
        self.pull(now);
        if self.link == Link::Up {
            self.reopen_silent_devices(now);
        }
        if self.link == Link::Up && self.map_due.take_if(|due| *due <= now).is_some() {
            self.read_maps(now, false);
        }
        if self.link == Link::Up && !self.is_probing() && self.silence_deadline() <= now {
            let subtype = player::DEVICES.subtype;
            self.ask(now, SERVER, subtype, &[], Purpose::Probe);
        }
    }

    /// `true` once for each attempt: the owner closes the current connection, if any, and makes a new one.
    pub fn poll_connect(&mut self, now: Duration) -> bool {
        let is_due = matches!(self.link, Link::Down { attempt } if attempt <= now);
        if is_due {
            self.link = Link::Connecting;
        }
        is_due
    }

    /// Bytes to send.
    pub fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due. Ask again after every input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        match self.link {
            Link::Down { attempt } => Some(attempt),
            Link::Connecting => None,
            Link::Greeting { deadline } => Some(deadline),
            Link::Up => {
                let pull = self.pull.map(|pull| match pull {
                    Pull::Due(due) => due,
                    Pull::Asked { deadline } => deadline,
                });
                let silence = (!self.is_probing()).then(|| self.silence_deadline());
                let (motions, silences) = (self.motions.deadline(), self.silences.deadline());
                let others = [pull, silence, motions, silences, self.setup.retry(), self.map_due];
                others.into_iter().flatten().chain(self.deadlines()).min()
            }
        }
    }

    /// Whether there is a connection to a Player server.
    pub fn is_connected(&self) -> bool {
        self.link == Link::Up
    }

    /// The devices of the server, as far as it has listed them.
    pub fn devices(&self) -> &[DeviceInfo] {
        &self.setup.devices
    }

    /// Counters since the start, for diagnostics.
    pub fn statistics(&self) -> ClientStatistics {
        self.statistics
    }

    fn silence_deadline(&self) -> Duration {
        self.last_received.saturating_add(self.config.silence_timeout)
    }

    fn check(&self, device: Device) -> Result<(), Refusal> {
        match self.setup.device(device) {
            _ if self.link != Link::Up => Err(Refusal::NotConnected),
            Some(info) if info.state == DeviceState::Open => Ok(()),
            Some(_) | None => Err(Refusal::NotOpen),
        }
    }

    fn handle_banner(&mut self, now: Duration) {
        let text = self.banner.split(|byte| *byte == 0).next().unwrap_or_default();
        let version = String::from_utf8_lossy(text).trim().to_owned();
        if !version.starts_with(BANNER) {
            return self.give_up_connection(now, "the server is not a Player server: it sent another banner");
        }
        self.link = Link::Up;
        self.events.push_back(ClientEvent::Connected { version });
        self.setup.begin(self.config.pull_period.is_some());
        self.advance(now);
    }

    /// Resets the state of the connection.
    fn clear(&mut self) {
        self.banner.clear();
        self.decoder = Decoder::default();
        self.unsent.clear();
        self.setup = Setup::default();
        self.reading = None;
        self.unread.clear();
        self.known.clear();
        self.map_due = None;
        self.unwanted.clear();
        self.motions = Motions::default();
        self.silences = Silences::default();
        self.pull = None;
        let purposes: Vec<Purpose> = self.purposes().collect();
        self.open.clear();
        self.waiting.clear();
        for purpose in purposes {
            if let Purpose::Call(id) = purpose {
                self.events.push_back(ClientEvent::Result { id, outcome: Err(Refusal::NotConnected) });
            }
        }
    }

    fn give_up_connection(&mut self, now: Duration, reason: &str) {
        if let Link::Greeting { .. } | Link::Up = self.link {
            self.events.push_back(ClientEvent::Disconnected(reason.to_owned()));
        }
        self.clear();
        self.schedule_reconnect(now);
    }

    fn schedule_reconnect(&mut self, now: Duration) {
        self.link = Link::Down { attempt: now.saturating_add(self.pause) };
        self.pause = self.pause.saturating_mul(2).min(self.config.reconnect_max);
    }

    /// Appends a message to the unsent bytes.
    fn send(&mut self, device: Device, kind: MessageKind, subtype: u8, sequence: u32, body: &[u8]) {
        let address = Address { host: 0, robot: 0, device };
        let header = Header { address, kind, subtype, timestamp: 0.0, sequence };
        header.write_message(body, &mut self.unsent);
    }

    /// Requests data if that is due.
    fn pull(&mut self, now: Duration) {
        let due = match self.pull {
            Some(Pull::Due(due) | Pull::Asked { deadline: due }) => due,
            None => return,
        };
        if due <= now && self.link == Link::Up {
            if self.unsent.len() > self.config.max_unsent {
                return self.give_up_connection(now, "the server does not read");
            }
            self.pull = Some(Pull::Asked { deadline: now.saturating_add(self.config.answer_timeout) });
            self.send(SERVER, MessageKind::Request, player::READ.subtype, 0, &[]);
        }
    }

    fn handle_message(&mut self, now: Duration, message: &Message) {
        let header = &message.header;
        match header.kind {
            MessageKind::Data => self.handle_data(now, message),
            MessageKind::Synch => self.handle_synch(now, message),
            MessageKind::Acknowledge | MessageKind::Refuse => self.handle_answer(now, message),
            // A server sends no commands or requests.
            MessageKind::Command | MessageKind::Request => self.statistics.ignored += 1,
        }
    }

    fn handle_synch(&mut self, now: Duration, message: &Message) {
        if message.header.subtype == player::SYNCH_OVERFLOW {
            let dropped = u32::from_bytes(&message.body).unwrap_or(1);
            self.statistics.dropped = self.statistics.dropped.saturating_add(dropped.into());
        }
        // A server sends one of the two; either ends the data.
        if let (Some(Pull::Asked { .. }), Some(period)) = (self.pull, self.config.pull_period) {
            self.pull = Some(Pull::Due(now.saturating_add(period)));
        }
    }

    fn handle_data(&mut self, now: Duration, message: &Message) {
        let Header { address, subtype, timestamp, .. } = message.header;
        let device = address.device;
        if self.check(device).is_err() {
            self.statistics.ignored += 1;
            return;
        }
        self.record_data(now, device);
        match Data::read(device.interface, subtype, &message.body) {
            _ if !data::has_place(device.interface, subtype) => self.statistics.ignored += 1,
            Err(BodyError::Unknown { .. }) => self.statistics.ignored += 1,
            Err(BodyError::Malformed { error, .. }) => {
                self.invalid(device, &format!("invalid data {subtype}: {error}"));
            }
            Ok(Data::Map(_)) => {
                self.statistics.data += 1;
                self.read_map(now, device, true);
            }
            Ok(data) => {
                self.statistics.data += 1;
                self.events.push_back(ClientEvent::Data { device, timestamp, data });
            }
        }
    }

    /// Counts a malformed message.
    fn invalid(&mut self, device: Device, reason: &str) {
        self.statistics.undecodable += 1;
        self.problem(device, reason);
    }

    fn problem(&mut self, device: Device, reason: &str) {
        let reason = reason.to_owned();
        self.events.push_back(ClientEvent::Problem { device, reason });
    }
}
