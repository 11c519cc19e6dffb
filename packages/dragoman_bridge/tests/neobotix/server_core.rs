//! The server's side of a connection: the calls it makes, and the bytes it sends.

use std::time::Duration;

use dragoman_bridge::neobotix::wire::{
    Camera, CanMessages, Command, CommandKind, DebugData, Decoder, DocumentReply, Frame, Framing, Message,
    MovePath, MoveToStation, NamedDocument, ParameterReplies, ParameterReply, Position, ProgramDocument,
    QueueEntry, Received, Reply, SpeakText, Status, Text,
};
use dragoman_bridge::neobotix::{Outcome, Refusal, ServerConfig, Session, SessionEvent};
use dragoman_bridge::session::ServerSession;
use proptest::prelude::*;

use super::commands::cases;

const NOW: Duration = Duration::from_secs(1);

fn session() -> Session {
    Session::new(ServerConfig::default(), NOW)
}

fn refused() -> Outcome {
    Outcome::Refused(Refusal::Rejected("no".to_owned()))
}

/// A message with the header of real clients, or without.
fn message(framing: Framing, data: &[u8]) -> Vec<u8> {
    let header: &[u8] = if framing == Framing::Header { b"\xff\x01\xfe\x02" } else { b"" };
    [header, &u32::try_from(data.len()).unwrap().to_be_bytes(), data].concat()
}

fn replies(mut bytes: &[u8], framing: Framing) -> Vec<Reply> {
    let mut decoder = Decoder::<Reply>::default();
    let mut seen = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_at(bytes.len().min(100));
        decoder.push(head);
        bytes = rest;
        while let Some(Received { framing: form, message }) = decoder.next().unwrap() {
            assert_eq!(form, framing, "in the form of the request");
            seen.push(message.unwrap());
        }
    }
    assert_eq!(decoder.buffered(), 0);
    seen
}

/// The services' answers that are sent to the client.
fn answers() -> Vec<Reply> {
    let document = || NamedDocument { name: "lab".into(), document: "<map/>".into() };
    vec![
        Reply::GetCanMessages(CanMessages::default()),
        Reply::GetStatus(Box::new(Status { time_stamp: 5, ..Status::default() })),
        Reply::GetMap(DocumentReply::new(document())),
        Reply::GetRoadmap(DocumentReply::new(document())),
        Reply::GetPltfParam(ParameterReply { key: "IpoRotvel".into(), ..Default::default() }),
        Reply::GetPltfParamVec(ParameterReplies { parameters: vec![ParameterReply::default(); 2] }),
        Reply::GetProgram(ProgramDocument { document: "<program/>".into() }),
        Reply::GetDebugData(Box::default()),
        Reply::GetCamera(Camera { address: "10.0.0.1".into(), id: "front".into() }),
        Reply::GetPosition(Position { x_mm: 1000, ..Position::default() }),
    ]
}

/// All 61 commands, in both framings: each is one call; exactly the commands that have a reply are answered.
#[test]
fn every_command_is_one_call() {
    for (command, data) in cases() {
        let kind = command.kind();
        for framing in [Framing::Header, Framing::Bare] {
            let reply = answers().into_iter().find(|reply| reply.kind() == kind);
            assert_eq!(reply.is_some(), kind.is_answered());
            for outcome in [reply.clone().map_or(Outcome::Done, Outcome::Answered), refused()] {
                let mut session = session();
                session.handle_bytes(NOW, &message(framing, &data));
                if kind == CommandKind::CloseSocket {
                    assert_eq!((session.poll_call(NOW), session.is_closing()), (None, true));
                    continue;
                }
                assert_eq!(session.poll_call(NOW).as_ref(), Some(&command));
                assert_eq!((session.poll_call(NOW), session.unsent()), (None, &b""[..]), "{kind}");
                session.handle_outcome(NOW, outcome.clone());
                assert_eq!((session.poll_call(NOW), session.is_closing()), (None, false), "{kind}");
                let sent = replies(session.unsent(), framing);
                match &reply {
                    Some(reply) if outcome != refused() => assert_eq!(&sent, std::slice::from_ref(reply)),
                    Some(_) => assert_eq!((sent.len(), sent[0].kind()), (1, kind), "{kind}"),
                    None => assert_eq!(sent, [], "{kind}"),
                }
            }
        }
    }
}

