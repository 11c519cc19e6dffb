use dragoman_ros::QosProfile;
use parking_lot::Mutex;

use super::super::graph::Subscribed;
use super::*;

/// Keeps written bytes; blocks or fails on demand.
#[derive(Clone, Default)]
struct Memory {
    bytes: Arc<Mutex<Vec<u8>>>,
    gate: Arc<Mutex<()>>,
    capacity: Option<usize>,
    /// Size of the disk.
    disk: Option<u64>,
}

impl Write for Memory {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        let _open = self.gate.lock();
        let mut bytes = self.bytes.lock();
        if self.capacity.is_some_and(|capacity| bytes.len() + data.len() > capacity) {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Sink for Memory {
    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn room(&self) -> u64 {
        let used = self.bytes.lock().len() as u64;
        self.disk.map_or(u64::MAX, |disk| disk - used)
    }
}

fn entry(channel: &Arc<Channel>, number: u64, length: usize) -> Entry {
    let data = vec![number as u8; length];
    Entry {
        channel: Arc::clone(channel),
        log_time: 2_000_000_000 + number,
        publish_time: 1_000_000_000 + number,
        data,
    }
}

fn channel(index: usize, topic: &str, definition: Option<&str>) -> Arc<Channel> {
    Arc::new(Channel::new(
        index,
        &Subscribed {
            topic: topic.into(),
            type_name: "std_msgs/msg/Bool".into(),
            definition: definition.map(str::to_owned),
            offered: vec![QosProfile::default()],
            messages: Box::pin(futures::stream::empty()),
        },
    ))
}

fn finish(recording: Recording) -> Result<Written, RecordError> {
    futures::executor::block_on(recording.finish())
}

#[test]
fn the_file_holds_schemas_channels_and_messages() {
    let memory = Memory::default();
    let recording = Recording::to(memory.clone(), Path::new("test.mcap"), Compression::None).unwrap();
    let (lamp, door) = (channel(0, "/lamp", Some("bool data")), channel(2, "/door", None));
    for number in 0..3 {
        assert!(recording.offer(entry(&lamp, number, 5)));
    }
    assert!(recording.offer(entry(&door, 5, 8)));
    let written = finish(recording).unwrap();
    let bytes = memory.bytes.lock();
    assert_eq!(written.messages, [3, 0, 1]);
    assert_eq!(written.bytes, bytes.len() as u64);
    assert_eq!(written.duration, Duration::from_nanos(5));

    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    assert_eq!(summary.stats.unwrap().message_count, 4);
    let messages: Vec<_> = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap).collect();
    let first = messages.first().unwrap();
    assert_eq!((first.log_time, first.publish_time, first.sequence), (2_000_000_000, 1_000_000_000, 0));
    assert_eq!(first.data.as_ref(), [0; 5]);
    assert_eq!((first.channel.topic.as_str(), first.channel.message_encoding.as_str()), ("/lamp", "cdr"));
    let schema = first.channel.schema.as_ref().unwrap();
    assert_eq!((schema.name.as_str(), schema.encoding.as_str()), ("std_msgs/msg/Bool", "ros2msg"));
    assert_eq!(schema.data.as_ref(), b"bool data");
    let last = messages.last().unwrap();
    let schema = last.channel.schema.as_ref().unwrap();
    assert_eq!(
        (schema.name.as_str(), schema.encoding.as_str(), schema.data.len()),
        ("std_msgs/msg/Bool", "", 0)
    );
    assert_eq!(messages[2].sequence, 2);
}

#[test]
fn a_blocked_disk_loses_messages_but_blocks_no_caller() {
    let memory = Memory::default();
    let blocked = memory.gate.lock();
    let recording = Recording::to(memory.clone(), Path::new("test.mcap"), Compression::None).unwrap();
    let lamp = channel(0, "/lamp", None);
    // One that waited for the disk would wait for ever: this thread blocks it.
    let accepted = (0..20).filter(|number| recording.offer(entry(&lamp, *number, 10 << 20))).count();
    assert_eq!(accepted, QUEUE_BYTES / (10 << 20));
    drop(blocked);
    assert_eq!(finish(recording).unwrap().messages, [accepted as u64]);
}

#[test]
fn many_small_messages_are_bounded_too() {
    let memory = Memory::default();
    let blocked = memory.gate.lock();
    let recording = Recording::to(memory.clone(), Path::new("test.mcap"), Compression::None).unwrap();
    let lamp = channel(0, "/lamp", None);
    let accepted = (0..QUEUE_MESSAGES as u64 + 100).filter(|n| recording.offer(entry(&lamp, *n, 1))).count();
    assert_eq!(accepted, QUEUE_MESSAGES);
    drop(blocked);
    assert_eq!(finish(recording).unwrap().messages, [QUEUE_MESSAGES as u64]);
}

#[test]
fn a_full_disk_ends_the_recording_with_its_reason() {
    let memory = Memory { capacity: Some(10_000), ..Memory::default() };
    let mut recording = Recording::to(memory.clone(), Path::new("test.mcap"), Compression::None).unwrap();
    let lamp = channel(0, "/lamp", None);
    for number in 0..20 {
        recording.offer(entry(&lamp, number, 1000));
    }
    let error = futures::executor::block_on(recording.failed());
    assert!(
        matches!(&error, RecordError::Write { source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
    );
    let text = error.to_string();
    assert!(text.starts_with("cannot write test.mcap any further: ") && !text.contains('\n'), "{text}");
}

#[test]
fn a_disk_that_is_nearly_full_ends_the_recording_with_its_index() {
    let memory = Memory { disk: Some(RESERVE + (4 << 20)), ..Memory::default() };
    let mut recording = Recording::to(memory.clone(), Path::new("test.mcap"), Compression::None).unwrap();
    let lamp = channel(0, "/lamp", None);
    for number in 0..40 {
        recording.offer(entry(&lamp, number, 1 << 20));
    }
    let error = futures::executor::block_on(recording.failed());
    assert!(matches!(error, RecordError::Full { left, .. } if left < RESERVE + 10_000), "{error}");
    assert!(error.to_string().contains("MB are left; test.mcap is complete up to here"), "{error}");
    let bytes = memory.bytes.lock();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let read = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap).count();
    assert_eq!(summary.stats.unwrap().message_count, read as u64);
    assert!((4..8).contains(&read), "{read}");
}

#[test]
fn what_was_written_before_a_sudden_end_can_be_read() {
    let memory = Memory::default();
    let recording = Recording::to(memory.clone(), Path::new("test.mcap"), Compression::None).unwrap();
    let lamp = channel(0, "/lamp", None);
    for number in 0..10 {
        assert!(recording.offer(entry(&lamp, number, 100)));
    }
    let begin = Instant::now();
    while memory.bytes.lock().len() < 1000 {
        assert!(begin.elapsed() < Duration::from_secs(10), "no chunk was written");
        std::thread::sleep(Duration::from_millis(10));
    }
    let bytes = memory.bytes.lock().clone();
    let read =
        mcap::MessageStream::new_with_options(&bytes, mcap::read::Options::IgnoreEndMagic.into()).unwrap();
    assert_eq!(read.filter(|message| message.is_ok()).count(), 10);
    finish(recording).unwrap();
}

#[test]
fn on_virtual_time_the_same_recording_gives_the_same_file() {
    let record = || {
        let simulation = dragoman_time::Simulation::new(1);
        let memory = Memory::default();
        simulation.block_on(async {
            let recording = Recording::to(memory.clone(), Path::new("test.mcap"), Compression::None).unwrap();
            let lamp = channel(0, "/lamp", Some("bool data"));
            for number in 0..30 {
                assert!(recording.offer(entry(&lamp, number, 100)));
                dragoman_time::sleep(CHUNK_AGE / 8).await;
            }
            assert_eq!(recording.finish().await.unwrap().messages, [30]);
        });
        memory.bytes.lock().clone()
    };
    let bytes = record();
    assert!(bytes == record());
    // A chunk is written when its first message is old enough.
    assert_eq!(mcap::Summary::read(&bytes).unwrap().unwrap().chunk_indexes.len(), 4);
}

#[test]
fn files_are_never_overwritten_and_errors_have_reasons() {
    let path = std::env::temp_dir().join(format!("dragoman_record_{}.mcap", std::process::id()));
    let recording = Recording::create(&path, Compression::Lz4).unwrap();
    let again = Recording::create(&path, Compression::Lz4).err().unwrap();
    assert!(
        again.to_string().contains("exists") && again.to_string().contains("dragoman_record_"),
        "{again}"
    );
    assert_eq!(finish(recording).unwrap().messages, [0; 0]);
    assert!(mcap::Summary::read(&std::fs::read(&path).unwrap()).unwrap().is_some());
    std::fs::remove_file(&path).unwrap();
    let nowhere = Recording::create(Path::new("/nowhere/a.mcap"), Compression::Lz4).err().unwrap();
    assert!(nowhere.to_string().contains("No such file"), "{nowhere}");
}
