//! `dragoman evaluate`: how accurately an arm moves.

use std::error::Error;

use clap::Subcommand;
use dragoman_ros::Context;
use dragoman_tools::evaluate::{self, ReportCommand, RunCommand};
use futures::future::LocalBoxFuture;

use super::calibrate::arm;
use crate::program::{self, Tool, WithCommon};

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)] // There is one of it.
pub(crate) enum EvaluateCommand {
    /// Drive an arm through the tests of the Ranger thesis, record them, and report, in ROS.
    Run(WithCommon<RunCommand>),
    /// Print the tables and draw the plots of recorded tests, without ROS.
    Report(ReportCommand),
}

pub(crate) fn run(command: EvaluateCommand) -> Result<(), Box<dyn Error>> {
    match command {
        EvaluateCommand::Run(run) => program::work("evaluate run", run),
        EvaluateCommand::Report(report) => evaluate::report(&report, &arm(&report.robot)?),
    }
}

impl Tool for RunCommand {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        evaluate::run(context, &self, &arm(&self.robot)?, stop).await
    }
}
