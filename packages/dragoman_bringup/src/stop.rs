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

/// A future that resolves when the process has been stopped and continued.
///
/// rustdds 0.15 does not survive that: its event loop ends with the EINTR that `epoll_wait` gives then, and nothing is
/// received any more. A program that says so and ends is better than one that is deaf. SIGCONT tells nothing: timeout(1)
/// and systemd send it to programs that were never stopped. So a thread waits as that loop does.
///
/// # Errors
/// The system has no thread or descriptor left.
#[cfg(target_os = "linux")]
pub(crate) fn continued() -> std::io::Result<impl Future<Output = ()>> {
    use nix::errno::Errno;
    use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollTimeout};
    use nix::sys::signal::SigSet;

    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let (sender, interrupted) = futures::channel::oneshot::channel();
    std::thread::Builder::new().name("continued".into()).spawn(move || {
        // With all signals for other threads only a stop interrupts this one.
        let blocked = SigSet::all().thread_block();
        let waited = epoll.wait(&mut [EpollEvent::empty()], EpollTimeout::NONE);
        if blocked.is_ok() && waited == Err(Errno::EINTR) {
            // Nobody waits where the program ends already.
            let _ = sender.send(());
        }
    })?;
    Ok(async move {
        if interrupted.await.is_err() {
            std::future::pending().await
        }
    })
}

/// Elsewhere the library's loop is not known to end so.
#[cfg(not(target_os = "linux"))]
pub(crate) fn continued() -> std::io::Result<impl Future<Output = ()>> {
    Ok(std::future::pending())
}
