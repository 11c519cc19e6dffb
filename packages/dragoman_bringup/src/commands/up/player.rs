//! Player's protocol in front of the robots.

use std::error::Error;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use dragoman_bridge::player::node::{Configured, Table, start_server};

use super::part::{ConnectionRow, Lab, Part, Started};
use crate::address::with_advice;

pub(super) struct Player;

/// The devices of the default lab.
const LAB: &str = include_str!("../../../../../launch/config/player.yaml");

#[derive(Args)]
pub(super) struct PlayerOptions {
    /// The devices of Player's server: a YAML file (docs/protocol-player.md), or a configuration file of Player (.cfg);
    /// by default those of the lab.
    #[arg(long, value_name = "FILE")]
    player_devices: Option<PathBuf>,
    /// The content of the file. It is read once, because it may be a pipe.
    #[arg(skip)]
    configured: OnceLock<Box<Configured>>,
}

impl PlayerOptions {
    fn configured(&self) -> Result<&Configured, Box<dyn Error>> {
        match self.configured.get() {
            Some(configured) => Ok(configured),
            None => self.read().map(|configured| &**self.configured.get_or_init(|| Box::new(configured))),
        }
    }

    fn read(&self) -> Result<Configured, Box<dyn Error>> {
        let only = |table: Table| Configured { table, port: None, notes: Vec::new() };
        let lab = Table::from_yaml(LAB)?;
        let Some(path) = &self.player_devices else { return Ok(only(lab)) };
        let wrong = |error: &dyn std::fmt::Display| format!("--player-devices {}: {error}", path.display());
        let (text, note) = dragoman_text::decode(&std::fs::read(path).map_err(|error| wrong(&error))?);
        let note = note.map(|note| note.to_string());
        if path.extension().is_none_or(|extension| extension != "cfg") {
            let (table, notes) = Table::with_notes(&text).map_err(|error| wrong(&error))?;
            let notes = notes.iter().map(ToString::to_string);
            return Ok(Configured { table, port: None, notes: note.into_iter().chain(notes).collect() });
        }
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        let include = |name: &str| std::fs::read(folder.join(name)).map_err(|error| error.to_string());
        let include = |name: &str| include(name).map(|bytes| dragoman_text::decode(&bytes).0);
        let mut configured = lab.configured(&text, include).map_err(|error| wrong(&error))?;
        configured.notes.extend(note);
        Ok(configured)
    }

    /// The port of a configuration file as a parameter.
    pub(super) fn parameters(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let port = self.configured()?.port.map(|port| ["-p".to_owned(), format!("player:port:={port}")]);
        Ok(port.into_iter().flatten().collect())
    }
}

impl Part for Player {
    fn name(&self) -> &'static str {
        "player"
    }

    fn help(&self) -> &'static str {
        "Player's protocol for the robots that are there"
    }

    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let (process, bind) = (lab.process, lab.options.bind);
        let namespace = lab.below("/");
        let Configured { table, notes, .. } = lab.options.player.configured()?;
        let table = table.clone();
        for note in notes {
            tracing::warn!("--player-devices: {note}");
        }
        let server = start_server(&process.context, &namespace, bind, &table)
            .map_err(|error| with_advice(error, "player:port:=PORT"))?;
        let (context, again) = (process.context.clone(), namespace.clone());
        process.supervisor.spawn_restartable_node(server.node, move || {
            start_server(&context, &again, bind, &table).map(|server| server.node)
        });
        let address = server.address.to_string();
        let robot = "all".to_owned();
        let row = ConnectionRow { robot, protocol: "Player's protocol, TCP", address, namespace };
        Ok(Started { rows: vec![row], ..Started::default() })
    }
}
