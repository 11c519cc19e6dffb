//! `dragoman record` and `dragoman play`: what the graph publishes is in the file, and is published again.

use std::time::Duration;

use dragoman_ros::{
    Node, Publisher, QosProfile, WrappedTypesupport, geometry_msgs, rosgraph_msgs, sensor_msgs, std_msgs,
};

use futures::StreamExt;

use crate::common::recording::{messages, python};
use crate::common::{self, Folder, Lab, Simulated, latched, next, run, sleep, until};

/// A folder, and the publishers of a test.
struct Fixture {
    folder: Folder,
    node: Node,
    _simulated: Simulated,
}

impl Fixture {
    fn new() -> Self {
        let _simulated = Simulated::new();
        Self { folder: Folder::new(), node: common::node(0), _simulated }
    }

    /// A recorder of these topics, in a file.
    fn record(&self, file: &str, arguments: &[&str]) -> Lab {
        Lab::start_with(0, &[&["record", "-o", &self.folder.path(file)], arguments].concat(), &[])
    }

    /// Plays run.mcap.
    fn play(&self, arguments: &[&str]) -> Lab {
        Lab::start_with(0, &[&["play", &self.folder.path("run.mcap")], arguments].concat(), &[])
    }

    fn publisher<T: WrappedTypesupport>(&mut self, topic: &str, qos: QosProfile) -> Publisher<T> {
        self.node.create_publisher(topic, qos).unwrap()
    }

    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path(name)).unwrap()
    }
}

/// What a recorder has printed when it has been stopped.
#[track_caller]
fn stop(recorder: &Lab) -> String {
    assert_eq!(recorder.end().0, Ok(()));
    recorder.output()
}

#[track_caller]
fn wait_for_subscription<T: WrappedTypesupport>(publisher: &Publisher<T>) {
    until("a subscriber", || publisher.get_inter_process_subscription_count().unwrap() > 0);
}

fn pose(number: u32) -> geometry_msgs::msg::PoseStamped {
    let mut pose = geometry_msgs::msg::PoseStamped::default();
    pose.header.frame_id = "base_link".into();
    pose.header.stamp.sec = number as i32;
    pose.pose.position.x = f64::from(number) * 0.001;
    pose
}

#[test]
fn what_the_graph_publishes_is_in_the_file() {
    let mut lab = Fixture::new();
    let description = lab.publisher::<std_msgs::msg::String>("/robot_description", latched());
    let text = "<robot/>".repeat(5000);
    description.publish(&std_msgs::msg::String { data: text.clone() }).unwrap();
    let poses = lab.publisher::<geometry_msgs::msg::PoseStamped>("/ranger/pose", QosProfile::default());
    let recorder = lab.record("all.mcap", &[]);
    wait_for_subscription(&poses);

    for number in 0..500 {
        poses.publish(&pose(number)).unwrap();
        sleep(Duration::from_millis(1));
    }
    let scans = lab.publisher::<sensor_msgs::msg::LaserScan>("/scan", QosProfile::sensor_data());
    wait_for_subscription(&scans);
    for _ in 0..5 {
        scans.publish(&sensor_msgs::msg::LaserScan { ranges: vec![1.5; 360], ..Default::default() }).unwrap();
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(200));
    let out = stop(&recorder);
    assert!(out.contains("/all.mcap: ") && !out.contains("dropped"), "{out}");
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
        assert_eq!(message.publish_time, message.log_time, "received at once");
        assert_eq!(message.publish_time, recorded[0].publish_time + number as u64 * 1_000_000);
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
    if let Some(read) = python(script, &lab.folder.0.join("all.mcap")) {
        let count: usize = topics.values().map(Vec::len).sum();
        let expected = format!("ros2 {count}\ngeometry_msgs/msg/PoseStamped base_link 499 0.499\n360 1.5\n");
        assert_eq!(read, expected);
    }
}

#[test]
fn only_requested_topics_are_recorded() {
    let mut lab = Fixture::new();
    let names = ["/ranger/brake", "/ranger/gripper", "/lamp"];
    let publishers = names.map(|name| lab.publisher::<std_msgs::msg::Bool>(name, QosProfile::default()));
    let recorder = lab.record("some.mcap", &["ranger/", "/door", "--exclude", "/ranger/gripper"]);
    wait_for_subscription(&publishers[0]);
    for publisher in &publishers {
        publisher.publish(&std_msgs::msg::Bool { data: true }).unwrap();
    }
    sleep(Duration::from_millis(1));
    assert_eq!(recorder.end().0.unwrap_err(), "not published: /door");
    let out = recorder.output();
    assert!(out.trim_end().ends_with("not published: /door"), "{out}");
    let file = lab.file("some.mcap");
    assert_eq!(messages(&file).keys().collect::<Vec<_>>(), ["/ranger/brake"]);
}

