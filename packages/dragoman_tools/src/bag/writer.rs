//! Writing an MCAP file (mcap.dev/spec), a chunk at a time: a killed process leaves a file that can be read up to its last
//! chunk. The library mcap compresses only with libraries in C.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use binrw::BinWrite;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use mcap::McapError;
use mcap::records::{
    Channel, ChunkHeader, ChunkIndex, DataEnd, Footer, Header, MessageHeader, MessageIndex,
    MessageIndexEntry, Metadata, MetadataIndex, SchemaHeader, Statistics, SummaryOffset, op,
};

use super::Compression;

/// Length of the records in a chunk after which it is written, bytes.
const CHUNK_LEN: usize = 768 << 10;

/// An MCAP file that is being written.
pub(crate) struct Writer<W> {
    sink: W,
    compression: Compression,
    /// Length of what has been written.
    position: u64,
    data_crc: crc32fast::Hasher,
    chunk: Chunk,
    schemas: Vec<u8>,
    channels: Vec<u8>,
    /// The number of each schema, by name and text.
    known_schemas: BTreeMap<(String, Vec<u8>), u16>,
    chunk_indexes: Vec<u8>,
    metadata_index: Vec<u8>,
    statistics: Statistics,
}

/// The records that are written next.
#[derive(Default)]
struct Chunk {
    records: Vec<u8>,
    /// Where the messages of each channel are.
    messages: BTreeMap<u16, Vec<MessageIndexEntry>>,
    /// Times of the first and the last message.
    span: Option<(u64, u64)>,
}

impl<W: Write> Writer<W> {
    /// Writes the start of a file, with metadata of this name.
    pub(crate) fn begin(sink: W, compression: Compression, metadata: Metadata) -> Result<Self, McapError> {
        let statistics = Statistics {
            message_count: 0,
            schema_count: 0,
            channel_count: 0,
            attachment_count: 0,
            metadata_count: 1,
            chunk_count: 0,
            message_start_time: 0,
            message_end_time: 0,
            channel_message_counts: BTreeMap::new(),
        };
        let mut writer = Self {
            sink,
            compression,
            position: 0,
            data_crc: crc32fast::Hasher::new(),
            chunk: Chunk::default(),
            schemas: Vec::new(),
            channels: Vec::new(),
            known_schemas: BTreeMap::new(),
            chunk_indexes: Vec::new(),
            metadata_index: Vec::new(),
            statistics,
        };
        let mut start = mcap::MAGIC.to_vec();
        record(&mut start, op::HEADER, &Header { profile: "ros2".into(), library: "dragoman".into() }, &[])?;
        let offset = start.len() as u64;
        record(&mut start, op::METADATA, &metadata, &[])?;
        let index = MetadataIndex { offset, length: start.len() as u64 - offset, name: metadata.name };
        record(&mut writer.metadata_index, op::METADATA_INDEX, &index, &[])?;
        writer.put(&start)?;
        Ok(writer)
    }

    /// Adds a channel of messages in CDR; returns its number.
    pub(crate) fn add_channel(
        &mut self,
        topic: &str,
        type_name: &str,
        (encoding, definition): (&str, &[u8]),
        metadata: BTreeMap<String, String>,
    ) -> Result<u16, McapError> {
        let schema_id = self.schema(type_name, encoding, definition)?;
        let id = u16::try_from(self.statistics.channel_count).map_err(|_| McapError::TooManyChannels)?;
        let channel =
            Channel { id, schema_id, topic: topic.into(), message_encoding: "cdr".into(), metadata };
        let begin = self.channels.len();
        record(&mut self.channels, op::CHANNEL, &channel, &[])?;
        self.chunk.records.extend(self.channels.iter().skip(begin));
        self.statistics.channel_count += 1;
        Ok(id)
    }

