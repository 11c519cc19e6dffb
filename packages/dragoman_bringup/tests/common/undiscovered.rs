//! Requests of clients that discovery never finds: they have the form of another DDS implementation, and no reader for the
//! answers.

use dragoman_ros::dragoman_msgs::srv::SetJointGoal;
use dragoman_ros::rcl_interfaces::srv::ListParameters;
use dragoman_ros::{Node, Publisher, QosProfile, WrappedTypesupport};
use futures::executor::block_on;

/// Writes the requests of a client on Cyclone DDS, without the reader for the answers.
pub fn client_without_reader<T: WrappedTypesupport + Send + 'static>(
    node: &mut Node,
    service: &str,
) -> Publisher<T> {
    let qos = QosProfile { avoid_ros_namespace_conventions: true, ..QosProfile::services_default() };
    let client = node.create_publisher::<T>(&format!("/rq{service}Request"), qos).unwrap();
    block_on(client.wait_for_inter_process_subscribers().unwrap()).unwrap();
    client
}

/// Cyclone's header takes the first 16 bytes: the array's length and first value. The rest is a goal of one joint,
/// which is refused.
pub fn goal() -> SetJointGoal::Request {
    SetJointGoal::Request { position: vec![0.0, f64::from_bits(1), 0.5], min_duration: 1.0 }
}

/// Likewise the first prefix; the rest requests the names below no prefix, one level deep.
pub fn list() -> ListParameters::Request {
    ListParameters::Request { prefixes: vec!["1234567".to_owned(), String::new()], depth: 1 }
}
