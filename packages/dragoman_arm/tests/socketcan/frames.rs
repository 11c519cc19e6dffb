//! Frames to and from other programs.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use dragoman_io::can::candump::{Content, LogLine};
use dragoman_io::can::socketcan::{Filter, OpenError};
use dragoman_io::can::{Bus, Frame, Received, SocketCanBus};

use crate::support::{
    TIMEOUT, Vcan, available, can_utils, cansend, frame, ip, next, report_skipped, send_with_retry, skip,
    stay_on_a_processor,
};
use crate::test_name;

const KINDS: [&str; 7] =
    ["000#8100", "7FF#", "181#0102030405060708", "1FFFFFFF#FF", "00000181#", "701#R1", "1F334455#R8"];

#[test]
fn frames_of_all_kinds_arrive_in_both_directions_and_are_not_echoed() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_both") else { return };
    let (mut first, mut second) = (vcan.bus(), vcan.bus());
    for kind in KINDS {
        first.send(&frame(kind)).unwrap();
        assert_eq!(next(&mut second), Received::Frame(frame(kind)), "{kind}");
        second.send(&frame(kind)).unwrap();
        assert_eq!(next(&mut first), Received::Frame(frame(kind)), "{kind}");
    }
    assert_eq!((first.receive(), second.receive()), (None, None));
}

#[test]
fn what_cansend_sends_arrives() {
    let test = test_name!();
    let Some(vcan) = Vcan::new(test, "vcan_cansend") else { return };
    if can_utils(test, "cansend").is_none() {
        return;
    }
    let mut bus = vcan.bus();
    for kind in KINDS {
        cansend(vcan.name, kind);
        assert_eq!(next(&mut bus), Received::Frame(frame(kind)), "{kind}");
    }
}

#[test]
fn candump_sees_what_we_send_and_each_of_its_formats_is_read() {
    let test = test_name!();
    let Some(vcan) = Vcan::new(test, "vcan_candump") else { return };
    let formats: [&[&str]; 8] = [
        &["-L"],
        &["-L", "-x"],
        &[],
        &["-t", "a", "-x", "-a"],
        &["-t", "A", "-c", "-c", "-c"],
        &["-t", "d", "-i"],
        &["-t", "z", "-S", "-a"],
        &["-c"],
    ];
    for options in formats {
        let Some(seen) = seen_by_candump(test, &vcan, options) else { return };
        assert_eq!(seen, KINDS.map(frame), "{options:?}");
    }
}

/// The frames of `KINDS`, as candump shows them.
fn seen_by_candump(test: &str, vcan: &Vcan, options: &[&str]) -> Option<Vec<Frame>> {
    let mut candump = can_utils(test, "candump")?;
    let mut candump = candump.args(options).arg(vcan.name).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = candump.stdout.take().unwrap();
    let mut bus = vcan.bus();
    // It does not report when it is ready.
    let marker = frame("7EE#00");
    let seen = std::thread::spawn(move || output.read_exact(&mut [0]).map(|()| output));
    let began = Instant::now();
    while !seen.is_finished() {
        assert!(began.elapsed() < TIMEOUT, "candump sees nothing");
        send_with_retry(&mut bus, &marker);
        std::thread::sleep(Duration::from_millis(10));
    }
    for kind in KINDS {
        bus.send(&frame(kind)).unwrap();
    }
    let lines = BufReader::new(seen.join().unwrap().unwrap()).lines().map(Result::unwrap);
    let seen = lines
        // The thread above has consumed the first character of the first.
        .filter_map(|line| match line.parse::<LogLine>() {
            Ok(LogLine { content: Content::Frame(frame), .. }) => Some(frame),
            _ => None,
        })
        .filter(|seen| *seen != marker)
        .take(KINDS.len())
        .collect();
    candump.kill().unwrap();
    candump.wait().unwrap();
    Some(seen)
}

