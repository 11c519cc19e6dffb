//! Server side: answers clients from devices that the owner feeds.
//!
//! # Map
//!
//! - this file: [`Server`], its inputs and outputs;
//! - `requests`: the requests to the server itself, of interface `player`;
//! - `session`: one client: its subscriptions, and its waiting messages;
//! - [`motion`]: the motion of a base between two commands;
//! - `config`: devices, limits, counters, events;
//! - [`config_file`]: Player's configuration files.
//!
//! # Rules
//!
//! - A device is **open** while a client is subscribed to it. [`Call::Open`] is made for the first client,
//!   [`Call::Close`] after the last one. The owner's answer to [`Call::Open`] decides about the subscription.
//! - A client's requests to devices are carried out in their order, one at a time. Its commands do not wait for them, and
//!   the requests to the server itself are answered at once.
//! - When a client disconnects while a device carries out its command, the device is stopped: [`Call::Release`].
//! - Each client has its own queue, so a client that does not read does not affect others. Data beyond
//!   [`ServerConfig::max_data`] messages is dropped and counted, as in the original; while
//!   [`ServerConfig::max_buffered`] bytes of answers or requests wait, the owner does not read from the client.
//! - Long data, and data for ten or more clients, is sent in bundles ([`Server::poll_timeout`]). With two hundred
//!   clients of all devices, single messages would use the whole processor, and the robots' commands would wait.
//! - A request that cannot be decoded, or that is for a device that is not open, gets a refusal. The original does not
//!   answer it.

mod config;
pub mod config_file;
pub mod motion;
mod requests;
mod session;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub use config::{DeviceInfo, ServerConfig, ServerEvent, ServerStatistics};

use super::wire::player::{self, OPEN};
use super::wire::{
    self, Address, BodyError, Command, Device, Header, Message, MessageKind, Request, StreamError,
};
use session::{Encoded, MAX_DATA_IN_ALL, SHARE, Session};

/// Maximum number of waiting events; more are only counted.
const MAX_EVENTS: usize = 16;
/// Maximum number of a client's commands that the owner has not fetched.
const MAX_COMMANDS: usize = 64;
/// Maximum bytes of incomplete messages and of messages that are not carried out yet, of all clients with more than
/// their share. Above it, the connection of a slow client is closed, and long requests and commands are refused. Above
/// twice this number, the connection of any client may be closed.
const MAX_INPUT_IN_ALL: usize = 64 << 20;
/// Time limit for a long message to arrive while much data of other clients waits.
const SLOW_AFTER: Duration = Duration::from_secs(1);
/// Bytes of data per second for all clients together, in equal shares.
const DATA_RATE: f64 = 200e6;
/// Time between the transmissions of data to any two clients, on average.
const TRANSMISSION: Duration = Duration::from_micros(100);
/// Minimum time for which data waits, because timers are not more precise; shorter waits are omitted.
const MIN_REST: Duration = Duration::from_millis(1);
/// Address of the server itself, which is not in the device table.
const PLAYER: Device = player::INTERFACE.device(0);

/// The host in all addresses: 127.0.0.1, for remote clients as well, as in the original.
const HOST: u32 = u32::from_le_bytes([127, 0, 0, 1]);

/// Identifies a connected client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(u64);

/// A call that the owner carries out.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Call {
    /// Start a device. The owner reports with [`Server::handle_opened`].
    Open(Device),
    /// Stop a device that has no subscribers.
    Close(Device),
    /// End the effect of the last command, whose client has disconnected.
    Release(Device),
    /// Carry out a command.
    Command {
        /// By this device.
        device: Device,
        command: Command,
    },
    /// Carry out a request. The owner reports with [`Server::handle_outcome`].
    Request {
        /// The client that sent it.
        client: ClientId,
        /// By this device.
        device: Device,
        request: Request,
    },
}

/// The outcome of a request: the acknowledgement's body, or the reason of the refusal.
pub type Outcome = Result<Vec<u8>, String>;

/// A device that the server offers.
#[derive(Debug)]
struct Offered {
    info: DeviceInfo,
    /// Number of each client's subscriptions. Each one is closed separately, but data is sent once.
    subscribers: BTreeMap<ClientId, u32>,
    state: Opening,
    /// The client whose command the device carries out.
    commander: Option<ClientId>,
}

