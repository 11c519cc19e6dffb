//! A Create 2: stream, odometry of encoders that overflow, modes, faults of the line.

use std::time::Duration;

use super::operator::{Operator, STEP};
use crate::common::{sleep, until};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::std_msgs::msg::{Bool, Empty, Float32, String as Text, UInt8, UInt16MultiArray};
use futures::{FutureExt, StreamExt};

const TEXT: &str = include_str!("../../../../dragoman_protocol/machines/create2.yaml");

fn operator() -> Operator {
    let mut robot = Operator::new("create2", TEXT, &[]);
    robot.diagnosed(|message| message == "running");
    robot
}

#[test]
fn it_drives_while_its_counters_overflow() {
    let mut robot = operator();
    let mut odometry = robot.beside.subscribe::<Odometry>("/create2/odom");
    // 675 counts a second: the left counter, at 65000, begins again.
    robot.drive_for(3, 0.3, 0.0);
    let driven = robot.beside.find("motion", &mut odometry, |odom| odom.pose.pose.position.x > 0.8);
    assert!((driven.twist.twist.linear.x - 0.3).abs() < 0.01, "{:?}", driven.twist.twist);
    assert!(driven.pose.pose.position.x < 0.95 && driven.pose.pose.position.y.abs() < 0.01);
    assert!(robot.value("left_count") < 5000.0);
    // Backwards over the border, and a turn about a wheel.
    robot.drive_for(3, -0.3, 0.0);
    robot.beside.find("the way back", &mut odometry, |odom| odom.pose.pose.position.x < 0.1);
    robot.drive(0.1175, 1.0);
    sleep(STEP);
    robot.is_near("wanted_left", 0.0);
    robot.is_near("wanted_right", 0.235);
    // Faster than a wheel can be.
    robot.drive(2.0, 3.0);
    sleep(STEP);
    robot.is_near("wanted_right", 0.5);
    robot.is_near("wanted_left", 0.5 - 3.0 * 0.1175);
    // The commander is gone.
    sleep(7 * STEP);
    assert_eq!((robot.value("wanted_left"), robot.value("wanted_right")), (0.0, 0.0));
    robot.drive(0.3, 0.0);
    sleep(STEP);
    robot.is_near("wanted_left", 0.3);
    assert!(robot.call("stop").0);
    robot.is_near("wanted_left", 0.0);
}

#[test]
fn what_it_measures_is_published_ten_times_a_second() {
    let mut robot = operator();
    let mut battery = robot.beside.subscribe::<BatteryState>("/create2/battery_state");
    let mut voltage = robot.beside.subscribe::<Float32>("/create2/battery/voltage");
    let mut charging = robot.beside.subscribe::<Text>("/create2/battery/charging_state");
    let mut bumper = robot.beside.subscribe::<Bool>("/create2/bumper/left");
    let mut lights = robot.beside.subscribe::<UInt16MultiArray>("/create2/bumper/lights");
    let mut cliff = robot.beside.subscribe::<Bool>("/create2/cliff/front_left");
    let mut button = robot.beside.subscribe::<Empty>("/create2/clean_button");
    let mut wheels = robot.beside.subscribe::<Empty>("/create2/wheeldrop");
    let state = robot.beside.next("the battery", &mut battery);
    assert!(
        (state.voltage - 16.6).abs() < 0.01 && (state.percentage - 2.1 / 2.696).abs() < 0.01,
        "{state:?}"
    );
    assert_eq!(state.power_supply_status, 2);
    let first = robot.beside.next("the voltage", &mut voltage);
    assert!((first.data - 16.6).abs() < 0.01);
    robot.beside.find("no bumper", &mut bumper, |pressed| !pressed.data);
    robot.set("bump_left", 1.0);
    robot.beside.find("the bumper", &mut bumper, |pressed| pressed.data);
    robot.beside.find("its light", &mut lights, |lights| lights.data == [12, 30, 2005, 5, 30, 12]);
    robot.set("cliff", 1.0);
    robot.beside.find("the cliff", &mut cliff, |seen| seen.data);
    robot.set("charging_state", 2.0);
    robot.beside.find("charging", &mut charging, |state| state.data == "full_charging");
    let charged = |state: &BatteryState| state.power_supply_status == 1 && state.current > 1.0;
    robot.beside.find("charging", &mut battery, charged);
    assert!(button.next().now_or_never().is_none() && wheels.next().now_or_never().is_none());
    // A button that is pressed for a second, with a stream of 66 messages a second.
    robot.device.send("set button 1");
    sleep(Duration::from_secs(1));
    robot.set("button", 0.0);
    let presses = std::iter::from_fn(|| button.next().now_or_never()).count();
    assert!((9..=11).contains(&presses), "{presses}");
    robot.set("wheel_drop", 1.0);
    robot.beside.next("a wheel drop", &mut wheels);
}

