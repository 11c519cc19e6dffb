//! `/diagnostics` of a machine.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::tasks::NodeTasks;

use super::shared::Shared;
use crate::machine::conversation::Statistics;
use crate::machine::link::Place;

/// Maximum number of kinds of wrong frames that are logged.
const MAX_REPORTED: usize = 16;
/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// Publishes `/diagnostics`.
pub(super) fn report(tasks: &mut NodeTasks, shared: &Arc<Shared>, place: &Place) -> dragoman_ros::Result<()> {
    let title = shared.plan.codec().protocol().title.clone();
    let mut diagnostics = Diagnostics::new(tasks.node(), &shared.plan.codec().protocol().name, &title)?;
    let (shared, place) = (Arc::clone(shared), place.to_string());
    let mut before = 0;
    tasks.every(REPORT_PERIOD, move || {
        let mut inner = shared.inner.lock();
        let statistics = inner.conversation.statistics();
        let (refused, refusal) = inner.outputs.refusals.take();
        let wrong = statistics.wrong + statistics.left_out + statistics.no_value;
        let is_garbled = std::mem::replace(&mut before, wrong) < wrong;
        let reason = inner.conversation.take_reason();
        let trouble = inner.outputs.trouble.take();
        if let Some(reason) = reason.as_ref().filter(|_| is_garbled) {
            // Each kind of mistake once: what is before the bytes.
            let kind = reason.split(':').next().unwrap_or_default().to_owned();
            if inner.reported.len() < MAX_REPORTED && inner.reported.insert(kind) {
                tracing::warn!(reason, "received what is no message");
            }
        }
        let state = inner.conversation.state().map(|(name, is_fault)| (name.to_owned(), is_fault));
        let (severity, message) = if let Some(failure) = &inner.failure {
            (Severity::Error, format!("no link: {failure}"))
        } else if let Some((name, true)) = &state {
            (Severity::Error, format!("the machine is in state {name}"))
        } else if inner.conversation.is_silent() {
            (Severity::Stale, "the machine is silent".to_owned())
        } else if !inner.conversation.is_ready() {
            (Severity::Warn, "the machine is being started".to_owned())
        } else if let Some(refusal) = refusal {
            (Severity::Warn, format!("refused: {refusal}"))
        } else if let Some(trouble) = trouble {
            (Severity::Warn, trouble)
        } else if is_garbled {
            (
                Severity::Warn,
                reason
                    .map_or("bytes that are no message".to_owned(), |reason| format!("no message: {reason}")),
            )
        } else {
            (Severity::Ok, "running".to_owned())
        };
        drop(inner);
        let mut values = vec![("link", place.clone()), ("commands refused", refused.to_string())];
        values.extend(state.map(|(name, _)| ("state", name)));
        values.extend(figures(&statistics));
        diagnostics.publish(severity, &message, &values);
    })
}

fn figures(statistics: &Statistics) -> Vec<(&'static str, String)> {
    let Statistics { received, sent, wrong, left_out, unanswered, unexpected, repeated, expired, no_value } =
        statistics;
    [
        ("messages received", received),
        ("messages sent", sent),
        ("frames that are no message", wrong),
        ("bytes outside of frames", left_out),
        ("questions without an answer", unanswered),
        ("answers late or twice", unexpected),
        ("questions repeated", repeated),
        ("commands expired", expired),
        ("values that do not exist", no_value),
    ]
    .map(|(name, count)| (name, count.to_string()))
    .to_vec()
}
