//! Client side: provides the world of an old server in a namespace.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, Result};
use futures::stream::{BoxStream, SelectAll, StreamExt};
use parking_lot::Mutex;

use super::robots::{self, Command, LASER_ANGLE_INCREMENT, LASER_ANGLE_MIN, LASER_RANGE_MAX, Robot};
use crate::apolo::services::{place_xyz, rows};
use crate::apolo::wire::{Request, SizeBase};
use crate::apolo::{Client, ClientConfig, ClientEvent, ClientStatistics, Outcome};
use crate::calls::OpenCalls;
use crate::client_node::{FirstAnswer, Reminder};
use crate::clock;
use crate::services::{self, Asked, Respond};
use crate::tcp::client::{Link, LinkEvent, loss};
use crate::{BridgeError, ClientNode};

/// Size of the read buffer, bytes.
const READ_LEN: usize = 16_384;
/// Maximum number of unsent bytes, if the server does not read.
const MAX_UNSENT: usize = 65_536;

parameters! {
    /// The parameters of the node of the client side.
    pub struct ClientParameters {
        /// Base of sizes and counts: 256 for servers since 2018, 255 as in the annex.
        size_base: i64 = 256, in 255..=256;
        /// The server answers moves of mobile robots; if false, every move counts as done.
        move_reply: bool = ClientConfig::default().move_reply;
        /// Time limit of an answer, s.
        answer_timeout: Duration = ClientConfig::default().answer_timeout, in 0.01..=60.0;
        /// World of the mobile robots; empty: the first world that has them.
        world: String;
        /// Mobile robots that get cmd_vel, odom, scan and a transform.
        robots: Vec<String>;
        /// Rate of velocity commands and queries for each of them, Hz; empty: 10.
        rates: Vec<f64>, in 0.1..=1000.0;
        /// Laser of each of them; an empty name: no laser.
        lasers: Vec<String>;
        /// A velocity expires when it is not repeated for this long, s.
        command_timeout: Duration = 0.6, in 0.01..=60.0;
        /// Angle of the lasers' first beam, rad.
        laser_angle_min: f64 = LASER_ANGLE_MIN, in -10.0..=10.0;
        /// Angle between two beams, rad.
        laser_angle_increment: f64 = LASER_ANGLE_INCREMENT, in -1.0..=1.0;
        /// The lasers' range, m.
        laser_range_max: f64 = LASER_RANGE_MAX, in 0.0..=1000.0;
    }
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
) -> Result<ClientNode, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "apolo_client", namespace)?);
    let parameters = tasks.declare(ClientParameters::default())?.read();
    let offered: Vec<_> = rows().into_iter().chain([place_xyz()]).collect();
    let requests = services::offer(tasks.node(), &offered, None)?;
    let (robots, commands) = robots::start(tasks.node(), &parameters)?;
    let report = Arc::new(Mutex::new(DiagnosticsReport::default()));
    let seen = Arc::clone(&report);
    let (first_answer, answered) = FirstAnswer::new();
    let edge = Edge {
        client: Client::new(clock::now(), config(&parameters)),
        link: Link::new(server, READ_LEN),
        unsent: Vec::new(),
        open: OpenCalls::new(),
        robots,
        first_answer,
        reminder: Reminder::default(),
        report,
    };
    tasks.spawn(edge.run(requests, commands));
    let mut diagnostics = Diagnostics::new(tasks.node(), "Apolo", &server.to_string())?;
    tasks.every(Duration::from_secs(1), move || {
        publish(&mut diagnostics, &seen.lock());
    })?;
    Ok(ClientNode { node: tasks.start()?, answered })
}

fn config(parameters: &ClientParameters) -> ClientConfig {
    ClientConfig {
        size_base: SizeBase::try_from(parameters.size_base).unwrap_or_default(),
        move_reply: parameters.move_reply,
        answer_timeout: parameters.answer_timeout,
        ..ClientConfig::default()
    }
}

/// The caller that waits for a call's outcome.
enum WaitingCaller {
    /// A ROS client.
    Asked(Respond<Outcome>),
    /// The robot of this index.
    Robot(usize),
}

