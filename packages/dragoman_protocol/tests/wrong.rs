//! What is wrong with wrong descriptions: each error has its line, its place, and what to do.

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::Codec;
use dragoman_protocol::cut::Cutter;

/// The example of the page, for people.
const PAGE: &str = include_str!("../../../docs/own-protocol.md");

fn rover() -> String {
    let (_, block) = PAGE.split_once("```yaml\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

/// The error of a description, as `dragoman bridge check` shows it.
fn error(text: &str) -> String {
    let protocol = match Protocol::read(text) {
        Ok(protocol) => protocol,
        Err(error) => return error.to_string(),
    };
    if let Err(reason) = Cutter::new(&protocol) {
        return format!("frame: {reason}");
    }
    match Codec::new(protocol) {
        Ok(_) => "none".to_owned(),
        Err(error) => format!("line {}: {error}", error.line(text).unwrap_or(0)),
    }
}

#[test]
fn errors_of_descriptions_name_their_place() {
    assert_eq!(error(&rover()), "none");
    for (right, wrong, expected) in [
        (
            "protocol: rover",
            "protocl: rover",
            "line 1, column 1: the unknown key 'protocl'; did you mean 'protocol'?",
        ),
        ("title: Rover of the lab\n", "", "line 1, column 1: missing field `title`"),
        (
            "link: { serial: 57600 }",
            "link: { serial: fast }",
            "line 4, column 17: link.serial: invalid type: string \"fast\", expected a number, or a mapping",
        ),
        (
            "link: { serial: 57600 }",
            "link: { parallel: 1 }",
            "line 4, column 9: link: unknown variant `parallel`, expected one of `udp`, `tcp`, `serial`, `can`",
        ),
        (
            "order: little",
            "order: middle",
            "line 5, column 8: order: unknown variant `middle`, expected `big` or `little`",
        ),
        (
            "size: size, counts: body",
            "size: length, counts: body",
            "line 6: rover: frame: there is no field length, which cut names as the size",
        ),
        (
            "counts: body",
            "counts: fields",
            "line 7, column 30: frame.cut.counts: unknown variant `fields`, expected one of `frame`, `rest`, `body`",
        ),
        (
            "{ size: size, counts: body, most: 64 }",
            "{}",
            "line 6: rover: frame: cut must have one of datagram, size, start with end, line, silence, by_code, can",
        ),
        (
            "{ size: size, counts: body, most: 64 }",
            "{ line: '' }",
            "line 6: rover: frame: line is empty: expected the end of a line, such as \"\\r\\n\"",
        ),
        (
            "{ size: size, counts: body, most: 64 }",
            "{ line: x, datagram: 3 }",
            "line 6: rover: frame: cut must have one of datagram, size, start with end, line, silence, by_code, can",
        ),
        (
            "{ size: size, counts: body, most: 64 }",
            "{ start: x }",
            "line 6: rover: frame: start needs end, the bytes behind a message",
        ),
        (
            "is: code",
            "is: cod",
            "line 11, column 38: frame.fields[2].is: unknown variant `cod`, expected one of `code`, `body`, `size`, `checksum`, `address`, `sequence`, `computed`; did you mean 'code'?",
        ),
        (", is: code", "", "line 6: rover: frame: no field is its code"),
        (", is: body", "", "line 6: rover: frame: no field is its body"),
        (
            "type: \"text[2]\", value: RV",
            "type: \"bytes[2]\", value: RV",
            "line 9: rover: frame: mark: 'RV' is not bytes such as 'FF 01'",
        ),
        (
            "CRC-16/MODBUS",
            "CRC-16/MODBSU",
            "line 13: rover: frame: check: 'CRC-16/MODBSU' is not a known check sum; did you mean 'CRC-16/MODBUS'?",
        ),
        (
            ", algorithm: CRC-16/MODBUS",
            "",
            "line 13: rover: frame: check: a check sum, and nothing else, has an algorithm",
        ),
        (
            "name: command, type: u8",
            "name: size, type: u8",
            "line 6: rover: frame: the field size is there twice",
        ),
        ("code: 2", "code: -2", "line 22, column 5: messages[1]: code: expected a number from 0, or a text"),
        ("name: odometry", "name: drive", "rover: the message drive is there twice"),
        ("name: right", "name: left", "line 15: rover: drive: the field left is there twice"),
        (
            "type: i32, unit: m, scale: 0.001 }\n      - { name: y",
            "type: i33, unit: m, scale: 0.001 }\n      - { name: y",
            "line 27: rover: odometry: x: there is no type i33; known: fault",
        ),
        (
            "name: heading, type: i16",
            "name: heading, type: i[16]",
            "line 29, column 33: did not find expected ',' or '}' at line 29 column 33, while parsing a flow mapping at line 29 column 9",
        ),
        (
            "name: heading, type: i16",
            "name: heading, type: \"i16[count]\"",
            "line 29: rover: odometry: heading: no field count comes before it",
        ),
        (
            "unit: rad, scale: 0.0001",
            "unit: rad, scale: 0",
            "line 29: rover: odometry: heading: scale must be finite and not 0, offset finite",
        ),
        (
            "unit: rad, scale: 0.0001",
            "unit: rad, scale: .nan",
            "line 29: rover: odometry: heading: scale must be finite and not 0, offset finite",
        ),
        (
            "codes: fault }",
            "codes: faults }",
            "line 30: rover: odometry: fault: there is no type faults; did you mean 'fault'?",
        ),
        (
            "codes: fault }",
            "bits: [4, 8] }",
            "line 30: rover: odometry: fault: bits 4 to 11 are not in 8 bits",
        ),
        (
            "codes: fault }",
            "when: { mode: 1 } }",
            "line 30: rover: odometry: fault: no field mode comes before it",
        ),
        ("codes: fault }", "value: high }", "line 30: rover: odometry: fault: high is not a whole number"),
        (
            "codes: fault }",
            "algorithm: sum }",
            "line 30: rover: odometry: fault: a check sum, and nothing else, has an algorithm",
        ),
        (
            "{ none: 0, motor: 1, battery: 2 }",
            "{ none: zero }",
            "line 32, column 27: types[0].codes: expected a number, or a mapping with code",
        ),
        (
            "from: server",
            "from: rover",
            "line 24, column 11: messages[1].from: unknown variant `rover`, expected `client` or `server`",
        ),
        (
            "role: start",
            "role: begin",
            "line 17, column 11: messages[0].role: unknown variant `begin`, expected one of `query`, `setting`, `start`, `stop`",
        ),
        (
            "meaning: velocities of both wheels\n    fields:",
            "fields:",
            "line 15, column 5: messages[0]: missing field `meaning`",
        ),
        (
            "name: x, type: i32",
            "name: x, type: point",
            "line 27: rover: odometry: x: there is no type point; known: fault",
        ),
        (
            "name: x, type: i32, unit: m",
            "name: x, type: i32, units: m",
            "line 27, column 31: messages[1].fields[0]: the unknown key 'units'; did you mean 'unit'?",
        ),
        (
            "- { name: fault, codes",
            "- { name: fault, fields: [{ name: self, type: fault }], codes",
            "line 30: rover: type fault: a type has fields or codes, not both",
        ),
        (
            "codes: fault }",
            "type: fault }",
            "line 30, column 34: messages[1].fields[3]: the key 'type' is given twice",
        ),
        (
            "type: u8, codes: fault }",
            "type: fault }",
            "line 30: rover: odometry: fault: fault has no fields: names of numbers stand at a number, { type: u8, codes: fault }",
        ),
        (
            "most: 64",
            "most: 17000000",
            "line 6: rover: frame: a size of 17000000 bytes; at most 16777216 are possible",
        ),
        (
            "name: x, type: i32, unit: m",
            "name: x, type: i32, at: 100000",
            "line 27: rover: odometry: x: offset 100000; at most 65536 is possible",
        ),
        (
            "name: heading, type: i16",
            "name: heading, type: 'i16[70000]'",
            "line 29: rover: odometry: heading: 70000 elements; at most 65536 are possible",
        ),
        (
            "name: heading, type: i16",
            "name: heading, base: 36, type: i16",
            "line 29: rover: odometry: heading: numbers of base 36; possible are 2, 8, 10 and 16",
        ),
        ("type: u8, is: size", "type: 'u8[99999]', is: size", "frame: size has no fixed size up to 65536"),
        (
            "messages:",
            "messages: none\nmore:",
            "line 14, column 11: messages: invalid type: string \"none\", expected a sequence",
        ),
    ] {
        let text = rover();
        assert!(text.contains(right), "{right}");
        let found = error(&text.replacen(right, wrong, 1));
        assert_eq!(found, expected, "{wrong}");
    }
}
