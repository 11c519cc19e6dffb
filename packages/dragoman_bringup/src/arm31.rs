//! `dragoman arm31`: a real controller of the 31-byte protocol as a ROS arm.

use std::error::Error;

use clap::Args;
use dragoman_bridge::arm31::node::{ArmModel, start_client};
use dragoman_kinematics::Robot;
use dragoman_ros::Context;

use crate::claims::Claims;
use crate::supervisor::Supervisor;
use crate::{address, below, robot};

#[derive(Args)]
pub(crate) struct Arm31Options {
    /// Address of the controller.
    #[arg(long, value_name = "HOST:PORT")]
    controller: String,
    /// Namespace in which the arm appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/ranger")]
    namespace: String,
    /// Model of the arm, for robot_description, compute_fk and compute_ik: as --robot of `up`.
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
}

/// Starts the client side.
pub(crate) async fn start(
    context: &Context,
    options: &Arm31Options,
    supervisor: &Supervisor,
    claims: &Claims,
) -> Result<(), Box<dyn Error>> {
    let controller = address::resolve("--controller", &options.controller)?;
    let model = options.robot.as_deref().map(model).transpose()?;
    claims.claim_namespace(context, "arm31", &options.namespace)?;
    claims.alone().await;
    let name = below(&options.namespace, "arm31");
    supervisor.spawn(name, start_client(context, &options.namespace, controller, model)?);
    println!("controller {controller} appears in {}", options.namespace);
    Ok(())
}

fn model(name: &str) -> Result<ArmModel, Box<dyn Error>> {
    let description = robot::load(name)?;
    Ok(ArmModel { robot: Robot::new(&description.model)?, urdf: description.urdf })
}
