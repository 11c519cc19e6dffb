//! `docs/reference/` against the running programs: no row may be missing, superfluous or wrong.
//!
//! A table belongs to the heading above it and is known by its first head cell: `topic`, `service`, `called service`,
//! `action` or `parameter`. The test writes each table anew and compares it with the file; with
//! `DRAGOMAN_UPDATE_REFERENCE=1` it also replaces the file. Rows of parameters come from the parameter services. Of
//! topics that a node publishes the graph gives name, type, reliability and durability; of services the type. Rates,
//! history depths and meanings stay as they are in the file. DDS does not say which node a subscription belongs to, nor
//! lists services. So their names are written by hand, and the numbers of a node's readers and writers must match.

mod common;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::{Lab, domain};
use dragoman_bridge::{apolo, arm31, neobotix};
use dragoman_ros::qos::{DurabilityPolicy, ReliabilityPolicy};
use dragoman_ros::rcl_interfaces::msg::{ParameterDescriptor, ParameterValue};
use dragoman_ros::rcl_interfaces::srv::{DescribeParameters, GetParameters, ListParameters};
use dragoman_ros::rmw_dds_common::msg::{NodeEntitiesInfo, ParticipantEntitiesInfo};
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedServiceTypeSupport,
    WrappedTypesupport,
};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The heading of what all nodes with parameters have; `~` stands for the node's name there.
const COMMON: &str = "Every node with parameters";

const TIME_LIMIT: Duration = Duration::from_secs(30);

#[test]
fn what_only_one_implementation_does_is_documented() {
    let page = std::fs::read_to_string(format!("{REPOSITORY}/docs/middleware.md")).unwrap();
    for (what, reason) in common::implementation::EMBEDDED_ONLY {
        let row = format!("| {what} | {reason} |");
        assert!(page.lines().any(|line| line == row), "{row}");
    }
}

