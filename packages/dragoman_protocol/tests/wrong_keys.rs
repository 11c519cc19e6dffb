//! What is wrong with the keys of frames, texts, check sums and expressions: each error has its line, its place, and what to do.

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::model::Side;
use proptest::prelude::*;

const RIGHT: &str = r#"protocol: mast
title: A mast with sensors
source: none
link: { serial: 9600 }
frame:
  cut: { start: [0x7E], end: [0x7E], escape: { mark: 0x7D, xor: 0x20, of: [0x7D, 0x7E] } }
  fields:
    - { name: command, type: u8, is: code }
    - { name: data, is: body }
    - { name: sum, type: u8, is: checksum, algorithm: xor, over: { from: command, to: data } }
messages:
  - name: wind
    code: 1
    meaning: the wind
    fields:
      - { name: raw, type: u16 }
      - { name: speed, is: computed, value: "=raw * 0.1" }
      - { name: flags, type: u8 }
      - { name: gust, type: u8, when: "=flags & 1" }
      - { name: check, type: u8, value: "=255 - flags" }
      - { name: name, type: "text[4]", pad: " ", encoding: ascii }
      - { name: digits, type: "text[3]", base: 10 }
      - { name: list, type: "u8[2]" }
types:
  - { name: place, fields: [{ name: x, type: f32 }] }
