//! The node that publishes the poses of all links of a robot: its description, `/tf_static`, `/tf`, and `joint_states`
//! merged from several sources.
//!
//! Without sources all joints are at zero, and everything is published once.
//!
//! A transform must have one publisher: start this node only if no other node (for example robot_state_publisher)
//! publishes those of the same robot, or set `publish_tf` to false; the other node then provides the description, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::geometry_msgs::msg::TransformStamped;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Clock, Context, Node, Publisher, QosProfile, parameters, poses, std_msgs, times};
use dragoman_time::{now, since};
use parking_lot::Mutex;

use super::{PublishParameters, WARNING_PERIOD, latched};
use crate::ModelError;
use crate::state::{JointReadings, Merge, Merged, Transform, Tree};

/// Default name of the node.
pub const NODE_NAME: &str = "robot_state";
/// Topic of the merged joints, in the node's namespace.
pub const JOINT_STATES: &str = "joint_states";
/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// Defaults of the node's parameters.
#[derive(Debug, Clone)]
pub struct StateSettings {
    /// Name of the node: ROS remapping rules can distinguish nodes of several namespaces by their names only.
    pub node_name: String,
    /// Namespace of the robot, for example `/`.
    pub namespace: String,
    /// Text of its URDF.
    pub urdf: String,
    /// Topics of its joint states.
    pub sources: Vec<String>,
    /// Prefix of its frame names.
    pub frame_prefix: String,
}

/// Error starting the node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum StateNodeError {
    /// The description file cannot be read.
    #[error("robot description {path}: {source}")]
    File {
        /// Path of the file.
        path: String,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The description is invalid.
    #[error("robot description: {0}")]
    Model(#[from] ModelError),
    /// There is no data to publish.
    #[error(
        "there is neither a description nor a source of joints: set robot_description, robot_description_file or source_list"
    )]
    Nothing,
    /// A source is listed twice, or is a topic of the node itself.
    #[error("source_list: {topic} is listed twice, or is published by this node")]
    Source { topic: String },
    /// Error of the middleware or of a parameter.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(StateNodeError);

parameters! {
    /// The parameters of the node.
    pub struct StateParameters {
        ..publish: PublishParameters;
        /// Text of the robot's URDF; empty: robot_description_file, or the program's own.
        robot_description: Option<String>;
        /// File with the robot's URDF.
        robot_description_file: Option<String>;
        /// Topics (sensor_msgs/JointState) whose joints are merged, in this order; empty: all joints are at zero.
        source_list: Vec<String>;
        /// Minimum rate of joint_states while any source is active, Hz; also published when all sources have sent.
        rate: f64 = 25.0, in 1.0..=1000.0;
        /// Time after which a silent source is left out, s.
        source_timeout: Duration = 1.0, in 0.02..=60.0;
        /// Prefix of all frame names, for example robot1/.
        frame_prefix: String;
        /// Publish the merged joints; false if the only source is joint_states itself.
        publish_joint_states: bool = true;
    }
}

