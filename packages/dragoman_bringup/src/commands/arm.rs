//! `dragoman arm`: an arm of servos on a serial port in ROS.

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dragoman_arm::node::dynamixel::{self, DynamixelNode, DynamixelNodeError, JOINT_STATES};
use dragoman_io::serial::Connection;
use dragoman_ros::naming::below;
use dragoman_ros::process::Process;

use crate::machine::{self, Machine, WHICH_PORT};
use crate::program::{Later, Server};

#[derive(Args)]
pub(crate) struct ArmOptions {
    /// Serial port of the arm, for example /dev/ttyUSB0; the parameter device_port of its node takes precedence.
    #[arg(long, value_name = "PATH")]
    port: Option<PathBuf>,
    /// Kind of arm.
    #[arg(long, value_enum, default_value_t = ArmKind::Widowx)]
    kind: ArmKind,
    /// Namespace in which the arm appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    namespace: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ArmKind {
    /// A WidowX: six Dynamixel servos, on an ArbotiX board or a USB adapter; the node's parameters select other chains.
    Widowx,
}

impl Server for ArmOptions {
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let port = machine::port(self.port.as_ref())?;
        let namespace = below(&self.namespace, "");
        let ArmKind::Widowx = self.kind;
        // Two drivers of one name would both execute each command.
        process.claims.claim_name(&process.context, dynamixel::NODE_NAME, &namespace)?;
        let arm = dynamixel::start(&process.context, &namespace, Connection::Port(port), JOINT_STATES);
        let DynamixelNode { node, place, measured, stop: stop_arm } = arm.map_err(|error| match error {
            DynamixelNodeError::NoPort(_) => WHICH_PORT.into(),
            other => Box::<dyn Error>::from(other),
        })?;
        let arm = Machine {
            name: "WidowX",
            node,
            place,
            measured,
            missing: "not all of its servos have answered yet",
            stop: stop_arm,
        };
        Ok(machine::start(process, arm).await)
    }
}
