//! Client side: provides the world of an old server in a namespace.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters::{self, Declaration, Parameters, Range};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, Result};
use futures::stream::{BoxStream, SelectAll, StreamExt};

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
) -> Result<ClientNode, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "apolo_client", namespace)?);
    let (parameters, parameter_server) = parameters::declare(tasks.node(), client_declarations())?;
    tasks.spawn(parameter_server);
    let offered: Vec<_> = rows().into_iter().chain([place_xyz()]).collect();
    let requests = services::offer(tasks.node(), &offered, None)?;
    let (robots, commands) = robots::start(tasks.node(), &parameters)?;
    let report = Arc::new(Mutex::new(Report::default()));
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
        publish(&mut diagnostics, &seen.lock().unwrap_or_else(PoisonError::into_inner));
    })?;
    Ok(ClientNode { node: tasks.start()?, answered })
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
    Asked(Respond<Outcome>),
    /// The robot of this index.
    Robot(usize),
}

/// The client core with its socket and ROS connections.
struct Edge {
    client: Client,
    link: Link,
    unsent: Vec<u8>,
    open: OpenCalls<Waiting>,
    robots: Vec<Robot>,
    first_answer: FirstAnswer,
    reminder: Reminder,
    report: Arc<Mutex<Report>>,
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
                    Ok(request) => self.call(request, Waiting::Asked(asked.respond)),
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
                    self.call(request, Waiting::Robot(index));
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
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.statistics = self.client.statistics();
        report.connected = self.client.is_connected();
    }

    fn call(&mut self, request: Request, waiting: Waiting) {
        let id = self.open.begin(waiting);
        self.client.handle_call(clock::now(), id, request);
    }

    fn note(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Connected => {
                tracing::info!(server = %self.link.server(), "connected to Apolo");
                self.first_answer.came();
            }
            ClientEvent::Disconnected => {
                tracing::warn!(server = %self.link.server(), "closing the connection to Apolo");
                self.link.close();
                self.unsent.clear();
            }
            ClientEvent::Result { id, outcome } => match self.open.end(id) {
                Some(Waiting::Asked(respond)) => respond(Ok(outcome)),
                Some(Waiting::Robot(index)) => {
                    let Some(robot) = self.robots.get_mut(index) else { return };
                    if let Some(event) = robot.cycle.handle_outcome(clock::now(), outcome) {
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