#[test]
fn a_publisher_with_a_weaker_offer_is_recorded_too() {
    let mut lab = Fixture::new();
    let reliable = lab.publisher::<std_msgs::msg::UInt32>("/count", QosProfile::default());
    let recorder = lab.record("two.mcap", &["/count"]);
    wait_for_subscription(&reliable);
    let sensor = lab.publisher::<std_msgs::msg::UInt32>("/count", QosProfile::sensor_data());
    wait_for_subscription(&sensor);
    for data in 0..10 {
        reliable.publish(&std_msgs::msg::UInt32 { data }).unwrap();
        sensor.publish(&std_msgs::msg::UInt32 { data: 100 + data }).unwrap();
        sleep(Duration::from_millis(20));
    }
    stop(&recorder);
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
    let mut lab = Fixture::new();
    let description = lab.publisher::<std_msgs::msg::String>("/robot_description", latched());
    description.publish(&std_msgs::msg::String { data: "<robot/>".to_owned() }).unwrap();
    let poses = lab.publisher::<geometry_msgs::msg::PoseStamped>("/ranger/pose", QosProfile::default());
    let recorder = lab.record("run.mcap", &[]);
    wait_for_subscription(&poses);
    for number in 0..40 {
        poses.publish(&pose(number)).unwrap();
        sleep(Duration::from_millis(50));
    }
    stop(&recorder);
    let file = lab.file("run.mcap");
    let recorded: Vec<u64> = messages(&file)["/ranger/pose"].iter().map(|pose| pose.log_time).collect();

    let topic = "/again/ranger/pose";
    let mut played =
        lab.node.subscribe::<geometry_msgs::msg::PoseStamped>(topic, QosProfile::default()).unwrap();
    let mut clock = lab.node.subscribe::<rosgraph_msgs::msg::Clock>("/clock", QosProfile::default()).unwrap();
    let begin = dragoman_time::now();
    let player = lab.play(&["/ranger/", "--prefix", "again", "--rate", "0.5", "--delay", "2", "--clock"]);
    for expected in 0..40 {
        assert_eq!(next(&mut played), pose(expected));
    }
    // Two seconds before the first message of the file, and at half the speed from then on.
    let first = messages(&file)["/robot_description"][0].log_time;
    let recorded_for = Duration::from_nanos(recorded[39] - first);
    assert_eq!(dragoman_time::since(begin), Duration::from_secs(2) + 2 * recorded_for);
    assert_eq!(recorded[39] - recorded[0], 39 * 50_000_000);
    let clock = next(&mut clock).clock;
    let time = clock.sec as u64 * 1_000_000_000 + u64::from(clock.nanosec);
    assert!((recorded[0]..=recorded[39]).contains(&time), "the time of the recording: {clock:?}");
    let (ended, farewell) = player.ended();
    assert_eq!(ended, Ok(()));
    assert!(farewell <= Duration::from_millis(200), "{farewell:?}");
    let out = player.output();
    assert!(out.contains("40 messages"), "{out}");

    // A late subscriber gets what was latched, while it is being played.
    let many = QosProfile::default().keep_last(1000);
    let repeated = lab.node.subscribe::<std_msgs::msg::String>("/again/robot_description", many).unwrap();
    let mut repeated = repeated.ready_chunks(1000);
    let _player = lab.play(&["/robot_description", "--prefix", "again", "--loop"]);
    sleep(Duration::from_secs(5));
    // Of one moment: every 0.1 s, after the delay of a second.
    assert!((39..=41).contains(&next(&mut repeated).len()));
    let mut late =
        lab.node.subscribe::<std_msgs::msg::String>("/again/robot_description", latched()).unwrap();
    assert_eq!(next(&mut late).data, "<robot/>");

    // Stopped by the user: one that is repeated has no other end.
    for (arguments, ended) in
        [(&["--loop"][..], Ok(())), (&[], Err("stopped before the end of the recording"))]
    {
        let player = lab.play(&[&["--prefix", "again"], arguments].concat());
        sleep(Duration::from_millis(1500));
        assert_eq!(player.end().0, ended.map_err(str::to_owned));
    }
    for (arguments, reason) in [
        (&["/none"][..], "none of these topics"),
        (&["/ranger/pose", "/ranger/pase"], "has no topic '/ranger/pase'; did you mean '/ranger/pose'?"),
        (&["--rate", "0"], "a rate is"),
    ] {
        let path = lab.folder.path("run.mcap");
        let error = run(0, &[&["play", &path], arguments].concat()).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn an_empty_recording_is_an_error() {
    let lab = Fixture::new();
    let recorder = lab.record("empty.mcap", &[]);
    sleep(Duration::from_secs(2));
    assert_eq!(recorder.end().0.unwrap_err(), "nothing was recorded: no topic had a message");
    assert!(messages(&lab.file("empty.mcap")).is_empty());
}

/// Ranger thesis, 3.4.2: what clients command, what the arm does, and the services that are called for it.
#[test]
fn an_arms_commands_are_in_the_recording_and_in_the_thesis_text_files() {
    let lab = Fixture::new();
    let robots = Lab::only("ranger");
    let client = robots.client();
    let logs = lab.folder.path("logs");
    let recorder = lab.record("a.mcap", &["--thesis-logs", &logs, "ranger/", "/service_calls"]);
    let lines = |number: u8| -> Vec<String> {
        let text = std::fs::read_to_string(lab.folder.path(&format!("logs/log{number}.dat")));
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    };
    // The first message shows that the recorder listens.
    until("a line", || {
        client.ask("PS", [0.0; 7], 0);
        !lines(1).is_empty() && !lines(2).is_empty()
    });
    sleep(Duration::from_secs(1));
    client.ask("CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
    client.ask("BG", [0.0; 7], 0);
    sleep(Duration::from_secs(2));
    stop(&recorder);

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
    let again = run(0, &["record", "-o", &lab.folder.path("b.mcap"), "--thesis-logs", &logs]);
    assert!(again.clone().unwrap_err().contains(&format!("cannot create {logs}/log1.dat")), "{again:?}");
}
