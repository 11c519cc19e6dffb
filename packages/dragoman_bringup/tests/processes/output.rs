//! Commands whose output is closed, for example by `head`: they end as at SIGINT, and print nothing more. Only
//! processes have a standard output that can be closed.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::domain;
use crate::common::platform::Operator;
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::JointState;

/// Exit status of a command whose output was closed.
const CLOSED: i32 = 141;
/// Time for the end, on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(arguments).env_remove("ROS_DOMAIN_ID").env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
    // Commands that read from the standard input must not find its end.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The end of a command whose output is closed: its exit status and its errors.
#[track_caller]
fn end(mut child: Child) -> (Option<i32>, String) {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > TIME_LIMIT {
            let _ = child.kill();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    (child.wait().unwrap().code(), errors)
}

#[test]
fn commands_end_quietly_when_their_output_is_closed() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let program = format!("{root}/launch/config/neobotix/program.xml");
    let pty = std::env::temp_dir().join(format!("dragoman_output_{}", std::process::id()));
    let domain = domain().to_string();
    let lab = [
        "up",
        "--only",
        "neobotix",
        "--console",
        "off",
        "--foxglove",
        "off",
        "--log",
        "error",
        "--domain",
        &domain,
        "--ros-args",
        "-p",
        "neobotix:ports:=[0,0]",
    ];
    let commands: [&[&str]; 4] = [
        &["task", "check", &program],
        &["task", "convert", &program, "-"],
        &["device", "kobuki", "--pty", pty.to_str().unwrap()],
        &lab,
    ];
    for command in commands {
        let mut child = start(command);
        drop(child.stdout.take());
        let (status, errors) = end(child);
        assert_eq!((status, errors.as_str()), (Some(CLOSED), ""), "{command:?}");
    }
    assert!(!pty.exists(), "the device has removed its link");
}

/// The platform is stopped as at SIGINT.
#[test]
fn a_program_whose_output_is_closed_stops_the_platform() {
    let folder = std::env::temp_dir().join(format!("dragoman_output_task_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("program.txt");
    let text = "program\n  task t\n    label again\n    wait > delay 500\n    log on\n    wait > delay 500\n    goto again\n";
    std::fs::write(&file, text).unwrap();
    let mut operator = Operator::new("output");
    let domain = operator.lab.domain.to_string();
    for mode in [
        &["task", "run", "--init", "--domain", &domain][..],
        &["task", "run", "--remote", "--domain", &domain],
    ] {
        let mut child = start(&[mode, &[file.to_str().unwrap()]].concat());
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        // Its first step, or what came of it, if the view begins late.
        assert!(line.contains(" s  t: step ") || line.ends_with(" s  on\n"), "{line}");
        operator.is(PlatformStatus::MOVING);
        drop(output);
        let (status, errors) = end(child);
        assert_eq!((status, errors.as_str()), (Some(CLOSED), ""), "{mode:?}");
        operator.is(PlatformStatus::READY);
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// The lines to its simulated devices are closed first, which must not be reported as a fault.
#[test]
fn a_lab_that_is_ended_warns_of_nothing() {
    let number = domain();
    let domain = number.to_string();
    let quiet = ["--console", "off", "--foxglove", "off", "--log", "warn", "--domain", &domain];
    let mut child = start(&[&["up", "--only", "turtlebot"], &quiet[..]].concat());
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(output.any(|line| line == "ready"));
    // The base and the servos are connected some time after.
    let mut beside = Beside::new(number);
    let mut odometry = beside.subscribe::<Odometry>("/odom");
    let mut joints = beside.subscribe::<JointState>("/joint_states");
    beside.next("the base's odometry", &mut odometry);
    beside.find("the joints of the arm", &mut joints, |joints| {
        joints.name.iter().any(|name| name == "arm_1_joint")
    });
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(output.any(|line| line == "stopping"));
    let (status, errors) = end(child);
    assert_eq!(status, Some(0), "{errors}");
    for word in ["not responding", "closed on request", "entering error processing"] {
        assert!(!errors.contains(word), "{errors}");
    }
}
