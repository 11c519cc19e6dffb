//! Runs a simulated device on a pseudo-terminal: commands from standard input, scheduled faults, output lines.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::Args;
use dragoman_io::serial::{DeviceEnd, Stream};
use dragoman_ros::outln;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::serial::edge::RealTime;
use tokio::sync::mpsc;

use super::pty::{Link, Pty};
use super::{Result, after};

#[derive(Debug, Args)]
pub(crate) struct SerialOptions {
    /// Path for programs to open: a link to a pseudo-terminal, created at the start and removed at the end.
    #[arg(long, value_name = "PATH")]
    pub(super) pty: PathBuf,
    /// Schedule a command: `COMMAND@SECONDS`, a command of standard input and its time in seconds after the start. May
    /// be given several times.
    #[arg(long, value_name = "COMMAND@SECONDS")]
    pub(super) fault: Vec<Scheduled>,
}

/// A command and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scheduled {
    command: String,
    after: Duration,
}

impl Scheduled {
    /// The command.
    pub(super) fn command(&self) -> &str {
        &self.command
    }

    /// Its time after the start.
    pub(super) fn after(&self) -> Duration {
        self.after
    }
}

/// The last one first.
pub(super) fn sorted(faults: &[Scheduled]) -> Vec<Scheduled> {
    let mut faults = faults.to_vec();
    faults.sort_by_key(|scheduled| scheduled.after);
    faults.reverse();
    faults
}

/// A device with text commands and text output.
pub(super) trait Machine: SerialDevice + 'static {
    /// Help text of its commands, one a line.
    const HELP: &str;

    /// Type of its commands.
    type Command: Send;

    /// Parses a command.
    ///
    /// # Errors
    /// Not a command of the device.
    fn parse(words: &[&str]) -> std::result::Result<Self::Command, String>;

    /// Executes a command; returns the line to print.
    fn execute(&mut self, command: Self::Command) -> Option<String>;

    /// The reports since the last call, oldest first.
    fn next_line(&mut self) -> Option<Line>;
}

/// A report of a device.
pub(super) enum Line {
    /// A commanded speed: printed at a limited rate, and always the last one.
    Speed(String),
    /// Any other report.
    Event(String),
}

/// Minimum interval of lines about the speed.
const SPEED_PERIOD: Duration = Duration::from_millis(500);

const HELP: &str = "cut [SECONDS]                     close the line, and open a new one (after SECONDS)
help                              this
";

/// A line of standard input.
pub(super) enum Input<C> {
    Nothing,
    Help,
    Cut(Duration),
    Machine(C),
}

pub(super) fn parse<M: Machine>(line: &str) -> std::result::Result<Input<M::Command>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [] => Ok(Input::Nothing),
        ["help"] => Ok(Input::Help),
        ["cut"] => Ok(Input::Cut(Duration::ZERO)),
        ["cut", seconds] => Ok(Input::Cut(after(seconds)?)),
        words => M::parse(words).map(Input::Machine),
    }
}

/// Maximum number of lines waiting to be printed; further ones are lost.
const MAX_LINES: usize = 256;

/// Runs the device until SIGINT or SIGTERM.
pub(super) fn run<M: Machine>(name: &str, options: &SerialOptions, machine: M) -> Result<()> {
    check::<M>(options)?;
    // The device has its own thread: a blocked standard output does not stop it.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(async {
        let signal = dragoman_ros::signals::first()?;
        serve(name, options, machine, standard_input(), signal).await
    });
    runtime.shutdown_background();
    result
}

/// Runs the device until `stop`, on virtual time.
pub(super) async fn simulate<M: Machine>(
    name: &str,
    options: &SerialOptions,
    machine: M,
    typed: mpsc::Receiver<String>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    check::<M>(options)?;
    serve(name, options, machine, typed, stop).await
}

fn check<M: Machine>(options: &SerialOptions) -> Result<()> {
    for fault in &options.fault {
        parse::<M>(&fault.command).map_err(|error| format!("--fault: {error}"))?;
    }
    Ok(())
}

