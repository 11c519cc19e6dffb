//! Client side: provides the world of an old server in a namespace.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters::{self, Declaration, Parameters, Range};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Result};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, SelectAll, StreamExt};
use tokio::net::TcpStream;
use tokio::time::sleep_until;

use super::ApoloNodeError;
use super::offers::{self, Asked};
use super::robots::{self, Command, LASER_ANGLE_INCREMENT, LASER_ANGLE_MIN, LASER_RANGE_MAX, Robot};
use crate::apolo::wire::SizeBase;
use crate::apolo::{CallId, Client, ClientConfig, ClientEvent, ClientStatistics, Outcome};
use crate::tcp::{acknowledge_quickly, ready, resolved};

/// Time limit of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Size of the read buffer, bytes.
const READ_LEN: usize = 16_384;
/// Maximum number of unsent bytes, if the server does not read.
const MAX_UNSENT: usize = 65_536;

/// The parameters of the node.
pub fn client_declarations() -> Vec<Declaration> {
    let config = ClientConfig::default();
    let declared = [
        Declaration::new(
            "size_base",
            256,
            "Base of sizes and counts: 256 for servers since 2018, 255 as in the annex.",
        )
        .within(Range::Integer { from: 255, to: 256 }),
        Declaration::new(
            "move_reply",
            config.move_reply,
            "The server answers moves of mobile robots; if false, every move counts as done.",
        ),
        Declaration::new(
            "answer_timeout",
            config.answer_timeout.as_secs_f64(),
            "Time limit of an answer, s.",
        )
        .within(Range::Double { from: 0.01, to: 60.0 }),
        Declaration::new("world", "", "World of the mobile robots; empty: the first world that has them."),
        Declaration::new(
            "robots",
            Vec::<String>::new(),
            "Mobile robots that get cmd_vel, odom, scan and a transform.",
        ),
        Declaration::new(
            "rates",
            Vec::<f64>::new(),
            "Rate of velocity commands and queries for each of them, Hz; empty: 10.",
        )
        .within(Range::Double { from: 0.1, to: 1000.0 }),
        Declaration::new("lasers", Vec::<String>::new(), "Laser of each of them; an empty name: no laser."),
        Declaration::new(
            "command_timeout",
            0.6,
            "A velocity expires when it is not repeated for this long, s.",
        )
        .within(Range::Double { from: 0.01, to: 60.0 }),
        Declaration::new("laser_angle_min", LASER_ANGLE_MIN, "Angle of the lasers' first beam, rad.")
            .within(Range::Double { from: -10.0, to: 10.0 }),
        Declaration::new("laser_angle_increment", LASER_ANGLE_INCREMENT, "Angle between two beams, rad.")
            .within(Range::Double { from: -1.0, to: 1.0 }),
        Declaration::new("laser_range_max", LASER_RANGE_MAX, "The lasers' range, m.")
            .within(Range::Double { from: 0.0, to: 1000.0 }),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
}

/// Starts node `apolo_client` in `namespace` for the world whose server listens at `server`. The server may start
/// later.
///
/// # Errors
/// A wrong parameter; an error of the middleware.
pub fn start_client(
    context: &Context,
    namespace: &str,
    server: SocketAddr,
) -> Result<RunningNode, ApoloNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "apolo_client", namespace)?);
    let (parameters, parameter_server) = parameters::declare(tasks.node(), client_declarations())?;
    tasks.spawn(parameter_server);
    let requests = offers::offer(tasks.node())?;
    let (robots, commands) = robots::start(tasks.node(), &parameters)?;
    let report = Arc::new(Mutex::new(Report::default()));
    let seen = Arc::clone(&report);
    let edge = Edge {
        client: Client::new(Instant::now(), config(&parameters)),
        server,
        connecting: None,
        stream: None,
        unsent: Vec::new(),
        open: HashMap::new(),
        next_id: 0,
        robots,
        report,
    };
    tasks.spawn(edge.run(requests, commands));
    let mut diagnostics = Diagnostics::new(tasks.node(), "Apolo", &server.to_string())?;
    tasks.every(Duration::from_secs(1), move || {
        publish(&mut diagnostics, &seen.lock().unwrap_or_else(PoisonError::into_inner));
    })?;
    Ok(tasks.start()?)
}

fn config(parameters: &Parameters) -> ClientConfig {
    ClientConfig {
        size_base: SizeBase::try_from(parameters.value::<i64>("size_base")).unwrap_or_default(),
        move_reply: parameters.value("move_reply"),
        answer_timeout: Duration::from_secs_f64(parameters.value("answer_timeout")),
        ..ClientConfig::default()
    }
}

/// The caller that waits for a call's outcome.
enum Waiting {
    /// A ROS client.
    Asked(Box<dyn FnOnce(Outcome) + Send>),
    /// The robot of this index.
    Robot(usize),
}

/// The client core with its socket and ROS connections.
struct Edge {
    client: Client,
    server: SocketAddr,
    connecting: Option<BoxFuture<'static, std::io::Result<TcpStream>>>,
    stream: Option<TcpStream>,
    unsent: Vec<u8>,
    open: HashMap<CallId, Waiting>,
    next_id: u64,
    robots: Vec<Robot>,
    report: Arc<Mutex<Report>>,
}

