//! Interprets the input as bytes of a Kobuki's serial line, in both directions. Checks: no panic, every byte accounted
//! for, decoded data encodes to the same bytes.
//!
//! The first byte selects how many bytes come in one piece.

#![no_main]

use dragoman_base::kobuki::wire::{Command, Decoder, Feedback, SubPayloads};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((piece, stream)) = input.split_first() else { return };
    let mut decoder = Decoder::new();
    let mut taken = 0;
    for mut bytes in stream.chunks(usize::from(*piece).max(1)) {
        while let Some(payload) = decoder.next(&mut bytes) {
            taken += payload.len() + 4;
            check(payload);
        }
    }
    decoder.clear();
    assert_eq!(decoder.statistics().skipped_bytes as usize + taken, stream.len());
    check(stream);
});

fn check(payload: &[u8]) {
    for (id, data) in SubPayloads::new(payload).filter_map(Result::ok) {
        let whole = [&[id, data.len() as u8][..], data].concat();
        let mut again = Vec::new();
        if let Ok(feedback) = Feedback::decode(id, data) {
            let _ = feedback.to_string();
            feedback.encode(&mut again);
            assert_eq!(again, whole);
        }
        again.clear();
        if let Ok(command) = Command::decode(id, data) {
            let _ = command.to_string();
            command.encode(&mut again);
            assert_eq!(again, whole);
        }
    }
}
