//! Order of answers, limits, conditions, contradicting clients.

use std::time::Duration;

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{ArmCall, MotionEvent, Outcome, ServerConfig};

use crate::arm31::support::{REFUSED, ServerFixture, client, message, plain, text};

#[test]
fn answers_of_one_client_keep_the_order_of_its_requests() {
    let mut fixture = ServerFixture::new();
    fixture.server.handle_joint_state(fixture.now, &[1.0; 6]);
    fixture.receive(1, &plain(b"ON"));
    fixture.receive(1, &plain(b"jP"));
    fixture.receive(1, b"XY too short");
    fixture.receive(1, &plain(b"VC"));
    fixture.receive(1, &plain(b"zz"));
    let (on, _) = fixture.call();
    assert_eq!(fixture.sent(), []);
    fixture.result(on, Outcome::Done);
    let joints = message(b"Pj", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0], 0);
    let expected = [plain(b"NO"), joints, text("ER01 Msg XY undersized.")];
    assert_eq!(fixture.sent(), expected.map(|answer| (1, answer)));
    let (clear, _) = fixture.call();
    fixture.result(clear, Outcome::Done);
    let expected = [plain(b"CV"), text("ER00 Cmd zz not understood")];
    assert_eq!(fixture.sent(), expected.map(|answer| (1, answer)));
}

#[test]
fn a_slow_call_of_one_client_does_not_hold_up_another() {
    let mut fixture = ServerFixture::new();
    fixture.server.handle_pose(fixture.now, [0.0; 3], [0.0, 0.0, 0.0, 1.0]);
    fixture.receive(1, &plain(b"ON"));
    let (slow, _) = fixture.call();
    fixture.receive(2, &plain(b"PS"));
    assert_eq!(fixture.sent().len(), 1);
    fixture.receive(2, &plain(b"jC"));
    let (quick, _) = fixture.call();
    fixture.result(quick, Outcome::Done);
    assert_eq!(fixture.sent(), [(2, plain(b"Cj"))]);
    fixture.receive(2, &plain(b"ST"));
    let (stop, call) = fixture.call();
    assert_eq!(call, ArmCall::Plain(Command::Stop));
    fixture.result(stop, Outcome::Done);
    fixture.result(slow, REFUSED);
    assert_eq!(fixture.sent(), [(2, plain(b"TS")), (1, text("ER11 Arm did not start"))]);
}

#[test]
fn at_most_one_call_of_a_client_is_open() {
    let mut fixture = ServerFixture::new();
    for index in 0..20 {
        fixture.receive(1, &message(b"VP", [0.0; 7], index));
    }
    for index in 0..20 {
        let (id, call) = fixture.call();
        assert!(matches!(call, ArmCall::SetViaPoint { index: i, .. } if i == index));
        fixture.result(id, Outcome::Done);
        assert_eq!(fixture.sent(), [(1, message(b"PV", [0.0; 7], index))]);
    }
    fixture.no_call();
}

#[test]
fn a_full_queue_drops_and_keeps_room_for_commands() {
    let mut fixture =
        ServerFixture::with(ServerConfig { max_waiting_per_client: 8, ..ServerConfig::default() });
    fixture.receive(1, &plain(b"ON"));
    for _ in 0..6 {
        fixture.receive(1, &plain(b"jP"));
    }
    for _ in 0..6 {
        fixture.receive(1, &plain(b"VC"));
    }
    assert_eq!(fixture.server.statistics().dropped_queue_full, 2 + 2);
    let mut answers = Vec::new();
    while let Some((id, _)) = fixture.server.poll_call() {
        fixture.result(id, Outcome::Done);
        answers.extend(fixture.sent().into_iter().map(|(_, answer)| [answer[0], answer[1]]));
    }
    let expected = [b"NO", b"ER", b"ER", b"ER", b"ER", b"CV", b"CV", b"CV", b"CV"];
    assert_eq!(answers, expected.map(|letters| *letters));
}

#[test]
fn calls_over_all_clients_are_bounded() {
    let mut fixture = ServerFixture::with(ServerConfig { max_open_calls: 2, ..ServerConfig::default() });
    for number in 1..=4 {
        fixture.receive(number, &plain(b"ON"));
    }
    assert_eq!(fixture.sent(), [(3, text("ER11 Arm did not start")), (4, text("ER11 Arm did not start"))]);
    fixture.receive(5, &plain(b"ST"));
    assert!(
        matches!(fixture.server.poll_call(), Some((_, ArmCall::Plain(Command::Stop)))),
        "stops come first"
    );
    assert_eq!(fixture.server.statistics().refused_busy, 2);
}

