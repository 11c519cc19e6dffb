//! `dragoman platform`: a mobile platform in front of any base that is in ROS. Also the platform of the lab. Both have
//! the ports for old programs.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use dragoman_bridge::neobotix::node::{NeobotixNodeError, start_server};
use dragoman_geometry::Pose;
use dragoman_kinematics::node::state::{self, StateSettings};
use dragoman_platform::node::{NODE_NAME, NamedDocument, Setup, start as start_node};
use dragoman_ros::Context;
use dragoman_world::node::Live;
use dragoman_world::node::hardware::{self, HardwareSettings};

use crate::below;
use crate::supervisor::Supervisor;

#[derive(Args)]
pub(crate) struct PlatformOptions {
    /// Namespace in which the platform appears.
    #[arg(long, value_name = "NAMESPACE", default_value = NAMESPACE)]
    namespace: String,
    /// Topic for velocities to the base; the parameters of the node take precedence over this option and those below.
    #[arg(long, value_name = "TOPIC", default_value = "/cmd_vel")]
    cmd_vel: String,
    /// Topic of the base's odometry.
    #[arg(long, value_name = "TOPIC", default_value = "/odom")]
    odom: String,
    /// Topic of the laser's scans.
    #[arg(long, value_name = "TOPIC", default_value = "/scan")]
    scan: String,
    /// Address for PlatformCtrl's protocol; 0.0.0.0 is every interface.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Parameter file to load at the start, or a folder of files with the guide's names (Interpolation.ini and so on).
    #[arg(long, value_name = "PATH", default_value = "")]
    ini: String,
}

/// Namespace of the platform.
pub(crate) const NAMESPACE: &str = "/neobotix";
/// Node of its robot_description; the name differs from the TurtleBot's, whose transforms are remapped when there are
/// two.
const STATE_NODE: &str = "platform_state";
/// Its description, compiled in, so that the program needs no files.
const URDF: &str = include_str!("../../../urdf/neobotix.urdf");
/// Its name in the world.
const ROBOT: &str = "neobotix_platform";
/// Pose of its laser on it (launch/config/worlds/lab.yaml).
const LASER: Pose = Pose { x: 0.4, y: 0.0, heading: 0.0 };

/// Starts a platform.
pub(crate) fn start(
    context: &Context,
    options: &PlatformOptions,
    supervisor: &Supervisor,
) -> Result<(), Box<dyn Error>> {
    let namespace = format!("/{}", options.namespace.trim_matches('/'));
    let setup = Setup {
        base_cmd_vel: options.cmd_vel.clone(),
        base_odom: options.odom.clone(),
        base_scan: options.scan.clone(),
        parameters_file: options.ini.clone(),
        ..Setup::default()
    };
    supervisor.spawn(below(&namespace, NODE_NAME), start_node(context, &namespace, &setup)?);
    let addresses = serve(context, &namespace, options.bind, supervisor)?;
    println!(
        "platform with the base at {} appears as {}/{NODE_NAME}",
        options.odom,
        namespace.trim_end_matches('/')
    );
    for address in addresses {
        println!("PlatformCtrl's protocol, TCP: {address}");
    }
    Ok(())
}

/// Serves PlatformCtrl's protocol in front of the platform in `namespace`; returns the addresses.
pub(crate) fn serve(
    context: &Context,
    namespace: &str,
    bind: IpAddr,
    supervisor: &Supervisor,
) -> Result<Vec<SocketAddr>, Box<dyn Error>> {
    let server = start_server(context, namespace, bind).map_err(with_advice)?;
    let (context, again) = (context.clone(), namespace.to_owned());
    supervisor.spawn_restartable(below(namespace, "neobotix"), server.node, move || {
        start_server(&context, &again, bind).map(|server| server.node)
    });
    Ok(server.addresses)
}

fn with_advice(error: NeobotixNodeError) -> Box<dyn Error> {
    match error {
        NeobotixNodeError::Bind { .. } => format!(
            "{error}; choose another address or ports with --bind ADDRESS or --ros-args -p neobotix:ports:=[PORT,PORT]"
        )
        .into(),
        other => other.into(),
    }
}

/// Starts the platform of the lab, if the world contains it; returns whether it does. `is_lab`: the world is the
/// documented one.
pub(crate) fn start_simulated(
    context: &Context,
    namespace: &str,
    world_namespace: &str,
    worlds: &Live,
    is_lab: bool,
    supervisor: &Supervisor,
) -> Result<bool, Box<dyn Error>> {
    let Ok((_, pose)) = worlds.pose(ROBOT) else {
        return Ok(false);
    };
    let topic = |name: &str| format!("{world_namespace}/{ROBOT}/{name}");
    let document = |name: &str, text: &str| {
        is_lab.then(|| NamedDocument { name: name.to_owned(), text: text.to_owned() })
    };
    let frame_prefix = format!("{}/", NAMESPACE.trim_matches('/'));
    let hardware = HardwareSettings {
        namespace: namespace.to_owned(),
        worlds: worlds.clone(),
        robot: ROBOT.to_owned(),
        frame_prefix: frame_prefix.clone(),
    };
    supervisor.spawn(below(namespace, hardware::NODE_NAME), hardware::start(context, hardware)?);
    let ultrasonics = hardware::ultrasonic_topics(worlds, ROBOT)?;
    let setup = Setup {
        base_battery: format!("{namespace}/battery_state"),
        ultrasonic_topics: ultrasonics.into_iter().map(|topic| format!("{namespace}/{topic}")).collect(),
        base_cmd_vel: topic("cmd_vel"),
        base_odom: topic("odom"),
        base_scan: topic("scan"),
        // The world publishes the true pose of the robot; the platform publishes its estimate.
        frame_prefix: frame_prefix.clone(),
        initial_pose: Pose::new(
            round(pose.translation.x),
            round(pose.translation.y),
            round(pose.rotation.euler_angles().2),
        ),
        laser_pose: LASER,
        parameters_file: String::new(),
        map: document("lab", include_str!("../../../launch/config/neobotix/map.xml")),
        roadmap: document("lab", include_str!("../../../launch/config/neobotix/roadmap.xml")),
        program: document("round", include_str!("../../../launch/config/neobotix/program.xml")),
    };
    supervisor.spawn(below(namespace, NODE_NAME), start_node(context, namespace, &setup)?);
    // No node publishes its wheel angles.
    let described = StateSettings {
        node_name: STATE_NODE.to_owned(),
        namespace: namespace.to_owned(),
        urdf: URDF.to_owned(),
        sources: Vec::new(),
        frame_prefix,
    };
    let (context, again) = (context.clone(), described.clone());
    supervisor.spawn_restartable(
        below(namespace, STATE_NODE),
        state::start(&context, &described)?,
        move || state::start(&context, &again),
    );
    Ok(true)
}

/// Rounds to six decimals, to hide rounding errors of the world file.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
