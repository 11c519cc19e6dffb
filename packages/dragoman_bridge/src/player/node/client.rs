//! Client side: provides the devices of a Player server in a namespace.
//!
//! | file | holds |
//! | --- | --- |
//! | this file | the connection, and the node `player_client` with its parameters |
//! | `names.rs` | names of topics and frames |
//! | `devices_node.rs` | the node `player_devices`, created again when the server has other devices |
//! | `scene.rs` | frames and transforms |
//! | `device_handle.rs` | requests and commands from services and topics to the connection |
//! | `messages.rs` | values of the protocol as messages |
//! | `base.rs`, `ranges.rs`, `arm.rs`, `limb.rs`, `navigation.rs`, `vectormap.rs`, `world.rs`, `log.rs`, `small.rs` | the interfaces' topics and services |

mod arm;
mod base;
mod device_handle;
mod devices_node;
mod limb;
mod log;
mod messages;
mod names;
mod navigation;
mod ranges;
mod scene;
mod small;
mod vectormap;
mod world;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::velocity::VelocityParameters;
use dragoman_ros::{Context, Node};
use dragoman_time::MissedTicks;
use parking_lot::Mutex;

use self::device_handle::{DeviceOrder, Respond};
use self::devices_node::{DevicesNode, ReplacedNode};
use crate::calls::OpenCalls;
use crate::client_node::{FirstAnswer, Reminder};
use crate::clock;
use crate::player::client::{
    Client, ClientConfig, ClientEvent, ClientStatistics, DeviceInfo, DeviceState, Refusal,
};
use crate::tcp::client::{Link, LinkEvent, loss};
use crate::{BridgeError, ClientNode};

/// Size of the read buffer, bytes.
const READ_LEN: usize = 65_536;
/// Period of the check whether ROS programs subscribe to a device's topics.
const INTEREST_PERIOD: Duration = Duration::from_millis(500);

parameters! {
    /// The parameters of the node of the client side.
    pub struct ClientParameters {
        ..cmd_vel: VelocityParameters;
        /// Ask the server for data, instead of receiving it when there is some.
        pull: bool;
        /// Rate of these questions, Hz.
        pull_rate: f64 = 20.0, in 0.1..=1000.0;
        /// Time limit of an answer, s.
        answer_timeout: Duration = ClientConfig::default().answer_timeout, in 0.05..=60.0;
        /// Time limit of opening a device, s; the server starts its driver first.
        subscription_timeout: Duration = ClientConfig::default().subscription_timeout, in 0.05..=600.0;
        /// Pause before a device that could not be opened is tried again, s.
        retry_period: Duration = ClientConfig::default().retry_period, in 0.1..=3600.0;
        /// Pause before a map is asked for again, s. It is published when it has changed; of a map with more than 409600
        /// cells only size and pose are compared.
        map_period: Duration = ClientConfig::default().map_period, in 0.1..=3600.0;
        /// A base gets velocity zero when a velocity on cmd_vel is not repeated for this long, s.
        command_timeout: Duration = ClientConfig::default().velocity_timeout, in 0.05..=60.0;
        /// Stamp messages with the server's time instead of the time of reception.
        server_time: bool;
        /// Frame of the map.
        map_frame: String = "map";
        /// Prefix of the devices' frames.
        frame_prefix: String;
        /// Publish the transforms between the frames.
        publish_tf: bool = true;
        /// Maximum range of sonar and ir devices, whose interfaces do not tell it, m.
        range_max: f64 = 5.0, in 0.01..=1000.0;
        /// Opening angle of sonar and ir devices, whose interfaces do not tell it, rad.
        field_of_view: f64 = 0.5, in 0.0..=6.3;
    }
}

/// Starts node `player_client` in `namespace` for the Player server that listens at `server`. The server may start
/// later.
///
/// # Errors
/// A wrong parameter; an error of the middleware.
pub fn start_client(
    context: &Context,
    namespace: &str,
    server: SocketAddr,
) -> Result<ClientNode, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "player_client", namespace)?);
    let frame_prefix = match namespace.trim_matches('/') {
        "" => String::new(),
        name => format!("{name}/"),
    };
    let parameters = tasks.declare(ClientParameters { frame_prefix, ..Default::default() })?.read();
    let report = Arc::new(Mutex::new(DiagnosticsReport::default()));
    let (first_answer, answered) = FirstAnswer::new();
    let edge = Edge {
        client: Client::new(clock::now(), config(&parameters)),
        link: Link::new(server, READ_LEN),
        context: context.clone(),
        namespace: namespace.to_owned(),
        parameters,
        open: OpenCalls::new(),
        devices_node: None,
        replaced: None,
        first_answer,
        reminder: Reminder::default(),
        report: Arc::clone(&report),
    };
    tasks.spawn(edge.run());
    let mut diagnostics = Diagnostics::new(tasks.node(), "Player", &server.to_string())?;
    tasks.every(Duration::from_secs(1), move || {
        publish(&mut diagnostics, &mut report.lock());
    })?;
    Ok(ClientNode { node: tasks.start()?, answered })
}

