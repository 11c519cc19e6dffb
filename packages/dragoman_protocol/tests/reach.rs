//! What can never occur is an error, what is hardly meant a warning; names of values in expressions.

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::model::Side;

const RIGHT: &str = r#"
protocol: lamp
title: A lamp
source: its label
link: { serial: 9600 }
frame:
  cut: { size: size, counts: body }
  fields:
    - { name: size, type: u8, is: size }
    - { name: letter, type: "text[1]", is: code }
    - { name: data, is: body }
messages:
  - name: dim
    code: D
    meaning: dims
    fields:
      - { name: mode, type: u8, codes: mode }
      - { name: level, type: u8, when: { mode: 1 } }
      - { name: rest, type: "u8[*]" }
  - { name: report, code: R, from: server, meaning: reports }
types:
  - { name: mode, codes: { off: 0, on: 1, hot: 200 } }
"#;

fn error(text: &str) -> String {
    match Protocol::read(text) {
        Err(error) => error.to_string(),
        Ok(protocol) => Codec::new(protocol).err().map_or("none".to_owned(), |error| error.to_string()),
    }
}

fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(RIGHT.to_owned(), |text, (right, wrong)| {
        assert!(text.contains(right), "{right}");
        text.replacen(right, wrong, 1)
    })
}

#[test]
fn what_can_never_occur_is_an_error() {
    assert_eq!(error(RIGHT), "none");
    let number = ("type: \"text[1]\"", "type: u8");
    let can = ("cut: { size: size, counts: body }", "cut: { can: true }");
    for (changes, expected) in [
        (
            &[("code: D", "code: 79")][..],
            "line 13: lamp: dim: code: 79 is a number, and the field letter is text[1]; write \"O\", if its byte is meant",
        ),
        (
            &[("code: D", "code: 7")],
            "line 13: lamp: dim: code: 7 is a number, and the field letter is text[1]; write it as \"7\"",
        ),
        (
            &[("code: D", "code: DIM")],
            "line 13: lamp: dim: code: 'DIM' has 3 bytes, and the field letter is text[1]",
        ),
        (
            &[number],
            "line 13: lamp: dim: code: 'D' is a text, and the field letter is u8; the number of its byte is 0x44",
        ),
        (
            &[number, ("code: D", "code: 256")],
            "line 13: lamp: dim: code: 256 does not fit: the field letter is u8, 0 to 255",
        ),
        (
            &[("type: \"text[1]\"", "type: \"text[2]\", base: 16"), ("code: D", "code: 256")],
            "line 13: lamp: dim: code: 256 does not fit: the field letter is text[2], -255 to 255",
        ),
        (
            &[("type: \"text[1]\"", "type: f32"), ("code: D", "code: 1")],
            "line 13: lamp: dim: code: the field letter is f32, which cannot be a code: it needs a whole number or a text",
        ),
        (
            &[can],
            "line 13: lamp: dim: code: 'D' is a text; on a CAN bus the code is the identifier, such as 0x201",
        ),
        (
            &[can, ("code: D", "code: 0x20000000")],
            "line 13: lamp: dim: code: 0x20000000 is not an identifier: they have 11 bits (0x7ff) or 29 (0x1fffffff)",
        ),
        (
            &[("code: R, from: server", "code: D")],
            "line 20: lamp: report: it has the same code as dim, 'D', and both are sent to the machine: which one is meant cannot be known",
        ),
        (
            &[("mode: 1 }", "mode: 256 }")],
            "line 18: lamp: dim: level: when: mode is never 256: it is u8, 0 to 255",
        ),
        (
            &[("type: \"u8[*]\" }", "type: \"u8[*]\" }\n      - { name: more, type: u8 }")],
            "line 20: lamp: dim: more: rest in front of it goes up to the end ([*]): nothing is left for this field",
        ),
        (
            &[("cut: { size: size, counts: body }", "cut: { by_code: true }"), ("is: size", "value: \"5\"")],
            "line 19: lamp: dim: rest: with cut: by_code a message ends behind its last field, so a field that goes up to the end ([*]) or that may be missing (optional) has none; give its number, as in u8[count], or cut frames otherwise",
        ),
    ] {
        assert_eq!(error(&changed(changes)), expected);
    }
}

fn warnings(text: &str) -> Vec<String> {
    let protocol = Protocol::read(text).unwrap();
    let shown = protocol
        .warnings()
        .into_iter()
        .map(|one| format!("line {}: {}: {}", one.line(text).unwrap_or(0), one.place, one.text));
    shown.collect()
}

