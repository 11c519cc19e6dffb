//! The laser. It is listened to while the platform is connected, or while somebody listens to what the platform passes on: scans that nobody
//! wants cost a simulated laser more than everything else at rest.

use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_ros::sensor_msgs::msg::LaserScan;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile};

use super::base::{Relay, points};
use super::state::Shared;

/// How often it is looked whether scans are wanted.
const PERIOD: Duration = Duration::from_millis(100);
/// Name of the node that listens; the platform's own cannot leave a topic again.
const NODE_NAME: &str = "platform_laser";

/// A laser, and who wants its scans.
pub(super) struct Laser {
    pub(super) context: Context,
    pub(super) namespace: String,
    pub(super) topic: String,
    /// On the platform.
    pub(super) pose: Pose,
    pub(super) is_upside_down: bool,
    /// The frame of scans that are passed on; none: as they come.
    pub(super) frame: Option<String>,
    pub(super) relay: Arc<Relay<LaserScan>>,
    pub(super) shared: Shared,
}

impl Laser {
    /// Listens as long as it is wanted, again and again.
    pub(super) async fn follow(self) {
        loop {
            while !self.is_wanted() {
                tokio::time::sleep(PERIOD).await;
            }
            match self.listen() {
                Ok(node) => tokio::select! {
                    () = node => {}
                    () = async { while self.is_wanted() { tokio::time::sleep(PERIOD).await } } => {}
                },
                Err(error) => {
                    tracing::warn!(%error, "the laser");
                    tokio::time::sleep(PERIOD * 10).await;
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
                state.heard.points.clear();
                state.heard.points.extend(points(&scan, pose, is_upside_down));
                state.heard.is_new = true;
            });
        })?;
        Ok(tasks.start()?)
    }
}
