//! `dragoman base`: a mobile base on a serial port in ROS.

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dragoman_base::node::{self, BaseNode, BaseNodeError, JOINT_STATES};
use dragoman_io::serial::Connection;
use dragoman_ros::naming::below;
use dragoman_ros::process::Process;

use crate::Server;
use crate::machine::{self, Machine, WHICH_PORT};

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

impl Server for BaseOptions {
    async fn start(&self, process: &Process) -> Result<(), Box<dyn Error>> {
        let port = machine::port(self.port.as_ref())?;
        let start = match self.kind {
            Kind::Kobuki => node::start_kobuki,
            Kind::Differential => node::start_differential,
        };
        let namespace = below(&self.namespace, "");
        let base = start(&process.context, &namespace, Connection::Port(port), JOINT_STATES);
        let BaseNode { node, place, measured, stop: stop_base } = base.map_err(|error| match error {
            BaseNodeError::NoPort => WHICH_PORT.into(),
            other => Box::<dyn Error>::from(other),
        })?;
        let base = Machine {
            name: if self.kind == Kind::Kobuki { "Kobuki" } else { "base" },
            node,
            place,
            measured,
            no_data: "no data received yet",
            stop: stop_base,
        };
        machine::start(&process.supervisor, base).await;
        Ok(())
    }
}
