//! Recordings that are made here, read as those of tcpdump, tshark, candump and xxd.

use std::io::Cursor;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Parser;
use etherparse::{PacketBuilder, VlanId};
use proptest::prelude::*;

use super::packet::{Content, Ends, content};
use super::*;
use crate::bridge::compile;

const ROVER: &str = include_str!("../../../../dragoman_protocol/machines/rover.yaml");
const MOTOR: &str = include_str!("../../../../dragoman_protocol/machines/motor_can.yaml");
const GRIPPER: &str = include_str!("../../../../dragoman_protocol/machines/modbus_gripper.yaml");
/// An odometry message of the rover, its drive message, and a heartbeat.
const ODOMETRY: &[u8] = &[0x52, 0x56, 0x0b, 2, 0xe8, 3, 0, 0, 0x0c, 0xfe, 0xff, 0xff, 0x5c, 0x3d, 2, 6, 0xa9];
const SHOWN: &str = "odometry: x 1 m, y -0.5 m, heading 1.5708 rad, fault battery_low (2)";

fn rover(link: &str) -> String {
    let begin = ROVER.lines().find(|line| line.starts_with("link:")).unwrap();
    ROVER.replace(begin, &format!("link: {link}"))
}

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    command: SniffCommand,
}

/// What is printed of a recording, and why it ends.
fn sniff(description: &str, recording: &[u8], arguments: &[&str]) -> (String, Result<(), String>) {
    let (codec, cutter) = compile(description).unwrap();
    let codec = Arc::new(codec);
    let arguments = [&["sniff", "a.yaml", "recording"], arguments].concat();
    let CommandLine { command } = CommandLine::parse_from(arguments);
    let source = recorded::Source::new(codec.protocol(), &command, &PathBuf::from("recording")).unwrap();
    let mut watch = Watch::new(codec, cutter, Screen::new(Vec::new(), false));
    let ended = source.read(Cursor::new(recording), &mut watch, &AtomicBool::new(false));
    watch.finish().unwrap();
    let text = String::from_utf8(watch.into_screen().into_inner()).unwrap();
    (text, ended.map_err(|failure| failure.to_string()))
}

/// A capture of pcap, with microseconds.
fn pcap(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0].to_vec();
    file.extend(link.to_le_bytes());
    for (number, packet) in (0_u32..).zip(packets) {
        let size = u32::try_from(packet.len()).unwrap();
        for part in [1_600_000_000, 250_000 + number, size, size] {
            file.extend(part.to_le_bytes());
        }
        file.extend(packet);
    }
    file
}

/// A capture of pcapng, whose times have so many ticks per second.
fn pcapng(is_big: bool, link: u16, resolution: u8, packets: &[Vec<u8>]) -> Vec<u8> {
    let number = |number: u32| if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
    let short = |number: u16| if is_big { number.to_be_bytes() } else { number.to_le_bytes() };
    let block = |kind: u32, content: &[u8]| {
        let padded = content.len().next_multiple_of(4);
        let size = number(u32::try_from(padded + 12).unwrap());
        let mut block = [number(kind), size].concat();
        block.extend(content);
        block.resize(padded + 8, 0);
        block.extend(size);
        block
    };
    let section = [&number(0x1a2b_3c4d)[..], &short(1), &short(0), &[0xff; 8]].concat();
    let resolution = [&short(9)[..], &short(1), &[resolution, 0, 0, 0], &[0; 4]].concat();
    let interface = [&short(link)[..], &short(0), &number(0), &resolution].concat();
    // A block of an unknown type.
    let mut file = [block(0x0a0d_0d0a, &section), block(1, &interface), block(0x0bad, b"hello")].concat();
    for packet in packets {
        let size = u32::try_from(packet.len()).unwrap();
        let ticks: u64 = 1_600_000_000 * 1_000_000_000 + 250_000_000;
        let [high, low] = [(ticks >> 32) as u32, ticks as u32];
        let content = [number(0), number(high), number(low), number(size), number(size)].concat();
        file.extend(block(6, &[content, packet.clone()].concat()));
    }
    file
}

const MACHINE: [u8; 4] = [10, 0, 0, 7];
const CLIENT: [u8; 4] = [10, 0, 0, 2];

