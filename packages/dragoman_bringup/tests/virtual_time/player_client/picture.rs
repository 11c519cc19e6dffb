//! What the devices publish.

use std::collections::BTreeMap;

use super::Operator;
use dragoman_bridge::player::wire::camera;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::geometry_msgs::msg::{PoseStamped, PoseWithCovarianceStamped};
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Odometry};
use dragoman_ros::sensor_msgs::msg::{BatteryState, Image, Imu, JointState, LaserScan, MagneticField, Range};
use dragoman_ros::std_msgs::msg::{String as Text, UInt8MultiArray};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::visualization_msgs::msg::MarkerArray;
use futures::stream::BoxStream;

#[test]
fn every_device_is_in_ros() {
    let mut operator = Operator::new(&[], &[]);
    let beside = &mut operator.beside;
    let mut odom = beside.subscribe::<Odometry>("/player/odom");
    let mut second = beside.subscribe::<Odometry>("/player/position2d1/odom");
    let mut scan = beside.subscribe::<LaserScan>("/player/scan");
    let mut ranger = beside.subscribe::<LaserScan>("/player/ranger1/scan");
    // The first in the server's list has the plain name.
    let mut sonar = beside.subscribe::<Range>("/player/range");
    let mut ir = beside.subscribe::<Range>("/player/ir0/range");
    let mut array = beside.subscribe::<Range>("/player/ranger0/range");
    let mut bumpers = beside.subscribe::<UInt8MultiArray>("/player/bumpers");
    let mut battery = beside.subscribe::<BatteryState>("/player/battery_state");
    let mut imu = beside.subscribe::<Imu>("/player/imu/data");
    let mut field = beside.subscribe::<MagneticField>("/player/imu/mag");
    let mut joints = beside.subscribe::<JointState>("/player/joint_states");
    let mut gripper = beside.subscribe::<Text>("/player/gripper/state");
    let mut tool = beside.subscribe::<PoseStamped>("/player/limb/pose");
    let mut motion = beside.subscribe::<Text>("/player/limb/state");
    let mut bytes = beside.subscribe::<UInt8MultiArray>("/player/opaque/data");
    let mut shapes = beside.latched::<MarkerArray>("/player/vectormap");
    let mut image = beside.subscribe::<Image>("/player/image_raw");
    let mut map = beside.latched::<OccupancyGrid>("/player/map");
    let mut pose = beside.subscribe::<PoseWithCovarianceStamped>("/player/amcl_pose");
    let mut fixed = beside.latched::<TFMessage>("/tf_static");
    let mut moving = beside.subscribe::<TFMessage>("/tf");
    let mut diagnostics = beside.subscribe::<DiagnosticArray>("/diagnostics");

    let message = beside.next("odometry", &mut odom);
    assert_eq!(message.header.frame_id, "player/odom");
    assert_eq!(message.child_frame_id, "player/base_footprint");
    assert_eq!((message.pose.pose.position.x, message.pose.pose.position.y), (1.0, 2.0));
    assert!((message.pose.pose.orientation.z - 0.25_f64.sin()).abs() < 1e-9);
    assert_eq!((message.twist.twist.linear.x, message.twist.twist.angular.z), (0.1, -0.2));
    let message = beside.next("odometry", &mut second);
    assert_eq!(message.header.frame_id, "player/position2d1/odom");
    assert_eq!(message.pose.pose.position.x, -1.0);

    let message = beside.next("a scan", &mut scan);
    assert_eq!(message.header.frame_id, "player/laser");
    assert_eq!(message.ranges, [1.0, 2.0, f32::INFINITY]);
    assert_eq!((message.angle_min, message.angle_increment, message.scan_time), (-1.0, 1.0, 0.1));
    assert_eq!((message.range_max, message.intensities), (8.0, vec![1.0, 2.0, 3.0]));
    let message = beside.next("a ranger's scan", &mut ranger);
    assert_eq!(message.header.frame_id, "player/ranger1");
    assert_eq!((message.angle_min, message.angle_increment), (-1.5, 1.0));
    assert_eq!(message.ranges, [1.0, 2.0, 3.0, f32::INFINITY]);

    let ranges = |stream: &mut BoxStream<'static, Range>, what| {
        let messages = [beside.next(what, stream), beside.next(what, stream)];
        messages.map(|message: Range| (message.header.frame_id, message.range)).into_iter().collect()
    };
    let ultrasonic: BTreeMap<String, f32> = ranges(&mut sonar, "a sonar");
    let expected = [("player/sonar_0", 0.75), ("player/sonar_1", 1.5)];
    assert_eq!(ultrasonic, expected.map(|(frame, range)| (frame.to_owned(), range)).into());
    let elements: BTreeMap<String, f32> = ranges(&mut array, "an array of rangers");
    let expected = [("player/ranger_0", 0.5), ("player/ranger_1", f32::INFINITY)];
    assert_eq!(elements, expected.map(|(frame, range)| (frame.to_owned(), range)).into());
    let message = beside.next("an infrared sensor", &mut ir);
    assert_eq!((message.range, message.radiation_type), (0.25, Range::INFRARED as u8));

    assert_eq!(beside.next("bumpers", &mut bumpers).data, [0, 1, 0]);
    let message = beside.next("a battery", &mut battery);
    assert_eq!((message.voltage, message.percentage), (12.5, 0.75));
    assert!(message.current.is_nan());
    let message = beside.next("an inertial sensor", &mut imu);
    assert_eq!((message.orientation.w, message.angular_velocity.z), (1.0, 0.5));
    assert_eq!(message.linear_acceleration.z, 9.75);
    assert_eq!(beside.next("a magnetic field", &mut field).magnetic_field.x, 0.25);
    let message = beside.next("joints", &mut joints);
    assert_eq!(message.name, ["actarray_joint_0", "actarray_joint_1"]);
    assert_eq!((message.position, message.velocity), (vec![0.5, -0.5], vec![0.25, 0.0]));
    assert_eq!(beside.next("a gripper", &mut gripper).data, "closed");
    let message = beside.next("a tool", &mut tool);
    assert_eq!(message.header.frame_id, "player/base_footprint");
    assert_eq!((message.pose.position.x, message.pose.position.z), (0.25, 0.5));
    // Its z axis is the approach vector, along x; its y axis the orientation vector, along y.
    let turn = &message.pose.orientation;
    assert!((turn.y.abs() - 0.5_f64.sqrt()).abs() < 1e-9 && turn.y * turn.w > 0.0, "{turn:?}");
    assert_eq!(beside.next("its motion", &mut motion).data, "moving");
    assert_eq!(beside.next("bytes", &mut bytes).data, [1, 2, 3]);
    let message = beside.next("shapes", &mut shapes);
    let walls = &message.markers[1];
    assert_eq!((walls.ns.as_str(), walls.header.frame_id.as_str()), ("walls", "map"));
    let points: Vec<_> = walls.points.iter().map(|point| (point.x, point.y)).collect();
    assert_eq!(points, [(0.0, 1.0), (2.0, 1.0)]);
    let message = beside.next("a picture", &mut image);
    assert_eq!((message.width, message.height, message.step), (2, 2, 6));
    assert_eq!((message.encoding.as_str(), message.data.len()), ("rgb8", 12));

    let message = beside.next("a map", &mut map);
    assert_eq!(message.header.frame_id, "map");
    assert_eq!((message.info.width, message.info.height, message.info.resolution), (3, 2, 0.5));
    assert_eq!((message.info.origin.position.x, message.info.origin.position.y), (-1.0, -0.5));
    assert_eq!(message.data, [0, -1, 100, 100, -1, 0]);
    let message = beside.next("a pose on the map", &mut pose);
    assert_eq!((message.pose.pose.position.x, message.pose.pose.position.y), (3.0, 4.0));
    assert_eq!((message.pose.covariance[0], message.pose.covariance[5]), (0.01, 0.006));

    let message = beside.find("the laser's pose", &mut fixed, |message| {
        message.transforms.iter().any(|transform| transform.child_frame_id == "player/laser")
    });
    let of = |name: &str| message.transforms.iter().find(|one| one.child_frame_id == name).unwrap();
    let laser = of("player/laser");
    assert_eq!(laser.header.frame_id, "player/base_footprint");
    assert_eq!((laser.transform.translation.x, laser.transform.translation.z), (0.15, 0.2));
    assert_eq!(of("player/ranger_1").header.frame_id, "player/ranger");
    assert_eq!(of("player/ranger1").header.frame_id, "player/position2d1/base_footprint");
    // The odometry's origin on the map: the headings are equal.
    let message = beside.find("the odometry on the map", &mut moving, |message| {
        message.transforms.iter().any(|transform| transform.child_frame_id == "player/odom")
    });
    let origin = &message.transforms[0].transform.translation;
    assert!((origin.x - 2.0).abs() < 1e-9 && (origin.y - 2.0).abs() < 1e-9, "{origin:?}");

    // What is not shown, and what cannot be opened, is listed.
    let message = beside.find("the list of devices", &mut diagnostics, |message| {
        message.status[0].values.iter().any(|value| value.key == "power:1")
    });
    let status = &message.status[0];
    let value = |key: &str| status.values.iter().find(|value| value.key == key).unwrap().value.as_str();
    assert_eq!(value("laser:0"), "maker");
    assert_eq!(value("power:1"), "maker, refused");
    assert_eq!(value("interface_8:0"), "maker, not shown: unknown interface");
    assert_eq!(value("invalid messages"), "0");
    assert_eq!(status.level, 1, "{}", status.message);
    assert_eq!(operator.server.script().mode, 1);
}

