//! CDR to JSON and back, with the conventions of rosbridge v2: arrays of `uint8` and `char` are base64, NaN and
//! infinities are `null`, fields that are left out have their default.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::cdr::{self, ConvertError, Output, Sink};
use crate::schema::{ElementType, Field, Primitive, Shape, Structure};

/// Maximum length of a converted message, bytes.
pub const MAX_LENGTH: usize = 64 << 20;

/// The type of a header, and that of the stamp in it.
const HEADER: &str = "std_msgs/msg/Header";
const TIME: &str = "builtin_interfaces/msg/Time";

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
    to_cdr_at(structure, value, None)
}

/// As [`to_cdr`]. With the time since 1970, stamps are as clients of rosbridge mean them: `"now"` is this time, and so is
/// the stamp of a header that has none, and that of the message's own header, if it is left out.
///
/// # Errors
/// As [`to_cdr`].
pub fn to_cdr_at(
    structure: &Structure,
    value: &Value,
    now: Option<Duration>,
) -> Result<Vec<u8>, ConvertError> {
    let mut out = Output::new(MAX_LENGTH);
    write_fields(structure, value, now, true, &mut out)?;
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

fn write_structure(
    structure: &Structure,
    value: &Value,
    now: Option<Duration>,
    out: &mut Output,
) -> Result<(), ConvertError> {
    write_fields(structure, value, now, false, out)
}

/// `is_message`: it is not inside of another one.
fn write_fields(
    structure: &Structure,
    value: &Value,
    now: Option<Duration>,
    is_message: bool,
    out: &mut Output,
) -> Result<(), ConvertError> {
    let fields = match (value, now) {
        (Value::Object(fields), _) => fields,
        (Value::String(text), Some(now)) if text == "now" && structure.name == TIME => {
            return write_time(now, out);
        }
        _ => return Err(expected(&format!("an object of type {}", structure.name), value)),
    };
    if structure.fields.is_empty() {
        out.raw(&[0])?;
    }
    let mut used = 0;
    for field in &structure.fields {
        let given = fields.get(&field.name).or_else(|| fields.get(old_name(structure, &field.name)?));
        used += usize::from(given.is_some());
        let is_empty = given.is_none_or(|value| value.as_object().is_some_and(Map::is_empty));
        let written = match (given.or(field.default.as_ref()), now) {
            (_, Some(now)) if is_empty && structure.name == HEADER && field.kind.name() == TIME => {
                write_time(now, out)
            }
            (None, Some(_)) if is_message && field.shape == Shape::Single && field.kind.name() == HEADER => {
                write_value(field, &Value::Object(Map::new()), now, out)
            }
            (Some(value), _) => write_field(field, value, now, out),
            (None, _) => write_zero(field, out),
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

/// Writes a `builtin_interfaces/Time`.
fn write_time(time: Duration, out: &mut Output) -> Result<(), ConvertError> {
    let seconds = i32::try_from(time.as_secs())
        .map_err(|_| other(format!("{time:?} is out of the range of a stamp")))?;
    out.number(seconds.to_le_bytes())?;
    out.number(time.subsec_nanos().to_le_bytes())
}

/// The name of a field in ROS 1, which programs still use.
fn old_name(structure: &Structure, field: &str) -> Option<&'static str> {
    let is_time = matches!(structure.name.as_str(), TIME | "builtin_interfaces/msg/Duration");
    match field {
        "sec" if is_time => Some("secs"),
        "nanosec" if is_time => Some("nsecs"),
        _ => None,
    }
}

fn write_field(
    field: &Field,
    value: &Value,
    now: Option<Duration>,
    out: &mut Output,
) -> Result<(), ConvertError> {
    if field.shape == Shape::Single {
        return write_value(field, value, now, out);
    }
    let is_byte =
        matches!(field.kind, ElementType::Primitive(Primitive::Uint8 | Primitive::Char | Primitive::Byte));
    if let (true, Value::String(text)) = (is_byte, value) {
        let bytes = STANDARD.decode(text).map_err(|error| other(format!("invalid base64: {error}")))?;
        write_count(field, bytes.len(), out)?;
        return out.raw(&bytes);
    }
    let Value::Array(values) = value else { return Err(expected("an array", value)) };
    write_count(field, values.len(), out)?;
    for (index, value) in values.iter().enumerate() {
        write_value(field, value, now, out).map_err(|error| error.inside(&format!("[{index}]")))?;
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

fn write_value(
    field: &Field,
    value: &Value,
    now: Option<Duration>,
    out: &mut Output,
) -> Result<(), ConvertError> {
    let primitive = match &field.kind {
        ElementType::Structure(structure) => return write_structure(structure, value, now, out),
        ElementType::Primitive(primitive) => *primitive,
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
            if let Some(most) = field.max_text
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
            ElementType::Structure(structure) => {
                write_structure(structure, &Value::Object(Map::new()), None, out)?
            }
            ElementType::Primitive(Primitive::String) => {
                out.length(1)?;
                out.raw(&[0])?;
            }
            ElementType::Primitive(Primitive::WString) => out.length(0)?,
            ElementType::Primitive(primitive) => match primitive.size() {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::{Builtin, Types};

    const NOW: Duration = Duration::new(1_700_000_000, 5);

    /// The stamp at `place` of a message of a client of rosbridge.
    fn stamp(type_name: &str, message: &Value, place: &str) -> Result<Value, ConvertError> {
        let structure = Types::new(vec![Box::new(Builtin::default())]).message(type_name).unwrap();
        let data = to_cdr_at(&structure, message, Some(NOW))?;
        let text = from_cdr(&structure, &data)?;
        let message: Value = serde_json::from_str(&text).unwrap();
        Ok(message.pointer(place).unwrap().clone())
    }

    /// rosbridge's protocol, 3.3.3, and what its code does with headers inside of a message.
    #[test]
    fn a_stamp_that_is_left_out_is_the_present_time() {
        let (now, none) = (json!({ "sec": 1_700_000_000, "nanosec": 5 }), json!({ "sec": 0, "nanosec": 0 }));
        let given = json!({ "sec": 7, "nanosec": 8 });
        let pose = "geometry_msgs/PoseStamped";
        let path =
            |header: &Value| json!({ "header": { "stamp": given }, "poses": [{ "header": header }, {}] });
        let old = json!({ "header": { "stamp": { "secs": 7, "nsecs": 8 } } });
        for (type_name, message, place, expected) in [
            (pose, json!({ "header": { "frame_id": "base" } }), "/header/stamp", &now),
            (pose, json!({ "pose": {} }), "/header/stamp", &now),
            (pose, json!({}), "/header/stamp", &now),
            (pose, json!({ "header": { "stamp": "now" } }), "/header/stamp", &now),
            (pose, json!({ "header": { "stamp": {} } }), "/header/stamp", &now),
            (pose, json!({ "header": { "stamp": given } }), "/header/stamp", &given),
            (pose, json!({ "header": { "stamp": none } }), "/header/stamp", &none),
            (pose, old, "/header/stamp", &given),
            ("nav_msgs/Path", path(&json!({ "frame_id": "map" })), "/poses/0/header/stamp", &now),
            ("nav_msgs/Path", path(&json!({ "stamp": given })), "/poses/0/header/stamp", &given),
            ("nav_msgs/Path", path(&json!({})), "/poses/1/header/stamp", &none),
            ("rosgraph_msgs/Clock", json!({ "clock": "now" }), "/clock", &now),
            ("rosgraph_msgs/Clock", json!({}), "/clock", &none),
        ] {
            assert_eq!(stamp(type_name, &message, place).as_ref(), Ok(expected), "{type_name} {message}");
        }
        let refused = stamp(pose, &json!({ "header": { "stamp": "later" } }), "/header").unwrap_err();
        assert!(refused.to_string().contains("header.stamp"), "{refused}");
        let refused = stamp("builtin_interfaces/Duration", &json!("now"), "").unwrap_err();
        assert!(refused.to_string().contains("an object"), "{refused}");
    }
}
