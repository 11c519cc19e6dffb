//! Server side: a UDP port in front of the arm's services and topics.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::net::UdpSocket;
use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile, Result, dragoman_msgs, geometry_msgs, sensor_msgs};
use futures::channel::oneshot;
use futures::stream::{BoxStream, FuturesUnordered, SelectAll, StreamExt};
use parking_lot::Mutex;

use super::PROTOCOL;
use super::clients::ArmClients;
use super::messages::Messages;
use crate::BridgeError;
use crate::arm31::wire::{DEFAULT_PORT, Datagram, Letters, RECEIVE_BUFFER_LEN};
use crate::arm31::{MotionEvent, Server, ServerConfig, ServerStatistics};
use crate::clients::Clients;
use crate::clock;
use crate::ports::BindParameters;
use crate::tcp::server::addresses;

/// Three times the period of `drive_status`, the slowest of the measurements, s.
const MEASUREMENT_TIMEOUT: f64 = 3.0;

parameters! {
    /// The parameters of the node of the server side.
    pub struct ServerParameters {
        ..bind: BindParameters;
        /// UDP port to listen on.
        port: u16 = DEFAULT_PORT;
        /// Maximum rate of datagrams per client, 1/s.
        rate_limit: f64 = ServerConfig::default().rate_per_second, in 1.0..=1e6;
        /// Maximum number of datagrams that one client may send at once.
        burst: f64 = ServerConfig::default().burst, in 1.0..=1e6;
        /// Time limit of a service call, s.
        service_timeout: Duration = ServerConfig::default().service_timeout, in 0.01..=60.0;
        /// Age at which a measurement is too old to answer a query, s.
        measurement_timeout: Duration = MEASUREMENT_TIMEOUT, in 0.01..=3600.0;
    }
}

/// A running server side.
#[derive(Debug)]
pub struct ArmServer {
    /// The node; it serves while it is polled.
    pub node: RunningNode,
    /// The address on which it listens.
    pub address: SocketAddr,
    /// Resolves when all data of the arm were measured, so that all queries are answered.
    pub measured: oneshot::Receiver<()>,
}

/// Maximum number of datagrams read before answers are sent and other tasks run.
const BATCH: usize = 64;

/// Number of turns after which other tasks of the node run, even if more work is ready.
const TURNS: u32 = 64;

/// Starts node `arm31` in the arm's namespace, listening by default on `bind`.
///
/// # Errors
/// The port is in use; a wrong parameter; an error of the middleware.
pub fn start_server(context: &Context, namespace: &str, bind: IpAddr) -> Result<ArmServer, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "arm31", namespace)?);
    let bind = BindParameters::new(bind);
    let parameters = tasks.declare(ServerParameters { bind, ..ServerParameters::default() })?.read();
    let socket = parameters.bind.udp(PROTOCOL, parameters.port)?;
    let address = socket.local_addr()?;
    let clients = ArmClients::new(tasks.node())?;
    let inputs = subscribe(tasks.node())?;
    let messages = Messages::new(tasks.node())?;
    let config = ServerConfig {
        rate_per_second: parameters.rate_limit,
        burst: parameters.burst,
        service_timeout: parameters.service_timeout,
        measurement_timeout: Some(parameters.measurement_timeout),
        ..ServerConfig::default()
    };
    let reported = Arc::new(Mutex::new(Reported::default()));
    let seen = Arc::clone(&reported);
    let (first_measured, measured) = oneshot::channel();
    let shown = Clients::default();
    let listed = shown.clone();
    tasks.spawn(async move {
        let served =
            serve(Server::new(config), socket, clients, messages, inputs, (&seen, &listed), first_measured)
                .await;
        if let Err(error) = served {
            tracing::error!(%error, "31-byte protocol server stopped");
        }
    });
    shown.publish(&mut tasks, "31-byte arm protocol")?;
    let mut diagnostics = Diagnostics::new(tasks.node(), "31-byte arm protocol", &address.to_string())?;
    let mut before = Counted::default();
    tasks.every(Duration::from_secs(1), move || {
        let (now, clients) = {
            let mut reported = reported.lock();
            reported.is_read = true;
            ((reported.statistics, reported.unread, reported.unsent), reported.clients.clone())
        };
        publish(&mut diagnostics, &before, &now, &clients);
        before = now;
    })?;
    Ok(ArmServer { node: tasks.start()?, address, measured })
}

