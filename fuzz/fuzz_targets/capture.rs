//! Interprets the input as a capture of network or CAN traffic, or as a dump of hexadecimal digits, and shows the messages of
//! three machines in it. Checks: no panic, an end, memory and lines in proportion to the input.
//!
//! The first byte chooses the machine.

#![no_main]

use std::net::SocketAddr;
use std::sync::Arc;

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::Codec;
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::model::Side;
use libfuzzer_sys::fuzz_target;

// The readers alone: their package needs ROS.
#[path = "../../packages/dragoman_tools/src/bridge/sniff/capture.rs"]
mod capture;
#[path = "../../packages/dragoman_tools/src/bridge/sniff/dump.rs"]
mod dump;
#[path = "../../packages/dragoman_tools/src/bridge/sniff/packet.rs"]
mod packet;
#[path = "../../packages/dragoman_tools/src/bridge/sniff/screen.rs"]
mod screen;
#[path = "../../packages/dragoman_tools/src/bridge/sniff/stream.rs"]
mod stream;
#[path = "../../packages/dragoman_tools/src/bridge/sniff/turn.rs"]
mod turn;
#[path = "../../packages/dragoman_tools/src/bridge/sniff/watch.rs"]
mod watch;

use capture::{Capture, is_capture};
use dump::{Dump, Part};
use packet::{Content, content};
use screen::Screen;
use stream::{Piece, Stream};
use watch::{Heard, Place, Watch};

const MACHINES: &[&str] = &[
    include_str!("../../packages/dragoman_protocol/machines/rover.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/modbus_gripper.yaml"),
    include_str!("../../packages/dragoman_protocol/machines/motor_can.yaml"),
];

fuzz_target!(|input: &[u8]| {
    let Some((which, file)) = input.split_first() else { return };
    let protocol = Protocol::read(MACHINES[usize::from(*which) % MACHINES.len()]).expect("a description");
    let cutter = Cutter::new(&protocol).expect("a description");
    let codec = Arc::new(Codec::new(protocol).expect("a description"));
    let mut out = Vec::new();
    let mut watch = Watch::new(codec, cutter, Screen::new(&mut out, false));
    let place = |ends: Option<[SocketAddr; 2]>, heard: Heard| Place { ends, heard };
    let side = |heard: u16| if heard % 2 == 0 { Heard::Side(Side::Server) } else { Heard::Both };
    if is_capture(file) {
        let Ok(mut capture) = Capture::open(file) else { return };
        let mut stream = Stream::default();
        while let Ok(Some(packet)) = capture.next_packet() {
            match content(packet.link, packet.bytes) {
                Content::Udp(ends, bytes) => {
                    let place = place(Some([ends.from, ends.to]), side(ends.from.port()));
                    watch.datagram(packet.time, place, bytes).expect("memory");
                }
                Content::Tcp(ends, segment) => {
                    let place = place(Some([ends.from, ends.to]), side(ends.from.port()));
                    let mut pieces = Vec::new();
                    stream.push(segment, &mut pieces);
                    stream.acknowledged(segment.acknowledged.unwrap_or_default(), &mut pieces);
                    for piece in pieces {
                        match piece {
                            Piece::Bytes(bytes) => watch.bytes(packet.time, place, &bytes).expect("memory"),
                            Piece::Missing(count) => watch.missing(packet.time, place, count).expect("memory"),
                        }
                    }
                }
                Content::Can { id, is_extended, data } => {
                    watch.can(packet.time, id.into(), is_extended, data).expect("memory");
                }
                Content::Other(_) => {}
            }
        }
    } else {
        let mut dump = Dump::new(file);
        let mut all = 0;
        while let Ok(Some(part)) = dump.next_part() {
            if let Part::Bytes(bytes) = part {
                all += bytes.len();
                // Stars stand for many equal rows.
                if all > 1 << 16 {
                    break;
                }
                watch.bytes(None, place(None, side(file.len() as u16)), &bytes).expect("memory");
            }
        }
    }
    watch.finish().expect("memory");
    drop(watch);
    assert!(out.len() <= 400 * (input.len() + (1 << 16)), "{} bytes", out.len());
});
