//! Lost connections and reconnecting.

use super::*;

#[test]
fn a_silent_platform_is_left_and_asked_again() {
    let mut platform = Platform::new();
    platform.is_dead = true;
    let mut fixture = ClientFixture::new(platform);
    let call = fixture.call(Command::GetProgram);
    fixture.run(2000 * MS);
    assert_eq!(fixture.outcome(call), Some(&Outcome::Refused(Refusal::Lost(Loss::Silent))));
    assert_eq!(fixture.losses(), [Loss::Silent]);
    let call = fixture.call(Command::Stop);
    assert_eq!(fixture.outcome(call), Some(&Outcome::Refused(Refusal::NotConnected)));
    fixture.run(60_000 * MS);
    // After pauses of 0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, ... s and 2 s of silence each.
    assert!((17..20).contains(&fixture.attempts.len()), "{}", fixture.attempts.len());
    fixture.platform.is_dead = false;
    fixture.run(5000 * MS);
    assert!(fixture.client.is_connected());
    assert_eq!(fixture.ends(Command::ConnectToPltf), Outcome::Done);
    // It has answered: the next pause is the shortest again.
    fixture.client.handle_disconnected(fixture.now, "gone");
    fixture.run(100 * MS);
    assert!(fixture.client.is_connected());
}

#[test]
fn connecting_to_an_absent_platform_is_retried_forever() {
    let mut fixture = ClientFixture::new(Platform::new());
    fixture.client.handle_disconnected(fixture.now, "gone");
    fixture.is_there = false;
    fixture.run(600_000 * MS);
    assert!((295..310).contains(&fixture.attempts.len()), "{}", fixture.attempts.len());
    fixture.is_there = true;
    fixture.run(2000 * MS);
    assert!(fixture.client.is_connected());
}

/// As a platform that already has a client.
#[test]
fn connections_to_a_platform_that_closes_them_at_once_are_spaced() {
    let mut platform = Platform::new();
    platform.is_dead = true;
    let mut fixture = ClientFixture::new(platform);
    for _ in 0..1000 {
        fixture.client.handle_disconnected(fixture.now, "gone");
        fixture.run(100 * MS);
    }
    assert!(fixture.attempts.len() < 60, "{}", fixture.attempts.len());
}

#[test]
fn what_is_under_way_ends_with_the_connection() {
    let mut platform = Platform::new();
    platform.is_dead = true;
    let mut fixture = ClientFixture::new(platform);
    let calls = [Command::GetProgram, Command::GetCamera, Command::Start, Command::Exit];
    let calls = calls.map(|command| fixture.call(command));
    fixture.client.handle_disconnected(fixture.now, "it closed the connection");
    fixture.settle();
    let lost = Outcome::Refused(Refusal::Lost(Loss::Closed("it closed the connection".to_owned())));
    let outcomes = calls.map(|call| fixture.outcome(call).cloned());
    assert_eq!(outcomes, [Some(lost.clone()), Some(lost.clone()), Some(lost), Some(Outcome::Done)]);
    assert!(fixture.client.unsent().is_empty());
}

#[test]
fn garbage_ends_the_connection_and_an_invalid_message_does_not() {
    let mut fixture = ClientFixture::new(Platform::new());
    // A position that is one byte short, and an unknown number.
    fixture.client.handle_bytes(fixture.now, &[0, 0, 0, 2, 74, 0]);
    fixture.client.handle_bytes(fixture.now, &[0, 0, 0, 2, 63, 0]);
    fixture.settle();
    let wrong = fixture.events.iter().filter(|event| matches!(event, ClientEvent::Undecodable(_)));
    assert_eq!((wrong.count(), fixture.losses().len()), (2, 0));
    assert!(matches!(fixture.ends(Command::GetProgram), Outcome::Answered(_)));
    fixture.platform.is_dead = true;
    let call = fixture.call(Command::GetProgram);
    fixture.client.handle_bytes(fixture.now, &[0xff, 1, 0xfe, 2, 0, 0, 0, 2, 41, 0]);
    fixture.settle();
    assert!(matches!(fixture.outcome(call), Some(Outcome::Refused(Refusal::Undecodable(_)))));
    fixture.client.handle_bytes(fixture.now, &[0xff; 8]);
    fixture.settle();
    assert!(matches!(fixture.losses()[..], [Loss::Garbage(_)]));
    fixture.platform.is_dead = false;
    fixture.run(100 * MS);
    assert!(fixture.client.is_connected());
}
