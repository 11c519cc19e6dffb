//! A pseudo-terminal as the end of a serial line, and the link to it.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use dragoman_time::{Sleep, sleep};
use futures::FutureExt;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{FlushArg, SetArg, cfmakeraw, tcflush, tcgetattr, tcsetattr};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Polling interval: the system does not report when a client opens the other end.
const LOOK_PERIOD: Duration = Duration::from_millis(50);

/// The device's end of a pseudo-terminal. Writing never waits: without a client bytes are lost, and if a client does
/// not read, the oldest bytes are.
pub(super) struct Pty {
    master: Arc<PtyMaster>,
    /// `None` without a client: the system would report that again and again.
    ready: Option<AsyncFd<Arc<PtyMaster>>>,
    /// Time of the next check for a client.
    look: Sleep,
    path: PathBuf,
}

impl Pty {
    /// A new pseudo-terminal in raw mode.
    pub(super) fn open() -> io::Result<Self> {
        let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let master = posix_openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = PathBuf::from(ptsname_r(&master)?);
        let pty = Self { master: Arc::new(master), ready: None, look: sleep(Duration::ZERO), path };
        // The system reports a missing client only after the other end was open once.
        pty.clean()?;
        Ok(pty)
    }

    /// The path of the clients' end.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Restores raw mode, which a client may have changed, and drops bytes that the last client did not read.
    fn clean(&self) -> io::Result<()> {
        let flags = OFlag::O_NOCTTY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let client =
            fs::OpenOptions::new().read(true).write(true).custom_flags(flags.bits()).open(&self.path)?;
        let mut termios = tcgetattr(&client)?;
        cfmakeraw(&mut termios);
        tcsetattr(&client, SetArg::TCSANOW, &termios)?;
        tcflush(&client, FlushArg::TCIFLUSH)?;
        Ok(())
    }

    fn has_client(&self) -> bool {
        let mut master = [PollFd::new(self.master.as_fd(), PollFlags::POLLOUT)];
        let polled = poll(&mut master, PollTimeout::ZERO);
        let [master] = master;
        polled.is_ok() && !master.revents().is_some_and(|events| events.contains(PollFlags::POLLHUP))
    }

    /// Watches for bytes from the client.
    fn watch(&mut self) -> io::Result<()> {
        // The system allows one watch per terminal.
        self.ready = None;
        // Its successor is unsafe, for types that may change their descriptor; this one keeps it.
        #[allow(deprecated)]
        let ready = AsyncFd::new(Arc::clone(&self.master))?;
        self.ready = Some(ready);
        Ok(())
    }
}

impl AsyncRead for Pty {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let Some(ready) = &self.ready else {
                std::task::ready!(self.look.poll_unpin(context));
                self.look.reset(dragoman_time::now() + LOOK_PERIOD);
                if self.has_client() {
                    self.watch()?;
                }
                continue;
            };
            let mut guard = std::task::ready!(ready.poll_read_ready(context))?;
            match (&*self.master).read(buffer.initialize_unfilled()) {
                Ok(count) => {
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // One client has left and another has come, which the runtime cannot distinguish from a missing client.
                Err(error) if error.kind() == ErrorKind::WouldBlock && guard.ready().is_read_closed() => {
                    self.watch()?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                // No client.
                Err(error) if error.raw_os_error() == Some(Errno::EIO as i32) => {
                    self.ready = None;
                    self.clean()?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Pty {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.has_client() {
            match (&*self.master).write(bytes) {
                Ok(count) => return Poll::Ready(Ok(count)),
                // The client does not read: drop the unread bytes, which are old.
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.clean()?,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The link under which clients find a pseudo-terminal; removed when dropped.
pub(super) struct Link {
    path: PathBuf,
    target: PathBuf,
}

impl Link {
    /// Makes `path` a link to `target`.
    ///
    /// # Errors
    /// The path exists and is not a link to a closed pseudo-terminal; or the link cannot be created.
    pub(super) fn create(path: &Path, target: &Path) -> Result<Self, String> {
        let describe = |error: io::Error| format!("{}: {error}", path.display());
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(describe(error)),
            Ok(found) if !found.is_symlink() => {
                return Err(format!(
                    "{} already exists, and is not a link to a pseudo-terminal",
                    path.display()
                ));
            }
            Ok(_) => {
                let old = fs::read_link(path).map_err(describe)?;
                if !old.starts_with("/dev/pts") || old.exists() {
                    let (path, old) = (path.display(), old.display());
                    return Err(format!(
                        "{path} is already a link to {old}; remove it if no other device uses it, or choose another path"
                    ));
                }
                fs::remove_file(path).map_err(describe)?;
            }
        }
        symlink(target, path).map_err(describe)?;
        Ok(Self { path: path.to_owned(), target: target.to_owned() })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if fs::read_link(&self.path).is_ok_and(|target| target == self.target) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
