//! `dragoman player` against a real Player server with the simulator Stage, or another base: a program of others, so it
//! is in real time. `DRAGOMAN_PEER_PLAYER` is its address.

use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::peers::report;
use crate::common::{Lab, domain};
use dragoman_ros::QosProfile;
use dragoman_ros::dragoman_msgs::srv::{GetGeometry, SetOdometry};
use dragoman_ros::geometry_msgs::msg::{Pose2D, Twist};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};

#[test]
fn the_base_of_a_real_server_drives_and_stops() {
    let Some(server) = std::env::var("DRAGOMAN_PEER_PLAYER").ok().filter(|server| !server.is_empty()) else {
        report("SKIPPED: no Player server (DRAGOMAN_PEER_PLAYER is not set)");
        return;
    };
    for pull in [&[][..], &["--pull"]] {
        let arguments = [&["player", "--server", &server], pull].concat();
        let lab = Lab::start_with(domain(), &arguments, &[]);
        let mut beside = Beside::new(lab.domain);
        let mut odom = beside.subscribe::<Odometry>("/player/odom");
        let geometry = beside.call::<GetGeometry::Service>("/player/get_geometry", Default::default());
        assert!(geometry.success && geometry.size.x > 0.1, "{geometry:?}");
        let power = SetBool::Request { data: true };
        assert!(beside.call::<SetBool::Service>("/player/set_motor_power", power).success);
        assert!(beside.call::<Trigger::Service>("/player/reset_odometry", Default::default()).success);
        std::thread::sleep(Duration::from_millis(500));
        let near = |message: &Odometry, x: f64, y: f64| {
            let at = &message.pose.pose.position;
            (at.x - x).hypot(at.y - y) < 0.02
        };
        beside.find("zeros", &mut odom, |message| near(message, 0.0, 0.0));

        let publisher =
            beside.node.create_publisher::<Twist>("/player/cmd_vel", QosProfile::default()).unwrap();
        while publisher.get_inter_process_subscription_count().unwrap() == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut twist = Twist::default();
        twist.angular.z = 0.5;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) {
            publisher.publish(&twist).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }
        // Without another command it stops.
        let speed = |message: &Odometry| message.twist.twist.angular.z.abs();
        beside.find("it turns", &mut odom, |message| speed(message) > 0.1);
        beside.find("it stops", &mut odom, |message| speed(message) < 1e-3);
        let pose = Pose2D { x: 1.0, y: -2.0, theta: 0.5 };
        assert!(
            beside
                .call::<SetOdometry::Service>("/player/set_odometry", SetOdometry::Request { pose })
                .success
        );
        beside.find("the odometry is set", &mut odom, |message| near(message, 1.0, -2.0));
    }
}
