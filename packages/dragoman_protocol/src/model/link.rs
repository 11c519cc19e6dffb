//! The transport of a protocol.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::short::{Never, Written, written};

/// The transport of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Link {
    Udp(Udp),
    Tcp(Tcp),
    Serial(Serial),
    Can(Can),
}

/// UDP: the port of the machine alone, or a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Udp {
    /// Port to which messages are sent.
    pub port: u16,
    /// Own port; chosen by the system if 0.
    pub local: u16,
    /// Messages go to all hosts of the network.
    pub broadcast: bool,
    /// The machine begins: messages go to the address from which the last one came.
    pub listen: bool,
}

/// TCP: the port alone, or a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tcp {
    /// Port.
    pub port: u16,
    /// The machine connects to us.
    pub listen: bool,
}

/// A serial line: bits per second alone, or a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Serial {
    /// Bits per second.
    pub rate: u32,
    /// Parity bit.
    pub parity: Parity,
    /// Data bits: 7 or 8.
    pub data_bits: u8,
    /// Stop bits: 1 or 2.
    pub stop_bits: u8,
    /// Flow control by RTS and CTS.
    pub flow: bool,
}

/// Parity bit of a serial line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Parity {
    #[default]
    None,
    Even,
    Odd,
}

/// A CAN bus: bits per second alone, or a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Can {
    /// Bits per second.
    pub rate: u32,
    /// All identifiers have 29 bits; otherwise those above 0x7FF.
    pub extended: bool,
}

/// Deserializes a type from a number or a mapping, whose keys are those of its fields.
macro_rules! short {
    ($type:ident: $first:ident: $number:ty, { $($field:ident: $kind:ty = $default:expr),* }) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Mapping {
                    $first: $number,
                    $(#[serde(default)] $field: Option<$kind>,)*
                }
                match written::<D, Mapping, Never>(deserializer, false, "a number, or a mapping")? {
                    Written::Mapping(mapping) => Ok(Self {
                        $first: mapping.$first,
                        $($field: mapping.$field.unwrap_or($default),)*
                    }),
                    Written::Number(number) => {
                        let $first = <$number>::try_from(number)
                            .map_err(|_| D::Error::custom(format!("{number} is too large")))?;
                        Ok(Self { $first, $($field: $default,)* })
                    }
                    Written::Text(_) | Written::List(_) => Err(D::Error::custom("expected a number, or a mapping")),
                }
            }
        }
    };
}

short!(Udp: port: u16, { local: u16 = 0, broadcast: bool = false, listen: bool = false });
short!(Tcp: port: u16, { listen: bool = false });
short!(Serial: rate: u32, {
    parity: Parity = Parity::None,
    data_bits: u8 = 8,
    stop_bits: u8 = 1,
    flow: bool = false
});
short!(Can: rate: u32, { extended: bool = false });
