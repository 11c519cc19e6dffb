//! `dragoman neobotix`: a real PlatformCtrl in ROS.

use std::error::Error;

use clap::Args;
use dragoman_bridge::neobotix::node::start_client;
use dragoman_ros::outln;
use dragoman_ros::process::Process;

use crate::{Server, address};

#[derive(Args)]
pub(crate) struct NeobotixOptions {
    /// Address of PlatformCtrl, or of another server of its protocol; its own ports are 10000 and 10002.
    #[arg(long, value_name = "HOST:PORT")]
    server: String,
    /// Namespace in which the platform appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/neobotix")]
    namespace: String,
}

impl Server for NeobotixOptions {
    async fn start(&self, process: &Process) -> Result<(), Box<dyn Error>> {
        let server = address::resolve("--server", &self.server)?;
        // If another process serves the namespace, requests would run in a circle.
        process.claims.claim_namespace(&process.context, "neobotix_client", &self.namespace)?;
        process.claims.alone().await;
        process.supervisor.spawn_node(start_client(&process.context, &self.namespace, server)?);
        outln!("PlatformCtrl at {server} appears in {}", self.namespace);
        Ok(())
    }
}