#[test]
fn what_is_hardly_meant_is_a_warning() {
    assert_eq!(warnings(RIGHT), Vec::<String>::new());
    let line = ("cut: { size: size, counts: body }", "cut: { line: \"\\n\" }");
    let size = ("    - { name: size, type: u8, is: size }\n", "");
    assert_eq!(
        warnings(&changed(&[line, size])),
        [
            "line 6: lamp: frame: line: the field mode of dim is u8, which may have the byte 0x0a: the message would end there. Use an escape (slip, cobs, hex, double, or mark with xor), a size, or text"
        ]
    );
    let double =
        ("cut: { size: size, counts: body }", "cut: { start: [0x10], end: [0x10, 3], escape: double }");
    assert_eq!(
        warnings(&changed(&[double, size])),
        [
            "line 6: lamp: frame: escape: double with a start of one byte is ambiguous if a frame may begin with 0x03 or 0x10: behind 0x10 these are the end and a doubled byte. Give a start of two bytes, such as [0x10, 0x02], or the first field a value"
        ]
    );
    for (kind, range) in [("i8", "-128 to 127"), ("u8, bits: [0, 4]", "0 to 15")] {
        assert_eq!(
            warnings(&changed(&[("name: mode, type: u8", &format!("name: mode, type: {kind}"))])),
            [format!("line 17: lamp: dim: mode: hot of mode is 200, and the field has {range}")]
        );
    }
    // A command, and a question with the same code.
    assert_eq!(
        warnings(&changed(&[("code: R, from: server", "code: D, answer: []")])),
        [
            "line 20: lamp: report: it has the code of dim: what is sent to the machine with this code is always read as dim"
        ]
    );
    let odometry = |keys: &str| {
        let bridge = format!(
            "bridge:\n  odometry: {{ from: report, differential: {{ left: left, right: left, separation: 0.3{keys} }} }}\n"
        );
        let fields = "meaning: reports, fields: [{ name: left, type: u16, unit: m, scale: 0.001 }]";
        warnings(&(changed(&[("meaning: reports", fields)]) + &bridge))
    };
    assert_eq!(
        odometry(""),
        [
            "line 24: lamp: bridge: odometry: left is u16, a counter that begins again: the pose would jump. Add overflow, the way in m after which it begins again (65536 * 0.001), or since: last, if it counts from message to message"
        ]
    );
    assert_eq!(odometry(", overflow: 65.536"), Vec::<String>::new());
    assert_eq!(odometry(", since: last"), Vec::<String>::new());
}

/// Descriptions that are known to work give no warnings but those that are meant.
#[test]
fn known_descriptions_have_no_warnings() {
    for folder in ["machines", "other_machines"] {
        for file in std::fs::read_dir(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
        {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(&path).unwrap();
                // The handshake of P2OS has the codes of three commands.
                let is_known =
                    |warning: &String| path.ends_with("p2os.yaml") && warning.contains("the code of sync");
                let found: Vec<String> = warnings(&text).into_iter().filter(|one| !is_known(one)).collect();
                assert_eq!(found, Vec::<String>::new(), "{}", path.display());
            }
        }
    }
}

#[test]
fn names_of_values_are_known_in_expressions() {
    let with = |value: &str| {
        changed(&[("type: u8, when: { mode: 1 }", &format!("is: computed, value: \"={value}\""))])
    };
    let codec = Codec::new(Protocol::read(&with("mode == 'hot' ? 1 : mode != 'off'")).unwrap()).unwrap();
    let mut values = Values::default();
    for (mode, level) in [(0, 0), (1, 1), (200, 1)] {
        let message = codec.decode(&[1, b'D', mode], Side::Client, None, &mut values).unwrap();
        assert!(codec.show(message, &values).to_string().contains(&format!(", level {level}")));
    }
    for (value, expected) in [
        ("mode == 'warm'", "column 10: no value of mode is called 'warm'; known: hot, off, on"),
        (
            "mode == hot",
            "column 10: no field hot comes before it; the name of a value is in quotes: mode == 'hot'",
        ),
        ("letter == 'DIM'", "column 12: letter has no names for its values: it needs codes"),
    ] {
        assert_eq!(error(&with(value)), format!("line 18: lamp: dim: level: value: {expected}"));
    }
    let when = changed(&[("when: { mode: 1 }", "when: \"=mode == 'on'\"")]);
    let codec = Codec::new(Protocol::read(&when).unwrap()).unwrap();
    let message = codec.decode(&[2, b'D', 1, 9], Side::Client, None, &mut values).unwrap();
    assert_eq!(codec.show(message, &values).to_string(), "dim: mode on (1), level 9, rest []");
}
