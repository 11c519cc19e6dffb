//! Publishers of a topic, listed from their own context and from another.

use std::time::{Duration, Instant};

use dragoman_ros::qos::{DurabilityPolicy, HistoryPolicy, ReliabilityPolicy};
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile, TopicEndpointInfo, raw, std_msgs,
};
use futures::StreamExt;
use futures::executor::block_on;

fn context() -> Context {
    context_with(Arguments::default())
}

fn context_with(arguments: Arguments) -> Context {
    let domain_id = 211 + (std::process::id() % 8) as u16;
    let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, arguments).unwrap()
}

fn publishers(node: &Node, count: usize) -> Vec<TopicEndpointInfo> {
    let start = Instant::now();
    loop {
        let mut found = node.get_publishers_info_by_topic("/lab/state", false).unwrap();
        if found.len() >= count || start.elapsed() > Duration::from_secs(10) {
            found.sort_by_key(|info| info.qos_profile.reliability == ReliabilityPolicy::Reliable);
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn publishers_of_this_and_other_contexts_are_listed_with_their_quality_of_service() {
    let mut here = Node::create(context(), "here", "/lab").unwrap();
    let mut there = Node::create(context(), "there", "").unwrap();
    let latched = here
        .create_publisher::<std_msgs::msg::String>(
            "state",
            QosProfile::default().keep_last(3).transient_local(),
        )
        .unwrap();
    let lifespan = Duration::from_secs(2);
    let _sensor = there
        .create_publisher::<std_msgs::msg::String>("/lab/state", QosProfile::sensor_data().lifespan(lifespan))
        .unwrap();

    let [sensor, state] = publishers(&here, 2).try_into().unwrap();
    assert_eq!((state.node_name.as_str(), state.node_namespace.as_str()), ("here", "/lab"));
    assert_eq!(state.topic_type, "std_msgs/msg/String");
    assert_eq!((state.qos_profile.history, state.qos_profile.depth), (HistoryPolicy::KeepLast, 3));
    assert_eq!(sensor.node_name, "_NODE_NAME_UNKNOWN_");
    assert_eq!(sensor.qos_profile.reliability, ReliabilityPolicy::BestEffort);
    assert_eq!(sensor.qos_profile.lifespan.as_millis(), lifespan.as_millis());

    let [own, remote] = publishers(&there, 2).try_into().unwrap();
    assert_eq!(own.endpoint_gid, sensor.endpoint_gid);
    assert_eq!(remote.endpoint_gid, state.endpoint_gid);
    assert_eq!(remote.qos_profile.reliability, ReliabilityPolicy::Reliable);
    assert_eq!(remote.qos_profile.durability, DurabilityPolicy::TransientLocal);
    assert_eq!(remote.qos_profile.history, HistoryPolicy::Unknown);
    let topics = there.get_topic_names_and_types().unwrap();
    assert_eq!(topics.get("/lab/state").unwrap(), &["std_msgs/msg/String"]);

    // The times of a message on both ways, memory and network.
    latched.publish(&std_msgs::msg::String { data: "up".into() }).unwrap();
    let times = [&mut here, &mut there].map(|node| {
        let qos = QosProfile::default().transient_local();
        let mut messages = raw::subscribe(node, "/lab/state", "std_msgs/msg/String", qos).unwrap();
        let message = block_on(messages.next()).unwrap();
        assert_eq!(message.data[..11], [0, 1, 0, 0, 3, 0, 0, 0, b'u', b'p', 0]);
        message.source_time.unwrap()
    });
    assert_eq!(times[0], times[1]);
}

#[test]
fn the_command_line_overrides_the_quality_of_service_of_a_node() {
    let words = "--ros-args -r state:=published -p talker:qos_overrides./lab/published.publisher.reliability:=best_effort \
         -p qos_overrides./lab/published.publisher.depth:=7 -p qos_overrides./lab/bad.publisher.depth:=many";
    let arguments = Arguments::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    let context = context_with(arguments);
    let mut talker = Node::create(context.clone(), "talker", "/lab").unwrap();
    let mut other = Node::create(context, "other", "/lab").unwrap();
    let of = |node: &mut Node| {
        let publisher =
            node.create_publisher::<std_msgs::msg::String>("state", QosProfile::default()).unwrap();
        let [published] =
            node.get_publishers_info_by_topic("/lab/published", false).unwrap().try_into().unwrap();
        drop(publisher);
        (published.qos_profile.reliability, published.qos_profile.depth)
    };
    assert_eq!(of(&mut talker), (ReliabilityPolicy::BestEffort, 7));
    assert_eq!(of(&mut other), (ReliabilityPolicy::Reliable, 7));
    let refused = other.create_publisher::<std_msgs::msg::String>("bad", QosProfile::default());
    let error = refused.err().unwrap().to_string();
    assert!(error.contains("qos_overrides./lab/bad.publisher.depth"), "{error}");
}
