//! Health of the middleware: whether it works, and its refusals.

use crate::Context;

/// Activity of the middleware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Loop counts of its threads; each completes a loop at least every two seconds. On rcl these are the threads that
    /// wait for the messages of a node; in memory there are none.
    pub turns: Vec<u64>,
    /// Invalid or excessive input refused since the start of the process, by kind. rcl's middlewares do not report any.
    pub refused: Vec<(&'static str, u64)>,
}

/// The health of the middleware.
#[cfg(not(feature = "r2r"))]
pub fn of(context: &Context) -> Health {
    let health = context.participant().health();
    Health { turns: health.turns, refused: health.refused }
}

/// The health of the middleware.
#[cfg(feature = "r2r")]
pub fn of(context: &Context) -> Health {
    Health { turns: context.threads.turns(), refused: Vec::new() }
}

/// Detects a thread of the middleware that has ended or hangs, so that the process, or on rcl a node, receives nothing.
#[derive(Debug, Default)]
pub struct Watchdog {
    last: Vec<u64>,
    /// Checks since each thread last made progress.
    missed: Vec<u32>,
}

/// Consecutive checks without progress that are allowed.
const MOST_MISSED: u32 = 15;

impl Watchdog {
    /// Checks once; call it every second. It counts checks, not time: a process that was stopped and continued has not
    /// hung. Returns whether a thread is dead.
    pub fn is_deaf(&mut self, health: &Health) -> bool {
        if self.last.len() != health.turns.len() {
            self.missed = vec![0; health.turns.len()];
        } else {
            for ((missed, last), now) in self.missed.iter_mut().zip(&self.last).zip(&health.turns) {
                *missed = if last == now { *missed + 1 } else { 0 };
            }
        }
        self.last.clone_from(&health.turns);
        self.missed.iter().any(|missed| *missed >= MOST_MISSED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_stands_still_for_long_is_dead() {
        let mut watchdog = Watchdog::default();
        let mut look =
            |turns: [u64; 2]| watchdog.is_deaf(&Health { turns: turns.to_vec(), refused: Vec::new() });
        assert!((0..100).all(|turn| !look([turn, turn / 3])), "a thread may take its time");
        let still = (1..=15).map(|turn| look([100 + turn, 33])).collect::<Vec<_>>();
        assert_eq!(still.iter().position(|is_deaf| *is_deaf), Some(14), "{still:?}");
        assert!(!look([200, 34]), "it goes on");
    }
}
