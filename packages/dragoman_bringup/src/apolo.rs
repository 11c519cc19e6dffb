//! `dragoman apolo`: a real Apolo in ROS. Also the lab's world and its port for old programs.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use clap::Args;
use dragoman_bridge::apolo::node::{ApoloNodeError, start_client, start_server};
use dragoman_ros::Context;
use dragoman_world::node::{DrivenRobot, Live};

use crate::claims::Claims;
use crate::supervisor::Supervisor;
use crate::{address, below};

#[derive(Args)]
pub(crate) struct ApoloOptions {
    /// Address of Apolo, or of another server of its protocol; its own port is 12000.
    #[arg(long, value_name = "HOST:PORT")]
    server: String,
    /// Namespace in which its world appears.
    #[arg(long, value_name = "NAMESPACE", default_value = NAMESPACE)]
    namespace: String,
}

/// Namespace of the world.
pub(crate) const NAMESPACE: &str = "/apolo";

/// Starts the client side.
pub(crate) async fn start(
    context: &Context,
    options: &ApoloOptions,
    supervisor: &Supervisor,
    claims: &Claims,
) -> Result<(), Box<dyn Error>> {
    let server = address::resolve("--server", &options.server)?;
    // If another process serves the namespace, requests would run in a circle.
    claims.claim_namespace(context, "apolo_client", &options.namespace)?;
    claims.alone().await;
    let name = below(&options.namespace, "apolo_client");
    supervisor.spawn(name, start_client(context, &options.namespace, server)?);
    println!("Apolo at {server} appears in {}", options.namespace);
    Ok(())
}

/// Starts the port in front of the world in `namespace`; returns its address.
pub(crate) fn serve(
    context: &Context,
    namespace: &str,
    bind: IpAddr,
    supervisor: &Supervisor,
) -> Result<SocketAddr, Box<dyn Error>> {
    let server = start_server(context, namespace, bind).map_err(with_advice)?;
    let (context, again) = (context.clone(), namespace.to_owned());
    supervisor.spawn_restartable(below(namespace, "apolo"), server.node, move || {
        start_server(&context, &again, bind).map(|server| server.node)
    });
    Ok(server.address)
}

/// The world of the lab.
pub(crate) struct World {
    /// Names of the worlds.
    pub(crate) worlds: Vec<String>,
    /// The worlds.
    pub(crate) live: Live,
}

/// Starts the world of `file`, or the lab's, in `namespace`. `driven` are robots with their own drivers.
pub(crate) fn start_world(
    context: &Context,
    namespace: &str,
    file: Option<&Path>,
    driven: Vec<DrivenRobot>,
    supervisor: &Supervisor,
) -> Result<World, Box<dyn Error>> {
    let file = file.map_or(Some(""), Path::to_str).ok_or("--world: the path is not valid UTF-8")?;
    let world = dragoman_world::node::start(context, namespace, file, driven)?;
    supervisor.spawn(below(namespace, "world"), world.node);
    Ok(World { worlds: world.worlds, live: world.live })
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
