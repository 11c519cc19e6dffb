//! `dragoman neobotix` against a PlatformCtrl written here byte by byte from the tables of the PlatformCtrl guide,
//! chapter 6, and a ROS node in its domain.

#![cfg(target_os = "linux")]

mod faults;
mod picture;
mod platform_ctrl;
mod services;

use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::{Lab, domain};
use dragoman_ros::WrappedServiceTypeSupport;
use platform_ctrl::PlatformCtrl;

/// Timeout on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(40);

struct Operator {
    platform: PlatformCtrl,
    lab: Lab,
    beside: Beside,
}

impl Operator {
    fn new(ros_arguments: &[&str]) -> Self {
        let platform = PlatformCtrl::start();
        let server = platform.address.to_string();
        let lab = Lab::start_with(domain(), &["neobotix", "--server", &server], ros_arguments);
        let beside = Beside::new(lab.domain);
        Self { platform, lab, beside }
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
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < end, "{what} does not happen");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
