//! Hosts, as network namespaces on one switch. Needs root and iproute2.

use std::fs::File;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sched::{CloneFlags, setns};

use super::until;

/// Hosts with the addresses 10.77.0.1 and so on, each with a cable to the switch.
pub struct Hosts {
    names: Vec<String>,
    switch: String,
    programs: Vec<Child>,
}

/// Runs `ip`; returns what it prints.
pub fn ip(arguments: &str) -> Result<String, String> {
    let output =
        Command::new("ip").args(arguments.split_whitespace()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

impl Hosts {
    fn new(test: &str, count: usize, multicast: bool) -> Result<Self, String> {
        let id = std::process::id() % 100_000;
        let name = |what: &str| format!("dragoman_{test}_{id}_{what}");
        let names = (1..=count).map(|host| name(&host.to_string())).collect();
        let hosts = Self { names, switch: name("switch"), programs: Vec::new() };
        for name in hosts.names.iter().chain([&hosts.switch]) {
            ip(&format!("netns add {name}"))?;
        }
        let switch = &hosts.switch;
        ip(&format!("-n {switch} link add switch type bridge mcast_snooping 0"))?;
        ip(&format!("-n {switch} link set switch up"))?;
        let multicast = if multicast { "on" } else { "off" };
        for (host, name) in (1..).zip(&hosts.names) {
            ip(&format!("-n {switch} link add cable{host} type veth peer name cable netns {name}"))?;
            ip(&format!("-n {switch} link set cable{host} master switch up"))?;
            ip(&format!("-n {name} addr add 10.77.0.{host}/24 dev cable"))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link set cable up multicast {multicast}"))?;
            // On a busy machine the link is up a moment later. A program that starts before sees a cable without a
            // link.
            let link = format!("-n {name} link show cable");
            until("the link of a cable", || ip(&link).is_ok_and(|shown| shown.contains("state UP")));
        }
        Ok(hosts)
    }

    /// Unplugs the cable of a host, or plugs it in again.
    pub fn cable(&self, host: usize, state: &str) {
        ip(&format!("-n {} link set cable{host} {state}", self.switch)).unwrap();
    }

    /// Runs a function on a host, in a new thread.
    pub fn on<T: Send>(&self, host: usize, act: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.name(host))).unwrap();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
                act()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    pub fn name(&self, host: usize) -> &str {
        &self.names[host - 1]
    }

    pub fn command(&self, host: usize, program: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(host)]).args(program);
        for variable in
            ["ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"]
        {
            command.env_remove(variable);
        }
        command
    }

    /// Starts `dragoman` on a host; returns its index among the programs.
    pub fn start(&mut self, host: usize, arguments: &[&str]) -> usize {
        self.start_with(host, arguments, &[])
    }

    /// As [`start`](Self::start), with environment variables.
    pub fn start_with(&mut self, host: usize, arguments: &[&str], variables: &[(&str, &str)]) -> usize {
        let mut command = self.command(host, &[env!("CARGO_BIN_EXE_dragoman")]);
        // Arguments after --ros-args belong to ROS.
        command.arg(arguments[0]).args(["--log", "warn"]).args(&arguments[1..]);
        command.envs(variables.iter().copied());
        self.programs.push(command.stdout(Stdio::null()).spawn().unwrap());
        self.programs.len() - 1
    }

    /// Ends a program as a power failure does. `ip netns exec` has become the program itself.
    pub fn kill(&mut self, program: usize) {
        self.programs[program].kill().unwrap();
        self.programs[program].wait().unwrap();
    }

    /// Starts a lab on host 1.
    pub fn start_lab(&mut self, arguments: &[&str]) {
        self.start(1, &[&["up"], arguments].concat());
        std::thread::sleep(Duration::from_secs(2));
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for program in 0..self.programs.len() {
            let _ = self.programs[program].kill();
            let _ = self.programs[program].wait();
        }
        for name in self.names.iter().chain([&self.switch]) {
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

/// The hosts; `None`, with a message, if they cannot be created.
pub fn hosts(test: &str, count: usize, multicast: bool) -> Option<Hosts> {
    match Hosts::new(test, count, multicast) {
        Ok(hosts) => Some(hosts),
        Err(why) if std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_some() => panic!("{why}"),
        Err(why) => {
            // Written past the capture of the test's output.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
            None
        }
    }
}
