//! `dragoman can`: monitors a CAN bus.
//!
//! | file | holds |
//! | --- | --- |
//! | `can.rs` | the options; the loop over a bus or a recording |
//! | `can/monitor.rs` | lines and tables of received frames |

mod monitor;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragoman_io::can::candump::{self, Content, LogLine, ReadError};
use dragoman_io::can::{Bus, Received, ReplayBus};

use monitor::Monitor;

/// Polling interval for the end of the program.
const POLL_PERIOD: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Subcommand)]
/// Subcommands of `dragoman can`.
pub enum CanCommand {
    /// Show the frames on a bus of CANopen drives and the load of the bus; never sends anything.
    Monitor(MonitorOptions),
}

/// The command line of `dragoman can monitor`.
#[derive(Debug, clap::Args)]
pub struct MonitorOptions {
    /// Interface to monitor, for example can0; of a recording, show only this one.
    #[arg(long, value_name = "INTERFACE", required_unless_present = "replay")]
    can: Option<String>,
    /// Show this recording, then end: a log of candump -l, or what candump has shown.
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    replay: Option<PathBuf>,
    /// Bit rate of the bus in bit/s, to compute its load.
    #[arg(long, value_name = "RATE", default_value_t = 500_000, value_parser = clap::value_parser!(u32).range(1..))]
    bitrate: u32,
    /// Record to this file, which must not exist, in the format of candump -l.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Show a table with the last frame of every identifier instead; only at the end, unless on a terminal.
    #[arg(long)]
    summary: bool,
}

/// Error of the command.
#[derive(Debug, thiserror::Error)]
enum MonitorError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: ReadError },
    #[error("{} has no frames to show{reason}", path.display())]
    Empty { path: PathBuf, reason: String },
    #[error("cannot write {}: {source}", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[cfg(not(target_os = "linux"))]
    #[error("CAN interfaces are supported on Linux only; --replay works everywhere")]
    NotLinux,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Runs the command until SIGINT or SIGTERM, or to the end of the recording.
///
/// # Errors
/// The interface or recording cannot be opened, or the log cannot be written.
pub fn run(command: CanCommand) -> Result<()> {
    let CanCommand::Monitor(options) = command;
    dragoman_ros::logging::init("warn")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stopped = Arc::new(AtomicBool::new(false));
        let signal = dragoman_ros::signals::first()?;
        let mut watching = tokio::task::spawn_blocking({
            let stopped = Arc::clone(&stopped);
            move || watch(&options, &stopped)
        });
        tokio::select! {
            biased;
            () = signal => stopped.store(true, Ordering::Relaxed),
            ended = &mut watching => return ended?,
        }
        watching.await?
    })
}

fn watch(options: &MonitorOptions, stopped: &AtomicBool) -> Result<()> {
    let output = BufWriter::new(io::stdout().lock());
    let repaint = options.summary && io::stdout().is_terminal();
    let monitor = Monitor::new(output, options.bitrate, options.summary, repaint);
    let ended = match &options.replay {
        Some(path) => replay(path, options.can.as_deref(), monitor, stopped),
        None => live(options, monitor, stopped),
    };
    match ended {
        // The reader of the output has closed it.
        Err(error) if error.downcast_ref().map(io::Error::kind) == Some(io::ErrorKind::BrokenPipe) => Ok(()),
        ended => ended,
    }
}

#[cfg(not(target_os = "linux"))]
fn live(_: &MonitorOptions, _: Monitor<impl Write>, _: &AtomicBool) -> Result<()> {
    Err(MonitorError::NotLinux.into())
}

