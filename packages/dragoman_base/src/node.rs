//! The node of a mobile base: with its parts, the only file of this package that knows ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this | start-up |
//! | [`parameters`] | the parameters, and what they mean to a driver |
//! | `motion` | what every base offers: velocities, odometry, wheel joints, Player's position2d |
//! | `kobuki` | what a Kobuki offers besides: sensors, events, LEDs, outputs, sounds |
//! | `messages` | a Kobuki's measurements as messages |
//! | `life` | the life cycle |
//! | `report` | `/diagnostics` |

mod kobuki;
mod life;
mod messages;
mod motion;
pub mod parameters;
mod report;

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use dragoman_ros::parameters as ros_parameters;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node};
use futures::channel::oneshot;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::kobuki::driver::{ConfigError, Driver};
use crate::line::{Line, REOPEN_TIME};
use crate::serial::SerialPort;

/// Name of the node, and so of its own topics: `/mobile_base/sensors/core`.
pub const NODE_NAME: &str = "mobile_base";
/// Where a simulated base is.
pub const SIMULATED: &str = "simulated";
/// Of a Kobuki's serial line.
const KOBUKI_BAUD: u32 = 115_200;
/// How often `/diagnostics` is published.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// A byte stream to a base.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// Opens the stream to a simulated base in this process.
pub type Simulate = Box<dyn FnMut() -> Pin<Box<dyn Stream>> + Send>;

/// Where a base is.
pub enum Connection {
    /// On the serial port that parameter `device_port` names; this one unless it is given.
    Port(String),
    /// On the serial port that parameter `device_port` names, or, unless it is given, in this process.
    SimulatedUnlessPort(Simulate),
}

/// A base's node at work.
pub struct BaseNode {
    /// What the node does: give it to an executor.
    pub node: RunningNode,
    /// Where the base is: the port, or [`SIMULATED`].
    pub place: String,
    /// Resolves with the first measurement.
    pub measured: oneshot::Receiver<()>,
}

/// Why a base's node cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaseNodeError {
    /// There is neither a port nor a simulated base.
    #[error("no serial port: give one with parameter device_port, /dev/ttyUSB0 say")]
    NoPort,
    /// Parameters of a wrong length.
    #[error("parameters size and center have three numbers each")]
    Geometry,
    /// The parameters make no sense together.
    #[error(transparent)]
    Config(#[from] ConfigError),
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

/// Starts node `mobile_base` in `namespace` for a Kobuki. A port that is not there is waited for.
///
/// # Errors
/// A wrong parameter; no port; the middleware's refusal.
pub fn start_kobuki(
    context: &Context,
    namespace: &str,
    connection: Connection,
) -> Result<BaseNode, BaseNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let declared = parameters::kobuki(connection.default_port());
    let (values, server) = ros_parameters::declare(tasks.node(), declared)?;
    tasks.spawn(server);
    let driver = Driver::new(parameters::kobuki_config(&values))?;
    let line = Line::new(driver, REOPEN_TIME);
    let (mut open, place) = connection.opener(values.value("device_port"), KOBUKI_BAUD)?;

    let geometry = parameters::geometry(&values).ok_or(BaseNodeError::Geometry)?;
    let motion = motion::serve(&mut tasks, &line, &values, geometry)?;
    tasks.spawn(motion::follow_limits(values.clone(), line.clone()));
    life::serve(&mut tasks, &line)?;
    let mut topics = kobuki::serve(&mut tasks, &line, motion.topics, &motion.refusals)?;
    let mut report = report::kobuki(tasks.node(), &line, motion.refusals, &place)?;
    tasks.every(REPORT_PERIOD, move || report())?;
    let (measured, first) = oneshot::channel();
    let mut measured = Some(measured);
    let watched = line.clone();
    tasks.spawn(line.run(
        async move || open(),
        move || {
            if topics.update(&watched)
                && let Some(measured) = measured.take()
            {
                // Whoever does not wait for it does not need it.
                let _ = measured.send(());
            }
        },
    ));
    Ok(BaseNode { node: tasks.start()?, place, measured: first })
}

type Open = Box<dyn FnMut() -> io::Result<Pin<Box<dyn Stream>>> + Send>;

impl Connection {
    fn default_port(&self) -> &str {
        match self {
            Self::Port(port) => port,
            Self::SimulatedUnlessPort(_) => "",
        }
    }

    /// What opens the stream, and where it leads to.
    fn opener(self, port: String, baud: u32) -> Result<(Open, String), BaseNodeError> {
        if port.is_empty() {
            let Self::SimulatedUnlessPort(mut simulate) = self else { return Err(BaseNodeError::NoPort) };
            return Ok((Box::new(move || Ok(simulate())), SIMULATED.to_owned()));
        }
        let path = PathBuf::from(&port);
        let open = move || Ok(Box::pin(SerialPort::open(&path, baud)?) as Pin<Box<dyn Stream>>);
        Ok((Box::new(open), port))
    }
}
