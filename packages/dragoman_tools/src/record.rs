//! `dragoman record`: records topics in an MCAP file that Foxglove, `ros2 bag` and the `mcap` tools open.
//!
//! | file | holds |
//! | --- | --- |
//! | `record.rs` | the options, the loop, the summary |
//! | `record/selection.rs` | selection of topics |
//! | `record/graph.rs` | finds topics as they appear and subscribes to them, on its own thread |
//! | `record/channel.rs` | metadata of a topic in the file: schema, quality of service |
//! | `record/thesis_logs.rs` | the text files of the Ranger thesis |
//! | `record/file.rs` | the file behind a bounded queue, on its own thread |
//! | `record/view.rs` | the line about its progress on a terminal |
//! | `record/node.rs` | a node whose services start and stop recordings |
//!
//! So a slow disk delays neither the graph nor the loop: messages are dropped and counted when the queue is full.

mod channel;
mod file;
mod graph;
pub mod node;
pub(crate) mod selection;
mod thesis_logs;
mod view;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::DateTime;
use dragoman_ros::raw::SerializedMessage;
use dragoman_ros::{Context, Node};
use futures::channel::{mpsc, oneshot};
use futures::future::OptionFuture;
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt, StreamExt};

use channel::Channel;
use file::{Entry, Recording};
use graph::{Found, Subscribed, watch};
use selection::{Pattern, Pictures, Selection, with_hint};
use thesis_logs::ThesisLogs;
use view::View;

use crate::bag::Compression;

/// Options of the recording.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RecordOptions {
    /// File to write, which must not exist; default: dragoman_DATE_TIME.mcap (UTC) in the current folder.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Topics to leave out, separated by commas; NAME/ stands for all topics below it. May be given several times.
    #[arg(long, value_name = "TOPICS", value_delimiter = ',')]
    pub(crate) exclude: Vec<Pattern>,
    /// Also write the six text files of the Ranger thesis' logger, log1.dat to log6.dat, to this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) thesis_logs: Option<PathBuf>,
    /// Namespace of the arm of --thesis-logs.
    #[arg(long, value_name = "NAMESPACE", default_value = "/ranger", requires = "thesis_logs")]
    pub(crate) arm: String,
    /// Record raw pictures as well, tens of megabytes a second for each camera.
    #[arg(long, conflicts_with = "topics")]
    pub(crate) all: bool,
    /// Compression of the file.
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub(crate) compression: Compression,
    /// Topics to record; NAME/ stands for all topics below it. Default: all but raw pictures.
    #[arg(value_name = "TOPICS")]
    pub(crate) topics: Vec<Pattern>,
    /// Pictures of a recording of the whole lab.
    #[arg(skip)]
    pictures: Option<Pictures>,
    /// Whether a terminal shows how far it is.
    #[arg(skip)]
    is_shown: bool,
}

impl RecordOptions {
    /// All topics in `output`, with or without pictures.
    pub fn of_lab(output: &Path, has_pictures: bool) -> Self {
        let pictures = if has_pictures { Pictures::All } else { Pictures::None };
        Self { output: Some(output.to_owned()), pictures: Some(pictures), ..Self::default() }
    }

    /// With a line about its progress, if there is a terminal.
    #[must_use]
    pub fn shown(self) -> Self {
        Self { is_shown: true, ..self }
    }

    /// Named topics are recorded with all pictures.
    fn pictures(&self) -> Pictures {
        let is_all = self.all || !self.topics.is_empty();
        self.pictures.unwrap_or(if is_all { Pictures::All } else { Pictures::Compressed })
    }
}

/// A hint if the file already exists, otherwise the system's error.
fn create_error(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => "it exists: choose another name, or delete it".to_owned(),
        _ => error.to_string(),
    }
}

/// Error of a recording, which may be incomplete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file cannot be created; existing ones are never overwritten.
    #[error("cannot create {}: {}", path.display(), create_error(source))]
    Create {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// Writing failed, for example because the disk is full.
    #[error("cannot write {} any further: {source}; it holds the recording up to about a second before", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The recording has ended while there was room for its index.
    #[error("the disk is nearly full: {} MB are left; {} is complete up to here", left / 1_000_000, path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What the disk has left, bytes.
        left: u64,
    },
    /// The recording exceeds a limit of the format: 65535 topics or types.
    #[error("cannot write {} any further: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The limit.
        reason: String,
    },
    /// The recording is complete, and has no message.
    #[error("nothing was recorded: no topic had a message")]
    Nothing,
    /// The recording has nothing of these topics.
    #[error("not published: {0}")]
    Missing(String),
    /// The recording has gaps.
    #[error("{0} messages were dropped: writing did not keep up")]
    Dropped(u64),
    /// The system refused another thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// No node can be created.
    #[error(transparent)]
    Ros(#[from] dragoman_ros::Error),
}

