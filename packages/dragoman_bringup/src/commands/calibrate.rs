//! `dragoman calibrate`: an arm's geometry, joint offsets and encoders from measurements.

use std::error::Error;

use clap::Subcommand;
use dragoman_ros::Context;
use dragoman_tools::calibrate::{self, ArcsCommand, Arm, FitCommand, MeasureCommand, PlanCommand};
use futures::future::LocalBoxFuture;

use crate::program::{self, Tool, WithCommon};
use crate::robot;

#[derive(Subcommand)]
pub(crate) enum CalibrateCommand {
    /// Estimate joint offsets and Denavit-Hartenberg parameters from measured tool positions, without ROS.
    Fit(FitCommand),
    /// Determine encoder counts per radian from measured arcs, without ROS.
    Arcs(ArcsCommand),
    /// Find the poses that determine the parameters best, without ROS.
    Plan(PlanCommand),
    /// Drive to poses and read the measuring device at each, in ROS.
    Measure(WithCommon<MeasureCommand>),
}

pub(crate) fn run(command: CalibrateCommand) -> Result<(), Box<dyn Error>> {
    match command {
        CalibrateCommand::Fit(fit) => calibrate::fit(&fit, &arm(&fit.robot)?),
        CalibrateCommand::Arcs(arcs) => calibrate::arcs(&arcs, &arm(&arcs.robot)?),
        CalibrateCommand::Plan(plan) => calibrate::plan(&plan, &arm(&plan.robot)?),
        CalibrateCommand::Measure(measure) => program::work("calibrate measure", measure),
    }
}

impl Tool for MeasureCommand {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>> {
        calibrate::measure(context, &self, &arm(&self.robot)?, stop).await
    }
}

pub(crate) fn arm(name: &str) -> Result<Arm, robot::RobotError> {
    let robot::RobotDescription { model, urdf, motion, drives, source } = robot::load(name)?;
    let counts_per_unit = drives.axes.iter().map(|axis| axis.counts_per_unit).collect();
    let robot::Source { text, settings, urdf_file, nominal: _ } = source;
    Ok(Arm { model, motion, counts_per_unit, text, settings, urdf, urdf_file })
}