#[test]
fn refused_questions_get_default_answers() {
    let mut session = session();
    session.handle_bytes(NOW, &message(Framing::Bare, b"\x12"));
    session.poll_call(NOW).unwrap();
    session.handle_outcome(NOW, Outcome::Refused(Refusal::NotConnected));
    // ST_OP_NOT_INITIALIZED; the last row is the check.
    let bytes = session.unsent();
    assert_eq!((bytes.len(), &bytes[bytes.len() - 4..]), (400, &[0xff; 4][..]));
    let [Reply::GetStatus(status)] = &replies(bytes, Framing::Bare)[..] else { panic!("a status") };
    assert_eq!(status.operation_state.code(), 3);
    // Sensors that do not measure are no contact.
    assert_eq!(status.ultrasonic_mm, [10_000; 16]);
    let event = session.poll_event().unwrap();
    assert_eq!(event.to_string(), "CMD_GET_STATUS: the platform is not connected");
    let all = session.unsent().len();
    session.handle_sent(all);
    // The key is returned, the value is empty.
    session.handle_bytes(NOW, &message(Framing::Header, b"\x26\0\0\0\x01x"));
    session.poll_call(NOW).unwrap();
    session.handle_outcome(NOW, refused());
    let expected = [&b"\x26\0\0\0\x01x\0\0\0\0"[..], &[0; 16]].concat();
    assert_eq!(session.unsent(), message(Framing::Header, &expected));
}

/// PlatformCtrl guide, 6.5: `log` of a program sends a message to the user interface, here in the protocol queue.
#[test]
fn messages_of_programs_reach_each_client_once() {
    let log = |numbers: std::ops::Range<u32>| {
        let entry = |number: u32| QueueEntry { text: format!("message {number}").as_str().into(), number };
        DebugData { protocol_queue: numbers.map(entry).collect(), ..DebugData::default() }
    };
    let ask = |session: &mut Session, data: DebugData| {
        session.handle_bytes(NOW, &message(Framing::Bare, b"\x32"));
        session.poll_call(NOW).unwrap();
        session.handle_outcome(NOW, Outcome::Answered(Reply::GetDebugData(Box::new(data))));
        let [Reply::GetDebugData(data)] = &replies(session.unsent(), Framing::Bare)[..] else {
            panic!("debug data")
        };
        let texts: Vec<String> = data.protocol_queue.iter().map(|entry| entry.text.to_string()).collect();
        let sent = session.unsent().len();
        session.handle_sent(sent);
        texts
    };
    let [mut first, mut second] = [session(), session()];
    assert_eq!(ask(&mut first, log(1..3)), ["message 1", "message 2"]);
    assert_eq!(ask(&mut first, log(1..3)), [""; 0]);
    assert_eq!(ask(&mut first, log(1..4)), ["message 3"]);
    assert_eq!(ask(&mut second, log(2..4)), ["message 2", "message 3"]);
    // A restarted platform counts again from the beginning.
    assert_eq!(ask(&mut first, log(1..2)), ["message 1"]);
    assert_eq!(ask(&mut first, log(1..3)), ["message 2"]);
}

/// A reply too large for a message, and one to another command.
#[test]
fn answers_that_do_not_fit_are_refusals() {
    let long = ProgramDocument { document: Text(vec![b' '; 17 << 20]) };
    for (outcome, refusals) in [
        (Outcome::Answered(Reply::GetProgram(long)), 1),
        (Outcome::Answered(Reply::GetCamera(Camera::default())), 0),
        (Outcome::Done, 0),
    ] {
        let mut session = session();
        session.handle_bytes(NOW, &message(Framing::Bare, b"\x29"));
        session.poll_call(NOW).unwrap();
        session.handle_outcome(NOW, outcome);
        assert_eq!(session.unsent(), message(Framing::Bare, b"\x29\0\0\0\0"));
        assert_eq!(session.poll_statistics().refused, refusals);
    }
}

