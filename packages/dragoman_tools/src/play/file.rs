//! What a recording holds, and its messages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dragoman_ros::QosProfile;
use mcap::records::Record;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::PlayError;
use crate::bag::{self, BagError, Reader};

/// Messages that are read ahead.
const AHEAD: usize = 64;

/// One topic of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) topic: String,
    /// `package/msg/Name`; empty: it has none.
    pub(crate) type_name: String,
    /// How its messages are encoded.
    pub(crate) encoding: String,
    /// The quality of service of its publishers, as `rosbag2` writes it.
    pub(crate) offered: String,
    pub(crate) messages: u64,
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
    /// Reason why its messages cannot be published.
    pub(crate) fn fault(&self) -> Option<String> {
        match self.encoding.as_str() {
            "cdr" => {}
            "ros1" => return Some("it is of ROS 1".to_owned()),
            other => return Some(format!("its messages are encoded as '{other}', which is not ROS 2's")),
        }
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

    /// A profile that matches every subscription that one of the recorded publishers matched.
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

/// What a recording holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Its files, in their order.
    pub(crate) files: Vec<PathBuf>,
    /// The folder that they must be below, when their names come from outside.
    pub(crate) folder: Option<PathBuf>,
    /// Sorted by topic and type.
    pub(crate) channels: Vec<Channel>,
    /// The place in `channels` of each channel, by the number of its file, and its own in it.
    pub(crate) numbers: BTreeMap<(usize, u16), usize>,
    /// Times of the first and the last message, ns since 1970; `None`: there is no message.
    pub(crate) span: Option<(u64, u64)>,
    /// Files that were not ended properly.
    pub(crate) cut: usize,
}

/// What is known of one file.
#[derive(Default)]
struct Known {
    /// Names of types, by the numbers of their schemas.
    types: BTreeMap<u16, String>,
    channels: BTreeMap<u16, Channel>,
    span: Option<(u64, u64)>,
}

impl Contents {
    /// Reads the summaries of the files of a recording; a whole file once when it has none, as one that was not ended
    /// properly.
    pub(crate) fn read(path: &Path, folder: Option<&Path>) -> Result<Self, BagError> {
        let files = match folder {
            // The name of one file in it.
            Some(_) => vec![path.to_owned()],
            None => bag::files(path)?,
        };
        let mut contents = Self { folder: folder.map(Path::to_owned), ..Self::default() };
        let mut numbered = Vec::new();
        for (file, path) in files.iter().enumerate() {
            let mut reader = Reader::open(path, folder)?;
            let known = match reader.summary()? {
                Some(summary) => Known::summarized(summary),
                None => {
                    contents.cut += 1;
                    Known::scanned(&mut reader)?
                }
            };
            if let Some(span) = known.span {
                contents.span = Some(joined(contents.span, span));
            }
            numbered.extend(known.channels.into_iter().map(|(id, channel)| ((file, id), channel)));
        }
        contents.files = files;
        numbered.sort_by(|(_, a), (_, b)| (&a.topic, &a.type_name).cmp(&(&b.topic, &b.type_name)));
        for (number, channel) in numbered {
            match contents.channels.last_mut() {
                Some(last) if last.topic == channel.topic && last.type_name == channel.type_name => {
                    last.messages += channel.messages;
                }
                _ => contents.channels.push(channel),
            }
            contents.numbers.insert(number, contents.channels.len() - 1);
        }
        Ok(contents)
    }

    /// The messages, in the order of the files; they are read as they are taken, a chunk at a time.
    pub(super) fn follow(&self) -> Result<mpsc::Receiver<Result<Message, PlayError>>, PlayError> {
        let (files, folder, numbers) = (self.files.clone(), self.folder.clone(), self.numbers.clone());
        let (sender, receiver) = mpsc::channel(AHEAD);
        let work = async move {
            for (file, path) in files.iter().enumerate() {
                let number = |id| numbers.get(&(file, id)).copied();
                if let Err(error) = follow_file(path, folder.as_deref(), number, &sender).await {
                    // The receiver is gone when the playback has been stopped.
                    let _ = sender.send(Err(error.into())).await;
                    return;
                }
            }
        };
        dragoman_time::spawn_thread("play file", work).map_err(PlayError::Thread)?;
        Ok(receiver)
    }
}

