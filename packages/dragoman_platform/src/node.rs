//! The node of a platform: together with its parts the only file of this package that knows ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | start-up |
//! | [`parameters`] | the parameters, and their conversion to the controller's settings |
//! | `state` | the node's state, and the controller's cycle |
//! | `base`, `laser`, `ultrasonics` | the base: odometry, sensors, battery, emergency stop, joystick in; velocities out |
//! | `history` | the poses of the last seconds |
//! | `senses` | further sensors and boards, detections, events for programs |
//! | `services` | states, modes, motions, hardware: a service for each command |
//! | `position2d` | Player's services: geometry, motor power, odometry |
//! | `documents` | map, roadmap and program: set, given, loaded, saved |
//! | `startup` | what is remembered over a restart: the pose, the names of saved documents |
//! | `files` | files, and other time-consuming work |
//! | `special`, `outlets` | speech, sounds, head, camera |
//! | `wheels` | the angles of the wheels |
//! | `can` | CAN messages, from a bus or from topics |
//! | `recorder` | recording and replay |
//! | `actions` | `navigate_to_pose` and `follow_path` |
//! | `nav2` | the same two actions of a Nav2 that drives instead of the controller |
//! | `picture` | the camera's pictures as files |
//! | `program` | a program's conditions, and its effects besides motion |
//! | `report` | `/diagnostics` |

mod actions;
mod base;
mod can;
mod documents;
mod files;
mod history;
mod laser;
mod nav2;
mod outlets;
pub mod parameters;
mod picture;
mod position2d;
mod program;
mod recorder;
mod report;
mod senses;
mod services;
mod special;
mod startup;
mod state;
mod status;
mod topics;
mod ultrasonics;
mod wheels;

use std::path::PathBuf;
use std::time::Duration;

use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node};
use futures::channel::mpsc;

use documents::DocumentFileError;
pub use documents::NamedDocument;
pub use parameters::PlatformParameters;
pub use senses::SenseParameters;
use state::Shared;

/// Name of the node, without its namespace.
pub const NODE_NAME: &str = "platform";
/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// Defaults that depend on the platform's environment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Setup {
    /// Defaults of the parameters.
    pub parameters: PlatformParameters,
    /// Default map, if parameter `map_file` is empty.
    pub map: Option<NamedDocument>,
    /// Default roadmap, if parameter `roadmap_file` is empty.
    pub roadmap: Option<NamedDocument>,
    /// Default program, if parameter `program_file` is empty.
    pub program: Option<NamedDocument>,
}

/// Error starting a platform's node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlatformNodeError {
    /// A parameter with a pose does not have three numbers.
    #[error("parameter {0} has three numbers: x and y in m, the direction in rad")]
    Pose(&'static str),
    /// More ultrasonic sensors than channels.
    #[error("parameter ultrasonic_topics has {0} topics; the maximum is 16")]
    Ultrasonics(usize),
    /// Error opening the CAN interface.
    #[error("{0}")]
    CanInterface(String),
    /// Reading a parameter file failed.
    #[error("{}: {source}", path.display())]
    ParameterFile {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line of a parameter file is invalid.
    #[error("{}, {source}", path.display())]
    Ini {
        /// Path of the file.
        path: PathBuf,
        /// Line and cause.
        source: dragoman_neobotix::parameters::IniError,
    },
    /// A folder contains none of the parameter files of the PlatformCtrl guide.
    #[error("{}: the folder has none of the parameter files of the guide, e.g. Interpolation.ini", .0.display())]
    NoParameterFiles(PathBuf),
    /// The values do not fit the parameters' declarations.
    #[error("{0}")]
    Parameters(String),
    /// A setting is invalid.
    #[error(transparent)]
    Settings(#[from] crate::settings::SettingsError),
    /// A document is invalid.
    #[error(transparent)]
    Document(#[from] DocumentFileError),
    /// Error of the ROS node.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(PlatformNodeError);

/// Starts node `platform` in `namespace`, e.g. `/neobotix`. The base may start later.
///
/// # Errors
/// A wrong parameter; an invalid document; an error of the middleware.
pub fn start(context: &Context, namespace: &str, setup: &Setup) -> Result<RunningNode, PlatformNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let parameters = tasks.declare(setup.parameters.clone())?;
    let kept = match &parameters.read().parameters_file {
        None => parameters::Kept::new(),
        Some(path) => parameters::load(&parameters, path)?,
    };
    let values = parameters.read();
    let (grabs, wanted) = mpsc::channel(picture::MAX_WANTED);
    let (loads, documents) = mpsc::channel(documents::MAX_LOADS);
    let shared = Shared::new(tasks.node(), parameters.clone(), grabs, loads)?;
    shared.with(|state| state.kept = kept);
    shared.with(|state| {
        startup::restore_pose(state, setup);
        startup::load_documents(state, setup)
    })?;
    if values.keep_pose {
        tasks.spawn(startup::keep_pose(shared.clone()));
    }
    tasks.spawn(parameters::follow(parameters, shared.clone()));
    base::serve(&mut tasks, &shared, &values, context)?;
    senses::serve(&mut tasks, &shared, &values.senses)?;
    services::serve(&mut tasks, &shared)?;
    position2d::serve(&mut tasks, &shared)?;
    documents::serve(&mut tasks, &shared)?;
    tasks.spawn(documents::load_wanted(shared.clone(), documents));
    special::serve(&mut tasks, &shared)?;
    can::serve(&mut tasks, &shared, &values.can_interface)?;
    recorder::serve(&mut tasks, &shared)?;
    match &values.nav2 {
        None => actions::serve(&mut tasks, &shared)?,
        Some(namespace) => nav2::serve(&mut tasks, &shared, namespace)?,
    }
    picture::serve(&mut tasks, &shared, &values.image_topic, context, wanted)?;
    topics::serve(&mut tasks, &shared, &values)?;
    let report = report::report(tasks.node(), &shared)?;
    tasks.every(REPORT_PERIOD, report)?;
    Ok(tasks.start()?)
}
