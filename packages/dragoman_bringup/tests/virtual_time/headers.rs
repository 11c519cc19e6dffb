//! Headers of all topics of all parts: stamps never go back, and every frame is in the tree of its transforms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Lab, context, sleep, until};
use crate::device::Device;
use dragoman_ros::dragoman_msgs::srv::PlatformSetMode;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::raw::{self, Strictest};
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::{Node, Publisher, QosProfile};
use dragoman_types::json;
use dragoman_types::schema::{Builtin, Structure, Types};
use futures::StreamExt;
use serde_json::Value;

/// Maximum length of a message with a header at its beginning that is decoded as a whole. Of pictures, scans and maps the header counts.
const SHORT: usize = 1 << 14;

/// The headers of one topic.
#[derive(Default)]
struct Seen {
    messages: usize,
    /// The last stamp for each frame, and for each child of a transform, ns.
    stamps: BTreeMap<String, i128>,
    /// Messages with a stamp before the last one, and the first of them.
    back: usize,
    first_back: Option<String>,
    frames: BTreeSet<String>,
    /// Child and parent, of transforms.
    transforms: BTreeSet<(String, String)>,
}

impl Seen {
    fn take(&mut self, structure: &Structure, data: &[u8]) {
        self.messages += 1;
        if data.len() > SHORT
            && let Some((stamp, frame)) = leading_header(structure, data)
        {
            self.frames.insert(frame.clone());
            self.stamp(frame, stamp);
            return;
        }
        let text = json::from_cdr(structure, data).unwrap();
        let message: Value = serde_json::from_str(&text).unwrap();
        self.frames_in(&message);
        if let Some((stamp, frame)) = header(&message["header"]) {
            self.stamp(frame, stamp);
        }
        for transform in message["transforms"].as_array().into_iter().flatten() {
            let Some((stamp, parent)) = header(&transform["header"]) else { continue };
            let child = transform["child_frame_id"].as_str().unwrap().to_owned();
            self.stamp(format!("{parent} to {child}"), stamp);
            self.transforms.insert((child, parent));
        }
    }

    fn stamp(&mut self, of: String, stamp: i128) {
        let last = self.stamps.insert(of.clone(), stamp);
        if let Some(last) = last.filter(|last| *last > stamp) {
            self.back += 1;
            let way = (last - stamp) as f64 * 1e-6;
            self.first_back.get_or_insert(format!("{of}: {way:.3} ms back"));
        }
    }

    /// All frames that a message names, at any depth.
    fn frames_in(&mut self, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.frames_in(value)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(frame) if matches!(name.as_str(), "frame_id" | "child_frame_id") => {
                            self.frames.insert(frame.clone());
                        }
                        value => self.frames_in(value),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Stamp, ns, and frame of a header.
fn header(value: &Value) -> Option<(i128, String)> {
    let stamp = value.get("stamp")?;
    let part = |name: &str| stamp[name].as_i64().map(i128::from);
    Some((part("sec")? * 1_000_000_000 + part("nanosec")?, value["frame_id"].as_str()?.to_owned()))
}

/// The header at the beginning of a serialized message, if its type has one: four bytes of encapsulation, seconds,
/// nanoseconds, and the frame with its length.
fn leading_header(structure: &Structure, data: &[u8]) -> Option<(i128, String)> {
    if structure.fields.first()?.kind.name() != "std_msgs/msg/Header" {
        return None;
    }
    let word = |at: usize| Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?));
    let length = word(12)? as usize;
    let frame = std::str::from_utf8(data.get(16..16 + length)?).ok()?.trim_end_matches('\0');
    Some((i128::from(word(4)?) * 1_000_000_000 + i128::from(word(8)?), frame.to_owned()))
}

/// A node that subscribes to every topic that there is.
struct Observer {
    node: Node,
    types: Types,
    topics: BTreeMap<String, Arc<Mutex<Seen>>>,
}

impl Observer {
    fn new(domain: u16) -> Self {
        let node = Node::create(context(domain), "observer", "").unwrap();
        let types = Types::new(vec![Box::new(Builtin::default())]);
        Self { node, types, topics: BTreeMap::new() }
    }

    /// Subscribes to topics that are new.
    fn look(&mut self) {
        let topics: BTreeMap<_, _> = self.node.get_topic_names_and_types().unwrap().into_iter().collect();
        for (topic, types) in topics {
            // Messages inside of actions have no types of their own.
            if topic.contains("/_action/") || self.topics.contains_key(&topic) {
                continue;
            }
            let [type_name] = types.as_slice() else { continue };
            let publishers = self.node.get_publishers_info_by_topic(&topic, false).unwrap();
            let offered: Vec<QosProfile> =
                publishers.into_iter().map(|publisher| publisher.qos_profile).collect();
            let Some(strictest) = Strictest::of(&offered) else { continue };
            let structure = self.types.message(type_name).unwrap();
            let mut messages =
                raw::subscribe(&mut self.node, &topic, type_name, strictest.qos(1000)).unwrap();
            let seen = Arc::new(Mutex::new(Seen::default()));
            self.topics.insert(topic, Arc::clone(&seen));
            dragoman_time::spawn(async move {
                while let Some(message) = messages.next().await {
                    seen.lock().unwrap().take(&structure, &message.data);
                }
            });
        }
    }