impl Known {
    fn summarized(records: Vec<Record<'_>>) -> Self {
        let (mut known, mut counts) = (Self::default(), BTreeMap::new());
        let (schemas, others): (Vec<_>, Vec<_>) =
            records.into_iter().partition(|record| matches!(record, Record::Schema { .. }));
        for record in schemas.into_iter().chain(others) {
            if let Record::Statistics(statistics) = record {
                let [first, last] = [statistics.message_start_time, statistics.message_end_time];
                known.span = (statistics.message_count > 0).then_some((first.min(last), last));
                counts = statistics.channel_message_counts;
            } else {
                known.add(record);
            }
        }
        for (id, channel) in &mut known.channels {
            channel.messages = counts.get(id).copied().unwrap_or_default();
        }
        known
    }

    fn scanned(reader: &mut Reader) -> Result<Self, BagError> {
        let mut known = Self::default();
        reader.read(|record| known.add(record))?;
        Ok(known)
    }

    fn add(&mut self, record: Record<'_>) {
        match record {
            Record::Schema { header, .. } => {
                self.types.insert(header.id, header.name);
            }
            Record::Channel(channel) => {
                self.channels.entry(channel.id).or_insert_with(|| Channel {
                    type_name: self.types.get(&channel.schema_id).cloned().unwrap_or_default(),
                    topic: channel.topic,
                    encoding: channel.message_encoding,
                    offered: offered(&channel.metadata),
                    messages: 0,
                });
            }
            Record::Message { header, .. } => {
                self.span = Some(joined(self.span, (header.log_time, header.log_time)));
                if let Some(channel) = self.channels.get_mut(&header.channel_id) {
                    channel.messages += 1;
                }
            }
            _ => {}
        }
    }
}

fn offered(metadata: &BTreeMap<String, String>) -> String {
    metadata.get("offered_qos_profiles").cloned().unwrap_or_default()
}

/// The time from the earlier beginning to the later end.
fn joined(known: Option<(u64, u64)>, (first, last): (u64, u64)) -> (u64, u64) {
    let (before, after) = known.unwrap_or((first, last));
    (before.min(first), after.max(last))
}

/// A message of a recording.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The place of its channel.
    pub(super) channel: usize,
    /// When it was recorded, ns since 1970.
    pub(super) time: u64,
    /// CDR with its four bytes of encapsulation header.
    pub(super) data: Vec<u8>,
}

