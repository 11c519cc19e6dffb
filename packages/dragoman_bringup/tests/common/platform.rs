//! The lab's platform and its operator: `dragoman up` in another process, and a ROS node.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use dragoman_ros::WrappedServiceTypeSupport;
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{GetLocationMRobot, PlatformGetStatus, PlatformSetMode};
use dragoman_ros::std_srvs::srv::Trigger;

use super::beside::Beside;
use super::{Lab, domain};

/// Timeout of a motion through the lab, on a loaded machine.
pub const JOURNEY: Duration = Duration::from_secs(150);

/// On a loaded machine the base pauses for a while.
pub const LONG_TIMEOUT: &str = "platform:base_timeout:=20.0";

pub struct Operator {
    pub lab: Lab,
    pub folder: PathBuf,
    pub beside: Beside,
}

impl Operator {
    pub fn new(test: &str) -> Self {
        Self::with(test, &[])
    }

    /// With arguments for ROS.
    pub fn with(test: &str, more: &[&str]) -> Self {
        let folder = std::env::temp_dir().join(format!("dragoman_platform_{test}_{}", std::process::id()));
        let data = format!("platform:data_folder:={}", folder.display());
        let lab = Lab::start_with(
            domain(),
            &["up"],
            &[&["-p", "arm31:port:=0", "-p", &data, "-p", LONG_TIMEOUT], more].concat(),
        );
        assert!(lab.banner.iter().any(|row| row.starts_with("neobotix ")), "{:?}", lab.banner);
        let beside = Beside::new(lab.domain);
        let mut operator = Self { lab, folder, beside };
        // Data of the base must have been received.
        operator.until("connect_to_pltf", |operator| operator.order("connect_to_pltf").is_ok());
        operator
    }

    #[track_caller]
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + JOURNEY;
        while !holds(self) {
            assert!(Instant::now() < end, "{what}: {:?}", self.status());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    pub fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        self.beside.call::<S>(&format!("/neobotix/{name}"), request)
    }

    #[track_caller]
    pub fn order(&mut self, name: &str) -> Result<(), String> {
        let answer = self.call::<Trigger::Service>(name, Trigger::Request::default());
        if answer.success { Ok(()) } else { Err(answer.message) }
    }

    #[track_caller]
    pub fn set_mode(&mut self, mode: u8) -> Result<(), String> {
        let answer = self.call::<PlatformSetMode::Service>("set_mode", PlatformSetMode::Request { mode });
        if answer.success { Ok(()) } else { Err(answer.message) }
    }

    /// From the start of the lab into a motion mode, started, at a known pose.
    #[track_caller]
    pub fn begin(&mut self, mode: u8) {
        self.order("init_pltf").unwrap();
        self.set_mode(mode).unwrap();
        self.order("start").unwrap();
        self.until("the platform knows where it is", |operator| !operator.status().localization_lost);
    }

    pub fn status(&mut self) -> PlatformStatus {
        let answer = self.call::<PlatformGetStatus::Service>("get_status", Default::default());
        assert!(answer.success);
        answer.status
    }

    #[track_caller]
    pub fn is(&mut self, operation: u32) {
        assert_eq!(u32::from(self.status().operation_state), operation);
    }

    /// True pose of the platform: x, y, heading.
    pub fn truth(&mut self) -> [f64; 3] {
        let request =
            GetLocationMRobot::Request { robot: "neobotix_platform".to_owned(), ..Default::default() };
        let answer = self.beside.call::<GetLocationMRobot::Service>("/apolo/get_location_m_robot", request);
        assert!(answer.success, "{}", answer.message);
        [answer.position.x, answer.position.y, answer.yaw]
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
