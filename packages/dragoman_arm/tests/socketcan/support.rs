//! Interfaces and programs for tests.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_io::can::{Bus, Frame, Received, SendError, SocketCanBus};

/// Timeout after which a test has failed.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Whether CAN is available; otherwise reports the test as skipped.
pub(crate) fn available(test: &str) -> bool {
    let kind = std::fs::read_to_string("/sys/class/net/vcan0/type").unwrap_or_default();
    let available = kind.trim() == "280";
    if !available {
        skip(test, "there is no interface vcan0; .ci/can-runner brings one");
    }
    available
}

/// Reports a test as skipped; it then passes.
///
/// # Panics
/// If skipping is not allowed.
pub(crate) fn skip(test: &str, reason: &str) {
    assert!(std::env::var_os("DRAGOMAN_REQUIRE_CAN").is_none(), "{test}: {reason}");
    report_skipped(test, reason);
}

/// Reports a test as skipped, in one write, whether or not skipping is allowed.
pub(crate) fn report_skipped(test: &str, reason: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED: {test}: {reason}\n").as_bytes());
}

/// A lock for tests that need most of an emulated machine: only one of them runs at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Name of the enclosing test.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        let name = std::any::type_name_of_val(&here).trim_end_matches("::here");
        name.rsplit("::").next().unwrap_or(name)
    }};
}

/// A virtual interface for one test; deleted when dropped.
pub(crate) struct Vcan {
    pub(crate) name: &'static str,
}

impl Vcan {
    /// Creates the interface, up. `None`, with a message, if CAN or the permission to create interfaces is missing.
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

    /// Creates it again, down.
    pub(crate) fn make(&self) {
        ip(&["link", "add", "dev", self.name, "type", "vcan"]);
    }

    /// Limits it to the throughput of a bus of this bit rate; 125 frames may wait.
    pub(crate) fn limit(&self, rate: &str) {
        self.queue(&["add", "dev", self.name, "root", "tbf", "rate", rate, "burst", "64", "limit", "2000"]);
    }

    /// Limits it to almost no throughput; 4 frames may wait.
    pub(crate) fn block(&self) {
        self.queue(&["add", "dev", self.name, "root", "tbf", "rate", "8bit", "burst", "64", "limit", "64"]);
    }

    /// Removes the limit.
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

/// A program of can-utils. `None`, with a message, if it is not installed.
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

/// The program `dragoman`. `None`, with a message, if its path is not set.
pub(crate) fn dragoman(test: &str) -> Option<Command> {
    let Some(program) = std::env::var_os("DRAGOMAN_PROGRAM") else {
        skip(test, "DRAGOMAN_PROGRAM does not name the program dragoman");
        return None;
    };
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).env_remove("RUST_LOG");
    Some(command)
}

/// Sends a frame given in can-utils' notation.
pub(crate) fn cansend(interface: &str, frame: &str) {
    let status = Command::new("cansend").args([interface, frame]).status().unwrap();
    assert!(status.success(), "cansend {interface} {frame}");
}

/// Parses a frame in can-utils' notation.
pub(crate) fn frame(text: &str) -> Frame {
    text.parse().unwrap()
}

/// The next frame or fault, within [`TIMEOUT`].
pub(crate) fn next(bus: &mut SocketCanBus) -> Received {
    let began = Instant::now();
    loop {
        if let Some(received) = bus.receive() {
            return received;
        }
        assert!(began.elapsed() < TIMEOUT, "nothing arrives");
        bus.wait(TIMEOUT);
    }
}

/// Sends a frame as soon as there is room, and returns how often the queue was full.
pub(crate) fn send_with_retry(bus: &mut SocketCanBus, frame: &Frame) -> usize {
    let began = Instant::now();
    let mut full = 0;
    loop {
        match bus.send(frame) {
            Ok(()) => return full,
            Err(SendError::Full) => full += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(began.elapsed() < TIMEOUT, "there is never room");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A virtual interface delivers on the sending processor, and processors do not wait for each other; a bus has one
/// order. Pinning this thread to one processor keeps the order of its frames. `turn`: selects the processor, to spread
/// threads as far as there are several.
pub(crate) fn stay_on_a_processor(turn: usize) {
    let this = nix::unistd::Pid::from_raw(0);
    let allowed = nix::sched::sched_getaffinity(this).unwrap();
    let numbers: Vec<usize> =
        (0..nix::sched::CpuSet::count()).filter(|number| allowed.is_set(*number).unwrap()).collect();
    let mut one = nix::sched::CpuSet::new();
    one.set(numbers[turn % numbers.len()]).unwrap();
    nix::sched::sched_setaffinity(this, &one).unwrap();
}
