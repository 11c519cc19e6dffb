//! Server side: answers clients from devices that the owner feeds.
//!
//! # Map
//!
//! - this file: [`Server`], its inputs and outputs;
//! - `requests`: the requests to the server itself, of interface `player`;
//! - `session`: one client: its subscriptions, and the messages that wait for it;
//! - [`motion`]: what a base does between two commands;
//! - `config`: devices, limits, counters, events;
//! - [`config_file`]: the original's configuration files.
//!
//! # Rules
//!
//! - A device is **open** while a client has subscribed to it: [`Call::Open`] for the first one, [`Call::Close`] when the
//!   last one has gone. The owner's answer to the first decides about the subscription.
//! - A client's requests to devices are carried out in their order, one at a time. Its commands do not wait for them, and
//!   the requests to the server itself are answered at once.
//! - A client that goes while a device still obeys its command leaves nothing moving: [`Call::Release`].
//! - Each client has a queue of its own, so one that does not read disturbs nobody. Data beyond
//!   [`ServerConfig::max_data`] messages is dropped and counted, as in the original; while
//!   [`ServerConfig::max_buffered`] bytes of answers or requests wait, the owner does not read from the client.
//! - Data of ten and more readers, and long data, goes out in bundles ([`Server::poll_timeout`]): with two hundred readers of
//!   everything, each message by itself would take the whole processor, and the robots' commands would wait.
//! - A request that cannot be decoded, or has no device that is open, is refused by an answer, where the original leaves
//!   the client waiting.

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
use super::wire::{self, Address, BodyError, Command, Device, Header, Kind, Message, Request, StreamError};
use session::{Encoded, MAX_DATA_IN_ALL, SHARE, Session};

/// Maximum number of waiting events; more are only counted.
const MAX_EVENTS: usize = 16;
/// Maximum number of commands of one client that the owner has not taken.
const MAX_COMMANDS: usize = 64;
/// Bytes of messages that have not come completely or are not carried out, of all clients with more than their share.
/// Beyond them a slow one is given up, and long requests and commands are refused; beyond twice as much anyone is given up.
const MAX_INPUT_IN_ALL: usize = 64 << 20;
/// Time for a long message to come, while much of others waits.
const SLOW_AFTER: Duration = Duration::from_secs(1);
/// Bytes of data per second for all clients together, by equal shares.
const DATA_RATE: f64 = 200e6;
/// Time between the transmissions of data to any two clients, on average.
const TRANSMISSION: Duration = Duration::from_micros(100);
/// Data waits at least for this time, or not at all: timers are no finer.
const MIN_REST: Duration = Duration::from_millis(1);
/// The server itself, which is no device of the table.
const PLAYER: Device = player::INTERFACE.device(0);

/// The host in all addresses: 127.0.0.1, for remote clients as well, as in the original.
const HOST: u32 = u32::from_le_bytes([127, 0, 0, 1]);

/// Names a connected client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(u64);

/// Something that the owner does.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Call {
    /// Start a device; report with [`Server::handle_opened`].
    Open(Device),
    /// Stop a device: nobody is subscribed any more.
    Close(Device),
    /// End what the last command began: the client that sent it has gone.
    Release(Device),
    /// Carry out a command.
    Command {
        /// By this device.
        device: Device,
        command: Command,
    },
    /// Carry out a request; report with [`Server::handle_outcome`].
    Request {
        /// The client that asks.
        client: ClientId,
        /// By this device.
        device: Device,
        request: Request,
    },
}

/// The outcome of a request: the acknowledgement's body, or why it is refused.
pub type Outcome = Result<Vec<u8>, String>;

/// A device that the server offers.
#[derive(Debug)]
struct Offered {
    info: DeviceInfo,
    /// How often each client has opened it. It closes as often, and gets data once.
    subscribers: BTreeMap<ClientId, u32>,
    state: Opening,
    /// The client whose command it obeys.
    commander: Option<ClientId>,
}

/// A call that the owner has not taken.
#[derive(Debug)]
struct Queued {
    /// The client that wants it.
    client: Option<ClientId>,
    /// Bytes of its body.
    len: usize,
    call: Call,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Closed,
    /// The owner was asked to open it.
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
    /// Clients whose owner has something to do: to send, to read again, or to close.
    woken: BTreeSet<ClientId>,
    /// Bytes of the data that waits for any client.
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
            woken: BTreeSet::new(),
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

