//! Client side: a controller that speaks the 31-byte protocol appears as the arm of a namespace.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters::{self, Declaration, Range};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{
    Clock, Context, Node, Publisher, QosProfile, Result, dragoman_msgs, geometry_msgs, sensor_msgs, std_msgs,
};
use futures::stream::{BoxStream, SelectAll, StreamExt};
use tokio::net::UdpSocket;
use tokio::time::sleep_until;

use super::Arm31NodeError;
use super::services::{self, Asked};
use crate::arm31::wire::{JOINT_COUNT, RECEIVE_BUFFER_LEN};
use crate::arm31::{CallId, Client, ClientConfig, ClientEvent, MotionEvent, Outcome};

/// The parameters of the node.
pub fn client_declarations() -> Vec<Declaration> {
    let config = ClientConfig::default();
    let seconds = |period: Option<Duration>| period.unwrap_or_default().as_secs_f64();
    let period = Range::Double { from: 0.001, to: 60.0 };
    let names: Vec<String> = (1..=JOINT_COUNT).map(|joint| format!("joint_{joint}")).collect();
    let declared = [
        Declaration::new(
            "joint_names",
            names,
            "Names of the joints in joint_states, base of the chain first.",
        ),
        Declaration::new("base_frame", "base_link", "Frame of the poses."),
        Declaration::new(
            "joint_state_period",
            seconds(config.joint_state_period),
            "How often joint angles are asked for, s.",
        )
        .within(period.clone()),
        Declaration::new("pose_period", seconds(config.pose_period), "How often the pose is asked for, s.")
            .within(period.clone()),
        Declaration::new(
            "temperature_period",
            seconds(config.temperature_period),
            "How often temperatures are asked for, s.",
        )
        .within(period),
        Declaration::new(
            "recalibrate_unanswered",
            config.recalibrate_unanswered,
            "The controller never answers RC, as the original: silence counts as done.",
        ),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
}

/// Starts node `arm31` in `namespace`, as the arm whose controller listens at `controller`.
///
/// # Errors
/// No UDP port is left; a wrong parameter; the middleware's refusal.
pub fn start_client(
    context: &Context,
    namespace: &str,
    controller: SocketAddr,
) -> Result<RunningNode, Arm31NodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "arm31", namespace)?);
    let (parameters, server) = parameters::declare(tasks.node(), client_declarations())?;
    tasks.spawn(server);
    let period = |name: &str| Some(Duration::from_secs_f64(parameters.value(name)));
    let joint_names: Vec<String> = parameters.value("joint_names");
    let config = ClientConfig {
        controller,
        joint_count: joint_names.len().clamp(1, 7),
        joint_state_period: period("joint_state_period"),
        pose_period: period("pose_period"),
        temperature_period: period("temperature_period"),
        recalibrate_unanswered: parameters.value("recalibrate_unanswered"),
        ..ClientConfig::default()
    };
    let local = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let opened =
        std::net::UdpSocket::bind(local).and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
    let socket = opened.map_err(|source| Arm31NodeError::Bind { address: local, source })?;
    let requests = services::offer(tasks.node())?;
    let topics = Topics::new(tasks.node(), joint_names, parameters.value("base_frame"))?;
    let connected = Arc::clone(&topics.connected);
    tasks.spawn(async move {
        let client = Client::new(Instant::now(), config);
        if let Err(error) = serve(client, socket, requests, topics).await {
            tracing::error!(%error, "the controller is no longer driven");
        }
    });
    let mut diagnostics = Diagnostics::new(tasks.node(), "arm controller", &controller.to_string())?;
    tasks.every(Duration::from_secs(1), move || {
        if *connected.lock().unwrap_or_else(PoisonError::into_inner) {
            diagnostics.publish(Severity::Ok, "connected", &[]);
        } else {
            diagnostics.publish(Severity::Error, "the controller does not answer", &[]);
        }
    })?;
    Ok(tasks.start()?)
}

/// Tells whoever called a service how it went.
type Reply = Box<dyn FnOnce(Result<Outcome, String>) + Send>;

