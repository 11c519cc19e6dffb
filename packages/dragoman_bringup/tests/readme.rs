//! The tables of the READMEs against the running programs: no row may be missing, superfluous or wrong.
//!
//! A table belongs to the heading above it and is known by its first head cell: `topic`, `service`, `called service` or
//! `parameter`. Nodes and their endpoints come from `ros_discovery_info`: what a node publishes, offers and calls must
//! account for all its writers, and with what it subscribes to for the number of its readers. Whole rows of parameters
//! come from the parameter services; a failure prints them ready to be pasted. Not compared: rates, meanings of topics
//! and services, the depth of a history, what a subscription asks for; its type only with that of the topic's publisher.

mod common;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use common::{Lab, domain};
use dragoman_bridge::{apolo, arm31, neobotix};
use dragoman_ros::qos::{DurabilityPolicy, ReliabilityPolicy};
use dragoman_ros::rcl_interfaces::msg::{ParameterDescriptor, ParameterValue};
use dragoman_ros::rcl_interfaces::srv::{DescribeParameters, GetParameters, ListParameters};
use dragoman_ros::rmw_dds_common::msg::{NodeEntitiesInfo, ParticipantEntitiesInfo};
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedServiceTypeSupport,
    WrappedTypesupport, dragoman_msgs, geometry_msgs, kobuki_ros_interfaces, nav_msgs, sensor_msgs, std_msgs,
};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};

const READMES: [&str; 8] = [
    include_str!("../README.md"),
    include_str!("../../dragoman_arm/README.md"),
    include_str!("../../dragoman_base/README.md"),
    include_str!("../../dragoman_bridge/README.md"),
    include_str!("../../dragoman_kinematics/README.md"),
    include_str!("../../dragoman_platform/README.md"),
    include_str!("../../dragoman_ros/README.md"),
    include_str!("../../dragoman_sim/README.md"),
];

/// The heading of what all nodes with parameters have; `~` stands for the node's name there.
const COMMON: &str = "Every node with parameters";

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn what_only_one_implementation_does_is_told() {
    for (what, reason) in common::implementation::EMBEDDED_ONLY {
        let row = format!("| {what} | {reason} |");
        assert!(READMES.iter().any(|text| text.lines().any(|line| line == row)), "{row}");
    }
}

#[test]
fn the_tables_tell_what_up_starts() {
    let lab = Lab::start();
    let nodes = [
        ("/dragoman", "Node /dragoman"),
        ("/ranger/arm", "Node /ranger/arm"),
        ("/ranger/kinematics", "Node /ranger/kinematics"),
        ("/ranger/arm31", "Node /ranger/arm31, server side"),
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
    ];
    compare(&lab, &nodes);
}

#[test]
fn the_tables_tell_what_arm31_starts() {
    // Nobody listens there, and nobody has to.
    let arguments = ["arm31", "--controller", "127.0.0.1:9", "--robot", "ranger_mk1"];
    let lab = Lab::start_with(domain(), &arguments, &[]);
    compare(&lab, &[("/dragoman", "Node /dragoman"), ("/ranger/arm31", "Node /ranger/arm31, client side")]);
}

