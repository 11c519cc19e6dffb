//! Client side: provides a controller of the 31-byte protocol as the arm of a namespace.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::net::UdpSocket;
use dragoman_kinematics::node::{Links, serve_solver};
use dragoman_kinematics::{FreeRotation, Robot};
use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::naming::find_joint;
use dragoman_ros::parameters;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile, Result, std_msgs};
use futures::stream::{BoxStream, SelectAll, StreamExt};

use super::PROTOCOL;
use super::topics::Topics;
use crate::arm31::services::rows;
use crate::arm31::wire::{JOINT_COUNT, RECEIVE_BUFFER_LEN, VALUE_COUNT};
use crate::arm31::{ArmCall, Client, ClientConfig, ClientEvent, Outcome, Tolerances};
use crate::calls::OpenCalls;
use crate::client_node::{FirstAnswer, Reminder};
use crate::services::{self, Asked, Respond};
use crate::{BridgeError, ClientNode, clock, ports};

/// A model of the arm, which the protocol does not transmit.
#[derive(Debug, Clone)]
pub struct ArmModel {
    /// The robot with its tool; joints in the order of the protocol.
    pub robot: Robot,
    /// Text of its URDF, published as `robot_description`.
    pub urdf: String,
    /// Rotation of the tool that `compute_ik` leaves free.
    pub free_rotation: FreeRotation,
}

parameters! {
    /// The parameters of the node of the client side.
    pub struct ClientParameters {
        /// Names of the joints in joint_states, base of the chain first.
        joint_names: Vec<String>;
        /// Frame of the poses.
        base_frame: String;
        /// Distance from the goal pose at which a motion counts as finished, m + rad.
        goal_tolerance: f64 = 5e-4, in 1e-6..=1.0;
        /// Distance from the joint goal at which a joint motion counts as finished, rad (Euclidean norm).
        joint_goal_tolerance: f64 = 5e-4, in 1e-6..=1.0;
        /// Period of queries for joint angles, s.
        joint_state_period: Duration = ClientConfig::default().joint_state_period.unwrap_or_default(), in 0.001..=60.0;
        /// Period of queries for the pose, s.
        pose_period: Duration = ClientConfig::default().pose_period.unwrap_or_default(), in 0.001..=60.0;
        /// Period of queries for temperatures, s.
        temperature_period: Duration = ClientConfig::default().temperature_period.unwrap_or_default(), in 0.001..=60.0;
        /// The controller never answers RC, as the original; a missing answer counts as success.
        recalibrate_unanswered: bool = ClientConfig::default().recalibrate_unanswered;
    }
}

impl ClientParameters {
    /// The defaults, with the names of a model.
    pub fn new(model: Option<&ArmModel>) -> Self {
        let (joint_names, base_frame) = match model {
            Some(model) => (names_of(&model.robot), model.robot.model().base_link()),
            None => ((1..=JOINT_COUNT).map(|joint| format!("joint_{joint}")).collect(), "base_link"),
        };
        Self { joint_names, base_frame: base_frame.to_owned(), ..Self::default() }
    }
}

