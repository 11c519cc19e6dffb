//! Interfaces that go down, disappear, come back, are overloaded or report errors.

use std::time::{Duration, Instant};

use dragoman_io::can::{Bus, BusFault, Received, SendError};

use crate::support::{Vcan, can_utils, cansend, frame, next, send_with_retry};
use crate::test_name;

#[test]
fn an_interface_that_goes_down_and_up_is_used_again() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_updown") else { return };
    let (mut bus, mut other) = (vcan.bus(), vcan.bus());
    for _ in 0..3 {
        other.send(&frame("181#01")).unwrap();
        vcan.down();
        // Earlier frames are not lost.
        assert_eq!(next(&mut bus), Received::Frame(frame("181#01")));
        assert_eq!(next(&mut bus), Received::Fault(BusFault::Down));
        assert_eq!(next(&mut other), Received::Fault(BusFault::Down));
        assert!(matches!(bus.send(&frame("080#")), Err(SendError::Down)));
        vcan.up();
        assert_eq!(next(&mut bus), Received::Fault(BusFault::Up));
        assert_eq!(next(&mut other), Received::Fault(BusFault::Up));
        bus.send(&frame("080#")).unwrap();
        assert_eq!(next(&mut other), Received::Frame(frame("080#")));
    }
}

#[test]
fn sending_notices_first_that_the_interface_is_down() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_send") else { return };
    let mut bus = vcan.bus();
    vcan.down();
    assert!(matches!(bus.send(&frame("080#")), Err(SendError::Down)));
    assert_eq!(next(&mut bus), Received::Fault(BusFault::Down));
    vcan.up();
    assert_eq!(next(&mut bus), Received::Fault(BusFault::Up));
    bus.send(&frame("080#")).unwrap();
}

#[test]
fn an_interface_that_is_removed_and_created_again_is_used_again() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_again") else { return };
    let mut bus = vcan.bus();
    vcan.delete();
    assert_eq!(next(&mut bus), Received::Fault(BusFault::Down));
    assert!(matches!(bus.send(&frame("080#")), Err(SendError::Down)));
    vcan.make();
    bus.wait(Duration::from_millis(250));
    assert_eq!(bus.receive(), None, "it is still down");
    vcan.up();
    assert_eq!(next(&mut bus), Received::Fault(BusFault::Up));
    let mut other = vcan.bus();
    other.send(&frame("181#01")).unwrap();
    assert_eq!(next(&mut bus), Received::Frame(frame("181#01")));
    bus.send(&frame("080#")).unwrap();
    assert_eq!(next(&mut other), Received::Frame(frame("080#")));
}

#[test]
fn an_interface_that_is_down_at_first_is_waited_for() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_late") else { return };
    vcan.down();
    let mut bus = vcan.bus();
    assert_eq!(next(&mut bus), Received::Fault(BusFault::Down));
    vcan.up();
    assert_eq!(next(&mut bus), Received::Fault(BusFault::Up));
}

#[test]
fn a_wait_without_an_interface_lasts_as_long_as_it_should() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_away") else { return };
    let mut bus = vcan.bus();
    vcan.delete();
    assert_eq!(next(&mut bus), Received::Fault(BusFault::Down));
    for timeout in [Duration::from_millis(10), Duration::from_millis(350)] {
        let began = Instant::now();
        bus.wait(timeout);
        assert!(began.elapsed() >= timeout);
        assert_eq!(bus.receive(), None);
    }
}

#[test]
fn a_full_queue_is_reported_and_has_room_again_later() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_full") else { return };
    vcan.limit("500kbit");
    let (mut sender, mut receiver) = (vcan.bus(), vcan.bus());
    let mut taken = 0;
    let refusal = loop {
        match sender.send(&frame("181#0102030405060708")) {
            Ok(()) => taken += 1,
            Err(refusal) => break refusal,
        }
        assert!(taken < 1_000_000, "the queue is never full");
    };
    assert!(matches!(refusal, SendError::Full), "{refusal}");
    send_with_retry(&mut sender, &frame("080#"));
    for _ in 0..taken {
        assert_eq!(next(&mut receiver), Received::Frame(frame("181#0102030405060708")));
    }
    assert_eq!(next(&mut receiver), Received::Frame(frame("080#")));
}

#[test]
fn frames_not_read_in_time_are_reported_as_lost() {
    let Some(vcan) = Vcan::new(test_name!(), "vcan_overrun") else { return };
    let (mut sender, mut receiver) = (vcan.bus(), vcan.bus());
    let sent = 50_000;
    for _ in 0..sent {
        send_with_retry(&mut sender, &frame("181#00"));
    }
    let waiting = std::iter::from_fn(|| receiver.receive()).count();
    assert!(0 < waiting && waiting < sent, "{waiting} waited");
    sender.send(&frame("080#")).unwrap();
    assert_eq!(next(&mut receiver), Received::Fault(BusFault::Overrun));
    assert_eq!(next(&mut receiver), Received::Frame(frame("080#")));
    // Reported once.
    sender.send(&frame("080#")).unwrap();
    assert_eq!(next(&mut receiver), Received::Frame(frame("080#")));
}

#[test]
fn error_frames_become_faults() {
    let test = test_name!();
    let Some(vcan) = Vcan::new(test, "vcan_error") else { return };
    if can_utils(test, "cansend").is_none() {
        return;
    }
    let mut bus = vcan.bus();
    for (text, faults) in [
        ("20000004#0008000000006000", &[BusFault::Warning][..]),
        ("20000004#0020000000008000", &[BusFault::Passive]),
        ("20000044#0020000000008000", &[BusFault::Passive, BusFault::BusOff]),
        ("20000100#0000000000000000", &[BusFault::Active]),
        ("200000A8#0000001900000000", &[BusFault::NoAcknowledge]),
        ("20000002#0500000000000000", &[]),
        ("20000088#0000040A00000000", &[BusFault::Disturbed]),
    ] {
        cansend(vcan.name, text);
        for fault in faults {
            assert_eq!(next(&mut bus), Received::Fault(fault.clone()), "{text}");
        }
    }
    cansend(vcan.name, "080#");
    assert_eq!(next(&mut bus), Received::Frame(frame("080#")));
}
