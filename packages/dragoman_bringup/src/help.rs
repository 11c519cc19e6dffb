//! Further texts of `--help`: the commands in groups, and three examples of each.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use crate::command_line::Cli;

/// The commands in groups, in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Simulate", &["up", "world"]),
    ("Connect a machine", &["arm31", "apolo", "neobotix", "player", "base", "arm", "bridge", "platform"]),
    ("Operate", &["teleop", "station", "task", "console", "relay"]),
    ("Measure", &["calibrate", "evaluate", "latency"]),
    ("Files", &["record", "play", "info"]),
    ("Develop", &["device", "can"]),
];

/// Examples of a command, each with what it does.
type Examples = (&'static str, [(&'static str, &'static str); 3]);

const EXAMPLES: [Examples; 45] = [
    (
        "up",
        [
            ("dragoman up", "the whole lab; Ctrl-C ends it"),
            ("dragoman up --only ranger,console", "an arm and the web page"),
            ("dragoman up --instance 2", "a second lab on this computer"),
        ],
    ),
    (
        "arm31",
        [
            ("dragoman arm31 --controller 192.168.1.20", "a controller at its usual port, 5031"),
            ("dragoman arm31 --controller 192.168.1.20 --namespace /arm_b", "as /arm_b"),
            ("dragoman arm31 --controller 192.168.1.20 --robot ranger_mk1", "with its model"),
        ],
    ),
    (
        "bridge",
        [
            ("dragoman bridge rover.yaml --link /dev/ttyUSB0", "a machine on a serial port, as /rover"),
            ("dragoman bridge scanner.yaml --link 192.168.1.40", "one on the network, at its usual port"),
            ("dragoman bridge check rover.yaml", "what its description says, or what is wrong with it"),
        ],
    ),
    (
        "bridge check",
        [
            ("dragoman bridge check machine.yaml", "its messages, or what is wrong and where"),
            (
                "dragoman bridge check packages/dragoman_protocol/machines/create2.yaml",
                "one that comes with Dragoman",
            ),
            ("dragoman bridge check machines/gripper.yaml", "one in a folder"),
        ],
    ),
    (
        "bridge try",
        [
            ("dragoman bridge try machine.yaml 13 05 1d 02 19 0d 00 a3", "bytes from the machine"),
            ("dragoman bridge try machine.yaml --from client 89 ff 38 01 f4", "bytes to the machine"),
            ("dragoman bridge try scanner.yaml --text '\\x02sEA LMDscandata 1\\x03'", "characters"),
        ],
    ),
    (
        "bridge sniff",
        [
            (
                "dragoman bridge sniff rover.yaml capture.pcap",
                "a capture of tcpdump or Wireshark, both directions",
            ),
            ("dragoman bridge sniff rover.yaml --link /dev/ttyUSB1", "a serial line, live; sends nothing"),
            (
                "dragoman bridge sniff scanner.yaml --link 192.168.1.40 --through 2111",
                "between program and machine: the program connects to port 2111 here",
            ),
        ],
    ),
    (
        "bridge checksums",
        [
            ("dragoman bridge checksums", "all names, with polynomials and check values"),
            ("dragoman bridge checksums modbus", "those with this text in their name"),
            ("dragoman bridge checksums CRC-16/CCITT", "which ones are meant by a name that others use"),
        ],
    ),
    (
        "bridge new",
        [
            ("dragoman bridge new", "asks, and writes a file with the name of the protocol"),
            ("dragoman bridge new rover.yaml", "the file is called rover.yaml"),
            ("dragoman bridge new --yes rover.yaml", "without questions"),
        ],
    ),
    (
        "bridge import",
        [
            ("dragoman bridge import motor.dbc --machine Motor", "prints the description of the node Motor"),
            ("dragoman bridge import motor.dbc --machine Motor -o motor.yaml", "writes a file"),
            ("dragoman bridge import sensors.dbc -o sensors.yaml", "a file that names no senders"),
        ],
    ),
    (
        "bridge page",
        [
            ("dragoman bridge page rover.yaml", "prints the page, in Markdown"),
            ("dragoman bridge page rover.yaml -o rover.md", "writes a file"),
            ("dragoman bridge page machines/gripper.yaml -o docs/gripper.md", "with folders"),
        ],
    ),
    (
        "bridge header",
        [
            ("dragoman bridge header rover.yaml", "prints the header"),
            ("dragoman bridge header rover.yaml -o rover.h", "writes a file"),
            ("dragoman bridge header rover.yaml -o firmware/rover.h", "into a folder"),
        ],
    ),
    (
        "bridge python",
        [
            ("dragoman bridge python rover.yaml", "prints the module"),
            ("dragoman bridge python rover.yaml -o rover.py", "writes a file"),
            ("dragoman bridge python rover.yaml -o robot/rover.py", "into a folder"),
        ],
    ),
    (
        "bridge schema",
        [
            ("dragoman bridge schema", "prints the schema"),
            ("dragoman bridge schema -o dragoman.schema.json", "writes a file"),
            ("dragoman bridge schema -o .vscode/dragoman.schema.json", "into the folder of an editor"),
        ],
    ),
    (
        "apolo",
        [
            ("dragoman apolo --server 192.168.1.30", "Apolo at its usual port, 12000"),
            ("dragoman apolo --server 192.168.1.30:12001", "at another port"),
            ("dragoman apolo --server 127.0.0.1 --namespace /hall", "as /hall"),
        ],
    ),
    (
        "neobotix",
        [
            ("dragoman neobotix --server 192.168.1.40", "a platform at its usual port, 10000"),
            ("dragoman neobotix --server 192.168.1.40:10002", "at its second port"),
            ("dragoman neobotix --server 192.168.1.40 --namespace /mp500", "as /mp500"),
        ],
    ),
    (
        "player",
        [
            ("dragoman player --server 192.168.1.50", "a Player server at its usual port, 6665"),
            ("dragoman player --server 192.168.1.50 --pull", "data are asked for"),
            ("dragoman player --server 127.0.0.1 --namespace /pioneer", "as /pioneer"),
        ],
    ),
    (
        "base",
        [
            ("dragoman base --port /dev/kobuki", "a Kobuki on a serial port"),
            ("dragoman base --port /dev/kobuki --namespace /kobuki_b", "as /kobuki_b"),
            ("dragoman base --port /tmp/kobuki", "a simulated one: dragoman device kobuki --pty /tmp/kobuki"),
        ],
    ),
    (
        "arm",
        [
            ("dragoman arm --port /dev/ttyUSB0", "a WidowX on a serial port"),
            ("dragoman arm --port /dev/ttyUSB0 --namespace /widowx_b", "as /widowx_b"),
            ("dragoman arm --port /tmp/widowx", "a simulated one: dragoman device widowx --pty /tmp/widowx"),
        ],
    ),
    (
        "platform",
        [
            ("dragoman platform", "navigates the base of /cmd_vel, /odom and /scan"),
            ("dragoman platform --scan /front/scan", "with another laser"),
            ("dragoman platform --bind 0.0.0.0", "old programs of other computers may command it"),
        ],
    ),
    (
        "console",
        [
            ("dragoman console", "http://127.0.0.1:8080/"),
            ("dragoman console --listen 8090", "at another port"),
            ("dragoman console --listen 0.0.0.0", "for other computers, with a token"),
        ],
    ),
    (
        "relay",
        [
            ("dragoman relay", "programs command /real and /sim together"),
            ("dragoman relay --robots /one,/two,/three", "three robots"),
            ("dragoman relay --table my_relay.yaml", "with topics and services of your own"),
        ],
    ),
    (
        "teleop",
        [
            ("dragoman teleop", "drives the TurtleBot"),
            ("dragoman teleop --topic /neobotix/cmd_vel", "drives the platform"),
            ("dragoman teleop --max-linear 0.2", "slowly"),
        ],
    ),
    (
        "station",
        [
            ("dragoman station", "the arm /ranger"),
            ("dragoman station --udp 192.168.1.20", "a controller, without ROS"),
            ("dragoman station --joystick /dev/input/js0", "with a joystick"),
        ],
    ),
    (
        "latency",
        [
            ("dragoman latency", "the topics of the lab"),
            ("dragoman latency --topics /odom,/ranger/joint_states", "these topics"),
            ("dragoman latency --samples 1000 --plot delay.svg", "with a plot"),
        ],
    ),
    (
        "record",
        [
            ("dragoman record -o lab.mcap", "all topics but raw pictures, until Ctrl-C"),
            ("dragoman record -o arm.mcap /ranger/", "all topics of the arm"),
            ("dragoman record -o all.mcap --all", "raw pictures, too: about 100 MB per second"),
        ],
    ),
    (
        "play",
        [
            ("dragoman play lab.mcap", "all topics, as they were recorded"),
            ("dragoman play lab.mcap --prefix /playback", "beside a running lab"),
            ("dragoman play lab.mcap --rate 4 /odom", "one topic, four times as fast"),
        ],
    ),
    (
        "info",
        [
            ("dragoman info lab.mcap", "topics, times and sizes"),
            ("dragoman info recordings", "of a folder of files"),
            ("dragoman info lab_0.mcap", "of the first part of a recording"),
        ],
    ),
    (
        "calibrate plan",
        [
            ("dragoman calibrate plan -o poses.csv", "50 poses to measure"),
            ("dragoman calibrate plan --poses 30 -o poses.csv", "30 poses"),
            ("dragoman calibrate plan --measured done.csv -o more.csv", "poses that add to measured ones"),
        ],
    ),
    (
        "calibrate measure",
        [
            ("dragoman calibrate measure poses.csv -o measured.csv", "with the tracker of the lab"),
            ("dragoman calibrate measure poses.csv -o measured.csv --append", "go on after an interruption"),
            ("dragoman calibrate measure poses.csv -o measured.csv --speed 0.1", "slowly"),
        ],
    ),
    (
        "calibrate fit",
        [
            ("dragoman calibrate fit measured.csv", "the errors of the arm"),
            ("dragoman calibrate fit measured.csv -o my_arm.yaml", "as a settings file for --robot"),
            ("dragoman calibrate fit measured.csv --report fit.html", "with a report"),
        ],
    ),
    (
        "calibrate arcs",
        [
            ("dragoman calibrate arcs arcs.csv", "each joint's axis and encoder from arcs"),
            ("dragoman calibrate arcs arcs.csv -o my_arm.yaml", "as a settings file for --robot"),
            ("dragoman calibrate arcs arcs.csv --robot my_arm.yaml -o better.yaml", "from other settings"),
        ],
    ),
    (
        "evaluate run",
        [
            ("dragoman evaluate run results", "all tests, into the folder results"),
            ("dragoman evaluate run results --points 10", "with ten points"),
            ("dragoman evaluate run results --namespace /arm_b", "another arm"),
        ],
    ),
    (
        "evaluate report",
        [
            ("dragoman evaluate report results", "tables and plots again"),
            ("dragoman evaluate report results --force", "over those that exist"),
            ("dragoman evaluate report results --robot my_arm.yaml", "for a calibrated arm"),
        ],
    ),
    (
        "task check",
        [
            ("dragoman task check patrol.txt", "errors with line and column"),
            ("dragoman task check --roadmap hall.xml patrol.txt", "also of unknown stations"),
            ("dragoman task check -", "a program of standard input"),
        ],
    ),
    (
        "task convert",
        [
            ("dragoman task convert patrol.txt patrol.xml", "to PlatformCtrl's XML"),
            ("dragoman task convert patrol.xml patrol.txt", "to the text form"),
            ("dragoman task convert patrol.xml -", "to standard output"),
        ],
    ),
    (
        "task run",
        [
            ("dragoman task run patrol.txt", "on the platform /neobotix"),
            ("dragoman task run --init patrol.txt", "prepare the platform first"),
            ("dragoman task run --remote --server 192.168.1.40 patrol.txt", "by its socket, without ROS"),
        ],
    ),
    (
        "task step",
        [
            ("dragoman task step patrol.txt", "step by step, on the platform /neobotix"),
            ("dragoman task step --init patrol.txt", "prepare the platform first"),
            ("dragoman task step --server 192.168.1.40 patrol.txt", "by its socket, without ROS"),
        ],
    ),
    (
        "can monitor",
        [
            ("dragoman can monitor --can can0", "all frames, as they come"),
            ("dragoman can monitor --can can0 --summary", "the last frame of each identifier"),
            ("dragoman can monitor --replay candump.log", "a recording"),
        ],
    ),
    (
        "world import",
        [
            ("dragoman world import hall.xml", "a world of Apolo, to hall.yaml"),
            ("dragoman world import hall.xml -o hall.yaml --force", "over a file that exists"),
            ("dragoman world import hall.xml -o -", "to standard output"),
        ],
    ),
    (
        "device kobuki",
        [
            ("dragoman device kobuki --pty /tmp/kobuki", "then: dragoman base --port /tmp/kobuki"),
            ("dragoman device kobuki --pty /tmp/kobuki --battery 13.2", "with a nearly empty battery"),
            ("dragoman device kobuki --pty /tmp/kobuki --seed 7", "with other random numbers"),
        ],
    ),
    (
        "device widowx",
        [
            ("dragoman device widowx --pty /tmp/widowx", "then: dragoman arm --port /tmp/widowx"),
            ("dragoman device widowx --pty /tmp/widowx --limp", "its motors have no torque at first"),
            ("dragoman device widowx --pty /tmp/widowx --baud 57600", "at the speed of a real line"),
        ],
    ),
    (
        "device machine",
        [
            (
                "dragoman device machine rover.yaml --link /tmp/rover",
                "then: dragoman bridge rover.yaml --link /tmp/rover",
            ),
            ("dragoman device machine scanner.yaml", "one on the network, on this computer"),
            ("dragoman device machine motor.yaml --link vcan0", "one on a CAN bus"),
        ],
    ),
    (
        "device wheels",
        [
            ("dragoman device wheels --pty /tmp/wheels", "a controller of two wheels"),
            ("dragoman device wheels --pty /tmp/wheels --separation 0.4", "farther apart"),
            ("dragoman device wheels --pty /tmp/wheels --rate 50", "with 50 periods per second"),
        ],
    ),
    (
        "device whistles",
        [
            ("dragoman device whistles --can can0", "the drives of a Ranger arm"),
            ("dragoman device whistles --can vcan0", "on a virtual bus"),
            ("dragoman device whistles --can can0 --nodes 1,2", "two drives"),
        ],
    ),
    (
        "",
        [
            ("dragoman", "the simulated lab, with its web page at http://127.0.0.1:8080/; Ctrl-C ends it"),
            ("dragoman teleop", "drive its TurtleBot, in a second terminal"),
            (
                "dragoman up --ros-args -p arm31:port:=5032",
                "a parameter of a node, as in every ROS 2 program",
            ),
        ],
    ),
];

/// The command line with its help.
pub(crate) fn command() -> Command {
    let command = Cli::command()
        .override_usage("dragoman [OPTIONS] [COMMAND]")
        .help_template("{about-with-newline}\n{usage-heading} {usage}{after-help}");
    let after = format!(
        "{}\nWithout a command: up, whose options `dragoman up --help` explains. `dragoman COMMAND --help` has those of a command.\n\n{}",
        groups(&command).trim_start(),
        examples("").unwrap_or_default()
    );
    with_examples(command.after_help(after), "")
}

/// The groups as text.
fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "\n{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            // The first sentence says it.
            let about = about.split([':', ',']).next().unwrap_or_default();
            let _ = writeln!(text, "  {name:<10} {about}");
        }
    }
    text
}

