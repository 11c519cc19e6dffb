//! The command line: the commands and their options.

use clap::{Parser, Subcommand};
use dragoman_tools::bridge::BridgeCommand;
use dragoman_tools::info::InfoOptions;
use dragoman_tools::latency::LatencyOptions;
use dragoman_tools::play::PlayOptions;
use dragoman_tools::record::RecordOptions;
use dragoman_tools::station::StationOptions;
use dragoman_tools::{can, device, teleop};

use crate::commands::{
    apolo, arm, arm31, base, calibrate, console, evaluate, machine, neobotix, platform, player, relay, task,
    up, world,
};
use crate::program::WithCommon;

/// Connects robots and programs that only support their old wire protocols to ROS 2.
#[derive(Parser)]
#[command(name = "dragoman", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) up: WithCommon<up::UpOptions>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Start the simulated lab: a Ranger arm behind its 31-byte UDP protocol, a Kobuki, a world with robots behind
    /// Apolo's TCP protocol, and a platform behind PlatformCtrl's; all with their ROS topics and services.
    Up(WithCommon<up::UpOptions>),
    /// Connect a real arm controller with the 31-byte UDP protocol to ROS.
    Arm31(WithCommon<arm31::Arm31Options>),
    /// Connect the world of a real Apolo, or of another server of its TCP protocol, to ROS.
    Apolo(WithCommon<apolo::ApoloOptions>),
    /// Connect a mobile base on a serial port to ROS: a Kobuki, the base of the TurtleBot 2.
    Base(WithCommon<base::BaseOptions>),
    /// Connect an arm of servos on a serial port to ROS: a WidowX.
    Arm(WithCommon<arm::ArmOptions>),
    /// Measure the delay from a robot's messages to a program.
    ///
    /// For a topic the delay is the time from the stamp of a message (of its header; without a header that of its
    /// publication, from DDS) to its reception by this program. TRANSIT is the time from publication to reception,
    /// PERIOD the mean time between receptions: about the longest time that a program waits for the next message.
    ///
    /// For a service the time from request to response is measured: /mobile_base/get_geometry, and, if they are named,
    /// /vrep/status_bar_message and /vrep/aux_console/print, whose text is published back.
    ///
    /// Publisher and program need the same clock: one computer, or several synchronized to well below a millisecond.
    Latency(WithCommon<LatencyOptions>),
    /// Connect the platform of a real PlatformCtrl, or of another server of its TCP protocol, to ROS.
    Neobotix(WithCommon<neobotix::NeobotixOptions>),
    /// Connect the devices of a real Player server, or of another server of its TCP protocol, to ROS.
    Player(WithCommon<player::PlayerOptions>),
    /// Navigate a base that is in ROS: maps, stations, planned paths, Neobotix' commands as services and on TCP ports.
    Platform(WithCommon<platform::PlatformOptions>),
    /// Connect a machine to ROS by the description of its protocol; or work with the description: check it, decode bytes by it.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Bridge {
        #[command(subcommand)]
        command: Option<BridgeCommand>,
        #[command(flatten)]
        machine: WithCommon<machine::MachineOptions>,
    },
    /// Serve the web page and rosbridge for the robots that are in ROS.
    Console(WithCommon<console::ConsoleOptions>),
    /// Say what a recording holds: an MCAP file, or a folder of such files; without ROS.
    Info(InfoOptions),
    /// Publish a recording again: an MCAP file.
    Play(WithCommon<PlayOptions>),
    /// Record topics in an MCAP file, until SIGINT or SIGTERM.
    Record(WithCommon<RecordOptions>),
    /// Merge robots in separate namespaces: a program's commands and requests go to all robots; it receives the data of
    /// the first.
    Relay(WithCommon<relay::RelayOptions>),
    /// Drive a base from the keyboard of this terminal.
    Teleop(WithCommon<teleop::TeleopOptions>),
    /// Operate an arm from this terminal: its pose, joints and temperatures, a goal or a velocity by keys or a joystick,
    /// and every command of the 31-byte protocol. In ROS, or straight to a controller.
    ///
    /// The key ? shows all keys and commands. Leaving stops what the station has set in motion.
    Station(WithCommon<StationOptions>),
    /// Calibrate an arm: its geometry, joint offsets and encoders, from measurements.
    Calibrate {
        #[command(subcommand)]
        command: calibrate::CalibrateCommand,
    },
    /// Evaluate an arm: how accurately it goes to points and follows paths, as the Ranger thesis, 4.3 and 4.5.
    Evaluate {
        #[command(subcommand)]
        command: evaluate::EvaluateCommand,
    },
    /// Work with programs of a platform: check, convert, run, step.
    Task {
        #[command(subcommand)]
        command: task::TaskCommand,
    },
    /// Monitor a CAN bus, without ROS.
    Can {
        #[command(subcommand)]
        command: can::CanCommand,
    },
    /// Work with world files, without ROS.
    World {
        #[command(subcommand)]
        command: world::WorldCommand,
    },
    /// Simulate devices for other programs, without ROS, until SIGINT or SIGTERM.
    Device {
        #[command(subcommand)]
        command: device::DeviceCommand,
    },
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    /// The commands without subcommands, such as `info` and `task check`.
    pub(crate) fn leaves(
        command: &clap::Command,
        path: &str,
        found: &mut std::collections::BTreeSet<String>,
    ) {
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name());
            if below.has_subcommands() {
                leaves(below, &path, found);
            } else {
                found.insert(path.trim().to_owned());
            }
        }
    }

    /// The table defines for each command when it ends with 0.
    #[test]
    fn the_table_of_exit_statuses_has_every_command() {
        use clap::CommandFactory;
        let mut commands = ["up --fast", "bridge", "carry", "navigate"].map(str::to_owned).into();
        leaves(&Cli::command(), "", &mut commands);
        let page = include_str!("../../../docs/commands.md");
        let chapter = page.split("## What an exit status of 0 means").nth(1).unwrap();
        let rows = chapter.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
        let names = rows.flat_map(|row| row.split('|').next().unwrap().split(','));
        let names = names.map(|name| name.trim().trim_matches('`').to_owned());
        let documented: std::collections::BTreeSet<String> = names.collect();
        assert_eq!(commands, documented);
    }

    /// What `dragoman task` with these arguments is.
    fn task(arguments: &[&str]) -> Result<task::TaskCommand, clap::Error> {
        let parsed = Cli::try_parse_from([&["dragoman", "task"], arguments].concat())?;
        match parsed.command {
            Some(Command::Task { command }) => Ok(command),
            _ => panic!("another command"),
        }
    }

    #[test]
    fn options_of_task_are_read() {
        use task::TaskCommand::{Check, Convert, Run, Step};
        assert!(matches!(task(&["check", "a.txt"]), Ok(Check(_))));
        assert!(matches!(task(&["check", "--roadmap", "r.xml", "-"]), Ok(Check(_))));
        assert!(matches!(task(&["convert", "--force", "a.xml", "-"]), Ok(Convert(_))));
        let Ok(Run(run)) = task(&["run", "a.txt"]) else { panic!("run") };
        assert_eq!((run.options.server().unwrap(), run.options.is_remote()), (None, false));
        let remote = ["run", "--remote", "--init", "--sensors", "a, b,c,4", "--battery", "22.5, 26", "a.txt"];
        let Ok(Run(run)) = task(&remote) else { panic!("remote") };
        assert_eq!((run.options.server().unwrap(), run.options.is_remote()), (None, true));
        let shown = format!("{:?}", run.options);
        for expected in [
            "init: true",
            "namespace: \"/neobotix\"",
            "data: \".\"",
            "sensors: [\"a\", \"b\", \"c\", \"4\"]",
            "battery: Some([22.5, 26.0])",
        ] {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
        let socket = ["run", "--remote", "--server", "robot:10000", "--data", "/tmp", "a.txt"];
        let Ok(Run(run)) = task(&socket) else { panic!("socket") };
        assert_eq!(run.options.server().unwrap(), Some("robot:10000"));
        let step = ["step", "--namespace", "/far", "--domain", "7", "--log", "warn", "a.txt"];
        let Ok(Step(step)) = task(&step) else { panic!("step") };
        assert!(format!("{:?}", step.options).contains("namespace: \"/far\""));
        assert!(format!("{:?}", step.common).contains("domain: Some(7)"));
        let Ok(Step(step)) = task(&["step", "--server", "robot:10000", "a.txt"]) else { panic!("step") };
        assert_eq!(step.options.options.server.as_deref(), Some("robot:10000"));
    }

    #[test]
    fn wrong_options_of_task_are_refused() {
        use clap::error::ErrorKind::{
            DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, InvalidSubcommand,
            MissingRequiredArgument, UnknownArgument, ValueValidation,
        };
        for (arguments, kind, text) in [
            (&[][..], DisplayHelpOnMissingArgumentOrSubcommand, "check"),
            (&["dance"], InvalidSubcommand, "'dance'"),
            (&["run", "--help"], DisplayHelp, "--battery <EMPTY,FULL>"),
            (&["check"], MissingRequiredArgument, "<FILE>"),
            (&["check", "--init", "a"], UnknownArgument, "--init"),
            (&["convert", "a"], MissingRequiredArgument, "<OUT>"),
            (&["run"], MissingRequiredArgument, "<FILE>"),
            (&["step"], MissingRequiredArgument, "<FILE>"),
            (&["step", "--remote", "a"], UnknownArgument, "--remote"),
            (&["run", "a", "b"], UnknownArgument, "'b'"),
            (&["run", "--sensors", "a,b,c", "a"], ValueValidation, "four directions are needed, not 3"),
            (&["run", "--battery", "26,22", "a"], ValueValidation, "the smaller one first"),
            (&["run", "--battery", "22", "a"], ValueValidation, "two voltages are needed"),
            (&["run", "--battery", "nan,26", "a"], ValueValidation, "two voltages are needed"),
            (&["run", "--battery", "22,26,30", "a"], ValueValidation, "two voltages are needed"),
            (&["run", "--domain", "233", "a"], ValueValidation, "233"),
        ] {
            let error = task(arguments).err().unwrap();
            assert_eq!(error.kind(), kind, "{arguments:?}: {error}");
            assert!(error.to_string().contains(text), "{arguments:?}: {error}");
        }
        // Only the remote mode has a socket.
        let Ok(task::TaskCommand::Run(run)) = task(&["run", "--server", "robot:10000", "a.txt"]) else {
            panic!("run")
        };
        let error = run.options.server().unwrap_err().to_string();
        assert_eq!(error, "--server is for --remote: in the local mode use ROS");
    }
}
