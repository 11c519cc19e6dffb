//! The world as a ROS node uses it.

use std::time::Duration;

use dragoman_ros::dragoman_msgs::srv::{
    AdvanceWorlds, CheckRobotJoints, GetLocation, MoveMRobot, Place, PlaceMRobot,
};
use dragoman_ros::geometry_msgs::msg::{Point, Twist, Vector3};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::rosgraph_msgs::msg::Clock;
use dragoman_ros::sensor_msgs::msg::LaserScan;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::visualization_msgs::msg::{Marker, MarkerArray};
use dragoman_ros::{Node, QosProfile, WrappedServiceTypeSupport};
use futures::stream::{BoxStream, StreamExt};

use super::assert_near;
use crate::common::{Lab, TIME_LIMIT, block_on, context, find, latched, next, sleep};

/// A node of another program than the lab.
struct User {
    node: Node,
}

impl User {
    fn new(lab: &Lab) -> Self {
        Self { node: Node::create(context(lab.domain), "user", "").unwrap() }
    }

    fn ask<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        let client = self.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
        let asked = async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        };
        block_on(dragoman_time::timeout(TIME_LIMIT, asked)).expect("an answer")
    }
}

#[test]
fn a_node_calls_the_services() {
    let lab = Lab::start();
    let mut user = User::new(&lab);
    let world = String::new;
    let location = GetLocation::Request { world: world(), object: "pieza".to_owned() };
    let answer = user.ask::<GetLocation::Service>("/apolo/get_location", location);
    let (at, rpy) = (answer.position, answer.rpy);
    assert!(answer.success && answer.found && answer.message.is_empty());
    #[allow(clippy::approx_constant, reason = "as the manual prints it")]
    assert_near(&[at.x, at.y, at.z, rpy.x, rpy.y, rpy.z], &[-0.25, 0.2, 0.06, 1.5708, 0.6912, 0.9425]);

    let location = GetLocation::Request { world: world(), object: "nobody".to_owned() };
    let answer = user.ask::<GetLocation::Service>("/apolo/get_location", location);
    assert!(!answer.success && !answer.found && answer.message.contains("nobody"), "{answer:?}");
    let location = GetLocation::Request { world: world(), object: "piezo".to_owned() };
    let answer = user.ask::<GetLocation::Service>("/apolo/get_location", location);
    assert_eq!(answer.message, "there is no \"piezo\"; did you mean 'pieza'?");
    let joints = |count: usize| CheckRobotJoints::Request {
        world: world(),
        robot: "Puma560".to_owned(),
        values: vec![f64::NAN; count],
    };
    for count in [1, 7] {
        let answer = user.ask::<CheckRobotJoints::Service>("/apolo/check_robot_joints", joints(count));
        assert!(!answer.success && answer.found && !answer.message.is_empty(), "{answer:?}");
    }

    let position = Point { x: 0.7, y: 0.7, z: 0.0 };
    let request =
        PlaceMRobot::Request { world: world(), robot: "Pioneer3AT".to_owned(), position, yaw: 0.23 };
    let answer = user.ask::<PlaceMRobot::Service>("/apolo/place_m_robot", request);
    assert!(answer.success && answer.placed);
    let request = MoveMRobot::Request {
        world: world(),
        robot: "Pioneer3AT".to_owned(),
        speed: 2.0,
        rotation_speed: 0.0,
        duration: 60.0,
    };
    let answer = user.ask::<MoveMRobot::Service>("/apolo/move_m_robot", request);
    assert!(answer.success && !answer.moved, "there is no floor");
    // An old program sees the effect of the node's request.
    assert_near(&lab.apolo().values(b'g', "Pioneer3AT"), &[0.7, 0.7, 0.0, 0.23]);
}

