//! The lab's TurtleBot 2 with its arm: simulated, real, or both at once (TurtleBot thesis, table A.1).

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

use crate::supervisor::Supervisor;
use crate::{base, below, widowx};
use dragoman_tools::relay::{self, Namespaces, Table};

/// Its description, compiled in, so that the program needs no files.
const URDF: &str = include_str!("../../../urdf/turtlebot2_widowx.urdf");
/// Its name in the world.
const ROBOT: &str = "turtlebot2_widowx";
/// Topics of the joint states of base and arm, for the node that merges them.
const BASE_JOINTS: &str = "mobile_base/joint_states";
const ARM_JOINTS: &str = "widowx/joint_states";
/// Namespace of the simulated robot while the real one runs as well.
const SIM_NAMESPACE: &str = "/sim";
/// The nodes of a robot, whose transforms are remapped while there are two robots.
const NODES: [&str; 3] = ["mobile_base", "robot_state", "widowx"];

#[derive(Debug, Clone, Args)]
pub(crate) struct TurtlebotOptions {
    /// The TurtleBot that programs drive.
    #[arg(long, value_enum, default_value_t = Mode::Sim)]
    mode: Mode,
    /// Namespace of the real robot, with --mode mixed.
    #[arg(long, value_name = "NAMESPACE", default_value = "/real")]
    real_namespace: String,
    /// Namespace of the programs, with --mode mixed; must be set if the real robot is in the lab's namespace.
    #[arg(long, value_name = "NAMESPACE")]
    programs_namespace: Option<String>,
}

/// The modes of the TurtleBot thesis, table A.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The simulated one.
    Sim,
    /// The real one: on the ports in the parameters of its nodes; without ports, one that is already in ROS.
    Real,
    /// Both, with the simulated one in /sim; commands of programs go to both, and programs receive the data of the real
    /// one.
    Mixed,
}

/// A running robot.
pub(crate) struct Robot {
    pub(crate) namespace: String,
    /// Base and arm, as far as they run in this process.
    pub(crate) devices: Vec<Device>,
}

/// A device of a robot, with its node.
pub(crate) struct Device {
    pub(crate) name: &'static str,
    pub(crate) protocol: &'static str,
    /// Name of its node.
    pub(crate) node: &'static str,
    /// Its location: the port, or [`SIMULATED`].
    pub(crate) place: String,
    /// Resolves with the first measurement.
    pub(crate) measured: oneshot::Receiver<()>,
}

impl Device {
    pub(crate) fn is_simulated(&self) -> bool {
        self.place == SIMULATED
    }
}

/// The robots of the selected mode.
pub(crate) struct Turtlebot {
    /// The robots whose nodes run here.
    pub(crate) robots: Vec<Robot>,
    /// Namespace of a robot that is expected to be in ROS already.
    pub(crate) elsewhere: Option<String>,
}

impl TurtlebotOptions {
    /// The robot in the world that has its own driver. If the real one drives, the robot in the world belongs to Apolo
    /// alone.
    pub(crate) fn driven(&self) -> Vec<DrivenRobot> {
        // With two robots the frame belongs to the real one.
        let odometry_frame = (self.mode == Mode::Sim).then(|| "odom".to_owned());
        let robot = DrivenRobot { name: ROBOT.to_owned(), odometry_frame };
        if self.mode == Mode::Real { Vec::new() } else { vec![robot] }
    }

    /// ROS arguments besides the user's: with two robots each has its own transforms, and the world's sensor topics of
    /// the simulated one move to its namespace.
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

/// Starts the nodes of the robots below `namespace`, and for two robots the relay.
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
    // A real device does not move the robot in the world.
    let is_simulated = |device: &Option<Device>| device.as_ref().is_some_and(Device::is_simulated);
    let in_world = Devices {
        kobuki: is_simulated(&base).then_some(simulated_base.kobuki),
        widowx: is_simulated(&arm).then_some(simulated_arm.widowx),
    };
    let base_in_world = in_world.kobuki.clone();
    if let Err(error) = worlds.couple(ROBOT, in_world) {
        tracing::info!("the simulated TurtleBot is not in a world: {error}");
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

/// Starts the node of a robot's base; `None` without a port.
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

/// Starts the node of a robot's arm; `None` without a port.
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

/// Starts the node that publishes the transforms of its links.
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
