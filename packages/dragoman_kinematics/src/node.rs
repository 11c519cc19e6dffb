//! The node that moves an arm: pipeline and kinematics as topics and services.
//!
//! With `node/` the only files of this package that know ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this | [`start`]: the node, its topics and its cycle |
//! | `services.rs` | the services of the arm's namespace |
//! | `ik_services.rs` | `compute_fk`, `compute_ik` |
//! | `settings.rs` | parameters |

mod ik_services;
mod services;
mod settings;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{
    Clock, Context, Node, Publisher, QosProfile, builtin_interfaces, dragoman_msgs, geometry_msgs,
    sensor_msgs, std_msgs,
};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion};

use crate::motion::{CommandMode, ConfigError, Event, Pipeline, Status, Step};
use crate::{Model, ModelError, Robot};

pub use settings::declarations;

/// What the node is made from.
#[derive(Debug, Clone)]
pub struct KinematicsSettings {
    /// Namespace of the arm, `/ranger` say.
    pub namespace: String,
    /// The robot, with its tool.
    pub model: Model,
    /// Text of its URDF, published as `robot_description`.
    pub urdf: String,
}

/// Why the node cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KinematicsNodeError {
    /// The robot cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The parameters do not make a motion configuration.
    #[error(transparent)]
    Motion(#[from] ConfigError),
    /// As any node's.
    #[error(transparent)]
    Node(NodeError),
}

impl<E> From<E> for KinematicsNodeError
where
    NodeError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(NodeError::from(error))
    }
}

/// Drives that have said nothing for this long count as disabled.
const DRIVE_STATUS_TIMEOUT: Duration = Duration::from_secs(3);

/// How often `motion_status` is repeated when nothing changes, and `/diagnostics` published.
const STATUS_PERIOD: Duration = Duration::from_secs(1);

/// Starts node `kinematics` in the arm's namespace.
///
/// # Errors
/// A model or a parameter that makes no sense; the middleware's refusal.
pub fn start(context: &Context, settings: KinematicsSettings) -> Result<RunningNode, KinematicsNodeError> {
    let robot = Robot::new(&settings.model)?;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "kinematics", &settings.namespace)?);
    let (parameters, server) = parameters::declare(tasks.node(), declarations(&robot))?;
    tasks.spawn(server);
    let config = settings::motion_config(&parameters);
    let mover = Mover::new(tasks.node(), Pipeline::new(robot.clone(), config)?, settings.model.base_link())?;
    let mover = Arc::new(Mutex::new(mover));
    services::serve(&mut tasks, &mover)?;
    ik_services::serve(&mut tasks, &robot, &settings.model)?;

    let description = tasks.node().create_publisher("robot_description", latched())?;
    description.publish(&std_msgs::msg::String { data: settings.urdf })?;
    let measured = Arc::clone(&mover);
    tasks.subscribe("joint_states", QosProfile::default(), move |state: sensor_msgs::msg::JointState| {
        lock(&measured).cycle(&state);
    })?;
    let switched = Arc::clone(&mover);
    tasks.subscribe("drive_status", latched(), move |status: dragoman_msgs::msg::DriveStatus| {
        lock(&switched).note_drives(status.enabled);
    })?;
    let steered = Arc::clone(&mover);
    tasks.subscribe(
        "delta_twist_cmds",
        QosProfile::default(),
        move |twist: geometry_msgs::msg::TwistStamped| {
            lock(&steered).steer(&twist.twist);
        },
    )?;
    let mut diagnostics = Diagnostics::new(tasks.node(), "motion", settings.model.name())?;
    tasks.every(STATUS_PERIOD, move || {
        let mut mover = lock(&mover);
        mover.publish_status();
        mover.publish_diagnostics(&mut diagnostics);
        // Keeps the description at hand for whoever joins later.
        let _ = &description;
    })?;
    Ok(tasks.start()?)
}

fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

fn lock(mover: &Mutex<Mover>) -> MutexGuard<'_, Mover> {
    mover.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pipeline with what it publishes.
