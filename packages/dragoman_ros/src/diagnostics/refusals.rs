//! What was refused, for the log and for `/diagnostics`.

use std::sync::{Arc, Mutex, PoisonError};

/// What was refused since the last report.
#[derive(Debug, Clone, Default)]
pub struct Refusals {
    shared: Arc<Mutex<Refused>>,
}

#[derive(Debug, Default)]
struct Refused {
    count: u64,
    /// Why, the last time; taken by the report.
    reason: Option<String>,
}

impl Refusals {
    /// Logs the first since the last report; the report gets the last.
    pub fn note(&self, reason: &dyn std::fmt::Display) {
        let mut refused = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        refused.count += 1;
        if refused.reason.is_none() {
            tracing::warn!(%reason, "refused");
        }
        refused.reason = Some(reason.to_string());
    }

    /// How many there were, and the reason of the last since this was asked for.
    pub fn take(&self) -> (u64, Option<String>) {
        let mut refused = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        (refused.count, refused.reason.take())
    }
}