/// Summary of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// Time from the first to the last message.
    pub(crate) duration: Duration,
    /// The topics, sorted by name, including those without messages.
    pub(crate) topics: Vec<TopicSummary>,
    /// Requested topics without a publisher, with what may be meant.
    pub(crate) missing: Vec<String>,
    /// Topics of raw pictures, which were not asked for.
    pub(crate) left_out: Vec<String>,
}

/// Maximum number of topics that a summary names.
const MAX_SHOWN: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopicSummary {
    /// Full name.
    pub(crate) topic: String,
    /// `package/msg/Name`.
    pub(crate) type_name: String,
    /// Messages in the file.
    pub(crate) messages: u64,
    /// Messages missing in the file because writing did not keep up.
    pub(crate) dropped: u64,
}

/// Records until `stop` resolves.
///
/// # Errors
/// The file cannot be created or written; no node can be created.
pub async fn run(
    context: Context,
    options: RecordOptions,
    stop: impl Future<Output = ()>,
) -> Result<Summary, RecordError> {
    Session::create(options)?.run(context, stop).await
}

/// A recording whose file exists.
struct Session {
    path: PathBuf,
    recording: Recording,
    selection: Selection,
    thesis_logs: Option<ThesisLogs>,
    arm: String,
    view: View,
    /// Messages that were dropped because writing did not keep up.
    dropped: Arc<AtomicU64>,
}

impl Session {
    fn create(options: RecordOptions) -> Result<Self, RecordError> {
        let pictures = options.pictures();
        let path = options.output.unwrap_or_else(|| default_name(nanoseconds_now()).into());
        let recording = Recording::create(&path, options.compression)?;
        let thesis_logs = options.thesis_logs.as_deref().map(ThesisLogs::create).transpose()?;
        let selection = Selection::new(options.topics, options.exclude).with_pictures(pictures);
        let view = View::new(options.is_shown, recording.progress());
        let dropped = Arc::default();
        Ok(Self { path, recording, selection, thesis_logs, arm: options.arm, view, dropped })
    }

    async fn run(self, context: Context, stop: impl Future<Output = ()>) -> Result<Summary, RecordError> {
        let Self { path, mut recording, selection, thesis_logs, arm, mut view, dropped } = self;
        let thesis_logs = OptionFuture::from(thesis_logs.map(|logs| logs.write(context.clone(), &arm)));
        let mut thesis_logs = std::pin::pin!(thesis_logs);
        let node = Node::create(context, "dragoman_record", "")?;
        let (found, mut incoming) = mpsc::unbounded();
        let watch = watch(node, selection.clone(), found).map_err(RecordError::Thread)?;
        tracing::info!(file = %path.display(), "recording started");

        let mut topics = Topics::default();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                error = recording.failed() => return Err(error),
                Some(error) = &mut thesis_logs => return Err(error),
                Some(found) = incoming.next() => match found {
                    Found::Topic(topic) => topics.add(topic),
                    Found::LeftOut(topic) => topics.left_out.push(topic),
                    Found::Other(topic) => topics.others.push(topic),
                },
                Some((index, message)) = topics.messages.next(), if !topics.messages.is_empty() => {
                    topics.record(index, message, &recording, &dropped);
                }
                () = view.tick() => {}
            }
        }
        view.clear();
        drop(watch);
        let written = recording.finish().await?;
        Ok(topics.summary(path, &written, &selection))
    }
}

/// A topic being recorded.
#[derive(Default)]
struct Topics {
    topics: Vec<Topic>,
    messages: SelectAll<BoxStream<'static, (usize, SerializedMessage)>>,
    left_out: Vec<String>,
    /// Topics that were not requested.
    others: Vec<String>,
}

struct Topic {
    channel: Arc<Channel>,
    dropped: u64,
    /// Ends the subscription when dropped.
    _subscribed: oneshot::Sender<()>,
}

