//! The server's side of a connection: the calls it makes, and the bytes it sends.

use std::time::Duration;

use dragoman_bridge::apolo::wire::{LandMark, Request};
use dragoman_bridge::apolo::{Connection, ConnectionEvent, Outcome, Refusal, ServerConfig};
use dragoman_bridge::session::ServerSession;

const NOW: Duration = Duration::ZERO;
const ONE: &[u8] = b"\0\0\0\0\0\0\xf0\x3f";

fn connection() -> Connection {
    Connection::new(ServerConfig::default())
}

fn unknown() -> Outcome {
    Outcome::Refused(Refusal::UnknownName("there is no 'x'".into()))
}

/// A request with the names `W` and `x`, and this number of doubles of 1.0.
fn frame(letter: u8, doubles: usize) -> Vec<u8> {
    let mut bytes = b"aa\0\0".to_vec();
    bytes.push(letter);
    bytes.extend(b"\x02W\0");
    if letter != b'U' {
        bytes.extend(b"\x02x\0");
    }
    if letter == b'L' {
        bytes.extend(b"\x02y\0");
    }
    if b"jJ".contains(&letter) {
        bytes.push(u8::try_from(doubles).unwrap());
    }
    (0..doubles).for_each(|_| bytes.extend(ONE));
    bytes[2] = u8::try_from(bytes.len()).unwrap();
    bytes
}

/// The call for the one request in `bytes`, and the answer with this outcome.
fn served(config: &ServerConfig, bytes: &[u8], outcome: Outcome) -> (Request, Vec<u8>) {
    let mut connection = Connection::new(config.clone());
    connection.handle_bytes(NOW, bytes);
    let call = connection.poll_call(NOW).expect("a call");
    assert_eq!(
        (connection.poll_call(NOW), connection.unsent()),
        (None, &b""[..]),
        "nothing before the outcome"
    );
    connection.handle_outcome(NOW, outcome);
    assert_eq!(connection.poll_call(NOW), None);
    (call, connection.unsent().to_vec())
}

fn answer(bytes: &[u8], outcome: Outcome) -> Vec<u8> {
    served(&ServerConfig::default(), bytes, outcome).1
}

/// The Apolo port manual has no answer for these, and the original sends none.
#[test]
fn commands_without_an_answer_never_get_one() {
    for (letter, doubles) in [(b'P', 6), (b'J', 2), (b'U', 0), (b'L', 0), (b'R', 3)] {
        let refused = || Outcome::Refused(Refusal::Rejected("no".into()));
        for outcome in [Outcome::Done, Outcome::Verdict(true), unknown(), refused()] {
            assert_eq!(answer(&frame(letter, doubles), outcome), b"", "{}", char::from(letter));
        }
    }
}

#[test]
fn verdicts_are_headers_alone() {
    for (letter, doubles) in [(b'j', 2), (b'p', 4), (b'm', 3)] {
        assert_eq!(answer(&frame(letter, doubles), Outcome::Verdict(true)), b"aa\x05\0T");
        assert_eq!(answer(&frame(letter, doubles), Outcome::Verdict(false)), b"aa\x05\0F");
    }
}

#[test]
fn vectors_have_their_sizes() {
    for (letter, count, head) in [
        (b'G', 6, b"aa\x37\0D\x06\0"),
        (b'g', 4, b"aa\x27\0D\x04\0"),
        (b'o', 3, b"aa\x1f\0D\x03\0"),
        (b'u', 1, b"aa\x0f\0D\x01\0"),
        (b'd', 2, b"aa\x17\0D\x02\0"),
        (b'l', 541, b"aa\xef\x10D\x1d\x02"),
    ] {
        let expected = [&head[..], &ONE.repeat(count)].concat();
        assert_eq!(answer(&frame(letter, 0), Outcome::Values(vec![1.0; count])), expected);
    }
    let marks = vec![LandMark { id: 3, angle: 1.0, distance: 1.0 }];
    assert_eq!(
        answer(&frame(b'B', 0), Outcome::LandMarks(marks)),
        [b"aa\x19\0b\x01\0\x03\0", ONE, ONE].concat()
    );
    assert_eq!(answer(&frame(b'B', 0), Outcome::LandMarks(vec![])), b"aa\x07\0b\0\0");
}

