//! `dragoman neobotix`: a real PlatformCtrl in ROS.

use std::error::Error;

use clap::Args;
use dragoman_bridge::neobotix::node::start_client;
use dragoman_bridge::neobotix::wire::DEFAULT_PORTS;
use dragoman_ros::process::Process;

use crate::program::{Later, Server};
use crate::{address, machine};

#[derive(Args)]
pub(crate) struct NeobotixOptions {
    /// Address of PlatformCtrl, or of another server of its protocol; its port is 10000 unless you name another, such as
    /// its second one, 10002.
    #[arg(long, value_name = "HOST[:PORT]")]
    server: String,
    /// Namespace in which the platform appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/neobotix")]
    namespace: String,
}

impl Server for NeobotixOptions {
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let server = address::resolve("--server", &self.server, DEFAULT_PORTS[0])?;
        // If another process serves the namespace, requests would run in a circle.
        process.claims.claim_namespace(&process.context, "neobotix_client", &self.namespace)?;
        process.claims.alone().await;
        let client = start_client(&process.context, &self.namespace, server)?;
        Ok(machine::connect(process, client, &format!("PlatformCtrl at {server}"), &self.namespace))
    }
}