#[test]
fn names_that_are_too_long_reach_no_service() {
    let text = |len| Text(vec![b'x'; len]);
    for (command, is_called) in [
        (Command::MoveToStation(MoveToStation { station: text(1024) }), true),
        (Command::MoveToStation(MoveToStation { station: text(1025) }), false),
        (Command::SpeakText(SpeakText { text: text(65_536) }), true),
        (Command::SpeakText(SpeakText { text: text(65_537) }), false),
        (Command::SetMap(NamedDocument { name: "a".into(), document: text(1 << 20) }), true),
        (Command::SetMap(NamedDocument { name: text(1 << 20), document: text(1) }), false),
        (Command::MovePath(MovePath { frames: vec![Frame::default(); 10_001] }), false),
    ] {
        let mut session = session();
        session.handle_bytes(NOW, &command.encode(Framing::Header).unwrap());
        assert_eq!(session.poll_call(NOW).is_some(), is_called);
        assert_eq!(session.poll_statistics().refused, u64::from(!is_called));
        assert!(session.poll_event().is_none_or(|event| event.to_string().len() < 100));
    }
}

#[test]
fn what_is_no_command_is_skipped_and_no_length_ends_the_session() {
    let mut session = session();
    let bytes = [
        message(Framing::Bare, b"\x3c\x01\x02"),
        message(Framing::Header, b"\x17\0\0\x01\x2c\0\0\x01"),
        message(Framing::Bare, b"\x0e"),
        message(Framing::Header, b""),
        message(Framing::Bare, b"\x0b"),
    ];
    session.handle_bytes(NOW, &bytes.concat());
    assert_eq!(session.poll_call(NOW), Some(Command::Stop));
    session.handle_outcome(NOW, Outcome::Done);
    assert_eq!((session.poll_call(NOW), session.is_closing(), session.wants_input()), (None, true, false));
    let statistics = session.poll_statistics();
    assert_eq!((statistics.commands, statistics.unknown, statistics.malformed), (1, 1, 2));
    let events: Vec<_> = std::iter::from_fn(|| session.poll_event()).map(|event| event.to_string()).collect();
    let expected = [
        "skipped: command 60: command at byte 0: unknown",
        "skipped: CMD_MOVE_VEL_WHEEL (23): left_mm_per_s at byte 5: 4 bytes are needed, 3 are left",
        "connection closed: a message of 0 bytes; it may have 1 to 16777216",
    ];
    assert_eq!(events, expected);
    session.handle_bytes(NOW, &message(Framing::Bare, b"\x0b"));
    assert_eq!((session.poll_call(NOW), session.unsent()), (None, &b""[..]));
}

#[test]
fn debug_data_describe_the_connection() {
    let mut session = session();
    session.handle_bytes(NOW, &message(Framing::Bare, b"\x3c"));
    session.handle_bytes(NOW, &message(Framing::Bare, b"\x32"));
    session.poll_call(NOW).unwrap();
    let answer = || Outcome::Answered(Reply::GetDebugData(Box::default()));
    session.handle_outcome(NOW + Duration::from_secs(2), answer());
    let [Reply::GetDebugData(data)] = &replies(session.unsent(), Framing::Bare)[..] else { panic!("data") };
    assert_eq!(data.protocol_queue[0].text.to_str(), "skipped: command 60: command at byte 0: unknown");
    assert_eq!((data.tcp.received_bytes_per_s, data.tcp.received_telegrams_per_s), (5, 1));
    let all = session.unsent().len();
    session.handle_sent(all);
    // Every line is sent once.
    session.handle_bytes(NOW, &message(Framing::Bare, b"\x32"));
    session.poll_call(NOW).unwrap();
    session.handle_outcome(NOW, answer());
    let [Reply::GetDebugData(data)] = &replies(session.unsent(), Framing::Bare)[..] else { panic!("data") };
    assert_eq!(**data, DebugData { tcp: data.tcp, ..DebugData::default() });
}