"#;
const ENCODING: &str = "link: { serial: 9600 }\nencoding: { separator: \",\" }";
const CUT: &str = "{ start: [0x7E], end: [0x7E], escape: { mark: 0x7D, xor: 0x20, of: [0x7D, 0x7E] } }";

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
fn errors_name_their_place() {
    assert_eq!(error(RIGHT), "none");
    for (right, wrong, expected) in [
        (
            CUT,
            "{ escape: slip }",
            "line 5: mast: frame: cut must have one of datagram, size, start with end, line, silence, by_code, can",
        ),
        (
            CUT,
            "{ line: x, escape: slip }",
            "line 5: mast: frame: escape needs end: the bytes behind a message, which are escaped within it",
        ),
        (
            CUT,
            "{ start: [0x7E], escape: slip }",
            "line 5: mast: frame: escape needs end: the bytes behind a message, which are escaped within it",
        ),
        (
            CUT,
            "{ end: [0xC1], escape: slip }",
            "line 5: mast: frame: escape: slip needs end: [0xC0]; start is the same, or left out",
        ),
        (
            CUT,
            "{ end: \"\\n\", escape: cobs }",
            "line 5: mast: frame: escape: cobs needs end: [0]; start is the same, or left out",
        ),
        (
            CUT,
            "{ start: ':', end: AB, escape: hex }",
            "line 5: mast: frame: escape: hex needs marks without hexadecimal digits; start is one byte that end does not have, or left out",
        ),
        (
            CUT,
            "{ end: \"'\", escape: double }",
            "line 5: mast: frame: escape: double needs an end of two bytes, of which the first is sent twice within a message, such as [0x10, 0x03]; start begins with the same byte, such as [0x10, 0x02]",
        ),
        (
            CUT,
            "{ start: [2], end: [0x10, 3], escape: double }",
            "line 5: mast: frame: escape: double needs an end of two bytes, of which the first is sent twice within a message, such as [0x10, 0x03]; start begins with the same byte, such as [0x10, 0x02]",
        ),
        (CUT, "{ end: [], start: [1] }", "line 5: mast: frame: start needs end, the bytes behind a message"),
        (
            CUT,
            "{ end: [0x1C0] }",
            "line 6, column 8: frame.cut: expected a text, or a list of bytes such as [0xC0]",
        ),
        (
            "escape: { mark: 0x7D, xor: 0x20, of: [0x7D, 0x7E] }",
            "escape: slop",
            "line 6, column 8: frame.cut: escape: expected slip, cobs, hex, double, or a mapping with mark, xor and of",
        ),
        (
            "of: [0x7D, 0x7E]",
            "of: [0x7D]",
            "line 5: mast: frame: escape: of needs mark, start and end: 0x7e is missing",
        ),
        (
            "xor: 0x20",
            "xor: 3",
            "line 5: mast: frame: escape: 0x7d with xor 0x03 is 0x7e, which is start or end",
        ),
        ("mark: 0x7D", "mark: 0x7E", "line 5: mast: frame: escape: mark is 0x7e, as start or end"),
        (
            "end: [0x7E]",
            "end: [0x7E, 1]",
            "line 5: mast: frame: an escape with mark and xor needs an end of one byte; start is one byte, or left out",
        ),
        (
            "from: command",
            "from: comand",
            "line 10: mast: frame: sum: over: there is no field comand; did you mean 'command'?",
        ),
        (
            "from: command, to: data",
            "from: data, to: command",
            "line 10: mast: frame: sum: over: from comes after to",
        ),
        (
            "from: command, to: data",
            "to: sum",
            "line 10: mast: frame: sum: over: the check sum would cover itself",
        ),
        (
            "{ from: command, to: data }",
            "{}",
            "line 10: mast: frame: sum: over: needs from or to, the names of fields",
        ),
        (
            "type: u16 }",
            "type: u16, over: { from: raw } }",
            "line 16: mast: wind: raw: over: only a check sum has it",
        ),
        (
            "\"=raw * 0.1\"",
            "\"=row * 0.1\"",
            "line 17: mast: wind: speed: value: column 2: no field row comes before it; did you mean 'raw'?",
        ),
        (
            "\"=raw * 0.1\"",
            "\"=raw *\"",
            "line 17: mast: wind: speed: value: column 7: expected a number or a field",
        ),
        (
            "\"=raw * 0.1\"",
            "\"=flags\"",
            "line 17: mast: wind: speed: value: column 2: no field flags comes before it; known: raw, command",
        ),
        (
            "value: \"=raw * 0.1\"",
            "value: \"5\"",
            "line 17: mast: wind: speed: a computed field needs a value such as \"=raw * 2\"",
        ),
        (
            "is: computed,",
            "is: computed, type: u8,",
            "line 17: mast: wind: speed: a computed field has no bytes: it has name, value, unit, meaning, codes and when only",
        ),
        (
            "is: computed,",
            "is: computed, scale: 2,",
            "line 17: mast: wind: speed: a computed field has no bytes: it has name, value, unit, meaning, codes and when only",
        ),
        (
            "\"=flags & 1\"",
            "flags & 1",
            "line 19: mast: wind: gust: when: an expression begins with =, such as \"=flags & 1\"",
        ),
        (
            "\"=flags & 1\"",
            "\"=flag & 1\"",
            "line 19: mast: wind: gust: when: column 2: no field flag comes before it; did you mean 'flags'?",
        ),
        (
            "\"=flags & 1\"",
            "[flags]",
            "line 19, column 9: messages[0].fields[3]: when: expected values of fields such as { mode: 1 }, or an expression such as \"=flags & 4\"",
        ),
        (
            "name: list, type: \"u8[2]\"",
            "name: list, type: \"u8[2]\", value: \"=raw\"",
            "line 23: mast: wind: list: an expression gives one number, not a list",
        ),
        (
            "name: list, type: \"u8[2]\"",
            "name: list, type: u8, value: \"=name\"",
            "line 23: mast: wind: list: value: column 2: name is a text; only that of a text[1] is a number",
        ),
        (
            "is: code }",
            "is: code, value: \"=1\" }",
            "line 8: mast: frame: command: value: a code, a size and a check sum have their value already",
        ),
        (
            "type: u16 }",
            "type: u16, pad: \" \" }",
            "line 16: mast: wind: raw: pad fills a text of fixed size, text[N], that has no separators",
        ),
        ("pad: \" \"", "pad: ab", "line 21: mast: wind: name: pad is one byte, such as \" \" or [0xFF]"),
        (
            "encoding: ascii",
            "encoding: utf16",
            "line 21, column 60: messages[0].fields[5].encoding: unknown variant `utf16`, expected one of `latin1`, `utf8`, `ascii`",
        ),
        ("type: u16 }", "type: u16, encoding: utf8 }", "line 16: mast: wind: raw: encoding is for texts"),
        (
            "type: u16 }",
            "type: u16, digits: 3 }",
            "line 16: mast: wind: raw: digits and decimals are for numbers that are written as text: with encoding: blanks or a separator, or of type text[N] with base",
        ),
        (
            "type: u16 }",
            "type: u16, empty: missing }",
            "line 16: mast: wind: raw: empty is for values with separators: encoding: blanks, or { separator: \",\" }",
        ),
        (
            "base: 10",
            "base: 10, digits: 3",
            "line 22: mast: wind: digits: the type has the number of digits; digits is for numbers between separators",
        ),
        (
            "base: 10",
            "base: 16, decimals: 1",
            "line 22: mast: wind: digits: a number with decimals has base 10",
        ),
        (
            "base: 10",
            "base: 10, bits: [0, 1]",
            "line 22: mast: wind: digits: bits are parts of a number in bytes, not of one that is written as text",
        ),
        (
            "type: \"text[3]\", base: 10",
            "type: \"text[*]\", base: 10",
            "line 22: mast: wind: digits: a number that is written as text needs its number of digits, such as text[2]",
        ),
        (
            "type: \"text[4]\", pad: \" \"",
            "type: \"text[4]\", value: north",
            "line 21: mast: wind: name: 'north' has 5 bytes, not 4 as its type",
        ),
        (
            "link: { serial: 9600 }",
            "link: { serial: 9600 }\nencoding: { separator: \"5\" }",
            "line 5: mast: encoding: '5' cannot separate values: it may be part of a number, or is not ASCII",
        ),
        (
            "link: { serial: 9600 }",
            "link: { serial: 9600 }\nencoding: { seperator: \",\" }",
            "line 5, column 13: encoding: unknown variant `seperator`, expected one of `plain`, `xdr`, `blanks`, `separator`; did you mean 'separator'?",
        ),
        (
            "link: { serial: 9600 }",
            ENCODING,
            "line 22: mast: wind: name: pad fills a text of fixed size, text[N], that has no separators",
        ),
    ] {
        assert!(RIGHT.contains(right), "{right}");
        assert_eq!(error(&RIGHT.replacen(right, wrong, 1)), expected, "{wrong}");
    }
}

