//! A part of the lab.

use std::error::Error;
use std::time::Duration;

use dragoman_ros::naming::below;
use dragoman_ros::process::Process;
use dragoman_world::node::DrivenRobot;
use futures::future::BoxFuture;

use super::UpOptions;
use super::world::World;

/// A robot or protocol of the lab.
pub(super) trait Part: Sync {
    /// Its name for `--only`.
    fn name(&self) -> &'static str;

    /// Its description in `--help`.
    fn help(&self) -> &'static str;

    /// The robots in the world that have drivers of this part; `None` if the part needs no world.
    fn robots_in_world(&self, _options: &UpOptions) -> Option<Vec<DrivenRobot>> {
        None
    }

    /// The arms in the world that plan round its bodies, as parameter `planners` of the world has them.
    fn planners(&self, _options: &UpOptions) -> Vec<String> {
        Vec::new()
    }

    /// Starts it: gives its nodes to the supervisor, with what stops its machines, and claims its namespaces.
    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>>;
}

/// The lab that a part is started in.
pub(super) struct Lab<'a> {
    pub(super) process: &'a Process,
    pub(super) options: &'a UpOptions,
    /// `None` if no part needs it, and with `--bridge-only`.
    pub(super) world: Option<World>,
}

impl Lab<'_> {
    /// A name of the lab.
    pub(super) fn below(&self, name: &str) -> String {
        below(&self.options.namespace, name)
    }
}

/// A started part.
#[derive(Default)]
pub(super) struct Started {
    /// Its lines of the table at the start.
    pub(super) rows: Vec<ConnectionRow>,
    /// Each resolves when a device works, or with the reason why the lab cannot start.
    pub(super) ready: Vec<BoxFuture<'static, Result<(), String>>>,
    /// Lines printed when the lab is ready.
    pub(super) last: Vec<String>,
}

/// A line of the table at the start.
pub(super) struct ConnectionRow {
    pub(super) robot: String,
    pub(super) protocol: &'static str,
    pub(super) address: String,
    pub(super) namespace: String,
}

/// Location of a robot whose nodes run in another process, in the table at the start.
pub(super) const IN_ROS: &str = "(in ROS)";

/// Timeout of the first measurement of a simulated device; until then bridges cannot answer.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(5);
