//! Apolo's world in the lab, what needs processes: a robot that is there and moves, a port of the system that is taken,
//! `dragoman world import`, and Octave. How long answers take: `benches/figures`.

mod import;
mod octave;

use std::process::Command;

use crate::common::apolo::{ApoloClient, TRUE, request};
use crate::common::{Lab, domain};

impl Lab {
    fn apolo(&self) -> ApoloClient {
        ApoloClient::new(self.apolo)
    }
}

#[test]
fn a_robot_is_there_and_moves() {
    let lab = Lab::start();
    let mut client = lab.apolo();
    assert_eq!(client.ask(&request(b'p', "", &["Neo"], &[0.0, 3.0, 0.0, 0.0])), TRUE);
    for _ in 0..100 {
        assert_eq!(client.ask(&request(b'm', "", &["Neo"], &[0.1, 0.0, 0.01])), TRUE);
        client.send(&request(b'U', "", &[], &[]));
    }
    let location = client.values(b'g', "Neo");
    assert!((location[0] - 0.1).abs() < 0.02, "{location:?}");
    assert_eq!(client.values(b'o', "Neo").len(), 3);
}

#[test]
fn a_taken_port_is_named_with_the_option_that_changes_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["--domain", &domain().to_string(), "--ros-args", "-p", "arm31:port:=0"])
        .args(["-p", &format!("apolo:port:={port}")])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains(&port.to_string()) && error.contains("--bind") && error.contains("apolo:port"),
        "{error}"
    );
}