async fn serve(
    mut client: Client,
    socket: std::net::UdpSocket,
    mut requests: SelectAll<BoxStream<'static, Asked>>,
    topics: Topics,
) -> std::io::Result<()> {
    let socket = UdpSocket::from_std(socket)?;
    let mut open: HashMap<CallId, Reply> = HashMap::new();
    let mut next_id = 0;
    let mut datagram = [0; RECEIVE_BUFFER_LEN];
    loop {
        while let Some((address, request)) = client.poll_transmit() {
            // What is lost here is asked again by the core's own timers.
            let _ = socket.try_send_to(&request, address);
        }
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Result { id, outcome } => {
                    if let Some(respond) = open.remove(&id) {
                        respond(Ok(outcome));
                    }
                }
                other => topics.publish(other),
            }
        }
        let deadline = client.poll_timeout();
        let wake = deadline.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
        tokio::select! {
            received = socket.recv_from(&mut datagram) => match received {
                Ok((length, source)) => {
                    client.handle_datagram(Instant::now(), source, datagram.get(..length).unwrap_or_default());
                }
                // The controller's machine refuses: it is not running (yet).
                Err(error) => {
                    tracing::debug!(%error, "UDP");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            },
            Some(asked) = requests.next() => match asked.call {
                Ok(call) => {
                    let id = CallId(next_id);
                    next_id += 1;
                    open.insert(id, asked.respond);
                    client.handle_call(Instant::now(), id, call);
                }
                Err(reason) => (asked.respond)(Err(reason)),
            },
            () = sleep_until(wake.into()) => client.handle_timeout(Instant::now()),
        }
    }
}

/// The topics of an arm.
struct Topics {
    joint_names: Vec<String>,
    base_frame: String,
    clock: Arc<Mutex<Clock>>,
    connected: Arc<Mutex<bool>>,
    joint_states: Publisher<sensor_msgs::msg::JointState>,
    pose: Publisher<geometry_msgs::msg::PoseStamped>,
    drive_status: Publisher<dragoman_msgs::msg::DriveStatus>,
    motion_events: Publisher<dragoman_msgs::msg::MotionEvent>,
}

impl Topics {
    fn new(node: &mut Node, joint_names: Vec<String>, base_frame: String) -> Result<Self> {
        let latched = QosProfile::default().keep_last(1).transient_local();
        Ok(Self {
            joint_names,
            base_frame,
            clock: node.get_ros_clock(),
            connected: Arc::default(),
            joint_states: node.create_publisher("joint_states", QosProfile::default())?,
            pose: node.create_publisher("pose", QosProfile::default())?,
            drive_status: node.create_publisher("drive_status", latched)?,
            motion_events: node.create_publisher("motion_events", QosProfile::default().keep_last(100))?,
        })
    }

    fn publish(&self, event: ClientEvent) {
        let header = self.header();
        let published = match event {
            ClientEvent::JointState { position } => {
                let name = self.joint_names.clone();
                self.joint_states.publish(&sensor_msgs::msg::JointState {
                    header,
                    name,
                    position,
                    ..Default::default()
                })
            }
            ClientEvent::Pose { position: [x, y, z], quaternion_xyzw: [qx, qy, qz, qw] } => {
                let pose = geometry_msgs::msg::Pose {
                    position: geometry_msgs::msg::Point { x, y, z },
                    orientation: geometry_msgs::msg::Quaternion { x: qx, y: qy, z: qz, w: qw },
                };
                self.pose.publish(&geometry_msgs::msg::PoseStamped { header, pose })
            }
            ClientEvent::DriveStatus { temperature } => {
                // The protocol does not tell whether the drives are on; they answer, and so they count as such.
                let name = self.joint_names.clone();
                let status = dragoman_msgs::msg::DriveStatus {
                    header,
                    enabled: true,
                    name,
                    temperature,
                    ..Default::default()
                };
                self.drive_status.publish(&status)
            }
            ClientEvent::Motion(event) => self.publish_event(header, event),
            ClientEvent::Connected => {
                tracing::info!("the arm's controller answers");
                self.set_connected(true);
                Ok(())
            }
            ClientEvent::Lost => {
                tracing::warn!("the arm's controller has stopped answering");
                self.set_connected(false);
                Ok(())
            }
            ClientEvent::Result { .. } => Ok(()),
        };
        if let Err(error) = published {
            tracing::warn!(%error, "a measurement could not be published");
        }
    }

    fn publish_event(&self, header: std_msgs::msg::Header, event: MotionEvent) -> Result<()> {
        use dragoman_msgs::msg::MotionEvent as Kind;
        let (kind, text) = match event {
            MotionEvent::WorkspaceLimit => (Kind::WORKSPACE_LIMIT, "ER21"),
            MotionEvent::JointLimit => (Kind::JOINT_LIMIT, "WN12"),
            MotionEvent::InverseKinematicsDivergence => (Kind::IK_DIVERGENCE, "WN22"),
        };
        let kind = u8::try_from(kind).unwrap_or_default();
        self.motion_events.publish(&Kind { header, kind, text: format!("{text} of the controller") })
    }

    fn set_connected(&self, connected: bool) {
        *self.connected.lock().unwrap_or_else(PoisonError::into_inner) = connected;
    }

    fn header(&self) -> std_msgs::msg::Header {
        let now = self.clock.lock().unwrap_or_else(PoisonError::into_inner).get_now().unwrap_or_default();
        std_msgs::msg::Header { stamp: Clock::to_builtin_time(&now), frame_id: self.base_frame.clone() }
    }
}
