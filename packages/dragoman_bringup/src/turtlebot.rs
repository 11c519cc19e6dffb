//! The lab's TurtleBot 2 with its arm: simulated, on its hardware, or both at once (seed 003, table A.1).

use std::error::Error;

use clap::{Args, ValueEnum};
use dragoman_arm::node::dynamixel::{self, DynamixelNode, DynamixelNodeError};
use dragoman_base::node::{self, BaseNode, BaseNodeError, start_kobuki};
use dragoman_io::serial::{Connection, SIMULATED, Simulate};
use dragoman_kinematics::node::state::{self, StateSettings};
use dragoman_ros::Context;
use dragoman_world::node::simulation::{self, SimulationSettings};
use dragoman_world::node::{Devices, DrivenRobot, Live};
use futures::channel::oneshot;

use crate::relay::{self, Namespaces, Table};
use crate::supervisor::Supervisor;
use crate::{base, below, widowx};

/// Its description, so that the program runs from anywhere.
const URDF: &str = include_str!("../../../urdf/turtlebot2_widowx.urdf");
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
    /// Namespace of the programs, with --mode mixed; to be told where the real robot is in that of the lab.
    #[arg(long, value_name = "NAMESPACE")]
    programs_namespace: Option<String>,
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
    pub(crate) namespace: String,
    /// Base and arm, as far as they are here.
    pub(crate) devices: Vec<Device>,
}

/// A device of a robot, with its node.
pub(crate) struct Device {
    pub(crate) name: &'static str,
    pub(crate) protocol: &'static str,
    /// Name of its node.
    pub(crate) node: &'static str,
    /// Where it is: the port, or [`SIMULATED`].
    pub(crate) place: String,
    /// Resolves with the first measurement.
    pub(crate) measured: oneshot::Receiver<()>,
}

impl Device {
    pub(crate) fn is_simulated(&self) -> bool {
        self.place == SIMULATED
    }
}

/// The robots that programs drive.
pub(crate) struct Turtlebot {
    /// Those whose nodes run here.
    pub(crate) robots: Vec<Robot>,
    /// Where a robot is expected that is in ROS already.
    pub(crate) elsewhere: Option<String>,
}

impl TurtlebotOptions {
    /// The robot in the world that has a driver of its own. Where the real one drives, that of the world is Apolo's alone.
    pub(crate) fn driven(&self) -> Vec<DrivenRobot> {
        // With two robots the frame is that of the real one.
        let odometry_frame = (self.mode == Mode::Sim).then(|| "odom".to_owned());
        let robot = DrivenRobot { name: ROBOT.to_owned(), odometry_frame };
        if self.mode == Mode::Real { Vec::new() } else { vec![robot] }
    }

    /// What ROS is to be told besides the user's arguments: with two robots each has transforms of its own, and what the world
    /// publishes of the simulated one is that one's.
    pub(crate) fn ros_arguments(&self, namespace: &str) -> Result<Vec<String>, Box<dyn Error>> {
        if self.mode != Mode::Mixed {
            return Ok(Vec::new());
        }
        let own = NODES
            .iter()
            .flat_map(|node| ["tf", "tf_static"].map(|topic| format!("{node}:/{topic}:={topic}")));
        let table = Table::turtlebot()?;
        let sensors = table.topics.iter().filter(|topic| topic.on_demand);
        let simulated = below(namespace, SIM_NAMESPACE);
        let sensed = sensors.map(|topic| format!("world:/{0}:={simulated}/{0}", topic.name));
        Ok(own.chain(sensed).flat_map(|rule| ["-r".to_owned(), rule]).collect())
    }
}

/// Starts the nodes of the robots below `namespace`, and with two of them the relay.
pub(crate) fn start(
    context: &Context,
    namespace: &str,
    options: &TurtlebotOptions,
    worlds: Live,
    supervisor: &Supervisor,
) -> Result<Turtlebot, Box<dyn Error>> {
    let mut turtlebot = Turtlebot { robots: Vec::new(), elsewhere: None };
    let real = match options.mode {
        Mode::Sim => {
            turtlebot.robots.push(start_simulated(
                context,
                namespace,
                Connection::SimulatedUnlessPort,
                worlds,
                supervisor,
            )?);
            return Ok(turtlebot);
        }
        Mode::Real => namespace.to_owned(),
        Mode::Mixed => {
            let robots = [&options.real_namespace, SIM_NAMESPACE].map(|robot| below(namespace, robot));
            let programs = options.programs_namespace.as_deref().unwrap_or_default();
            let namespaces = Namespaces::new(&below(namespace, programs), &robots);
            let [real, simulated] = robots;
            let relay = relay::start(context, &Table::turtlebot()?, &namespaces)?;
            supervisor.spawn(below("", relay::NODE_NAME), relay);
            turtlebot.robots.push(start_simulated(
                context,
                &simulated,
                Connection::Simulated,
                worlds,
                supervisor,
            )?);
            real
        }
    };
    let port = || Connection::Port(String::new());
    let base = start_base(context, &real, port(), supervisor)?;
    let arm = start_arm(context, &real, port(), supervisor)?;
    let devices: Vec<Device> = base.into_iter().chain(arm).collect();
    if devices.is_empty() {
        turtlebot.elsewhere = Some(real);
    } else {
        start_state(context, &real, supervisor)?;
        turtlebot.robots.push(Robot { namespace: real, devices });
    }
    Ok(turtlebot)
}

