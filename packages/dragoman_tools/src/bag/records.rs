//! The bytes of a file as records: no files, no ROS.

use std::io::{BufReader, Read, Seek, SeekFrom};

use mcap::McapError;
use mcap::records::{Record, op};

use super::{chunk, layout};

/// Maximum length of a record that is accepted, bytes, compressed or not; a chunk of `rosbag2` has about a megabyte.
pub(super) const MAX_RECORD_LEN: usize = 1 << 30;

/// Bytes of the last record, the footer, and of the magic that ends a file.
const END: usize = 9 + 20 + mcap::MAGIC.len();

/// The records of a file's summary; `None`: it has none, or a damaged one.
pub(super) fn summary(input: &mut (impl Read + Seek)) -> Option<Vec<Record<'static>>> {
    let mut end = [0; END];
    input.seek(SeekFrom::End(-(END as i64))).ok()?;
    input.read_exact(&mut end).ok()?;
    let (opcode, start) = (end[0], end[9..].first_chunk()?);
    let start = u64::from_le_bytes(*start);
    if opcode != op::FOOTER || start == 0 || !end.ends_with(mcap::MAGIC) {
        return None;
    }
    input.seek(SeekFrom::Start(start)).ok()?;
    let mut input = BufReader::new(input);
    let (mut records, mut found) = (Records { is_begun: true, ..Records::default() }, Vec::new());
    let mut take = |record: Record<'_>| {
        if !matches!(record, Record::Message { .. }) {
            found.push(record.into_owned());
        }
    };
    while records.read_some(&mut input, &mut take).ok()? {}
    Some(found)
}

/// The records of a file, from its beginning. The library's reader gives nothing of a chunk that was cut off.
#[derive(Default)]
pub(super) struct Records {
    is_begun: bool,
    body: Vec<u8>,
}

impl Records {
    /// Gives the next record, or those of the next chunk, to `take`; returns whether there may be more.
    pub(super) fn read_some(
        &mut self,
        input: &mut impl Read,
        mut take: impl FnMut(Record<'_>),
    ) -> Result<bool, McapError> {
        if !self.is_begun {
            let mut magic = [0; mcap::MAGIC.len()];
            if fill(input, &mut magic)? < magic.len() || magic != mcap::MAGIC {
                return Err(McapError::BadMagic);
            }
            self.is_begun = true;
        }
        let mut head = [0; 9];
        if fill(input, &mut head)? < head.len() {
            return Ok(false);
        }
        let [opcode, length @ ..] = head;
        let length = u64::from_le_bytes(length);
        // Not a record: a file contains zeros where the power failed.
        if opcode == 0 {
            return Ok(false);
        }
        if length > MAX_RECORD_LEN as u64 {
            return Err(McapError::RecordTooLarge { opcode, len: length });
        }
        self.body.clear();
        input.take(length).read_to_end(&mut self.body)?;
        let is_whole = self.body.len() as u64 == length;
        match opcode {
            op::CHUNK => chunk::read(&self.body, is_whole, &mut take)?,
            _ if is_whole => layout::parse(opcode, &self.body)?.into_iter().for_each(take),
            _ => {}
        }
        Ok(is_whole && opcode != op::FOOTER)
    }
}

/// Reads until the buffer is full, or the input ends.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, McapError> {
    let mut length = 0;
    while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use mcap::records::{MessageHeader, Metadata};
    use proptest::prelude::*;

    use super::super::{Compression, Writer};
    use super::*;

    /// Two messages on one topic, which compress well.
    fn recording(compression: Compression) -> Vec<u8> {
        let metadata = Metadata { name: "rosbag2".to_owned(), metadata: [].into() };
        let mut writer = Writer::begin(Vec::new(), compression, metadata).unwrap();
        let schema = ("ros2msg", &b"string data"[..]);
        let channel_id = writer.add_channel("/lamp", "std_msgs/msg/String", schema, [].into()).unwrap();
        for (sequence, log_time) in [(0, 10), (1, 30)] {
            let header = MessageHeader { channel_id, sequence, log_time, publish_time: log_time };
            writer.write(&header, &[sequence as u8 + 1; 200]).unwrap();
        }
        writer.finish().unwrap().0
    }

