//! The time that the cores get: since the start of the process.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The current time.
pub(crate) fn now() -> Duration {
    START.elapsed()
}

/// Resolves at this time; with `None` it never resolves.
pub(crate) async fn until(time: Option<Duration>) {
    match time.and_then(|time| START.checked_add(time)) {
        Some(time) => tokio::time::sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}
