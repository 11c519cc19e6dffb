//! SIGINT, SIGTERM and SIGHUP.

use tokio::signal::unix::{self, Signal, SignalKind};

/// The signals that request the end.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
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
        })
    }

    /// Resolves at the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
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
