//! Server side: a TCP port in front of ROS names.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | the port, the connections, and the task that carries out the clients' requests |
//! | `server/table.rs` | the device table: the ROS names of each device |
//! | `server/driver.rs` | the interface of a device's driver, and functions for all drivers |
//! | `server/position2d.rs` and so on | one interface each |
//!
//! A device's node runs while a client is subscribed to it, as a driver of the original does. So a server without
//! clients receives nothing.

mod body;
mod camera;
mod description;
mod driver;
mod frames;
mod gripper;
mod joint_command;
mod joints;
mod limb;
mod localize;
mod log;
mod map;
mod opaque;
mod planner;
mod platform;
mod position2d;
mod ranges;
mod scan;
mod simulation;
mod table;
mod vectormap;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::net::{Keepalive, TcpStream};
use dragoman_ros::parameters;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node};
use dragoman_time::{Held, wall_time};
use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::BridgeError;
use crate::player::server::{Call, ClientId, Outcome, Server, ServerConfig, ServerStatistics};
use crate::player::wire::{DEFAULT_PORT, Device};
use crate::ports::BindParameters;
use crate::tcp::server::{Leaving, Ports, Report, Serve};
use crate::tcp::{read, send};
use driver::{Feed, Opened, Setup};
pub use table::{BaseParameters, Configured, Table, TableError, base_parameters};

/// Detects a lost client after three seconds; its robot drives until then.
const KEEPALIVE: Keepalive = Keepalive { idle_s: 1, interval_s: 1, probes: 2 };
/// Size of a connection's read buffer, bytes.
const READ_LEN: usize = 4096;
/// Time limit of a request to a device, s. Player's own clients wait ten seconds.
const SERVICE_TIMEOUT: f64 = 5.0;

/// Period of the check for a lost connection while the server does not read from a client. Until then its robot drives.
const CHECK_PERIOD: Duration = Duration::from_millis(200);

parameters! {
    /// The parameters of the node of the server side.
    pub struct ServerParameters {
        ..bind: BindParameters;
        /// TCP port to listen on.
        port: u16 = DEFAULT_PORT;
        /// Maximum number of connected clients; additional connections are refused.
        max_connections: usize = 256, in 1..=60000;
        /// Key that clients have to give before anything else; empty: none.
        key: Option<String>;
        /// Time for which a velocity, or a speed in a direction, holds, s; 0: until the next command, as with the original's
        /// drivers. A pose is driven to for as long as it takes.
        command_timeout: Option<Duration>, in 0.0..=3600.0;
        /// Time limit of a request to a device, s.
        service_timeout: Duration = SERVICE_TIMEOUT, in 0.01..=60.0;
    }
}

/// A running server side.
#[derive(Debug)]
pub struct PlayerServer {
    /// The node; it serves while it is polled, and closes all connections when it is dropped.
    pub node: RunningNode,
    /// The address on which it listens.
    pub address: SocketAddr,
}

/// Starts node `player` in a namespace, listening by default on `bind`. The table's relative names are in the namespace.
///
/// # Errors
/// The port is in use; a wrong parameter; an error of the middleware.
pub fn start_server(
    context: &Context,
    namespace: &str,
    bind: IpAddr,
    table: &Table,
) -> Result<PlayerServer, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "player", namespace)?);
    let bind = BindParameters::new(bind);
    let parameters = tasks.declare(ServerParameters { bind, ..ServerParameters::default() })?.read();
    let listener = parameters.bind.tcp(Hub::NAME, parameters.port)?;
    let address = listener.local_addr()?;
    let config = ServerConfig { key: parameters.key.clone(), ..ServerConfig::default() };
    let hub = Arc::new(Hub {
        server: Mutex::new(Server::new(config, table.devices())),
        clients: Mutex::default(),
        calls: Notify::new(),
    });
    let setup = Setup {
        context: context.clone(),
        namespace: tasks.node().namespace()?,
        command_timeout: parameters.command_timeout,
        service_timeout: parameters.service_timeout,
    };
    tasks.spawn(carry_out(Arc::clone(&hub), table.clone(), setup));
    let ports = Ports {
        services: hub,
        keepalive: KEEPALIVE,
        max_clients: parameters.max_connections,
        disconnect_grace: Duration::ZERO,
        full: "too many clients",
    };
    ports.serve(&mut tasks, vec![listener], &address.to_string())?;
    Ok(PlayerServer { node: tasks.start()?, address })
}

