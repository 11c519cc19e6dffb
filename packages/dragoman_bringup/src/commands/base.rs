//! `dragoman base`: a mobile base on a serial port in ROS.

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dragoman_base::node::{self, BaseNode, BaseNodeError, Role};
use dragoman_bridge::player::node::base_parameters;
use dragoman_io::serial::Connection;
use dragoman_ros::naming::below;
use dragoman_ros::process::Process;
use dragoman_ros::startup::Preset;

use crate::known;
use crate::machine::{self, Machine, WHICH_PORT};
use crate::program::{Later, Server};

#[derive(Args)]
pub(crate) struct BaseOptions {
    /// Serial port of the base, for example /dev/ttyUSB0; the parameter device_port of its node takes precedence.
    #[arg(long, value_name = "PATH")]
    port: Option<PathBuf>,
    /// Kind of base.
    #[arg(long, value_enum, default_value_t = BaseKind::Kobuki)]
    kind: BaseKind,
    /// Take dimensions, limits and the port from a configuration file of a Player server (.cfg): of its first driver that
    /// provides position2d. Parameters and --port take precedence.
    #[arg(long, value_name = "FILE")]
    player_config: Option<PathBuf>,
    /// Namespace in which the base appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    namespace: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BaseKind {
    /// A Kobuki, the base of the TurtleBot 2.
    Kobuki,
    /// Any base with two driven wheels and the line protocol of ROSArduinoBridge; geometry and limits are parameters.
    Differential,
}

impl BaseOptions {
    /// Its parameters in a configuration file of Player.
    fn player_parameters(&self, path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
        let wrong = |error: &dyn std::fmt::Display| format!("--player-config {}: {error}", path.display());
        let (text, note) = dragoman_text::decode(&std::fs::read(path).map_err(|error| wrong(&error))?);
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        let include = |name: &str| std::fs::read(folder.join(name)).map_err(|error| error.to_string());
        let include = |name: &str| include(name).map(|bytes| dragoman_text::decode(&bytes).0);
        let base = base_parameters(&text, include).map_err(|error| wrong(&error))?;
        // There is no log yet.
        let encoding = note.map(|note| note.to_string());
        for note in encoding.iter().chain(&base.notes) {
            eprintln!("--player-config {}: {note}", path.display());
        }
        let numbers = base.parameters.iter().map(|(name, value)| format!("{name}:={value:?}"));
        let baud = base.baud.map(|baud| format!("baud:={baud}"));
        let port = base.port.filter(|_| self.port.is_none()).map(|port| format!("device_port:={port}"));
        let values = numbers.chain(baud).chain(port);
        Ok(values.flat_map(|value| ["-p".to_owned(), format!("mobile_base:{value}")]).collect())
    }
}

impl Server for BaseOptions {
    fn preset(&self) -> Result<Preset, Box<dyn Error>> {
        let parameters =
            self.player_config.as_deref().map(|path| self.player_parameters(path)).transpose()?;
        Ok(Preset { below_files: parameters.unwrap_or_default(), ..known::preset() })
    }

    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let port = machine::port(self.port.as_ref())?;
        let start = match self.kind {
            BaseKind::Kobuki => node::start_kobuki,
            BaseKind::Differential => node::start_differential,
        };
        let namespace = below(&self.namespace, "");
        // Two drivers of one name would both execute each command.
        process.claims.claim_name(&process.context, node::NODE_NAME, &namespace)?;
        let base = start(&process.context, &namespace, Connection::Port(port), Role::Robot);
        let BaseNode { node, place, measured, stop: stop_base } = base.map_err(|error| match error {
            BaseNodeError::NoPort => WHICH_PORT.into(),
            other => Box::<dyn Error>::from(other),
        })?;
        let (name, missing) = match self.kind {
            BaseKind::Kobuki => ("Kobuki", "no data received yet (for another base: --kind differential)"),
            BaseKind::Differential => ("base", "no data received yet"),
        };
        let base = Machine { name, node, place, measured, missing, stop: stop_base };
        Ok(machine::start(process, base).await)
    }
}
