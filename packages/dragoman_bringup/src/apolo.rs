//! `dragoman apolo`: a real Apolo in ROS; and the lab's world, and the port on which old programs find it.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use dragoman_bridge::apolo::node::{ApoloNodeError, start_client, start_server};
use dragoman_ros::dragoman_msgs::srv::GetLocation;
use dragoman_ros::{Context, Node};
use dragoman_sim::node::{DrivenRobot, Live};
use tokio::task::JoinSet;

use crate::{address, is_offered, log_node};

#[derive(Args)]
pub(crate) struct ApoloOptions {
    /// Where Apolo, or another server of its protocol, listens; its own port is 12000.
    #[arg(long, value_name = "HOST:PORT")]
    server: String,
    /// Namespace in which its world appears.
    #[arg(long, value_name = "NAMESPACE", default_value = NAMESPACE)]
    namespace: String,
}

/// Namespace of the world.
pub(crate) const NAMESPACE: &str = "/apolo";

/// Runs the client side until `stop` resolves.
pub(crate) async fn run(
    context: &Context,
    options: &ApoloOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    let server = address::resolve("--server", &options.server)?;
    let mut nodes = JoinSet::new();
    nodes.spawn(log_node(context)?);
    if is_offered::<GetLocation::Service>(context, &options.namespace, "get_location").await? {
        let namespace = &options.namespace;
        return Err(format!(
            "a world is in {namespace} already, and would be asked in a circle; choose another --namespace or --domain"
        )
        .into());
    }
    nodes.spawn(start_client(context, &options.namespace, server)?);
    println!("Apolo at {server} appears in {}", options.namespace);
    println!("ready");
    stop.await;
    println!("stopping");
    nodes.shutdown().await;
    Ok(())
}

/// Starts the port in front of the world in `namespace`; where it is.
pub(crate) fn serve(
    context: &Context,
    namespace: &str,
    bind: IpAddr,
    nodes: &mut JoinSet<()>,
) -> Result<SocketAddr, Box<dyn Error>> {
    let server = start_server(context, namespace, bind).map_err(with_advice)?;
    nodes.spawn(server.node);
    Ok(server.address)
}

/// The lab's world.
pub(crate) struct World {
    /// Names of the worlds.
    pub(crate) worlds: Vec<String>,
    /// The worlds themselves.
    pub(crate) live: Live,
}

/// Starts the world of `file`, or the lab's, in `namespace`. `driven` are robots with drivers of their own.
pub(crate) fn start_world(
    context: &Context,
    namespace: &str,
    file: Option<&Path>,
    driven: Vec<DrivenRobot>,
    nodes: &mut JoinSet<()>,
) -> Result<World, Box<dyn Error>> {
    let file = file.map_or(Some(""), Path::to_str).ok_or("--world: the path is no valid text")?;
    let world = dragoman_sim::node::start(context, namespace, file, driven)?;
    nodes.spawn(world.node);
    Ok(World { worlds: world.worlds, live: world.live })
}

/// How long it is looked whether another world was there first.
const OTHER_WORLD_WAIT: Duration = Duration::from_secs(5);
const OTHER_WORLD_REVIEW: Duration = Duration::from_millis(100);

/// Looks whether another process offers a world in `namespace`, beside that of this one: why both cannot be there, or none when
/// there is no other by the time that discovery takes.
pub(crate) async fn other_world(context: &Context, namespace: &str) -> dragoman_ros::Result<Option<String>> {
    let node = Node::create(context.clone(), "search", namespace)?;
    // The DDS topic of a service's answers: an entry for each that offers it.
    let answers = format!("rr{namespace}/get_locationReply");
    let found = async {
        while node.get_publishers_info_by_topic(&answers, true)?.len() < 2 {
            tokio::time::sleep(OTHER_WORLD_REVIEW).await;
        }
        Ok(format!(
            "another world was in {namespace} already, from `dragoman apolo` or a second lab: both would answer, and a client side would \
             be asked in a circle; choose another --namespace or --domain"
        ))
    };
    tokio::time::timeout(OTHER_WORLD_WAIT, found).await.ok().transpose()
}

fn with_advice(error: ApoloNodeError) -> Box<dyn Error> {
    match error {
        ApoloNodeError::Bind { .. } => format!(
            "{error}; choose another address or port with --bind ADDRESS or --ros-args -p apolo:port:=PORT"
        )
        .into(),
        other => other.into(),
    }
}
