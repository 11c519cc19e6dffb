//! A receiver of satellite navigation: position, velocity, time, no reception, faults of the line.

use super::Described;
use dragoman_ros::geometry_msgs::msg::TwistStamped;
use dragoman_ros::sensor_msgs::msg::{NavSatFix, TimeReference};
use dragoman_ros::std_msgs::msg::UInt8;

const TEXT: &str = include_str!("../../../../dragoman_protocol/machines/nmea0183.yaml");
const PORT: &str = "/dev/gps";

/// 30 November 2026, noon, UTC.
const NOON: i32 = 1_796_040_000;

#[test]
fn positions_velocities_and_times_are_published() {
    let mut receiver = Described::start("nmea0183", TEXT, Some(PORT));
    let mut fixes = receiver.beside.subscribe::<NavSatFix>("/nmea0183/fix");
    let mut velocities = receiver.beside.subscribe::<TwistStamped>("/nmea0183/vel");
    let mut times = receiver.beside.subscribe::<TimeReference>("/nmea0183/time_reference");
    let mut satellites = receiver.beside.subscribe::<UInt8>("/nmea0183/satellites");
    let fix = receiver.beside.next("a position", &mut fixes);
    assert_eq!((&*fix.header.frame_id, fix.status.status, fix.status.service), ("gps", 0, 1));
    assert!((fix.latitude - 40.44).abs() < 1e-5 && (fix.longitude + 3.689).abs() < 1e-3, "{fix:?}");
    // Above the ellipsoid.
    assert!((fix.altitude - 701.0).abs() < 1e-9, "{}", fix.altitude);
    let [east, north, up] = [0, 4, 8].map(|at| fix.position_covariance[at]);
    assert!((east - 23.04).abs() < 1e-9 && (north - east).abs() < 1e-9 && (up - 368.64).abs() < 1e-6);
    assert_eq!((fix.position_covariance[1], fix.position_covariance_type), (0.0, 1));
    // One metre a second to the east; the sentence has tenths of knots.
    let velocity = receiver.beside.next("a velocity", &mut velocities);
    assert!((velocity.twist.linear.x - 1.0).abs() < 0.03, "{:?}", velocity.twist.linear);
    assert!(velocity.twist.linear.y.abs() < 1e-9);
    let time = receiver.beside.next("a time", &mut times);
    assert!((NOON..NOON + 60).contains(&time.time_ref.sec), "{:?}", time.time_ref);
    assert_eq!(time.source, "gps");
    assert_eq!(receiver.beside.next("satellites", &mut satellites).data, 8);
    let further = |later: &NavSatFix| later.longitude > fix.longitude + 2e-5;
    receiver.beside.find("a motion", &mut fixes, further);
    // The other hemisphere, and better positions.
    receiver.send("set latitude -33.5");
    receiver.send("set quality 4");
    receiver.send("set date 290224");
    let fix = receiver.beside.find("the south", &mut fixes, |fix| fix.latitude < 0.0);
    assert!((fix.latitude + 33.5).abs() < 1e-5, "{}", fix.latitude);
    assert_eq!(fix.status.status, 2);
    assert!((fix.position_covariance[0] - 0.024 * 0.024).abs() < 1e-9);
    // 29 February 2024, noon.
    let leap = 1_709_208_000..1_709_208_060;
    receiver.beside.find("a leap day", &mut times, |time| leap.contains(&time.time_ref.sec));
}

#[test]
fn without_reception_there_is_no_position() {
    let mut receiver = Described::start("nmea0183", TEXT, Some(PORT));
    receiver.send("set quality 0");
    let mut fixes = receiver.beside.subscribe::<NavSatFix>("/nmea0183/fix");
    let fix = receiver.beside.find("no position", &mut fixes, |fix| fix.status.status == -1);
    assert!(fix.latitude.is_nan() && fix.longitude.is_nan() && fix.altitude.is_nan(), "{fix:?}");
    assert_eq!(fix.position_covariance_type, 0);
    let mut velocities = receiver.beside.subscribe::<TwistStamped>("/nmea0183/vel");
    let mut times = receiver.beside.subscribe::<TimeReference>("/nmea0183/time_reference");
    crate::common::sleep(std::time::Duration::from_secs(2));
    receiver.send("set quality 1");
    receiver.beside.find("a position", &mut fixes, |fix| fix.status.status == 0);
    // What was published meanwhile would have come first.
    let velocity = receiver.beside.next("a velocity", &mut velocities);
    let time = receiver.beside.next("a time", &mut times);
    let since = f64::from(velocity.header.stamp.sec - fix.header.stamp.sec);
    assert!(since >= 1.0 && time.header.stamp.sec - fix.header.stamp.sec >= 1, "{since}");
}

#[test]
fn silence_a_cut_line_and_wrong_sentences_are_noticed() {
    let mut receiver = Described::start("nmea0183", TEXT, Some(PORT));
    receiver.diagnosed(|message| message == "running");
    receiver.send("silence 6");
    assert_eq!(receiver.diagnosed(|message| message.contains("silent")), "the machine is silent");
    receiver.diagnosed(|message| message == "running");
    receiver.send("corrupt 2");
    receiver.send("garbage 200");
    receiver.diagnosed(|message| message.contains("no message"));
    receiver.diagnosed(|message| message == "running");
    receiver.send("cut 2");
    receiver.diagnosed(|message| message.starts_with("no link"));
    receiver.diagnosed(|message| message == "running");
    let mut fixes = receiver.beside.subscribe::<NavSatFix>("/nmea0183/fix");
    receiver.beside.next("a position", &mut fixes);
}
