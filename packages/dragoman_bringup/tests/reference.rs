//! Compares `docs/reference/` with the running programs: no row may be missing, superfluous or wrong.
//!
//! A table belongs to the heading above it and is known by its first head cell: `topic`, `service`, `called service`,
//! `action` or `parameter`. The test rewrites each table and compares it with the file; with
//! `DRAGOMAN_UPDATE_REFERENCE=1` it also replaces the file. Rows of parameters come from the parameter services. For
//! published topics the graph gives name, type, reliability and durability; for services the type. Rates, history
//! depths and meanings stay as they are in the file. DDS neither says which node a subscription belongs to, nor lists
//! services. So their names are written by hand, and the numbers of a node's readers and writers must match.

#![allow(dead_code, unreachable_pub, reason = "the labs are those of the tests on virtual time")]

#[path = "reference/house.rs"]
mod house;
#[path = "reference/rviz.rs"]
mod rviz;
#[path = "virtual_time"]
mod virtual_time {
    pub(crate) mod common;
    pub(crate) mod host;
}

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use dragoman_ros::qos::{DurabilityPolicy, ReliabilityPolicy};
use dragoman_ros::rcl_interfaces::msg::{ParameterDescriptor, ParameterValue};
use dragoman_ros::rcl_interfaces::srv::{DescribeParameters, GetParameters, ListParameters};
use dragoman_ros::rmw_dds_common::msg::{NodeEntitiesInfo, ParticipantEntitiesInfo};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::{
    Node, Publisher, QosProfile, TopicEndpointInfo, WrappedServiceTypeSupport, WrappedTypesupport,
};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};
use virtual_time::{common, host};

use common::{Folder, Lab};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The heading of the rows that all nodes with parameters share; `~` stands for the node's name there.
const COMMON: &str = "Every node with parameters";

/// Time until a program has all its nodes and names.
const TIME_LIMIT: Duration = Duration::from_secs(5);

#[test]
fn reference_of_up() {
    let lab = Lab::start();
    let nodes = [
        ("/dragoman", "Node /dragoman"),
        ("/ranger/arm", "Node /ranger/arm"),
        ("/ranger/kinematics", "Node /ranger/kinematics"),
        ("/ranger/arm31", "Node /ranger/arm31, server side"),
        ("/ranger/tracker", "Node /ranger/tracker"),
        ("/mobile_base", "Node /mobile_base"),
        ("/widowx", "Node /widowx"),
        ("/neobotix/platform", "Node /neobotix/platform"),
        ("/neobotix/platform_state", "Node /neobotix/platform_state"),
        ("/neobotix/neobotix", "Node /neobotix/neobotix, server side"),
        ("/neobotix/hardware", "Node /neobotix/hardware"),
        ("/apolo/apolo", "Node /apolo/apolo, server side"),
        ("/apolo/world", "Node /apolo/world"),
        ("/robot_state", "Node /robot_state"),
        ("/simulation", "Node /simulation"),
        ("/player", "Node /player, server side"),
        ("/recorder", "Node /recorder"),
        ("/console", "Node /console"),
        ("/console_gateway", "Node /console_gateway"),
    ];
    compare(&lab, &nodes);
}

#[test]
fn reference_of_arm31() {
    // Port 9 is closed, and the node does not need an answer.
    let arguments = ["arm31", "--controller", "127.0.0.1:9", "--robot", "ranger_mk1"];
    let lab = Lab::start_with(0, &arguments, &[]);
    compare(&lab, &[("/dragoman", "Node /dragoman"), ("/ranger/arm31", "Node /ranger/arm31, client side")]);
}

