//! Prepares a platform that obeys commands only in the matching motion mode (PlatformCtrl guide, chapter 4).

use std::time::Duration;

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{dragoman_msgs, std_srvs};

use super::driver::{Service, qualified_name, service_outcome};

/// Period of the attempts to prepare the platform.
const PERIOD: Duration = Duration::from_millis(100);
/// Time limit of the preparation.
const LIMIT: Duration = Duration::from_secs(5);

/// A motion mode.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// It obeys velocities.
    Velocity = 3,
    /// It obeys goals.
    Automatic = 4,
}

/// The platform's services that set a mode.
pub(super) struct Platform {
    connect: Service<std_srvs::srv::Trigger::Service>,
    initialize: Service<std_srvs::srv::Trigger::Service>,
    set_mode: Service<dragoman_msgs::srv::PlatformSetMode::Service>,
    start: Service<std_srvs::srv::Trigger::Service>,
    stop: Service<std_srvs::srv::Trigger::Service>,
}

impl Platform {
    pub(super) fn new(tasks: &mut NodeTasks, namespace: &str) -> dragoman_ros::Result<Self> {
        let name = |name: &str| qualified_name(namespace, name);
        Ok(Self {
            connect: Service::new(tasks, &name("connect_to_pltf"))?,
            initialize: Service::new(tasks, &name("init_pltf"))?,
            set_mode: Service::new(tasks, &name("set_mode"))?,
            start: Service::new(tasks, &name("start"))?,
            stop: Service::new(tasks, &name("stop"))?,
        })
    }

    /// Makes the platform ready for commands of this mode. This ends a motion in another mode.
    ///
    /// # Errors
    /// The platform refuses, or does not answer in time.
    pub(super) async fn prepare(&self, mode: Mode) -> Result<(), String> {
        let end = dragoman_time::now() + LIMIT;
        loop {
            let mut prepared = self.enter(mode).await;
            if prepared.is_err() {
                // What has happened before is refused.
                let _ = self.connect.trigger().await;
                let _ = self.initialize.trigger().await;
                prepared = self.enter(mode).await;
            }
            if prepared.is_err() {
                let _ = self.stop.trigger().await;
                prepared = self.enter(mode).await;
            }
            match prepared {
                Ok(()) => return Ok(()),
                Err(reason) if dragoman_time::now() > end => return Err(reason),
                Err(_early) => dragoman_time::sleep(PERIOD).await,
            }
        }
    }

    async fn enter(&self, mode: Mode) -> Result<(), String> {
        let request = dragoman_msgs::srv::PlatformSetMode::Request { mode: mode as u8 };
        self.set_mode.ask(request, |response| service_outcome(response.success, response.message)).await?;
        self.start.trigger().await.map(|_acknowledged| ())
    }
}