#[test]
fn late_joiners_see_the_world_and_its_changes() {
    let lab = Lab::start();
    let mut user = User::new(&lab);
    let mut markers: BoxStream<MarkerArray> =
        user.node.subscribe("/apolo/markers", latched()).unwrap().boxed();
    let mut poses: BoxStream<TFMessage> = user.node.subscribe("/apolo/poses", latched()).unwrap().boxed();
    let all = find(&mut markers, |array| Some(array.markers));
    let floor = all.iter().find(|marker| marker.ns == "floor").expect("the floor");
    assert_eq!((floor.type_, floor.header.frame_id.as_str()), (Marker::CUBE as i32, "map"));
    assert_near(&[floor.scale.x, floor.scale.y, floor.scale.z], &[12.0, 10.0, 0.1]);
    for name in ["pieza", "Pioneer3AT", "column", "landmarks"] {
        assert!(all.iter().any(|marker| marker.ns == name), "{name}");
    }
    assert!(all.iter().any(|marker| marker.ns.starts_with("Puma560/")));
    let desk = all.iter().find(|marker| marker.ns == "corner_desk").expect("the desk");
    assert!(
        desk.type_ == Marker::TRIANGLE_LIST as i32 && desk.points.len() % 3 == 0 && !desk.points.is_empty()
    );
    let names = find(&mut poses, |poses| Some(poses.transforms));
    assert!(names.iter().any(|pose| pose.child_frame_id == "Ranger Mark I"));

    let request = Place::Request {
        world: String::new(),
        object: "pieza".to_owned(),
        position: Point { x: 1.0, y: 2.0, z: 3.0 },
        rpy: Vector3::default(),
    };
    assert!(user.ask::<Place::Service>("/apolo/place", request).success);
    find(&mut markers, |array| {
        array.markers.into_iter().find(|marker| marker.ns == "pieza" && marker.pose.position.z == 3.0)
    });
    let moved = find(&mut poses, |poses| {
        let mut poses = poses.transforms.into_iter();
        poses.find(|pose| pose.child_frame_id == "pieza" && pose.transform.translation.z == 3.0)
    });
    assert_near(&[moved.transform.translation.x, moved.transform.rotation.w], &[1.0, 1.0]);
}

#[test]
fn a_robot_drives_while_it_is_commanded() {
    let lab = Lab::start();
    let mut user = User::new(&lab);
    let mut odometry: BoxStream<Odometry> =
        user.node.subscribe("/apolo/marvin/odom", QosProfile::default()).unwrap().boxed();
    let mut scans: BoxStream<LaserScan> =
        user.node.subscribe("/apolo/marvin/scan", QosProfile::sensor_data()).unwrap().boxed();
    let mut transforms: BoxStream<TFMessage> =
        user.node.subscribe("/tf", QosProfile::default().keep_last(100)).unwrap().boxed();
    let velocity = user
        .node
        .create_publisher::<Twist>("/apolo/marvin/cmd_vel", QosProfile::default().keep_last(1))
        .unwrap();
    block_on(velocity.wait_for_inter_process_subscribers().unwrap()).unwrap();
    let rest = next(&mut odometry);
    assert_eq!(rest.header.frame_id, "marvin/odom");
    assert_eq!(rest.child_frame_id, "marvin/base_footprint");
    let scan = next(&mut scans);
    assert_eq!((scan.ranges.len(), scan.header.frame_id.as_str()), (541, "marvin/laser"));
    for child in ["marvin/odom", "marvin/base_footprint", "marvin/laser", "pieza"] {
        find(&mut transforms, |message| {
            message.transforms.into_iter().find(|transform| transform.child_frame_id == child)
        });
    }

    let mut client = lab.apolo();
    let before = client.values(b'g', "Marvin");
    let mut twist = Twist::default();
    twist.linear.x = f64::NAN;
    velocity.publish(&twist).unwrap();
    sleep(Duration::from_millis(200));
    assert_eq!(client.values(b'g', "Marvin"), before, "no number, no motion");
    twist.linear.x = 0.2;
    velocity.publish(&twist).unwrap();
    // The first message about it may have been sent before.
    find(&mut odometry, |odometry| ((odometry.twist.twist.linear.x - 0.2).abs() < 0.05).then_some(()));
    sleep(Duration::from_millis(1500));
    let after = client.values(b'g', "Marvin");
    let driven = after[0] - before[0];
    assert!((0.115..0.125).contains(&driven), "0.6 s at 0.2 m/s: {driven}");
    sleep(Duration::from_millis(200));
    assert_eq!(client.values(b'g', "Marvin"), after, "no more commands");
}

