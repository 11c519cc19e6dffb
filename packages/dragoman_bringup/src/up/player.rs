//! Player's protocol in front of the robots.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use dragoman_bridge::player::node::{Table, start_server};

use super::part::{Lab, Part, Row, Started};
use crate::address::with_advice;

pub(super) struct Player;

/// The devices of the default lab.
const LAB: &str = include_str!("../../../../launch/config/player.yaml");

#[derive(Args)]
pub(super) struct PlayerOptions {
    /// The devices of Player's server: a YAML file (docs/protocol-player.md); by default those of the lab.
    #[arg(long, value_name = "FILE")]
    player_devices: Option<PathBuf>,
}

impl PlayerOptions {
    fn table(&self) -> Result<Table, Box<dyn Error>> {
        let Some(path) = &self.player_devices else { return Ok(Table::from_yaml(LAB)?) };
        let wrong = |error: &dyn std::fmt::Display| format!("--player-devices {}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        Ok(Table::from_yaml(&text).map_err(|error| wrong(&error))?)
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
        let (namespace, table) = (lab.below("/"), lab.options.player.table()?);
        let server = start_server(&process.context, &namespace, bind, &table)
            .map_err(|error| with_advice(error, "player:port:=PORT"))?;
        let (context, again) = (process.context.clone(), namespace.clone());
        process.supervisor.spawn_restartable_node(server.node, move || {
            start_server(&context, &again, bind, &table).map(|server| server.node)
        });
        let address = server.address.to_string();
        let robot = "all".to_owned();
        let row = Row { robot, protocol: "Player's protocol, TCP", address, namespace };
        Ok(Started { rows: vec![row], ..Started::default() })
    }
}
