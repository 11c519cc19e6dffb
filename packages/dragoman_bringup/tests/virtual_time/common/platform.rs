//! The lab's platform, and its operator in ROS.

use std::path::PathBuf;
use std::time::Duration;

use dragoman_ros::WrappedServiceTypeSupport;
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{GetLocationMRobot, PlatformGetStatus, PlatformSetMode};
use dragoman_ros::std_srvs::srv::Trigger;

use super::beside::Beside;
use super::{Folder, Lab, sleep};

/// The platform and its world.
pub(crate) const PARTS: &str = "apolo,neobotix";

/// Time after which a motion through the lab has failed. The longest one, a slow turn, takes 24 s.
const JOURNEY: Duration = Duration::from_secs(30);

pub(crate) struct Operator {
    // Before the lab: it is dropped in the simulation.
    pub(crate) beside: Beside,
    pub(crate) lab: Lab,
    /// The platform's data folder.
    pub(crate) folder: PathBuf,
    pub(crate) files: Folder,
}

impl Operator {
    pub(crate) fn new() -> Self {
        Self::with(PARTS, &[])
    }

    /// With arguments for ROS.
    pub(crate) fn with_arguments(more: &[&str]) -> Self {
        Self::with(PARTS, more)
    }

    /// With these parts of the lab, and arguments for ROS.
    pub(crate) fn with(parts: &str, more: &[&str]) -> Self {
        let files = Folder::new();
        Self::in_folder(files, parts, more)
    }

    /// With the data folder of an earlier run.
    pub(crate) fn in_folder(files: Folder, parts: &str, more: &[&str]) -> Self {
        let folder = files.0.clone();
        let data = format!("platform:data_folder:={}", folder.display());
        let lab = Lab::start_with(0, &["up", "--only", parts], &[&["-p", &data], more].concat());
        assert!(lab.banner.iter().any(|row| row.starts_with("neobotix ")), "{:?}", lab.banner);
        let beside = Beside::new(lab.domain);
        let mut operator = Self { beside, lab, folder, files };
        // Data of the base must have been received.
        assert!(operator.order("connect_to_pltf").is_err());
        operator.until("connect_to_pltf", |operator| operator.order("connect_to_pltf").is_ok());
        operator
    }

    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, holds: impl FnMut(&mut Self) -> bool) {
        self.within(JOURNEY, what, holds);
    }

    /// Returns after which time the condition holds. It is checked every 50 ms.
    #[track_caller]
    pub(crate) fn within(
        &mut self,
        limit: Duration,
        what: &str,
        mut holds: impl FnMut(&mut Self) -> bool,
    ) -> Duration {
        let start = dragoman_time::now();
        while !holds(self) {
            assert!(dragoman_time::since(start) < limit, "{what}: {:?}", self.status());
            sleep(Duration::from_millis(50));
        }
        dragoman_time::since(start)
    }

    #[track_caller]
    pub(crate) fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        self.beside.call::<S>(&format!("/neobotix/{name}"), request)
    }

    #[track_caller]
    pub(crate) fn order(&mut self, name: &str) -> Result<(), String> {
        let answer = self.call::<Trigger::Service>(name, Trigger::Request::default());
        if answer.success { Ok(()) } else { Err(answer.message) }
    }

    #[track_caller]
    pub(crate) fn set_mode(&mut self, mode: u8) -> Result<(), String> {
        let answer = self.call::<PlatformSetMode::Service>("set_mode", PlatformSetMode::Request { mode });
        if answer.success { Ok(()) } else { Err(answer.message) }
    }

    /// From the start of the lab into a motion mode, started, at a known pose.
    #[track_caller]
    pub(crate) fn begin(&mut self, mode: u8) {
        self.order("init_pltf").unwrap();
        self.set_mode(mode).unwrap();
        self.order("start").unwrap();
        self.until("the platform knows where it is", |operator| !operator.status().localization_lost);
    }

    pub(crate) fn status(&mut self) -> PlatformStatus {
        let answer = self.call::<PlatformGetStatus::Service>("get_status", Default::default());
        assert!(answer.success);
        answer.status
    }

    #[track_caller]
    pub(crate) fn is(&mut self, operation: u32) {
        assert_eq!(u32::from(self.status().operation_state), operation);
    }

    /// True pose of the platform: x, y, heading.
    pub(crate) fn truth(&mut self) -> [f64; 3] {
        let request =
            GetLocationMRobot::Request { robot: "neobotix_platform".to_owned(), ..Default::default() };
        let answer = self.beside.call::<GetLocationMRobot::Service>("/apolo/get_location_m_robot", request);
        assert!(answer.success, "{}", answer.message);
        [answer.position.x, answer.position.y, answer.yaw]
    }
}
