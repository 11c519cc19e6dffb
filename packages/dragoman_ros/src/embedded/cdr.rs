//! CDR serialization of the generated message structures (OMG CORBA 3.4 part 2, 9.3; XCDR version 1).
//!
//! The functions of a structure are generated and not generic, so that they are compiled once, with this crate. The
//! first error is kept in [`Output`] or [`Input`]: functions of structures have no branches for errors.

use super::error::{Error, Result};

/// Byte order and format of a serialized payload, from its encapsulation header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    LittleEndian,
    BigEndian,
}

/// Little-endian CDR of `value` without the encapsulation header, padded with zeros to a multiple of four bytes:
/// Cyclone DDS rejects a fragmented sample of any other length as malformed.
pub(crate) fn to_bytes<T: Cdr>(value: &T) -> Result<Vec<u8>> {
    write(value, Vec::new())
}

/// As [`to_bytes`], into an empty vector, which may have capacity.
pub(crate) fn write<T: Cdr>(value: &T, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    bytes.reserve(size_of::<T>());
    let mut out = Output { bytes, error: None };
    value.write(&mut out);
    out.finish()
}

/// Deserializes the value at the beginning of `bytes`, a payload without encapsulation header.
pub(crate) fn from_bytes<T: Cdr>(bytes: &[u8], encoding: Encoding) -> Result<T> {
    let mut input =
        Input { rest: bytes, consumed: 0, is_big_endian: encoding == Encoding::BigEndian, error: None };
    let value = T::read(&mut input);
    input.finish().map(|()| value)
}

/// Types that are parts of messages. A value takes at least one byte.
pub trait Cdr: Sized {
    /// Appends the value.
    fn write(&self, out: &mut Output);

    /// Reads a value; any value after an error.
    fn read(input: &mut Input<'_>) -> Self;

    /// Appends elements without their number.
    fn write_all(values: &[Self], out: &mut Output) {
        for value in values {
            value.write(out);
        }
    }

    /// Reads `count` elements; fewer after an error.
    fn read_all(input: &mut Input<'_>, count: usize) -> Vec<Self> {
        let mut values = Vec::new();
        // `count` is from the network: memory is used as far as there are bytes.
        while values.len() < count && input.error.is_none() {
            values.push(Self::read(input));
        }
        values
    }
}

/// A payload that is being written.
#[derive(Debug)]
pub struct Output {
    bytes: Vec<u8>,
    error: Option<String>,
}

impl Output {
    /// Appends an IDL array, which has no length on the wire. Another number of values is an error.
    pub(crate) fn array<T: Cdr>(&mut self, values: &[T], length: usize) {
        if values.len() == length {
            T::write_all(values, self);
        } else {
            self.fail(format!("an array of {length} elements was given {}", values.len()));
        }
    }

    /// The number of elements or bytes that follow.
    fn length(&mut self, length: usize) {
        match u32::try_from(length) {
            Ok(length) => length.write(self),
            Err(_) => self.fail(format!("{length} elements are too many")),
        }
    }

    fn align(&mut self, alignment: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    fn fail(&mut self, reason: String) {
        self.error.get_or_insert(reason);
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        match self.error {
            Some(err) => Err(Error::SerdeError { err }),
            None => {
                self.align(4);
                Ok(self.bytes)
            }
        }
    }
}

/// A payload that is being read. After an error it is empty.
#[derive(Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
    consumed: usize,
    is_big_endian: bool,
    error: Option<Malformed>,
}

#[derive(Clone, Debug, thiserror::Error)]
enum Malformed {
    #[error("unexpected end of input")]
    TooShort,
    #[error("Expected 0 or 1 as Boolean, got: {0}")]
    Boolean(u8),
    #[error("UTF-8 error: {0}")]
    Text(std::str::Utf8Error),
}

impl<'a> Input<'a> {
    /// Reads an IDL array, which has no length on the wire.
    pub(crate) fn array<T: Cdr>(&mut self, length: usize) -> Vec<T> {
        T::read_all(self, length)
    }

