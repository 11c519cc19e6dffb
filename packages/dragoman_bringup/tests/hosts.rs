//! Two hosts, as network namespaces joined by a cable: who finds whom, by multicast and by `ROS_STATIC_PEERS`.
//!
//! Needs root and iproute2; elsewhere the tests say that they were skipped, and with `DRAGOMAN_REQUIRE_PEERS` they fail.

mod common;

use std::process::Output;

use common::hosts::{Hosts, hosts};

/// What the other host records in some seconds of everything below `/ranger`.
fn record(hosts: &Hosts, variables: &[(&str, &str)]) -> Output {
    let file = std::env::temp_dir().join(format!("{}.mcap", hosts.names[1]));
    let _ = std::fs::remove_file(&file);
    let file = file.display().to_string();
    let program =
        ["timeout", "-s", "INT", "8", env!("CARGO_BIN_EXE_dragoman"), "record", "-o", &file, "ranger/"];
    let output = hosts.command(1, &program).envs(variables.iter().copied()).output().unwrap();
    let _ = std::fs::remove_file(&file);
    output
}

/// The number of recorded joint states.
fn joint_states(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with("/ranger/joint_states"));
    line.and_then(|line| line.split_whitespace().last()?.parse().ok()).unwrap_or(0)
}

#[test]
fn hosts_of_a_subnet_find_each_other_unless_told_otherwise() {
    let Some(mut hosts) = hosts("subnet", true) else { return };
    hosts.start_lab(&[]);
    let found = record(&hosts, &[]);
    assert!(joint_states(&found) > 200, "{found:?}");
    let alone = record(&hosts, &[("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]);
    assert_eq!(joint_states(&alone), 0, "{alone:?}");
    let other_domain = record(&hosts, &[("ROS_DOMAIN_ID", "3")]);
    assert_eq!(joint_states(&other_domain), 0, "{other_domain:?}");
}

#[test]
fn a_static_peer_is_found_without_multicast() {
    let Some(mut hosts) = hosts("peers", false) else { return };
    hosts.start_lab(&[]);
    assert_eq!(joint_states(&record(&hosts, &[])), 0, "nothing tells one host of the other");
    let found = record(&hosts, &[("ROS_STATIC_PEERS", "10.77.0.1")]);
    assert!(joint_states(&found) > 200, "{found:?}");
}