#[test]
fn the_tables_tell_what_apolo_starts() {
    let lab = Lab::start_with(domain(), &["apolo", "--server", "127.0.0.1:9"], &[]);
    let client = ("/apolo/apolo_client", "Node /apolo/apolo_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn the_tables_tell_what_neobotix_starts() {
    let lab = Lab::start_with(domain(), &["neobotix", "--server", "127.0.0.1:9"], &[]);
    let client = ("/neobotix/neobotix_client", "Node /neobotix/neobotix_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn the_tables_tell_what_base_starts() {
    // No base is there, and none has to be.
    let arguments = ["base", "--port", "/dev/no-base-is-here", "--kind", "differential"];
    let lab = Lab::start_with(domain(), &arguments, &[]);
    compare(
        &lab,
        &[("/dragoman", "Node /dragoman"), ("/mobile_base", "Node /mobile_base, differential drive")],
    );
}

/// The rows below `heading` of the tables that begin with column `kind`, without the marks around names.
fn rows(heading: &str, kind: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let (mut here, mut table) = (false, None);
    for line in READMES.iter().flat_map(|text| text.lines().chain(["#"])) {
        if line.starts_with('#') {
            here = line.trim_start_matches('#').trim().replace('`', "") == heading;
        }
        let Some(row) = line.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) else {
            table = None;
            continue;
        };
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        match &table {
            None => table = Some(cells[0].clone()),
            Some(head) if here && head == kind && !cells[0].starts_with("---") => found.push(cells),
            Some(_) => {}
        }
    }
    found
}

/// Rows of the node's own tables and, if it has parameters, of those that every such node has.
fn rows_of(node: &str, heading: &str, kind: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = rows(heading, kind).iter().flat_map(|row| for_each(row)).collect();
    for action in rows(heading, "action") {
        all.extend(parts_of_action(&action, kind));
    }
    if !rows(heading, "parameter").is_empty() {
        all.extend(rows(COMMON, kind));
    }
    all.iter_mut().for_each(|row| row[0] = row[0].replace('~', node));
    all
}

/// What stands for several rows: one about each joint of the lab's arms, one about each robot of its world
/// that no other node drives.
const SEVERAL: [(&str, &[&str]); 6] = [
    ("<joint>", &["joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"]),
    (
        "<robot's joint>",
        &["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"],
    ),
    ("<robot>", &["marvin", "neo", "neobotix_platform", "pioneer3at"]),
    ("<described robot>", &["neobotix_platform", "pioneer3at", "puma560", "ranger_mark_i"]),
    ("<1 to 16>", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"]),
    ("<robot with a laser>", &["marvin", "neobotix_platform"]),
];

fn for_each(row: &[String]) -> Vec<Vec<String>> {
    let Some((kind, names)) = SEVERAL.iter().find(|(kind, _)| row[0].contains(kind)) else {
        return vec![row.to_vec()];
    };
    let named = |name: &&str| {
        let mut row = row.to_vec();
        row[0] = row[0].replace(kind, name);
        row
    };
    names.iter().map(named).collect()
}

/// The topics or services of which an action consists.
fn parts_of_action(row: &[String], kind: &str) -> Vec<Vec<String>> {
    let [action, type_name, ..] = row else { panic!("{row:?}") };
    let part = |name: &str, type_name: String, rest: &[&str]| {
        let head = [format!("{action}/_action/{name}"), type_name];
        head.into_iter().chain(rest.iter().map(|cell| (*cell).to_owned())).collect()
    };
    match kind {
        "service" => vec![
            part("send_goal", format!("{type_name}_SendGoal"), &[]),
            part("cancel_goal", "action_msgs/srv/CancelGoal".to_owned(), &[]),
            part("get_result", format!("{type_name}_GetResult"), &[]),
        ],
        "topic" => vec![
            part("feedback", format!("{type_name}_FeedbackMessage"), &["publishes", "reliable, volatile"]),
            part(
                "status",
                "action_msgs/msg/GoalStatusArray".to_owned(),
                &["publishes", "reliable, transient local"],
            ),
        ],
        _ => Vec::new(),
    }
}

fn compare(lab: &Lab, nodes: &[(&str, &str)]) {
    // As the lab itself is started.
    let discovery =
        Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    let mut observer = Observer::new(&context);
    let expected = expected(nodes);
    let start = Instant::now();
    let mut seen = observer.graph(nodes);
    while seen != expected && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(200));
        seen = observer.graph(nodes);
    }
    let mut differences: Vec<String> =
        expected.difference(&seen).map(|line| format!("only in a README: {line}")).collect();
    differences.extend(seen.difference(&expected).map(|line| format!("only in the program: {line}")));

    let topics: Vec<_> = nodes.iter().flat_map(|(node, heading)| rows_of(node, heading, "topic")).collect();
    let published: HashMap<&str, &str> =
        topics.iter().filter(|row| row[2] == "publishes").map(|row| (&*row[0], &*row[1])).collect();
    for row in &topics {
        if let Some(known) = published.get(&*row[0]).filter(|known| **known != row[1]) {
            differences.push(format!("two types of one topic: {}, {} and {known}", row[0], row[1]));
        }
    }

    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for (node, heading) in nodes.iter().filter(|(_, heading)| !rows(heading, "parameter").is_empty()) {
        let documented: BTreeSet<String> =
            rows_of(node, heading, "parameter").iter().map(|row| table_row(row)).collect();
        let declared: Vec<String> = runtime.block_on(observer.parameters(node));
        if documented != declared.iter().cloned().collect() {
            let (declared, documented): (String, Vec<_>) =
                (declared.concat(), documented.into_iter().collect());
            let documented = documented.concat();
            differences.push(format!("{node} has the parameters\n{declared}and README.md\n{documented}"));
        }
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

fn table_row(cells: &[String]) -> String {
    format!("| `{}` | {} |\n", cells[0], cells[1..].join(" | "))
}

/// The graph as the READMEs describe it, a line per fact.
fn expected(nodes: &[(&str, &str)]) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    // Of a topic with subscriptions of two types the library counts both for each.
    let mut subscribers: HashMap<String, usize> = HashMap::new();
    let mut subscribed = BTreeSet::new();
    for (node, heading) in nodes {
        let mut readers = 0;
        for row in rows_of(node, heading, "topic") {
            let [topic, type_name, direction, qos, ..] = row.as_slice() else { panic!("{heading}: {row:?}") };
            if direction == "publishes" {
                let offered: Vec<&str> = qos.split(", ").take(2).collect();
                lines.insert(format!("{node} publishes {topic}, {type_name}, {}", offered.join(", ")));
            } else {
                readers += 1;
                *subscribers.entry(topic.clone()).or_default() += 1;
                subscribed.insert((topic.clone(), type_name.clone()));
            }
        }
        for (kind, verb) in [("service", "offers"), ("called service", "calls")] {
            for row in rows_of(node, heading, kind) {
                readers += 1;
                lines.insert(format!("{node} {verb} {}, {}", row[0], row[1]));
            }
        }
        lines.insert(format!("{node} has {readers} readers and 0 other writers"));
    }
    for (topic, type_name) in subscribed {
        lines.insert(format!("{} subscriptions of {topic}, {type_name}", subscribers[&topic]));
    }
    lines
}

/// A peer in the lab's domain.
struct Observer {
    node: Node,
    infos: BoxStream<'static, ParticipantEntitiesInfo>,
    /// The last message of each participant.
    participants: HashMap<Vec<u8>, Vec<NodeEntitiesInfo>>,
    /// Publishers that show who subscribes; they publish nothing.
    probes: HashMap<(String, String), Probe>,
}

/// Counts the subscriptions of a topic in other processes.
type Probe = Box<dyn Fn() -> usize>;

impl Observer {
    fn new(context: &Context) -> Self {
        let mut node = Node::create(context.clone(), "observer", "").unwrap();
        let qos =
            QosProfile::default().keep_last(100).transient_local().avoid_ros_namespace_conventions(true);
        let infos = node.subscribe("ros_discovery_info", qos).unwrap().boxed();
        Self { node, infos, participants: HashMap::new(), probes: HashMap::new() }
    }

    /// The graph as it is now, a line per fact, in the words of [`expected`].
    fn graph(&mut self, documented: &[(&str, &str)]) -> BTreeSet<String> {
        while let Some(Some(info)) = self.infos.next().now_or_never() {
            self.participants.insert(info.gid.data, info.node_entities_info_seq);
        }
        let nodes: Vec<_> =
            self.participants.values().flatten().filter(|n| n.node_name != "observer").collect();
        let topics = self.node.get_topic_names_and_types().unwrap();
        let mut lines = BTreeSet::new();
        for info in nodes {
            let node = format!("{}/{}", info.node_namespace.trim_end_matches('/'), info.node_name);
            let owned: BTreeSet<&[u8]> = info.writer_gid_seq.iter().map(|gid| gid.data.as_slice()).collect();
            let mut others = owned.len();
            for topic in topics.keys() {
                for writer in self.node.get_publishers_info_by_topic(topic, false).unwrap() {
                    if owned.contains(writer.endpoint_gid.as_slice()) {
                        others -= 1;
                        let type_name = writer.topic_type;
                        let qos = match writer.qos_profile.reliability {
                            ReliabilityPolicy::BestEffort => "best effort",
                            _ => "reliable",
                        };
                        let durability = match writer.qos_profile.durability {
                            DurabilityPolicy::TransientLocal => "transient local",
                            _ => "volatile",
                        };
                        lines.insert(format!("{node} publishes {topic}, {type_name}, {qos}, {durability}"));
                    }
                }
            }
            let heading =
                documented.iter().find(|(known, _)| *known == node).map_or("", |(_, heading)| heading);
            let ends = [
                ("service", "offers", "rr", "Reply", "_Response_"),
                ("called service", "calls", "rq", "Request", "_Request_"),
            ];
            for (kind, verb, prefix, suffix, type_suffix) in ends {
                for row in rows_of(&node, heading, kind) {
                    let topic = format!("{prefix}{}{suffix}", row[0]);
                    for writer in self.node.get_publishers_info_by_topic(&topic, true).unwrap() {
                        if owned.contains(writer.endpoint_gid.as_slice()) {
                            others -= 1;
                            let type_name = writer.topic_type.replace("::dds_::", "::").replace("::", "/");
                            let type_name = type_name.trim_end_matches(type_suffix);
                            lines.insert(format!("{node} {verb} {}, {type_name}", row[0]));
                        }
                    }
                }
            }
            let readers = info.reader_gid_seq.len();
            lines.insert(format!("{node} has {readers} readers and {others} other writers"));
        }
        for (node, heading) in documented {
            for row in rows_of(node, heading, "topic").into_iter().filter(|row| row[2] == "subscribes") {
                let (topic, type_name) = (row[0].clone(), row[1].clone());
                let node = &mut self.node;
                let probe = self
                    .probes
                    .entry((topic.clone(), type_name.clone()))
                    .or_insert_with(|| probe(node, &topic, &type_name));
                let count = probe();
                lines.insert(format!("{count} subscriptions of {topic}, {type_name}"));
            }
        }
        lines
    }

    /// The rows of the table of a node's parameters.
    async fn parameters(&mut self, node: &str) -> Vec<String> {
        let asked = ListParameters::Request { prefixes: Vec::new(), depth: 0 };
        let listed = self.ask::<ListParameters::Service>(node, "list_parameters", asked).await;
        let names = listed.result.names;
        let asked = DescribeParameters::Request { names: names.clone() };
        let described = self.ask::<DescribeParameters::Service>(node, "describe_parameters", asked).await;
        let asked = GetParameters::Request { names: names.clone() };
        let values = self.ask::<GetParameters::Service>(node, "get_parameters", asked).await.values;
        assert_eq!((described.descriptors.len(), values.len()), (names.len(), names.len()));
        let known = described.descriptors.iter().zip(&values);
        known.map(|(descriptor, value)| table_row(&cells(node, descriptor, value))).collect()
    }

    async fn ask<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        node: &str,
        service: &str,
        request: S::Request,
    ) -> S::Response {
        let name = format!("{node}/{service}");
        let client = self.node.create_client::<S>(&name, QosProfile::services_default()).unwrap();
        let asked = async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        };
        tokio::time::timeout(PATIENCE, asked).await.unwrap_or_else(|_| panic!("{name} does not answer"))
    }
}

