//! The file behind a bounded queue.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dragoman_time::Held;
use mcap::McapError;
use mcap::records::{MessageHeader, Metadata};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::RecordError;
use super::channel::{Channel, ROSBAG2};
use crate::bag::{Compression, Writer};

/// Maximum number of messages waiting for the disk.
const QUEUE_MESSAGES: usize = 65_536;

/// Maximum number of bytes waiting for the disk.
const QUEUE_BYTES: usize = 128 << 20;

/// Bytes of the disk that a recording leaves, beside those of its index.
const RESERVE: u64 = 16 << 20;

/// Bytes after which the disk is looked at again.
const LOOK: u64 = 1 << 20;

/// Age at which a chunk is written, whatever its size: the loss in a power failure.
const CHUNK_AGE: Duration = Duration::from_millis(800);

/// One message for the file. Times are nanoseconds since 1970.
pub(super) struct Entry {
    pub(super) channel: Arc<Channel>,
    pub(super) log_time: u64,
    pub(super) publish_time: u64,
    pub(super) data: Vec<u8>,
}

/// Content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Message counts by channel index.
    pub(super) messages: Vec<u64>,
    /// Length of the file.
    pub(super) bytes: u64,
    /// Time from the first to the last message.
    pub(super) duration: Duration,
    /// It ended because only so many bytes of the disk were left.
    pub(super) left: Option<u64>,
}

/// How far a file is, while it is written.
#[derive(Debug)]
pub(super) struct Progress {
    /// Length of the file.
    pub(super) bytes: AtomicU64,
    /// What the disk has left for it, bytes.
    pub(super) room: AtomicU64,
    /// Topics with a message in it.
    pub(super) topics: AtomicU32,
    pub(super) messages: AtomicU64,
}

impl Default for Progress {
    fn default() -> Self {
        let none = AtomicU64::default;
        Self { bytes: none(), room: AtomicU64::new(u64::MAX), topics: AtomicU32::default(), messages: none() }
    }
}

/// A file being written.
pub(super) struct Recording {
    queue: Sender<Entry>,
    waiting: Arc<Held>,
    ended: oneshot::Receiver<Result<Written, RecordError>>,
    progress: Arc<Progress>,
    path: PathBuf,
}

impl Recording {
    /// Creates the file, which must not exist.
    pub(super) fn create(path: &Path, compression: Compression) -> Result<Self, RecordError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(dragoman_time::on_disk(path))
            .map_err(|source| RecordError::Create { path: path.to_owned(), source })?;
        Self::to(file, path, compression)
    }

    fn to(sink: impl Sink, path: &Path, compression: Compression) -> Result<Self, RecordError> {
        let (queue, mut entries) = channel(QUEUE_MESSAGES);
        let waiting = Arc::new(Held::new("bytes that wait for the disk"));
        let (report, ended) = oneshot::channel();
        let (waiting_there, path_there) = (Arc::clone(&waiting), path.to_owned());
        let progress = Arc::new(Progress::default());
        let progress_there = Arc::clone(&progress);
        let work = async move {
            let written = write(sink, compression, &mut entries, &waiting_there, &progress_there).await;
            let written = written.map_err(|error| of(error, path_there));
            // The receiver is gone when the recording was abandoned.
            let _ = report.send(written);
        };
        dragoman_time::spawn_thread("record file", work).map_err(RecordError::Thread)?;
        Ok(Self { queue, waiting, ended, progress, path: path.to_owned() })
    }

    /// Whether `entry` will be written; if not, the queue is full.
    pub(super) fn offer(&self, entry: Entry) -> bool {
        let length = entry.data.len();
        // One message always fits, whatever its size.
        let waiting = self.waiting.get();
        if waiting > 0 && waiting + length > QUEUE_BYTES {
            return false;
        }
        self.waiting.add(length);
        let accepted = self.queue.try_send(entry).is_ok();
        if !accepted {
            self.waiting.remove(length);
        }
        accepted
    }

    /// How far it is, also after its end.
    pub(super) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Resolves when writing has failed, or has ended because the disk is nearly full.
    pub(super) async fn failed(&mut self) -> RecordError {
        match (&mut self.ended).await {
            Ok(Err(error)) => error,
            Ok(Ok(Written { left: Some(left), .. })) => RecordError::Full { path: self.path.clone(), left },
            Ok(Ok(_)) | Err(_) => gone(&self.path),
        }
    }

    /// Writes the queued messages and the index, and closes the file.
    pub(super) async fn finish(self) -> Result<Written, RecordError> {
        drop(self.queue);
        self.ended.await.unwrap_or_else(|_| Err(gone(&self.path)))
    }
}

fn gone(path: &Path) -> RecordError {
    RecordError::Format { path: path.to_owned(), reason: "the writing thread has ended".into() }
}

