//! `dragoman player`: the devices of a real Player server in ROS.

use std::error::Error;

use clap::Args;
use dragoman_bridge::player::node::start_client;
use dragoman_bridge::player::wire::DEFAULT_PORT;
use dragoman_ros::process::Process;
use dragoman_ros::startup::Preset;

use crate::program::{Later, Server};
use crate::{address, known, machine};

#[derive(Args)]
pub(crate) struct PlayerOptions {
    /// Address of the Player server; its port is 6665 unless you name another.
    #[arg(long, value_name = "HOST[:PORT]")]
    server: String,
    /// Namespace in which its devices appear.
    #[arg(long, value_name = "NAMESPACE", default_value = "/player")]
    namespace: String,
    /// Ask the server for data, instead of receiving it when there is some.
    #[arg(long)]
    pull: bool,
}

impl Server for PlayerOptions {
    fn preset(&self) -> Result<Preset, Box<dyn Error>> {
        let pull = self.pull.then(|| ["-p", "player_client:pull:=true"].map(str::to_owned));
        Ok(Preset { above_files: pull.into_iter().flatten().collect(), ..known::preset() })
    }

    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let server = address::resolve("--server", &self.server, DEFAULT_PORT)?;
        // If another process serves the namespace, requests would run in a circle.
        process.claims.claim_namespace(&process.context, "player_client", &self.namespace)?;
        process.claims.alone().await;
        let client = start_client(&process.context, &self.namespace, server)?;
        Ok(machine::connect(process, client, &format!("Player at {server}"), &self.namespace))
    }
}
