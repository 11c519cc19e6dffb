//! Metadata of a topic in the format of `rosbag2` (rosbag2_storage_mcap; mcap.dev/spec/registry, profile `ros2`).

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_ros::QosProfile;
use dragoman_ros::qos::{DurabilityPolicy, HistoryPolicy, LivelinessPolicy, ReliabilityPolicy};
use dragoman_ros::raw::Strictest;

use super::graph::Subscribed;

/// One topic of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    /// Its index in the recording.
    pub(super) index: usize,
    pub(super) topic: String,
    pub(super) type_name: String,
    /// `None` if the type is unknown.
    pub(super) definition: Option<String>,
    offered: Vec<QosProfile>,
}

impl Channel {
    pub(super) fn new(index: usize, found: &Subscribed) -> Self {
        Self {
            index,
            topic: found.topic.clone(),
            type_name: found.type_name.clone(),
            definition: found.definition.clone(),
            offered: found.offered.clone(),
        }
    }

    pub(super) fn is_of(&self, found: &Subscribed) -> bool {
        self.topic == found.topic && self.type_name == found.type_name
    }

    /// Schema encoding and text; both empty, as the format defines, if there is none. The schema has a name in any
    /// case.
    pub(super) fn schema(&self) -> (&str, &[u8]) {
        self.definition.as_ref().map_or(("", &[]), |definition| ("ros2msg", definition.as_bytes()))
    }

    pub(super) fn metadata(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("offered_qos_profiles".to_owned(), profiles(&self.offered))])
    }
}

/// A metadata record of this name without `serialized_metadata` makes newer `rosbag2` read policies as numbers, the
/// only form that older ones support.
pub(super) const ROSBAG2: &str = "rosbag2";

/// The YAML that `rosbag2` up to Humble writes: a list, policies as numbers.
fn profiles(offered: &[QosProfile]) -> String {
    let list: Vec<String> = offered.iter().map(profile).collect();
    if list.is_empty() { "[]".to_owned() } else { list.join("\n") }
}

fn profile(qos: &QosProfile) -> String {
    // The numbers of rmw/types.h. Policies without a number common to all versions of ROS are "unknown".
    let history = match qos.history {
        HistoryPolicy::SystemDefault => 0,
        HistoryPolicy::KeepLast => 1,
        HistoryPolicy::KeepAll => 2,
        HistoryPolicy::Unknown => 3,
    };
    let reliability = match qos.reliability {
        ReliabilityPolicy::SystemDefault => 0,
        ReliabilityPolicy::Reliable => 1,
        ReliabilityPolicy::BestEffort => 2,
        _ => 3,
    };
    let durability = match qos.durability {
        DurabilityPolicy::SystemDefault => 0,
        DurabilityPolicy::TransientLocal => 1,
        DurabilityPolicy::Volatile => 2,
        _ => 3,
    };
    let liveliness = match qos.liveliness {
        LivelinessPolicy::SystemDefault => 0,
        LivelinessPolicy::Automatic => 1,
        LivelinessPolicy::ManualByTopic => 3,
        _ => 4,
    };
    [
        format!("- history: {history}"),
        format!("  depth: {}", qos.depth),
        format!("  reliability: {reliability}"),
        format!("  durability: {durability}"),
        format!("  deadline:\n{}", limit(qos.deadline)),
        format!("  lifespan:\n{}", limit(qos.lifespan)),
        format!("  liveliness: {liveliness}"),
        format!("  liveliness_lease_duration:\n{}", limit(qos.liveliness_lease_duration)),
        format!("  avoid_ros_namespace_conventions: {}", qos.avoid_ros_namespace_conventions),
    ]
    .join("\n")
}

/// `RMW_DURATION_INFINITE`: 2^63 - 1 ns.
const INFINITE: Duration = Duration::from_nanos(i64::MAX as u64);

fn limit(duration: Duration) -> String {
    let duration = if duration.is_zero() { INFINITE } else { duration.min(INFINITE) };
    format!("    sec: {}\n    nsec: {}", duration.as_secs(), duration.subsec_nanos())
}

/// The subscription of the recorder for what all publishers offer.
pub(super) fn qos(request: Strictest, type_name: &str) -> QosProfile {
    request.qos(if LARGE_TYPES.contains(&type_name) { LARGE_DEPTH } else { DEPTH })
}

/// Queue depth of a topic.
const DEPTH: usize = 1000;

/// Queue depth for messages of a megabyte: the middleware keeps the last ones in memory even when they are taken.
const LARGE_DEPTH: usize = 10;

/// Types whose messages may have a megabyte.
const LARGE_TYPES: [&str; 4] = [
    "nav_msgs/msg/OccupancyGrid",
    "sensor_msgs/msg/CompressedImage",
    "sensor_msgs/msg/Image",
    "sensor_msgs/msg/PointCloud2",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(definition: Option<&str>) -> Channel {
        Channel {
            index: 0,
            topic: "/ranger/pose".into(),
            type_name: "geometry_msgs/msg/PoseStamped".into(),
            definition: definition.map(str::to_owned),
            offered: vec![QosProfile::default().keep_last(1).transient_local(), QosProfile::sensor_data()],
        }
    }

    #[test]
    fn a_type_without_definition_has_an_empty_schema() {
        assert_eq!(channel(None).schema(), ("", b"".as_slice()));
        assert_eq!(channel(Some("int32 x\n")).schema(), ("ros2msg", b"int32 x\n".as_slice()));
    }

    #[test]
    fn qualities_of_service_are_written_as_rosbag2_does() {
        let infinite = "    sec: 9223372036\n    nsec: 854775807";
        let one = |history, depth, reliability, durability, liveliness| {
            format!(
                "- history: {history}\n  depth: {depth}\n  reliability: {reliability}\n  durability: {durability}\n  \
                 deadline:\n{infinite}\n  lifespan:\n{infinite}\n  liveliness: {liveliness}\n  \
                 liveliness_lease_duration:\n{infinite}\n  avoid_ros_namespace_conventions: false"
            )
        };
        let metadata = channel(None).metadata();
        let expected = format!("{}\n{}", one(1, 1, 1, 1, 0), one(1, 5, 2, 2, 0));
        assert_eq!(metadata.get("offered_qos_profiles"), Some(&expected));
        assert_eq!(limit(Duration::from_millis(1500)), "    sec: 1\n    nsec: 500000000");
        assert_eq!(profiles(&[]), "[]");
    }

    #[test]
    fn the_request_is_what_all_publishers_offer() {
        let latched = QosProfile::default().transient_local();
        let (volatile, sensor) = (QosProfile::default(), QosProfile::sensor_data());
        let request = |offered: &[&QosProfile]| {
            Strictest::of(&offered.iter().map(|qos| (*qos).clone()).collect::<Vec<_>>()).unwrap()
        };
        let (strict, reliable, weak) =
            (request(&[&latched]), request(&[&latched, &volatile]), request(&[&volatile, &sensor]));
        assert_eq!((strict.reliable, strict.transient_local), (true, true));
        assert_eq!((reliable.reliable, reliable.transient_local), (true, false));
        assert_eq!((weak.reliable, weak.transient_local), (false, false));
        assert!(weak.is_weaker_than(reliable) && reliable.is_weaker_than(strict));
        assert!(!strict.is_weaker_than(weak) && !weak.is_weaker_than(weak));
        assert_eq!(Strictest::of(&[]), None);
        assert_eq!(qos(strict, "std_msgs/msg/String"), latched.keep_last(1000));
        assert_eq!(qos(weak, "sensor_msgs/msg/Image"), sensor.keep_last(10));
    }
}
