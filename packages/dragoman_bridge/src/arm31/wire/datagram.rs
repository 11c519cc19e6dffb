//! The checked view of a datagram.

use std::fmt;

use super::{DATAGRAM_LEN, DecodeError, MIN_DATAGRAM_LEN, VALUE_COUNT};

/// The two letters that name a command or a reply. They come from outside and need not be letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Letters(pub [u8; 2]);

impl Letters {
    /// The letters of the answer to these: swapped.
    pub const fn swapped(self) -> Self {
        let [first, second] = self.0;
        Self([second, first])
    }

    /// The letters for use in a text: every byte except printable ASCII becomes `?`, because a NUL would end the text
    /// and control bytes would reach the terminals of old clients.
    pub fn printable(self) -> [u8; 2] {
        self.0.map(|byte| if byte.is_ascii_graphic() { byte } else { b'?' })
    }
}

impl fmt::Display for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.printable().iter().try_for_each(|&byte| write!(f, "{}", char::from(byte)))
    }
}

impl fmt::Debug for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

/// 31 bytes: two letters, seven little-endian `f32`, one byte (Ranger thesis, appendix A).
///
/// The bytes are as received; the letters are not checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Datagram([u8; DATAGRAM_LEN]);

impl Datagram {
    /// Lays out a datagram.
    pub fn new(letters: Letters, values: [f32; VALUE_COUNT], index: u8) -> Self {
        let mut bytes = [0; DATAGRAM_LEN];
        let content =
            letters.0.into_iter().chain(values.into_iter().flat_map(f32::to_le_bytes)).chain([index]);
        for (byte, value) in bytes.iter_mut().zip(content) {
            *byte = value;
        }
        Self(bytes)
    }

    /// Lays out a datagram with these bytes behind the letters; those that are missing are 0.
    pub fn with_data(letters: Letters, data: &[u8]) -> Self {
        let mut bytes = [0; DATAGRAM_LEN];
        bytes.iter_mut().zip(letters.0.iter().chain(data)).for_each(|(to, from)| *to = *from);
        Self(bytes)
    }

    /// Takes 31 bytes, or 30 without the index byte (it becomes 0).
    ///
    /// # Errors
    /// [`DecodeError::Empty`], [`DecodeError::Undersized`] or [`DecodeError::Oversized`]. A single byte counts as
    /// undersized, with `?` for the missing letter.
    pub fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        let letters = match *bytes {
            [] => return Err(DecodeError::Empty),
            [first] => Letters([first, b'?']),
            [first, second, ..] => Letters([first, second]),
        };
        let len = bytes.len();
        if len < MIN_DATAGRAM_LEN {
            return Err(DecodeError::Undersized { letters, len });
        }
        if len > DATAGRAM_LEN {
            return Err(DecodeError::Oversized { letters, len });
        }
        let mut whole = [0; DATAGRAM_LEN];
        whole.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Ok(Self(whole))
    }

    /// The bytes to send.
    pub const fn bytes(&self) -> &[u8; DATAGRAM_LEN] {
        &self.0
    }

    /// The leading letters.
    pub const fn letters(&self) -> Letters {
        let [first, second, ..] = self.0;
        Letters([first, second])
    }

    /// What follows the letters.
    pub fn data(&self) -> &[u8] {
        let [_, _, data @ ..] = &self.0;
        data
    }

    /// The seven floats, bit patterns untouched.
    pub fn values(&self) -> [f32; VALUE_COUNT] {
        let [_, _, data @ .., _] = &self.0;
        let (words, _) = data.as_chunks::<4>();
        let mut values = [0.0; VALUE_COUNT];
        values.iter_mut().zip(words).for_each(|(value, word)| *value = f32::from_le_bytes(*word));
        values
    }

    /// The last byte.
    pub const fn index(&self) -> u8 {
        let [.., index] = self.0;
        index
    }

    /// The same data with swapped letters: a bit-exact echo.
    pub fn echo(mut self) -> Self {
        let [first, second, ..] = &mut self.0;
        std::mem::swap(first, second);
        self
    }

    /// The same datagram with another last byte.
    pub const fn with_index(mut self, value: u8) -> Self {
        let [.., index] = &mut self.0;
        *index = value;
        self
    }
}

impl fmt::Display for Datagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letters())?;
        self.values().iter().try_for_each(|value| write!(f, " {value}"))?;
        write!(f, " ({})", self.index())
    }
}

impl fmt::Debug for Datagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix A: letters, seven floats with the least significant byte first, one unsigned byte.
    const GT: [u8; 31] = *b"GT\x00\x00\x80\x3f\x00\x00\x00\xbf\x00\x00\x80\x3e\0\0\0\0\0\0\0\x80\x00\x00\xc0\x7f\x00\x00\x20\x41\x07";

    #[test]
    fn layout_is_the_appendix_s() {
        let datagram = Datagram::parse(&GT).expect("31 bytes");
        assert_eq!(datagram.letters(), Letters(*b"GT"));
        let [x, y, z, roll, pitch, yaw, time] = datagram.values();
        assert_eq!([x, y, z, roll, time], [1.0, -0.5, 0.25, 0.0, 10.0]);
        assert!(pitch.is_sign_negative() && yaw.is_nan());
        assert_eq!(datagram.index(), 7);
        assert_eq!(Datagram::new(Letters(*b"GT"), datagram.values(), 7).bytes(), &GT);
    }

    #[test]
    fn thirty_bytes_have_index_zero_and_other_sizes_are_refused() {
        let short = Datagram::parse(&GT[..30]).expect("30 bytes");
        assert_eq!((short.letters(), short.index()), (Letters(*b"GT"), 0));
        assert_eq!(Datagram::parse(b""), Err(DecodeError::Empty));
        assert_eq!(Datagram::parse(b"B"), Err(DecodeError::Undersized { letters: Letters(*b"B?"), len: 1 }));
        let long = [b'B'; 2000];
        for len in 2..2000 {
            let letters = Letters(*b"BB");
            match Datagram::parse(&long[..len]) {
                Err(error) if len < 30 => assert_eq!(error, DecodeError::Undersized { letters, len }),
                Err(error) => assert_eq!(error, DecodeError::Oversized { letters, len }),
                Ok(_) => assert!(len == 30 || len == 31),
            }
        }
    }

    #[test]
    fn an_echo_keeps_every_bit_even_of_a_signalling_nan() {
        let mut bytes = GT;
        bytes[22..26].copy_from_slice(&[0x01, 0x00, 0xa0, 0xff]);
        let mut expected = bytes;
        expected[..2].copy_from_slice(b"TG");
        assert_eq!(Datagram::parse(&bytes).expect("31 bytes").echo().bytes(), &expected);
    }

    #[test]
    fn display_shows_letters_values_and_index() {
        assert_eq!(Datagram::parse(&GT).expect("31 bytes").to_string(), "GT 1 -0.5 0.25 0 -0 NaN 10 (7)");
        assert_eq!(Letters([0, b'\x7f']).to_string(), "??");
        assert_eq!(Letters(*b"jP").to_string(), "jP");
    }
}
