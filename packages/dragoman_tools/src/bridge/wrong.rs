//! Wrong sections `bridge` and `serve`: what `check` says of them.

use super::*;

const ROVER: &str = include_str!("../../../dragoman_protocol/machines/rover.yaml");

/// The error of a description, as `check` shows it.
fn error(text: &str) -> String {
    let checked = compile(text).and_then(|(codec, _)| appearance(&Arc::new(codec), text));
    checked.err().unwrap_or_else(|| "none".to_owned())
}

const WRONG: &[(&str, &str, &str)] = &[
    ("half_track: 0.15", "half_track: wide", ""),
    ("constants:", "constant:", ""),
    ("answer: 0.3", "answer: -1", ""),
    ("answer: 0.3", "answr: 0.3", ""),
    ("silence: 1 }", "silence: 100000 }", ""),
    ("stop: drive", "stop: halt", ""),
    ("  stop: drive\n", "", ""),
    ("stop: drive", "stop: odometry", ""),
    ("period: 0.5", "period: 0", ""),
    ("send: heartbeat", "send: heart_beat", ""),
    ("send: heartbeat", "send: drive", ""),
    ("{ send: heartbeat, period: 0.5 }", "{ send: heartbeat }", ""),
    ("to: fault", "to: faulty", ""),
    ("to: fault, from: odometry", "to: fault, from: odometri", ""),
    ("when: fault != 0", "when: falt != 0", ""),
    ("to: fault, from: odometry", "to: fault", ""),
    ("to: fault, from: odometry, when: fault != 0", "to: fault, from: odometry, after: 3", ""),
    ("when: fault != 0", "when: fault != motor", ""),
    ("when: fault != 0", "when: fault != 'moter'", ""),
    ("when: fault != 0", "when: fault !! 0", ""),
    ("name: fault, fault: true", "name: ready, fault: true", ""),
    ("next: [{ to: fault, from: odometry, when: fault != 0 }]", "next: []", ""),
    ("left: linear", "left: lineal", ""),
    ("left: linear", "lefty: linear", ""),
    ("limits: { linear: 0.5, angular: 1.5 }", "limits: { linear: 0.5 }", ""),
    ("limits: { linear: 0.5, angular: 1.5 }", "limits: { linear: 0.5, turn: 1.5 }", ""),
    ("limits: { linear: 0.5,", "limits: { linear: -0.5,", ""),
    ("in: ready", "in: redy", ""),
    ("send: drive\n    fields", "send: odometry\n    fields", ""),
    ("y: y, heading: heading }", "y: y }", ""),
    ("y: y, heading: heading }", "y: y, heading: yaw }", ""),
    ("odometry: { from: odometry", "odometry: { from: battery", ""),
    ("odometry: { from: odometry", "odometry: { from: drive", ""),
    ("from: odometry, pose: { x: x, y: y, heading: heading }", "from: odometry", ""),
    ("voltage: voltage }]", "voltage: volts }]", ""),
    ("battery: [{ from: battery, voltage: voltage }]", "battery: { from: battery, voltage: voltage }", ""),
    ("std_msgs/msg/String", "std_msgs/msg/Strin", ""),
    ("{ data: fault }", "{ dat: fault }", ""),
    ("topic: fault", "topic: fault state", ""),
    ("topic: fault", "topic: lamp", ""),
    ("{ data: fault }", "{ data: fault + 1 }", ""),
    ("level: data * 100", "level: value * 100", ""),
    ("level: data * 100", "level: data *", ""),
    ("level: [0, 100]", "level: [100, 0]", ""),
    ("limits: { level: [0, 100] }", "limits: { brightness: [0, 100] }", ""),
    ("limits: { level: [0, 100] }", "limits: { level: 100 }", ""),
    ("send: lamp", "send: lamb", ""),
    ("std_srvs/srv/Trigger", "std_srvs/srv/Triger", ""),
    ("when: result != 0", "when: reslt != 0", ""),
    ("reason: result", "reason: why", ""),
    ("send: clear", "send: heartbeat", ""),
    ("service: clear", "service: stop", ""),
    ("voltage: 12.6", "voltage: full", ""),
    ("follows: wanted_left", "follows: wanted", ""),
    ("value: left, follows", "value: lft, follows", ""),
    ("follows: wanted_left, time_constant: 0.1", "follows: wanted_left, time_constant: 0", ""),
    ("follows: wanted_left, time_constant: 0.1", "follows: wanted_left, rate: 1", ""),
    ("rate: (left + right) / 2", "rate: (left + right / 2", ""),
    ("range: [-3.1415, 3.1415]", "range: [3.1415, -3.1415]", ""),
    ("wraps: true", "wrap: true", ""),
    ("send: odometry, period: 0.1", "send: drive, period: 0.1", ""),
    ("fields: { x: x, y: y,", "fields: { x: x, z: y,", ""),
    ("receive: heartbeat", "receive: odometry", ""),
    ("receive: heartbeat", "receive: hartbeat", ""),
    ("set: { beats: beats + 1 }", "set: { beat: beats + 1 }", ""),
    ("set: { beats: beats + 1 }", "set: { beats: beat + 1 }", ""),
    ("answer: { voltage: voltage }", "answer: { volts: voltage }", ""),
    ("{ receive: lamp, set: { level: level } }", "{ receive: lamp, answer: { level: level } }", ""),
    ("answer: { result: 1 }", "answer: { result: 1 }, silent: true", ""),
    ("answer: { result: 1 }", "recorded: what", ""),
    ("answer: { result: 1 }", "answer: { result: 'busy' }", ""),
    ("when: \"fault == 2\"", "when: \"fault = 2\"", ""),
    ("when: \"fault == 2\"", "when: \"fault == 'motor'\"", ""),
];

#[test]
fn errors_of_the_sections_name_their_place_and_the_remedy() {
    assert_eq!(error(ROVER), "none");
    let mut others = Vec::new();
    for (right, wrong, expected) in WRONG {
        assert!(ROVER.contains(right), "{right}");
        let (_, sections) = ROVER.split_once("\nbridge:").unwrap();
        let at = ROVER.len() - sections.len() + sections.find(right).unwrap();
        let mut text = ROVER.to_owned();
        text.replace_range(at..at + right.len(), wrong);
        let found = error(&text);
        if found != *expected {
            others.push(format!("{wrong}\n    is: {found}\n    not: {expected}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}
