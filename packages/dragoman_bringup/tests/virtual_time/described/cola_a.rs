//! A laser scanner of SICK that speaks CoLa A.

use std::time::Duration;

use super::Described;
use crate::common::sleep;
use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::LaserScan;
use futures::{FutureExt, StreamExt};

const TEXT: &str = include_str!("../../../../dragoman_protocol/machines/cola_a.yaml");

#[test]
fn scans_are_started_and_published() {
    let mut scanner = Described::start("cola_a", TEXT, None);
    let scans = scanner.beside.node.subscribe::<LaserScan>("/cola_a/scan", QosProfile::sensor_data());
    let mut scans = scans.unwrap().boxed();
    let scan = scanner.beside.next("a scan", &mut scans);
    assert_eq!(&*scan.header.frame_id, "laser");
    // From 15 degrees to the right to 15 degrees to the left.
    assert!((scan.angle_min + 15_f32.to_radians()).abs() < 1e-5, "{}", scan.angle_min);
    assert!((scan.angle_max - 15_f32.to_radians()).abs() < 1e-5, "{}", scan.angle_max);
    assert!((scan.angle_increment - 5_f32.to_radians()).abs() < 1e-5);
    assert!((scan.scan_time - 1.0 / 15.0).abs() < 1e-5, "{}", scan.scan_time);
    assert_eq!((scan.ranges.len(), scan.intensities.len()), (7, 7));
    // A wall 2 m ahead; nothing beside it is no measurement.
    for (range, expected) in scan.ranges[1..6].iter().zip([2.030, 2.007, 2.0, 2.007, 2.030]) {
        assert!((range - expected).abs() < 1e-5, "{:?}", scan.ranges);
    }
    assert!(scan.ranges[0].is_nan() && scan.ranges[6].is_nan(), "{:?}", scan.ranges);
    assert_eq!(scan.intensities[4..], [254.0, 254.0, 0.0]);
    scanner.send("set wall 0.0495");
    let near = |scan: &LaserScan| scan.ranges[3] == f32::NEG_INFINITY;
    scanner.beside.find("a near wall", &mut scans, near);
    // Off, and on again.
    assert_eq!(scanner.switch("stream", false), (true, String::new()));
    sleep(Duration::from_millis(200));
    while scans.next().now_or_never().is_some() {}
    scanner.diagnosed(|message| message == "the machine is silent");
    assert!(scans.next().now_or_never().is_none());
    assert_eq!(scanner.switch("stream", true), (true, String::new()));
    scanner.beside.next("a scan", &mut scans);
}

#[test]
fn a_scanner_that_was_switched_off_is_started_again() {
    let mut scanner = Described::start("cola_a", TEXT, None);
    scanner.diagnosed(|message| message == "running");
    scanner.send("silence 4");
    scanner.diagnosed(|message| message == "the machine is silent");
    scanner.diagnosed(|message| message == "running");
    scanner.send("corrupt 1");
    scanner.diagnosed(|message| message.contains("no message"));
    scanner.send("cut 5");
    scanner.diagnosed(|message| message.starts_with("no link"));
    scanner.diagnosed(|message| message == "running");
    let scans = scanner.beside.node.subscribe::<LaserScan>("/cola_a/scan", QosProfile::sensor_data());
    scanner.beside.next("a scan", &mut scans.unwrap().boxed());
}

#[test]
fn a_wrong_password_is_refused() {
    let mut scanner =
        Described::start("cola_a", &TEXT.replacen("password: 0xF4724744", "password: 1", 1), None);
    // The machine has the other one, and does not measure.
    scanner.diagnosed(|message| message == "the machine is silent");
    scanner.send("show measures");
    assert_eq!(scanner.device.prints("measures"), "measures 0");
}
