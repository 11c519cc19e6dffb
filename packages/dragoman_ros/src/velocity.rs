//! Velocity commands, which Nav2, ros2_control and teleoperation send with or without a header.
//!
//! The embedded implementation takes both at once. On rcl a topic has one type in all of a process, and the middleware refuses
//! a second one; there the parameter decides, which has its name from Nav2.

use crate::geometry_msgs::msg::{Twist, TwistStamped};
use crate::parameters::{Declaration, Parameters};
use crate::tasks::NodeTasks;
use crate::{QosProfile, Result};

const STAMPED: &str = "enable_stamped_cmd_vel";
/// Whether a topic may have several types.
const TAKES_BOTH: bool = cfg!(not(feature = "r2r"));

/// The parameter, for nodes that call [`subscribe`].
pub fn declaration() -> Declaration {
    Declaration::new(
        STAMPED,
        false,
        "On r2r: cmd_vel is TwistStamped instead of Twist. The embedded implementation takes both anyway.",
    )
    .read_only()
}

/// Calls `handle` with every velocity on `topic`. `values` are those of the node, with [`declaration`] among them.
///
/// # Errors
/// As [`Node::subscribe`](crate::Node::subscribe).
pub fn subscribe(
    tasks: &mut NodeTasks,
    values: &Parameters,
    topic: &str,
    qos: QosProfile,
    handle: impl FnMut(Twist) + Clone + Send + 'static,
) -> Result<()> {
    let stamped: bool = values.value(STAMPED);
    if TAKES_BOTH || stamped {
        let mut handle = handle.clone();
        tasks.subscribe(topic, qos.clone(), move |command: TwistStamped| handle(command.twist))?;
    }
    if TAKES_BOTH || !stamped {
        tasks.subscribe(topic, qos, handle)?;
    }
    Ok(())
}
