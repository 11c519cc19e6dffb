//! [`ArmCall`]s as requests to the arm's services.

use std::time::Duration;

use dragoman_ros::{Node, Result};
use futures::future::{BoxFuture, FutureExt};

use crate::CallId;
use crate::arm31::services::rows;
use crate::arm31::{ArmCall, Outcome, Refusal};
use crate::services::Callers;

/// How long the answer to a request is awaited; the server core gives up earlier.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);

/// Clients of all services of one arm.
pub(super) struct ArmClients(Callers<ArmCall, Outcome>);

impl ArmClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node) -> Result<Self> {
        Callers::new(node, &rows()).map(Self)
    }

    /// Calls the service; the future resolves with the outcome.
    pub(super) fn call(&self, id: CallId, call: ArmCall) -> BoxFuture<'static, (CallId, Outcome)> {
        let service = call.service();
        let answer = self.0.ask(service, call);
        async move {
            let outcome = match dragoman_time::timeout(ANSWER_TIMEOUT, answer).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(reason)) => {
                    tracing::debug!(reason, service, "service call failed");
                    Outcome::Refused(Refusal::Rejected)
                }
                Err(_) => Outcome::Refused(Refusal::TimedOut),
            };
            (id, outcome)
        }
        .boxed()
    }
}
