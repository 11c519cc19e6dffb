//! Streams of any bytes, and any bodies.

use dragoman_bridge::player::wire::common::Pose2d;
use dragoman_bridge::player::wire::{
    Address, BodyError, Decoder, Device, HEADER_LEN, Header, INTERFACES, MAX_BODY_LEN, Message, MessageKind,
    StreamError, Xdr, XdrError, position2d, properties,
};
use proptest::prelude::*;

use super::literals::rewrite;

/// Functions that read a body of each message and write it again.
fn rewrites() -> impl Iterator<Item = impl Fn(&[u8]) -> Result<Vec<u8>, BodyError>> {
    let interfaces = INTERFACES.into_iter().chain([&properties::INTERFACE]);
    interfaces.flat_map(|interface| {
        let rows = interface.messages.iter();
        let answers = rows
            .clone()
            .filter(|row| row.kind == MessageKind::Request)
            .map(|row| (MessageKind::Acknowledge, row));
        rows.map(|row| (row.kind, row))
            .chain(answers)
            .map(move |(kind, row)| move |bytes: &[u8]| rewrite(interface, kind, row.subtype, bytes))
    })
}

/// Bytes that often have the form of lists: small numbers, and the same length twice.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        6 => (0..4_u32).prop_map(|len| [len.to_be_bytes(), len.to_be_bytes()].concat()),
        6 => (0..4_u32).prop_map(|small| small.to_be_bytes().to_vec()),
        2 => any::<f64>().prop_map(|number| number.to_be_bytes().to_vec()),
        2 => any::<u32>().prop_map(|number| number.to_be_bytes().to_vec()),
        1 => Just(vec![0xff; 4]),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

fn kind() -> impl Strategy<Value = MessageKind> {
    (1..=6_u8).prop_map(|code| MessageKind::from_code(code).expect("a kind"))
}

prop_compose! {
    fn message()(
        [host, robot, sequence]: [u32; 3],
        [interface, index]: [u16; 2],
        kind in kind(),
        subtype: u8,
        timestamp in -1e12..1e12_f64,
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) -> Message {
        let address = Address { host, robot, device: Device { interface, index } };
        Message { header: Header { address, kind, subtype, timestamp, sequence }, body }
    }
}

fn stream(messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        message.header.write_message(&message.body, &mut bytes);
    }
    bytes
}

/// Decodes `bytes`, split into pieces of these lengths, in turn. It ends after an error.
fn decoded(bytes: &[u8], pieces: &[usize]) -> Vec<Result<Message, StreamError>> {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    let mut rest = bytes;
    for len in pieces.iter().cycle() {
        let (piece, tail) = rest.split_at((*len).min(rest.len()));
        decoder.push(piece);
        while let Some(message) = decoder.next() {
            let is_error = message.is_err();
            seen.push(message);
            if is_error {
                return seen;
            }
        }
        rest = tail;
        if rest.is_empty() {
            break;
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    /// Every message reads any body or refuses it; what it wrote, it reads and writes again.
    #[test]
    fn bodies_are_written_again(bytes in body()) {
        for rewrite in rewrites() {
            if let Ok(once) = rewrite(&bytes) {
                prop_assert_eq!(rewrite(&once), Ok(once));
            }
        }
    }

    /// The same messages, whatever the pieces; the same bytes again.
    #[test]
    fn messages_survive_the_stream(
        sent in proptest::collection::vec(message(), 1..5),
        pieces in proptest::collection::vec(1..300_usize, 1..5),
    ) {
        let bytes = stream(&sent);
        let seen: Result<Vec<_>, _> = decoded(&bytes, &pieces).into_iter().collect();
        prop_assert_eq!(&seen, &Ok(sent));
        prop_assert_eq!(stream(&seen.expect("messages")), bytes);
    }

    /// Half a message is not decoded, and stays in the buffer.
    #[test]
    fn half_messages_wait(sent in message(), cut: prop::sample::Index) {
        let bytes = stream(&[sent]);
        let half = &bytes[..cut.index(bytes.len())];
        let mut decoder = Decoder::default();
        decoder.push(half);
        prop_assert_eq!((decoder.next(), decoder.buffered()), (None, half.len()));
    }

    /// Any bytes: the same, whatever the pieces. No more bytes than were received.
    #[test]
    fn any_bytes_decode_or_are_refused(
        bytes in proptest::collection::vec(prop_oneof![3 => Just(0), 2 => 0..7_u8, 1 => any::<u8>()], 0..400),
        pieces in proptest::collection::vec(1..50_usize, 1..5),
    ) {
        let shown = |seen: &[Result<Message, StreamError>]| format!("{seen:?}");
        let seen = decoded(&bytes, &pieces);
        prop_assert_eq!(shown(&seen), shown(&decoded(&bytes, &[400])));
        prop_assert!(seen.iter().flatten().map(|one| HEADER_LEN + one.body.len()).sum::<usize>() <= bytes.len());
    }
}

/// A header with this kind and length.
fn header(kind: u32, len: u32) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_LEN];
    bytes[16..20].copy_from_slice(&kind.to_be_bytes());
    bytes[36..].copy_from_slice(&len.to_be_bytes());
    bytes
}

#[test]
fn sizes_are_limited() {
    let first = |bytes: &[u8]| {
        let mut decoder = Decoder::default();
        decoder.push(bytes);
        let first = decoder.next();
        assert_eq!(first.is_some(), decoder.next().is_some(), "an error stays");
        first
    };
    let too_long = u32::try_from(MAX_BODY_LEN).unwrap() + 1;
    for len in [u32::MAX, u32::MAX - 1, 1 << 31, too_long] {
        assert_eq!(first(&header(1, len)), Some(Err(StreamError::TooLong { len })));
    }
    assert_eq!(first(&header(1, too_long - 1)), None);
    assert_eq!(first(&header(0, u32::MAX)), Some(Err(StreamError::TooLong { len: u32::MAX })));
}

#[test]
fn a_message_of_an_unknown_kind_is_skipped() {
    for code in [0, 7, 255] {
        let mut decoder = Decoder::default();
        decoder.push(&[header(code, 4), vec![1; 4], header(1, 0)].concat());
        let error = StreamError::UnknownKind { code: u8::try_from(code).unwrap() };
        assert_eq!(decoder.next(), Some(Err(error)));
        assert!(matches!(decoder.next(), Some(Ok(message)) if message.header.kind == MessageKind::Data));
    }
}

/// A length in a body that the body does not have is refused before anything is reserved.
#[test]
fn lengths_in_bodies_are_checked() {
    for rewrite in rewrites() {
        for len in [u32::MAX, u32::MAX / 4, 1 << 30] {
            let words = [len; 40].map(u32::to_be_bytes).concat();
            let _ = rewrite(&words);
            let _ = rewrite(&words[..words.len() - 1]);
        }
    }
}

/// Of data and answers of a server; a client's body has the length of its message.
#[test]
fn bytes_behind_a_body_of_a_server_are_ignored() {
    let body = [1.0_f64, 2.0, 3.0].map(|number| number.to_bytes()).concat();
    let longer = [body.clone(), vec![7; 9]].concat();
    let pose = Pose2d::from_bytes(&longer).unwrap();
    assert_eq!((pose.x, pose.y, pose.yaw), (1.0, 2.0, 3.0));
    assert_eq!(pose.to_bytes(), body);
    assert_eq!(position2d::SET_ODOMETRY.question(&longer), Err(XdrError::Rest { rest: 9 }));
    assert_eq!(position2d::SET_ODOMETRY.question(&body), Ok(pose));
}
