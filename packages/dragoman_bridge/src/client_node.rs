//! A running client side, and whether its server has answered yet.

use std::time::Duration;

use dragoman_ros::tasks::RunningNode;
use futures::channel::oneshot;

/// Minimum time between log lines about an unreachable server.
const REMINDER: Duration = Duration::from_secs(60);

/// A running client side. Its server may start later.
#[derive(Debug)]
pub struct ClientNode {
    /// The tasks of the node, for an executor.
    pub node: RunningNode,
    /// Resolves when the server has answered for the first time.
    pub answered: oneshot::Receiver<()>,
}

/// Reports the first answer.
pub(crate) struct FirstAnswer(Option<oneshot::Sender<()>>);

impl FirstAnswer {
    /// The server has not answered yet.
    pub(crate) fn new() -> (Self, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Some(sender)), receiver)
    }

    /// The server has answered.
    pub(crate) fn arrived(&mut self) {
        if let Some(sender) = self.0.take() {
            // Fails if the receiver was dropped.
            let _ = sender.send(());
        }
    }
}

/// When to log an unreachable server again.
#[derive(Debug, Default)]
pub(crate) struct Reminder(Option<Duration>);

impl Reminder {
    /// Whether logging is due; if so, the next line is due a minute later.
    pub(crate) fn is_due(&mut self, now: Duration) -> bool {
        let is_due = self.0.is_none_or(|last| now.saturating_sub(last) >= REMINDER);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}
