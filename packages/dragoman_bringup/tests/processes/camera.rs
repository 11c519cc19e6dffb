//! The lab's camera as received by an independent DDS peer, which is another program.
//!
//! The peer's program is in `peers/`; the test is skipped if it is not installed, unless `DRAGOMAN_REQUIRE_PEERS` is
//! set.

use std::time::{Duration, Instant};

use crate::common::peers::{Facts, Peer, Running};
use crate::common::{Lab, domain, processor_time};
use dragoman_ros::dragoman_msgs::srv::Place;
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use dragoman_world::CameraFigures;

const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Pose of the robot, facing the wall at x = 6, and the offset of its depth camera from its centre.
const PLACE: [f64; 3] = [3.0, -4.2, 0.0];
const CAMERA_AHEAD: f64 = -0.0365;
const WALL: f64 = 6.0;
/// From the camera to the wall, m.
const DEPTH: f64 = WALL - PLACE[0] - CAMERA_AHEAD;

/// A node in another process than the lab.
struct User {
    lab: Lab,
    node: Node,
    runtime: tokio::runtime::Runtime,
}

impl User {
    /// Places the robot in front of the wall.
    fn new() -> Self {
        let lab = Lab::start_with(domain(), &["up"], &["-p", "arm31:port:=0"]);
        let discovery =
            Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let node = Node::create(context, "user", "").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut user = Self { lab, node, runtime };
        let client =
            user.node.create_client::<Place::Service>("/apolo/place", QosProfile::services_default());
        let client = client.unwrap();
        let [x, y, z] = PLACE;
        let request = Place::Request {
            object: "turtlebot2_widowx".to_owned(),
            position: Point { x, y, z },
            rpy: Vector3::default(),
            ..Default::default()
        };
        let asked = async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        };
        let answer = user.runtime.block_on(async { tokio::time::timeout(TIME_LIMIT, asked).await });
        assert!(answer.expect("an answer").success);
        user
    }
}

/// With the Kinect's focal lengths inserted.
fn matrix(figures: &str) -> String {
    let [fx, fy] = CameraFigures::KINECT.focal_lengths();
    figures.replace("FX", &fx.to_string()).replace("FY", &fy.to_string())
}

#[track_caller]
fn middle(facts: &Facts, topic: &str, expected: &str) -> Vec<f64> {
    let (received, middle) = facts.text(topic).split_once(" middle ").expect("a picture");
    assert_eq!(received, expected, "{topic}");
    middle.split(' ').map(|value| value.parse().unwrap()).collect()
}

#[test]
fn cyclone_dds_gets_every_picture() {
    let Some(peer) = Peer::CycloneCamera.command() else { return };
    let user = User::new();
    let facts = Running::start(peer, user.lab.domain, &["look"]).facts(Duration::from_secs(60));
    let (depth, color) = ("camera_depth_optical_frame", "camera_rgb_optical_frame");

    let metres = middle(&facts, "depth/image", &format!("{depth} 32FC1 640x480 step 2560 bytes 1228800"));
    assert!((metres[0] - DEPTH).abs() < 0.01, "{facts:#?}");
    let millimetres =
        middle(&facts, "depth/image_raw", &format!("{depth} 16UC1 640x480 step 1280 bytes 614400"));
    assert!((millimetres[0] - 1000.0 * DEPTH).abs() < 10.0, "{facts:#?}");
    // The wall is grey.
    let rgb = middle(&facts, "rgb/image_color", &format!("{color} rgb8 640x480 step 1920 bytes 921600"));
    assert!(rgb.len() == 3 && rgb[0] > 60.0 && rgb[0] < 200.0, "{facts:#?}");
    assert!((rgb[0] - rgb[1]).abs() < 3.0 && (rgb[0] - rgb[2]).abs() < 3.0, "{facts:#?}");
    let mono = middle(&facts, "rgb/image_mono", &format!("{color} mono8 640x480 step 640 bytes 307200"));
    assert!((mono[0] - rgb[0]).abs() < 3.0, "{facts:#?}");

    let expected = [
        (
            "depth/image/compressed",
            format!("{depth} '16UC1; png compressed ' png 640x480 16 bits kind 0 whole True"),
        ),
        (
            "rgb/image_color/compressed",
            format!("{color} 'rgb8; jpeg compressed bgr8' jpeg True 640x480 colours 3 whole True"),
        ),
        (
            "rgb/image_mono/compressed",
            format!("{color} 'mono8; jpeg compressed ' jpeg True 640x480 colours 1 whole True"),
        ),
    ];
    for (topic, expected) in expected {
        assert_eq!(facts.text(topic), expected);
    }
    let matrices = matrix(
        "640x480 plumb_bob d [0.0, 0.0, 0.0, 0.0, 0.0] k [FX, 0.0, 319.5, 0.0, FY, 239.5, 0.0, 0.0, 1.0] \
         r [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] \
         p [FX, 0.0, 319.5, 0.0, 0.0, FY, 239.5, 0.0, 0.0, 0.0, 1.0, 0.0]",
    );
    assert_eq!(facts.text("depth/camera_info"), format!("{depth} {matrices}"));
    assert_eq!(facts.text("rgb/camera_info"), format!("{color} {matrices}"));
}

#[test]
fn cyclone_dds_gets_picture_after_picture() {
    let Some(peer) = Peer::CycloneCamera.command() else { return };
    let user = User::new();
    let (process, before, began) = (user.lab.child.id(), processor_time(user.lab.child.id()), Instant::now());
    let topics = ["depth/image", "rgb/image_color/compressed"];
    let arguments = [&["rates", "5"], topics.as_slice()].concat();
    let facts = Running::start(peer, user.lab.domain, &arguments).facts(Duration::from_secs(60));
    let load = (processor_time(process) - before) / began.elapsed().as_secs_f64();
    crate::common::peers::report(&format!("with pictures the lab takes {:.0} % of a core", 100.0 * load));
    for topic in topics {
        for kind in ["reliable", "best_effort"] {
            facts.show("Cyclone DDS", &[&format!("{kind} {topic}"), &format!("{kind} {topic} age_ms")]);
            assert!(facts.number(&format!("{kind} {topic}")) > 0.0, "{facts:#?}");
        }
    }
}
