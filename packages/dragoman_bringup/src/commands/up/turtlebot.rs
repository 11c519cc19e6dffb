//! The lab's TurtleBot 2 with its arm: simulated, real, or both at once (TurtleBot thesis, table A.1).

use std::error::Error;

use clap::{Args, ValueEnum};
use dragoman_arm::node::dynamixel::{self, DynamixelNode, DynamixelNodeError};
use dragoman_base::node::{self, BaseNode, BaseNodeError, Role, start_kobuki};
use dragoman_io::serial::{Connection, SIMULATED, Simulate};
use dragoman_kinematics::node::state::{self, StateSettings};
use dragoman_ros::process::Process;
use dragoman_tools::relay::{self, Namespaces, Table};
use dragoman_world::node::simulation::{self, SimulationSettings};
use dragoman_world::node::{Devices, DrivenRobot};
use futures::FutureExt;
use futures::channel::oneshot;

use super::part::{ConnectionRow, IN_ROS, Lab, Part, START_TIMEOUT, Started};
use super::world::World;
use super::{UpOptions, below, simulated};

pub(super) struct Turtlebot;

/// Its description, compiled in, so that the program needs no files.
const URDF: &str = include_str!("../../../../../urdf/turtlebot2_widowx.urdf");
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
pub(super) struct TurtlebotOptions {
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
pub(super) enum Mode {
    /// The simulated one.
    Sim,
    /// The real one: on the ports in the parameters of its nodes; without ports, one that is already in ROS.
    Real,
    /// Both, with the simulated one in /sim; commands of programs go to both, and programs receive the data of the real
    /// one.
    Mixed,
}

/// A device of a robot, with its node.
struct Device {
    name: &'static str,
    protocol: &'static str,
    /// Name of its node.
    node: &'static str,
    /// Its location: the port, or [`SIMULATED`].
    place: String,
    /// Resolves with the first measurement.
    measured: oneshot::Receiver<()>,
}

impl Device {
    fn is_simulated(&self) -> bool {
        self.place == SIMULATED
    }

    /// Waits until a simulated device works; a real one may respond later.
    async fn ready(self) -> Result<(), String> {
        if self.is_simulated() && dragoman_time::timeout(START_TIMEOUT, self.measured).await.is_err() {
            return Err(format!("the simulated {} does not start", self.name));
        }
        Ok(())
    }
}

impl TurtlebotOptions {
    /// Rules for names besides the user's: with two robots each has its own transforms, and the world's sensor topics of
    /// the simulated one move to its namespace.
    pub(super) fn rules(&self, namespace: &str) -> Result<Vec<String>, Box<dyn Error>> {
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
        Ok(own.chain(sensed).collect())
    }
}

impl Part for Turtlebot {
    fn name(&self) -> &'static str {
        "turtlebot"
    }

    fn help(&self) -> &'static str {
        "The TurtleBot 2 with its arm, in the world"
    }

    /// If the real one drives, the robot in the world belongs to Apolo alone.
    fn robots_in_world(&self, options: &UpOptions) -> Option<Vec<DrivenRobot>> {
        let mode = options.turtlebot.mode;
        // With two robots the frame belongs to the real one.
        let odometry_frame = (mode == Mode::Sim).then(|| "odom".to_owned());
        let robot = DrivenRobot { name: ROBOT.to_owned(), odometry_frame };
        Some(if mode == Mode::Real { Vec::new() } else { vec![robot] })
    }

    /// Starts the nodes of the robots of the selected mode, and for two robots the relay.
    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let Some(world) = &lab.world else { return Ok(Started::default()) };
        let (process, options) = (lab.process, &lab.options.turtlebot);
        let root = lab.below("");
        let mut started = Started::default();
        let real = match options.mode {
            Mode::Sim => {
                let devices = start_simulated(process, &root, Connection::SimulatedUnlessPort, world)?;
                started.add(process, &root, devices)?;
                return Ok(started);
            }
            Mode::Real => root,
            Mode::Mixed => {
                let robots = [&options.real_namespace, SIM_NAMESPACE].map(|robot| below(&root, robot));
                let programs = options.programs_namespace.as_deref().unwrap_or_default();
                let namespaces = Namespaces::new(&below(&root, programs), &robots);
                let [real, simulated] = robots;
                process.supervisor.spawn(
                    below("", relay::NODE_NAME),
                    relay::start(&process.context, &Table::turtlebot()?, &namespaces)?,
                );
                let devices = start_simulated(process, &simulated, Connection::Simulated, world)?;
                started.add(process, &simulated, devices)?;
                real
            }
        };
        let port = || Connection::Port(String::new());
        let base = start_base(process, &real, port())?;
        let arm = start_arm(process, &real, port())?;
        let devices: Vec<Device> = base.into_iter().chain(arm).collect();
        if devices.is_empty() {
            let (robot, address) = (IN_ROS.to_owned(), IN_ROS.to_owned());
            started.rows.push(ConnectionRow { robot, protocol: "TurtleBot", address, namespace: real });
        } else {
            start_state(process, &real)?;
            started.add(process, &real, devices)?;
        }
        Ok(started)
    }
}

