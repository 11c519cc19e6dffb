//! Apolo's world in the lab: its port as Apolo's clients use it, its services and topics as ROS nodes use them.

mod chain;
mod guidance;
mod manual;
mod pairs;
mod ros;

use crate::common::Lab;
use crate::common::apolo::ApoloClient;

impl Lab {
    fn apolo(&self) -> ApoloClient {
        ApoloClient::new(self.apolo)
    }
}

#[track_caller]
fn assert_near(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{got:?}");
    for (value, wanted) in got.iter().zip(expected) {
        assert!((value - wanted).abs() < 1e-9, "{got:?}, not {expected:?}");
    }
}
