//! Two hosts, as network namespaces joined by a cable: who finds whom, by multicast and by `ROS_STATIC_PEERS`.
//!
//! Needs root and iproute2; elsewhere the tests say that they were skipped, and with `DRAGOMAN_REQUIRE_PEERS` they fail.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Two hosts with the addresses 10.77.0.1 and 10.77.0.2.
struct Hosts {
    names: [String; 2],
    /// One of the hosts runs a lab.
    lab: Option<Child>,
}

fn ip(arguments: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(arguments.split_whitespace()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

impl Hosts {
    fn new(test: &str, multicast: bool) -> Result<Self, String> {
        let id = std::process::id() % 10_000;
        let names = [0, 1].map(|host| format!("dragoman_{test}_{id}_{host}"));
        let cables = [0, 1].map(|host| format!("dr{}{id}{host}", &test[..2]));
        let hosts = Self { names, lab: None };
        for name in &hosts.names {
            ip(&format!("netns add {name}"))?;
        }
        ip(&format!("link add {} type veth peer name {}", cables[0], cables[1]))?;
        let multicast = if multicast { "on" } else { "off" };
        for (host, (name, cable)) in hosts.names.iter().zip(&cables).enumerate() {
            ip(&format!("link set {cable} netns {name}"))?;
            ip(&format!("-n {name} addr add 10.77.0.{}/24 dev {cable}", host + 1))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link set {cable} up multicast {multicast}"))?;
        }
        Ok(hosts)
    }

    fn command(&self, host: usize, program: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host]]).args(program);
        for variable in
            ["ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"]
        {
            command.env_remove(variable);
        }
        command
    }

    fn start_lab(&mut self) {
        let mut command = self.command(0, &[env!("CARGO_BIN_EXE_dragoman"), "up", "--log", "warn"]);
        self.lab = Some(command.stdout(Stdio::null()).spawn().unwrap());
        std::thread::sleep(Duration::from_secs(2));
    }

    /// What the other host records in some seconds of everything below `/ranger`.
    fn record(&self, variables: &[(&str, &str)]) -> Output {
        let file = std::env::temp_dir().join(format!("{}.mcap", self.names[1]));
        let _ = std::fs::remove_file(&file);
        let file = file.display().to_string();
        let program =
            ["timeout", "-s", "INT", "8", env!("CARGO_BIN_EXE_dragoman"), "record", "-o", &file, "ranger/"];
        let output = self.command(1, &program).envs(variables.iter().copied()).output().unwrap();
        let _ = std::fs::remove_file(&file);
        output
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if let Some(mut lab) = self.lab.take() {
            // `ip netns exec` becomes the program itself.
            let _ = lab.kill();
            let _ = lab.wait();
        }
        for name in &self.names {
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

/// The number of recorded joint states.
fn joint_states(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with("/ranger/joint_states"));
    line.and_then(|line| line.split_whitespace().last()?.parse().ok()).unwrap_or(0)
}

fn hosts(test: &str, multicast: bool) -> Option<Hosts> {
    match Hosts::new(test, multicast) {
        Ok(hosts) => Some(hosts),
        Err(why) if std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_some() => panic!("{why}"),
        Err(why) => {
            // Past the capture of the test's output.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
            None
        }
    }
}

#[test]
fn hosts_of_a_subnet_find_each_other_unless_told_otherwise() {
    let Some(mut hosts) = hosts("subnet", true) else { return };
    hosts.start_lab();
    let found = hosts.record(&[]);
    assert!(joint_states(&found) > 200, "{found:?}");
    let alone = hosts.record(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]);
    assert_eq!(joint_states(&alone), 0, "{alone:?}");
    let other_domain = hosts.record(&[("ROS_DOMAIN_ID", "3")]);
    assert_eq!(joint_states(&other_domain), 0, "{other_domain:?}");
}

#[test]
fn a_static_peer_is_found_without_multicast() {
    let Some(mut hosts) = hosts("peers", false) else { return };
    hosts.start_lab();
    assert_eq!(joint_states(&hosts.record(&[])), 0, "nothing tells one host of the other");
    let found = hosts.record(&[("ROS_STATIC_PEERS", "10.77.0.1")]);
    assert!(joint_states(&found) > 200, "{found:?}");
}
