//! Lost connections and reconnecting.

use super::*;

#[test]
fn a_silent_platform_is_left_and_asked_again() {
    let mut platform = Platform::new();
    platform.is_dead = true;
    let mut bench = Bench::new(platform);
    let call = bench.call(Command::GetProgram);
    bench.run(2000 * MS);
    assert_eq!(bench.outcome(call), Some(&Outcome::Refused(Refusal::Lost(Loss::Silent))));
    assert_eq!(bench.losses(), [Loss::Silent]);
    let call = bench.call(Command::Stop);
    assert_eq!(bench.outcome(call), Some(&Outcome::Refused(Refusal::NotConnected)));
    bench.run(60_000 * MS);
    // After pauses of 0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, ... s and 2 s of silence each.
    assert!((17..20).contains(&bench.attempts.len()), "{}", bench.attempts.len());
    bench.platform.is_dead = false;
    bench.run(5000 * MS);
    assert!(bench.client.is_connected());
    assert_eq!(bench.ends(Command::ConnectToPltf), Outcome::Done);
    // It has answered: the next pause is the shortest again.
    bench.client.handle_disconnected(bench.now, "gone");
    bench.run(100 * MS);
    assert!(bench.client.is_connected());
}

#[test]
fn connecting_to_an_absent_platform_is_retried_forever() {
    let mut bench = Bench::new(Platform::new());
    bench.client.handle_disconnected(bench.now, "gone");
    bench.is_there = false;
    bench.run(600_000 * MS);
    assert!((295..310).contains(&bench.attempts.len()), "{}", bench.attempts.len());
    bench.is_there = true;
    bench.run(2000 * MS);
    assert!(bench.client.is_connected());
}

/// As a platform that already has a client.
#[test]
fn connections_to_a_platform_that_closes_them_at_once_are_spaced() {
    let mut platform = Platform::new();
    platform.is_dead = true;
    let mut bench = Bench::new(platform);
    for _ in 0..1000 {
        bench.client.handle_disconnected(bench.now, "gone");
        bench.run(100 * MS);
    }
    assert!(bench.attempts.len() < 60, "{}", bench.attempts.len());
}

#[test]
fn what_is_under_way_ends_with_the_connection() {
    let mut platform = Platform::new();
    platform.is_dead = true;
    let mut bench = Bench::new(platform);
    let calls = [Command::GetProgram, Command::GetCamera, Command::Start, Command::Exit];
    let calls = calls.map(|command| bench.call(command));
    bench.client.handle_disconnected(bench.now, "it closed the connection");
    bench.settle();
    let lost = Outcome::Refused(Refusal::Lost(Loss::Closed("it closed the connection".to_owned())));
    let outcomes = calls.map(|call| bench.outcome(call).cloned());
    assert_eq!(outcomes, [Some(lost.clone()), Some(lost.clone()), Some(lost), Some(Outcome::Done)]);
    assert!(bench.client.unsent().is_empty());
}

#[test]
fn garbage_ends_the_connection_and_a_wrong_message_does_not() {
    let mut bench = Bench::new(Platform::new());
    // A position that is one byte short, and an unknown number.
    bench.client.handle_bytes(bench.now, &[0, 0, 0, 2, 74, 0]);
    bench.client.handle_bytes(bench.now, &[0, 0, 0, 2, 63, 0]);
    bench.settle();
    let wrong = bench.events.iter().filter(|event| matches!(event, ClientEvent::Undecodable(_)));
    assert_eq!((wrong.count(), bench.losses().len()), (2, 0));
    assert!(matches!(bench.ends(Command::GetProgram), Outcome::Answered(_)));
    bench.platform.is_dead = true;
    let call = bench.call(Command::GetProgram);
    bench.client.handle_bytes(bench.now, &[0xff, 1, 0xfe, 2, 0, 0, 0, 2, 41, 0]);
    bench.settle();
    assert!(matches!(bench.outcome(call), Some(Outcome::Refused(Refusal::Undecodable(_)))));
    bench.client.handle_bytes(bench.now, &[0xff; 8]);
    bench.settle();
    assert!(matches!(bench.losses()[..], [Loss::Garbage(_)]));
    bench.platform.is_dead = false;
    bench.run(100 * MS);
    assert!(bench.client.is_connected());
}
