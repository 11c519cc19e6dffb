//! A mobile robot of an old server's world, as other ROS nodes see and drive it.

use std::time::Duration;

use dragoman_bridge::BridgeError;
use dragoman_bridge::apolo::node::start_client;
use dragoman_ros::{Node, QosProfile, geometry_msgs, nav_msgs, sensor_msgs, tf2_msgs};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};

use crate::apolo_node::lab::{Lab, TIME_LIMIT, client_context};
use crate::common::block_on;
use dragoman_time::{now, since, sleep};

async fn next<T>(stream: &mut BoxStream<'static, T>) -> T {
    dragoman_time::timeout(TIME_LIMIT, stream.next()).await.expect("a message").expect("the stream goes on")
}

/// The newest message.
async fn newest<T>(stream: &mut BoxStream<'static, T>) -> T {
    while stream.next().now_or_never().is_some() {}
    next(stream).await
}

#[test]
fn a_robot_is_driven_and_publishes_its_odometry() {
    let lab = Lab::start(&[]);
    let context = client_context(&["robots:=[Pioneer3AT]", "lasers:=[LMS100]", "rates:=[100.0]"]);
    let mut node = Node::create(context.clone(), "driver", "").unwrap();
    let qos = QosProfile::default;
    let odom = "/apolo/pioneer3at/odom";
    let mut odometry: BoxStream<'static, nav_msgs::msg::Odometry> =
        node.subscribe(odom, qos()).unwrap().boxed();
    let mut scans: BoxStream<'static, sensor_msgs::msg::LaserScan> =
        node.subscribe("/apolo/pioneer3at/scan", QosProfile::sensor_data()).unwrap().boxed();
    let mut transforms: BoxStream<'static, tf2_msgs::msg::TFMessage> =
        node.subscribe("/tf", qos().keep_last(100)).unwrap().boxed();
    let velocity = node
        .create_publisher::<geometry_msgs::msg::Twist>("/apolo/pioneer3at/cmd_vel", qos().keep_last(1))
        .unwrap();
    block_on(async {
        let client = start_client(&context, "/apolo", lab.address).unwrap().node;
        let client = dragoman_time::spawn(client);

        let rest = next(&mut odometry).await;
        assert_eq!((rest.pose.pose.position.x, rest.twist.twist.linear.x), (0.0, 0.0));
        assert_eq!(rest.header.frame_id, "pioneer3at/odom");
        assert_eq!(rest.child_frame_id, "pioneer3at/base_footprint");
        let scan = next(&mut scans).await;
        assert_eq!(scan.ranges.len(), 541);
        assert!((scan.angle_min + 2.356_194_5).abs() < 1e-6 && (scan.angle_max - 2.356_194_5).abs() < 1e-5);
        assert!((scan.ranges[540] - 5.4).abs() < 1e-6);
        let transform = next(&mut transforms).await.transforms.remove(0);
        assert_eq!(transform.header.frame_id, "pioneer3at/odom");

        // 0.5 m/s, for as long as it is commanded.
        let mut twist = geometry_msgs::msg::Twist::default();
        (twist.linear.x, twist.angular.z) = (0.5, 0.2);
        let start = now();
        while since(start) < Duration::from_secs(1) {
            velocity.publish(&twist).unwrap();
            sleep(Duration::from_millis(50)).await;
        }
        let moving = newest(&mut odometry).await;
        assert_eq!((moving.twist.twist.linear.x, moving.twist.twist.angular.z), (0.5, 0.2));
        let yaw = 2.0 * moving.pose.pose.orientation.z.atan2(moving.pose.pose.orientation.w);
        assert!(moving.pose.pose.position.x > 0.1 && yaw > 0.04, "{moving:?}");

        // Without further commands it stops after 0.6 s.
        sleep(Duration::from_millis(1000)).await;
        let stopped = newest(&mut odometry).await;
        assert_eq!(stopped.twist.twist.linear.x, 0.0);
        assert_eq!(newest(&mut odometry).await.pose, stopped.pose);
        let transform = newest(&mut transforms).await.transforms.remove(0);
        assert_eq!(transform.transform.translation.x, stopped.pose.pose.position.x);

        // NaN moves nothing.
        twist.linear.x = f64::NAN;
        velocity.publish(&twist).unwrap();
        sleep(Duration::from_millis(100)).await;
        assert_eq!(newest(&mut odometry).await.pose, stopped.pose);
        client.abort();
    });
    assert!(lab.world.lock().unwrap().updates > 0);
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let lab = Lab::start(&[]);
    for (parameters, words) in [
        (&["robots:=[Neo]", "rates:=[1.0, 2.0]"][..], "'rates' has 2 entries; there are 1 robots"),
        (&["robots:=[Neo]", "lasers:=[a, b]"], "'lasers' has 2 entries"),
        (&["robots:=[Neo 1, Neo_1]"], "names 'neo_1' twice"),
    ] {
        let error = start_client(&client_context(parameters), "/apolo", lab.address).unwrap_err();
        assert!(matches!(error, BridgeError::Robots { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}
