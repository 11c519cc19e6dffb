//! The lab's TurtleBot 2 with WidowX, through ROS: the base's driver drives the robot that Apolo's functions see; and its use
//! by the names of the TurtleBot thesis, table A.2, at exact times. `processes/turtlebot_peer.rs` does it over Cyclone DDS.

use std::time::Duration;

use crate::common::{Lab, Log, Program, TIME_LIMIT, block_on, call, context, last, next, sleep, until};
use dragoman_ros::arbotix_msgs::srv::{Enable, Relax, SetSpeed};
use dragoman_ros::dragoman_msgs::srv::{GetLocation, GetLocationMRobot, Place, PlaceMRobot};
use dragoman_ros::geometry_msgs::msg::{Point, PoseStamped, Twist, Vector3};
use dragoman_ros::kobuki_ros_interfaces::msg::{BumperEvent, MotorPower, SensorState, WheelDropEvent};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{Imu, JointState, LaserScan};
use dragoman_ros::std_msgs::msg::{Empty, Float64};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Node, Publisher, QosProfile, WrappedServiceTypeSupport};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};

const ROBOT: &str = "turtlebot2_widowx";

struct User {
    node: Node,
    velocity: Publisher<Twist>,
    bumpers: BoxStream<'static, BumperEvent>,
    drops: BoxStream<'static, WheelDropEvent>,
    transforms: BoxStream<'static, TFMessage>,
}

