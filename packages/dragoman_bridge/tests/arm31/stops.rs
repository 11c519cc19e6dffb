//! `ST` overtakes, and nothing that reached the server before it moves the arm after it.

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{ArmCall, Outcome};

use crate::arm31::support::{Bench, REFUSED, plain, text};

#[test]
fn a_stop_does_not_wait_behind_the_own_slow_call() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"ON"));
    let (slow, _) = bench.call();
    bench.receive(1, &plain(b"ST"));
    let (stop, call) = bench.call();
    assert_eq!(call, ArmCall::Plain(Command::Stop));
    bench.result(stop, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"TS"))]);
    bench.result(slow, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"NO"))]);
}

#[test]
fn starts_that_wait_are_cancelled_and_settings_are_kept() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"ON"));
    let (slow, _) = bench.call();
    for letters in [b"BG", b"VC", b"jE"] {
        bench.receive(1, &plain(letters));
    }
    bench.receive(1, &plain(b"ST"));
    let (stop, _) = bench.call();
    bench.receive(1, &plain(b"jB"));
    bench.result(slow, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"NO"))], "the rest waits for the stop");
    bench.result(stop, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"TS")), (1, text("ER20 Cmd BG rejected"))]);
    let (clear, call) = bench.call();
    assert_eq!(call, ArmCall::Plain(Command::ClearViaPoints));
    bench.result(clear, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"CV")), (1, text("ER20 Cmd jE rejected"))]);
    assert_eq!(
        bench.call().1,
        ArmCall::Plain(Command::BeginJointMotion),
        "what came after the stop is carried out"
    );
}

#[test]
fn a_start_that_is_ready_but_not_handed_out_is_cancelled() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"BG"));
    bench.receive(2, &plain(b"ST"));
    assert_eq!(bench.call().1, ArmCall::Plain(Command::Stop));
    assert_eq!(bench.sent(), [(1, text("ER20 Cmd BG rejected"))]);
    assert_eq!(bench.server.statistics().cancelled_starts, 1);
}

/// ROS may carry out the stop before the start that was sent earlier. So the stop is repeated after the start's result,
/// and only then confirmed.
#[test]
fn a_start_that_is_out_is_stopped_afterwards() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"BG"));
    let (start, _) = bench.call();
    bench.receive(2, &plain(b"ST"));
    let (stop, _) = bench.call();
    bench.result(stop, Outcome::Done);
    assert_eq!(bench.sent(), []);
    bench.result(start, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"GB"))]);
    let (again, call) = bench.call();
    assert_eq!(call, ArmCall::Plain(Command::Stop));
    bench.result(again, Outcome::Done);
    assert_eq!(bench.sent(), [(2, plain(b"TS"))]);
    assert_eq!(bench.server.statistics().repeated_stops, 1);
}

#[test]
fn a_start_that_was_refused_needs_no_second_stop() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"VE"));
    let (start, _) = bench.call();
    bench.receive(1, &plain(b"ST"));
    let (stop, _) = bench.call();
    bench.result(start, REFUSED);
    bench.result(stop, Outcome::Done);
    bench.no_call();
    assert_eq!(bench.sent(), [(1, text("ER20 Cmd VE rejected")), (1, plain(b"TS"))]);
}

#[test]
fn a_start_that_times_out_counts_as_possible() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"jB"));
    let (start, _) = bench.call();
    bench.pass(4000);
    bench.receive(1, &plain(b"ST"));
    let (stop, _) = bench.call();
    bench.result(stop, Outcome::Done);
    bench.pass(1000);
    assert_eq!(bench.sent(), [(1, text("ER20 Cmd jB rejected"))]);
    let (again, _) = bench.call();
    bench.result(again, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"TS"))]);
    // The start succeeds late: it is stopped once more, although no client waits for it.
    bench.result(start, Outcome::Done);
    assert_eq!(bench.call().1, ArmCall::Plain(Command::Stop));
}

#[test]
fn a_late_start_without_a_stop_is_left_alone() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"jB"));
    let (start, _) = bench.call();
    bench.pass(5000);
    bench.result(start, Outcome::Done);
    bench.no_call();
}

#[test]
fn every_stop_is_answered_and_stops_that_come_meanwhile_share_one_call() {
    let mut bench = Bench::new();
    for _ in 0..5 {
        bench.receive(1, &plain(b"ST"));
    }
    let (first, _) = bench.call();
    bench.result(first, Outcome::Done);
    assert_eq!(bench.sent(), [(1, plain(b"TS"))]);
    let (second, _) = bench.call();
    bench.result(second, REFUSED);
    assert_eq!(bench.sent(), [(1, text("ER20 Cmd ST rejected")); 4]);
    bench.no_call();
}

#[test]
fn a_stop_that_fails_lets_the_queue_go_on() {
    let mut bench = Bench::new();
    bench.receive(1, &plain(b"ST"));
    bench.receive(1, &plain(b"OF"));
    let (stop, _) = bench.call();
    bench.result(stop, REFUSED);
    assert_eq!(bench.call().1, ArmCall::Plain(Command::Disable));
}

/// The client of the start is evicted meanwhile; the stop still waits for the start.
#[test]
fn an_evicted_client_s_start_is_stopped_too() {
    let config = dragoman_bridge::arm31::ServerConfig { max_clients: 1, ..Default::default() };
    let mut bench = Bench::with(config);
    bench.receive(1, &plain(b"BG"));
    let (start, _) = bench.call();
    bench.receive(2, &plain(b"ST"));
    let (stop, _) = bench.call();
    bench.result(stop, Outcome::Done);
    assert_eq!(bench.sent(), []);
    bench.result(start, Outcome::Done);
    let (again, _) = bench.call();
    bench.result(again, Outcome::Done);
    assert_eq!(bench.sent(), [(2, plain(b"TS"))]);
}
