//! The node of an arm of Dynamixel servos on a serial line: a WidowX, with the names of the TurtleBot thesis, table
//! A.2.
//!
//! | file | holds |
//! | --- | --- |
//! | this | start-up, joint states, log messages |
//! | [`parameters`] | the parameters, and the chain that they describe |
//! | `report` | `/diagnostics` |
//!
//! Each joint has the same services and topics as in every arm (`joints`); the life cycle is that of every device on a
//! serial line.

pub mod parameters;
mod report;

use std::time::Duration;

use dragoman_io::serial::{Connection, Line, NoPort, REOPEN_TIME, SerialDriver, lifecycle};
use dragoman_ros::diagnostics::Refusals;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::times::SharedClock;
use dragoman_ros::{Context, Node, Publisher, QosProfile, sensor_msgs, std_msgs, times};
use futures::channel::oneshot;
use futures::future::BoxFuture;

use super::joints::{self, Joints};
use crate::dynamixel::driver::{ChainState, ConfigError, Driver, Event, Mode, Refusal};
use parameters::DynamixelParameters;

/// Name of the node.
pub const NODE_NAME: &str = "widowx";
/// Default topic of the joint states, unless another node merges them with those of other joints.
pub const JOINT_STATES: &str = "joint_states";
/// Default topic of the joint states, unless another node merges them with those of other joints.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// A running node of an arm of servos.
pub struct DynamixelNode {
    /// The tasks of the node, for an executor.
    pub node: RunningNode,
    /// Location of the arm: the port, or [`dragoman_io::serial::SIMULATED`].
    pub place: String,
    /// Resolves when all servos have answered once.
    pub measured: oneshot::Receiver<()>,
    /// Stops moving joints and closes the line, while the arm keeps holding; await it before dropping the node.
    pub stop: BoxFuture<'static, ()>,
}

/// Error starting the node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DynamixelNodeError {
    /// No port is set, and there is no simulated arm.
    #[error(transparent)]
    NoPort(NoPort),
    /// Lists of different lengths.
    #[error("parameter '{name}' has {given} values; the arm has {joints} joints")]
    Length {
        /// The parameter.
        name: &'static str,
        /// Number of its values.
        given: usize,
        /// Expected number.
        joints: usize,
    },
    /// The parameters are invalid.
    #[error(transparent)]
    Config(ConfigError),
    /// Error of the middleware or of a parameter.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(DynamixelNodeError);

/// Starts node `widowx` in `namespace`, and waits for a missing port. `joint_states` is the default of parameter
/// `joint_states_topic`, for example [`JOINT_STATES`].
///
/// # Errors
/// An invalid parameter; no port; an error of the middleware.
pub fn start(
    context: &Context,
    namespace: &str,
    connection: Connection,
    joint_states: &str,
) -> Result<DynamixelNode, DynamixelNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let defaults = DynamixelParameters::new(connection.default_port(), joint_states);
    let parameters = tasks.declare(defaults)?.read();
    let driver = Driver::new(parameters.config()?).map_err(DynamixelNodeError::Config)?;
    let names: Vec<String> = driver.names().map(str::to_owned).collect();
    let port = parameters.device_port.clone();
    let line = Line::in_time(driver, REOPEN_TIME, connection.timeline(&port));
    let chain = Chain { line, refusals: Refusals::default(), names };
    joints::serve(&mut tasks, &chain)?;
    lifecycle::serve(&mut tasks, &chain.line)?;
    let begun = chain.line.clone();
    tasks.subscribe("~/commands/begin_again", QosProfile::default(), move |_: std_msgs::msg::Empty| {
        begun.with(|now, driver| driver.begin_again(now));
    })?;
    let mut topics = Topics::new(tasks.node(), &parameters.joint_states_topic)?;
    let mut report = report::publisher(tasks.node(), &chain)?;

    let (mut open, place) = connection.opener(port, parameters.baud).map_err(DynamixelNodeError::NoPort)?;
    let reported = place.clone();
    tasks.every(REPORT_PERIOD, move || report(&reported))?;
    let (measured, first) = oneshot::channel();
    let mut measured = Some(measured);
    let Chain { line, .. } = chain;
    let stopped = line.clone();
    let stop = Box::pin(async move { stopped.close().await });
    let updated = line.clone();
    tasks.spawn(line.run(
        place.clone(),
        async move || open(),
        move || {
            if topics.update(&updated)
                && let Some(measured) = measured.take()
            {
                // The receiver is optional.
                let _ = measured.send(());
            }
        },
    ));
    Ok(DynamixelNode { node: tasks.start()?, place, measured: first, stop })
}

/// The state that the services share.
#[derive(Clone)]
struct Chain {
    line: Line<Driver>,
    refusals: Refusals,
    names: Vec<String>,
}

