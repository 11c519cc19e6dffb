//! `dragoman player` against a Player server, and a ROS node in its domain.

#![cfg(target_os = "linux")]

mod chain;
mod faults;
mod picture;
mod real;
mod requests;
mod server;

use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::{Lab, domain};
use dragoman_ros::WrappedServiceTypeSupport;
use server::PlayerServer;

/// Timeout on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(40);

struct Operator {
    server: PlayerServer,
    _lab: Lab,
    beside: Beside,
}

impl Operator {
    fn new(arguments: &[&str], ros_arguments: &[&str]) -> Self {
        let server = PlayerServer::start();
        let address = server.address.to_string();
        let arguments = [&["player", "--server", &address], arguments].concat();
        let lab = Lab::start_with(domain(), &arguments, ros_arguments);
        let beside = Beside::new(lab.domain);
        Self { server, _lab: lab, beside }
    }

    #[track_caller]
    fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        self.beside.call::<S>(&format!("/player/{name}"), request)
    }

    #[track_caller]
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < end, "{what} does not happen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
