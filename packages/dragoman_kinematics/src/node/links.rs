//! Poses of the arm's links, on `tf` and `tf_static` in its namespace: frames of several robots have the same names.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::shared::listened;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Node, Publisher, QosProfile, times};

use super::latched;
use super::state::stamped;
use crate::state::Tree;

/// The links of an arm with a description.
pub struct Links {
    tree: Tree,
    moving: Publisher<TFMessage>,
    /// Kept for late subscribers.
    _fixed: Publisher<TFMessage>,
}

impl Links {
    /// Publishes the fixed transforms. `None` without a description, or with one that cannot be read.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn new(node: &mut Node, urdf: &str) -> dragoman_ros::Result<Option<Self>> {
        if urdf.is_empty() {
            return Ok(None);
        }
        let tree = match Tree::from_urdf(urdf) {
            Ok(tree) => tree,
            Err(error) => {
                tracing::warn!(%error, "invalid robot description; transforms are not published");
                return Ok(None);
            }
        };
        let moving = node.create_publisher("tf", QosProfile::default().keep_last(100))?;
        let fixed = node.create_publisher("tf_static", latched())?;
        let clock = node.get_ros_clock();
        let stamp = times::stamp(&clock);
        let transforms = tree.fixed().map(|transform| stamped(&transform, &stamp, "")).collect();
        fixed.publish(&TFMessage { transforms })?;
        Ok(Some(Self { tree, moving, _fixed: fixed }))
    }

    /// Publishes the moving transforms, if there are subscribers. `positions` are those of the joints of these names,
    /// rad or m.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn publish(&mut self, names: &[String], positions: &[f64], stamp: &Time) -> dragoman_ros::Result<()> {
        if !listened(&self.moving) {
            return Ok(());
        }
        let position = |joint: &str| {
            let at = names.iter().position(|name| name == joint)?;
            positions.get(at).copied()
        };
        let moving = self.tree.moving(position);
        let transforms = moving.iter().map(|transform| stamped(transform, stamp, "")).collect();
        self.moving.publish(&TFMessage { transforms })
    }
}