/// Listing of the message handler: one counter per condition.
#[test]
fn a_repeating_condition_is_sent_once_in_eleven_events() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"ST"));
    fixture.sent();
    let mut sent_at = Vec::new();
    for event in 1..=34 {
        fixture.pass(20);
        fixture.server.handle_event(fixture.now, MotionEvent::JointLimit);
        if !fixture.sent().is_empty() {
            sent_at.push(event);
        }
    }
    assert_eq!(sent_at, [1, 12, 23, 34]);
    // The other conditions have their own counters.
    fixture.server.handle_event(fixture.now, MotionEvent::WorkspaceLimit);
    assert_eq!(fixture.sent(), [(1, text("ER21 Work space limit."))]);
    // After a pause it counts as new.
    fixture.pass(1000);
    fixture.server.handle_event(fixture.now, MotionEvent::JointLimit);
    assert_eq!(fixture.sent(), [(1, text("WN12 Joint limit."))]);
    let statistics = fixture.server.statistics();
    assert_eq!((statistics.events_sent, statistics.events_suppressed), (6, 30));
}

#[test]
fn conditions_go_to_every_client_active_in_the_last_ten_seconds() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"zz"));
    fixture.pass(1);
    fixture.receive(2, &plain(b"zz"));
    fixture.receive(3, b"x");
    fixture.sent();
    fixture.pass(10_000);
    fixture.server.handle_event(fixture.now, MotionEvent::WorkspaceLimit);
    let mut sent = fixture.sent();
    sent.sort_unstable();
    assert_eq!(sent, [(2, text("ER21 Work space limit.")), (3, text("ER21 Work space limit."))]);
}

#[test]
fn old_measurements_are_refused_if_so_configured() {
    let timeout = Some(Duration::from_millis(500));
    let mut fixture =
        ServerFixture::with(ServerConfig { measurement_timeout: timeout, ..ServerConfig::default() });
    fixture.server.handle_joint_state(fixture.now, &[1.0; 6]);
    fixture.pass(499);
    assert!(fixture.answered(&plain(b"jP")).starts_with(b"Pj"));
    fixture.pass(1);
    assert_eq!(fixture.answered(&plain(b"jP")), text("ER20 Cmd jP rejected"));
}

/// Two clients with contradicting requests: each gets its own answers, the arm gets the requests in order of arrival.
#[test]
fn two_contradicting_clients() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &message(b"CM", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0));
    fixture.receive(2, &message(b"CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0));
    let calls: Vec<_> = std::iter::from_fn(|| fixture.server.poll_call()).collect();
    assert_eq!(calls.len(), 2);
    for (id, call) in calls.iter().rev() {
        let ArmCall::SetCommandMode { mode } = *call else { panic!("{call:?}") };
        fixture.result(*id, Outcome::Mode(mode));
    }
    let one = message(b"MC", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
    let two = message(b"MC", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
    assert_eq!(fixture.sent(), [(2, two), (1, one)]);

    // One starts, the other stops, repeatedly; every request gets its answer.
    for _ in 0..50 {
        fixture.pass(20);
        fixture.receive(1, &plain(b"BG"));
        fixture.receive(2, &plain(b"ST"));
        while let Some((id, _)) = fixture.server.poll_call() {
            fixture.result(id, Outcome::Done);
        }
        let mut answers = fixture.sent();
        answers.sort_unstable();
        assert_eq!(answers, [(1, text("ER20 Cmd BG rejected")), (2, plain(b"TS"))]);
    }
    assert_eq!(fixture.server.statistics().open_calls, 0);
}

#[test]
fn results_for_unknown_calls_change_nothing() {
    let mut fixture = ServerFixture::new();
    fixture.result(dragoman_bridge::arm31::CallId(77), Outcome::Done);
    assert_eq!(fixture.sent(), []);
    fixture.no_call();
}

/// A client that was evicted while its call was open does not get the answer to that call.
#[test]
fn an_evicted_client_starts_again() {
    let mut fixture = ServerFixture::with(ServerConfig { max_clients: 1, ..ServerConfig::default() });
    fixture.receive(1, &plain(b"ON"));
    let (first, _) = fixture.call();
    fixture.receive(2, &plain(b"zz"));
    fixture.receive(1, &plain(b"OF"));
    let (second, _) = fixture.call();
    fixture.sent();
    fixture.result(first, Outcome::Done);
    assert_eq!(fixture.sent(), []);
    fixture.result(second, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"FO"))]);
    assert_eq!(fixture.server.statistics().evicted_clients, 2);
    assert_eq!(client(1).port(), 40_000);
}
