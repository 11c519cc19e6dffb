//! `ST` overtakes, and nothing that reached the server before it moves the arm after it.

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{ArmCall, Outcome};

use crate::arm31::support::{REFUSED, ServerFixture, plain, text};

#[test]
fn a_stop_does_not_wait_for_the_clients_own_slow_call() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"ON"));
    let (slow, _) = fixture.call();
    fixture.receive(1, &plain(b"ST"));
    let (stop, call) = fixture.call();
    assert_eq!(call, ArmCall::Plain(Command::Stop));
    fixture.result(stop, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"TS"))]);
    fixture.result(slow, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"NO"))]);
}

#[test]
fn starts_that_wait_are_cancelled_and_settings_are_kept() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"ON"));
    let (slow, _) = fixture.call();
    for letters in [b"BG", b"VC", b"jE"] {
        fixture.receive(1, &plain(letters));
    }
    fixture.receive(1, &plain(b"ST"));
    let (stop, _) = fixture.call();
    fixture.receive(1, &plain(b"jB"));
    fixture.result(slow, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"NO"))], "the rest waits for the stop");
    fixture.result(stop, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"TS")), (1, text("ER20 Cmd BG rejected"))]);
    let (clear, call) = fixture.call();
    assert_eq!(call, ArmCall::Plain(Command::ClearViaPoints));
    fixture.result(clear, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"CV")), (1, text("ER20 Cmd jE rejected"))]);
    assert_eq!(
        fixture.call().1,
        ArmCall::Plain(Command::BeginJointMotion),
        "what came after the stop is carried out"
    );
}

#[test]
fn a_start_that_is_ready_but_not_handed_out_is_cancelled() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"BG"));
    fixture.receive(2, &plain(b"ST"));
    assert_eq!(fixture.call().1, ArmCall::Plain(Command::Stop));
    assert_eq!(fixture.sent(), [(1, text("ER20 Cmd BG rejected"))]);
    assert_eq!(fixture.server.statistics().cancelled_starts, 1);
}

/// ROS may carry out the stop before the start that was sent earlier. So the stop is repeated after the start's result,
/// and only then confirmed.
#[test]
fn a_start_in_progress_is_stopped_afterwards() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"BG"));
    let (start, _) = fixture.call();
    fixture.receive(2, &plain(b"ST"));
    let (stop, _) = fixture.call();
    fixture.result(stop, Outcome::Done);
    assert_eq!(fixture.sent(), []);
    fixture.result(start, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"GB"))]);
    let (again, call) = fixture.call();
    assert_eq!(call, ArmCall::Plain(Command::Stop));
    fixture.result(again, Outcome::Done);
    assert_eq!(fixture.sent(), [(2, plain(b"TS"))]);
    assert_eq!(fixture.server.statistics().repeated_stops, 1);
}

#[test]
fn a_start_that_was_refused_needs_no_second_stop() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"VE"));
    let (start, _) = fixture.call();
    fixture.receive(1, &plain(b"ST"));
    let (stop, _) = fixture.call();
    fixture.result(start, REFUSED);
    fixture.result(stop, Outcome::Done);
    fixture.no_call();
    assert_eq!(fixture.sent(), [(1, text("ER20 Cmd VE rejected")), (1, plain(b"TS"))]);
}

#[test]
fn a_start_that_times_out_counts_as_possible() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"jB"));
    let (start, _) = fixture.call();
    fixture.pass(4000);
    fixture.receive(1, &plain(b"ST"));
    let (stop, _) = fixture.call();
    fixture.result(stop, Outcome::Done);
    fixture.pass(1000);
    assert_eq!(fixture.sent(), [(1, text("ER20 Cmd jB rejected"))]);
    let (again, _) = fixture.call();
    fixture.result(again, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"TS"))]);
    // The start succeeds late: it is stopped once more, although no client waits for it.
    fixture.result(start, Outcome::Done);
    assert_eq!(fixture.call().1, ArmCall::Plain(Command::Stop));
}

#[test]
fn a_late_start_without_a_stop_is_left_alone() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"jB"));
    let (start, _) = fixture.call();
    fixture.pass(5000);
    fixture.result(start, Outcome::Done);
    fixture.no_call();
}

#[test]
fn every_stop_is_answered_and_stops_that_come_meanwhile_share_one_call() {
    let mut fixture = ServerFixture::new();
    for _ in 0..5 {
        fixture.receive(1, &plain(b"ST"));
    }
    let (first, _) = fixture.call();
    fixture.result(first, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"TS"))]);
    let (second, _) = fixture.call();
    fixture.result(second, REFUSED);
    assert_eq!(fixture.sent(), [(1, text("ER20 Cmd ST rejected")); 4]);
    fixture.no_call();
}

#[test]
fn a_stop_that_fails_lets_the_queue_go_on() {
    let mut fixture = ServerFixture::new();
    fixture.receive(1, &plain(b"ST"));
    fixture.receive(1, &plain(b"OF"));
    let (stop, _) = fixture.call();
    fixture.result(stop, REFUSED);
    assert_eq!(fixture.call().1, ArmCall::Plain(Command::Disable));
}

/// The client of the start is evicted meanwhile; the stop still waits for the start.
#[test]
fn an_evicted_client_s_start_is_stopped_too() {
    let config = dragoman_bridge::arm31::ServerConfig { max_clients: 1, ..Default::default() };
    let mut fixture = ServerFixture::with(config);
    fixture.receive(1, &plain(b"BG"));
    let (start, _) = fixture.call();
    fixture.receive(2, &plain(b"ST"));
    let (stop, _) = fixture.call();
    fixture.result(stop, Outcome::Done);
    assert_eq!(fixture.sent(), []);
    fixture.result(start, Outcome::Done);
    let (again, _) = fixture.call();
    fixture.result(again, Outcome::Done);
    assert_eq!(fixture.sent(), [(2, plain(b"TS"))]);
}
