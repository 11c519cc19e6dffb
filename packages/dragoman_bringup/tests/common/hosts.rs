//! Two hosts, as network namespaces joined by a cable. Needs root and iproute2.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Two hosts with the addresses 10.77.0.1 and 10.77.0.2.
pub struct Hosts {
    pub names: [String; 2],
    /// The two ends of the cable.
    pub cables: [String; 2],
    /// One of the hosts runs a lab.
    lab: Option<Child>,
}

pub fn ip(arguments: &str) -> Result<(), String> {
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
        let hosts = Self { names, cables, lab: None };
        for name in &hosts.names {
            ip(&format!("netns add {name}"))?;
        }
        ip(&format!("link add {} type veth peer name {}", hosts.cables[0], hosts.cables[1]))?;
        let multicast = if multicast { "on" } else { "off" };
        for (host, (name, cable)) in hosts.names.iter().zip(&hosts.cables).enumerate() {
            ip(&format!("link set {cable} netns {name}"))?;
            ip(&format!("-n {name} addr add 10.77.0.{}/24 dev {cable}", host + 1))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link set {cable} up multicast {multicast}"))?;
        }
        Ok(hosts)
    }

    pub fn command(&self, host: usize, program: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host]]).args(program);
        for variable in
            ["ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"]
        {
            command.env_remove(variable);
        }
        command
    }

    /// Starts a program on the first host that runs until the end.
    pub fn start_lab(&mut self, arguments: &[&str]) {
        let mut command = self.command(0, &[env!("CARGO_BIN_EXE_dragoman"), "up", "--log", "warn"]);
        self.lab = Some(command.args(arguments).stdout(Stdio::null()).spawn().unwrap());
        std::thread::sleep(Duration::from_secs(2));
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

/// The hosts; none where they cannot be had, which is told.
pub fn hosts(test: &str, multicast: bool) -> Option<Hosts> {
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