impl User {
    fn new(lab: &Lab) -> Self {
        let mut node = Node::create(context(lab.domain), "user", "").unwrap();
        let many = || QosProfile::default().keep_last(100);
        let velocity = node.create_publisher("/cmd_vel", many()).unwrap();
        let bumpers = node.subscribe("/mobile_base/events/bumper", many()).unwrap().boxed();
        let drops = node.subscribe("/mobile_base/events/wheel_drop", many()).unwrap().boxed();
        let transforms = node.subscribe("/tf", many()).unwrap().boxed();
        Self { node, velocity, bumpers, drops, transforms }
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

    /// x, y, heading.
    fn place(&mut self) -> [f64; 3] {
        let request = GetLocationMRobot::Request { world: String::new(), robot: ROBOT.to_owned() };
        let answer = self.ask::<GetLocationMRobot::Service>("/apolo/get_location_m_robot", request);
        [answer.position.x, answer.position.y, answer.yaw]
    }

    /// Drives ahead until the condition holds.
    fn drive_until(&mut self, speed: f64, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let start = dragoman_time::now();
        let twist = Twist { linear: Vector3 { x: speed, ..Default::default() }, angular: Vector3::default() };
        while !is_so(self) {
            assert!(dragoman_time::since(start) < TIME_LIMIT, "{what}");
            self.velocity.publish(&twist).unwrap();
            sleep(Duration::from_millis(50));
        }
        self.velocity.publish(&Twist::default()).unwrap();
    }
}

#[test]
fn the_base_drives_in_the_world_and_senses_it() {
    let lab = Lab::only("turtlebot,apolo");
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
    while !["odom", "base_footprint"].iter().all(|child| links.iter().any(|(_, known)| known == child)) {
        let message = next(&mut user.transforms);
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
    assert_eq!(next(&mut user.drops).state, 1);
}

#[test]
fn what_it_measures_arrives_at_its_rates() {
    let lab = Lab::only("turtlebot");
    let mut program = Program::new(&lab);
    let queue = || QosProfile::default().keep_last(500);
    let odometry = program.record::<Odometry>("/odom", queue());
    let core = program.record::<SensorState>("/mobile_base/sensors/core", queue());
    let imu = program.record::<Imu>("/mobile_base/sensors/imu_data", queue());
    let raw = program.record::<Imu>("/mobile_base/sensors/imu_data_raw", queue());
    let poses = program.record::<PoseStamped>("/simulation/pose", queue());
    let times = program.record::<Float64>("/simulation/sim_time", queue());
    let joints = program.record::<JointState>("/joint_states", queue());
    let scans = program.record::<LaserScan>("/scan", QosProfile::sensor_data().keep_last(500));
    program.start();
    until("the first scan", || last(&scans).is_some());
    let count = || {
        [
            odometry.lock().unwrap().len(),
            core.lock().unwrap().len(),
            imu.lock().unwrap().len(),
            raw.lock().unwrap().len(),
            poses.lock().unwrap().len(),
            times.lock().unwrap().len(),
            joints.lock().unwrap().len(),
            scans.lock().unwrap().len(),
        ]
    };
    let before = count();
    sleep(Duration::from_secs(4));
    let after = count();
    // Hz: of the base's packets, the gyro's samples every 9 ms, the simulator, the laser, and the least rate of all joints
    // together, because the arm's 20 Hz are less.
    let names = ["odom", "core", "imu_data", "imu_data_raw", "pose", "sim_time", "joint_states", "scan"];
    for (((name, hertz), before), after) in
        names.into_iter().zip([50, 50, 50, 111, 50, 50, 25, 10]).zip(before).zip(after)
    {
        let messages = after - before;
        assert!(messages.abs_diff(4 * hertz) <= 1 + 4 * hertz / 100, "{name}: {messages} messages in 4 s");
    }
    let scan = last(&scans).unwrap();
    assert_eq!((scan.ranges.len(), scan.header.frame_id.as_str()), (684, "laser_link"));
    let at = last(&poses).unwrap().pose.position;
    assert_eq!((at.x, at.y), (-1.0, -4.0));
}

/// A program, by the names of the thesis.
struct Thesis {
    odometry: Log<Odometry>,
    truth: Log<PoseStamped>,
    velocity: Publisher<Twist>,
}

impl Thesis {
    /// x by the odometry, and its true value, m.
    fn x(&self) -> [f64; 2] {
        sleep(Duration::from_millis(40));
        [last(&self.odometry).unwrap().pose.pose.position.x, last(&self.truth).unwrap().pose.position.x]
    }

    /// Commands this speed every 50 ms, and waits until it stands. Returns the distance by the odometry, and the true
    /// one, m.
    fn drive(&self, speed: f64, times: u32) -> [f64; 2] {
        let before = self.x();
        let mut twist = Twist::default();
        twist.linear.x = speed;
        for _ in 0..times {
            self.velocity.publish(&twist).unwrap();
            sleep(Duration::from_millis(50));
        }
        sleep(Duration::from_millis(1200));
        let after = self.x();
        [after[0] - before[0], after[1] - before[1]]
    }
}

#[test]
fn its_base_follows_commands() {
    let lab = Lab::only("turtlebot");
    let mut program = Program::new(&lab);
    let thesis = Thesis {
        odometry: program.record("/odom", QosProfile::default()),
        truth: program.record("/simulation/pose", QosProfile::default()),
        velocity: program.publisher("/mobile_base/commands/velocity"),
    };
    let motors = program.publisher::<MotorPower>("/mobile_base/commands/motor_power");
    let reset = program.publisher::<Empty>("/mobile_base/commands/reset_odometry");
    program.start();
    until("measurements", || last(&thesis.odometry).is_some() && last(&thesis.truth).is_some());
    // 2 s and the base's 0.6 s at 0.2 m/s, and the wheels' lag.
    let [by_odometry, really] = thesis.drive(0.2, 40);
    assert!((0.48..0.54).contains(&really), "{really}");
    assert!((by_odometry - really).abs() < 0.002, "{by_odometry} {really}");
    let [_, really] = thesis.drive(0.3, 1);
    assert!((0.15..0.2).contains(&really), "0.6 s at 0.3 m/s: {really}");
    assert_eq!(last(&thesis.odometry).unwrap().twist.twist.linear.x, 0.0);
    reset.publish(&Empty::default()).unwrap();
    sleep(Duration::from_millis(100));
    assert_eq!(thesis.x()[0], 0.0);
    motors.publish(&MotorPower { state: 0 }).unwrap();
    sleep(Duration::from_millis(100));
    assert_eq!(thesis.drive(0.2, 10), [0.0; 2]);
    motors.publish(&MotorPower { state: 1 }).unwrap();
    sleep(Duration::from_millis(100));
    let [_, really] = thesis.drive(-0.2, 10);
    assert!((-0.23..-0.19).contains(&really), "0.5 s and 0.6 s at -0.2 m/s: {really}");
}

const JOINTS: [&str; 6] =
    ["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"];

#[test]
fn its_arm_follows_commands() {
    let lab = Lab::only("turtlebot");
    let mut program = Program::new(&lab);
    let states = program.record::<JointState>("/joint_states", QosProfile::default());
    let commands = JOINTS.map(|joint| program.publisher::<Float64>(&format!("/{joint}/command")));
    let relax = JOINTS.map(|joint| program.client::<Relax::Service>(&format!("/{joint}/relax")));
    let enable = JOINTS.map(|joint| program.client::<Enable::Service>(&format!("/{joint}/enable")));
    let set_speed = JOINTS.map(|joint| program.client::<SetSpeed::Service>(&format!("/{joint}/set_speed")));
    program.start();
    let position = |joint: usize| {
        states.lock().unwrap().clear();
        until("joint states", || last(&states).is_some_and(|state| state.name.len() == 10));
        let state = last(&states).unwrap();
        state.position[state.name.iter().position(|name| name == JOINTS[joint]).unwrap()]
    };
    // Commands a joint; returns the time until it is near.
    let go = |joint: usize, goal: f64| {
        commands[joint].publish(&Float64 { data: goal }).unwrap();
        let start = dragoman_time::now();
        until(JOINTS[joint], || (position(joint) - goal).abs() < 0.03);
        dragoman_time::since(start).as_secs_f64()
    };
    for (joint, start) in [0.785, 0.0, -0.785, -0.785, 0.0, 0.0].into_iter().enumerate() {
        assert!((position(joint) - start).abs() < 0.01, "{}", JOINTS[joint]);
    }
    // Upright: nothing is in the way.
    for joint in [1, 2, 3, 4, 0] {
        go(joint, 0.0);
    }
    for (joint, name) in JOINTS.into_iter().enumerate() {
        let begin = position(joint);
        go(joint, begin + 0.5);
        call(&set_speed[joint], &SetSpeed::Request { speed: 0.25 });
        let slow = go(joint, begin);
        // 0.5 rad at 0.25 rad/s, except the last 0.03, in steps of the joint states.
        assert!((1.8..2.1).contains(&slow), "{name}: {slow}");
        call(&set_speed[joint], &SetSpeed::Request { speed: 1.7 });
        sleep(Duration::from_millis(500));
        let held = position(joint);
        assert!(!call(&enable[joint], &Enable::Request { enable: false }).state, "{name}");
        commands[joint].publish(&Float64 { data: begin + 0.5 }).unwrap();
        sleep(Duration::from_millis(600));
        let moved = (position(joint) - held).abs();
        // Without power, friction holds all joints except the two that carry the most.
        let falls = [1, 2].contains(&joint);
        assert!(if falls { (0.1..2.0).contains(&moved) } else { moved < 0.002 }, "{name} moved by {moved}");
        assert!(call(&enable[joint], &Enable::Request { enable: true }).state, "{name}");
        call(&relax[joint], &Relax::Request::default());
        go(joint, begin + 0.5);
        go(joint, begin);
    }
    // Invalid commands move nothing.
    sleep(Duration::from_secs(1));
    let before: Vec<f64> = (0..JOINTS.len()).map(position).collect();
    for command in &commands {
        for data in [f64::NAN, f64::INFINITY, 100.0] {
            command.publish(&Float64 { data }).unwrap();
        }
    }
    sleep(Duration::from_millis(600));
    let after: Vec<f64> = (0..JOINTS.len()).map(position).collect();
    for (before, after) in before.iter().zip(&after) {
        assert!((before - after).abs() < 0.002, "{before} {after}");
    }
}
