use dragoman_bridge::apolo::wire::{
    Command, HEADER_LEN, Received, Reply, ReplyDecoder, Request, RequestDecoder, SizeBase,
};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::model::Side;
use dragoman_protocol::{Protocol, protocols};
use proptest::prelude::*;

use super::{APOLO, Read, kept};
use crate::apolo::wire_properties::{reply, request};

/// The only message of the compiled codec, if it has exactly these bytes.
fn compiled_request(frame: &[u8]) -> Option<Request> {
    let mut decoder = RequestDecoder::default();
    decoder.push(frame);
    match decoder.next() {
        Some(Received::Message(request)) if decoder.buffered() == 0 && decoder.skipped() == 0 => {
            Some(request)
        }
        _ => None,
    }
}

fn compiled_reply(frame: &[u8]) -> Option<Reply> {
    let mut decoder = ReplyDecoder::new(SizeBase::Full256);
    decoder.push(frame);
    match decoder.next() {
        Some(Received::Message(reply)) if decoder.buffered() == 0 && decoder.skipped() == 0 => Some(reply),
        _ => None,
    }
}

/// Its size is that of its bytes, in base 256.
fn has_its_size(frame: &[u8]) -> bool {
    let size = frame.get(2..4).map(|size| usize::from(u16::from_le_bytes([size[0], size[1]])));
    size == Some(frame.len())
}

/// What the interpreter takes, the compiled codec takes as the same; what that takes of the same size, the interpreter takes.
#[track_caller]
fn compare(frame: &[u8]) {
    APOLO.with(|codec| {
        let compiled = compiled_request(frame);
        let again = Read::new(codec, frame, Side::Client).map(|read| compiled_request(&read.again));
        match (&again, &compiled) {
            (Some(again), compiled) => assert_eq!(shown(again), shown(compiled), "to Apolo: {frame:02x?}"),
            (None, Some(request)) => assert!(!has_its_size(frame), "{request}: {frame:02x?}"),
            (None, None) => {}
        }
        let compiled = compiled_reply(frame);
        let again = Read::new(codec, frame, Side::Server);
        // A question's own letter, which no server sends.
        let again = again.filter(|read| !read.message.is_answer);
        match (again.map(|read| compiled_reply(&read.again)), &compiled) {
            (Some(again), compiled) => assert_eq!(shown(&again), shown(compiled), "from Apolo: {frame:02x?}"),
            // A count of base 255.
            (None, Some(reply)) => {
                let is_annexs = reply.encode(SizeBase::Annex255).as_deref() == Ok(frame);
                assert!(is_annexs || !has_its_size(frame), "{reply}: {frame:02x?}");
            }
            (None, None) => {}
        }
    });
}

/// NaN is not equal to itself.
fn shown(message: &impl std::fmt::Debug) -> String {
    format!("{message:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn requests(request in request(), at in 0_usize..400, with: u8, cut in 0_usize..600) {
        let mut frame = request.encode(SizeBase::Full256).unwrap();
        let read = APOLO.with(|codec| Read::new(codec, &frame, Side::Client)).unwrap();
        prop_assert_eq!(read.name, request.command().ros_name());
        prop_assert_eq!(compiled_request(&read.again), Some(request));
        compare(&frame[..cut.min(frame.len())]);
        if let Some(byte) = frame.get_mut(at) {
            *byte = with;
        }
        compare(&frame);
    }

    #[test]
    fn replies(reply in reply(), at in 0_usize..400, with: u8, cut in 0_usize..600) {
        let mut frame = reply.encode(SizeBase::Full256).unwrap();
        let read = APOLO.with(|codec| Read::new(codec, &frame, Side::Server)).unwrap();
        prop_assert_eq!(&read.again, &frame);
        if let Reply::Doubles(values) = &reply {
            prop_assert_eq!(&APOLO.with(|codec| read.numbers(codec, "values")), values);
        }
        compare(&frame[..cut.min(frame.len())]);
        if let Some(byte) = frame.get_mut(at) {
            *byte = with;
        }
        compare(&frame);
    }

    /// Frames with letters that are known, and any content.
    #[test]
    fn any_content(letter in 0_usize..24, data in proptest::collection::vec(prop_oneof![any::<u8>(), 0_u8..4], 0..80)) {
        let letters: Vec<u8> = Command::all().map(Command::letter).chain(*b"TFDb").collect();
        let letter = letters.get(letter).copied().unwrap_or(b'?');
        let size = u16::try_from(HEADER_LEN + data.len()).unwrap().to_le_bytes();
        compare(&[b"aa", &size[..], &[letter], &data].concat());
    }

    /// Both cut the same frames out of a stream without mistakes.
    #[test]
    fn streams(sent in proptest::collection::vec(request(), 1..4), piece in 1_usize..300) {
        let frames: Vec<Vec<u8>> = sent.iter().map(|one| one.encode(SizeBase::Full256).unwrap()).collect();
        let mut cutter = Cutter::new(&Protocol::read(protocols::APOLO).unwrap()).unwrap();
        let mut found = Vec::new();
        for part in frames.concat().chunks(piece) {
            cutter.push(part);
            while let Some(frame) = cutter.next_frame() {
                found.push(frame.to_vec());
            }
        }
        prop_assert_eq!(found, frames);
    }
}

/// All frames in what the fuzz target keeps.
#[test]
fn kept_bytes() {
    let mut frames = 0;
    for input in kept("apolo") {
        for begin in 0..input.len() {
            let rest = &input[begin..];
            let Some([b'a', b'a', low, high]) = rest.first_chunk() else { continue };
            for size in [SizeBase::Annex255, SizeBase::Full256].map(|base| base.join([*low, *high])) {
                if let Some(frame) = rest.get(..size.into()) {
                    frames += 1;
                    compare(frame);
                }
            }
        }
    }
    assert!(frames > 20, "{frames}");
}