/// Sends the messages of a file, until its end or until the receiver is gone.
async fn follow_file(
    path: &Path,
    folder: Option<&Path>,
    number: impl Fn(u16) -> Option<usize>,
    sender: &mpsc::Sender<Result<Message, PlayError>>,
) -> Result<(), BagError> {
    let mut reader = Reader::open(path, folder)?;
    let mut goes_on = true;
    while goes_on {
        let mut messages = Vec::new();
        let read = reader.read_some(|record| {
            if let Record::Message { header, data } = record
                && let Some(channel) = number(header.channel_id)
            {
                messages.push(Message { channel, time: header.log_time, data: data.into_owned() });
            }
        });
        for message in messages {
            if sender.send(Ok(message)).await.is_err() {
                return Ok(());
            }
        }
        goes_on = read?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dragoman_ros::qos::{DurabilityPolicy, ReliabilityPolicy};
    use mcap::records::{MessageHeader, Metadata};

    use super::*;
    use crate::bag::{Compression, Folder, Writer};

    /// One message on each of these topics, at these times.
    fn recording(messages: &[(&str, u64)]) -> Vec<u8> {
        let metadata = Metadata { name: "rosbag2".to_owned(), metadata: [].into() };
        let mut writer = Writer::begin(Vec::new(), Compression::Lz4, metadata).unwrap();
        let offered = "- history: 1\n  depth: 7\n  reliability: 2\n  durability: 1\n".to_owned();
        for (topic, log_time) in messages {
            let metadata = BTreeMap::from([("offered_qos_profiles".to_owned(), offered.clone())]);
            let schema = ("ros2msg", &b"bool data"[..]);
            let channel_id = writer.add_channel(topic, "std_msgs/msg/Bool", schema, metadata).unwrap();
            let header =
                MessageHeader { channel_id, sequence: 0, log_time: *log_time, publish_time: *log_time };
            writer.write(&header, &[0, 1, 0, 0, 1]).unwrap();
        }
        writer.finish().unwrap().0
    }

    /// Of a file with these bytes.
    fn contents(bytes: &[u8]) -> Result<Contents, BagError> {
        let folder = Folder::new(&[("a.mcap", bytes)]);
        Contents::read(&folder.path().join("a.mcap"), None)
    }

    #[test]
    fn contents_are_channels_and_times() {
        let whole = recording(&[("/lamp", 10), ("/door", 30)]);
        let known = contents(&whole).unwrap();
        assert_eq!((known.span, known.cut), (Some((10, 30)), 0));
        let [door, lamp] = &known.channels[..] else { panic!("two channels") };
        assert_eq!((door.topic.as_str(), lamp.topic.as_str()), ("/door", "/lamp"));
        assert_eq!((lamp.type_name.as_str(), lamp.messages), ("std_msgs/msg/Bool", 1));
        let qos = lamp.qos();
        assert_eq!((qos.depth, qos.reliability), (7, ReliabilityPolicy::BestEffort));
        assert_eq!(qos.durability, DurabilityPolicy::TransientLocal);
        // Without a summary, reading the whole file gives the same.
        let scanned = contents(&whole[..whole.len() - 9]).unwrap();
        assert_eq!((scanned.channels, scanned.span, scanned.cut), (known.channels, known.span, 1));
        assert!(contents(b"no recording").unwrap_err().to_string().contains("is no recording"));
        assert!(Contents::read(Path::new("/nowhere"), None).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn the_files_of_a_folder_are_one_recording() {
        // Numbers of channels are those of each file.
        let first = recording(&[("/lamp", 10), ("/door", 30)]);
        let second = recording(&[("/door", 40), ("/bell", 50), ("/lamp", 60)]);
        let folder = Folder::new(&[("run_0.mcap", &first), ("run_1.mcap", &second[..second.len() - 9])]);
        let known = Contents::read(folder.path(), None).unwrap();
        assert_eq!((known.span, known.cut, known.files.len()), (Some((10, 60)), 1, 2));
        let counts: Vec<_> = known.channels.iter().map(|c| (c.topic.as_str(), c.messages)).collect();
        assert_eq!(counts, [("/bell", 1), ("/door", 2), ("/lamp", 2)]);
        let mut messages = known.follow().unwrap();
        let mut played = Vec::new();
        while let Some(message) = messages.blocking_recv() {
            let message = message.unwrap();
            played.push((known.channels[message.channel].topic.as_str(), message.time));
        }
        assert_eq!(played, [("/lamp", 10), ("/door", 30), ("/door", 40), ("/bell", 50), ("/lamp", 60)]);
    }

    #[test]
    fn what_cannot_be_played_has_a_reason() {
        for (bytes, reason) in [
            (
                &include_bytes!("../bag/cases/json.mcap")[..],
                "its messages are encoded as 'json', which is not ROS 2's",
            ),
            (include_bytes!("../bag/cases/ros1.mcap"), "it is of ROS 1"),
            (include_bytes!("../bag/cases/noschema.mcap"), "it has no type"),
            (include_bytes!("../bag/cases/ros1typename.mcap"), "'std_msgs/String' is no type of ROS 2"),
        ] {
            for bytes in [bytes, &bytes[..bytes.len() - 9]] {
                let contents = contents(bytes).unwrap();
                let [channel] = &contents.channels[..] else { panic!("one channel") };
                assert_eq!((channel.topic.as_str(), channel.fault().as_deref()), ("/chat", Some(reason)));
            }
        }
        let unknown = contents(include_bytes!("../bag/cases/unknown.mcap")).unwrap();
        assert_eq!(unknown.channels[0].type_name, "my_msgs/msg/Thing");
        assert_eq!(unknown.channels[0].fault(), None);
        for (start, words) in [
            (&b"SQLite format 3\0"[..], "ros2 bag convert"),
            (b"#ROSBAG V2.0\n", "of ROS 1"),
            (b"\x28\xb5\x2f\xfd\x00", "unzstd"),
        ] {
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
}
