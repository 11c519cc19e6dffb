//! A time that may run at another speed than real time, or stand still: that of simulated devices and their drivers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_time::watch;
use parking_lot::Mutex;

/// A time that begins at zero. Clones share it.
#[derive(Debug, Clone)]
pub struct Timeline {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<TimelineState>,
    /// Its speed has changed, or it has jumped.
    changed: watch::Sender<()>,
}

#[derive(Debug, Clone, Copy)]
struct TimelineState {
    time: Duration,
    at: Instant,
    /// Its speed relative to real time.
    factor: f64,
}

impl TimelineState {
    fn time_at(&self, at: Instant) -> Duration {
        let passed = at.saturating_duration_since(self.at);
        // Exact, and without the conversion to floating point, for real devices.
        self.time + if self.factor == 1.0 { passed } else { passed.mul_f64(self.factor) }
    }
}

/// Real time.
impl Default for Timeline {
    fn default() -> Self {
        let state = TimelineState { time: Duration::ZERO, at: dragoman_time::now(), factor: 1.0 };
        Self { shared: Arc::new(Shared { state: Mutex::new(state), changed: watch::Sender::new(()) }) }
    }
}

impl Timeline {
    /// The present time.
    pub fn now(&self) -> Duration {
        self.shared.state.lock().time_at(dragoman_time::now())
    }

    /// Its speed relative to real time; 0: it stands still.
    pub fn factor(&self) -> f64 {
        self.shared.state.lock().factor
    }

    /// Changes its speed; a factor that is negative or not finite stops it.
    pub fn set_factor(&self, factor: f64) {
        self.change(|state| state.factor = if factor.is_finite() { factor.max(0.0) } else { 0.0 });
    }

    /// Lets it jump ahead.
    pub fn skip(&self, time: Duration) {
        self.change(|state| state.time = state.time.saturating_add(time));
    }

    /// Waits until this time, however its speed changes meanwhile.
    pub async fn sleep_until(&self, time: Duration) {
        let mut changes = self.shared.changed.subscribe();
        loop {
            changes.mark_unchanged();
            let at = dragoman_time::now();
            let state = *self.shared.state.lock();
            let rest = time.saturating_sub(state.time_at(at));
            if rest.is_zero() {
                return;
            }
            let due = async {
                // So slow that its end is out of range: as if it stood still.
                match Duration::try_from_secs_f64(rest.as_secs_f64() / state.factor) {
                    Ok(wait) => dragoman_time::sleep_until(at + wait).await,
                    Err(_) => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = due => {}
                // The sender lives as long as this.
                _ = changes.changed() => {}
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut TimelineState)) {
        {
            let mut state = self.shared.state.lock();
            let at = dragoman_time::now();
            (state.time, state.at) = (state.time_at(at), at);
            change(&mut state);
        }
        self.shared.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn time_runs_faster_slower_stands_still_and_jumps() {
        dragoman_time::Simulation::new(1).block_on(async {
            let timeline = Timeline::default();
            for (factor, real, time) in [(1.0, 2.0, 2.0), (0.5, 2.0, 3.0), (0.0, 7.0, 3.0), (10.0, 1.0, 13.0)]
            {
                timeline.set_factor(factor);
                dragoman_time::sleep(seconds(real)).await;
                assert!((timeline.now().as_secs_f64() - time).abs() < 1e-6, "{factor}: {:?}", timeline.now());
            }
            timeline.set_factor(f64::NAN);
            assert_eq!(timeline.factor(), 0.0);
            timeline.skip(seconds(5.0));
            assert!((timeline.now().as_secs_f64() - 18.0).abs() < 1e-6);
        });
    }

    #[test]
    fn sleep_follows_changes_of_the_speed() {
        dragoman_time::Simulation::new(1).block_on(async {
            let timeline = Timeline::default();
            let began = dragoman_time::now();
            let sleeper = timeline.clone();
            let sleep = dragoman_time::spawn(async move { sleeper.sleep_until(seconds(10.0)).await });
            dragoman_time::sleep(seconds(1.0)).await;
            timeline.set_factor(0.0);
            dragoman_time::sleep(seconds(100.0)).await;
            assert!(!sleep.is_finished());
            // 9 s are left: 4 s at half the speed take 8 s, the last five 1 s at five times the speed.
            timeline.set_factor(0.5);
            dragoman_time::sleep(seconds(8.0)).await;
            timeline.set_factor(5.0);
            sleep.await.unwrap();
            let passed = dragoman_time::since(began).as_secs_f64();
            assert!((passed - 110.0).abs() < 0.01, "{passed}");
        });
    }

    #[test]
    fn a_jump_ends_a_sleep() {
        dragoman_time::Simulation::new(1).block_on(async {
            let timeline = Timeline::default();
            timeline.set_factor(0.0);
            let sleeper = timeline.clone();
            let sleep = dragoman_time::spawn(async move { sleeper.sleep_until(seconds(1.0)).await });
            dragoman_time::sleep(seconds(1.0)).await;
            timeline.skip(seconds(0.4));
            dragoman_time::sleep(seconds(1.0)).await;
            assert!(!sleep.is_finished());
            timeline.skip(seconds(0.6));
            sleep.await.unwrap();
        });
    }
}