/// Starts node `arm31` in `namespace` for the arm whose controller listens at `controller`.
///
/// With a model it offers `robot_description`, the transforms of its links, `compute_fk` and `compute_ik` as well.
///
/// # Errors
/// No free UDP port; a wrong parameter; a model with more joints than the protocol supports; an error of the
/// middleware.
pub fn start_client(
    context: &Context,
    namespace: &str,
    controller: SocketAddr,
    model: Option<ArmModel>,
) -> Result<ClientNode, BridgeError> {
    if let Some(joints) = model.as_ref().map(|model| model.robot.joint_count()).filter(|n| *n > VALUE_COUNT) {
        return Err(BridgeError::TooManyJoints { joints });
    }
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "arm31", namespace)?);
    let parameters = tasks.declare(ClientParameters::new(model.as_ref()))?.read();
    let mut joint_names = parameters.joint_names.clone();
    if let Some(model) = &model {
        name_as(&names_of(&model.robot), &mut joint_names);
    }
    if !(1..=VALUE_COUNT).contains(&joint_names.len()) {
        return Err(BridgeError::JointNames { names: joint_names.len() });
    }
    let config = ClientConfig {
        controller,
        joint_count: joint_names.len(),
        joint_state_period: Some(parameters.joint_state_period),
        pose_period: Some(parameters.pose_period),
        temperature_period: Some(parameters.temperature_period),
        recalibrate_unanswered: parameters.recalibrate_unanswered,
        ..ClientConfig::default()
    };
    let local = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let socket = ports::open_udp(PROTOCOL, local)?;
    let requests = services::offer(tasks.node(), &rows(), None)?;
    let tolerances = Tolerances { pose: parameters.goal_tolerance, joint: parameters.joint_goal_tolerance };
    let urdf = model.as_ref().map_or("", |model| model.urdf.as_str());
    let links = Links::new(tasks.node(), urdf)?;
    let topics = Topics::new(tasks.node(), joint_names, parameters.base_frame.clone(), tolerances, links)?;
    if let Some(ArmModel { robot, urdf, free_rotation }) = model {
        let latched = QosProfile::default().keep_last(1).transient_local();
        let description = tasks.node().create_publisher("robot_description", latched)?;
        description.publish(&std_msgs::msg::String { data: urdf })?;
        let measured = Arc::clone(&topics.measured);
        let sorted = sorted(&names_of(&robot), topics.joint_names());
        let known = move || {
            // Keeps the publisher, so that late subscribers get the description.
            let _ = &description;
            let known = measured.lock().clone()?;
            sorted(&known)
        };
        serve_solver(&mut tasks, &robot, known, move || free_rotation, None)?;
    }
    let connected = Arc::clone(&topics.connected);
    let (first_answer, answered) = FirstAnswer::new();
    tasks.spawn(async move {
        let client = Client::new(clock::now(), config);
        let served = serve(client, controller, socket, requests, topics, first_answer).await;
        if let Err(error) = served {
            tracing::error!(%error, "arm controller client stopped");
        }
    });
    let mut diagnostics = Diagnostics::new(tasks.node(), "arm controller", &controller.to_string())?;
    tasks.every(STATUS_PERIOD, move || {
        if *connected.lock() {
            diagnostics.publish(Severity::Ok, "connected", &[]);
        } else {
            diagnostics.publish(Severity::Error, "the controller does not answer", &[]);
        }
    })?;
    Ok(ClientNode { node: tasks.start()?, answered })
}

fn names_of(robot: &Robot) -> Vec<String> {
    robot.joints().iter().map(|joint| joint.name.clone()).collect()
}

/// Gives joints of the model, which may be named by their topics as well, the names that it has.
fn name_as(model: &[String], given: &mut [String]) {
    for name in given {
        if let Some(own) = find_joint(model, name).and_then(|joint| model.get(joint)) {
            own.clone_into(name);
        }
    }
}

/// Sorts angles in the order of a controller, whose joints are `names`, into the order of the model, whose joints may
/// come in another order. `None` if the controller does not have all joints of the model.
fn sorted(model: &[String], names: &[String]) -> impl Fn(&[f64]) -> Option<Vec<f64>> + Clone + use<> {
    let places: Vec<Option<usize>> =
        model.iter().map(|joint| names.iter().position(|name| name == joint)).collect();
    move |angles| places.iter().map(|place| angles.get((*place)?).copied()).collect()
}

/// Period at which an unchanged `motion_status` is repeated, and `/diagnostics` published.
const STATUS_PERIOD: Duration = Duration::from_secs(1);

/// Maximum number of datagrams read before other work.
const BATCH: usize = 64;

