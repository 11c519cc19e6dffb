//! A machine or a server that a program makes appear in ROS, and that may come later.

use std::path::PathBuf;
use std::time::Duration;

use dragoman_bridge::ClientNode;
use dragoman_io::serial::SerialPort;
use dragoman_ros::outln;
use dragoman_ros::process::Process;
use dragoman_ros::tasks::RunningNode;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::program::Later;

/// Error text if no port is named.
pub(crate) const WHICH_PORT: &str = "no serial port: name it with --port PATH, for example /dev/ttyUSB0";
/// Hint if a server does not answer.
const CHECK_SERVER: &str = "is it on, is the address right, is there a firewall between?";
/// Time after which a machine that has not responded is reported.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A machine on a serial port whose node has been started.
pub(crate) struct Machine {
    /// Its name, for the terminal.
    pub(crate) name: &'static str,
    pub(crate) node: RunningNode,
    /// Its location: the port.
    pub(crate) place: String,
    /// Resolves when its first data have been received.
    pub(crate) measured: oneshot::Receiver<()>,
    /// Text shown while no data have been received.
    pub(crate) missing: &'static str,
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

/// Starts a machine, and waits a moment for it.
pub(crate) async fn start(process: &Process, machine: Machine) -> Later {
    let Machine { name, node, place, measured, missing, stop } = machine;
    process.supervisor.on_stop(stop);
    let appears = format!("{name} at {place} appears as {}", node.name());
    process.supervisor.spawn_node(node);
    let check = move || match &SerialPort::available()[..] {
        [] => "this machine has no serial port".to_owned(),
        ports => {
            let ports: Vec<String> = ports.iter().map(|port| port.display().to_string()).collect();
            format!("serial ports of this machine: {}", ports.join(", "))
        }
    };
    let who = format!("the {name} at {place}: {missing}");
    let mut later = appear(who, check, appears, measured).boxed();
    match dragoman_time::timeout(RESPONSE_TIMEOUT, &mut later).await {
        Ok(()) => None,
        Err(_) => Some(later),
    }
}

/// Starts a client side. `server` is its server's name and address for the terminal; it appears in `namespace`.
pub(crate) fn connect(process: &Process, client: ClientNode, server: &str, namespace: &str) -> Later {
    process.supervisor.spawn_node(client.node);
    let who = format!("{server}: no answer yet");
    let appears = format!("{server} appears in {namespace}");
    Some(appear(who, || CHECK_SERVER.to_owned(), appears, client.answered).boxed())
}

/// Prints `appears` after the first answer. If there is none within a second, prints `who` is waited for, and what to
/// check.
async fn appear(
    who: String,
    check: impl FnOnce() -> String,
    appears: String,
    mut answered: oneshot::Receiver<()>,
) {
    let answer = match dragoman_time::timeout(RESPONSE_TIMEOUT, &mut answered).await {
        Ok(answer) => answer,
        Err(_) => {
            outln!("waiting for {who}; {}", check());
            answered.await
        }
    };
    if answer.is_err() {
        // Its node has ended: what follows is the supervisor's.
        std::future::pending::<()>().await;
    }
    outln!("{appears}");
}
