//! The node that moves an arm: offers pipeline and kinematics as topics and services.
//!
//! With `node/` the only files of this package that depend on ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this | [`start`]: the node, its topics and its cycle |
//! | `services.rs` | the services of the arm's namespace |
//! | `ik_services.rs` | `compute_fk`, `compute_ik` |
//! | `surroundings.rs` | the scene |
//! | `planner.rs` | `plan_to_pose` |
//! | `moveit.rs` | `plan_kinematic_path` |
//! | `work.rs` | long work beside the node's task |
//! | `links.rs` | transforms of its links |
//! | `settings.rs` | parameters |
//! | [`state`] | a separate node: description, transforms and joints of a whole robot |

mod ik_services;
mod links;
mod moveit;
mod planner;
mod services;
mod settings;
pub mod state;
mod surroundings;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters::Parameters;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::times::SharedClock;
use dragoman_ros::{
    Context, Node, Publisher, QosProfile, builtin_interfaces, dragoman_msgs, geometry_msgs, parameters,
    poses, sensor_msgs, std_msgs, times,
};
use dragoman_time::{now, since};
use futures::StreamExt;
use futures::channel::oneshot;
use nalgebra::Vector3;
use parking_lot::Mutex;

use crate::motion::{CommandMode, ConfigError, Event, MotionConfig, Pipeline, Status, Step};
use crate::{Model, ModelError, Robot};

pub use ik_services::serve_solver;
pub use links::Links;
pub use settings::{KinematicsParameters, MotionParameters};
pub use surroundings::Surroundings;

/// Settings of the node.
#[derive(Debug, Clone)]
pub struct KinematicsSettings {
    /// Namespace of the arm, for example `/ranger`.
    pub namespace: String,
    /// The robot, with its tool.
    pub model: Model,
    /// Text of its URDF, published as `robot_description`.
    pub urdf: String,
    /// Defaults of the parameters.
    pub motion: MotionConfig,
}

