//! A value whose changes can be awaited. `tokio::sync::watch` wakes the waiting tasks in a random order; here it is the
//! order in which they began to wait, so that a simulation repeats.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::{RwLock, RwLockReadGuard};
use tokio::sync::Notify;

/// A value and its receivers.
#[derive(Debug)]
struct Shared<T> {
    value: RwLock<T>,
    /// Counts changes.
    version: AtomicU64,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    changed: Notify,
}

/// A channel with this value, which counts as seen.
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(value);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// Changes the value.
#[derive(Debug)]
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// Sees the value and its changes.
#[derive(Debug)]
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    seen: u64,
}

/// A borrowed value. No change is possible while it exists.
#[derive(Debug)]
pub struct Ref<'a, T>(RwLockReadGuard<'a, T>);

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// All senders or all receivers are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("channel closed")]
pub struct Closed;

impl<T> Shared<T> {
    fn read(&self) -> Ref<'_, T> {
        Ref(self.value.read())
    }

    /// Resolves at a change since version `seen`, which becomes the present one.
    async fn change(&self, seen: &mut u64) -> Result<(), Closed> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // From here on no notification is missed.
            changed.as_mut().enable();
            let version = self.version.load(Ordering::Acquire);
            if version != *seen {
                *seen = version;
                return Ok(());
            }
            if self.senders.load(Ordering::Acquire) == 0 {
                return Err(Closed);
            }
            changed.await;
        }
    }
}

impl<T> Sender<T> {
    /// A channel without receivers.
    pub fn new(value: T) -> Self {
        let shared = Shared {
            value: RwLock::new(value),
            version: AtomicU64::new(0),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(0),
            changed: Notify::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Changes the value.
    ///
    /// # Errors
    /// There are no receivers; the value stays as it was.
    pub fn send(&self, value: T) -> Result<(), Closed> {
        if self.receiver_count() == 0 {
            return Err(Closed);
        }
        self.send_replace(value);
        Ok(())
    }

    /// Changes the value, also without receivers; returns the earlier one.
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|present| std::mem::swap(present, &mut value));
        value
    }

    /// Changes the value in place.
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in place if `modify` returns true; it must not change it otherwise.
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        let shared = &self.shared;
        let mut value = shared.value.write();
        let is_changed = modify(&mut value);
        if is_changed {
            shared.version.fetch_add(1, Ordering::Release);
        }
        drop(value);
        if is_changed {
            shared.changed.notify_waiters();
        }
        is_changed
    }

    /// The value.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.read()
    }

    /// Another receiver; the present value counts as seen.
    pub fn subscribe(&self) -> Receiver<T> {
        self.shared.receivers.fetch_add(1, Ordering::Relaxed);
        Receiver { shared: Arc::clone(&self.shared), seen: self.shared.version.load(Ordering::Acquire) }
    }

    /// Number of receivers.
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers.load(Ordering::Relaxed)
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.changed.notify_waiters();
        }
    }
}

impl<T> Receiver<T> {
    /// The value, without marking it as seen.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.read()
    }

    /// The value, which counts as seen.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let value = self.shared.read();
        // Changes need the lock.
        self.seen = self.shared.version.load(Ordering::Acquire);
        value
    }

    /// Whether the value has changed since it was seen.
    ///
    /// # Errors
    /// All senders are gone.
    pub fn has_changed(&self) -> Result<bool, Closed> {
        if self.shared.senders.load(Ordering::Acquire) == 0 {
            return Err(Closed);
        }
        Ok(self.shared.version.load(Ordering::Acquire) != self.seen)
    }

    /// Marks the present value as seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.version.load(Ordering::Acquire);
    }

    /// Resolves at a change since the value was seen, which then counts as seen.
    ///
    /// # Errors
    /// There is none, and all senders are gone.
    pub async fn changed(&mut self) -> Result<(), Closed> {
        self.shared.change(&mut self.seen).await
    }

    /// Resolves with a value that meets `is_wanted`: the present one or a later one, which then counts as seen.
    ///
    /// # Errors
    /// All senders are gone.
    pub async fn wait_for(&mut self, mut is_wanted: impl FnMut(&T) -> bool) -> Result<Ref<'_, T>, Closed> {
        loop {
            {
                let value = self.shared.read();
                self.seen = self.shared.version.load(Ordering::Acquire);
                if is_wanted(&value) {
                    return Ok(value);
                }
            }
            self.shared.change(&mut self.seen).await?;
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.receivers.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::clone(&self.shared), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.receivers.fetch_sub(1, Ordering::Relaxed);
    }
}
