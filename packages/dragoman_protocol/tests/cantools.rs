//! Signals of DBC files: our descriptions of them against cantools, which reads the files themselves.

use std::path::PathBuf;
use std::process::Command;

use dragoman_protocol::Protocol;
use dragoman_protocol::checksum::Checksum;
use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::dbc::{Dbc, DbcMessage, Options, describe, field_name};
use dragoman_protocol::model::{FieldRole, Side};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_bringup/tests/peers/cantools_peer.py");
const PYTHON: &str = "DRAGOMAN_PEER_CANTOOLS_PYTHON";
/// Random frames of each message.
const FRAMES: usize = 200;

fn path(name: &str) -> String {
    format!("{PACKAGE}/{name}")
}

fn codec(text: &str) -> Codec {
    Codec::new(Protocol::read(text).unwrap()).unwrap()
}

/// The description of a node, with the file.
fn imported(file: &str, machine: &str) -> (Dbc, Codec) {
    let dbc = Dbc::read(&std::fs::read(path(file)).unwrap()).unwrap();
    let options = Options { name: "bus", file, machine: Some(machine) };
    let text = describe(&dbc, options).unwrap().text;
    (dbc, codec(&text))
}

/// The side that sends a message, by the description.
fn side(codec: &Codec, message: &DbcMessage) -> Option<Side> {
    let code = dragoman_protocol::model::Code::Number(message.id.into());
    codec.protocol().messages.iter().find(|one| one.code == code).map(|one| one.from)
}

/// Both decode random frames to the same values, and encode these to the same frames.
fn agree(file: &str, dbc: &Dbc, codec: &Codec) {
    let Some(python) = std::env::var_os(PYTHON).filter(|python| !python.is_empty()) else {
        assert!(
            std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(),
            "{PYTHON} does not name a Python with cantools"
        );
        println!("skipped: {PYTHON} is not set");
        return;
    };
    let mut random = 38_u64;
    let mut byte = move || {
        // Numbers of xorshift64.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random.to_le_bytes()[5]
    };
    let mut frames = Vec::new();
    for message in dbc.messages.iter().filter(|message| side(codec, message).is_some()) {
        for number in 0..FRAMES {
            let mut frame: Vec<u8> = (0..message.size).map(|_| byte()).collect();
            // Numbers of switches that signals have are small, and beside each other.
            let mut rest = number;
            for signal in message.signals.iter().filter(|signal| signal.is_switch) {
                let small = rest % 12;
                rest /= 12;
                for bit in 0..signal.length {
                    let at = signal.start + bit;
                    frame[at / 8] &= !(1 << (at % 8));
                    frame[at / 8] |= u8::try_from(small >> bit & 1).unwrap() << (at % 8);
                }
            }
            check_sum(codec, message, &mut frame);
            frames.push((message, frame));
        }
    }
    let list = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("frames_{}", file.replace('/', "_")));
    let hexadecimal = |frame: &[u8]| frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines: Vec<String> =
        frames.iter().map(|(message, frame)| format!("{} {}", message.id, hexadecimal(frame))).collect();
    std::fs::write(&list, lines.join("\n")).unwrap();
    let output = Command::new(python).args(["-B", PEER, &path(file)]).arg(&list).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).unwrap();
    let mut lines = output.lines();
    let mut compared = 0;
    for (message, frame) in &frames {
        let line = lines.next().unwrap();
        let theirs: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let mut values = Values::default();
        let from = side(codec, message).unwrap();
        let what = format!("{} {}: {line}", message.name, hexadecimal(frame));
        let id = codec
            .decode_frame(Some(message.id.into()), frame, from, None, &mut values)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        if theirs.get("signals").is_none() {
            continue;
        }
        for signal in &message.signals {
            let name = field_name(&signal.name);
            let value = |value: &serde_json::Value| {
                value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{what}"))
            };
            let expected = theirs["signals"].get(&signal.name).map(value);
            let Ok(path) = codec.path(id, &name) else { continue };
            let found = codec.number_at(id, &values, &path).map(dragoman_protocol::expression::Number::real);
            let is_same = match (found, expected) {
                (None, None) => true,
                (Some(found), Some(expected)) => {
                    found.is_nan() && expected.is_nan()
                        || found == expected
                        || (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
                }
                _ => false,
            };
            assert!(is_same, "{what}: {name}: {found:?}, not {expected:?}");
            compared += 1;
        }
        let is_real = message.signals.iter().any(|signal| signal.is_float);
        let mut again = Vec::new();
        codec.encode(id, &mut values, &mut again).unwrap_or_else(|error| panic!("{what}: {error}"));
        // Bits of NaN may differ, and cantools has no last byte that no signal has.
        let theirs = theirs["frame"].as_str().unwrap();
        let has_unused =
            codec.protocol().messages[id.number].fields.iter().any(|field| field.name == "unused");
        if !is_real && !has_unused {
            assert_eq!(hexadecimal(&again), theirs, "{what}");
        }
    }
    assert_eq!(lines.next(), Some("end"));
    assert!(compared > FRAMES, "{compared} values were compared");
}

