//! Apolo's protocol in front of the world.

use std::error::Error;

use dragoman_bridge::apolo::node::start_server;
use dragoman_world::node::DrivenRobot;

use super::UpOptions;
use super::part::{ConnectionRow, IN_ROS, Lab, Part, Started};
use crate::address::with_advice;

pub(super) struct Apolo;

/// Namespace of the world.
pub(super) const NAMESPACE: &str = "/apolo";

impl Part for Apolo {
    fn name(&self) -> &'static str {
        "apolo"
    }

    fn help(&self) -> &'static str {
        "The world with Apolo's protocol"
    }

    fn robots_in_world(&self, _options: &UpOptions) -> Option<Vec<DrivenRobot>> {
        Some(Vec::new())
    }

    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let (process, bind) = (lab.process, lab.options.bind);
        let namespace = lab.below(NAMESPACE);
        let mut robot = IN_ROS.to_owned();
        if let Some(world) = &lab.world {
            process.claims.claim_namespace(&process.context, "world", &namespace)?;
            robot = world.names.join(", ");
        }
        let server = start_server(&process.context, &namespace, bind)
            .map_err(|error| with_advice(error, "apolo:port:=PORT"))?;
        let (context, again) = (process.context.clone(), namespace.clone());
        process.supervisor.spawn_restartable_node(server.node, move || {
            start_server(&context, &again, bind).map(|server| server.node)
        });
        let address = server.address.to_string();
        let row = ConnectionRow { robot, protocol: "Apolo's protocol, TCP", address, namespace };
        Ok(Started { rows: vec![row], ..Started::default() })
    }
}
