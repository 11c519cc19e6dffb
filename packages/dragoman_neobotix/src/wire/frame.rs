//! Decodes a byte stream into messages, and encodes messages.

use std::marker::PhantomData;

use super::field::{Field, Reader};
use super::{CommandKind, DecodeError, EncodeError, Fault, Framing, HEADER, LengthError, MAX_DATA_LEN};

/// Size of a length, bytes.
const LENGTH_LEN: usize = 4;
/// Buffer capacity that is kept between two messages.
const KEPT_CAPACITY: usize = 1 << 16;

/// [`Command`](super::Command) and [`Reply`](super::Reply).
pub trait Message: Sized {
    /// Reads the data of a message, which begins with its number.
    ///
    /// # Errors
    /// The data do not match the guide's table exactly.
    fn decode(data: &[u8]) -> Result<Self, DecodeError>;

    /// The message to send.
    ///
    /// # Errors
    /// It exceeds the maximum size.
    fn encode(&self, framing: Framing) -> Result<Vec<u8>, EncodeError>;
}

/// A message and its framing.
#[derive(Debug, Clone, PartialEq)]
pub struct Received<T> {
    /// Framing; the answer must use the same.
    pub framing: Framing,
    /// The message, or the error in it.
    pub message: Result<T, DecodeError>,
}

/// Decodes a byte stream: [`Command`](super::Command)s of a client, [`Reply`](super::Reply)s of a platform.
#[derive(Debug)]
pub struct Decoder<T> {
    bytes: Vec<u8>,
    start: usize,
    failed: Option<LengthError>,
    of: PhantomData<fn() -> T>,
}

impl<T> Default for Decoder<T> {
    fn default() -> Self {
        Self { bytes: Vec::new(), start: 0, failed: None, of: PhantomData }
    }
}

impl<T: Message> Decoder<T> {
    /// Appends received bytes. They are dropped after an error.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Number of bytes not yet decoded.
    pub fn buffered(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The next message. `None`: incomplete.
    ///
    /// # Errors
    /// A length of 0 or of more than [`MAX_DATA_LEN`]. Decoding cannot continue: the same error is returned again, and
    /// the connection should be closed.
    #[allow(clippy::should_implement_trait, reason = "more may come after None")]
    pub fn next(&mut self) -> Result<Option<Received<T>>, LengthError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let rest = self.bytes.get(self.start..).unwrap_or_default();
        let (framing, head) = if rest.starts_with(&HEADER) {
            (Framing::Header, HEADER.len() + LENGTH_LEN)
        } else {
            (Framing::Bare, LENGTH_LEN)
        };
        let Some(length) = rest.get(..head).and_then(<[u8]>::last_chunk) else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length);
        let Some(len) = usize::try_from(length).ok().filter(|len| (1..=MAX_DATA_LEN).contains(len)) else {
            let error = LengthError { length };
            *self = Self { failed: Some(error), ..Self::default() };
            return Err(error);
        };
        let Some(data) = rest.get(head..head + len) else {
            return Ok(None);
        };
        let message = T::decode(data);
        self.start += head + len;
        if self.buffered() == 0 {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_CAPACITY);
            self.start = 0;
        }
        Ok(Some(Received { framing, message }))
    }
}

/// The command with the number at the beginning of the data.
pub(super) fn kind(data: &[u8]) -> Option<CommandKind> {
    data.first().and_then(|number| CommandKind::from_number(*number))
}

/// The error for data with an unknown number.
pub(super) fn unknown(data: &[u8], field: &'static str) -> DecodeError {
    DecodeError { number: data.first().copied().unwrap_or_default(), field, offset: 0, fault: Fault::Unknown }
}

/// Reads the fields after the number, up to the end of the data.
pub(super) fn decode<T: Field>(data: &[u8], is_checked: bool) -> Result<T, DecodeError> {
    let mut reader = Reader::new(data);
    let mut read = || {
        reader.field::<u8>("command")?;
        let message = T::read(&mut reader)?;
        if is_checked {
            match reader.field("end check")? {
                -1 => {}
                value => return Err(Fault::EndCheck { value }),
            }
        }
        match reader.left() {
            0 => Ok(message),
            extra => {
                reader.mark("end");
                Err(Fault::Trailing { extra })
            }
        }
    };
    let result = read();
    result.map_err(|fault| DecodeError {
        number: data.first().copied().unwrap_or_default(),
        field: reader.field,
        offset: reader.offset,
        fault,
    })
}

