//! Poses of all links of a robot, and its joints merged in one message: the functions of robot_state_publisher and
//! joint_state_publisher. No ROS, no clock; the node is [`crate::node::state`].
//!
//! | file | holds |
//! | --- | --- |
//! | `tree.rs` | [`Tree`]: the links of a description, and their poses |
//! | `merge.rs` | [`Merge`]: the joints of several sources as one state |

mod merge;
mod tree;

pub use merge::{JointReadings, Merge, MergeError, Merged};
pub use tree::{Transform, Tree};