#[test]
fn an_outcome_that_does_not_fit_is_no() {
    for (letter, outcome) in [
        (b'G', Outcome::Values(vec![1.0; 5])),
        (b'G', Outcome::Done),
        (b'o', Outcome::Verdict(true)),
        (b'l', Outcome::Values(vec![1.0; 9000])),
        (b'B', Outcome::Values(vec![])),
    ] {
        assert_eq!(answer(&frame(letter, 0), outcome), b"aa\x05\0F");
    }
}

#[test]
fn unknown_names_are_answered_no_or_not_at_all() {
    let original = ServerConfig { silent_on_unknown: true, ..ServerConfig::default() };
    for (letter, doubles) in [
        (b'G', 0),
        (b'g', 0),
        (b'j', 2),
        (b'p', 4),
        (b'm', 3),
        (b'o', 0),
        (b'l', 0),
        (b'B', 0),
        (b'u', 0),
        (b'd', 0),
    ] {
        assert_eq!(answer(&frame(letter, doubles), unknown()), b"aa\x05\0F");
        assert_eq!(served(&original, &frame(letter, doubles), unknown()).1, b"");
    }
}

/// A refusal must not mean "free of collisions".
#[test]
fn refusals_are_no_and_of_a_collision_check_yes() {
    let original = ServerConfig { silent_on_unknown: true, ..ServerConfig::default() };
    let questions =
        [(b'G', 0), (b'g', 0), (b'p', 4), (b'm', 3), (b'o', 0), (b'l', 0), (b'B', 0), (b'u', 0), (b'd', 0)];
    let answers = questions.map(|(letter, doubles)| (letter, doubles, b"aa\x05\0F"));
    for (letter, doubles, expected) in answers.into_iter().chain([(b'j', 2, b"aa\x05\0T")]) {
        for refusal in
            [Refusal::Rejected("no".into()), Refusal::TimedOut, Refusal::NotConnected, Refusal::Busy]
        {
            let outcome = || Outcome::Refused(refusal.clone());
            assert_eq!(
                answer(&frame(letter, doubles), outcome()),
                expected,
                "{}: {refusal}",
                char::from(letter)
            );
            assert_eq!(served(&original, &frame(letter, doubles), outcome()).1, expected);
        }
    }
}

#[test]
fn the_answer_to_m_can_be_left_out() {
    let config = ServerConfig { move_reply: false, ..ServerConfig::default() };
    for outcome in [Outcome::Verdict(true), Outcome::Verdict(false), unknown()] {
        let (call, answer) = served(&config, &frame(b'm', 3), outcome);
        assert!(matches!(call, Request::MoveMRobot { speed: 1.0, rotation_speed: 1.0, duration: 1.0, .. }));
        assert_eq!(answer, b"");
    }
}

#[test]
fn sizes_can_be_written_with_the_annex_s_base() {
    let config = ServerConfig {
        size_base: dragoman_bridge::apolo::wire::SizeBase::Annex255,
        ..ServerConfig::default()
    };
    let (_, answer) = served(&config, &frame(b'l', 0), Outcome::Values(vec![1.0; 541]));
    assert_eq!(answer[..7], *b"aa\0\x11D\x1f\x02");
}

/// Every value of every command, with NaN and the infinities: no call, and a refusal if the command has an answer.
#[test]
fn values_that_are_not_finite_make_no_call() {
    for (letter, doubles, answered) in [
        (b'j', 2, &b"aa\x05\0T"[..]),
        (b'J', 2, b""),
        (b'P', 6, b""),
        (b'p', 4, b"aa\x05\0F"),
        (b'm', 3, b"aa\x05\0F"),
        (b'R', 3, b""),
    ] {
        for field in 0..doubles {
            for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut bytes = frame(letter, doubles);
                let place = bytes.len() - 8 * (doubles - field);
                bytes[place..place + 8].copy_from_slice(&bad.to_le_bytes());
                let mut connection = connection();
                connection.handle_bytes(NOW, &bytes);
                assert_eq!(connection.poll_call(NOW), None);
                assert_eq!(connection.unsent(), answered);
                let event = connection.poll_event();
                assert!(
                    matches!(event, Some(ConnectionEvent::Refused { refusal: Refusal::NotFinite, .. })),
                    "{event:?}"
                );
            }
        }
    }
}