/// The core's counters, and the numbers of datagrams that were lost before they were read, and of answers that could not
/// be sent.
type Counted = (ServerStatistics, u32, u32);

/// Content of `/diagnostics`.
#[derive(Debug, Default)]
struct Reported {
    statistics: ServerStatistics,
    unread: u32,
    unsent: u32,
    clients: Vec<SocketAddr>,
    /// Whether the addresses were published, so that the next report needs new ones.
    is_read: bool,
}

/// Input of the server core from ROS.
enum Input {
    Joints(sensor_msgs::msg::JointState),
    Pose(geometry_msgs::msg::PoseStamped),
    Drives(dragoman_msgs::msg::DriveStatus),
    Event(MotionEvent),
}

fn subscribe(node: &mut Node) -> Result<SelectAll<BoxStream<'static, Input>>> {
    let latched = QosProfile::default().keep_last(1).transient_local();
    let newest = QosProfile::default().keep_last(1);
    let joints = node.subscribe("joint_states", newest.clone())?.map(Input::Joints).boxed();
    let pose = node.subscribe("pose", newest)?.map(Input::Pose).boxed();
    let drives = node.subscribe("drive_status", latched)?.map(Input::Drives).boxed();
    let events = node
        .subscribe("motion_events", QosProfile::default().keep_last(100))?
        .filter_map(|event| std::future::ready(motion_event(&event).map(Input::Event)))
        .boxed();
    Ok(futures::stream::select_all([joints, pose, drives, events]))
}

/// Joint names from the arm's `drive_status`, base first. The protocol has no names; values are sorted into this order
/// by name.
#[derive(Debug, Default)]
struct Chain(Vec<String>);

impl Chain {
    /// All values in the order of the chain; `None` if the order is unknown or a joint is missing.
    fn ordered(&self, names: &[String], values: &[f64]) -> Option<Vec<f64>> {
        if self.0.is_empty() {
            return None;
        }
        if names.is_empty() {
            return (values.len() == self.0.len()).then(|| values.to_vec());
        }
        let value_of = |joint: &String| values.get(names.iter().position(|name| name == joint)?).copied();
        self.0.iter().map(value_of).collect()
    }
}

/// Converts the events that have a text in the protocol.
fn motion_event(event: &dragoman_msgs::msg::MotionEvent) -> Option<MotionEvent> {
    use dragoman_msgs::msg::MotionEvent as Kind;
    [
        (Kind::WORKSPACE_LIMIT as u8, MotionEvent::WorkspaceLimit),
        (Kind::JOINT_LIMIT as u8, MotionEvent::JointLimit),
        (Kind::IK_DIVERGENCE as u8, MotionEvent::InverseKinematicsDivergence),
    ]
    .into_iter()
    .find_map(|(kind, known)| (kind == event.kind).then_some(known))
}

/// Maximum number of clients whose last requests are kept until they are published.
const MAX_ASKED: usize = 64;

/// Keeps the letters of a client's last datagram, and counts it.
fn note(asked: &mut BTreeMap<SocketAddr, (Letters, u64)>, client: SocketAddr, bytes: &[u8]) {
    let Ok(datagram) = Datagram::parse(bytes) else { return };
    if asked.len() < MAX_ASKED || asked.contains_key(&client) {
        let (letters, count) = asked.entry(client).or_insert((datagram.letters(), 0));
        *letters = datagram.letters();
        *count += 1;
    }
}

