//! The `dragoman` command.
//!
//! | file | holds |
//! | --- | --- |
//! | `lib.rs` | the command line; the tools are those of `dragoman_tools` |
//! | [`lab`] | a lab on virtual time, in one thread: for tests and `dragoman up --fast` |
//! | `fast.rs`, `fast/` | `dragoman up --fast`: the lab on virtual time |
//! | `up.rs`, `up/` | `dragoman up`: the lab in one process, a list of parts |
//! | `apolo.rs` | `dragoman apolo`: a real Apolo in ROS |
//! | `arm31.rs` | `dragoman arm31`: a real controller of the 31-byte protocol as a ROS arm |
//! | `neobotix.rs` | `dragoman neobotix`: a real PlatformCtrl in ROS |
//! | `player.rs` | `dragoman player`: the devices of a real Player server in ROS |
//! | `base.rs` | `dragoman base`: a mobile base in ROS |
//! | `arm.rs` | `dragoman arm`: an arm of servos on a serial port in ROS |
//! | `calibrate.rs` | `dragoman calibrate`: an arm's geometry from measurements |
//! | `evaluate.rs` | `dragoman evaluate`: how accurately an arm moves |
//! | `station.rs` | `dragoman station`: the command station of an arm |
//! | `task.rs` | `dragoman task`: programs of a platform |
//! | `platform.rs` | `dragoman platform`: a mobile platform in front of a base |
//! | `relay.rs` | `dragoman relay`: programs with several robots |
//! | `console.rs` | `dragoman console`: web page and rosbridge beside any ROS 2 system |
//! | `world.rs` | `dragoman world`: imports worlds of the simulator Apolo |
//! | `help.rs` | what `--help` says besides the options |
//! | `known.rs` | the nodes and parameters that there are |
//! | `machine.rs` | a machine or a server that a program makes appear in ROS |
//! | `robot.rs` | the robots that come with Dragoman, and others from files |
//! | `address.rs` | addresses on the command line |

// The reader of the output may go away: see `dragoman_ros::output`.
#![deny(clippy::print_stdout)]

mod address;
mod apolo;
mod arm;
mod arm31;
mod base;
mod calibrate;
mod console;
mod evaluate;
#[cfg(not(feature = "r2r"))]
mod fast;
mod help;
mod known;
#[cfg(not(feature = "r2r"))]
pub mod lab;
mod machine;
mod neobotix;
mod platform;
mod player;
mod relay;
mod robot;
mod station;
mod task;
mod up;
mod world;

use std::error::Error;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use dragoman_ros::process::{self, CommonOptions, Process};
use dragoman_ros::startup::Preset;
use dragoman_ros::{Context, command_line, outln, output};
use dragoman_tools::info::{self, InfoOptions};
use dragoman_tools::latency::{self, LatencyOptions};
use dragoman_tools::play::{self, PlayOptions};
use dragoman_tools::record::{self, RecordOptions};
use dragoman_tools::station::StationOptions;
use dragoman_tools::{can, device, teleop};
use futures::future::{BoxFuture, LocalBoxFuture};

/// Connects robots and programs that only support their old wire protocols to ROS 2.
#[derive(Parser)]
#[command(name = "dragoman", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    up: WithCommon<up::UpOptions>,
}

#[derive(Subcommand)]
enum Command {
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

/// The options of a program in ROS.
#[derive(Debug, Args)]
struct WithCommon<T: Args> {
    #[command(flatten)]
    options: T,
    #[command(flatten)]
    common: CommonOptions,
}

/// What a program waits for before it says that it is ready; its nodes run meanwhile.
type Later = Option<BoxFuture<'static, ()>>;

/// The options of a command that starts nodes, and serves until it is stopped.
trait Server {
    /// ROS arguments besides those of the command line.
    fn preset(&self) -> Result<Preset, Box<dyn Error>> {
        Ok(known::preset())
    }

    /// Starts the nodes; can be interrupted.
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>>;
}

/// The options of a command that works in ROS until it is done, or is stopped.
trait Tool: Args {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>>;
}

impl Tool for LatencyOptions {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        latency::run(context, &self, stop).await
    }
}

