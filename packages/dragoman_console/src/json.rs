//! CDR to JSON and back, with the conventions of rosbridge v2: arrays of `uint8` and `char` are base64, NaN and
//! infinities are `null`, fields that are left out have their default.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::cdr::{self, ConvertError, Output, Sink};
use crate::schema::{Field, Kind, Primitive, Shape, Structure};

/// Longest converted message, bytes.
pub const MAX_LENGTH: usize = 64 << 20;

/// The JSON text of a serialized message.
///
/// # Errors
/// The bytes are not a message of the type; the text would be longer than [`MAX_LENGTH`].
pub fn from_cdr(structure: &Structure, data: &[u8]) -> Result<String, ConvertError> {
    convert(structure, data).map(|(text, _rest)| text)
}

/// As [`from_cdr`], for messages that clients have serialized: nothing but padding may follow.
///
/// # Errors
/// As [`from_cdr`]; bytes after the message.
pub fn from_whole_cdr(structure: &Structure, data: &[u8]) -> Result<String, ConvertError> {
    match convert(structure, data)? {
        (text, 0..4) => Ok(text),
        (_, rest) => Err(ConvertError::Rest(rest)),
    }
}

fn convert(structure: &Structure, data: &[u8]) -> Result<(String, usize), ConvertError> {
    let mut sink = Text { out: Vec::with_capacity(data.len() * 2) };
    let rest = cdr::read(structure, data, &mut sink)?;
    let text = String::from_utf8(sink.out).map_err(|error| ConvertError::Other(error.to_string()))?;
    Ok((text, rest))
}

/// The serialized message of a JSON object. The keys of `builtin_interfaces/Time` and `Duration` may be those of ROS 1.
///
/// # Errors
/// A field that the type does not have; a value of another type or out of range; a message that is too long.
pub fn to_cdr(structure: &Structure, value: &Value) -> Result<Vec<u8>, ConvertError> {
    let mut out = Output::new(MAX_LENGTH);
    write_structure(structure, value, &mut out)?;
    Ok(out.finish())
}

/// The serialized message with all defaults.
///
/// # Errors
/// The message would be longer than [`MAX_LENGTH`].
pub fn default_cdr(structure: &Structure) -> Result<Vec<u8>, ConvertError> {
    to_cdr(structure, &Value::Object(Map::new()))
}

/// Writes JSON text.
struct Text {
    out: Vec<u8>,
}

impl Text {
    fn put(&mut self, value: &(impl serde::Serialize + ?Sized)) {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut self.out, value);
    }
}

impl Sink for Text {
    fn begin_structure(&mut self, _structure: &Structure) {
        self.out.push(b'{');
    }

