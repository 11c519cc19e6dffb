//! CAN messages: the listening list, and the bus: a CAN interface of this system, or topics.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use dragoman_io::can::{Bus, Frame, Received};
use dragoman_neobotix::wire::CommandKind::*;
use dragoman_ros::dragoman_msgs::msg::CanMessage;
use dragoman_ros::dragoman_msgs::srv::{
    PlatformAddCanListeningId, PlatformGetCanMessages, PlatformSendCanMessage,
};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, Result};
use embedded_can::{ExtendedId, Id, StandardId};

use super::PlatformNodeError;
use super::services::{serve_order, serve_question};
use super::state::{NodeState, Refused, Shared};

/// Maximum number of identifiers on the listening list.
const MAX_LISTENING: usize = 1024;
/// Maximum number of stored CAN messages; the oldest are dropped first.
const MAX_MESSAGES: usize = 1000;
/// Period of reading the bus. The system buffers messages until then.
const PERIOD: Duration = Duration::from_millis(10);

/// The listening list, the stored messages, and their source.
#[derive(Default)]
pub(super) struct Can {
    listening: BTreeSet<u32>,
    messages: VecDeque<CanMessage>,
    /// `None`: the topics are the bus.
    bus: Option<Box<dyn Bus>>,
}

/// Serves the bus of this interface; if empty, the topics.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    shared: &Shared,
    interface: &str,
) -> std::result::Result<(), PlatformNodeError> {
    if !interface.is_empty() {
        let bus = open(interface).map_err(PlatformNodeError::CanInterface)?;
        shared.with(|state| state.can.bus = Some(bus));
        let shared = shared.clone();
        tasks.every(PERIOD, move || shared.with(NodeState::take_frames))?;
    }
    Ok(serve_requests(tasks, shared)?)
}

fn serve_requests(tasks: &mut NodeTasks, shared: &Shared) -> Result<()> {
    type AddId = PlatformAddCanListeningId::Service;
    serve_order::<AddId>(tasks, shared, AddCanListeningId, |state, request| {
        let id = checked(request.id)?;
        if state.can.listening.len() >= MAX_LISTENING && !state.can.listening.contains(&id) {
            return Err(Refused(format!("the listening list is full: {MAX_LISTENING} identifiers")));
        }
        state.can.listening.insert(id);
        Ok(())
    })?;
    serve_order::<AddId>(tasks, shared, RemoveCanListeningId, |state, request| {
        if state.can.listening.remove(&request.id) {
            return Ok(());
        }
        Err(Refused(format!("{:#x} is not on the listening list", request.id)))
    })?;
    serve_order::<PlatformSendCanMessage::Service>(tasks, shared, SendCanMessage, |state, request| {
        let message = CanMessage { stamp: state.stamp(), id: checked(request.id)?, data: request.data };
        match &mut state.can.bus {
            Some(bus) => Ok(bus.send(&frame(&message)?)?),
            None => state.outlets.send_can(&message),
        }
    })?;
    let shared_state = shared.clone();
    let received = QosProfile::default().keep_last(100);
    tasks.subscribe("can/received", received, move |message: CanMessage| {
        shared_state.with(|state| state.can.keep(message));
    })?;
    serve_question::<PlatformGetCanMessages::Service>(tasks, shared, GetCanMessages, |state, request| {
        let kept: VecDeque<CanMessage> = if request.delete_after_read {
            std::mem::take(&mut state.can.messages)
        } else {
            state.can.messages.clone()
        };
        Ok(PlatformGetCanMessages::Response { messages: kept.into(), ..Default::default() })
    })
}

impl Can {
    /// Number of stored messages.
    pub(super) fn kept(&self) -> usize {
        self.messages.len()
    }

    /// Stores a message if its identifier is on the list.
    fn keep(&mut self, message: CanMessage) {
        if !self.listening.contains(&message.id) {
            return;
        }
        if self.messages.len() == MAX_MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
    }
}

