//! Client side: provides a real platform in a namespace.

use std::f64::consts::PI;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::parameters::{self, Declaration, Parameters, Range};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile};
use futures::stream::{BoxStream, SelectAll, StreamExt};

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

/// The parameters of the node; `frame_prefix` is the default of the parameter of that name.
pub fn client_declarations(frame_prefix: &str) -> Vec<Declaration> {
    let config = ClientConfig::default();
    let rate = |period: Duration| 1.0 / period.as_secs_f64();
    let seconds = |from: f64, to: f64| Range::Double { from, to };
    let declared = [
        Declaration::new(
            "with_header",
            config.framing == Framing::Header,
            "Messages begin with the header, as those of real clients; if false with their length, as the guide's example.",
        ),
        Declaration::new("status_rate", rate(config.status_period), "Rate of status queries, Hz.")
            .within(Range::Double { from: 0.1, to: 50.0 }),
        Declaration::new(
            "position_rate",
            config.position_period.map_or(0.0, rate),
            "Rate of queries for position and velocity, Hz; 0: never, the status is used instead.",
        )
        .within(Range::Double { from: 0.0, to: 100.0 }),
        Declaration::new(
            "map_period",
            config.map_period.unwrap_or_default().as_secs_f64(),
            "Period of map queries, since others may change the map, s; 0: only after connecting and after own changes.",
        )
        .within(seconds(0.0, 3600.0)),
        Declaration::new(
            "answer_timeout",
            config.answer_timeout.as_secs_f64(),
            "The connection is renewed when the platform does not answer for this long, s.",
        )
        .within(seconds(0.05, 60.0)),
        Declaration::new(
            "effect_timeout",
            config.effect_timeout.as_secs_f64(),
            "Time limit until the status shows a command's effect, s.",
        )
        .within(seconds(0.05, 60.0)),
        Declaration::new(
            "initialize_timeout",
            config.initialize_timeout.as_secs_f64(),
            "Time limit until the status shows the effect of init_pltf, which tests the platform, s.",
        )
        .within(seconds(0.05, 600.0)),
        Declaration::new(
            "command_timeout",
            config.velocity_timeout.as_secs_f64(),
            "A stop is sent when a velocity on cmd_vel is not repeated for this long, s.",
        )
        .within(seconds(0.05, 60.0)),
        Declaration::new("map_frame", "map", "Frame of the map."),
        Declaration::new(
            "frame_prefix",
            frame_prefix,
            "Prefix of the platform's frames odom, base_footprint and laser.",
        ),
        Declaration::new(
            "publish_tf",
            true,
            "Publish the transforms from the map to the odometry, to the base, to the laser.",
        ),
        Declaration::new("map_resolution", 0.05, "Side of a cell of the published map, m.")
            .within(Range::Double { from: 0.01, to: 1.0 }),
        Declaration::new(
            "laser_pose",
            vec![0.0; 3],
            "Pose of the laser on the platform: x and y in m, direction in rad.",
        )
        .within(Range::Double { from: -1e5, to: 1e5 }),
        Declaration::new("laser_angle_min", -0.75 * PI, "Angle of the laser's first beam, rad.")
            .within(Range::Double { from: -10.0, to: 10.0 }),
        Declaration::new("laser_angle_increment", PI / 360.0, "Angle between two beams, rad.")
            .within(Range::Double { from: -1.0, to: 1.0 }),
        Declaration::new("laser_beams", 541, "Number of beams of the laser.")
            .within(Range::Integer { from: 0, to: 100_000 }),
        Declaration::new("laser_range_min", 0.0, "The laser's minimum range, m.")
            .within(Range::Double { from: 0.0, to: 1000.0 }),
        Declaration::new("laser_range_max", 20.0, "The laser's maximum range, m.")
            .within(Range::Double { from: 0.0, to: 1000.0 }),
        Declaration::new("battery_unit", 0.001, "The platform's unit of voltage, V.")
            .within(Range::Double { from: 0.0, to: 1000.0 }),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
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
    let prefix = match namespace.trim_matches('/') {
        "" => String::new(),
        name => format!("{name}/"),
    };
    let (parameters, parameter_server) = parameters::declare(tasks.node(), client_declarations(&prefix))?;
    tasks.spawn(parameter_server);
    let requests = offers::offer(tasks.node(), &parameters.value::<String>("map_frame"))?;
    let newest = QosProfile::default().keep_last(1);
    let velocities = tasks.node().subscribe::<Twist>("cmd_vel", newest)?.boxed();
    let report = Arc::new(Mutex::new(Report::default()));
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
        publish(&mut diagnostics, &mut report.lock().unwrap_or_else(PoisonError::into_inner));
    })?;
    Ok(ClientNode { node: tasks.start()?, answered })
}

