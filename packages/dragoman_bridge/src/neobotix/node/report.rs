//! `/diagnostics` of the server side.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dragoman_ros::diagnostics::{Diagnostics, Severity};

use crate::neobotix::{ServerStatistics, Session};

/// Counters and recent events of all sessions.
#[derive(Debug, Default)]
pub(super) struct Report {
    statistics: Mutex<ServerStatistics>,
    last_refusal: Mutex<String>,
    pub(super) clients: AtomicUsize,
    pub(super) refused_connections: AtomicU64,
}

impl Report {
    /// Adds the counters and events of a session.
    pub(super) fn add(&self, session: &mut Session) {
        let news = session.take_statistics();
        if news != ServerStatistics::default() {
            *self.statistics.lock().unwrap_or_else(PoisonError::into_inner) += news;
        }
        while let Some(event) = session.poll_event() {
            let text = event.to_string();
            tracing::debug!(text, "refused");
            *self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
    }

    pub(super) fn figures(&self) -> Figures {
        Figures {
            statistics: *self.statistics.lock().unwrap_or_else(PoisonError::into_inner),
            last_refusal: self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            clients: self.clients.load(Ordering::Relaxed),
            refused_connections: self.refused_connections.load(Ordering::Relaxed),
        }
    }
}

/// A snapshot of a [`Report`].
#[derive(Debug, Default)]
pub(super) struct Figures {
    statistics: ServerStatistics,
    last_refusal: String,
    clients: usize,
    refused_connections: u64,
}

impl Figures {
    fn refused(&self) -> u64 {
        let ServerStatistics { refused, malformed, unknown, .. } = self.statistics;
        refused + malformed + unknown
    }
}

pub(super) fn publish(diagnostics: &mut Diagnostics, before: &Figures, now: &Figures) {
    let statistics = &now.statistics;
    let values = [
        ("clients", now.clients.to_string()),
        ("commands", statistics.commands.to_string()),
        ("answers", statistics.answers.to_string()),
        ("refused", statistics.refused.to_string()),
        ("malformed messages", statistics.malformed.to_string()),
        ("unknown commands", statistics.unknown.to_string()),
        ("connections refused", now.refused_connections.to_string()),
    ];
    if now.refused() > before.refused() {
        // The log also gets at most one line per second.
        let message = format!("refused: {}", now.last_refusal);
        tracing::warn!("{message}");
        diagnostics.publish(Severity::Warn, &message, &values);
    } else if now.refused_connections > before.refused_connections {
        diagnostics.publish(Severity::Warn, "refused a connection: the port already has a client", &values);
    } else {
        diagnostics.publish(Severity::Ok, "serving", &values);
    }
}
