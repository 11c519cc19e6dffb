//! The platform of the lab, and PlatformCtrl's protocol in front of it.

use std::error::Error;

use dragoman_kinematics::node::state::{self, StateSettings};
use dragoman_platform::node::{
    NamedDocument, PlatformParameters, SenseParameters, Setup, start as start_node,
};
use dragoman_ros::process::Process;
use dragoman_world::node::DrivenRobot;
use dragoman_world::node::hardware::{self, HardwareSettings};

use super::UpOptions;
use super::part::{ConnectionRow, IN_ROS, Lab, Part, Started};
use super::world::World;
use crate::commands::platform;

pub(super) struct Neobotix;

/// Namespace of the platform.
const NAMESPACE: &str = "/neobotix";
/// Node of its robot_description; the name differs from the TurtleBot's, whose transforms are remapped when there are
/// two.
const STATE_NODE: &str = "platform_state";
/// Its description, compiled in, so that the program needs no files.
const URDF: &str = include_str!("../../../../../urdf/neobotix.urdf");
/// Its name in the world.
const ROBOT: &str = "neobotix_platform";
/// Pose of its laser on it, m and rad (launch/config/worlds/lab.yaml).
const LASER: [f64; 3] = [0.4, 0.0, 0.0];

impl Part for Neobotix {
    fn name(&self) -> &'static str {
        "neobotix"
    }

    fn help(&self) -> &'static str {
        "The platform with PlatformCtrl's protocol, in the world"
    }

    fn robots_in_world(&self, _options: &UpOptions) -> Option<Vec<DrivenRobot>> {
        Some(Vec::new())
    }

    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let namespace = lab.below(NAMESPACE);
        let robot = match &lab.world {
            Some(world) if start_simulated(lab.process, &namespace, world)? => "neobotix",
            // Without a simulated platform the name is another node's.
            Some(_) => return Ok(Started::default()),
            None => IN_ROS,
        };
        let addresses = platform::serve(lab.process, &namespace, lab.options.bind)?;
        let rows = addresses.into_iter().map(|address| ConnectionRow {
            robot: robot.to_owned(),
            protocol: "PlatformCtrl's protocol, TCP",
            address: address.to_string(),
            namespace: namespace.clone(),
        });
        Ok(Started { rows: rows.collect(), ..Started::default() })
    }
}

/// Starts the platform, if the world contains it; returns whether it does.
fn start_simulated(process: &Process, namespace: &str, world: &World) -> Result<bool, Box<dyn Error>> {
    let Ok((_, pose)) = world.live.pose(ROBOT) else {
        return Ok(false);
    };
    let (context, supervisor) = (&process.context, &process.supervisor);
    process.claims.claim_namespace(context, "platform", namespace)?;
    let topic = |name: &str| format!("{}/{ROBOT}/{name}", world.namespace);
    let document = |name: &str, text: &str| {
        world.is_lab.then(|| NamedDocument { name: name.to_owned(), text: text.to_owned() })
    };
    let frame_prefix = format!("{}/", NAMESPACE.trim_matches('/'));
    let hardware = HardwareSettings {
        namespace: namespace.to_owned(),
        worlds: world.live.clone(),
        robot: ROBOT.to_owned(),
        frame_prefix: frame_prefix.clone(),
    };
    supervisor.spawn_node(hardware::start(context, hardware)?);
    let ultrasonics = hardware::ultrasonic_topics(&world.live, ROBOT)?;
    let own = |name: &str| Some(format!("{namespace}/{name}"));
    let parameters = PlatformParameters {
        base_battery: own("battery_state"),
        ultrasonic_topics: ultrasonics.into_iter().map(|topic| format!("{namespace}/{topic}")).collect(),
        base_cmd_vel: topic("cmd_vel"),
        base_odom: topic("odom"),
        base_scan: Some(topic("scan")),
        // The world publishes the true pose of the robot; the platform publishes its estimate.
        frame_prefix: frame_prefix.clone(),
        senses: SenseParameters {
            imu_topic: own("imu"),
            reflectors_topic: own("reflectors"),
            docked_topic: own("docked"),
            charging_stations_topic: own("charging_stations"),
            ..SenseParameters::default()
        },
        // The world starts again at every start, with the robot at the pose of its file.
        keep_pose: false,
        initial_pose: vec![
            round(pose.translation.x),
            round(pose.translation.y),
            round(pose.rotation.euler_angles().2),
        ],
        laser_pose: LASER.to_vec(),
        ..PlatformParameters::default()
    };
    let setup = Setup {
        parameters,
        map: document("lab", include_str!("../../../../../launch/config/neobotix/map.xml")),
        roadmap: document("lab", include_str!("../../../../../launch/config/neobotix/roadmap.xml")),
        program: document("round", include_str!("../../../../../launch/config/neobotix/program.xml")),
    };
    supervisor.spawn_node(start_node(context, namespace, &setup)?);
    // No node publishes its wheel angles.
    let described = StateSettings {
        node_name: STATE_NODE.to_owned(),
        namespace: namespace.to_owned(),
        urdf: URDF.to_owned(),
        sources: Vec::new(),
        frame_prefix,
    };
    let context = context.clone();
    let start = move || state::start(&context, &described);
    supervisor.spawn_restartable_node(start()?, start);
    Ok(true)
}

/// Rounds to six decimals, to hide rounding errors of the world file.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
