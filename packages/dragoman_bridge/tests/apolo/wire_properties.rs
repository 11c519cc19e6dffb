//! Streams of any bytes; messages that were encoded.

use dragoman_bridge::apolo::wire::{
    LandMark, Received, Reply, ReplyDecoder, Request, RequestDecoder, SizeBase,
};
use proptest::prelude::*;

fn base() -> impl Strategy<Value = SizeBase> {
    prop_oneof![Just(SizeBase::Annex255), Just(SizeBase::Full256)]
}

/// Names of all lengths, with one and with several bytes per character.
fn name() -> impl Strategy<Value = String> {
    let latin = proptest::collection::vec(1..=0xff_u8, 0..=254)
        .prop_map(|bytes| bytes.into_iter().map(char::from).filter(|c| c.is_alphanumeric()).collect());
    prop_oneof![Just(String::new()), "[A-Za-z0-9 ]{0,12}", "[a-z0-9ñéü機]{0,20}", latin].prop_map(
        |name: String| {
            let mut name = name;
            while name.len() > 254 {
                name.pop();
            }
            name
        },
    )
}

/// Any bit pattern except NaN, which is never equal.
fn number() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("NaN", |value| !value.is_nan())
}

pub(crate) fn request() -> impl Strategy<Value = Request> {
    let values = || proptest::collection::vec(number(), 0..=255);
    let three = || [number(), number(), number()];
    prop_oneof![
        (name(), name(), values()).prop_map(|(world, robot, values)| Request::CheckRobotJoints {
            world,
            robot,
            values
        }),
        (name(), name(), values()).prop_map(|(world, robot, values)| Request::SetRobotJoints {
            world,
            robot,
            values
        }),
        (name(), name()).prop_map(|(world, object)| Request::GetLocation { world, object }),
        (name(), name()).prop_map(|(world, robot)| Request::GetLocationMRobot { world, robot }),
        (name(), name()).prop_map(|(world, robot)| Request::GetOdometry { world, robot }),
        (name(), name()).prop_map(|(world, laser)| Request::GetLaserData { world, laser }),
        (name(), name()).prop_map(|(world, laser)| Request::GetLaserLandMarks { world, laser }),
        (name(), name()).prop_map(|(world, sensor)| Request::GetUltrasonicSensor { world, sensor }),
        (name(), name()).prop_map(|(world, robot)| Request::GetAllultrasonicSensors { world, robot }),
        (name(), name(), name()).prop_map(|(world, robot, object)| Request::LinkToRobotTcp {
            world,
            robot,
            object
        }),
        (name(), name(), three()).prop_map(|(world, robot, [speed, rotation_speed, duration])| {
            Request::MoveMRobot { world, robot, speed, rotation_speed, duration }
        }),
        (name(), name(), three(), three()).prop_map(|(world, object, position, rpy)| Request::Place {
            world,
            object,
            position,
            rpy
        }),
        (name(), name(), three(), number()).prop_map(|(world, robot, position, yaw)| Request::PlaceMRobot {
            world,
            robot,
            position,
            yaw
        }),
        (name(), name(), three()).prop_map(|(world, robot, [x, y, yaw])| Request::ResetOdometry {
            world,
            robot,
            x,
            y,
            yaw
        }),
        name().prop_map(|world| Request::Update { world }),
    ]
}

pub(crate) fn reply() -> impl Strategy<Value = Reply> {
    let mark = (0..=65_279_u16, number(), number()).prop_map(|(id, angle, distance)| LandMark {
        id,
        angle,
        distance,
    });
    prop_oneof![
        Just(Reply::True),
        Just(Reply::False),
        proptest::collection::vec(number(), 0..1200).prop_map(Reply::Doubles),
        proptest::collection::vec(mark, 0..400).prop_map(Reply::LandMarks),
    ]
}

/// Decodes `bytes`, split into pieces of these lengths, in turn.
fn requests(bytes: &[u8], pieces: &[usize]) -> Vec<Received<Request>> {
    let mut decoder = RequestDecoder::default();
    let mut seen = Vec::new();
    let mut rest = bytes;
    for len in pieces.iter().cycle() {
        let (piece, tail) = rest.split_at((*len).min(rest.len()));
        decoder.push(piece);
        seen.extend(std::iter::from_fn(|| decoder.next()));
        rest = tail;
        if rest.is_empty() {
            break;
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    /// For any bytes and any pieces: the same messages, no more bytes than received, and termination.
    #[test]
    fn any_bytes_decode_or_are_skipped(
        bytes in proptest::collection::vec(prop_oneof![3 => any::<u8>(), 2 => Just(b'a'), 1 => Just(0)], 0..600),
        pieces in proptest::collection::vec(1..50_usize, 1..5),
    ) {
        let shown = |seen: &[Received<Request>]| format!("{seen:?}");
        prop_assert_eq!(shown(&requests(&bytes, &pieces)), shown(&requests(&bytes, &[600])));
        let mut decoder = ReplyDecoder::new(SizeBase::Full256);
        decoder.push(&bytes);
        let mut count = 0;
        while decoder.next().is_some() {
            count += 1;
        }
        prop_assert!(count <= bytes.len() / 5 && decoder.buffered() <= bytes.len());
    }

    /// Requests of both bases, in a stream that is split anywhere.
    #[test]
    fn requests_survive_the_stream(
        sent in proptest::collection::vec((request(), base()), 1..5),
        pieces in proptest::collection::vec(1..700_usize, 1..5),
    ) {
        let bytes: Vec<u8> =
            sent.iter().flat_map(|(request, base)| request.encode(*base).expect("a frame")).collect();
        let expected: Vec<_> = sent.into_iter().map(|(request, _)| Received::Message(request)).collect();
        prop_assert_eq!(requests(&bytes, &pieces), expected);
    }

    /// A frame after another one with a wrong size is found.
    #[test]
    fn a_wrong_size_loses_no_other_frame(first in request(), low: u8, second in request()) {
        let mut bytes = first.encode(SizeBase::Full256).expect("a frame");
        let right = usize::from(low) == bytes.len();
        bytes[2] = low;
        bytes[3] = 0;
        let cut = if usize::from(low) >= 5 { bytes.len().min(usize::from(low)) } else { bytes.len() };
        bytes.truncate(cut);
        // Nothing in it that looks like the header of another frame.
        prop_assume!(!bytes[1..].windows(2).any(|pair| pair == b"aa") && !bytes.ends_with(b"a"));
        bytes.extend(second.encode(SizeBase::Full256).expect("a frame"));
        let seen = requests(&bytes, &[5000]);
        prop_assert_eq!(seen.last(), Some(&Received::Message(second)));
        let before = &seen[..seen.len() - 1];
        prop_assert_eq!(before.first() == Some(&Received::Message(first)), right || matches!(before, [Received::Message(_)]));
    }

    #[test]
    fn replies_survive_the_stream(
        sent in proptest::collection::vec(reply(), 1..4),
        base in base(),
        piece in 1..2000_usize,
    ) {
        let bytes: Vec<u8> = sent.iter().flat_map(|reply| reply.encode(base).expect("a frame")).collect();
        let mut decoder = ReplyDecoder::new(base);
        let mut seen = Vec::new();
        for part in bytes.chunks(piece) {
            decoder.push(part);
            seen.extend(std::iter::from_fn(|| decoder.next()));
        }
        let expected: Vec<_> = sent.into_iter().map(Received::Message).collect();
        prop_assert_eq!(seen, expected);
        prop_assert_eq!((decoder.buffered(), decoder.skipped()), (0, 0));
    }
}
