//! Frames between marks that are escaped within: SLIP, COBS, asynchronous HDLC, doubled marks, hexadecimal digits.

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::{Codec, MessageId, Values};
use dragoman_protocol::cut::{Cutter, Envelope};
use dragoman_protocol::model::Side;
use proptest::prelude::*;

const SLIP: &str = "{ end: [0xC0], escape: slip, most: 300 }";
const SLIP_BOTH: &str = "{ start: [0xC0], end: [0xC0], escape: slip, most: 300 }";
const COBS: &str = "{ end: \"\\0\", escape: cobs, most: 300 }";
const HDLC: &str =
    "{ start: [0x7E], end: [0x7E], escape: { mark: 0x7D, xor: 0x20, of: [0x7D, 0x7E, 0x11] }, most: 300 }";
const BRACKETS: &str =
    "{ start: '<', end: '>', escape: { mark: 0x5C, xor: 0x80, of: [0x5C, 0x3C, 0x3E] }, most: 300 }";
const DLE: &str = "{ start: [0x10, 0x02], end: [0x10, 0x03], escape: double, most: 300 }";
const DLE_ONE: &str = "{ start: [0x10], end: [0x10, 0x03], escape: double, most: 300 }";
const HEX: &str = "{ start: ':', end: \"\\r\\n\", escape: hex, most: 300 }";
const ALL: [&str; 8] = [SLIP, SLIP_BOTH, COBS, HDLC, BRACKETS, DLE, DLE_ONE, HEX];

fn protocol(cut: &str) -> Protocol {
    let text = format!(
        "
protocol: lamp
title: A lamp
source: its manual
link: {{ serial: 9600 }}
frame:
  cut: {cut}
  fields: [{{ name: code, type: u8, is: code }}, {{ name: data, is: body }}]
messages: [{{ name: dim, code: 7, meaning: dim, fields: [{{ name: data, type: 'bytes[*]' }}] }}]
"
    );
    Protocol::read(&text).unwrap_or_else(|error| panic!("{cut}: {error}"))
}

fn cutter(cut: &str) -> Cutter {
    Cutter::new(&protocol(cut)).unwrap()
}

fn all(cutter: &mut Cutter, bytes: &[u8]) -> Vec<Vec<u8>> {
    cutter.push(bytes);
    std::iter::from_fn(|| cutter.next_frame().map(<[u8]>::to_vec)).collect()
}

fn wrapped(cut: &str, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Envelope::new(&protocol(cut).frame.cut).unwrap().wrap(content, &mut out).unwrap();
    out
}

