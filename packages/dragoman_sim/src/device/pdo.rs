//! Process data objects of a simulated node: their configuration, and its effect on frames.

use canopen_rs::{Address, Entry, NodeId, Value};
use dragoman_arm::canopen::Service;

use super::objects::{Objects, abort};

/// Maximum number of objects mapped to one process data object.
const MAX_MAPPED: u8 = 8;
/// Bit 31 of an identifier: the process data object is not used.
const UNUSED: u32 = 1 << 31;

/// An object that can be mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mappable {
    /// The object.
    pub address: Address,
    /// Its length, bits.
    pub bits: u8,
    /// Minimum number of received bits.
    pub min_bits: u8,
    /// Whether the node receives or sends it.
    pub direction: Direction,
}

/// Direction of process data, as seen by the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the node: an RPDO.
    Receive,
    /// From the node: a TPDO.
    Transmit,
}

/// Initial configuration of a process data object.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct PdoDefault {
    pub direction: Direction,
    /// Number, 1 to 4.
    pub number: u8,
    /// Transmission type.
    pub transmission: u8,
    /// The mapped objects.
    pub mapping: Vec<Address>,
}

/// The current configuration of a process data object.
#[derive(Debug)]
pub(super) struct Pdo {
    pub(super) direction: Direction,
    pub(super) number: u8,
    pub(super) transmission: u8,
    pub(super) is_used: bool,
    pub(super) mapping: Vec<Mappable>,
    /// Data received for the next SYNC.
    pub(super) received: Option<Vec<u8>>,
    /// SYNCs since it was last sent.
    pub(super) syncs: u8,
}

impl PdoDefault {
    /// The objects that configure it.
    pub(super) fn entries(&self, node: NodeId, mappable: &[Mappable]) -> Vec<(Address, Entry)> {
        let (communication, mapping) = indices(self.direction, self.number);
        let mut entries = vec![
            (Address::new(communication, 0), Entry::constant(Value::Unsigned8(2))),
            (
                Address::new(communication, 1),
                Entry::rw(Value::Unsigned32(identifier(self.direction, self.number, node))),
            ),
            (Address::new(communication, 2), Entry::rw(Value::Unsigned8(self.transmission))),
        ];
        let count = u8::try_from(self.mapping.len()).unwrap_or(MAX_MAPPED);
        entries.push((Address::new(mapping, 0), Entry::rw(Value::Unsigned8(count))));
        for place in 0..MAX_MAPPED {
            let mapped = self.mapping.get(usize::from(place)).and_then(|address| find(mappable, *address));
            let value = mapped.map_or(0, Mappable::raw);
            entries.push((Address::new(mapping, place + 1), Entry::rw(Value::Unsigned32(value))));
        }
        entries
    }

    pub(super) fn set_up(&self, mappable: &[Mappable]) -> Pdo {
        Pdo {
            direction: self.direction,
            number: self.number,
            transmission: self.transmission,
            is_used: true,
            mapping: self.mapping.iter().filter_map(|address| find(mappable, *address).copied()).collect(),
            received: None,
            syncs: 0,
        }
    }
}

impl Mappable {
    fn raw(&self) -> u32 {
        u32::from(self.address.index) << 16 | u32::from(self.address.subindex) << 8 | u32::from(self.bits)
    }
}

impl Pdo {
    /// Whether an object configures this one.
    pub(super) fn owns(&self, address: Address) -> bool {
        let (communication, mapping) = indices(self.direction, self.number);
        address.index == communication || address.index == mapping
    }

    /// Applies a written value. Error: the abort code.
    pub(super) fn write(
        &mut self,
        node: NodeId,
        objects: &Objects,
        mappable: &[Mappable],
        (address, value): (Address, Value),
    ) -> Result<(), u32> {
        let (communication, _) = indices(self.direction, self.number);
        match (address.index == communication, address.subindex, value) {
            (true, 1, Value::Unsigned32(written)) => {
                // Only the predefined identifier; otherwise frames of others would be taken.
                if written & !UNUSED != identifier(self.direction, self.number, node) {
                    return Err(abort::VALUE);
                }
                self.is_used = written & UNUSED == 0;
            }
            (true, 2, Value::Unsigned8(written)) => {
                let is_acyclic = written == 0 && self.direction == Direction::Receive;
                if !is_acyclic && !matches!(written, 1..=240 | 254 | 255) {
                    return Err(abort::VALUE);
                }
                self.transmission = written;
                (self.received, self.syncs) = (None, 0);
            }
            (false, 0, Value::Unsigned8(count)) => {
                self.mapping = self.mapped(objects, mappable, count)?;
                self.received = None;
            }
            (false, _, Value::Unsigned32(raw)) => {
                if !self.mapping.is_empty() {
                    return Err(abort::STATE);
                }
                self.find(mappable, raw)?;
            }
            _ => return Err(abort::GENERAL),
        }
        Ok(())
    }

    fn mapped(&self, objects: &Objects, mappable: &[Mappable], count: u8) -> Result<Vec<Mappable>, u32> {
        if count > MAX_MAPPED {
            return Err(abort::MAPPING_TOO_LONG);
        }
        let (_, index) = indices(self.direction, self.number);
        let entries = (1..=count).map(|place| match objects.value(Address::new(index, place)) {
            Some(Value::Unsigned32(raw)) => self.find(mappable, raw),
            _ => Err(abort::NOT_MAPPABLE),
        });
        let mapping = entries.collect::<Result<Vec<_>, _>>()?;
        let bits: u32 = mapping.iter().map(|mapped| u32::from(mapped.bits)).sum();
        if bits > 64 { Err(abort::MAPPING_TOO_LONG) } else { Ok(mapping) }
    }

    fn find(&self, mappable: &[Mappable], raw: u32) -> Result<Mappable, u32> {
        let found = mappable.iter().find(|known| known.raw() == raw && known.direction == self.direction);
        found.copied().ok_or(abort::NOT_MAPPABLE)
    }

    /// Minimum length, bytes.
    pub(super) fn min_length(&self) -> usize {
        let bits: usize = self.mapping.iter().map(|mapped| usize::from(mapped.min_bits)).sum();
        bits / 8
    }

    /// Whether it waits for the next SYNC.
    pub(super) fn is_synchronous(&self) -> bool {
        self.transmission <= 240
    }

    /// Counts a SYNC; returns whether to send now.
    pub(super) fn is_due_at_sync(&mut self) -> bool {
        let is_due_ever = self.direction == Direction::Transmit
            && self.is_used
            && !self.mapping.is_empty()
            && (1..=240).contains(&self.transmission);
        if !is_due_ever {
            return false;
        }
        self.syncs += 1;
        if self.syncs < self.transmission {
            return false;
        }
        self.syncs = 0;
        true
    }
}

fn find(mappable: &[Mappable], address: Address) -> Option<&Mappable> {
    mappable.iter().find(|known| known.address == address)
}

/// Indices of communication parameters and mapping (CiA 301).
fn indices(direction: Direction, number: u8) -> (u16, u16) {
    let offset = u16::from(number.saturating_sub(1));
    match direction {
        Direction::Receive => (0x1400 + offset, 0x1600 + offset),
        Direction::Transmit => (0x1800 + offset, 0x1a00 + offset),
    }
}

fn identifier(direction: Direction, number: u8, node: NodeId) -> u32 {
    u32::from(match direction {
        Direction::Receive => Service::Rpdo(number, node).id(),
        Direction::Transmit => Service::Tpdo(number, node).id(),
    })
}