/// Error starting the node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KinematicsNodeError {
    /// The robot model is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The parameters are not a valid motion configuration.
    #[error(transparent)]
    Motion(#[from] ConfigError),
    /// Error of the middleware or of a parameter.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(KinematicsNodeError);

/// Drives whose status is older than this count as disabled.
const DRIVE_STATUS_TIMEOUT: Duration = Duration::from_secs(3);

/// Period of repeating an unchanged `motion_status`, and of `/diagnostics`.
const STATUS_PERIOD: Duration = Duration::from_secs(1);

/// Period of checking the age of the last measurement.
const WATCH_PERIOD: Duration = Duration::from_millis(100);

/// Interval of log messages about a faulty stream of messages.
const WARNING_PERIOD: Duration = Duration::from_secs(5);

parameters! {
    /// A parameter of both nodes.
    pub struct PublishParameters {
        /// Publish the description and transforms; false if robot_state_publisher or another node does.
        publish_tf: bool = true;
    }
}

/// A running kinematics node.
#[derive(Debug)]
pub struct KinematicsNode {
    /// The tasks of the node, for an executor.
    pub node: RunningNode,
    /// Resolves when the drives have reported that they are on, so that motions can begin.
    pub drives_on: oneshot::Receiver<()>,
}

/// Starts node `kinematics` in the arm's namespace.
///
/// # Errors
/// An invalid model or parameter; an error of the middleware.
pub fn start(context: &Context, settings: KinematicsSettings) -> Result<KinematicsNode, KinematicsNodeError> {
    let robot = Robot::new(&settings.model)?;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "kinematics", &settings.namespace)?);
    let motion = MotionParameters::new(&settings.motion);
    let parameters = tasks.declare(KinematicsParameters { motion, ..Default::default() })?;
    let values = parameters.read();
    let config = values.motion.config();
    let publishes = values.publish.publish_tf;
    let limited = parameters.clone();
    let links = if publishes { Links::new(tasks.node(), &settings.urdf)? } else { None };
    let mover = Mover::new(tasks.node(), robot.clone(), config, links)?;
    let mover = Arc::new(Mutex::new(mover));
    let surroundings = Arc::new(Surroundings::new(&robot, &settings.urdf, values.clearance));
    surroundings.avoid_world(values.avoid_world);
    let (changed, around) = (Arc::clone(&mover), Arc::clone(&surroundings));
    let mut changes = parameters.changes().ready_chunks(64);
    tasks.spawn(async move {
        // Parameters that were set together are handled together.
        while changes.next().await.is_some() {
            changed.lock().configure(&parameters);
            around.avoid_world(parameters.read().avoid_world);
        }
    });
    services::serve(&mut tasks, &mover)?;
    let known = Arc::clone(&mover);
    let configured = Arc::clone(&mover);
    let free = move || configured.lock().config.free_rotation;
    surroundings::serve(&mut tasks, &surroundings)?;
    let time_limit = move || limited.read().planning_time;
    planner::serve(&mut tasks, &mover, &robot, &surroundings, time_limit)?;
    serve_solver(&mut tasks, &robot, move || known.lock().measured(), free, Some(surroundings))?;

    let description = if publishes {
        let publisher = tasks.node().create_publisher("robot_description", latched())?;
        publisher.publish(&std_msgs::msg::String { data: settings.urdf })?;
        Some(publisher)
    } else {
        None
    };
    let measured = Arc::clone(&mover);
    tasks.subscribe("joint_states", QosProfile::default(), move |state: sensor_msgs::msg::JointState| {
        measured.lock().cycle(&state);
    })?;
    let switched = Arc::clone(&mover);
    let (first_on, drives_on) = oneshot::channel();
    let mut first_on = Some(first_on);
    tasks.subscribe("drive_status", latched(), move |status: dragoman_msgs::msg::DriveStatus| {
        switched.lock().note_drives(status.enabled);
        if status.enabled {
            // The receiver may be gone.
            first_on.take().map(|first_on| first_on.send(()));
        }
    })?;
    let steered = Arc::clone(&mover);
    tasks.subscribe(
        "delta_twist_cmds",
        QosProfile::default(),
        move |twist: geometry_msgs::msg::TwistStamped| {
            steered.lock().steer(&twist);
        },
    )?;
    let watched = Arc::clone(&mover);
    tasks.every(WATCH_PERIOD, move || watched.lock().watch_measurement())?;
    let mut diagnostics = Diagnostics::new(tasks.node(), "motion", settings.model.name())?;
    tasks.every(STATUS_PERIOD, move || {
        let mut mover = mover.lock();
        mover.publish_status();
        mover.publish_diagnostics(&mut diagnostics);
        // Keeps the publisher, for late subscribers.
        let _ = &description;
    })?;
    Ok(KinematicsNode { node: tasks.start()?, drives_on })
}

fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

/// The pipeline with its publishers.
struct Mover {
    pipeline: Pipeline,
    /// The configuration in the parameters.
    config: MotionConfig,
    joint_names: Vec<String>,
    base_frame: String,
    tip_frame: String,
    started: Instant,
    clock: SharedClock,
    drives: Option<(bool, Instant)>,
    last_cycle: Option<Instant>,
    /// The last one with all joints.
    last_state: Option<sensor_msgs::msg::JointState>,
    status: Option<Status>,
    /// The last refusal or limit, for diagnostics.
    trouble: Option<String>,
    last_twist_warning: Option<Instant>,
    pose: Publisher<geometry_msgs::msg::PoseStamped>,
    setpoint: Publisher<geometry_msgs::msg::PoseStamped>,
    command: Publisher<sensor_msgs::msg::JointState>,
    motion_status: Publisher<dragoman_msgs::msg::MotionStatus>,
    events: Publisher<dragoman_msgs::msg::MotionEvent>,
    links: Option<Links>,
}

impl Mover {
    fn new(
        node: &mut Node,
        robot: Robot,
        config: MotionConfig,
        links: Option<Links>,
    ) -> Result<Self, KinematicsNodeError> {
        Ok(Self {
            joint_names: robot.joints().iter().map(|joint| joint.name.clone()).collect(),
            base_frame: robot.model().base_link().to_owned(),
            tip_frame: robot.model().tip_link().to_owned(),
            pipeline: Pipeline::new(robot, config.clone())?,
            config,
            started: now(),
            clock: node.get_ros_clock(),
            drives: None,
            last_cycle: None,
            last_state: None,
            status: None,
            trouble: None,
            last_twist_warning: None,
            pose: node.create_publisher("pose", QosProfile::default())?,
            setpoint: node.create_publisher("setpoint", QosProfile::default())?,
            command: node.create_publisher("joint_command", QosProfile::default())?,
            motion_status: node.create_publisher("motion_status", latched())?,
            events: node.create_publisher("motion_events", QosProfile::default().keep_last(100))?,
            links,
        })
    }