/// The server's core, and the tasks that wait for it.
struct Hub {
    server: Mutex<Server>,
    /// Wakes the task of a client's connection.
    clients: Mutex<BTreeMap<ClientId, Arc<Notify>>>,
    /// Wakes [`carry_out`].
    calls: Notify,
}

impl Hub {
    /// Gives the core an input, and wakes the tasks that have to process its outputs.
    fn with<T>(&self, input: impl FnOnce(&mut Server) -> T) -> T {
        let mut server = self.server.lock();
        let output = input(&mut server);
        let mut ready = Vec::new();
        while let Some(client) = server.poll_ready_client() {
            ready.push(client);
        }
        let has_calls = server.has_calls();
        drop(server);
        if !ready.is_empty() {
            let clients = self.clients.lock();
            ready.iter().filter_map(|client| clients.get(client)).for_each(|notify| notify.notify_one());
        }
        if has_calls {
            self.calls.notify_one();
        }
        output
    }
}

impl Serve for Hub {
    const NAME: &'static str = "Player's protocol";
    type Statistics = ServerStatistics;

    fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        keepalive: Keepalive,
        report: Arc<Report<ServerStatistics>>,
        _: Leaving,
    ) -> BoxFuture<'static, ()> {
        let port = stream.local_addr().map_or(DEFAULT_PORT, |address| address.port());
        async move {
            let client = self.with(|server| server.handle_connected(port));
            let notify = Arc::new(Notify::new());
            self.clients.lock().insert(client, Arc::clone(&notify));
            let connection = Connection { hub: Arc::clone(&self), client, address };
            if let Err(error) = connection.run(&stream, &notify, keepalive, &report).await {
                tracing::debug!(%error, client = %address, protocol = Self::NAME, "client connection lost");
            }
        }
        .boxed()
    }
}

/// A client's connection. When dropped, also because its task was cancelled, it notifies the core.
struct Connection {
    hub: Arc<Hub>,
    client: ClientId,
    address: SocketAddr,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.hub.clients.lock().remove(&self.client);
        self.hub.with(|server| server.handle_disconnected(self.client));
    }
}

impl Connection {
    async fn run(
        &self,
        stream: &TcpStream,
        notify: &Notify,
        keepalive: Keepalive,
        report: &Report<ServerStatistics>,
    ) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        stream.acknowledge_quickly();
        stream.set_keepalive(&keepalive)?;
        let mut is_limited = true;
        let mut buffer = vec![0; READ_LEN];
        let (mut unsent, mut sent) = (Vec::new(), 0);
        let waiting = Held::new("bytes that wait for Player's clients");
        loop {
            let (has_ended, wants_input, rest) = loop {
                if sent == unsent.len() {
                    sent = 0;
                    match self.hub.with(|server| server.poll_transmit(wall_time(), self.client)) {
                        Some(bytes) => unsent = bytes,
                        None => unsent.clear(),
                    }
                }
                let taken = send(stream, unsent.get(sent..).unwrap_or_default())?;
                if taken == 0 {
                    let mut server = self.hub.server.lock();
                    report.add_news(server.poll_statistics(), std::iter::from_fn(|| server.poll_event()));
                    let rest = server.poll_timeout(self.client);
                    waiting.set(unsent.len() - sent + server.waiting_len(self.client));
                    let is_sent = sent == unsent.len();
                    let has_ended =
                        server.is_aborted(self.client) || (is_sent && server.is_closing(self.client));
                    break (has_ended, server.wants_input(self.client), rest);
                }
                sent += taken;
            };
            let has_unsent = sent < unsent.len();
            if has_ended {
                return Ok(());
            }
            if has_unsent || !is_limited {
                // A client that does not read loses data. It loses its connection only if a robot obeys it.
                let commands = self.hub.server.lock().is_commander(self.client);
                if std::mem::replace(&mut is_limited, commands) != commands {
                    stream.limit_unread(&keepalive, commands)?;
                }
            }
            tokio::select! {
                biased;
                () = dragoman_time::sleep(CHECK_PERIOD), if !wants_input => if stream.has_ended() {
                    return Ok(());
                },
                () = notify.notified() => {}
                () = sleep_until(rest), if !has_unsent => {}
                // All that can be sent was sent, so it is not ready again before the client reads.
                writable = stream.writable(), if has_unsent => writable?,
                read = read(stream, &mut buffer), if wants_input => match read? {
                    0 => return Ok(()),
                    len => {
                        let bytes = buffer.get(..len).unwrap_or_default();
                        let asked = self.hub.with(|server| {
                            server.handle_bytes(wall_time(), self.client, bytes);
                            server.last_request(self.client)
                        });
                        if let Some(request) = asked {
                            report.asked(self.address, &request);
                        }
                        stream.acknowledge_quickly();
                    }
                },
            }
        }
    }
}

