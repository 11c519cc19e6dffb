//! The link over ROS, to an arm in a namespace.

use std::future::{pending, ready};
use std::time::{Duration, Instant};

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{CommandMode, ToolPose};
use dragoman_ros::dragoman_msgs::msg::{DriveStatus, MotionEvent, MotionStatus};
use dragoman_ros::dragoman_msgs::srv::{
    Recalibrate, SetCommandMode, SetGoalPose, SetJointGoal, SetJointViaPoint, SetViaPoint,
};
use dragoman_ros::geometry_msgs::msg::{Pose, PoseStamped, TwistStamped, Vector3};
use dragoman_ros::poses::{self, Placement};
use dragoman_ros::sensor_msgs::msg::{JointState, Joy};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::{
    Client, Clock, ClockType, Context, Node, Publisher, QosProfile, Result, WrappedServiceTypeSupport,
};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, FuturesUnordered, SelectAll, StreamExt};

use super::command::Order;
use super::core::{Level, Update};
use super::udp::{mode, pose, temperatures};
use crate::arms::{sign, whereabouts};

/// Time limit of a service; that of the protocol's server side.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Time after which an arm that has not appeared is reported.
const SEARCH_TIME: Duration = Duration::from_secs(3);

/// Minimum time between two reports of a clamped joint, which the arm reports in every cycle.
const CLAMP_PERIOD: Duration = Duration::from_secs(1);

/// A change of the arm, or of a joystick on a topic.
pub(super) enum Incoming {
    Update(Update),
    /// Axes and buttons of a joystick.
    Joy(Vec<f64>, Vec<bool>),
}

/// A message of a topic, before it is merged with the others.
enum Message {
    Joints(JointState),
    Drives(DriveStatus),
    Other(Incoming),
}

/// A message or answer that will arrive.
type Pending = BoxFuture<'static, Incoming>;

/// The arm of a namespace.
pub(super) struct RosLink {
    messages: SelectAll<BoxStream<'static, Message>>,
    answers: FuturesUnordered<Pending>,
    /// Names of the joints, base of the chain first; empty until `drive_status` has arrived.
    order: Vec<String>,
    triggers: Vec<(Command, Client<Trigger::Service>)>,
    set_mode: Client<SetCommandMode::Service>,
    set_goal: Client<SetGoalPose::Service>,
    set_via_point: Client<SetViaPoint::Service>,
    set_joint_goal: Client<SetJointGoal::Service>,
    set_joint_via_point: Client<SetJointViaPoint::Service>,
    recalibrate: Client<Recalibrate::Service>,
    twists: Publisher<TwistStamped>,
    twist_frame: String,
    clock: Clock,
}