#[test]
fn reference_of_apolo() {
    let robots = "apolo_client:robots:=[Marvin, Neo, Neobotix platform, Pioneer3AT, RoMAA]";
    let lasers = "apolo_client:lasers:=[LMS100, '', front, '', '']";
    let lab = Lab::start_with(0, &["apolo", "--server", "127.0.0.1:9"], &["-p", robots, "-p", lasers]);
    let client = ("/apolo/apolo_client", "Node /apolo/apolo_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn reference_of_neobotix() {
    let lab = Lab::start_with(0, &["neobotix", "--server", "127.0.0.1:9"], &[]);
    let client = ("/neobotix/neobotix_client", "Node /neobotix/neobotix_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn reference_of_player() {
    let lab = Lab::start_with(0, &["player", "--server", "127.0.0.1:9"], &[]);
    compare(
        &lab,
        &[("/dragoman", "Node /dragoman"), ("/player/player_client", "Node /player/player_client")],
    );
}

#[test]
fn reference_of_base() {
    let arguments = ["base", "--port", "/dev/no-base-is-here", "--kind", "differential"];
    let lab = Lab::start_with(0, &arguments, &[]);
    compare(
        &lab,
        &[("/dragoman", "Node /dragoman"), ("/mobile_base", "Node /mobile_base, differential drive")],
    );
}

/// The nodes and parameters that `dragoman` knows are those of the reference.
#[test]
fn known_parameters_are_those_of_the_reference() {
    let pages = read_pages();
    let own = |heading: &str| rows(&pages, heading, "parameter").into_iter().map(|row| row[0].clone());
    let mut nodes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in pages.values().flat_map(|text| text.lines()) {
        let heading = line.trim_start_matches('#').trim().replace('`', "");
        let Some(node) = heading.strip_prefix("Node ").filter(|_| line.starts_with('#')) else { continue };
        let (path, _) = node.split_once(',').unwrap_or((node, ""));
        let name = path.rsplit('/').next().unwrap();
        nodes.entry(name.to_owned()).or_default().extend(own(&heading));
    }
    let line = |(node, names): (String, BTreeSet<String>)| {
        let names: Vec<String> = names.into_iter().map(|name| format!(" {name}")).collect();
        format!("{node}:{}\n", names.concat())
    };
    let expected: String = nodes.into_iter().map(line).collect();
    let path = format!("{REPOSITORY}/packages/dragoman_bringup/src/known_parameters.txt");
    if std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "DRAGOMAN_UPDATE_REFERENCE=1 rewrites it");
}

/// A row of a table: the name without backticks, then the other cells as they are written.
type Row = Vec<String>;

fn cells(line: &str) -> Option<Row> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    let mut row: Row = inner.split('|').map(|cell| cell.trim().to_owned()).collect();
    row[0] = row[0].replace('`', "");
    Some(row)
}

