//! The first application as the TurtleBot thesis prints it (5.2), over ROS: the same calls in the same order with the same
//! numbers. `tests/printed.rs` of dragoman_apps does it without ROS, with more seeds.

use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use crate::common::{Lab, Log, Program, call, last, sleep, until};
use dragoman_ros::arbotix_msgs::srv::SetSpeed;
use dragoman_ros::dragoman_msgs::srv::GetLocation;
use dragoman_ros::geometry_msgs::msg::{Point, Twist};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::{Client, Publisher, QosProfile};

const LINEAR: f64 = 0.2;
const TURN: f64 = FRAC_PI_2;
/// Ours: the thesis names it without a value.
const SLOW_TURN: f64 = 0.05;

struct Turtle {
    odometry: Log<Odometry>,
    time: Log<Float64>,
    velocity: Publisher<Twist>,
    joints: [Publisher<Float64>; 6],
    speed: Client<SetSpeed::Service>,
}

impl Turtle {
    /// x, m, and heading, degrees, of the next message.
    fn sense(&self) -> (f64, f64) {
        self.odometry.lock().unwrap().clear();
        until("odometry", || last(&self.odometry).is_some());
        let pose = last(&self.odometry).unwrap().pose.pose;
        (pose.position.x, (2.0 * pose.orientation.z.atan2(pose.orientation.w)).to_degrees())
    }

    fn drive(&self, linear: f64, angular: f64) {
        let mut twist = Twist::default();
        (twist.linear.x, twist.angular.z) = (linear, angular);
        self.velocity.publish(&twist).unwrap();
    }

    fn joint(&self, number: usize, position: f64) {
        self.joints[number - 1].publish(&Float64 { data: position }).unwrap();
    }

    fn shoulder_speed(&self, speed: f64) {
        call(&self.speed, &SetSpeed::Request { speed });
    }

    fn pause(&self, seconds: f64) {
        let now = || last(&self.time).map(|time| time.data);
        until("time", || now().is_some());
        let end = now().unwrap() + seconds;
        until("a pause", || now().is_some_and(|now| now >= end));
    }
}

#[test]
fn the_first_application_as_printed_carries_the_cube_over_ros() {
    let lab = Lab::start_with(0, &["up", "--only", "turtlebot,apolo", "--world", "laboratory"], &[]);
    let mut program = Program::new(&lab);
    let newest = || QosProfile::default().keep_last(1);
    let turtle = Turtle {
        odometry: program.record("/odom", newest()),
        time: program.record("/simulation/sim_time", newest()),
        velocity: program.publisher("/mobile_base/commands/velocity"),
        joints: ["arm_1", "arm_2", "arm_3", "arm_4", "arm_5", "gripper_1"]
            .map(|joint| program.publisher(&format!("/{joint}_joint/command"))),
        speed: program.client("/arm_2_joint/set_speed"),
    };
    let location = program.client::<GetLocation::Service>("/apolo/get_location");
    program.start();
    let cube = || -> Point {
        call(&location, &GetLocation::Request { object: "cube".into(), ..Default::default() }).position
    };
    until("the arm's topics are connected", || {
        turtle
            .joints
            .iter()
            .all(|joint| joint.get_inter_process_subscription_count().is_ok_and(|count| count > 1))
    });
    assert!(cube().x > 3.0);

    let (mut x, _) = turtle.sense();
    while x < 2.915 {
        let (here, theta) = turtle.sense();
        x = here;
        turtle.drive(LINEAR, -0.1 * theta);
    }
    turtle.drive(0.0, 0.0);
    turtle.pause(1.0);
    for (joint, position) in [(3, FRAC_PI_2), (4, -FRAC_PI_2), (1, 0.0)] {
        turtle.joint(joint, position);
        turtle.pause(1.5);
    }
    turtle.shoulder_speed(10_f64.to_radians());
    turtle.joint(2, 65_f64.to_radians());
    turtle.pause(5.0);
    turtle.shoulder_speed(100_f64.to_radians());
    turtle.joint(5, 0.0);
    turtle.pause(1.5);
    turtle.joint(6, 1.0);
    turtle.pause(2.0);
    for (joint, position) in
        [(2, (-15_f64).to_radians()), (4, FRAC_PI_2), (3, -FRAC_PI_2), (5, 0.0), (2, -FRAC_PI_2)]
    {
        turtle.joint(joint, position);
    }
    turtle.pause(1.0);
    let (_, mut theta) = turtle.sense();
    while !(179.5..=180.5).contains(&theta) {
        (_, theta) = turtle.sense();
        let slow = (theta - 179.5).abs() <= 15.0;
        turtle.drive(0.0, if slow { SLOW_TURN } else { TURN });
    }
    turtle.drive(0.0, 0.0);
    let (mut x, _) = turtle.sense();
    while x > -3.0 {
        (x, _) = turtle.sense();
        turtle.drive(LINEAR, 0.0);
    }
    turtle.drive(0.0, 0.0);
    turtle.pause(1.0);
    for (joint, position) in [(2, 40_f64.to_radians()), (3, 50_f64.to_radians()), (4, -FRAC_PI_2)] {
        turtle.joint(joint, position);
    }
    turtle.pause(2.0);
    turtle.joint(6, 0.0);
    turtle.pause(2.0);
    sleep(Duration::from_millis(500));
    let place = cube();
    // On the near table, whose top is 46 cm high.
    assert!((place.x + 3.545).abs() < 0.26 && place.y.abs() < 0.26, "{place:?}");
    assert!((place.z - 0.475).abs() < 1e-3, "{place:?}");
}