    /// The number of a schema, which is at least 1.
    fn schema(&mut self, name: &str, encoding: &str, definition: &[u8]) -> Result<u16, McapError> {
        let key = (name.to_owned(), definition.to_vec());
        if let Some(id) = self.known_schemas.get(&key) {
            return Ok(*id);
        }
        let id = self.statistics.schema_count.checked_add(1).ok_or(McapError::TooManySchemas)?;
        let too_large = |_| McapError::RecordTooLarge { opcode: op::SCHEMA, len: definition.len() as u64 };
        let length = u32::try_from(definition.len()).map_err(too_large)?;
        let tail = [&length.to_le_bytes()[..], definition].concat();
        let header = SchemaHeader { id, name: name.into(), encoding: encoding.into() };
        let begin = self.schemas.len();
        record(&mut self.schemas, op::SCHEMA, &header, &tail)?;
        self.chunk.records.extend(self.schemas.iter().skip(begin));
        self.statistics.schema_count = id;
        self.known_schemas.insert(key, id);
        Ok(id)
    }

    /// Adds a message to a channel; writes the chunk before it when that is long enough.
    pub(crate) fn write(&mut self, header: &MessageHeader, data: &[u8]) -> Result<(), McapError> {
        if self.chunk.records.len() > CHUNK_LEN {
            self.finish_chunk()?;
        }
        let Chunk { records, messages, span } = &mut self.chunk;
        let entry = MessageIndexEntry { log_time: header.log_time, offset: records.len() as u64 };
        messages.entry(header.channel_id).or_default().push(entry);
        let (first, last) = span.unwrap_or((header.log_time, header.log_time));
        *span = Some((first.min(header.log_time), last.max(header.log_time)));
        record(records, op::MESSAGE, header, data)
    }

    /// Writes all buffered data.
    pub(crate) fn flush(&mut self) -> Result<(), McapError> {
        self.finish_chunk()?;
        Ok(self.sink.flush()?)
    }

    /// The destination of the file.
    pub(crate) fn sink(&self) -> &W {
        &self.sink
    }

    /// Bytes that [`Self::finish`] will write at most, without those of messages.
    pub(crate) fn index_len(&self) -> u64 {
        /// Statistics, footer and offsets, without the counts per channel.
        const REST: usize = 512;
        let counts = 10 * self.statistics.channel_count as usize;
        (self.schemas.len() + self.channels.len() + self.chunk_indexes.len() + counts + REST) as u64
    }

    /// Writes the index and the end of the file.
    pub(crate) fn finish(mut self) -> Result<(W, Statistics), McapError> {
        self.finish_chunk()?;
        let mut end = Vec::new();
        let data_section_crc = self.data_crc.clone().finalize();
        record(&mut end, op::DATA_END, &DataEnd { data_section_crc }, &[])?;
        self.put(&end)?;

        let mut statistics = Vec::new();
        record(&mut statistics, op::STATISTICS, &self.statistics, &[])?;
        let groups = [
            (op::SCHEMA, &self.schemas),
            (op::CHANNEL, &self.channels),
            (op::STATISTICS, &statistics),
            (op::CHUNK_INDEX, &self.chunk_indexes),
            (op::METADATA_INDEX, &self.metadata_index),
        ];
        let summary_start = self.position;
        let (mut summary, mut offsets) = (Vec::new(), Vec::new());
        for (group_opcode, records) in groups.into_iter().filter(|(_, records)| !records.is_empty()) {
            let group_start = summary_start + summary.len() as u64;
            let offset = SummaryOffset { group_opcode, group_start, group_length: records.len() as u64 };
            record(&mut offsets, op::SUMMARY_OFFSET, &offset, &[])?;
            summary.extend_from_slice(records);
        }
        let summary_offset_start = summary_start + summary.len() as u64;
        summary.append(&mut offsets);
        let mut footer = Footer { summary_start, summary_offset_start, summary_crc: 0 };
        let before = summary.len();
        record(&mut summary, op::FOOTER, &footer, &[])?;
        // Over all up to itself.
        footer.summary_crc = summary.split_last_chunk::<4>().map_or(0, |(before, _)| crc32fast::hash(before));
        summary.truncate(before);
        record(&mut summary, op::FOOTER, &footer, &[])?;
        summary.extend_from_slice(mcap::MAGIC);
        self.put(&summary)?;
        self.sink.flush()?;
        Ok((self.sink, self.statistics))
    }