/// The client core with its socket and ROS connections.
struct Edge {
    client: Client,
    link: Link,
    unsent: Vec<u8>,
    open: OpenCalls<WaitingCaller>,
    robots: Vec<Robot>,
    first_answer: FirstAnswer,
    reminder: Reminder,
    report: Arc<Mutex<DiagnosticsReport>>,
}

impl Edge {
    async fn run(
        mut self,
        mut requests: SelectAll<BoxStream<'static, Asked<Request, Outcome>>>,
        mut commands: SelectAll<BoxStream<'static, Command>>,
    ) {
        loop {
            self.settle();
            let robots = self.robots.iter().filter_map(|robot| robot.cycle.poll_timeout());
            let deadline = self.client.poll_timeout().into_iter().chain(robots).min();
            tokio::select! {
                biased;
                () = clock::until(deadline) => self.client.handle_timeout(clock::now()),
                Some(asked) = requests.next() => match asked.call {
                    Ok(request) => self.call(request, WaitingCaller::Asked(asked.respond)),
                    Err(reason) => (asked.respond)(Err(reason)),
                },
                Some((index, twist)) = commands.next() => {
                    if let Some(robot) = self.robots.get_mut(index) {
                        robot.command(&twist);
                    }
                }
                event = self.link.next(!self.unsent.is_empty()) => self.handle_link(event),
            }
        }
    }

    /// Processes everything that needs no waiting.
    fn settle(&mut self) {
        loop {
            let now = clock::now();
            for index in 0..self.robots.len() {
                let request = self.robots.get_mut(index).and_then(|robot| robot.cycle.poll_call(now));
                if let Some(request) = request {
                    self.call(request, WaitingCaller::Robot(index));
                }
            }
            if self.client.poll_connect(now) {
                self.unsent.clear();
                self.link.connect();
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
        let mut report = self.report.lock();
        report.statistics = self.client.statistics();
        report.connected = self.client.is_connected();
    }

    fn call(&mut self, request: Request, waiting: WaitingCaller) {
        let id = self.open.begin(waiting);
        self.client.handle_call(clock::now(), id, request);
    }

    fn note(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Connected => {
                tracing::info!(server = %self.link.server(), "connected to Apolo");
                self.first_answer.arrived();
            }
            ClientEvent::Disconnected => {
                tracing::warn!(server = %self.link.server(), "closing the connection to Apolo");
                self.link.close();
                self.unsent.clear();
            }
            ClientEvent::Result { id, outcome } => match self.open.end(id) {
                Some(WaitingCaller::Asked(respond)) => respond(Ok(outcome)),
                Some(WaitingCaller::Robot(index)) => {
                    let Some(robot) = self.robots.get_mut(index) else { return };
                    if let Some(event) = robot.cycle.handle_outcome(clock::now(), outcome) {
                        robot.note(event);
                        let mut report = self.report.lock();
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

    /// Logs from time to time that the server is not connected, and why.
    fn missing(&mut self, reason: &dyn std::fmt::Display) {
        if self.reminder.is_due(clock::now()) {
            tracing::warn!(server = %self.link.server(), %reason, "not connected to Apolo; retrying");
        }
    }

    fn disconnected(&mut self, error: &std::io::Error) {
        self.missing(&loss(error));
        self.link.close();
        self.unsent.clear();
        self.client.handle_disconnected(clock::now());
    }

    fn handle_link(&mut self, event: LinkEvent) {
        let now = clock::now();
        match event {
            LinkEvent::Connected => self.client.handle_connected(now),
            LinkEvent::Failed(error) => {
                self.missing(&error);
                self.client.handle_connect_failed(now);
            }
            LinkEvent::Received(len) => self.client.handle_bytes(now, self.link.received(len)),
            LinkEvent::Writable => {}
            LinkEvent::Lost(error) => self.disconnected(&error),
        }
    }

    fn write(&mut self) {
        match self.link.send(&self.unsent) {
            Ok(sent) => drop(self.unsent.drain(..sent)),
            Err(error) => self.disconnected(&error),
        }
    }
}

/// Content of `/diagnostics`.
#[derive(Default)]
struct DiagnosticsReport {
    connected: bool,
    statistics: ClientStatistics,
    /// Robots whose last query was refused, with the reason.
    refused: std::collections::BTreeMap<String, String>,
}

fn publish(diagnostics: &mut Diagnostics, report: &DiagnosticsReport) {
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
