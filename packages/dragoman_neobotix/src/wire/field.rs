//! The parts of a message: numbers, texts, lists, and structs of these.
//!
//! [`Field`] is anything that can be read from and written to the data of a message. Structures are made of
//! `protocols/neobotix.yaml` in `dragoman_protocol`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use super::Fault;
use crate::codes::Code;

/// Reads data from its beginning.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
    /// Offset and name of the current field.
    pub(super) offset: usize,
    pub(super) field: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { rest: data, len: data.len(), offset: 0, field: "command" }
    }

    /// Reads the field with this name.
    pub(super) fn field<T: Field>(&mut self, name: &'static str) -> Result<T, Fault> {
        self.mark(name);
        T::read(self)
    }

    /// Sets the name and offset of the current field.
    pub(super) fn mark(&mut self, name: &'static str) {
        self.field = name;
        self.offset = self.len - self.rest.len();
    }

    /// Number of remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let short = Fault::Short { needed: len, left: self.left() };
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let short = Fault::Short { needed: N, left: self.left() };
        let (taken, rest) = self.rest.split_first_chunk().ok_or(short)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Reads an INT number of elements of at least `element` bytes each; refuses a number that exceeds the remaining
    /// bytes.
    fn count(&mut self, element: usize) -> Result<usize, Fault> {
        let count = i32::read(self)?;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= self.left() / element.max(1))
            .ok_or(Fault::Count { count, left: self.left() })
    }
}

/// A part of a message.
pub(super) trait Field: Sized {
    /// Minimum size, bytes.
    const MIN_LEN: usize;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault>;

    fn write(&self, bytes: &mut Vec<u8>);

    /// A random value.
    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Field for $number {
            const MIN_LEN: usize = size_of::<$number>();

            fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
                Ok(Self::from_be_bytes(reader.chunk()?))
            }

            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_be_bytes());
            }

            #[cfg(test)]
            fn sample(source: &mut super::properties::Source) -> Self {
                Self::from_be_bytes(source.bytes())
            }
        }
    )*};
}

numbers!(u8, i16, i32);

impl Field for f64 {
    const MIN_LEN: usize = 8;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(Self::from_be_bytes(reader.chunk()?))
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_be_bytes());
    }

    /// Never NaN, which is not equal to itself.
    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        Some(Self::from_be_bytes(source.bytes())).filter(|value| !value.is_nan()).unwrap_or(0.5)
    }
}

impl Field for () {
    const MIN_LEN: usize = 0;

    fn read(_: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(())
    }

    fn write(&self, _: &mut Vec<u8>) {}

    #[cfg(test)]
    fn sample(_: &mut super::properties::Source) -> Self {}
}

/// One byte.
impl Field for bool {
    const MIN_LEN: usize = 1;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        known(u8::read(reader)?.into())
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.code());
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        source.flag()
    }
}

/// A count and its elements.
impl<T: Field> Field for Vec<T> {
    const MIN_LEN: usize = 4;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let count = reader.count(T::MIN_LEN)?;
        (0..count).map(|_| T::read(reader)).collect()
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        write_count(self.len(), bytes);
        self.iter().for_each(|element| element.write(bytes));
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        (0..source.below(5)).map(|_| T::sample(source)).collect()
    }
}

/// Elements without a count.
impl<T: Field + Copy + Default, const N: usize> Field for [T; N] {
    const MIN_LEN: usize = N * T::MIN_LEN;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let mut all = [T::default(); N];
        for one in &mut all {
            *one = T::read(reader)?;
        }
        Ok(all)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|element| element.write(bytes));
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        std::array::from_fn(|_| T::sample(source))
    }
}

/// A byte with a flag, followed by the value if it is set.
impl<T: Field> Field for Option<T> {
    const MIN_LEN: usize = 1;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        bool::read(reader)?.then(|| T::read(reader)).transpose()
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        self.is_some().write(bytes);
        self.iter().for_each(|it| it.write(bytes));
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        bool::sample(source).then(|| T::sample(source))
    }
}

/// A last field that may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tail<T>(pub Option<T>);

impl<T: Field> Field for Tail<T> {
    const MIN_LEN: usize = 0;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let is_there = reader.left() >= T::MIN_LEN;
        is_there.then(|| T::read(reader)).transpose().map(Self)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        self.0.iter().for_each(|value| value.write(bytes));
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        Self(bool::sample(source).then(|| T::sample(source)))
    }
}

