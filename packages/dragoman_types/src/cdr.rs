//! CDR of types known at run time (OMG CORBA 3.4 part 2, 9.3; XCDR version 1), with its four bytes of encapsulation
//! header.
//!
//! [`read`] walks through a serialized message and gives its values to a [`Sink`]; [`Output`] is written by
//! [`crate::json`]. Lengths from the wire are compared with the remaining bytes before anything is allocated.

use crate::schema::{ElementType, Field, Primitive, Shape, Structure};

/// Error in a message.
#[allow(missing_docs)] // The messages say it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    #[error("{0} bytes are too short for an encapsulation header")]
    Header(usize),
    #[error("encapsulation {0:#06x} is not plain CDR")]
    Encapsulation(u16),
    #[error("unexpected end of input")]
    TooShort,
    #[error("expected 0 or 1 as Boolean, got {0}")]
    Boolean(u8),
    #[error("the message is longer than {0} bytes")]
    TooLong(usize),
    #[error("{0} bytes follow the message: is it of another type?")]
    Rest(usize),
    #[error("field {path}: {reason}")]
    Field { path: String, reason: String },
    #[error("{0}")]
    Other(String),
}

/// An error as a reason for a client.
impl From<ConvertError> for String {
    fn from(error: ConvertError) -> Self {
        error.to_string()
    }
}

impl ConvertError {
    /// Puts a field before the path of the error.
    pub fn inside(self, field: &str) -> Self {
        match self {
            Self::Field { path, reason } => {
                // An element `[3]` follows its field without a dot.
                let dot = if path.starts_with('[') { "" } else { "." };
                Self::Field { path: format!("{field}{dot}{path}"), reason }
            }
            Self::Other(reason) => Self::Field { path: field.to_owned(), reason },
            error => error,
        }
    }
}

/// Takes the values of a message in the order of its definition.
#[allow(missing_docs)]
pub trait Sink {
    fn begin_structure(&mut self, structure: &Structure);
    fn begin_field(&mut self, index: usize, name: &str);
    fn end_structure(&mut self);
    fn begin_array(&mut self, count: usize);
    fn begin_element(&mut self, index: usize);
    fn end_array(&mut self);
    fn boolean(&mut self, value: bool);
    fn signed(&mut self, value: i64);
    fn unsigned(&mut self, value: u64);
    fn float32(&mut self, value: f32);
    fn float64(&mut self, value: f64);
    fn text(&mut self, value: &str);
    /// An array of `uint8` or `char`.
    fn binary(&mut self, bytes: &[u8]);

    /// An array of other numbers, as on the wire. Returns whether the sink took it; if not, it gets each number.
    fn numbers(&mut self, _primitive: Primitive, _bytes: &[u8], _is_big_endian: bool) -> bool {
        false
    }

    /// Bytes written so far, and most that may be written.
    fn length(&self) -> (usize, usize);
}

/// Gives the values of a serialized message to `sink`. Returns the number of bytes after the message.
///
/// # Errors
/// The bytes are not a message of the type; the sink is full.
pub fn read(structure: &Structure, data: &[u8], sink: &mut impl Sink) -> Result<usize, ConvertError> {
    let Some(([high, low, _, _], body)) = data.split_first_chunk() else {
        return Err(ConvertError::Header(data.len()));
    };
    let is_big_endian = match (high, low) {
        (0, 0) => true,
        (0, 1) => false,
        _ => return Err(ConvertError::Encapsulation(u16::from_be_bytes([*high, *low]))),
    };
    let mut input = Input { rest: body, consumed: 0, is_big_endian };
    input.structure(structure, sink)?;
    Ok(input.rest.len())
}