/// Starts the node.
///
/// # Errors
/// An invalid description; a source that the node itself publishes; an error of the middleware.
pub fn start(context: &Context, settings: &StateSettings) -> Result<RunningNode, StateNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), &settings.node_name, &settings.namespace)?);
    let parameters = tasks.declare(StateParameters {
        source_list: settings.sources.clone(),
        frame_prefix: settings.frame_prefix.clone(),
        ..StateParameters::default()
    })?;
    let parameters = parameters.read();
    let urdf = description(&parameters, &settings.urdf)?;
    let tree = if urdf.is_empty() { None } else { Some(Tree::from_urdf(&urdf)?) };
    // The program has already logged the notes of its own description.
    if urdf != settings.urdf {
        for note in tree.iter().flat_map(Tree::notes) {
            tracing::warn!("robot_description, {note}");
        }
    }
    let sources = parameters.source_list.clone();
    if tree.is_none() && sources.is_empty() {
        return Err(StateNodeError::Nothing);
    }
    let mut known: Vec<String> = Vec::new();
    if parameters.publish_joint_states {
        known.push(in_namespace(&settings.namespace, JOINT_STATES));
    }
    for topic in &sources {
        let full = in_namespace(&settings.namespace, topic);
        if known.contains(&full) {
            return Err(StateNodeError::Source { topic: topic.clone() });
        }
        known.push(full);
    }

    let robot = Arc::new(Mutex::new(Robot::new(tasks.node(), &parameters, tree, sources.len())?));
    let description = if parameters.publish.publish_tf && !urdf.is_empty() {
        let publisher = tasks.node().create_publisher("robot_description", latched())?;
        publisher.publish(&std_msgs::msg::String { data: urdf })?;
        Some(publisher)
    } else {
        None
    };
    for (source, topic) in sources.iter().enumerate() {
        let shared = Arc::clone(&robot);
        tasks.subscribe(topic, QosProfile::default(), move |state: JointState| {
            shared.lock().receive(source, &state);
        })?;
    }
    if !sources.is_empty() {
        let period = Duration::from_secs_f64(1.0 / parameters.rate);
        let polled = Arc::clone(&robot);
        tasks.every(period, move || polled.lock().poll())?;
    }
    let mut diagnostics = Diagnostics::new(tasks.node(), "state", "robot")?;
    tasks.every(REPORT_PERIOD, move || {
        robot.lock().report(&mut diagnostics, &sources);
        // Keeps the publisher, for late subscribers.
        let _ = &description;
    })?;
    Ok(tasks.start()?)
}

/// The text of the URDF selected by the parameters, or `default`.
fn description(parameters: &StateParameters, default: &str) -> Result<String, StateNodeError> {
    match (&parameters.robot_description, &parameters.robot_description_file) {
        (Some(text), _) => Ok(text.clone()),
        (None, None) => Ok(default.to_owned()),
        (None, Some(path)) => {
            let failed = |source| StateNodeError::File { path: path.clone(), source };
            let (text, note) = dragoman_urdf::decode(&std::fs::read(path).map_err(failed)?);
            if let Some(note) = note {
                tracing::warn!("robot_description, {note}");
            }
            Ok(text)
        }
    }
}

fn in_namespace(namespace: &str, topic: &str) -> String {
    if topic.starts_with('/') {
        topic.to_owned()
    } else {
        format!("{}/{topic}", namespace.trim_end_matches('/'))
    }
}

/// Joints and links with their publishers.
struct Robot {
    tree: Option<Tree>,
    merge: Merge,
    start: Instant,
    joints: Option<Publisher<JointState>>,
    transforms: Option<Publisher<TFMessage>>,
    /// Keeps the publisher of the fixed transforms, for late subscribers.
    _fixed: Option<Publisher<TFMessage>>,
    prefix: String,
    states: u64,
    refused: u64,
    refusal: Option<String>,
    last_warning: Option<Instant>,
}

impl Robot {
    fn new(
        node: &mut Node,
        parameters: &StateParameters,
        mut tree: Option<Tree>,
        sources: usize,
    ) -> Result<Self, StateNodeError> {
        let period = Duration::from_secs_f64(1.0 / parameters.rate);
        let prefix = parameters.frame_prefix.clone();
        let with_tf = parameters.publish.publish_tf && tree.is_some();
        let is_moved = sources > 0;
        let (mut transforms, mut fixed) = (None, None);
        if let Some(tree) = tree.as_mut().filter(|_| with_tf) {
            if is_moved {
                transforms = Some(node.create_publisher("/tf", QosProfile::default().keep_last(100))?);
            }
            let publisher = node.create_publisher("/tf_static", latched())?;
            let clock = node.get_ros_clock();
            let stamp = times::stamp(&clock);
            let standing = if is_moved { Vec::new() } else { tree.moving(|_| Some(0.0)) };
            let all =
                tree.fixed().chain(standing).map(|transform| stamped(&transform, &stamp, &prefix)).collect();
            publisher.publish(&TFMessage { transforms: all })?;
            fixed = Some(publisher);
        }
        let joints = if is_moved && parameters.publish_joint_states {
            Some(node.create_publisher(JOINT_STATES, QosProfile::default())?)
        } else {
            None
        };
        Ok(Self {
            tree,
            merge: Merge::new(sources, period, parameters.source_timeout),
            start: now(),
            joints,
            transforms,
            _fixed: fixed,
            prefix,
            states: 0,
            refused: 0,
            refusal: None,
            last_warning: None,
        })
    }

