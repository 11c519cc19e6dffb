//! `dragoman neobotix`: a real PlatformCtrl in ROS.

use std::error::Error;

use clap::Args;
use dragoman_bridge::neobotix::node::start_client;
use dragoman_ros::Context;
use dragoman_ros::dragoman_msgs::srv::PlatformGetStatus;
use tokio::task::JoinSet;

use crate::{address, is_offered, log_node, platform};

#[derive(Args)]
pub(crate) struct NeobotixOptions {
    /// Where PlatformCtrl, or another server of its protocol, listens; its own ports are 10000 and 10002.
    #[arg(long, value_name = "HOST:PORT")]
    server: String,
    /// Namespace in which the platform appears.
    #[arg(long, value_name = "NAMESPACE", default_value = platform::NAMESPACE)]
    namespace: String,
}

/// Runs the client side until `stop` resolves.
pub(crate) async fn run(
    context: &Context,
    options: &NeobotixOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    let server = address::resolve("--server", &options.server)?;
    let mut nodes = JoinSet::new();
    nodes.spawn(log_node(context)?);
    if is_offered::<PlatformGetStatus::Service>(context, &options.namespace, "get_status").await? {
        let namespace = &options.namespace;
        return Err(format!(
            "a platform is in {namespace} already, and would be commanded in a circle; choose another --namespace or --domain"
        )
        .into());
    }
    nodes.spawn(start_client(context, &options.namespace, server)?);
    println!("PlatformCtrl at {server} appears in {}", options.namespace);
    println!("ready");
    stop.await;
    println!("stopping");
    nodes.shutdown().await;
    Ok(())
}
