//! `dragoman arm31`: a real controller of the 31-byte protocol as a ROS arm.

use std::error::Error;

use clap::Args;
use dragoman_bridge::arm31::node::{ArmModel, start_client};
use dragoman_kinematics::Robot;
use dragoman_ros::Context;
use tokio::task::JoinSet;

use crate::{address, log_node, robot};

#[derive(Args)]
pub(crate) struct Arm31Options {
    /// Where the controller listens.
    #[arg(long, value_name = "HOST:PORT")]
    controller: String,
    /// Namespace in which the arm appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/ranger")]
    namespace: String,
    /// Model of the arm, for robot_description, compute_fk and compute_ik: as --robot of `up`.
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
}

/// Runs the client side until `stop` resolves.
pub(crate) async fn run(
    context: &Context,
    options: &Arm31Options,
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    let controller = address::resolve("--controller", &options.controller)?;
    let model = options.robot.as_deref().map(model).transpose()?;
    let mut nodes = JoinSet::new();
    nodes.spawn(log_node(context)?);
    nodes.spawn(start_client(context, &options.namespace, controller, model)?);
    println!("controller {controller} appears in {}", options.namespace);
    println!("ready");
    stop.await;
    println!("stopping");
    nodes.shutdown().await;
    Ok(())
}

fn model(name: &str) -> Result<ArmModel, Box<dyn Error>> {
    let description = robot::load(name)?;
    Ok(ArmModel { robot: Robot::new(&description.model)?, urdf: description.urdf })
}