#[test]
fn with_pull_the_client_asks_for_data_and_with_server_time_stamps_are_the_servers() {
    let time = ["-p", "player_client:server_time:=true"];
    let mut operator = Operator::new(&["--pull"], &time);
    let mut odom = operator.beside.subscribe::<Odometry>("/player/odom");
    for _ in 0..5 {
        let message = operator.beside.next("odometry", &mut odom);
        assert_eq!((message.header.stamp.sec, message.header.stamp.nanosec), (12, 250_000_000));
    }
    let script = operator.server.script();
    assert!(script.mode == 2 && script.pulls >= 5, "{} {}", script.mode, script.pulls);
}

#[test]
fn pictures_are_received_while_their_topic_has_subscribers() {
    let mut operator = Operator::new(&[], &[]);
    let camera = camera::INTERFACE.device(0);
    let is_open = move |operator: &mut Operator| operator.server.script().open.contains(&camera);
    operator.until("the camera is opened at first", is_open);
    operator.until("the camera is closed", |operator| !is_open(operator));
    for _ in 0..2 {
        let mut image = operator.beside.subscribe::<Image>("/player/image_raw");
        operator.until("the camera is opened", is_open);
        operator.beside.next("a picture", &mut image);
        drop(image);
        operator.until("the camera is closed again", |operator| !is_open(operator));
    }
}