async fn serve(
    mut server: Server,
    socket: UdpSocket,
    clients: ArmClients,
    mut messages: Messages,
    mut inputs: SelectAll<BoxStream<'static, Input>>,
    (reported, listed): (&Mutex<Reported>, &Clients),
    first_measured: oneshot::Sender<()>,
) -> std::io::Result<()> {
    let mut first_measured = Some(first_measured);
    let mut results = FuturesUnordered::new();
    let mut datagram = [0; RECEIVE_BUFFER_LEN];
    let mut chain = Chain::default();
    let mut asked = BTreeMap::new();
    let mut unsent = 0;
    let mut turns = 0_u32;
    loop {
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(TURNS) {
            dragoman_time::yield_now().await;
        }
        // In every turn, even if other work is ready: a flood of messages must not delay a stop.
        messages.review();
        for _ in 0..BATCH {
            match socket.try_recv_from(&mut datagram) {
                Ok((length, client)) => {
                    let bytes = datagram.get(..length).unwrap_or_default();
                    messages.received(bytes);
                    server.handle_datagram(clock::now(), client, bytes);
                    note(&mut asked, client, bytes);
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                // An ICMP error caused by an earlier answer; it concerns only that client.
                Err(error) => tracing::debug!(%error, "receiving a datagram failed"),
            }
        }
        while let Some((id, call)) = server.poll_call() {
            results.push(clients.call(id, call));
        }
        while let Some((client, answer)) = server.poll_transmit() {
            // The answer is lost then, as is possible with UDP.
            if let Err(error) = socket.try_send_to(&answer, client) {
                tracing::debug!(%error, %client, "sending an answer failed");
                unsent += 1;
            }
            messages.sent(&answer);
        }
        {
            let mut reported = reported.lock();
            reported.statistics = server.statistics();
            reported.unread = socket.dropped();
            reported.unsent = unsent;
            let is_due = std::mem::take(&mut reported.is_read);
            if is_due || reported.clients.len() != reported.statistics.clients {
                reported.clients = server.clients().collect();
            }
            // Not for each new client: there may be many.
            if is_due {
                listed.set(&reported.clients);
                for (client, (letters, count)) in std::mem::take(&mut asked) {
                    listed.request(client, &letters, count);
                }
            }
        }
        let deadline = server.poll_timeout();
        tokio::select! {
            biased;
            () = clock::until(deadline) => {
                server.handle_timeout(clock::now());
            }
            Some((id, outcome)) = results.next() => server.handle_outcome(clock::now(), id, outcome),
            Some(input) = inputs.next() => {
                handle(&mut server, &mut chain, input);
                if server.is_measured() {
                    first_measured.take().map(|sender| sender.send(()));
                }
            }
            readable = socket.readable() => readable?,
        }
    }
}

fn handle(server: &mut Server, chain: &mut Chain, input: Input) {
    let now = clock::now();
    match input {
        // Ignore messages about other joints, or about only some of the arm's joints.
        Input::Joints(state) => {
            if let Some(position) = chain.ordered(&state.name, &state.position) {
                server.handle_joint_state(now, &position);
            }
        }
        Input::Pose(stamped) => {
            let (p, q) = (stamped.pose.position, stamped.pose.orientation);
            server.handle_pose(now, [p.x, p.y, p.z], [q.x, q.y, q.z, q.w]);
        }
        Input::Drives(status) => {
            if !status.name.is_empty() {
                chain.0 = status.name;
            }
            server.handle_drive_status(now, &status.temperature);
        }
        Input::Event(event) => server.handle_event(now, event),
    }
}

fn publish(
    diagnostics: &mut Diagnostics,
    (before, unread_before, unsent_before): &Counted,
    (now, unread, unsent): &Counted,
    clients: &[SocketAddr],
) {
    let dropped = |statistics: &ServerStatistics| {
        statistics.dropped_over_rate + statistics.dropped_queue_full + statistics.dropped_transmits
    };
    let values = [
        ("clients", now.clients.to_string()),
        ("addresses", addresses(clients)),
        ("datagrams", now.datagrams.to_string()),
        ("answers", now.answers.to_string()),
        ("errors sent", now.errors_sent.to_string()),
        ("dropped", dropped(now).to_string()),
        ("lost unread", unread.to_string()),
        ("answers not sent", unsent.to_string()),
        ("service calls", now.calls.to_string()),
        ("service timeouts", now.call_timeouts.to_string()),
    ];
    let newly_dropped = dropped(now).saturating_sub(dropped(before));
    let newly_unread = unread.saturating_sub(*unread_before);
    if newly_unread > 0 {
        diagnostics.publish(
            Severity::Warn,
            &format!(
                "{newly_unread} datagrams came faster than they were read, and were lost, in the last second"
            ),
            &values,
        );
    } else if unsent > unsent_before {
        let count = unsent - unsent_before;
        diagnostics.publish(
            Severity::Warn,
            &format!("{count} answers could not be sent in the last second"),
            &values,
        );
    } else if newly_dropped > 0 {
        diagnostics.publish(
            Severity::Warn,
            &format!("{newly_dropped} datagrams dropped in the last second"),
            &values,
        );
    } else if now.call_timeouts > before.call_timeouts {
        diagnostics.publish(Severity::Warn, "the arm's services do not answer", &values);
    } else {
        diagnostics.publish(Severity::Ok, "serving", &values);
    }
}

#[cfg(test)]
mod tests {
    use dragoman_ros::{dragoman_msgs::msg::DriveStatus, sensor_msgs::msg::JointState};

    use super::*;
    use crate::arm31::wire::{Command, Datagram};

    /// Another program may publish without end. The test is in real time, because virtual time would not advance.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_flood_of_messages_does_not_keep_a_client_waiting() {
        let context = Context::in_memory(0, dragoman_ros::Arguments::default()).unwrap();
        let mut node = Node::create(context, "arm31", "/ranger").unwrap();
        let (clients, messages) = (ArmClients::new(&mut node).unwrap(), Messages::new(&mut node).unwrap());
        let socket = UdpSocket::bind(([127, 0, 0, 1], 0).into()).unwrap();
        let address = socket.local_addr().unwrap();
        let flood = futures::stream::repeat_with(|| Input::Event(MotionEvent::JointLimit)).boxed();
        let (first_measured, _) = oneshot::channel();
        let served = dragoman_time::spawn(async move {
            let (reported, listed) = (Mutex::default(), Clients::default());
            let (inputs, server) =
                (futures::stream::select_all([flood]), Server::new(ServerConfig::default()));
            serve(server, socket, clients, messages, inputs, (&reported, &listed), first_measured).await
        });
        let client = UdpSocket::bind(([127, 0, 0, 1], 0).into()).unwrap();
        let stop = Datagram::new(Command::Stop.letters(), [0.0; 7], 0);
        client.try_send_to(stop.bytes(), address).unwrap();
        let mut answer = [0; 64];
        let answered = dragoman_time::timeout(Duration::from_secs(60), client.recv_from(&mut answer)).await;
        assert_eq!(answered.expect("no answer").unwrap().0, 31);
        served.abort();
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The server's answer to `jP`.
    fn angles(server: &mut Server) -> [f32; 3] {
        let request = Datagram::new(Command::JointPositions.letters(), [0.0; 7], 0);
        server.handle_datagram(clock::now(), SocketAddr::from(([127, 0, 0, 1], 1)), request.bytes());
        let (_, answer) = server.poll_transmit().unwrap();
        assert_eq!(&answer[..2], b"Pj", "{answer:?}");
        std::array::from_fn(|joint| {
            f32::from_le_bytes(std::array::from_fn(|byte| answer[2 + 4 * joint + byte]))
        })
    }

    #[test]
    fn joints_are_matched_by_name() {
        let (mut server, mut chain) = (Server::new(ServerConfig::default()), Chain::default());
        let mut measure = |server: &mut Server, list: &[&str], position: &[f64]| {
            let state = JointState { name: names(list), position: position.to_vec(), ..Default::default() };
            handle(server, &mut chain, Input::Joints(state));
            let status = DriveStatus { name: names(&["base", "elbow", "wrist"]), ..Default::default() };
            handle(server, &mut chain, Input::Drives(status));
        };
        // The order is unknown before the first status.
        measure(&mut server, &["gripper"], &[9.0]);
        measure(&mut server, &["wrist", "gripper", "base", "elbow"], &[3.0, 9.0, 1.0, 2.0]);
        assert_eq!(angles(&mut server), [1.0, 2.0, 3.0]);
        measure(&mut server, &["gripper"], &[9.0]);
        measure(&mut server, &["elbow"], &[9.0]);
        measure(&mut server, &["wrist", "elbow"], &[9.0, 9.0]);
        measure(&mut server, &[], &[9.0]);
        assert_eq!(angles(&mut server), [1.0, 2.0, 3.0], "incomplete messages");
        measure(&mut server, &["base", "elbow", "wrist"], &[4.0, 5.0, 6.0]);
        assert_eq!(angles(&mut server), [4.0, 5.0, 6.0]);
        measure(&mut server, &[], &[7.0, 8.0, 9.0]);
        assert_eq!(angles(&mut server), [7.0, 8.0, 9.0]);
    }
}