/// A publisher of the type of that name.
fn probe(node: &mut Node, topic: &str, type_name: &str) -> Probe {
    fn typed<T: WrappedTypesupport + 'static>(node: &mut Node, topic: &str) -> Probe {
        let qos = QosProfile::default().keep_last(1).transient_local();
        let publisher: Publisher<T> = node.create_publisher(topic, qos).unwrap();
        Box::new(move || publisher.get_inter_process_subscription_count().unwrap())
    }
    match type_name {
        "dragoman_msgs/msg/DriveStatus" => typed::<dragoman_msgs::msg::DriveStatus>(node, topic),
        "dragoman_msgs/msg/NamespaceClaim" => typed::<dragoman_msgs::msg::NamespaceClaim>(node, topic),
        "dragoman_msgs/msg/MotionEvent" => typed::<dragoman_msgs::msg::MotionEvent>(node, topic),
        "geometry_msgs/msg/PoseStamped" => typed::<geometry_msgs::msg::PoseStamped>(node, topic),
        "geometry_msgs/msg/TwistStamped" => typed::<geometry_msgs::msg::TwistStamped>(node, topic),
        "geometry_msgs/msg/Twist" => typed::<geometry_msgs::msg::Twist>(node, topic),
        "std_msgs/msg/Empty" => typed::<std_msgs::msg::Empty>(node, topic),
        "kobuki_ros_interfaces/msg/ControllerInfo" => {
            typed::<kobuki_ros_interfaces::msg::ControllerInfo>(node, topic)
        }
        "kobuki_ros_interfaces/msg/DigitalOutput" => {
            typed::<kobuki_ros_interfaces::msg::DigitalOutput>(node, topic)
        }
        "kobuki_ros_interfaces/msg/ExternalPower" => {
            typed::<kobuki_ros_interfaces::msg::ExternalPower>(node, topic)
        }
        "kobuki_ros_interfaces/msg/Led" => typed::<kobuki_ros_interfaces::msg::Led>(node, topic),
        "kobuki_ros_interfaces/msg/MotorPower" => {
            typed::<kobuki_ros_interfaces::msg::MotorPower>(node, topic)
        }
        "kobuki_ros_interfaces/msg/Sound" => typed::<kobuki_ros_interfaces::msg::Sound>(node, topic),
        "std_msgs/msg/String" => typed::<std_msgs::msg::String>(node, topic),
        "std_msgs/msg/Float64" => typed::<std_msgs::msg::Float64>(node, topic),
        "sensor_msgs/msg/JointState" => typed::<sensor_msgs::msg::JointState>(node, topic),
        "dragoman_msgs/msg/CanMessage" => typed::<dragoman_msgs::msg::CanMessage>(node, topic),
        "nav_msgs/msg/Odometry" => typed::<nav_msgs::msg::Odometry>(node, topic),
        "sensor_msgs/msg/BatteryState" => typed::<sensor_msgs::msg::BatteryState>(node, topic),
        "sensor_msgs/msg/Joy" => typed::<sensor_msgs::msg::Joy>(node, topic),
        "sensor_msgs/msg/LaserScan" => typed::<sensor_msgs::msg::LaserScan>(node, topic),
        "std_msgs/msg/Bool" => typed::<std_msgs::msg::Bool>(node, topic),
        other => panic!("{topic}: {other} is to be added here"),
    }
}

