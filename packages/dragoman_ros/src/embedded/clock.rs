//! Clocks, `/clock` and timers.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use dragoman_time::precise_sleep;

use super::error::{Error, Result};
use super::node::Node;
use super::qos::QosProfile;
use crate::times::SharedClock;
use crate::{builtin_interfaces, rosgraph_msgs};

/// Kind of a clock's time.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ClockType {
    /// System time, or `/clock` while a [`TimeSource`] is enabled.
    RosTime,
    SystemTime,
    SteadyTime,
}

/// Reads one [`ClockType`] and wakes the tasks that wait for simulated time.
#[derive(Debug)]
pub struct Clock {
    clock_type: ClockType,
    /// The last time from `/clock`.
    simulated: Option<Duration>,
    waiting: Vec<Waker>,
}

impl Clock {
    /// A clock of the given type.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn create(clock_type: ClockType) -> Result<Self> {
        Ok(Self { clock_type, simulated: None, waiting: Vec::new() })
    }

    /// Time since the clock's epoch: 1970 for system time, an arbitrary instant for steady time.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn get_now(&mut self) -> Result<Duration> {
        if let Some(simulated) = self.simulated {
            return Ok(simulated);
        }
        Ok(match self.clock_type {
            ClockType::SteadyTime => steady_time(),
            _ => dragoman_time::wall_time(),
        })
    }

    /// The type that the clock was created with.
    pub fn get_clock_type(&self) -> ClockType {
        self.clock_type
    }

    /// A duration since the epoch as a message.
    pub fn to_builtin_time(time: &Duration) -> builtin_interfaces::msg::Time {
        builtin_interfaces::msg::Time {
            sec: i32::try_from(time.as_secs()).unwrap_or(i32::MAX),
            nanosec: time.subsec_nanos(),
        }
    }

    fn set_simulated(&mut self, time: Option<Duration>) {
        self.simulated = time;
        for waker in self.waiting.drain(..) {
            waker.wake();
        }
    }
}

/// Time since the first call of the lab, or of the process.
fn steady_time() -> Duration {
    struct Start(Instant);
    impl Default for Start {
        fn default() -> Self {
            Self(dragoman_time::now())
        }
    }
    dragoman_time::since(dragoman_time::own::<Start>().0)
}

/// Makes a node's clock follow `/clock`.
#[derive(Clone, Debug)]
pub struct TimeSource {
    clock: Weak<Mutex<Clock>>,
    enabled: Arc<std::sync::atomic::AtomicBool>,
}

impl TimeSource {
    pub(crate) fn new(clock: &SharedClock) -> Self {
        Self { clock: Arc::downgrade(clock), enabled: Arc::default() }
    }

    /// Makes the node's clock show the time of `/clock`; zero until the first message arrives.
    ///
    /// # Errors
    /// `/clock` cannot be subscribed.
    pub fn enable_sim_time(&self, node: &mut Node) -> Result<()> {
        use futures::StreamExt;
        use std::sync::atomic::Ordering;
        if self.enabled.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let qos = QosProfile::default().keep_last(1).best_effort();
        let mut times = node.subscribe::<rosgraph_msgs::msg::Clock>("/clock", qos)?;
        if let Some(clock) = self.clock.upgrade() {
            lock(&clock).set_simulated(Some(Duration::ZERO));
        }
        let (clock, enabled) = (Weak::clone(&self.clock), Arc::clone(&self.enabled));
        node.context().background().spawn(async move {
            while let Some(message) = times.next().await {
                let Some(clock) = clock.upgrade().filter(|_| enabled.load(Ordering::Relaxed)) else { return };
                let seconds = u64::try_from(message.clock.sec).unwrap_or(0);
                let time = Duration::from_secs(seconds) + Duration::from_nanos(message.clock.nanosec.into());
                lock(&clock).set_simulated(Some(time));
            }
        });
        Ok(())
    }

    /// Makes the node's clock show system time again.
    pub fn disable_sim_time(&self) {
        self.enabled.store(false, std::sync::atomic::Ordering::Relaxed);
        if let Some(clock) = self.clock.upgrade() {
            lock(&clock).set_simulated(None);
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fires at a fixed rate; missed ticks are skipped.
#[derive(Debug)]
pub struct Timer {
    period: Duration,
    clock: SharedClock,
    /// Time of the last tick, and of the next.
    last: Duration,
    next: Duration,
}

impl Timer {
    pub(crate) fn new(clock: SharedClock, period: Duration) -> Result<Self> {
        if period.is_zero() {
            return Err(Error::InvalidArgument("a timer's period must be longer than zero".into()));
        }
        let now = lock(&clock).get_now()?;
        Ok(Self { period, clock, last: now, next: now + period })
    }

    /// Waits for the next tick and returns the time since the last one.
    ///
    /// # Errors
    /// None in this implementation.
    pub async fn tick(&mut self) -> Result<Duration> {
        let now = loop {
            let (now, simulated) = {
                let mut clock = lock(&self.clock);
                (clock.get_now()?, clock.simulated.is_some())
            };
            // A clock that was set back, or that has just started to follow /clock, must not stop the timer.
            if self.next > now + self.period {
                self.next = now + self.period;
            }
            if now >= self.next {
                break now;
            }
            if simulated {
                self.clock_change(now).await;
            } else {
                precise_sleep(self.next - now).await;
            }
        };
        let since_last = now.saturating_sub(self.last);
        self.last = now;
        // After a jump of any length one tick stands for all missed ones; the next is in phase with the earlier ones.
        let beyond = (now - self.next).as_nanos() % self.period.as_nanos();
        let beyond = Duration::from_nanos(u64::try_from(beyond).unwrap_or_default());
        self.next = now.saturating_add(self.period - beyond.min(self.period));
        Ok(since_last)
    }

    /// Resolves when the simulated clock shows another time than `seen`, or no longer follows `/clock`.
    async fn clock_change(&self, seen: Duration) {
        std::future::poll_fn(|task| {
            let mut clock = lock(&self.clock);
            if clock.simulated == Some(seen) {
                clock.waiting.push(task.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn a_clock_that_jumps_ahead_fires_a_timer_once() {
        let clock = Arc::new(Mutex::new(Clock::create(ClockType::RosTime).unwrap()));
        let set = |time: Duration| lock(&clock).set_simulated(Some(time));
        set(Duration::ZERO);
        let period = Duration::from_millis(1);
        let mut timer = Timer::new(Arc::clone(&clock), period).unwrap();
        assert!(timer.tick().now_or_never().is_none());
        // From the start of a simulation to the present: more periods than a u32 counts.
        let present = Duration::from_micros(1_800_000_000_000_300);
        set(present);
        assert_eq!(timer.tick().now_or_never().unwrap().unwrap(), present);
        assert!(timer.tick().now_or_never().is_none(), "it fires once for all that were missed");
        // In phase with the earlier ticks.
        set(present + Duration::from_micros(699));
        assert!(timer.tick().now_or_never().is_none());
        set(present + Duration::from_micros(700));
        assert!(timer.tick().now_or_never().is_some());
    }
}