    /// A switch of the drives takes effect at once: the next request may already be a command.
    fn note_drives(&mut self, enabled: bool) {
        let switched = self.drives.is_none_or(|(before, _)| before != enabled);
        self.drives = Some((enabled, now()));
        self.watch_measurement();
        if switched
            && self.pipeline.is_measured()
            && let Some(state) = self.last_state.take()
        {
            // Its pose was already published.
            self.advance(&state, false);
        }
    }

    /// Without joint states no cycle would notice the timeout.
    fn watch_measurement(&mut self) {
        if let Some(event) = self.pipeline.check_measurement(since(self.started)) {
            let header = std_msgs::msg::Header { stamp: self.stamp(), frame_id: self.base_frame.clone() };
            self.publish_event(&event, &header);
            let status = self.pipeline.status();
            self.publish_change(status);
        }
    }

    /// One cycle of the pipeline for one measurement. A message with other joints only, for example a gripper's, is
    /// ignored.
    fn cycle(&mut self, state: &sensor_msgs::msg::JointState) {
        if state.name.is_empty() || state.name.iter().any(|name| self.joint_names.contains(name)) {
            self.advance(state, true);
        }
    }

    /// `is_new`: it has just arrived, and its poses must be published.
    fn advance(&mut self, state: &sensor_msgs::msg::JointState, is_new: bool) {
        let measured = self.in_order(state);
        let enabled = self.drives.is_some_and(|(enabled, at)| enabled && since(at) < DRIVE_STATUS_TIMEOUT);
        let stamp = self.stamp();
        let passed = since(self.started);
        self.last_cycle = Some(now());
        let valid = measured.len() == self.joint_names.len() && measured.iter().all(|q| q.is_finite());
        if valid {
            self.last_state = Some(state.clone());
        }
        let step = self.pipeline.step(passed, &measured, enabled);
        let Step { pose, setpoint, events, status, command } = step;
        let command = command.map(<[f64]>::to_vec);
        let header = std_msgs::msg::Header { stamp, frame_id: self.base_frame.clone() };
        let mut measured_at = header.clone();
        if state.header.stamp != builtin_interfaces::msg::Time::default() {
            measured_at.stamp.clone_from(&state.header.stamp);
        }
        // Only a complete and finite measurement has a pose.
        if valid && is_new {
            if let Some(links) = &mut self.links {
                report(links.publish(&self.joint_names, &measured, &measured_at.stamp), "tf");
            }
            let pose = geometry_msgs::msg::PoseStamped { header: measured_at, pose: poses::pose(&pose) };
            let setpoint =
                geometry_msgs::msg::PoseStamped { header: header.clone(), pose: poses::pose(&setpoint) };
            report(self.pose.publish(&pose), "pose");
            report(self.setpoint.publish(&setpoint), "setpoint");
        }
        if let Some(position) = command {
            let name = self.joint_names.clone();
            let message =
                sensor_msgs::msg::JointState { header: header.clone(), name, position, ..Default::default() };
            report(self.command.publish(&message), "joint_command");
        }
        for event in events.iter() {
            self.publish_event(event, &header);
        }
        self.publish_change(status);
    }

    fn publish_change(&mut self, status: Status) {
        if self.status != Some(status) {
            let changed = self.status.is_none_or(|before| is_news(&before, &status));
            self.status = Some(status);
            if changed {
                self.publish_status();
            }
        }
    }

    /// The measured positions in the order of the chain; empty if a joint is missing, which the pipeline refuses.
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

