//! Messages that are text: values with separators, numbers with digits, check sums in characters, expressions over them.

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::{Codec, Item, MessageId, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::Side;
use proptest::prelude::*;

const NMEA: &str = include_str!("../machines/nmea0183.yaml");
/// The example of most descriptions of GGA.
const GGA: &[u8] = b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n";
const RMC: &[u8] = b"$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n";

fn codec(text: &str) -> Codec {
    Codec::new(Protocol::read(text).unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

/// What a stream has, for people.
fn shown(text: &str, bytes: &[u8]) -> Vec<String> {
    let codec = codec(text);
    let mut cutter = Cutter::new(codec.protocol()).unwrap();
    let (mut values, mut all) = (Values::default(), Vec::new());
    cutter.push(bytes);
    while let Some(frame) = cutter.next_frame() {
        all.push(match codec.decode(frame, Side::Server, None, &mut values) {
            Ok(message) => codec.show(message, &values).to_string(),
            Err(error) => format!("error: {error}"),
        });
    }
    all
}

#[test]
fn sentences_of_nmea_0183() {
    assert_eq!(
        shown(NMEA, &[GGA, RMC].concat()),
        [
            "fix: talker \"GP\", time 123519, latitude_ddmm 4807.038, north_south \"N\", longitude_ddmm 1131, east_west \"E\", quality gps (1), satellites 8, hdop 0.9, altitude 545.4 m, unit_of_altitude \"M\", separation 46.9 m, unit_of_separation \"M\", latitude 48.1173 deg, longitude 11.5166666667 deg, ellipsoid_altitude 592.3 m, deviation 4 m",
            "motion: talker \"GP\", time 123519, status \"A\", latitude_ddmm 4807.038, north_south \"N\", longitude_ddmm 1131, east_west \"E\", knots 22.4, course 84.4 deg, date 230394, variation 3.1 deg, variation_direction \"W\", is_valid 1, latitude 48.1173 deg, longitude 11.5166666667 deg, speed 11.5235555556 m/s, east 11.4685582341 m/s, north 1.12450196665 m/s, year 2094, days 45372, second 3920186119 s, nanosecond 0",
        ]
    );
    // Measured without reception: the values are empty, what is computed from them is missing.
    assert_eq!(
        shown(NMEA, b"$GNGGA,,,,,,0,00,99.99,,,,,,*56\r\n"),
        ["fix: talker \"GN\", quality invalid (0), satellites 0, hdop 99.99, deviation 4 m"]
    );
    assert_eq!(
        shown(NMEA, b"$GPGGA,1,2*47\r\n$GPGSV,1*48\r\n$GPGGA\r\n"),
        [
            "error: the frame ends before field north_south",
            "error: no message has the code GSV",
            "error: no message has the code "
        ]
    );
    let wrong = String::from_utf8_lossy(GGA).replace("*47", "*4f");
    assert_eq!(
        shown(NMEA, wrong.as_bytes()),
        ["error: field check is 0x4f; the bytes have the check sum 0x47"]
    );
}

#[test]
fn sentences_are_written_with_their_digits() {
    let codec = codec(NMEA);
    let mut values = Values::default();
    let frame = &GGA[1..GGA.len() - 2];
    let message = codec.decode(frame, Side::Server, None, &mut values).unwrap();
    // Both values at the end are missing, and have their commas.
    assert_eq!(values.items().iter().filter(|item| **item == Item::Missing).count(), 2);
    let mut out = b"before".to_vec();
    codec.encode_wire(message, &mut values, &mut out).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&out),
        "before$GPGGA,123519.00,4807.0380,N,01131.0000,E,1,08,0.9,545.4,M,46.9,M,,*69\r\n"
    );
    let mut values = Values::default();
    values.text("GP");
    codec.encode(message, &mut values, &mut out).unwrap_err();
}

const TEXTS: &str = r#"
protocol: texts
title: Texts of all kinds
source: none
link: { tcp: 1 }
encoding: { separator: ";" }
frame:
  cut: { line: "\n" }
  fields: [{ name: command, type: "text[*]", is: code }, { name: values, is: body }]
messages:
  - name: all
    code: ALL
    from: server
    meaning: one of each
    fields:
      - { name: number, type: i16, digits: 3 }
      - { name: bits, type: u8, base: 2, digits: 8 }
      - { name: signed, type: i16, base: 16 }
      - { name: ratio, type: f32, decimals: 2, digits: 2 }
      - { name: constant, type: "text[*]", value: M }
      - { name: twice, type: i32, value: "=number * 2" }
      - { name: name, type: "text[*]", encoding: latin1 }
      - { name: first, type: u8, optional: true }
      - { name: second, type: u8, optional: true }
  - { name: numbered, code: 17, from: server, meaning: a number as code, fields: [{ name: all, type: "f64[*]" }] }
"#;

#[test]
fn words_are_read_and_written() {
    for (line, expected, again) in [
        (
            &b"ALL;7;101;FFFE;1.5;M;14;J\xfcrg;;5"[..],
            "all: number 7, bits 5, signed -2, ratio 1.5, name \"J\u{fc}rg\", second 5",
            &b"ALL;007;00000101;FFFE;01.50;M;014;J\xfcrg;;5"[..],
        ),
        (
            b"ALL;-7; 1 ;-2;-0.25;M;-14;;3",
            "all: number -7, bits 1, signed -2, ratio -0.25, name \"\", first 3",
            b"ALL;-007;00000001;FFFE;-00.25;M;-014;;3",
        ),
        (
            b"ALL;1;1;1;1e1;M;2;x",
            "all: number 1, bits 1, signed 1, ratio 10, name \"x\"",
            b"ALL;001;00000001;1;10.00;M;002;x",
        ),
        (b"17;1;2.5;-3", "numbered: all [1, 2.5, -3]", b"17;1;2.5;-3"),
        (b"17", "numbered: all []", b"17"),
    ] {
        let codec = codec(&TEXTS.replace("twice, type: i32,", "twice, type: i32, digits: 3,"));
        let mut values = Values::default();
        let message = codec.decode(line, Side::Server, None, &mut values).unwrap();
        assert_eq!(codec.show(message, &values).to_string(), expected);
        let mut out = Vec::new();
        codec.encode(message, &mut values, &mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(again));
    }
    for (line, error) in [
        ("ALL;40000;0;0;0;M;0;x", "field number is \"40000\", which does not fit its type"),
        ("ALL;1;2;0;0;M;0;x", "field bits is \"2\", which is not a number of base 2"),
        ("ALL;1;1;0;inf;M;0;x", "field ratio is \"inf\", which is not a number of base 10"),
        ("ALL;1;1;0;;M;0;x", "field ratio is \"\", which is not a number of base 10"),
        ("ALL;1;1;0;1;N;2;x", "field constant is \"N\", not \"M\""),
        ("ALL;1;1;0;1;M;3;x", "field twice is 3, not 2"),
        ("ALL;1;1;0;1;M;2;x;1;2;3", "2 bytes follow the last field"),
        ("ALLE;1", "no message has the code ALLE"),
    ] {
        let found = codec(TEXTS).decode(line.as_bytes(), Side::Server, None, &mut Values::default());
        assert_eq!(found.unwrap_err().to_string(), error, "{line}");
    }
}

const LINES: &str = r#"
protocol: lines
title: Lines of words
source: none
link: { tcp: 1 }
encoding: blanks
frame:
  cut: { line: "\n" }
  fields: [{ name: command, type: "text[*]", is: code }, { name: values, is: body }]
messages:
  - { name: load, code: load, from: server, meaning: a name with blanks, fields: [{ name: file, type: "text[*]", rest: true, encoding: utf8 }] }
  - { name: scaled, code: scaled, from: server, meaning: numbers by their bits, fields: [{ name: factor, type: f32, base: 16 }, { name: wide, type: f64, base: 16 }] }
  - { name: said, code: said, from: server, meaning: perhaps something, fields: [{ name: text, type: "text[*]", rest: true, optional: true }] }
"#;

#[test]
fn a_text_takes_the_rest_and_real_numbers_are_written_as_bits() {
    for (line, expected) in [
        ("load my  program.urp", "load: file \"my  program.urp\""),
        ("load ", "load: file \"\""),
        ("scaled 40000000 3FF8000000000000", "scaled: factor 2, wide 1.5"),
        ("said", "said"),
        ("said a b", "said: text \"a b\""),
    ] {
        let codec = codec(LINES);
        let mut values = Values::default();
        let message = codec.decode(line.as_bytes(), Side::Server, None, &mut values).unwrap();
        assert_eq!(codec.show(message, &values).to_string(), expected);
        let mut out = Vec::new();
        codec.encode(message, &mut values, &mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out), line);
    }
    for (line, error) in [
        ("load", "the frame ends before field file"),
        ("scaled 7FC00000 0", "field factor is \"7FC00000\", which is not a number of base 16"),
        ("scaled 140000000 0", "field factor is \"140000000\", which is not a number of base 16"),
    ] {
        let found = codec(LINES).decode(line.as_bytes(), Side::Server, None, &mut Values::default());
        assert_eq!(found.unwrap_err().to_string(), error, "{line}");
    }
}

