//! A Pioneer: handshake, watchdog, odometry whose positions begin again, sonars, faults of the line.

use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use super::operator::{Operator, STEP};
use crate::common::{sleep, until};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{BatteryState, Range};
use dragoman_ros::std_msgs::msg::{Bool, Int32, String as Text};

const TEXT: &str = include_str!("../../../../dragoman_protocol/machines/p2os.yaml");

fn operator(values: &[(&str, f64)]) -> Operator {
    let mut robot = Operator::new("p2os", TEXT, values);
    robot.diagnosed(|message| message == "running");
    robot
}

#[test]
fn it_is_connected_and_drives_on_a_circle() {
    let mut robot = operator(&[]);
    let mut name = robot.beside.latched::<Text>("/p2os/robot");
    let mut odometry = robot.beside.subscribe::<Odometry>("/p2os/odom");
    assert_eq!(robot.beside.next("the robot's name", &mut name).data, "Dragoman");
    assert_eq!((robot.value("phase"), robot.value("motors"), robot.value("sonars")), (4.0, 1.0, 1.0));
    // A quarter of a circle to the left, with a radius of 0.5 m.
    robot.drive_for(5, FRAC_PI_2 / 5.0 * 0.5, FRAC_PI_2 / 5.0);
    robot.drive(0.0, 0.0);
    sleep(Duration::from_secs(1));
    let mut odometry_now = robot.beside.subscribe::<Odometry>("/p2os/odom");
    let seen = robot.beside.next("odometry", &mut odometry_now);
    let (position, turn) = (&seen.pose.pose.position, &seen.pose.pose.orientation);
    assert!((position.x - 0.5).abs() < 0.03 && (position.y - 0.5).abs() < 0.03, "{position:?}");
    assert!((turn.z - (FRAC_PI_2 / 2.0).sin()).abs() < 0.03, "{turn:?}");
    assert_eq!((&*seen.header.frame_id, &*seen.child_frame_id), ("odom", "base_link"));
    let fast = robot.beside.find("motion", &mut odometry, |odom| odom.twist.twist.linear.x > 0.14);
    assert!(fast.twist.twist.linear.x < 0.17, "{:?}", fast.twist.twist);
    // To the right and back: signs are bytes of their own.
    robot.drive(-0.2, -0.5);
    sleep(STEP);
    robot.is_near("wanted_linear", -0.2);
    assert!((robot.value("wanted_angular") + 0.5).abs() < 0.01);
    robot.drive(5.0, 0.0);
    sleep(STEP);
    robot.is_near("wanted_linear", 1.2);
    sleep(7 * STEP);
    robot.is_near("wanted_linear", 0.0);
}

#[test]
fn a_position_that_begins_again_goes_on_in_ros() {
    // 0.2 m before the end of 15 bits: 32.568 is -0.2.
    let mut robot = operator(&[("x", 32.568)]);
    let mut odometry = robot.beside.subscribe::<Odometry>("/p2os/odom");
    let x = |odom: &Odometry| odom.pose.pose.position.x;
    let first = robot.beside.next("odometry", &mut odometry);
    assert!((x(&first) + 0.2).abs() < 0.01, "{first:?}");
    robot.drive_for(4, 0.2, 0.0);
    let mut last = x(&first);
    robot.beside.find("the way over the border", &mut odometry, |odom| x(odom) > 0.4);
    for _ in 0..5 {
        let next = x(&robot.beside.next("odometry", &mut odometry));
        assert!((next - last).abs() < 1.0);
        last = next;
    }
    assert!(robot.value("x") < 1.0);
}

#[test]
fn a_connection_of_before_is_closed_first_and_a_reset_robot_connected_again() {
    let robot = operator(&[("phase", 4.0), ("age", 9.0)]);
    let is_connected = || {
        sleep(STEP);
        (robot.value("phase"), robot.value("motors")) == (4.0, 1.0)
    };
    until("the handshake", is_connected);
    // Someone presses its reset button.
    robot.device.send("set phase 0");
    robot.device.send("set motors 0");
    until("another handshake", is_connected);
    // The heartbeat keeps the watchdog away.
    for _ in 0..20 {
        sleep(STEP);
        assert!(robot.value("age") < 0.7);
    }
}

#[test]
fn what_it_measures_is_published() {
    let mut robot = operator(&[]);
    let mut sonar = robot.beside.subscribe::<Range>("/p2os/sonar");
    let mut battery = robot.beside.subscribe::<BatteryState>("/p2os/battery_state");
    let mut motors = robot.beside.subscribe::<Int32>("/p2os/motor_state");
    let mut stall = robot.beside.subscribe::<Bool>("/p2os/stall");
    let seen = robot.beside.find("a sonar", &mut sonar, |range| range.header.frame_id == "sonar_3");
    assert!((seen.range - 2.0).abs() < 1e-3 && seen.radiation_type == 0, "{seen:?}");
    let seen = robot.beside.find("another", &mut sonar, |range| range.header.frame_id == "sonar_4");
    assert!((seen.range - 2.05).abs() < 1e-3, "{seen:?}");
    robot.set("ahead", 5.0);
    robot.beside.find("nothing ahead", &mut sonar, |range| range.range == f32::INFINITY);
    let state = robot.beside.next("the battery", &mut battery);
    assert!((state.voltage - 12.8).abs() < 1e-3, "{state:?}");
    robot.set("stall", 1.0);
    robot.beside.find("the stall", &mut stall, |stall| stall.data);
    robot.beside.find("motors on", &mut motors, |motors| motors.data == 1);
    assert!(robot.switch("set_motor_power", false));
    robot.beside.find("motors off", &mut motors, |motors| motors.data == 0);
    robot.beside.publish("/p2os/cmd_motor_state", &Int32 { data: 1 });
    robot.beside.find("motors on", &mut motors, |motors| motors.data == 1);
    robot.beside.publish("/p2os/cmd_motor_state", &Int32 { data: 2 });
    assert!(robot.diagnosed(|message| message.contains("refused")).contains("outside of 0 to 1"));
    assert!(robot.switch("switch_sonar", false));
    sleep(STEP);
    assert_eq!(robot.value("sonars"), 0.0);
}

#[test]
fn a_stop_silence_and_a_cut_line_stop_it() {
    let mut robot = operator(&[]);
    robot.drive(0.3, 0.2);
    sleep(STEP);
    robot.is_near("wanted_linear", 0.3);
    assert_eq!(robot.call("stop"), (true, "stopping the machine".to_owned()));
    assert_eq!((robot.value("wanted_linear"), robot.value("wanted_angular")), (0.0, 0.0));
    robot.drive(0.3, 0.2);
    sleep(STEP);
    robot.device.send("silence 3");
    robot.drive_for(2, 0.3, 0.2);
    robot.is_near("wanted_linear", 0.0);
    robot.diagnosed(|message| message == "running");
    sleep(Duration::from_secs(3));
    robot.device.send("garbage 300");
    robot.device.send("corrupt 3");
    robot.drive_for(1, 0.3, 0.0);
    robot.is_near("wanted_linear", 0.3);
    robot.device.send("cut 1");
    robot.diagnosed(|message| message.starts_with("no link"));
    robot.diagnosed(|message| message == "running");
    sleep(Duration::from_secs(3));
    robot.is_near("wanted_linear", 0.0);
    robot.drive_for(1, 0.3, 0.0);
    robot.is_near("wanted_linear", 0.3);
    assert_eq!(robot.lab.end().0, Ok(()));
    robot.is_near("wanted_linear", 0.0);
}
