//! Descriptions with the sections `bridge` and `serve`, carried out: a conversation and a simulated machine with any bytes,
//! faults and times. Checked: see the module that is included.
//!
//! The input is a description, a zero, and the steps of a history; without a zero, steps for a machine that is known.

#![no_main]

#[path = "../../packages/dragoman_bridge/tests/machine/any.rs"]
mod any;

use libfuzzer_sys::fuzz_target;

const KNOWN: &[&str] = &[
    include_str!("../../packages/dragoman_protocol/machines/rover.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/modbus_io.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/motor_can.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/nmea0183.yaml"),
];

fuzz_target!(|input: &[u8]| {
    match (input.iter().position(|byte| *byte == 0), input) {
        (Some(at), _) => {
            any::run(&String::from_utf8_lossy(&input[..at]), &input[at + 1..]);
        }
        (None, [which, steps @ ..]) => {
            any::run(KNOWN[usize::from(*which) % KNOWN.len()], steps);
        }
        (None, []) => {}
    }
});
