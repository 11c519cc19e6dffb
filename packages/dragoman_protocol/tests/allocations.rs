//! Cutting and decoding take no memory once buffers have their size. Without the harness, whose thread allocates too.

use std::alloc::System;

use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::model::Side;
use dragoman_protocol::{Protocol, protocols};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Frames that are decoded, and allocations of the second time.
fn decoded(text: &str, bytes: &[u8], from: Side) -> (usize, usize) {
    let protocol = Protocol::read(text).unwrap();
    let mut cutter = Cutter::new(&protocol).unwrap();
    // A datagram comes as a whole.
    let piece = protocol.frame.cut.datagram.map_or(5, |_| bytes.len());
    let codec = Codec::new(protocol).unwrap();
    let (mut values, mut scratch) = (Values::default(), Values::default());
    let mut found = [0; 2];
    let mut allocations = 0;
    for found in &mut found {
        let region = Region::new(ALLOCATOR);
        for part in bytes.chunks(piece) {
            cutter.push(part);
            while let Some(frame) = cutter.next_frame_by(|rest| codec.measure(rest, from, &mut scratch)) {
                codec.decode(frame, from, None, &mut values).unwrap();
                *found += 1;
            }
        }
        let change = region.change();
        allocations = change.allocations + change.reallocations;
    }
    assert_eq!(found[0], found[1]);
    (found[1], allocations)
}

/// Allocations of encoding a frame, the second time.
fn encoded(text: &str, frame: &[u8], from: Side) -> usize {
    let codec = Codec::new(Protocol::read(text).unwrap()).unwrap();
    let (mut values, mut out) = (Values::default(), Vec::new());
    let message = codec.decode(frame, from, None, &mut values).unwrap();
    let mut allocations = 0;
    for _ in 0..2 {
        out.clear();
        let region = Region::new(ALLOCATOR);
        codec.encode_wire(message, &mut values, &mut out).unwrap();
        let change = region.change();
        allocations = change.allocations + change.reallocations;
    }
    assert_eq!(out, frame);
    allocations
}

fn main() {
    let goal =
        b"GT\x00\x00\x80\x3f\x00\x00\x00\xbf\x00\x00\x80\x3e\0\0\0\0\0\0\0\x80\0\0\0\0\x00\x00\x20\x41\0";
    assert_eq!(encoded(protocols::ARM31, goal, Side::Client), 0);
    let slip = r#"
protocol: slip
title: Texts as codes
source: none
link: { serial: 9600 }
frame:
  cut: { end: [0xC0], escape: slip }
  fields: [{ name: code, type: "text[2]", is: code }, { name: data, is: body }]
messages: [{ name: dim, code: DI, meaning: dim, fields: [{ name: data, type: 'bytes[*]' }, { name: sum, is: computed, value: "=1 + 1" }] }]
"#;
    for (text, bytes, from, frames) in [
        (include_str!("../machines/nmea0183.yaml"), &b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n$GNGGA,,,,,,0,00,99.99,,,,,,*56\r\n"[..], Side::Server, 2),
        (include_str!("../machines/cola_a.yaml"), b"\x02sMN SetAccessMode 03 F4724744\x03\x02sMN LMCstartmeas\x03", Side::Client, 2),
        (include_str!("../machines/create2.yaml"), &[137, 0xff, 0x38, 1, 0xf4, 140, 0, 2, 60, 64, 62, 32, 128], Side::Client, 3),
        (include_str!("../other_machines/modbus_ascii.yaml"), b":1103006B00037E\r\n", Side::Client, 1),
        (protocols::ARM31, goal, Side::Client, 1),
        (protocols::ARM31, b"SP\x00\x00\x80\x3f\x00\x00\x00\xbf\x00\x00\x80\x3e\0\0\0\0\0\0\0\0\0\0\0\0\x00\x00\x80\x3f\0", Side::Server, 1),
        (protocols::APOLO, b"aa\x09\0G\0\x02x\0aa\x18\0J\0\0\x02\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40", Side::Client, 2),
        (slip, b"\xc0DI\xdb\xdcabc\xc0DI\xc0", Side::Client, 2),
    ] {
        assert_eq!(decoded(text, bytes, from), (frames, 0), "{text}");
    }
}
