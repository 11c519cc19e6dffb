//! A separate node: a device that measures the position of a point, as a measuring arm or a motion tracker does: at a
//! rate, with noise, in a frame of its own.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::geometry_msgs::msg::{Point, PointStamped};
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile, parameters, times};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use parking_lot::Mutex;

use crate::noise::Noise;

/// Name of the node, without its namespace.
pub const NODE_NAME: &str = "tracker";

/// The true position of the measured point in the machine's base frame, m; `None` while it is unknown.
pub type Truth = Box<dyn FnMut() -> Option<Point3<f64>> + Send>;

/// Error starting a tracker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrackerError {
    /// The misalignment cannot be used.
    #[error("parameter 'misalignment': {0}")]
    Misalignment(String),
    /// The pose of the frame does not have six numbers.
    #[error("parameter 'pose' has {given} values; x, y, z, roll, pitch and yaw are needed")]
    Pose {
        /// Number of values.
        given: usize,
    },
    /// Error of the middleware or of a parameter.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(TrackerError);

parameters! {
    /// The parameters of the node.
    pub struct TrackerParameters {
        /// Standard deviation of each measured coordinate, m; that of a measuring arm.
        noise: f64 = 3e-4, in 0.0..=1.0, settable;
        /// Measurements per second, Hz.
        rate: f64 = 50.0, in 0.1..=500.0;
        /// Pose of the tracker's frame in the arm's base frame: x, y, z, m, and roll, pitch, yaw, rad.
        pose: Vec<f64> = [1.2, -0.4, 0.1, 0.0, 0.0, 2.0], in -100.0..=100.0;
        /// Frame of the measurements.
        frame_id: String = "tracker";
        /// Differences of the simulated arm from its description: theta_2=0.01, d_4=0.003 and so on, rad and m;
        /// names as in `dragoman calibrate fit`.
        misalignment: String;
        /// Random seed of the noise.
        seed: i64 = 1;
    }
}

/// Starts node `tracker` in `namespace`. `truth` gets the parameter `misalignment`, and returns where the point is.
///
/// # Errors
/// An invalid parameter; an error of the middleware.
pub fn start(
    context: &Context,
    namespace: &str,
    truth: impl FnOnce(&str) -> Result<Truth, String>,
) -> Result<RunningNode, TrackerError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let parameters = tasks.declare(TrackerParameters::default())?;
    let values = parameters.read();
    let mut truth = truth(&values.misalignment).map_err(TrackerError::Misalignment)?;
    let &[x, y, z, roll, pitch, yaw] = values.pose.as_slice() else {
        return Err(TrackerError::Pose { given: values.pose.len() });
    };
    let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    let to_frame = Isometry3::from_parts(Translation3::new(x, y, z), rotation).inverse();
    // The range of the parameter has been checked.
    let period = Duration::from_secs_f64(1.0 / values.rate);
    let noise = Arc::new(Mutex::new(Noise::new(values.seed.unsigned_abs(), NODE_NAME)));
    let publisher = tasks.node().create_publisher::<PointStamped>("tracker/point", QosProfile::default())?;
    let clock = tasks.node().get_ros_clock();
    tasks.every(period, move || {
        let Some(point) = truth() else { return };
        let size = parameters.read().noise;
        let mut noise = noise.lock();
        let measured = (to_frame * point).map(|coordinate| coordinate + size * noise.normal());
        let header = Header { stamp: times::stamp(&clock), frame_id: values.frame_id.clone() };
        let point = Point { x: measured.x, y: measured.y, z: measured.z };
        if let Err(error) = publisher.publish(&PointStamped { header, point }) {
            tracing::debug!(%error, "publishing the tracker's point failed");
        }
    })?;
    Ok(tasks.start()?)
}
