//! SIGINT, SIGTERM, and what a stop from outside (SIGSTOP, Ctrl-Z) leaves behind.

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

/// A future that resolves when the process is continued after it had been stopped.
///
/// rustdds 0.15 does not survive that: its event loop ends with the EINTR that the system gives it then, and nothing is
/// received any more. A program that says so and ends is better than one that is deaf.
///
/// # Errors
/// The handler cannot be installed.
pub(crate) fn continued() -> std::io::Result<impl Future<Output = ()>> {
    let mut continued = unix_signal(SignalKind::from_raw(nix::libc::SIGCONT))?;
    Ok(async move {
        continued.recv().await;
    })
}
