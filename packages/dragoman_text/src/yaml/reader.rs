//! Reads with any deserializer, and leaves out the keys that a struct does not know.

use std::cell::RefCell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::unknown;
use crate::{hint, nearest};

type Fields = &'static [&'static str];

/// The key of YAML 1.1 that takes over the entries of another mapping. It may contain known keys.
const MERGE: &str = "<<";

/// How unknown keys are handled, and which ones were left out.
#[derive(Default)]
pub(super) struct UnknownKeys {
    /// Every unknown key is an error.
    pub(super) is_strict: bool,
    /// The unknown key with this index is an error, in place of being left out.
    pub(super) stop_at: Option<usize>,
    /// These keys are ignored: neither left out nor misspelt.
    pub(super) apart: &'static [&'static str],
    /// The keys that were left out.
    pub(super) left_out: RefCell<Vec<String>>,
}

impl UnknownKeys {
    fn leave_out<E: Error>(&self, name: &str, known: Fields) -> Result<(), E> {
        if name == MERGE {
            return Err(E::custom("the key '<<' is not supported: write the values out"));
        }
        if self.apart.contains(&name) {
            return Ok(());
        }
        if self.is_strict || nearest(name, known.iter().copied()).is_some() {
            let hint = hint(name, known.iter().copied());
            return Err(E::custom(format!("{}{hint}", unknown(name))));
        }
        let mut all = self.left_out.borrow_mut();
        if self.stop_at == Some(all.len()) {
            return Err(E::custom(unknown(name)));
        }
        all.push(name.to_owned());
        Ok(())
    }
}

/// A deserializer.
pub(super) struct Reader<'s, D> {
    pub(super) inner: D,
    pub(super) unknown_keys: &'s UnknownKeys,
}

macro_rules! plain {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$name(visitor)
        }
    )*};
}

macro_rules! nested {
    ($($name:ident($($argument:ident: $kind:ty),*))*) => {$(
        fn $name<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$name($($argument,)* Content { visitor, fields: None, unknown_keys: self.unknown_keys })
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Reader<'_, D> {
    type Error = D::Error;

    plain! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    nested! {
        deserialize_any()
        deserialize_option()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map()
        deserialize_enum(name: &'static str, variants: Fields)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: Fields,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let content = Content { visitor, fields: Some(fields), unknown_keys: self.unknown_keys };
        self.inner.deserialize_struct(name, fields, content)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// What is in a value. With fields it is a struct.
struct Content<'s, V> {
    visitor: V,
    fields: Option<Fields>,
    unknown_keys: &'s UnknownKeys,
}

macro_rules! scalars {
    ($($name:ident: $kind:ty;)*) => {$(
        fn $name<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.visitor.$name(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Content<'_, V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(out)
    }

    scalars! {
        visit_bool: bool;
        visit_i64: i64;
        visit_i128: i128;
        visit_u64: u64;
        visit_u128: u128;
        visit_f64: f64;
        visit_str: &str;
        visit_borrowed_str: &'de str;
        visit_string: String;
        visit_bytes: &[u8];
        visit_borrowed_bytes: &'de [u8];
        visit_byte_buf: Vec<u8>;
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Reader { inner, unknown_keys: self.unknown_keys })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Reader { inner, unknown_keys: self.unknown_keys })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(Items { inner, unknown_keys: self.unknown_keys })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let Self { visitor, fields, unknown_keys } = self;
        visitor.visit_map(Entries { inner, fields, seen: Vec::new(), unknown_keys })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Choice { inner, unknown_keys: self.unknown_keys })
    }
}

pub(super) struct Seed<'s, S> {
    pub(super) seed: S,
    pub(super) unknown_keys: &'s UnknownKeys,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Seed<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(Reader { inner, unknown_keys: self.unknown_keys })
    }
}

struct Items<'s, A> {
    inner: A,
    unknown_keys: &'s UnknownKeys,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_element_seed(Seed { seed, unknown_keys: self.unknown_keys })
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

struct Entries<'s, A> {
    inner: A,
    fields: Option<Fields>,
    /// Fields that were there before.
    seen: Vec<&'static str>,
    unknown_keys: &'s UnknownKeys,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Entries<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let Some(fields) = self.fields else { return self.inner.next_key_seed(seed) };
        while let Some(key) =
            self.inner.next_key_seed(Key { fields, seen: &self.seen, unknown_keys: self.unknown_keys })?
        {
            if let Some(field) = key {
                self.seen.push(field);
                return seed.deserialize(field.into_deserializer()).map(Some);
            }
            self.inner.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(Seed { seed, unknown_keys: self.unknown_keys })
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// A key of a struct: one of its fields, or `None` if it is left out. Errors are made here, where they have the key's place.
struct Key<'s> {
    fields: Fields,
    seen: &'s [&'static str],
    unknown_keys: &'s UnknownKeys,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<&'static str>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        match self.fields.iter().find(|field| **field == name) {
            Some(field) if self.seen.contains(field) => {
                Err(E::custom(format!("the key '{field}' is given twice")))
            }
            Some(field) => Ok(Some(field)),
            None => self.unknown_keys.leave_out(name, self.fields).map(|()| None),
        }
    }
}

struct Choice<'s, A> {
    inner: A,
    unknown_keys: &'s UnknownKeys,
}

impl<'de, 's, A: EnumAccess<'de>> EnumAccess<'de> for Choice<'s, A> {
    type Error = A::Error;
    type Variant = Choice<'s, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (variant, inner) = self.inner.variant_seed(seed)?;
        Ok((variant, Choice { inner, unknown_keys: self.unknown_keys }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Choice<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.newtype_variant_seed(Seed { seed, unknown_keys: self.unknown_keys })
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.inner.tuple_variant(len, Content { visitor, fields: None, unknown_keys: self.unknown_keys })
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: Fields, visitor: V) -> Result<V::Value, A::Error> {
        self.inner.struct_variant(
            fields,
            Content { visitor, fields: Some(fields), unknown_keys: self.unknown_keys },
        )
    }
}