#[test]
fn keys_of_values_with_separators() {
    let right = RIGHT.replace(" pad: \" \",", "").replace("link: { serial: 9600 }", ENCODING);
    assert_eq!(error(&right), "none");
    for (right_part, wrong, expected) in [
        (
            "type: u16 }",
            "type: u16, decimals: 2 }",
            "line 17: mast: wind: raw: decimals needs type f32 or f64",
        ),
        (
            "type: u16 }",
            "type: u16, digits: 50 }",
            "line 17: mast: wind: raw: at most 40 digits and 17 decimals are possible",
        ),
        (
            "name: list, type: \"u8[2]\"",
            "name: list, type: place, empty: missing",
            "line 24: mast: wind: list: empty is for one number or text, not for lists and structures",
        ),
        (
            "name: list, type: \"u8[2]\"",
            "name: list, type: u8, is: checksum, algorithm: sum",
            "line 24: mast: wind: list: a check sum between separators needs a fixed size, such as type: \"text[2]\", base: 16",
        ),
        (
            CUT,
            "{ by_code: true }",
            "line 6: mast: frame: cut: by_code needs fields of known sizes, not encoding: blanks or a separator",
        ),
        (
            "    - { name: data, is: body }",
            "    - { name: more, type: u8 }\n    - { name: data, is: body }",
            "line 6: mast: frame: the code must be the field in front of the body, if that is text",
        ),
    ] {
        assert!(right.contains(right_part), "{right_part}");
        assert_eq!(error(&right.replacen(right_part, wrong, 1)), expected, "{wrong}");
    }
}