struct Mover {
    pipeline: Pipeline,
    joint_names: Vec<String>,
    base_frame: String,
    started: Instant,
    clock: Arc<Mutex<Clock>>,
    drives: Option<(bool, Instant)>,
    last_cycle: Option<Instant>,
    last_state: Option<sensor_msgs::msg::JointState>,
    status: Option<Status>,
    /// The last refusal or limit, for diagnostics.
    trouble: Option<String>,
    pose: Publisher<geometry_msgs::msg::PoseStamped>,
    setpoint: Publisher<geometry_msgs::msg::PoseStamped>,
    command: Publisher<sensor_msgs::msg::JointState>,
    motion_status: Publisher<dragoman_msgs::msg::MotionStatus>,
    events: Publisher<dragoman_msgs::msg::MotionEvent>,
}

impl Mover {
    fn new(node: &mut Node, pipeline: Pipeline, base_frame: &str) -> Result<Self, dragoman_ros::Error> {
        Ok(Self {
            joint_names: pipeline.robot().joints().iter().map(|joint| joint.name.clone()).collect(),
            pipeline,
            base_frame: base_frame.to_owned(),
            started: Instant::now(),
            clock: node.get_ros_clock(),
            drives: None,
            last_cycle: None,
            last_state: None,
            status: None,
            trouble: None,
            pose: node.create_publisher("pose", QosProfile::default())?,
            setpoint: node.create_publisher("setpoint", QosProfile::default())?,
            command: node.create_publisher("joint_command", QosProfile::default())?,
            motion_status: node.create_publisher("motion_status", latched())?,
            events: node.create_publisher("motion_events", QosProfile::default().keep_last(100))?,
        })
    }

    /// A switch of the drives counts at once: whoever switched them on may command them with the next request.
    fn note_drives(&mut self, enabled: bool) {
        let switched = self.drives.is_none_or(|(before, _)| before != enabled);
        self.drives = Some((enabled, Instant::now()));
        if switched && let Some(state) = self.last_state.take() {
            self.cycle(&state);
        }
    }

    /// One cycle of the pipeline for one measurement.
    fn cycle(&mut self, state: &sensor_msgs::msg::JointState) {
        let measured = self.in_order(state);
        let enabled = self.drives.is_some_and(|(enabled, at)| enabled && at.elapsed() < DRIVE_STATUS_TIMEOUT);
        let stamp = self.stamp();
        let now = self.started.elapsed().as_secs_f64();
        self.last_cycle = Some(Instant::now());
        self.last_state = Some(state.clone());
        let step = self.pipeline.step(now, &measured, enabled);
        let Step { pose, setpoint, events, status, command } = step;
        let command = command.map(<[f64]>::to_vec);
        let header = std_msgs::msg::Header { stamp, frame_id: self.base_frame.clone() };
        let stamped = |pose: &Isometry3<f64>| geometry_msgs::msg::PoseStamped {
            header: header.clone(),
            pose: pose_message(pose),
        };
        report(self.pose.publish(&stamped(&pose)), "pose");
        report(self.setpoint.publish(&stamped(&setpoint)), "setpoint");
        if let Some(position) = command {
            let name = self.joint_names.clone();
            let message =
                sensor_msgs::msg::JointState { header: header.clone(), name, position, ..Default::default() };
            report(self.command.publish(&message), "joint_command");
        }
        for event in events.iter() {
            self.publish_event(event, &header);
        }
        if self.status != Some(status) {
            let changed = self.status.is_none_or(|before| is_news(&before, &status));
            self.status = Some(status);
            if changed {
                self.publish_status();
            }
        }
    }

    /// The measured positions in the order of the chain; empty where a joint is missing, which the pipeline refuses.
    fn in_order(&self, state: &sensor_msgs::msg::JointState) -> Vec<f64> {
        if state.name.is_empty() || state.name == self.joint_names {
            return state.position.clone();
        }
        let position_of = |name: &String| {
            let index = state.name.iter().position(|other| other == name)?;
            state.position.get(index).copied()
        };
        self.joint_names.iter().map(position_of).collect::<Option<_>>().unwrap_or_default()
    }

    fn steer(&mut self, twist: &geometry_msgs::msg::Twist) {
        let geometry_msgs::msg::Twist { linear, angular } = twist;
        let result =
            self.pipeline.set_twist([linear.x, linear.y, linear.z], [angular.x, angular.y, angular.z]);
        if let Err(rejected) = result {
            self.trouble = Some(format!("delta_twist_cmds: {rejected}"));
        }
    }

