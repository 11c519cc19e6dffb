//! Shared parts of the two commands: options, output, exit code.

use std::process::ExitCode;

use clap::Parser;
use dragoman_ros::process::{self, CommonOptions};
use dragoman_ros::startup::{KnownNodes, Preset};
use dragoman_ros::{command_line, outln, output};

use crate::node::{self, End};
use crate::program::{Failure, Program, Status};

/// Parses the command line without the arguments of ROS.
pub fn parse<T: Parser>() -> T {
    command_line::parse().unwrap_or_else(|error| error.exit())
}

/// Runs a program until it ends, or SIGINT, SIGTERM or SIGHUP comes. The exit code is 0 only if it has reached its goal,
/// otherwise 1.
pub fn run(name: &str, program: impl Program, options: &CommonOptions) -> ExitCode {
    // Its node has no parameters.
    let preset = Preset { known: Some(KnownNodes::from_table(&format!("{name}:"))), ..Preset::default() };
    let ended = process::run(name, options, &preset, async |process, stop| {
        let print = |text: &str| outln!("{text}");
        Ok(reached(node::run(&process.context, &process.supervisor, name, program, print, stop).await?)?)
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

/// Reason why a program has not reached its goal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum NotReached {
    #[error(transparent)]
    Failed(Failure),
    #[error("stopped before the end of the program")]
    Stopped,
}

/// Whether the program has reached its goal.
fn reached(end: End) -> Result<(), NotReached> {
    match end {
        End::Program(Status::Done) => Ok(()),
        End::Program(Status::Failed(failure)) => Err(NotReached::Failed(failure)),
        End::Program(Status::Running) | End::Stopped => Err(NotReached::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_program_that_is_done_has_reached_its_goal() {
        assert_eq!(reached(End::Program(Status::Done)), Ok(()));
        let failure = Failure::NotHeld { when: "after grasping", width_mm: 22.2 };
        let failed = reached(End::Program(Status::Failed(failure))).unwrap_err().to_string();
        assert_eq!(failed, "the gripper holds no cube after grasping: its fingers are 22 mm apart");
        for stopped in [End::Stopped, End::Program(Status::Running)] {
            assert_eq!(reached(stopped), Err(NotReached::Stopped));
        }
    }
}
