//! For any bytes of a platform, in any pieces: no panic, no growth, and every call ends once.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Bytes that a platform may send: whole answers, parts of them, anything.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let answer = (0..4u8, any::<bool>()).prop_map(|(which, is_bare)| {
        let reply = match which {
            0 => Reply::GetStatus(Box::default()),
            1 => Reply::GetPosition(Position { angle_rad: f64::NAN, ..Position::default() }),
            2 => Reply::GetMap(DocumentReply::default()),
            _ => Reply::GetProgram(ProgramDocument::default()),
        };
        reply.encode(if is_bare { Framing::Bare } else { Framing::Header }).unwrap()
    });
    let piece = (answer.clone(), any::<prop::sample::Index>()).prop_map(|(mut bytes, end)| {
        bytes.truncate(end.index(bytes.len()));
        bytes
    });
    prop_oneof![4 => answer, 1 => piece, 1 => vec(any::<u8>(), 0..40)]
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        Just(Command::GetProgram),
        Just(Command::GetMap),
        Just(Command::GetStatus),
        Just(Command::Start),
        Just(Command::Exit),
        Just(Command::StopUltrasonic),
        Just(Command::SetMode(SetMode { mode: MotionMode::Velocity })),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Call(Command),
    Velocity(i32),
    Wait(u64),
    Sent(usize),
    Disconnected,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => bytes().prop_map(Step::Bytes),
        2 => command().prop_map(Step::Call),
        1 => any::<i32>().prop_map(Step::Velocity),
        3 => (0..3000u64).prop_map(Step::Wait),
        2 => (0..100usize).prop_map(Step::Sent),
        1 => Just(Step::Disconnected),
    ]
}

proptest! {
    #[test]
    fn calls_end_and_nothing_grows(steps in vec(step(), 0..80)) {
        let mut now = Duration::ZERO;
        let config = ClientConfig { max_calls: 6, max_unsent: 4000, ..ClientConfig::default() };
        let mut client = Client::new(now, config);
        let (mut calls, mut results) = (0, 0);
        for step in steps {
            match step {
                Step::Bytes(bytes) => {
                    for part in bytes.chunks(7) {
                        client.handle_bytes(now, part);
                    }
                }
                Step::Call(command) => {
                    client.handle_call(now, CallId(calls), command);
                    calls += 1;
                }
                Step::Velocity(speed) => {
                    let velocity = MoveVelocity {
                        translation_mm_per_s: speed,
                        rotation_mrad_per_s: speed,
                        ..Default::default()
                    };
                    client.handle_velocity(now, velocity);
                }
                Step::Wait(ms) => {
                    now += Duration::from_millis(ms);
                    client.handle_timeout(now);
                }
                Step::Sent(len) => client.handle_sent(now, len),
                Step::Disconnected => client.handle_disconnected(now, "gone"),
            }
            if client.poll_connect(now) {
                client.handle_connected(now);
            }
            prop_assert!(client.unsent().len() < 5000, "{}", client.unsent().len());
            while let Some(event) = client.poll_event() {
                results += u64::from(matches!(event, ClientEvent::Result { .. }));
            }
        }
        for _ in 0..5 {
            let sent = client.unsent().len();
            client.handle_sent(now, sent);
            now += Duration::from_secs(25);
            client.handle_timeout(now);
        }
        while let Some(event) = client.poll_event() {
            results += u64::from(matches!(event, ClientEvent::Result { .. }));
        }
        prop_assert_eq!(calls, results, "every call ends once");
    }

    /// The result does not depend on the pieces of the stream.
    #[test]
    fn cuts_do_not_matter(parts in vec(bytes(), 0..8), piece in 1..40usize) {
        let now = Duration::ZERO;
        let stream = parts.concat();
        let events = |piece: usize| {
            let mut client = Client::new(now, ClientConfig::default());
            prop_assert!(client.poll_connect(now));
            client.handle_connected(now);
            for part in stream.chunks(piece) {
                client.handle_bytes(now, part);
            }
            Ok(std::iter::from_fn(|| client.poll_event()).map(|event| format!("{event:?}")).collect::<Vec<_>>())
        };
        prop_assert_eq!(events(piece)?, events(stream.len().max(1))?);
    }
}
