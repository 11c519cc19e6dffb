//! Our server's side in front of a simulated base, our client's side in another process: the same base in ROS, twice.

use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::{Lab, domain};
use dragoman_ros::QosProfile;
use dragoman_ros::dragoman_msgs::srv::GetGeometry;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use futures::stream::BoxStream;

#[test]
fn a_base_behind_our_server_is_the_same_behind_our_client() {
    let domain = domain();
    let up = Lab::start_with(domain, &["up"], &["-p", "arm31:port:=0", "-p", "player:port:=0"]);
    let is_port = |line: &&String| line.contains("Player's protocol");
    let row = up.banner.iter().find(is_port).expect("the server's address");
    let server = row.split_whitespace().find(|word| word.starts_with("127.0.0.1:")).unwrap();
    let _client = Lab::start_with(domain, &["player", "--server", server], &[]);
    let mut beside = Beside::new(domain);
    let mut near = beside.subscribe::<Odometry>("/odom");
    let mut far = beside.subscribe::<Odometry>("/player/odom");

    let geometry = ["/mobile_base/get_geometry", "/player/get_geometry"]
        .map(|name| beside.call::<GetGeometry::Service>(name, Default::default()));
    assert!(geometry[0].success && geometry[1].success, "{geometry:?}");
    let [own, other] = geometry.map(|geometry| (geometry.size, geometry.pose));
    assert!((own.0.x - other.0.x).abs() < 1e-6 && (own.0.y - other.0.y).abs() < 1e-6, "{own:?} {other:?}");

    let power = SetBool::Request { data: true };
    assert!(beside.call::<SetBool::Service>("/player/set_motor_power", power).success);
    assert!(beside.call::<Trigger::Service>("/player/reset_odometry", Default::default()).success);
    let publisher = beside.node.create_publisher::<Twist>("/player/cmd_vel", QosProfile::default()).unwrap();
    while publisher.get_inter_process_subscription_count().unwrap() == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut twist = Twist::default();
    (twist.linear.x, twist.angular.z) = (0.1, 0.4);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        publisher.publish(&twist).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    let turns = |message: &Odometry| message.twist.twist.angular.z.abs();
    beside.find("it turns", &mut near, |message| turns(message) > 0.1);
    beside.find("it turns behind the client, too", &mut far, |message| turns(message) > 0.1);
    // Nobody commands it any more.
    beside.find("it stops", &mut near, |message| turns(message) < 1e-3);
    beside.find("it stops behind the client, too", &mut far, |message| turns(message) < 1e-3);
    std::thread::sleep(Duration::from_millis(500));
    let newest = |stream: &mut BoxStream<'static, Odometry>, topic: &str| {
        while futures::FutureExt::now_or_never(futures::StreamExt::next(stream)).is_some() {}
        let message: Odometry = beside.next(topic, stream);
        let (at, turn) = (message.pose.pose.position, message.pose.pose.orientation);
        [at.x, at.y, turn.z, turn.w]
    };
    let (own, other) = (newest(&mut near, "/odom"), newest(&mut far, "/player/odom"));
    let is_same = own.iter().zip(other).all(|(own, other)| (own - other).abs() < 1e-4);
    assert!(is_same && own[0].abs() > 0.05, "{own:?} {other:?}");
}
