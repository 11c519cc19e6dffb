//! The `dragoman` command.
//!
//! | file | holds |
//! | --- | --- |
//! | `main.rs` | the command line; the tools are those of `dragoman_tools` |
//! | `up.rs` | `dragoman up`: the lab in one process |
//! | `apolo.rs` | `dragoman apolo`: a real Apolo in ROS |
//! | `arm31.rs` | `dragoman arm31`: a real controller of the 31-byte protocol as a ROS arm |
//! | `address.rs` | addresses on the command line |
//! | `base.rs` | `dragoman base`: a mobile base in ROS |
//! | `claims.rs` | ownership of namespaces |
//! | `fault.rs` | `--fault`: parts that fail on purpose |
//! | `neobotix.rs` | `dragoman neobotix`: a real PlatformCtrl in ROS |
//! | `platform.rs` | `dragoman platform`: a mobile platform in front of a base; also the platform of the lab |
//! | `machine.rs` | a machine on a serial port as a ROS node, for `base` and `arm` |
//! | `robot.rs` | the robots that come with Dragoman, and others from files |
//! | `simulated.rs` | devices simulated in this process |
//! | `supervisor.rs` | the owner of all running parts |
//! | `turtlebot.rs` | the lab's TurtleBot: simulated, on its hardware, or both |
//! | `widowx.rs` | `dragoman arm`: an arm of servos on a serial port in ROS |

mod address;
mod apolo;
mod arm;
mod arm31;
mod base;
mod claims;
mod fault;
mod machine;
mod neobotix;
mod platform;
mod robot;
mod simulated;
mod supervisor;
mod turtlebot;
mod up;
mod widowx;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::health::{self, Watchdog};
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, logging};
use dragoman_tools::signals::Signals;
use dragoman_tools::{can, device, latency, record, relay, teleop};

use claims::Claims;
use supervisor::Supervisor;