    /// The next `count` bytes; none after an error.
    fn take(&mut self, count: usize) -> &'a [u8] {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                self.consumed += count;
                taken
            }
            None => {
                self.fail(Malformed::TooShort);
                &[]
            }
        }
    }

    /// The next `N` bytes; zeros after an error.
    fn take_array<const N: usize>(&mut self) -> [u8; N] {
        self.align(N);
        self.take(N).first_chunk().copied().unwrap_or([0; N])
    }

    fn align(&mut self, alignment: usize) {
        self.take(self.consumed.next_multiple_of(alignment) - self.consumed);
    }

    /// The number of elements or bytes that follow.
    fn length(&mut self) -> usize {
        u32::read(self) as usize
    }

    fn fail(&mut self, error: Malformed) {
        self.error.get_or_insert(error);
        self.rest = &[];
    }

    fn finish(self) -> Result<()> {
        self.error.map_or(Ok(()), |error| Err(Error::SerdeError { err: error.to_string() }))
    }
}

macro_rules! number {
    ($($number:ty),*) => {
        $(impl Cdr for $number {
            fn write(&self, out: &mut Output) {
                out.align(size_of::<Self>());
                out.bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(input: &mut Input<'_>) -> Self {
                let bytes = input.take_array();
                if input.is_big_endian { Self::from_be_bytes(bytes) } else { Self::from_le_bytes(bytes) }
            }

            fn write_all(values: &[Self], out: &mut Output) {
                if values.is_empty() {
                    return;
                }
                out.align(size_of::<Self>());
                let start = out.bytes.len();
                out.bytes.resize(start + size_of_val(values), 0);
                let places = out.bytes.get_mut(start..).unwrap_or_default().chunks_exact_mut(size_of::<Self>());
                for (place, value) in places.zip(values) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }

            fn read_all(input: &mut Input<'_>, count: usize) -> Vec<Self> {
                if count == 0 {
                    return Vec::new();
                }
                input.align(size_of::<Self>());
                let numbers = input.take(count.saturating_mul(size_of::<Self>())).as_chunks().0.iter();
                if input.is_big_endian {
                    numbers.map(|bytes| Self::from_be_bytes(*bytes)).collect()
                } else {
                    numbers.map(|bytes| Self::from_le_bytes(*bytes)).collect()
                }
            }
        })*
    };
}

number!(i8, i16, u16, i32, u32, i64, u64, f32, f64);

impl Cdr for u8 {
    fn write(&self, out: &mut Output) {
        out.bytes.push(*self);
    }

    fn read(input: &mut Input<'_>) -> Self {
        let [byte] = input.take_array();
        byte
    }

    fn write_all(values: &[Self], out: &mut Output) {
        out.bytes.extend_from_slice(values);
    }

    fn read_all(input: &mut Input<'_>, count: usize) -> Vec<Self> {
        input.take(count).to_vec()
    }
}

impl Cdr for bool {
    fn write(&self, out: &mut Output) {
        out.bytes.push(u8::from(*self));
    }

    fn read(input: &mut Input<'_>) -> Self {
        match u8::read(input) {
            0 => false,
            1 => true,
            other => {
                input.fail(Malformed::Boolean(other));
                false
            }
        }
    }
}

impl Cdr for String {
    fn write(&self, out: &mut Output) {
        // With the NUL that ends it.
        out.length(self.len() + 1);
        out.bytes.extend_from_slice(self.as_bytes());
        out.bytes.push(0);
    }

    fn read(input: &mut Input<'_>) -> Self {
        let length = input.length();
        // Some peers send an empty string without its NUL.
        let text = input.take(length).split_last().map_or(&[][..], |(_nul, text)| text);
        match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(error) => {
                input.fail(Malformed::Text(error));
                Self::new()
            }
        }
    }
}

impl<T: Cdr> Cdr for Vec<T> {
    fn write(&self, out: &mut Output) {
        out.length(self.len());
        T::write_all(self, out);
    }

