//! Bytes as a stream of Player's messages, in pieces, and as bodies of all messages.
//!
//! Input: one byte with the length of the pieces, and the stream. Checked: no panic, bounded buffers, the same messages
//! whatever the pieces, the same bytes again. A body that is read and written is read and written again as the same.

#![no_main]

use dragoman_bridge::player::wire::{
    Decoder, INTERFACES, MapData, Message, Rewrite, Row, Xdr, interface, properties,
};
use libfuzzer_sys::fuzz_target;

/// All messages in front of the first error, and the error.
fn decoded(stream: &[u8], piece: usize) -> (Vec<Message>, Option<String>) {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    let mut pushed = 0;
    for part in stream.chunks(piece) {
        decoder.push(part);
        pushed += part.len();
        assert!(decoder.buffered() <= pushed);
        while let Some(next) = decoder.next() {
            match next {
                Ok(message) => seen.push(message),
                Err(error) => return (seen, Some(error.to_string())),
            }
        }
    }
    (seen, None)
}

fn is_written_again(rewrite: Rewrite, body: &[u8]) {
    match rewrite(body) {
        Ok(once) => assert_eq!(rewrite(&once), Ok(once)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn row(row: &Row, body: &[u8]) {
    is_written_again(row.rewrite, body);
    row.rewrite_answer.into_iter().for_each(|answer| is_written_again(answer, body));
}

fuzz_target!(|input: &[u8]| {
    let [piece, stream @ ..] = input else { return };
    let (messages, error) = decoded(stream, usize::from(*piece) + 1);
    let whole = decoded(stream, stream.len().max(1));
    assert_eq!(format!("{:?}", (&messages, &error)), format!("{whole:?}"));
    for message in &messages {
        let mut again = Vec::new();
        message.header.write_message(&message.body, &mut again);
        let mut decoder = Decoder::default();
        decoder.push(&again);
        assert_eq!(format!("{:?}", decoder.next()), format!("{:?}", Some(Ok::<_, ()>(message))));
        if let Some(interface) = interface(message.header.address.device.interface) {
            for kind in [message.header.kind, dragoman_bridge::player::wire::Kind::Request] {
                interface
                    .message(kind, message.header.subtype)
                    .into_iter()
                    .for_each(|one| row(one, &message.body));
            }
        }
    }
    for interface in INTERFACES.into_iter().chain([&properties::INTERFACE]) {
        interface.messages.iter().for_each(|one| row(one, stream));
    }
    if let Ok(tile) = MapData::from_bytes(stream)
        && let Ok(plain) = tile.decompress()
    {
        assert_eq!(plain.data.len() as u64, u64::from(tile.width) * u64::from(tile.height));
        assert_eq!(plain.compress().decompress(), Ok(plain));
    }
});