fn config(parameters: &Parameters) -> ClientConfig {
    let seconds = |name: &str| Duration::from_secs_f64(parameters.value(name));
    let some = |number: f64| (number > 0.0).then_some(number);
    let with_header: bool = parameters.value("with_header");
    ClientConfig {
        framing: if with_header { Framing::Header } else { Framing::Bare },
        status_period: Duration::from_secs_f64(1.0 / parameters.value::<f64>("status_rate")),
        position_period: some(parameters.value("position_rate"))
            // A rate below once a minute is useless and counts as never.
            .map(|rate| Duration::from_secs_f64((1.0 / rate).min(60.0))),
        map_period: some(parameters.value("map_period")).map(Duration::from_secs_f64),
        answer_timeout: seconds("answer_timeout"),
        effect_timeout: seconds("effect_timeout"),
        initialize_timeout: seconds("initialize_timeout"),
        velocity_timeout: seconds("command_timeout"),
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
    report: Arc<Mutex<Report>>,
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
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
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
                    self.first_answer.came();
                    self.reminder = Reminder::default();
                }
                self.picture.show_status(clock::now(), &status);
            }
            ClientEvent::Position(position) => self.picture.show_position(clock::now(), &position),
            ClientEvent::Map(map) => self.picture.show_map(map),
            ClientEvent::Undecodable(error) => self.complain(format!("invalid answer: {error}")),
            ClientEvent::Result { id, outcome } => {
                if let Outcome::Refused(refusal) = &outcome {
                    self.complain(refusal.to_string());
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
                self.complain(reason.clone());
                respond(Err(reason));
            }
        }
    }

    fn drive(&mut self, twist: &Twist) {
        match velocity(twist.linear.x, twist.linear.y, twist.angular.z) {
            Ok(velocity) => self.client.handle_velocity(clock::now(), velocity),
            Err(out_of_range) => self.complain(format!("cmd_vel: {out_of_range}")),
        }
    }

    fn disconnected(&mut self, error: &std::io::Error) {
        self.client.handle_disconnected(clock::now(), &loss(error));
    }

    /// Logs from time to time that the platform is not connected, and why.
    fn missing(&mut self, reason: &dyn std::fmt::Display) {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).loss = reason.to_string();
        if self.reminder.is_due(clock::now()) {
            tracing::warn!(server = %self.link.server(), %reason, "not connected to the platform; retrying");
        }
    }

    /// Stores a problem for `/diagnostics`; the first one since the last report is also logged.
    fn complain(&mut self, reason: String) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if report.complaint.is_none() {
            tracing::warn!(reason, "refused");
        }
        report.complaint = Some(reason);
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
struct Report {
    connected: bool,
    /// Reason of the last lost or failed connection.
    loss: String,
    statistics: ClientStatistics,
    /// The last problem since the previous report.
    complaint: Option<String>,
}

fn publish(diagnostics: &mut Diagnostics, report: &mut Report) {
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
    let (severity, message) = match report.complaint.take() {
        _ if !report.connected => (Severity::Error, format!("not connected: {}", report.loss)),
        Some(complaint) => (Severity::Warn, complaint),
        None => (Severity::Ok, "connected".to_owned()),
    };
    diagnostics.publish(severity, message.trim_end_matches(": "), &values);
}