/// Waits until this time since 1970.
async fn sleep_until(end: Option<Duration>) {
    match end {
        Some(end) => dragoman_time::sleep(end.saturating_sub(wall_time())).await,
        None => std::future::pending().await,
    }
}

/// Opens and closes devices, and passes the clients' commands and requests to them.
async fn carry_out(hub: Arc<Hub>, table: Table, setup: Setup) {
    let mut devices: BTreeMap<Device, (Opened, Feed)> = BTreeMap::new();
    let mut outcomes: FuturesUnordered<BoxFuture<'static, (ClientId, Outcome)>> = FuturesUnordered::new();
    loop {
        while let Some(call) = hub.with(Server::poll_call) {
            match call {
                Call::Open(device) => {
                    let feed = Feed::new(Arc::clone(&hub), device);
                    let opened = table.open(device, &setup, feed.clone()).map(|opened| {
                        devices.insert(device, (opened, feed));
                    });
                    hub.with(|server| server.handle_opened(wall_time(), device, opened));
                }
                Call::Close(device) => {
                    if let Some((mut opened, feed)) = devices.remove(&device) {
                        feed.close();
                        opened.driver.handle_release();
                        // The last message has to be sent.
                        dragoman_time::spawn(async move {
                            dragoman_time::sleep(opened.driver.shutdown_delay()).await;
                            drop(opened);
                        });
                    }
                }
                Call::Release(device) => {
                    if let Some((opened, _)) = devices.get_mut(&device) {
                        opened.driver.handle_release();
                    }
                }
                Call::Command { device, command } => {
                    if let Some((opened, _)) = devices.get_mut(&device)
                        && let Err(reason) = opened.driver.handle_command(command)
                    {
                        hub.with(|server| server.handle_refused(device, reason));
                    }
                }
                Call::Request { client, device, request } => {
                    let answer = match devices.get_mut(&device) {
                        Some((Opened { driver, .. }, _)) => driver::answer(device, &mut **driver, request),
                        None => Err("the device is closed".to_owned()),
                    };
                    let answer = answer.unwrap_or_else(driver::refused);
                    let limit = setup.service_timeout;
                    outcomes.push(Box::pin(async move {
                        let late = |_| Err(format!("no answer within {limit:?}"));
                        (client, dragoman_time::timeout(limit, answer).await.unwrap_or_else(late))
                    }));
                }
            }
        }
        tokio::select! {
            biased;
            Some((client, outcome)) = outcomes.next() => {
                hub.with(|server| server.handle_outcome(wall_time(), client, outcome));
            }
            () = hub.calls.notified() => {}
        }
    }
}
