//! The present time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::executor;

/// The present time, as `Instant::now`.
pub fn now() -> Instant {
    match executor::current() {
        Some(executor) => executor.now(),
        // That of tokio's tests, where it is paused.
        None => tokio::time::Instant::now().into_std(),
    }
}

/// The time since `earlier`, as `Instant::elapsed`.
pub fn since(earlier: Instant) -> Duration {
    now().saturating_duration_since(earlier)
}

/// Whether this thread runs a simulation. For code at the edges that chooses between a port of the system and one of
/// the lab, or that is useless in a simulation, such as priorities of threads. Nodes must not call it.
pub fn is_virtual() -> bool {
    executor::with_lab(|_, _| ()).is_some()
}

/// Time since 1970, of the system's clock.
pub fn wall_time() -> Duration {
    executor::with_lab(|executor, lab| lab.wall_start + executor.passed())
        .unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}
