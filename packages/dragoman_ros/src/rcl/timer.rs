//! Timers. Those on steady time do not use rcl: each tick would cost a check of everything that the node waits for.

use std::time::{Duration, Instant};

use dragoman_time::precise_sleep;

use crate::{Error, Result};

/// Fires at a fixed rate; missed ticks are skipped.
pub struct Timer(TimerKind);

enum TimerKind {
    Wall { period: Duration, last: Instant, next: Instant },
    Ros(r2r::Timer),
}

impl Timer {
    pub(super) fn wall(period: Duration) -> Result<Self> {
        if period.is_zero() {
            return Err(Error::RCL_RET_INVALID_ARGUMENT);
        }
        let last = dragoman_time::now();
        Ok(Self(TimerKind::Wall { period, last, next: last + period }))
    }

    pub(super) fn ros(timer: r2r::Timer) -> Self {
        Self(TimerKind::Ros(timer))
    }

    /// Waits for the next tick and returns the time since the last one.
    ///
    /// # Errors
    /// The node is gone.
    pub async fn tick(&mut self) -> Result<Duration> {
        let (period, last, next) = match &mut self.0 {
            TimerKind::Ros(timer) => return timer.tick().await,
            TimerKind::Wall { period, last, next } => (*period, last, next),
        };
        let mut now = dragoman_time::now();
        while now < *next {
            precise_sleep(*next - now).await;
            now = dragoman_time::now();
        }
        let since_last = now - *last;
        *last = now;
        let beyond = (now - *next).as_nanos() % period.as_nanos();
        *next = now + period - Duration::from_nanos(u64::try_from(beyond).unwrap_or_default());
        Ok(since_last)
    }
}

#[cfg(test)]
mod tests {
    use dragoman_time::Simulation;

    use super::*;

    #[test]
    fn missed_ticks_are_skipped() {
        let period = Duration::from_millis(20);
        Simulation::new(0).block_on(async {
            let mut timer = Timer::wall(period).unwrap();
            precise_sleep(period * 5 / 2).await;
            assert_eq!(timer.tick().await.unwrap(), period * 5 / 2);
            assert_eq!(timer.tick().await.unwrap(), period / 2);
            assert_eq!(timer.tick().await.unwrap(), period);
            assert!(Timer::wall(Duration::ZERO).is_err());
        });
    }
}
