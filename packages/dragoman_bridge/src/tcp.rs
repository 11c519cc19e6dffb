//! What all our TCP servers and clients do with a connection.

use futures::future::BoxFuture;
use tokio::net::TcpStream;

/// Acknowledges what has come at once. A client that waits for the acknowledgement of a request without an answer
/// would otherwise lose up to 40 ms. The kernel forgets it, so it is said again after every read.
pub(crate) fn acknowledge_quickly(stream: &TcpStream) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = stream.set_quickack(true) {
        tracing::debug!(%error, "TCP_QUICKACK");
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = stream;
}

/// Resolves when the stream can be read (`true`) or, if there is something to write, written.
pub(crate) async fn ready(stream: Option<&TcpStream>, has_unsent: bool) -> std::io::Result<bool> {
    let Some(stream) = stream else { return std::future::pending().await };
    tokio::select! {
        readable = stream.readable() => readable.map(|()| true),
        writable = stream.writable(), if has_unsent => writable.map(|()| false),
    }
}

/// The result of a future; without one it never resolves.
pub(crate) async fn resolved<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
