//! Sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `node.rs` | settings, the start |
//! | `node/server.rs` | HTTP: page, WebSocket, state of the lab |
//! | `node/listener.rs` | its connections |
//! | `node/websocket.rs` | the way from HTTP to WebSocket |
//! | `node/access.rs` | who may connect |
//! | `node/foxglove.rs` | Foxglove's protocol |
//! | `node/assets.rs` | descriptions and meshes for its clients |
//! | `node/page.rs` | the files of the page |
//! | `node/lab.rs` | the state of the lab as JSON |
//! | `node/recordings.rs` | the recorder's files, for download |
//! | `node/client.rs` | one WebSocket client |
//! | `node/outbox.rs` | messages that wait for it |
//! | `node/bounds.rs` | bounds on the resources of clients |
//! | `node/hub.rs` | the state that clients share, and what they order |
//! | `node/topics.rs` | subscriptions and publishers |
//! | `node/overlap.rs` | a subscription that is replaced |
//! | `node/calls.rs` | services, both ways |
//! | `node/actions.rs` | actions of ROS for clients |
//! | `node/offered_actions.rs` | actions of clients for ROS |
//! | `node/driving.rs` | who drives, and what stops when the driver is lost |
//! | `node/rosapi.rs` | questions about the graph |
//! | `node/ros.rs` | the thread that owns the ROS node |
//! | `node/temporary.rs` | nodes for what clients have in ROS for a while |
//!
//! The console has two threads of its own, and one for each node of `temporary.rs`, of lower priority than the rest:
//! converting messages for browsers delays neither the nodes of the process nor the answers to the clients of the old
//! protocols.

mod access;
mod actions;
mod assets;
mod bounds;
mod calls;
mod client;
mod driving;
mod foxglove;
mod hub;
mod lab;
mod listener;
mod offered_actions;
mod outbox;
mod overlap;
mod page;
mod recordings;
mod ros;
mod rosapi;
mod server;
mod temporary;
mod topics;
mod websocket;

pub use access::Token;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::net::TcpListener;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::dragoman_msgs::msg::RecordingStatus;
use dragoman_ros::introspection::Introspection;
use dragoman_ros::rcl_interfaces::msg::ParameterEvent;
use dragoman_ros::supervision::Supervisor;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile, parameters, raw};
use dragoman_types::schema::Types;
use futures::future::BoxFuture;
use uuid::{Builder, Uuid};

use hub::Hub;
use lab::Lab;
use recordings::Recordings;
use server::Server;

/// Name of the node, without its namespace.
pub const NODE_NAME: &str = "console";

/// Priority of the console's threads, relative to that of the process: see [setpriority(2)].
///
/// [setpriority(2)]: https://man7.org/linux/man-pages/man2/setpriority.2.html
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;
/// Connections that wait until they are accepted.
const BACKLOG: i32 = 1024;

/// How a console is started.
#[derive(Clone)]
pub struct Settings {
    /// Where it listens. Port 0 is any free port.
    pub address: SocketAddr,
    /// Where Foxglove's protocol is served, if it is. Port 0 is any free port.
    pub foxglove: Option<SocketAddr>,
    /// The origins of other pages that may use Foxglove's protocol, such as `https://app.foxglove.dev`.
    pub origins: Vec<String>,
    /// What clients must show; none on loopback addresses.
    pub token: Option<Token>,
    /// Topic of the recorder whose files the page offers.
    pub recorder: String,
    /// The owner of the parts of this process, which the page shows.
    pub supervisor: Option<Supervisor>,
}

/// A running console.
pub struct Console {
    /// Where it listens.
    pub address: SocketAddr,
    /// Where Foxglove's protocol is served.
    pub foxglove: Option<SocketAddr>,
    /// Runs until it is dropped.
    pub node: BoxFuture<'static, ()>,
}

/// Error starting a console.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// The address cannot be used.
    #[error("console: cannot listen on {address}: {error}")]
    Bind {
        /// Where it should listen.
        address: SocketAddr,
        /// Of the system.
        error: std::io::Error,
    },
    /// The address can be reached by others.
    #[error("console: {0} is no loopback address and needs a token")]
    NoToken(SocketAddr),
    /// The middleware refused, or the system has no more threads.
    #[error("console: {0}")]
    Node(Box<dyn Error + Send + Sync>),
}

impl ConsoleError {
    fn node(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Node(Box::new(error))
    }
}

