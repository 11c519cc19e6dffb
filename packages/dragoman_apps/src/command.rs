//! Shared parts of the two commands: options, output, exit code.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use dragoman_ros::process::{self, CommonOptions};
use dragoman_ros::startup::{KnownNodes, Preset};
use dragoman_ros::{command_line, outln, output};

use crate::node::{self, End};
use crate::program::{Program, Status};

/// Parses the command line without the arguments of ROS.
pub fn parse<T: Parser>() -> T {
    let (own, _) = command_line::split(dragoman_time::arguments());
    T::parse_from(own)
}

/// Runs a program until it ends, or SIGINT, SIGTERM or SIGHUP comes. Failure is an exit code of 1.
pub fn run(name: &str, program: impl Program, options: &CommonOptions) -> ExitCode {
    // Its node has no parameters.
    let preset = Preset { known: Some(KnownNodes::from_table(&format!("{name}:"))), ..Preset::default() };
    let ended = process::run(name, options, &preset, async |process, stop| {
        let print = |text: &str| outln!("{text}");
        match node::run(&process.context, &process.supervisor, name, program, print, stop).await? {
            End::Program(Status::Failed(failure)) => return Err(Box::<dyn Error>::from(failure)),
            End::Program(_) => {}
            End::Stopped => outln!("stopped"),
        }
        Ok(())
    });
    if let Some(status) = output::closed_status() {
        return status;
    }
    if let Err(error) = ended {
        eprintln!("{name}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
