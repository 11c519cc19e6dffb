//! `dragoman bridge sniff`: shows the messages on a line, live or recorded, by the description of their protocol.
//!
//! | file | holds |
//! | --- | --- |
//! | `sniff.rs` | the options, and which source they name |
//! | `sniff/live.rs` | serial line, UDP, TCP, a proxy of TCP, CAN: what is sent now |
//! | `sniff/recorded.rs` | captures, candump logs, dumps: what was sent |
//! | `sniff/capture.rs`, `packet.rs`, `stream.rs` | pcap and pcapng; what a packet carries; segments of TCP in order |
//! | `sniff/dump.rs` | hexadecimal digits |
//! | `sniff/watch.rs`, `turn.rs` | who speaks with whom, counts; frames and messages of one side. Without a link and a clock |
//! | `sniff/screen.rs` | lines and their colours |

mod capture;
pub(super) mod dump;
mod live;
mod packet;
mod recorded;
mod screen;
mod stream;
#[cfg(test)]
mod tests;
mod turn;
mod watch;

use std::io::{self, BufWriter, Stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use dragoman_protocol::model::Side;

use super::BridgeError;
use capture::CaptureError;
use dump::DumpError;
use screen::{Screen, is_coloured};
use watch::{Heard, Watch};

/// How long a thread that waits for its input may take to end.
const END_TIME: Duration = Duration::from_secs(1);

/// `dragoman bridge sniff`.
#[derive(Debug, Args)]
pub struct SniffCommand {
    /// The description, a YAML file.
    file: PathBuf,
    /// What was recorded: a capture (pcap or pcapng), a candump log, or bytes as hexadecimal digits (xxd, hexdump -C); - is the
    /// standard input.
    #[arg(required_unless_present = "link", conflicts_with = "link")]
    recording: Option<PathBuf>,
    /// Listen here instead: a serial port; HOST[:PORT] of TCP; [ADDRESS:]PORT to which datagrams are sent; a CAN interface.
    /// Nothing is sent.
    #[arg(long, value_name = "PLACE")]
    link: Option<String>,
    /// Programs connect to this port instead of the machine's one: everything is passed on, both ways. TCP only.
    #[arg(long, value_name = "[ADDRESS:]PORT", requires = "link")]
    through: Option<String>,
    /// Who is heard, where that cannot be seen; both on a line that both sides share (RS-485). By default the machine.
    #[arg(long, value_enum, value_name = "WHO")]
    from: Option<Speaker>,
    /// The port of the machine in a capture; by default that of the description.
    #[arg(long)]
    port: Option<u16>,
    /// The recording has the bytes themselves, not digits.
    #[arg(long, requires = "recording")]
    raw: bool,
}

/// Who has sent bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Speaker {
    /// The machine.
    Machine,
    /// Who uses the machine.
    Client,
    /// Both, on one line.
    Both,
}

impl Speaker {
    fn heard(self) -> Heard {
        match self {
            Self::Machine => Heard::Side(Side::Server),
            Self::Client => Heard::Side(Side::Client),
            Self::Both => Heard::Both,
        }
    }
}

/// Why nothing more is shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SniffError {
    /// The recording cannot be read, or is broken; what is in front is shown.
    #[error("{}: {reason}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// Where, and why.
        reason: String,
    },
    /// Options that do not fit the source.
    #[error("{0}")]
    Option(String),
    /// The link cannot be opened, or was lost.
    #[error("{place}: {error}")]
    Link {
        /// Where.
        place: String,
        /// Why.
        error: String,
    },
    /// The output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// The runtime has failed.
    #[error(transparent)]
    Runtime(io::Error),
}

/// Anything that ends the watching, from inside.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Dump(#[from] DumpError),
    #[error(transparent)]
    Candump(#[from] dragoman_io::can::candump::ReadError),
    #[error("{0}")]
    Other(String),
    /// Of the output.
    #[error(transparent)]
    Output(#[from] io::Error),
}

type Output = Watch<BufWriter<Stdout>>;

/// Runs until the end of the recording, or until a signal.
pub(super) fn run(command: SniffCommand) -> Result<(), BridgeError> {
    let (codec, cutter) = super::read(&command.file)?;
    let codec = Arc::new(codec);
    let screen = Screen::new(BufWriter::new(io::stdout()), is_coloured());
    let watch = Watch::new(Arc::clone(&codec), cutter, screen);
    let ended = match &command.recording {
        Some(path) => {
            let source = recorded::Source::new(codec.protocol(), &command, path)?;
            in_a_thread(watch, move |watch, stopped| source.watch(watch, stopped))
        }
        None => live::Source::new(codec.protocol(), &command).and_then(|source| live::run(source, watch)),
    };
    match ended {
        // The reader of the output has closed it.
        Err(SniffError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => Ok(ended?),
    }
}

/// Works in a thread, which a signal ends; then shows the counts.
fn in_a_thread(
    mut watch: Output,
    work: impl FnOnce(&mut Output, &AtomicBool) -> Result<(), SniffError> + Send + 'static,
) -> Result<(), SniffError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(SniffError::Runtime)?;
    let ended = runtime.block_on(async {
        let stopped = Arc::new(AtomicBool::new(false));
        let signal = dragoman_ros::signals::first().map_err(SniffError::Runtime)?;
        let mut working = tokio::task::spawn_blocking({
            let stopped = Arc::clone(&stopped);
            move || {
                let worked = work(&mut watch, &stopped);
                watch.finish().map_err(SniffError::Output)?;
                worked
            }
        });
        let joined = |joined: Result<_, tokio::task::JoinError>| {
            joined.unwrap_or_else(|error| Err(SniffError::Runtime(error.into())))
        };
        tokio::select! {
            biased;
            () = signal => stopped.store(true, Ordering::Relaxed),
            ended = &mut working => return joined(ended),
        }
        // It may wait for bytes of a pipe that never come.
        dragoman_time::timeout(END_TIME, working).await.map_or(Ok(()), joined)
    });
    runtime.shutdown_background();
    ended
}
