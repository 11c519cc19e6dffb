//! CDR to CBOR (RFC 8949) as rosbridge's compression `cbor` writes it: numeric arrays are typed arrays (RFC 8746), arrays
//! of `uint8` and `char` byte strings. CBOR that clients send becomes JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ciborium::Value as Cbor;
use dragoman_types::cdr::{self, ConvertError, Sink};
use dragoman_types::json::MAX_LENGTH;
use dragoman_types::schema::{Primitive, Structure};
use serde_json::{Map, Number, Value};

use crate::bounded::{MAX_VALUES, cbor_items};

/// The CBOR of a serialized message.
///
/// # Errors
/// The bytes are not a message of the type.
pub fn from_cdr(structure: &Structure, data: &[u8]) -> Result<Vec<u8>, ConvertError> {
    let mut writer = Writer::with_capacity(data.len() + data.len() / 4);
    cdr::read(structure, data, &mut writer)?;
    Ok(writer.finish())
}

/// Deepest nesting of CBOR from clients.
const MAX_DEPTH: usize = 64;

/// CBOR as JSON: byte strings become base64, typed arrays become arrays.
///
/// # Errors
/// Bytes that are not CBOR; keys that are not text; tags that are not those of typed arrays; more than a million values.
pub fn to_json(bytes: &[u8]) -> Result<Value, ConvertError> {
    let size = |tag| TYPED_ARRAYS.iter().find(|(_, known)| *known == tag)?.0.size();
    if cbor_items(bytes, size) > MAX_VALUES {
        return Err(ConvertError::Other(format!("CBOR of more than {MAX_VALUES} values")));
    }
    let value: Cbor = ciborium::de::from_reader_with_recursion_limit(bytes, MAX_DEPTH)
        .map_err(|error| ConvertError::Other(format!("invalid CBOR: {error}")))?;
    json(value)
}

/// Major types (RFC 8949, 3.1).
const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;

/// Tags of little-endian typed arrays (RFC 8746, table 1).
const TYPED_ARRAYS: [(Primitive, u64); 10] = [
    (Primitive::Byte, 64),
    (Primitive::Uint16, 69),
    (Primitive::Uint32, 70),
    (Primitive::Uint64, 71),
    (Primitive::Int8, 72),
    (Primitive::Int16, 77),
    (Primitive::Int32, 78),
    (Primitive::Int64, 79),
    (Primitive::Float32, 85),
    (Primitive::Float64, 86),
];

/// Writes CBOR.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    /// An empty writer with room.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { out: Vec::with_capacity(capacity) }
    }

    /// Begins a map of `count` keys.
    pub fn map(&mut self, count: usize) {
        self.head(MAP, count as u64);
    }

    /// A byte string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.head(BYTES, bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    /// CBOR that is already written.
    pub fn raw(&mut self, cbor: &[u8]) {
        self.out.extend_from_slice(cbor);
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    fn head(&mut self, major: u8, value: u64) {
        let major = major << 5;
        match value {
            #[allow(clippy::cast_possible_truncation)]
            0..=23 => self.out.push(major | value as u8),
            24..=0xff => self.out.extend_from_slice(&[&[major | 24], &value.to_be_bytes()[7..]].concat()),
            0x100..=0xffff => {
                self.out.extend_from_slice(&[&[major | 25], &value.to_be_bytes()[6..]].concat())
            }
            0x1_0000..=0xffff_ffff => {
                self.out.extend_from_slice(&[&[major | 26], &value.to_be_bytes()[4..]].concat());
            }
            _ => self.out.extend_from_slice(&[&[major | 27], &value.to_be_bytes()[..]].concat()),
        }
    }
}

impl Sink for Writer {
    fn begin_structure(&mut self, structure: &Structure) {
        self.map(structure.fields.len());
    }

    fn begin_field(&mut self, _index: usize, name: &str) {
        self.text(name);
    }

    fn end_structure(&mut self) {}

    fn begin_array(&mut self, count: usize) {
        self.head(ARRAY, count as u64);
    }

    fn begin_element(&mut self, _index: usize) {}

    fn end_array(&mut self) {}

