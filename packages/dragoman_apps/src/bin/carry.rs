//! `carry`: the first application on a robot in ROS.

use std::process::ExitCode;

use clap::Parser;
use dragoman_apps::carry::Carry;
use dragoman_apps::command;
use dragoman_ros::process::CommonOptions;

/// Carries a cube of 3 cm from the far table to the near one (first application of the TurtleBot thesis, 5.2).
///
/// The robot must stand between the tables, facing the far one, with its odometry at zero: 2.915 m before the place
/// from which it grasps the cube, and 3 m before the place from which it puts it down. `dragoman up --world laboratory`
/// is such a room. Arguments after --ros-args are read as in every ROS 2 program.
#[derive(Parser)]
#[command(name = "carry", version)]
struct Options {
    #[command(flatten)]
    common: CommonOptions,
}

fn main() -> ExitCode {
    let options: Options = command::parse();
    command::run("carry", Carry::new(), &options.common)
}
