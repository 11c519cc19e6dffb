//! The time that the cores get: since the start of the lab, or in real time of the process.

use std::time::{Duration, Instant};

/// When the time was first read.
struct Start(Instant);

impl Default for Start {
    fn default() -> Self {
        Self(dragoman_time::now())
    }
}

fn start() -> Instant {
    dragoman_time::own::<Start>().0
}

/// The current time.
pub(crate) fn now() -> Duration {
    dragoman_time::since(start())
}

/// Resolves at this time; with `None` it never resolves.
pub(crate) async fn until(time: Option<Duration>) {
    match time.and_then(|time| start().checked_add(time)) {
        Some(time) => dragoman_time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use dragoman_time::Simulation;

    use super::*;

    #[test]
    fn the_time_of_a_lab_begins_with_it() {
        const LATER: Duration = Duration::from_secs(3600);
        for seed in 0..2 {
            let times = Simulation::new(seed).block_on(async {
                let begin = now();
                until(Some(LATER)).await;
                [begin, now()]
            });
            assert_eq!(times, [Duration::ZERO, LATER]);
        }
    }
}