impl Started {
    /// Adds the devices of a robot that runs in this process.
    fn add(
        &mut self,
        process: &Process,
        namespace: &str,
        devices: Vec<Device>,
    ) -> Result<(), Box<dyn Error>> {
        for device in devices {
            process.claims.claim_name(&process.context, device.node, namespace)?;
            self.rows.push(ConnectionRow {
                robot: device.name.to_owned(),
                protocol: device.protocol,
                address: device.place.clone(),
                namespace: below(namespace, device.node),
            });
            self.ready.push(device.ready().boxed());
        }
        Ok(())
    }
}

fn start_simulated(
    process: &Process,
    namespace: &str,
    connection: fn(Simulate) -> Connection,
    world: &World,
) -> Result<Vec<Device>, Box<dyn Error>> {
    let timeline = world.live.timeline();
    let (kobuki, widowx) = (simulated::kobuki(timeline), simulated::widowx(timeline));
    let base = start_base(process, namespace, connection(simulated::line_to(&kobuki)))?;
    let arm = start_arm(process, namespace, connection(simulated::line_to(&widowx)))?;
    // A real device does not move the robot in the world.
    let is_simulated = |device: &Option<Device>| device.as_ref().is_some_and(Device::is_simulated);
    let in_world = Devices {
        kobuki: is_simulated(&base).then_some(kobuki),
        widowx: is_simulated(&arm).then_some(widowx),
    };
    let base_in_world = in_world.kobuki.clone();
    if let Err(error) = world.live.couple(ROBOT, in_world) {
        tracing::info!(%error, "simulated TurtleBot not placed in a world");
    }
    start_state(process, namespace)?;
    let simulation = SimulationSettings {
        robot_namespace: namespace.to_owned(),
        worlds: world.live.clone(),
        robot: ROBOT.to_owned(),
        base: base_in_world,
    };
    process.supervisor.spawn_node(simulation::start(&process.context, simulation)?);
    Ok(base.into_iter().chain(arm).collect())
}

/// Starts the node of a robot's base; `None` without a port.
fn start_base(
    process: &Process,
    namespace: &str,
    connection: Connection,
) -> Result<Option<Device>, BaseNodeError> {
    let BaseNode { node, place, measured, stop } =
        match start_kobuki(&process.context, namespace, connection, Role::Part { joint_states: BASE_JOINTS })
        {
            Err(BaseNodeError::NoPort) => return Ok(None),
            started => started?,
        };
    process.supervisor.on_stop(stop);
    process.supervisor.spawn_node(node);
    let (name, protocol, node) = ("kobuki", "Kobuki's serial protocol", node::NODE_NAME);
    Ok(Some(Device { name, protocol, node, place, measured }))
}

/// Starts the node of a robot's arm; `None` without a port.
fn start_arm(
    process: &Process,
    namespace: &str,
    connection: Connection,
) -> Result<Option<Device>, DynamixelNodeError> {
    let DynamixelNode { node, place, measured, stop } =
        match dynamixel::start(&process.context, namespace, connection, ARM_JOINTS) {
            Err(DynamixelNodeError::NoPort(_)) => return Ok(None),
            started => started?,
        };
    process.supervisor.on_stop(stop);
    process.supervisor.spawn_node(node);
    let (name, protocol, node) = ("widowx", "Dynamixel protocol 1.0", dynamixel::NODE_NAME);
    Ok(Some(Device { name, protocol, node, place, measured }))
}

/// Starts the node that publishes the transforms of its links.
fn start_state(process: &Process, namespace: &str) -> Result<(), Box<dyn Error>> {
    let settings = StateSettings {
        node_name: state::NODE_NAME.to_owned(),
        namespace: namespace.to_owned(),
        urdf: URDF.to_owned(),
        sources: vec![BASE_JOINTS.to_owned(), ARM_JOINTS.to_owned()],
        frame_prefix: String::new(),
    };
    let context = process.context.clone();
    let start = move || state::start(&context, &settings);
    process.supervisor.spawn_restartable_node(start()?, start);
    Ok(())
}
