//! The dashboard server of Universal Robots: power, brakes, programs, and what it refuses.

use super::Described;
use dragoman_ros::std_msgs::msg::{Bool, String as Text};

const TEXT: &str = include_str!("../../../../dragoman_protocol/machines/ur_dashboard.yaml");

fn done() -> (bool, String) {
    (true, String::new())
}

fn refused(reason: &str) -> (bool, String) {
    (false, reason.to_owned())
}

#[test]
fn an_arm_is_switched_on_and_its_programs_run() {
    let mut arm = Described::start("ur_dashboard", TEXT, None);
    let mut modes = arm.beside.subscribe::<Text>("/ur_dashboard/robot_mode");
    let mut programs = arm.beside.subscribe::<Text>("/ur_dashboard/program_state");
    let mut loaded = arm.beside.subscribe::<Text>("/ur_dashboard/loaded_program");
    arm.beside.find("the mode", &mut modes, |mode| mode.data == "POWER_OFF");
    assert_eq!(arm.call("play"), refused("failed to execute"));
    assert_eq!(arm.call("power_on"), done());
    arm.beside.find("power", &mut modes, |mode| mode.data == "IDLE");
    assert_eq!(arm.call("brake_release"), done());
    arm.beside.find("open brakes", &mut modes, |mode| mode.data == "RUNNING");
    arm.beside.publish("/ur_dashboard/load_program", &Text { data: "pick and place.urp".to_owned() });
    arm.beside.find("the program", &mut loaded, |program| program.data == "pick.urp");
    assert_eq!(arm.call("play"), done());
    arm.beside.find("a program that runs", &mut programs, |state| state.data == "PLAYING");
    assert_eq!(arm.call("pause"), done());
    arm.beside.find("a pause", &mut programs, |state| state.data == "PAUSED");
    assert_eq!(arm.call("play"), done());
    assert_eq!(arm.call("stop"), (true, "stopping the machine".to_owned()));
    arm.beside.find("its end", &mut programs, |state| state.data == "STOPPED");
    assert_eq!(arm.call("power_off"), done());
    arm.beside.find("no power", &mut modes, |mode| mode.data == "POWER_OFF");
    assert_eq!(arm.call("close_popup"), done());
    let mut versions = arm.beside.latched::<Text>("/ur_dashboard/software_version");
    let version = arm.beside.next("the version", &mut versions).data;
    assert_eq!(version, "5.12.2.1101534 (Mar 09 2022)");
}

#[test]
fn a_protective_stop_is_seen_and_unlocked_in_time() {
    let mut arm = Described::start("ur_dashboard", TEXT, None);
    let mut safety = arm.beside.subscribe::<Text>("/ur_dashboard/safety_status");
    let mut remote = arm.beside.subscribe::<Bool>("/ur_dashboard/remote_control");
    arm.beside.find("safety", &mut safety, |status| status.data == "NORMAL");
    arm.send("set safety 3");
    arm.send("set stopped_for 0");
    assert_eq!(arm.call("unlock_protective_stop"), refused("cannot unlock protective stop yet"));
    arm.beside.find("the stop", &mut safety, |status| status.data == "PROTECTIVE_STOP");
    assert_eq!(arm.call("brake_release"), refused("failed to execute"));
    arm.send("set stopped_for 6");
    assert_eq!(arm.call("unlock_protective_stop"), done());
    arm.send("set remote 0");
    arm.beside.find("local control", &mut remote, |remote| !remote.data);
    assert_eq!(arm.call("power_on"), refused("failed to execute"));
    arm.send("set remote 1");
    arm.beside.find("remote control", &mut remote, |remote| remote.data);
}

#[test]
fn silence_and_a_lost_connection_fail_calls() {
    let mut arm = Described::start("ur_dashboard", TEXT, None);
    arm.diagnosed(|message| message == "running");
    arm.send("silence 25");
    assert_eq!(arm.call("power_on"), refused("no answer to power_on within 10 s"));
    arm.diagnosed(|message| message == "the machine is silent");
    arm.diagnosed(|message| message == "running");
    arm.send("cut 5");
    arm.diagnosed(|message| message.starts_with("no link"));
    assert_eq!(arm.call("power_on"), refused("the machine is not connected"));
    arm.diagnosed(|message| message == "running");
    assert_eq!(arm.call("power_on"), done());
}