fn udp(from: ([u8; 4], u16), to: ([u8; 4], u16), bytes: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(from.0, to.0, 64).udp(from.1, to.1);
    builder.write(&mut packet, bytes).unwrap();
    packet
}

fn tcp(from: ([u8; 4], u16), to: ([u8; 4], u16), number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(from.0, to.0, 64);
    builder.tcp(from.1, to.1, number, 1000).write(&mut packet, bytes).unwrap();
    packet
}

/// A message of the rover to it.
fn drive() -> Vec<u8> {
    let (codec, _) = compile(ROVER).unwrap();
    let message = codec.message_named("drive").unwrap();
    let mut wire = Vec::new();
    let filling = codec.filling(message, &[]).unwrap();
    let mut values = dragoman_protocol::codec::Values::default();
    let nothing =
        |_: usize| dragoman_protocol::codec::Given::Number(dragoman_protocol::expression::Number::Whole(0));
    codec.fill(&filling, nothing, None, &mut values);
    codec.encode_wire(message, &mut values, &mut wire).unwrap();
    wire
}

#[test]
fn a_capture_of_datagrams_shows_both_directions() {
    let description = rover("{ udp: 4000 }");
    let packets = [
        udp((CLIENT, 51000), (MACHINE, 4000), &drive()),
        udp((MACHINE, 4000), (CLIENT, 51000), ODOMETRY),
        udp((MACHINE, 4000), (CLIENT, 51000), &[ODOMETRY, &[1, 2]].concat()),
        udp((CLIENT, 53), (MACHINE, 53), b"other"),
    ];
    let expected = format!(
        "-- 2020-09-13, times are UTC
12:26:40.250000 -- machine 10.0.0.7:4000, other side 10.0.0.2:51000
12:26:40.250000 -> drive: left 0 m/s, right 0 m/s
12:26:40.250001 <- {SHOWN}
12:26:40.250002 <- {SHOWN}
12:26:40.250002 <- 01 02: 2 bytes belong to no frame
drive 1, odometry 2; wrong frames 0, bytes that are no message 2
"
    );
    assert_eq!(sniff(&description, &pcap(1, &packets), &[]), (expected, Ok(())));
    let (text, ended) = sniff(&description, &pcap(1, &packets), &["--port", "4001"]);
    assert_eq!(text, "no messages; wrong frames 0, bytes that are no message 0\n");
    let reason =
        "it has no UDP with port 4001; it has UDP port 53, UDP port 4000; --port chooses another port";
    assert_eq!(ended, Err(reason.to_owned()));
}

#[test]
fn all_link_types_and_formats_are_read() {
    let description = rover("{ udp: 4000 }");
    let ethernet = udp((MACHINE, 4000), (CLIENT, 51000), ODOMETRY);
    let ip = &ethernet[14..];
    let mut six = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .single_vlan(VlanId::try_new(3).unwrap())
        .ipv6([1; 16], [2; 16], 64);
    builder.udp(4000, 51000).write(&mut six, ODOMETRY).unwrap();
    let cooked = [&[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0], ip].concat();
    let cooked_2 = [&[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0], ip].concat();
    for (name, link, packet) in [
        ("Ethernet", 1, ethernet.clone()),
        ("Ethernet, VLAN, IPv6", 1, six),
        ("raw", 101, ip.to_vec()),
        ("IPv4", 228, ip.to_vec()),
        ("loopback of BSD", 0, [&[2, 0, 0, 0], ip].concat()),
        ("loopback of OpenBSD", 108, [&[0, 0, 0, 2], ip].concat()),
        ("Linux cooked", 113, cooked),
        ("Linux cooked, version 2", 276, cooked_2),
    ] {
        let short = u16::try_from(link).unwrap();
        for file in [
            pcap(link, std::slice::from_ref(&packet)),
            pcapng(false, short, 9, std::slice::from_ref(&packet)),
            pcapng(true, short, 9, std::slice::from_ref(&packet)),
        ] {
            let (text, ended) = sniff(&description, &file, &[]);
            assert_eq!(ended, Ok(()), "{name}");
            assert!(text.contains(&format!("12:26:40.250000 <- {SHOWN}\n")), "{name}: {text}");
        }
    }
    let unknown = sniff(&description, &pcap(189, &[ethernet]), &[]).1.unwrap_err();
    assert_eq!(
        unknown,
        "it has no UDP with port 4000; it has 1 packets of link type 189, which is not read; --port chooses another port"
    );
}

