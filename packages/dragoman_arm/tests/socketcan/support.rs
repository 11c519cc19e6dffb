//! Interfaces and programs for tests.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_io::can::{Bus, Frame, Received, SendError, SocketCanBus};

/// Long after a test has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Whether there is CAN here at all; otherwise says that the test is skipped.
pub(crate) fn available(test: &str) -> bool {
    let kind = std::fs::read_to_string("/sys/class/net/vcan0/type").unwrap_or_default();
    let available = kind.trim() == "280";
    if !available {
        skip(test, "there is no interface vcan0; .ci/can-runner brings one");
    }
    available
}

/// Says that a test is skipped, in a test that passes too.
///
/// # Panics
/// Where that is not accepted.
pub(crate) fn skip(test: &str, reason: &str) {
    assert!(std::env::var_os("DRAGOMAN_REQUIRE_CAN").is_none(), "{test}: {reason}");
    report_skipped(test, reason);
}

/// Says that a test is skipped, in one piece, where nobody can demand it.
pub(crate) fn report_skipped(test: &str, reason: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED: {test}: {reason}\n").as_bytes());
}

/// While it lives, no other test that has it runs: those that take most of an emulated machine.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names the test in which it stands.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        let name = std::any::type_name_of_val(&here).trim_end_matches("::here");
        name.rsplit("::").next().unwrap_or(name)
    }};
}

/// A virtual interface of a test's own; goes with it.
pub(crate) struct Vcan {
    pub(crate) name: &'static str,
}

impl Vcan {
    /// Makes the interface, up. `None`, and a word about it, where there is no CAN or no right to make any.
    pub(crate) fn new(test: &str, name: &'static str) -> Option<Self> {
        if !available(test) {
            return None;
        }
        if let Err(reason) = try_ip(&["link", "add", "dev", name, "type", "vcan"]) {
            skip(test, &format!("cannot make an interface: {reason}"));
            return None;
        }
        let vcan = Self { name };
        vcan.up();
        Some(vcan)
    }

    pub(crate) fn bus(&self) -> SocketCanBus {
        SocketCanBus::open(self.name, &[]).unwrap()
    }

    pub(crate) fn up(&self) {
        ip(&["link", "set", "up", "dev", self.name]);
    }

    pub(crate) fn down(&self) {
        ip(&["link", "set", "down", "dev", self.name]);
    }

    pub(crate) fn delete(&self) {
        ip(&["link", "delete", "dev", self.name]);
    }

    /// Makes it again, down.
    pub(crate) fn make(&self) {
        ip(&["link", "add", "dev", self.name, "type", "vcan"]);
    }

    /// Lets no more than this through, as a bus of this bit rate; 125 frames may wait.
    pub(crate) fn limit(&self, rate: &str) {
        self.queue(&["add", "dev", self.name, "root", "tbf", "rate", rate, "burst", "64", "limit", "2000"]);
    }

    /// Lets next to nothing through; 4 frames may wait.
    pub(crate) fn block(&self) {
        self.queue(&["add", "dev", self.name, "root", "tbf", "rate", "8bit", "burst", "64", "limit", "64"]);
    }

    /// Lets everything through again.
    pub(crate) fn unblock(&self) {
        self.queue(&["delete", "dev", self.name, "root"]);
    }

    fn queue(&self, arguments: &[&str]) {
        let output = Command::new("tc").arg("qdisc").args(arguments).output().unwrap();
        assert!(output.status.success(), "tc: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Vcan {
    fn drop(&mut self) {
        let _ = try_ip(&["link", "delete", "dev", self.name]);
    }
}

/// Runs `ip`, which must succeed.
pub(crate) fn ip(arguments: &[&str]) {
    try_ip(arguments).unwrap_or_else(|reason| panic!("ip {arguments:?}: {reason}"));
}

fn try_ip(arguments: &[&str]) -> Result<(), String> {
    let Output { status, stderr, .. } =
        Command::new("ip").args(arguments).output().map_err(|error| format!("no ip: {error}"))?;
    if status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&stderr).trim().to_owned()) }
}

/// A program of can-utils. `None`, and a word about it, where it is not installed.
pub(crate) fn can_utils(test: &str, program: &str) -> Option<Command> {
    let installed = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| Path::exists(&folder.join(program)));
    if !installed {
        skip(test, &format!("{program} of can-utils is not installed"));
        return None;
    }
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    Some(command)
}

/// The program `dragoman`. `None`, and a word about it, where nobody says where it is.
pub(crate) fn dragoman(test: &str) -> Option<Command> {
    let Some(program) = std::env::var_os("DRAGOMAN_PROGRAM") else {
        skip(test, "DRAGOMAN_PROGRAM does not name the program dragoman");
        return None;
    };
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).env_remove("RUST_LOG");
    Some(command)
}

/// Sends what can-utils write so.
pub(crate) fn cansend(interface: &str, frame: &str) {
    let status = Command::new("cansend").args([interface, frame]).status().unwrap();
    assert!(status.success(), "cansend {interface} {frame}");
}

/// A frame as can-utils write it.
pub(crate) fn frame(text: &str) -> Frame {
    text.parse().unwrap()
}

/// What arrives next, within [`PATIENCE`].
pub(crate) fn next(bus: &mut SocketCanBus) -> Received {
    let began = Instant::now();
    loop {
        if let Some(received) = bus.receive() {
            return received;
        }
        assert!(began.elapsed() < PATIENCE, "nothing arrives");
        bus.wait(PATIENCE);
    }
}

/// Sends a frame as soon as there is room, and tells how often there was none.
pub(crate) fn send_patiently(bus: &mut SocketCanBus, frame: &Frame) -> usize {
    let began = Instant::now();
    let mut full = 0;
    loop {
        match bus.send(frame) {
            Ok(()) => return full,
            Err(SendError::Full) => full += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(began.elapsed() < PATIENCE, "there is never room");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A virtual interface delivers on the processor that sent, and those do not wait for each other; a bus has one order.
/// So what this thread sends keeps its order, as long as it stays on one. `turn`: others are on others, as far as there
/// are any.
pub(crate) fn stay_on_a_processor(turn: usize) {
    let this = nix::unistd::Pid::from_raw(0);
    let allowed = nix::sched::sched_getaffinity(this).unwrap();
    let numbers: Vec<usize> =
        (0..nix::sched::CpuSet::count()).filter(|number| allowed.is_set(*number).unwrap()).collect();
    let mut one = nix::sched::CpuSet::new();
    one.set(numbers[turn % numbers.len()]).unwrap();
    nix::sched::sched_setaffinity(this, &one).unwrap();
}
