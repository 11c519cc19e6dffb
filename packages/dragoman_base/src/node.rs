//! The ROS node of a mobile base; only these files of the package depend on ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this | start-up |
//! | [`parameters`] | the parameters, and the driver options made from them |
//! | `motion` | interfaces of every base: velocities, odometry, wheel joints, Player's position2d |
//! | `kobuki` | further interfaces of a Kobuki: sensors, events, LEDs, outputs, sounds |
//! | `differential` | motion and log messages of other bases |
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
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node};
use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::base::Base;
use crate::differential::driver as differential_driver;
use crate::geometry::Geometry;
use crate::kobuki::driver as kobuki_driver;
use parameters::{BaseParameters, DifferentialParameters, KobukiParameters};

/// Name of the node, and namespace of its own topics: `/mobile_base/sensors/core`.
pub const NODE_NAME: &str = "mobile_base";
/// Baud rate of a Kobuki's serial line.
const KOBUKI_BAUD: u32 = 115_200;
/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// A running base node.
pub struct BaseNode {
    /// The tasks of the node, for an executor.
    pub node: RunningNode,
    /// Location of the base: the port, or [`SIMULATED`](dragoman_io::serial::SIMULATED).
    pub place: String,
    /// Resolves with the first measurement.
    pub measured: oneshot::Receiver<()>,
    /// Stops the base and closes its line; await it before dropping the node.
    pub stop: BoxFuture<'static, ()>,
}

/// Error starting a base's node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaseNodeError {
    /// No port is set, and there is no simulated base.
    #[error("{}", NoPort)]
    NoPort,
    /// A list parameter of a wrong length.
    #[error("parameters size and center must have three numbers each")]
    Geometry,
    /// A Kobuki's parameters are invalid.
    #[error(transparent)]
    Kobuki(#[from] kobuki_driver::ConfigError),
    /// Another base's parameters are invalid.
    #[error(transparent)]
    Differential(#[from] differential_driver::ConfigError),
    /// Error of the middleware or of a parameter.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(BaseNodeError);

/// The role of the base in its robot; it determines the defaults of parameters.
#[derive(Debug, Clone, Copy)]
pub enum Role<'a> {
    /// The whole robot: its node publishes `joint_states`, and where its sensors are.
    Robot,
    /// A part: another node merges the wheel joints of this topic with other joints, and publishes the poses of all links.
    Part {
        /// Default of the parameter `joint_states_topic`.
        joint_states: &'a str,
    },
}

/// Starts node `mobile_base` in `namespace` for a Kobuki, and waits for a missing port.
///
/// # Errors
/// An invalid parameter; no port; an error of the middleware.
pub fn start_kobuki(
    context: &Context,
    namespace: &str,
    connection: Connection,
    role: Role<'_>,
) -> Result<BaseNode, BaseNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let parameters = tasks.declare(KobukiParameters::new(connection.default_port(), role))?;
    let values = parameters.read();
    let mut start = Start { tasks, values: values.base.clone(), connection };
    let line = start.line(kobuki_driver::Driver::new(values.config())?);
    start.tasks.spawn(motion::follow_limits(parameters, |values| values.base.limits(), line.clone()));
    let motion = start.serve(&line, values.base.geometry())?;
    let mut topics = kobuki::serve(&mut start.tasks, &line, &values, motion.topics, &motion.refusals)?;
    let report = report::kobuki(start.tasks.node(), &line, motion.refusals)?;
    start.finish(line, KOBUKI_BAUD, move |line| topics.update(line), report)
}

/// Starts node `mobile_base` in `namespace` for another base with two driven wheels and the line protocol of
/// [`crate::differential`], and waits for a missing port.
///
/// # Errors
/// An invalid parameter; no port; an error of the middleware.
pub fn start_differential(
    context: &Context,
    namespace: &str,
    connection: Connection,
    role: Role<'_>,
) -> Result<BaseNode, BaseNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let parameters = tasks.declare(DifferentialParameters::new(connection.default_port(), role))?;
    let values = parameters.read();
    let config = values.config()?;
    let geometry = Ok(config.geometry);
    let mut start = Start { tasks, values: values.base.clone(), connection };
    let line = start.line(differential_driver::Driver::new(config)?);
    start.tasks.spawn(motion::follow_limits(parameters, |values| values.base.limits(), line.clone()));
    let motion = start.serve(&line, geometry)?;
    let report = report::differential(start.tasks.node(), &line, motion.refusals)?;
    let mut topics = differential::DifferentialTopics::new(motion.topics);
    start.finish(line, values.baud, move |line| topics.update(line), report)
}

/// A node under construction.
struct Start {
    tasks: NodeTasks,
    values: BaseParameters,
    connection: Connection,
}

impl Start {
    /// The line of this driver, in the device's time.
    fn line<B: Base>(&self, driver: B) -> Line<B> {
        Line::in_time(driver, REOPEN_TIME, self.connection.timeline(&self.values.device_port))
    }

    /// The parts that every base has.
    fn serve<B: Base>(
        &mut self,
        line: &Line<B>,
        geometry: Result<Geometry, BaseNodeError>,
    ) -> Result<motion::Served, BaseNodeError> {
        lifecycle::serve(&mut self.tasks, line)?;
        Ok(motion::serve(&mut self.tasks, line, &self.values, geometry?)?)
    }

    /// `update` publishes new data and returns whether there was a measurement; `report` publishes the diagnostics with
    /// the location of the base.
    fn finish<B: Base>(
        mut self,
        line: Line<B>,
        baud: u32,
        mut update: impl FnMut(&Line<B>) -> bool + Send + 'static,
        mut report: impl FnMut(&str) + Send + 'static,
    ) -> Result<BaseNode, BaseNodeError> {
        let (mut open, place) =
            self.connection.opener(self.values.device_port, baud).map_err(|NoPort| BaseNodeError::NoPort)?;
        let reported = place.clone();
        self.tasks.every(REPORT_PERIOD, move || report(&reported))?;
        let (measured, first) = oneshot::channel();
        let mut measured = Some(measured);
        let stopped = line.clone();
        let stop = Box::pin(async move { stopped.close().await });
        let updated = line.clone();
        self.tasks.spawn(line.run(
            place.clone(),
            async move || open(),
            move || {
                if update(&updated)
                    && let Some(measured) = measured.take()
                {
                    // The receiver is optional.
                    let _ = measured.send(());
                }
            },
        ));
        Ok(BaseNode { node: self.tasks.start()?, place, measured: first, stop })
    }
}
