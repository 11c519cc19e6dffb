//! Standard output. When its reader goes away, for example `head`, the program ends as at SIGINT: the machines that it
//! moves are stopped, and nothing more is printed.

use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Exit status of a program whose output was closed: as a shell reports a program that SIGPIPE has ended.
const STATUS: u8 = 128 + 13;

static IS_CLOSED: AtomicBool = AtomicBool::new(false);
static CLOSED: Notify = Notify::const_new();
/// Number of [`Watcher`]s.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// Prints to standard output, as `println!`, but does not panic when that is closed: see [`output`](crate::output).
#[macro_export]
macro_rules! outln {
    ($($text:tt)*) => {
        $crate::output::print(format_args!("{}\n", format_args!($($text)*)))
    };
}

/// Prints to standard output, as `print!`, but does not panic when that is closed: see [`output`](crate::output).
#[macro_export]
macro_rules! out {
    ($($text:tt)*) => {
        $crate::output::print(format_args!($($text)*))
    };
}

/// Prints and flushes; characters that could change the terminal are escaped ([`dragoman_text::lines`]). If the output
/// is closed, the program ends: as at SIGINT if `signals` waits for that, otherwise at once.
pub fn print(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    let text = dragoman_text::lines(&text);
    if dragoman_time::print(format_args!("{text}")) || IS_CLOSED.load(Ordering::Relaxed) {
        return;
    }
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    drop(output);
    let Err(error) = written else { return };
    if IS_CLOSED.swap(true, Ordering::Relaxed) {
        return;
    }
    if error.kind() != ErrorKind::BrokenPipe {
        eprintln!("cannot write to standard output: {error}");
    }
    if WATCHERS.load(Ordering::SeqCst) == 0 {
        process::exit(STATUS.into());
    }
    CLOSED.notify_waiters();
}

/// The exit status if the output was closed; it takes precedence over errors that follow from that.
pub fn closed_status() -> Option<ExitCode> {
    IS_CLOSED.load(Ordering::Relaxed).then(|| STATUS.into())
}

/// Ends the program in an orderly way when the output is closed.
pub(crate) struct Watcher(());

impl Watcher {
    pub(crate) fn new() -> Self {
        WATCHERS.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Resolves when the output is closed.
    pub(crate) async fn closed(&self) {
        let mut closed = std::pin::pin!(CLOSED.notified());
        // From here on no notification is missed.
        closed.as_mut().enable();
        if !IS_CLOSED.load(Ordering::Relaxed) {
            closed.await;
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::SeqCst);
    }
}