#[test]
fn a_stream_is_put_together() {
    let description = rover("{ tcp: 4000 }");
    let (machine, client) = ((MACHINE, 4000), (CLIENT, 51000));
    let (first, rest) = ODOMETRY.split_at(6);
    let at = |bytes: &[u8]| 500 + u32::try_from(bytes.len()).unwrap();
    let packets = [
        tcp(machine, client, 500, first),
        tcp(machine, client, at(ODOMETRY), ODOMETRY),
        tcp(machine, client, 500, first),
        tcp(machine, client, at(first), rest),
        // 10 bytes are missing.
        tcp(machine, client, at(ODOMETRY) + 27, ODOMETRY),
    ];
    let (text, ended) = sniff(&description, &pcap(1, &packets), &[]);
    assert_eq!(ended, Ok(()));
    let shown: Vec<&str> = text.lines().skip(2).collect();
    let expected = format!(
        "12:26:40.250003 <- {SHOWN}
12:26:40.250003 <- {SHOWN}
12:26:40.250004 -- 10 bytes are not in the capture
12:26:40.250004 <- {SHOWN}
odometry 3; wrong frames 0, bytes that are no message 0"
    );
    assert_eq!(shown.join("\n"), expected);
    // A serial line whose bytes a server passes on.
    assert!(sniff(ROVER, &pcap(1, &packets), &["--port", "4000"]).0.contains("odometry 3;"));
    let reason = sniff(ROVER, &pcap(1, &packets), &[]).1.unwrap_err();
    assert!(reason.starts_with("which port has the machine? --port PORT"), "{reason}");
}

/// The ends of a connection that a machine opens are known by our port.
#[test]
fn a_machine_that_connects_has_the_other_port() {
    let description = rover("{ tcp: { port: 4000, listen: true } }");
    let packets = [tcp((MACHINE, 51000), (CLIENT, 4000), 500, ODOMETRY)];
    let (text, _) = sniff(&description, &pcap(1, &packets), &[]);
    assert!(
        text.contains(&format!(
            "machine 10.0.0.7:51000, other side 10.0.0.2:4000\n12:26:40.250000 <- {SHOWN}"
        )),
        "{text}"
    );
}

#[test]
fn frames_of_a_bus_are_told_by_their_identifiers() {
    let state = [0x80, 0xc3, 0xc9, 1, 3, 0xe8, 0x4b, 1];
    let log = "(1600000000.250000) can0 18FF0001#80C3C90103E84B01\n\
        (1600000000.250001) can0 7FF#01\n\
        (1600000000.250002) can0 201#R4\n";
    let frame = |id: u32, data: &[u8]| {
        let size = u8::try_from(data.len()).unwrap();
        [&id.to_be_bytes()[..], &[size, 0, 0, 0], data].concat()
    };
    let packets = [frame(0x98ff_0001, &state), frame(0x7ff, &[1]), frame(0x4000_0201, &[])];
    let cooked: Vec<Vec<u8>> =
        packets.iter().map(|frame| [&[0; 14][..], &[0, 0x0c], frame].concat()).collect();
    for (recording, other) in [
        (log.as_bytes().to_vec(), "remote frames and error frames"),
        (pcap(227, &packets), "CAN frames that are not classic data frames"),
        (pcap(113, &cooked), "CAN frames that are not classic data frames"),
    ] {
        let expected = format!(
            "-- 2020-09-13, times are UTC
12:26:40.250000 <- motor_state: position 0 rad, speed 200 rpm, temperature 35 degC, fault over_current (1), enabled 0
12:26:40.250001 ?? 0x7ff 01: no message has the code 2047
-- not shown: 1 {other}
motor_state 1; wrong frames 1, bytes that are no message 1
"
        );
        assert_eq!(sniff(MOTOR, &recording, &[]), (expected, Ok(())));
    }
}

