//! Client side: provides a real platform in a namespace.

use std::f64::consts::PI;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::parameters;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile};
use futures::stream::{BoxStream, SelectAll, StreamExt};
use parking_lot::Mutex;

use super::offers;
use super::picture::Picture;
use crate::calls::OpenCalls;
use crate::client_node::{FirstAnswer, Reminder};
use crate::clock;
use crate::neobotix::services::velocity;
use crate::neobotix::wire::{Command, Framing};
use crate::neobotix::{Client, ClientConfig, ClientEvent, ClientStatistics, Outcome};
use crate::services::{Asked, Respond};
use crate::tcp::client::{Link, LinkEvent, loss};
use crate::{BridgeError, ClientNode};

/// Size of the read buffer, bytes.
const READ_LEN: usize = 65_536;

parameters! {
    /// The parameters of the node of the client side.
    pub struct ClientParameters {
        /// Messages begin with the header, as those of real clients; if false with their length, as the guide's example.
        with_header: bool = ClientConfig::default().framing == Framing::Header;
        /// Rate of status queries, Hz.
        status_rate: f64 = rate(ClientConfig::default().status_period), in 0.1..=50.0;
        /// Rate of queries for position and velocity, Hz; 0: never, the status is used instead.
        position_rate: Option<f64> = ClientConfig::default().position_period.map(rate), in 0.0..=100.0;
        /// Period of map queries, since others may change the map, s; 0: only after connecting and after own changes.
        map_period: Option<Duration> = ClientConfig::default().map_period, in 0.0..=3600.0;
        /// The connection is renewed when the platform does not answer for this long, s.
        answer_timeout: Duration = ClientConfig::default().answer_timeout, in 0.05..=60.0;
        /// Time limit until the status shows a command's effect, s.
        effect_timeout: Duration = ClientConfig::default().effect_timeout, in 0.05..=60.0;
        /// Time limit until the status shows the effect of init_pltf, which tests the platform, s.
        initialize_timeout: Duration = ClientConfig::default().initialize_timeout, in 0.05..=600.0;
        /// A stop is sent when a velocity on cmd_vel is not repeated for this long, s.
        command_timeout: Duration = ClientConfig::default().velocity_timeout, in 0.05..=60.0;
        /// Frame of the map.
        map_frame: String = "map";
        /// Prefix of the platform's frames odom, base_footprint and laser.
        frame_prefix: String;
        /// Publish the transforms from the map to the odometry, to the base, to the laser.
        publish_tf: bool = true;
        /// Side of a cell of the published map, m.
        map_resolution: f64 = 0.05, in 0.01..=1.0;
        /// Pose of the laser on the platform: x and y in m, direction in rad.
        laser_pose: Vec<f64> = [0.0; 3], in -1e5..=1e5;
        /// Angle of the laser's first beam, rad.
        laser_angle_min: f64 = -0.75 * PI, in -10.0..=10.0;
        /// Angle between two beams, rad.
        laser_angle_increment: f64 = PI / 360.0, in -1.0..=1.0;
        /// Number of beams of the laser.
        laser_beams: usize = 541, in 0..=100_000;
        /// The laser's minimum range, m.
        laser_range_min: f64, in 0.0..=1000.0;
        /// The laser's maximum range, m.
        laser_range_max: f64 = 20.0, in 0.0..=1000.0;
        /// The platform's unit of voltage, V.
        battery_unit: f64 = 0.001, in 0.0..=1000.0;
    }
}

fn rate(period: Duration) -> f64 {
    1.0 / period.as_secs_f64()
}

/// Starts node `neobotix_client` in `namespace` for the platform whose PlatformCtrl listens at `server`. The server may
/// start later.
///
/// # Errors
/// A wrong parameter; an error of the middleware.
pub fn start_client(
    context: &Context,
    namespace: &str,
    server: SocketAddr,
) -> Result<ClientNode, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "neobotix_client", namespace)?);
    let frame_prefix = match namespace.trim_matches('/') {
        "" => String::new(),
        name => format!("{name}/"),
    };
    let parameters = tasks.declare(ClientParameters { frame_prefix, ..Default::default() })?.read();
    let requests = offers::offer(tasks.node(), &parameters.map_frame)?;
    let newest = QosProfile::default().keep_last(1);
    let velocities = tasks.node().subscribe::<Twist>("cmd_vel", newest)?.boxed();
    let report = Arc::new(Mutex::new(DiagnosticsReport::default()));
    let (first_answer, answered) = FirstAnswer::new();
    let edge = Edge {
        client: Client::new(clock::now(), config(&parameters)),
        picture: Picture::new(tasks.node(), &parameters)?,
        link: Link::new(server, READ_LEN),
        open: OpenCalls::new(),
        is_answering: false,
        first_answer,
        reminder: Reminder::default(),
        report: Arc::clone(&report),
    };
    tasks.spawn(edge.run(requests, velocities));
    let mut diagnostics = Diagnostics::new(tasks.node(), "Neobotix platform", &server.to_string())?;
    tasks.every(Duration::from_secs(1), move || {
        publish(&mut diagnostics, &mut report.lock());
    })?;
    Ok(ClientNode { node: tasks.start()?, answered })
}

fn config(parameters: &ClientParameters) -> ClientConfig {
    ClientConfig {
        framing: if parameters.with_header { Framing::Header } else { Framing::Bare },
        status_period: Duration::from_secs_f64(1.0 / parameters.status_rate),
        position_period: parameters
            .position_rate
            // A rate below once a minute is useless and counts as never.
            .map(|rate| Duration::from_secs_f64((1.0 / rate).min(60.0))),
        map_period: parameters.map_period,
        answer_timeout: parameters.answer_timeout,
        effect_timeout: parameters.effect_timeout,
        initialize_timeout: parameters.initialize_timeout,
        velocity_timeout: parameters.command_timeout,
        ..ClientConfig::default()
    }
}