#[test]
fn frames_are_found_behind_what_is_wrong() {
    let empty = Vec::new();
    for (cut, bytes, expected, left_out, incomplete) in [
        // RFC 1055: END, the packet with ESC ESC_END for END and ESC ESC_ESC for ESC, END.
        (SLIP, &[0xc0, 1, 0xdb, 0xdc, 2, 0xdb, 0xdd, 0xc0][..], vec![vec![1, 0xc0, 2, 0xdb]], 0, 0),
        (SLIP, &[1, 2, 0xc0, 0xc0, 0xc0, 3, 0xc0, 4], vec![vec![1, 2], vec![3]], 0, 1),
        (SLIP, &[1, 0xdb, 3, 4, 0xc0, 5, 0xc0], vec![vec![5]], 5, 0),
        (SLIP, &[1, 0xdb, 0xc0, 5, 0xc0], vec![vec![5]], 3, 0),
        (SLIP_BOTH, &[9, 0xc0, 1, 0xc0, 2, 0xc0, 0xc0, 3, 0xc0], vec![vec![1], vec![2], vec![3]], 1, 0),
        (
            COBS,
            &[2, 0x45, 1, 2, 0x2c, 0, 0, 1, 0, 1, 1, 0],
            vec![vec![0x45, 0, 0, 0x2c], empty.clone(), vec![0]],
            0,
            0,
        ),
        (COBS, &[5, 1, 2, 0, 2, 3, 0], vec![vec![3]], 4, 0),
        (
            HDLC,
            &[0x7e, 1, 0x7d, 0x5e, 0x7d, 0x5d, 0x7e, 0x7e, 2, 0x7d, 0x7e, 3, 0x7e],
            vec![vec![1, 0x7e, 0x7d], vec![3]],
            3,
            0,
        ),
        // What needs no escape may have one.
        (HDLC, &[0x7e, 0x7d, 0x21, 0x7e], vec![vec![1]], 0, 0),
        (BRACKETS, b"a<b>c<d<e>>", vec![b"b".to_vec(), b"e".to_vec()], 5, 0),
        (BRACKETS, b"<\\\xbc><", vec![b"<".to_vec()], 0, 1),
        (
            DLE,
            b"x\x10\x02a\x10\x10\x02\x10\x03y\x10\x02\x10\x03",
            vec![b"a\x10\x02".to_vec(), empty.clone()],
            2,
            0,
        ),
        (DLE, b"\x10\x02ab\x10\x05c\x10\x02d\x10\x03", vec![b"d".to_vec()], 7, 0),
        (DLE, b"\x10\x02ab\x10\x02d\x10\x03\x10", vec![b"d".to_vec()], 4, 1),
        (
            DLE_ONE,
            b"\x10\x05a\x10\x10\x10\x03\x10\x06\x10\x03",
            vec![b"\x05a\x10".to_vec(), b"\x06".to_vec()],
            0,
            0,
        ),
        (DLE_ONE, b"\x10\x05a\x10\x06b\x10\x03", vec![b"\x06b".to_vec()], 3, 0),
        // The request of the guide to Modbus over serial lines, in both ways.
        (
            HEX,
            b":1103006B00037E\r\n:0G\r\n:0a0B\r\n",
            vec![vec![0x11, 3, 0, 0x6b, 0, 3, 0x7e], vec![10, 11]],
            5,
            0,
        ),
        (HEX, b":01:02\r\n:0\r\n:03\r:04\r\r\n:05\r\n", vec![vec![2], vec![5]], 17, 0),
    ] {
        let mut one = cutter(cut);
        assert_eq!(all(&mut one, bytes), expected, "{cut}");
        let mut other = cutter(cut);
        let apart: Vec<_> = bytes.iter().flat_map(|byte| all(&mut other, &[*byte])).collect();
        assert_eq!(apart, expected, "{cut}, byte by byte");
        for cutter in [&one, &other] {
            let of = (cutter.left_out(), cutter.incomplete());
            assert_eq!(of, (left_out, incomplete), "{cut} {bytes:02x?}");
        }
    }
}

/// A frame that is too long ends at the next mark, and takes no more memory than others.
#[test]
fn size_is_bounded() {
    for cut in ALL {
        let mut cutter = cutter(&cut.replace("300", "4"));
        let (four, five) = (wrapped(cut, &[1, 2, 4, 5]), wrapped(cut, &[1, 2, 4, 5, 6]));
        let bytes = [&four[..], &five, &four].concat();
        assert_eq!(all(&mut cutter, &bytes), [[1, 2, 4, 5]; 2], "{cut}");
        assert!(cutter.left_out() > 0);
        let endless = all(&mut cutter, &[b'1'; 10_000]);
        assert!(endless.is_empty() && cutter.incomplete() < 20, "{cut}");
    }
}

#[test]
fn a_frame_with_escapes_is_rejected_as_a_whole() {
    let mut cutter = cutter(SLIP_BOTH);
    cutter.push(&[0xc0, 7, 8, 0xc0, 9, 0xc0, 1]);
    assert_eq!(cutter.next_frame(), Some(&[7, 8][..]));
    cutter.reject();
    assert_eq!(cutter.left_out(), 3);
    assert_eq!(cutter.next_frame(), Some(&[9][..]));
    assert_eq!(cutter.next_frame(), None);
    cutter.reset();
    assert_eq!((cutter.incomplete(), cutter.left_out()), (0, 3));
}

/// The description of the page for people, and the bytes that follow it.
#[test]
fn the_page_s_mast_is_read() {
    let page = include_str!("../../../docs/own-protocol.md");
    let block = page.split("```yaml\n").nth(2).unwrap().split("```").next().unwrap();
    let protocol = Protocol::read(block).unwrap();
    let (mut cutter, codec) = (Cutter::new(&protocol).unwrap(), Codec::new(protocol).unwrap());
    let bytes: Vec<u8> = page
        .split("The bytes `")
        .nth(1)
        .unwrap()
        .split('`')
        .next()
        .unwrap()
        .split(' ')
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    cutter.push(&bytes);
    let mut values = Values::default();
    let message = codec.decode(cutter.next_frame().unwrap(), Side::Server, None, &mut values).unwrap();
    assert_eq!(
        codec.show(message, &values).to_string(),
        "wind: raw 704, speed 1.92 m/s, flags 4, gust 15 m/s"
    );
    let mut out = Vec::new();
    codec.encode_wire(message, &mut values, &mut out).unwrap();
    assert_eq!(out, bytes);
}

