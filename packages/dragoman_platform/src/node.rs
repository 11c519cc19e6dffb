//! The node of a platform: with its parts, the only file of this package that knows ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | start-up |
//! | [`parameters`] | the parameters, and what they mean to the controller |
//! | `state` | all that the node knows, and the controller's cycle |
//! | `base`, `laser`, `ultrasonics` | the base in front of which it works: odometry, sensors, battery, emergency stop, joystick in; velocities out |
//! | `services` | states, modes, motions, hardware: a service for each command |
//! | `documents` | map, roadmap and program: set, given, loaded, saved |
//! | `special`, `outlets` | speech, sounds, head, camera |
//! | `can` | CAN messages, from a bus or from topics |
//! | `recorder` | recording and replay |
//! | `actions` | `navigate_to_pose` and `follow_path` |
//! | `nav2` | the same two of a Nav2 that drives in place of the controller |
//! | `picture` | pictures of the camera as files |
//! | `program` | what a program looks at, and what it does beside moving |
//! | `report` | `/diagnostics` |

mod actions;
mod base;
mod can;
mod documents;
mod laser;
mod nav2;
mod outlets;
pub mod parameters;
mod picture;
mod program;
mod recorder;
mod report;
mod services;
mod special;
mod state;
mod status;
mod topics;
mod ultrasonics;

use std::path::PathBuf;
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_ros::parameters as ros_parameters;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node};
use futures::channel::mpsc;

pub use documents::NamedDocument;
use documents::{DocumentFileError, Kind};
use state::Shared;

/// Name of the node.
pub const NODE_NAME: &str = "platform";
/// How often `/diagnostics` is published.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// Defaults of parameters that depend on where the platform is.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Default of parameter `base_cmd_vel`.
    pub base_cmd_vel: String,
    /// Default of parameter `base_odom`.
    pub base_odom: String,
    /// Default of parameter `base_scan`.
    pub base_scan: String,
    /// Default of parameter `base_battery`.
    pub base_battery: String,
    /// Default of parameter `ultrasonic_topics`.
    pub ultrasonic_topics: Vec<String>,
    /// Default of parameter `frame_prefix`.
    pub frame_prefix: String,
    /// Default of parameter `initial_pose`.
    pub initial_pose: Pose,
    /// Default of parameter `laser_pose`.
    pub laser_pose: Pose,
    /// Default of parameter `parameters_file`.
    pub parameters_file: String,
    /// The map unless parameter `map_file` names one.
    pub map: Option<NamedDocument>,
    /// The roadmap unless parameter `roadmap_file` names one.
    pub roadmap: Option<NamedDocument>,
    /// The program unless parameter `program_file` names one.
    pub program: Option<NamedDocument>,
}

impl Default for Setup {
    /// A base whose topics have their usual names, at the map's origin, without map.
    fn default() -> Self {
        Self {
            base_cmd_vel: "/cmd_vel".to_owned(),
            base_odom: "/odom".to_owned(),
            base_scan: "/scan".to_owned(),
            base_battery: String::new(),
            ultrasonic_topics: Vec::new(),
            frame_prefix: String::new(),
            initial_pose: Pose::ORIGIN,
            laser_pose: Pose::ORIGIN,
            parameters_file: String::new(),
            map: None,
            roadmap: None,
            program: None,
        }
    }
}

/// Why a platform's node cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlatformNodeError {
    /// A pose of another length.
    #[error("parameter {0} has three numbers: x and y in m, the direction in rad")]
    Pose(&'static str),
    /// More sensors than there are channels.
    #[error("parameter ultrasonic_topics has {0} topics; 16 at most")]
    Ultrasonics(usize),
    /// There is no such CAN interface.
    #[error("{0}")]
    CanInterface(String),
    /// A parameter file cannot be read.
    #[error("{}: {source}", path.display())]
    ParameterFile {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A line of a parameter file makes no sense.
    #[error("{}, {source}", path.display())]
    Ini {
        /// Which file.
        path: PathBuf,
        /// What is wrong, and where.
        source: dragoman_neobotix::parameters::IniError,
    },
    /// A folder has none of the files that the guide names.
    #[error("{}: none of the guide's parameter files is there, Interpolation.ini say", .0.display())]
    NoParameterFiles(PathBuf),
    /// The values do not fit the parameters' declarations.
    #[error("{0}")]
    Parameters(String),
    /// A setting makes no sense.
    #[error(transparent)]
    Settings(#[from] crate::settings::SettingsError),
    /// A document cannot be used.
    #[error(transparent)]
    Document(#[from] DocumentFileError),
    /// As any node's.
    #[error(transparent)]
    Node(NodeError),
}

impl<E> From<E> for PlatformNodeError
where
    NodeError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(NodeError::from(error))
    }
}

/// Starts node `platform` in `namespace`, `/neobotix` say. A base that is not there is waited for.
///
/// # Errors
/// A wrong parameter; a document that cannot be used; the middleware's refusal.
pub fn start(context: &Context, namespace: &str, setup: &Setup) -> Result<RunningNode, PlatformNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let (values, server) = ros_parameters::declare(tasks.node(), parameters::declarations(setup))?;
    tasks.spawn(server);
    match values.value::<String>("parameters_file").as_str() {
        "" => {}
        path => parameters::load(&values, path)?,
    }
    let (pictures, wanted) = mpsc::channel(picture::MOST_WANTED);
    let shared = Shared::new(tasks.node(), values.clone(), pictures)?;
    for (kind, parameter, default) in [
        (Kind::Map, "map_file", &setup.map),
        (Kind::Roadmap, "roadmap_file", &setup.roadmap),
        (Kind::Program, "program_file", &setup.program),
    ] {
        let file: String = values.value(parameter);
        match default {
            _ if !file.is_empty() => shared.with(|state| documents::load_file(state, kind, &file))?,
            Some(document) => shared.with(|state| documents::set(state, kind, document.clone()))?,
            None => {}
        }
    }
    tasks.spawn(parameters::follow(values.clone(), shared.clone()));
    base::serve(&mut tasks, &shared, &values, context)?;
    services::serve(&mut tasks, &shared)?;
    documents::serve(&mut tasks, &shared)?;
    special::serve(&mut tasks, &shared)?;
    can::serve(&mut tasks, &shared, &values.value::<String>("can_interface"))?;
    recorder::serve(&mut tasks, &shared)?;
    match values.value::<String>("nav2").as_str() {
        "" => actions::serve(&mut tasks, &shared)?,
        namespace => nav2::serve(&mut tasks, &shared, namespace)?,
    }
    picture::serve(&mut tasks, &shared, &values, context, wanted)?;
    topics::serve(&mut tasks, &shared, &values)?;
    let report = report::report(tasks.node(), &shared)?;
    tasks.every(REPORT_PERIOD, report)?;
    Ok(tasks.start()?)
}
