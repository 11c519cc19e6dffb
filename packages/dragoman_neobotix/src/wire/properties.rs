//! Every command and reply with random values; arbitrary bytes.

use std::fmt::Debug;

use proptest::prelude::*;

pub(super) use crate::random::Source;

use super::{Command, CommandKind, Decoder, Fault, Framing, HEADER, Message, Received, Reply};

fn framing(is_bare: bool) -> Framing {
    if is_bare { Framing::Bare } else { Framing::Header }
}

/// Decodes a stream in pieces.
fn stream<T: Message>(bytes: &[u8], piece: usize) -> Vec<Received<T>> {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    for part in bytes.chunks(piece) {
        decoder.push(part);
        seen.extend(std::iter::from_fn(|| decoder.next().expect("in step")));
    }
    assert_eq!(decoder.buffered(), 0);
    seen
}

/// `decode(encode(x)) = x`, alone and in a stream; truncated messages are refused.
fn survives<T: Message + Clone + PartialEq + Debug>(samples: &[T], is_bare: bool, piece: usize) {
    let mut all = Vec::new();
    for sample in samples {
        let bytes = sample.encode(Framing::Bare).expect("a message");
        let data = &bytes[4..];
        assert_eq!(T::decode(data).as_ref(), Ok(sample));
        for end in [0, 1, data.len() / 2, data.len() - 1].into_iter().filter(|end| *end < data.len()) {
            T::decode(&data[..end]).expect_err("cut short");
        }
        let extra = T::decode(&[data, &[0]].concat()).expect_err("too long");
        assert_eq!(
            (extra.fault, extra.number, extra.offset),
            (Fault::Trailing { extra: 1 }, data[0], data.len())
        );
        all.extend(sample.encode(framing(is_bare)).expect("a message"));
    }
    let expected: Vec<_> = samples
        .iter()
        .map(|sample| Received { framing: framing(is_bare), message: Ok(sample.clone()) })
        .collect();
    assert_eq!(stream::<T>(&all, piece), expected);
}

/// `encode(decode(bytes)) = bytes`, for all bytes that can be decoded.
fn is_exact<T: Message>(data: &[u8]) -> bool {
    let Ok(message) = T::decode(data) else {
        return false;
    };
    let bytes = message.encode(Framing::Header).expect("a message");
    assert_eq!(bytes[..4], HEADER);
    assert_eq!(&bytes[8..], data);
    true
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn commands_survive_the_wire(seed: [u8; 32], is_bare: bool, piece in 1..200_usize) {
        survives(&Command::samples(&mut Source::new(seed)), is_bare, piece);
    }

    #[test]
    fn replies_survive_the_wire(seed: [u8; 32], is_bare: bool, piece in 1..2000_usize) {
        survives(&Reply::samples(&mut Source::new(seed)), is_bare, piece);
    }

    /// Random changes in valid bytes.
    #[test]
    fn what_is_decoded_is_encoded_to_the_same_bytes(
        seed: [u8; 32],
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4),
    ) {
        let mut source = Source::new(seed);
        let commands = Command::samples(&mut source).iter().map(|one| one.encode(Framing::Bare)).collect::<Vec<_>>();
        let replies = Reply::samples(&mut source).iter().map(|one| one.encode(Framing::Bare)).collect::<Vec<_>>();
        for bytes in commands.into_iter().chain(replies) {
            let mut data = bytes.expect("a message")[4..].to_vec();
            let exact = is_exact::<Command>(&data) || is_exact::<Reply>(&data);
            prop_assert!(exact, "what was encoded");
            for (place, byte) in &changes {
                let place = place % data.len();
                data[place] = *byte;
                is_exact::<Command>(&data);
                is_exact::<Reply>(&data);
            }
        }
    }

    /// For any bytes and any pieces: the same messages, and termination.
    #[test]
    fn any_bytes_decode_or_are_refused(
        bytes in proptest::collection::vec(prop_oneof![2 => any::<u8>(), 4 => Just(0), 2 => 0..80_u8], 0..400),
        header: bool,
        piece in 1..50_usize,
    ) {
        let bytes = if header { [&HEADER[..], &bytes].concat() } else { bytes };
        let run = |piece: usize| {
            let mut decoder = Decoder::<Command>::default();
            let mut seen = Vec::new();
            for part in bytes.chunks(piece) {
                decoder.push(part);
                loop {
                    match decoder.next() {
                        Ok(Some(received)) => seen.push(Ok(received)),
                        Ok(None) => break,
                        Err(error) => {
                            seen.push(Err(error));
                            return seen;
                        }
                    }
                }
            }
            seen
        };
        prop_assert_eq!(run(piece), run(1000));
        is_exact::<Command>(&bytes);
        is_exact::<Reply>(&bytes);
    }
}

/// The first byte is the number in the guide, and all commands exist.
#[test]
fn every_number_has_its_command() {
    let commands = Command::samples(&mut Source::new([7; 32]));
    let numbers: Vec<u8> =
        commands.iter().map(|command| command.encode(Framing::Header).expect("a message")[8]).collect();
    assert_eq!(numbers, CommandKind::all().map(CommandKind::number).collect::<Vec<_>>());
    let replies = Reply::samples(&mut Source::new([7; 32]));
    let answered: Vec<u8> =
        replies.iter().map(|reply| reply.encode(Framing::Header).expect("a message")[8]).collect();
    let expected = CommandKind::all().filter(|kind| kind.is_answered()).map(CommandKind::number);
    assert_eq!(answered, expected.collect::<Vec<_>>());
}
