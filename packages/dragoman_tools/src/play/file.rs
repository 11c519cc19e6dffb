//! Reading a recording.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use dragoman_ros::QosProfile;
use dragoman_ros::files::{open_below, open_regular};
use mcap::records::Record;
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::sans_io::summary_reader::{SummaryReadEvent, SummaryReader, SummaryReaderOptions};
use mcap::{McapError, Summary};
use serde::Deserialize;
use tokio::sync::mpsc;

use super::{PlayError, chunk};

/// Messages that are read ahead.
const AHEAD: usize = 64;
/// Longest record that is accepted, bytes, compressed or not; a chunk of `rosbag2` has about a megabyte.
pub(super) const MAX_RECORD_LEN: usize = 1 << 30;

/// One topic of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) topic: String,
    /// `package/msg/Name`.
    pub(super) type_name: String,
    /// The quality of service of its publishers, as `rosbag2` writes it.
    offered: String,
}

/// A policy by the number or the name of `rosbag2`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Policy {
    Number(i64),
    Name(String),
}

impl Policy {
    fn is(&self, number: i64, name: &str) -> bool {
        match self {
            Self::Number(own) => *own == number,
            Self::Name(own) => own == name,
        }
    }
}

#[derive(Deserialize)]
struct Offer {
    depth: u32,
    reliability: Policy,
    durability: Policy,
}

impl Channel {
    /// Without a type name it has none.
    fn new(topic: String, type_name: Option<String>, metadata: &BTreeMap<String, String>) -> Self {
        let offered = metadata.get("offered_qos_profiles").cloned().unwrap_or_default();
        Self { topic, type_name: type_name.unwrap_or_default(), offered }
    }

    /// Why messages of its type cannot be published.
    fn fault(&self) -> Option<String> {
        let is_name = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphabetic())
                && part.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
        };
        match self.type_name.split('/').collect::<Vec<_>>()[..] {
            [""] => Some("it has no type".to_owned()),
            [package, "msg" | "srv" | "action", name] if is_name(package) && is_name(name) => None,
            _ => Some(format!("'{}' is no type of ROS 2", self.type_name)),
        }
    }

    /// A profile that serves every subscriber whom one of the recorded publishers served.
    pub(super) fn qos(&self) -> QosProfile {
        const DEPTH: u32 = 10;
        const MAX_DEPTH: u32 = 1000;
        let offers: Vec<Offer> = serde_norway::from_str(&self.offered).unwrap_or_default();
        let depth = offers.iter().map(|offer| offer.depth).max().unwrap_or(DEPTH).clamp(1, MAX_DEPTH);
        let profile = QosProfile::default().keep_last(depth as usize);
        let is_unreliable =
            !offers.is_empty() && offers.iter().all(|offer| offer.reliability.is(2, "best_effort"));
        let profile = if is_unreliable { profile.best_effort() } else { profile };
        let is_latched = offers.iter().any(|offer| offer.durability.is(1, "transient_local"));
        if is_latched { profile.transient_local() } else { profile }
    }
}