/// The same registers, in bytes and in characters.
#[test]
fn modbus_in_both_modes() {
    let ascii = Protocol::read(include_str!("../other_machines/modbus_ascii.yaml")).unwrap();
    let rtu = include_str!("../other_machines/modbus_ascii.yaml")
        .replace("{ start: \":\", end: \"\\r\\n\", escape: hex, most: 256 }", "{ silence: 3.5 }")
        .replace(
            "type: u8, is: checksum, algorithm: sum to zero",
            "type: u16, is: checksum, algorithm: CRC-16/MODBUS, order: little",
        );
    for (protocol, bytes) in [
        (ascii, &b":1103006B00037E\r\n"[..]),
        (Protocol::read(&rtu).unwrap(), &[0x11, 3, 0, 0x6b, 0, 3, 0x76, 0x87]),
    ] {
        let mut cutter = Cutter::new(&protocol).unwrap();
        let codec = Codec::new(protocol).unwrap();
        cutter.push(bytes);
        let mut values = Values::default();
        let message = codec.decode(cutter.next_frame().unwrap(), Side::Client, None, &mut values).unwrap();
        assert_eq!(codec.show(message, &values).to_string(), "read_registers: device 17, first 107, count 3");
        let mut out = Vec::new();
        codec.encode_wire(message, &mut values, &mut out).unwrap();
        assert_eq!(out, bytes);
    }
}

/// Bytes among which marks and escapes are frequent.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let special = proptest::sample::select(vec![
        0_u8, 0x10, 2, 3, 0x7d, 0x7e, 0xc0, 0xdb, 0xdc, b'<', b'>', b'\\', b':', b'\r', b'\n', b'0', 0xff,
    ]);
    prop_oneof![
        3 => proptest::collection::vec(prop_oneof![3 => special, 1 => any::<u8>()], 1..40),
        1 => proptest::collection::vec(1_u8..4, 250..260),
    ]
}

proptest! {
    #[test]
    fn what_is_escaped_is_found_again(which in 0..ALL.len(), contents in proptest::collection::vec(content(), 1..5), noise in content(), at in any::<usize>()) {
        // A start of one byte does not tell an end from content that begins as one.
        prop_assume!(ALL[which] != DLE_ONE || contents.iter().all(|one| ![3, 0x10].contains(&one[0])));
        let bytes: Vec<u8> = contents.iter().flat_map(|one| wrapped(ALL[which], one)).collect();
        let mut whole = cutter(ALL[which]);
        prop_assert_eq!(all(&mut whole, &bytes), contents.clone());
        prop_assert_eq!((whole.left_out(), whole.incomplete()), (0, 0));
        // Behind noise all but the first one are found, whatever the noise was.
        let mut noisy = cutter(ALL[which]);
        let found = all(&mut noisy, &[&noise[..], &bytes].concat());
        prop_assert!(found.ends_with(&contents[1..]), "{found:02x?}");
        // Parts make no difference, whatever the bytes are.
        let bytes = [&bytes[..], &noise, &bytes].concat();
        let (first, second) = bytes.split_at(at % bytes.len());
        let (mut whole, mut parts) = (cutter(ALL[which]), cutter(ALL[which]));
        let got = [all(&mut parts, first), all(&mut parts, second)].concat();
        prop_assert_eq!(got, all(&mut whole, &bytes));
        prop_assert_eq!((parts.left_out(), parts.incomplete()), (whole.left_out(), whole.incomplete()));
    }

    #[test]
    fn messages_are_sent_and_received(which in 0..ALL.len(), data in content()) {
        let codec = Codec::new(protocol(ALL[which])).unwrap();
        let mut values = Values::default();
        values.append(&data);
        let (message, mut out) = (MessageId { number: 0, is_answer: false }, Vec::new());
        codec.encode_wire(message, &mut values, &mut out).unwrap();
        let mut cutter = cutter(ALL[which]);
        cutter.push(&out);
        let mut again = Values::default();
        prop_assert_eq!(codec.decode(cutter.next_frame().unwrap(), Side::Client, None, &mut again), Ok(message));
        prop_assert_eq!(again.bytes(again.items()[0]), &data[..]);
    }
}
