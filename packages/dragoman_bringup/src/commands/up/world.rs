//! The world of the lab, with the robots and sensors in it.

use std::error::Error;
use std::path::Path;

use dragoman_ros::process::Process;
use dragoman_world::node::{self, DrivenRobot, Live};

use super::{UpOptions, apolo, below};

/// The running world.
pub(super) struct World {
    pub(super) namespace: String,
    /// Names of the worlds in it.
    pub(super) names: Vec<String>,
    /// Access to its robots.
    pub(super) live: Live,
    /// Whether it is the documented one.
    pub(super) is_lab: bool,
}

impl World {
    /// Starts the world of `--world`. `planners` are arms that plan round its bodies, `driven` robots with their own drivers.
    pub(super) fn start(
        process: &Process,
        options: &UpOptions,
        planners: &[String],
        driven: Vec<DrivenRobot>,
    ) -> Result<Self, Box<dyn Error>> {
        let namespace = below(&options.namespace, apolo::NAMESPACE);
        let file = options.world.as_deref().map_or(Some(""), Path::to_str);
        let file = file.ok_or("--world: the path is not valid UTF-8")?;
        let world = node::start(&process.context, &namespace, file, planners, driven)?;
        process.supervisor.spawn_node(world.node);
        Ok(Self { namespace, names: world.worlds, live: world.live, is_lab: matches!(file, "" | "lab") })
    }
}
