//! The laser. The node subscribes only while the platform is connected or its relayed scans have subscribers: scans
//! without a consumer would cost a simulated laser more than everything else at rest.

use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_ros::sensor_msgs::msg::LaserScan;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile};

use super::base::{Relay, points};
use super::state::Shared;

/// Period of checking whether scans are needed.
const PERIOD: Duration = Duration::from_millis(100);
/// Name of the subscribing node; the platform's own node cannot unsubscribe.
const NODE_NAME: &str = "platform_laser";

/// A laser and the consumers of its scans.
pub(super) struct Laser {
    pub(super) context: Context,
    pub(super) namespace: String,
    pub(super) topic: String,
    /// Pose on the platform.
    pub(super) pose: Pose,
    pub(super) is_upside_down: bool,
    /// The frame of relayed scans; `None`: unchanged.
    pub(super) frame: Option<String>,
    pub(super) relay: Arc<Relay<LaserScan>>,
    pub(super) shared: Shared,
}

impl Laser {
    /// Subscribes whenever scans are needed.
    pub(super) async fn follow(self) {
        loop {
            while !self.is_wanted() {
                dragoman_time::sleep(PERIOD).await;
            }
            match self.listen() {
                Ok(node) => tokio::select! {
                    biased;
                    () = async { while self.is_wanted() { dragoman_time::sleep(PERIOD).await } } => {}
                    () = node => {}
                },
                Err(error) => {
                    tracing::warn!(%error, "subscribing to the laser failed");
                    dragoman_time::sleep(PERIOD * 10).await;
                }
            }
        }
    }

    fn is_wanted(&self) -> bool {
        self.relay.is_listened() || self.shared.with(|state| state.platform.status().connected)
    }

    fn listen(&self) -> Result<RunningNode, NodeError> {
        let mut tasks = NodeTasks::new(Node::create(self.context.clone(), NODE_NAME, &self.namespace)?);
        let (shared, relay, frame) = (self.shared.clone(), Arc::clone(&self.relay), self.frame.clone());
        let (pose, is_upside_down) = (self.pose, self.is_upside_down);
        let qos = QosProfile::sensor_data().keep_last(1);
        tasks.subscribe(&self.topic, qos, move |scan: LaserScan| {
            relay.send(|| {
                let mut own = scan.clone();
                if let Some(frame) = &frame {
                    own.header.frame_id.clone_from(frame);
                }
                own
            });
            shared.with(|state| {
                state.inputs.points.clear();
                state.inputs.points.extend(points(&scan, pose, is_upside_down));
                state.inputs.is_new = true;
            });
        })?;
        Ok(tasks.start()?)
    }
}
