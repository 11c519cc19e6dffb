//! A simulated device in another process, on a pseudo-terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::lines_of;

/// Timeout of immediate reactions, on a loaded machine.
pub const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A unique path; removed at the end.
pub struct TestPath(pub PathBuf);

impl TestPath {
    pub fn new(test: &str) -> Self {
        Self(std::env::temp_dir().join(format!("dragoman_device_{}_{test}", std::process::id())))
    }
}

impl Drop for TestPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn command(path: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(["device", "kobuki", "--noise", "none", "--pty"]).arg(path).args(arguments);
    command
}

pub fn wheels(path: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(["device", "wheels", "--pty"]).arg(path).args(arguments);
    command
}

pub fn widowx(path: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(["device", "widowx", "--pty"]).arg(path).args(arguments);
    command
}

pub struct Device {
    pub child: Child,
    pub input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    pub path: TestPath,
}

impl Device {
    pub fn start(test: &str, arguments: &[&str]) -> Self {
        Self::start_at(TestPath::new(test), arguments)
    }

    pub fn start_at(path: TestPath, arguments: &[&str]) -> Self {
        let command = command(&path.0, arguments);
        Self::spawn(path, command)
    }

    pub fn spawn(path: TestPath, mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = lines_of([child.stdout.take().unwrap()]);
        let device = Self { input: child.stdin.take(), child, lines, path };
        device.prints("ready");
        device
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line with this prefix.
    #[track_caller]
    pub fn prints(&self, start: &str) -> String {
        let end = Instant::now() + TIME_LIMIT;
        let mut others = Vec::new();
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line.starts_with(start) => return line,
                Ok(line) => others.push(line),
                Err(_) => panic!("no line '{start}', but {others:?}"),
            }
        }
    }

    /// Its true pose.
    pub fn pose(&mut self) -> [f64; 3] {
        self.send("pose");
        let line = self.prints("pose");
        let values: Vec<f64> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        values.try_into().unwrap()
    }

    pub fn end(mut self, signal: &str) -> std::process::ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        self.child.wait().unwrap()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
