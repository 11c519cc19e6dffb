//! `dragoman record` in a process of its own that is killed, or whose disk is full: what it writes then.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedTypesupport,
    geometry_msgs,
};

use crate::common::recording::{messages, python};
use crate::common::until;

const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A ROS domain, a folder and the publishers of a test.
struct Lab {
    domain: u16,
    folder: PathBuf,
    node: Node,
}

impl Lab {
    /// `test` differs for every test, so that they can run at the same time.
    fn new(test: u16) -> Self {
        let domain = 150 + (std::process::id() % 6) as u16 * 10 + test;
        let discovery =
            Discovery { domain_id: domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let folder = std::env::temp_dir().join(format!("dragoman_record_{}_{test}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self { domain, folder, node: Node::create(context, "publisher", "").unwrap() }
    }

    fn record(&self, arguments: &[&str]) -> Recorder {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        command.arg("record").arg("--domain").arg(self.domain.to_string()).args(arguments);
        self.spawn(command)
    }

    fn spawn(&self, mut command: Command) -> Recorder {
        command.env("ROS_LOCALHOST_ONLY", "1").env_remove("RUST_LOG").current_dir(&self.folder);
        Recorder(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    fn publisher<T: WrappedTypesupport>(&mut self, topic: &str, qos: QosProfile) -> Publisher<T> {
        self.node.create_publisher(topic, qos).unwrap()
    }

    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The process; killed when dropped.
struct Recorder(Option<Child>);

impl Recorder {
    fn signal(&self, name: &str) {
        let id = self.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// Its output when it has ended by itself.
    fn end(mut self) -> Output {
        let mut child = self.0.take().unwrap();
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begin.elapsed() > TIME_LIMIT {
                let _ = child.kill();
                panic!("the recorder does not end");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.wait_with_output().unwrap()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn wait_for_subscription<T: WrappedTypesupport>(publisher: &Publisher<T>) {
    let begin = Instant::now();
    while publisher.get_inter_process_subscription_count().unwrap() == 0 {
        assert!(begin.elapsed() < TIME_LIMIT, "no subscriber");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The other side may match a little later.
    std::thread::sleep(Duration::from_millis(500));
}

fn pose(number: u32) -> geometry_msgs::msg::PoseStamped {
    let mut pose = geometry_msgs::msg::PoseStamped::default();
    pose.header.frame_id = "base_link".into();
    pose.header.stamp.sec = number as i32;
    pose.pose.position.x = f64::from(number) * 0.001;
    pose
}

#[test]
fn a_killed_recorder_leaves_a_file_that_can_be_read() {
    let mut lab = Lab::new(3);
    let poses = lab.publisher::<geometry_msgs::msg::PoseStamped>("/ranger/pose", QosProfile::default());
    let recorder = lab.record(&["-o", "killed.mcap"]);
    wait_for_subscription(&poses);
    for number in 0..100 {
        poses.publish(&pose(number)).unwrap();
    }
    // Chunks are written while it records; each begins with its length.
    let is_written = || {
        let file = std::fs::read(lab.folder.join("killed.mcap")).unwrap_or_default();
        // A file without its magic bytes is not one yet.
        file.len() >= 8 && messages(&file).get("/ranger/pose").is_some_and(|poses| poses.len() == 100)
    };
    until("all is in the file", is_written);
    recorder.signal("-KILL");
    assert!(!recorder.end().status.success());
    let file = lab.file("killed.mcap");
    assert_eq!(messages(&file)["/ranger/pose"].len(), 100);
    let script = "
import sys
from mcap.exceptions import McapError
from mcap.reader import NonSeekingReader
count = 0
try:
    for _ in NonSeekingReader(open(sys.argv[1], 'rb')).iter_messages(topics=['/ranger/pose'], log_time_order=False):
        count += 1
except McapError:
    pass
print(count)
";
    if let Some(read) = python(script, &lab.folder.join("killed.mcap")) {
        assert_eq!(read, "100\n");
    }
}

#[test]
fn a_write_error_is_reported_and_fails() {
    let mut lab = Lab::new(4);
    for (file, reason) in [("/nowhere/a.mcap", "No such file"), (".", "exists")] {
        let output = lab.record(&["-o", file]).end();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(reason) && error.contains(file), "{error}");
    }

    // A limit on the file size, in units of 512 bytes, simulates a full disk.
    let poses = lab.publisher::<geometry_msgs::msg::PoseStamped>("/ranger/pose", QosProfile::default());
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\""]);
    command.arg(env!("CARGO_BIN_EXE_dragoman")).args(["record", "-o", "full.mcap", "/ranger/"]);
    let mut recorder = lab.spawn({
        command.args(["--domain", &lab.domain.to_string()]);
        command
    });
    wait_for_subscription(&poses);
    let mut number = 0;
    while recorder.0.as_mut().unwrap().try_wait().unwrap().is_none() {
        assert!(number < 5000, "nothing was refused");
        // Slower than chunks are written, so that several fit.
        poses.publish(&pose(number)).unwrap();
        number += 1;
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut child = recorder.0.take().unwrap();
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{error}");
    assert!(error.contains("cannot write full.mcap any further: "), "{error}");
    let file = lab.file("full.mcap");
    assert!(messages(&file)["/ranger/pose"].len() > 20, "{}", file.len());
}