/// Code that is generated refuses what it would ignore.
#[test]
fn generated_code_has_nothing_of_it() {
    for (text, expected) in [
        (RIGHT.to_owned(), "mast: escapes are only interpreted"),
        (RIGHT.replace(CUT, "{ line: x }"), "speed: a computed field is only interpreted"),
    ] {
        let protocol = Protocol::read(&text).unwrap();
        for found in [
            dragoman_protocol::rust::requests(&protocol),
            dragoman_protocol::rust::interfaces(&protocol, &[]),
            dragoman_protocol::rust::telegrams(&protocol, &[], &[]),
            dragoman_protocol::rust::services(&protocol),
        ] {
            assert_eq!(found.unwrap_err().to_string(), expected);
        }
    }
}

/// What is changed in a description, one piece for another.
const PIECES: &[&str] = &[
    "u8",
    "u16",
    "i64",
    "f32",
    "f64",
    "bool",
    "text[1]",
    "text[*]",
    "bytes[3]",
    "u8[*]",
    "u16[u8]",
    "place",
    "computed",
    "checksum",
    "code",
    "size",
    "body",
    "raw",
    "flags",
    "data",
    "sum",
    "command",
    "0",
    "1",
    "2",
    "8",
    "10",
    "16",
    "255",
    "slip",
    "cobs",
    "hex",
    "double",
    "missing",
    "latin1",
    "=raw / flags",
    "=raw << flags",
    "=raw & 0.5",
    "=1 / 0",
    "-1",
    "99999",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// A description that is accepted, however odd it is, is worked with.
    #[test]
    fn odd_descriptions_do_not_panic(
        which in 0_usize..4,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<proptest::sample::Index>()), 0..4),
        bytes in proptest::collection::vec(prop_oneof![Just(1_u8), Just(0x7e), Just(b','), 48..58_u8, any::<u8>()], 0..60),
    ) {
        let plain = RIGHT.replace(CUT, "{ size: size, counts: rest }").replace("  fields:\n    - { name: command", "  fields:\n    - { name: size, type: \"text[2]\", base: 10, is: size }\n    - { name: command");
        let text = [
            RIGHT.to_owned(),
            plain,
            RIGHT.replace(" pad: \" \",", "").replace("link: { serial: 9600 }", ENCODING),
            include_str!("../machines/nmea0183.yaml").to_owned(),
        ][which].clone();
        let mut changed = text;
        for (at, piece) in changes {
            let places: Vec<_> = PIECES.iter().flat_map(|piece| changed.match_indices(piece)).collect();
            let (start, found) = *at.get(&places);
            changed.replace_range(start..start + found.len(), piece.get::<&str>(PIECES));
        }
        let Ok(protocol) = Protocol::read(&changed) else { return Ok(()) };
        let Ok(mut cutter) = Cutter::new(&protocol) else { return Ok(()) };
        let Ok(codec) = Codec::new(protocol) else { return Ok(()) };
        let (mut values, mut scratch, mut out) = (Values::default(), Values::default(), Vec::new());
        for from in [Side::Client, Side::Server] {
            cutter.push(&bytes);
            while let Some(frame) = cutter.next_frame_by(|rest| codec.measure(rest, from, &mut scratch)) {
                let _ = codec.decode(frame, from, None, &mut values);
            }
            // Without the marks.
            if let Ok(message) = codec.decode(&[&[1], &bytes[..]].concat(), from, None, &mut values) {
                let _ = codec.show(message, &values).to_string();
                let _ = codec.encode_wire(message, &mut values, &mut out);
            }
        }
    }
}
