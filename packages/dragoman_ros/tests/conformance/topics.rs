//! Messages arrive in order and unchanged.

use std::time::Duration;

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, geometry_msgs, sensor_msgs, std_msgs};
use futures::StreamExt;

use super::{first, namespace, node, run, soon};

/// r2r's streams buffer ten messages.
const COUNT: u32 = 5;
/// Matching is not symmetric: messages before a volatile reader's match are lost.
const MATCHING_SETTLES: Duration = Duration::from_millis(300);

#[test]
fn messages_arrive_in_order_whatever_the_quality_of_service() {
    let profiles = [
        ("default", QosProfile::default()),
        ("sensor_data", QosProfile::sensor_data()),
        ("keep_all", QosProfile::default().keep_all()),
        ("latched", QosProfile::default().transient_local()),
        ("system", QosProfile::system_default()),
    ];
    let (mut talker, mut listener) = (node("talker", "order"), node("listener", "order"));
    let mut ways = profiles.map(|(topic, qos)| {
        let messages = listener.subscribe::<std_msgs::msg::UInt32>(topic, qos.clone()).unwrap();
        (topic, talker.create_publisher::<std_msgs::msg::UInt32>(topic, qos).unwrap(), messages)
    });
    let subscribed =
        ways.each_ref().map(|(_, publisher, _)| publisher.wait_for_inter_process_subscribers().unwrap());
    let _working = [talker, listener].map(|node| run(NodeTasks::new(node)));
    for subscribed in subscribed {
        soon(subscribed).unwrap();
    }
    std::thread::sleep(MATCHING_SETTLES);
    for (topic, publisher, messages) in &mut ways {
        for data in 1..=COUNT {
            publisher.publish(&std_msgs::msg::UInt32 { data }).unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
        for expected in 1..=COUNT {
            assert_eq!(first(messages).data, expected, "{topic}");
        }
    }
}

#[test]
fn a_late_joiner_gets_the_last_that_are_latched() {
    let mut talker = node("talker", "latched");
    let qos = QosProfile::default().keep_last(2).transient_local();
    let publisher = talker.create_publisher::<std_msgs::msg::String>("published", qos.clone()).unwrap();
    // One byte more than a multiple of four, and larger than a datagram.
    for data in ["old".to_owned(), "new".to_owned(), "x".repeat(150_001)] {
        publisher.publish(&std_msgs::msg::String { data }).unwrap();
    }
    let mut listener = node("listener", "latched");
    let mut messages = listener.subscribe::<std_msgs::msg::String>("published", qos).unwrap();
    let _working = [talker, listener].map(|node| run(NodeTasks::new(node)));
    assert_eq!([0, 1].map(|_| first(&mut messages).data.len()), [3, 150_001]);
}

#[test]
fn structures_with_all_kinds_of_fields_arrive_unchanged() {
    let mut talker = node("talker", "structures");
    let mut messages = talker.subscribe::<sensor_msgs::msg::Imu>("imu", QosProfile::default()).unwrap();
    let name = format!("{}/imu", namespace("structures"));
    let publisher = talker.create_publisher::<sensor_msgs::msg::Imu>(&name, QosProfile::default()).unwrap();
    let subscribed = publisher.wait_for_inter_process_subscribers().unwrap();
    let _working = run(NodeTasks::new(talker));
    soon(subscribed).unwrap();
    let mut sent = sensor_msgs::msg::Imu::default();
    assert_eq!(sent.orientation, geometry_msgs::msg::Quaternion { w: 1.0, ..Default::default() });
    assert_eq!(sent.angular_velocity_covariance.len(), 9);
    sent.header.frame_id = "imu_link".into();
    sent.linear_acceleration_covariance[8] = 0.5;
    publisher.publish(&sent).unwrap();
    assert_eq!(soon(messages.next()), Some(sent));
}