    fn publish_event(&mut self, event: &Event, header: &std_msgs::msg::Header) {
        use dragoman_msgs::msg::MotionEvent;
        let kind = match event {
            Event::SetpointLimited { .. } | Event::WorkspaceViolated { .. } => MotionEvent::WORKSPACE_LIMIT,
            Event::JointLimit { .. } => MotionEvent::JOINT_LIMIT,
            Event::IkDivergence { .. } => MotionEvent::IK_DIVERGENCE,
            Event::SequenceAborted { .. } => MotionEvent::VIA_POINT_MISSED,
            Event::MotionFinished | Event::SequenceFinished => MotionEvent::GOAL_REACHED,
            other => {
                tracing::debug!(?other, "motion");
                return;
            }
        };
        let text = format!("{event:?}");
        if kind == MotionEvent::GOAL_REACHED {
            tracing::info!("goal reached");
        } else {
            tracing::warn!(event = text, "motion");
            self.trouble = Some(text.clone());
        }
        #[allow(clippy::cast_possible_truncation)]
        let message = MotionEvent { header: header.clone(), kind: kind as u8, text };
        report(self.events.publish(&message), "motion_events");
    }

    fn publish_status(&self) {
        let mode = self.pipeline.mode().number();
        let mut message = dragoman_msgs::msg::MotionStatus { mode, via_point: -1, ..Default::default() };
        message.header.stamp = self.stamp();
        if let Some(status) = self.status {
            message.moving = status.moving;
            message.via_point = status.via_point.and_then(|index| i32::try_from(index).ok()).unwrap_or(-1);
            message.has_goal_pose = status.has_goal;
            message.has_joint_goal = status.has_joint_goal;
        }
        report(self.motion_status.publish(&message), "motion_status");
    }

    fn publish_diagnostics(&mut self, diagnostics: &mut Diagnostics) {
        let mode = match self.pipeline.mode() {
            CommandMode::Off => "off",
            CommandMode::Joint => "joint space",
            CommandMode::Cartesian => "Cartesian space",
        };
        let moving = self.status.is_some_and(|status| status.moving).to_string();
        let values = [("command mode", mode.to_owned()), ("moving", moving)];
        let silent = self.last_cycle.is_none_or(|at| at.elapsed() > STATUS_PERIOD);
        match self.trouble.take() {
            _ if silent => diagnostics.publish(Severity::Stale, "no joint_states", &values),
            Some(trouble) => diagnostics.publish(Severity::Warn, &trouble, &values),
            None => diagnostics.publish(Severity::Ok, mode, &values),
        }
    }

    fn stamp(&self) -> builtin_interfaces::msg::Time {
        let now = self.clock.lock().unwrap_or_else(PoisonError::into_inner).get_now();
        Clock::to_builtin_time(&now.unwrap_or_default())
    }
}

/// Whether a change of the status is worth a message; the speed changes in every cycle.
fn is_news(before: &Status, after: &Status) -> bool {
    Status { speed_scale: after.speed_scale, ..*before } != *after
}

fn report(result: Result<(), dragoman_ros::Error>, topic: &str) {
    if let Err(error) = result {
        tracing::warn!(%error, topic, "a message could not be published");
    }
}

fn pose_message(pose: &Isometry3<f64>) -> geometry_msgs::msg::Pose {
    let (p, q) = (pose.translation.vector, pose.rotation);
    geometry_msgs::msg::Pose {
        position: geometry_msgs::msg::Point { x: p.x, y: p.y, z: p.z },
        orientation: geometry_msgs::msg::Quaternion { x: q.i, y: q.j, z: q.k, w: q.w },
    }
}

/// A pose from outside; none where it is not finite or its quaternion is zero.
fn pose_of(message: &geometry_msgs::msg::Pose) -> Option<Isometry3<f64>> {
    let (p, q) = (&message.position, &message.orientation);
    let finite = [p.x, p.y, p.z, q.x, q.y, q.z, q.w].iter().all(|value| value.is_finite());
    let rotation = UnitQuaternion::try_new(Quaternion::new(q.w, q.x, q.y, q.z), 1e-9)?;
    finite.then(|| Isometry3::from_parts(nalgebra::Translation3::new(p.x, p.y, p.z), rotation))
}