/// A message of these fields.
pub(super) fn encode<T: Field>(
    number: u8,
    message: &T,
    is_checked: bool,
    framing: Framing,
) -> Result<Vec<u8>, EncodeError> {
    let head = if framing == Framing::Header { HEADER.len() } else { 0 };
    let mut bytes = HEADER.get(..head).unwrap_or_default().to_vec();
    bytes.extend([0; LENGTH_LEN]);
    number.write(&mut bytes);
    message.write(&mut bytes);
    if is_checked {
        (-1).write(&mut bytes);
    }
    let len = bytes.len() - head - LENGTH_LEN;
    let length =
        u32::try_from(len).ok().filter(|_| len <= MAX_DATA_LEN).ok_or(EncodeError { number, len })?;
    if let Some(place) = bytes.get_mut(head..head + LENGTH_LEN) {
        place.copy_from_slice(&length.to_be_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::{Command, MoveWheelVelocity};
    use super::*;

    fn drive() -> Command {
        Command::MoveVelWheel(MoveWheelVelocity { right_mm_per_s: 300, left_mm_per_s: -300 })
    }

    fn received(framing: Framing, message: Command) -> Received<Command> {
        Received { framing, message: Ok(message) }
    }

    /// Section 6.3, CMD_CONNECT_TO_PLTF: the example has no header. Section 6.2: real clients send one.
    #[test]
    fn both_forms_byte_by_byte() {
        assert_eq!(Command::ConnectToPltf.encode(Framing::Bare).as_deref(), Ok(&[0, 0, 0, 1, 0][..]));
        let with_header = [0xff, 1, 0xfe, 2, 0, 0, 0, 9, 23, 0, 0, 1, 0x2c, 0xff, 0xff, 0xfe, 0xd4];
        assert_eq!(drive().encode(Framing::Header).as_deref(), Ok(&with_header[..]));
        let mut decoder = Decoder::default();
        decoder.push(&[0, 0, 0, 1, 0]);
        decoder.push(&with_header);
        assert_eq!(decoder.next(), Ok(Some(received(Framing::Bare, Command::ConnectToPltf))));
        assert_eq!(decoder.next(), Ok(Some(received(Framing::Header, drive()))));
        assert_eq!((decoder.next(), decoder.buffered()), (Ok(None), 0));
    }

    #[test]
    fn messages_may_come_in_pieces_or_several_at_once() {
        let sent =
            [(Framing::Header, drive()), (Framing::Bare, Command::Stop), (Framing::Header, Command::Start)];
        let all: Vec<u8> =
            sent.iter().flat_map(|(framing, command)| command.encode(*framing).expect("a message")).collect();
        let expected: Vec<_> =
            sent.into_iter().map(|(framing, command)| received(framing, command)).collect();
        for piece in 1..=all.len() {
            let mut decoder = Decoder::default();
            let mut seen = Vec::new();
            for part in all.chunks(piece) {
                decoder.push(part);
                seen.extend(std::iter::from_fn(|| decoder.next().expect("in step")));
            }
            assert_eq!(seen, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn lengths_that_no_message_has_end_the_stream() {
        let too_long = u32::try_from(MAX_DATA_LEN).expect("small") + 1;
        for length in [0, too_long, 0x8000_0000, u32::MAX, u32::from_be_bytes(HEADER) + 1] {
            for header in [&HEADER[..], &[]] {
                let mut decoder = Decoder::<Command>::default();
                decoder.push(&[header, &length.to_be_bytes(), &[0; 100]].concat());
                assert_eq!(decoder.next(), Err(LengthError { length }));
                decoder.push(&[0, 0, 0, 1, 0]);
                assert_eq!((decoder.next(), decoder.buffered()), (Err(LengthError { length }), 0));
            }
        }
    }

    #[test]
    fn announced_lengths_reserve_no_memory() {
        let mut decoder = Decoder::<Command>::default();
        decoder.push(&[&HEADER[..], &[1, 0, 0, 0], b"abc"].concat());
        assert_eq!(decoder.next(), Ok(None));
        assert!(decoder.buffered() == 11 && decoder.bytes.capacity() < 100);
    }

    #[test]
    fn wrong_messages_leave_the_stream_in_step() {
        let mut decoder = Decoder::default();
        decoder.push(&[0, 0, 0, 3, 60, 1, 2]);
        decoder.push(&[0, 0, 0, 2, 23, 0]);
        decoder.push(&[0, 0, 0, 1, 14]);
        let error = |decoder: &mut Decoder<Command>| {
            let received = decoder.next().expect("in step").expect("a message");
            received.message.expect_err("wrong").to_string()
        };
        assert_eq!(error(&mut decoder), "command 60: command at byte 0: unknown");
        assert_eq!(
            error(&mut decoder),
            "CMD_MOVE_VEL_WHEEL (23): right_mm_per_s at byte 1: 4 bytes are needed, 1 are left"
        );
        assert_eq!(decoder.next(), Ok(Some(received(Framing::Bare, Command::Stop))));
    }

    #[test]
    fn messages_that_are_too_long_are_not_written() {
        let speak =
            |len| Command::SpeakText(super::super::SpeakText { text: super::super::Text(vec![b'x'; len]) });
        let most = MAX_DATA_LEN - 5;
        assert!(speak(most).encode(Framing::Header).is_ok());
        let error = EncodeError { number: 44, len: MAX_DATA_LEN + 1 };
        assert_eq!(speak(most + 1).encode(Framing::Header), Err(error));
    }
}
