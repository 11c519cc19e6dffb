//! One access to an object of a node: the client side of SDO, expedited and segmented (CiA 301).

use std::time::Duration;

use canopen_rs::sdo::{SdoAbortCode, SdoClient, SdoEvent, SdoPayload, encode_abort};
use canopen_rs::{Address, DataType, NodeId, Value};
use dragoman_io::can::Frame;

use super::Service;

/// Timeout of each answer.
pub const ANSWER_TIME: Duration = Duration::from_millis(100);

/// Error of an SDO access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum TransferError {
    /// The node aborted the transfer.
    #[error("object 0x{index:04X}:{subindex} was refused: 0x{code:08X}, {meaning}", meaning = abort_meaning(*code))]
    Aborted {
        /// Index of the object.
        index: u16,
        subindex: u8,
        /// The abort code.
        code: u32,
    },
    /// The node did not answer in time.
    #[error("no answer about object 0x{index:04X}:{subindex}")]
    TimedOut {
        /// Index of the object.
        index: u16,
        subindex: u8,
    },
}

/// A transfer in progress.
#[derive(Debug)]
pub struct Transfer {
    node: NodeId,
    address: Address,
    client: SdoClient,
    /// Segments do not name their object, so an answer can be compared only before them.
    in_segments: bool,
    deadline: Duration,
}

/// Effect of an answer on the transfer.
#[derive(Debug, PartialEq)]
pub enum Progress {
    /// Send this frame, and keep waiting.
    Send(Frame),
    /// Keep waiting: the answer belonged to another transfer.
    Foreign,
    /// Done; with the value if the transfer was a read.
    Done(Option<Value>),
    /// The transfer failed.
    Failed(TransferError),
}

impl Transfer {
    /// Starts a write of `value`; returns the first frame to send. `now` is on a steady clock.
    pub fn write(now: Duration, node: NodeId, address: Address, value: Value) -> (Self, Frame) {
        Self::start(now, node, address, |client| client.write(address, value))
    }

    /// Starts a read; returns the first frame to send. `now` is on a steady clock.
    pub fn read(now: Duration, node: NodeId, address: Address, data_type: DataType) -> (Self, Frame) {
        Self::start(now, node, address, |client| client.read(address, data_type))
    }

    fn start(
        now: Duration,
        node: NodeId,
        address: Address,
        first: impl FnOnce(&mut SdoClient) -> SdoPayload,
    ) -> (Self, Frame) {
        let mut client = SdoClient::new(node);
        let request = Service::SdoRequest(node).frame(&first(&mut client));
        (Self { node, address, client, in_segments: false, deadline: now + ANSWER_TIME }, request)
    }

    /// Takes the data of an SDO answer of the node.
    pub fn answer(&mut self, now: Duration, data: &[u8]) -> Progress {
        let Ok(payload) = <&SdoPayload>::try_from(data) else { return Progress::Foreign };
        if self.is_foreign(payload) {
            return Progress::Foreign;
        }
        match self.client.on_response(payload) {
            SdoEvent::Send(next) => {
                self.in_segments = true;
                self.deadline = now + ANSWER_TIME;
                Progress::Send(Service::SdoRequest(self.node).frame(&next))
            }
            SdoEvent::Complete(value) => Progress::Done(value),
            SdoEvent::Aborted(code) => {
                let Address { index, subindex } = self.address;
                Progress::Failed(TransferError::Aborted { index, subindex, code })
            }
        }
    }

    /// When the transfer times out, unless an answer comes.
    pub fn poll_timeout(&self) -> Duration {
        self.deadline
    }

    /// The abort frame to send and the error, when [`Transfer::poll_timeout`] has passed.
    pub fn give_up(&self) -> (Frame, TransferError) {
        let abort = encode_abort(self.address, SdoAbortCode::ProtocolTimedOut);
        let Address { index, subindex } = self.address;
        (Service::SdoRequest(self.node).frame(&abort), TransferError::TimedOut { index, subindex })
    }

    /// Whether an answer is about another object, as a late answer to an abandoned transfer is.
    fn is_foreign(&self, payload: &SdoPayload) -> bool {
        let [command, low, high, subindex, ..] = *payload;
        let names_object = !self.in_segments || command == 0x80;
        names_object && Address::new(u16::from_le_bytes([low, high]), subindex) != self.address
    }
}

/// Meaning of an SDO abort code (CiA 301, table "SDO abort codes").
pub fn abort_meaning(code: u32) -> &'static str {
    let found = ABORTS.iter().find(|(known, _)| *known == code);
    found.map_or("unknown reason", |(_, text)| text)
}

