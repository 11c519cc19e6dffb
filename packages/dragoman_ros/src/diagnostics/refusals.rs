//! Refused requests, for the log and for `/diagnostics`.

use std::sync::Arc;

use parking_lot::Mutex;

/// Refusals since the last report.
#[derive(Debug, Clone, Default)]
pub struct Refusals {
    shared: Arc<Mutex<Refused>>,
}

#[derive(Debug, Default)]
struct Refused {
    count: u64,
    /// The last reason; cleared by the report.
    reason: Option<String>,
}

impl Refusals {
    /// Logs the first refusal since the last report; the report gets the last.
    pub fn note(&self, reason: &dyn std::fmt::Display) {
        let mut refused = self.shared.lock();
        refused.count += 1;
        if refused.reason.is_none() {
            tracing::warn!(%reason, "command refused");
        }
        refused.reason = Some(reason.to_string());
    }

    /// The number of refusals, and the reason of the last since the previous call.
    pub fn take(&self) -> (u64, Option<String>) {
        let mut refused = self.shared.lock();
        (refused.count, refused.reason.take())
    }
}
