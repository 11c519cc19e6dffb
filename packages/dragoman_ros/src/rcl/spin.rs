//! The thread that waits for messages of a node.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use super::Node;

/// Maximum wait. After it a node checks whether it must end, and whether awaited servers are available.
const MAX_WAIT: Duration = Duration::from_millis(100);
/// The first wait after an arrival, for a node with actions. r2r sends the response to a cancel request at the
/// beginning of a wait.
const MIN_WAIT: Duration = Duration::from_millis(1);

/// A node with its waiting thread. When it is dropped, the thread ends, with the node, within [`MAX_WAIT`].
#[derive(Debug)]
pub(crate) struct Spinner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    threads: Arc<Threads>,
}

impl Spinner {
    pub(crate) fn start(mut node: Node) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        // Not owned by the thread: the last owner waits for the thread.
        let threads = node.threads.take().unwrap_or_default();
        let turns = threads.count_turns();
        let thread = std::thread::Builder::new().name("ros spin".into()).spawn(move || {
            let mut wait = MAX_WAIT;
            while !stopped.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
                let arrived = node.spin(wait);
                wait = if arrived && node.has_actions() { MIN_WAIT } else { MAX_WAIT.min(wait * 2) };
            }
        })?;
        Ok(Self { stop, thread: Some(thread), threads })
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            self.threads.leave(thread);
        }
    }
}

/// The threads of a context's nodes. The last user of the context waits for ending threads: a process must not exit
/// while the middleware is in use.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    leaving: Mutex<Vec<JoinHandle<()>>>,
    /// The loop counts of the other threads.
    turns: Mutex<Vec<Weak<AtomicU64>>>,
}

impl Threads {
    /// The loop count of each thread, which advances at least once in [`MAX_WAIT`].
    pub(crate) fn turns(&self) -> Vec<u64> {
        let turns = self.turns.lock();
        turns.iter().filter_map(Weak::upgrade).map(|turns| turns.load(Ordering::Relaxed)).collect()
    }

    /// A counter for a new thread, which holds it until it ends.
    fn count_turns(&self) -> Arc<AtomicU64> {
        let counter = Arc::<AtomicU64>::default();
        let mut turns = self.turns.lock();
        turns.retain(|turns| turns.strong_count() > 0);
        turns.push(Arc::downgrade(&counter));
        counter
    }

    fn leave(&self, thread: JoinHandle<()>) {
        let mut threads = self.leaving.lock();
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.leaving.get_mut().drain(..) {
            // The panic was already reported.
            let _ = thread.join();
        }
    }
}