#[test]
fn reference_of_up() {
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
fn reference_of_arm31() {
    // Port 9 is closed, and the node does not need an answer.
    let arguments = ["arm31", "--controller", "127.0.0.1:9", "--robot", "ranger_mk1"];
    let lab = Lab::start_with(domain(), &arguments, &[]);
    compare(&lab, &[("/dragoman", "Node /dragoman"), ("/ranger/arm31", "Node /ranger/arm31, client side")]);
}

#[test]
fn reference_of_apolo() {
    let robots = "apolo_client:robots:=[Marvin, Neo, Neobotix platform, Pioneer3AT]";
    let lasers = "apolo_client:lasers:=[LMS100, '', front, '']";
    let lab = Lab::start_with(domain(), &["apolo", "--server", "127.0.0.1:9"], &["-p", robots, "-p", lasers]);
    let client = ("/apolo/apolo_client", "Node /apolo/apolo_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn reference_of_neobotix() {
    let lab = Lab::start_with(domain(), &["neobotix", "--server", "127.0.0.1:9"], &[]);
    let client = ("/neobotix/neobotix_client", "Node /neobotix/neobotix_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn reference_of_base() {
    let arguments = ["base", "--port", "/dev/no-base-is-here", "--kind", "differential"];
    let lab = Lab::start_with(domain(), &arguments, &[]);
    compare(
        &lab,
        &[("/dragoman", "Node /dragoman"), ("/mobile_base", "Node /mobile_base, differential drive")],
    );
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

/// Names that stand for several: one for each joint of the lab's arms, for each robot of its world that no other node
/// drives, and so on.
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

fn names(name: &str, node: &str) -> Vec<String> {
    let name = name.replace('~', node);
    match SEVERAL.iter().find(|(pattern, _)| name.contains(pattern)) {
        Some((pattern, all)) => all.iter().map(|one| name.replace(pattern, one)).collect(),
        None => vec![name],
    }
}

/// The rows of `kind` that a section does not show: the parts of its actions, and what every node with parameters has.
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

/// What a node has in the graph.
#[derive(Default)]
struct Endpoints {
    readers: usize,
    /// Those that publish no topic: of services, and of service clients.
    other_writers: usize,
    /// Topic, type, reliability and durability.
    published: BTreeSet<[String; 3]>,
    /// Types of the services that it offers or calls, by the kind of table and name.
    services: HashMap<(&'static str, String), String>,
    parameters: Vec<Row>,
}

/// Pages with the tables of the sections written anew, and what is wrong besides.
fn generate(pages: &Pages, nodes: &[(&str, &str)], graph: &Graph) -> (Pages, Vec<String>) {
    let (mut pages, mut problems) = (pages.clone(), Vec::new());
    let mut subscribed: BTreeMap<(String, String), usize> = BTreeMap::new();
    let unknown = graph.nodes.keys().filter(|name| !nodes.iter().any(|(node, _)| node == name));
    problems.extend(unknown.map(|node| format!("{node} has no section")));
    for (node, heading) in nodes {
        let Some(seen) = graph.nodes.get(*node) else {
            problems.push(format!("{node} does not exist"));
            continue;
        };
        let is_seen = |row: &Row| {
            names(&row[0], node).into_iter().all(|name| {
                if row.get(2).is_some_and(|direction| direction == "publishes") {
                    seen.published.contains(&[name, row[1].clone(), policies(&row[3])])
                } else {
                    graph.subscriptions.get(&(name, row[1].clone())).is_some_and(|count| *count > 0)
                }
            })
        };
        let (mut readers, mut other_writers, mut covered) = (0, 0, BTreeSet::new());

        let mut topics = Vec::new();
        for mut row in rows(&pages, heading, "topic") {
            if row[2] == "publishes" {
                // The type and the policies as they are in the graph, if they are the same for all names.
                let of_name = |name: &String| seen.published.iter().find(move |[topic, ..]| topic == name);
                if let Some([_, type_name, qos]) = names(&row[0], node).first().and_then(of_name) {
                    row[3] = row[3].replacen(&policies(&row[3]), qos, 1);
                    row[1].clone_from(type_name);
                }
            }
            topics.extend(is_seen(&row).then_some(row));
        }
        let implied_topics = implied(&pages, heading, "topic");
        problems.extend(
            implied_topics.iter().filter(|row| !is_seen(row)).map(|row| format!("{node} has no {row:?}")),
        );
        for row in topics.iter().chain(&implied_topics) {
            for name in names(&row[0], node) {
                if row[2] == "publishes" {
                    covered.insert(name);
                } else {
                    readers += 1;
                    *subscribed.entry((name, row[1].clone())).or_default() += 1;
                }
            }
        }
        for [topic, type_name, qos] in seen.published.iter().filter(|[topic, ..]| !covered.contains(topic)) {
            topics.push([topic, type_name, "publishes", qos, "", ""].map(str::to_owned).to_vec());
        }

        let mut tables = vec![("topic", topics)];
        for kind in ["service", "called service"] {
            let mut of_kind = Vec::new();
            let (own, implied) = (rows(&pages, heading, kind), implied(&pages, heading, kind));
            for (mut row, is_own) in
                own.into_iter().map(|row| (row, true)).chain(implied.into_iter().map(|row| (row, false)))
            {
                let seen: Vec<_> =
                    names(&row[0], node).into_iter().map(|name| seen.services.get(&(kind, name))).collect();
                if seen.iter().any(Option::is_none) || !is_own && seen.iter().any(|of| *of != Some(&row[1])) {
                    problems.extend((!is_own).then(|| format!("{node} has no {row:?}")));
                    continue;
                }
                readers += seen.len();
                other_writers += seen.len();
                row[1] = seen.into_iter().flatten().next().cloned().unwrap_or_default();
                of_kind.extend(is_own.then_some(row));
            }
            tables.push((kind, of_kind));
        }
        let common = rows(&pages, COMMON, "parameter");
        let (of_all, own): (Vec<Row>, Vec<Row>) =
            seen.parameters.iter().cloned().partition(|row| common.iter().any(|one| one[0] == row[0]));
        if !seen.parameters.is_empty() && of_all != common {
            problems.push(format!("{node} has {of_all:?} of the common parameters {common:?}"));
        }
        tables.push(("parameter", own));

        for (kind, of_kind) in tables {
            let unexplained = of_kind.iter().filter(|row| row.last().is_none_or(String::is_empty));
            problems.extend(unexplained.map(|row| format!("{heading}: {} needs a meaning", row[0])));
            for text in pages.values_mut() {
                *text = with_rows(text, heading, kind, &of_kind);
            }
            if rows(&pages, heading, kind) != of_kind {
                problems.push(format!("{heading}: there is no table of kind {kind} for {of_kind:?}"));
            }
        }
        if (seen.readers, seen.other_writers) != (readers, other_writers) {
            problems.push(format!(
                "{node} has {} readers and {} writers of services; its tables have {readers} and {other_writers}. Add \
                 rows of new subscriptions and services by hand",
                seen.readers, seen.other_writers
            ));
        }
    }
    let published: BTreeMap<_, _> =
        graph.nodes.values().flat_map(|seen| &seen.published).map(|[topic, of, _]| (topic, of)).collect();
    for (key, count) in &subscribed {
        let (topic, of) = key;
        if graph.subscriptions.get(key) != Some(count) {
            let seen = graph.subscriptions.get(key);
            problems
                .push(format!("{count} rows subscribe to {topic}, {of}; in the graph there are {seen:?}"));
        }
        if let Some(other) = published.get(topic).filter(|other| **other != of) {
            problems.push(format!("two types of one topic: {topic}, {of} and {other}"));
        }
    }
    (pages, problems)
}

fn compare(lab: &Lab, nodes: &[(&str, &str)]) {
    static UPDATE: Mutex<()> = Mutex::new(());
    let update = std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some();
    // As the lab itself is started.
    let discovery =
        Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    let mut observer = Observer::new(&context);
    let start = Instant::now();
    loop {
        let guard = UPDATE.lock();
        let pages = read_pages();
        let graph = observer.graph(&pages, nodes);
        let (new, problems) = generate(&pages, nodes, &graph);
        if new == pages && problems.is_empty() {
            return;
        }
        if start.elapsed() >= TIME_LIMIT {
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
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[derive(Default)]
struct Graph {
    nodes: BTreeMap<String, Endpoints>,
    /// Numbers of subscriptions by topic and type.
    subscriptions: HashMap<(String, String), usize>,
}

/// A peer in the lab's domain.
struct Observer {
    node: Node,
    infos: BoxStream<'static, ParticipantEntitiesInfo>,
    /// The last message of each participant.
    participants: HashMap<Vec<u8>, Vec<NodeEntitiesInfo>>,
    /// Publishers that show who subscribes; they publish nothing.
    probes: HashMap<(String, String), Probe>,
    parameters: HashMap<String, Vec<Row>>,
}

/// Counts the subscriptions of a topic in other processes.
type Probe = Box<dyn Fn() -> usize>;

impl Observer {
    fn new(context: &Context) -> Self {
        let mut node = Node::create(context.clone(), "observer", "").unwrap();
        let qos =
            QosProfile::default().keep_last(100).transient_local().avoid_ros_namespace_conventions(true);
        let infos = node.subscribe("ros_discovery_info", qos).unwrap().boxed();
        let (participants, probes, parameters) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { node, infos, participants, probes, parameters }
    }

    /// The graph as it is now, as far as it concerns these sections.
    fn graph(&mut self, pages: &Pages, sections: &[(&str, &str)]) -> Graph {
        while let Some(Some(info)) = self.infos.next().now_or_never() {
            self.participants.insert(info.gid.data, info.node_entities_info_seq);
        }
        let topics = self.node.get_topic_names_and_types().unwrap();
        let writers: Vec<_> = topics
            .keys()
            .flat_map(|topic| {
                self.node
                    .get_publishers_info_by_topic(topic, false)
                    .unwrap()
                    .into_iter()
                    .map(move |of| (topic, of))
            })
            .collect();
        let mut graph = Graph::default();
        for info in self.participants.values().flatten().filter(|info| info.node_name != "observer") {
            let node = format!("{}/{}", info.node_namespace.trim_end_matches('/'), info.node_name);
            let owned: BTreeSet<&[u8]> = info.writer_gid_seq.iter().map(|gid| gid.data.as_slice()).collect();
            let mut seen = Endpoints {
                readers: info.reader_gid_seq.len(),
                other_writers: owned.len(),
                ..Default::default()
            };
            for (topic, writer) in writers.iter().filter(|(_, of)| owned.contains(of.endpoint_gid.as_slice()))
            {
                let reliability = match writer.qos_profile.reliability {
                    ReliabilityPolicy::BestEffort => "best effort",
                    _ => "reliable",
                };
                let durability = match writer.qos_profile.durability {
                    DurabilityPolicy::TransientLocal => "transient local",
                    _ => "volatile",
                };
                let qos = format!("{reliability}, {durability}");
                seen.other_writers -= 1;
                seen.published.insert([(*topic).clone(), writer.topic_type.clone(), qos]);
            }
            let heading =
                sections.iter().find(|(known, _)| *known == node).map_or("", |(_, heading)| heading);
            for (kind, prefix, suffix, type_suffix) in
                [("service", "rr", "Reply", "_Response_"), ("called service", "rq", "Request", "_Request_")]
            {
                let all = rows(pages, heading, kind).into_iter().chain(implied(pages, heading, kind));
                for name in all.flat_map(|row| names(&row[0], &node)) {
                    let topic = format!("{prefix}{name}{suffix}");
                    for writer in self.node.get_publishers_info_by_topic(&topic, true).unwrap() {
                        if owned.contains(writer.endpoint_gid.as_slice()) {
                            let of = writer.topic_type.replace("::dds_::", "::").replace("::", "/");
                            let of = of.trim_end_matches(type_suffix).to_owned();
                            seen.services.insert((kind, name.clone()), of);
                        }
                    }
                }
            }
            if !rows(pages, heading, "parameter").is_empty() {
                seen.parameters = self.parameters.get(&node).cloned().unwrap_or_default();
            }
            graph.nodes.insert(node, seen);
        }
        for (node, heading) in sections {
            let has_parameters = !rows(pages, heading, "parameter").is_empty();
            if has_parameters && !self.parameters.contains_key(*node) && graph.nodes.contains_key(*node) {
                let parameters = self.parameters(node);
                graph.nodes.get_mut(*node).unwrap().parameters.clone_from(&parameters);
                self.parameters.insert((*node).to_owned(), parameters);
            }
            for row in rows(pages, heading, "topic").into_iter().filter(|row| row[2] == "subscribes") {
                for topic in names(&row[0], node) {
                    let key = (topic, row[1].clone());
                    let node = &mut self.node;
                    let probe = self.probes.entry(key.clone()).or_insert_with(|| probe(node, &key.0, &key.1));
                    let count = probe();
                    graph.subscriptions.insert(key, count);
                }
            }
        }
        graph
    }

    /// The rows of the table of a node's parameters.
    fn parameters(&mut self, node: &str) -> Vec<Row> {
        let asked = ListParameters::Request { prefixes: Vec::new(), depth: 0 };
        let names = self.ask::<ListParameters::Service>(node, "list_parameters", asked).result.names;
        let asked = DescribeParameters::Request { names: names.clone() };
        let described =
            self.ask::<DescribeParameters::Service>(node, "describe_parameters", asked).descriptors;
        let asked = GetParameters::Request { names: names.clone() };
        let values = self.ask::<GetParameters::Service>(node, "get_parameters", asked).values;
        assert_eq!((described.len(), values.len()), (names.len(), names.len()));
        described
            .iter()
            .zip(&values)
            .map(|(descriptor, value)| parameter_row(node, descriptor, value))
            .collect()
    }

    fn ask<S: WrappedServiceTypeSupport + 'static>(
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
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let answer = runtime.block_on(async { tokio::time::timeout(TIME_LIMIT, asked).await });
        answer.unwrap_or_else(|_| panic!("{name} does not answer"))
    }
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
        dragoman_msgs: CanMessage DriveStatus MotionEvent NamespaceClaim;
        geometry_msgs: PoseStamped Twist TwistStamped;
        kobuki_ros_interfaces: ControllerInfo DigitalOutput ExternalPower Led MotorPower Sound;
        nav_msgs: Odometry;
        sensor_msgs: BatteryState JointState Joy LaserScan;
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
    // What the tests' command lines set: free ports, serial ports, and the robots of an Apolo.
    match (parameter.name.as_str(), node) {
        ("ports", _) => default = format!("{:?}", neobotix::wire::DEFAULT_PORTS),
        ("port", "/apolo/apolo") => default = apolo::wire::DEFAULT_PORT.to_string(),
        ("port", _) => default = arm31::wire::DEFAULT_PORT.to_string(),
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
        if entry.file_type().unwrap().is_dir() && name != "target" && !name.starts_with('.') {
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

/// The block of the guide in this language; there is one.
#[cfg(target_os = "linux")]
fn block(language: &str) -> &'static str {
    let guide = include_str!("../../../docs/own-robot.md");
    let (_, rest) = guide.split_once(&format!("```{language}\n")).unwrap();
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
    let mut states = beside.subscribe::<dragoman_ros::sensor_msgs::msg::JointState>("/ranger/joint_states");
    let state = beside.next("the arm's state", &mut states);
    assert_eq!(state.name, ["lift_joint", "turn_joint"]);
    assert!((state.position[0] - 0.1).abs() < 1e-3, "{state:?}");
    let _ = std::fs::remove_dir_all(folder);
}
