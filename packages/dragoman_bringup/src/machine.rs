//! A machine on a serial port as a ROS node: common parts of `dragoman base` and `dragoman arm`.

use std::path::PathBuf;
use std::time::Duration;

use dragoman_ros::outln;
use dragoman_ros::supervision::Supervisor;
use dragoman_ros::tasks::RunningNode;
use futures::channel::oneshot;
use futures::future::BoxFuture;

/// Error text if no port is named.
pub(crate) const WHICH_PORT: &str = "no serial port: name it with --port PATH, for example /dev/ttyUSB0";
/// Time after which a machine that has not responded is reported.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A machine whose node has been started.
pub(crate) struct Machine {
    /// Its name, for the terminal.
    pub(crate) name: &'static str,
    pub(crate) node: RunningNode,
    /// Its location: the port.
    pub(crate) place: String,
    /// Resolves when its first data have been received.
    pub(crate) measured: oneshot::Receiver<()>,
    /// The message if no data have been received by then.
    pub(crate) no_data: &'static str,
    /// Stops it and closes its line.
    pub(crate) stop: BoxFuture<'static, ()>,
}

/// The port as its node takes it; empty for no port.
///
/// # Errors
/// The path is not valid UTF-8.
pub(crate) fn port(path: Option<&PathBuf>) -> Result<String, &'static str> {
    path.map_or(Ok(String::new()), |path| {
        path.to_str().map(str::to_owned).ok_or("--port: the path is not valid UTF-8")
    })
}

/// Starts a machine.
pub(crate) async fn start(supervisor: &Supervisor, machine: Machine) {
    let Machine { name, node, place, measured, no_data, stop } = machine;
    supervisor.on_stop(stop);
    outln!("{name} at {place} appears as {}", node.name());
    supervisor.spawn_node(node);
    if dragoman_time::timeout(RESPONSE_TIMEOUT, measured).await.is_err() {
        outln!("{no_data}; see /diagnostics");
    }
}