/// A call that the owner has not fetched.
#[derive(Debug)]
struct Queued {
    /// The client that requested it.
    client: Option<ClientId>,
    /// Length of its body, bytes.
    len: usize,
    call: Call,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Closed,
    /// [`Call::Open`] was made, and has no result yet.
    Asked,
    Open,
}

/// All clients and devices of a server.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    devices: BTreeMap<Device, Offered>,
    sessions: BTreeMap<ClientId, Session>,
    next: u64,
    calls: VecDeque<Queued>,
    /// Clients for which the owner may have to send, read again, or close.
    ready: BTreeSet<ClientId>,
    /// Bytes of all data that waits for clients.
    data_in_all: Arc<AtomicUsize>,
    events: VecDeque<ServerEvent>,
    statistics: ServerStatistics,
}

impl Server {
    /// A server with these devices and without clients.
    pub fn new(config: ServerConfig, devices: Vec<DeviceInfo>) -> Self {
        let offered = |info: DeviceInfo| Offered {
            info,
            subscribers: BTreeMap::new(),
            state: Opening::Closed,
            commander: None,
        };
        Self {
            config,
            devices: devices.into_iter().map(|info| (info.device, offered(info))).collect(),
            sessions: BTreeMap::new(),
            next: 0,
            calls: VecDeque::new(),
            ready: BTreeSet::new(),
            data_in_all: Arc::default(),
            events: VecDeque::new(),
            statistics: ServerStatistics::default(),
        }
    }

    /// A client has connected to this port.
    pub fn handle_connected(&mut self, port: u16) -> ClientId {
        let client = ClientId(self.next);
        self.next += 1;
        let address = Address { host: HOST, robot: port.into(), device: PLAYER };
        let mut session = Session::new(address, self.config.key.is_none(), self.config.max_data);
        session.send(self.config.banner());
        self.sessions.insert(client, session);
        client
    }

    /// A client has disconnected.
    pub fn handle_disconnected(&mut self, client: ClientId) {
        self.sessions.remove(&client);
        self.ready.remove(&client);
        self.calls
            .retain(|queued| queued.client != Some(client) || matches!(queued.call, Call::Command { .. }));
        let used: Vec<Device> = self
            .devices
            .iter()
            .filter(|(_, offered)| {
                offered.subscribers.contains_key(&client) || offered.commander == Some(client)
            })
            .map(|(device, _)| *device)
            .collect();
        for device in used {
            self.unsubscribe(client, device, u32::MAX);
        }
    }

    /// Whether more bytes should be read from the client. A message of any valid length can be completed.
    pub fn wants_input(&self, client: ClientId) -> bool {
        self.sessions.get(&client).is_some_and(|session| {
            (session.decoder.buffered() < self.config.max_buffered || session.decoder.is_incomplete())
                && session.waiting_len() < self.config.max_buffered
                && session.commands < MAX_COMMANDS
                && !session.is_closing
        })
    }

    /// Bytes that wait for the client, and bytes of its messages that are not carried out.
    pub fn waiting_len(&self, client: ClientId) -> usize {
        self.sessions.get(&client).map_or(0, Session::held_len)
    }