impl Chain {
    /// Logs and counts a refusal; returns whether the command was accepted.
    fn attempt(&self, action: impl FnOnce(Duration, &mut Driver) -> Result<(), Refusal>) -> bool {
        let result = self.line.with(action);
        if let Err(refusal) = &result {
            self.refusals.note(refusal);
        }
        result.is_ok()
    }
}

impl Joints for Chain {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn command(&self, joint: usize, position: f64) {
        self.attempt(|now, driver| driver.command(now, joint, position));
    }

    fn relax(&self, joint: usize) {
        self.attempt(|now, driver| driver.relax(now, joint));
    }

    fn enable(&self, joint: usize, on: bool) -> bool {
        self.attempt(|now, driver| driver.enable(now, joint, on)) && on
    }

    fn set_speed(&self, joint: usize, speed: f64) {
        self.attempt(|now, driver| driver.set_speed(now, joint, speed));
    }
}

impl SerialDriver for Driver {
    dragoman_io::forward_to_driver!();

    fn stop(&mut self) {
        self.stop();
    }

    fn is_alive(&self) -> bool {
        self.state().is_alive()
    }

    fn has_power(&self) -> bool {
        self.state().joints.iter().any(|joint| joint.has_torque)
    }

    /// Makes all joints hold their positions, or relaxes them.
    fn set_power(&mut self, now: Duration, on: bool) -> bool {
        let joints = self.names().count();
        // Tries all joints, even if one fails.
        let switched = (0..joints).map(|joint| match on {
            true => self.enable(now, joint, true).is_ok(),
            false => self.relax(now, joint).is_ok(),
        });
        switched.filter(|done| *done).count() == joints
    }

    fn trouble(&self) -> Option<String> {
        report::trouble(&self.state())
    }
}

/// The publishers of the node.
struct Topics {
    joints: Publisher<sensor_msgs::msg::JointState>,
    clock: SharedClock,
    /// Number of published cycles.
    published: u64,
}

impl Topics {
    fn new(node: &mut Node, joint_states: &str) -> dragoman_ros::Result<Self> {
        let joints = node.create_publisher(joint_states, QosProfile::default())?;
        Ok(Self { joints, clock: node.get_ros_clock(), published: 0 })
    }

    /// Publishes and logs changes; returns whether all servos were measured.
    fn update(&mut self, line: &Line<Driver>) -> bool {
        let (state, events) = line.look(|driver| {
            let events: Vec<Event> = std::iter::from_fn(|| driver.poll_event()).collect();
            (driver.state(), events)
        });
        // The reason why no servo answers is that of the line.
        let is_down = line.failure().is_some();
        for event in &events {
            if !(is_down && matches!(event, Event::Servo { online: false, .. })) {
                log(event, &state);
            }
        }
        if state.statistics.cycles == self.published {
            return false;
        }
        self.published = state.statistics.cycles;
        let joints = self.joint_state(&state);
        if !joints.name.is_empty()
            && let Err(error) = self.joints.publish(&joints)
        {
            tracing::warn!(%error, "publishing failed");
        }
        state.is_alive()
    }

    /// The joints that were measured in the last cycle.
    fn joint_state(&self, state: &ChainState) -> sensor_msgs::msg::JointState {
        let mut message = sensor_msgs::msg::JointState::default();
        message.header.stamp = times::stamp(&self.clock);
        for joint in &state.joints {
            let Some(motion) = &joint.motion else { continue };
            message.name.push(joint.name.clone());
            message.position.push(motion.position);
            message.velocity.push(motion.velocity);
            message.effort.push(motion.effort);
        }
        message
    }
}

fn log(event: &Event, state: &ChainState) {
    let name = |joint: usize| state.joints.get(joint).map_or("", |joint| joint.name.as_str());
    match *event {
        Event::Servo { joint, online: true } => {
            let held = state.joints.get(joint).is_some_and(|joint| joint.mode == Some(Mode::Enabled));
            tracing::info!(joint = name(joint), held, "servo connected");
        }
        Event::Servo { joint, online: false } => tracing::warn!(joint = name(joint), "servo not responding"),
        Event::Reset { joint } => {
            tracing::warn!(joint = name(joint), "servo torque lost; the next command enables it");
        }
        Event::Shutdown { joint, errors } => {
            tracing::error!(joint = name(joint), %errors, "servo switched its motor off");
        }
        Event::Alarm { joint, errors } if errors.is_empty() => {
            tracing::info!(joint = name(joint), "servo alarm cleared");
        }
        Event::Alarm { joint, errors } => tracing::warn!(joint = name(joint), %errors, "servo alarm raised"),
        Event::Refused { joint, errors } => {
            tracing::warn!(joint = name(joint), %errors, "servo refused a command");
        }
        Event::Problem { joint, problem } => {
            tracing::error!(joint = name(joint), %problem, "servo not usable")
        }
    }
}
