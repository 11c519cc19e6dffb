//! Records from their bytes. The library reserves as many bytes as the length of a text says before it reads them, up to
//! 4 GB, so lengths are compared with the record's first.

use mcap::McapError;
use mcap::records::{Record, op};

/// A part of a record (MCAP specification, "Serialization").
enum Part {
    /// This number of bytes.
    Bytes(usize),
    /// A length, and this number of bytes.
    Text,
    /// The length of all entries, and entries with this number of bytes.
    Entries(usize),
    /// The length of all entries, and entries of two texts.
    Texts,
}

/// The parts of a record up to its last text. `None`: records of this kind are not needed here.
fn parts(opcode: u8) -> Option<&'static [Part]> {
    use Part::{Bytes, Entries, Text, Texts};
    Some(match opcode {
        op::SCHEMA => &[Bytes(2), Text, Text],
        op::CHANNEL => &[Bytes(4), Text, Text, Texts],
        op::CHUNK => &[Bytes(28), Text],
        op::CHUNK_INDEX => &[Bytes(32), Entries(10), Bytes(8), Text],
        op::MESSAGE | op::STATISTICS => &[],
        _ => return None,
    })
}

/// A record of the kinds that are needed here.
pub(super) fn parse(opcode: u8, body: &[u8]) -> Result<Option<Record<'_>>, McapError> {
    if parts(opcode).is_none() {
        return Ok(None);
    }
    check(opcode, body)?;
    mcap::parse_record(opcode, body).map(Some)
}

/// Whether all texts of a record have the length that they declare.
pub(super) fn check(opcode: u8, mut body: &[u8]) -> Result<(), McapError> {
    let parts = parts(opcode).unwrap_or_default();
    parts.iter().try_for_each(|part| part.skip(&mut body)).ok_or(McapError::UnexpectedEof)
}

impl Part {
    /// `None`: it is shorter than it declares.
    fn skip(&self, rest: &mut &[u8]) -> Option<()> {
        match *self {
            Self::Bytes(length) => rest.split_off(..length).map(drop),
            Self::Text => {
                let length = length(rest)?;
                rest.split_off(..length).map(drop)
            }
            // As in the library: the last entry is read to its end, even beyond the length of all.
            Self::Entries(size) => {
                let length = length(rest)?.checked_next_multiple_of(size)?;
                rest.split_off(..length).map(drop)
            }
            Self::Texts => {
                let length = length(rest)?;
                let end = rest.len().checked_sub(length)?;
                while rest.len() > end {
                    Self::Text.skip(rest)?;
                    Self::Text.skip(rest)?;
                }
                Some(())
            }
        }
    }
}

fn length(rest: &mut &[u8]) -> Option<usize> {
    let (length, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use binrw::{BinWrite, Endian};
    use mcap::records::{Channel, ChunkHeader, ChunkIndex, SchemaHeader};

    use super::*;

    /// As the library writes it.
    fn written<T>(record: &T) -> Vec<u8>
    where
        T: BinWrite<Args<'static> = ()>,
    {
        let mut bytes = Cursor::new(Vec::new());
        record.write_options(&mut bytes, Endian::Little, ()).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn texts_that_are_longer_than_their_record_are_refused() {
        let channel = Channel {
            id: 1,
            schema_id: 2,
            topic: "TEXT1".into(),
            message_encoding: "TEXT2".into(),
            metadata: [("TEXT3".into(), "TEXT4".into()), ("TEXT5".into(), "TEXT6".into())].into(),
        };
        let chunk = ChunkHeader {
            message_start_time: 1,
            message_end_time: 2,
            uncompressed_size: 3,
            uncompressed_crc: 4,
            compression: "TEXT1".into(),
            compressed_size: 0,
        };
        let index = ChunkIndex {
            message_start_time: 1,
            message_end_time: 2,
            chunk_start_offset: 3,
            chunk_length: 4,
            message_index_offsets: [(1, 2), (3, 4)].into(),
            message_index_length: 5,
            compression: "TEXT1".into(),
            compressed_size: 6,
            uncompressed_size: 7,
        };
        let schema = SchemaHeader { id: 1, name: "TEXT1".into(), encoding: "TEXT2".into() };
        let schema = [written(&schema), vec![0; 4]].concat();
        for (opcode, texts, bytes) in [
            (op::CHANNEL, 6, written(&channel)),
            (op::CHUNK, 1, written(&chunk)),
            (op::CHUNK_INDEX, 1, written(&index)),
            (op::SCHEMA, 2, schema),
        ] {
            assert!(parse(opcode, &bytes).unwrap().is_some(), "{opcode}");
            let places: Vec<usize> =
                (4..bytes.len() - 4).filter(|&place| bytes[place..].starts_with(b"TEXT")).collect();
            assert_eq!(places.len(), texts);
            for place in places {
                let mut longer = bytes.clone();
                longer[place - 4..place].fill(0xff);
                assert!(check(opcode, &longer).is_err(), "{opcode}: {place}");
            }
            for length in 0..bytes.len() {
                let _ = parse(opcode, &bytes[..length]);
            }
        }
    }

    #[test]
    fn the_last_entry_is_read_to_its_end() {
        let mut rest = &[1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11][..];
        Part::Entries(10).skip(&mut rest).unwrap();
        assert_eq!(rest, [11]);
        let mut rest = &[1, 0, 0, 0, 1, 0, 0, 0, b'a', 0, 0, 0, 0, 11][..];
        Part::Texts.skip(&mut rest).unwrap();
        assert_eq!(rest, [11]);
    }
}
