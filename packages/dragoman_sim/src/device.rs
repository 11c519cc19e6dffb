//! A simulated CANopen device on virtual time: network management, heartbeats, objects, process data and emergencies.
//! Its function, a servo drive of one kind or another, is its [`Application`].
//!
//! | file | holds |
//! | --- | --- |
//! | [`faults`] | faults that can be injected |
//! | [`objects`] | the object dictionary and the SDO server |
//! | [`pdo`] | process data objects and their mapping |

pub mod faults;
pub mod objects;
pub mod pdo;

use std::collections::VecDeque;
use std::time::Duration;

use canopen_rs::nmt::{NmtStateMachine, decode_command, encode_heartbeat};
use canopen_rs::sdo::SdoPayload;
use canopen_rs::{Address, ByteString, Entry, NmtCommand, NmtState, NodeId, Value};
use dragoman_arm::canopen::{Emergency, Service};
use dragoman_arm::simpliq::objects::{HEARTBEAT_CONSUMER, HEARTBEAT_PRODUCER};
use dragoman_io::can::Frame;

use crate::axis::Axis;
pub use faults::Fault;
use faults::{Faults, Storm};
use objects::{Objects, abort, aborted};
use pdo::Pdo;
pub use pdo::{Direction, Mappable, PdoDefault};

/// Maximum number of frames that wait to be sent; more are lost, as in a controller.
const MAX_WAITING: usize = 256;

const ERROR_REGISTER: Address = Address::new(0x1001, 0);
/// Bits of the error register: generic error, communication error.
const COMMUNICATION_ERROR: u8 = 0x11;

/// The function of a device.
pub trait Application: Send {
    /// Its device name: at most 32 bytes.
    fn name(&self) -> &str;

    /// Its motor.
    fn axis(&self) -> &Axis;

    /// Its motor, for the arm that is its load.
    fn axis_mut(&mut self) -> &mut Axis;

    /// Time from power-up to the boot-up message.
    fn boot_time(&self) -> Duration;

    /// Its own objects, in addition to those of communication, with their initial values.
    fn objects(&self) -> Vec<(Address, Entry)>;

    /// Its objects that can be mapped to process data.
    fn mappable(&self) -> &'static [Mappable];

    /// Its process data objects with their initial configuration.
    fn process_data(&self) -> Vec<PdoDefault>;

    /// The current value of one of its objects; `None`: the value is in the dictionary.
    fn read(&self, address: Address) -> Option<Value>;

    /// One of its objects was written.
    ///
    /// # Errors
    /// The SDO abort code (see [`objects::abort`]); then nothing has changed.
    fn write(&mut self, now: Duration, address: Address, value: Value) -> Result<(), u32>;

    /// Process data arrived for one of its objects.
    fn handle_data(&mut self, now: Duration, address: Address, data: &[u8], output: &mut Output);

    /// Advances it to `now`; called at the latest at [`Application::poll_timeout`].
    fn handle_timeout(&mut self, now: Duration, output: &mut Output);

    /// When it will next send something or finish a command, if known.
    fn poll_timeout(&self) -> Option<Duration>;

    /// The bits of its errors in object 0x1001.
    fn error_register(&self) -> u8;

    /// The master's heartbeat is missing, or the master has stopped the node or reset its communication.
    fn connection_lost(&mut self, now: Duration);

    /// Restarts. After a power failure, the count is lost as well.
    fn restart(&mut self, now: Duration, power_failed: bool);

    /// Switches the motor off without a message.
    fn exit_enabled(&mut self, now: Duration);
}

/// Frames sent by an application.
#[derive(Debug, Default)]
pub struct Output {
    sent: Vec<Outgoing>,
}

#[derive(Debug)]
enum Outgoing {
    Emergency(Emergency),
    ProcessData(u8, [u8; 8]),
}

impl Output {
    /// Sends an emergency.
    pub fn emergency(&mut self, emergency: Emergency) {
        self.sent.push(Outgoing::Emergency(emergency));
    }

