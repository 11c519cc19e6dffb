//! `dragoman apolo`: a real Apolo in ROS.

use std::error::Error;

use clap::Args;
use dragoman_bridge::apolo::node::start_client;
use dragoman_bridge::apolo::wire::DEFAULT_PORT;
use dragoman_ros::process::Process;

use crate::program::{Later, Server};
use crate::{address, machine};

#[derive(Args)]
pub(crate) struct ApoloOptions {
    /// Address of Apolo, or of another server of its protocol; its port is 12000 unless you name another.
    #[arg(long, value_name = "HOST[:PORT]")]
    server: String,
    /// Namespace in which its world appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/apolo")]
    namespace: String,
}

impl Server for ApoloOptions {
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let server = address::resolve("--server", &self.server, DEFAULT_PORT)?;
        // If another process serves the namespace, requests would run in a circle.
        process.claims.claim_namespace(&process.context, "apolo_client", &self.namespace)?;
        process.claims.alone().await;
        let client = start_client(&process.context, &self.namespace, server)?;
        Ok(machine::connect(process, client, &format!("Apolo at {server}"), &self.namespace))
    }
}