struct Input<'a> {
    rest: &'a [u8],
    consumed: usize,
    is_big_endian: bool,
}

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], ConvertError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(ConvertError::TooShort)?;
        self.rest = rest;
        self.consumed += count;
        Ok(taken)
    }

    fn align(&mut self, alignment: usize) -> Result<(), ConvertError> {
        self.take(self.consumed.next_multiple_of(alignment) - self.consumed).map(|_padding| ())
    }

    fn length(&mut self) -> Result<usize, ConvertError> {
        self.align(4)?;
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(little(bytes, self.is_big_endian)) as usize)
    }

    fn structure(&mut self, structure: &Structure, sink: &mut impl Sink) -> Result<(), ConvertError> {
        let (written, most) = sink.length();
        if written > most {
            return Err(ConvertError::TooLong(most));
        }
        sink.begin_structure(structure);
        if structure.fields.is_empty() {
            // IDL has no empty structures: there is a `uint8 structure_needs_at_least_one_member`.
            self.take(1)?;
        }
        for (index, field) in structure.fields.iter().enumerate() {
            sink.begin_field(index, &field.name);
            self.field(field, sink)?;
        }
        sink.end_structure();
        Ok(())
    }

    fn field(&mut self, field: &Field, sink: &mut impl Sink) -> Result<(), ConvertError> {
        let count = match field.shape {
            Shape::Single => return self.value(&field.kind, sink),
            Shape::Array(count) => count,
            Shape::Sequence(_) => self.length()?,
        };
        if let ElementType::Primitive(primitive) = &field.kind
            && let Some(size) = primitive.size()
            && *primitive != Primitive::Bool
        {
            if count > 0 {
                self.align(size)?;
            }
            let bytes = self.take(count.saturating_mul(size))?;
            if primitive.is_binary() {
                sink.binary(bytes);
            } else if !sink.numbers(*primitive, bytes, self.is_big_endian) {
                sink.begin_array(count);
                for (index, bytes) in bytes.chunks_exact(size).enumerate() {
                    sink.begin_element(index);
                    scalar(*primitive, bytes, self.is_big_endian, sink);
                }
                sink.end_array();
            }
            return Ok(());
        }
        // Every element has at least one byte.
        if count > self.rest.len() {
            return Err(ConvertError::TooShort);
        }
        sink.begin_array(count);
        for index in 0..count {
            sink.begin_element(index);
            self.value(&field.kind, sink)?;
        }
        sink.end_array();
        Ok(())
    }

    fn value(&mut self, kind: &ElementType, sink: &mut impl Sink) -> Result<(), ConvertError> {
        let primitive = match kind {
            ElementType::Structure(structure) => return self.structure(structure, sink),
            ElementType::Primitive(primitive) => *primitive,
        };
        match primitive {
            Primitive::Bool => match self.take(1)? {
                [0] => sink.boolean(false),
                [1] => sink.boolean(true),
                other => return Err(ConvertError::Boolean(other.first().copied().unwrap_or_default())),
            },
            Primitive::String => {
                let length = self.length()?;
                // Some peers send an empty string without its NUL.
                let text = self.take(length)?.split_last().map_or(&[][..], |(_nul, text)| text);
                sink.text(&String::from_utf8_lossy(text));
            }
            Primitive::WString => {
                let count = self.length()?;
                let bytes = self.take(count.saturating_mul(2))?;
                let units =
                    bytes.chunks_exact(2).map(|unit| u16::from_le_bytes(little(unit, self.is_big_endian)));
                sink.text(&char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>());
            }
            number => {
                let size = number.size().unwrap_or(1);
                self.align(size)?;
                let bytes = self.take(size)?;
                scalar(number, bytes, self.is_big_endian, sink);
            }
        }
        Ok(())
    }
}

/// `bytes` as a little-endian number of `N` bytes; zero if they are fewer.
fn little<const N: usize>(bytes: &[u8], is_big_endian: bool) -> [u8; N] {
    let mut bytes = bytes.first_chunk::<N>().copied().unwrap_or([0; N]);
    if is_big_endian {
        bytes.reverse();
    }
    bytes
}

fn scalar(primitive: Primitive, bytes: &[u8], is_big: bool, sink: &mut impl Sink) {
    match primitive {
        Primitive::Int8 => sink.signed(i8::from_le_bytes(little(bytes, is_big)).into()),
        Primitive::Int16 => sink.signed(i16::from_le_bytes(little(bytes, is_big)).into()),
        Primitive::Int32 => sink.signed(i32::from_le_bytes(little(bytes, is_big)).into()),
        Primitive::Int64 => sink.signed(i64::from_le_bytes(little(bytes, is_big))),
        Primitive::Uint16 => sink.unsigned(u16::from_le_bytes(little(bytes, is_big)).into()),
        Primitive::Uint32 => sink.unsigned(u32::from_le_bytes(little(bytes, is_big)).into()),
        Primitive::Uint64 => sink.unsigned(u64::from_le_bytes(little(bytes, is_big))),
        Primitive::Float32 => sink.float32(f32::from_le_bytes(little(bytes, is_big))),
        Primitive::Float64 => sink.float64(f64::from_le_bytes(little(bytes, is_big))),
        _ => sink.unsigned(bytes.first().copied().unwrap_or_default().into()),
    }
}

/// A message that is being written, little-endian, with encapsulation header.
#[derive(Debug)]
pub struct Output {
    bytes: Vec<u8>,
    most: usize,
}

/// Length of the encapsulation header.
const HEADER_LENGTH: usize = 4;

impl Output {
    /// An empty message of at most `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { bytes: vec![0, 1, 0, 0], most }
    }

    /// Whether there is room for `count` bytes.
    ///
    /// # Errors
    /// There is not.
    pub fn check(&self, count: usize) -> Result<(), ConvertError> {
        if self.bytes.len().saturating_add(count) > self.most {
            return Err(ConvertError::TooLong(self.most));
        }
        Ok(())
    }

    /// Appends a number, aligned to its size.
    pub fn number<const N: usize>(&mut self, little_endian: [u8; N]) -> Result<(), ConvertError> {
        self.align(N);
        self.raw(&little_endian)
    }

    /// Appends bytes without alignment.
    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), ConvertError> {
        self.check(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The number of elements or bytes that follow.
    pub fn length(&mut self, length: usize) -> Result<(), ConvertError> {
        let length = u32::try_from(length).map_err(|_| ConvertError::TooLong(self.most))?;
        self.number(length.to_le_bytes())
    }

    /// The message, padded to a multiple of four bytes: Cyclone DDS rejects a fragmented sample of another length.
    pub fn finish(mut self) -> Vec<u8> {
        self.align(4);
        self.bytes
    }

    fn align(&mut self, alignment: usize) {
        let length = (self.bytes.len() - HEADER_LENGTH).next_multiple_of(alignment);
        self.bytes.resize(length + HEADER_LENGTH, 0);
    }
}
