//! The services of an arm, as the client side offers them to ROS.

use dragoman_ros::{Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::stream::{BoxStream, SelectAll, StreamExt};

use crate::arm31::services::{self, Service, Visitor};
use crate::arm31::{ArmCall, Outcome};

/// A request of a ROS client, and how to answer it.
pub(super) struct Asked {
    /// The call, or why the request is invalid.
    pub(super) call: Result<ArmCall, String>,
    /// Answers with the outcome, or with the reason of a failure.
    pub(super) respond: Box<dyn FnOnce(Result<Outcome, String>) + Send>,
}

/// Offers all services of an arm in the namespace of `node`.
pub(super) fn offer(node: &mut Node) -> Result<SelectAll<BoxStream<'static, Asked>>> {
    let mut offering = Offering { node, requests: SelectAll::new() };
    services::visit(&mut offering)?;
    Ok(offering.requests)
}

struct Offering<'a> {
    node: &'a mut Node,
    requests: SelectAll<BoxStream<'static, Asked>>,
}

impl Visitor for Offering<'_> {
    fn visit<S>(&mut self, service: Service<S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let Service { name, call, response, .. } = service;
        let requests = self.node.create_service::<S>(name, QosProfile::services_default())?;
        let asked = requests.map(move |request| Asked {
            call: call(&request.message),
            respond: Box::new(move |result| {
                if let Err(error) = request.respond(response(result)) {
                    tracing::warn!(%error, service = name, "sending a response failed");
                }
            }),
        });
        self.requests.push(asked.boxed());
        Ok(())
    }
}
