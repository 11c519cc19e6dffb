//! Strings with a NUL: r2r panics on them, so they are refused before.

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use crate::{Error, Result};

/// Checks all strings of a message. Fields of other types cost nothing in a release build.
///
/// # Errors
/// A string contains NUL.
pub(crate) fn check(message: &impl Serialize) -> Result<()> {
    message.serialize(Check).map_err(|_nul| Error::SerdeError { err: "a string has a NUL".into() })
}

#[derive(Clone, Copy)]
struct Check;

#[derive(Debug, thiserror::Error)]
#[error("a string has a NUL")]
struct Nul;

impl ser::Error for Nul {
    fn custom<T: std::fmt::Display>(_message: T) -> Self {
        Self
    }
}

macro_rules! passed {
    ($($method:ident: $type:ty),*) => {
        $(#[inline]
        fn $method(self, _value: $type) -> Result<(), Nul> {
            Ok(())
        })*
    };
}

impl ser::Serializer for Check {
    type Ok = ();
    type Error = Nul;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    passed! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    }

    fn serialize_str(self, text: &str) -> Result<(), Nul> {
        if text.as_bytes().contains(&0) { Err(Nul) } else { Ok(()) }
    }

    fn serialize_none(self) -> Result<(), Nul> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Nul> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Nul> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<(), Nul> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Nul> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<(), Nul> {
        value.serialize(self)
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Self, Nul> {
        Ok(self)
    }

    fn serialize_tuple(self, _length: usize) -> Result<Self, Nul> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Self, Nul> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self, Nul> {
        Ok(self)
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Self, Nul> {
        Ok(self)
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Self, Nul> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self, Nul> {
        Ok(self)
    }
}

macro_rules! compound {
    ($($trait:ident: $method:ident($($key:ty)?)),*) => {
        $(impl $trait for Check {
            type Ok = ();
            type Error = Nul;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $(_key: $key,)? value: &T) -> Result<(), Nul> {
                value.serialize(*self)
            }

            fn end(self) -> Result<(), Nul> {
                Ok(())
            }
        })*
    };
}

compound! {
    SerializeSeq: serialize_element(), SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(), SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(&'static str), SerializeStructVariant: serialize_field(&'static str)
}

impl SerializeMap for Check {
    type Ok = ();
    type Error = Nul;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Nul> {
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Nul> {
        value.serialize(*self)
    }

    fn end(self) -> Result<(), Nul> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};

    #[test]
    fn a_nul_is_found_at_any_depth() {
        let message = |value: &str| DiagnosticArray {
            status: vec![DiagnosticStatus {
                values: vec![KeyValue { key: "text".into(), value: value.into() }],
                ..Default::default()
            }],
            ..Default::default()
        };
        assert!(check(&message("fine")).is_ok());
        assert!(check(&message("not\0fine")).is_err());
    }
}
