//! What `/diagnostics` tells of the server side.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dragoman_ros::diagnostics::{Diagnostics, Severity};

use crate::neobotix::{ServerStatistics, Session};

/// What all sessions have seen and done.
#[derive(Debug, Default)]
pub(super) struct Report {
    statistics: Mutex<ServerStatistics>,
    last_refusal: Mutex<String>,
    pub(super) clients: AtomicUsize,
    pub(super) hung_up: AtomicU64,
}

impl Report {
    /// Takes the news of a session.
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
            hung_up: self.hung_up.load(Ordering::Relaxed),
        }
    }
}

/// A [`Report`] at one time.
#[derive(Debug, Default)]
pub(super) struct Figures {
    statistics: ServerStatistics,
    last_refusal: String,
    clients: usize,
    hung_up: u64,
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
        ("clients hung up on", now.hung_up.to_string()),
    ];
    if now.refused() > before.refused() {
        // Once a second is often enough for the log as well.
        let message = format!("refused: {}", now.last_refusal);
        tracing::warn!("{message}");
        diagnostics.publish(Severity::Warn, &message, &values);
    } else if now.hung_up > before.hung_up {
        diagnostics.publish(Severity::Warn, "a client more than there are ports", &values);
    } else {
        diagnostics.publish(Severity::Ok, "serving", &values);
    }
}
