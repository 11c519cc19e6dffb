//! Player's position2d on every base of the lab (RoMAA page): geometry, motor power, reset and set odometry.

use std::time::Duration;

use crate::common::{Lab, Log, Program, call, last, sleep, until};
use dragoman_ros::dragoman_msgs::srv::{GetGeometry, PlatformSetMode, SetOdometry};
use dragoman_ros::geometry_msgs::msg::{Pose2D, Twist};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_msgs::msg::Bool;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Client, Publisher, QosProfile};

/// A base: namespace of its services, its velocities, its odometry.
const BASES: [[&str; 3]; 6] = [
    ["/mobile_base", "/mobile_base/commands/velocity", "/odom"],
    ["/apolo/pioneer3at", "/apolo/pioneer3at/cmd_vel", "/apolo/pioneer3at/odom"],
    ["/apolo/neo", "/apolo/neo/cmd_vel", "/apolo/neo/odom"],
    ["/apolo/marvin", "/apolo/marvin/cmd_vel", "/apolo/marvin/odom"],
    ["/apolo/romaa", "/apolo/romaa/cmd_vel", "/apolo/romaa/odom"],
    ["/neobotix", "/neobotix/cmd_vel", "/neobotix/odom"],
];

struct Base {
    name: &'static str,
    velocity: Publisher<Twist>,
    odometry: Log<Odometry>,
    geometry: Client<GetGeometry::Service>,
    power: Client<SetBool::Service>,
    motors: Log<Bool>,
    reset: Client<Trigger::Service>,
    set: Client<SetOdometry::Service>,
}

impl Base {
    fn new(program: &mut Program, [name, velocity, odometry]: [&'static str; 3]) -> Self {
        Self {
            name,
            velocity: program.publisher(velocity),
            odometry: program.record(odometry, QosProfile::default().keep_last(10)),
            geometry: program.client(&format!("{name}/get_geometry")),
            power: program.client(&format!("{name}/set_motor_power")),
            motors: program
                .record(&format!("{name}/motors_on"), QosProfile::default().keep_last(10).transient_local()),
            reset: program.client(&format!("{name}/reset_odometry")),
            set: program.client(&format!("{name}/set_odometry")),
        }
    }

    fn switch(&self, data: bool) {
        let answer = call(&self.power, &SetBool::Request { data });
        assert!(answer.success, "{}: {}", self.name, answer.message);
        // At once: a cycle of a base takes longer.
        sleep(Duration::from_millis(2));
        assert_eq!(last(&self.motors), Some(Bool { data }), "{}", self.name);
    }

    /// Position and heading of the next odometry message.
    fn pose(&self) -> [f64; 3] {
        self.odometry.lock().unwrap().clear();
        until(self.name, || last(&self.odometry).is_some());
        let pose = last(&self.odometry).unwrap().pose.pose;
        [pose.position.x, pose.position.y, 2.0 * pose.orientation.z.atan2(pose.orientation.w)]
    }

    /// Commands a turn for a second; returns how far it has turned.
    fn turn(&self) -> f64 {
        let before = self.pose()[2];
        let began = dragoman_time::now();
        while dragoman_time::since(began) < Duration::from_secs(1) {
            let mut twist = Twist::default();
            twist.angular.z = 0.4;
            self.velocity.publish(&twist).unwrap();
            sleep(Duration::from_millis(50));
        }
        self.velocity.publish(&Twist::default()).unwrap();
        sleep(Duration::from_millis(300));
        self.pose()[2] - before
    }

    fn is_at(&self, expected: [f64; 3]) -> bool {
        self.pose().iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 0.02)
    }
}

#[test]
fn every_base_has_geometry_motor_power_and_odometry_to_set() {
    let lab = Lab::start();
    let mut program = Program::new(&lab);
    let bases = BASES.map(|base| Base::new(&mut program, base));
    let mode = program.client::<PlatformSetMode::Service>("/neobotix/set_mode");
    let orders = ["connect_to_pltf", "init_pltf", "start"]
        .map(|name| program.client::<Trigger::Service>(&format!("/neobotix/{name}")));
    program.start();
    // The platform takes velocities in its velocity mode only (PlatformCtrl guide, 4.2).
    let [connect, initialize, start] = &orders;
    for order in [connect, initialize] {
        until("the platform", || call(order, &Trigger::Request::default()).success);
        sleep(Duration::from_millis(500));
    }
    until("velocity mode", || call(&mode, &PlatformSetMode::Request { mode: 3 }).success);
    until("the platform starts", || call(start, &Trigger::Request::default()).success);

    for base in &bases {
        let name = base.name;
        let geometry = call(&base.geometry, &GetGeometry::Request::default());
        assert!(geometry.success, "{name}: {}", geometry.message);
        let size = &geometry.size;
        assert!((0.2..1.0).contains(&size.x) && (0.2..1.0).contains(&size.y), "{name}: {size:?}");
        // The RoMAA's axle is 0.111 m ahead of its centre.
        assert!(geometry.pose.x.abs() < 0.12 && geometry.pose.y.abs() < 0.01, "{name}: {:?}", geometry.pose);

        let turned = base.turn();
        assert!((0.2..0.6).contains(&turned), "{name}: {turned}");
        assert_eq!(last(&base.motors), Some(Bool { data: true }), "{name}");
        base.switch(false);
        let turned = base.turn();
        assert!(turned.abs() < 0.02, "{name}: without power it turned by {turned}");
        base.switch(true);
        let turned = base.turn();
        assert!((0.2..0.6).contains(&turned), "{name}: {turned}");

        let pose = Pose2D { x: 1.0, y: -2.0, theta: 0.5 };
        let answer = call(&base.set, &SetOdometry::Request { pose });
        assert!(answer.success, "{name}: {}", answer.message);
        until("set", || base.is_at([1.0, -2.0, 0.5]));
        let pose = Pose2D { x: f64::NAN, ..Default::default() };
        let answer = call(&base.set, &SetOdometry::Request { pose });
        assert!(!answer.success && !answer.message.is_empty(), "{name}");
        assert!(base.is_at([1.0, -2.0, 0.5]), "{name}: {:?}", base.pose());
        // Player's clients reset by setting zeros; the service of that name does the same.
        let answer = call(&base.set, &SetOdometry::Request::default());
        assert!(answer.success, "{name}: {}", answer.message);
        until("zeros", || base.is_at([0.0; 3]));
        base.turn();
        let answer = call(&base.reset, &Trigger::Request::default());
        assert!(answer.success, "{name}: {}", answer.message);
        until("reset", || base.is_at([0.0; 3]));
    }
}
