//! `dragoman station`: the command station of an arm.

use std::error::Error;

use dragoman_bridge::arm31::wire::DEFAULT_PORT;
use dragoman_ros::process;
use dragoman_tools::station::{self, StationOptions};

use crate::program::WithCommon;
use crate::{address, known};

pub(crate) fn run(WithCommon { options, common }: &WithCommon<StationOptions>) -> Result<(), Box<dyn Error>> {
    station::check_terminal()?;
    match &options.udp {
        Some(controller) => station::run_udp(options, address::resolve("--udp", controller, DEFAULT_PORT)?),
        None => process::run("dragoman station", common, &known::preset(), async |process, stop| {
            station::run(&process.context, options, stop).await
        }),
    }
}