    /// The frames that are in the transforms for each namespace that has some: those of `/ranger/tf` for `/ranger`.
    fn trees(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut trees: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (topic, seen) in &self.topics {
            let Some((namespace, "tf" | "tf_static")) = topic.rsplit_once('/') else { continue };
            let tree = trees.entry(format!("{namespace}/")).or_default();
            for (child, parent) in &seen.lock().unwrap().transforms {
                tree.extend([child.clone(), parent.clone()]);
            }
        }
        trees
    }

    /// Stamps and frames are right, and at least this number of topics have stamps: no publisher was overlooked.
    #[track_caller]
    fn check(&self, least: usize) {
        let has_stamps =
            |seen: &Arc<Mutex<Seen>>| seen.lock().unwrap().stamps.values().any(|stamp| *stamp > 0);
        let with_stamps: Vec<&String> =
            self.topics.iter().filter(|(_, seen)| has_stamps(seen)).map(|(topic, _)| topic).collect();
        println!(
            "{} topics, of which {} have stamps: {with_stamps:#?}",
            self.topics.len(),
            with_stamps.len()
        );
        let (back, missing) = (self.back(), self.without_transform());
        assert!(back.is_empty() && missing.is_empty(), "stamps: {back:#?}\nframes: {missing:#?}");
        assert!(with_stamps.len() >= least, "{with_stamps:#?}");
    }

    /// Topics whose stamps went back.
    fn back(&self) -> Vec<String> {
        let topics = self.topics.iter();
        let back = topics.filter_map(|(topic, seen)| {
            let seen = seen.lock().unwrap();
            let first = seen.first_back.as_ref()?;
            Some(format!("{topic}: {} of {}; {first}", seen.back, seen.messages))
        });
        back.collect()
    }

    /// Frames that are not in the transforms of their namespace or of one above.
    fn without_transform(&self) -> Vec<String> {
        let trees = self.trees();
        let mut missing = Vec::new();
        for (topic, seen) in &self.topics {
            let known: Vec<_> = trees.iter().filter(|(above, _)| topic.starts_with(above.as_str())).collect();
            for frame in &seen.lock().unwrap().frames {
                // Joint states, events and the like belong to no frame.
                let is_known = frame.is_empty() || known.iter().any(|(_, tree)| tree.contains(frame));
                let is_excepted = EXCEPTIONS
                    .iter()
                    .any(|(of, excepted)| topic == of && [frame.as_str(), "*"].contains(excepted));
                if !is_known && !is_excepted {
                    missing.push(format!("{topic}: {frame}"));
                }
            }
        }
        missing
    }
}

/// Topics and frames that are in no transforms; `*` are all frames of the topic.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Where the measuring device stands is what a calibration finds out.
    ("/ranger/tracker/point", "tracker"),
    // Its children are the names of objects.
    ("/apolo/poses", "*"),
    // Player has no geometry of cameras and IMUs.
    ("/player/image_raw", "player/camera"),
    ("/player/camera1/image_raw", "player/camera1"),
    ("/player/imu/data", "player/imu"),
    // Apolo's protocol does not say where a robot carries its laser.
    ("/apolo/marvin/scan", "marvin/laser"),
];

/// What makes each robot of the lab move.
struct Drivers {
    wheels: Vec<Publisher<Twist>>,
    joint: Publisher<Float64>,
}

impl Drivers {
    fn new(node: &mut Node) -> Self {
        let wheels = ["/cmd_vel", "/neobotix/cmd_vel", "/apolo/pioneer3at/cmd_vel", "/apolo/marvin/cmd_vel"];
        let qos = QosProfile::default;
        let wheels = wheels.map(|topic| node.create_publisher(topic, qos()).unwrap()).into();
        Self { wheels, joint: node.create_publisher("/arm_3_joint/command", qos()).unwrap() }
    }

    /// All robots turn and drive slowly.
    fn drive(&self, time: Duration) {
        let began = dragoman_time::now();
        while dragoman_time::since(began) < time {
            let mut twist = Twist::default();
            (twist.linear.x, twist.angular.z) = (0.1, 0.2);
            self.wheels.iter().for_each(|publisher| publisher.publish(&twist).unwrap());
            let wave = dragoman_time::since(began).as_secs_f64().sin();
            self.joint.publish(&Float64 { data: 0.3 * wave - 0.5 }).unwrap();
            sleep(Duration::from_millis(50));
        }
    }
}