impl Tool for PlayOptions {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        let played = play::run(context.clone(), self, stop).await?;
        outln!("{played}");
        Ok(played.complete()?)
    }
}

impl Tool for RecordOptions {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        let summary = record::run(context.clone(), self.shown(), stop).await?;
        outln!("{summary}");
        Ok(summary.complete()?)
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli: Cli = command_line::parse_as(help::command()).unwrap_or_else(|error| error.exit());
    let ended = match cli.command.unwrap_or(Command::Up(cli.up)) {
        #[cfg(not(feature = "r2r"))]
        Command::Up(up) if up.options.fast.is_fast() => fast::run(&up.options.fast, up.common.log()),
        Command::Up(up) => serve("up", &up),
        Command::Arm31(arm31) => serve("arm31", &arm31),
        Command::Apolo(apolo) => serve("apolo", &apolo),
        Command::Base(base) => serve("base", &base),
        Command::Arm(arm) => serve("arm", &arm),
        Command::Neobotix(neobotix) => serve("neobotix", &neobotix),
        Command::Player(player) => serve("player", &player),
        Command::Platform(platform) => serve("platform", &platform),
        Command::Relay(relay) => serve("relay", &relay),
        Command::Console(console) => serve("console", &console),
        Command::Latency(latency) => work("latency", latency),
        Command::Play(play) => work("play", play),
        Command::Record(record) => work("record", record),
        Command::Teleop(WithCommon { options, common }) => {
            process::run("dragoman teleop", &common, &known::preset(), async |process, stop| {
                teleop::run(&process.context, &options, stop).await
            })
        }
        Command::Station(command) => station::run(&command),
        Command::Calibrate { command } => calibrate::run(command),
        Command::Evaluate { command } => evaluate::run(command),
        Command::Task { command } => task::run(&command),
        Command::Can { command } => can::run(command).map_err(|error| error as Box<dyn Error>),
        Command::World { command } => world::run(&command),
        Command::Info(info) => info::run(&info).map_err(Into::into),
        Command::Device { command } => device::run(command).map_err(|error| error as Box<dyn Error>),
    };
    if let Some(status) = output::closed_status() {
        return status;
    }
    if let Err(error) = ended {
        eprintln!("dragoman: {}", dragoman_text::lines(&error.to_string()));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs a server until it is stopped.
fn serve<T: Server + Args>(name: &str, command: &WithCommon<T>) -> Result<(), Box<dyn Error>> {
    let preset = command.options.preset()?;
    let name = format!("dragoman {name}");
    process::run(&name, &command.common, &preset, async |process, stop| {
        serve_until(stop, process, &command.options, || {}).await
    })
}

/// Runs a tool until it is done, or is stopped.
fn work<T: Tool>(name: &str, command: WithCommon<T>) -> Result<(), Box<dyn Error>> {
    let WithCommon { options, common } = command;
    process::run(&format!("dragoman {name}"), &common, &known::preset(), async |process, stop| {
        options.run(&process.context, stop).await
    })
}

/// Programs wait for the line `ready`; people are told how to end it.
fn say_ready() {
    outln!("ready");
    if std::io::stdout().is_terminal() {
        outln!("Ctrl-C ends");
    }
}

/// The life of a server in its process; `started` is called when its nodes run.
async fn serve_until<T: Server>(
    stop: impl Future<Output = ()>,
    process: &Process,
    options: &T,
    started: impl FnOnce(),
) -> Result<(), Box<dyn Error>> {
    process.start_node()?;
    tokio::select! {
        biased;
        () = stop => {}
        result = async {
            if let Some(later) = options.start(process).await? {
                started();
                later.await;
                say_ready();
            } else {
                say_ready();
                started();
            }
            std::future::pending().await
        } => return result,
    }
    outln!("stopping");
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    /// The commands without subcommands, such as `info` and `task check`.
    pub(super) fn leaves(
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

    /// Without a row nobody has thought of what it means that a command ends with 0.
    #[test]
    fn the_table_of_exit_statuses_has_every_command() {
        use clap::CommandFactory;
        let mut commands = ["up --fast", "carry", "navigate"].map(str::to_owned).into();
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