fn is_heading(line: &str, heading: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').trim().replace('`', "") == heading
}

/// The pages of the reference by their paths.
type Pages = BTreeMap<PathBuf, String>;

fn read_pages() -> Pages {
    let mut pages = Pages::new();
    for entry in std::fs::read_dir(format!("{REPOSITORY}/docs/reference")).unwrap() {
        let path = entry.unwrap().path();
        pages.insert(path.clone(), std::fs::read_to_string(path).unwrap());
    }
    pages
}

/// The rows below `heading` of the tables that begin with column `kind`.
fn rows(pages: &Pages, heading: &str, kind: &str) -> Vec<Row> {
    let (mut found, mut here, mut table) = (Vec::new(), false, None);
    for line in pages.values().flat_map(|text| text.lines().chain(["#"])) {
        here = is_heading(line, heading) || here && !line.starts_with('#');
        let Some(row) = cells(line) else {
            table = None;
            continue;
        };
        match &table {
            None => table = Some(row[0].clone()),
            Some(head) if here && head == kind && !row[0].starts_with("---") => found.push(row),
            Some(_) => {}
        }
    }
    found
}

/// The page with other rows in the table of `kind` below `heading`.
fn with_rows(text: &str, heading: &str, kind: &str, rows: &[Row]) -> String {
    let (mut lines, mut here, mut skipping) = (Vec::new(), false, false);
    for line in text.lines() {
        here = is_heading(line, heading) || here && !line.starts_with('#');
        skipping &= line.starts_with('|');
        if skipping {
            continue;
        }
        lines.push(line.to_owned());
        if here && line.starts_with(&format!("| {kind} |")) {
            skipping = true;
            lines.push(format!("|{}", " --- |".repeat(line.matches('|').count() - 1)));
            lines.extend(rows.iter().map(|row| format!("| `{}` | {} |", row[0], row[1..].join(" | "))));
        }
    }
    lines.join("\n") + "\n"
}

/// Names that stand for several: one for each joint of the lab's arms, for each robot of its world without another
/// driver, and so on.
const SEVERAL: [(&str, &[&str]); 6] = [
    ("<joint>", &["joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"]),
    (
        "<robot's joint>",
        &["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"],
    ),
    ("<robot>", &["marvin", "neo", "neobotix_platform", "pioneer3at", "romaa"]),
    ("<described robot>", &["neobotix_platform", "pioneer3at", "puma560", "ranger_mark_i", "romaa"]),
    ("<1 to 16>", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"]),
    ("<robot with a laser>", &["marvin", "neobotix_platform"]),
];

fn names(name: &str, node: &str) -> Vec<String> {
    let name = name.replace('~', node);
    match SEVERAL.iter().find(|(pattern, _)| name.contains(pattern)) {
        Some((pattern, all)) => all.iter().map(|one| name.replace(pattern, one)).collect(),
        None => vec![name],
    }
}

/// The rows of `kind` that a section omits: the parts of its actions, and those that all nodes with parameters share.
fn implied(pages: &Pages, heading: &str, kind: &str) -> Vec<Row> {
    let mut all = Vec::new();
    for action in rows(pages, heading, "action") {
        let mut part = |of, name: &str, type_name: String, rest: &[&str]| {
            let head = [format!("{}/_action/{name}", action[0]), type_name];
            let row = head.into_iter().chain(rest.iter().map(|cell| (*cell).to_owned())).collect();
            all.extend((of == kind).then_some(row));
        };
        let (of, status) = (&action[1], "action_msgs/msg/GoalStatusArray".to_owned());
        part("service", "send_goal", format!("{of}_SendGoal"), &[]);
        part("service", "cancel_goal", "action_msgs/srv/CancelGoal".to_owned(), &[]);
        part("service", "get_result", format!("{of}_GetResult"), &[]);
        part("topic", "feedback", format!("{of}_FeedbackMessage"), &["publishes", "reliable, volatile"]);
        part("topic", "status", status, &["publishes", "reliable, transient local"]);
    }
    if !rows(pages, heading, "parameter").is_empty() {
        all.extend(rows(pages, COMMON, kind));
    }
    all
}

/// The first two policies of a cell: reliability and durability.
fn policies(qos: &str) -> String {
    qos.split(", ").take(2).collect::<Vec<_>>().join(", ")
}

/// Pages with the rewritten tables of the sections, and further errors.
fn generate(pages: &Pages, sections: &[(&str, &str)], observer: &mut Observer) -> (Pages, Vec<String>) {
    let (mut new, mut problems) = (pages.clone(), Vec::new());
    let (mut published_by_all, mut subscribed) = (BTreeMap::new(), BTreeMap::new());
    let infos = observer.nodes();
    let unknown = infos.keys().filter(|name| !sections.iter().any(|(node, _)| node == name));
    problems.extend(unknown.map(|node| format!("{node} has no section")));
    for (node, heading) in sections {
        let Some(info) = infos.get(*node) else {
            problems.push(format!("{node} does not exist"));
            continue;
        };
        let mut replace = |kind: &str, of_kind: Vec<Row>| {
            let unexplained = of_kind.iter().filter(|row| row.last().is_none_or(String::is_empty));
            let mut wrong: Vec<_> =
                unexplained.map(|row| format!("{heading}: {} needs a meaning", row[0])).collect();
            new.values_mut().for_each(|text| *text = with_rows(text, heading, kind, &of_kind));
            if rows(&new, heading, kind) != of_kind {
                wrong.push(format!("{heading} has no table of kind {kind} for {of_kind:?}"));
            }
            wrong
        };
        let published = observer.published(info);
        let (mut readers, mut writers, mut covered) = (0, published.len(), BTreeSet::new());
        for kind in ["topic", "service", "called service"] {
            let own = rows(pages, heading, kind);
            let (count, mut kept) = (own.len(), Vec::new());
            for (index, row) in own.into_iter().chain(implied(pages, heading, kind)).enumerate() {
                let is_published = row.get(2).is_some_and(|direction| direction == "publishes");
                let names = names(&row[0], node);
                // Type and quality of service in the graph; they must be the same for all names.
                let facts = names.iter().map(|name| match kind {
                    "topic" if is_published => published.iter().find(|[topic, ..]| topic == name).cloned(),
                    "topic" => {
                        let exists = observer.subscriptions(name, &row[1]) > 0;
                        exists.then(|| [name.clone(), row[1].clone(), row[3].clone()])
                    }
                    _ => observer.service_type(info, kind, name).map(|of| [name.clone(), of, String::new()]),
                });
                let facts: Vec<_> = facts.map(|fact| fact.map(|[_, of, qos]| (of, qos))).collect();
                let mut seen = row.clone();
                if let Some(Some((of, qos))) = facts.first() {
                    seen[1].clone_from(of);
                    if is_published {
                        seen[3] = row[3].replacen(&policies(&row[3]), qos, 1);
                    }
                }
                let exists = facts.iter().all(|fact| fact.is_some() && *fact == facts[0]);
                if index >= count && !(exists && seen == row) {
                    problems.push(format!("{node} has no {row:?}"));
                }
                if !exists {
                    continue;
                }
                if is_published {
                    let facts = facts.into_iter().flatten();
                    covered.extend(names.into_iter().zip(facts).map(|(name, (of, qos))| [name, of, qos]));
                } else {
                    readers += names.len();
                    if kind == "topic" {
                        let keys = names.into_iter().map(|name| (name, row[1].clone()));
                        keys.for_each(|key| *subscribed.entry(key).or_insert(0) += 1);
                    } else {
                        writers += names.len();
                    }
                }
                kept.extend((index < count).then_some(seen));
            }
            if kind == "topic" {
                let published: BTreeSet<_> = published.iter().cloned().collect();
                for [topic, of, qos] in published.difference(&covered) {
                    kept.push([topic, of, "publishes", qos, "", ""].map(str::to_owned).to_vec());
                }
            }
            problems.extend(replace(kind, kept));
        }
        if !rows(pages, heading, "parameter").is_empty() {
            let common = rows(pages, COMMON, "parameter");
            let (of_all, own): (Vec<Row>, Vec<Row>) = observer
                .parameters(node)
                .into_iter()
                .partition(|row| common.iter().any(|known| known[0] == row[0]));
            if of_all != common {
                problems.push(format!("{node} has {of_all:?} of the common parameters {common:?}"));
            }
            problems.extend(replace("parameter", own));
        }
        let seen = (info.reader_gid_seq.len(), info.writer_gid_seq.len());
        if seen != (readers, writers) {
            problems.push(format!(
                "{node} has {} readers and {} writers; its tables have {readers} and {writers}. Add rows of new \
                 subscriptions and services by hand",
                seen.0, seen.1
            ));
        }
        published_by_all.extend(published.into_iter().map(|[topic, of, _]| (topic, of)));
    }
    for ((topic, of), count) in &subscribed {
        let seen = observer.subscriptions(topic, of);
        if seen != *count {
            problems.push(format!("{count} rows subscribe to {topic}, {of}; in the graph there are {seen}"));
        }
        if let Some(other) = published_by_all.get(topic).filter(|other| *other != of) {
            problems.push(format!("two types of one topic: {topic}, {of} and {other}"));
        }
    }
    (new, problems)
}

fn compare(lab: &Lab, sections: &[(&str, &str)]) {
    static UPDATE: Mutex<()> = Mutex::new(());
    let update = std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some();
    let mut observer = Observer::new(lab);
    let start = dragoman_time::now();
    loop {
        let guard = UPDATE.lock();
        let pages = read_pages();
        let (new, problems) = generate(&pages, sections, &mut observer);
        if new == pages && problems.is_empty() {
            return;
        }
        if dragoman_time::since(start) >= TIME_LIMIT {
            if update {
                new.iter().for_each(|(path, text)| std::fs::write(path, text).unwrap());
            }
            let lines =
                |pages: &Pages| pages.values().flat_map(|text| text.lines()).map(str::to_owned).collect();
            let (old, new): (BTreeSet<String>, BTreeSet<String>) = (lines(&pages), lines(&new));
            let removed = old.difference(&new).map(|line| format!("-{line}"));
            let added = new.difference(&old).map(|line| format!("+{line}"));
            let differences: Vec<String> = removed.chain(added).collect();
            assert!(
                update && problems.is_empty(),
                "docs/reference is stale, or its rows have another order; DRAGOMAN_UPDATE_REFERENCE=1 rewrites \
                 its tables\n{}\n{}\n",
                differences.join("\n"),
                problems.join("\n")
            );
            return;
        }
        drop(guard);
        common::sleep(Duration::from_millis(200));
    }
}

/// A peer in the lab's domain.
struct Observer {
    node: Node,
    infos: BoxStream<'static, ParticipantEntitiesInfo>,
    /// The last message of each participant.
    participants: HashMap<Vec<u8>, Vec<NodeEntitiesInfo>>,
    /// Publishers that reveal the subscriptions; they publish nothing.
    probes: HashMap<(String, String), Probe>,
    parameters: HashMap<String, Vec<Row>>,
}

/// Counts the subscriptions of a topic in other processes.
type Probe = Box<dyn Fn() -> usize>;

impl Observer {
    fn new(lab: &Lab) -> Self {
        let mut node = common::node(lab.domain);
        let qos =
            QosProfile::default().keep_last(100).transient_local().avoid_ros_namespace_conventions(true);
        let infos = node.subscribe("ros_discovery_info", qos).unwrap().boxed();
        let (participants, probes, parameters) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { node, infos, participants, probes, parameters }
    }

    fn nodes(&mut self) -> BTreeMap<String, NodeEntitiesInfo> {
        while let Some(Some(info)) = self.infos.next().now_or_never() {
            self.participants.insert(info.gid.data, info.node_entities_info_seq);
        }
        let infos = self.participants.values().flatten().filter(|info| info.node_name != "observer");
        let named = infos.map(|info| {
            (format!("{}/{}", info.node_namespace.trim_end_matches('/'), info.node_name), info.clone())
        });
        named.collect()
    }

    /// Topic, type, reliability and durability of a node's publishers.
    fn published(&self, info: &NodeEntitiesInfo) -> Vec<[String; 3]> {
        let mut found = Vec::new();
        for topic in self.node.get_topic_names_and_types().unwrap().into_keys() {
            for writer in self.node.get_publishers_info_by_topic(&topic, false).unwrap() {
                if is_owned(info, &writer) {
                    let reliability = match writer.qos_profile.reliability {
                        ReliabilityPolicy::BestEffort => "best effort",
                        _ => "reliable",
                    };
                    let durability = match writer.qos_profile.durability {
                        DurabilityPolicy::TransientLocal => "transient local",
                        _ => "volatile",
                    };
                    found.push([topic.clone(), writer.topic_type, format!("{reliability}, {durability}")]);
                }
            }
        }
        found.sort();
        found
    }

    /// The type of a service that a node offers or calls.
    fn service_type(&self, info: &NodeEntitiesInfo, kind: &str, name: &str) -> Option<String> {
        let (topic, suffix) = match kind {
            "service" => (format!("rr{name}Reply"), "_Response_"),
            _ => (format!("rq{name}Request"), "_Request_"),
        };
        let mut writers = self.node.get_publishers_info_by_topic(&topic, true).unwrap().into_iter();
        let writer = writers.find(|writer| is_owned(info, writer))?;
        let of = writer.topic_type.replace("::dds_::", "::").replace("::", "/");
        Some(of.trim_end_matches(suffix).to_owned())
    }

    /// How many subscriptions of this type a topic has in other processes.
    fn subscriptions(&mut self, topic: &str, type_name: &str) -> usize {
        let key = (topic.to_owned(), type_name.to_owned());
        let node = &mut self.node;
        self.probes.entry(key).or_insert_with(|| probe(node, topic, type_name))()
    }

    /// The rows of the table of a node's parameters.
    fn parameters(&mut self, node: &str) -> Vec<Row> {
        if let Some(known) = self.parameters.get(node) {
            return known.clone();
        }
        let asked = ListParameters::Request { prefixes: Vec::new(), depth: 0 };
        let names = self.ask::<ListParameters::Service>(node, "list_parameters", asked).result.names;
        let asked = DescribeParameters::Request { names: names.clone() };
        let described =
            self.ask::<DescribeParameters::Service>(node, "describe_parameters", asked).descriptors;
        let asked = GetParameters::Request { names: names.clone() };
        let values = self.ask::<GetParameters::Service>(node, "get_parameters", asked).values;
        assert_eq!((described.len(), values.len()), (names.len(), names.len()));
        let declared = described.iter().zip(&values).map(|(of, value)| parameter_row(node, of, value));
        self.parameters.entry(node.to_owned()).or_insert(declared.collect()).clone()
    }

    fn ask<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        node: &str,
        service: &str,
        request: S::Request,
    ) -> S::Response {
        let name = format!("{node}/{service}");
        let client = self.node.create_client::<S>(&name, QosProfile::services_default()).unwrap();
        common::call(&client, &request)
    }
}

fn is_owned(info: &NodeEntitiesInfo, writer: &TopicEndpointInfo) -> bool {
    info.writer_gid_seq.iter().any(|gid| gid.data == writer.endpoint_gid)
}

/// A publisher of the type of that name.
fn probe(node: &mut Node, topic: &str, type_name: &str) -> Probe {
    fn typed<T: WrappedTypesupport + 'static>(node: &mut Node, topic: &str) -> Probe {
        let qos = QosProfile::default().keep_last(1).transient_local();
        let publisher: Publisher<T> = node.create_publisher(topic, qos).unwrap();
        Box::new(move || publisher.get_inter_process_subscription_count().unwrap())
    }
    macro_rules! typed_by_name {
        ($($package:ident: $($message:ident)+;)+) => {
            $($(if type_name == concat!(stringify!($package), "/msg/", stringify!($message)) {
                return typed::<dragoman_ros::$package::msg::$message>(node, topic);
            })+)+
        };
    }
    typed_by_name! {
        diagnostic_msgs: DiagnosticArray;
        dragoman_msgs: CanMessage DriveStatus MotionEvent NamespaceClaim PlaybackStatus RecordingStatus;
        geometry_msgs: PoseArray PoseStamped Twist TwistStamped;
        kobuki_ros_interfaces: ControllerInfo DigitalOutput ExternalPower Led MotorPower Sound;
        moveit_msgs: CollisionObject PlanningScene;
        nav_msgs: Odometry;
        rcl_interfaces: ParameterEvent;
        sensor_msgs: BatteryState Imu JointState Joy LaserScan;
        std_msgs: Bool Empty Float64 String;
    }
    panic!("{topic}: {type_name} is missing here");
}

fn parameter_row(node: &str, parameter: &ParameterDescriptor, value: &ParameterValue) -> Row {
    let (type_name, mut default) = match parameter.type_ {
        1 => ("boolean", value.bool_value.to_string()),
        2 => ("integer", value.integer_value.to_string()),
        3 => ("double", format!("{:?}", value.double_value)),
        4 => ("string", value.string_value.clone()),
        6 => ("boolean array", format!("{:?}", value.bool_array_value)),
        7 => ("integer array", format!("{:?}", value.integer_array_value)),
        8 => ("double array", format!("{:?}", value.double_array_value)),
        9 => ("string array", format!("[{}]", value.string_array_value.join(", "))),
        other => panic!("{}: type {other} is missing here", parameter.name),
    };
    // Values set by the tests' command lines: serial ports, and the robots of an Apolo.
    match (parameter.name.as_str(), node) {
        ("device_port", _) => default.clear(),
        ("robots" | "lasers", "/apolo/apolo_client") => default = "[]".to_owned(),
        _ => {}
    }
    let floats =
        parameter.floating_point_range.iter().map(|of| format!("{} to {}", of.from_value, of.to_value));
    let integers = parameter.integer_range.iter().map(|of| format!("{} to {}", of.from_value, of.to_value));
    let texts = Some(parameter.additional_constraints.clone()).filter(|text| !text.is_empty());
    let mut range = floats.chain(integers).chain(texts).next().unwrap_or_else(|| "any".to_owned());
    if !parameter.read_only {
        range.push_str(", settable at run time");
    }
    [parameter.name.clone(), type_name.to_owned(), default, range, parameter.description.clone()].to_vec()
}

/// All pages: Markdown files outside of `target` and hidden folders.
fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let is_ours = !["target", "node_modules"].contains(&name.as_str()) && !name.starts_with('.');
        if entry.file_type().unwrap().is_dir() && is_ours {
            markdown_files(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    });
    kept.collect()
}

/// Files of the repository with this ending, by their paths in it, without those that are built or fetched.
fn files(ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(REPOSITORY)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_ours =
                !name.starts_with('.') && !["target", "node_modules", "fuzz"].contains(&name.as_str());
            if is_ours && entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if name.ends_with(ending) {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(REPOSITORY).unwrap().display().to_string(), text));
            }
        }
    }
    found
}

/// Above every block of code stands what shows that it works: `run: TEST` (or a file), a test that does what it says and
/// looks at the effect; `parsed`, its commands are compared with the command line and the lab's names; or `not here:
/// REASON`.
#[test]
fn every_block_of_code_has_a_mark() {
    let sources: String =
        [".rs", ".py", ".m"].into_iter().flat_map(files).map(|(_, text)| text + "\n").collect();
    let is_test = |name: &str| {
        let begins = ["fn ", "def ", "function "];
        begins.iter().any(|begin| sources.contains(&format!("{begin}{name}(")))
            || std::path::Path::new(REPOSITORY).join(name).is_file()
    };
    let mut faults = Vec::new();
    let mut blocks = 0;
    for (path, text) in files(".md") {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let mut is_open = false;
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("```")) {
            is_open = !is_open;
            if !is_open {
                continue;
            }
            blocks += 1;
            let above = at.checked_sub(1).map_or("", |above| lines[above]);
            let mark = above.strip_prefix("<!-- ").and_then(|mark| mark.strip_suffix(" -->"));
            let body: Vec<&str> =
                lines[at + 1..].iter().take_while(|line| !line.starts_with("```")).copied().collect();
            let commands = || body.iter().filter_map(|line| line.strip_prefix("$ "));
            let is_parsed = |command: &str| {
                ["dragoman ", "cargo run --release", "ros2 "].iter().any(|own| command.starts_with(own))
                    || command == "dragoman"
            };
            let is_right = match mark.and_then(|mark| mark.split_once(": ").or(Some((mark, "")))) {
                Some(("run", test)) => is_test(test),
                Some(("parsed", "")) => commands().any(is_parsed),
                Some(("not here", reason)) => !reason.is_empty(),
                _ => false,
            };
            if !is_right {
                faults.push(format!("{path}:{}: {above:?}", at + 1));
            }
        }
    }
    assert!(
        faults.is_empty() && blocks > 100,
        "{blocks} blocks; without a right mark:\n{}",
        faults.join("\n")
    );
}