impl Edge {
    async fn run(
        mut self,
        mut requests: SelectAll<BoxStream<'static, Asked>>,
        mut commands: SelectAll<BoxStream<'static, Command>>,
    ) {
        let mut buffer = [0; READ_LEN];
        loop {
            self.settle();
            let robots = self.robots.iter().filter_map(|robot| robot.cycle.poll_timeout());
            let deadline = self.client.poll_timeout().into_iter().chain(robots).min();
            let wake = deadline.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
            tokio::select! {
                connected = resolved(&mut self.connecting) => {
                    self.connecting = None;
                    self.connected(connected);
                }
                ready = ready(self.stream.as_ref(), !self.unsent.is_empty()) => match ready {
                    Ok(true) => self.read(&mut buffer),
                    Ok(false) => {}
                    Err(error) => self.disconnected(&error),
                },
                Some(asked) = requests.next() => {
                    self.call(asked.request, Waiting::Asked(asked.respond));
                }
                Some((index, twist)) = commands.next() => {
                    if let Some(robot) = self.robots.get_mut(index) {
                        robot.command(&twist);
                    }
                }
                () = sleep_until(wake.into()) => self.client.handle_timeout(Instant::now()),
            }
        }
    }

    /// Processes everything that needs no waiting.
    fn settle(&mut self) {
        loop {
            let now = Instant::now();
            for index in 0..self.robots.len() {
                let request = self.robots.get_mut(index).and_then(|robot| robot.cycle.poll_call(now));
                if let Some(request) = request {
                    self.call(request, Waiting::Robot(index));
                }
            }
            if self.client.poll_connect(now) {
                self.stream = None;
                self.unsent.clear();
                self.connecting = Some(connect(self.server).boxed());
            }
            while let Some(bytes) = self.client.poll_transmit() {
                self.unsent.extend(bytes);
            }
            self.write();
            if self.unsent.len() > MAX_UNSENT {
                // A request that has waited this long must not be carried out later.
                self.disconnected(&ErrorKind::TimedOut.into());
            }
            let mut news = false;
            while let Some(event) = self.client.poll_event() {
                news = true;
                self.note(event);
            }
            if !news {
                break;
            }
        }
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.statistics = self.client.statistics();
        report.connected = self.client.is_connected();
    }

    fn call(&mut self, request: crate::apolo::wire::Request, waiting: Waiting) {
        let id = CallId(self.next_id);
        self.next_id += 1;
        self.open.insert(id, waiting);
        self.client.handle_call(Instant::now(), id, request);
    }

    fn note(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Connected => tracing::info!(server = %self.server, "connected to Apolo"),
            ClientEvent::Disconnected => {
                tracing::warn!(server = %self.server, "closing the connection to Apolo");
                self.stream = None;
                self.unsent.clear();
            }
            ClientEvent::Result { id, outcome } => match self.open.remove(&id) {
                Some(Waiting::Asked(respond)) => respond(outcome),
                Some(Waiting::Robot(index)) => {
                    let Some(robot) = self.robots.get_mut(index) else { return };
                    if let Some(event) = robot.cycle.handle_outcome(Instant::now(), outcome) {
                        robot.note(event);
                        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
                        report.refused.remove(&robot.name);
                        if let Some(refusal) = &robot.refusal {
                            report.refused.insert(robot.name.clone(), refusal.to_string());
                        }
                    }
                }
                None => {}
            },
        }
    }

    fn connected(&mut self, stream: std::io::Result<TcpStream>) {
        let now = Instant::now();
        match stream {
            Ok(stream) => {
                self.stream = Some(stream);
                self.client.handle_connected(now);
            }
            Err(error) => {
                tracing::debug!(%error, server = %self.server, "connecting to Apolo failed");
                self.client.handle_connect_failed(now);
            }
        }
    }

    fn disconnected(&mut self, error: &std::io::Error) {
        tracing::debug!(%error, server = %self.server, "Apolo closed the connection");
        self.stream = None;
        self.unsent.clear();
        self.client.handle_disconnected(Instant::now());
    }

    fn read(&mut self, buffer: &mut [u8]) {
        let Some(stream) = &self.stream else { return };
        match stream.try_read(buffer) {
            Ok(0) => self.disconnected(&ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                acknowledge_quickly(stream);
                self.client.handle_bytes(Instant::now(), buffer.get(..len).unwrap_or_default());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => self.disconnected(&error),
        }
    }

    fn write(&mut self) {
        while let Some(stream) = &self.stream
            && !self.unsent.is_empty()
        {
            match stream.try_write(&self.unsent) {
                Ok(len) => drop(self.unsent.drain(..len)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => self.disconnected(&error),
            }
        }
    }
}

async fn connect(server: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(server)).await??;
    stream.set_nodelay(true)?;
    acknowledge_quickly(&stream);
    Ok(stream)
}

/// Content of `/diagnostics`.
#[derive(Default)]
struct Report {
    connected: bool,
    statistics: ClientStatistics,
    /// Robots whose last query was refused, with the reason.
    refused: std::collections::BTreeMap<String, String>,
}

fn publish(diagnostics: &mut Diagnostics, report: &Report) {
    let statistics = &report.statistics;
    let values = [
        ("requests", statistics.requests.to_string()),
        ("answers", statistics.replies.to_string()),
        ("answers timed out", statistics.timeouts.to_string()),
        ("unsolicited answers", statistics.unsolicited.to_string()),
        ("invalid frames", statistics.undecodable.to_string()),
        ("connections", statistics.connections.to_string()),
    ];
    match report.refused.first_key_value() {
        _ if !report.connected => diagnostics.publish(Severity::Error, "not connected", &values),
        Some((robot, reason)) => {
            diagnostics.publish(Severity::Warn, &format!("robot {robot}: {reason}"), &values);
        }
        None => diagnostics.publish(Severity::Ok, "connected", &values),
    }
}
