//! Questions and their answers; checks before sending.

use dragoman_bridge::neobotix::wire::{
    CanId, FileName, Frame, GetCanMessages, GetParameter, MovePath, NamedDocument, SendCanMessage,
    SetParameter, SpeakText, Text,
};

use super::*;

#[test]
fn answers_belong_to_their_questions() {
    let mut fixture = ClientFixture::new(Platform::new());
    let answered = |outcome: Outcome| match outcome {
        Outcome::Answered(reply) => reply.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(answered(fixture.ends(Command::GetProgram)), CommandKind::GetProgram);
    assert_eq!(answered(fixture.ends(Command::GetStatus)), CommandKind::GetStatus);
    let messages = Command::GetCanMessages(GetCanMessages { is_deleting: true });
    assert_eq!(answered(fixture.ends(messages)), CommandKind::GetCanMessages);
}

#[test]
fn a_question_that_is_passed_over_ends_with_the_next_status() {
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetCamera, CommandKind::GetPltfParam];
    let mut fixture = ClientFixture::new(platform);
    let first = fixture.call(Command::GetCamera);
    let second = fixture.call(Command::GetProgram);
    assert_eq!((fixture.outcome(first), fixture.outcome(second)), (None, None));
    fixture.run(100 * MS);
    assert_eq!(fixture.outcome(first), Some(&Outcome::Refused(Refusal::Unanswered)));
    assert!(matches!(fixture.outcome(second), Some(Outcome::Answered(_))));
    let get = Command::GetPltfParam(GetParameter { key: "Siren".into() });
    let third = fixture.call(get);
    fixture.run(100 * MS);
    assert_eq!(fixture.outcome(third), Some(&Outcome::Refused(Refusal::Unanswered)));
    assert_eq!(fixture.losses(), []);
}

/// With a long status period.
#[test]
fn a_question_without_an_answer_asks_for_the_status() {
    let config =
        ClientConfig { status_period: 60_000 * MS, position_period: None, ..ClientConfig::default() };
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetCamera];
    let mut fixture = ClientFixture::with(platform, config);
    let call = fixture.call(Command::GetCamera);
    fixture.run(1999 * MS);
    assert_eq!(fixture.outcome(call), None);
    fixture.run(MS);
    assert_eq!(fixture.outcome(call), Some(&Outcome::Refused(Refusal::Unanswered)));
    assert_eq!(fixture.losses(), []);
}

#[test]
fn platforms_without_a_position_are_not_queried_again() {
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetPosition];
    let mut fixture = ClientFixture::new(platform);
    fixture.run(10_000 * MS);
    let asked = fixture.platform.received.iter().filter(|command| command.kind() == CommandKind::GetPosition);
    assert_eq!(asked.count(), 3);
    assert_eq!(fixture.losses(), []);
}

#[test]
fn parameters_are_read_back() {
    let mut fixture = ClientFixture::new(Platform::new());
    let mut set = |value: &str| {
        fixture.ends(Command::SetPltfParam(SetParameter { key: "IpoRotvel".into(), value: value.into() }))
    };
    assert_eq!(set("1.5"), Outcome::Done);
    let refusal = Refusal::NoEffect("IpoRotvel is 1.50".to_owned());
    assert_eq!(set("2"), Outcome::Refused(refusal));
    fixture.platform.ignores = vec![CommandKind::GetPltfParam];
    let set = SetParameter { key: "x".into(), value: "1".into() };
    let call = fixture.call(Command::SetPltfParam(set));
    fixture.run(100 * MS);
    assert_eq!(fixture.outcome(call), Some(&Outcome::Refused(Refusal::Unanswered)));
}

#[test]
fn invalid_values_are_not_sent() {
    let mut fixture = ClientFixture::new(Platform::new());
    fixture.platform.received.clear();
    let document = |text: &str| NamedDocument { name: "a".into(), document: text.into() };
    let file = |name: &str| FileName { file_name: name.into() };
    for (command, reason) in [
        (Command::SetMap(document("<map>\n<layer index=\"0\"><line></line></layer></map>")), "line 2"),
        (Command::SetRoadmap(document("<map/>")), "line 1"),
        (Command::PlaySound(file("../a.wav")), "not a plain file name"),
        (Command::GrabImage(file("")), "empty"),
        (Command::SpeakText(SpeakText { text: Text(vec![b'a'; 65_537]) }), "65536"),
        (Command::AddCanListeningId(CanId { id: -1 }), "29 bits"),
        (Command::SendCanMessage(SendCanMessage { id: 1 << 29, data: [0; 8] }), "29 bits"),
        (Command::MovePath(MovePath::default()), "no poses"),
        (Command::MovePath(MovePath { frames: vec![Frame::default(); 2 << 20] }), "exceeds the maximum"),
        (Command::CloseSocket, "not permitted"),
    ] {
        match fixture.ends(command) {
            Outcome::Refused(refusal) => {
                assert!(refusal.to_string().contains(reason), "{refusal}, not {reason}");
            }
            other => panic!("{other:?}, not {reason}"),
        }
    }
    assert_eq!(fixture.platform.received, []);
    assert_eq!(fixture.client.statistics().refused, 10);
}

#[test]
fn calls_are_limited() {
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetCamera];
    let mut fixture = ClientFixture::new(platform);
    let calls: Vec<CallId> = (0..65).map(|_| fixture.call(Command::GetCamera)).collect();
    assert_eq!(fixture.outcome(calls[64]), Some(&Outcome::Refused(Refusal::Busy)));
    assert!(calls[..64].iter().all(|call| fixture.outcome(*call).is_none()));
    // A stop does not wait for them, but the number of calls is limited.
    assert_eq!(fixture.ends(Command::StopUltrasonic), Outcome::Refused(Refusal::Busy));
    fixture.run(10_000 * MS);
    let unanswered = Outcome::Refused(Refusal::Unanswered);
    assert!(calls[..64].iter().all(|call| fixture.outcome(*call) == Some(&unanswered)));
    assert_eq!(fixture.ends(Command::StopUltrasonic), Outcome::Done);
}

#[test]
fn bytes_that_wait_are_limited() {
    let mut fixture = ClientFixture::new(Platform::new());
    // The platform does not read them.
    let mut refused = 0;
    for id in 100..140 {
        let frames = vec![Frame::default(); 1 << 20];
        fixture.client.handle_call(fixture.now, CallId(id), Command::MovePath(MovePath { frames }));
        while let Some(event) = fixture.client.poll_event() {
            refused += u32::from(matches!(
                event,
                ClientEvent::Result { outcome: Outcome::Refused(Refusal::Busy), .. }
            ));
        }
    }
    assert!(fixture.client.unsent().len() <= 32 << 20);
    assert_eq!(refused, 38);
    // A platform that reads slowly is not disconnected; one that does not read is.
    for _ in 0..10 {
        fixture.now += 1900 * MS;
        fixture.client.handle_sent(fixture.now, 1 << 20);
        fixture.client.handle_timeout(fixture.now);
        assert!(fixture.client.is_connected());
    }
    fixture.now += 2000 * MS;
    fixture.client.handle_timeout(fixture.now);
    fixture.settle();
    assert_eq!(fixture.losses(), [Loss::Stalled]);
}