impl RosLink {
    /// Subscribes to the arm in the namespace of `node`, and to `joy`, if there is one.
    pub(super) fn new(
        context: &Context,
        node: &mut Node,
        joy: Option<&str>,
        twist_frame: &str,
    ) -> Result<Self> {
        let latched = QosProfile::default().keep_last(10).transient_local();
        let mut messages: SelectAll<BoxStream<'static, Message>> = SelectAll::new();
        messages.push(node.subscribe("joint_states", QosProfile::default())?.map(Message::Joints).boxed());
        messages.push(node.subscribe("drive_status", latched.clone())?.map(Message::Drives).boxed());
        let poses = node.subscribe::<PoseStamped>("pose", QosProfile::default())?;
        messages
            .push(poses.map(|message| Message::Other(Incoming::Update(pose_update(&message.pose)))).boxed());
        let motions = node.subscribe::<MotionStatus>("motion_status", latched)?;
        messages.push(motions.filter_map(async |message| motion_update(&message)).map(other).boxed());
        let events = node.subscribe::<MotionEvent>("motion_events", QosProfile::default().keep_last(100))?;
        let mut last = None;
        let rare = events.filter(move |message: &MotionEvent| {
            let clamped = i64::from(message.kind) == MotionEvent::JOINT_LIMIT as i64;
            let often =
                clamped && last.is_some_and(|last: Instant| dragoman_time::since(last) < CLAMP_PERIOD);
            last = if clamped && !often { Some(dragoman_time::now()) } else { last };
            ready(!often)
        });
        messages.push(rare.map(event_update).map(other).boxed());
        if let Some(joy) = joy {
            let joysticks = node.subscribe::<Joy>(joy, QosProfile::default())?;
            let incoming = joysticks.map(|message| {
                let axes = message.axes.iter().map(|axis| f64::from(*axis)).collect();
                let buttons = message.buttons.iter().map(|button| *button != 0).collect();
                Message::Other(Incoming::Joy(axes, buttons))
            });
            messages.push(incoming.boxed());
        }
        let mut triggers = Vec::new();
        for command in Command::all().filter(|command| command.is_plain()) {
            triggers.push((command, client(node, command)?));
        }
        let set_mode = client(node, Command::SetCommandMode)?;
        let answers = FuturesUnordered::new();
        answers.push(absence(context, node, &set_mode)?);
        Ok(Self {
            messages,
            answers,
            order: Vec::new(),
            triggers,
            set_mode,
            set_goal: client(node, Command::SetGoalPose)?,
            set_via_point: client(node, Command::SetViaPoint)?,
            set_joint_goal: client(node, Command::SetJointGoal)?,
            set_joint_via_point: client(node, Command::SetJointViaPoint)?,
            recalibrate: client(node, Command::Recalibrate)?,
            twists: node.create_publisher("delta_twist_cmds", QosProfile::default())?,
            twist_frame: twist_frame.to_owned(),
            clock: Clock::create(ClockType::SystemTime)?,
        })
    }

    /// Calls the service of an order; its answer is an update.
    pub(super) fn order(&mut self, id: u64, order: Order) {
        let asked = self.ask(order);
        self.answers.push(
            async move {
                let answer = match asked {
                    Ok(answer) => dragoman_time::timeout(CALL_TIMEOUT, answer)
                        .await
                        .unwrap_or_else(|_| Err("no answer".to_owned())),
                    Err(reason) => Err(reason),
                };
                Incoming::Update(Update::Answer { id, answer })
            }
            .boxed(),
        );
    }

    fn ask(&self, order: Order) -> Result<PendingAnswer, String> {
        let Order { command, ref values, index } = order;
        Ok(match command {
            Command::SetCommandMode => {
                let request = SetCommandMode::Request { mode: mode(&order)?.into() };
                call(&self.set_mode, &request, |answer| (answer.success, answer.message))?
            }
            Command::SetGoalPose | Command::SetTimedGoalPose => {
                let (pose, min_duration) = pose(&order)?;
                let request = SetGoalPose::Request { pose: message(&pose), min_duration };
                call(&self.set_goal, &request, |answer| (answer.success, answer.message))?
            }
            Command::SetViaPoint => {
                let (pose, min_duration) = pose(&order)?;
                let request = SetViaPoint::Request { index, pose: message(&pose), min_duration };
                call(&self.set_via_point, &request, |answer| (answer.success, answer.message))?
            }
            Command::SetJointGoal => {
                let request = SetJointGoal::Request { position: values.clone(), min_duration: 0.0 };
                call(&self.set_joint_goal, &request, |answer| (answer.success, answer.message))?
            }
            Command::SetJointViaPoint => {
                let (min_duration, position) = values.split_last().ok_or("jV takes joints")?;
                let position = position.to_vec();
                let request = SetJointViaPoint::Request { index, position, min_duration: *min_duration };
                call(&self.set_joint_via_point, &request, |answer| (answer.success, answer.message))?
            }
            Command::Recalibrate => {
                let request = Recalibrate::Request { position: values.clone() };
                call(&self.recalibrate, &request, |answer| (answer.success, answer.message))?
            }
            _ => {
                let found = self.triggers.iter().find(|(other, _)| *other == command);
                let (_, client) = found.ok_or_else(|| format!("{command} is a query"))?;
                call(client, &Trigger::Request::default(), |answer| (answer.success, answer.message))?
            }
        })
    }

