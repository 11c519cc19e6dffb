//! Descriptions of protocols, and bytes that are read by them: what is decoded is encoded, and nothing hangs or grows.
//!
//! The input is a description, a zero, and bytes; without a zero, bytes for one that is known.

#![no_main]

use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::expression::{Expression, Number};
use dragoman_protocol::model::Side;
use dragoman_protocol::{Protocol, protocols};
use libfuzzer_sys::fuzz_target;

const KNOWN: &[&str] = &[
    protocols::ARM31,
    protocols::APOLO,
    include_str!("../../packages/dragoman_protocol/machines/cola_a.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/create2.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/modbus_gripper.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/motor_can.yaml"),
    include_str!("../../packages/dragoman_protocol/other_machines/modbus_ascii.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/nmea0183.yaml"),
];

fuzz_target!(|input: &[u8]| {
    let parts = input.iter().position(|byte| *byte == 0).map(|at| (&input[..at], &input[at + 1..]));
    let (text, bytes) = match (parts, input) {
        (Some((text, bytes)), _) => (String::from_utf8_lossy(text).into_owned(), bytes),
        (None, [which, bytes @ ..]) => (KNOWN[usize::from(*which) % KNOWN.len()].to_owned(), bytes),
        (None, []) => return,
    };
    if let Ok(expression) = Expression::read(&text, &|name| (name.len() == 1).then_some(0)) {
        let _ = expression.compute(|_| bytes.first().map(|byte| Number::Whole((*byte).into())));
    }
    let Ok(protocol) = Protocol::read(&text) else { return };
    let Ok(mut cutter) = Cutter::new(&protocol) else { return };
    let Ok(codec) = Codec::new(protocol) else { return };
    let (mut second, mut wire) = (cutter.clone(), Vec::new());
    let (mut values, mut scratch, mut out) = (Values::default(), Values::default(), Vec::new());
    for side in [Side::Client, Side::Server] {
        for part in bytes.chunks(7) {
            cutter.push(part);
            while let Some(frame) = cutter.next_frame_by(|rest| codec.measure(rest, side, &mut scratch)) {
                let Ok(message) = codec.decode(frame, side, None, &mut values) else { continue };
                let _ = codec.show(message, &values).to_string();
                out.clear();
                let is_encoded = codec.encode(message, &mut values, &mut out).is_ok();
                // The fields of a description that is made up may lie upon each other.
                if is_encoded && parts.is_none() {
                    let mut again = Values::default();
                    assert_eq!(codec.decode(&out, side, None, &mut again), Ok(message), "{out:02x?}");
                    wire.clear();
                    if codec.encode_wire(message, &mut values, &mut wire).is_ok() {
                        second.reset();
                        second.push(&wire);
                        let frame = second.next_frame_by(|rest| codec.measure(rest, side, &mut scratch));
                        assert_eq!(frame, Some(&out[..]), "{wire:02x?}");
                    }
                }
            }
            // An escaped byte is two bytes.
            assert!(cutter.incomplete() <= 2 * dragoman_protocol::cut::MAX_FRAME + part.len());
        }
    }
});
