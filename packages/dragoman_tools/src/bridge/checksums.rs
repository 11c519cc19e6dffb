//! `dragoman bridge checksums`: the check sums that descriptions can name.

use std::fmt::Write as _;

use clap::Args;
use dragoman_protocol::checksum::{Checksum, CrcParameters};
use dragoman_ros::out;

use super::BridgeError;

/// The bytes of which catalogues give the check sum.
const CHECKED: &[u8] = b"123456789";

/// `dragoman bridge checksums`.
#[derive(Debug, Args)]
pub struct ChecksumsCommand {
    /// Only those with this text in their name; one that is none by itself, such as CRC-16/CCITT, is explained.
    name: Option<String>,
}

pub(super) fn run(command: &ChecksumsCommand) -> Result<(), BridgeError> {
    let text = table(command.name.as_deref().unwrap_or_default())?;
    out!("{text}");
    Ok(())
}

/// A line per check sum whose name has this text.
fn table(wanted: &str) -> Result<String, BridgeError> {
    let text = wanted.to_ascii_lowercase();
    let names = Checksum::names().filter(|name| name.to_ascii_lowercase().contains(&text));
    let found = names.filter_map(|name| Checksum::named(&name).map(|checksum| (name, checksum)));
    let mut lines = String::new();
    for (name, checksum) in found {
        let check = checksum.of(CHECKED);
        // Writing to a text cannot fail.
        let _ = match checksum.parameters() {
            Some(CrcParameters { width, poly, init, refin, refout, xorout }) => {
                let digits = usize::from(width) / 4 + 2;
                let order = |is_reflected: bool| if is_reflected { "lowest" } else { "highest" };
                writeln!(
                    lines,
                    "{name:24} polynomial {poly:#0digits$x}, begins with {init:#0digits$x}, {} bit first{}, xor {xorout:#0digits$x}; check value {check:#0digits$x}",
                    order(refin),
                    if refin == refout { "" } else { " (the result: the other way)" },
                )
            }
            None => writeln!(lines, "{name:24} {}; check value {:#x}", meaning(&checksum), check & 0xFFFF),
        };
    }
    if lines.is_empty() {
        return Err(BridgeError::NoChecksum(Checksum::unknown(wanted)));
    }
    if wanted.is_empty() {
        lines += "The check value is that of the characters 123456789; a manual that gives it says which one is meant.\n";
    }
    Ok(lines)
}

fn meaning(checksum: &Checksum) -> &'static str {
    match checksum {
        Checksum::Sum { is_negated: false } => "sum of all bytes, as many bits as its field has",
        Checksum::Sum { is_negated: true } => "with it the sum of all bytes is 0 (LRC of Modbus ASCII)",
        Checksum::Xor => "exclusive or of all bytes (BCC, NMEA 0183)",
        Checksum::Words => "sum of words of 16 bits, an odd byte by exclusive or (ARCOS)",
        Checksum::Crc8(_) | Checksum::Crc16(_) | Checksum::Crc32(_) => "a CRC",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_listed_and_names_of_others_explained() {
        let all = table("").unwrap();
        assert_eq!(all.lines().count(), Checksum::names().count() + 1);
        let modbus = "CRC-16/MODBUS            polynomial 0x8005, begins with 0xffff, lowest bit first, xor 0x0000; check value 0x4b37\n";
        assert_eq!(table("modbus").unwrap(), modbus);
        assert!(all.contains(modbus), "{all}");
        assert!(
            all.contains(
                "xor                      exclusive or of all bytes (BCC, NMEA 0183); check value 0x31\n"
            ),
            "{all}"
        );
        let error = table("CRC-16/CCITT").unwrap_err().to_string();
        assert!(error.contains("CRC-16/KERMIT") && error.contains("CCITT-FALSE"), "{error}");
    }
}
