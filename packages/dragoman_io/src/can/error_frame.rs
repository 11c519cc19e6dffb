//! Decodes error frames of SocketCAN.
//!
//! Layout: `linux/can/error.h`. The identifier holds the classes, one bit each; the data give details of some of them.

use super::bus::BusFault;

/// Flag in the identifier that marks an error frame (`CAN_ERR_FLAG`).
pub const ERROR_FLAG: u32 = 0x2000_0000;

const TX_TIMEOUT: u32 = 0x001;
const CONTROLLER: u32 = 0x004;
const PROTOCOL: u32 = 0x008;
const TRANSCEIVER: u32 = 0x010;
const NO_ACKNOWLEDGE: u32 = 0x020;
const BUS_OFF: u32 = 0x040;
const BUS_ERROR: u32 = 0x080;
const RESTARTED: u32 = 0x100;

/// Location of a bit error in a frame: the acknowledge slot (`CAN_ERR_PROT_LOC_ACK`).
const ACKNOWLEDGE_SLOT: u8 = 0x19;

/// The faults in an error frame with this identifier and data.
///
/// A lost arbitration is not a fault: it is how nodes take turns. Neither is a bare report of error counters. A full
/// transmit buffer is reported when sending ([`super::SendError::Full`]).
pub fn faults(id: u32, data: [u8; 8]) -> Vec<BusFault> {
    let [_, controller, _, location, ..] = data;
    let class = |bit: u32| id & bit != 0;
    let mut faults = Vec::new();
    if class(CONTROLLER) {
        if controller & 0x01 != 0 {
            faults.push(BusFault::Overrun);
        }
        // Receiver and transmitter have a bit each; the worse is the controller's state.
        match controller {
            state if state & 0x30 != 0 => faults.push(BusFault::Passive),
            state if state & 0x0c != 0 => faults.push(BusFault::Warning),
            state if state & 0x40 != 0 => faults.push(BusFault::Active),
            _ => {}
        }
    }
    // A frame that is not acknowledged is repeated until the driver gives up. Drivers without a class for it report a
    // bit error in the slot.
    if class(NO_ACKNOWLEDGE | TX_TIMEOUT) || class(PROTOCOL) && location == ACKNOWLEDGE_SLOT {
        faults.push(BusFault::NoAcknowledge);
    } else if class(PROTOCOL | BUS_ERROR | TRANSCEIVER) {
        faults.push(BusFault::Disturbed);
    }
    if class(BUS_OFF) {
        faults.push(BusFault::BusOff);
    }
    if class(RESTARTED) {
        faults.push(BusFault::Active);
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_error_frames_becomes_its_fault() {
        use BusFault::*;
        for (id, data, expected) in [
            (0x001, [0, 0, 0, 0, 0, 0, 0, 0], vec![NoAcknowledge]),
            (0x002, [5, 0, 0, 0, 0, 0, 0, 0], vec![]),
            (0x004, [0, 0x00, 0, 0, 0, 0, 0, 0], vec![]),
            (0x004, [0, 0x01, 0, 0, 0, 0, 0, 0], vec![Overrun]),
            (0x004, [0, 0x04, 0, 0, 0, 0, 0, 97], vec![Warning]),
            (0x004, [0, 0x08, 0, 0, 0, 0, 97, 0], vec![Warning]),
            (0x204, [0, 0x10, 0, 0, 0, 0, 0, 130], vec![Passive]),
            (0x204, [0, 0x24, 0, 0, 0, 0, 130, 97], vec![Passive]),
            (0x204, [0, 0x40, 0, 0, 0, 0, 0, 95], vec![Active]),
            (0x008, [0, 0, 0x04, 0x0a, 0, 0, 0, 0], vec![Disturbed]),
            (0x088, [0, 0, 0, 0x19, 0, 0, 0, 0], vec![NoAcknowledge]),
            (0x010, [0, 0, 0, 0, 0x04, 0, 0, 0], vec![Disturbed]),
            (0x0a8, [0, 0, 0, 0x19, 0, 0, 0, 0], vec![NoAcknowledge]),
            (0x040, [0; 8], vec![BusOff]),
            (0x044, [0, 0x20, 0, 0, 0, 0, 0, 0], vec![Passive, BusOff]),
            (0x080, [0; 8], vec![Disturbed]),
            (0x100, [0; 8], vec![Active]),
            (0x200, [0, 0, 0, 0, 0, 0, 12, 3], vec![]),
        ] {
            assert_eq!(faults(ERROR_FLAG | id, data), expected, "{id:03x} {data:02x?}");
        }
    }
}