impl NodeState {
    /// Reads all received frames.
    fn take_frames(&mut self) {
        while let Some(received) = self.can.bus.as_mut().and_then(|bus| bus.receive()) {
            match received {
                // A remote frame has no data.
                Received::Frame(frame) if frame.is_remote() => {}
                Received::Frame(frame) => {
                    let message = CanMessage { stamp: self.stamp(), ..message(&frame) };
                    self.can.keep(message);
                }
                Received::Fault(fault) => tracing::warn!(%fault, "CAN bus fault detected"),
            }
        }
    }
}

/// Opens an interface; one that does not exist yet is retried.
#[cfg(target_os = "linux")]
fn open(interface: &str) -> std::result::Result<Box<dyn Bus>, String> {
    use dragoman_io::can::SocketCanBus;
    use dragoman_io::can::socketcan::OpenError;
    match SocketCanBus::open(interface, &[]) {
        Ok(bus) => Ok(Box::new(bus)),
        Err(error @ OpenError::NoInterface { .. }) => {
            tracing::error!(%error, "waiting for the CAN interface");
            Ok(Box::new(SocketCanBus::expect(interface, &[])))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open(interface: &str) -> std::result::Result<Box<dyn Bus>, String> {
    Err(format!("{interface}: CAN interfaces are supported on Linux only"))
}

fn checked(id: u32) -> std::result::Result<u32, Refused> {
    if id <= ExtendedId::MAX.as_raw() {
        Ok(id)
    } else {
        Err(Refused(format!("{id:#x} is not a CAN identifier, which has 29 bits at most")))
    }
}

/// Identifiers of more than 11 bits are extended ones: the protocol has no separate flag.
fn frame(message: &CanMessage) -> std::result::Result<Frame, Refused> {
    let standard = u16::try_from(message.id).ok().and_then(StandardId::new).map(Id::Standard);
    let id = standard.or_else(|| ExtendedId::new(message.id).map(Id::Extended));
    let frame = id.and_then(|id| Frame::new(id, &message.data));
    frame.ok_or_else(|| Refused(format!("{:#x} is not a CAN identifier", message.id)))
}

/// Without its time. Missing bytes of the frame are 0.
fn message(frame: &Frame) -> CanMessage {
    let id = match frame.id() {
        Id::Standard(id) => id.as_raw().into(),
        Id::Extended(id) => id.as_raw(),
    };
    let mut message = CanMessage { id, data: Default::default(), ..Default::default() };
    message.data.resize(8, 0);
    message.data.iter_mut().zip(frame.data()).for_each(|(place, byte)| *place = *byte);
    message
}

#[cfg(test)]
mod tests {
    use dragoman_io::can::InProcessBus;

    use super::*;

    #[test]
    fn messages_go_over_a_bus_and_come_from_it() {
        let mut ours = InProcessBus::new();
        let mut other = ours.another();
        for id in [0x281, 0x7ff, 0x800, 0x1fff_ffff] {
            let sent = CanMessage { id, data: (0..8).collect(), ..Default::default() };
            ours.send(&frame(&sent).unwrap()).unwrap();
            let Some(Received::Frame(received)) = other.receive() else { panic!("{id:#x}") };
            assert_eq!((received.standard_id().is_some(), message(&received)), (id <= 0x7ff, sent));
        }
        let short = Frame::standard(0x81, &[1, 2]).unwrap();
        assert_eq!(message(&short).data, vec![1, 2, 0, 0, 0, 0, 0, 0]);
        assert!(checked(0x2000_0000).is_err() && checked(0x1fff_ffff).is_ok());
    }

    #[test]
    fn only_requested_identifiers_are_kept() {
        let mut can = Can { listening: BTreeSet::from([5]), ..Can::default() };
        for id in 0..10 {
            can.keep(CanMessage { id, ..Default::default() });
        }
        assert_eq!(can.messages.iter().map(|message| message.id).collect::<Vec<_>>(), [5]);
        for nanosec in 0..2000 {
            let mut message = CanMessage { id: 5, ..Default::default() };
            message.stamp.nanosec = nanosec;
            can.keep(message);
        }
        assert_eq!((can.kept(), can.messages[0].stamp.nanosec), (MAX_MESSAGES, 1000));
    }
}
