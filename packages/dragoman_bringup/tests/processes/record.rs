//! `dragoman record` as users run it: a process that records the topics of others.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedTypesupport,
    geometry_msgs, rosgraph_msgs, sensor_msgs, std_msgs,
};

const PATIENCE: Duration = Duration::from_secs(20);

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

    /// Plays run.mcap.
    fn play(&self, arguments: &[&str]) -> Recorder {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        command.args(["play", "run.mcap", "--domain", &self.domain.to_string()]).args(arguments);
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
            if begin.elapsed() > PATIENCE {
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
        assert!(begin.elapsed() < PATIENCE, "no subscriber");
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

fn messages(file: &[u8]) -> BTreeMap<String, Vec<mcap::Message<'_>>> {
    let mut topics: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let options = mcap::read::Options::IgnoreEndMagic.into();
    for message in mcap::MessageStream::new_with_options(file, options).unwrap().map_while(Result::ok) {
        topics.entry(message.channel.topic.clone()).or_default().push(message);
    }
    topics
}

/// Reads with other tools. `None` if they are not installed.
fn python(script: &str, file: &Path) -> Option<String> {
    let python = std::env::var("DRAGOMAN_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let importable = Command::new(&python).args(["-c", "import mcap_ros2.decoder"]).output();
    if !importable.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: {python} has no mcap_ros2 (pip install mcap-ros2-support)");
        return None;
    }
    let output = Command::new(&python).arg("-c").arg(script).arg(file).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_the_graph_publishes_is_in_the_file() {
    let mut lab = Lab::new(0);
    let latched = QosProfile::default().keep_last(1).transient_local();
    let description = lab.publisher::<std_msgs::msg::String>("/robot_description", latched);
    let text = "<robot/>".repeat(5000);
    description.publish(&std_msgs::msg::String { data: text.clone() }).unwrap();
    let poses = lab.publisher::<geometry_msgs::msg::PoseStamped>("/ranger/pose", QosProfile::default());
    let mut recorder = lab.record(&["-o", "all.mcap"]);
    wait_for_subscription(&poses);

    for number in 0..500 {
        poses.publish(&pose(number)).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let scans = lab.publisher::<sensor_msgs::msg::LaserScan>("/scan", QosProfile::sensor_data());
    wait_for_subscription(&scans);
    for _ in 0..5 {
        scans.publish(&sensor_msgs::msg::LaserScan { ranges: vec![1.5; 360], ..Default::default() }).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    recorder.signal("-INT");
    let output = Recorder(recorder.0.take()).end();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{error}");
    assert!(out.starts_with("all.mcap: ") && !out.contains("dropped"), "{out}");
    assert!(out.lines().any(|line| line.split_whitespace().eq([
        "/ranger/pose",
        "geometry_msgs/msg/PoseStamped",
        "500"
    ])));

    let file = lab.file("all.mcap");
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let topics = messages(&file);
    assert_eq!(summary.stats.unwrap().message_count, topics.values().map(|m| m.len() as u64).sum::<u64>());
    let recorded = topics.get("/ranger/pose").unwrap();
    for (number, message) in recorded.iter().enumerate() {
        let decoded = geometry_msgs::msg::PoseStamped::from_serialized_bytes(&message.data).unwrap();
        assert_eq!(decoded, pose(number as u32));
        assert_eq!(message.sequence, number as u32);
        assert!(message.publish_time <= message.log_time);
        assert!(message.log_time - message.publish_time < 2_000_000_000);
    }
    let channel = &recorded[0].channel;
    assert_eq!(channel.message_encoding, "cdr");
    let schema = channel.schema.as_ref().unwrap();
    assert_eq!(
        (schema.name.as_str(), schema.encoding.as_str()),
        ("geometry_msgs/msg/PoseStamped", "ros2msg")
    );
    assert!(String::from_utf8_lossy(&schema.data).contains("MSG: geometry_msgs/Quaternion"));
    let offered = |topic: &str| topics[topic][0].channel.metadata["offered_qos_profiles"].clone();
    assert!(offered("/ranger/pose").contains("reliability: 1\n  durability: 2\n"));
    assert!(offered("/robot_description").contains("reliability: 1\n  durability: 1\n"));
    assert!(offered("/scan").contains("reliability: 2\n  durability: 2\n"));
    let [latched] = topics["/robot_description"].as_slice() else { panic!("one description is published") };
    assert_eq!(std_msgs::msg::String::from_serialized_bytes(&latched.data).unwrap().data, text);
    assert_eq!(topics["/scan"].len(), 5);

    let script = "
import sys
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
with open(sys.argv[1], 'rb') as stream:
    reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
    print(reader.get_header().profile, reader.get_summary().statistics.message_count)
    for schema, channel, message, decoded in reader.iter_decoded_messages(topics=['/ranger/pose']):
        last = decoded
    print(schema.name, last.header.frame_id, last.header.stamp.sec, last.pose.position.x)
    scan = next(reader.iter_decoded_messages(topics=['/scan']))[3]
    print(len(scan.ranges), scan.ranges[359])
";
    if let Some(read) = python(script, &lab.folder.join("all.mcap")) {
        let count: usize = topics.values().map(Vec::len).sum();
        let expected = format!("ros2 {count}\ngeometry_msgs/msg/PoseStamped base_link 499 0.499\n360 1.5\n");
        assert_eq!(read, expected);
    }
}

#[test]
fn only_what_is_asked_for_is_recorded() {
    let mut lab = Lab::new(1);
    let names = ["/ranger/brake", "/ranger/gripper", "/lamp"];
    let publishers = names.map(|name| lab.publisher::<std_msgs::msg::Bool>(name, QosProfile::default()));
    let recorder = lab.record(&["ranger/", "/door", "--exclude", "/ranger/gripper", "-o", "some.mcap"]);
    wait_for_subscription(&publishers[0]);
    for publisher in &publishers {
        publisher.publish(&std_msgs::msg::Bool { data: true }).unwrap();
    }
    std::thread::sleep(Duration::from_millis(300));
    recorder.signal("-TERM");
    let output = recorder.end();
    assert!(output.status.success());
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.trim_end().ends_with("not published: /door"), "{out}");
    let file = lab.file("some.mcap");
    assert_eq!(messages(&file).keys().collect::<Vec<_>>(), ["/ranger/brake"]);
}

#[test]
fn a_publisher_with_a_lesser_offer_is_recorded_too() {
    let mut lab = Lab::new(2);
    let reliable = lab.publisher::<std_msgs::msg::UInt32>("/count", QosProfile::default());
    let recorder = lab.record(&["/count", "-o", "two.mcap"]);
    wait_for_subscription(&reliable);
    let sensor = lab.publisher::<std_msgs::msg::UInt32>("/count", QosProfile::sensor_data());
    wait_for_subscription(&sensor);
    for data in 0..10 {
        reliable.publish(&std_msgs::msg::UInt32 { data }).unwrap();
        sensor.publish(&std_msgs::msg::UInt32 { data: 100 + data }).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    recorder.signal("-INT");
    assert!(recorder.end().status.success());
    let file = lab.file("two.mcap");
    let topics = messages(&file);
    let decode = |m: &mcap::Message<'_>| std_msgs::msg::UInt32::from_serialized_bytes(&m.data).unwrap().data;
    let mut recorded: Vec<_> = topics["/count"].iter().map(decode).collect();
    recorded.sort_unstable();
    assert_eq!(recorded, (0..10).chain(100..110).collect::<Vec<_>>());
}

/// With the quality of service of the recording, in its order, at its pace.
#[test]
fn a_recording_is_played_again() {
    let mut lab = Lab::new(6);
    let latched = QosProfile::default().keep_last(1).transient_local();
    let description = lab.publisher::<std_msgs::msg::String>("/robot_description", latched.clone());
    description.publish(&std_msgs::msg::String { data: "<robot/>".to_owned() }).unwrap();
    let poses = lab.publisher::<geometry_msgs::msg::PoseStamped>("/ranger/pose", QosProfile::default());
    let recorder = lab.record(&["-o", "run.mcap"]);
    wait_for_subscription(&poses);
    for number in 0..40 {
        poses.publish(&pose(number)).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    recorder.signal("-INT");
    assert!(recorder.end().status.success());

    let topic = "/again/ranger/pose";
    let mut played =
        lab.node.subscribe::<geometry_msgs::msg::PoseStamped>(topic, QosProfile::default()).unwrap();
    let mut clock = lab.node.subscribe::<rosgraph_msgs::msg::Clock>("/clock", QosProfile::default()).unwrap();
    let begin = Instant::now();
    let player = lab.play(&["/ranger/", "--prefix", "again", "--rate", "0.5", "--delay", "2", "--clock"]);
    for expected in 0..40 {
        let message = next(&mut played).expect("a message of the recording");
        assert_eq!(message, pose(expected));
    }
    // Two seconds before the first, and 39 periods at half the speed.
    assert!(begin.elapsed() > Duration::from_millis(2000 + 3900), "{:?}", begin.elapsed());
    assert!(next(&mut clock).unwrap().clock.sec > 1_700_000_000, "the time of the recording");
    let output = player.end();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("40 messages"), "{out}{error}");

    // A late subscriber gets what was latched, while it is being played.
    let _player = lab.play(&["/robot_description", "--prefix", "again", "--loop"]);
    let mut late = lab.node.subscribe::<std_msgs::msg::String>("/again/robot_description", latched).unwrap();
    assert_eq!(next(&mut late).unwrap().data, "<robot/>");

    for (arguments, reason) in [(&["/none"][..], "none of these topics"), (&["--rate", "0"], "a rate is")] {
        let output = lab.play(arguments).end();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(reason), "{error}");
    }
}

fn next<T>(messages: &mut (impl futures::Stream<Item = T> + Unpin)) -> Option<T> {
    use futures::StreamExt;
    let late = futures_timer::Delay::new(PATIENCE);
    match futures::executor::block_on(futures::future::select(messages.next(), late)) {
        futures::future::Either::Left((message, _)) => message,
        futures::future::Either::Right(_) => None,
    }
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
    std::thread::sleep(Duration::from_millis(1500));
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

/// Ranger thesis, 3.4.2: what clients command, what the arm does, and the services that are called for it.
#[test]
fn an_arms_commands_are_in_the_recording_and_in_the_thesis_text_files() {
    let lab = Lab::new(9);
    let robots = crate::common::Lab::start_with(lab.domain, &["up"], &["-p", "arm31:port:=0"]);
    let client = robots.client();
    let recorder = lab.record(&["-o", "a.mcap", "--thesis-logs", "logs", "ranger/", "/service_calls"]);
    let lines = |number: u8| -> Vec<String> {
        let text = std::fs::read_to_string(lab.folder.join(format!("logs/log{number}.dat")));
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    };
    // The first message shows that the recorder listens.
    let begin = Instant::now();
    while lines(1).is_empty() || lines(2).is_empty() {
        assert!(begin.elapsed() < PATIENCE, "no line: {:?} {:?}", lines(1), lines(2));
        client.ask("PS", [0.0; 7], 0);
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs(1));
    client.ask("CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
    client.ask("BG", [0.0; 7], 0);
    std::thread::sleep(Duration::from_secs(2));
    recorder.signal("-INT");
    let output = recorder.end();
    assert!(output.status.success(), "{output:?}");

    let zeros = "0.0000 0.0000 0.0000 0.0000 0.0000 0.0000";
    let ends = |number, end: &str| lines(number).iter().filter(|line| line.ends_with(end)).count();
    assert_eq!(ends(1, &format!("] MSG: CM 2.0000 {zeros} (0)")), 1, "{:?}", lines(1));
    assert_eq!(ends(1, &format!("] MSG: BG 0.0000 {zeros} (0)")), 1, "{:?}", lines(1));
    assert_eq!(ends(4, "] OUT: ER20 Cmd BG rejected"), 1, "{:?}", lines(4));
    let home = "0.000000 0.020100 0.667100";
    for (number, start) in [(2, format!("POS: {home}")), (3, format!("SP: {home}")), (5, "Jnt: 1.57".into())]
    {
        let lines = lines(number);
        assert!(lines.len() > 8, "eight lines in a second, {lines:?}");
        // The sign of a rounded zero is open.
        assert!(lines.iter().all(|line| line.replace("-0.000000", "0.000000").contains(&start)), "{lines:?}");
    }
    // Silent until the mode was set.
    let commands = lines(6);
    assert!((8..=20).contains(&commands.len()), "{commands:?}");
    assert!(commands.iter().all(|line| line.contains("] Drv: 1.57") && line.split(' ').count() == 8));

    let file = lab.file("a.mcap");
    let calls = messages(&file).remove("/service_calls").expect("calls");
    let text: Vec<_> = calls.iter().map(|call| String::from_utf8_lossy(&call.data).into_owned()).collect();
    let call = |words: [&str; 4]| text.iter().any(|call| words.iter().all(|word| call.contains(word)));
    let mode =
        ["/ranger/set_command_mode", "dragoman_msgs/srv/SetCommandMode", "{\"mode\":2}", "\"success\":true"];
    assert!(call(mode), "{text:?}");
    let begin = ["/ranger/begin_motion", "std_srvs/srv/Trigger", "{", "\"success\":false"];
    assert!(call(begin), "{text:?}");

    // A folder with files is left as it is.
    let again = lab.record(&["-o", "b.mcap", "--thesis-logs", "logs"]).end();
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("cannot create logs/log1.dat"), "{again:?}");
}