    /// Applies changed parameters, all or none.
    fn configure(&mut self, parameters: &Parameters<KinematicsParameters>) {
        let config = parameters.read().motion.config();
        if config == self.config {
            return;
        }
        match self.pipeline.set_config(config.clone()) {
            Ok(()) => self.config = config,
            Err(error) => {
                tracing::warn!(%error, "parameters refused and reset to their old values");
                self.trouble = Some(format!("parameters refused: {error}"));
                let restored = parameters.update(|all| all.motion = MotionParameters::new(&self.config));
                if let Err(reason) = restored {
                    tracing::error!(reason, "restoring the parameters failed");
                }
            }
        }
    }

    /// The last valid joint positions, in the order of the chain; `None` when they are too old.
    fn measured(&self) -> Option<Vec<f64>> {
        self.last_state.as_ref().filter(|_| self.pipeline.is_measured()).map(|state| self.in_order(state))
    }

    /// A twist about the axes of the base frame, or of the tip frame at the commanded pose.
    fn steer(&mut self, message: &geometry_msgs::msg::TwistStamped) {
        let geometry_msgs::msg::Twist { linear, angular } = &message.twist;
        let given = [[linear.x, linear.y, linear.z], [angular.x, angular.y, angular.z]].map(Vector3::from);
        let frame = &message.header.frame_id;
        let [linear, angular] = if frame.is_empty() || *frame == self.base_frame {
            given
        } else if *frame == self.tip_frame {
            given.map(|vector| self.pipeline.setpoint().rotation * vector)
        } else {
            let (base, tip) = (&self.base_frame, &self.tip_frame);
            self.refuse_twist(format!("its frame is '{frame}', neither '{base}' nor '{tip}'"));
            return;
        };
        if let Err(rejected) = self.pipeline.set_twist(linear.into(), angular.into()) {
            self.refuse_twist(rejected.to_string());
        }
    }

    fn refuse_twist(&mut self, reason: String) {
        if self.last_twist_warning.is_none_or(|at| since(at) > WARNING_PERIOD) {
            self.last_twist_warning = Some(now());
            tracing::warn!(reason, "delta_twist_cmds refused");
        }
        self.trouble = Some(format!("delta_twist_cmds: {reason}"));
    }

    fn publish_event(&mut self, event: &Event, header: &std_msgs::msg::Header) {
        use dragoman_msgs::msg::MotionEvent;
        let kind = match event {
            Event::SetpointLimited { .. } | Event::WorkspaceViolated { .. } => {
                MotionEvent::WORKSPACE_LIMIT as u8
            }
            Event::JointLimit { .. } => MotionEvent::JOINT_LIMIT as u8,
            Event::IkDivergence { .. } => MotionEvent::IK_DIVERGENCE as u8,
            Event::SequenceAborted { .. } => MotionEvent::VIA_POINT_MISSED as u8,
            Event::MotionFinished | Event::SequenceFinished => MotionEvent::GOAL_REACHED as u8,
            Event::MeasurementTimeout { seconds } => {
                tracing::warn!(seconds, "joint_states timed out; motion disabled");
                return;
            }
            other => {
                tracing::debug!(event = ?other, "motion state changed");
                return;
            }
        };
        let text = format!("{event:?}");
        if kind == MotionEvent::GOAL_REACHED as u8 {
            tracing::info!("goal reached");
        } else {
            tracing::warn!(event = text, "motion limited or aborted");
            self.trouble = Some(text.clone());
        }
        let message = MotionEvent { header: header.clone(), kind, text };
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
        let silent = self.last_cycle.is_none_or(|at| since(at) > STATUS_PERIOD);
        match self.trouble.take() {
            _ if silent => diagnostics.publish(Severity::Stale, "no joint_states", &values),
            Some(trouble) => diagnostics.publish(Severity::Warn, &trouble, &values),
            None if self.pipeline.mode() == CommandMode::Off => {
                diagnostics.publish(Severity::Idle, mode, &values);
            }
            None => diagnostics.publish(Severity::Ok, mode, &values),
        }
    }

    fn stamp(&self) -> builtin_interfaces::msg::Time {
        times::stamp(&self.clock)
    }
}

/// Whether a change of the status must be published; the speed changes in every cycle.
fn is_news(before: &Status, after: &Status) -> bool {
    Status { speed_scale: after.speed_scale, ..*before } != *after
}

fn report(result: Result<(), dragoman_ros::Error>, topic: &str) {
    if let Err(error) = result {
        tracing::warn!(%error, topic, "publishing failed");
    }
}
