use dragoman_bridge::arm31::wire::{Command, Datagram, Letters, Notice, Reply, Request};
use dragoman_protocol::model::Side;
use proptest::prelude::*;

use super::{ARM31, Read, kept};

/// A signalling NaN becomes a quiet one in the interpreter, whose numbers have 64 bits.
fn quieted(mut bytes: Vec<u8>) -> Vec<u8> {
    for value in bytes.get_mut(2..).unwrap_or_default().chunks_exact_mut(4) {
        if f32::from_le_bytes((&*value).try_into().unwrap()).is_nan() {
            value[2] |= 0x40;
        }
    }
    bytes
}

/// Both codecs make the same of bytes of a client, and of a controller.
#[track_caller]
fn compare(bytes: &[u8]) {
    let bytes = quieted(bytes.to_vec());
    ARM31.with(|codec| {
        let again = Read::new(codec, &bytes, Side::Client).map(|read| read.again);
        let compiled = Request::decode(&bytes).ok().map(|request| request.encode().bytes().to_vec());
        assert_eq!(again, compiled, "to the controller: {bytes:02x?}");
        let read = Read::new(codec, &bytes, Side::Server);
        let compiled = Reply::decode(&bytes).ok();
        let is_notice = read.as_ref().is_some_and(|read| ["error", "warning"].contains(&&*read.name));
        if is_notice && compiled.is_none() {
            // A number that is known, with another text.
            return;
        }
        assert_eq!(
            read.map(|read| read.again),
            compiled.map(|reply| reply.encode().to_vec()),
            "from the controller: {bytes:02x?}"
        );
    });
}

fn letters() -> impl Strategy<Value = [u8; 2]> {
    let mut known: Vec<_> = Command::all().map(|command| command.letters().0).collect();
    known.extend(Command::all().map(|command| command.letters().swapped().0));
    known.extend([*b"ER", *b"WN"]);
    prop_oneof![9 => proptest::sample::select(known), 1 => any::<[u8; 2]>()]
}

fn notice() -> impl Strategy<Value = Notice> {
    let letters = || any::<[u8; 2]>().prop_map(Letters);
    prop_oneof![
        letters().prop_map(Notice::NotUnderstood),
        letters().prop_map(Notice::Undersized),
        letters().prop_map(Notice::Rejected),
        Just(Notice::DidNotStop),
        Just(Notice::DidNotStart),
        Just(Notice::WorkspaceLimit),
        Just(Notice::JointLimit),
        Just(Notice::InverseKinematicsDivergence),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn datagrams_of_all_sizes(letters in letters(), data in proptest::collection::vec(any::<u8>(), 0..34)) {
        compare(&[&letters[..], &data].concat());
    }

    #[test]
    fn datagrams_of_the_right_sizes(letters in letters(), data in proptest::collection::vec(any::<u8>(), 28..30)) {
        compare(&[&letters[..], &data].concat());
    }

    /// Errors and warnings, of which one byte may be wrong, with old bytes behind their end.
    #[test]
    fn notices(notice in notice(), rest: u8, at in 0_usize..60, with: u8) {
        let mut bytes = notice.encode().to_vec();
        compare(&bytes);
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(31);
        bytes.iter_mut().skip(end + 1).for_each(|byte| *byte = rest);
        compare(&bytes);
        if let Some(byte) = bytes.get_mut(at) {
            *byte = with;
        }
        compare(&bytes);
    }

    /// Each field has the numbers that the compiled code gives it.
    #[test]
    fn values(numbers in any::<[f32; 7]>(), index: u8) {
        let numbers = numbers.map(|number| if number.is_nan() { 0.0 } else { number });
        let wide = numbers.map(f64::from);
        ARM31.with(|codec| {
            for command in Command::all() {
                let bytes = *Datagram::new(command.letters(), numbers, index).bytes();
                let read = Read::new(codec, &bytes, Side::Client).unwrap();
                let found = |field| read.numbers(codec, field);
                match Request::decode(&bytes).unwrap() {
                    Request::SetCommandMode { .. } => assert_eq!(found("mode"), wide[..1]),
                    Request::SetGoalPose { .. } => {
                        assert_eq!((found("position"), found("quaternion")), (wide[..3].into(), wide[3..].into()));
                    }
                    Request::SetTimedGoalPose { .. } => {
                        assert_eq!((found("rpy"), found("min_duration")), (wide[3..6].into(), wide[6..].into()));
                    }
                    Request::SetViaPoint { .. } => {
                        assert_eq!((found("rpy"), found("index")), (wide[3..6].into(), vec![index.into()]));
                    }
                    Request::SetJointViaPoint { .. } => {
                        assert_eq!((found("joints"), found("min_duration")), (wide[..6].into(), wide[6..].into()));
                    }
                    Request::SetJointGoal { .. } | Request::Recalibrate { .. } => {
                        assert_eq!(found("joints"), wide[..6]);
                    }
                    _ => assert!(read.values.items().is_empty(), "{command}"),
                }
            }
            for (letters, field) in [(b"Pj", "joints"), (b"MT", "temperatures")] {
                let bytes = *Datagram::new(Letters(*letters), numbers, index).bytes();
                assert_eq!(Read::new(codec, &bytes, Side::Server).unwrap().numbers(codec, field), wide);
            }
        });
    }
}

/// What the fuzz target keeps, from every place on, and the answers of the texts.
#[test]
fn kept_bytes() {
    for input in kept("arm31_server") {
        for begin in 0..input.len() {
            for len in [29, 30, 31, 32] {
                compare(&input[begin..input.len().min(begin + len)]);
            }
        }
    }
}