    /// Sends the process data object with this number, 1 to 4.
    pub fn process_data(&mut self, number: u8, data: [u8; 8]) {
        self.sent.push(Outgoing::ProcessData(number, data));
    }
}

/// A device on a bus. Times are since an arbitrary epoch, the same for all devices of a bus, and virtual.
pub struct Device<A> {
    pub(crate) application: A,
    node: NodeId,
    now: Duration,
    nmt: NmtStateMachine,
    boots_at: Option<Duration>,
    objects: Objects,
    pdos: Vec<Pdo>,
    heartbeat: Option<Heartbeat>,
    watch: Option<Watch>,
    is_master_lost: bool,
    waiting: VecDeque<(Duration, Frame)>,
    faults: Faults,
    output: Output,
}

/// The device's own heartbeat.
struct Heartbeat {
    period: Duration,
    next: Duration,
}

/// The monitored heartbeat.
struct Watch {
    master: NodeId,
    timeout: Duration,
    /// `None` before the first heartbeat (CiA 301: the monitoring starts with it).
    deadline: Option<Duration>,
}

impl<A: Application> Device<A> {
    /// A device that is powered up at time zero.
    pub(crate) fn power_up(node: NodeId, application: A) -> Self {
        let mut device = Self {
            node,
            now: Duration::ZERO,
            nmt: NmtStateMachine::new(),
            boots_at: Some(Duration::ZERO),
            objects: Objects::new(node, &[]),
            pdos: Vec::new(),
            heartbeat: None,
            watch: None,
            is_master_lost: false,
            waiting: VecDeque::new(),
            faults: Faults::default(),
            output: Output::default(),
            application,
        };
        device.reset_objects();
        device
    }

    /// The node's number.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The state of network management.
    pub fn nmt_state(&self) -> NmtState {
        self.nmt.state()
    }

    /// The encoder's counter without its wrap at 32 bits: the low 32 bits are sent.
    pub fn position_counts(&self) -> f64 {
        self.application.axis().position()
    }

    /// Position of the shaft, in counts since the drive was created: losing or setting the count does not change it.
    pub fn shaft_counts(&self) -> f64 {
        self.application.axis().shaft_position()
    }

    /// Velocity, counts/s.
    pub fn velocity(&self) -> f64 {
        self.application.axis().velocity()
    }

    /// Whether the shaft turns.
    pub fn is_moving(&self) -> bool {
        self.velocity() != 0.0
    }

    /// Temperature, degrees Celsius.
    pub fn temperature(&self) -> f64 {
        self.application.axis().temperature()
    }

    /// Takes a frame from the bus.
    pub fn handle_frame(&mut self, now: Duration, frame: &Frame) {
        self.handle_timeout(now);
        if self.faults.is_silent || self.nmt.state() == NmtState::Initialising || frame.is_remote() {
            return;
        }
        let data = frame.data();
        match frame.standard_id().and_then(Service::of) {
            Some(Service::Nmt) => self.take_command(data),
            Some(Service::Sync) => self.synchronise(),
            Some(Service::Rpdo(number, node)) if node == self.node => self.take_process_data(number, data),
            Some(Service::SdoRequest(node)) if node == self.node => self.take_request(data),
            Some(Service::Heartbeat(node)) => self.take_heartbeat(node, data),
            _ => {}
        }
        self.send_output();
    }