/// A client that asks and never reads is no longer read, and no buffer grows.
#[test]
fn a_client_that_never_reads_is_slowed() {
    let mut session = session();
    let status =
        || Reply::GetStatus(Box::new(Status { scan: vec![Default::default(); 541], ..Status::default() }));
    let question = message(Framing::Header, b"\x12");
    let (mut taken, mut asked) = (0, 0);
    for _ in 0..100_000 {
        if session.wants_input() {
            session.handle_bytes(NOW, &question);
            taken += 1;
        }
        if session.poll_call(NOW).is_some() {
            asked += 1;
            session.handle_outcome(NOW, Outcome::Answered(status()));
        }
    }
    assert!(session.unsent().len() < 65_536 + 3_000, "{}", session.unsent().len());
    assert!(asked < 30 && taken < 65_536 / question.len() + 40, "{asked} {taken}");
    // When it reads, it gets all answers.
    while asked < taken {
        let all = session.unsent().len();
        session.handle_sent(all);
        session.poll_call(NOW).expect("a question");
        asked += 1;
        session.handle_outcome(NOW, Outcome::Answered(status()));
    }
    assert_eq!(session.poll_call(NOW), None);
}

/// A message that arrives slowly: its beginning is buffered, and there is room for the rest.
#[test]
fn long_messages_are_read_to_their_end() {
    let mut session = session();
    let document = Text(vec![b'x'; 1 << 20]);
    let command = Command::SetMap(NamedDocument { name: "long".into(), document });
    let bytes = command.encode(Framing::Header).unwrap();
    for (index, part) in bytes.chunks(4096).enumerate() {
        assert!(session.wants_input(), "after {} bytes", 4096 * index);
        session.handle_bytes(NOW, part);
        if (index + 1) * 4096 < bytes.len() {
            assert_eq!(session.poll_call(NOW), None);
        }
    }
    assert_eq!(session.poll_call(NOW), Some(command));
}

#[test]
fn events_are_few_and_short() {
    let mut session = session();
    for _ in 0..1000 {
        session.handle_bytes(NOW, &message(Framing::Bare, b"\x0b"));
        session.poll_call(NOW).unwrap();
        session.handle_outcome(NOW, Outcome::Refused(Refusal::Rejected("é".repeat(10_000))));
    }
    let events: Vec<SessionEvent> = std::iter::from_fn(|| session.poll_event()).collect();
    assert_eq!((events.len(), session.poll_statistics().refused), (16, 1000));
    assert!(events.iter().all(|event| event.to_string().chars().count() == 300));
}

/// A client's stream of arbitrary parts.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let known = (0..cases().len(), any::<bool>()).prop_map(|(index, is_bare)| {
        message(if is_bare { Framing::Bare } else { Framing::Header }, &cases()[index].1)
    });
    let strange = (any::<bool>(), proptest::collection::vec(any::<u8>(), 1..40))
        .prop_map(|(is_bare, data)| message(if is_bare { Framing::Bare } else { Framing::Header }, &data));
    let garbage = proptest::collection::vec(any::<u8>(), 0..12);
    let part = prop_oneof![6 => known, 3 => strange, 1 => garbage];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    /// For any pieces of a stream: the calls are exactly the received commands, in their order; the answers are whole
    /// messages, one per question.
    #[test]
    fn calls_are_what_was_sent(bytes in stream(), piece in 1_usize..60, answers_late in any::<bool>()) {
        let mut decoder = Decoder::<Command>::default();
        decoder.push(&bytes);
        let mut expected = Vec::new();
        while let Ok(Some(Received { message, .. })) = decoder.next() {
            match message {
                Ok(Command::CloseSocket) => break,
                Ok(command) => expected.push(command),
                Err(_) => {}
            }
        }
        let mut session = session();
        let (mut called, mut sent) = (Vec::new(), Vec::new());
        for part in bytes.chunks(piece) {
            if session.wants_input() {
                session.handle_bytes(NOW, part);
            }
            while let Some(command) = session.poll_call(NOW) {
                called.push(command);
                if answers_late {
                    prop_assert_eq!(session.poll_call(NOW), None);
                }
                session.handle_outcome(NOW, refused());
            }
            sent.extend(session.unsent());
            let all = session.unsent().len();
            session.handle_sent(all);
        }
        prop_assert_eq!(&called, &expected);
        let questions: Vec<_> =
            expected.iter().map(Command::kind).filter(|kind| kind.is_answered()).collect();
        let mut decoder = Decoder::<Reply>::default();
        decoder.push(&sent);
        for kind in questions {
            let reply = decoder.next().unwrap().expect("an answer").message.unwrap();
            prop_assert_eq!(reply.kind(), kind);
        }
        prop_assert_eq!(decoder.buffered(), 0);
    }
}
