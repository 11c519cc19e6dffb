//! A machine on a serial port as a ROS node: what `dragoman base` and `dragoman arm` have in common.

use std::path::PathBuf;
use std::time::Duration;

use dragoman_ros::tasks::RunningNode;
use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::below;
use crate::supervisor::Supervisor;

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

/// Starts a machine.
pub(crate) async fn start(supervisor: &Supervisor, machine: Machine, namespace: &str) {
    let Machine { name, node, node_name, place, measured, unheard, stop } = machine;
    supervisor.on_stop(stop);
    supervisor.spawn(below(namespace, node_name), node);
    println!("{name} at {place} appears as {}/{node_name}", namespace.trim_end_matches('/'));
    if tokio::time::timeout(PATIENCE, measured).await.is_err() {
        println!("{unheard}; /diagnostics tells how it goes on");
    }
}