/// Puts the right check sum into a frame, if the message has one.
fn check_sum(codec: &Codec, message: &DbcMessage, frame: &mut [u8]) {
    let code = dragoman_protocol::model::Code::Number(message.id.into());
    let described = codec.protocol().messages.iter().find(|one| one.code == code).unwrap();
    for field in described.fields.iter().filter(|field| field.is == Some(FieldRole::Checksum)) {
        // What no signal has is 0 when it is encoded again.
        let is_used = |bit: usize| {
            message.signals.iter().any(|signal| (signal.start..signal.start + signal.length).contains(&bit))
        };
        for bit in (0..8 * frame.len()).filter(|bit| !is_used(*bit)) {
            frame[bit / 8] &= !(1 << (bit % 8));
        }
        let signal = message.signals.iter().find(|signal| field_name(&signal.name) == field.name).unwrap();
        let at = signal.start / 8;
        let sum = Checksum::named(field.algorithm.as_deref().unwrap()).unwrap().of(&frame[..at]);
        frame[at] = u8::try_from(sum).unwrap();
    }
}

#[test]
fn signals_of_all_kinds_are_those_of_cantools() {
    let file = "tests/dbc/assorted.dbc";
    for machine in ["Device", "Tester"] {
        let (dbc, codec) = imported(file, machine);
        agree(file, &dbc, &codec);
    }
}

/// The description that is in use, which has roles that the file does not know.
#[test]
fn the_motor_s_description_says_what_its_dbc_file_says() {
    let file = "machines/motor.dbc";
    let (dbc, made) = imported(file, "Motor");
    let described = codec(&std::fs::read_to_string(path("machines/motor_can.yaml")).unwrap());
    for (made, described) in made.protocol().messages.iter().zip(&described.protocol().messages) {
        let head =
            |message: &dragoman_protocol::Message| (message.name.clone(), message.code.clone(), message.from);
        assert_eq!(head(made), head(described));
        for (made, described) in made.fields.iter().zip(&described.fields) {
            let layout = |field: &dragoman_protocol::Field| {
                (
                    field.name.clone(),
                    field.kind().to_string(),
                    field.at,
                    field.bits,
                    field.order,
                    field.when.clone(),
                    field.codes.clone(),
                )
            };
            assert_eq!(layout(made), layout(described));
            let values = |field: &dragoman_protocol::Field| (field.scale, field.offset, field.unit.clone());
            assert_eq!(values(made), values(described), "{}", made.name);
        }
        assert_eq!(made.fields.len(), described.fields.len(), "{}", made.name);
    }
    assert_eq!(made.protocol().messages.len(), described.protocol().messages.len());
    agree(file, &dbc, &described);
}
