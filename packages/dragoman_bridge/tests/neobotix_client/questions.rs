//! Questions and their answers; checks before sending.

use dragoman_bridge::neobotix::wire::{
    CanId, FileName, Frame, GetCanMessages, GetParameter, MovePath, NamedDocument, SendCanMessage,
    SetParameter, SpeakText, Text,
};

use super::*;

#[test]
fn answers_belong_to_their_questions() {
    let mut bench = Bench::new(Platform::new());
    let answered = |outcome: Outcome| match outcome {
        Outcome::Answered(reply) => reply.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(answered(bench.ends(Command::GetProgram)), CommandKind::GetProgram);
    assert_eq!(answered(bench.ends(Command::GetStatus)), CommandKind::GetStatus);
    let messages = Command::GetCanMessages(GetCanMessages { is_deleting: true });
    assert_eq!(answered(bench.ends(messages)), CommandKind::GetCanMessages);
}

#[test]
fn a_question_that_is_passed_over_ends_with_the_next_status() {
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetCamera, CommandKind::GetPltfParam];
    let mut bench = Bench::new(platform);
    let first = bench.call(Command::GetCamera);
    let second = bench.call(Command::GetProgram);
    assert_eq!((bench.outcome(first), bench.outcome(second)), (None, None));
    bench.run(100 * MS);
    assert_eq!(bench.outcome(first), Some(&Outcome::Refused(Refusal::Unanswered)));
    assert!(matches!(bench.outcome(second), Some(Outcome::Answered(_))));
    let get = Command::GetPltfParam(GetParameter { key: "Siren".into() });
    let third = bench.call(get);
    bench.run(100 * MS);
    assert_eq!(bench.outcome(third), Some(&Outcome::Refused(Refusal::Unanswered)));
    assert_eq!(bench.losses(), []);
}

/// With a long status period.
#[test]
fn a_question_without_an_answer_asks_for_the_status() {
    let config =
        ClientConfig { status_period: 60_000 * MS, position_period: None, ..ClientConfig::default() };
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetCamera];
    let mut bench = Bench::with(platform, config);
    let call = bench.call(Command::GetCamera);
    bench.run(1999 * MS);
    assert_eq!(bench.outcome(call), None);
    bench.run(MS);
    assert_eq!(bench.outcome(call), Some(&Outcome::Refused(Refusal::Unanswered)));
    assert_eq!(bench.losses(), []);
}

#[test]
fn platforms_that_know_no_position_are_asked_no_more() {
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetPosition];
    let mut bench = Bench::new(platform);
    bench.run(10_000 * MS);
    let asked = bench.platform.received.iter().filter(|command| command.kind() == CommandKind::GetPosition);
    assert_eq!(asked.count(), 3);
    assert_eq!(bench.losses(), []);
}

#[test]
fn parameters_are_read_back() {
    let mut bench = Bench::new(Platform::new());
    let mut set = |value: &str| {
        bench.ends(Command::SetPltfParam(SetParameter { key: "IpoRotvel".into(), value: value.into() }))
    };
    assert_eq!(set("1.5"), Outcome::Done);
    let refusal = Refusal::NoEffect("IpoRotvel is 1.50".to_owned());
    assert_eq!(set("2"), Outcome::Refused(refusal));
    bench.platform.ignores = vec![CommandKind::GetPltfParam];
    let set = SetParameter { key: "x".into(), value: "1".into() };
    let call = bench.call(Command::SetPltfParam(set));
    bench.run(100 * MS);
    assert_eq!(bench.outcome(call), Some(&Outcome::Refused(Refusal::Unanswered)));
}

#[test]
fn what_makes_no_sense_is_not_sent() {
    let mut bench = Bench::new(Platform::new());
    bench.platform.received.clear();
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
        match bench.ends(command) {
            Outcome::Refused(refusal) => {
                assert!(refusal.to_string().contains(reason), "{refusal}, not {reason}");
            }
            other => panic!("{other:?}, not {reason}"),
        }
    }
    assert_eq!(bench.platform.received, []);
    assert_eq!(bench.client.statistics().refused, 10);
}

#[test]
fn calls_are_limited() {
    let mut platform = Platform::new();
    platform.ignores = vec![CommandKind::GetCamera];
    let mut bench = Bench::new(platform);
    let calls: Vec<CallId> = (0..65).map(|_| bench.call(Command::GetCamera)).collect();
    assert_eq!(bench.outcome(calls[64]), Some(&Outcome::Refused(Refusal::Busy)));
    assert!(calls[..64].iter().all(|call| bench.outcome(*call).is_none()));
    // A stop does not wait for them, but the number of calls is limited.
    assert_eq!(bench.ends(Command::StopUltrasonic), Outcome::Refused(Refusal::Busy));
    bench.run(10_000 * MS);
    let unanswered = Outcome::Refused(Refusal::Unanswered);
    assert!(calls[..64].iter().all(|call| bench.outcome(*call) == Some(&unanswered)));
    assert_eq!(bench.ends(Command::StopUltrasonic), Outcome::Done);
}

#[test]
fn bytes_that_wait_are_limited() {
    let mut bench = Bench::new(Platform::new());
    // The platform does not read them.
    let mut refused = 0;
    for id in 100..140 {
        let frames = vec![Frame::default(); 1 << 20];
        bench.client.handle_call(bench.now, CallId(id), Command::MovePath(MovePath { frames }));
        while let Some(event) = bench.client.poll_event() {
            refused += u32::from(matches!(
                event,
                ClientEvent::Result { outcome: Outcome::Refused(Refusal::Busy), .. }
            ));
        }
    }
    assert!(bench.client.unsent().len() <= 32 << 20);
    assert_eq!(refused, 38);
    // A platform that reads slowly is not disconnected; one that does not read is.
    for _ in 0..10 {
        bench.now += 1900 * MS;
        bench.client.handle_sent(bench.now, 1 << 20);
        bench.client.handle_timeout(bench.now);
        assert!(bench.client.is_connected());
    }
    bench.now += 2000 * MS;
    bench.client.handle_timeout(bench.now);
    bench.settle();
    assert_eq!(bench.losses(), [Loss::Stalled]);
}
