//! A machine on a serial port as a ROS node: what `dragoman base` and `dragoman arm` have in common.

use std::path::PathBuf;
use std::time::Duration;

use dragoman_ros::tasks::RunningNode;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use tokio::task::JoinSet;

/// What is told where no port is named.
pub(crate) const WHICH_PORT: &str = "which serial port? Name it with --port PATH, such as /dev/ttyUSB0";
/// How long a machine is waited for before it is told that it is not there.
const PATIENCE: Duration = Duration::from_secs(1);

/// A machine whose node has been started.
pub(crate) struct Machine {
    /// What it is, for the terminal.
    pub(crate) name: &'static str,
    pub(crate) node: RunningNode,
    pub(crate) node_name: &'static str,
    /// Where it is: the port.
    pub(crate) place: String,
    /// Resolves as soon as it has been heard.
    pub(crate) measured: oneshot::Receiver<()>,
    /// What is told if it has not been heard by then.
    pub(crate) unheard: &'static str,
    /// Stops it and closes its line.
    pub(crate) stop: BoxFuture<'static, ()>,
}

/// The port as its node takes it; empty for none.
///
/// # Errors
/// The path is no text.
pub(crate) fn port(path: Option<&PathBuf>) -> Result<String, &'static str> {
    path.map_or(Ok(String::new()), |path| {
        path.to_str().map(str::to_owned).ok_or("--port: the path is no valid text")
    })
}

/// Runs a machine beside other nodes until `stop` resolves.
pub(crate) async fn run(
    mut nodes: JoinSet<()>,
    machine: Machine,
    namespace: &str,
    stop: impl Future<Output = ()>,
) {
    let Machine { name, node, node_name, place, measured, unheard, stop: stop_machine } = machine;
    nodes.spawn(node);
    println!("{name} at {place} appears as {}/{node_name}", namespace.trim_end_matches('/'));
    if tokio::time::timeout(PATIENCE, measured).await.is_err() {
        println!("{unheard}; /diagnostics tells how it goes on");
    }
    println!("ready");
    stop.await;
    println!("stopping");
    stop_machine.await;
    nodes.shutdown().await;
}