fn cells(node: &str, parameter: &ParameterDescriptor, value: &ParameterValue) -> [String; 5] {
    let (type_name, mut default) = match parameter.type_ {
        1 => ("boolean", value.bool_value.to_string()),
        2 => ("integer", value.integer_value.to_string()),
        3 => ("double", format!("{:?}", value.double_value)),
        4 => ("string", value.string_value.clone()),
        6 => ("boolean array", format!("{:?}", value.bool_array_value)),
        7 => ("integer array", format!("{:?}", value.integer_array_value)),
        8 => ("double array", format!("{:?}", value.double_array_value)),
        9 => ("string array", format!("[{}]", value.string_array_value.join(", "))),
        other => panic!("{}: type {other} is to be added here", parameter.name),
    };
    // The labs of tests listen on free ports.
    if parameter.name == "ports" {
        default = format!("{:?}", neobotix::wire::DEFAULT_PORTS);
    }
    if parameter.name == "port" {
        let is_apolo = node.ends_with("/apolo");
        default = if is_apolo { apolo::wire::DEFAULT_PORT } else { arm31::wire::DEFAULT_PORT }.to_string();
    }
    // And bases have the port that the command line names.
    if parameter.name == "device_port" {
        default.clear();
    }
    let mut range = parameter.additional_constraints.clone();
    for bounds in &parameter.floating_point_range {
        range = format!("{} to {}", bounds.from_value, bounds.to_value);
    }
    for bounds in &parameter.integer_range {
        range = format!("{} to {}", bounds.from_value, bounds.to_value);
    }
    if range.is_empty() {
        range = "any".to_owned();
    }
    if !parameter.read_only {
        range.push_str(", settable at run time");
    }
    [parameter.name.clone(), type_name.to_owned(), default, range, parameter.description.replace('`', "")]
}

/// The block of the top README that is in this language; there is one.
fn block(language: &str) -> &'static str {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[cfg(target_os = "linux")]
#[test]
fn the_guides_arm_starts_as_it_is_printed() {
    let folder = std::env::temp_dir().join(format!("dragoman_guide_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("lift.urdf"), block("xml")).unwrap();
    std::fs::write(folder.join("lift.yaml"), block("yaml")).unwrap();
    let robot = folder.join("lift.yaml").display().to_string();
    let lab = Lab::start_with(domain(), &["up", "--robot", &robot], &["-p", "arm31:port:=0"]);
    let mut beside = common::beside::Beside::new(lab.domain);
    let mut states = beside.subscribe::<sensor_msgs::msg::JointState>("/ranger/joint_states");
    let state = beside.next("the arm's state", &mut states);
    assert_eq!(state.name, ["lift_joint", "turn_joint"]);
    assert!((state.position[0] - 0.1).abs() < 1e-3, "{state:?}");
    let _ = std::fs::remove_dir_all(folder);
}
