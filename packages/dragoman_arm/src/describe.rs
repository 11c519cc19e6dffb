//! Readable descriptions of CAN frames, for bus monitors.
//!
//! The mapping of process data is configured in each node. They are decoded with the driver's mapping: as
//! [`crate::simpliq`] if their length fits, else as CiA 402.

use canopen_rs::{NmtCommand, NmtState};
use dragoman_io::can::Frame;

use crate::canopen::{Emergency, Service, sdo};
use crate::driver::cia402::DriveState;
use crate::simpliq::{Command, DriveAnswer, DriveRequest, Status, emergencies};

/// A decoded frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The service; `None` if CANopen does not define this identifier.
    pub service: Option<Service>,
    /// The decoded data; empty if the data are unknown.
    pub text: String,
}

/// Describes a frame.
pub fn describe(frame: &Frame) -> Description {
    let service = frame.standard_id().and_then(Service::of);
    let text = match service {
        _ if frame.is_remote() => Some("remote request".to_owned()),
        Some(service) => in_words(service, frame.data()),
        None => None,
    };
    Description { service, text: text.unwrap_or_default() }
}

fn in_words(service: Service, data: &[u8]) -> Option<String> {
    match service {
        Service::Nmt => network_management(data),
        Service::Sync => data.first().map(|counter| format!("counter {counter}")),
        Service::Time => None,
        Service::Emergency(_) => emergency(data),
        Service::Heartbeat(_) => heartbeat(data),
        Service::SdoRequest(_) => transfer(data, true),
        Service::SdoResponse(_) => transfer(data, false),
        Service::Rpdo(1, _) if data.len() == 6 => {
            let word = u16::from_le_bytes([*data.first()?, *data.get(1)?]);
            Some(format!("control word 0x{word:04X}, target {}", signed(data, 2)?))
        }
        Service::Rpdo(1 | 2, _) => {
            let request = DriveRequest::decode(data)?;
            Some(format!("{request}{}", explained(request.command())))
        }
        Service::Rpdo(3, _) if data.len() == 8 => {
            Some(format!("positions {}, {}", signed(data, 0)?, signed(data, 4)?))
        }
        Service::Tpdo(4, _) if data.len() == 8 => {
            let status = u32::from_le_bytes(signed(data, 4)?.to_le_bytes());
            Some(format!("position {}, {}", signed(data, 0)?, status_words(Status(status))))
        }
        Service::Tpdo(4, _) if data.len() == 6 => {
            let word = u16::from_le_bytes([*data.first()?, *data.get(1)?]);
            Some(format!(
                "{:?} (status word 0x{word:04X}), position {}",
                DriveState::of(word.into()),
                signed(data, 2)?
            ))
        }
        Service::Tpdo(2, _) => {
            let answer = DriveAnswer::decode(data)?;
            Some(format!("{answer}{}", explained(answer.command)))
        }
        Service::Rpdo(..) | Service::Tpdo(..) => None,
    }
}

fn network_management(data: &[u8]) -> Option<String> {
    let [command, node] = *data else { return None };
    let command = match NmtCommand::from_byte(command).ok()? {
        NmtCommand::StartRemoteNode => "start",
        NmtCommand::StopRemoteNode => "stop",
        NmtCommand::EnterPreOperational => "pre-operational",
        NmtCommand::ResetNode => "reset",
        NmtCommand::ResetCommunication => "reset communication",
    };
    Some(if node == 0 { format!("{command}: all nodes") } else { format!("{command}: node {node}") })
}

fn heartbeat(data: &[u8]) -> Option<String> {
    let state = match NmtState::from_wire(*data.first()?).ok()? {
        NmtState::Initialising => "started",
        NmtState::Stopped => "stopped",
        NmtState::Operational => "operational",
        NmtState::PreOperational => "pre-operational",
    };
    Some(state.to_owned())
}

fn emergency(data: &[u8]) -> Option<String> {
    let emergency = Emergency::decode(data)?;
    let mut text = format!("0x{:04X} {}", emergency.code, emergencies::meaning(&emergency));
    if emergency.code == emergencies::MAKER_CODE {
        let [code, a, b, c, d] = emergency.maker;
        text += &format!(" (0x{code:02X})");
        if code == emergencies::code::QUEUE_LOW {
            let (write, read) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            text += &format!(", write row {write}, read row {read}");
        }
    }
    Some(format!("{text}, register 0x{:02X}", emergency.register))
}

fn status_words(status: Status) -> String {
    let bits = [
        (Status::ERROR, "error"),
        (Status::MOTOR_ON, "motor on"),
        (Status::FAILURE_LATCHED, "failure latched"),
        (Status::CURRENT_LIMIT, "current limit"),
    ];
    let set: Vec<_> = bits.iter().filter(|(bit, _)| status.0 & bit != 0).map(|(_, text)| *text).collect();
    let words = if set.is_empty() { "motor off".to_owned() } else { set.join(", ") };
    format!("status 0x{:08X}: {words}", status.0)
}

fn explained(command: Command) -> String {
    command.info().map(|info| format!(" ({})", info.text)).unwrap_or_default()
}

