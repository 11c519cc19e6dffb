//! Timers.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures_timer::Delay;

use crate::clock::now;
use crate::executor::{self, Executor};

/// Longer than any program runs, for times that are out of range.
const FAR: Duration = Duration::from_secs(86400 * 365 * 30);

/// Resolves at a time. See [`sleep()`].
#[must_use = "a timer does nothing unless it is polled"]
pub struct Sleep {
    deadline: Instant,
    kind: SleepKind,
}

enum SleepKind {
    Tokio(Pin<Box<tokio::time::Sleep>>),
    Precise(Delay),
    Own {
        executor: Arc<Executor>,
        /// The number of its timer, while it is registered.
        timer: Option<u64>,
    },
}

/// Resolves after `time`. On tokio's clock, whose timers expire at full milliseconds.
pub fn sleep(time: Duration) -> Sleep {
    sleep_until(after(time))
}

/// As [`sleep()`], at `deadline`.
pub fn sleep_until(deadline: Instant) -> Sleep {
    let kind = match executor::current() {
        Some(executor) => SleepKind::Own { executor, timer: None },
        None if tokio::runtime::Handle::try_current().is_ok() => {
            SleepKind::Tokio(Box::pin(tokio::time::sleep_until(deadline.into())))
        }
        None => precise(deadline),
    };
    Sleep { deadline, kind }
}

/// Resolves after `time`, to the precision of the system. It costs more than [`sleep()`].
pub fn precise_sleep(time: Duration) -> Sleep {
    precise_sleep_until(after(time))
}

/// As [`precise_sleep`], at `deadline`.
pub fn precise_sleep_until(deadline: Instant) -> Sleep {
    let kind = match executor::current() {
        Some(executor) => SleepKind::Own { executor, timer: None },
        None => precise(deadline),
    };
    Sleep { deadline, kind }
}

fn precise(deadline: Instant) -> SleepKind {
    SleepKind::Precise(Delay::new(deadline.saturating_duration_since(now())))
}

fn after(time: Duration) -> Instant {
    let now = now();
    now.checked_add(time).unwrap_or(now + FAR)
}

impl Sleep {
    /// The time at which it resolves.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Sets another time.
    pub fn reset(&mut self, deadline: Instant) {
        match &mut self.kind {
            SleepKind::Tokio(sleep) => sleep.as_mut().reset(deadline.into()),
            SleepKind::Precise(delay) => delay.reset(deadline.saturating_duration_since(now())),
            SleepKind::Own { executor, timer } => {
                if let Some(number) = timer.take() {
                    executor.remove_timer(self.deadline, number);
                }
            }
        }
        self.deadline = deadline;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline;
        match &mut self.kind {
            SleepKind::Tokio(sleep) => sleep.as_mut().poll(task),
            SleepKind::Precise(delay) => delay.poll_unpin(task),
            SleepKind::Own { executor, timer } => {
                if executor.now() >= deadline {
                    if let Some(number) = timer.take() {
                        executor.remove_timer(deadline, number);
                    }
                    return Poll::Ready(());
                }
                match timer {
                    Some(number) => executor.renew_timer(deadline, *number, task.waker()),
                    None => *timer = Some(executor.add_timer(deadline, task.waker().clone())),
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let SleepKind::Own { executor, timer: Some(number) } = &self.kind {
            executor.remove_timer(self.deadline, *number);
        }
    }
}

impl std::fmt::Debug for Sleep {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// The time limit of [`timeout`] has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("deadline has elapsed")]
pub struct Elapsed;

/// The output of `future` if it is ready within `limit`.
///
/// # Errors
/// The limit has passed.
pub fn timeout<F: Future>(limit: Duration, future: F) -> impl Future<Output = Result<F::Output, Elapsed>> {
    limited(sleep(limit), future)
}

/// As [`timeout`], until `deadline`.
///
/// # Errors
/// The deadline has passed.
pub fn timeout_at<F: Future>(
    deadline: Instant,
    future: F,
) -> impl Future<Output = Result<F::Output, Elapsed>> {
    limited(sleep_until(deadline), future)
}

async fn limited<F: Future>(mut limit: Sleep, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    std::future::poll_fn(|task| match future.as_mut().poll(task) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => limit.poll_unpin(task).map(|()| Err(Elapsed)),
    })
    .await
}

/// What an [`Interval`] does about ticks that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissedTicks {
    /// They follow at once.
    Burst,
    /// They are left out; the next tick is a whole period after the late one.
    Delay,
}

/// Ticks at a fixed rate. See [`interval`].
#[derive(Debug)]
pub struct Interval {
    period: Duration,
    missed: MissedTicks,
    next: Sleep,
}

/// Ticks every `period`, the first time at once. Missed ticks follow in a burst.
pub fn interval(period: Duration) -> Interval {
    Interval { period, missed: MissedTicks::Burst, next: sleep_until(now()) }
}

impl Interval {
    /// Sets what happens about missed ticks.
    #[must_use]
    pub fn with_missed(self, missed: MissedTicks) -> Self {
        Self { missed, ..self }
    }

    /// Resolves at the next tick.
    pub async fn tick(&mut self) {
        (&mut self.next).await;
        let last = match self.missed {
            MissedTicks::Burst => self.next.deadline(),
            MissedTicks::Delay => now(),
        };
        self.next.reset(last + self.period);
    }
}
