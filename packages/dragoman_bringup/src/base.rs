//! `dragoman base`: a mobile base on a serial port in ROS. Also the simulated base.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dragoman_base::node::{self, BaseNode, BaseNodeError, JOINT_STATES};
use dragoman_io::serial::{Connection, Simulate};
use dragoman_ros::Context;
use dragoman_sim::serial::edge::RealTime;
use dragoman_sim::{Kobuki, KobukiSettings};

use crate::machine::{self, Machine, WHICH_PORT};
use crate::simulated::line_to;
use crate::supervisor::Supervisor;

#[derive(Args)]
pub(crate) struct BaseOptions {
    /// Serial port of the base, for example /dev/ttyUSB0; the parameter device_port of its node takes precedence.
    #[arg(long, value_name = "PATH")]
    port: Option<PathBuf>,
    /// Kind of base.
    #[arg(long, value_enum, default_value_t = Kind::Kobuki)]
    kind: Kind,
    /// Namespace in which the base appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    namespace: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A Kobuki, the base of the TurtleBot 2.
    Kobuki,
    /// Any base with two driven wheels and the line protocol of ROSArduinoBridge; geometry and limits are parameters.
    Differential,
}

/// Starts a base on a port.
pub(crate) async fn start(
    context: &Context,
    options: &BaseOptions,
    supervisor: &Supervisor,
) -> Result<(), Box<dyn Error>> {
    let port = machine::port(options.port.as_ref())?;
    let start = match options.kind {
        Kind::Kobuki => node::start_kobuki,
        Kind::Differential => node::start_differential,
    };
    let namespace = format!("/{}", options.namespace.trim_matches('/'));
    let base = start(context, &namespace, Connection::Port(port), JOINT_STATES);
    let BaseNode { node, place, measured, stop: stop_base } = base.map_err(|error| match error {
        BaseNodeError::NoPort => WHICH_PORT.into(),
        other => Box::<dyn Error>::from(other),
    })?;
    let base = Machine {
        name: if options.kind == Kind::Kobuki { "Kobuki" } else { "base" },
        node,
        node_name: node::NODE_NAME,
        place,
        measured,
        no_data: "no data received yet",
        stop: stop_base,
    };
    machine::start(supervisor, base, &namespace).await;
    Ok(())
}

/// A Kobuki simulated in this process.
pub(crate) struct SimulatedBase {
    /// The machine, for the simulation that moves it.
    pub(crate) kobuki: RealTime<Kobuki>,
    /// Opens a line to the machine.
    pub(crate) line: Simulate,
}

/// Switches a simulated Kobuki on.
pub(crate) fn simulate() -> SimulatedBase {
    // It is already on.
    let settings = KobukiSettings { boot_time: Duration::ZERO, ..KobukiSettings::default() };
    let kobuki = RealTime::new(Kobuki::new(settings));
    let line = line_to(&kobuki);
    SimulatedBase { kobuki, line }
}