impl Topics {
    fn add(&mut self, found: Subscribed) {
        let (subscribed, end) = oneshot::channel::<()>();
        let known = self.topics.iter_mut().enumerate().find(|(_, topic)| topic.channel.is_of(&found));
        let index = match known {
            Some((index, topic)) => {
                topic._subscribed = subscribed;
                index
            }
            None => {
                let channel = Arc::new(Channel::new(self.topics.len(), &found));
                self.topics.push(Topic { channel, dropped: 0, _subscribed: subscribed });
                self.topics.len() - 1
            }
        };
        let messages = found.messages.take_until(end.map(drop)).map(move |message| (index, message));
        self.messages.push(messages.boxed());
    }

    fn record(
        &mut self,
        index: usize,
        message: SerializedMessage,
        recording: &Recording,
        dropped: &AtomicU64,
    ) {
        let Some(topic) = self.topics.get_mut(index) else { return };
        let log_time = nanoseconds_now();
        let entry = Entry {
            channel: Arc::clone(&topic.channel),
            log_time,
            publish_time: message.source_time.unwrap_or(log_time),
            data: message.data,
        };
        if !recording.offer(entry) {
            topic.dropped += 1;
            dropped.fetch_add(1, Ordering::Relaxed);
            if topic.dropped == 1 {
                tracing::warn!(topic = topic.channel.topic, "messages dropped: writing does not keep up");
            }
        }
    }

    fn summary(&self, path: PathBuf, written: &file::Written, selection: &Selection) -> Summary {
        let mut topics: Vec<_> = self
            .topics
            .iter()
            .enumerate()
            .map(|(index, topic)| TopicSummary {
                topic: topic.channel.topic.clone(),
                type_name: topic.channel.type_name.clone(),
                messages: written.messages.get(index).copied().unwrap_or_default(),
                dropped: topic.dropped,
            })
            .collect();
        topics.sort_by(|a, b| (&a.topic, &a.type_name).cmp(&(&b.topic, &b.type_name)));
        let recorded = || topics.iter().map(|topic| topic.topic.as_str());
        let missing = selection.missing(recorded()).into_iter();
        let missing = missing
            .map(|missing| with_hint(&missing, recorded().chain(self.others.iter().map(String::as_str))))
            .collect();
        let left_out = self.left_out.clone();
        Summary { path, bytes: written.bytes, duration: written.duration, topics, missing, left_out }
    }
}

impl Summary {
    /// Whether the recording has all that was wanted.
    ///
    /// # Errors
    /// It has no message; topics that were named have no publisher; messages are missing.
    pub fn complete(&self) -> Result<(), RecordError> {
        let dropped: u64 = self.topics.iter().map(|topic| topic.dropped).sum();
        if !self.missing.is_empty() {
            Err(RecordError::Missing(self.missing.join(", ")))
        } else if self.topics.iter().all(|topic| topic.messages == 0) {
            Err(RecordError::Nothing)
        } else if dropped > 0 {
            Err(RecordError::Dropped(dropped))
        } else {
            Ok(())
        }
    }

    /// One line: file, duration, number of messages, size.
    pub fn in_short(&self) -> String {
        let messages: u64 = self.topics.iter().map(|topic| topic.messages).sum();
        let (seconds, megabytes) = (self.duration.as_secs_f64(), self.bytes as f64 * 1e-6);
        format!("{}: {seconds:.1} s, {messages} messages, {megabytes:.2} MB", self.path.display())
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.in_short())?;
        // Those with the most messages; `dragoman info` has them all.
        let mut shown: Vec<&TopicSummary> = self.topics.iter().collect();
        if shown.len() > MAX_SHOWN {
            shown.sort_by_key(|topic| (topic.dropped == 0, std::cmp::Reverse(topic.messages)));
            shown.truncate(MAX_SHOWN);
        }
        let width = |of: fn(&TopicSummary) -> &str, title: &str| {
            shown.iter().map(|topic| of(topic).len()).max().unwrap_or_default().max(title.len())
        };
        let (topic, kind) = (width(|t| &t.topic, "topic"), width(|t| &t.type_name, "type"));
        write!(formatter, "{:topic$}  {:kind$}  messages", "topic", "type")?;
        for line in &shown {
            write!(formatter, "\n{:topic$}  {:kind$}  {:>8}", line.topic, line.type_name, line.messages)?;
            if line.dropped > 0 {
                write!(formatter, " and {} dropped: writing did not keep up", line.dropped)?;
            }
        }
        let more = self.topics.len() - shown.len();
        if more > 0 {
            write!(formatter, "\nand {more} topics more: `dragoman info {}`", self.path.display())?;
        }
        if !self.left_out.is_empty() {
            write!(
                formatter,
                "\nleft out, because raw pictures are large (--all): {}",
                self.left_out.join(", ")
            )?;
        }
        if !self.missing.is_empty() {
            write!(formatter, "\nnot published: {}", self.missing.join(", "))?;
        }
        Ok(())
    }
}

