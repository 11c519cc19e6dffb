//! Exit statuses: a command that has not reached its goal does not end with 0. The table is that of
//! docs/commands.md; a unit test compares the commands in it with the command line.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Folder, Lab, sleep};

/// How a command is kept from its goal.
#[derive(Clone, Copy)]
enum Try {
    /// It cannot start.
    Start,
    /// It is stopped before its end.
    Stop,
    /// As a process, without ROS or before it.
    Process,
}
use Try::{Process, Start, Stop};

/// A row of the table: the command, how it is kept from its goal, its arguments, a part of the reason that it gives. In
/// arguments `@` is the folder of the test.
type EndingRow = (&'static str, Try, &'static [&'static str], &'static str);

const ROWS: &[EndingRow] = &[
    ("up", Start, &["--world", "labb"], "there is no world 'labb'"),
    ("up --fast", Process, &["--script", "@/none.yaml"], "none.yaml"),
    ("arm31", Start, &["--controller", "127.0.0.1:"], "--controller 127.0.0.1:"),
    ("apolo", Start, &["--server", "127.0.0.1:"], "--server 127.0.0.1:"),
    ("base", Start, &[], "no serial port"),
    ("arm", Start, &[], "no serial port"),
    ("neobotix", Start, &["--server", "127.0.0.1:"], "--server 127.0.0.1:"),
    ("player", Start, &["--server", "127.0.0.1:"], "--server 127.0.0.1:"),
    ("bridge", Start, &["@/rover.yaml"], "where is the machine?"),
    ("platform", Start, &["--namespace", "/two words"], "two words"),
    ("console", Start, &["--listen", "nowhere"], "'nowhere' is not ADDRESS:PORT"),
    ("relay", Start, &["--table", "@/none.yaml"], "none.yaml"),
    ("latency", Stop, &["--topics", "odom", "--samples", "3000"], "stopped before all samples were taken"),
    ("record", Stop, &["-o", "@/other.mcap", "/odom", "/nobody"], "not published: /nobody"),
    ("play", Stop, &["@/run.mcap", "--rate", "0.01"], "stopped before the end of the recording"),
    ("calibrate measure", Stop, &["@/poses.csv", "-o", "@/m.csv"], "stopped before the last pose"),
    ("evaluate run", Stop, &["@/run"], "stopped before the last test"),
    ("info", Process, &["@/none.mcap"], "none.mcap"),
    ("teleop", Process, &[], "standard input is not a terminal"),
    ("station", Process, &[], "is not a terminal"),
    ("calibrate plan", Process, &["--region", "1"], "--region needs six numbers"),
    ("calibrate fit", Process, &["@/none.csv"], "none.csv"),
    ("calibrate arcs", Process, &["@/none.csv"], "none.csv"),
    ("evaluate report", Process, &["@"], "has neither static.csv nor"),
    ("task check", Process, &["@/program.xml"], "program.xml"),
    ("task convert", Process, &["@/program.xml", "-"], "program.xml"),
    ("task run", Process, &["@/program.xml"], "program.xml"),
    ("task step", Process, &["@/program.xml"], "program.xml"),
    ("can monitor", Process, &["--replay", "@/empty.log"], "has no frames to show"),
    ("bridge check", Process, &["@/program.xml"], "program.xml"),
    ("bridge try", Process, &["@/machine.yaml", "00"], "1 bytes are not a message"),
    ("bridge sniff", Process, &["@/machine.yaml", "@/none.pcap"], "none.pcap"),
    ("bridge checksums", Process, &["CRC-16/CCITT"], "is the name of several"),
    ("bridge new", Process, &["@/machine.yaml"], "it is not overwritten"),
    ("bridge import", Process, &["@/program.xml"], "program.xml: line 1: "),
    ("bridge page", Process, &["@/program.xml"], "program.xml"),
    ("bridge header", Process, &["@/program.xml"], "program.xml"),
    ("bridge python", Process, &["@/program.xml"], "program.xml"),
    ("bridge schema", Process, &["-o", "@/none/schema.json"], "schema.json"),
    ("world import", Process, &["@/none.xml"], "none.xml"),
    // A kernel without CAN gives another reason.
    ("device whistles", Process, &["--can", "none0"], "dragoman: "),
    ("device kobuki", Process, &["--pty", "@/empty.log"], "empty.log"),
    ("device widowx", Process, &["--pty", "@/empty.log"], "empty.log"),
    ("device wheels", Process, &["--pty", "@/empty.log"], "empty.log"),
    ("device machine", Process, &["@/rover.yaml", "--link", "@/empty.log"], "empty.log"),
];

/// The commands in the first column of the table, without those of `dragoman_apps`.
fn documented() -> BTreeSet<&'static str> {
    let page = include_str!("../../../../docs/commands.md");
    let table = page.split("## What an exit status of 0 means").nth(1).expect("the chapter");
    let rows = table.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
    let commands = rows.flat_map(|row| row.split('|').next().unwrap().split(','));
    let commands = commands.map(|name| name.trim().trim_matches('`'));
    commands.filter(|name| !["carry", "navigate"].contains(name)).collect()
}

#[test]
fn a_command_that_has_not_reached_its_goal_does_not_end_with_0() {
    assert_eq!(documented(), ROWS.iter().map(|(name, ..)| *name).collect::<BTreeSet<_>>());
    let folder = Folder::new();
    folder.write("empty.log", "");
    folder.write("program.xml", "nonsense");
    folder.write("machine.yaml", include_str!("../../../dragoman_protocol/machines/create2.yaml"));
    folder.write("rover.yaml", include_str!("../../../dragoman_protocol/machines/rover.yaml"));
    let poses = "joint_1,joint_2,joint_3,joint_4,joint_5,joint_6\n1.9,0.02,1.55,0.01,1.56,0.01\n";
    folder.write("poses.csv", poses);
    let _lab = Lab::only("ranger,turtlebot");
    let recorder = Lab::start_with(0, &["record", "-o", &folder.path("run.mcap"), "/odom"], &[]);
    sleep(Duration::from_secs(3));
    assert_eq!(recorder.end().0, Ok(()));
    let mut wrong = Vec::new();
    for (name, how, arguments, reason) in ROWS {
        let arguments = arguments.iter().map(|word| word.replace('@', folder.0.to_str().unwrap()));
        let words: Vec<String> = name.split(' ').map(str::to_owned).chain(arguments).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = match how {
            Start => Lab::try_start(1, &[], 0, &words, &[]).map(|_| ()),
            Stop => {
                let tool = Lab::start_with(0, &words, &[]);
                sleep(Duration::from_secs(2));
                tool.end().0
            }
            Process => end_of_process(&words),
        };
        match ended {
            Err(given) if given.contains(reason) => {}
            ended => wrong.push(format!("{name}: {ended:?}, and not: {reason}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `Err` with its standard error if its exit status is 1.
fn end_of_process(words: &[&str]) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST").stdin(Stdio::null());
    let output = command.args(words).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(told),
        status => Err(format!("status {status:?}")),
    }
}
