//! Machines by the descriptions of their protocols.

use std::error::Error;
use std::path::Path;

use clap::Args;
use dragoman_bridge::machine::node::NODE_NAME;

use super::part::{ConnectionRow, Lab, Part, Started};
use crate::commands::machine::{Described, parameters};

#[derive(Debug, Args)]
pub(super) struct MachinesOptions {
    /// A machine by the description of its protocol, with its place, as of `dragoman bridge FILE --link PLACE`. NAME is its
    /// namespace and the prefix of its frames. May be given several times.
    #[arg(long, value_name = "[NAME=]FILE[@PLACE]")]
    machine: Vec<String>,
}

impl MachinesOptions {
    /// The names of the parameters of each machine's node.
    pub(super) fn parameters(&self) -> impl Iterator<Item = Vec<String>> {
        // A file that cannot be read is reported when it is needed.
        self.machine.iter().filter_map(|machine| parameters(Path::new(Given::read(machine).file)).ok())
    }
}

/// A machine as it is given.
#[derive(Debug, PartialEq)]
struct Given<'a> {
    name: Option<&'a str>,
    file: &'a str,
    link: Option<&'a str>,
}

impl<'a> Given<'a> {
    fn read(machine: &'a str) -> Self {
        let is_file = |name: &str| Path::new(name).is_file();
        // A file may have these characters in its name.
        let (rest, link) = match machine.rsplit_once('@') {
            Some((rest, link)) if !is_file(machine) => (rest, Some(link)),
            _ => (machine, None),
        };
        match rest.split_once('=') {
            Some((name, file)) if !name.is_empty() && !is_file(rest) => Self { name: Some(name), file, link },
            _ => Self { name: None, file: rest, link },
        }
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
            let Given { name, file, link } = Given::read(machine);
            let described = Described::read(Path::new(file), link)
                .map_err(|error| format!("--machine {machine}: {error}"))?
                .named(name);
            let namespace = lab.below(described.name());
            if started.rows.iter().any(|row| row.namespace == namespace) {
                return Err(format!(
                    "--machine {machine}: {namespace} is there twice; NAME=FILE gives it another name"
                )
                .into());
            }
            // Two bridges would both send each command.
            lab.process
                .claims
                .claim_name(&lab.process.context, NODE_NAME, &namespace)
                .map_err(|error| format!("--machine {machine}: {error}"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_a_name_and_a_place() {
        for (given, name, file, link) in [
            ("a.yaml", None, "a.yaml", None),
            ("a.yaml@/dev/ttyUSB0", None, "a.yaml", Some("/dev/ttyUSB0")),
            ("left=a.yaml@10.0.0.1:502", Some("left"), "a.yaml", Some("10.0.0.1:502")),
            ("left=a.yaml", Some("left"), "a.yaml", None),
            ("a.yaml@/dev/serial/by-id/x=1", None, "a.yaml", Some("/dev/serial/by-id/x=1")),
        ] {
            assert_eq!(Given::read(given), Given { name, file, link });
        }
    }
}
