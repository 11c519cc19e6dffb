//! Nodes for what clients have in ROS for a while: subscriptions, and clients of services.
//!
//! r2r 0.9.7 gives back neither on its own: a subscription that was dropped stays until a message comes for it, and a client
//! of a service as long as its node. So both are made on a node that is replaced when most of what was made on it has ended;
//! what has not is made anew on the next one. There is none before the first is needed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use dragoman_ros::{Context, Node};

use super::ros::{self, Busy, Inside, Ros, RosThread};

/// Makes nodes when they are needed.
pub(crate) struct Temporary {
    /// Where everything is made that need not be replaced.
    gateway: Arc<Place>,
    context: Context,
    /// Endpoints that are made on a node before it is looked at; 0: all are made on the gateway's.
    replaced_after: usize,
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    place: Weak<Place>,
    /// Nodes that were made.
    count: u64,
    /// Threads that are ending.
    ending: Arc<Mutex<Vec<RosThread>>>,
}

/// A node; it ends with the last thing that was made on it.
pub(crate) struct Place {
    ros: Ros,
    made: AtomicUsize,
    thread: Mutex<Option<RosThread>>,
    ending: Arc<Mutex<Vec<RosThread>>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(mut thread) = lock(&self.thread).take() else { return };
        // Its node may have a thousand endpoints: nobody here waits for that.
        thread.stop();
        let mut ending = lock(&self.ending);
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
    Node(#[from] dragoman_ros::tasks::NodeError),
}

impl Temporary {
    /// `gateway`: the console's own node.
    pub(crate) fn new(gateway: Ros, context: Context, replaced_after: usize) -> Self {
        let gateway = Arc::new(Place {
            ros: gateway,
            made: AtomicUsize::new(0),
            thread: Mutex::default(),
            ending: Arc::default(),
        });
        Self { gateway, context, replaced_after, current: Mutex::default() }
    }

    /// Makes one endpoint, and returns its place, which lasts as long as this is kept.
    pub(crate) async fn make<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Inside) -> T + Send + 'static,
    ) -> Result<(T, Arc<Place>), PlaceError> {
        let place = self.place()?;
        place.made.fetch_add(1, Ordering::Relaxed);
        let made = place.ros.run(job).await?;
        Ok((made, place))
    }

    fn place(&self) -> Result<Arc<Place>, PlaceError> {
        if self.replaced_after == 0 {
            return Ok(Arc::clone(&self.gateway));
        }
        let mut current = lock(&self.current);
        if let Some(place) = current.place.upgrade() {
            return Ok(place);
        }
        current.count += 1;
        let name = format!("console_clients_{}", current.count);
        let node =
            Node::create(self.context.clone(), &name, "").map_err(dragoman_ros::tasks::NodeError::from)?;
        let (ros, thread) = ros::start(node, None)?;
        let place = Arc::new(Place {
            ros,
            made: AtomicUsize::new(0),
            thread: Mutex::new(Some(thread)),
            ending: Arc::clone(&current.ending),
        });
        current.place = Arc::downgrade(&place);
        Ok(place)
    }

    /// Leaves the present node for another one, if most of what was made on it has ended; returns whether it did. What is
    /// left on it has to be made anew.
    pub(crate) fn replace(&self) -> bool {
        let mut current = lock(&self.current);
        let Some(place) = current.place.upgrade() else { return false };
        // One is this one.
        let (made, left) = (place.made.load(Ordering::Relaxed), Arc::strong_count(&place) - 1);
        let is_due = made >= self.replaced_after && made > 2 * left;
        if is_due {
            tracing::debug!(made, left, "the node for clients is replaced");
            current.place = Weak::new();
        }
        is_due
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
