//! The predefined connection set (CiA 301, table "broadcast and peer-to-peer objects"): identifiers and their services.

use std::fmt;

use canopen_rs::NodeId;

use dragoman_io::can::Frame;

/// A service of CANopen, and the node it concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Network management, to all nodes.
    Nmt,
    /// Start of a cycle, to all nodes.
    Sync,
    /// The time of day.
    Time,
    /// Emergency message of a node.
    Emergency(NodeId),
    /// Process data from a node; the number is 1 to 4.
    Tpdo(u8, NodeId),
    /// Process data to a node; the number is 1 to 4.
    Rpdo(u8, NodeId),
    /// Answer of a node to an access to one of its objects.
    SdoResponse(NodeId),
    /// An access to an object of a node.
    SdoRequest(NodeId),
    /// Heartbeat of a node.
    Heartbeat(NodeId),
}

type ForNode = fn(NodeId) -> Service;

/// Base identifiers of the services that carry a node number in the low seven bits.
const WITH_NODE: [(u16, ForNode); 12] = [
    (0x080, Service::Emergency),
    (0x180, |node| Service::Tpdo(1, node)),
    (0x200, |node| Service::Rpdo(1, node)),
    (0x280, |node| Service::Tpdo(2, node)),
    (0x300, |node| Service::Rpdo(2, node)),
    (0x380, |node| Service::Tpdo(3, node)),
    (0x400, |node| Service::Rpdo(3, node)),
    (0x480, |node| Service::Tpdo(4, node)),
    (0x500, |node| Service::Rpdo(4, node)),
    (0x580, Service::SdoResponse),
    (0x600, Service::SdoRequest),
    (0x700, Service::Heartbeat),
];

impl Service {
    /// The service of an 11-bit identifier; `None` if the connection set has no such identifier.
    pub fn of(id: u16) -> Option<Self> {
        match id {
            0x000 => return Some(Self::Nmt),
            0x080 => return Some(Self::Sync),
            0x100 => return Some(Self::Time),
            _ => {}
        }
        let node = NodeId::new(u8::try_from(id & 0x7f).ok()?).ok()?;
        let (_, service) = WITH_NODE.iter().find(|(base, _)| *base == id & !0x7f)?;
        Some(service(node))
    }

    /// The 11-bit identifier.
    pub fn id(self) -> u16 {
        match self {
            Self::Nmt => 0x000,
            Self::Sync => 0x080,
            Self::Time => 0x100,
            Self::Emergency(node) => 0x080 + u16::from(node.raw()),
            Self::Tpdo(number, node) => 0x180 + pdo_offset(number, node),
            Self::Rpdo(number, node) => 0x200 + pdo_offset(number, node),
            Self::SdoResponse(node) => 0x580 + u16::from(node.raw()),
            Self::SdoRequest(node) => 0x600 + u16::from(node.raw()),
            Self::Heartbeat(node) => 0x700 + u16::from(node.raw()),
        }
    }

    /// The node it concerns; `None` for services to all nodes.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Self::Nmt | Self::Sync | Self::Time => None,
            Self::Emergency(node)
            | Self::Tpdo(_, node)
            | Self::Rpdo(_, node)
            | Self::SdoResponse(node)
            | Self::SdoRequest(node)
            | Self::Heartbeat(node) => Some(node),
        }
    }

    /// A frame of this service; data beyond eight bytes is cut off.
    pub fn frame(self, data: &[u8]) -> Frame {
        let data = data.get(..dragoman_io::can::frame::MAX_DATA).unwrap_or(data);
        Frame::standard(self.id(), data).unwrap_or_else(|| Frame::without_data(self.id()))
    }
}

fn pdo_offset(number: u8, node: NodeId) -> u16 {
    u16::from(number.clamp(1, 4) - 1) * 0x100 + u16::from(node.raw())
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nmt => f.write_str("NMT"),
            Self::Sync => f.write_str("SYNC"),
            Self::Time => f.write_str("TIME"),
            Self::Emergency(node) => write!(f, "EMCY {}", node.raw()),
            Self::Tpdo(number, node) => write!(f, "TPDO{number} {}", node.raw()),
            Self::Rpdo(number, node) => write!(f, "RPDO{number} {}", node.raw()),
            Self::SdoResponse(node) => write!(f, "SDO answer {}", node.raw()),
            Self::SdoRequest(node) => write!(f, "SDO request {}", node.raw()),
            Self::Heartbeat(node) => write!(f, "heartbeat {}", node.raw()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identifier_is_a_service_that_has_it_or_none() {
        let known = (0..0x800).filter_map(|id| Some((id, Service::of(id)?))).inspect(|(id, service)| {
            assert_eq!(service.id(), *id, "{service}");
        });
        assert_eq!(known.count(), 3 + 12 * 127);
    }

    #[test]
    fn identifiers_are_those_of_the_drives() {
        let node = NodeId::new(101).unwrap();
        let of = |service: Service| service.id();
        assert_eq!(of(Service::Tpdo(2, node)), 0x280 + 101);
        assert_eq!(of(Service::Rpdo(2, node)), 0x300 + 101);
        assert_eq!(of(Service::Rpdo(3, node)), 0x400 + 101);
        assert_eq!(of(Service::SdoRequest(node)), 0x600 + 101);
        assert_eq!(of(Service::Heartbeat(node)), 0x700 + 101);
        assert_eq!(Service::of(0x77f).map(|service| service.to_string()), Some("heartbeat 127".to_owned()));
    }
}