fn config(parameters: &ClientParameters) -> ClientConfig {
    let pull_period = Duration::from_secs_f64(1.0 / parameters.pull_rate);
    ClientConfig {
        pull_period: parameters.pull.then_some(pull_period),
        answer_timeout: parameters.answer_timeout,
        subscription_timeout: parameters.subscription_timeout,
        retry_period: parameters.retry_period,
        map_period: parameters.map_period,
        velocity_timeout: parameters.command_timeout,
        ..ClientConfig::default()
    }
}

/// The client core with its socket and ROS connections.
struct Edge {
    client: Client,
    link: Link,
    context: Context,
    namespace: String,
    parameters: Arc<ClientParameters>,
    open: OpenCalls<Respond>,
    /// The node of the current devices.
    devices_node: Option<DevicesNode>,
    /// The node of the previous devices, until it has ended.
    replaced: Option<ReplacedNode>,
    first_answer: FirstAnswer,
    reminder: Reminder,
    report: Arc<Mutex<DiagnosticsReport>>,
}

impl Edge {
    async fn run(mut self) {
        let mut interest = dragoman_time::interval(INTEREST_PERIOD).with_missed(MissedTicks::Delay);
        loop {
            self.settle();
            let deadline = self.client.poll_timeout();
            let has_unsent = !self.client.unsent().is_empty();
            tokio::select! {
                biased;
                // First, so that the nodes run even if something else is always ready.
                next = devices_node::finish_replaced(&mut self.replaced) => self.start_devices(&next),
                order = devices_node::next_order(&mut self.devices_node) => self.order(order),
                () = clock::until(deadline) => self.client.handle_timeout(clock::now()),
                () = interest.tick() => self.update_interests(),
                event = self.link.next(has_unsent) => self.handle_link(event),
            }
        }
    }

    fn update_interests(&mut self) {
        let now = clock::now();
        for (device, is_wanted) in self.devices_node.iter().flat_map(DevicesNode::interests) {
            self.client.handle_interest(now, device, is_wanted);
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
            self.handle_event(event);
        }
        let mut report = self.report.lock();
        report.statistics = self.client.statistics();
        report.connected = self.client.is_connected();
    }