#[test]
fn words_that_cannot_be_written_are_refused() {
    let codec = codec(TEXTS);
    let all = MessageId { number: 0, is_answer: false };
    for (number, ratio, name, error) in [
        (1, 1.0, "a;b", "field name has ';', which separates values"),
        (1, 1.0, "\u{20ac}", "field name is not Latin-1"),
        (40_000, 1.0, "a", "field number: 40000 does not fit"),
        (1, f64::INFINITY, "a", "field ratio: inf does not fit"),
        (1, 1.0, "a\n", "the frame has the bytes of a mark within: it would be cut there"),
    ] {
        let mut values = Values::default();
        values.whole(number);
        values.whole(0);
        values.whole(0);
        values.real(ratio);
        values.text(name);
        values.missing();
        values.missing();
        let mut out = vec![9];
        let found = codec.encode_wire(all, &mut values, &mut out).unwrap_err();
        assert_eq!((found.to_string().as_str(), out), (error, vec![9]));
    }
}

const PLAIN: &str = r#"
protocol: plain
title: Numbers and texts of fixed size
source: none
link: { serial: 9600 }
frame:
  cut: { size: size, counts: body, most: 200 }
  fields:
    - { name: size, type: "text[3]", base: 10, is: size }
    - { name: sum, type: u8, is: checksum, algorithm: sum, over: { from: command, to: crc } }
    - { name: command, type: "text[2]", base: 16, is: code }
    - { name: data, is: body }
    - { name: crc, type: u16, is: checksum, algorithm: CRC-16/MODBUS, order: little, over: { from: command, to: data } }
