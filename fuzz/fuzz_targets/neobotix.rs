//! Bytes as a stream of Neobotix' messages, in pieces: commands as a server reads them, replies as a client does.
//!
//! Input: one byte with the length of the pieces, and the stream. Checked: no panic, bounded buffers, and every decoded
//! message encodes to the same bytes, in either framing, and decodes again.

#![no_main]

use dragoman_bridge::neobotix::wire::{Command, Decoder, Framing, Message, Reply};
use libfuzzer_sys::fuzz_target;

fn run<T: Message + PartialEq>(stream: &[u8], piece: usize) {
    let mut decoder = Decoder::<T>::default();
    let mut pushed = 0;
    for part in stream.chunks(piece) {
        decoder.push(part);
        pushed += part.len();
        assert!(decoder.buffered() <= pushed);
        loop {
            let received = match decoder.next() {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(_) => {
                    assert_eq!(decoder.buffered(), 0);
                    return;
                }
            };
            match received.message {
                Ok(message) => {
                    let bytes = message.encode(received.framing).expect("it came");
                    assert!(stream.windows(bytes.len()).any(|window| window == bytes));
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

fn is_exact<T: Message>(data: &[u8]) {
    if let Ok(message) = T::decode(data) {
        let bytes = message.encode(Framing::Bare).expect("it came");
        assert_eq!(&bytes[4..], data);
    }
}

fuzz_target!(|input: &[u8]| {
    let [piece, stream @ ..] = input else { return };
    run::<Command>(stream, usize::from(*piece) + 1);
    run::<Reply>(stream, usize::from(*piece) + 1);
    is_exact::<Command>(stream);
    is_exact::<Reply>(stream);
});
