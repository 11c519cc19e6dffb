//! The lab's camera and laser.

use std::time::Duration;

use crate::common::{self, Lab, call, next, node};
use dragoman_ros::dragoman_msgs::srv::Place;
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};
use dragoman_ros::sensor_msgs::msg::{CompressedImage, Image, LaserScan};
use dragoman_ros::{Node, QosProfile};
use dragoman_world::CameraFigures;
use futures::StreamExt;

/// Pose of the robot, facing the wall at x = 6, and the offset of its depth camera from its centre.
const PLACE: [f64; 3] = [3.0, -4.2, 0.0];
const CAMERA_AHEAD: f64 = -0.0365;
const WALL: f64 = 6.0;
/// From the camera to the wall, m.
const DEPTH: f64 = WALL - PLACE[0] - CAMERA_AHEAD;

/// A node of another program.
struct User {
    _lab: Lab,
    node: Node,
}

impl User {
    /// Places the robot in front of the wall.
    fn new() -> Self {
        Self::with(&[])
    }

    /// With more ROS arguments for the lab.
    fn with(arguments: &[&str]) -> Self {
        let lab = Lab::start_with(0, &["up", "--only", "turtlebot,apolo"], arguments);
        let node = node(lab.domain);
        let mut user = Self { _lab: lab, node };
        let client =
            user.node.create_client::<Place::Service>("/apolo/place", QosProfile::services_default());
        let [x, y, z] = PLACE;
        let request = Place::Request {
            object: "turtlebot2_widowx".to_owned(),
            position: Point { x, y, z },
            rpy: Vector3::default(),
            ..Default::default()
        };
        assert!(call(&client.unwrap(), &request).success);
        user
    }
}

#[test]
fn best_effort_subscriptions_get_pictures_as_well() {
    let mut user = User::new();
    for qos in [QosProfile::default(), QosProfile::sensor_data()] {
        let mut images = user.node.subscribe::<Image>("/camera/depth/image", qos).unwrap().boxed();
        let image = next(&mut images);
        let at = 4 * (240 * 640 + 320);
        let depth = f32::from_le_bytes(image.data[at..at + 4].try_into().unwrap());
        assert!((f64::from(depth) - DEPTH).abs() < 0.01, "{depth}");
    }
}

/// TurtleBot thesis, 5.3: its program compares grey values, near is bright, with 120.
#[test]
fn depth_images_have_the_grey_values_of_the_thesis_if_a_parameter_says_so() {
    let mut user = User::with(&["-p", "world:depth_encoding:=mono8"]);
    let mut images =
        user.node.subscribe::<Image>("/camera/depth/image", QosProfile::default()).unwrap().boxed();
    let mut compressed = user
        .node
        .subscribe::<CompressedImage>("/camera/depth/image/compressed", QosProfile::default())
        .unwrap()
        .boxed();
    let image = next(&mut images);
    assert_eq!((image.encoding.as_str(), image.step, image.data.len()), ("mono8", 640, 640 * 480));
    // 3.04 m: below the threshold.
    assert_eq!(image.data[240 * 640 + 320], CameraFigures::KINECT.grey(DEPTH as f32));
    assert!(image.data[240 * 640 + 320] < 120);
    // The floor before the robot is nearer than the wall.
    assert!(image.data[479 * 640 + 320] > 120);
    let picture = next(&mut compressed);
    assert_eq!((picture.format.as_str(), &picture.data[..2]), ("mono8; jpeg compressed ", &[0xff, 0xd8][..]));
}

#[test]
fn the_scan_has_the_names_of_the_thesis() {
    let mut user = User::new();
    let mut scans = user.node.subscribe::<LaserScan>("/scan", QosProfile::default()).unwrap().boxed();
    let scan = next(&mut scans);
    assert_eq!((scan.header.frame_id.as_str(), scan.ranges.len()), ("laser_link", 684));
    assert!((scan.angle_min + 2.0944).abs() < 1e-6 && (scan.angle_max - 2.0944).abs() < 1e-4);
    assert_eq!((scan.range_min, scan.range_max, scan.scan_time), (0.06, 4.095, 0.1));
    let ahead = scan.ranges[342];
    assert!((f64::from(ahead) - (WALL - PLACE[0])).abs() < 0.02, "{ahead}");
    // The south wall is on the robot's right, at y = -5: the laser is mounted upside down, and has it on its left.
    let left = scan.ranges[342 + 256];
    assert!((f64::from(left) - 0.8).abs() < 0.05, "{left}");
    let began = dragoman_time::now();
    (0..10).for_each(|_| drop(next(&mut scans)));
    assert_eq!(dragoman_time::since(began), Duration::from_secs(1), "ten scans");
}

#[test]
fn pictures_come_thirty_times_a_second() {
    let mut user = User::new();
    let mut depth = user.node.subscribe::<Image>("/camera/depth/image", QosProfile::default()).unwrap();
    let color = "/camera/rgb/image_color/compressed";
    let mut color = user.node.subscribe::<CompressedImage>(color, QosProfile::sensor_data()).unwrap();
    let mut times = (Vec::new(), Vec::new());
    common::block_on(async {
        let end = dragoman_time::sleep(Duration::from_secs(2));
        let mut end = std::pin::pin!(end);
        loop {
            tokio::select! {
                biased;
                Some(_) = depth.next() => times.0.push(dragoman_time::now()),
                Some(_) = color.next() => times.1.push(dragoman_time::now()),
                () = &mut end => return,
            }
        }
    });
    for times in [times.0, times.1] {
        let periods: Vec<f64> =
            times.windows(2).map(|pair| 1e3 * (pair[1] - pair[0]).as_secs_f64()).collect();
        println!("{periods:.2?}");
        assert!((58..=60).contains(&times.len()), "{}", times.len());
        assert!(periods.iter().all(|period| (period - 1e3 / 30.0).abs() < 1.0), "{periods:?} ms");
    }
}
