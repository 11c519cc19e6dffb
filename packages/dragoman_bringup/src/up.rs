//! `dragoman up`: the simulated lab in one process.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dragoman_ros::Context;

use crate::claims::Claims;
use crate::supervisor::Supervisor;
use crate::{apolo, arm, below, platform, robot, turtlebot};
use dragoman_tools::relay::Table;

#[derive(Args)]
pub(crate) struct UpOptions {
    /// Address for the legacy protocols; 0.0.0.0 is every interface.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// The arm in the lab: ranger_mk1, ranger_mk2, platform_arm, or a file (docs/own-robot.md).
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
    #[arg(long, value_enum, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<Part>,
    /// Namespace above all names of the lab, including its transforms.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    namespace: String,
    #[command(flatten)]
    turtlebot: turtlebot::TurtlebotOptions,
}

/// Parts that can be started separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The arm with its 31-byte protocol.
    Ranger,
    /// The world with Apolo's protocol.
    Apolo,
    /// The platform, in the world.
    Neobotix,
    /// The TurtleBot 2 with its arm, in the world.
    Turtlebot,
}

impl UpOptions {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// ROS arguments besides the user's.
    pub(crate) fn ros_arguments(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let root = below(&self.namespace, "");
        let mut arguments = self.turtlebot.ros_arguments(&root)?;
        if root != "/" {
            // Absolute names, and the nodes outside namespaces.
            let sensors = Table::turtlebot()?.topics.into_iter().filter(|topic| topic.on_demand);
            let more = ["tf", "tf_static", "camera/depth/camera_info", "camera/rgb/camera_info"];
            let names = sensors.map(|topic| topic.name).chain(more.map(str::to_owned));
            let rules = names.map(|name| format!("/{name}:={}", below(&root, &name)));
            let nodes = ["dragoman", "simulation", "relay", "relay_on_demand"];
            let nodes = nodes.map(|node| format!("{node}:__ns:={root}"));
            arguments.extend(rules.chain(nodes).flat_map(|rule| ["-r".to_owned(), rule]));
        }
        Ok(arguments)
    }
}

/// Namespace of the arm.
const ARM_NAMESPACE: &str = "/ranger";

/// Timeout of the first pose of the simulated robots; until then the bridge cannot answer.
const START_PATIENCE: Duration = Duration::from_secs(5);

/// Time after which drives on a bus that have not responded are reported.
const DRIVE_PATIENCE: Duration = Duration::from_millis(500);

/// Location of a part whose nodes run in another process, in the table at the start.
const IN_ROS: &str = "(in ROS)";

/// A line of the table at the start.
struct Served {
    robot: String,
    protocol: &'static str,
    address: String,
    namespace: String,
}