messages:
  - name: state
    code: 31
    from: server
    meaning: a state
    fields:
      - { name: raw, type: u16 }
      - { name: speed, is: computed, value: "=(raw - 512) * 0.01", unit: m/s }
      - { name: flags, type: u8 }
      - { name: angle, type: "text[6]", base: 10, decimals: 1, when: "=flags & 4" }
      - { name: not_flags, type: u8, value: "=255 - flags" }
      - { name: name, type: "text[6]", pad: " ", encoding: ascii }
      - { name: inner, type: u8, is: checksum, algorithm: xor, over: { from: flags, to: not_flags } }
      - { name: rest, type: u8, when: "=(speed > 1) | (flags == 1)" }
"#;

fn state(raw: u16, flags: u8, angle: Option<f64>, name: &str, rest: Option<u8>) -> Values {
    let mut values = Values::default();
    values.whole(raw);
    values.missing();
    values.whole(flags);
    match angle {
        Some(angle) => values.real(angle),
        None => values.missing(),
    }
    values.text(name);
    match rest {
        Some(rest) => values.whole(rest),
        None => values.missing(),
    }
    values
}

#[test]
fn expressions_and_check_sums_of_parts() {
    let codec = codec(PLAIN);
    let message = MessageId { number: 0, is_answer: false };
    let mut out = Vec::new();
    codec.encode_wire(message, &mut state(712, 5, Some(-4.5), "left", Some(9)), &mut out).unwrap();
    assert_eq!(
        out.get(6..26).unwrap(),
        [&[0x02, 0xc8, 5][..], b"-004.5", &[250], b"left  ", &[0xfd, 9, 0xac, 0x77]].concat()
    );
    assert_eq!(
        shown(PLAIN, &out),
        ["state: raw 712, speed 2 m/s, flags 5, angle -4.5, name \"left\", rest 9"]
    );
    assert_eq!(out.get(..3), Some(&b"018"[..]));
    out.clear();
    codec.encode_wire(message, &mut state(512, 0, None, "", None), &mut out).unwrap();
    assert_eq!(shown(PLAIN, &out), ["state: raw 512, speed 0 m/s, flags 0, name \"\""]);
    for at in [3, 5, 7, 9, 16] {
        let mut wrong = out.clone();
        wrong[at] ^= 1;
        assert!(shown(PLAIN, &wrong).iter().any(|one| one.starts_with("error: field")), "{at}");
    }
    for (values, error) in [
        (state(512, 4, None, "", None), "field angle has a value of another kind"),
        (state(512, 0, Some(1.0), "", None), "field angle is missing, or must be"),
        (state(512, 4, Some(12_345.0), "", None), "field angle: 12345 does not fit"),
        (state(512, 0, None, "too long", None), "field name has 8 elements, which does not fit"),
        (state(512, 0, None, "\u{e4}", None), "field name is not ASCII"),
    ] {
        let found = codec.encode(message, &mut { values }, &mut Vec::new());
        assert_eq!(found.unwrap_err().to_string(), error);
    }
}

