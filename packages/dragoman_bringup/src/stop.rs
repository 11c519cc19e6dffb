//! SIGINT and SIGTERM.

use tokio::signal::unix::{SignalKind, signal as unix_signal};

/// A future that resolves at the first SIGINT or SIGTERM from now on.
///
/// # Errors
/// The handlers cannot be installed.
pub(crate) fn signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupt = unix_signal(SignalKind::interrupt())?;
    let mut terminate = unix_signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
