//! `dragoman arm`: an arm of servos on a serial port in ROS. Also the simulated arm.

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dragoman_arm::node::dynamixel::{self, DynamixelNode, DynamixelNodeError, JOINT_STATES};
use dragoman_io::serial::{Connection, Simulate};
use dragoman_ros::Context;
use dragoman_sim::serial::edge::RealTime;
use dragoman_sim::{Widowx, WidowxSettings};

use crate::machine::{self, Machine, WHICH_PORT};
use crate::simulated::line_to;
use crate::supervisor::Supervisor;

#[derive(Args)]
pub(crate) struct ArmOptions {
    /// Serial port of the arm, for example /dev/ttyUSB0; the parameter device_port of its node takes precedence.
    #[arg(long, value_name = "PATH")]
    port: Option<PathBuf>,
    /// Kind of arm.
    #[arg(long, value_enum, default_value_t = Kind::Widowx)]
    kind: Kind,
    /// Namespace in which the arm appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    namespace: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A WidowX: six Dynamixel servos, on an ArbotiX board or a USB adapter; the node's parameters select other chains.
    Widowx,
}

/// Starts an arm on a port.
pub(crate) async fn start(
    context: &Context,
    options: &ArmOptions,
    supervisor: &Supervisor,
) -> Result<(), Box<dyn Error>> {
    let port = machine::port(options.port.as_ref())?;
    let namespace = format!("/{}", options.namespace.trim_matches('/'));
    let Kind::Widowx = options.kind;
    let arm = dynamixel::start(context, &namespace, Connection::Port(port), JOINT_STATES);
    let DynamixelNode { node, place, measured, stop: stop_arm } = arm.map_err(|error| match error {
        DynamixelNodeError::NoPort(_) => WHICH_PORT.into(),
        other => Box::<dyn Error>::from(other),
    })?;
    let arm = Machine {
        name: "WidowX",
        node,
        node_name: dynamixel::NODE_NAME,
        place,
        measured,
        no_data: "not all of its servos have answered yet",
        stop: stop_arm,
    };
    machine::start(supervisor, arm, &namespace).await;
    Ok(())
}

/// An arm simulated in this process.
pub(crate) struct SimulatedArm {
    /// The servos, for the world that moves the arm.
    pub(crate) widowx: RealTime<Widowx>,
    /// Opens a line to the servos.
    pub(crate) line: Simulate,
}

/// Switches a simulated arm on.
pub(crate) fn simulate() -> SimulatedArm {
    let widowx = RealTime::new(Widowx::new(WidowxSettings::default()));
    let line = line_to(&widowx);
    SimulatedArm { widowx, line }
}
