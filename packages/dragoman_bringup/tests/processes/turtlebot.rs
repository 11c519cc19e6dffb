//! The lab's TurtleBot in its world, through ROS: the base's driver drives the robot that Apolo's functions see.

use std::time::{Duration, Instant};

use crate::common::Lab;
use dragoman_ros::dragoman_msgs::srv::{GetLocation, GetLocationMRobot, Place, PlaceMRobot};
use dragoman_ros::geometry_msgs::msg::{Point, Twist, Vector3};
use dragoman_ros::kobuki_ros_interfaces::msg::{BumperEvent, WheelDropEvent};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedServiceTypeSupport,
};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};

const PATIENCE: Duration = Duration::from_secs(20);
const ROBOT: &str = "turtlebot2_widowx";

struct User {
    node: Node,
    runtime: tokio::runtime::Runtime,
    velocity: Publisher<Twist>,
    bumpers: BoxStream<'static, BumperEvent>,
    drops: BoxStream<'static, WheelDropEvent>,
    transforms: BoxStream<'static, TFMessage>,
}

impl User {
    fn new(lab: &Lab) -> Self {
        let discovery =
            Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let mut node = Node::create(context, "user", "").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let many = || QosProfile::default().keep_last(100);
        let velocity = node.create_publisher("/cmd_vel", many()).unwrap();
        let bumpers = node.subscribe("/mobile_base/events/bumper", many()).unwrap().boxed();
        let drops = node.subscribe("/mobile_base/events/wheel_drop", many()).unwrap().boxed();
        let transforms = node.subscribe("/tf", many()).unwrap().boxed();
        Self { node, runtime, velocity, bumpers, drops, transforms }
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
        self.runtime.block_on(async { tokio::time::timeout(PATIENCE, asked).await }).expect("an answer")
    }

    /// x, y, heading.
    fn place(&mut self) -> [f64; 3] {
        let request = GetLocationMRobot::Request { world: String::new(), robot: ROBOT.to_owned() };
        let answer = self.ask::<GetLocationMRobot::Service>("/apolo/get_location_m_robot", request);
        [answer.position.x, answer.position.y, answer.yaw]
    }

    /// Drives ahead until the condition holds.
    fn drive_until(&mut self, speed: f64, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        let twist = Twist { linear: Vector3 { x: speed, ..Default::default() }, angular: Vector3::default() };
        while !is_so(self) {
            assert!(start.elapsed() < PATIENCE, "{what}");
            self.velocity.publish(&twist).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }
        self.velocity.publish(&Twist::default()).unwrap();
    }
}

#[test]
fn what_the_base_does_is_done_in_the_world_and_what_the_world_does_is_felt() {
    let lab = Lab::start();
    let mut user = User::new(&lab);
    // The state is on the topics, or the driver does not accept velocities yet.
    let [x, y, _] = user.place();
    user.drive_until(0.3, "it does not move", |user| user.place()[0] > x + 0.5);
    let [now_x, now_y, _] = user.place();
    assert!((now_y - y).abs() < 0.05, "{now_y}");
    // Its arm moves with it.
    let arm = GetLocation::Request { world: String::new(), object: "widowx".to_owned() };
    let arm = user.ask::<GetLocation::Service>("/apolo/get_location", arm).position;
    assert!((arm.x - now_x).abs() < 0.1 && (arm.z - 0.42).abs() < 1e-6, "{arm:?}");
    // One tree: the world publishes the start of its odometry, the driver the motion since then.
    let mut links = Vec::new();
    let start = Instant::now();
    while !["odom", "base_footprint"].iter().all(|child| links.iter().any(|(_, known)| known == child)) {
        assert!(start.elapsed() < PATIENCE, "{links:?}");
        let message = user.transforms.next();
        let message =
            user.runtime.block_on(async { tokio::time::timeout(PATIENCE, message).await }).unwrap().unwrap();
        links.extend(message.transforms.into_iter().map(|it| (it.header.frame_id, it.child_frame_id)));
    }
    let parents = |child: &str| -> Vec<&str> {
        let mut found: Vec<&str> =
            links.iter().filter(|(_, known)| known == child).map(|(parent, _)| parent.as_str()).collect();
        found.dedup();
        found
    };
    assert_eq!((parents("odom"), parents("base_footprint")), (vec!["map"], vec!["odom"]));

    // Against the east wall.
    let position = Point { x: 5.5, y: -2.5, z: 0.1 };
    let request = PlaceMRobot::Request { world: String::new(), robot: ROBOT.to_owned(), position, yaw: 0.0 };
    assert!(user.ask::<PlaceMRobot::Service>("/apolo/place_m_robot", request).placed);
    let pressed = BumperEvent { bumper: 1, state: 1 };
    user.drive_until(0.3, "no bumper is pressed", |user| {
        user.bumpers.next().now_or_never().flatten().is_some_and(|event| event == pressed)
    });
    let [x, ..] = user.place();
    assert!((5.8..5.824).contains(&x), "{x}");

    // Lifted.
    let position = Point { x: 0.0, y: -1.0, z: 0.5 };
    let (object, rpy) = (ROBOT.to_owned(), Vector3::default());
    let request = Place::Request { world: String::new(), object, position, rpy };
    assert!(user.ask::<Place::Service>("/apolo/place", request).success);
    let drops = user.drops.next();
    let drop = user.runtime.block_on(async { tokio::time::timeout(PATIENCE, drops).await }).unwrap().unwrap();
    assert_eq!(drop.state, 1);
}