    fn handle_event(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Connected { version } => {
                tracing::info!(server = %self.link.server(), version, "connected to the Player server");
                self.first_answer.arrived();
                self.reminder = Reminder::default();
            }
            ClientEvent::Disconnected(reason) => {
                self.link.close();
                self.missing(&reason);
            }
            ClientEvent::Devices(devices) => self.show_devices(&devices),
            ClientEvent::Data { device, timestamp, data } => {
                if let Some(devices_node) = &mut self.devices_node
                    && let Err(reason) = devices_node.show(device, timestamp, data)
                {
                    self.report_problem(format!("{}: {reason}", names::device(device)));
                }
            }
            ClientEvent::Map { device, map } => {
                if let Some(devices_node) = &mut self.devices_node {
                    devices_node.show_map(device, &map);
                }
            }
            ClientEvent::Result { id, outcome } => {
                if let Some(respond) = self.open.end(id) {
                    respond(outcome);
                }
            }
            ClientEvent::Problem { device, reason } => {
                self.report_problem(format!("{}: {reason}", names::device(device)));
            }
        }
    }

    /// Offers the devices in ROS.
    fn show_devices(&mut self, devices: &[DeviceInfo]) {
        let mut report = self.report.lock();
        report.devices = devices.iter().map(describe).collect();
        report.refused = devices
            .iter()
            .filter_map(|info| match &info.state {
                DeviceState::Refused(refusal) => {
                    Some(format!("{} is not open: {refusal}", names::device(info.device)))
                }
                _ => None,
            })
            .collect();
        drop(report);
        if let Some(replaced) = &mut self.replaced {
            replaced.next = devices.to_vec();
        } else if self.devices_node.as_ref().is_none_or(|devices_node| !devices_node.has(devices)) {
            // The new node starts after the previous one has released its names.
            self.replaced = self
                .devices_node
                .take()
                .map(|devices_node| ReplacedNode::new(devices_node, devices.to_vec()));
            self.open.clear();
            if self.replaced.is_none() {
                self.start_devices(devices);
            }
        }
    }

    fn start_devices(&mut self, devices: &[DeviceInfo]) {
        for (device, description) in devices.iter().map(describe) {
            tracing::info!(device, description, "device found on the Player server");
        }
        match DevicesNode::start(&self.context, &self.namespace, &self.parameters, devices) {
            Ok(devices_node) => self.devices_node = Some(devices_node),
            Err(error) => self.report_problem(format!("offering the devices in ROS failed: {error}")),
        }
    }

    fn order(&mut self, order: DeviceOrder) {
        let now = clock::now();
        match order {
            DeviceOrder::Velocity(device, velocity) => {
                if let Err(refusal) = self.client.handle_velocity(now, device, velocity) {
                    self.report_problem(format!("{}: velocity: {refusal}", names::device(device)));
                }
            }
            DeviceOrder::Command(send) => send(&mut self.client),
            DeviceOrder::Call(send, respond) => {
                let id = self.open.begin(respond);
                send(&mut self.client, now, id);
            }
            DeviceOrder::Problem(device, reason) => {
                self.report_problem(format!("{}: {reason}", names::device(device)));
            }
        }
    }

    fn disconnected(&mut self, error: &std::io::Error) {
        self.client.handle_disconnected(clock::now(), &loss(error));
    }

    /// Logs from time to time that the server is not connected, and why.
    fn missing(&mut self, reason: &dyn std::fmt::Display) {
        self.report.lock().loss = reason.to_string();
        if self.reminder.is_due(clock::now()) {
            tracing::warn!(server = %self.link.server(), %reason, "not connected to the Player server; retrying");
        }
    }

    /// Stores a problem for `/diagnostics`, and logs it unless it is the one that was logged last.
    fn report_problem(&mut self, reason: String) {
        let mut report = self.report.lock();
        if report.problem.is_none() && report.logged != reason {
            tracing::warn!(reason, "operation failed");
            report.logged.clone_from(&reason);
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
            Ok(sent) => self.client.handle_sent(sent),
            Err(error) => self.disconnected(&error),
        }
    }
}

/// A device's name, and its driver or the reason why it is not open.
fn describe(info: &DeviceInfo) -> (String, String) {
    let driver = if info.driver.is_empty() { "driver unknown" } else { &info.driver };
    let description = match &info.state {
        DeviceState::Open => driver.to_owned(),
        DeviceState::Refused(Refusal::Refused) => format!("{driver}, refused"),
        DeviceState::Refused(refusal) => format!("{driver}, not open: {refusal}"),
        DeviceState::NotShown => format!("{driver}, not shown: unknown interface"),
    };
    (names::device(info.device), description)
}

/// Content of `/diagnostics`.
#[derive(Default)]
struct DiagnosticsReport {
    connected: bool,
    /// Reason of the last lost or failed connection.
    loss: String,
    statistics: ClientStatistics,
    /// Names of the devices, each with its driver and state.
    devices: Vec<(String, String)>,
    /// Devices that are not open.
    refused: Vec<String>,
    /// The last problem since the previous report.
    problem: Option<String>,
    /// The problem that was logged last.
    logged: String,
}

fn publish(diagnostics: &mut Diagnostics, report: &mut DiagnosticsReport) {
    let statistics = &report.statistics;
    let mut values = vec![
        ("requests", statistics.requests.to_string()),
        ("answers", statistics.answers.to_string()),
        ("answers timed out", statistics.timeouts.to_string()),
        ("unsolicited answers", statistics.unsolicited.to_string()),
        ("commands", statistics.commands.to_string()),
        ("data messages", statistics.data.to_string()),
        ("ignored messages", statistics.ignored.to_string()),
        ("invalid messages", statistics.undecodable.to_string()),
        ("dropped by the server", statistics.dropped.to_string()),
        ("connections", statistics.connections.to_string()),
    ];
    values.extend(report.devices.iter().map(|(name, description)| (name.as_str(), description.clone())));
    let (severity, message) = match (report.problem.take(), report.refused.first()) {
        _ if !report.connected => (Severity::Error, format!("not connected: {}", report.loss)),
        (Some(problem), _) => (Severity::Warn, problem),
        (None, Some(refused)) => (Severity::Warn, refused.clone()),
        (None, None) => (Severity::Ok, "connected".to_owned()),
    };
    diagnostics.publish(severity, message.trim_end_matches(": "), &values);
}