/// Connects robots and programs that only support their old wire protocols to ROS 2.
///
/// Without a command: up. Arguments after --ros-args are read as in every ROS 2 program, for example --ros-args -p
/// arm31:port:=5032 -r /ranger/pose:=/tool_pose
#[derive(Parser)]
#[command(name = "dragoman", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    up: up::UpOptions,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Start the simulated lab: a Ranger arm behind its 31-byte UDP protocol, a Kobuki, a world with robots behind
    /// Apolo's TCP protocol, and a platform behind PlatformCtrl's; all with their ROS topics and services.
    Up {
        #[command(flatten)]
        options: up::UpOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Connect a real arm controller with the 31-byte UDP protocol to ROS.
    Arm31 {
        #[command(flatten)]
        options: arm31::Arm31Options,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Connect the world of a real Apolo, or of another server of its TCP protocol, to ROS.
    Apolo {
        #[command(flatten)]
        options: apolo::ApoloOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Connect a mobile base on a serial port to ROS: a Kobuki, the base of the TurtleBot 2.
    Base {
        #[command(flatten)]
        options: base::BaseOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Connect an arm of servos on a serial port to ROS: a WidowX.
    Arm {
        #[command(flatten)]
        options: widowx::ArmOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
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
    Latency {
        #[command(flatten)]
        options: latency::LatencyOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Connect the platform of a real PlatformCtrl, or of another server of its TCP protocol, to ROS.
    Neobotix {
        #[command(flatten)]
        options: neobotix::NeobotixOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Navigate a base that is in ROS: maps, stations, planned paths, Neobotix' commands as services and on TCP ports.
    Platform {
        #[command(flatten)]
        options: platform::PlatformOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Record topics in an MCAP file, until SIGINT or SIGTERM.
    Record {
        #[command(flatten)]
        options: record::RecordOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Merge robots in separate namespaces: a program's commands and requests go to all robots; it receives the data of
    /// the first.
    Relay {
        #[command(flatten)]
        options: relay::RelayOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Drive a base from the keyboard of this terminal.
    Teleop {
        #[command(flatten)]
        options: teleop::TeleopOptions,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Monitor a CAN bus, without ROS.
    Can {
        #[command(subcommand)]
        command: can::CanCommand,
    },
    /// Simulate devices for other programs, without ROS, until SIGINT or SIGTERM.
    Device {
        #[command(subcommand)]
        command: device::DeviceCommand,
    },
}

#[derive(Args)]
struct CommonOptions {
    /// ROS parameter file (YAML); may be given several times.
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// ROS domain, 0 to 232; default: ROS_DOMAIN_ID, or 0.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=232))]
    domain: Option<u16>,
    /// error, warn, info, debug or trace; RUST_LOG takes precedence.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: String,
    /// Make a part fail on purpose, once: PART=panic@SECONDS or PART=end@SECONDS, with the part's name in /diagnostics;
    /// may be given several times.
    #[arg(long, value_name = "FAULT")]
    fault: Vec<fault::Fault>,
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(own_arguments(std::env::args()));
    let (command, common) = match cli.command {
        Some(Command::Can { command }) => return exit_code(can::run(command)),
        Some(Command::Device { command }) => return exit_code(device::run(command)),
        None => (Selected::Up(cli.up), cli.common),
        Some(Command::Up { options, common }) => (Selected::Up(options), common),
        Some(Command::Arm31 { options, common }) => (Selected::Arm31(options), common),
        Some(Command::Apolo { options, common }) => (Selected::Apolo(options), common),
        Some(Command::Base { options, common }) => (Selected::Base(options), common),
        Some(Command::Arm { options, common }) => (Selected::Arm(options), common),
        Some(Command::Neobotix { options, common }) => (Selected::Neobotix(options), common),
        Some(Command::Platform { options, common }) => (Selected::Platform(options), common),
        Some(Command::Record { options, common }) => (Selected::Record(options), common),
        Some(Command::Relay { options, common }) => (Selected::Relay(options), common),
        Some(Command::Latency { options, common }) => (Selected::Latency(options), common),
        Some(Command::Teleop { options, common }) => (Selected::Teleop(options), common),
    };
    exit_code(run(command, &common))
}

fn exit_code(result: Result<(), impl std::fmt::Display>) -> ExitCode {
    if let Err(error) = result {
        eprintln!("dragoman: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

impl Selected {
    /// The name of the command on the command line.
    fn name(&self) -> &'static str {
        match self {
            Self::Up(_) => "up",
            Self::Arm31(_) => "arm31",
            Self::Apolo(_) => "apolo",
            Self::Neobotix(_) => "neobotix",
            Self::Platform(_) => "platform",
            Self::Base(_) => "base",
            Self::Arm(_) => "arm",
            Self::Record(_) => "record",
            Self::Latency(_) => "latency",
            Self::Relay(_) => "relay",
            Self::Teleop(_) => "teleop",
        }
    }
}

enum Selected {
    Up(up::UpOptions),
    Arm31(arm31::Arm31Options),
    Apolo(apolo::ApoloOptions),
    Base(base::BaseOptions),
    Arm(widowx::ArmOptions),
    Neobotix(neobotix::NeobotixOptions),
    Platform(platform::PlatformOptions),
    Record(record::RecordOptions),
    Latency(latency::LatencyOptions),
    Relay(relay::RelayOptions),
    Teleop(teleop::TeleopOptions),
}

fn run(command: Selected, common: &CommonOptions) -> Result<(), Box<dyn std::error::Error>> {
    logging::init(&common.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(execute(command, common));
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    result
}

async fn execute(command: Selected, common: &CommonOptions) -> Result<(), Box<dyn std::error::Error>> {
    let mut signals = Signals::new()?;
    let supervisor = Supervisor::new(common.fault.clone());
    let arguments = match &command {
        Selected::Up(options) => options.ros_arguments()?,
        _ => Vec::new(),
    };
    let context = dragoman_ros::startup::context(common.domain, &common.config, &arguments)?;
    let mut failure = None;
    let stop = async {
        tokio::select! {
            biased;
            () = signals.next() => {}
            reason = supervisor.watch() => failure = Some(reason),
        }
    };
    let result = match command {
        Selected::Latency(options) => latency::run(&context, &options, stop).await,
        Selected::Teleop(options) => teleop::run(&context, &options, stop).await,
        Selected::Record(options) => match record::run(context.clone(), options, stop).await {
            Ok(summary) => {
                println!("{summary}");
                Ok(())
            }
            Err(error) => Err(error.into()),
        },
        server => serve(server, &context, &supervisor, stop).await,
    };
    supervisor.shut_down(signals.next()).await;
    failure.map_or(result, |reason| Err(reason.into()))
}

/// Starts the parts of a server, which runs until it is stopped; can be interrupted during the start.
async fn serve(
    command: Selected,
    context: &Context,
    supervisor: &Supervisor,
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn std::error::Error>> {
    let claims = Claims::new(command.name());
    let again = (context.clone(), supervisor.clone(), claims.clone());
    supervisor.spawn_restartable(OWN_NODE, own_node(context, supervisor, &claims)?, move || {
        own_node(&again.0, &again.1, &again.2)
    });
    let serving = async {
        match command {
            Selected::Up(options) => up::start(context, &options, supervisor, &claims).await?,
            Selected::Arm31(options) => arm31::start(context, &options, supervisor, &claims).await?,
            Selected::Apolo(options) => apolo::start(context, &options, supervisor, &claims).await?,
            Selected::Neobotix(options) => neobotix::start(context, &options, supervisor, &claims).await?,
            Selected::Platform(options) => platform::start(context, &options, supervisor)?,
            Selected::Base(options) => base::start(context, &options, supervisor).await?,
            Selected::Arm(options) => widowx::start(context, &options, supervisor).await?,
            Selected::Relay(options) => {
                supervisor.spawn(below("", relay::NODE_NAME), relay::start_with_options(context, &options)?)
            }
            // These commands run to their end.
            Selected::Latency(_) | Selected::Teleop(_) | Selected::Record(_) => {}
        }
        println!("ready");
        std::future::pending().await
    };
    tokio::select! {
        biased;
        () = stop => {}
        result = serving => return result,
    }
    println!("stopping");
    Ok(())
}

/// The node of the process itself, and the name of its part.
const OWN_NODE: &str = "/dragoman";

/// Period of publishing the state of all parts.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// Node `/dragoman`: the log of the whole process on `/rosout`, the state of its parts on `/diagnostics`, its claims.
fn own_node(context: &Context, supervisor: &Supervisor, claims: &Claims) -> Result<RunningNode, NodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), OWN_NODE.trim_start_matches('/'), "")?);
    claims.serve(&mut tasks, supervisor)?;
    let log = logging::publish(tasks.node())?;
    tasks.spawn(log);
    watch_middleware(&mut tasks, context, supervisor)?;
    let mut diagnostics = Diagnostics::new(tasks.node(), "parts", "")?;
    let supervisor = supervisor.clone();
    tasks.every(REPORT_PERIOD, move || {
        let (severity, message, values) = supervisor.report();
        let values: Vec<_> = values.iter().map(|(part, state)| (part.as_str(), state.clone())).collect();
        diagnostics.publish(severity, &message, &values);
    })?;
    Ok(tasks.start()?)
}

/// Publishes the input refused by the middleware, and ends the process if the middleware no longer works.
fn watch_middleware(
    tasks: &mut NodeTasks,
    context: &Context,
    supervisor: &Supervisor,
) -> Result<(), NodeError> {
    let mut diagnostics = Diagnostics::new(tasks.node(), "middleware", "")?;
    let (context, supervisor) = (context.clone(), supervisor.clone());
    let (mut watchdog, mut before) = (Watchdog::default(), 0);
    tasks.every(REPORT_PERIOD, move || {
        let health = health::of(&context);
        let values: Vec<_> = health.refused.iter().map(|(kind, count)| (*kind, count.to_string())).collect();
        if watchdog.is_deaf(&health) {
            diagnostics.publish(Severity::Error, "a thread of the middleware is dead", &values);
            supervisor.fail("a thread of the middleware is dead: messages are lost".to_owned());
            return;
        }
        let refused = health.refused.iter().map(|(_, count)| count).sum();
        if refused > before {
            diagnostics.publish(Severity::Warn, "invalid or excessive input is refused", &values);
        } else {
            diagnostics.publish(Severity::Ok, "working", &values);
        }
        before = refused;
    })?;
    Ok(())
}

/// A relative or absolute name, in `namespace`.
fn below(namespace: &str, name: &str) -> String {
    let parts = [namespace, name].map(|part| part.trim_matches('/'));
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

/// The arguments that do not belong to ROS: those before `--ros-args` and after the `--` that ends it.
fn own_arguments(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut inside = false;
    let mut own = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--ros-args" => inside = true,
            "--" if inside => inside = false,
            _ if !inside => own.push(argument),
            _ => {}
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_namespace_stands_above_names() {
        let cases = [("/", "/ranger"), ("", "ranger"), ("left", "/ranger"), ("/left/", "/")];
        let names = cases.map(|(namespace, name)| below(namespace, name));
        assert_eq!(names, ["/ranger", "/ranger", "/left/ranger", "/left"]);
    }

    #[test]
    fn ros_arguments_are_left_to_ros() {
        let given = ["dragoman", "up", "--ros-args", "-p", "a:=1", "--", "--domain", "3"].map(str::to_owned);
        assert_eq!(own_arguments(given.into_iter()), ["dragoman", "up", "--domain", "3"]);
    }
}