    fn boolean(&mut self, value: bool) {
        self.out.push(if value { 0xf5 } else { 0xf4 });
    }

    fn signed(&mut self, value: i64) {
        if value < 0 { self.head(NEGATIVE, !value as u64) } else { self.head(UNSIGNED, value as u64) }
    }

    fn unsigned(&mut self, value: u64) {
        self.head(UNSIGNED, value);
    }

    fn float32(&mut self, value: f32) {
        self.out.push(0xfa);
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn float64(&mut self, value: f64) {
        self.out.push(0xfb);
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn text(&mut self, value: &str) {
        self.head(TEXT, value.len() as u64);
        self.out.extend_from_slice(value.as_bytes());
    }

    fn binary(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }

    fn numbers(&mut self, primitive: Primitive, bytes: &[u8], is_big_endian: bool) -> bool {
        let Some((_, tag)) = TYPED_ARRAYS.iter().find(|(known, _)| *known == primitive) else { return false };
        self.head(TAG, *tag);
        self.bytes(bytes);
        let size = primitive.size().unwrap_or(1);
        if is_big_endian && size > 1 {
            let start = self.out.len() - bytes.len();
            for number in self.out.get_mut(start..).unwrap_or_default().chunks_exact_mut(size) {
                number.reverse();
            }
        }
        true
    }

    fn length(&self) -> (usize, usize) {
        (self.out.len(), MAX_LENGTH)
    }
}

fn json(value: Cbor) -> Result<Value, ConvertError> {
    let invalid = |what: &str| ConvertError::Other(format!("invalid CBOR: {what}"));
    Ok(match value {
        Cbor::Null => Value::Null,
        Cbor::Bool(value) => Value::Bool(value),
        Cbor::Integer(value) => {
            Value::Number(Number::from_i128(value.into()).ok_or_else(|| invalid("an integer out of range"))?)
        }
        Cbor::Float(value) => Number::from_f64(value).map_or(Value::Null, Value::Number),
        Cbor::Text(text) => Value::String(text),
        Cbor::Bytes(bytes) => Value::String(STANDARD.encode(bytes)),
        Cbor::Array(values) => Value::Array(values.into_iter().map(json).collect::<Result<_, _>>()?),
        Cbor::Map(entries) => {
            let entries = entries.into_iter().map(|(key, value)| match key {
                Cbor::Text(key) => Ok((key, json(value)?)),
                _ => Err(invalid("a key that is not text")),
            });
            Value::Object(entries.collect::<Result<Map<_, _>, _>>()?)
        }
        Cbor::Tag(tag, inner) => match (TYPED_ARRAYS.iter().find(|(_, known)| *known == tag), *inner) {
            (Some((primitive, _)), Cbor::Bytes(bytes)) => typed_array(*primitive, &bytes),
            _ => return Err(invalid("an unknown tag")),
        },
        _ => return Err(invalid("an unknown value")),
    })
}

fn typed_array(primitive: Primitive, bytes: &[u8]) -> Value {
    fn numbers<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> Value) -> Value {
        Value::Array(bytes.as_chunks().0.iter().map(|chunk| number(*chunk)).collect())
    }
    match primitive {
        Primitive::Uint16 => numbers(bytes, |b| u16::from_le_bytes(b).into()),
        Primitive::Uint32 => numbers(bytes, |b| u32::from_le_bytes(b).into()),
        Primitive::Uint64 => numbers(bytes, |b| u64::from_le_bytes(b).into()),
        Primitive::Int8 => numbers(bytes, |b| i8::from_le_bytes(b).into()),
        Primitive::Int16 => numbers(bytes, |b| i16::from_le_bytes(b).into()),
        Primitive::Int32 => numbers(bytes, |b| i32::from_le_bytes(b).into()),
        Primitive::Int64 => numbers(bytes, |b| i64::from_le_bytes(b).into()),
        // NaN and infinities become null.
        Primitive::Float32 => numbers(bytes, |b| f32::from_le_bytes(b).into()),
        Primitive::Float64 => numbers(bytes, |b| f64::from_le_bytes(b).into()),
        _ => numbers(bytes, |[byte]| byte.into()),
    }
}