    /// Advances the device to `now`; earlier times have no effect.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(due) = self.next_change().filter(|due| *due <= now) {
            self.advance_to(due.max(self.now));
        }
        if now >= self.now {
            self.advance_to(now);
        }
    }

    /// The next frame that is due to be sent.
    pub fn poll_transmit(&mut self) -> Option<Frame> {
        let ready = self.waiting.iter().position(|(due, _)| *due <= self.now)?;
        self.waiting.remove(ready).map(|(_, frame)| frame)
    }

    /// The earliest time at which it needs [`Device::handle_timeout`], because it will send something or finish a command.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let waiting = self.waiting.iter().map(|(due, _)| *due).min();
        [waiting, self.next_change()].into_iter().flatten().min()
    }

    /// Injects a fault at `now`.
    pub fn inject(&mut self, now: Duration, fault: Fault) {
        self.handle_timeout(now);
        match fault {
            Fault::PowerCycle => self.restart(true),
            Fault::Silent => {
                self.faults.is_silent = true;
                self.waiting.clear();
            }
            Fault::AnswerLate(delay) => self.faults.delay = delay,
            Fault::ExitEnabled => self.application.exit_enabled(self.now),
            Fault::EmergencyStorm { per_second } => {
                self.faults.storm = Some(Storm::new(self.now, per_second));
            }
            Fault::SdoAbort(index) => self.faults.refused_object = Some(index),
            Fault::IgnoreSdo => self.faults.ignores_sdo = true,
        }
    }

    /// Ends all lasting faults.
    pub fn repair(&mut self) {
        self.faults = Faults::default();
    }

    fn next_change(&self) -> Option<Duration> {
        let of_node = [
            self.boots_at,
            self.heartbeat.as_ref().map(|heartbeat| heartbeat.next),
            self.watch.as_ref().and_then(|watch| watch.deadline),
            self.faults.storm.as_ref().map(|storm| storm.next),
        ];
        of_node.into_iter().chain([self.application.poll_timeout()]).flatten().min()
    }

    /// One step, in which at most one thing of each kind becomes due.
    fn advance_to(&mut self, now: Duration) {
        self.now = now;
        self.application.handle_timeout(now, &mut self.output);
        self.send_output();
        if self.boots_at.is_some_and(|at| at <= now) {
            self.boots_at = None;
            self.nmt.boot();
            self.put(now, Service::Heartbeat(self.node), &encode_heartbeat(NmtState::Initialising));
        }
        if let Some(heartbeat) = self.heartbeat.as_mut().filter(|heartbeat| heartbeat.next <= now) {
            // Missed heartbeats are not sent later.
            heartbeat.next = (heartbeat.next + heartbeat.period).max(now);
            if heartbeat.next == now {
                heartbeat.next += heartbeat.period;
            }
            let state = encode_heartbeat(self.nmt.state());
            self.put(now, Service::Heartbeat(self.node), &state);
        }
        if let Some(watch) = self.watch.as_mut().filter(|watch| watch.deadline.is_some_and(|at| at <= now)) {
            watch.deadline = None;
            self.is_master_lost = true;
            self.application.connection_lost(now);
            self.send_emergency(Emergency { code: 0x8130, register: COMMUNICATION_ERROR, maker: [0; 5] });
        }
        let storm = self.faults.storm.as_mut().map_or(0, |storm| storm.take(now));
        for _ in 0..storm.min(MAX_WAITING as u64) {
            self.send_emergency(Emergency { code: 0x8110, register: COMMUNICATION_ERROR, maker: [0; 5] });
        }
    }

    fn take_command(&mut self, data: &[u8]) {
        let Ok(Ok((command, target))) = data.try_into().map(decode_command) else { return };
        if target != NodeId::BROADCAST && target != self.node {
            return;
        }
        match command {
            NmtCommand::ResetNode => self.restart(false),
            NmtCommand::ResetCommunication => {
                self.application.connection_lost(self.now);
                self.nmt.apply(command);
                self.reset_objects();
                self.boots_at = Some(self.now);
                self.advance_to(self.now);
            }
            NmtCommand::StopRemoteNode => {
                self.nmt.apply(command);
                self.application.connection_lost(self.now);
            }
            NmtCommand::StartRemoteNode | NmtCommand::EnterPreOperational => {
                self.nmt.apply(command);
            }
        }
    }

    fn restart(&mut self, power_failed: bool) {
        self.application.restart(self.now, power_failed);
        self.nmt = NmtStateMachine::new();
        self.reset_objects();
        self.waiting.clear();
        self.boots_at = Some(self.now + self.application.boot_time());
    }

    /// Resets all objects to their initial values.
    fn reset_objects(&mut self) {
        let mappable = self.application.mappable();
        let defaults = self.application.process_data();
        let mut entries = communication_objects(self.application.name(), self.node);
        entries.extend(self.application.objects());
        entries.extend(defaults.iter().flat_map(|pdo| pdo.entries(self.node, mappable)));
        self.objects = Objects::new(self.node, &entries);
        self.pdos = defaults.iter().map(|pdo| pdo.set_up(mappable)).collect();
        (self.heartbeat, self.watch, self.is_master_lost) = (None, None, false);
    }

    fn take_heartbeat(&mut self, node: NodeId, data: &[u8]) {
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.master == node && data.len() == 1) else {
            return;
        };
        watch.deadline = Some(self.now + watch.timeout);
        if self.is_master_lost {
            self.is_master_lost = false;
            let register = self.application.error_register();
            self.send_emergency(Emergency { code: 0, register, maker: [0; 5] });
        }
    }

    fn take_process_data(&mut self, number: u8, data: &[u8]) {
        if self.nmt.state() != NmtState::Operational {
            return;
        }
        let found =
            self.pdos.iter_mut().find(|pdo| pdo.direction == Direction::Receive && pdo.number == number);
        let Some(pdo) = found.filter(|pdo| pdo.is_used && !pdo.mapping.is_empty()) else { return };
        if data.len() < pdo.min_length() {
            self.send_emergency(Emergency { code: 0x8210, register: COMMUNICATION_ERROR, maker: [0; 5] });
        } else if pdo.is_synchronous() {
            pdo.received = Some(data.to_vec());
        } else {
            deliver(&mut self.application, self.now, &pdo.mapping, data, &mut self.output);
        }
    }

    fn synchronise(&mut self) {
        if self.nmt.state() != NmtState::Operational {
            return;
        }
        for at in 0..self.pdos.len() {
            let Some(pdo) = self.pdos.get_mut(at) else { continue };
            if let Some(data) = pdo.received.take() {
                deliver(&mut self.application, self.now, &pdo.mapping, &data, &mut self.output);
            } else if pdo.is_due_at_sync() {
                let (data, length) = pack(&self.application, &self.objects, &pdo.mapping);
                let service = Service::Tpdo(pdo.number, self.node);
                self.put(self.now + self.faults.delay, service, data.get(..length).unwrap_or_default());
            }
        }
    }

    fn take_request(&mut self, data: &[u8]) {
        let Ok(request) = <&SdoPayload>::try_from(data) else { return };
        if self.nmt.state() == NmtState::Stopped || self.faults.ignores_sdo {
            return;
        }
        let [_, low, high, subindex, ..] = *request;
        let address = Address::new(u16::from_le_bytes([low, high]), subindex);
        if self.faults.refused_object == Some(address.index) {
            return self.answer(aborted(address, abort::GENERAL));
        }
        if let Some(address) = Objects::about_to_read(request) {
            if address == ERROR_REGISTER {
                let communication = if self.is_master_lost { COMMUNICATION_ERROR } else { 0 };
                let register = self.application.error_register() | communication;
                self.objects.set(address, Value::Unsigned8(register));
            } else if let Some(value) = self.application.read(address) {
                self.objects.set(address, value);
            }
        }
        let outcome = self.objects.request(request);
        let refused = outcome.written.and_then(|written| Some((written.0, self.accept(written).err()?)));
        match (refused, outcome.answer) {
            (Some((address, code)), _) => {
                self.objects.take_back();
                self.answer(aborted(address, code));
            }
            (None, Some(answer)) => self.answer(answer),
            (None, None) => {}
        }
    }

    /// Applies a written object.
    fn accept(&mut self, (address, value): (Address, Value)) -> Result<(), u32> {
        match (address, value) {
            (HEARTBEAT_PRODUCER, Value::Unsigned16(ms)) => {
                let period = Duration::from_millis(ms.into());
                self.heartbeat = (ms > 0).then(|| Heartbeat { period, next: self.now + period });
                Ok(())
            }
            (HEARTBEAT_CONSUMER, Value::Unsigned32(watched)) => self.watch_master(watched),
            _ => {
                let mappable = self.application.mappable();
                match self.pdos.iter_mut().find(|pdo| pdo.owns(address)) {
                    Some(pdo) => pdo.write(self.node, &self.objects, mappable, (address, value)),
                    None => self.application.write(self.now, address, value),
                }
            }
        }
    }

    fn watch_master(&mut self, watched: u32) -> Result<(), u32> {
        let [low, high, node, reserved] = watched.to_le_bytes();
        let timeout = Duration::from_millis(u16::from_le_bytes([low, high]).into());
        self.watch = if timeout.is_zero() || node == 0 {
            None
        } else {
            let master = NodeId::new(node).map_err(|_| abort::VALUE)?;
            if reserved != 0 || master == self.node {
                return Err(abort::VALUE);
            }
            Some(Watch { master, timeout, deadline: None })
        };
        self.is_master_lost = false;
        Ok(())
    }

    fn answer(&mut self, answer: [u8; 8]) {
        self.put(self.now + self.faults.delay, Service::SdoResponse(self.node), &answer);
    }

    fn send_output(&mut self) {
        for outgoing in std::mem::take(&mut self.output.sent) {
            match outgoing {
                Outgoing::Emergency(emergency) => self.send_emergency(emergency),
                Outgoing::ProcessData(number, data) => {
                    if self.nmt.state() == NmtState::Operational {
                        self.put(self.now + self.faults.delay, Service::Tpdo(number, self.node), &data);
                    }
                }
            }
        }
    }

    fn send_emergency(&mut self, emergency: Emergency) {
        if matches!(self.nmt.state(), NmtState::PreOperational | NmtState::Operational) {
            self.put(self.now, Service::Emergency(self.node), &emergency.encode());
        }
    }

    fn put(&mut self, due: Duration, service: Service, data: &[u8]) {
        if !self.faults.is_silent && self.waiting.len() < MAX_WAITING {
            self.waiting.push_back((due, service.frame(data)));
        }
    }
}

