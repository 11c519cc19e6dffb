//! The lab's TurtleBot 2 with its arm: simulated, on its hardware, or both at once (seed 003, table A.1).

use std::error::Error;

use clap::{Args, ValueEnum};
use dragoman_base::node::{BaseNode, BaseNodeError, Connection, start_kobuki};
use dragoman_kinematics::node::state::{self, StateSettings};
use dragoman_ros::Context;
use dragoman_sim::node::Live;
use dragoman_sim::node::simulation::{self, SimulationSettings};
use futures::channel::oneshot;
use futures::future::BoxFuture;
use tokio::task::JoinSet;

use crate::base;
use crate::relay::{self, Namespaces, Table};

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

/// One robot at work.
pub(crate) struct Robot {
    /// Where its base is: the port, or [`dragoman_base::node::SIMULATED`].
    pub(crate) place: String,
    pub(crate) namespace: String,
    /// Resolves with the first measurement.
    pub(crate) measured: oneshot::Receiver<()>,
    /// Stops the base and closes its line; to be awaited before the nodes are dropped.
    pub(crate) stop: BoxFuture<'static, ()>,
}

/// The robots that programs drive.
pub(crate) struct Turtlebot {
    /// Those whose nodes run here.
    pub(crate) robots: Vec<Robot>,
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
    let mut turtlebot = Turtlebot { robots: Vec::new(), elsewhere: None };
    let real = match options.mode {
        Mode::Sim => {
            turtlebot.robots.push(start_simulated(
                context,
                "/",
                Connection::SimulatedUnlessPort,
                worlds,
                nodes,
            )?);
            return Ok(turtlebot);
        }
        Mode::Real => "/".to_owned(),
        Mode::Mixed => {
            let robots = [options.real_namespace.clone(), SIM_NAMESPACE.to_owned()];
            let namespaces = Namespaces::new(&options.programs_namespace, &robots);
            nodes.spawn(relay::start(context, &Table::turtlebot()?, &namespaces)?);
            turtlebot.robots.push(start_simulated(
                context,
                SIM_NAMESPACE,
                Connection::Simulated,
                worlds,
                nodes,
            )?);
            format!("/{}", options.real_namespace.trim_matches('/'))
        }
    };
    match start_robot(context, &real, Connection::Port(String::new()), nodes) {
        Ok(robot) => {
            turtlebot.robots.push(robot);
            start_state(context, &real, nodes)?;
        }
        Err(BaseNodeError::NoPort(_)) => turtlebot.elsewhere = Some(real),
        Err(error) => return Err(error.into()),
    }
    Ok(turtlebot)
}

fn start_simulated(
    context: &Context,
    namespace: &str,
    connection: fn(dragoman_base::node::Simulate) -> Connection,
    worlds: Live,
    nodes: &mut JoinSet<()>,
) -> Result<Robot, Box<dyn Error>> {
    let simulated = base::simulate();
    let robot = start_robot(context, namespace, connection(simulated.line), nodes)?;
    start_state(context, namespace, nodes)?;
    let simulation = SimulationSettings {
        robot_namespace: namespace.to_owned(),
        worlds,
        robot: ROBOT.to_owned(),
        base: Some(simulated.kobuki),
    };
    nodes.spawn(simulation::start(context, simulation)?);
    Ok(robot)
}

/// Starts the nodes of a robot's hardware.
fn start_robot(
    context: &Context,
    namespace: &str,
    connection: Connection,
    nodes: &mut JoinSet<()>,
) -> Result<Robot, BaseNodeError> {
    let BaseNode { node, place, measured, stop } = start_kobuki(context, namespace, connection, BASE_JOINTS)?;
    nodes.spawn(node);
    Ok(Robot { place, namespace: namespace.to_owned(), measured, stop })
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
