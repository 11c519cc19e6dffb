//! The lab's TurtleBot 2 with its arm: simulated, on its hardware, or both at once (seed 003, table A.1).

use std::error::Error;

use clap::{Args, ValueEnum};
use dragoman_arm::node::dynamixel::{self, DynamixelNode, DynamixelNodeError};
use dragoman_base::node::{BaseNode, BaseNodeError, Connection, start_kobuki};
use dragoman_kinematics::node::state::{self, StateSettings};
use dragoman_ros::Context;
use dragoman_sim::node::Live;
use dragoman_sim::node::simulation::{self, SimulationSettings};
use dragoman_sim::serial::edge::RealTime;
use dragoman_sim::{Widowx, WidowxSettings};
use futures::channel::oneshot;
use futures::future::BoxFuture;
use tokio::task::JoinSet;

use crate::base;
use crate::relay::{self, Namespaces, Table};
use crate::simulated::line_to;

/// Its name in the world.
const ROBOT: &str = "turtlebot2_widowx";
/// Where base and arm tell their joints, for the node that makes one message of them.
const BASE_JOINTS: &str = "mobile_base/joint_states";
const ARM_JOINTS: &str = "widowx/joint_states";
/// Where the simulated robot is while the real one works beside it.
const SIM_NAMESPACE: &str = "/sim";
/// The nodes of a robot, whose transforms are its own while there are two.
const NODES: [&str; 3] = ["mobile_base", "robot_state", "widowx"];

#[derive(Debug, Clone, Args)]
pub(crate) struct TurtlebotOptions {
    /// Which TurtleBot programs drive.
    #[arg(long, value_enum, default_value_t = Mode::Sim)]
    mode: Mode,
    /// Namespace of the real robot, with --mode mixed.
    #[arg(long, value_name = "NAMESPACE", default_value = "/real")]
    real_namespace: String,
    /// Namespace of the programs, with --mode mixed; another than / where the real robot is there.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    programs_namespace: String,
}

/// The modes of table A.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The simulated one.
    Sim,
    /// The real one: on the ports that the parameters of its nodes name; without, one that is in ROS already.
    Real,
    /// Both, the simulated one in /sim; what programs command goes to both, and they hear the real one.
    Mixed,
}

/// A base or an arm at work.
pub(crate) struct Machine {
    /// What it is, and what it speaks, for the terminal.
    pub(crate) name: &'static str,
    pub(crate) protocol: &'static str,
    /// Where it is: the port, or [`dragoman_base::node::SIMULATED`].
    pub(crate) place: String,
    /// Its node.
    pub(crate) node: String,
    /// Resolves with the first measurement.
    pub(crate) measured: oneshot::Receiver<()>,
    /// Stops it and closes its line; to be awaited before the nodes are dropped.
    pub(crate) stop: BoxFuture<'static, ()>,
}

/// The robots that programs drive.
pub(crate) struct Turtlebot {
    /// Their bases and arms whose nodes run here.
    pub(crate) machines: Vec<Machine>,
    /// Where a robot is expected that is in ROS already.
    pub(crate) elsewhere: Option<String>,
}

impl TurtlebotOptions {
    /// What ROS is to be told besides the user's arguments: with two robots each has transforms of its own, and what the world
    /// publishes of the simulated one is that one's.
    pub(crate) fn ros_arguments(&self) -> Result<Vec<String>, Box<dyn Error>> {
        if self.mode != Mode::Mixed {
            return Ok(Vec::new());
        }
        let own = NODES
            .iter()
            .flat_map(|node| ["tf", "tf_static"].map(|topic| format!("{node}:/{topic}:={topic}")));
        let table = Table::turtlebot()?;
        let sensors = table.topics.iter().filter(|topic| topic.on_demand);
        let sensed = sensors.map(|topic| format!("world:/{0}:={SIM_NAMESPACE}/{0}", topic.name));
        Ok(own.chain(sensed).flat_map(|rule| ["-r".to_owned(), rule]).collect())
    }
}

