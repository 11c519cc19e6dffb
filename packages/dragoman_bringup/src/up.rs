//! `dragoman up`: the simulated lab in one process.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dragoman_ros::Context;
use tokio::task::JoinSet;

use crate::{apolo, arm, log_node, platform, robot, turtlebot};

#[derive(Args)]
pub(crate) struct UpOptions {
    /// Address on which the legacy protocols are served; 0.0.0.0 is every interface.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// The arm in the lab: ranger_mk1, ranger_mk2, platform_arm, or a file (README of dragoman_kinematics).
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    robot: String,
    /// The worlds that the TurtleBot's and Apolo's programs see: lab, laboratory, corridor, or a file (README of dragoman_sim); lab unless told
    /// otherwise.
    #[arg(long, value_name = "WORLD", conflicts_with = "bridge_only")]
    world: Option<PathBuf>,
    /// Serve the legacy protocols only, for an arm, a world and a platform that are in ROS already.
    #[arg(long, conflicts_with = "mode")]
    bridge_only: bool,
    #[command(flatten)]
    turtlebot: turtlebot::TurtlebotOptions,
}

impl UpOptions {
    /// What ROS is to be told besides the user's arguments.
    pub(crate) fn ros_arguments(&self) -> Result<Vec<String>, Box<dyn Error>> {
        self.turtlebot.ros_arguments()
    }
}

/// Namespace of the arm.
const ARM_NAMESPACE: &str = "/ranger";

/// How long the simulated robots may take to tell their first pose; until then the bridge cannot answer.
const START_PATIENCE: Duration = Duration::from_secs(5);

/// How long drives on a bus are waited for before it is told that they are not there.
const DRIVE_PATIENCE: Duration = Duration::from_millis(500);

/// What is served: a line of the table at the start.
struct Served {
    robot: String,
    protocol: &'static str,
    address: String,
    namespace: String,
}

/// Runs the lab until `stop` resolves.
pub(crate) async fn run(
    context: &Context,
    options: &UpOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    let mut nodes = JoinSet::new();
    nodes.spawn(log_node(context)?);

    let (robot, mut arm) = if options.bridge_only {
        ("(in ROS)".to_owned(), None)
    } else {
        let robot = robot::load(&options.robot)?;
        (robot.model.name().to_owned(), Some(arm::start(context, ARM_NAMESPACE, robot, &mut nodes)?))
    };
    let bridge = dragoman_bridge::arm31::node::start_server(context, ARM_NAMESPACE, options.bind)
        .map_err(|error| with_advice(error, "--bind ADDRESS or --ros-args -p arm31:port:=PORT"))?;
    nodes.spawn(bridge.node);

    let world = (!options.bridge_only).then_some(&options.world);
    let apolo = apolo::start(context, options.bind, world, options.turtlebot.driven(), &mut nodes)?;

    let is_lab = options.world.as_ref().is_none_or(|world| world.as_os_str() == "lab");
    let has_platform = match &apolo.live {
        Some(worlds) => platform::start_simulated(context, worlds, is_lab, &mut nodes)?,
        // It is another node's.
        None => true,
    };
    let platform = if has_platform {
        platform::serve(context, platform::NAMESPACE, options.bind, &mut nodes)?
    } else {
        Vec::new()
    };
    let turtlebot = match apolo.live {
        Some(worlds) => Some(turtlebot::start(context, &options.turtlebot, worlds, &mut nodes)?),
        None => None,
    };

    let mut rows = vec![
        Served {
            robot,
            protocol: "31-byte arm protocol, UDP",
            address: bridge.address.to_string(),
            namespace: ARM_NAMESPACE.to_owned(),
        },
        Served {
            robot: if options.bridge_only { "(in ROS)".to_owned() } else { apolo.worlds.join(", ") },
            protocol: "Apolo's protocol, TCP",
            address: apolo.address.to_string(),
            namespace: apolo::NAMESPACE.to_owned(),
        },
    ];
    rows.extend(platform.into_iter().map(|address| Served {
        robot: if options.bridge_only { "(in ROS)".to_owned() } else { "neobotix".to_owned() },
        protocol: "PlatformCtrl's protocol, TCP",
        address: address.to_string(),
        namespace: platform::NAMESPACE.to_owned(),
    }));
    let (robots, elsewhere) =
        turtlebot.map_or_else(Default::default, |turtlebot| (turtlebot.robots, turtlebot.elsewhere));
    for robot in &robots {
        let namespace = robot.namespace.trim_end_matches('/');
        rows.extend(robot.devices.iter().map(|device| Served {
            robot: device.name.to_owned(),
            protocol: device.protocol,
            address: device.place.clone(),
            namespace: format!("{namespace}/{}", device.node),
        }));
    }
    if let Some(namespace) = elsewhere {
        let robot = "(in ROS)".to_owned();
        rows.push(Served { robot, protocol: "TurtleBot", address: "(in ROS)".to_owned(), namespace });
    }
    print_table(&rows);
    let mut stops = Vec::new();
    for device in robots.into_iter().flat_map(|robot| robot.devices) {
        if device.is_simulated() && tokio::time::timeout(START_PATIENCE, device.measured).await.is_err() {
            return Err(format!("the simulated {} does not start", device.name).into());
        }
        stops.push(device.stop);
    }
    match &mut arm {
        Some(arm) if arm.is_simulated => {
            let served = async { tokio::join!(bridge.measured, &mut arm.drives_on) };
            if tokio::time::timeout(START_PATIENCE, served).await.is_err() {
                return Err("the simulated arm does not start".into());
            }
        }
        // Drives on a bus come when they come.
        Some(arm) => println!("drives: {}", arm.start_up(DRIVE_PATIENCE).await),
        None => {}
    }
    println!("ready");
    stop.await;
    println!("stopping");
    futures::future::join_all(stops).await;
    nodes.shutdown().await;
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