fn of(error: McapError, path: PathBuf) -> RecordError {
    match error {
        McapError::Io(source) => RecordError::Write { path, source },
        other => RecordError::Format { path, reason: other.to_string() },
    }
}

/// Destination of the bytes.
trait Sink: Write + Send + 'static {
    /// Returns when all data is on the disk.
    fn sync(&mut self) -> std::io::Result<()>;

    /// Bytes that the disk has left; the maximum if that is not known.
    fn room(&self) -> u64;
}

impl Sink for File {
    fn sync(&mut self) -> std::io::Result<()> {
        self.sync_all()
    }

    #[cfg(unix)]
    fn room(&self) -> u64 {
        let known = nix::sys::statvfs::fstatvfs(self);
        known.map_or(u64::MAX, |disk| disk.blocks_available().saturating_mul(disk.fragment_size()))
    }

    #[cfg(not(unix))]
    fn room(&self) -> u64 {
        u64::MAX
    }
}

/// Counts the bytes that are written.
struct Counted<S> {
    sink: S,
    progress: Arc<Progress>,
}

impl<S: Sink> Write for Counted<S> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.progress.bytes.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}

/// The work of the thread. Writing to the disk blocks it.
async fn write(
    sink: impl Sink,
    compression: Compression,
    entries: &mut Receiver<Entry>,
    waiting: &Held,
    progress: &Arc<Progress>,
) -> Result<Written, McapError> {
    let sink = Counted { sink, progress: Arc::clone(progress) };
    let mut metadata = std::collections::BTreeMap::new();
    if let Some(name) = dragoman_time::variable("ROS_DISTRO") {
        metadata.insert("ROS_DISTRO".to_owned(), name);
    }
    let mut writer = Writer::begin(sink, compression, Metadata { name: ROSBAG2.into(), metadata })?;
    let mut channels = Channels::default();
    let mut open_since: Option<Instant> = None;
    let mut looked = 0;
    let mut left = None;
    while left.is_none() {
        let next = match open_since {
            Some(since) => dragoman_time::timeout_at(since + CHUNK_AGE, entries.recv()).await,
            None => Ok(entries.recv().await),
        };
        match next {
            Ok(Some(entry)) => {
                let length = entry.data.len();
                if channels.write(&mut writer, &entry)? == 1 {
                    progress.topics.fetch_add(1, Ordering::Relaxed);
                }
                progress.messages.fetch_add(1, Ordering::Relaxed);
                waiting.remove(length);
                open_since.get_or_insert_with(dragoman_time::now);
            }
            Ok(None) => break,
            Err(dragoman_time::Elapsed) => {}
        }
        let is_due = open_since.is_some_and(|since| dragoman_time::since(since) >= CHUNK_AGE);
        if is_due {
            writer.flush()?;
            open_since = None;
        }
        let bytes = progress.bytes.load(Ordering::Relaxed);
        if is_due || bytes >= looked + LOOK {
            looked = bytes;
            let room = writer.sink().sink.room();
            progress.room.store(room, Ordering::Relaxed);
            left = Some(room).filter(|room| *room < RESERVE + writer.index_len());
        }
    }
    let (mut counted, statistics) = writer.finish()?;
    counted.sink.sync()?;
    let span = statistics.message_end_time.saturating_sub(statistics.message_start_time);
    Ok(Written {
        messages: channels.messages(),
        bytes: progress.bytes.load(Ordering::Relaxed),
        duration: Duration::from_nanos(span),
        left,
    })
}

/// The channels in the file, by index: a topic gets its channel with its first message.
#[derive(Default)]
struct Channels {
    known: Vec<Option<Known>>,
}

#[derive(Clone, Copy)]
struct Known {
    id: u16,
    messages: u64,
}

impl Channels {
    /// Writes a message; returns which one of its topic it is.
    fn write<W: Write>(&mut self, writer: &mut Writer<W>, entry: &Entry) -> Result<u64, McapError> {
        let channel = &entry.channel;
        if self.known.len() <= channel.index {
            self.known.resize(channel.index + 1, None);
        }
        let Some(place) = self.known.get_mut(channel.index) else { return Ok(0) };
        let known = match place {
            Some(known) => known,
            None => {
                let id = writer.add_channel(
                    &channel.topic,
                    &channel.type_name,
                    channel.schema(),
                    channel.metadata(),
                )?;
                place.insert(Known { id, messages: 0 })
            }
        };
        let header = MessageHeader {
            channel_id: known.id,
            // The recorder's own counter, instead of the unknown one of the publisher; it wraps around.
            sequence: known.messages as u32,
            log_time: entry.log_time,
            publish_time: entry.publish_time,
        };
        writer.write(&header, &entry.data)?;
        known.messages += 1;
        Ok(known.messages)
    }

    fn messages(&self) -> Vec<u64> {
        self.known.iter().map(|known| known.map_or(0, |known| known.messages)).collect()
    }
}

#[cfg(test)]
mod tests;