#[test]
fn filters_let_only_their_identifiers_through() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_filter") else { return };
    let filters = [Filter { id: 0x281, mask: 0x7ff }, Filter { id: 0x580, mask: 0x780 }];
    let mut filtered = SocketCanBus::open(vcan.name, &filters).unwrap();
    let mut sender = vcan.bus();
    let sent = ["280#", "281#01", "282#", "57F#", "580#02", "5FF#03", "600#", "00000281#04", "281#R0"];
    for text in sent {
        sender.send(&frame(text)).unwrap();
    }
    for passed in ["281#01", "580#02", "5FF#03", "281#R0"] {
        assert_eq!(next(&mut filtered), Received::Frame(frame(passed)));
    }
    assert_eq!(filtered.receive(), None);
}

#[test]
fn a_wait_ends_with_the_frame_and_otherwise_lasts_as_long_as_it_should() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_wait") else { return };
    let (mut sender, mut waiting) = (vcan.bus(), vcan.bus());
    for short in [Duration::from_micros(300), Duration::from_millis(20)] {
        let began = Instant::now();
        waiting.wait(short);
        assert!(began.elapsed() >= short);
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            sender.send(&frame("080#")).unwrap();
        });
        let began = Instant::now();
        waiting.wait(Duration::MAX);
        assert!(began.elapsed() < TIMEOUT);
    });
    assert_eq!(waiting.receive(), Some(Received::Frame(frame("080#"))));
}

#[test]
fn a_burst_as_fast_as_the_queue_takes_it_arrives_whole_and_in_order() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_burst") else { return };
    vcan.limit("2mbit");
    let mut sender = vcan.bus();
    let mut receiver = vcan.bus();
    let frames = 20_000_u32;
    let full = std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            stay_on_a_processor(0);
            let numbered =
                |number: u32| dragoman_io::can::Frame::standard(0x123, &number.to_le_bytes()).unwrap();
            (0..frames).map(|number| send_with_retry(&mut sender, &numbered(number))).sum::<usize>()
        });
        for number in 0..frames {
            let Received::Frame(received) = next(&mut receiver) else { panic!("a fault before {number}") };
            assert_eq!(received.data(), number.to_le_bytes());
        }
        sending.join().unwrap()
    });
    assert!(full > 0, "the queue was never full");
}

#[test]
fn two_controllers_of_one_bus_reach_each_other() {
    let test = test_name!();
    if !available(test) {
        return;
    }
    let Ok(controllers) = std::env::var("DRAGOMAN_CAN_CONTROLLERS") else {
        // Only the virtual machine sets it.
        return report_skipped(test, "DRAGOMAN_CAN_CONTROLLERS does not name two controllers on one bus");
    };
    let [first, second] = controllers.split(' ').collect::<Vec<_>>()[..] else {
        return skip(test, &format!("'{controllers}' are not two"));
    };
    for name in [first, second] {
        ip(&["link", "set", name, "up", "type", "can", "bitrate", "500000", "restart-ms", "100"]);
    }
    let (mut one, mut other) =
        (SocketCanBus::open(first, &[]).unwrap(), SocketCanBus::open(second, &[]).unwrap());
    // QEMU's SJA1000 changes an extended remote frame.
    for kind in KINDS.into_iter().filter(|kind| *kind != "1F334455#R8") {
        one.send(&frame(kind)).unwrap();
        assert_eq!(next(&mut other), Received::Frame(frame(kind)), "{kind}");
        other.send(&frame(kind)).unwrap();
        assert_eq!(next(&mut one), Received::Frame(frame(kind)), "{kind}");
    }
    assert_eq!((one.receive(), other.receive()), (None, None));
}

#[test]
fn an_interface_that_is_not_can_is_refused_by_name() {
    if !available(test_name!()) {
        return;
    }
    let missing = SocketCanBus::open("can_nowhere", &[]).err().unwrap();
    assert!(matches!(missing, OpenError::NoInterface { .. }), "{missing}");
    assert!(
        missing.to_string().contains("can_nowhere") && missing.to_string().contains("vcan0"),
        "{missing}"
    );
    let other = SocketCanBus::open("lo", &[]).err().unwrap();
    assert!(matches!(other, OpenError::NotCan { .. }), "{other}");
}
