//! Periodic tasks: by the real clock or, if the worlds' time runs as fast as possible, by that.

use std::time::Duration;

use dragoman_ros::Result;
use dragoman_ros::tasks::NodeTasks;
use dragoman_time::Work;

use super::Live;

/// Periodic tasks in the worlds' time.
pub(super) struct Rhythm {
    /// `None`: the real clock is used.
    turns: Option<Vec<Turn>>,
}

struct Turn {
    period: Duration,
    /// Due time, in the worlds' time.
    due: Duration,
    act: Box<dyn FnMut() + Send>,
}

impl Rhythm {
    pub(super) fn new(as_fast_as_possible: bool) -> Self {
        Self { turns: as_fast_as_possible.then(Vec::new) }
    }

    /// Calls `act` once per `period`.
    pub(super) fn every(
        &mut self,
        tasks: &mut NodeTasks,
        period: Duration,
        act: impl FnMut() + Send + 'static,
    ) -> Result<()> {
        match &mut self.turns {
            None => tasks.every(period, act),
            Some(turns) => {
                turns.push(Turn { period, due: period, act: Box::new(act) });
                Ok(())
            }
        }
    }

    /// Starts advancing the worlds' time, if it runs as fast as possible.
    pub(super) fn start(self, tasks: &mut NodeTasks, live: &Live) {
        let (Some(mut turns), live) = (self.turns, live.clone()) else { return };
        tasks.spawn(async move {
            while next(&mut turns, &live) {
                // Requests are handled in between.
                dragoman_time::yield_after(Work::WORLDS).await;
            }
        });
    }
}

/// Advances the time to the next task, and runs it; `false` if there is none. Tasks missed because another request
/// advanced the time are not repeated.
fn next(turns: &mut [Turn], live: &Live) -> bool {
    let time = live.time();
    for turn in turns.iter_mut() {
        // After a reset the time begins at zero again.
        turn.due = turn.due.min(time + turn.period);
    }
    let Some(due) = turns.iter().map(|turn| turn.due).min() else { return false };
    let now = live.with(|state| {
        let rest = due.saturating_sub(state.pace.time());
        if let Err(error) = state.pace.step(rest.as_secs_f64()) {
            state.refuse(&error);
        }
        state.pace.time()
    });
    // The conversion to floating-point seconds may have lost a nanosecond.
    let now = now.max(due);
    for turn in turns.iter_mut().filter(|turn| turn.due <= now) {
        (turn.act)();
        turn.due = (turn.due + turn.period).max(now);
    }
    true
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::super::pace::{Pace, Speed};
    use dragoman_geometry::Twist;

    use super::*;
    use crate::Worlds;

    #[test]
    fn every_turn_comes_at_its_time_in_the_worlds() {
        let worlds = Worlds::load_default().unwrap();
        let pace = Pace::new(worlds, Speed::AsFastAsPossible, Duration::from_millis(600));
        let live = Live::new(pace, Vec::new(), Box::new(|| Ok(Worlds::load_default().unwrap())));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut turns: Vec<Turn> = [("a", 50), ("b", 80)]
            .map(|(name, period)| {
                let (seen, live, period) = (Arc::clone(&seen), live.clone(), Duration::from_millis(period));
                let act = move || seen.lock().push((name, live.time().as_secs_f64()));
                Turn { period, due: period, act: Box::new(act) }
            })
            .into();
        live.command("World 1", "Neo", Twist::new(0.5, 0.0));
        let x = || live.with(|state| state.pace.worlds().location_m_robot(None, "Neo").unwrap()[0]);
        let before = x();
        for _ in 0..4 {
            assert!(next(&mut turns, &live));
        }
        let expected = [("a", 0.05), ("b", 0.08), ("a", 0.10), ("a", 0.15)];
        let near = |(seen, expected): (&(&str, f64), (&str, f64))| {
            seen.0 == expected.0 && (seen.1 - expected.1).abs() < 1e-6
        };
        let times = seen.lock().clone();
        assert!(times.len() == 4 && times.iter().zip(expected).all(near), "{times:?}");
        // Independent of the time by the real clock.
        assert!((x() - before - 0.5 * 0.15).abs() < 1e-6, "{}", x() - before);
        for _ in 0..1000 {
            next(&mut turns, &live);
        }
        assert!((x() - before - 0.5 * 0.6).abs() < 1e-6, "the command has expired in the worlds' time");
        assert!(!next(&mut [], &live));
    }

    #[test]
    fn after_a_reset_the_turns_follow_the_new_time() {
        let pace =
            Pace::new(Worlds::load_default().unwrap(), Speed::AsFastAsPossible, Duration::from_millis(600));
        let live = Live::new(pace, Vec::new(), Box::new(|| Ok(Worlds::load_default().unwrap())));
        let period = Duration::from_millis(50);
        let mut turns = [Turn { period, due: period, act: Box::new(|| {}) }];
        (0..100).for_each(|_| assert!(next(&mut turns, &live)));
        assert_eq!(live.time(), 100 * period);
        live.reset().unwrap();
        assert_eq!(live.time(), Duration::ZERO);
        assert!(next(&mut turns, &live));
        assert_eq!(live.time(), period);
        // The speed is the computer's.
        for refused in [live.start(), live.pause(), live.stop(), live.set_speed(2.0)] {
            assert_eq!(refused, Err(super::super::ControlError::AsFastAsPossible));
        }
    }
}
