//! Runs a simulated device on a pseudo-terminal: commands from standard input, faults at their time, what it does as lines.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::serial::edge::RealTime;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::pty::{Link, Pty};
use super::{Result, after};

#[derive(Debug, Args)]
pub(crate) struct SerialOptions {
    /// Where programs find the device: a link to a pseudo-terminal, made now and removed at the end.
    #[arg(long, value_name = "PATH")]
    pub(super) pty: PathBuf,
    /// Let something happen: `COMMAND@SECONDS`, one of the commands of standard input and when it comes, in seconds after the start.
    /// May be given several times.
    #[arg(long, value_name = "COMMAND@SECONDS")]
    pub(super) fault: Vec<Scheduled>,
}

/// A command and when it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scheduled {
    command: String,
    after: Duration,
}

/// A device that takes commands in words, and tells in words what it does.
pub(super) trait Machine: SerialDevice + 'static {
    /// Its commands in words, one a line.
    const HELP: &str;

    /// One of its commands.
    type Command: Send;

    /// The command that these words are.
    ///
    /// # Errors
    /// They are none.
    fn parse(words: &[&str]) -> std::result::Result<Self::Command, String>;

    /// Takes a command; gives what is to be printed.
    fn execute(&mut self, command: Self::Command) -> Option<String>;

    /// What it did since the last call, oldest first.
    fn next_line(&mut self) -> Option<Line>;
}

/// Something that a device did, in words.
pub(super) enum Line {
    /// The speed that it is told: printed now and then, the last one in any case.
    Speed(String),
    /// Anything else.
    Event(String),
}

/// From one line about the speed to the next.
const SPEED_PERIOD: Duration = Duration::from_millis(500);

const HELP: &str = "cut [SECONDS]                     close the line, and open a new one (after SECONDS)
help                              this
";

/// What can be told on standard input.
enum Told<C> {
    Nothing,
    Help,
    Cut(Duration),
    Machine(C),
}

fn parse<M: Machine>(line: &str) -> std::result::Result<Told<M::Command>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [] => Ok(Told::Nothing),
        ["help"] => Ok(Told::Help),
        ["cut"] => Ok(Told::Cut(Duration::ZERO)),
        ["cut", seconds] => Ok(Told::Cut(after(seconds)?)),
        words => M::parse(words).map(Told::Machine),
    }
}

/// Lines that wait to be printed; those beyond are lost.
const MAX_LINES: usize = 256;

/// Runs the device until SIGINT or SIGTERM.
pub(super) fn simulate<M: Machine>(name: &str, options: &SerialOptions, machine: M) -> Result<()> {
    for fault in &options.fault {
        parse::<M>(&fault.command).map_err(|error| format!("--fault: {error}"))?;
    }
    // The device has a thread of its own: whoever does not read what is printed here does not stop it.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(async {
        let signal = crate::signals::first()?;
        let line = open(&options.pty)?;
        print(&format!("{name} on {} ({})", options.pty.display(), line.0.path().display()));
        let device = RealTime::new(machine);
        let (cut, cuts) = mpsc::channel(1);
        let (report, mut reports) = mpsc::channel(MAX_LINES);
        let mut running = tokio::spawn(serve(device.clone(), line, options.pty.clone(), cuts, report));
        let mut typed = standard_input();
        let mut faults = options.fault.clone();
        faults.sort_by_key(|scheduled| scheduled.after);
        faults.reverse();
        print("ready");
        tokio::pin!(signal);
        loop {
            let due = faults.last().map(|fault| fault.after.saturating_sub(device.now()));
            let command = tokio::select! {
                ended = &mut running => return ended?,
                () = &mut signal => break,
                Some(line) = reports.recv() => {
                    print(&line);
                    continue;
                }
                Some(line) = typed.recv() => parse::<M>(&line),
                () = tokio::time::sleep(due.unwrap_or_default()), if due.is_some() => {
                    let Some(fault) = faults.pop() else { continue };
                    print(&fault.command);
                    parse::<M>(&fault.command)
                }
            };
            match command {
                Ok(Told::Nothing) => {}
                Ok(Told::Help) => print(format!("{}{HELP}", M::HELP).trim_end()),
                Ok(Told::Cut(time)) => {
                    if cut.try_send(time).is_err() {
                        eprintln!("dragoman: the line is being cut already");
                    }
                }
                Ok(Told::Machine(command)) => {
                    if let Some(answer) = device.with(|machine| machine.execute(command)) {
                        print(&answer);
                    }
                }
                Err(error) => eprintln!("dragoman: {error}"),
            }
        }
        print("stopping");
        running.abort();
        // The link goes with the task.
        let _ = running.await;
        Ok(())
    });
    runtime.shutdown_background();
    result
}

type Terminal = (Pty, Link);

fn open(path: &Path) -> Result<Terminal> {
    let pty = Pty::open()?;
    let link = Link::create(path, pty.path())?;
    Ok((pty, link))
}

/// Runs the device on one line after the other.
async fn serve<M: Machine>(
    device: RealTime<M>,
    mut line: Terminal,
    path: PathBuf,
    mut cuts: mpsc::Receiver<Duration>,
    report: mpsc::Sender<String>,
) -> Result<()> {
    let mut speed = None;
    let mut speed_told: Option<Instant> = None;
    loop {
        let (pty, link) = line;
        let after = |machine: &mut M| {
            while let Some(line) = machine.next_line() {
                match line {
                    Line::Speed(line) => speed = Some(line),
                    // Whoever does not read what is printed loses lines.
                    Line::Event(line) => drop(report.try_send(line)),
                }
            }
            if speed_told.is_none_or(|told| told.elapsed() >= SPEED_PERIOD)
                && let Some(line) = speed.take()
            {
                speed_told = Some(Instant::now());
                drop(report.try_send(line));
            }
        };
        let pause = tokio::select! {
            ended = device.run(pty, after) => return Ok(ended?),
            Some(pause) = cuts.recv() => pause,
        };
        drop(link);
        tokio::time::sleep(pause).await;
        line = open(&path)?;
    }
}

/// The lines of standard input. Its end is the end of the commands, not of the device.
fn standard_input() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    // A thread that is never joined: nothing can wake it from reading.
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

/// Prints a line; that nobody reads it is no reason to end.
fn print(line: &str) {
    let mut output = std::io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

impl FromStr for Scheduled {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (command, seconds) =
            text.rsplit_once('@').ok_or_else(|| format!("'{text}' has no time: COMMAND@SECONDS"))?;
        Ok(Self { command: command.to_owned(), after: after(seconds)? })
    }
}