/// Passes process data to the mapped objects.
fn deliver<A: Application>(
    application: &mut A,
    now: Duration,
    mapping: &[Mappable],
    data: &[u8],
    output: &mut Output,
) {
    let mut rest = data;
    for mapped in mapping {
        let (own, others) = rest.split_at(rest.len().min(usize::from(mapped.bits / 8)));
        application.handle_data(now, mapped.address, own, output);
        rest = others;
    }
}

/// The process data of the mapped objects, and their length in bytes.
fn pack<A: Application>(application: &A, objects: &Objects, mapping: &[Mappable]) -> ([u8; 8], usize) {
    let mut data = [0; 8];
    let mut length = 0;
    for mapped in mapping {
        let end = length + usize::from(mapped.bits / 8);
        let value = application.read(mapped.address).or_else(|| objects.value(mapped.address));
        let encoded = data.get_mut(length..end).zip(value).map(|(place, value)| value.encode_le(place));
        debug_assert!(matches!(encoded, Some(Ok(_))), "{mapped:?} is {value:?}");
        length = end;
    }
    (data, length.min(8))
}

/// The objects of CiA 301 that every device has.
fn communication_objects(name: &str, node: NodeId) -> Vec<(Address, Entry)> {
    let name = ByteString::from_str(name).unwrap_or_default();
    let of = |index, subindex, entry| (Address::new(index, subindex), entry);
    let constant = |value| Entry::constant(Value::Unsigned32(value));
    vec![
        // A servo drive of the profile 402.
        of(0x1000, 0, constant(0x0002_0192)),
        (ERROR_REGISTER, Entry::ro(Value::Unsigned8(0))),
        of(0x1008, 0, Entry::constant(Value::VisibleString(name))),
        of(0x1016, 0, Entry::constant(Value::Unsigned8(1))),
        (HEARTBEAT_CONSUMER, Entry::rw(Value::Unsigned32(0))),
        (HEARTBEAT_PRODUCER, Entry::rw(Value::Unsigned16(0))),
        of(0x1018, 0, Entry::constant(Value::Unsigned8(4))),
        // Vendor 0 is not assigned.
        of(0x1018, 1, constant(0)),
        of(0x1018, 2, constant(1)),
        of(0x1018, 3, constant(1)),
        of(0x1018, 4, constant(node.raw().into())),
    ]
}