/// Adds the examples to all commands below this one.
fn with_examples(mut command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |below| {
            let below = match examples(path.trim()) {
                Some(text) => below.after_help(text),
                None => below,
            };
            with_examples(below, &path)
        });
    }
    command
}

/// The examples of a command as text.
fn examples(path: &str) -> Option<String> {
    let (_, examples) = EXAMPLES.iter().find(|(of, _)| *of == path)?;
    let width = examples.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    let lines = examples.iter().map(|(command, meaning)| format!("  {command:<width$}  {meaning}"));
    Some(format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::*;

    #[test]
    fn every_command_has_its_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = Cli::command();
        let all: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(grouped.len(), all.len(), "a command is in two groups");
    }

    #[test]
    fn every_command_has_examples_and_they_are_right() {
        let mut commands = BTreeSet::from([String::new(), "bridge".to_owned()]);
        crate::command_line::tests::leaves(&Cli::command(), "", &mut commands);
        let with: BTreeSet<String> = EXAMPLES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(with, commands);
        for (path, examples) in EXAMPLES {
            for (example, _) in examples {
                let words = dragoman_ros::command_line::split(example.split_whitespace().map(str::to_owned));
                if let Err(error) = Cli::try_parse_from(words.0) {
                    panic!("{example}: {error}");
                }
                assert!(example.starts_with(format!("dragoman {path}").trim()), "{example}");
            }
        }
    }

    /// The commands in the blocks of a page: what stands behind `$ `, with continued lines.
    fn commands_of(page: &str) -> Vec<String> {
        let joined = page.replace("\\\n", " ");
        let lines = joined.lines().map(str::trim_start);
        lines.filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
    }

    /// All pages of the documentation, by their paths.
    fn pages() -> Vec<(std::path::PathBuf, String)> {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut pages = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
                let is_ours = !name.starts_with('.') && !["target", "node_modules"].contains(&name.as_str());
                if entry.file_type().unwrap().is_dir() && is_ours {
                    folders.push(path);
                } else if name.ends_with(".md") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    pages.push((path, text));
                }
            }
        }
        pages
    }

    #[test]
    fn the_commands_of_the_documentation_can_be_parsed() {
        let mut parsed = 0;
        for (path, page) in pages() {
            for command in commands_of(&page) {
                if !["dragoman", "cargo run --release"].iter().any(|own| command.starts_with(own)) {
                    continue;
                }
                let Some(words) = shlex::split(&command) else { panic!("{}: {command}", path.display()) };
                // What goes to other programs or files.
                let ends = |word: &String| ["|", ">", "<", "&", "&&", "2>&1"].contains(&word.as_str());
                let end = words.iter().position(ends).unwrap_or(words.len());
                let words = &words[..end];
                let own = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                    ["dragoman", ..] => &words[1..],
                    ["cargo", "run", "--release"] => &[],
                    ["cargo", "run", "--release", "--", ..] => &words[4..],
                    _ => continue,
                };
                let (own, _) = dragoman_ros::command_line::split(own.iter().cloned());
                let line = std::iter::once("dragoman".to_owned()).chain(own);
                match Cli::try_parse_from(line) {
                    Ok(_) => {}
                    Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {}
                    Err(error) => panic!("{}: {command}\n{error}", path.display()),
                }
                parsed += 1;
            }
        }
        assert!(parsed > 100, "{parsed}");
    }

    #[test]
    fn the_help_shows_groups_and_examples_and_not_the_options_of_another_command() {
        let root = command().render_long_help().to_string();
        for expected in ["Simulate:", "Connect a machine:", "  teleop     Drive a base", "Examples:"] {
            assert!(root.contains(expected), "{expected}: {root}");
        }
        assert!(!root.contains("--bridge-only"), "{root}");
        assert!(root.lines().count() < 60, "{root}");
        let mut command = command();
        let arm31 = command.find_subcommand_mut("arm31").unwrap().render_help().to_string();
        assert!(arm31.contains("Examples:") && arm31.contains("--controller"), "{arm31}");
        let fit = command.find_subcommand_mut("calibrate").unwrap().find_subcommand_mut("fit").unwrap();
        assert!(fit.render_help().to_string().contains("dragoman calibrate fit measured.csv"));
    }
}
