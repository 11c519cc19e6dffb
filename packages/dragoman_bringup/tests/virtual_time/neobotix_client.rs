//! `dragoman neobotix` against a PlatformCtrl written here byte by byte from the tables of the PlatformCtrl guide,
//! chapter 6, and a ROS node in its domain.

mod faults;
mod picture;
mod platform_ctrl;
mod services;

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Lab, Simulated};
use crate::host::{now, sleep};
use dragoman_ros::WrappedServiceTypeSupport;
use platform_ctrl::PlatformCtrl;

/// Timeout of what happens at the next polls, or after a connection is lost.
const TIME_LIMIT: Duration = Duration::from_secs(40);

struct Operator {
    platform: PlatformCtrl,
    beside: Beside,
    lab: Lab,
}

impl Operator {
    fn new(ros_arguments: &[&str]) -> Self {
        let _simulated = Simulated::new();
        let platform = PlatformCtrl::start();
        let server = platform.address.to_string();
        let lab = Lab::start_with(0, &["neobotix", "--server", &server], ros_arguments);
        let beside = Beside::new(lab.domain);
        Self { platform, beside, lab }
    }

    #[track_caller]
    fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        self.beside.call::<S>(&format!("/neobotix/{name}"), request)
    }

    #[track_caller]
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = now() + TIME_LIMIT;
        while !holds(self) {
            assert!(now() < end, "{what} does not happen");
            sleep(Duration::from_millis(50));
        }
    }
}