/// Lets the arm's tool go up by the 31-byte protocol.
fn lift_arm(lab: &Lab) {
    let client = lab.client();
    let nothing = [0.0; 7];
    let mut mode = nothing;
    mode[0] = 2.0;
    client.ask("CM", mode, 0);
    let pose = client.ask("PS", nothing, 0).values();
    let [roll, pitch, yaw] = crate::common::roll_pitch_yaw(pose);
    client.ask("GT", [pose[0], pose[1], pose[2] + 0.03, roll, pitch, yaw, 0.0], 0);
    client.ask("BG", nothing, 0);
}

/// The platform in the mode in which it follows velocities.
fn start_platform(operator: &mut Beside) {
    let order = |operator: &mut Beside, name: &str| {
        let name = format!("/neobotix/{name}");
        operator.call::<Trigger::Service>(&name, Trigger::Request::default()).success
    };
    until("the platform is connected", || order(operator, "connect_to_pltf"));
    assert!(order(operator, "init_pltf"));
    let mode = PlatformSetMode::Request { mode: 2 };
    assert!(operator.call::<PlatformSetMode::Service>("/neobotix/set_mode", mode).success);
    assert!(order(operator, "start"));
}

#[test]
fn no_stamp_goes_back_and_every_frame_has_its_transform() {
    let lab = Lab::start();
    let _behind = Lab::start_with(0, &["player", "--server", &lab.player.to_string()], &[]);
    let mut observer = Observer::new(lab.domain);
    let mut operator = Beside::new(lab.domain);
    let drivers = Drivers::new(&mut operator.node);
    start_platform(&mut operator);
    lift_arm(&lab);
    // The devices of a Player server appear after its client has connected.
    for _ in 0..4 {
        observer.look();
        drivers.drive(Duration::from_secs(2));
    }
    let reset = operator.call::<Trigger::Service>("/simulation/reset", Trigger::Request::default());
    assert!(reset.success, "{}", reset.message);
    drivers.drive(Duration::from_secs(2));

    observer.check(50);
    let messages = |topic: &str| observer.topics[topic].lock().unwrap().messages;
    assert!(messages("/mobile_base/sensors/imu_data_raw") > 500);
}

/// The domain of the clients' robots.
const OTHER: u16 = 1;

/// The robots of the lab again, as the client sides of their protocols show them.
#[test]
fn the_robots_behind_old_protocols_have_stamps_and_frames_as_well() {
    let lab = Lab::start();
    let robots = "apolo_client:robots:=[Marvin, Neo, Pioneer3AT]";
    let lasers = "apolo_client:lasers:=[LMS100, '', '']";
    let [arm, apolo, platform] = [lab.address, lab.apolo, lab.neobotix[0]].map(|address| address.to_string());
    let _clients = [
        Lab::start_with(OTHER, &["arm31", "--controller", &arm, "--robot", "ranger_mk1"], &[]),
        Lab::start_with(OTHER, &["apolo", "--server", &apolo], &["-p", robots, "-p", lasers]),
        Lab::start_with(OTHER, &["neobotix", "--server", &platform], &[]),
    ];
    let mut operator = Beside::new(lab.domain);
    let drivers = Drivers::new(&mut operator.node);
    start_platform(&mut operator);
    lift_arm(&lab);
    let mut observer = Observer::new(OTHER);
    for _ in 0..3 {
        observer.look();
        drivers.drive(Duration::from_secs(2));
    }
    observer.check(10);
}

const PORT: &str = "/dev/machine";

/// A machine that is the whole robot, so that no other node has its description; at least this number of topics have
/// stamps.
fn machine_alone(device: &str, options: &[&str], topics: usize) {
    let _device = Device::start(PORT, &[device]);
    let program = Lab::start_with(0, &[options, &["--port", PORT]].concat(), &[]);
    let mut observer = Observer::new(program.domain);
    for _ in 0..2 {
        sleep(Duration::from_secs(1));
        observer.look();
    }
    sleep(Duration::from_secs(2));
    observer.check(topics);
}

#[test]
fn a_kobuki_alone_has_stamps_and_frames_as_well() {
    machine_alone("kobuki", &["base"], 9);
}

#[test]
fn other_wheels_alone_have_stamps_and_frames_as_well() {
    machine_alone("wheels", &["base", "--kind", "differential"], 3);
}

#[test]
fn a_widowx_alone_has_stamps_and_frames_as_well() {
    machine_alone("widowx", &["arm", "--kind", "widowx"], 2);
}