#[test]
fn dumps_of_digits_and_bytes_are_read() {
    let digits = "52 56 0b 02 e8 03 00 00 0c fe ff ff 5c 3d 02 06 a9";
    let expected = format!("<- {SHOWN}\nodometry 1; wrong frames 0, bytes that are no message 0\n");
    assert_eq!(sniff(ROVER, digits.as_bytes(), &[]), (expected.clone(), Ok(())));
    assert_eq!(sniff(ROVER, ODOMETRY, &["--raw"]), (expected, Ok(())));
    let drive: String = drive().iter().map(|byte| format!("{byte:02x}")).collect();
    let to_machine =
        "-> drive: left 0 m/s, right 0 m/s\ndrive 1; wrong frames 0, bytes that are no message 0\n";
    assert_eq!(sniff(ROVER, drive.as_bytes(), &["--from", "client"]), (to_machine.to_owned(), Ok(())));
    let (text, ended) = sniff(ROVER, format!("{digits}\nwhat?\n").as_bytes(), &[]);
    assert!(text.starts_with(&format!("<- {SHOWN}\n")), "{text}");
    assert_eq!(ended, Err("line 2: \"wh\" is not two hexadecimal digits".to_owned()));
}

#[test]
fn what_is_not_a_message_is_shown_with_its_bytes() {
    // Noise, a wrong check sum with a right message behind it, the beginning of a message.
    let wrong = [&ODOMETRY[..15], &[0, 0]].concat();
    let bytes = [&[1, 2, 3], &wrong[..], ODOMETRY, &ODOMETRY[..4]].concat();
    let (text, ended) = sniff(ROVER, &bytes, &["--raw"]);
    assert_eq!(ended, Ok(()));
    let expected = format!(
        "<- 01 02 03: 3 bytes belong to no frame
<- 52 56 0b 02 e8 03 00 00 0c fe ff ff 5c 3d 02 00 00: field check is 0x0; the bytes have the check sum 0xa906
<- {SHOWN}
<- 52 56 0b 02: the beginning of a frame whose end is missing
odometry 1; wrong frames 1, bytes that are no message 24
"
    );
    assert_eq!(text, expected);
}

#[test]
fn both_sides_of_a_shared_line_are_told_apart() {
    // Read two registers of device 1, and its answer, without a silence that the system could have seen.
    let crc = |bytes: &[u8]| {
        let sum = dragoman_protocol::checksum::Checksum::named("CRC-16/MODBUS").unwrap().of(bytes);
        [bytes, &u16::try_from(sum).unwrap().to_le_bytes()].concat()
    };
    let protocol = compile(GRIPPER).unwrap().0;
    let question = protocol
        .protocol()
        .messages
        .iter()
        .find(|one| one.code == dragoman_protocol::model::Code::Number(3))
        .unwrap();
    let bytes = [crc(&[9, 3, 7, 0xd0, 0, 3]), crc(&[9, 3, 6, 0xb9, 0, 0, 0, 0xbd, 0])].concat();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
    let (text, ended) = sniff(GRIPPER, digits.as_bytes(), &["--from", "both"]);
    assert_eq!(ended, Ok(()));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("-> {}", question.name)), "{text}");
    assert!(lines[1].starts_with(&format!("<- {}, answered", question.name)), "{text}");
    assert_eq!(
        lines[2],
        format!("answer to {0} 1, {0} 1; wrong frames 0, bytes that are no message 0", question.name)
    );
}

#[test]
fn colours_are_for_terminals() {
    let (codec, cutter) = compile(ROVER).unwrap();
    let mut watch = Watch::new(Arc::new(codec), cutter, Screen::new(Vec::new(), true));
    let place = |side: Side| watch::Place { ends: None, heard: side.into() };
    watch.bytes(None, place(Side::Server), &[&[1], ODOMETRY].concat()).unwrap();
    watch.bytes(None, place(Side::Client), &drive()).unwrap();
    let text = String::from_utf8(watch.into_screen().into_inner()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "\x1b[31m<- 01: 1 byte belongs to no frame\x1b[0m");
    assert_eq!(lines[1], format!("\x1b[32m<- {SHOWN}\x1b[0m"));
    assert_eq!(lines[2], "\x1b[36m-> drive: left 0 m/s, right 0 m/s\x1b[0m");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let capture = pcap(1, &[udp((MACHINE, 4000), (CLIENT, 51000), ODOMETRY)]);
    let udp = rover("{ udp: 4000 }");
    for (description, recording, arguments, reason) in [
        (
            udp.as_str(),
            capture.as_slice(),
            &["--from", "client"][..],
            "--from: this is a capture, in which who sends is known by the ports",
        ),
        (&udp, b"00", &["--port", "4000"], "--port is for captures; this is neither pcap nor pcapng"),
        (
            MOTOR,
            b"(0.1) can0 201#",
            &["--from", "client"],
            "--from: on a CAN bus who sends is known by the identifiers",
        ),
    ] {
        assert_eq!(sniff(description, recording, arguments).1, Err(reason.to_owned()));
    }
}

