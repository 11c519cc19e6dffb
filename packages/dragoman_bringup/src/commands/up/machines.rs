//! Machines by the descriptions of their protocols.

use std::error::Error;
use std::path::Path;

use clap::Args;
use dragoman_bridge::machine::node::NODE_NAME;

use super::part::{ConnectionRow, Lab, Part, Started};
use crate::commands::machine::Described;

#[derive(Debug, Args)]
pub(super) struct MachinesOptions {
    /// A machine by the description of its protocol, with its place, as of `dragoman bridge FILE --link PLACE`. May be given
    /// several times.
    #[arg(long, value_name = "FILE[@PLACE]")]
    machine: Vec<String>,
}

pub(super) struct Machines;

impl Part for Machines {
    fn name(&self) -> &'static str {
        "machines"
    }

    fn help(&self) -> &'static str {
        "Machines of --machine, by the descriptions of their protocols"
    }

    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let mut started = Started::default();
        for machine in &lab.options.machines.machine {
            let (file, link) = match machine.rsplit_once('@') {
                // A file may have the character in its name.
                Some((file, link)) if !Path::new(machine).is_file() => (file, Some(link)),
                _ => (machine.as_str(), None),
            };
            let described = Described::read(Path::new(file), link)
                .map_err(|error| format!("--machine {machine}: {error}"))?;
            let namespace = lab.below(described.name());
            if started.rows.iter().any(|row| row.namespace == namespace) {
                return Err(format!("--machine {machine}: {namespace} is there twice").into());
            }
            // Two bridges would both send each command.
            lab.process.claims.claim_name(&lab.process.context, NODE_NAME, &namespace)?;
            started.rows.push(ConnectionRow {
                robot: described.name().to_owned(),
                protocol: "its description",
                address: described.address(),
                namespace: namespace.clone(),
            });
            let client = described.start(lab.process, &namespace)?;
            lab.process.supervisor.spawn_node(client.node);
        }
        Ok(started)
    }
}
