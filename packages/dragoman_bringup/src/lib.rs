//! The `dragoman` command.
//!
//! A part uses only parts in rows below its own:
//!
//! | part | holds |
//! | --- | --- |
//! | `lib.rs` | runs the command line; the tools are those of `dragoman_tools` |
//! | `fast`, `help` | `dragoman up --fast`: the lab on virtual time; further texts of `--help` |
//! | [`lab`] | a lab on virtual time, in one thread: for tests and `dragoman up --fast` |
//! | `command_line` | the commands and their options |
//! | `commands` | each command in its file |
//! | `machine` | a machine or a server that a program makes appear in ROS |
//! | `program` | the life of a program in ROS |
//! | `address`, `known`, `robot` | addresses on the command line; the existing nodes and parameters; the robots that come with Dragoman, and others from files |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
// The reader of the output may go away: see `dragoman_ros::output`.
#![deny(clippy::print_stdout)]

mod address;
mod command_line;
mod commands;
#[cfg(not(feature = "r2r"))]
mod fast;
mod help;
mod known;
#[cfg(not(feature = "r2r"))]
pub mod lab;
mod machine;
mod program;
mod robot;

use std::error::Error;
use std::process::ExitCode;

use dragoman_ros::{output, process};
use dragoman_tools::{bridge, can, device, info, teleop};

use command_line::{Cli, Command};
use commands::{calibrate, evaluate, station, task, world};
use program::{WithCommon, serve, work};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli: Cli = dragoman_ros::command_line::parse_as(help::command()).unwrap_or_else(|error| error.exit());
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
        Command::Bridge { command: Some(command), .. } => bridge::run(command).map_err(Into::into),
        Command::Bridge { command: None, machine } => serve("bridge", &machine),
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
