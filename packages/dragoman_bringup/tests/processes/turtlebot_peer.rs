//! The lab's TurtleBot 2 with WidowX, used over Cyclone DDS by the names of the TurtleBot thesis, table A.2: real, because
//! it is another implementation of DDS. `virtual_time/turtlebot.rs` tests rates and times; camera images: `camera.rs`.

#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::common::Lab;
use crate::common::peers::{Facts, Peer, Running};

const TIME_LIMIT: Duration = Duration::from_secs(120);
const JOINTS: [&str; 6] =
    ["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"];

/// The peer's output with a new lab; `None` without a peer.
fn facts(arguments: &[&str]) -> Option<Facts> {
    let peer = Peer::Cyclone.caller()?;
    let lab = Lab::start();
    let mut command = std::process::Command::new(peer.get_program());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/cyclone_turtlebot.py");
    command.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
    Some(Running::start(command, lab.domain, arguments).facts(TIME_LIMIT))
}

#[track_caller]
fn assert_within(facts: &Facts, name: &str, least: f64, most: f64) {
    let value = facts.number(name);
    assert!((least..=most).contains(&value), "{name} is {value}, not {least} to {most}: {facts:#?}");
}

#[test]
fn what_it_measures_arrives() {
    let Some(facts) = facts(&["watch", "4"]) else { return };
    assert_eq!(facts.text("odom"), "odom base_footprint");
    facts.contains("joint_states", &["wheel_left_joint", "wheel_right_joint"]);
    facts.contains("joint_states", &JOINTS);
    assert!(facts.text("core").starts_with("bumper 0 cliff 0 drop 0 battery 1"), "{facts:#?}");
    assert!(facts.text("imu_data").contains("norm 1.0000"), "{facts:#?}");
    assert!(
        facts.text("scan").starts_with("laser_link beams 684 from -2.0944 to 2.0944 range 0.060 to 4.095")
    );
    assert!(facts.text("pose").starts_with("map -1.000 -4.000"), "{facts:#?}");
    assert!(facts.text("version_info").ends_with("udid 98434864 959859523 1126263088"), "{facts:#?}");
    assert_eq!(facts.text("controller_info"), "type 0 100.000 0.100 2.000");
    assert!(facts.text("robot_description").contains(" links"), "{facts:#?}");
    facts.contains("tf_static", &["laser_link", "camera_link", "arm_base_link"]);
    facts.contains("children", &["base_footprint", "wheel_left_link", "arm_1_link", "arm_5_link"]);
    assert_eq!(facts.text("children_of_two"), "", "one publisher per transform");
    facts.show(
        "rates, Hz",
        &["odom_hz", "joint_states_hz", "core_hz", "imu_data_raw_hz", "scan_hz", "pose_hz"],
    );
}

#[test]
fn its_base_follows_commands() {
    let Some(facts) = facts(&["base"]) else { return };
    // How far depends on the peer's clock.
    assert_within(&facts, "driven_m", 0.05, f64::INFINITY);
    assert!((facts.number("driven_by_odometry_m") - facts.number("driven_m")).abs() < 0.02, "{facts:#?}");
    assert_within(&facts, "driven_after_one_command_m", 0.01, f64::INFINITY);
    assert_eq!(facts.number("speed_after_silence"), 0.0);
    assert_within(&facts, "after_reset_m", 0.0, 0.001);
    assert_within(&facts, "driven_with_motors_off_m", 0.0, 0.001);
    assert_within(&facts, "driven_with_motors_on_m", 0.01, f64::INFINITY);
    assert_eq!(facts.text("led1"), "0.0 1.0 0.0");
    assert_eq!(facts.text("led2"), "1.0 0.0 0.0");
    facts.accepted("press");
    assert_eq!(facts.text("button_events"), "1:1 1:0");
    facts.refused("press_nothing", "9");
    assert!(facts.number("last_cmd_time") > 0.0, "{facts:#?}");
}

#[test]
fn its_arm_follows_commands() {
    let Some(facts) = facts(&["arm"]) else { return };
    let start = [0.785, 0.0, -0.785, -0.785, 0.0, 0.0];
    for (joint, position) in JOINTS.iter().zip(start) {
        assert_within(&facts, &format!("{joint}_at_start"), position - 0.05, position + 0.05);
        for so in ["moves", "after_relax", "enabled"] {
            assert_eq!(facts.text(&format!("{joint}_{so}")), "True", "{facts:#?}");
        }
        assert_eq!(facts.text(&format!("{joint}_disabled")), "False", "{facts:#?}");
        // Without power, friction holds all joints except the two that carry the most.
        let falls = ["arm_2_joint", "arm_3_joint"].contains(joint);
        let (least, most) = if falls { (0.1, 2.0) } else { (0.0, 0.1) };
        assert_within(&facts, &format!("{joint}_moved_disabled"), least, most);
    }
    assert_within(&facts, "nonsense_moved", 0.0, 0.02);
}

#[test]
fn the_simulator_shows_what_programs_print() {
    let Some(facts) = facts(&["simulator"]) else { return };
    assert_eq!(facts.text("status_bar"), "Program: a test");
    assert!(facts.text("printed").contains("X: 0.2"), "{facts:#?}");
    assert!(!facts.text("hidden").contains("X: 0.2"), "{facts:#?}");
    assert!(facts.text("shown").contains("X: 0.2"), "{facts:#?}");
    assert!(!facts.text("cleared").contains("X: 0.2"), "{facts:#?}");
}