/// Runs the device with the commands that are typed, until `stop`.
async fn serve<M: Machine, S>(
    name: &str,
    options: &SerialOptions,
    machine: M,
    mut typed: mpsc::Receiver<String>,
    stop: impl Future<Output = S>,
) -> Result<()> {
    let line = Terminal::open(&options.pty)?;
    print(&format!("{name} on {} ({})", options.pty.display(), line.path.display()));
    let device = RealTime::new(machine);
    let (cut, cuts) = mpsc::channel(1);
    let (report, mut reports) = mpsc::channel(MAX_LINES);
    let mut running = dragoman_time::spawn(on_lines(device.clone(), line, options.pty.clone(), cuts, report));
    let mut faults = sorted(&options.fault);
    print("ready");
    tokio::pin!(stop);
    loop {
        let due = faults.last().map(|fault| fault.after.saturating_sub(device.now()));
        let command = tokio::select! {
            biased;
            _ = &mut stop => break,
            ended = &mut running => return ended.map_err(|error| error.to_string())?,
            () = dragoman_time::sleep(due.unwrap_or_default()), if due.is_some() => {
                let Some(fault) = faults.pop() else { continue };
                print(&fault.command);
                parse::<M>(&fault.command)
            }
            Some(line) = typed.recv() => parse::<M>(&line),
            Some(line) = reports.recv() => {
                print(&line);
                continue;
            }
        };
        match command {
            Ok(Input::Nothing) => {}
            Ok(Input::Help) => print(format!("{}{HELP}", M::HELP).trim_end()),
            Ok(Input::Cut(time)) => {
                if cut.try_send(time).is_err() {
                    eprintln!("dragoman: the line is already being cut");
                }
            }
            Ok(Input::Machine(command)) => {
                if let Some(answer) = device.with(|machine| machine.execute(command)) {
                    print(&answer);
                }
            }
            Err(error) => eprintln!("dragoman: {error}"),
        }
    }
    print("stopping");
    running.abort();
    // The link is removed with the task.
    let _ = running.await;
    Ok(())
}

/// The device's end of a line: a pseudo-terminal, or on virtual time that of a port in the lab.
struct Terminal {
    end: Pin<Box<dyn Stream>>,
    /// Where clients open it.
    path: PathBuf,
    /// The link to it.
    link: Option<Link>,
}

impl Terminal {
    fn open(path: &Path) -> Result<Self> {
        if dragoman_time::is_virtual() {
            let end = Box::pin(DeviceEnd::create(path)?);
            return Ok(Self { end, path: path.to_owned(), link: None });
        }
        let pty = Pty::open()?;
        let link = Link::create(path, pty.path())?;
        let path = pty.path().to_owned();
        Ok(Self { end: Box::pin(pty), path, link: Some(link) })
    }
}

/// Runs the device on one line after the other.
async fn on_lines<M: Machine>(
    device: RealTime<M>,
    mut line: Terminal,
    path: PathBuf,
    mut cuts: mpsc::Receiver<Duration>,
    report: mpsc::Sender<String>,
) -> Result<()> {
    let mut speed = None;
    let mut speed_printed: Option<Instant> = None;
    loop {
        let Terminal { end, link, .. } = line;
        let after = |machine: &mut M| {
            while let Some(line) = machine.next_line() {
                match line {
                    Line::Speed(line) => speed = Some(line),
                    // A slow reader of the output loses lines.
                    Line::Event(line) => drop(report.try_send(line)),
                }
            }
            if speed_printed.is_none_or(|printed| dragoman_time::since(printed) >= SPEED_PERIOD)
                && let Some(line) = speed.take()
            {
                speed_printed = Some(dragoman_time::now());
                drop(report.try_send(line));
            }
        };
        let pause = tokio::select! {
            biased;
            Some(pause) = cuts.recv() => pause,
            ended = device.run(end, after) => return Ok(ended?),
        };
        drop(link);
        dragoman_time::sleep(pause).await;
        line = Terminal::open(&path)?;
    }
}

/// The lines of standard input. At its end the device keeps running.
pub(super) fn standard_input() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    // A thread that is never joined, since reading cannot be interrupted.
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        while matches!(input.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            if sender.blocking_send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

pub(super) fn print(line: &str) {
    outln!("{line}");
}

impl FromStr for Scheduled {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (command, seconds) =
            text.rsplit_once('@').ok_or_else(|| format!("'{text}' has no time: COMMAND@SECONDS"))?;
        Ok(Self { command: command.to_owned(), after: after(seconds)? })
    }
}
