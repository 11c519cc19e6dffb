//! `/diagnostics`: the state of a node's hardware or clients, once a second.

mod refusals;

pub use refusals::Refusals;

use crate::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use crate::{Clock, ClockType, Node, Publisher, QosProfile};

/// Severity of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Normal operation.
    Ok = 0,
    /// Works, but needs attention.
    Warn = 1,
    /// Does not work.
    Error = 2,
    /// No data for too long.
    Stale = 3,
    /// Normal, and switched off or without anything to do: the level of [`Severity::Ok`], with the value `idle`, by which
    /// the console shows it in grey.
    Idle,
}

/// Publishes the state of one subject.
pub struct Diagnostics {
    publisher: Publisher<DiagnosticArray>,
    name: String,
    hardware_id: String,
    clock: Clock,
}

impl Diagnostics {
    /// Diagnostics of `subject`, under the name of `node`.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn new(node: &mut Node, subject: &str, hardware_id: &str) -> crate::Result<Self> {
        let name = format!("{}: {subject}", node.fully_qualified_name()?.trim_start_matches('/'));
        let publisher = node.create_publisher("/diagnostics", QosProfile::default())?;
        let clock = Clock::create(ClockType::SystemTime)?;
        Ok(Self { publisher, name, hardware_id: hardware_id.to_owned(), clock })
    }

    /// Publishes a state with its values, as plain text ([`dragoman_text::line`]); call it at most once a second.
    pub fn publish(&mut self, severity: Severity, message: &str, values: &[(&str, String)]) {
        let value = |(key, value): &(&str, String)| KeyValue {
            key: dragoman_text::line(key).into_owned(),
            value: dragoman_text::line(value).into_owned(),
        };
        let idle = (severity == Severity::Idle).then(|| ("idle", "true".to_owned()));
        let level = if idle.is_some() { Severity::Ok } else { severity };
        let mut array = DiagnosticArray::default();
        array.header.stamp = Clock::to_builtin_time(&self.clock.get_now().unwrap_or_default());
        array.status.push(DiagnosticStatus {
            level: level as u8,
            name: self.name.clone(),
            message: dragoman_text::line(message).into_owned(),
            hardware_id: self.hardware_id.clone(),
            values: values.iter().chain(&idle).map(value).collect(),
        });
        if let Err(error) = self.publisher.publish(&array) {
            tracing::warn!(%error, topic = "/diagnostics", "publishing failed");
        }
    }
}
