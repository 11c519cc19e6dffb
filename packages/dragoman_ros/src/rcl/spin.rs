//! The thread that waits for what arrives for a node.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Node;

/// The longest wait. As soon as it is over, a node looks whether it is to end, and whether servers that are waited for are there.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// The first wait after something has arrived for a node with actions. r2r sends the answer to a cancel request when a wait begins.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// A node that is being waited for. Once it is dropped, its thread ends, with the node, within [`LONGEST_WAIT`].
#[derive(Debug)]
pub(crate) struct Spinner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    leaving: Arc<Leaving>,
}

impl Spinner {
    pub(crate) fn start(mut node: Node) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        // Not the thread's: whoever has it last waits for the thread.
        let leaving = node.leaving.take().unwrap_or_default();
        let thread = std::thread::Builder::new().name("ros spin".into()).spawn(move || {
            let mut wait = LONGEST_WAIT;
            while !stopped.load(Ordering::Relaxed) {
                let arrived = node.spin(wait);
                wait = if arrived && node.has_actions() { SHORTEST_WAIT } else { LONGEST_WAIT.min(wait * 2) };
            }
        })?;
        Ok(Self { stop, thread: Some(thread), leaving })
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            self.leaving.add(thread);
        }
    }
}

/// Threads that are about to end. The last user of a context waits for them: a process must not exit while the middleware
/// is in use.
#[derive(Debug, Default)]
pub(super) struct Leaving(Mutex<Vec<JoinHandle<()>>>);

impl Leaving {
    fn add(&self, thread: JoinHandle<()>) {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        for thread in self.0.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A panic has been reported.
            let _ = thread.join();
        }
    }
}
