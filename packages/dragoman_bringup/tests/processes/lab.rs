//! A whole lab in a process of its own, which is what these tests are about: signals, a port that is taken, the command line.
//! The last one shows that its arm is there, moves and stops.

use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;

use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::moveit_msgs::srv::GetPositionFK;
use futures::{FutureExt, StreamExt};

use crate::common::beside::Beside;
use crate::common::{ArmReply, Lab, distance, domain, roll_pitch_yaw, until};

const NOTHING: [f32; 7] = [0.0; 7];
/// Tool position at home, from table 2.1 of the Ranger thesis: y is the sum of a2, a3 and the tool minus d4, z that of
/// d1, a3 and tool.
const HOME: [f32; 3] = [0.0, 0.0201, 0.6671];

#[test]
fn signals_end_the_lab_without_an_error() {
    for signal in ["-INT", "-TERM"] {
        let mut lab = Lab::start();
        lab.client().position();
        lab.signal(signal);
        let mut status = None;
        until(signal, || {
            status = lab.child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(0), "{signal}");
    }
}

/// Files are in proportion to connections and participants, not to topics (patch 0047): the usual limit is 1,024.
#[test]
#[cfg(target_os = "linux")]
fn a_lab_needs_few_files() {
    let lab = Lab::start();
    let files = std::fs::read_dir(format!("/proc/{}/fd", lab.child.id())).unwrap().count();
    assert!(files < 200, "{files} files are open");
}

#[test]
fn a_taken_port_is_named_with_the_option_that_changes_it() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["--domain", &domain().to_string(), "--ros-args", "-p", &format!("arm31:port:={port}")])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains(&port.to_string()) && error.contains("--bind") && error.contains("arm31:port"),
        "{error}"
    );
    let holder = format!("with process id {}", std::process::id());
    assert!(error.contains(&holder), "{error}");
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    for (arguments, named) in [
        (vec!["up", "--robot", "puma"], "puma"),
        (vec!["up", "--config", "/none.yaml"], "/none.yaml"),
        (vec!["up", "--domain", "300"], "300"),
        (vec!["--ros-args", "-p", "arm:rate:=0.1"], "rate"),
        (vec!["arm31", "--controller", "nowhere"], "nowhere"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dragoman")).args(&arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(named), "{arguments:?}: {error}");
    }
}

/// Ctrl-Z and `fg`: the waits of all threads are interrupted, and all deadlines are missed.
#[test]
fn a_lab_that_was_stopped_for_a_while_goes_on() {
    let lab = Lab::start();
    let mut beside = Beside::new(lab.domain);
    let mut poses = beside.subscribe::<PoseStamped>("/ranger/pose");
    let client = lab.client();
    let mut look = || {
        while poses.next().now_or_never().is_some() {}
        let answer =
            beside.call::<GetPositionFK::Service>("/ranger/compute_fk", GetPositionFK::Request::default());
        (answer.error_code.val, beside.next("the pose", &mut poses).pose.position.z)
    };
    let before = look();
    for _ in 0..3 {
        lab.signal("-STOP");
        std::thread::sleep(Duration::from_secs(1));
        lab.signal("-CONT");
        // The joints' states count as too old until new ones have come.
        until("the lab goes on", || look() == before);
        assert!(distance(client.position(), HOME) < 1e-5);
    }
    let accepted =
        |letters: &str, values: [f32; 7]| matches!(client.ask(letters, values, 0), ArmReply::Values(..));
    assert!(accepted("CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    // Twenty centimetres down take longer than the test observes.
    let [x, y, z, ..] = client.ask("PS", NOTHING, 0).values();
    let [roll, pitch, yaw] = roll_pitch_yaw(client.ask("PS", NOTHING, 0).values());
    assert!(accepted("GT", [x, y, z - 0.2, roll, pitch, yaw, 0.0]));
    until("BG is accepted", || accepted("BG", NOTHING));
    until("it moves", || before.1 - look().1 > 0.005);
    assert!(accepted("ST", NOTHING));
    until("it stops", || look().1 == look().1);
    assert!(before.1 - look().1 < 0.15, "midway");
}
