//! `dragoman player` against a Player server, and a ROS node in its domain.

mod chain;
mod faults;
mod picture;
mod requests;
mod server;

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Lab, Simulated};
use crate::host::{now, sleep};
use dragoman_ros::WrappedServiceTypeSupport;
use server::PlayerServer;

/// Timeout of what happens at the next data, or after a connection is lost.
const TIME_LIMIT: Duration = Duration::from_secs(40);

struct Operator {
    server: PlayerServer,
    beside: Beside,
    _lab: Lab,
}

impl Operator {
    fn new(arguments: &[&str], ros_arguments: &[&str]) -> Self {
        let _simulated = Simulated::new();
        let server = PlayerServer::start();
        let address = server.address.to_string();
        let arguments = [&["player", "--server", &address], arguments].concat();
        let lab = Lab::start_with(0, &arguments, ros_arguments);
        let beside = Beside::new(lab.domain);
        Self { server, beside, _lab: lab }
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
        let end = now() + TIME_LIMIT;
        while !holds(self) {
            assert!(now() < end, "{what} does not happen");
            sleep(Duration::from_millis(20));
        }
    }
}
