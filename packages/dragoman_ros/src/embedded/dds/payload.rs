//! Serialized samples as they are: serialization is `cdr.rs`'s.

use bytes::Bytes;
use rustdds::RepresentationIdentifier;
use rustdds::no_key::{Decode, DefaultDecoder, DeserializerAdapter, SerializerAdapter};

use crate::embedded::cdr::Encoding;

/// Bytes with the encoding that their header named.
pub(super) struct RawPayload {
    pub(super) bytes: Bytes,
    pub(super) encoding: Encoding,
}

/// Passes bytes through.
pub(super) struct RawAdapter;

#[derive(Clone)]
pub(super) struct RawDecoder;

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

impl DefaultDecoder<RawPayload> for RawAdapter {
    type Decoder = RawDecoder;
    const DECODER: RawDecoder = RawDecoder;
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
        Ok(RawPayload { bytes: Bytes::copy_from_slice(bytes), encoding })
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