/// Names in the documentation that the lab has only sometimes: each robot's and joint's own, those of other modes.
const SOMETIMES: [&str; 6] = [
    "/apolo/marvin/cmd_vel",
    "/ranger/learned_payload",
    "/player/cmd_vel",
    "/arm_2_joint/command",
    "/arm_2_joint/set_speed",
    "/arm_2_joint/relax",
];

/// A command of `ros2` that is copied from a page finds its topic or service, with its type.
#[test]
fn the_names_in_commands_of_ros_2_are_in_the_tables() {
    let tables: String = files(".md")
        .into_iter()
        .filter(|(path, _)| path.starts_with("docs/reference/"))
        .map(|(_, text)| text)
        .collect();
    let mut checked = 0;
    for (path, text) in files(".md") {
        for command in text.lines().map(str::trim).filter_map(|line| line.strip_prefix("$ ros2 ")) {
            let mut words = command.split('#').next().unwrap_or_default().split_whitespace();
            if !matches!(words.next(), Some("topic" | "service" | "action")) {
                continue;
            }
            let Some(name) = words.find(|word| word.starts_with('/')) else { continue };
            if SOMETIMES.contains(&name) {
                continue;
            }
            let row = match words.next().filter(|word| word.contains("/msg/") || word.contains("/srv/")) {
                Some(type_name) => format!("`{name}` | {type_name} |"),
                None => format!("`{name}`"),
            };
            assert!(tables.contains(&row), "{path}: {command}: the tables have no {row}");
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

/// A newcomer who copies a command from a page has to know what `dragoman` is.
#[test]
fn pages_with_commands_say_how_to_get_the_command() {
    let folder = std::path::Path::new(REPOSITORY).join("docs");
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let Some((above, _)) = text.split_once("\n$ dragoman ") else { continue };
        let is_said = above.contains("#the-command)") || above.contains("## The command");
        assert!(is_said, "{}: link commands.md#the-command above the first command", entry.path().display());
    }
}

#[test]
fn relative_links_lead_somewhere() {
    let mut files = Vec::new();
    markdown_files(Path::new(REPOSITORY), &mut files);
    let (mut checked, mut broken) = (0, Vec::new());
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let has_place = place.is_empty() || {
                let target = std::fs::read_to_string(&target).unwrap_or_default();
                target.lines().any(|line| line.starts_with('#') && anchor(line) == place)
            };
            checked += 1;
            if !target.exists() || !has_place {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty() && checked > 100, "{checked} links; broken:\n{}", broken.join("\n"));
}

/// The only block of the guide in this language.
fn block(language: &str) -> &'static str {
    let guide = include_str!("../../../docs/own-robot.md");
    let (_, rest) = guide.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_guides_arm_starts_as_it_is_printed() {
    let folder = Folder::new();
    folder.write("lift.urdf", block("xml"));
    let robot = folder.write("lift.yaml", block("yaml"));
    let lab = Lab::start_with(0, &["up", "--only", "ranger", "--robot", &robot], &[]);
    let states =
        common::node(lab.domain).subscribe::<JointState>("/ranger/joint_states", QosProfile::default());
    let state = common::next(&mut states.unwrap());
    assert_eq!(state.name, ["lift_joint", "turn_joint"]);
    assert!((state.position[0] - 0.1).abs() < 1e-3, "{state:?}");
}