fn start_simulated(
    context: &Context,
    namespace: &str,
    connection: fn(Simulate) -> Connection,
    worlds: Live,
    supervisor: &Supervisor,
) -> Result<Robot, Box<dyn Error>> {
    let (simulated_base, simulated_arm) = (base::simulate(), widowx::simulate());
    let base = start_base(context, namespace, connection(simulated_base.line), supervisor)?;
    let arm = start_arm(context, namespace, connection(simulated_arm.line), supervisor)?;
    // What is real does not move the robot in the world.
    let is_simulated = |device: &Option<Device>| device.as_ref().is_some_and(Device::is_simulated);
    let in_world = Devices {
        kobuki: is_simulated(&base).then_some(simulated_base.kobuki),
        widowx: is_simulated(&arm).then_some(simulated_arm.widowx),
    };
    let base_in_world = in_world.kobuki.clone();
    if let Err(error) = worlds.couple(ROBOT, in_world) {
        tracing::info!("the simulated TurtleBot is in no world: {error}");
    }
    start_state(context, namespace, supervisor)?;
    let simulation = SimulationSettings {
        robot_namespace: namespace.to_owned(),
        worlds,
        robot: ROBOT.to_owned(),
        base: base_in_world,
    };
    supervisor.spawn(below("", simulation::NODE_NAME), simulation::start(context, simulation)?);
    Ok(Robot { namespace: namespace.to_owned(), devices: base.into_iter().chain(arm).collect() })
}

/// Starts the node of a robot's base; none without a port.
fn start_base(
    context: &Context,
    namespace: &str,
    connection: Connection,
    supervisor: &Supervisor,
) -> Result<Option<Device>, BaseNodeError> {
    let BaseNode { node, place, measured, stop } =
        match start_kobuki(context, namespace, connection, BASE_JOINTS) {
            Err(BaseNodeError::NoPort) => return Ok(None),
            started => started?,
        };
    supervisor.on_stop(stop);
    supervisor.spawn(below(namespace, node::NODE_NAME), node);
    let (name, protocol, node) = ("kobuki", "Kobuki's serial protocol", node::NODE_NAME);
    Ok(Some(Device { name, protocol, node, place, measured }))
}

/// Starts the node of a robot's arm; none without a port.
fn start_arm(
    context: &Context,
    namespace: &str,
    connection: Connection,
    supervisor: &Supervisor,
) -> Result<Option<Device>, DynamixelNodeError> {
    let DynamixelNode { node, place, measured, stop } =
        match dynamixel::start(context, namespace, connection, ARM_JOINTS) {
            Err(DynamixelNodeError::NoPort(_)) => return Ok(None),
            started => started?,
        };
    supervisor.on_stop(stop);
    supervisor.spawn(below(namespace, dynamixel::NODE_NAME), node);
    let (name, protocol, node) = ("widowx", "Dynamixel protocol 1.0", dynamixel::NODE_NAME);
    Ok(Some(Device { name, protocol, node, place, measured }))
}

/// Starts the node that tells where its links are.
fn start_state(context: &Context, namespace: &str, supervisor: &Supervisor) -> Result<(), Box<dyn Error>> {
    let settings = StateSettings {
        node_name: state::NODE_NAME.to_owned(),
        namespace: namespace.to_owned(),
        urdf: URDF.to_owned(),
        sources: vec![BASE_JOINTS.to_owned(), ARM_JOINTS.to_owned()],
        frame_prefix: String::new(),
    };
    let (context, again) = (context.clone(), settings.clone());
    let name = below(namespace, state::NODE_NAME);
    supervisor
        .spawn_restartable(name, state::start(&context, &settings)?, move || state::start(&context, &again));
    Ok(())
}
