//! `/diagnostics`: what a node's hardware or clients are up to, once a second.

mod refusals;

pub use refusals::Refusals;

use crate::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use crate::{Clock, ClockType, Node, Publisher, QosProfile};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing to see.
    Ok = 0,
    /// Works, but somebody should look.
    Warn = 1,
    /// Does not work.
    Error = 2,
    /// Nothing has been heard for too long.
    Stale = 3,
}

/// Publishes the state of one thing.
pub struct Diagnostics {
    publisher: Publisher<DiagnosticArray>,
    name: String,
    hardware_id: String,
    clock: Clock,
}

impl Diagnostics {
    /// Diagnostics of `subject`, in the name of `node`.
    ///
    /// # Errors
    /// The middleware's refusal.
    pub fn new(node: &mut Node, subject: &str, hardware_id: &str) -> crate::Result<Self> {
        let name = format!("{}: {subject}", node.fully_qualified_name()?.trim_start_matches('/'));
        let publisher = node.create_publisher("/diagnostics", QosProfile::default())?;
        let clock = Clock::create(ClockType::SystemTime)?;
        Ok(Self { publisher, name, hardware_id: hardware_id.to_owned(), clock })
    }

    /// Publishes a state with its figures; call it at most once a second.
    pub fn publish(&mut self, severity: Severity, message: &str, values: &[(&str, String)]) {
        let value = |(key, value): &(&str, String)| KeyValue { key: (*key).to_owned(), value: value.clone() };
        let mut array = DiagnosticArray::default();
        array.header.stamp = Clock::to_builtin_time(&self.clock.get_now().unwrap_or_default());
        array.status.push(DiagnosticStatus {
            level: severity as u8,
            name: self.name.clone(),
            message: message.to_owned(),
            hardware_id: self.hardware_id.clone(),
            values: values.iter().map(value).collect(),
        });
        if let Err(error) = self.publisher.publish(&array) {
            tracing::warn!(%error, "/diagnostics");
        }
    }
}
