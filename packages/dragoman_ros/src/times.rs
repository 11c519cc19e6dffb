//! The time of a node's clock, and times and durations of messages.

use std::sync::{Arc, Mutex, PoisonError};
use std::time;

use crate::Clock;
use crate::builtin_interfaces::msg::{Duration, Time};

/// A node's clock. Its lock is std's, as in r2r.
pub type SharedClock = Arc<Mutex<Clock>>;

/// The present time of a clock since its epoch; zero if it cannot be read.
pub fn now(clock: &Mutex<Clock>) -> time::Duration {
    clock.lock().unwrap_or_else(PoisonError::into_inner).get_now().unwrap_or_default()
}

/// The present time of a clock as a message.
pub fn stamp(clock: &Mutex<Clock>) -> Time {
    Clock::to_builtin_time(&now(clock))
}

/// A time or duration of a message in seconds.
pub trait Seconds {
    /// In seconds, s.
    fn seconds(&self) -> f64;
}

impl Seconds for Time {
    fn seconds(&self) -> f64 {
        f64::from(self.sec) + f64::from(self.nanosec) * 1e-9
    }
}

impl Seconds for Duration {
    fn seconds(&self) -> f64 {
        f64::from(self.sec) + f64::from(self.nanosec) * 1e-9
    }
}

/// A duration as a message; the maximum if it is longer.
pub fn duration(time: time::Duration) -> Duration {
    Duration { sec: i32::try_from(time.as_secs()).unwrap_or(i32::MAX), nanosec: time.subsec_nanos() }
}
