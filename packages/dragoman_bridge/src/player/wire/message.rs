//! Headers, and the stream of messages.

use super::xdr::{Reader, Xdr, XdrError};

/// Bytes of a header.
pub const HEADER_LEN: usize = 40;
/// Maximum bytes of a message's body, as in the original: 8 MiB with the header.
pub const MAX_BODY_LEN: usize = (8 << 20) - HEADER_LEN;

/// The kind of a message; Player's documents call it the message type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MessageKind {
    /// A device's data, for its subscribers.
    Data = 1,
    /// A command to a device. It has no answer.
    Command = 2,
    /// A request to a device.
    Request = 3,
    /// The answer to a request that was carried out.
    Acknowledge = 4,
    /// The end of the data that a pulling client asked for.
    Synch = 5,
    /// The answer to a request that was refused.
    Refuse = 6,
}

impl MessageKind {
    const ALL: [Self; 6] =
        [Self::Data, Self::Command, Self::Request, Self::Acknowledge, Self::Synch, Self::Refuse];

    /// The kind with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == code)
    }
}

/// A device of a server: one of the robot's sensors or actuators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Device {
    /// Code of its interface.
    pub interface: u16,
    /// Its number among those with this interface.
    pub index: u16,
}

/// The address of a device as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Address {
    /// The server's IPv4 address: its four bytes in network order, read as a little-endian number. Clients send 0.
    pub host: u32,
    /// The server's port. Clients send 0.
    pub robot: u32,
    pub device: Device,
}

impl Xdr for Address {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.host.write(bytes);
        self.robot.write(bytes);
        self.device.interface.write(bytes);
        self.device.index.write(bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        Ok(Self {
            host: u32::read(reader)?,
            robot: u32::read(reader)?,
            device: Device { interface: u16::read(reader)?, index: u16::read(reader)? },
        })
    }
}

/// The header of a message, without the body's length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Header {
    /// The device to which, or from which, the message is sent.
    pub address: Address,
    /// Kind of the message.
    pub kind: MessageKind,
    /// Number of the message; each interface has its own numbers for each kind.
    pub subtype: u8,
    /// When the data was measured or the message was sent, s since 1970.
    pub timestamp: f64,
    /// The client's number of a request; its answer carries the same.
    pub sequence: u32,
}

/// A header as it is sent.
struct Sent {
    address: Address,
    kind: u8,
    subtype: u8,
    timestamp: f64,
    sequence: u32,
    /// Bytes of the body.
    len: u32,
}

impl Xdr for Sent {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.address.write(bytes);
        self.kind.write(bytes);
        self.subtype.write(bytes);
        self.timestamp.write(bytes);
        self.sequence.write(bytes);
        self.len.write(bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        Ok(Self {
            address: Xdr::read(reader)?,
            kind: Xdr::read(reader)?,
            subtype: Xdr::read(reader)?,
            timestamp: Xdr::read(reader)?,
            sequence: Xdr::read(reader)?,
            len: Xdr::read(reader)?,
        })
    }
}

impl Header {
    /// Appends a whole message.
    #[allow(clippy::cast_possible_truncation, reason = "a body has at most 8 MiB")]
    pub fn write_message(&self, body: &[u8], bytes: &mut Vec<u8>) {
        let Self { address, kind, subtype, timestamp, sequence } = *self;
        let len = body.len() as u32;
        Sent { address, kind: kind as u8, subtype, timestamp, sequence, len }.write(bytes);
        bytes.extend_from_slice(body);
    }
}

/// A header and the body that follows it on the wire.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Message {
    pub header: Header,
    /// Its body, in XDR.
    pub body: Vec<u8>,
}

/// Error decoding a stream of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum StreamError {
    /// A body is longer than [`MAX_BODY_LEN`]. The stream cannot be decoded any further.
    #[error("a body of {len} bytes; the maximum is {MAX_BODY_LEN}")]
    TooLong {
        /// The announced length.
        len: u32,
    },
    /// The code of a [`MessageKind`] is unknown. The message is skipped.
    #[error("unknown kind of message {code}")]
    UnknownKind { code: u8 },
}

/// Memory that a decoder keeps after a long message, bytes.
const KEPT: usize = 64 << 10;

/// Decodes a stream of messages.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    start: usize,
}

impl Decoder {
    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.is_empty() {
            self.bytes.shrink_to(KEPT);
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Number of bytes not yet decoded.
    pub fn buffered(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether the next message is incomplete.
    pub fn is_incomplete(&self) -> bool {
        let rest = self.bytes.get(self.start..).unwrap_or_default();
        let header = rest.get(..HEADER_LEN).and_then(|header| Sent::from_bytes(header).ok());
        header.is_none_or(|Sent { len, .. }| {
            let len = len as usize;
            len <= MAX_BODY_LEN && rest.len() < HEADER_LEN + len
        })
    }

    /// The next message. `None`: incomplete.
    ///
    /// # Errors
    /// The message is skipped, or the stream cannot be decoded any further.
    #[allow(clippy::should_implement_trait, reason = "more may come after None")]
    pub fn next(&mut self) -> Option<Result<Message, StreamError>> {
        let rest = self.bytes.get(self.start..)?;
        let (header, rest) = rest.split_at_checked(HEADER_LEN)?;
        let Sent { address, kind: code, subtype, timestamp, sequence, len } =
            Sent::from_bytes(header).ok()?;
        if len as usize > MAX_BODY_LEN {
            return Some(Err(StreamError::TooLong { len }));
        }
        let body = rest.get(..len as usize)?.to_vec();
        self.start += HEADER_LEN + body.len();
        let Some(kind) = MessageKind::from_code(code) else {
            return Some(Err(StreamError::UnknownKind { code }));
        };
        Some(Ok(Message { header: Header { address, kind, subtype, timestamp, sequence }, body }))
    }
}
