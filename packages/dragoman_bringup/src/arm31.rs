//! `dragoman arm31`: a real controller of the 31-byte protocol as a ROS arm.

use std::error::Error;

use clap::Args;
use dragoman_bridge::arm31::node::{ArmModel, start_client};
use dragoman_kinematics::Robot;
use dragoman_ros::outln;
use dragoman_ros::process::Process;

use crate::{Server, address, robot};

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

impl Server for Arm31Options {
    async fn start(&self, process: &Process) -> Result<(), Box<dyn Error>> {
        let controller = address::resolve("--controller", &self.controller)?;
        let model = self.robot.as_deref().map(model).transpose()?;
        process.claims.claim_namespace(&process.context, "arm31", &self.namespace)?;
        process.claims.alone().await;
        process.supervisor.spawn_node(start_client(&process.context, &self.namespace, controller, model)?);
        outln!("controller {controller} appears in {}", self.namespace);
        Ok(())
    }
}

fn model(name: &str) -> Result<ArmModel, Box<dyn Error>> {
    let description = robot::load(name)?;
    let (robot, free_rotation) = (Robot::new(&description.model)?, description.motion.free_rotation);
    Ok(ArmModel { robot, urdf: description.urdf, free_rotation })
}
