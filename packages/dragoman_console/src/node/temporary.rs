//! Nodes for the endpoints that clients have in ROS for a while.
//!
//! r2r 0.9.7 does not release endpoints separately: a dropped subscription stays until a message comes for it, a
//! service until it is called, and a client of a service as long as its node.
//!
//! | what | on |
//! | --- | --- |
//! | subscriptions | a node for all clients. When most of them have ended it is replaced: the others move to the next node |
//! | clients of services | another node of the same kind, so that calls do not wait for subscriptions |
//! | services and actions that a client offers | a node of the client's own |
//!
//! A node is created when it is first needed.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use dragoman_ros::tasks::NodeError;
use dragoman_ros::{Context, Node};
use parking_lot::Mutex;

use super::ros::{self, Busy, Inside, Ros, RosThread};

/// Maximum number of services and actions that are offered on a node, which is not replaced before all on it has ended.
const MAX_OFFERED: usize = 1000;

/// Makes nodes when they are needed.
pub(crate) struct Temporary {
    /// Where everything is made that need not be replaced.
    gateway: Arc<Place>,
    context: Context,
    /// Endpoints that are made on a node before it is looked at; 0: all are made on the gateway's.
    replaced_after: usize,
    pub(crate) topics: Slot,
    pub(crate) calls: Slot,
    /// Nodes that were made.
    count: AtomicU64,
    /// Threads that are ending.
    ending: Arc<Mutex<Vec<RosThread>>>,
}

/// Has a node while something is on it.
#[derive(Default)]
pub(crate) struct Slot(Mutex<Weak<Place>>);

/// A node; it ends with the last thing that was made on it.
pub(crate) struct Place {
    pub(crate) ros: Ros,
    made: AtomicUsize,
    thread: Mutex<Option<RosThread>>,
    ending: Arc<Mutex<Vec<RosThread>>>,
}

impl Place {
    fn new(ros: Ros, thread: Option<RosThread>, ending: &Arc<Mutex<Vec<RosThread>>>) -> Self {
        Self { ros, made: AtomicUsize::new(0), thread: Mutex::new(thread), ending: Arc::clone(ending) }
    }

    async fn make<T: Send + 'static>(
        self: Arc<Self>,
        job: impl FnOnce(&mut Inside) -> T + Send + 'static,
    ) -> Result<(T, Arc<Self>), PlaceError> {
        self.made.fetch_add(1, Ordering::Relaxed);
        let made = self.ros.run(job).await?;
        Ok((made, self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(mut thread) = self.thread.lock().take() else { return };
        // Ending a node with a thousand endpoints takes a while: it is not waited for here.
        thread.stop();
        let mut ending = self.ending.lock();
        ending.retain(|thread| !thread.is_finished());
        ending.push(thread);
    }
}

/// No endpoint can be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceError {
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error("a node for clients: {0}")]
    Node(#[from] NodeError),
    #[error(
        "it has offered {MAX_OFFERED} services and actions: it can offer more when it has withdrawn all of them"
    )]
    Full,
}

impl Temporary {
    /// `gateway`: the console's own node.
    pub(crate) fn new(gateway: Ros, context: Context, replaced_after: usize) -> Self {
        let ending = Arc::default();
        Self {
            gateway: Arc::new(Place::new(gateway, None, &ending)),
            context,
            replaced_after,
            topics: Slot::default(),
            calls: Slot::default(),
            count: AtomicU64::new(0),
            ending,
        }
    }

    /// Makes one endpoint on the slot's node, and returns that, which lasts as long as it is kept.
    pub(crate) async fn make<T: Send + 'static>(
        &self,
        slot: &Slot,
        job: impl FnOnce(&mut Inside) -> T + Send + 'static,
    ) -> Result<(T, Arc<Place>), PlaceError> {
        self.place(slot)?.make(job).await
    }

    /// As [`make`](Self::make), for something that a client offers, in its own slot.
    pub(crate) async fn offer<T: Send + 'static>(
        &self,
        slot: &Slot,
        job: impl FnOnce(&mut Inside) -> T + Send + 'static,
    ) -> Result<(T, Arc<Place>), PlaceError> {
        let place = self.place(slot)?;
        if self.replaced_after > 0 && place.made.load(Ordering::Relaxed) >= MAX_OFFERED {
            return Err(PlaceError::Full);
        }
        place.make(job).await
    }

    fn place(&self, slot: &Slot) -> Result<Arc<Place>, NodeError> {
        if self.replaced_after == 0 {
            return Ok(Arc::clone(&self.gateway));
        }
        let mut current = slot.0.lock();
        if let Some(place) = current.upgrade() {
            return Ok(place);
        }
        let name = format!("console_clients_{}", self.count.fetch_add(1, Ordering::Relaxed) + 1);
        let (ros, thread) = ros::start(Node::create(self.context.clone(), &name, "")?, None)?;
        let place = Arc::new(Place::new(ros, Some(thread), &self.ending));
        *current = Arc::downgrade(&place);
        Ok(place)
    }

    /// Leaves the slot's node, if most of what was made on it has ended; returns whether it did. The caller moves what is left
    /// to the next node.
    pub(crate) fn replace(&self, slot: &Slot) -> bool {
        let mut current = slot.0.lock();
        let Some(place) = current.upgrade() else { return false };
        // One is this one.
        let (made, left) = (place.made.load(Ordering::Relaxed), Arc::strong_count(&place) - 1);
        let is_due = made >= self.replaced_after && made > 2 * left;
        if is_due {
            tracing::debug!(made, left, "node for clients replaced");
            *current = Weak::new();
        }
        is_due
    }
}
