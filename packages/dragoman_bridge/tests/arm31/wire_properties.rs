//! Decoding any bytes; encoding what was decoded.

use dragoman_bridge::arm31::wire::{Command, Datagram, Letters, Notice, Reply, Request};
use proptest::prelude::*;

fn command() -> impl Strategy<Value = Command> {
    (0..20_usize).prop_map(|number| Command::all().nth(number).expect("20 commands"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes_decode_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = Request::decode(&bytes).map(|request| request.to_string());
        let _ = Reply::decode(&bytes).map(|reply| reply.to_string());
        let _ = Datagram::parse(&bytes).map(|datagram| (datagram.to_string(), Notice::decode(&datagram)));
    }

    /// The view returns any 31 bytes unchanged, including the bit patterns of NaN.
    #[test]
    fn the_view_loses_nothing(bytes in any::<[u8; 31]>()) {
        let datagram = Datagram::parse(&bytes).expect("31 bytes");
        prop_assert_eq!(datagram.bytes(), &bytes);
        let again = Datagram::new(datagram.letters(), datagram.values(), datagram.index());
        prop_assert_eq!(again.bytes(), &bytes);
        prop_assert_eq!(*datagram.echo().echo().bytes(), bytes);
    }

    /// Requests whose unused fields are zero, as the appendix prints them, survive decoding and encoding, as do
    /// their echoes.
    #[test]
    fn requests_and_echoes_round_trip(command in command(), data in any::<[u8; 28]>(), index: u8) {
        let mut bytes = [0; 31];
        bytes[..2].copy_from_slice(&command.letters().0);
        let used = 4 * command.value_count();
        bytes[2..2 + used].copy_from_slice(&data[..used]);
        bytes[30] = if command.is_indexed() { index } else { 0 };
        let request = Request::decode(&bytes).expect("a command");
        let encoded = request.encode();
        prop_assert_eq!(encoded.bytes(), &bytes);
        prop_assert_eq!(request.command(), command);

        let echo = *encoded.echo().bytes();
        let reply = Reply::decode(&echo).expect("a reply");
        prop_assert_eq!(reply.encode(), echo);
    }

    #[test]
    fn query_answers_round_trip(query in 0..3_usize, data in any::<[u8; 28]>()) {
        let mut bytes = [0; 31];
        bytes[..2].copy_from_slice([b"Pj", b"SP", b"MT"][query]);
        bytes[2..30].copy_from_slice(&data);
        prop_assert_eq!(Reply::decode(&bytes).expect("a reply").encode(), bytes);
    }

    #[test]
    fn texts_with_letters_round_trip(first in 0x21..0x7f_u8, second in 0x21..0x7f_u8) {
        let letters = Letters([first, second]);
        for notice in [Notice::NotUnderstood(letters), Notice::Undersized(letters), Notice::Rejected(letters)] {
            prop_assert_eq!(Reply::decode(&notice.encode()), Ok(Reply::Notice(notice)));
        }
    }
}
