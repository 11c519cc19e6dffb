//! Keeps a node alive and, with r2r, delivering.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::Node;

/// How long r2r may block for one delivery, and so how long the end of a node may take.
const SPIN_TIMEOUT: Duration = Duration::from_millis(100);

/// Spins a node on a thread of its own until it is dropped: `spin_once` blocks.
#[derive(Debug)]
pub struct Spinner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Takes over a node whose publishers, streams and clients have all been made.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(mut node: Node) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("ros spin".into()).spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                node.spin_once(SPIN_TIMEOUT);
            }
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