/// An SDO message by the three highest bits of its command byte (CiA 301, SDO protocols).
fn transfer(data: &[u8], is_request: bool) -> Option<String> {
    let [command, low, high, subindex, value @ ..] = *<&[u8; 8]>::try_from(data).ok()?;
    let object = format!("0x{:04X}:{subindex}", u16::from_le_bytes([low, high]));
    Some(match (is_request, command >> 5) {
        (_, 4) => {
            let code = u32::from_le_bytes(value);
            format!("{object} aborted: 0x{code:08X}, {}", sdo::abort_meaning(code))
        }
        (true, 1) => format!("write {object} = {}", first_value(command, value)),
        (true, 2) => format!("read {object}"),
        (true, 0) => format!("write on: {}", segment(command, data)?),
        (true, 3) => "read on".to_owned(),
        (false, 3) => format!("{object} written"),
        (false, 2) => format!("{object} = {}", first_value(command, value)),
        (false, 1) => "written so far".to_owned(),
        (false, 0) => segment(command, data)?,
        (_, 5 | 6) => "block transfer".to_owned(),
        _ => return None,
    })
}

/// The value of an expedited transfer, or the size announced by the first message of a segmented one.
fn first_value(command: u8, value: [u8; 4]) -> String {
    let has_size = command & 0x01 != 0;
    if command & 0x02 == 0 {
        return if has_size {
            format!("{} bytes, to follow", u32::from_le_bytes(value))
        } else {
            "to follow".into()
        };
    }
    let length = if has_size { 4 - usize::from((command >> 2) & 3) } else { 4 };
    let mut padded = [0; 4];
    for (byte, given) in padded.iter_mut().zip(value.iter().take(length)) {
        *byte = *given;
    }
    let number = u32::from_le_bytes(padded);
    format!("{number} (0x{number:0width$X})", width = 2 * length)
}

/// Up to seven bytes, as text if printable.
fn segment(command: u8, data: &[u8]) -> Option<String> {
    let bytes = data.get(1..8 - usize::from((command >> 1) & 7))?;
    let is_text = !bytes.is_empty() && bytes.iter().all(|byte| (0x20..0x7f).contains(byte));
    let shown =
        if is_text { format!("'{}'", String::from_utf8_lossy(bytes)) } else { format!("{bytes:02X?}") };
    Some(if command & 1 != 0 { format!("{shown}, end") } else { shown })
}

fn signed(data: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_service_of_the_drives_is_described() {
        for (frame, service, text) in [
            ("000#0100", "NMT", "start: all nodes"),
            ("000#8165", "NMT", "reset: node 101"),
            ("080#", "SYNC", ""),
            ("0E5#30811100000000", "EMCY 101", ""),
            ("0E5#3081110000000000", "EMCY 101", "0x8130 heartbeat of the master lost, register 0x11"),
            (
                "0E5#00FF815609000800",
                "EMCY 101",
                "0xFF00 PT motion: queue runs low (0x56), write row 9, read row 8, register 0x81",
            ),
            ("365#50580000", "RPDO2 101", "PX (position, counts)"),
            ("2E5#5058000039300000", "TPDO2 101", "PX: 12345 (position, counts)"),
            ("365#4D50040036000000", "RPDO2 101", "MP[4]=54 (set-up of PT motion)"),
            ("2E5#5443008000 00C03F", "TPDO2 101", "TC: 1.5 (current to the motor, A)"),
            ("2E5#4247004007000000", "TPDO2 101", "BG: refused, bad initial data (7) (begin motion)"),
            ("265#4247", "RPDO1 101", ""),
            ("265#0F00 F0D8FFFF", "RPDO1 101", "control word 0x000F, target -10000"),
            (
                "4E5#10270000 10200000",
                "TPDO4 101",
                "position 10000, status 0x00002010: motor on, current limit",
            ),
            ("4E5#3706 10270000", "TPDO4 101", "OperationEnabled (status word 0x0637), position 10000"),
            ("465#0100 0000 FEFFFFFF", "RPDO3 101", "positions 1, -2"),
            ("665#2B17100064000000", "SDO request 101", "write 0x1017:0 = 100 (0x0064)"),
            ("5E5#6017100000000000", "SDO answer 101", "0x1017:0 written"),
            ("665#4008100000000000", "SDO request 101", "read 0x1008:0"),
            ("5E5#4108100018000000", "SDO answer 101", "0x1008:0 = 24 bytes, to follow"),
            ("665#6000000000000000", "SDO request 101", "read on"),
            ("5E5#0061206472697665", "SDO answer 101", "'a drive'"),
            ("5E5#1B6E000000000000", "SDO answer 101", "[6E, 00], end"),
            ("5E5#4F01100081000000", "SDO answer 101", "0x1001:0 = 129 (0x81)"),
            ("5E5#80002F0300000206", "SDO answer 101", "0x2F00:3 aborted: 0x06020000, no such object"),
            ("765#05", "heartbeat 101", "operational"),
            ("765#R1", "heartbeat 101", "remote request"),
        ] {
            let described = describe(&frame.replace(' ', "").parse().unwrap());
            assert_eq!(described.service.unwrap().to_string(), service, "{frame}");
            assert_eq!(described.text, text, "{frame}");
        }
    }

    #[test]
    fn frames_that_are_not_canopen_have_no_description() {
        for frame in ["00000181#01", "7E5#0102", "1F334455#R8"] {
            assert_eq!(describe(&frame.parse().unwrap()).service, None, "{frame}");
        }
    }

    proptest! {
        #[test]
        fn no_frame_panics(id in 0_u16..0x800, data in prop::collection::vec(any::<u8>(), 0..=8)) {
            let described = describe(&Frame::standard(id, &data).unwrap());
            prop_assert!(described.text.len() < 160);
        }
    }
}
