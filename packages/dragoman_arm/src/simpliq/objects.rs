//! The objects of a SimplIQ drive that the driver writes and the simulated drive has.
//!
//! Beyond CiA 301: 0x2002 takes two positions of PT motion at once, 0x2012 is the interpreter's input. The mapping of
//! RPDO3 is that of the Ranger thesis (`ptCANset`, `process_messages`).

use std::time::Duration;

use canopen_rs::{Address, NodeId, Value};

/// The status register, unsigned 32 (manufacturer status register of CiA 301).
pub const STATUS: Address = Address::new(0x1002, 0);
/// Consumer heartbeat time: node << 16 | ms.
pub const HEARTBEAT_CONSUMER: Address = Address::new(0x1016, 1);
/// The period of the drive's heartbeat, ms.
pub const HEARTBEAT_PRODUCER: Address = Address::new(0x1017, 0);
/// Reaction of the drive to a lost master; see [`ON_LOSS_STOP`].
pub const ABORT_CONNECTION: Address = Address::new(0x6007, 0);
/// Position, signed 32, counts.
pub const POSITION: Address = Address::new(0x6064, 0);
/// Two positions for the queue, 64 bits.
pub const PT_DATA: Address = Address::new(0x2002, 0);
/// The interpreter's input, 64 bits.
pub const INTERPRETER_INPUT: Address = Address::new(0x2012, 0);

/// Value of [`ABORT_CONNECTION`]: stop with the deceleration of `SD`.
pub const ON_LOSS_STOP: i16 = 3;
/// Value of [`ABORT_CONNECTION`]: switch the motor off; the brake engages.
pub const ON_LOSS_OFF: i16 = 2;
/// Transmission type: at every SYNC.
pub const EVERY_SYNC: u8 = 1;
/// Transmission type: on reception.
pub const AT_ONCE: u8 = 255;

/// Configuration indices of a process data object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pdo {
    /// Index of its communication parameters.
    pub communication: u16,
    /// Index of its mapping.
    pub mapping: u16,
    /// Its identifier without the node number (predefined connection set).
    pub identifier: u16,
}

/// Process data 1 to the drive: here the interpreter's input, executed at the next SYNC.
pub const RPDO1: Pdo = Pdo { communication: 0x1400, mapping: 0x1600, identifier: 0x200 };
/// Process data 3 to the drive: here two positions.
pub const RPDO3: Pdo = Pdo { communication: 0x1402, mapping: 0x1602, identifier: 0x400 };
/// Process data 4 from the drive: here position and status at every SYNC. Their identifiers are above those of RPDO3,
/// so that the reports of the first drives do not delay the set-points of the last (Ranger thesis, 5.2.1).
pub const TPDO4: Pdo = Pdo { communication: 0x1803, mapping: 0x1a03, identifier: 0x480 };

/// The writes to drive `node` before its motor may be switched on. The drive monitors the heartbeat of node `master`
/// with timeout `loss`, and sends its own with period `heartbeat`.
pub fn set_up(node: NodeId, master: NodeId, loss: Duration, heartbeat: Duration) -> Vec<(Address, Value)> {
    let watched = u32::from(master.raw()) << 16 | u32::from(milliseconds(loss));
    let mut writes = vec![
        (ABORT_CONNECTION, Value::Integer16(ON_LOSS_STOP)),
        (HEARTBEAT_CONSUMER, Value::Unsigned32(watched)),
        (HEARTBEAT_PRODUCER, Value::Unsigned16(milliseconds(heartbeat))),
    ];
    map(&mut writes, node, RPDO1, EVERY_SYNC, &[(INTERPRETER_INPUT, 64)]);
    map(&mut writes, node, RPDO3, AT_ONCE, &[(PT_DATA, 64)]);
    map(&mut writes, node, TPDO4, EVERY_SYNC, &[(POSITION, 32), (STATUS, 32)]);
    writes
}

/// Bit 31 of a process data object's identifier: disabled.
const UNUSED: u32 = 1 << 31;

/// Adds the writes that map `objects`, each with its length in bits, to a process data object of `node`. Meanwhile it
/// is disabled and has no mapped objects, as CiA 301 requires.
pub fn map(
    writes: &mut Vec<(Address, Value)>,
    node: NodeId,
    pdo: Pdo,
    transmission: u8,
    objects: &[(Address, u8)],
) {
    let identifier = u32::from(pdo.identifier) + u32::from(node.raw());
    writes.push((Address::new(pdo.communication, 1), Value::Unsigned32(UNUSED | identifier)));
    writes.push((Address::new(pdo.mapping, 0), Value::Unsigned8(0)));
    let mut count = 0;
    for (object, bits) in objects {
        count += 1;
        let entry = u32::from(object.index) << 16 | u32::from(object.subindex) << 8 | u32::from(*bits);
        writes.push((Address::new(pdo.mapping, count), Value::Unsigned32(entry)));
    }
    writes.push((Address::new(pdo.mapping, 0), Value::Unsigned8(count)));
    writes.push((Address::new(pdo.communication, 2), Value::Unsigned8(transmission)));
    writes.push((Address::new(pdo.communication, 1), Value::Unsigned32(identifier)));
}

fn milliseconds(time: Duration) -> u16 {
    u16::try_from(time.as_millis()).unwrap_or(u16::MAX)
}