    /// Publishes a twist of the tool, m/s and rad/s.
    pub(super) fn twist(&mut self, [x, y, z, rx, ry, rz]: [f64; 6]) -> Result<()> {
        let mut message = TwistStamped::default();
        message.header.stamp = Clock::to_builtin_time(&self.clock.get_now()?);
        message.header.frame_id = self.twist_frame.clone();
        message.twist.linear = Vector3 { x, y, z };
        message.twist.angular = Vector3 { x: rx, y: ry, z: rz };
        self.twists.publish(&message)
    }

    /// Waits for the next message or answer. Cancel safe.
    pub(super) async fn next(&mut self) -> Incoming {
        loop {
            let message = tokio::select! {
                biased;
                Some(answer) = self.answers.next() => return answer,
                Some(message) = self.messages.next() => message,
            };
            match message {
                Message::Other(incoming) => return incoming,
                Message::Joints(message) => {
                    if let Some(joints) = self.sorted(&message) {
                        return Incoming::Update(Update::Joints(joints));
                    }
                }
                Message::Drives(message) => {
                    let temperature = temperatures(&message.temperature);
                    self.order = message.name;
                    return Incoming::Update(Update::Drives { enabled: message.enabled, temperature });
                }
            }
        }
    }

    /// The positions from the base of the chain on. `None`: not all joints were measured, or their order is unknown.
    fn sorted(&self, message: &JointState) -> Option<Vec<f64>> {
        let position = |name| {
            let place = message.name.iter().position(|other| other == name)?;
            message.position.get(place).copied()
        };
        (!self.order.is_empty()).then(|| self.order.iter().map(position).collect())?
    }
}

fn client<S: WrappedServiceTypeSupport + 'static>(node: &mut Node, command: Command) -> Result<Client<S>> {
    node.create_client(command.ros_name(), QosProfile::services_default())
}

/// A warning when no arm was found in the namespace of `node`. Never resolves if there is one.
fn absence(context: &Context, node: &Node, client: &Client<SetCommandMode::Service>) -> Result<Pending> {
    let (context, namespace) = (context.clone(), node.namespace()?);
    let found = Node::is_available(client)?;
    Ok(async move {
        if dragoman_time::timeout(SEARCH_TIME, found).await.is_ok() {
            return pending().await;
        }
        let whereabouts = whereabouts(&context, &namespace, sign::MOTION);
        Incoming::Update(Update::Event(Level::Warning, format!("no arm in {namespace}{whereabouts}")))
    }
    .boxed())
}

type PendingAnswer = BoxFuture<'static, Result<(), String>>;

fn call<S>(
    client: &Client<S>,
    request: &S::Request,
    outcome: fn(S::Response) -> (bool, String),
) -> Result<PendingAnswer, String>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Response: Send,
{
    let answer = client.request(request).map_err(|error| error.to_string())?;
    Ok(async move {
        match answer.await.map(outcome) {
            Ok((true, _)) => Ok(()),
            Ok((false, reason)) => Err(reason),
            Err(error) => Err(error.to_string()),
        }
    }
    .boxed())
}

fn other(update: Update) -> Message {
    Message::Other(Incoming::Update(update))
}

fn message(pose: &ToolPose) -> Pose {
    poses::pose(&(pose.position, pose.quaternion_xyzw))
}

fn pose_update(pose: &Pose) -> Update {
    let (position, quaternion_xyzw) = pose.parts();
    Update::Pose(ToolPose { position, quaternion_xyzw })
}

fn motion_update(message: &MotionStatus) -> Option<Update> {
    let mode = CommandMode::try_from(message.mode).ok()?;
    Some(Update::Motion { mode, moving: message.moving })
}

fn event_update(message: MotionEvent) -> Update {
    let is = |kind: i64| i64::from(message.kind) == kind;
    let level = match () {
        () if is(MotionEvent::GOAL_REACHED as i64) => {
            return Update::Event(Level::Info, "goal reached".to_owned());
        }
        () if is(MotionEvent::WORKSPACE_LIMIT as i64) => Level::Error,
        () => Level::Warning,
    };
    Update::Event(level, message.text)
}
