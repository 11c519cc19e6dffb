//! `dragoman task`: programs of a platform.

use std::error::Error;

use clap::Subcommand;
use dragoman_bridge::neobotix::wire::DEFAULT_PORTS;
use dragoman_ros::process;
use dragoman_tools::task::{self, CheckCommand, ConvertCommand, RunCommand, StepCommand};

use crate::program::WithCommon;
use crate::{address, known};

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Print every error of a program with line and column, without ROS; nothing is sent.
    Check(CheckCommand),
    /// Convert a program between XML and a readable text form, without ROS and without loss.
    Convert(ConvertCommand),
    /// Send a program to a platform, start it, and show its tasks until it ends.
    ///
    /// By default in the local mode: the platform executes the program. SIGINT stops the program and the platform. The
    /// exit status is 0 when the program has come to its end.
    Run(WithCommon<RunCommand>),
    /// Execute a program step by step: Enter begins the next step.
    ///
    /// A step is one element of a task: a motion, a wait, an effect, a jump. The platform cannot pause between steps, so
    /// this uses the remote mode: this computer executes the program, and makes each step by calls of the platform's
    /// services, or over the socket with --server. Enter begins the next step of the most urgent task that can begin
    /// one. A wait that has begun ends by itself, and motions continue; then the task stops before its next step. A line
    /// with a name raises that user event.
    Step(WithCommon<StepCommand>),
}

pub(crate) fn run(command: &TaskCommand) -> Result<(), Box<dyn Error>> {
    let resolve = |server: &str| address::resolve("--server", server, DEFAULT_PORTS[0]);
    match command {
        TaskCommand::Check(check) => task::check(check),
        TaskCommand::Convert(convert) => task::convert(convert),
        TaskCommand::Run(WithCommon { options, common }) => match options.server()? {
            Some(server) => task::over_socket(&options.options, resolve(server)?, false),
            None => process::run("dragoman task run", common, &known::preset(), async |process, stop| {
                task::run(&process.context, options, task::stdin_lines, stop).await
            }),
        },
        TaskCommand::Step(WithCommon { options, common }) => match &options.options.server {
            Some(server) => task::over_socket(&options.options, resolve(server)?, true),
            None => process::run("dragoman task step", common, &known::preset(), async |process, stop| {
                task::step(&process.context, options, task::stdin_lines, stop).await
            }),
        },
    }
}