    /// A client has gone.
    pub fn handle_disconnected(&mut self, client: ClientId) {
        self.sessions.remove(&client);
        self.woken.remove(&client);
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

    /// Bytes that wait for the client, and what it has sent that is not carried out.
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

    /// What a client has asked for last, if it has asked since the last call.
    pub fn last_request(&mut self, client: ClientId) -> Option<String> {
        let (kind, device) = self.sessions.get_mut(&client)?.last.take()?;
        let name = wire::interface(device.interface).map_or("interface", |interface| interface.name);
        Some(format!("{kind:?} to {name}:{}", device.index))
    }

    /// If clients have sent too much that is not carried out, gives up the one with most: of those whose message does not
    /// end, or of all if it is far too much. `client` has sent something.
    fn limit_input(&mut self, now: Duration, client: ClientId) {
        if self.sessions.get(&client).is_none_or(|session| session.input_len() <= SHARE) {
            return;
        }
        let all = self.input_in_all();
        if all <= MAX_INPUT_IN_ALL {
            return;
        }
        // A clock that was set back makes nobody slow.
        let is_slow =
            |session: &Session| all > 2 * MAX_INPUT_IN_ALL || now.saturating_sub(session.begun) > SLOW_AFTER;
        // The open request of one that was given up counts until it is answered.
        let slow = self.sessions.iter_mut().filter(|(_, session)| !session.is_given_up && is_slow(session));
        if let Some((client, session)) = slow.max_by_key(|(_, session)| session.input_len()) {
            session.give_up();
            self.woken.insert(*client);
            self.note(ServerEvent::TooMuch { bytes: all });
        }
    }

    /// Bytes of what clients have sent that has not come completely, or is not carried out.
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
                let header = Header { address, kind: Kind::Data, subtype, timestamp, sequence: 0 };
                let mut bytes = Vec::with_capacity(wire::HEADER_LEN + body.len());
                header.write_message(body, &mut bytes);
                Encoded::new(bytes, &self.data_in_all)
            });
            let is_kept = session.push_data(device, subtype, Arc::clone(bytes), is_crowded);
            self.statistics.dropped += u64::from(!is_kept);
            if session.has_transmit() {
                self.woken.insert(*client);
            }
        }
    }

    /// A device that was to be opened works, or does not for this reason.
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
            Ok(body) => self.answer(now, client, &header, Kind::Acknowledge, &body),
            Err(reason) => self.refuse(now, client, &header, reason),
        }
        self.carry_out_next(now, client);
        self.decode(now, client);
    }

    /// Whether [`poll_call`](Self::poll_call) has something.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// A command of which a client gets no answer was refused.
    pub fn handle_refused(&mut self, device: Device, reason: String) {
        self.statistics.refused += 1;
        self.note(ServerEvent::Refused { device, reason });
    }

    /// The next thing to do.
    pub fn poll_call(&mut self) -> Option<Call> {
        let Queued { client, len, call } = self.calls.pop_front()?;
        if let (Some(client), Call::Command { .. }) = (client, &call)
            && let Some(session) = self.sessions.get_mut(&client)
        {
            session.commands -= 1;
            session.command_bytes -= len;
            if session.commands + 1 == MAX_COMMANDS {
                self.woken.insert(client);
            }
        }
        Some(call)
    }

    /// A client of which [`poll_transmit`](Self::poll_transmit), [`wants_input`](Self::wants_input) or
    /// [`is_closing`](Self::is_closing) may have changed.
    pub fn poll_woken(&mut self) -> Option<ClientId> {
        self.woken.pop_first()
    }

    /// Bytes to send to the client. Call it when the last ones were sent: what the client has sent may wait for that.
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

    /// When to call [`poll_transmit`](Self::poll_transmit) again although nothing has woken the client: until then its
    /// data waits for more.
    pub fn poll_timeout(&self, client: ClientId) -> Option<Duration> {
        self.sessions.get(&client)?.rest()
    }

    /// Whether to close the connection after sending what there is to send.
    pub fn is_closing(&self, client: ClientId) -> bool {
        self.sessions.get(&client).is_none_or(|session| session.is_closing)
    }

    /// Whether the connection is to end though not all has been sent.
    pub fn is_given_up(&self, client: ClientId) -> bool {
        self.sessions.get(&client).is_some_and(|session| session.is_given_up)
    }

    /// Whether a device obeys the client: it must not vanish unnoticed.
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

    /// Carries out what the client has sent, as far as the limits permit.
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
                    // Behind a body of unknown length nothing can be found any more.
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
            Kind::Request if device.interface == PLAYER.interface => {
                self.handle_server_request(now, client, &header, &body);
            }
            Kind::Request => {
                session.waiting.push_back((header, body));
                self.carry_out_next(now, client);
            }
            Kind::Command if device.interface != PLAYER.interface => {
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
            // Nobody asked a client for these.
            Kind::Data | Kind::Command | Kind::Acknowledge | Kind::Synch | Kind::Refuse => {
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

    /// Reads a command or a request to a device, or says why it cannot be carried out.
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
        // As in the original, any client may speak to a device that is open.
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

    fn answer(&mut self, now: Duration, client: ClientId, header: &Header, kind: Kind, body: &[u8]) {
        let address = self.address(client, header.address.device);
        let Some(session) = self.sessions.get_mut(&client) else { return };
        self.statistics.answers += 1;
        // Drivers of the original do not repeat the number.
        let sequence = if address.device.interface == PLAYER.interface { header.sequence } else { 0 };
        let answer =
            Header { address, kind, subtype: header.subtype, timestamp: now.as_secs_f64(), sequence };
        session.push_answer(&answer, body);
        self.woken.insert(client);
    }

    fn refuse(&mut self, now: Duration, client: ClientId, header: &Header, reason: String) {
        self.handle_refused(header.address.device, reason);
        self.answer(now, client, header, Kind::Refuse, &[]);
    }

    fn note(&mut self, event: ServerEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}

/// The time until a client gets further data, after `len` bytes of it, if as many read: with many clients their data goes out
/// in bundles, and all together get at most [`DATA_RATE`].
fn rest(readers: usize, len: usize) -> Option<Duration> {
    let share = DATA_RATE / readers.max(1) as f64;
    let rest = (TRANSMISSION * readers as u32).max(Duration::from_secs_f64(len as f64 / share));
    (rest >= MIN_REST).then_some(rest)
}
