//! The records of a chunk, compressed or not.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use binrw::BinRead;
use lz4_flex::frame::FrameDecoder;
use mcap::McapError;
use mcap::records::{ChunkHeader, Record, op};
use ruzstd::decoding::StreamingDecoder;

use super::layout;
use super::records::MAX_RECORD_LEN;

/// Whether chunks of this compression can be read.
pub(super) fn is_known(compression: &str) -> bool {
    ["", "lz4", "zstd"].contains(&compression)
}

/// Passes the records of a chunk to `take`; of an incomplete chunk, its complete records.
pub(super) fn read(chunk: &[u8], is_whole: bool, mut take: impl FnMut(Record<'_>)) -> Result<(), McapError> {
    let mut rest = Cursor::new(chunk);
    let header = match layout::check(op::CHUNK, chunk).and_then(|()| Ok(ChunkHeader::read_le(&mut rest)?)) {
        Ok(header) => header,
        Err(_) if !is_whole => return Ok(()),
        Err(error) => return Err(error),
    };
    let data = chunk.get(rest.position() as usize..).unwrap_or_default();
    if is_whole && data.len() as u64 != header.compressed_size {
        return Err(McapError::BadChunkLength {
            header: header.compressed_size,
            available: data.len() as u64,
        });
    }
    let data = match header.compression.as_str() {
        "" => data.into(),
        "lz4" => decompressed(&header, is_whole, FrameDecoder::new(data))?,
        "zstd" => match StreamingDecoder::new_with_max_window_size(data, MAX_RECORD_LEN as u64) {
            Ok(decoder) => decompressed(&header, is_whole, decoder)?,
            Err(_) if !is_whole => return Ok(()),
            Err(error) => return Err(McapError::DecompressionError(error.to_string())),
        },
        other => return Err(McapError::UnsupportedCompression(other.to_owned())),
    };
    // Zero: the writer computed none.
    let (saved, calculated) = (header.uncompressed_crc, crc32fast::hash(&data));
    if is_whole && saved != 0 && saved != calculated {
        return Err(McapError::BadChunkCrc { saved, calculated });
    }
    let mut rest = &*data;
    while !rest.is_empty() {
        match split(rest) {
            Some((opcode, body, after)) => {
                rest = after;
                layout::parse(opcode, body)?.into_iter().for_each(&mut take);
            }
            None if !is_whole => break,
            None => return Err(McapError::UnexpectedEof),
        }
    }
    Ok(())
}

/// The first record, its body, and what comes after it.
fn split(records: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&opcode, after) = records.split_first()?;
    let (length, after) = after.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (body, after) = after.split_at_checked(length)?;
    Some((opcode, body, after))
}

/// All bytes from the decoder; for a complete chunk their number must be that of the header.
fn decompressed(
    header: &ChunkHeader,
    is_whole: bool,
    decoder: impl Read,
) -> Result<Cow<'static, [u8]>, McapError> {
    let size = header.uncompressed_size;
    let failed = |reason: String| McapError::DecompressionError(reason);
    if size > MAX_RECORD_LEN as u64 {
        return Err(failed(format!("a chunk of {size} bytes is too long")));
    }
    let mut data = Vec::new();
    let read = decoder.take(size + 1).read_to_end(&mut data);
    if is_whole {
        read.map_err(|error| failed(error.to_string()))?;
        if data.len() as u64 != size {
            return Err(failed(format!("a chunk has not the {size} bytes that it should have")));
        }
    }
    Ok(data.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use binrw::BinWrite;
    use lz4_flex::frame::FrameEncoder;

    use super::*;

    #[test]
    fn a_chunk_takes_no_more_than_it_says() {
        let mut encoder = FrameEncoder::new(Vec::new());
        encoder.write_all(&vec![0; 100_000]).unwrap();
        let lz4 = encoder.finish().unwrap();
        for (uncompressed_size, words) in [(10, "has not the 10 bytes"), (u64::MAX, "is too long")] {
            let header = ChunkHeader {
                message_start_time: 0,
                message_end_time: 0,
                uncompressed_size,
                uncompressed_crc: 0,
                compression: "lz4".to_owned(),
                compressed_size: lz4.len() as u64,
            };
            let mut chunk = Cursor::new(Vec::new());
            header.write_le(&mut chunk).unwrap();
            let chunk = [chunk.into_inner(), lz4.clone()].concat();
            let error = read(&chunk, true, |_| {}).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
            assert!(read(&chunk[..chunk.len() - 1], true, |_| {}).is_err(), "its end is missing");
        }
    }
}