    fn count(mut bytes: &[u8]) -> Result<usize, McapError> {
        let mut messages = 0;
        let mut records = Records::default();
        let mut take = |record: Record<'_>| messages += usize::from(matches!(record, Record::Message { .. }));
        while records.read_some(&mut bytes, &mut take)? {}
        Ok(messages)
    }

    #[test]
    fn a_summary_is_read_from_whole_files() {
        for compression in [Compression::Lz4, Compression::None] {
            let whole = recording(compression);
            let known = summary(&mut Cursor::new(&whole)).unwrap();
            let messages = known.iter().find_map(|record| match record {
                Record::Statistics(known) => Some(known.message_count),
                _ => None,
            });
            assert_eq!(messages, Some(2));
            assert_eq!(known.iter().filter(|record| matches!(record, Record::Channel(_))).count(), 1);
            assert!(summary(&mut Cursor::new(&whole[..whole.len() - 9])).is_none());
        }
    }

    #[test]
    fn a_recording_that_was_cut_off_ends_after_its_last_whole_message() {
        let whole = recording(Compression::None);
        let second = whole.windows(200).position(|bytes| bytes == [2; 200]).unwrap();
        let first = whole.windows(200).position(|bytes| bytes == [1; 200]).unwrap();
        for length in 8..whole.len() {
            let expected = usize::from(length >= first + 200) + usize::from(length >= second + 200);
            assert_eq!(count(&whole[..length]).unwrap(), expected, "{length}");
        }
        assert!(matches!(count(&whole[..7]), Err(McapError::BadMagic)));
        // Zeros, where the power failed.
        let zeros = [&whole[..second], &[0; 1000]].concat();
        assert!(matches!(count(&zeros), Err(McapError::BadChunkCrc { .. })));
        let zeros = [&whole[..second + 200], &[0; 1000]].concat();
        assert_eq!(count(&zeros).unwrap(), 2);
    }

    #[test]
    fn whole_blocks_of_a_compressed_chunk_that_was_cut_off_are_read() {
        let metadata = Metadata { name: "rosbag2".to_owned(), metadata: [].into() };
        let mut writer = Writer::begin(Vec::new(), Compression::Lz4, metadata).unwrap();
        let channel_id = writer.add_channel("/a", "std_msgs/msg/String", ("", &[]), [].into()).unwrap();
        for sequence in 0..600_u32 {
            let header = MessageHeader { channel_id, sequence, log_time: 0, publish_time: 0 };
            // Half of it cannot be compressed.
            let noise =
                (0..500_u32).map(|place| ((place + sequence * 500).wrapping_mul(0x9e37_79b9) >> 23) as u8);
            writer.write(&header, &noise.chain([0; 500]).collect::<Vec<_>>()).unwrap();
        }
        let whole = writer.finish().unwrap().0;
        assert_eq!(count(&whole).unwrap(), 600);
        let half = count(&whole[..whole.len() / 2]).unwrap();
        assert!((200..400).contains(&half), "{half}");
    }

    /// Written by other programs.
    #[test]
    fn compressed_chunks_are_read() {
        for bytes in [&include_bytes!("cases/lz4.mcap")[..], include_bytes!("cases/zstd.mcap")] {
            assert_eq!(count(bytes).unwrap(), 5);
            // Without its end it has the same.
            assert_eq!(count(&bytes[..bytes.len() - 9]).unwrap(), 5);
            // A damaged chunk is an error, not a wrong message.
            let mut damaged = bytes.to_vec();
            let place = damaged.windows(3).position(|name| name == b"lz4" || name == b"zst").unwrap();
            damaged[place + 20..place + 60].fill(0xff);
            count(&damaged).unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_refused(
            is_compressed: bool,
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..20),
        ) {
            let mut bytes = recording(if is_compressed { Compression::Lz4 } else { Compression::None });
            for (place, value) in changes {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            let _ = count(&bytes);
            let _ = summary(&mut Cursor::new(&bytes));
        }
    }
}
