//! Health of the middleware: whether it works and is reached, and its refusals.

use crate::Context;
use crate::diagnostics::Severity;

/// Activity of the middleware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Loop counts of its threads; each completes a loop at least every two seconds. On rcl these are the threads that
    /// wait for the messages of a node; in memory there are none.
    pub turns: Vec<u64>,
    /// Invalid or excessive input refused since the start of the process, by kind. rcl's middlewares do not report any.
    pub refused: Vec<(&'static str, u64)>,
    /// Why other ROS nodes do not reach this process. Only the embedded implementation checks this.
    pub faults: Vec<Fault>,
    /// Number of checks for `faults` so far.
    pub checks: u64,
}

/// A fault of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How much of the network it affects: [`Severity::Warn`] or [`Severity::Error`].
    pub severity: Severity,
    /// Effect, cause and remedy. The same as long as the fault lasts.
    pub text: String,
}

/// The health of the middleware.
#[cfg(not(feature = "r2r"))]
pub fn of(context: &Context) -> Health {
    let health = context.participant().health();
    Health { turns: health.turns, refused: health.refused, faults: health.faults, checks: health.checks }
}

/// The health of the middleware.
#[cfg(feature = "r2r")]
pub fn of(context: &Context) -> Health {
    Health { turns: context.threads.turns(), ..Health::default() }
}

/// Detects a thread of the middleware that has ended or hangs: the process, or on rcl a node, then receives nothing.
#[derive(Debug, Default)]
pub struct Watchdog {
    last: Vec<u64>,
    /// Checks since each thread last made progress.
    missed: Vec<u32>,
}

/// Consecutive checks without progress that are allowed.
const MAX_MISSED: u32 = 15;

impl Watchdog {
    /// Checks once; call it every second. It counts checks, not time: a process that was stopped and continued has not
    /// hung. Returns whether a thread is dead.
    pub fn is_dead(&mut self, health: &Health) -> bool {
        if self.last.len() != health.turns.len() {
            self.missed = vec![0; health.turns.len()];
        } else {
            for ((missed, last), now) in self.missed.iter_mut().zip(&self.last).zip(&health.turns) {
                *missed = if last == now { *missed + 1 } else { 0 };
            }
        }
        self.last.clone_from(&health.turns);
        self.missed.iter().any(|missed| *missed >= MAX_MISSED)
    }
}

/// Logs each fault of the network when it appears and when it ends.
#[derive(Debug, Default)]
pub struct FaultLog {
    known: Vec<Fault>,
}

impl FaultLog {
    /// Logs what has changed since the last call.
    pub fn log(&mut self, faults: &[Fault]) {
        for fault in faults.iter().filter(|fault| !self.known.contains(fault)) {
            match fault.severity {
                Severity::Error => tracing::error!("{}", fault.text),
                _ => tracing::warn!("{}", fault.text),
            }
        }
        for fault in self.known.iter().filter(|fault| !faults.contains(fault)) {
            tracing::info!("resolved: {}", fault.text);
        }
        self.known = faults.to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_stands_still_for_long_is_dead() {
        let mut watchdog = Watchdog::default();
        let mut look =
            |turns: [u64; 2]| watchdog.is_dead(&Health { turns: turns.to_vec(), ..Health::default() });
        assert!((0..100).all(|turn| !look([turn, turn / 3])), "a thread may take its time");
        let still = (1..=15).map(|turn| look([100 + turn, 33])).collect::<Vec<_>>();
        assert_eq!(still.iter().position(|is_dead| *is_dead), Some(14), "{still:?}");
        assert!(!look([200, 34]), "it goes on");
    }
}
