//! `dragoman neobotix`: a real PlatformCtrl in ROS.

use std::error::Error;

use clap::Args;
use dragoman_bridge::neobotix::node::start_client;
use dragoman_ros::Context;

use crate::claims::Claims;
use crate::supervisor::Supervisor;
use crate::{address, below, platform};

#[derive(Args)]
pub(crate) struct NeobotixOptions {
    /// Address of PlatformCtrl, or of another server of its protocol; its own ports are 10000 and 10002.
    #[arg(long, value_name = "HOST:PORT")]
    server: String,
    /// Namespace in which the platform appears.
    #[arg(long, value_name = "NAMESPACE", default_value = platform::NAMESPACE)]
    namespace: String,
}

/// Starts the client side.
pub(crate) async fn start(
    context: &Context,
    options: &NeobotixOptions,
    supervisor: &Supervisor,
    claims: &Claims,
) -> Result<(), Box<dyn Error>> {
    let server = address::resolve("--server", &options.server)?;
    // If another process serves the namespace, requests would run in a circle.
    claims.claim_namespace(context, "neobotix_client", &options.namespace)?;
    claims.alone().await;
    let name = below(&options.namespace, "neobotix_client");
    supervisor.spawn(name, start_client(context, &options.namespace, server)?);
    println!("PlatformCtrl at {server} appears in {}", options.namespace);
    Ok(())
}