/// Nanoseconds since 1970.
fn nanoseconds_now() -> u64 {
    u64::try_from(dragoman_time::wall_time().as_nanos()).unwrap_or(u64::MAX)
}

/// `dragoman_2026-03-01T10-20-30Z.mcap`: without colons, which not all file systems allow.
fn default_name(nanoseconds: u64) -> String {
    let time = DateTime::from_timestamp_nanos(i64::try_from(nanoseconds).unwrap_or(i64::MAX));
    time.format("dragoman_%Y-%m-%dT%H-%M-%SZ.mcap").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_name_is_the_date_and_time() {
        for (seconds, name) in [
            (0, "dragoman_1970-01-01T00-00-00Z.mcap"),
            (1_709_210_096, "dragoman_2024-02-29T12-34-56Z.mcap"),
            (1_709_251_200, "dragoman_2024-03-01T00-00-00Z.mcap"),
            (4_102_444_799, "dragoman_2099-12-31T23-59-59Z.mcap"),
        ] {
            assert_eq!(default_name(seconds * 1_000_000_000), name);
        }
    }

    #[test]
    fn the_summary_is_a_table() {
        let topic = |topic: &str, messages, dropped| TopicSummary {
            topic: topic.into(),
            type_name: "std_msgs/msg/Bool".into(),
            messages,
            dropped,
        };
        let summary = Summary {
            path: "a.mcap".into(),
            bytes: 1_234_567,
            duration: Duration::from_millis(2500),
            topics: vec![topic("/lamp", 12, 0), topic("/ranger/brake", 3, 4)],
            missing: vec!["/door".into()],
            left_out: Vec::new(),
        };
        let expected = "a.mcap: 2.5 s, 15 messages, 1.23 MB\n\
            topic          type               messages\n\
            /lamp          std_msgs/msg/Bool        12\n\
            /ranger/brake  std_msgs/msg/Bool         3 and 4 dropped: writing did not keep up\n\
            not published: /door";
        assert_eq!(summary.to_string(), expected);
        let complete = |summary: &Summary| summary.complete().map_err(|error| error.to_string());
        assert_eq!(complete(&summary), Err("not published: /door".into()));
        let published = Summary { missing: Vec::new(), ..summary.clone() };
        assert_eq!(complete(&published), Err("4 messages were dropped: writing did not keep up".into()));
        let small = Summary { topics: vec![topic("/lamp", 12, 0)], ..published.clone() };
        assert_eq!(complete(&small), Ok(()));
        let empty = Summary { topics: vec![topic("/lamp", 0, 0)], ..published };
        assert_eq!(complete(&empty), Err("nothing was recorded: no topic had a message".into()));

        let many = (0..20).map(|number| topic(&format!("/lamp_{number}"), number, u64::from(number == 3)));
        let left_out = vec!["/camera/rgb/image_raw".to_owned()];
        let text = Summary { topics: many.collect(), left_out, ..summary }.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 + MAX_SHOWN + 3, "{text}");
        assert!(lines[2].starts_with("/lamp_3 ") && lines[3].starts_with("/lamp_19 "), "{text}");
        assert!(text.contains("and 8 topics more: `dragoman info a.mcap`"), "{text}");
        assert!(text.contains("(--all): /camera/rgb/image_raw\n"), "{text}");
    }

    #[test]
    fn named_topics_include_their_pictures() {
        let options = RecordOptions::default();
        assert_eq!(options.pictures(), Pictures::Compressed);
        assert_eq!(RecordOptions { all: true, ..options.clone() }.pictures(), Pictures::All);
        let topics = vec!["/camera/".parse().unwrap()];
        assert_eq!(RecordOptions { topics, ..options }.pictures(), Pictures::All);
        assert_eq!(RecordOptions::of_lab(Path::new("a"), false).pictures(), Pictures::None);
    }
}
