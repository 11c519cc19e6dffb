//! Calls of the client sides.

/// Identifies one call of a service until its outcome is known. The owner of a core chooses the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// The calls without an outcome, each with its caller.
#[cfg(feature = "node")]
pub(crate) struct OpenCalls<T> {
    callers: std::collections::BTreeMap<CallId, T>,
    next: u64,
}

#[cfg(feature = "node")]
impl<T> OpenCalls<T> {
    pub(crate) fn new() -> Self {
        Self { callers: std::collections::BTreeMap::new(), next: 0 }
    }

    pub(crate) fn begin(&mut self, caller: T) -> CallId {
        let id = CallId(self.next);
        self.next += 1;
        self.callers.insert(id, caller);
        id
    }

    pub(crate) fn end(&mut self, id: CallId) -> Option<T> {
        self.callers.remove(&id)
    }

    /// Removes all callers. Numbers are not used again, because outcomes may still arrive.
    pub(crate) fn clear(&mut self) {
        self.callers.clear();
    }
}
