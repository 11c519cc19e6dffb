//! Values as XDR (RFC 4506), with Player's differences.
//!
//! Every integer takes four bytes, whatever its width in the interfaces; narrower ones keep their low bits, as in the
//! original. A list is its length **twice**, then its elements: Player declares the length as a field of its own, and
//! XDR writes it again before the elements. The second length is used. Bytes and texts are lists whose elements are
//! packed, with zeros up to a multiple of four; a text that is not empty ends with a zero byte that counts.

/// Error reading a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum XdrError {
    /// The bytes end within a value.
    #[error("{missing} bytes are missing")]
    Truncated {
        /// Number of missing bytes.
        missing: usize,
    },
    /// Bytes follow the value.
    #[error("{rest} bytes too many")]
    Rest {
        /// Number of additional bytes.
        rest: usize,
    },
}

/// A value with an XDR form.
pub trait Xdr: Sized {
    /// Appends the value.
    fn write(&self, bytes: &mut Vec<u8>);

    /// Reads the value.
    ///
    /// # Errors
    /// The bytes end before the value does.
    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError>;

    /// The value's bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// The value at the beginning of `bytes`. As in the original, what follows is ignored.
    ///
    /// # Errors
    /// The bytes are fewer than the value has.
    fn from_bytes(bytes: &[u8]) -> Result<Self, XdrError> {
        Self::read(&mut Reader(bytes))
    }

    /// Reads a value from exactly these bytes.
    ///
    /// # Errors
    /// The bytes are fewer or more than the value has.
    fn from_all_bytes(bytes: &[u8]) -> Result<Self, XdrError> {
        let mut reader = Reader(bytes);
        let value = Self::read(&mut reader)?;
        match reader.0.len() {
            0 => Ok(value),
            rest => Err(XdrError::Rest { rest }),
        }
    }
}

/// The bytes that are not read yet.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], XdrError> {
        let missing = XdrError::Truncated { missing: len.saturating_sub(self.0.len()) };
        let (taken, rest) = self.0.split_at_checked(len).ok_or(missing)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN], XdrError> {
        let missing = XdrError::Truncated { missing: LEN.saturating_sub(self.0.len()) };
        let (taken, rest) = self.0.split_first_chunk().ok_or(missing)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Reads a length before elements of at least `least` bytes each.
    fn len(&mut self, least: usize) -> Result<usize, XdrError> {
        let len = u32::read(self)? as usize;
        match len.saturating_mul(least).checked_sub(self.0.len()) {
            None | Some(0) => Ok(len),
            Some(missing) => Err(XdrError::Truncated { missing }),
        }
    }

    /// Reads packed bytes after their length.
    pub(super) fn opaque(&mut self) -> Result<Vec<u8>, XdrError> {
        let len = self.len(1)?;
        let bytes = self.take(len)?.to_vec();
        self.take(padding(len))?;
        Ok(bytes)
    }
}

fn padding(len: usize) -> usize {
    len.next_multiple_of(4) - len
}

#[allow(clippy::cast_possible_truncation, reason = "a message has at most 8 MiB")]
fn write_len(len: usize, bytes: &mut Vec<u8>) {
    (len as u32).write(bytes);
}

/// Appends a length and the packed bytes.
pub(super) fn write_opaque(value: &[u8], bytes: &mut Vec<u8>) {
    write_len(value.len(), bytes);
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len() + padding(value.len()), 0);
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Xdr for $number {
            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_be_bytes());
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
                reader.array().map(Self::from_be_bytes)
            }
        }
    )*};
}

numbers! { u32 i32 f32 f64 }

macro_rules! narrow {
    ($($narrow:ty, $wide:ty;)*) => {$(
        impl Xdr for $narrow {
            fn write(&self, bytes: &mut Vec<u8>) {
                <$wide>::from(*self).write(bytes);
            }

            #[allow(clippy::cast_possible_truncation, reason = "the original keeps the low bits")]
            fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
                <$wide>::read(reader).map(|wide| wide as Self)
            }
        }
    )*};
}

narrow! {
    u8, u32;
    u16, u32;
    i8, i32;
}

impl Xdr for bool {
    fn write(&self, bytes: &mut Vec<u8>) {
        u32::from(*self).write(bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        u8::read(reader).map(|byte| byte != 0)
    }
}

/// No body.
impl Xdr for () {
    fn write(&self, _bytes: &mut Vec<u8>) {}

    fn read(_reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        Ok(())
    }
}

impl<T: Xdr, const COUNT: usize> Xdr for [T; COUNT]
where
    Self: Default,
{
    fn write(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|element| element.write(bytes));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        let mut array = Self::default();
        for element in &mut array {
            *element = T::read(reader)?;
        }
        Ok(array)
    }
}

/// A list; its length is written twice before it.
impl<T: Xdr> Xdr for Vec<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        write_len(self.len(), bytes);
        write_len(self.len(), bytes);
        self.iter().for_each(|element| element.write(bytes));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        u32::read(reader)?;
        let len = reader.len(4)?;
        (0..len).map(|_| T::read(reader)).collect()
    }
}

/// A list of bytes, which are packed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bytes(pub Vec<u8>);

impl Xdr for Bytes {
    fn write(&self, bytes: &mut Vec<u8>) {
        write_len(self.0.len(), bytes);
        write_opaque(&self.0, bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        u32::read(reader)?;
        reader.opaque().map(Self)
    }
}

/// A text. It ends at the first zero byte; bytes that are not UTF-8 become replacement characters. An empty one has no
/// bytes at all.
impl Xdr for String {
    fn write(&self, bytes: &mut Vec<u8>) {
        let mut text = self.clone().into_bytes();
        if !text.is_empty() {
            text.push(0);
        }
        Bytes(text).write(bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, XdrError> {
        let Bytes(bytes) = Bytes::read(reader)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(Self::from_utf8_lossy(text).into_owned())
    }
}