async fn serve(
    mut client: Client,
    controller: SocketAddr,
    socket: UdpSocket,
    mut requests: SelectAll<BoxStream<'static, Asked<ArmCall, Outcome>>>,
    mut topics: Topics,
    mut first_answer: FirstAnswer,
) -> std::io::Result<()> {
    let mut open: OpenCalls<(ArmCall, Respond<Outcome>)> = OpenCalls::new();
    let (begin, mut reminder) = (clock::now(), Reminder::default());
    let mut status = dragoman_time::interval(STATUS_PERIOD);
    let mut datagram = [0; RECEIVE_BUFFER_LEN];
    loop {
        // In every turn, even if a deadline has passed in each of them: otherwise answers would wait forever on a busy
        // computer.
        for _ in 0..BATCH {
            match socket.try_recv_from(&mut datagram) {
                Ok((length, source)) => {
                    client.handle_datagram(clock::now(), source, datagram.get(..length).unwrap_or_default());
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                // ICMP port unreachable: the controller is not running (yet).
                Err(error) => {
                    tracing::debug!(%error, "receiving a datagram failed");
                    dragoman_time::sleep(Duration::from_millis(20)).await;
                    break;
                }
            }
        }
        while let Some((address, request)) = client.poll_transmit() {
            // The core sends requests again that may be sent twice. A start is not sent again, and ends as not
            // answered.
            if let Err(error) = socket.try_send_to(&request, address) {
                tracing::debug!(%error, "sending a datagram failed");
            }
        }
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Result { id, outcome } => {
                    if let Some((call, respond)) = open.end(id) {
                        // Before the answer, so that the caller finds the new state published.
                        topics.handle_result(&call, outcome);
                        respond(Ok(outcome));
                    }
                }
                other => {
                    if matches!(other, ClientEvent::Connected) {
                        first_answer.arrived();
                    }
                    topics.note(other);
                }
            }
        }
        let deadline = client.poll_timeout();
        tokio::select! {
            biased;
            () = clock::until(deadline) => client.handle_timeout(clock::now()),
            () = status.tick() => {
                topics.publish_status();
                let now = clock::now();
                if !client.is_connected() && now - begin >= STATUS_PERIOD && reminder.is_due(now) {
                    tracing::warn!(%controller, "no answer from the arm controller; retrying");
                }
            }
            Some(asked) = requests.next() => match asked.call {
                Ok(call) => {
                    let id = open.begin((call, asked.respond));
                    client.handle_call(clock::now(), id, call);
                }
                Err(reason) => (asked.respond)(Err(reason)),
            },
            readable = socket.readable() => readable?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: [&str; 3] = ["base", "elbow", "wrist"];

    fn of(names: &[&str], angles: &[f64]) -> Option<Vec<f64>> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        sorted(&owned(&MODEL), &owned(names))(angles)
    }

    #[test]
    fn angles_of_a_controller_with_another_order_are_matched_by_name() {
        assert_eq!(of(&["base", "elbow", "wrist"], &[1.0, 2.0, 3.0]), Some(vec![1.0, 2.0, 3.0]));
        assert_eq!(of(&["wrist", "base", "elbow"], &[3.0, 1.0, 2.0]), Some(vec![1.0, 2.0, 3.0]));
        assert_eq!(
            of(&["wrist", "gripper", "base", "elbow"], &[3.0, 9.0, 1.0, 2.0]),
            Some(vec![1.0, 2.0, 3.0])
        );
    }

    #[test]
    fn joints_are_given_by_either_name() {
        let mut given = ["lift_x2ejoint", "turn", "lift.joint"].map(str::to_owned);
        name_as(&["lift.joint".to_owned()], &mut given);
        assert_eq!(given, ["lift.joint", "turn", "lift.joint"]);
    }

    #[test]
    fn a_controller_without_a_joint_of_the_model_gives_no_angles() {
        assert_eq!(of(&["base", "wrist"], &[1.0, 3.0]), None);
        assert_eq!(of(&["base", "shoulder", "wrist"], &[1.0, 2.0, 3.0]), None);
        assert_eq!(of(&["base", "elbow", "wrist"], &[1.0, 2.0]), None, "an incomplete answer");
        assert_eq!(of(&[], &[]), None);
    }
}