/// The client core with its socket and ROS connections.
struct Edge {
    client: Client,
    picture: Picture,
    link: Link,
    open: OpenCalls<Respond<Outcome>>,
    /// Whether it has reported its state on this connection.
    is_answering: bool,
    first_answer: FirstAnswer,
    reminder: Reminder,
    report: Arc<Mutex<DiagnosticsReport>>,
}

impl Edge {
    async fn run(
        mut self,
        mut requests: SelectAll<BoxStream<'static, Asked<Command, Outcome>>>,
        mut velocities: BoxStream<'static, Twist>,
    ) {
        loop {
            self.settle();
            let deadline = self.client.poll_timeout();
            let has_unsent = !self.client.unsent().is_empty();
            tokio::select! {
                biased;
                () = clock::until(deadline) => self.client.handle_timeout(clock::now()),
                Some(asked) = requests.next() => self.call(asked),
                Some(twist) = velocities.next() => self.drive(&twist),
                event = self.link.next(has_unsent) => self.handle_link(event),
            }
        }
    }

    /// Processes everything that needs no waiting.
    fn settle(&mut self) {
        loop {
            if self.client.poll_connect(clock::now()) {
                self.link.connect();
            }
            self.write();
            let Some(event) = self.client.poll_event() else { break };
            self.note(event);
        }
        let mut report = self.report.lock();
        report.statistics = self.client.statistics();
        report.connected = self.client.is_connected() && self.is_answering;
    }

    fn note(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Disconnected(loss) => {
                self.link.close();
                self.is_answering = false;
                self.missing(&loss);
            }
            ClientEvent::Status(status) => {
                // A server that accepts connections without answering, because it already has a client, is not
                // reported.
                if !std::mem::replace(&mut self.is_answering, true) {
                    tracing::info!(server = %self.link.server(), "connected to the platform");
                    self.first_answer.arrived();
                    self.reminder = Reminder::default();
                }
                self.picture.show_status(clock::now(), &status);
            }
            ClientEvent::Position(position) => self.picture.show_position(clock::now(), &position),
            ClientEvent::Map(map) => self.picture.show_map(map),
            ClientEvent::Undecodable(error) => self.report_problem(format!("invalid answer: {error}")),
            ClientEvent::Result { id, outcome } => {
                if let Outcome::Refused(refusal) = &outcome {
                    self.report_problem(refusal.to_string());
                }
                if let Some(respond) = self.open.end(id) {
                    respond(Ok(outcome));
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, Asked { call, respond }: Asked<Command, Outcome>) {
        match call {
            Ok(command) => {
                let id = self.open.begin(respond);
                self.client.handle_call(clock::now(), id, command);
            }
            Err(reason) => {
                self.report_problem(reason.clone());
                respond(Err(reason));
            }
        }
    }

    fn drive(&mut self, twist: &Twist) {
        match velocity(twist.linear.x, twist.linear.y, twist.angular.z) {
            Ok(velocity) => self.client.handle_velocity(clock::now(), velocity),
            Err(out_of_range) => self.report_problem(format!("cmd_vel: {out_of_range}")),
        }
    }

    fn disconnected(&mut self, error: &std::io::Error) {
        self.client.handle_disconnected(clock::now(), &loss(error));
    }

    /// Logs from time to time that the platform is not connected, and why.
    fn missing(&mut self, reason: &dyn std::fmt::Display) {
        self.report.lock().loss = reason.to_string();
        if self.reminder.is_due(clock::now()) {
            tracing::warn!(server = %self.link.server(), %reason, "not connected to the platform; retrying");
        }
    }

    /// Stores a problem for `/diagnostics`; the first one since the last report is also logged.
    fn report_problem(&mut self, reason: String) {
        let mut report = self.report.lock();
        if report.problem.is_none() {
            tracing::warn!(reason, "request failed");
        }
        report.problem = Some(reason);
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
        match self.link.send(self.client.unsent()) {
            Ok(0) => {}
            Ok(sent) => self.client.handle_sent(clock::now(), sent),
            Err(error) => self.disconnected(&error),
        }
    }
}

/// Content of `/diagnostics`.
#[derive(Default)]
struct DiagnosticsReport {
    connected: bool,
    /// Reason of the last lost or failed connection.
    loss: String,
    statistics: ClientStatistics,
    /// The last problem since the previous report.
    problem: Option<String>,
}

fn publish(diagnostics: &mut Diagnostics, report: &mut DiagnosticsReport) {
    let statistics = &report.statistics;
    let values = [
        ("requests", statistics.requests.to_string()),
        ("answers", statistics.replies.to_string()),
        ("skipped by the platform", statistics.unanswered.to_string()),
        ("unsolicited answers", statistics.unsolicited.to_string()),
        ("invalid answers", statistics.undecodable.to_string()),
        ("refused", statistics.refused.to_string()),
        ("connections", statistics.connections.to_string()),
    ];
    let (severity, message) = match report.problem.take() {
        _ if !report.connected => (Severity::Error, format!("not connected: {}", report.loss)),
        Some(problem) => (Severity::Warn, problem),
        None => (Severity::Ok, "connected".to_owned()),
    };
    diagnostics.publish(severity, message.trim_end_matches(": "), &values);
}