    /// Receives bytes from the client, in pieces of any size. `now` is the time since 1970.
    pub fn handle_bytes(&mut self, now: Duration, client: ClientId, bytes: &[u8]) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        self.statistics.bytes += bytes.len() as u64;
        session.receive(now, bytes);
        self.decode(now, client);
        self.limit_input(now, client);
    }

    /// The client's last request or command, if there was one since the last call of this function.
    pub fn last_request(&mut self, client: ClientId) -> Option<String> {
        let (kind, device) = self.sessions.get_mut(&client)?.last.take()?;
        let name = wire::interface(device.interface).map_or("interface", |interface| interface.name);
        Some(format!("{kind:?} to {name}:{}", device.index))
    }

    /// If too many bytes of the clients are not carried out, closes the connection of the client with the most bytes:
    /// one with an incomplete message, or any client if the bytes are far too many. `client` has just sent bytes.
    fn limit_input(&mut self, now: Duration, client: ClientId) {
        if self.sessions.get(&client).is_none_or(|session| session.input_len() <= SHARE) {
            return;
        }
        let all = self.input_in_all();
        if all <= MAX_INPUT_IN_ALL {
            return;
        }
        // A clock that was set back must not make a client count as slow.
        let is_slow =
            |session: &Session| all > 2 * MAX_INPUT_IN_ALL || now.saturating_sub(session.begun) > SLOW_AFTER;
        // The open request of a closed client counts until it is answered.
        let slow = self.sessions.iter_mut().filter(|(_, session)| !session.is_aborted && is_slow(session));
        if let Some((client, session)) = slow.max_by_key(|(_, session)| session.input_len()) {
            session.abort();
            self.ready.insert(*client);
            self.note(ServerEvent::TooMuch { bytes: all });
        }
    }

    /// Bytes of the clients' incomplete messages, and of messages that are not carried out.
    fn input_in_all(&self) -> usize {
        self.sessions.values().map(Session::input_len).sum()
    }

    /// A device's data. `timestamp` is when it was measured, s since 1970.
    pub fn handle_data(&mut self, device: Device, subtype: u8, timestamp: f64, body: &[u8]) {
        let Some(offered) = self.devices.get(&device) else { return };
        // All clients are on the same port, and get the same bytes.
        let mut encoded: Option<Arc<Encoded>> = None;
        let is_crowded = self.data_in_all.load(Ordering::Relaxed) > MAX_DATA_IN_ALL;
        for client in offered.subscribers.keys() {
            let Some(session) = self.sessions.get_mut(client) else { continue };
            let bytes = encoded.get_or_insert_with(|| {
                let address = Address { device, ..session.address };
                let header = Header { address, kind: MessageKind::Data, subtype, timestamp, sequence: 0 };
                let mut bytes = Vec::with_capacity(wire::HEADER_LEN + body.len());
                header.write_message(body, &mut bytes);
                Encoded::new(bytes, &self.data_in_all)
            });
            let is_kept = session.push_data(device, subtype, Arc::clone(bytes), is_crowded);
            self.statistics.dropped += u64::from(!is_kept);
            if session.has_transmit() {
                self.ready.insert(*client);
            }
        }
    }

    /// The result of [`Call::Open`]: the device is open, or it failed for this reason.
    pub fn handle_opened(&mut self, now: Duration, device: Device, opened: Result<(), String>) {
        let Some(offered) = self.devices.get_mut(&device) else { return };
        if offered.state != Opening::Asked {
            return;
        }
        let clients = if let Err(reason) = &opened {
            offered.state = Opening::Closed;
            self.note(ServerEvent::NotOpened { device, reason: reason.clone() });
            self.devices.get_mut(&device).map(|offered| std::mem::take(&mut offered.subscribers))
        } else {
            offered.state = Opening::Open;
            Some(offered.subscribers.clone())
        };
        let access = if opened.is_ok() { Ok(OPEN) } else { Err("it could not be opened") };
        for client in clients.into_iter().flat_map(BTreeMap::into_keys) {
            let Some(session) = self.sessions.get_mut(&client) else { continue };
            for (header, _) in
                session.opening.extract_if(.., |(_, other)| *other == device).collect::<Vec<_>>()
            {
                self.answer_subscription(now, client, &header, device, access);
            }
        }
    }

    /// The outcome of a client's open request.
    pub fn handle_outcome(&mut self, now: Duration, client: ClientId, outcome: Outcome) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        let Some((header, _)) = session.open.take() else { return };
        match outcome {
            Ok(body) => self.answer(now, client, &header, MessageKind::Acknowledge, &body),
            Err(reason) => self.refuse(now, client, &header, reason),
        }
        self.carry_out_next(now, client);
        self.decode(now, client);
    }

    /// Whether [`poll_call`](Self::poll_call) returns a call.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// A command was refused; the client gets no answer.
    pub fn handle_refused(&mut self, device: Device, reason: String) {
        self.statistics.refused += 1;
        self.note(ServerEvent::Refused { device, reason });
    }

    /// The next call to carry out.
    pub fn poll_call(&mut self) -> Option<Call> {
        let Queued { client, len, call } = self.calls.pop_front()?;
        if let (Some(client), Call::Command { .. }) = (client, &call)
            && let Some(session) = self.sessions.get_mut(&client)
        {
            session.commands -= 1;
            session.command_bytes -= len;
            if session.commands + 1 == MAX_COMMANDS {
                self.ready.insert(client);
            }
        }
        Some(call)
    }

    /// The next client for which [`poll_transmit`](Self::poll_transmit), [`wants_input`](Self::wants_input) or
    /// [`is_closing`](Self::is_closing) may have changed.
    pub fn poll_ready_client(&mut self) -> Option<ClientId> {
        self.ready.pop_first()
    }

    /// Bytes to send to the client. Call it after the previous bytes were sent, because the client's messages may wait
    /// for that.
    pub fn poll_transmit(&mut self, now: Duration, client: ClientId) -> Option<Vec<u8>> {
        let readers = self.devices.values().map(|offered| offered.subscribers.len()).max().unwrap_or(0);
        let rest = |len| rest(readers, len);
        let bytes = self.sessions.get_mut(&client)?.poll_transmit(now, rest);
        if bytes.is_some() {
            return bytes;
        }
        self.decode(now, client);
        self.sessions.get_mut(&client)?.poll_transmit(now, rest)
    }

    /// When to call [`poll_transmit`](Self::poll_transmit) again, although
    /// [`poll_ready_client`](Self::poll_ready_client) did not return the client: until then its data waits for more
    /// data.
    pub fn poll_timeout(&self, client: ClientId) -> Option<Duration> {
        self.sessions.get(&client)?.rest()
    }

    /// Whether to close the connection after sending what there is to send.
    pub fn is_closing(&self, client: ClientId) -> bool {
        self.sessions.get(&client).is_none_or(|session| session.is_closing)
    }

    /// Whether to close the connection at once, without sending the remaining bytes.
    pub fn is_aborted(&self, client: ClientId) -> bool {
        self.sessions.get(&client).is_some_and(|session| session.is_aborted)
    }

    /// Whether a device carries out the client's command, so that a lost connection must be detected quickly.
    pub fn is_commander(&self, client: ClientId) -> bool {
        self.devices.values().any(|offered| offered.commander == Some(client))
    }

    /// Events for the owner, oldest first.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// The counters since the last call of this function.
    pub fn poll_statistics(&mut self) -> ServerStatistics {
        std::mem::take(&mut self.statistics)
    }

    /// Processes the client's messages, as far as the limits permit.
    fn decode(&mut self, now: Duration, client: ClientId) {
        loop {
            let Some(session) = self.sessions.get_mut(&client) else { return };
            if session.is_closing
                || session.commands >= MAX_COMMANDS
                || session.waiting_len() >= self.config.max_buffered
                || session.unsent_len() >= self.config.max_buffered
            {
                break;
            }
            match session.decoder.next() {
                None => break,
                Some(Ok(message)) => {
                    session.begun = now;
                    self.statistics.messages += 1;
                    self.handle_message(now, client, message);
                }
                Some(Err(error)) => {
                    // The next message cannot be found after a body of unknown length.
                    session.is_closing |= matches!(error, StreamError::TooLong { .. });
                    self.statistics.malformed += 1;
                    self.note(ServerEvent::Stream(error));
                }
            }
        }
    }

    fn handle_message(&mut self, now: Duration, client: ClientId, message: Message) {
        let Message { header, body } = message;
        let device = header.address.device;
        let Some(session) = self.sessions.get_mut(&client) else { return };
        if !session.is_authenticated && !requests::is_authentication(&header) {
            session.is_closing = true;
            return self.refuse(now, client, &header, "the server asks for a key".to_owned());
        }
        session.last = Some((header.kind, device));
        match header.kind {
            MessageKind::Request if device.interface == PLAYER.interface => {
                self.handle_server_request(now, client, &header, &body);
            }
            MessageKind::Request => {
                session.waiting.push_back((header, body));
                self.carry_out_next(now, client);
            }
            MessageKind::Command if device.interface != PLAYER.interface => {
                let command = match self.read(&header, &body, Command::read) {
                    Ok(command) => command,
                    Err(reason) => return self.handle_refused(device, reason),
                };
                if let Some(offered) = self.devices.get_mut(&device) {
                    offered.commander = Some(client);
                }
                if let Some(session) = self.sessions.get_mut(&client) {
                    session.commands += 1;
                    session.command_bytes += body.len();
                }
                let call = Call::Command { device, command };
                self.calls.push_back(Queued { client: Some(client), len: body.len(), call });
            }
            _ if device.interface == PLAYER.interface => {
                self.refuse(now, client, &header, "the server itself takes requests only".to_owned());
            }
            // The server has sent no request to a client.
            MessageKind::Data
            | MessageKind::Command
            | MessageKind::Acknowledge
            | MessageKind::Synch
            | MessageKind::Refuse => {
                self.handle_refused(device, "a client sends commands and requests only".to_owned());
            }
        }
    }

    /// Gives the owner the client's next request if none is open.
    fn carry_out_next(&mut self, now: Duration, client: ClientId) {
        while let Some(session) = self.sessions.get_mut(&client)
            && session.open.is_none()
            && let Some((header, body)) = session.waiting.pop_front()
        {
            let request = match self.read(&header, &body, Request::read_any) {
                Ok(request) => request,
                Err(reason) => {
                    self.refuse(now, client, &header, reason);
                    continue;
                }
            };
            if let Some(session) = self.sessions.get_mut(&client) {
                session.open = Some((header, body.len()));
            }
            let call = Call::Request { client, device: header.address.device, request };
            self.calls.push_back(Queued { client: Some(client), len: body.len(), call });
        }
    }

    /// Reads a command or a request to a device. Error: the reason why it cannot be carried out.
    fn read<T>(
        &self,
        header: &Header,
        body: &[u8],
        read: impl Fn(u16, u8, &[u8]) -> Result<T, BodyError>,
    ) -> Result<T, String> {
        let device = header.address.device;
        if body.len() > SHARE && self.input_in_all() + body.len() > MAX_INPUT_IN_ALL {
            return Err(format!("messages of all clients wait with more than {MAX_INPUT_IN_ALL} bytes"));
        }
        let offered =
            self.devices.get(&device).ok_or_else(|| format!("there is no {}", config::name(device)))?;
        // As in the original, any client may send messages to an open device.
        if offered.state != Opening::Open {
            return Err(format!("nobody is subscribed to {}", config::name(device)));
        }
        read(device.interface, header.subtype, body).map_err(|error| match error {
            BodyError::Unknown { subtype } => format!("{} has no message {subtype}", config::name(device)),
            BodyError::Malformed { name, error } => format!("{name} of {}: {error}", config::name(device)),
        })
    }

    fn address(&self, client: ClientId, device: Device) -> Address {
        let own = self.sessions.get(&client).map(|session| session.address).unwrap_or_default();
        Address { device, ..own }
    }

    fn answer(&mut self, now: Duration, client: ClientId, header: &Header, kind: MessageKind, body: &[u8]) {
        let address = self.address(client, header.address.device);
        let Some(session) = self.sessions.get_mut(&client) else { return };
        self.statistics.answers += 1;
        // Drivers of the original do not repeat the number.
        let sequence = if address.device.interface == PLAYER.interface { header.sequence } else { 0 };
        let answer =
            Header { address, kind, subtype: header.subtype, timestamp: now.as_secs_f64(), sequence };
        session.push_answer(&answer, body);
        self.ready.insert(client);
    }

    fn refuse(&mut self, now: Duration, client: ClientId, header: &Header, reason: String) {
        self.handle_refused(header.address.device, reason);
        self.answer(now, client, header, MessageKind::Refuse, &[]);
    }

    fn note(&mut self, event: ServerEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}

/// The time until a client gets further data, after `len` bytes, with this number of clients that read. The data of
/// many clients is sent in bundles, and all clients together get at most [`DATA_RATE`].
fn rest(readers: usize, len: usize) -> Option<Duration> {
    let share = DATA_RATE / readers.max(1) as f64;
    let rest = (TRANSMISSION * readers as u32).max(Duration::from_secs_f64(len as f64 / share));
    (rest >= MIN_REST).then_some(rest)
}
