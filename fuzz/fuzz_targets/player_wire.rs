//! Bytes as a stream of Player's messages, in pieces, and as bodies of all messages.
//!
//! Input: one byte with the length of the pieces, and the stream. Checked: no panic, bounded buffers, the same messages
//! whatever the pieces, the same bytes again. A body that is read and written is read and written again as the same.

#![no_main]

use dragoman_bridge::player::wire::{
    Answer, BodyError, Command, Data, Decoder, INTERFACES, Interface, MapData, Message, MessageKind, Request,
    Xdr, interface, properties,
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

/// Reads a body and writes it again.
fn rewrite(interface: u16, kind: MessageKind, subtype: u8, bytes: &[u8]) -> Result<Vec<u8>, BodyError> {
    match kind {
        MessageKind::Data => Data::read(interface, subtype, bytes).map(|body| body.to_bytes()),
        MessageKind::Command => Command::read(interface, subtype, bytes).map(|body| body.to_bytes()),
        MessageKind::Request => Request::read(interface, subtype, bytes).map(|body| body.to_bytes()),
        _ => Answer::read(interface, subtype, bytes).map(|body| body.to_bytes()),
    }
}

fn is_written_again(interface: &Interface, subtype: u8, body: &[u8]) {
    for kind in [MessageKind::Data, MessageKind::Command, MessageKind::Request, MessageKind::Acknowledge] {
        let rewrite = |body: &[u8]| rewrite(interface.code, kind, subtype, body);
        match rewrite(body) {
            Ok(once) => assert_eq!(rewrite(&once), Ok(once)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
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
            for interface in [interface, &properties::INTERFACE] {
                is_written_again(interface, message.header.subtype, &message.body);
            }
        }
    }
    for interface in INTERFACES.into_iter().chain([&properties::INTERFACE]) {
        interface.messages.iter().for_each(|row| is_written_again(interface, row.subtype, stream));
    }
    if let Ok(tile) = MapData::from_bytes(stream)
        && let Ok(plain) = tile.decompress()
    {
        assert_eq!(plain.data.len() as u64, u64::from(tile.width) * u64::from(tile.height));
        assert_eq!(plain.compress().decompress(), Ok(plain));
    }
});