/// What rviz2 needs of a robot: its description, and the transform of each link.
#[test]
fn robots_from_descriptions_can_be_shown() {
    let lab = Lab::start();
    let mut user = User::new(&lab);
    let latched = || QosProfile::default().keep_last(10).transient_local();
    let robots = [
        ("/apolo/puma560", "/tf", "puma560/"),
        ("/apolo/pioneer3at", "/tf", "pioneer3at/"),
        ("/apolo/neobotix_platform", "/tf", "neobotix_platform/"),
        ("/neobotix", "/tf", "neobotix/"),
        ("/ranger", "/ranger/tf", ""),
    ];
    for (namespace, tf, prefix) in robots {
        let name = format!("{namespace}/robot_description");
        let mut descriptions: BoxStream<Text> = user.node.subscribe(&name, latched()).unwrap().boxed();
        let moving = user.node.subscribe(tf, QosProfile::default().keep_last(100)).unwrap();
        let fixed = user.node.subscribe(&tf.replace("tf", "tf_static"), latched()).unwrap();
        let mut transforms: BoxStream<TFMessage> = futures::stream::select(moving, fixed).boxed();
        let robot = urdf_rs::read_from_string(&next(&mut descriptions).data).unwrap();
        // The root of a wheeled robot is published by its odometry; that of the Ranger is the root of the tree.
        let mut missing: Vec<String> =
            robot.joints.iter().map(|joint| format!("{prefix}{}", joint.child.link)).collect();
        assert!(missing.len() >= 5, "{namespace}");
        let start = dragoman_time::now();
        while !missing.is_empty() {
            assert!(dragoman_time::since(start) < TIME_LIMIT, "{namespace}: {missing:?}");
            let received = next(&mut transforms).transforms;
            missing.retain(|link| received.iter().all(|transform| transform.child_frame_id != *link));
        }
    }
}

/// The time on `/clock`, s.
fn world_time(user: &mut User) -> BoxStream<'static, f64> {
    let clock = user.node.subscribe("/clock", QosProfile::default().keep_last(1)).unwrap();
    clock.map(|Clock { clock }| f64::from(clock.sec) + 1e-9 * f64::from(clock.nanosec)).boxed()
}

#[test]
fn the_world_s_time_may_run_faster_and_be_that_of_all_nodes() {
    let arguments = ["-p", "world:publish_clock:=true", "-p", "world:real_time_factor:=10.0"];
    let lab = Lab::start_with(0, &["up"], &arguments);
    let mut user = User::new(&lab);
    let mut clock = world_time(&mut user);
    let (first, start) = (next(&mut clock), dragoman_time::now());
    let passed = find(&mut clock, |now| Some(now).filter(|now| *now > first + 20.0)) - first;
    let factor = passed / dragoman_time::since(start).as_secs_f64();
    assert!((9.95..10.05).contains(&factor), "{factor}");
    // Odometry has the world's time stamps.
    let mut odometry: BoxStream<Odometry> =
        user.node.subscribe("/apolo/neo/odom", QosProfile::default()).unwrap().boxed();
    let stamp = next(&mut odometry).header.stamp;
    assert!(f64::from(stamp.sec) < first + 400.0, "{stamp:?}");
}

/// A minute of the world's time, at any real speed, and a velocity that holds for 0.6 s of it.
#[test]
fn the_world_s_time_may_run_as_fast_as_it_can() {
    let arguments = ["-p", "world:as_fast_as_possible:=true", "-p", "world:real_time_factor:=0.0"];
    let lab = Lab::start_with(0, &["up"], &arguments);
    let mut user = User::new(&lab);
    let mut clock = world_time(&mut user);
    let (first, start) = (next(&mut clock), dragoman_time::now());
    let last = find(&mut clock, |now| Some(now).filter(|now| *now > first + 60.0));
    println!("{:.1} s of the world in {:?} of the lab", last - first, dragoman_time::since(start));
    let mut odometry: BoxStream<Odometry> =
        user.node.subscribe("/apolo/neo/odom", QosProfile::default()).unwrap().boxed();
    let stamp = next(&mut odometry).header.stamp;
    assert!(f64::from(stamp.sec) >= last.floor(), "{stamp:?}");
    // Requests are answered during this.
    let drop = PlaceMRobot::Request { robot: "Neo".into(), ..Default::default() };
    assert!(user.ask::<PlaceMRobot::Service>("/apolo/place_m_robot", drop).success);
}

#[test]
fn a_program_advances_the_world_s_time() {
    let lab = Lab::start_with(0, &["up"], &["-p", "world:real_time_factor:=0.0"]);
    let mut user = User::new(&lab);
    let mut advance =
        |duration| user.ask::<AdvanceWorlds::Service>("/apolo/advance", AdvanceWorlds::Request { duration });
    for step in 1..=100 {
        let answer = advance(0.5);
        assert!(answer.success && (answer.time - 0.5 * f64::from(step)).abs() < 1e-6, "{answer:?}");
    }
    let answer = advance(-1.0);
    assert!(!answer.success && answer.time == 50.0 && answer.message.contains("duration"), "{answer:?}");
}