/// Starts the lab.
pub(crate) async fn start(
    context: &Context,
    options: &UpOptions,
    supervisor: &Supervisor,
    claims: &Claims,
) -> Result<(), Box<dyn Error>> {
    let [arm_namespace, world_namespace, platform_namespace] =
        [ARM_NAMESPACE, apolo::NAMESPACE, platform::NAMESPACE].map(|name| below(&options.namespace, name));
    let mut rows = Vec::new();
    let mut bridge_measured = None;
    let mut arm = None;
    if options.wants(Part::Ranger) {
        let mut name = IN_ROS.to_owned();
        if !options.bridge_only {
            let robot = robot::load(&options.robot)?;
            robot.model.name().clone_into(&mut name);
            claims.claim_namespace(context, "arm", &arm_namespace)?;
            arm = Some(arm::start(context, &arm_namespace, robot, supervisor)?);
        }
        let bridge = dragoman_bridge::arm31::node::start_server(context, &arm_namespace, options.bind)
            .map_err(|error| with_advice(error, "--bind ADDRESS or --ros-args -p arm31:port:=PORT"))?;
        let (again, namespace, bind) = (context.clone(), arm_namespace.clone(), options.bind);
        supervisor.spawn_restartable(below(&arm_namespace, "arm31"), bridge.node, move || {
            dragoman_bridge::arm31::node::start_server(&again, &namespace, bind).map(|bridge| bridge.node)
        });
        bridge_measured = Some(bridge.measured);
        rows.push(Served {
            robot: name,
            protocol: "31-byte arm protocol, UDP",
            address: bridge.address.to_string(),
            namespace: arm_namespace,
        });
    }

    let mut worlds = None;
    if options.wants(Part::Apolo) {
        let address = apolo::serve(context, &world_namespace, options.bind, supervisor)?;
        rows.push(Served {
            robot: IN_ROS.to_owned(),
            protocol: "Apolo's protocol, TCP",
            address: address.to_string(),
            namespace: world_namespace.clone(),
        });
    }
    let in_world = [Part::Apolo, Part::Neobotix, Part::Turtlebot];
    if !options.bridge_only && in_world.into_iter().any(|part| options.wants(part)) {
        let driven = if options.wants(Part::Turtlebot) { options.turtlebot.driven() } else { Vec::new() };
        let world =
            apolo::start_world(context, &world_namespace, options.world.as_deref(), driven, supervisor)?;
        if let Some(row) = rows.iter_mut().find(|row| row.namespace == world_namespace) {
            row.robot = world.worlds.join(", ");
        }
        if options.wants(Part::Apolo) {
            claims.claim_namespace(context, "world", &world_namespace)?;
        }
        worlds = Some(world.live);
    }
    let is_lab = options.world.as_ref().is_none_or(|world| world.as_os_str() == "lab");
    let has_platform = match &worlds {
        Some(worlds) if options.wants(Part::Neobotix) => platform::start_simulated(
            context,
            &platform_namespace,
            &world_namespace,
            worlds,
            is_lab,
            supervisor,
        )?,
        _ => false,
    };
    if has_platform {
        claims.claim_namespace(context, "platform", &platform_namespace)?;
    }
    // Without a simulated platform the name is another node's.
    if has_platform || (options.bridge_only && options.wants(Part::Neobotix)) {
        let robot = if has_platform { "neobotix" } else { IN_ROS };
        let addresses = platform::serve(context, &platform_namespace, options.bind, supervisor)?;
        rows.extend(addresses.into_iter().map(|address| Served {
            robot: robot.to_owned(),
            protocol: "PlatformCtrl's protocol, TCP",
            address: address.to_string(),
            namespace: platform_namespace.clone(),
        }));
    }
    let turtlebot = match worlds {
        Some(worlds) if options.wants(Part::Turtlebot) => Some(turtlebot::start(
            context,
            &below(&options.namespace, ""),
            &options.turtlebot,
            worlds,
            supervisor,
        )?),
        _ => None,
    };
    let (robots, elsewhere) =
        turtlebot.map_or_else(Default::default, |turtlebot| (turtlebot.robots, turtlebot.elsewhere));
    for robot in &robots {
        for device in &robot.devices {
            claims.claim_name(context, device.node, &robot.namespace)?;
        }
        let namespace = robot.namespace.trim_end_matches('/');
        rows.extend(robot.devices.iter().map(|device| Served {
            robot: device.name.to_owned(),
            protocol: device.protocol,
            address: device.place.clone(),
            namespace: format!("{namespace}/{}", device.node),
        }));
    }
    if let Some(namespace) = elsewhere {
        let robot = IN_ROS.to_owned();
        rows.push(Served { robot, protocol: "TurtleBot", address: IN_ROS.to_owned(), namespace });
    }
    print_table(&rows);
    for device in robots.into_iter().flat_map(|robot| robot.devices) {
        if device.is_simulated() && tokio::time::timeout(START_PATIENCE, device.measured).await.is_err() {
            return Err(format!("the simulated {} does not start", device.name).into());
        }
    }
    match &mut arm {
        Some(arm) if arm.is_simulated => {
            let measured = async {
                if let Some(measured) = bridge_measured {
                    let _ = measured.await;
                }
            };
            let served = async { tokio::join!(measured, &mut arm.drives_on) };
            if tokio::time::timeout(START_PATIENCE, served).await.is_err() {
                return Err("the simulated arm does not start".into());
            }
        }
        // Drives on a bus may respond later.
        Some(arm) => println!("drives: {}", arm.start_up(DRIVE_PATIENCE).await),
        None => {}
    }
    Ok(())
}

fn with_advice(error: dragoman_bridge::arm31::node::Arm31NodeError, options: &str) -> Box<dyn Error> {
    use dragoman_bridge::arm31::node::Arm31NodeError;
    match error {
        Arm31NodeError::Bind { .. } => {
            format!("{error}; choose another address or port with {options}").into()
        }
        other => other.into(),
    }
}

fn print_table(rows: &[Served]) {
    let line = |robot: &str, protocol: &str, address: &str, namespace: &str| {
        println!("{robot:<14} {protocol:<28} {address:<22} {namespace}");
    };
    line("ROBOT", "PROTOCOL", "ADDRESS", "ROS NAMESPACE");
    for row in rows {
        line(&row.robot, row.protocol, &row.address, &row.namespace);
    }
}
