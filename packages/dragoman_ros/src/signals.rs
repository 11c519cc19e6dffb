//! SIGINT, SIGTERM and SIGHUP. Standard output that is closed counts as one more signal, once.

use tokio::signal::unix::{self, Signal, SignalKind};

use crate::output::Watcher;

/// The signals that request the end.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    output: Watcher,
    /// Whether the end of the output was reported.
    is_output_closed: bool,
}

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hang_up: unix::signal(SignalKind::hangup())?,
            output: Watcher::new(),
            is_output_closed: false,
        })
    }

    /// Resolves at the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            () = self.output.closed(), if !self.is_output_closed => self.is_output_closed = true,
        }
    }
}

/// A future that resolves at the first signal from now on.
///
/// # Errors
/// The handlers cannot be installed.
pub fn first() -> std::io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new()?;
    Ok(async move { signals.next().await })
}
