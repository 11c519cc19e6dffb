//! Manufacturer-specific part of the EMCY messages of SimplIQ drives: code 0xFF00, the manufacturer's code, and for the
//! queue its two rows.

use crate::canopen::Emergency;

/// The error code of manufacturer-specific messages.
pub const MAKER_CODE: u16 = 0xff00;
/// The error register of those messages: generic and manufacturer-specific.
pub const MAKER_REGISTER: u8 = 0x81;

/// The manufacturer's codes (protocols.md, SimplIQ).
pub mod code {
    /// The queue of PT motion runs low; the next rows to write and to read follow.
    pub const QUEUE_LOW: u8 = 0x56;
    /// The row to write lies outside the queue.
    pub const BAD_HEAD: u8 = 0x5b;
    /// The queue is full; the positions were not accepted.
    pub const QUEUE_FULL: u8 = 0x34;
    /// The motion could not begin with this set-up.
    pub const BAD_INITIAL_DATA: u8 = 0x07;
    /// The motion ended because the queue ran empty.
    pub const TERMINATED: u8 = 0x08;
    /// A position lies outside the range in which positions wrap around.
    pub const MODULO: u8 = 0xa6;
}

/// Meaning of an emergency of a SimplIQ drive.
pub fn meaning(emergency: &Emergency) -> &'static str {
    let [maker, ..] = emergency.maker;
    if emergency.code != MAKER_CODE {
        return emergency.meaning();
    }
    let found = MEANINGS.iter().find(|(known, _)| *known == maker);
    found.map_or("error of the maker", |(_, text)| text)
}

/// The manufacturer's message with `code` and the next rows to write and to read.
pub fn queue_emergency(code: u8, write_row: u16, read_row: u16) -> Emergency {
    let ([write_low, write_high], [read_low, read_high]) = (write_row.to_le_bytes(), read_row.to_le_bytes());
    let maker = [code, write_low, write_high, read_low, read_high];
    Emergency { code: MAKER_CODE, register: MAKER_REGISTER, maker }
}

/// Whether the Ranger thesis ignores it: a digital Hall error, which the drives send at every start (bytes `80 83 81`).
pub fn is_harmless(emergency: &Emergency) -> bool {
    emergency.code == 0x8380 && emergency.register == MAKER_REGISTER
}

const MEANINGS: [(u8, &str); 6] = [
    (code::BAD_INITIAL_DATA, "PT motion: bad initial data"),
    (code::TERMINATED, "PT motion ended, the queue ran empty"),
    (code::QUEUE_FULL, "PT motion: queue full"),
    (code::QUEUE_LOW, "PT motion: queue runs low"),
    (code::BAD_HEAD, "PT motion: write row outside the queue"),
    (code::MODULO, "PT motion: position outside the modulo range"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hall_error_of_the_thesis_is_harmless_and_no_other() {
        let hall = Emergency::decode(&[0x80, 0x83, 0x81, 0, 0, 0, 0, 0]).unwrap();
        assert!(is_harmless(&hall));
        let low = queue_emergency(code::QUEUE_LOW, 9, 8);
        assert!(!is_harmless(&low));
        assert_eq!(low.encode(), [0x00, 0xff, 0x81, 0x56, 9, 0, 8, 0]);
        assert_eq!(meaning(&low), "PT motion: queue runs low");
    }
}