    fn read(input: &mut Input<'_>) -> Self {
        let count = input.length();
        T::read_all(input, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry_msgs::msg::Point;
    use crate::sensor_msgs::msg::{BatteryState, ChannelFloat32};
    use crate::unique_identifier_msgs::msg::UUID;

    const BYTES: [u8; 24] = [
        2, 0, 0, 0, b'a', 0, // the text with its NUL
        0, 0, // padding
        3, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0, // 1, -2 and 0
    ];

    fn channel() -> ChannelFloat32 {
        ChannelFloat32 { name: "a".into(), values: vec![1.0, -2.0, 0.0] }
    }

    fn refused<T: Cdr>(bytes: &[u8]) -> String {
        from_bytes::<T>(bytes, Encoding::LittleEndian).map(|_value| ()).unwrap_err().to_string()
    }

    #[test]
    fn numbers_are_aligned_to_their_size() {
        assert_eq!(to_bytes(&channel()).unwrap(), BYTES);
        assert_eq!(from_bytes::<ChannelFloat32>(&BYTES, Encoding::LittleEndian).unwrap(), channel());
        // No padding before the elements of an empty sequence; up to four bytes at the end.
        assert_eq!(to_bytes(&Vec::<f64>::new()).unwrap(), [0; 4]);
        assert_eq!(to_bytes(&vec![1.0_f64]).unwrap(), [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(to_bytes(&vec![7_u8]).unwrap(), [1, 0, 0, 0, 7, 0, 0, 0]);
    }

    #[test]
    fn both_byte_orders_are_read() {
        let bytes = [0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0xff, 0xfe];
        let mut input = Input { rest: &bytes, consumed: 0, is_big_endian: true, error: None };
        assert_eq!((u32::read(&mut input), u32::read(&mut input)), (1, 0));
        assert_eq!(input.array::<i16>(2), [2, -2]);
        assert!(input.finish().is_ok());
        let one = [0x3f, 0xf0, 0, 0, 0, 0, 0, 0];
        let point = from_bytes::<Point>(&[one; 3].concat(), Encoding::BigEndian).unwrap();
        assert_eq!(point, Point { x: 1.0, y: 1.0, z: 1.0 });
    }

    #[test]
    fn arrays_have_no_length_on_the_wire_and_no_other_in_memory() {
        let id = UUID { uuid: (0..16).collect() };
        assert_eq!(to_bytes(&id).unwrap(), id.uuid);
        assert_eq!(from_bytes::<UUID>(&id.uuid, Encoding::LittleEndian).unwrap(), id);
        let error = to_bytes(&UUID { uuid: vec![0; 15] }).unwrap_err().to_string();
        assert!(error.contains("an array of 16 elements was given 15"), "{error}");
    }

    #[test]
    fn malformed_payloads_are_refused() {
        for length in 0..BYTES.len() {
            assert!(refused::<ChannelFloat32>(&BYTES[..length]).contains("unexpected end"), "{length}");
        }
        // Four billion elements, of which there are none.
        assert!(refused::<Vec<ChannelFloat32>>(&[0xff; 4]).contains("unexpected end"));
        assert!(refused::<Vec<f64>>(&[0xff; 4]).contains("unexpected end"));
        assert!(refused::<bool>(&[2]).contains("Boolean, got: 2"));
        assert!(refused::<String>(&[2, 0, 0, 0, 0xff, 0]).contains("UTF-8"));
        // The first error counts.
        assert!(refused::<(Vec<bool>, String)>(&[2, 0, 0, 0, 1, 3]).contains("Boolean, got: 3"));
        let mut state = to_bytes(&BatteryState::default()).unwrap();
        state.truncate(20);
        assert!(refused::<BatteryState>(&state).contains("unexpected end"));
    }

    #[test]
    fn an_empty_string_may_omit_its_nul() {
        for bytes in [&[0, 0, 0, 0][..], &[1, 0, 0, 0, 0]] {
            assert_eq!(from_bytes::<String>(bytes, Encoding::LittleEndian).unwrap(), "");
        }
    }

    impl<A: Cdr, B: Cdr> Cdr for (A, B) {
        fn write(&self, out: &mut Output) {
            self.0.write(out);
            self.1.write(out);
        }

        fn read(input: &mut Input<'_>) -> Self {
            (A::read(input), B::read(input))
        }
    }
}