#[cfg(target_os = "linux")]
fn live(options: &MonitorOptions, mut monitor: Monitor<impl Write>, stopped: &AtomicBool) -> Result<()> {
    let interface = options.can.as_deref().unwrap_or_default();
    let mut bus = dragoman_io::can::SocketCanBus::open(interface, &[])?;
    let mut log = options.log.as_deref().map(Log::create).transpose()?;
    let began = dragoman_time::now();
    while !stopped.load(Ordering::Relaxed) {
        bus.wait(POLL_PERIOD.min(monitor.due().saturating_sub(dragoman_time::since(began))));
        while let Some(received) = bus.receive() {
            if let (Some(log), Received::Frame(frame)) = (&mut log, &received) {
                let now = dragoman_time::wall_time();
                log.write(&candump::line(now, interface, frame))?;
            }
            monitor.show(dragoman_time::since(began), &received)?;
            if stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        if monitor.advance(dragoman_time::since(began))? {
            log.as_mut().map(Log::flush).transpose()?;
        }
        monitor.flush()?;
    }
    log.as_mut().map(Log::flush).transpose()?;
    monitor.finish(dragoman_time::since(began))?;
    Ok(())
}

fn replay(
    path: &Path,
    interface: Option<&str>,
    mut monitor: Monitor<impl Write>,
    stopped: &AtomicBool,
) -> Result<()> {
    let failed = |source| MonitorError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(|error| failed(error.into()))?;
    let mut left_out = LeftOut::default();
    let lines = candump::read(BufReader::new(file)).filter_map(|line| left_out.keep(line, interface));
    let mut bus = ReplayBus::in_virtual_time(lines);
    let is_empty = bus.is_finished();
    while !bus.is_finished() && !stopped.load(Ordering::Relaxed) {
        bus.wait(Duration::MAX);
        monitor.advance(bus.now())?;
        while let Some(received) = bus.receive() {
            monitor.show(bus.now(), &received)?;
        }
    }
    let end = bus.now();
    drop(bus);
    if !is_empty {
        monitor.finish(end)?;
    }
    if let Some(source) = left_out.fatal.take() {
        return Err(failed(source).into());
    }
    if is_empty {
        let reason = left_out.others() + &left_out.to_string();
        return Err(MonitorError::Empty { path: path.to_owned(), reason }.into());
    }
    let left_out = left_out.to_string();
    if !left_out.is_empty() {
        eprintln!("dragoman: {}{left_out}", path.display());
    }
    Ok(())
}

/// Lines of a recording that are not shown.
#[derive(Debug, Default)]
struct LeftOut {
    /// Frames of CAN FD and CAN XL.
    not_classic: u64,
    /// Invalid lines. A killed recorder leaves half a line.
    lines: u64,
    /// The first of them.
    first: Option<ReadError>,
    /// Interfaces that were not asked for.
    interfaces: BTreeSet<String>,
    /// The error that ended the reading.
    fatal: Option<ReadError>,
}

impl LeftOut {
    fn keep(
        &mut self,
        line: std::result::Result<LogLine, ReadError>,
        interface: Option<&str>,
    ) -> Option<LogLine> {
        /// More names do not help the reader.
        const INTERFACES: usize = 8;
        match line {
            Ok(line) if interface.is_some_and(|name| line.interface != name) => {
                if self.interfaces.len() < INTERFACES {
                    self.interfaces.insert(line.interface);
                }
            }
            Ok(LogLine { content: Content::NotClassic, .. }) => self.not_classic += 1,
            Ok(line) => return Some(line),
            Err(error @ ReadError::Line { .. }) => {
                self.lines += 1;
                self.first.get_or_insert(error);
            }
            Err(error) => self.fatal = Some(error),
        }
        None
    }

    /// Of which interfaces there are frames instead.
    fn others(&self) -> String {
        let names: Vec<&str> = self.interfaces.iter().map(String::as_str).collect();
        if names.is_empty() { String::new() } else { format!("; it has frames of {}", names.join(", ")) }
    }
}

/// Each part begins with a separator.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.not_classic > 0 {
            write!(f, "; left out: {} frames of CAN FD or CAN XL", self.not_classic)?;
        }
        if let Some(first) = &self.first {
            write!(f, "; not understood: {} lines, the first: {first}", self.lines)?;
        }
        Ok(())
    }
}

/// A recording in progress.
#[cfg(target_os = "linux")]
struct Log {
    path: PathBuf,
    file: BufWriter<File>,
}

#[cfg(target_os = "linux")]
impl Log {
    fn create(path: &Path) -> std::result::Result<Self, MonitorError> {
        let file = File::create_new(path);
        let file = file.map_err(|source| MonitorError::Log { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    fn write(&mut self, line: &str) -> std::result::Result<(), MonitorError> {
        writeln!(self.file, "{line}").map_err(|source| self.failed(source))
    }

    fn flush(&mut self) -> std::result::Result<(), MonitorError> {
        self.file.flush().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> MonitorError {
        MonitorError::Log { path: self.path.clone(), source }
    }
}
