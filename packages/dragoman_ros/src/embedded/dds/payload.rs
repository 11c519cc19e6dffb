//! Serialized samples; serialization is in `cdr.rs`.

use bytes::Bytes;
use rustdds::RepresentationIdentifier;
use rustdds::no_key::{Decode, DeserializerAdapter, SerializerAdapter};

use super::memory::Memory;
use crate::embedded::cdr::Encoding;

/// Bytes with the encoding of their header.
pub(super) struct RawPayload {
    pub(super) bytes: Bytes,
    pub(super) encoding: Encoding,
}

/// Passes bytes through.
pub(super) struct RawAdapter;

/// Copies payloads into reused memory.
#[derive(Clone)]
pub(super) struct RawDecoder {
    pub(super) memory: Memory,
}

impl DeserializerAdapter<RawPayload> for RawAdapter {
    type Error = std::convert::Infallible;
    type Decoded = RawPayload;

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE, RepresentationIdentifier::CDR_BE]
    }

    fn transform_decoded(decoded: RawPayload) -> RawPayload {
        decoded
    }
}

impl Decode<'_, RawPayload> for RawDecoder {
    type Error = std::convert::Infallible;

    fn decode_bytes(
        self,
        bytes: &[u8],
        encoding: RepresentationIdentifier,
    ) -> Result<RawPayload, Self::Error> {
        let encoding = if encoding == RepresentationIdentifier::CDR_BE {
            Encoding::BigEndian
        } else {
            Encoding::LittleEndian
        };
        let mut copy = self.memory.take();
        copy.extend_from_slice(bytes);
        Ok(RawPayload { bytes: self.memory.lend(copy), encoding })
    }
}

impl SerializerAdapter<RawPayload> for RawAdapter {
    type Error = std::convert::Infallible;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(value: &RawPayload) -> Result<Bytes, Self::Error> {
        Ok(value.bytes.clone())
    }
}
