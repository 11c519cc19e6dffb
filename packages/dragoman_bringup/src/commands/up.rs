//! `dragoman up`: the simulated lab in one process, a list of parts.
//!
//! | file | holds |
//! | --- | --- |
//! | `up.rs` | the options, the list, the start |
//! | `up/part.rs` | the parts of a lab |
//! | `up/fast.rs` | the options for virtual time |
//! | `up/instance.rs` | several labs on one machine |
//! | `up/world.rs` | the world, which several parts share |
//! | `up/ranger.rs` | the arm and its 31-byte protocol |
//! | `up/apolo.rs` | Apolo's protocol in front of the world |
//! | `up/neobotix.rs` | the platform and PlatformCtrl's protocol |
//! | `up/turtlebot.rs` | the TurtleBot 2: simulated, on its hardware, or both |
//! | `up/player.rs` | Player's protocol in front of the robots |
//! | `up/machines.rs` | machines by the descriptions of their protocols |
//! | `up/recorder.rs` | services that record topics |
//! | `up/console.rs` | the web page and rosbridge |
//! | `up/simulated.rs` | devices simulated in this process |
//!
//! A new robot or protocol is a file with its [`Part`] and a line in [`PARTS`].

mod apolo;
mod console;
#[cfg(not(feature = "r2r"))]
mod fast;
mod instance;
mod machines;
mod neobotix;
mod part;
mod player;
mod ranger;
mod recorder;
mod simulated;
mod turtlebot;
mod world;

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use dragoman_ros::naming::below;
use dragoman_ros::outln;
use dragoman_ros::process::Process;
use dragoman_ros::startup::Preset;
use dragoman_tools::relay::Table;

use crate::address::PortError;
use crate::known;
use crate::program::{Later, Server};
#[cfg(not(feature = "r2r"))]
pub(crate) use fast::FastOptions;
use instance::Instance;
use part::{ConnectionRow, Lab, Part};
use world::World;

/// The parts of the lab, in the order in which they start.
const PARTS: [&dyn Part; 8] = [
    &ranger::Ranger,
    &apolo::Apolo,
    &neobotix::Neobotix,
    &turtlebot::Turtlebot,
    &player::Player,
    &machines::Machines,
    &recorder::Recorder,
    &console::Console,
];

#[derive(Args)]
pub(crate) struct UpOptions {
    /// Address for the legacy protocols; 0.0.0.0 is every interface.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// The arm in the lab: ranger_mk1, ranger_mk1_appendix_d, ranger_mk2, platform_arm, widowx, or a file (docs/own-robot.md).
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    robot: String,
    /// The worlds for the TurtleBot's and Apolo's programs: lab, laboratory, corridor, or a file (docs/apolo-world.md);
    /// by default lab.
    #[arg(long, value_name = "WORLD", conflicts_with = "bridge_only")]
    world: Option<PathBuf>,
    /// Serve only the legacy protocols, for an arm, a world and a platform that are already in ROS.
    #[arg(long, conflicts_with = "mode")]
    bridge_only: bool,
    /// Start only these parts of the lab, separated by commas.
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = part_names())]
    only: Vec<String>,
    /// A further lab on this machine, 2 to 9: 100 more on each port and one more on the ROS domain, for each lab before it.
    /// Ports, addresses and a domain that are given hold as they are.
    #[arg(long, value_name = "N", default_value = "1", value_parser = Instance::parser())]
    instance: Instance,
    /// Namespace above all names of the lab, including its transforms.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    namespace: String,
    #[command(flatten)]
    turtlebot: turtlebot::TurtlebotOptions,
    #[command(flatten)]
    player: player::PlayerOptions,
    #[command(flatten)]
    machines: machines::MachinesOptions,
    #[command(flatten)]
    console: console::ConsoleOptions,
    #[cfg(not(feature = "r2r"))]
    #[command(flatten)]
    pub(crate) fast: FastOptions,
}

fn part_names() -> PossibleValuesParser {
    PARTS.map(|part| PossibleValue::new(part.name()).help(part.help())).into()
}

impl UpOptions {
    fn wanted(&self) -> impl Iterator<Item = &'static dyn Part> {
        PARTS
            .into_iter()
            .filter(|part| self.only.is_empty() || self.only.iter().any(|name| name == part.name()))
    }

    /// An error of a part; if another program has its port, with the command that starts a lab beside it.
    fn beside_another(&self, error: Box<dyn Error>) -> Box<dyn Error> {
        let is_taken = error.downcast_ref::<PortError>().is_some_and(|error| error.is_taken);
        let free = if is_taken { Instance::free(self.bind) } else { None };
        match free {
            Some(free) => format!("{error}; a second lab: dragoman up --instance {free}").into(),
            None => error,
        }
    }
}

impl Server for UpOptions {
    fn preset(&self) -> Result<Preset, Box<dyn Error>> {
        let root = below(&self.namespace, "");
        let mut names = self.turtlebot.rules(&root)?;
        if root != "/" {
            // Absolute names, and the nodes outside namespaces.
            let sensors = Table::turtlebot()?.topics.into_iter().filter(|topic| topic.on_demand);
            let more = ["tf", "tf_static", "camera/depth/camera_info", "camera/rgb/camera_info"];
            let topics = sensors.map(|topic| topic.name).chain(more.map(str::to_owned));
            let rules = topics.map(|name| format!("/{name}:={}", below(&root, &name)));
            let nodes = ["dragoman", "simulation", "relay", "relay_on_demand", "console", "console_gateway"];
            let nodes = nodes.map(|node| format!("{node}:__ns:={root}"));
            names.extend(rules.chain(nodes));
        }
        let rules = names.into_iter().flat_map(|rule| ["-r".to_owned(), rule]).collect();
        // The last value counts: a port of Player's configuration file is given.
        let below_files = [self.instance.arguments(), self.player.parameters()?].concat();
        let known = known::with_machines(self.machines.parameters());
        Ok(Preset { below_files, rules, more_domains: self.instance.domains(), ..known })
    }

    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let in_world: Vec<_> = self.wanted().filter_map(|part| part.robots_in_world(self)).collect();
        let world = if self.bridge_only || in_world.is_empty() {
            None
        } else {
            let planners: Vec<String> = self.wanted().flat_map(|part| part.planners(self)).collect();
            Some(World::start(process, self, &planners, in_world.concat())?)
        };
        let lab = Lab { process, options: self, world };
        let (mut rows, mut ready, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for part in self.wanted() {
            let started = part.start(&lab).map_err(|error| self.beside_another(error))?;
            rows.extend(started.rows);
            ready.extend(started.ready);
            last.extend(started.last);
        }
        print_table(&rows);
        for part in ready {
            part.await?;
        }
        for line in last {
            outln!("{line}");
        }
        if self.instance != Instance::FIRST {
            outln!("ROS 2 programs see this lab with ROS_DOMAIN_ID={}", process.context.domain_id());
        }
        Ok(None)
    }
}

fn print_table(rows: &[ConnectionRow]) {
    let line = |robot: &str, protocol: &str, address: &str, namespace: &str| {
        outln!("{robot:<14} {protocol:<28} {address:<22} {namespace}");
    };
    line("ROBOT", "PROTOCOL", "ADDRESS", "ROS NAMESPACE");
    for row in rows {
        line(&row.robot, row.protocol, &row.address, &row.namespace);
    }
}
