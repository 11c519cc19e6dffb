//! `dragoman apolo`: a real Apolo in ROS.

use std::error::Error;

use clap::Args;
use dragoman_bridge::apolo::node::start_client;
use dragoman_ros::outln;
use dragoman_ros::process::Process;

use crate::{Server, address};

#[derive(Args)]
pub(crate) struct ApoloOptions {
    /// Address of Apolo, or of another server of its protocol; its own port is 12000.
    #[arg(long, value_name = "HOST:PORT")]
    server: String,
    /// Namespace in which its world appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/apolo")]
    namespace: String,
}

impl Server for ApoloOptions {
    async fn start(&self, process: &Process) -> Result<(), Box<dyn Error>> {
        let server = address::resolve("--server", &self.server)?;
        // If another process serves the namespace, requests would run in a circle.
        process.claims.claim_namespace(&process.context, "apolo_client", &self.namespace)?;
        process.claims.alone().await;
        process.supervisor.spawn_node(start_client(&process.context, &self.namespace, server)?);
        outln!("Apolo at {server} appears in {}", self.namespace);
        Ok(())
    }
}