#[test]
fn requests_that_come_at_once_are_answered_in_order() {
    let mut connection = connection();
    connection.handle_bytes(NOW, &[frame(b'p', 4), frame(b'U', 0), frame(b'o', 0), frame(b'j', 1)].concat());
    let mut calls = Vec::new();
    while let Some(call) = connection.poll_call(NOW) {
        calls.push(call.command().letter());
        connection.handle_outcome(
            NOW,
            match call.command().letter() {
                b'p' => Outcome::Verdict(true),
                b'o' => Outcome::Values(vec![1.0; 3]),
                b'j' => Outcome::Verdict(false),
                _ => Outcome::Done,
            },
        );
    }
    assert_eq!(calls, b"pUoj");
    let odometry = [b"aa\x1f\0D\x03\0", ONE, ONE, ONE].concat();
    assert_eq!(connection.unsent(), [b"aa\x05\0T".as_slice(), &odometry, b"aa\x05\0F"].concat());
    connection.handle_sent(5);
    assert_eq!(connection.unsent()[4], b'D');
    connection.handle_sent(1000);
    assert_eq!(connection.unsent(), b"");
}

#[test]
fn a_frame_too_small_for_its_values_is_refused() {
    for (letter, doubles, answer) in [(b'm', 3, &b"aa\x05\0F"[..]), (b'j', 3, b"aa\x05\0T"), (b'P', 6, b"")] {
        let mut bytes = frame(letter, doubles);
        bytes.truncate(20);
        bytes[2] = 20;
        let mut connection = connection();
        connection.handle_bytes(NOW, &bytes);
        connection.handle_bytes(NOW, &frame(b'U', 0));
        assert_eq!(connection.poll_call(NOW), Some(Request::Update { world: "W".into() }));
        assert_eq!(connection.unsent(), answer);
        assert_eq!(connection.poll_event(), Some(ConnectionEvent::Malformed { kind: letter }));
    }
}

#[test]
fn garbage_and_unknown_kinds_are_reported_and_skipped() {
    let mut connection = connection();
    connection.handle_bytes(NOW, &[b"xyz".as_slice(), b"aa\x06\0Z!", &frame(b'U', 0)].concat());
    assert!(connection.poll_call(NOW).is_some());
    assert_eq!(connection.poll_event(), Some(ConnectionEvent::Garbage { bytes: 3 }));
    assert_eq!(connection.poll_event(), Some(ConnectionEvent::Unknown { kind: b'Z' }));
    assert_eq!(connection.poll_event(), None);
    let statistics = connection.poll_statistics();
    assert_eq!((statistics.garbage, statistics.unknown, statistics.requests), (3, 1, 1));
    assert_eq!(connection.poll_statistics(), Default::default());
}

/// A client that never stops sending and never reads.
#[test]
fn memory_is_bounded_on_both_ways() {
    let mut connection = connection();
    let mut taken = 0;
    let request = frame(b'l', 0);
    for _ in 0..100_000 {
        if connection.wants_input() {
            connection.handle_bytes(NOW, &request);
            taken += 1;
        }
        while connection.poll_call(NOW).is_some() {
            connection.handle_outcome(NOW, Outcome::Values(vec![1.0; 541]));
        }
        while connection.poll_event().is_some() {}
    }
    assert!(connection.unsent().len() < 16_384 + 4335, "{}", connection.unsent().len());
    assert!(taken * request.len() < 16_384 + 16 * request.len(), "{taken} requests taken");
    assert!(!connection.wants_input());
    // As soon as it reads, its requests are processed further.
    connection.handle_sent(usize::MAX);
    assert!(connection.poll_call(NOW).is_some());
}

#[test]
fn events_that_are_not_polled_are_dropped() {
    let mut connection = connection();
    (0..1000).for_each(|_| connection.handle_bytes(NOW, b"aa\x05\0Z"));
    assert_eq!(connection.poll_call(NOW), None);
    assert_eq!(std::iter::from_fn(|| connection.poll_event()).count(), 16);
    assert_eq!(connection.poll_statistics().unknown, 1000);
}
