//! Clients of the protocol see what the original shows them: failed motions, ultrasonic sensors, messages of programs;
//! and drive omnidirectional platforms.

use std::time::Duration;

use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;

use super::Site;
use crate::common::apolo::ApoloClient;
use crate::common::beside::Beside;
use crate::common::neobotix::{
    CONNECT, INIT, MOVE_TO_STATION, MOVE_VEL_WHEEL, NeobotixClient, SET_MODE, START, STOP, ints, queue, texts,
};
use crate::common::{Folder, Lab};
use crate::host::{now, sleep};

const READY: u8 = 0;
const RUNNING: u8 = 1;
const NO_PATH: i32 = 2;

/// From the start into a motion mode, started.
#[track_caller]
pub(super) fn begin(client: &mut NeobotixClient, mode: i32) {
    let end = now() + Duration::from_secs(60);
    while client.status().operation != READY {
        assert!(now() < end, "it is not initialized");
        client.order(&[CONNECT]);
        client.order(&[INIT]);
    }
    client.order(&ints(SET_MODE, &[mode]));
    client.order(&[START]);
    assert_eq!(client.status().operation, RUNNING);
}

/// PlatformCtrl guide, 4.3: a new move command ends the old motion at once.
#[test]
fn a_station_that_does_not_exist_stops_the_platform() {
    let mut site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    begin(client, 4);
    client.until("it knows where it is", |status| !status.is_lost);
    let [x, y, ..] = site.truth();
    client.order(&texts(MOVE_TO_STATION, &["middle"]));
    client.until("it drives", |status| status.velocity[0] > 200);
    client.order(&texts(MOVE_TO_STATION, &["nowhere"]));
    let status = client.status();
    assert!(!status.is_target_reached && status.planner == NO_PATH, "{status:?}");
    client.until("it stands", |status| status.velocity == [0, 0]);
    assert!(site.stands());
    let status = client.status();
    assert!(
        !status.is_target_reached && status.planner == NO_PATH && status.operation == RUNNING,
        "{status:?}"
    );
    // To the station where it already is, then to an unknown one: the last reached target is not the new one.
    let [angle, ..] = [-90_000];
    let goal = [x, y].map(|place| (place * 1000.0) as i32);
    client.order(&ints(21, &[goal[0], goal[1], angle]));
    client.until("it is there", |status| status.is_target_reached);
    client.order(&texts(MOVE_TO_STATION, &["nowhere"]));
    let status = client.status();
    assert!(!status.is_target_reached && status.planner == NO_PATH, "{status:?}");
}

/// PlatformCtrl guide, 6.4: 16 INTs in mm; 6.5: `log` and `userevent` of programs.
#[test]
fn ultrasonic_sensors_never_read_contact_and_programs_send_messages_and_receive_events() {
    let site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    assert_eq!(client.status().ultrasonic, [10_000; 16]);
    begin(client, 0);
    client.order(&ints(5, &[0xffff]));
    // It faces away from the wall behind it and the one to its left, 1.2 m away; ahead is nothing for 3 m.
    let status =
        client.until("the sensors measure", |status| status.ultrasonic.iter().all(|mm| *mm < 10_000));
    assert!(status.ultrasonic.iter().all(|mm| (100..=3000).contains(mm)), "{status:?}");
    assert!((status.ultrasonic[4] - 1200).abs() < 50 && status.ultrasonic[0] == 3000, "{status:?}");

    let program = "<program version=\"1.0\"><task name=\"t\" version=\"1.0\">\
        <log type=\"info\" message=\"waiting\"/><wait><userevent id=\"debug2\"/></wait>\
        <log type=\"warning\" message=\"raised\"/></task></program>";
    client.order(&[STOP]);
    client.order(&texts(40, &[program]));
    client.order(&ints(SET_MODE, &[5]));
    client.order(&[START]);
    let messages = |client: &mut NeobotixClient| queue(client.ask(&[50]));
    let mut found = Vec::new();
    let end = now() + Duration::from_secs(60);
    while !found.iter().any(|line| line == "info: waiting") {
        assert!(now() < end, "{found:?}");
        found.extend(messages(client));
    }
    assert!(!found.iter().any(|line| line == "warning: raised"), "{found:?}");
    while !found.iter().any(|line| line == "warning: raised") {
        assert!(now() < end, "{found:?}");
        // CMD_DEBUG2 is the user event "debug2".
        client.order(&[52]);
        found.extend(messages(client));
    }
    assert_eq!(found.iter().filter(|line| *line == "info: waiting").count(), 1, "{found:?}");
}

/// PlatformCtrl guide, 4.1: holonomic platforms. Wheels as of Neobotix' MPO-500.
#[test]
fn a_platform_with_mecanum_wheels_moves_sideways() {
    let Folder(folder) = &Folder::new();
    let world = folder.join("omni.yaml");
    std::fs::write(
        &world,
        "worlds:
- name: Hall
  bodies: [{name: floor, shapes: [{box: [40, 40, 1], xyz: [0, 0, -0.5]}]}]
  wheeled_robots:
  - name: neobotix_platform
    body: [{box: [0.9, 0.6, 0.3], xyz: [0, 0, 0.2]}]
    supports: [[0.25, 0.27], [0.25, -0.27], [-0.25, 0.27], [-0.25, -0.27]]
    wheel_radius: 0.127
    mecanum: {length: 0.5, width: 0.548}
  lasers: [{name: laser, on: neobotix_platform, xyz: [0.4, 0, 0.25], model: lms100}]
",
    )
    .unwrap();
    let data = format!("platform:data_folder:={}", folder.display());
    let world = world.display().to_string();
    let up = ["up", "--only", "apolo,neobotix", "--world", &world];
    let lab = Lab::start_with(0, &up, &["-p", &data, "-p", "platform:kinematics:=mecanum"]);
    let mut world = ApoloClient::new(lab.apolo);
    let mut truth = || -> [f64; 4] { world.values(b'g', "neobotix_platform").try_into().unwrap() };
    let client = &mut NeobotixClient::new(lab.neobotix[0]);
    begin(client, 3);
    let beside = &mut Beside::new(lab.domain);
    let mut odometries = beside.subscribe::<Odometry>("/neobotix/odom");
    let start = truth();
    let end = now() + Duration::from_secs(60);
    // The third INT: 0.2 m/s to the left.
    while truth()[1] - start[1] < 0.5 {
        assert!(now() < end, "{:?}", truth());
        client.order(&ints(24, &[0, 0, 200]));
        sleep(Duration::from_millis(200));
    }
    let [x, _, _, heading] = truth();
    assert!((x - start[0]).abs() < 0.02 && (heading - start[3]).abs() < 0.02, "{start:?} {:?}", truth());
    let odometry = beside.find("sideways odometry", &mut odometries, |odometry: &Odometry| {
        odometry.pose.pose.position.y > 0.4 && odometry.twist.twist.linear.y > 0.1
    });
    assert!(odometry.pose.pose.position.x.abs() < 0.02, "{odometry:?}");
    // From ROS: `cmd_vel` to the right.
    let back = truth()[1];
    while back - truth()[1] < 0.3 {
        assert!(now() < end, "{:?}", truth());
        let mut twist = Twist::default();
        twist.linear.y = -0.2;
        beside.publish("/neobotix/cmd_vel", &twist);
        sleep(Duration::from_millis(100));
    }
    // The guide's commands move it as before.
    let before = truth();
    while truth()[0] - before[0] < 0.3 {
        assert!(now() < end, "{:?}", truth());
        client.order(&ints(MOVE_VEL_WHEEL, &[200, 200]));
        sleep(Duration::from_millis(200));
    }
}
