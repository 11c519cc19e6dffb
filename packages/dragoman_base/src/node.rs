//! The node of a mobile base: with its parts, the only file of this package that knows ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this | start-up |
//! | [`parameters`] | the parameters, and what they mean to a driver |
//! | `motion` | what every base offers: velocities, odometry, wheel joints, Player's position2d |
//! | `kobuki` | what a Kobuki offers besides: sensors, events, LEDs, outputs, sounds |
//! | `differential` | what any other base tells the log |
//! | `messages` | a Kobuki's measurements as messages |
//! | `report` | `/diagnostics` |

mod differential;
mod kobuki;
mod messages;
mod motion;
pub mod parameters;
mod report;

use std::time::Duration;

use dragoman_io::serial::{Connection, Line, NoPort, REOPEN_TIME, lifecycle};
use dragoman_ros::parameters::{self as ros_parameters, Declaration, Parameters};
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node};
use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::base::Base;
use crate::differential::driver as differential_driver;
use crate::geometry::Geometry;
use crate::kobuki::driver as kobuki_driver;

/// Name of the node, and so of its own topics: `/mobile_base/sensors/core`.
pub const NODE_NAME: &str = "mobile_base";
/// Of a Kobuki's serial line.
const KOBUKI_BAUD: u32 = 115_200;
/// How often `/diagnostics` is published.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// A base's node at work.
pub struct BaseNode {
    /// What the node does: give it to an executor.
    pub node: RunningNode,
    /// Where the base is: the port, or [`SIMULATED`](dragoman_io::serial::SIMULATED).
    pub place: String,
    /// Resolves with the first measurement.
    pub measured: oneshot::Receiver<()>,
    /// Stops the base and closes its line; to be awaited before the node is dropped.
    pub stop: BoxFuture<'static, ()>,
}

/// Why a base's node cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaseNodeError {
    /// There is neither a port nor a simulated base.
    #[error("{}", NoPort)]
    NoPort,
    /// Parameters of a wrong length.
    #[error("parameters size and center have three numbers each")]
    Geometry,
    /// A Kobuki's parameters make no sense together.
    #[error(transparent)]
    Kobuki(#[from] kobuki_driver::ConfigError),
    /// Another base's parameters make no sense together.
    #[error(transparent)]
    Differential(#[from] differential_driver::ConfigError),
    /// As any node's.
    #[error(transparent)]
    Node(NodeError),
}

impl<E> From<E> for BaseNodeError
where
    NodeError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(NodeError::from(error))
    }
}

/// Where the wheels are told unless another node joins them with other joints.
pub const JOINT_STATES: &str = "joint_states";

/// Starts node `mobile_base` in `namespace` for a Kobuki. A port that is not there is waited for. `joint_states` is the default of
/// parameter `joint_states_topic`: [`JOINT_STATES`], say.
///
/// # Errors
/// A wrong parameter; no port; the middleware's refusal.
pub fn start_kobuki(
    context: &Context,
    namespace: &str,
    connection: Connection,
    joint_states: &str,
) -> Result<BaseNode, BaseNodeError> {
    let mut start = Start::new(context, namespace, connection, joint_states, parameters::kobuki)?;
    let driver = kobuki_driver::Driver::new(parameters::kobuki_config(&start.values))?;
    let line = Line::new(driver, REOPEN_TIME);
    let motion = start.serve(&line, parameters::geometry(&start.values))?;
    let mut topics = kobuki::serve(&mut start.tasks, &line, motion.topics, &motion.refusals)?;
    let report = report::kobuki(start.tasks.node(), &line, motion.refusals)?;
    start.finish(line, KOBUKI_BAUD, move |line| topics.update(line), report)
}

/// Starts node `mobile_base` in `namespace` for any other base with two driven wheels, behind the line protocol of
/// [`crate::differential`]. A port that is not there is waited for. `joint_states` as for [`start_kobuki`].
///
/// # Errors
/// A wrong parameter; no port; the middleware's refusal.
pub fn start_differential(
    context: &Context,
    namespace: &str,
    connection: Connection,
    joint_states: &str,
) -> Result<BaseNode, BaseNodeError> {
    let mut start = Start::new(context, namespace, connection, joint_states, parameters::differential)?;
    let config = parameters::differential_config(&start.values)?;
    let baud = u32::try_from(start.values.value::<i64>("baud")).unwrap_or(u32::MAX);
    let geometry = Ok(config.geometry);
    let line = Line::new(differential_driver::Driver::new(config)?, REOPEN_TIME);
    let motion = start.serve(&line, geometry)?;
    let report = report::differential(start.tasks.node(), &line, motion.refusals)?;
    let mut topics = differential::DifferentialTopics::new(motion.topics);
    start.finish(line, baud, move |line| topics.update(line), report)
}

/// A node on its way.
struct Start {
    tasks: NodeTasks,
    values: Parameters,
    connection: Connection,
}

impl Start {
    fn new(
        context: &Context,
        namespace: &str,
        connection: Connection,
        joint_states: &str,
        declarations: fn(&str, &str) -> Vec<Declaration>,
    ) -> Result<Self, BaseNodeError> {
        let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
        let declared = declarations(connection.default_port(), joint_states);
        let (values, server) = ros_parameters::declare(tasks.node(), declared)?;
        tasks.spawn(server);
        Ok(Self { tasks, values, connection })
    }

    /// What every base has.
    fn serve<B: Base>(
        &mut self,
        line: &Line<B>,
        geometry: Result<Geometry, BaseNodeError>,
    ) -> Result<motion::Served, BaseNodeError> {
        self.tasks.spawn(motion::follow_limits(self.values.clone(), line.clone()));
        lifecycle::serve(&mut self.tasks, line)?;
        Ok(motion::serve(&mut self.tasks, line, &self.values, geometry?)?)
    }

    /// `update` publishes what is new and tells whether there was a measurement; `report` tells the diagnostics where the base
    /// is.
    fn finish<B: Base>(
        mut self,
        line: Line<B>,
        baud: u32,
        mut update: impl FnMut(&Line<B>) -> bool + Send + 'static,
        mut report: impl FnMut(&str) + Send + 'static,
    ) -> Result<BaseNode, BaseNodeError> {
        let (mut open, place) = self
            .connection
            .opener(self.values.value("device_port"), baud)
            .map_err(|NoPort| BaseNodeError::NoPort)?;
        let reported = place.clone();
        self.tasks.every(REPORT_PERIOD, move || report(&reported))?;
        let (measured, first) = oneshot::channel();
        let mut measured = Some(measured);
        let stopped = line.clone();
        let stop = Box::pin(async move { stopped.close().await });
        let updated = line.clone();
        self.tasks.spawn(line.run(
            async move || open(),
            move || {
                if update(&updated)
                    && let Some(measured) = measured.take()
                {
                    // Whoever does not wait for it does not need it.
                    let _ = measured.send(());
                }
            },
        ));
        Ok(BaseNode { node: self.tasks.start()?, place, measured: first, stop })
    }
}
