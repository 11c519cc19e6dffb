//! Wrong sections `bridge` and `serve`: what `check` says of them.

use super::*;

const ROVER: &str = include_str!("../../../dragoman_protocol/machines/rover.yaml");

/// The error of a description, as `check` shows it.
fn error(text: &str) -> String {
    let checked = compile(text).and_then(|(codec, _)| appearance(&Arc::new(codec), text));
    checked.err().unwrap_or_else(|| "none".to_owned())
}

const WRONG: &[(&str, &str, &str)] = &[
    (
        "half_track: 0.15",
        "half_track: wide",
        "line 52, column 28: bridge.constants.half_track: found the string \"wide\", expected a number, or a mapping with value",
    ),
    (
        "constants:",
        "constant:",
        "line 52, column 3: bridge: the unknown key 'constant'; did you mean 'constants'?",
    ),
    (
        "answer: 0.3",
        "answer: -1",
        "line 53: rover: bridge: timing: answer: -1 s is not between 0.001 and 86400 s",
    ),
    (
        "answer: 0.3",
        "answr: 0.3",
        "line 53, column 13: bridge.timing: the unknown key 'answr'; did you mean 'answer'?",
    ),
    (
        "silence: 1 }",
        "silence: 100000 }",
        "line 53: rover: bridge: timing: silence: 100000 s is not between 0.01 and 86400 s",
    ),
    (
        "stop: drive",
        "stop: halt",
        "line 54: rover: bridge: stop: there is no message halt; known: heartbeat, drive, odometry, battery, clear, lamp",
    ),
    (
        "  stop: drive\n",
        "",
        "line 60: rover: bridge: cmd_vel: it moves the machine: bridge needs stop, the message that stops it",
    ),
    (
        "stop: drive",
        "stop: odometry",
        "line 54: rover: bridge: stop: odometry is what the machine sends, not what is sent to it",
    ),
    (
        "period: 0.5",
        "period: 0",
        "line 56: rover: bridge: every: send heartbeat: period: 0 s is not between 0.001 and 86400 s",
    ),
    (
        "send: heartbeat",
        "send: heart_beat",
        "line 56: rover: bridge: every: send heart_beat: there is no message heart_beat; did you mean 'heartbeat'?",
    ),
    (
        "send: heartbeat",
        "send: drive",
        "line 56: rover: bridge: every: send drive: drive moves the machine: only cmd_vel, subscribe and services do",
    ),
    (
        "{ send: heartbeat, period: 0.5 }",
        "{ send: heartbeat }",
        "line 56, column 7: bridge.every[0]: missing key `period`",
    ),
    (
        "to: fault",
        "to: faulty",
        "line 59: rover: bridge: states: ready: to faulty: there is no state faulty; did you mean 'fault'?",
    ),
    (
        "to: fault, from: odometry",
        "to: fault, from: odometri",
        "line 59: rover: bridge: states: ready: to fault: there is no message odometri; did you mean 'odometry'?",
    ),
    (
        "when: fault != 0",
        "when: falt != 0",
        "line 59: rover: bridge: states: ready: to fault: when: there is no field falt; did you mean 'fault'?",
    ),
    (
        "to: fault, from: odometry",
        "to: fault",
        "line 59: rover: bridge: states: ready: to fault: needs one of from, the message that leads there, after, a time, and silent",
    ),
    (
        "to: fault, from: odometry, when: fault != 0",
        "to: fault, from: odometry, after: 3",
        "line 59: rover: bridge: states: ready: to fault: needs one of from, the message that leads there, after, a time, and silent",
    ),
    (
        "when: fault != 0",
        "when: fault != motor",
        "line 59: rover: bridge: states: ready: to fault: when: there is no field motor; the name of a value is in quotes: fault == 'motor'",
    ),
    (
        "when: fault != 0",
        "when: fault != 'moter'",
        "line 59: rover: bridge: states: ready: to fault: when: \"fault != 'moter'\": column 10: no value of fault is called 'moter'; did you mean 'motor'?",
    ),
    (
        "when: fault != 0",
        "when: fault !! 0",
        "line 59: rover: bridge: states: ready: to fault: when: 'fault !! 0': column 7: expected an operator or the end; not is written == 0",
    ),
    (
        "name: fault, fault: true",
        "name: ready, fault: true",
        "line 59: rover: bridge: states: ready: is there twice",
    ),
    (
        "next: [{ to: fault, from: odometry, when: fault != 0 }]",
        "next: []",
        "line 60: rover: bridge: states: fault: no change leads to this state",
    ),
    (
        "left: linear",
        "left: lineal",
        "line 63: rover: bridge: cmd_vel: left: there is no velocity lineal; did you mean 'linear'?",
    ),
    (
        "left: linear",
        "lefty: linear",
        "line 61: rover: bridge: cmd_vel: there is no field lefty; did you mean 'left'?",
    ),
    (
        "limits: { linear: 0.5, angular: 1.5 }",
        "limits: { linear: 0.5 }",
        "line 61: rover: bridge: cmd_vel: it moves the machine: limits need a maximum of angular",
    ),
    (
        "limits: { linear: 0.5, angular: 1.5 }",
        "limits: { linear: 0.5, turn: 1.5 }",
        "line 64: rover: bridge: cmd_vel: limits: there is no velocity turn; known: linear, lateral, angular",
    ),
    (
        "limits: { linear: 0.5,",
        "limits: { linear: -0.5,",
        "line 64: rover: bridge: cmd_vel: limits: linear: -0.5 is not a maximum: it must be 0 or more",
    ),
    (
        "in: ready",
        "in: redy",
        "line 65: rover: bridge: cmd_vel: in: there is no state redy; did you mean 'ready'?",
    ),
    (
        "send: drive\n    fields",
        "send: odometry\n    fields",
        "line 61: rover: bridge: cmd_vel: odometry is what the machine sends, not what is sent to it",
    ),
    ("y: y, heading: heading }", "y: y }", "line 66, column 37: bridge.odometry.pose: missing key `heading`"),
    (
        "y: y, heading: heading }",
        "y: y, heading: yaw }",
        "line 66: rover: bridge: odometry: heading: there is no field yaw; known: x, y, heading, fault",
    ),
    (
        "odometry: { from: odometry",
        "odometry: { from: battery",
        "line 66: rover: bridge: odometry: x: there is no field x; known: voltage",
    ),
    (
        "odometry: { from: odometry",
        "odometry: { from: drive",
        "line 66: rover: bridge: odometry: from: nothing answers drive: it is only sent to the machine",
    ),
    (
        "from: odometry, pose: { x: x, y: y, heading: heading }",
        "from: odometry",
        "line 66: rover: bridge: odometry: needs either pose or differential",
    ),
    (
        "voltage: voltage }]",
        "voltage: volts }]",
        "line 67: rover: bridge: battery: voltage: there is no field volts; known: voltage",
    ),
    (
        "battery: [{ from: battery, voltage: voltage }]",
        "battery: { from: battery, voltage: voltage }",
        "line 67, column 12: bridge.battery: found a mapping, expected a list, as in [a, b]",
    ),
    (
        "std_msgs/msg/String",
        "std_msgs/msg/Strin",
        "line 69: rover: bridge: publish: topic fault: type std_msgs/msg/Strin is unknown: it is neither built in nor installed below AMENT_PREFIX_PATH",
    ),
    (
        "{ data: fault }",
        "{ dat: fault }",
        "line 69: rover: bridge: publish: topic fault: std_msgs/msg/String has no field dat; did you mean 'data'?",
    ),
    (
        "topic: fault",
        "topic: fault state",
        "line 69: rover: bridge: publish: topic fault state: 'fault state' is not a name: letters, digits, _ and / between them",
    ),
    (
        "topic: fault",
        "topic: lamp",
        "line 69: rover: bridge: topic lamp: two entries have this topic; each needs a name of its own",
    ),
    (
        "level: data * 100",
        "level: value * 100",
        "line 74: rover: bridge: subscribe: topic lamp: level: std_msgs/msg/Float32 has no field value; known: data",
    ),
    (
        "level: data * 100",
        "level: data *",
        "line 74: rover: bridge: subscribe: topic lamp: level: 'data *': column 7: expected a number or a field",
    ),
    (
        "level: [0, 100]",
        "level: [100, 0]",
        "line 75: rover: bridge: subscribe: topic lamp: limits: level: [100, 0] is not a range: the lowest value comes first",
    ),
    (
        "limits: { level: [0, 100] }",
        "limits: { brightness: [0, 100] }",
        "line 75: rover: bridge: subscribe: topic lamp: limits: brightness is not one of the fields that are set; known: level",
    ),
    (
        "limits: { level: [0, 100] }",
        "limits: { level: 100 }",
        "line 75, column 24: bridge.subscribe[0].limits.level: found the integer `100`, expected two values, as in [0, 1]",
    ),
    (
        "send: lamp",
        "send: lamb",
        "line 71: rover: bridge: subscribe: topic lamp: there is no message lamb; did you mean 'lamp'?",
    ),
    (
        "std_srvs/srv/Trigger",
        "std_srvs/srv/Triger",
        "line 77: rover: bridge: services: service clear: type std_srvs/srv/Triger is unknown: it is neither built in nor installed below AMENT_PREFIX_PATH; did you mean 'std_srvs/srv/Trigger'?",
    ),
    (
        "when: result != 0",
        "when: reslt != 0",
        "line 80: rover: bridge: services: service clear: fails: when: there is no field reslt; did you mean 'result'?",
    ),
    (
        "reason: result",
        "reason: why",
        "line 80: rover: bridge: services: service clear: fails: reason: there is no field why; known: result",
    ),
    (
        "send: clear",
        "send: heartbeat",
        "line 77: rover: bridge: services: service clear: nothing answers heartbeat: response and fails have no fields",
    ),
    (
        "service: clear",
        "service: stop",
        "line 77: rover: bridge: services: service stop: this name belongs to the bridge itself",
    ),
    (
        "voltage: 12.6",
        "voltage: full",
        "line 83, column 107: serve.state.voltage: found the string \"full\", expected a number",
    ),
    (
        "follows: wanted_left",
        "follows: wanted",
        "line 85: rover: serve: changes: value left: there is no value wanted; known: beats, fault, heading, left, level, right, voltage, wanted_left, wanted_right, x, y",
    ),
    (
        "value: left, follows",
        "value: lft, follows",
        "line 85: rover: serve: changes: value lft: there is no value lft; did you mean 'left'?",
    ),
    (
        "follows: wanted_left, time_constant: 0.1",
        "follows: wanted_left, time_constant: 0",
        "line 85: rover: serve: changes: value left: 0 s is not between 0.001 and 86400 s",
    ),
    (
        "follows: wanted_left, time_constant: 0.1",
        "follows: wanted_left, rate: 1",
        "line 85: rover: serve: changes: value left: needs either follows with time_constant, or rate",
    ),
    (
        "rate: (left + right) / 2",
        "rate: (left + right / 2",
        "line 87: rover: serve: changes: value x: '(left + right / 2': column 18: expected )",
    ),
    (
        "range: [-3.1415, 3.1415]",
        "range: [3.1415, -3.1415]",
        "line 88: rover: serve: changes: value heading: range: [3.1415, -3.1415] is not a range: the lowest value comes first",
    ),
    (
        "wraps: true",
        "wrap: true",
        "line 88, column 79: serve.changes[3]: the unknown key 'wrap'; did you mean 'wraps'?",
    ),
    (
        "send: odometry, period: 0.1",
        "send: drive, period: 0.1",
        "line 90: rover: serve: every: send drive: drive is not what the machine sends: it has no from: server",
    ),
    (
        "fields: { x: x, y: y,",
        "fields: { x: x, z: y,",
        "line 90: rover: serve: every: send odometry: there is no field z; known: x, y, heading, fault",
    ),
    (
        "receive: heartbeat",
        "receive: odometry",
        "line 92: rover: serve: on: receive odometry: this is what the machine sends: it never receives it",
    ),
    (
        "receive: heartbeat",
        "receive: hartbeat",
        "line 92: rover: serve: on: receive hartbeat: there is no message hartbeat; did you mean 'heartbeat'?",
    ),
    (
        "set: { beats: beats + 1 }",
        "set: { beat: beats + 1 }",
        "line 92: rover: serve: on: receive heartbeat: there is no value beat; did you mean 'beats'?",
    ),
    (
        "set: { beats: beats + 1 }",
        "set: { beats: beat + 1 }",
        "line 92: rover: serve: on: receive heartbeat: set: beats: beat is neither a value of state nor a field of the message; did you mean 'beats'?",
    ),
    (
        "answer: { voltage: voltage }",
        "answer: { volts: voltage }",
        "line 94: rover: serve: on: receive battery: answer: there is no field volts; known: voltage",
    ),
    (
        "{ receive: lamp, set: { level: level } }",
        "{ receive: lamp, answer: { level: level } }",
        "line 97: rover: serve: on: receive lamp: nothing answers this message",
    ),
    (
        "answer: { result: 1 }",
        "answer: { result: 1 }, silent: true",
        "line 95: rover: serve: on: receive clear: silent: nothing is answered, so there is neither answer nor recorded",
    ),
    (
        "answer: { result: 1 }",
        "recorded: what",
        "line 95: rover: serve: on: receive clear: recorded: 'what' is not bytes such as '0d ff 01'",
    ),
    (
        "answer: { result: 1 }",
        "answer: { result: 'busy' }",
        "line 95: rover: serve: on: receive clear: answer: result: busy is neither a value of state nor a field of the message; known: beats, fault, heading, left, level, right, voltage, wanted_left, wanted_right, x, y",
    ),
    (
        "when: \"fault == 2\"",
        "when: \"fault = 2\"",
        "line 95: rover: serve: on: receive clear: when: 'fault = 2': column 7: expected an operator or the end; equal is written ==",
    ),
    (
        "when: \"fault == 2\"",
        "when: \"fault == 'motor'\"",
        "line 95: rover: serve: on: receive clear: when: \"fault == 'motor'\": column 10: fault is a value of state: only fields of messages have names for their values",
    ),
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
