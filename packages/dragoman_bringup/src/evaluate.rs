//! `dragoman evaluate`: how accurately an arm moves.

use std::error::Error;

use clap::Subcommand;
use dragoman_ros::process;
use dragoman_ros::startup::Preset;
use dragoman_tools::evaluate::{self, ReportCommand, RunCommand};

use crate::WithCommon;
use crate::calibrate::arm;

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)] // There is one of it.
pub(crate) enum EvaluateCommand {
    /// Drive an arm through the tests of the Ranger thesis, record them, and report, in ROS.
    Run(WithCommon<RunCommand>),
    /// Print the tables and draw the plots of recorded tests, without ROS.
    Report(ReportCommand),
}

pub(crate) fn run(command: &EvaluateCommand) -> Result<(), Box<dyn Error>> {
    match command {
        EvaluateCommand::Run(WithCommon { options, common }) => {
            let arm = arm(&options.robot)?;
            process::run("dragoman evaluate run", common, &Preset::default(), async |process, stop| {
                evaluate::run(&process.context, options, &arm, stop).await
            })
        }
        EvaluateCommand::Report(report) => evaluate::report(report, &arm(&report.robot)?),
    }
}