const ABORTS: [(u32, &str); 22] = [
    (0x0503_0000, "toggle bit not alternated"),
    (0x0504_0000, "timed out"),
    (0x0504_0001, "command not known"),
    (0x0504_0005, "out of memory"),
    (0x0601_0000, "access not supported"),
    (0x0601_0001, "object can only be written"),
    (0x0601_0002, "object can only be read"),
    (0x0602_0000, "no such object"),
    (0x0604_0041, "object cannot be mapped"),
    (0x0604_0042, "too many objects mapped"),
    (0x0604_0043, "parameters do not fit together"),
    (0x0606_0000, "hardware failed"),
    (0x0607_0010, "wrong length"),
    (0x0607_0012, "too long"),
    (0x0607_0013, "too short"),
    (0x0609_0011, "no such subindex"),
    (0x0609_0030, "value out of range"),
    (0x0609_0031, "value too high"),
    (0x0609_0032, "value too low"),
    (0x0800_0000, "general error"),
    (0x0800_0020, "cannot be stored"),
    (0x0800_0022, "not in this state of the device"),
];

#[cfg(test)]
mod tests {
    use canopen_rs::sdo::SdoServer;
    use canopen_rs::{ByteString, Entry, ObjectDictionary};
    use proptest::prelude::*;

    use super::*;

    const NOW: Duration = Duration::from_secs(1);

    fn node() -> NodeId {
        NodeId::new(101).unwrap()
    }

    /// The crate's server is the peer; returns how the transfer ended and the frames it took.
    fn run(
        dictionary: &mut ObjectDictionary<8>,
        (mut transfer, first): (Transfer, Frame),
    ) -> (Progress, usize) {
        let mut server = SdoServer::new(node());
        let (mut frame, mut frames) = (first, 0);
        loop {
            frames += 1;
            let answer = server.handle(dictionary, frame.data().try_into().unwrap()).unwrap();
            match transfer.answer(NOW, &answer) {
                Progress::Send(next) => frame = next,
                end => return (end, frames),
            }
        }
    }

    #[test]
    fn a_heartbeat_time_is_written_in_one_frame() {
        let address = Address::new(0x1017, 0);
        let mut dictionary = ObjectDictionary::<8>::new();
        dictionary.insert(address, Entry::rw(Value::Unsigned16(0))).unwrap();
        let (transfer, first) = Transfer::write(NOW, node(), address, Value::Unsigned16(100));
        assert_eq!(first.to_string(), "665#2B17100064000000");
        assert_eq!(run(&mut dictionary, (transfer, first)), (Progress::Done(None), 1));
        assert_eq!(dictionary.read(address), Ok(Value::Unsigned16(100)));
    }

    #[test]
    fn a_name_is_read_in_segments() {
        let address = Address::new(0x1008, 0);
        let name = Value::VisibleString(ByteString::from_str("a drive with a long name").unwrap());
        let mut dictionary = ObjectDictionary::<8>::new();
        dictionary.insert(address, Entry::constant(name)).unwrap();
        let transfer = Transfer::read(NOW, node(), address, DataType::VisibleString);
        assert_eq!(run(&mut dictionary, transfer), (Progress::Done(Some(name)), 5));
    }

    #[test]
    fn a_refusal_names_the_object_and_the_reason() {
        let transfer = Transfer::read(NOW, node(), Address::new(0x2f00, 3), DataType::Unsigned8);
        let (end, _) = run(&mut ObjectDictionary::new(), transfer);
        let Progress::Failed(error) = end else { panic!("{end:?}") };
        assert_eq!(error.to_string(), "object 0x2F00:3 was refused: 0x06020000, no such object");
    }

    #[test]
    fn a_late_answer_to_another_access_is_ignored() {
        let (mut transfer, _) = Transfer::write(NOW, node(), Address::new(0x1017, 0), Value::Unsigned16(1));
        assert_eq!(transfer.answer(NOW, &[0x60, 0x16, 0x10, 1, 0, 0, 0, 0]), Progress::Foreign);
        assert_eq!(transfer.answer(NOW, &[0x80, 0x16, 0x10, 1, 0, 0, 0, 8]), Progress::Foreign);
        assert_eq!(transfer.answer(NOW, &[0x60, 0x17, 0x10, 0, 0, 0, 0, 0]), Progress::Done(None));
    }

    #[test]
    fn silence_ends_in_an_abort_that_names_the_object() {
        let (transfer, _) = Transfer::write(NOW, node(), Address::new(0x1017, 0), Value::Unsigned16(1));
        assert_eq!(transfer.poll_timeout(), NOW + ANSWER_TIME);
        let (abort, error) = transfer.give_up();
        assert_eq!(abort.to_string(), "665#8017100000000405");
        assert_eq!(error, TransferError::TimedOut { index: 0x1017, subindex: 0 });
    }

    proptest! {
        #[test]
        fn no_answer_panics(answers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..=8), 1..20)) {
            let (mut transfer, _) = Transfer::read(NOW, node(), Address::new(0x1008, 0), DataType::VisibleString);
            for answer in answers {
                let _ = transfer.answer(NOW, &answer);
            }
        }
    }
}
