//! Descriptions that are read at run time: what is decoded is encoded to the same bytes.

use dragoman_protocol::checksum::Checksum;
use dragoman_protocol::codec::{Codec, MessageId, Values};
use dragoman_protocol::cut::{Begin, Cutter};
use dragoman_protocol::model::Side;
use dragoman_protocol::{Protocol, protocols};
use proptest::prelude::*;

const STRANGERS: [&str; 4] = [
    include_str!("../machines/cola_a.yaml"),
    include_str!("../machines/create2.yaml"),
    include_str!("../machines/modbus_gripper.yaml"),
    include_str!("../machines/motor_can.yaml"),
];

fn codec(text: &str) -> Codec {
    Codec::new(Protocol::read(text).unwrap()).unwrap()
}

/// What a frame is for people.
fn shown(codec: &Codec, id: Option<u64>, frame: &[u8], from: Side) -> String {
    let mut values = Values::default();
    match codec.decode_frame(id, frame, from, None, &mut values) {
        Ok(message) => codec.show(message, &values).to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn frames_of_other_makers_are_read() {
    let [cola, create, modbus, motor] = STRANGERS.map(codec);
    for (codec, id, frame, from, expected) in [
        (
            &create,
            None,
            &[137, 0xff, 0x38, 0x01, 0xf4][..],
            Side::Client,
            "drive: velocity -0.2 m/s, radius 0.5 m",
        ),
        (
            &create,
            None,
            &[140, 0, 2, 60, 64, 62, 32],
            Side::Client,
            "song: number 0, notes[0].pitch 60, notes[0].duration 1 s, notes[1].pitch 62, notes[1].duration 0.5 s",
        ),
        (
            &create,
            None,
            &[145, 0, 100, 0xff, 0x9c],
            Side::Client,
            "drive_direct: right 0.1 m/s, left -0.1 m/s",
        ),
        (
            &create,
            None,
            &[&STREAMED[..], &[0x5f]].concat(),
            Side::Server,
            "error: field check is 0x5f; the bytes have the check sum 0x5e",
        ),
        (&create, None, &[137, 0], Side::Client, "error: the frame ends before field velocity"),
        (&create, None, &[99], Side::Client, "error: no message has the code 99"),
        (&modbus, None, &[9, 3, 7, 0xd0, 0, 3, 4, 14], Side::Client, "read_registers"),
        (
            &cola,
            None,
            b"sMN SetAccessMode 03 F4724744",
            Side::Client,
            "set_access_mode: level authorized_client (3), password 4101130052",
        ),
        (&cola, None, b"sEN LMDscandata 1", Side::Client, "stream_scans: is_on 1"),
        (
            &cola,
            None,
            b"sMN SetAccessMode 0G 1",
            Side::Client,
            "error: field level is \"0G\", which is not a number of base 16",
        ),
        (
            &motor,
            Some(2_566_848_513),
            &[0x80, 0xc3, 0xc9, 0x01, 0xff, 0x9c, 0x46, 0x12],
            Side::Server,
            "motor_state: position 0 rad, speed -20 rpm, temperature 30 degC, fault over_temperature (2), enabled 1",
        ),
    ] {
        assert_eq!(shown(codec, id, frame, from), expected);
    }
}

/// What a Create 2 sends every 15 ms, without the check sum.
const STREAMED: [u8; 68] = [
    19, 66, 7, 0, 9, 0, 10, 0, 11, 1, 12, 0, 13, 0, 17, 0, 18, 0, 21, 2, 22, 64, 216, 23, 4, 176, 24, 25, 25,
    8, 52, 26, 10, 136, 34, 2, 35, 2, 37, 0, 43, 253, 232, 44, 1, 44, 45, 0, 46, 0, 12, 47, 0, 12, 48, 0, 12,
    49, 0, 12, 50, 0, 12, 51, 0, 12, 58, 0,
];

#[test]
fn an_answer_without_a_code_belongs_to_its_question() {
    let create = codec(STRANGERS[1]);
    let (mut asked, mut values) = (Values::default(), Values::default());
    let question = create.decode(&[142, 22], Side::Client, None, &mut asked).unwrap();
    let asked = Some((question, &asked));
    // 16.6 V; the next frame follows.
    let measure = |bytes: &[u8]| create.measure_asked(bytes, Side::Server, asked, &mut Values::default());
    assert_eq!(measure(&[0x40]), Begin::Incomplete);
    assert_eq!(measure(&[0x40, 0xd8, 19, 66]), Begin::Frame { len: 2, from: 0, to: 2 });
    let answer = create.decode(&[0x40, 0xd8], Side::Server, asked, &mut values).unwrap();
    assert_eq!(create.show(answer, &values).to_string(), "sensors, answered: voltage 16.6 V");
    let path = create.path(answer, "voltage").unwrap();
    assert_eq!(create.number_at(answer, &values, &path).map(|number| number.real()), Some(16.6));
    let mut bytes = Vec::new();
    create.encode(answer, &mut values, &mut bytes).unwrap();
    assert_eq!(bytes, [0x40, 0xd8]);
    // A question for a packet that the description does not have: nothing can be its answer.
    let mut other = Values::default();
    let question = create.decode(&[142, 50], Side::Client, None, &mut other).unwrap();
    let begin = create.measure_asked(&[1, 2], Side::Server, Some((question, &other)), &mut Values::default());
    assert_eq!(begin, Begin::Garbage(1));
    for frame in [&[0x40, 0xd8][..], &[142, 0x40, 0xd8]] {
        assert!(create.decode(frame, Side::Server, None, &mut values).is_err());
    }
}

#[test]
fn further_codes_stand_for_a_message() {
    let p2os = codec(include_str!("../machines/p2os.yaml"));
    let head = [0xfa, 0xfb, 22];
    let body = [0x10, 0, 0xf0, 0x7f, 0, 4, 0x64, 0, 0x9c, 0xff, 128, 1, 0x82, 0, 0, 3, 0, 0, 0];
    let shown_with = |code: u8| {
        let counted = [&[code], &body[..]].concat();
        let sum = Checksum::named("words").unwrap().of(&counted) as u16;
        shown(&p2os, None, &[&head[..], &counted, &sum.to_be_bytes()].concat(), Side::Server)
    };
    let expected = "sip: x 0.016 m, y 32.752 m, heading 1.570796544 rad, left 0.1 m/s, right -0.1 m/s, battery 12.8 V, \
                    left_stall 1, rear_bumpers 0, right_stall 0, front_bumpers 65, control 0 deg, motors 1, sonars_on 1, \
                    flags 0, compass 0 deg";
    assert_eq!((&*shown_with(0x32), &*shown_with(0x33)), (expected, expected));
    assert_eq!(shown_with(0x34), "error: no message has the code 52");
    // The check sum is of what follows the size.
    let vel = "vel: kind positive (59), velocity 0.3 m/s";
    assert_eq!(shown(&p2os, None, &[0xfa, 0xfb, 6, 11, 0x3b, 0x2c, 1, 0x37, 0x3c], Side::Client), vel);
}

fn again(codec: &Codec, id: Option<u64>, frame: &[u8], from: Side) -> Option<(Vec<u8>, MessageId)> {
    let mut values = Values::default();
    let message = codec.decode_frame(id, frame, from, None, &mut values).ok()?;
    let mut bytes = Vec::new();
    codec.encode(message, &mut values, &mut bytes).unwrap();
    let mut second = Values::default();
    assert_eq!(codec.decode_frame(id, &bytes, from, None, &mut second), Ok(message));
    assert_eq!(format!("{:?}", values.items()), format!("{:?}", second.items()));
    // On the wire it is cut to the same frame.
    let mut wire = Vec::new();
    if id.is_none() && codec.encode_wire(message, &mut values, &mut wire).is_ok() {
        let mut cutter = Cutter::new(codec.protocol()).unwrap();
        cutter.push(&wire);
        let frame = cutter.next_frame_by(|rest| codec.measure(rest, from, &mut second));
        assert_eq!(frame, Some(&bytes[..]));
    }
    Some((bytes, message))
}

proptest! {
    #[test]
    fn what_is_decoded_is_encoded_again(which in 0_usize..6, code in any::<u8>(), mut frame in proptest::collection::vec(any::<u8>(), 0..80), server: bool) {
        let from = if server { Side::Server } else { Side::Client };
        let codec = codec([&STRANGERS[..], &[protocols::ARM31, protocols::APOLO]].concat()[which]);
        let codes: Vec<_> = codec.protocol().messages.iter().map(|message| message.code.clone()).collect();
        let code = &codes[usize::from(code) % codes.len()];
        let mut id = None;
        match code {
            dragoman_protocol::model::Code::Text(text) => { frame.splice(0..0, text.bytes()); }
            dragoman_protocol::model::Code::Number(number) => {
                id = (which == 3).then_some(*number);
                if id.is_none() { frame.insert(0, u8::try_from(*number).unwrap()); }
            }
        }
        if which == 5 {
            let size = u16::try_from(frame.len() + 4).unwrap().to_le_bytes();
            frame.splice(0..0, [b'a', b'a', size[0], size[1]]);
        }
        again(&codec, id, &frame, from);
    }
}

/// Lists of lists: the number of elements is bounded, whatever the counts say.
#[test]
fn elements_are_bounded() {
    let text = "
protocol: lists
title: Lists of lists
source: none
link: { udp: 1 }
frame: { cut: { datagram: 60, least: 1 }, fields: [{ name: code, type: u8, is: code }, { name: data, is: body }] }
messages:
  - { name: lists, code: 1, meaning: lists of lists, fields: [{ name: outer, type: 'inner[u16]' }] }
types:
  - { name: inner, fields: [{ name: nothing, type: 'u8[0]' }, { name: nothings, type: 'none[65535]' }] }
  - { name: none, fields: [{ name: nothing, type: 'u8[0]' }] }
";
    let codec = codec(text);
    let error = codec.decode(&[1, 0xff, 0xff], Side::Client, None, &mut Values::default()).unwrap_err();
    assert_eq!(error.to_string(), "field nothing has too many elements, or a negative number of them");
    let mut values = Values::default();
    values.list(usize::MAX);
    let message = MessageId { number: 0, is_answer: false };
    let error = codec.encode(message, &mut values, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), format!("field outer has {} elements, which does not fit", usize::MAX));
}

/// A size in front and a check sum in the body, which covers it; a size in the body is a value.
#[test]
fn sizes_and_check_sums_agree() {
    let text = "
protocol: sums
title: Check sums within
source: none
link: { tcp: 1 }
frame:
  cut: { size: size, counts: frame }
  fields: [{ name: size, type: u8, is: size }, { name: code, type: u8, is: code }, { name: data, is: body }]
messages:
  - name: blob
    code: 1
    meaning: bytes with their size
    fields:
      - { name: count, type: u8, is: size }
      - { name: blob, type: 'bytes[count]' }
      - { name: sum, type: u8, is: checksum, algorithm: sum }
      - { name: end, type: u8 }
";
    let codec = codec(text);
    let mut values = Values::default();
    values.whole(2);
    values.append(&[7, 8]);
    values.whole(9);
    let (message, mut bytes) = (MessageId { number: 0, is_answer: false }, Vec::new());
    codec.encode(message, &mut values, &mut bytes).unwrap();
    assert_eq!(bytes, [7, 1, 2, 7, 8, 25, 9]);
    let mut again = Values::default();
    assert_eq!(codec.decode(&bytes, Side::Client, None, &mut again), Ok(message));
    assert_eq!(again.items(), values.items());
}

/// As signals of a DBC file: bits of bytes that others have bits of, in both orders, and fields that exclude each other.
#[test]
fn bits_may_be_in_bytes_of_other_fields() {
    let codec = codec(
        "{ protocol: bus, title: A bus, source: none, link: { can: 500000 }, order: little, \
         frame: { cut: { can: true }, fields: [{ name: data, is: body }] }, \
         messages: [{ name: frame, code: 1, from: server, meaning: all, fields: [\
           { name: page, type: u8, at: 7, bits: [4, 4] }, \
           { name: a, type: u16, at: 0, bits: [4, 8] }, \
           { name: b, type: u16, order: big, at: 0, bits: [4, 8] }, \
           { name: c, type: i8, bits: [0, 4], at: 2, when: { page: 0 } }, \
           { name: d, type: u40, bits: [0, 36], at: 2, when: \"=(page > 0) & (page < 3)\" }, \
           { name: e, type: i32, bits: [0, 32], at: 3, when: { page: 4 } }] }] }",
    );
    for (bytes, expected) in [
        ([0x34, 0x12, 0x0f, 0, 0, 0, 0, 0x00], "page 0, a 35, b 65, c -1"),
        ([0x34, 0xf2, 0x71, 1, 0, 0, 0x0f, 0x20], "page 2, a 35, b 79, d 64424509809"),
        ([0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x40], "page 4, a 0, b 0, e -1"),
        ([0, 0, 0, 0, 0, 0, 0, 0xf0], "page 15, a 0, b 0"),
    ] {
        let mut values = Values::default();
        let message = codec.decode_frame(Some(1), &bytes, Side::Server, None, &mut values).unwrap();
        assert_eq!(codec.show(message, &values).to_string(), format!("frame: {expected}"));
        let mut again = Vec::new();
        codec.encode(message, &mut values, &mut again).unwrap();
        assert_eq!(again, bytes, "{expected}");
    }
}