#[test]
fn a_failed_expression_names_its_field() {
    let text = PLAIN.replace("=(raw - 512) * 0.01", "=1 / (raw - 512)");
    let codec = codec(&text);
    let message = MessageId { number: 0, is_answer: false };
    let found = codec.encode(message, &mut state(512, 0, None, "", None), &mut Vec::new());
    assert_eq!(found.unwrap_err().to_string(), "field speed: division by zero");
    let mut out = Vec::new();
    codec.encode(message, &mut state(513, 0, None, "", None), &mut out).unwrap();
    *out.get_mut(7).unwrap() = 0;
    let found = codec.decode(&out, Side::Server, None, &mut Values::default());
    assert_eq!(found.unwrap_err().to_string(), "field speed: division by zero");
}

#[test]
fn hexadecimal_telegrams_of_a_scanner() {
    let cola = codec(include_str!("../machines/cola_a.yaml"));
    let mut values = Values::default();
    values.whole(3);
    values.whole(0xf472_4744_u32);
    let mut out = Vec::new();
    cola.encode_wire(MessageId { number: 0, is_answer: false }, &mut values, &mut out).unwrap();
    assert_eq!(out, b"\x02sMN SetAccessMode 03 F4724744\x03");
    // The first angle is negative: two's complement.
    let scan = b"sSN LMDscandata 1 1 89A27F 0 0 343 347 27477BA9 2747813B 0 0 7 0 0 1388 168 0 1 DIST1 3F800000 00000000 FFF92230 1388 3 8A1 8A5 8AB 0 0 0 0 0 0";
    let mut values = Values::default();
    let message = cola.decode(scan, Side::Server, None, &mut values).unwrap();
    let shown = cola.show(message, &values).to_string();
    assert!(
        shown.ends_with("data.channels[0].factor 1, data.channels[0].factor_offset 0, data.channels[0].start_angle -45 deg, data.channels[0].angle_step 0.5 deg, data.channels[0].values [2209, 2213, 2219], data.others \"0 0 0 0 0\""),
        "{shown}"
    );
    out.clear();
    cola.encode(message, &mut values, &mut out).unwrap();
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(scan).replace("00000000", "0"));
}

proptest! {
    #[test]
    fn no_sentence_panics(bytes in proptest::collection::vec(prop_oneof![4 => Just(b','), 4 => any::<u8>(), 2 => 48_u8..58, 1 => Just(b'.')], 0..60), which in 0..2) {
        let (text, begin) = if which == 0 { (NMEA, &b"GPGGA"[..]) } else { (TEXTS, &b"ALL"[..]) };
        let codec = codec(text);
        let mut values = Values::default();
        if let Ok(message) = codec.decode(&[begin, &bytes[..]].concat(), Side::Server, None, &mut values) {
            codec.encode(message, &mut values, &mut Vec::new()).unwrap();
        }
    }

    #[test]
    fn what_is_written_is_read(number in -999_i16..=999, bits: u8, signed: i16, ratio in -99_i32..=99, name in "[ -:<-~\u{a1}-\u{ff}]{0,9}", first in proptest::option::of(any::<u8>()), second in proptest::option::of(any::<u8>())) {
        let codec = codec(TEXTS);
        let mut values = Values::default();
        values.whole(number);
        values.whole(bits);
        values.whole(signed);
        values.real(f64::from(ratio) / 4.0);
        values.text(&name);
        for one in [first, second] {
            match one {
                Some(one) => values.whole(one),
                None => values.missing(),
            }
        }
        let (message, mut out) = (MessageId { number: 0, is_answer: false }, Vec::new());
        codec.encode_wire(message, &mut values, &mut out).unwrap();
        let mut cutter = Cutter::new(codec.protocol()).unwrap();
        cutter.push(&out);
        let mut again = Values::default();
        let frame = cutter.next_frame().unwrap();
        prop_assert_eq!(codec.decode(frame, Side::Server, None, &mut again), Ok(message));
        prop_assert_eq!(again.items(), values.items());
        prop_assert_eq!(again.items().first(), Some(&Item::Number(Number::Whole(number.into()))));
    }
}
