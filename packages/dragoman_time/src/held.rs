//! What bounded things hold: bytes, connections, calls that wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::surroundings::shared;

/// What one holder has of a bounded thing. It is given back when this is dropped.
///
/// All holders of a kind are counted together, over all programs of a simulation: a test asks with
/// [`Simulation::held`](crate::Simulation::held) whether all was given back.
#[derive(Debug)]
pub struct Held {
    own: AtomicUsize,
    kind: Arc<KindCounters>,
}

/// The counters of all holders of a kind.
#[derive(Debug, Default)]
struct KindCounters {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// The kinds by name.
#[derive(Default)]
pub(crate) struct Kinds(Mutex<BTreeMap<&'static str, Arc<KindCounters>>>);

/// What all holders of a kind have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Sum of all holders at present.
    pub now: usize,
    /// Maximum of that sum since the start.
    pub most: usize,
}

impl Held {
    /// Nothing yet. `kind` names the thing and its unit, as "bytes of answers that wait".
    pub fn new(kind: &'static str) -> Self {
        let kind = Arc::clone(shared::<Kinds>().0.lock().entry(kind).or_default());
        Self { own: AtomicUsize::new(0), kind }
    }

    /// Takes more; returns what it has now.
    pub fn add(&self, count: usize) -> usize {
        let now = self.kind.now.fetch_add(count, Ordering::Relaxed) + count;
        self.kind.most.fetch_max(now, Ordering::Relaxed);
        self.own.fetch_add(count, Ordering::Relaxed) + count
    }

    /// Gives back `count`, or what it has if that is less.
    pub fn remove(&self, count: usize) {
        let take = |own: usize| Some(own.saturating_sub(count));
        // The closure always returns a value.
        let own = self.own.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
        self.kind.now.fetch_sub(own.min(count), Ordering::Relaxed);
    }

    /// Has this much from now on. For holders that are changed by one thread at a time.
    pub fn set(&self, count: usize) {
        let own = self.get();
        if count > own {
            self.add(count - own);
        } else {
            self.remove(own - count);
        }
    }

    /// What it has.
    pub fn get(&self) -> usize {
        self.own.load(Ordering::Relaxed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.remove(usize::MAX);
    }
}

impl Kinds {
    /// The figures of all kinds that anything was held of.
    pub(crate) fn figures(&self) -> BTreeMap<&'static str, Figures> {
        let kinds = self.0.lock();
        let figures = |kind: &KindCounters| Figures {
            now: kind.now.load(Ordering::Relaxed),
            most: kind.most.load(Ordering::Relaxed),
        };
        kinds.iter().map(|(name, kind)| (*name, figures(kind))).filter(|(_, held)| held.most > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    #[test]
    fn what_is_held_is_counted_for_all_holders_of_a_simulation() {
        let (simulation, other) = (Simulation::new(1), Simulation::new(1));
        let held = |now, most| BTreeMap::from([("bytes", Figures { now, most })]);
        let [first, second] = simulation.enter(|| [Held::new("bytes"), Held::new("bytes")]);
        assert!(simulation.held().is_empty());
        first.add(5);
        assert_eq!(second.add(7), 7);
        assert_eq!(simulation.held(), held(12, 12));
        second.set(3);
        first.remove(1000);
        assert_eq!((first.get(), simulation.held()), (0, held(3, 12)));
        drop(second);
        assert_eq!(simulation.held(), held(0, 12));
        assert!(other.held().is_empty());
    }
}
