//! Where all links of a robot are, and its joints in one message: what ROS knows as robot_state_publisher and
//! joint_state_publisher. No ROS, no clock; the node is [`crate::node::state`].
//!
//! | file | holds |
//! | --- | --- |
//! | `tree.rs` | [`Tree`]: the links of a description, and where they are |
//! | `merge.rs` | [`Merge`]: the joints of several sources as one state |

mod merge;
mod tree;

pub use merge::{JointReadings, Merge, MergeError, Merged};
pub use tree::{Transform, Tree};
