//! The lab's TurtleBot 2 with its arm: the nodes that it consists of.

use std::error::Error;

use dragoman_base::node::{BaseNode, Connection, start_kobuki};
use dragoman_kinematics::node::state::{self, StateSettings};
use dragoman_ros::Context;
use dragoman_sim::node::Live;
use dragoman_sim::node::simulation::{self, SimulationSettings};
use futures::channel::oneshot;
use futures::future::BoxFuture;
use tokio::task::JoinSet;

use crate::base;

/// Its name in the world.
const ROBOT: &str = "turtlebot2_widowx";
/// Where base and arm tell their joints, for the node that makes one message of them.
const BASE_JOINTS: &str = "mobile_base/joint_states";
const ARM_JOINTS: &str = "widowx/joint_states";

/// A robot at work.
pub(crate) struct Turtlebot {
    /// Where its base is: the port, or [`dragoman_base::node::SIMULATED`].
    pub(crate) place: String,
    /// Resolves with the first measurement.
    pub(crate) measured: oneshot::Receiver<()>,
    /// Stops the base and closes its line; to be awaited before the nodes are dropped.
    pub(crate) stop: BoxFuture<'static, ()>,
}

/// Starts its nodes. The base is simulated, unless its node's parameter `device_port` names a port.
pub(crate) fn start(
    context: &Context,
    worlds: Live,
    nodes: &mut JoinSet<()>,
) -> Result<Turtlebot, Box<dyn Error>> {
    let simulated = base::simulate();
    let connection = Connection::SimulatedUnlessPort(simulated.line);
    let BaseNode { node, place, measured, stop } = start_kobuki(context, "/", connection, BASE_JOINTS)?;
    nodes.spawn(node);
    let state = StateSettings {
        namespace: "/".to_owned(),
        urdf: String::new(),
        sources: vec![BASE_JOINTS.to_owned(), ARM_JOINTS.to_owned()],
    };
    nodes.spawn(state::start(context, &state)?);
    let simulation = SimulationSettings {
        robot_namespace: "/".to_owned(),
        worlds,
        robot: ROBOT.to_owned(),
        base: Some(simulated.kobuki),
    };
    nodes.spawn(simulation::start(context, simulation)?);
    Ok(Turtlebot { place, measured, stop })
}
