//! What all our TCP servers do with a connection.

/// Acknowledges what has come at once. A client that waits for the acknowledgement of a request without an answer
/// would otherwise lose up to 40 ms. The kernel forgets it, so it is said again after every read.
pub(crate) fn acknowledge_quickly(stream: &tokio::net::TcpStream) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = stream.set_quickack(true) {
        tracing::debug!(%error, "TCP_QUICKACK");
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = stream;
}