impl<T: Field> Field for Box<T> {
    const MIN_LEN: usize = T::MIN_LEN;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        T::read(reader).map(Self::new)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        T::write(self, bytes);
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        Self::new(T::sample(source))
    }
}

/// A list is never longer than a message, so the number fits; a message that is too long is refused as a whole.
fn write_count(count: usize, bytes: &mut Vec<u8>) {
    i32::try_from(count).unwrap_or(i32::MAX).write(bytes);
}

/// The code of a number; unknown numbers are refused.
pub(super) fn known<T: Code>(code: i64) -> Result<T, Fault> {
    T::from_code(code).ok_or_else(|| Fault::Value {
        value: code,
        allowed: T::ALL.iter().map(|one| one.code()).collect::<Vec<_>>(),
    })
}

/// A code in a reply, of type `W` (`u8` or `i32`) on the wire. A platform newer than the guide may send unknown
/// numbers; they are kept, and only this field is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Coded<T, W = i32> {
    code: W,
    of: PhantomData<T>,
}

impl<T: Code, W: Copy + Into<i64>> Coded<T, W> {
    /// This number, whether the guide lists it or not.
    pub fn from_code(code: W) -> Self {
        Self { code, of: PhantomData }
    }

    /// The number on the wire.
    pub fn code(self) -> W {
        self.code
    }

    /// The code. `None`: not in the guide.
    pub fn known(self) -> Option<T> {
        T::from_code(self.code.into())
    }
}

impl<T: Code, W: From<u8>> From<T> for Coded<T, W> {
    fn from(one: T) -> Self {
        Self { code: one.code().into(), of: PhantomData }
    }
}

/// Number 0.
impl<T, W: Default> Default for Coded<T, W> {
    fn default() -> Self {
        Self { code: W::default(), of: PhantomData }
    }
}

impl<T: Code, W: Copy + Into<i64>> fmt::Debug for Coded<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(known) => f.write_str(known.name()),
            None => write!(f, "{}", self.code.into()),
        }
    }
}

impl<T: Code, W: Field> Field for Coded<T, W> {
    const MIN_LEN: usize = W::MIN_LEN;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(Self { code: W::read(reader)?, of: PhantomData })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        self.code.write(bytes);
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        Self { code: W::sample(source), of: PhantomData }
    }
}

/// STRING or XML: the bytes as they are on the wire, one per character in the guide.
///
/// The guide does not specify the encoding; [`to_str`](Self::to_str) assumes UTF-8, or one byte per character (ISO
/// 8859-1) if it is not valid UTF-8. Texts made from a `str` are UTF-8. A final NUL is neither added nor removed.
#[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Text(pub Vec<u8>);

impl Text {
    /// The text, decoded.
    pub fn to_str(&self) -> Cow<'_, str> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(self.0.iter().map(|byte| char::from(*byte)).collect()),
        }
    }

    /// The bytes on the wire.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_str())
    }
}

impl Field for Text {
    const MIN_LEN: usize = 4;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let len = reader.count(1)?;
        Ok(Self(reader.take(len)?.to_vec()))
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        write_count(self.0.len(), bytes);
        bytes.extend(&self.0);
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        Self(Vec::sample(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::Operation;

    #[test]
    fn texts_are_utf_8_or_one_byte_per_character() {
        assert_eq!(Text(b"a\xc3\xb1o".to_vec()).to_str(), "año");
        assert_eq!(Text(b"a\xf1o".to_vec()).to_str(), "año");
        assert_eq!(Text::from("año").as_bytes(), b"a\xc3\xb1o");
    }

    #[test]
    fn unlisted_codes_are_kept() {
        let state: Coded<Operation, u8> = Operation::Broken.into();
        assert_eq!((state.code(), state.known()), (2, Some(Operation::Broken)));
        let newer: Coded<Operation, u8> = Coded::from_code(9);
        assert_eq!((newer.code(), newer.known(), format!("{newer:?}")), (9, None, "9".to_owned()));
        assert_ne!(state, newer);
    }

    #[test]
    fn counts_beyond_the_data_are_refused() {
        for (bytes, count) in
            [(b"\0\0\0\x02abcde".as_slice(), 2), (b"\xff\xff\xff\xff", -1), (b"\x7f\xff\xff\xffa", i32::MAX)]
        {
            let left = bytes.len() - 4;
            assert_eq!(Vec::<i32>::read(&mut Reader::new(bytes)), Err(Fault::Count { count, left }));
        }
        assert_eq!(Text::read(&mut Reader::new(b"\0\0\0\x04abc")), Err(Fault::Count { count: 4, left: 3 }));
    }
}
