//! `dragoman relay`: connects programs with several robots.

use std::error::Error;

use dragoman_ros::naming::below;
use dragoman_ros::process::Process;
use dragoman_tools::relay;
pub(crate) use dragoman_tools::relay::RelayOptions;

use crate::program::{Later, Server};

impl Server for RelayOptions {
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let relay = relay::start_with_options(&process.context, self)?;
        process.supervisor.spawn(below("", relay::NODE_NAME), relay);
        Ok(None)
    }
}
