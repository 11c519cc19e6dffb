//! The services of a world, as the client side offers them to ROS.

use dragoman_ros::{Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::stream::{BoxStream, SelectAll, StreamExt};

use crate::apolo::Outcome;
use crate::apolo::services::{self, Service, Visitor};
use crate::apolo::wire::Request;

/// A request of a ROS client, and how to answer it.
pub(super) struct Asked {
    /// The call.
    pub(super) request: Request,
    /// Answers with the outcome.
    pub(super) respond: Box<dyn FnOnce(Outcome) + Send>,
}

/// Offers all services of a world in the namespace of `node`.
pub(super) fn offer(node: &mut Node) -> Result<SelectAll<BoxStream<'static, Asked>>> {
    let mut offering = Offering { node, requests: SelectAll::new() };
    services::visit(&mut offering)?;
    offering.visit(services::place_xyz())?;
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
            request: call(request.message.clone()),
            respond: Box::new(move |outcome| {
                if let Err(error) = request.respond(response(outcome)) {
                    tracing::warn!(%error, service = name, "sending a response failed");
                }
            }),
        });
        self.requests.push(asked.boxed());
        Ok(())
    }
}