parameters! {
    /// The parameters of the node.
    pub struct ConsoleParameters {
        /// Maximum number of WebSocket clients; further ones are refused.
        max_clients: usize = 64, in 1..=1000;
        /// Maximum length of a message of a client, MiB.
        max_message_mib: usize = 8, in 1..=64;
        /// Maximum amount of data that waits for a slow client, MiB; beyond that it loses messages of topics.
        max_queue_mib: usize = 8, in 1..=256;
        /// Time without a sign of a client that drives, after which it stops, s.
        heartbeat_timeout: Duration = 0.5, in 0.1..=60.0;
        /// Folder of the recordings that can be downloaded: the recorder's `folder`.
        recordings: String = "recordings";
        /// Subscriptions and service clients on the node for web clients, after which it is replaced if most of them have ended;
        /// 0: they are on the console's own. r2r returns their memory with their node only: there the default is 64.
        replaced_after: usize = if raw::KEEPS_ENDED { 64 } else { 0 }, in 0..=100_000;
        /// Time for the response of a service, s.
        service_timeout: Duration = 60.0, in 0.1..=3600.0;
    }
}

/// Starts nodes `console` and `console_gateway` in the root namespace, and the server.
///
/// # Errors
/// The address cannot be used, or needs a token; an invalid parameter; an error of the middleware.
pub fn start(context: &Context, settings: &Settings) -> Result<Console, ConsoleError> {
    let (listener, address) = listen(settings, settings.address)?;
    let foxglove = settings.foxglove.map(|address| listen(settings, address)).transpose()?;
    let (foxglove, foxglove_address) = foxglove.unzip();
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, "").map_err(ConsoleError::node)?);
    let parameters = tasks.declare(ConsoleParameters::default()).map_err(ConsoleError::node)?.read();
    let lab = Arc::new(Lab::new(settings.supervisor.clone(), context.domain_id()));
    let diagnostics = Arc::clone(&lab);
    let qos = QosProfile::default().keep_last(100);
    tasks
        .subscribe("/diagnostics", qos, move |message: DiagnosticArray| diagnostics.take(message))
        .map_err(ConsoleError::node)?;
    let recordings = Arc::new(Recordings::below(parameters.recordings.as_str()));
    let recorder = Arc::clone(&recordings);
    let latched = QosProfile::default().keep_last(1).transient_local();
    tasks
        .subscribe(&settings.recorder, latched, move |status: RecordingStatus| recorder.take(&status))
        .map_err(ConsoleError::node)?;
    let mut gateway = Node::create(context.clone(), "console_gateway", "").map_err(ConsoleError::node)?;
    let clock = gateway.get_ros_clock();
    let introspection = Introspection::new(&mut gateway).map_err(ConsoleError::node)?;
    let (ros, thread) = ros::start(gateway, Some(introspection)).map_err(ConsoleError::node)?;
    let hub = Hub::new(ros, context.clone(), types(), &parameters, clock);
    hub.publish_diagnostics(&mut tasks).map_err(ConsoleError::node)?;
    let followed = Arc::downgrade(&hub);
    let qos = QosProfile::parameter_events();
    tasks
        .subscribe("/parameter_events", qos, move |event: ParameterEvent| {
            if let Some(hub) = followed.upgrade() {
                hub.take_parameters(event);
            }
        })
        .map_err(ConsoleError::node)?;
    let running = tasks.start().map_err(ConsoleError::node)?;
    let (refused, started, origins) =
        (Arc::default(), random_uuid("console start").to_string().into(), settings.origins.clone().into());
    let server = Server { hub, lab, recordings, token: settings.token.clone(), refused, started, origins };
    let server = server.start(listener, foxglove).map_err(ConsoleError::node)?;
    let node = Box::pin(async move {
        // Ended in this order: the server, then the thread of ROS.
        let _thread = thread;
        tokio::select! {
            biased;
            () = server => {}
            () = running => {}
        }
    });
    Ok(Console { address, foxglove: foxglove_address, node })
}

/// A random identifier for this use.
fn random_uuid(name: &str) -> Uuid {
    Builder::from_random_bytes(dragoman_time::random_bytes(name)).into_uuid()
}

/// Gives the calling thread the processor after those of the robots. Threads have priorities of their own on Linux only, and
/// a lab on virtual time has no threads.
fn lower_priority() {
    if dragoman_time::is_virtual() {
        return;
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "lowering the thread priority failed");
    }
}

/// Opens a port; returns its address as well.
fn listen(settings: &Settings, address: SocketAddr) -> Result<(TcpListener, SocketAddr), ConsoleError> {
    if settings.token.is_none() && !address.ip().is_loopback() {
        return Err(ConsoleError::NoToken(address));
    }
    let error = |error| ConsoleError::Bind { address, error };
    let listener = TcpListener::bind(address, BACKLOG).map_err(error)?;
    let address = listener.local_addr().map_err(error)?;
    Ok((listener, address))
}

/// The types of this process.
fn types() -> Types {
    let distribution = dragoman_ros::Distribution::from_variables(dragoman_time::variable);
    let installed = dragoman_time::variable_os("AMENT_PREFIX_PATH").unwrap_or_default();
    // With rcl the installed definitions are the program's; without, the built-in ones are.
    Types::of_program(distribution.name(), &installed, dragoman_ros::raw::CALLS_ARE_JSON)
}