/// What a file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// By the numbers in the file.
    pub(super) channels: BTreeMap<u16, Channel>,
    /// Topics that were wanted and cannot be played, with the reason.
    pub(super) left_out: BTreeMap<String, String>,
    /// Times of the first and the last message, ns since 1970.
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Contents {
    /// Reads the file's summary; the whole file once when it has none, as a recording that was not ended properly.
    pub(super) fn read(
        path: &Path,
        folder: Option<&Path>,
        wants: impl Fn(&str) -> bool,
    ) -> Result<Self, PlayError> {
        let mut reader = Reader::open(path, folder)?;
        if let Some(summary) = reader.summary()? {
            return Ok(Self::summarized(&summary, wants));
        }
        let mut schemas = BTreeMap::new();
        let mut contents = Self { first: u64::MAX, ..Self::default() };
        reader.read(|record| match record {
            Record::Schema { header, .. } => {
                schemas.insert(header.id, header.name);
            }
            Record::Channel(channel) if wants(&channel.topic) => {
                let type_name = schemas.get(&channel.schema_id).cloned();
                let known = Channel::new(channel.topic, type_name, &channel.metadata);
                contents.add(channel.id, &channel.message_encoding, known);
            }
            Record::Message { header, .. } => {
                contents.first = contents.first.min(header.log_time);
                contents.last = contents.last.max(header.log_time);
            }
            _ => {}
        })?;
        contents.first = contents.first.min(contents.last);
        Ok(contents)
    }

    fn summarized(summary: &Summary, wants: impl Fn(&str) -> bool) -> Self {
        let (first, last) =
            summary.stats.as_ref().map_or((0, 0), |known| (known.message_start_time, known.message_end_time));
        let mut contents = Self { first: first.min(last), last, ..Self::default() };
        for (number, channel) in summary.channels.iter().filter(|(_, channel)| wants(&channel.topic)) {
            let type_name = channel.schema.as_ref().map(|schema| schema.name.clone());
            let known = Channel::new(channel.topic.clone(), type_name, &channel.metadata);
            contents.add(*number, &channel.message_encoding, known);
        }
        contents
    }

    /// Adds a channel to those that are played, or to those that are left out.
    fn add(&mut self, number: u16, encoding: &str, channel: Channel) {
        let reason = match encoding {
            "cdr" => channel.fault(),
            "ros1" => Some("it is of ROS 1".to_owned()),
            other => Some(format!("its messages are encoded as '{other}', which is not ROS 2's")),
        };
        match reason {
            None => _ = self.channels.insert(number, channel),
            Some(reason) => _ = self.left_out.insert(channel.topic, reason),
        }
    }
}

/// A message of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) channel: u16,
    /// When it was recorded, ns since 1970.
    pub(super) time: u64,
    /// CDR with its four bytes of encapsulation header.
    pub(super) data: Vec<u8>,
}

/// The messages of a file, in its order; it is read as they are taken, a chunk at a time.
pub(super) fn follow(
    path: &Path,
    folder: Option<&Path>,
) -> Result<mpsc::Receiver<Result<Message, PlayError>>, PlayError> {
    let mut reader = Reader::open(path, folder)?;
    let (sender, receiver) = mpsc::channel(AHEAD);
    let work = async move {
        let mut records = Records::new();
        loop {
            let mut messages = Vec::new();
            let read = reader.read_some(&mut records, |record| {
                if let Record::Message { header, data } = record {
                    let (channel, time) = (header.channel_id, header.log_time);
                    messages.push(Message { channel, time, data: data.into_owned() });
                }
            });
            let (goes_on, error) = match read {
                Ok(goes_on) => (goes_on, None),
                Err(error) => (false, Some(error)),
            };
            for message in messages.into_iter().map(Ok).chain(error.map(Err)) {
                // Nobody waits for it any more when the playback has been stopped.
                if sender.send(message).await.is_err() {
                    return;
                }
            }
            if !goes_on {
                return;
            }
        }
    };
    dragoman_time::spawn_thread("play file", work).map_err(PlayError::Thread)?;
    Ok(receiver)
}

/// First bytes of other recordings, and what to do with them.
const FOREIGN: [(&[u8], &str); 2] = [
    (
        b"SQLite format 3\0",
        "it is a bag of rosbag2 in sqlite3; `ros2 bag convert -i FOLDER -o mcap.yaml` makes one that can be played, with \
         `output_bags: [{uri: NEW, storage_id: mcap, all_topics: true}]` in mcap.yaml",
    ),
    (
        b"#ROSBAG V",
        "it is a bag of ROS 1; `rosbags-convert --src FILE --dst FOLDER --dst-storage mcap` of the Python package rosbags \
         makes one that can be played",
    ),
];

/// A file, read from its beginning.
struct Reader {
    file: File,
    path: PathBuf,
}

