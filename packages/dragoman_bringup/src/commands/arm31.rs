//! `dragoman arm31`: a real controller of the 31-byte protocol as a ROS arm.

use std::error::Error;

use clap::Args;
use dragoman_bridge::arm31::node::{ArmModel, start_client};
use dragoman_bridge::arm31::wire::DEFAULT_PORT;
use dragoman_kinematics::Robot;
use dragoman_ros::process::Process;

use crate::program::{Later, Server};
use crate::{address, machine, robot};

#[derive(Args)]
pub(crate) struct Arm31Options {
    /// Address of the controller; its port is 5031 unless you name another.
    #[arg(long, value_name = "HOST[:PORT]")]
    controller: String,
    /// Namespace in which the arm appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/ranger")]
    namespace: String,
    /// Model of the arm, for robot_description, compute_fk and compute_ik: as --robot of `up`.
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
}

impl Server for Arm31Options {
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let controller = address::resolve("--controller", &self.controller, DEFAULT_PORT)?;
        let model = self.robot.as_deref().map(model).transpose()?;
        process.claims.claim_namespace(&process.context, "arm31", &self.namespace)?;
        process.claims.alone().await;
        let client = start_client(&process.context, &self.namespace, controller, model)?;
        Ok(machine::connect(process, client, &format!("the controller at {controller}"), &self.namespace))
    }
}

fn model(name: &str) -> Result<ArmModel, Box<dyn Error>> {
    let description = robot::load(name)?;
    let (robot, free_rotation) = (Robot::new(&description.model)?, description.motion.free_rotation);
    Ok(ArmModel { robot, urdf: description.urdf, free_rotation })
}