    fn begin_field(&mut self, index: usize, name: &str) {
        if index > 0 {
            self.out.push(b',');
        }
        // Names are tokens.
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn end_structure(&mut self) {
        self.out.push(b'}');
    }

    fn begin_array(&mut self, _count: usize) {
        self.out.push(b'[');
    }

    fn begin_element(&mut self, index: usize) {
        if index > 0 {
            self.out.push(b',');
        }
    }

    fn end_array(&mut self) {
        self.out.push(b']');
    }

    fn boolean(&mut self, value: bool) {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    fn signed(&mut self, value: i64) {
        self.put(&value);
    }

    fn unsigned(&mut self, value: u64) {
        self.put(&value);
    }

    // serde_json writes null for NaN and infinities.
    fn float32(&mut self, value: f32) {
        self.put(&value);
    }

    fn float64(&mut self, value: f64) {
        self.put(&value);
    }

    fn text(&mut self, value: &str) {
        self.put(value);
    }

    fn binary(&mut self, bytes: &[u8]) {
        let start = self.out.len() + 1;
        self.out.push(b'"');
        self.out.resize(start + bytes.len().div_ceil(3) * 4, 0);
        let room = self.out.get_mut(start..).unwrap_or_default();
        let written = STANDARD.encode_slice(bytes, room).unwrap_or_default();
        self.out.truncate(start + written);
        self.out.push(b'"');
    }

    fn length(&self) -> (usize, usize) {
        (self.out.len(), MAX_LENGTH)
    }
}

fn write_structure(structure: &Structure, value: &Value, out: &mut Output) -> Result<(), ConvertError> {
    let Value::Object(fields) = value else {
        return Err(expected(&format!("an object of type {}", structure.name), value));
    };
    if structure.fields.is_empty() {
        out.raw(&[0])?;
    }
    let mut used = 0;
    for field in &structure.fields {
        let given = fields.get(&field.name).or_else(|| fields.get(old_name(structure, &field.name)?));
        used += usize::from(given.is_some());
        let written = match given.or(field.default.as_ref()) {
            Some(value) => write_field(field, value, out),
            None => write_zero(field, out),
        };
        written.map_err(|error| error.inside(&field.name))?;
    }
    if used < fields.len() {
        let is_known = |name: &str| {
            structure
                .fields
                .iter()
                .any(|field| field.name == name || old_name(structure, &field.name) == Some(name))
        };
        let unknown = fields.keys().find(|name| !is_known(name)).map_or("", String::as_str);
        return Err(ConvertError::Other(format!("{} has no field '{unknown}'", structure.name)));
    }
    Ok(())
}

/// The name of a field in ROS 1, which programs still use.
fn old_name(structure: &Structure, field: &str) -> Option<&'static str> {
    let is_time =
        matches!(structure.name.as_str(), "builtin_interfaces/msg/Time" | "builtin_interfaces/msg/Duration");
    match field {
        "sec" if is_time => Some("secs"),
        "nanosec" if is_time => Some("nsecs"),
        _ => None,
    }
}

fn write_field(field: &Field, value: &Value, out: &mut Output) -> Result<(), ConvertError> {
    if field.shape == Shape::Single {
        return write_value(field, value, out);
    }
    let is_byte = matches!(field.kind, Kind::Primitive(Primitive::Uint8 | Primitive::Char | Primitive::Byte));
    if let (true, Value::String(text)) = (is_byte, value) {
        let bytes = STANDARD.decode(text).map_err(|error| other(format!("invalid base64: {error}")))?;
        write_count(field, bytes.len(), out)?;
        return out.raw(&bytes);
    }
    let Value::Array(values) = value else { return Err(expected("an array", value)) };
    write_count(field, values.len(), out)?;
    for (index, value) in values.iter().enumerate() {
        write_value(field, value, out).map_err(|error| error.inside(&format!("[{index}]")))?;
    }
    Ok(())
}

/// Checks and writes the number of elements.
fn write_count(field: &Field, count: usize, out: &mut Output) -> Result<(), ConvertError> {
    match field.shape {
        Shape::Array(length) if length != count => {
            Err(other(format!("an array of {length} elements was given {count}")))
        }
        Shape::Sequence(Some(most)) if count > most => {
            Err(other(format!("at most {most} elements are allowed, {count} were given")))
        }
        Shape::Sequence(_) => out.length(count),
        Shape::Array(_) | Shape::Single => Ok(()),
    }
}

fn write_value(field: &Field, value: &Value, out: &mut Output) -> Result<(), ConvertError> {
    let primitive = match &field.kind {
        Kind::Structure(structure) => return write_structure(structure, value, out),
        Kind::Primitive(primitive) => *primitive,
    };
    match primitive {
        Primitive::Bool => {
            let value = value.as_bool().ok_or_else(|| expected("true or false", value))?;
            out.raw(&[u8::from(value)])
        }
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => out.raw(&[integer::<u8>(value)?]),
        Primitive::Int8 => out.number(integer::<i8>(value)?.to_le_bytes()),
        Primitive::Int16 => out.number(integer::<i16>(value)?.to_le_bytes()),
        Primitive::Uint16 => out.number(integer::<u16>(value)?.to_le_bytes()),
        Primitive::Int32 => out.number(integer::<i32>(value)?.to_le_bytes()),
        Primitive::Uint32 => out.number(integer::<u32>(value)?.to_le_bytes()),
        Primitive::Int64 => out.number(integer::<i64>(value)?.to_le_bytes()),
        Primitive::Uint64 => out.number(integer::<u64>(value)?.to_le_bytes()),
        Primitive::Float32 => {
            let wide = float(value)?;
            #[allow(clippy::cast_possible_truncation)]
            let narrow = wide as f32;
            if wide.is_finite() && !narrow.is_finite() {
                return Err(other(format!("{wide} is out of the range of float32")));
            }
            out.number(narrow.to_le_bytes())
        }
        Primitive::Float64 => out.number(float(value)?.to_le_bytes()),
        Primitive::String | Primitive::WString => {
            let text = value.as_str().ok_or_else(|| expected("a string", value))?;
            if text.contains('\0') {
                return Err(other("a string may not contain NUL".to_owned()));
            }
            if let Some(most) = field.most_text
                && text.len() > most
            {
                return Err(other(format!("a string of at most {most} bytes was given {}", text.len())));
            }
            if primitive == Primitive::WString {
                let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                out.length(units.len() / 2)?;
                return out.raw(&units);
            }
            out.length(text.len() + 1)?;
            out.raw(text.as_bytes())?;
            out.raw(&[0])
        }
    }
}

/// Writes a field that is left out and has no default.
fn write_zero(field: &Field, out: &mut Output) -> Result<(), ConvertError> {
    let count = match field.shape {
        Shape::Sequence(_) => return out.length(0),
        Shape::Single => 1,
        Shape::Array(count) => count,
    };
    for _ in 0..count {
        match &field.kind {
            Kind::Structure(structure) => write_structure(structure, &Value::Object(Map::new()), out)?,
            Kind::Primitive(Primitive::String) => {
                out.length(1)?;
                out.raw(&[0])?;
            }
            Kind::Primitive(Primitive::WString) => out.length(0)?,
            Kind::Primitive(primitive) => match primitive.size() {
                Some(8) => out.number([0; 8])?,
                Some(4) => out.number([0; 4])?,
                Some(2) => out.number([0; 2])?,
                _ => out.raw(&[0])?,
            },
        }
    }
    Ok(())
}

/// JavaScript writes 1.0 as 1, and some programs 1 as 1.0.
fn integer<T: TryFrom<i128>>(value: &Value) -> Result<T, ConvertError> {
    let Value::Number(number) = value else { return Err(expected("an integer", value)) };
    let whole = number.as_i128().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e19)?;
        #[allow(clippy::cast_possible_truncation)]
        Some(float as i128)
    });
    let whole = whole.ok_or_else(|| expected("an integer", value))?;
    T::try_from(whole).map_err(|_| other(format!("{whole} is out of range")))
}

/// `null` is NaN, as it is on the way out.
fn float(value: &Value) -> Result<f64, ConvertError> {
    match value {
        Value::Null => Ok(f64::NAN),
        Value::Number(number) => number.as_f64().ok_or_else(|| expected("a number", value)),
        _ => Err(expected("a number", value)),
    }
}

fn other(reason: String) -> ConvertError {
    ConvertError::Other(reason)
}

fn expected(what: &str, given: &Value) -> ConvertError {
    let given = match given {
        Value::Null => "null",
        Value::Bool(_) => "a Boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    other(format!("expected {what}, got {given}"))
}
