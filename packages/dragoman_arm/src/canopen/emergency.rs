//! EMCY messages and the meanings of their codes.

use std::fmt;

/// An emergency message of a node (CiA 301): error code, error register, five manufacturer-specific bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Emergency {
    /// The error code; 0 when all errors are gone.
    pub code: u16,
    /// Object 0x1001: the classes of the present errors.
    pub register: u8,
    /// Manufacturer-specific data.
    pub maker: [u8; 5],
}

/// Meanings of error codes, the narrowest first: (mask, value, text). CiA 301 and CiA 402, table of emergency codes.
const MEANINGS: [(u16, u16, &str); 34] = [
    (0xffff, 0x0000, "errors cleared"),
    (0xffff, 0x2311, "current at the output too high"),
    (0xffff, 0x2320, "short circuit at the output"),
    (0xffff, 0x3110, "supply voltage too high"),
    (0xffff, 0x3120, "supply voltage too low"),
    (0xffff, 0x3130, "a phase of the supply is missing"),
    (0xffff, 0x3310, "output voltage too high"),
    (0xffff, 0x4310, "drive too hot"),
    (0xffff, 0x5280, "feedback sensor: communication"),
    (0xffff, 0x5281, "two digital Hall sensors changed at once"),
    (0xffff, 0x5441, "switched off by an input"),
    (0xffff, 0x6180, "processor of the drive failed"),
    (0xffff, 0x6181, "memory of the drive failed"),
    (0xffff, 0x7121, "motor blocked"),
    (0xffff, 0x7300, "feedback sensor failed"),
    (0xffff, 0x7380, "feedback sensor lost"),
    (0xffff, 0x7381, "two digital Hall sensors changed at once"),
    (0xffff, 0x8110, "CAN messages lost"),
    (0xffff, 0x8120, "CAN controller error-passive"),
    (0xffff, 0x8130, "heartbeat of the master lost"),
    (0xffff, 0x8140, "back from bus-off"),
    (0xffff, 0x8210, "process data of wrong length"),
    (0xffff, 0x8311, "torque limit reached"),
    (0xffff, 0x8380, "digital Hall sensors disagree"),
    (0xffff, 0x8480, "speed tracking error"),
    (0xffff, 0x8481, "speed limit exceeded"),
    (0xffff, 0x8611, "position tracking error"),
    (0xffff, 0x8680, "position limit exceeded"),
    (0xf000, 0x2000, "current"),
    (0xf000, 0x3000, "voltage"),
    (0xf000, 0x4000, "temperature"),
    (0xf000, 0x5000, "hardware of the drive"),
    (0xf000, 0x6000, "software of the drive"),
    (0xf000, 0x8000, "monitoring"),
];

impl Emergency {
    /// Reads an EMCY message's data; `None` unless it has eight bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [code_low, code_high, register, maker @ ..] = *<&[u8; 8]>::try_from(data).ok()?;
        Some(Self { code: u16::from_le_bytes([code_low, code_high]), register, maker })
    }

    /// The message's data.
    pub fn encode(&self) -> [u8; 8] {
        let [low, high] = self.code.to_le_bytes();
        let [a, b, c, d, e] = self.maker;
        [low, high, self.register, a, b, c, d, e]
    }

    /// Meaning of the code.
    pub fn meaning(&self) -> &'static str {
        let found = MEANINGS.iter().find(|(mask, value, _)| self.code & mask == *value);
        found.map_or("error of the maker", |(_, _, text)| text)
    }
}

impl fmt::Display for Emergency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04X} {}", self.code, self.meaning())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_written() {
        let bytes = [0x30, 0x81, 0x11, 1, 2, 3, 4, 5];
        let emergency = Emergency::decode(&bytes).unwrap();
        assert_eq!(emergency, Emergency { code: 0x8130, register: 0x11, maker: [1, 2, 3, 4, 5] });
        assert_eq!(emergency.encode(), bytes);
        assert_eq!(emergency.to_string(), "0x8130 heartbeat of the master lost");
        assert_eq!(Emergency::decode(&bytes[..7]), None);
    }

    #[test]
    fn an_unknown_code_falls_back_to_its_class() {
        let of = |code| Emergency { code, register: 1, maker: [0; 5] }.meaning();
        assert_eq!(of(0x3999), "voltage");
        assert_eq!(of(0xff00), "error of the maker");
    }
}
