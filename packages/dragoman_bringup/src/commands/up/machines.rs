//! Machines by the descriptions of their protocols.

use std::error::Error;
use std::path::Path;

use clap::Args;
use dragoman_bridge::machine::node::NODE_NAME;

use super::part::{ConnectionRow, Lab, Part, Started};
use crate::commands::machine::{Described, parameters};

#[derive(Debug, Args)]
pub(super) struct MachinesOptions {
    /// A machine by the description of its protocol, with its place, as of `dragoman bridge FILE --link PLACE`. May be given
    /// several times.
    #[arg(long, value_name = "FILE[@PLACE]")]
    machine: Vec<String>,
}

impl MachinesOptions {
    /// The names of the parameters of each machine's node.
    pub(super) fn parameters(&self) -> impl Iterator<Item = Vec<String>> {
        // A file that cannot be read is reported when it is needed.
        self.machine.iter().filter_map(|machine| parameters(Path::new(file_and_link(machine).0)).ok())
    }
}

fn file_and_link(machine: &str) -> (&str, Option<&str>) {
    match machine.rsplit_once('@') {
        // A file may have the character in its name.
        Some((file, link)) if !Path::new(machine).is_file() => (file, Some(link)),
        _ => (machine, None),
    }
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
            let (file, link) = file_and_link(machine);
            let described = Described::read(Path::new(file), link)
                .map_err(|error| format!("--machine {machine}: {error}"))?;
            let namespace = lab.below(described.name());
            if started.rows.iter().any(|row| row.namespace == namespace) {
                return Err(format!("--machine {machine}: {namespace} is there twice").into());
            }
            // Two bridges would both send each command.
            lab.process.claims.claim_name(&lab.process.context, NODE_NAME, &namespace)?;
            let robot = described.name().to_owned();
            let (client, address) = described
                .start(lab.process, &namespace)
                .map_err(|error| format!("--machine {machine}: {error}"))?;
            started.rows.push(ConnectionRow { robot, protocol: "its description", address, namespace });
            lab.process.supervisor.spawn_node(client.node);
        }
        Ok(started)
    }
}