#[test]
fn a_broken_capture_shows_what_is_in_front_and_where_it_breaks() {
    let description = rover("{ udp: 4000 }");
    let packet = udp((MACHINE, 4000), (CLIENT, 51000), ODOMETRY);
    let packets = vec![packet; 3];
    for file in [pcap(1, &packets), pcapng(false, 1, 9, &packets), pcapng(true, 1, 9, &packets)] {
        let (whole, ended) = sniff(&description, &file, &[]);
        assert_eq!(ended, Ok(()));
        assert_eq!(whole.matches(SHOWN).count(), 3);
        let mut before = 0;
        for len in 4..file.len() {
            let (text, ended) = sniff(&description, &file[..len], &[]);
            let shown = text.matches(SHOWN).count();
            assert!(shown == before || shown == before + 1, "{len}: {text}");
            before = shown;
            match ended {
                Ok(()) => assert!(shown > 0),
                Err(reason) if reason.starts_with("byte ") => {
                    let offset: usize = reason[5..].split_once(':').unwrap().0.parse().unwrap();
                    assert!(offset <= len, "{reason}");
                }
                Err(reason) => assert!(reason.starts_with("it has no UDP") && shown == 0, "{len}: {reason}"),
            }
        }
    }
    for (bytes, expected) in [
        (
            &[0xd4, 0xc3, 0xb2, 0xa1, 9, 0, 4, 0][..],
            "byte 0: the file ends within a block, of which it has 8 bytes",
        ),
        (
            &[&pcap(1, &[])[..], &[0xff; 16]].concat(),
            "byte 24: a packet of 4294967295 bytes; the largest that is read has 16777216",
        ),
        (
            &pcap(1, &[])
                .iter()
                .copied()
                .enumerate()
                .map(|(at, byte)| if at == 4 { 9 } else { byte })
                .collect::<Vec<u8>>(),
            "byte 0: this is version 9.4 of pcap; version 2.4 is read",
        ),
        (
            &[0x34, 0xcd, 0xb2, 0xa1],
            "byte 0: this is the variant of pcap with magic number a1b2cd34, which is not read; `tshark -r OLD -w NEW` writes it as pcapng",
        ),
        (&[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4], "byte 0: a section without a byte order mark"),
        (
            &[0x0a, 0x0d, 0x0d, 0x0a, 3, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
            "byte 0: a block of 3 bytes; a block has 12 to 16777216, a multiple of 4",
        ),
    ] {
        assert_eq!(sniff(&description, bytes, &[]).1, Err(expected.to_owned()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever a capture has, it is read to its end or to an error; memory and lines are bounded by its size.
    #[test]
    fn broken_captures_end(
        which in 0_usize..5,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<proptest::sample::Index>(),
    ) {
        let packets = [
            udp((MACHINE, 4000), (CLIENT, 51000), ODOMETRY),
            tcp((MACHINE, 4000), (CLIENT, 51000), 500, ODOMETRY),
        ];
        let can = vec![[&[0, 0, 2, 1, 4, 0, 0, 0][..], &[1, 2, 3, 4]].concat(); 3];
        let (description, mut file) = match which {
            0 => (rover("{ udp: 4000 }"), pcap(1, &packets)),
            1 => (rover("{ tcp: 4000 }"), pcapng(false, 1, 6, &packets)),
            2 => (rover("{ tcp: 4000 }"), pcapng(true, 1, 0x89, &packets)),
            3 => (MOTOR.to_owned(), pcap(227, &can)),
            _ => (MOTOR.to_owned(), pcapng(false, 227, 40, &can)),
        };
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        file.truncate(1 + cut.index(file.len()));
        let (text, _) = sniff(&description, &file, &[]);
        prop_assert!(text.len() < 8 * file.len() + 2000, "{}", text);
    }

    /// Whatever a packet has, it is one thing or another.
    #[test]
    fn packets_of_any_bytes_are_read(link in prop_oneof![Just(0_u32), Just(1), Just(101), Just(108), Just(113), Just(227), Just(276)], bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        if let Content::Udp(Ends { .. }, payload) = content(link, &bytes) {
            prop_assert!(payload.len() <= bytes.len());
        }
    }

    /// Bytes of a line in parts of any size are shown as in one part, up to where noise is shown.
    #[test]
    fn parts_make_no_difference(bytes in proptest::collection::vec(prop_oneof![Just(0x52_u8), Just(0x56), Just(0x0b), any::<u8>()], 0..200), part in 1_usize..40) {
        let shown = |size: usize| {
            let (codec, cutter) = compile(ROVER).unwrap();
            let mut watch = Watch::new(Arc::new(codec), cutter, Screen::new(Vec::new(), false));
            let place = watch::Place { ends: None, heard: Side::Server.into() };
            for part in [&bytes[..], ODOMETRY, &bytes, ODOMETRY].concat().chunks(size) {
                watch.bytes(None, place, part).unwrap();
            }
            watch.finish().unwrap();
            let counts = watch.counts().clone();
            (String::from_utf8(watch.into_screen().into_inner()).unwrap(), counts)
        };
        let (whole, counts) = shown(1000);
        let (parts, others) = shown(part);
        prop_assert_eq!(whole, parts);
        prop_assert_eq!(counts, others);
    }
}

/// The proxy passes on both directions, shows both, and goes on with the next connection.
#[test]
fn the_proxy_passes_on_what_it_shows() {
    use dragoman_io::net::{TcpListener, TcpStream};
    use dragoman_time::Simulation;

    let simulation = Simulation::new(1);
    let text = simulation.block_on(async {
        let local = |port: u16| SocketAddr::new(IpAddr::from(Ipv4Addr::LOCALHOST), port);
        let machine = dragoman_time::spawn(async move {
            let listener = TcpListener::bind(local(4000), 1).unwrap();
            let mut heard = Vec::new();
            for _ in 0..2 {
                let (stream, _) = listener.accept().await.unwrap();
                let mut buffer = [0; 100];
                stream.readable().await.unwrap();
                let count = stream.try_read(&mut buffer).unwrap();
                heard.extend_from_slice(&buffer[..count]);
                assert_eq!(stream.try_write(ODOMETRY).unwrap(), ODOMETRY.len());
                // Until the other side closes.
                stream.readable().await.unwrap();
            }
            heard
        });
        let client = async {
            for _ in 0..2 {
                let stream = loop {
                    match TcpStream::connect(local(4001)).await {
                        Ok(stream) => break stream,
                        Err(_) => dragoman_time::sleep(Duration::from_millis(10)).await,
                    }
                };
                stream.try_write(&drive()).unwrap();
                let mut buffer = [0; 100];
                stream.readable().await.unwrap();
                let count = stream.try_read(&mut buffer).unwrap();
                assert_eq!(&buffer[..count], ODOMETRY);
            }
            dragoman_time::sleep(Duration::from_secs(1)).await;
        };
        let (codec, cutter) = compile(&rover("{ tcp: 4000 }")).unwrap();
        let codec = Arc::new(codec);
        let arguments = ["sniff", "a.yaml", "--link", "127.0.0.1", "--through", "4001"];
        let CommandLine { command } = CommandLine::parse_from(arguments);
        let source = live::Source::new(codec.protocol(), &command).unwrap();
        let mut watch = Watch::new(codec, cutter, Screen::new(Vec::new(), false));
        live::until(client, source, &mut watch).await.unwrap();
        watch.finish().unwrap();
        assert_eq!(machine.await.unwrap(), [drive(), drive()].concat());
        String::from_utf8(watch.into_screen().into_inner()).unwrap()
    });
    assert_eq!(text.matches("-> drive: left 0 m/s, right 0 m/s\n").count(), 2, "{text}");
    assert_eq!(text.matches(&format!("<- {SHOWN}\n")).count(), 2, "{text}");
    assert!(text.contains("-- the connection was closed\n"), "{text}");
    assert!(text.ends_with("drive 2, odometry 2; wrong frames 0, bytes that are no message 0\n"), "{text}");
}
