//! The nodes of a lab as a peer sees them.

use std::collections::{BTreeMap, HashMap};

use dragoman_ros::qos::{DurabilityPolicy, ReliabilityPolicy};
use dragoman_ros::rcl_interfaces::msg::{ParameterDescriptor, ParameterValue};
use dragoman_ros::rcl_interfaces::srv::{DescribeParameters, GetParameters, ListParameters};
use dragoman_ros::rmw_dds_common::msg::{NodeEntitiesInfo, ParticipantEntitiesInfo};
use dragoman_ros::{
    Node, Publisher, QosProfile, TopicEndpointInfo, WrappedServiceTypeSupport, WrappedTypesupport,
};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};

use super::common::{self, Lab};
use super::tables::TableRow;

/// A peer in the lab's domain.
pub(super) struct Observer {
    node: Node,
    infos: BoxStream<'static, ParticipantEntitiesInfo>,
    /// The last message of each participant.
    participants: HashMap<Vec<u8>, Vec<NodeEntitiesInfo>>,
    /// Publishers that reveal the subscriptions; they publish nothing.
    probes: HashMap<(String, String), Probe>,
    parameters: HashMap<String, Vec<TableRow>>,
}

/// Counts the subscriptions of a topic in other processes.
type Probe = Box<dyn Fn() -> usize>;

impl Observer {
    pub(super) fn new(lab: &Lab) -> Self {
        let mut node = common::node(lab.domain);
        let qos =
            QosProfile::default().keep_last(100).transient_local().avoid_ros_namespace_conventions(true);
        let infos = node.subscribe("ros_discovery_info", qos).unwrap().boxed();
        let (participants, probes, parameters) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { node, infos, participants, probes, parameters }
    }

    pub(super) fn nodes(&mut self) -> BTreeMap<String, NodeEntitiesInfo> {
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
    pub(super) fn published(&self, info: &NodeEntitiesInfo) -> Vec<[String; 3]> {
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
    pub(super) fn service_type(&self, info: &NodeEntitiesInfo, kind: &str, name: &str) -> Option<String> {
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
    pub(super) fn subscriptions(&mut self, topic: &str, type_name: &str) -> usize {
        let key = (topic.to_owned(), type_name.to_owned());
        let node = &mut self.node;
        self.probes.entry(key).or_insert_with(|| probe(node, topic, type_name))()
    }

    /// The rows of the table of a node's parameters.
    pub(super) fn parameters(&mut self, node: &str) -> Vec<TableRow> {
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

fn parameter_row(node: &str, parameter: &ParameterDescriptor, value: &ParameterValue) -> TableRow {
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