    fn finish_chunk(&mut self) -> Result<(), McapError> {
        let Chunk { records, messages, span } = std::mem::take(&mut self.chunk);
        if records.is_empty() {
            return Ok(());
        }
        let compressed = self.compression.compress(&records)?;
        let (compression, data) = match &compressed {
            Some(compressed) => ("lz4", compressed),
            None => ("", &records),
        };
        let (message_start_time, message_end_time) = span.unwrap_or_default();
        let (uncompressed_size, compressed_size) = (records.len() as u64, data.len() as u64);
        let header = ChunkHeader {
            message_start_time,
            message_end_time,
            uncompressed_size,
            uncompressed_crc: crc32fast::hash(&records),
            compression: compression.into(),
            compressed_size,
        };
        let chunk_start_offset = self.position;
        let mut chunk = Vec::with_capacity(data.len() + 256);
        record(&mut chunk, op::CHUNK, &header, data)?;
        let chunk_length = chunk.len() as u64;
        let counts: Vec<(u16, u64)> =
            messages.iter().map(|(channel, entries)| (*channel, entries.len() as u64)).collect();
        let mut message_index_offsets = BTreeMap::new();
        for (channel_id, records) in messages {
            message_index_offsets.insert(channel_id, chunk_start_offset + chunk.len() as u64);
            record(&mut chunk, op::MESSAGE_INDEX, &MessageIndex { channel_id, records }, &[])?;
        }
        let message_index_length = chunk.len() as u64 - chunk_length;
        self.put(&chunk)?;

        let index = ChunkIndex {
            message_start_time,
            message_end_time,
            chunk_start_offset,
            chunk_length,
            message_index_offsets,
            message_index_length,
            compression: compression.into(),
            compressed_size,
            uncompressed_size,
        };
        record(&mut self.chunk_indexes, op::CHUNK_INDEX, &index, &[])?;
        self.count(&counts, span);
        Ok(())
    }

    /// Counts a chunk that has been written.
    fn count(&mut self, counts: &[(u16, u64)], span: Option<(u64, u64)>) {
        let known = &mut self.statistics;
        known.chunk_count += 1;
        if let Some((first, last)) = span {
            let (before, after) = (known.message_start_time, known.message_end_time);
            let is_first = known.message_count == 0;
            known.message_start_time = if is_first { first } else { before.min(first) };
            known.message_end_time = after.max(last);
        }
        for (channel, count) in counts {
            known.message_count += count;
            *known.channel_message_counts.entry(*channel).or_default() += count;
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), McapError> {
        self.sink.write_all(bytes)?;
        self.data_crc.update(bytes);
        self.position += bytes.len() as u64;
        Ok(())
    }
}

impl Compression {
    /// The records of a chunk as a frame of LZ4; `None`: they are written as they are, because that is wanted or because
    /// compression saves less than a tenth.
    fn compress(self, records: &[u8]) -> Result<Option<Vec<u8>>, McapError> {
        if self == Self::None {
            return Ok(None);
        }
        // Of a chunk that was cut off, whole blocks can be read.
        let info = FrameInfo::new().block_mode(BlockMode::Independent).block_size(BlockSize::Max64KB);
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::with_capacity(records.len() / 2));
        encoder.write_all(records)?;
        let compressed = encoder.finish().map_err(std::io::Error::from)?;
        Ok(Some(compressed).filter(|compressed| compressed.len() < records.len() / 10 * 9))
    }
}

/// Appends a record: `body`, and the bytes after it.
fn record(
    out: &mut Vec<u8>,
    opcode: u8,
    body: &impl for<'a> BinWrite<Args<'a> = ()>,
    tail: &[u8],
) -> Result<(), McapError> {
    out.push(opcode);
    let begin = out.len();
    let mut end = Cursor::new(&mut *out);
    end.set_position(begin as u64);
    // Its length comes here when it is known.
    0_u64.write_le(&mut end)?;
    body.write_le(&mut end)?;
    out.extend_from_slice(tail);
    let length = (out.len() - begin - 8) as u64;
    out.iter_mut().skip(begin).zip(length.to_le_bytes()).for_each(|(byte, value)| *byte = value);
    Ok(())
}