    fn receive(&mut self, source: usize, state: &JointState) {
        let stamp = &state.header.stamp;
        let readings = JointReadings {
            stamp: Duration::new(u64::try_from(stamp.sec).unwrap_or_default(), stamp.nanosec),
            names: &state.name,
            positions: &state.position,
            velocities: &state.velocity,
            efforts: &state.effort,
        };
        match self.merge.handle_readings(since(self.start), source, readings) {
            Ok(merged) => self.publish(merged),
            Err(refusal) => {
                self.refused += 1;
                if self.last_warning.is_none_or(|at| since(at) > WARNING_PERIOD) {
                    self.last_warning = Some(now());
                    tracing::warn!(%refusal, "joint states refused");
                }
                self.refusal = Some(refusal.to_string());
            }
        }
    }

    fn poll(&mut self) {
        let merged = self.merge.poll_state(since(self.start));
        self.publish(merged);
    }

    fn publish(&mut self, merged: Option<Merged>) {
        let Some(mut merged) = merged else { return };
        self.states += 1;
        if let Some(tree) = &self.tree {
            tree.complete(&mut merged);
        }
        if let Err(error) = self.try_publish(merged) {
            tracing::warn!(%error, "publishing failed");
        }
    }

    fn try_publish(&mut self, merged: Merged) -> dragoman_ros::Result<()> {
        let stamp = Clock::to_builtin_time(&merged.stamp);
        if let (Some(publisher), Some(tree)) = (&self.transforms, &mut self.tree) {
            let position = |joint: &str| {
                let index = merged.names.iter().position(|name| name == joint)?;
                merged.positions.get(index).copied()
            };
            let moving = tree.moving(position);
            let transforms: Vec<_> =
                moving.iter().map(|transform| stamped(transform, &stamp, &self.prefix)).collect();
            if !transforms.is_empty() {
                publisher.publish(&TFMessage { transforms })?;
            }
        }
        let Some(publisher) = &self.joints else { return Ok(()) };
        let mut message = JointState {
            name: merged.names,
            position: merged.positions,
            velocity: merged.velocities,
            effort: merged.efforts,
            ..Default::default()
        };
        message.header.stamp = stamp;
        publisher.publish(&message)
    }

    fn report(&mut self, diagnostics: &mut Diagnostics, sources: &[String]) {
        let active = self.merge.active(since(self.start));
        let silent: Vec<&str> = sources
            .iter()
            .zip(active)
            .filter(|(_, active)| !active)
            .map(|(topic, _)| topic.as_str())
            .collect();
        let values = [
            ("states", self.states.to_string()),
            ("refused", self.refused.to_string()),
            ("silent sources", silent.join(", ")),
        ];
        match (self.refusal.take(), silent.is_empty()) {
            (Some(refusal), _) => {
                diagnostics.publish(Severity::Warn, &format!("refused: {refusal}"), &values)
            }
            (None, false) => {
                diagnostics.publish(Severity::Warn, "not all joints are published by the sources", &values)
            }
            (None, true) if sources.is_empty() => {
                diagnostics.publish(Severity::Ok, "no sources: all joints are at zero", &values)
            }
            (None, true) => {
                diagnostics.publish(Severity::Ok, "all joints are published by the sources", &values)
            }
        }
    }
}

pub(super) fn stamped(transform: &Transform, stamp: &Time, prefix: &str) -> TransformStamped {
    let (parent, child) = (format!("{prefix}{}", transform.parent), format!("{prefix}{}", transform.child));
    poses::transform(stamp, parent, child, &transform.pose)
}