#[test]
fn its_mode_decides_whether_it_drives() {
    let mut robot = operator();
    let mut mode = robot.beside.subscribe::<Text>("/create2/mode");
    robot.beside.find("safe mode", &mut mode, |mode| mode.data == "safe");
    robot.drive_for(1, 0.2, 0.0);
    // A cliff: the robot is passive, and stays it while commands go on.
    robot.device.send("set mode 1");
    robot.drive_for(2, 0.2, 0.0);
    assert_eq!(robot.value("mode"), 1.0);
    robot.drive(0.2, 0.0);
    let refused = robot.diagnosed(|message| message.contains("refused"));
    assert!(refused.contains("the machine is in state passive, not in ready"), "{refused}");
    assert_eq!(robot.call("safe"), (true, String::new()));
    robot.beside.find("safe mode", &mut mode, |mode| mode.data == "safe");
    sleep(STEP);
    robot.drive(0.2, 0.0);
    sleep(STEP);
    robot.is_near("wanted_left", 0.2);
    assert!(robot.call("dock").0);
    sleep(STEP);
    assert_eq!((robot.value("mode"), robot.value("docks")), (1.0, 1.0));
    assert!(robot.call("full").0);
    robot.beside.find("full mode", &mut mode, |mode| mode.data == "full");
    robot.beside.publish("/create2/play_song", &UInt8 { data: 3 });
    assert_eq!(robot.value("song"), 3.0);
    robot.beside.publish("/create2/play_song", &UInt8 { data: 5 });
    assert_eq!(robot.value("song"), 3.0);
}

#[test]
fn a_robot_that_was_off_is_started_again_and_its_pose_goes_on() {
    let mut robot = operator();
    robot.drive_for(3, 0.3, 0.0);
    sleep(Duration::from_secs(1));
    let x = |odom: &Odometry| odom.pose.pose.position.x;
    let mut odometry = robot.beside.subscribe::<Odometry>("/create2/odom");
    let before = x(&robot.beside.next("odometry", &mut odometry));
    assert!(before > 0.8, "{before}");
    // The battery was out: no stream, counters at 0.
    for value in ["streams 0", "mode 0", "left_count 0", "right_count 0", "wanted_left 0", "wanted_right 0"] {
        robot.device.send(&format!("set {value}"));
    }
    until("the start", || {
        sleep(STEP);
        (robot.value("mode"), robot.value("streams")) == (2.0, 1.0)
    });
    sleep(STEP);
    let mut odometry = robot.beside.subscribe::<Odometry>("/create2/odom");
    let after = x(&robot.beside.next("odometry", &mut odometry));
    assert!((after - before).abs() < 1e-3, "{before} and {after}");
    robot.drive(0.3, 0.0);
    sleep(STEP);
    robot.is_near("wanted_left", 0.3);
}

#[test]
fn silence_and_a_cut_line_stop_it() {
    let mut robot = operator();
    robot.drive(0.3, 0.0);
    sleep(STEP);
    robot.is_near("wanted_left", 0.3);
    robot.device.send("silence 5");
    robot.drive_for(2, 0.3, 0.0);
    robot.diagnosed(|message| message.contains("silent"));
    robot.diagnosed(|message| message == "running");
    robot.device.send("garbage 500");
    robot.device.send("corrupt 3");
    robot.diagnosed(|message| message == "running");
    robot.device.send("cut 1");
    robot.diagnosed(|message| message.starts_with("no link"));
    robot.diagnosed(|message| message == "running");
    // What was moved before is stopped on the new line.
    robot.is_near("wanted_left", 0.0);
    robot.drive(0.3, 0.0);
    sleep(STEP);
    robot.is_near("wanted_left", 0.3);
    assert_eq!(robot.lab.end().0, Ok(()));
    robot.is_near("wanted_left", 0.0);
}
