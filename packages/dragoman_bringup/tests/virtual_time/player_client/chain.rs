//! Our server's side in front of a simulated base, our client's side in another program: the same base in ROS, twice.

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::neobotix::{CONNECT, INIT, MOVE_VEL_WHEEL, NeobotixClient, SET_MODE, START, STOP, ints};
use crate::common::{Folder, Lab};
use crate::host::{now, sleep};
use dragoman_ros::QosProfile;
use dragoman_ros::dragoman_msgs::srv::GetGeometry;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Odometry};
use dragoman_ros::sensor_msgs::msg::{BatteryState, JointState, LaserScan};
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_time::since;
use futures::stream::BoxStream;

use super::TIME_LIMIT;

/// All programs are in it.
const DOMAIN: u16 = 0;

fn seconds(header: &Header) -> f64 {
    f64::from(header.stamp.sec) + f64::from(header.stamp.nanosec) * 1e-9
}

/// A message of our robot, and the same one behind the client, by its stamp.
#[track_caller]
fn pair<T>(
    beside: &Beside,
    what: &str,
    [near, far]: [&mut BoxStream<'static, T>; 2],
    header: impl Fn(&T) -> &Header,
) -> [T; 2] {
    let end = now() + TIME_LIMIT;
    let mut own = Vec::new();
    loop {
        let other = beside.next(what, far);
        while let Some(Some(message)) = futures::FutureExt::now_or_never(futures::StreamExt::next(near)) {
            own.push(message);
        }
        let stamp = seconds(header(&other));
        if let Some(at) = own.iter().position(|own| (seconds(header(own)) - stamp).abs() < 1e-5) {
            return [own.swap_remove(at), other];
        }
        assert!(now() < end, "{what}: no message has the stamp of another");
    }
}

/// The lab's TurtleBot behind Player's server, without its cameras, which are not needed here.
fn turtlebot() -> Lab {
    let Folder(folder) = &Folder::new();
    let path = folder.join("chain.cfg");
    let text = "driver ( name \"kobuki\" provides [\"position2d:0\" \"laser:0\" \"power:0\" \"bumper:0\" \"actarray:0\"] )";
    std::fs::write(&path, text).unwrap();
    let arguments = ["up", "--only", "turtlebot,player", "--player-devices", path.to_str().unwrap()];
    Lab::start_with(DOMAIN, &arguments, &[])
}

#[test]
fn a_base_behind_our_server_is_the_same_behind_our_client() {
    let up = turtlebot();
    let _client = Lab::start_with(DOMAIN, &["player", "--server", &up.player.to_string()], &[]);
    let mut beside = Beside::new(DOMAIN);
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
        sleep(Duration::from_millis(10));
    }
    let mut twist = Twist::default();
    (twist.linear.x, twist.angular.z) = (0.1, 0.4);
    let start = now();
    while since(start) < Duration::from_secs(2) {
        publisher.publish(&twist).unwrap();
        sleep(Duration::from_millis(50));
    }
    let turns = |message: &Odometry| message.twist.twist.angular.z.abs();
    beside.find("it turns", &mut near, |message| turns(message) > 0.1);
    beside.find("it turns behind the client, too", &mut far, |message| turns(message) > 0.1);
    // No more commands are sent.
    beside.find("it stops", &mut near, |message| turns(message) < 1e-3);
    beside.find("it stops behind the client, too", &mut far, |message| turns(message) < 1e-3);
    sleep(Duration::from_millis(500));
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

/// By the server's stamps, each message of a sensor is found again.
#[test]
fn what_is_measured_is_the_same_behind_our_client() {
    let up = turtlebot();
    let stamps = ["-p", "player_client:server_time:=true"];
    let _client = Lab::start_with(DOMAIN, &["player", "--server", &up.player.to_string()], &stamps);
    let mut beside = Beside::new(DOMAIN);
    let (mut near, mut far) =
        (beside.subscribe::<LaserScan>("/scan"), beside.subscribe::<LaserScan>("/player/scan"));
    let [own, other] = pair(&beside, "a scan", [&mut near, &mut far], |scan| &scan.header);
    assert!((own.angle_min - other.angle_min).abs() < 1e-5 && own.ranges.len() > 100, "{}", own.ranges.len());
    assert!((own.angle_increment - other.angle_increment).abs() < 1e-6);
    assert_eq!(own.ranges.len(), other.ranges.len());
    for (own, other) in own.ranges.iter().zip(&other.ranges) {
        let is_same = (own - other).abs() < 1e-4 || (!own.is_finite() && !other.is_finite());
        assert!(is_same, "{own} {other}");
    }
    assert!(own.ranges.iter().filter(|range| range.is_finite()).count() > 50, "walls");
    drop((near, far));

    let names = ["/mobile_base/sensors/battery_state", "/player/battery_state"];
    let [mut near, mut far] = names.map(|name| beside.subscribe::<BatteryState>(name));
    let [own, other] = pair(&beside, "the battery", [&mut near, &mut far], |state| &state.header);
    assert!(own.voltage > 10.0 && (own.voltage - other.voltage).abs() < 1e-3, "{own:?} {other:?}");
    assert!((own.percentage - other.percentage).abs() < 1e-3, "{own:?} {other:?}");
    drop((near, far));

    let names = ["/joint_states", "/player/joint_states"];
    let [mut near, mut far] = names.map(|name| beside.subscribe::<JointState>(name));
    let [own, other] = pair(&beside, "the joints", [&mut near, &mut far], |state| &state.header);
    assert_eq!(other.position.len(), 5);
    for (joint, other) in (1..).zip(&other.position) {
        let name = format!("arm_{joint}_joint");
        let index = own.name.iter().position(|own| *own == name).unwrap();
        assert!((own.position[index] - other).abs() < 1e-5, "{name}: {own:?} {other:?}");
    }
}

#[test]
fn a_map_behind_our_server_is_the_same_behind_our_client() {
    let Folder(folder) = &Folder::new();
    let path = folder.join("chain_map.cfg");
    std::fs::write(&path, "driver ( name \"map\" provides [\"map:0\"] )").unwrap();
    let arguments = ["up", "--only", "neobotix,player", "--player-devices", path.to_str().unwrap()];
    let up = Lab::start_with(DOMAIN, &arguments, &[]);
    let _client = Lab::start_with(DOMAIN, &["player", "--server", &up.player.to_string()], &[]);
    let mut beside = Beside::new(DOMAIN);
    let [own, other] = ["/neobotix/map", "/player/map"].map(|name| {
        let mut map = beside.latched::<OccupancyGrid>(name);
        beside.find(name, &mut map, |map| map.data.contains(&100))
    });
    let size = |map: &OccupancyGrid| (map.info.width, map.info.height);
    assert_eq!(size(&own), size(&other));
    assert!((own.info.resolution - other.info.resolution).abs() < 1e-6);
    let (at, there) = (&own.info.origin.position, &other.info.origin.position);
    assert!((at.x - there.x).abs() < 1e-5 && (at.y - there.y).abs() < 1e-5, "{at:?} {there:?}");
    // Player has three kinds of cells.
    let kind = |cell: &i8| match cell {
        0..20 => 0,
        65.. => 100,
        _ => -1,
    };
    assert!(own.data.iter().map(kind).eq(other.data.iter().map(kind)));
}

/// PlatformCtrl's protocol, a platform, Player's protocol on both sides, and the base behind it.
#[test]
fn a_client_of_platform_ctrl_drives_a_robot_behind_player() {
    const READY: u8 = 0;
    const VELOCITY: i32 = 3;
    let up = turtlebot();
    let _client = Lab::start_with(DOMAIN, &["player", "--server", &up.player.to_string()], &[]);
    let Folder(folder) = &Folder::new();
    let data = format!("platform:data_folder:={}", folder.display());
    let arguments =
        ["platform", "--odom", "/player/odom", "--cmd-vel", "/player/cmd_vel", "--scan", "/player/scan"];
    let platform = Lab::start_with(DOMAIN, &arguments, &["-p", &data]);

    let client = &mut NeobotixClient::new(platform.neobotix[0]);
    let end = now() + TIME_LIMIT;
    while client.status().operation != READY {
        assert!(now() < end, "it is not initialized");
        client.order(&[CONNECT]);
        client.order(&[INIT]);
        sleep(Duration::from_millis(100));
    }
    client.order(&ints(SET_MODE, &[VELOCITY]));
    client.order(&[START]);
    client.until("its scan is that of the robot", |status| status.scan.len() > 100);
    let mut beside = Beside::new(DOMAIN);
    let mut odom = beside.subscribe::<Odometry>("/odom");
    let turned = |message: &Odometry| message.pose.pose.orientation.z.abs();
    let before: Odometry = beside.next("/odom", &mut odom);
    let end = now() + TIME_LIMIT;
    loop {
        // The right wheel ahead, the left wheel back, mm/s.
        client.order(&ints(MOVE_VEL_WHEEL, &[60, -60]));
        sleep(Duration::from_millis(100));
        while futures::FutureExt::now_or_never(futures::StreamExt::next(&mut odom)).is_some() {}
        if turned(&beside.next("/odom", &mut odom)) > turned(&before) + 0.1 {
            break;
        }
        assert!(now() < end, "the robot does not turn");
    }
    client.order(&[STOP]);
    beside.find("it stands", &mut odom, |message| message.twist.twist.angular.z.abs() < 1e-3);
}
