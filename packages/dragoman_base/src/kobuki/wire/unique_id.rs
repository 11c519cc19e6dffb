//! Sub-payload 19: the unique id of a base.

use std::fmt;

/// The three words of the unique id of a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct UniqueDeviceId(pub [u32; 3]);

impl UniqueDeviceId {
    /// Number of the sub-payload.
    pub const ID: u8 = 19;

    /// Reads the sub-payload's data; `None` unless it has twelve bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let words = <&[[u8; 4]; 3]>::try_from(data.as_chunks::<4>().0).ok().filter(|_| data.len() == 12)?;
        Some(Self(words.map(u32::from_le_bytes)))
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[Self::ID, 12]);
        for word in self.0 {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// "98434864-959859523-1126263088".
impl fmt::Display for UniqueDeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.0;
        write!(f, "{a}-{b}-{c}")
    }
}
