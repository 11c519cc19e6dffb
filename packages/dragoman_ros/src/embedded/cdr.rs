//! CDR serialization of the generated message structures (OMG CORBA 3.4 part 2, 9.3; XCDR version 1).

use byteorder::{BigEndian, LittleEndian};
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

use super::error::{Error, Result};

/// Byte order and format of a serialized payload, from its encapsulation header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    LittleEndian,
    BigEndian,
}

/// Little-endian CDR of `value` without the encapsulation header, padded with zeros to a multiple of four bytes:
/// Cyclone DDS rejects a fragmented sample of any other length as malformed.
pub(crate) fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    write(value, Vec::new())
}

/// As [`to_bytes`], into an empty vector, which may have capacity.
pub(crate) fn write<T: Serialize>(value: &T, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    bytes.reserve(size_of::<T>());
    cdr_encoding::to_writer::<T, LittleEndian, _>(&mut bytes, value).map_err(serde_error)?;
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    Ok(bytes)
}

/// Deserializes the value at the beginning of `bytes`, a payload without encapsulation header.
pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8], encoding: Encoding) -> Result<T> {
    match encoding {
        Encoding::LittleEndian => cdr_encoding::from_bytes::<T, LittleEndian>(bytes),
        Encoding::BigEndian => cdr_encoding::from_bytes::<T, BigEndian>(bytes),
    }
    .map(|(value, _consumed)| value)
    .map_err(serde_error)
}

fn serde_error(error: impl fmt::Display) -> Error {
    Error::SerdeError { err: error.to_string() }
}

/// Serde of an IDL array of `N` elements that is kept in a `Vec`: serialized without a length.
pub(crate) struct FixedArray<const N: usize>;

impl<const N: usize> FixedArray<N> {
    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        values: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if values.len() != N {
            let message = format!("an array of {N} elements was given {}", values.len());
            return Err(serde::ser::Error::custom(message));
        }
        let mut tuple = serializer.serialize_tuple(N)?;
        for value in values {
            tuple.serialize_element(value)?;
        }
        tuple.end()
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
    where
        T: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        deserializer.deserialize_tuple(N, ArrayVisitor::<T, N>(PhantomData))
    }
}

struct ArrayVisitor<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for ArrayVisitor<T, N> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an array of {N} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::with_capacity(N);
        while let Some(value) = sequence.next_element()? {
            values.push(value);
        }
        if values.len() == N {
            Ok(values)
        } else {
            Err(serde::de::Error::invalid_length(values.len(), &self))
        }
    }
}