impl Reader {
    /// With a `folder`, the file must be below it.
    fn open(path: &Path, folder: Option<&Path>) -> Result<Self, PlayError> {
        let file = match folder {
            Some(folder) => open_below(folder, path.strip_prefix(folder).unwrap_or(path)),
            None => open_regular(path),
        };
        let failed = |source| PlayError::Read { path: path.to_owned(), source };
        let mut reader = Self { file: file.map_err(failed)?, path: path.to_owned() };
        let mut start = Vec::new();
        reader.file.by_ref().take(16).read_to_end(&mut start).map_err(failed)?;
        reader.file.rewind().map_err(failed)?;
        match FOREIGN.iter().find(|(magic, _)| start.starts_with(magic)) {
            Some((_, reason)) => Err(PlayError::Format { path: reader.path, reason: (*reason).to_owned() }),
            None => Ok(reader),
        }
    }

    /// Gives all records to `take`. Where the file was cut off, for example because the recorder was killed, it ends.
    fn read(&mut self, mut take: impl FnMut(Record<'_>)) -> Result<(), PlayError> {
        let mut records = Records::new();
        while self.read_some(&mut records, &mut take)? {}
        Ok(())
    }

    /// Gives the next records to `take`; returns whether there may be more.
    fn read_some(&mut self, records: &mut Records, take: impl FnMut(Record<'_>)) -> Result<bool, PlayError> {
        records.read_some(&mut self.file, take).map_err(|error| self.error(error))
    }

    /// What the end of the file says about it, where it is complete; the next reading starts at the beginning.
    fn summary(&mut self) -> Result<Option<Summary>, PlayError> {
        let summary = summary(&mut self.file).filter(|summary| summary.stats.is_some());
        self.file.rewind().map_err(|error| self.error(McapError::Io(error)))?;
        let compressed = summary.iter().flat_map(|known| &known.chunk_indexes);
        match compressed.map(|chunk| &chunk.compression).find(|name| !chunk::is_known(name)) {
            Some(name) => Err(self.error(McapError::UnsupportedCompression(name.clone()))),
            None => Ok(summary),
        }
    }

    fn error(&self, error: McapError) -> PlayError {
        match error {
            McapError::Io(source) => PlayError::Read { path: self.path.clone(), source },
            McapError::UnsupportedCompression(name) => {
                let reason = format!(
                    "its chunks are compressed ({name}); `mcap compress --compression zstd` changes that"
                );
                PlayError::Format { path: self.path.clone(), reason }
            }
            other => PlayError::Format { path: self.path.clone(), reason: other.to_string() },
        }
    }
}

/// The summary of a file; `None`: it has none, or a damaged one.
fn summary(input: &mut (impl Read + Seek)) -> Option<Summary> {
    let size = input.seek(std::io::SeekFrom::End(0)).ok()?;
    let options =
        SummaryReaderOptions::default().with_file_size(size).with_record_length_limit(MAX_RECORD_LEN);
    let mut reader = SummaryReader::new_with_options(options);
    while let Some(event) = reader.next_event() {
        match event.ok()? {
            SummaryReadEvent::ReadRequest(length) => {
                let read = input.read(reader.insert(length)).ok()?;
                reader.notify_read(read);
            }
            SummaryReadEvent::SeekRequest(place) => reader.notify_seeked(input.seek(place).ok()?),
        }
    }
    reader.finish()
}

/// The records of a file, from its beginning.
struct Records {
    reader: LinearReader,
    is_begun: bool,
}

impl Records {
    fn new() -> Self {
        // The records of a chunk are separated here: the library's reader of chunks relies on their lengths.
        let options =
            LinearReaderOptions::default().with_record_length_limit(MAX_RECORD_LEN).with_emit_chunks(true);
        Self { reader: LinearReader::new_with_options(options), is_begun: false }
    }

    /// Gives the next record, or those of the next chunk, to `take`; returns whether there may be more.
    fn read_some(
        &mut self,
        input: &mut impl Read,
        mut take: impl FnMut(Record<'_>),
    ) -> Result<bool, McapError> {
        while let Some(event) = self.reader.next_event() {
            match event {
                Ok(LinearReadEvent::ReadRequest(length)) => {
                    let read = input.read(self.reader.insert(length)).map_err(McapError::Io)?;
                    self.reader.notify_read(read);
                }
                Ok(LinearReadEvent::Record { data, opcode }) => {
                    self.is_begun = true;
                    match mcap::parse_record(opcode, data)? {
                        Record::Chunk { header, data } => chunk::read(&header, data, &mut take)?,
                        record => take(record),
                    }
                    return Ok(true);
                }
                Err(McapError::UnexpectedEof) if self.is_begun => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Cursor;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use dragoman_ros::qos::{DurabilityPolicy, ReliabilityPolicy};
    use mcap::records::MessageHeader;
    use proptest::prelude::*;

    use super::*;

    /// Two messages on one topic.
    fn recording() -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let mut writer = mcap::WriteOptions::new().compression(None).create(&mut file).unwrap();
        let schema = writer.add_schema("std_msgs/msg/Bool", "ros2msg", b"bool data").unwrap();
        let offered = "- history: 1\n  depth: 7\n  reliability: 2\n  durability: 1\n".to_owned();
        let metadata = BTreeMap::from([("offered_qos_profiles".to_owned(), offered)]);
        let channel_id = writer.add_channel(schema, "/lamp", "cdr", &metadata).unwrap();
        for (sequence, log_time) in [(0, 10), (1, 30)] {
            let header = MessageHeader { channel_id, sequence, log_time, publish_time: log_time };
            writer.write_to_known_channel(&header, &[0, 1, 0, 0, 1]).unwrap();
        }
        writer.finish().unwrap();
        drop(writer);
        file.into_inner()
    }

    /// Of a file with these bytes.
    fn contents(bytes: &[u8]) -> Result<Contents, PlayError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dragoman_play_{}_{number}.mcap", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let contents = Contents::read(&path, None, |_| true);
        std::fs::remove_file(&path).unwrap();
        contents
    }

    fn count(mut bytes: &[u8]) -> Result<usize, McapError> {
        let mut messages = 0;
        let mut records = Records::new();
        let mut take = |record: Record<'_>| messages += usize::from(matches!(record, Record::Message { .. }));
        while records.read_some(&mut bytes, &mut take)? {}
        Ok(messages)
    }

    #[test]
    fn contents_are_channels_and_times() {
        let path = std::env::temp_dir().join(format!("dragoman_play_{}.mcap", std::process::id()));
        std::fs::write(&path, recording()).unwrap();
        let contents = Contents::read(&path, None, |_| true).unwrap();
        assert_eq!((contents.first, contents.last), (10, 30));
        let channel = contents.channels.values().next().unwrap();
        assert_eq!((channel.topic.as_str(), channel.type_name.as_str()), ("/lamp", "std_msgs/msg/Bool"));
        let qos = channel.qos();
        assert_eq!((qos.depth, qos.reliability), (7, ReliabilityPolicy::BestEffort));
        assert_eq!(qos.durability, DurabilityPolicy::TransientLocal);
        assert_eq!(Contents::read(&path, None, |_| false).unwrap().channels.len(), 0);
        // Without a summary, reading the whole file gives the same.
        let whole = recording();
        assert!(summary(&mut Cursor::new(&whole)).is_some());
        let cut = &whole[..whole.len() - 9];
        assert!(summary(&mut Cursor::new(cut)).is_none());
        std::fs::write(&path, cut).unwrap();
        assert_eq!(Contents::read(&path, None, |_| true).unwrap(), contents);
        std::fs::write(&path, "no recording").unwrap();
        assert!(Contents::read(&path, None, |_| true).unwrap_err().to_string().contains("cannot be played"));
        std::fs::remove_file(&path).unwrap();
        assert!(Contents::read(&path, None, |_| true).unwrap_err().to_string().contains("cannot read"));
    }

    /// Written by other programs.
    #[test]
    fn compressed_chunks_are_read() {
        for bytes in [&include_bytes!("cases/lz4.mcap")[..], include_bytes!("cases/zstd.mcap")] {
            assert_eq!(count(bytes).unwrap(), 5);
            let whole = contents(bytes).unwrap();
            assert_eq!(whole.channels.values().next().unwrap().type_name, "std_msgs/msg/String");
            // Without its end it has the same.
            assert_eq!(contents(&bytes[..bytes.len() - 9]).unwrap(), whole);
            // A damaged chunk is an error, not a wrong message.
            let mut damaged = bytes.to_vec();
            let place = damaged.windows(3).position(|name| name == b"lz4" || name == b"zst").unwrap();
            damaged[place + 20..place + 60].fill(0xff);
            count(&damaged).unwrap_err();
        }
    }

    #[test]
    fn a_chunk_takes_no_more_than_it_says() {
        let records = vec![0; 100_000];
        let lz4 = {
            let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
            std::io::Write::write_all(&mut encoder, &records).unwrap();
            encoder.finish().unwrap()
        };
        for (uncompressed_size, words) in [(10, "has not the 10 bytes"), (u64::MAX, "is too long")] {
            let header = mcap::records::ChunkHeader {
                message_start_time: 0,
                message_end_time: 0,
                uncompressed_size,
                uncompressed_crc: 0,
                compression: "lz4".to_owned(),
                compressed_size: lz4.len() as u64,
            };
            let error = chunk::read(&header, lz4.as_slice().into(), |_| {}).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_played_is_left_out_with_the_reason() {
        for (bytes, reason) in [
            (
                &include_bytes!("cases/json.mcap")[..],
                "its messages are encoded as 'json', which is not ROS 2's",
            ),
            (include_bytes!("cases/ros1.mcap"), "it is of ROS 1"),
            (include_bytes!("cases/noschema.mcap"), "it has no type"),
            (include_bytes!("cases/ros1typename.mcap"), "'std_msgs/String' is no type of ROS 2"),
        ] {
            for bytes in [bytes, &bytes[..bytes.len() - 9]] {
                let contents = contents(bytes).unwrap();
                assert!(contents.channels.is_empty(), "{reason}");
                let left_out = BTreeMap::from([("/chat".to_owned(), reason.to_owned())]);
                assert_eq!(contents.left_out, left_out);
            }
        }
        let unknown = contents(include_bytes!("cases/unknown.mcap")).unwrap();
        assert_eq!(unknown.channels.values().next().unwrap().type_name, "my_msgs/msg/Thing");
        for (start, words) in
            [(&b"SQLite format 3\0"[..], "ros2 bag convert"), (b"#ROSBAG V2.0\n", "of ROS 1")]
        {
            let error = contents(start).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn policies_have_numbers_or_names() {
        let of = |offered: &str| Channel { offered: offered.to_owned(), ..Channel::default() }.qos();
        let named = of("- {history: keep_last, depth: 5, reliability: best_effort, durability: volatile}");
        assert_eq!((named.reliability, named.depth), (ReliabilityPolicy::BestEffort, 5));
        let mixed =
            "- {depth: 1, reliability: 2, durability: 2}\n- {depth: 0, reliability: 1, durability: 1}";
        assert_eq!(of(mixed).reliability, ReliabilityPolicy::Reliable);
        assert_eq!(of(mixed).durability, DurabilityPolicy::TransientLocal);
        assert_eq!(of("nonsense").depth, 10);
    }

    #[test]
    fn a_recording_that_was_cut_off_ends_there() {
        let whole = recording();
        assert_eq!(count(&whole).unwrap(), 2);
        for length in 9..whole.len() {
            assert!(count(&whole[..length]).unwrap_or(0) <= 2);
        }
        assert!(count(&whole[..whole.len() - 9]).is_ok());
    }

    proptest! {
        #[test]
        fn no_file_ends_the_program(
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..20),
        ) {
            let mut bytes = recording();
            for (place, value) in changes {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            let _ = count(&bytes);
            let _ = summary(&mut Cursor::new(&bytes));
        }
    }
}
