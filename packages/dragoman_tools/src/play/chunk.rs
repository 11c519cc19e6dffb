//! The records of a chunk, compressed or not.

use std::borrow::Cow;
use std::io::Read;

use lz4_flex::frame::FrameDecoder;
use mcap::McapError;
use mcap::records::{ChunkHeader, Record};
use ruzstd::decoding::StreamingDecoder;

use super::file::MAX_RECORD_LEN;

/// Whether chunks of this compression can be read.
pub(super) fn is_known(compression: &str) -> bool {
    ["", "lz4", "zstd"].contains(&compression)
}

/// Gives the records of a chunk to `take`.
pub(super) fn read(
    header: &ChunkHeader,
    data: Cow<'_, [u8]>,
    mut take: impl FnMut(Record<'_>),
) -> Result<(), McapError> {
    let data = match header.compression.as_str() {
        "" => data,
        "lz4" => decompressed(header, FrameDecoder::new(&*data))?,
        "zstd" => {
            let decoder = StreamingDecoder::new_with_max_window_size(&*data, MAX_RECORD_LEN as u64);
            decompressed(header, decoder.map_err(|error| McapError::DecompressionError(error.to_string()))?)?
        }
        other => return Err(McapError::UnsupportedCompression(other.to_owned())),
    };
    // Zero: the writer computed none.
    let (saved, calculated) = (header.uncompressed_crc, crc32fast::hash(&data));
    if saved != 0 && saved != calculated {
        return Err(McapError::BadChunkCrc { saved, calculated });
    }
    let mut rest = &*data;
    while let Some((&opcode, after)) = rest.split_first() {
        let (length, after) = after.split_first_chunk().ok_or(McapError::UnexpectedEof)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (body, after) = after.split_at_checked(length).ok_or(McapError::UnexpectedEof)?;
        rest = after;
        take(mcap::parse_record(opcode, body)?);
    }
    Ok(())
}

/// All that the decoder gives, which must be as much as the header says.
fn decompressed(header: &ChunkHeader, decoder: impl Read) -> Result<Cow<'static, [u8]>, McapError> {
    let size = header.uncompressed_size;
    let failed = |reason: String| McapError::DecompressionError(reason);
    if size > MAX_RECORD_LEN as u64 {
        return Err(failed(format!("a chunk of {size} bytes is too long")));
    }
    let mut data = Vec::new();
    decoder.take(size + 1).read_to_end(&mut data).map_err(|error| failed(error.to_string()))?;
    if data.len() as u64 != size {
        return Err(failed(format!("a chunk has not the {size} bytes that it should have")));
    }
    Ok(data.into())
}
