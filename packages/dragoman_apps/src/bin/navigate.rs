//! `navigate`: the second application on a robot in ROS.

use std::process::ExitCode;

use clap::Parser;
use dragoman_apps::command;
use dragoman_apps::navigate::{Navigate, NavigateSettings};
use dragoman_ros::process::CommonOptions;

/// Drives from target to target, around obstacles seen by its Kinect (second application of the TurtleBot thesis, 5.3).
///
/// Try it with `dragoman up --world corridor`. Arguments after --ros-args are read as in every ROS 2 program.
#[derive(Parser)]
#[command(name = "navigate", version)]
struct Options {
    /// Targets in the frame of the odometry, in m: X,Y; default: the targets of the scene 'corridor'.
    #[arg(value_name = "X,Y", value_parser = target, allow_hyphen_values = true)]
    targets: Vec<[f64; 2]>,
    #[command(flatten)]
    common: CommonOptions,
}

fn target(text: &str) -> Result<[f64; 2], String> {
    let numbers: Vec<f64> = text.split(',').map_while(|number| number.trim().parse().ok()).collect();
    match numbers.as_slice() {
        [x, y] if x.is_finite() && y.is_finite() && text.split(',').count() == 2 => Ok([*x, *y]),
        _ => Err("not two numbers, such as 2.5,-1".to_owned()),
    }
}

fn main() -> ExitCode {
    let options: Options = command::parse();
    let mut settings = NavigateSettings::default();
    if !options.targets.is_empty() {
        settings.targets = options.targets;
    }
    command::run("navigate", Navigate::new(settings), &options.common)
}