/// Starts the nodes of the robots, and with two of them the relay.
pub(crate) fn start(
    context: &Context,
    options: &TurtlebotOptions,
    worlds: Live,
    nodes: &mut JoinSet<()>,
) -> Result<Turtlebot, Box<dyn Error>> {
    let mut turtlebot = Turtlebot { machines: Vec::new(), elsewhere: None };
    let real = match options.mode {
        Mode::Sim => {
            let connection = Connection::SimulatedUnlessPort;
            turtlebot.machines = start_simulated(context, "/", connection, worlds, nodes)?;
            return Ok(turtlebot);
        }
        Mode::Real => "/".to_owned(),
        Mode::Mixed => {
            let robots = [options.real_namespace.clone(), SIM_NAMESPACE.to_owned()];
            let namespaces = Namespaces::new(&options.programs_namespace, &robots);
            nodes.spawn(relay::start(context, &Table::turtlebot()?, &namespaces)?);
            let connection = Connection::Simulated;
            turtlebot.machines = start_simulated(context, SIM_NAMESPACE, connection, worlds, nodes)?;
            format!("/{}", options.real_namespace.trim_matches('/'))
        }
    };
    let unnamed = || Connection::Port(String::new());
    let base = match start_base(context, &real, unnamed(), nodes) {
        Err(BaseNodeError::NoPort(_)) => None,
        started => Some(started?),
    };
    let arm = match start_arm(context, &real, unnamed(), nodes) {
        Err(DynamixelNodeError::NoPort(_)) => None,
        started => Some(started?),
    };
    if base.is_none() && arm.is_none() {
        turtlebot.elsewhere = Some(real);
    } else {
        start_state(context, &real, nodes)?;
    }
    turtlebot.machines.extend(base.into_iter().chain(arm));
    Ok(turtlebot)
}

fn start_simulated(
    context: &Context,
    namespace: &str,
    connection: fn(dragoman_base::node::Simulate) -> Connection,
    worlds: Live,
    nodes: &mut JoinSet<()>,
) -> Result<Vec<Machine>, Box<dyn Error>> {
    let simulated = base::simulate();
    let widowx = RealTime::new(Widowx::new(WidowxSettings::default()));
    let base = start_base(context, namespace, connection(simulated.line), nodes)?;
    let arm = start_arm(context, namespace, connection(line_to(&widowx)), nodes)?;
    start_state(context, namespace, nodes)?;
    let simulation = SimulationSettings {
        robot_namespace: namespace.to_owned(),
        worlds,
        robot: ROBOT.to_owned(),
        base: Some(simulated.kobuki),
    };
    nodes.spawn(simulation::start(context, simulation)?);
    Ok(vec![base, arm])
}

fn start_base(
    context: &Context,
    namespace: &str,
    connection: Connection,
    nodes: &mut JoinSet<()>,
) -> Result<Machine, BaseNodeError> {
    let BaseNode { node: running, place, measured, stop } =
        start_kobuki(context, namespace, connection, BASE_JOINTS)?;
    nodes.spawn(running);
    let node = format!("{}/{}", namespace.trim_end_matches('/'), dragoman_base::node::NODE_NAME);
    let (name, protocol) = ("kobuki", "Kobuki's serial protocol");
    Ok(Machine { name, protocol, place, node, measured, stop })
}

fn start_arm(
    context: &Context,
    namespace: &str,
    connection: Connection,
    nodes: &mut JoinSet<()>,
) -> Result<Machine, DynamixelNodeError> {
    let DynamixelNode { node: running, place, measured, stop } =
        dynamixel::start(context, namespace, connection, ARM_JOINTS)?;
    nodes.spawn(running);
    let node = format!("{}/{}", namespace.trim_end_matches('/'), dynamixel::NODE_NAME);
    let (name, protocol) = ("widowx", "Dynamixel protocol 1.0");
    Ok(Machine { name, protocol, place, node, measured, stop })
}

/// Starts the node that tells where its links are.
fn start_state(context: &Context, namespace: &str, nodes: &mut JoinSet<()>) -> Result<(), Box<dyn Error>> {
    let settings = StateSettings {
        namespace: namespace.to_owned(),
        urdf: String::new(),
        sources: vec![BASE_JOINTS.to_owned(), ARM_JOINTS.to_owned()],
    };
    nodes.spawn(state::start(context, &settings)?);
    Ok(())
}
