//! Velocity commands with or without a header, as sent by Nav2, ros2_control and teleoperation.
//!
//! The embedded implementation accepts both at once. On rcl a topic has one type per process, and the middleware
//! refuses a second one; there the parameter decides, which has its name from Nav2.

use crate::geometry_msgs::msg::{Twist, TwistStamped};
use crate::tasks::NodeTasks;
use crate::{QosProfile, Result};

/// Whether a topic may have several types.
const TAKES_BOTH: bool = cfg!(not(feature = "r2r"));

crate::parameters! {
    /// The parameter of nodes that call [`subscribe`].
    pub struct VelocityParameters {
        /// On r2r: cmd_vel is TwistStamped instead of Twist. The embedded implementation accepts both in any case.
        enable_stamped_cmd_vel: bool;
    }
}

/// Calls `handle` with every velocity on `topic`.
///
/// # Errors
/// As [`Node::subscribe`](crate::Node::subscribe).
pub fn subscribe(
    tasks: &mut NodeTasks,
    parameters: &VelocityParameters,
    topic: &str,
    qos: QosProfile,
    handle: impl FnMut(Twist) + Clone + Send + 'static,
) -> Result<()> {
    let stamped = parameters.enable_stamped_cmd_vel;
    if TAKES_BOTH || stamped {
        let mut handle = handle.clone();
        tasks.subscribe(topic, qos.clone(), move |command: TwistStamped| handle(command.twist))?;
    }
    if TAKES_BOTH || !stamped {
        tasks.subscribe(topic, qos, handle)?;
    }
    Ok(())
}
