//! The client side's services of a platform: requests as [`Command`](super::super::wire::Command)s.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use dragoman_ros::dragoman_msgs::srv::{PlatformGetDebugData, PlatformGetStatus};
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::{Clock, Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::stream::{BoxStream, SelectAll, StreamExt};

use crate::neobotix::services::{self, Service, Visitor};
use crate::neobotix::wire::Command;
use crate::neobotix::{OutOfRange, Outcome};

/// A request of a ROS client, and how to answer it.
pub(super) struct Asked {
    /// The command, or why the request is invalid.
    pub(super) command: std::result::Result<Command, OutOfRange>,
    /// Answers with the outcome.
    pub(super) respond: Box<dyn FnOnce(Outcome) + Send>,
}

/// Offers all services in the namespace of `node`. Data in the answers are in `map_frame`.
pub(super) fn offer(node: &mut Node, map_frame: &str) -> Result<SelectAll<BoxStream<'static, Asked>>> {
    let stamp = Stamp { clock: node.get_ros_clock(), map_frame: map_frame.into() };
    let mut offering = Offering { node, stamp, all: SelectAll::new() };
    services::visit(&mut offering)?;
    Ok(offering.all)
}

/// Data that the protocol does not transmit: the time, and the name of the map's frame.
#[derive(Clone)]
pub(super) struct Stamp {
    pub(super) clock: Arc<Mutex<Clock>>,
    pub(super) map_frame: Arc<str>,
}

impl Stamp {
    /// Header for data in the map frame.
    pub(super) fn header(&self) -> Header {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = Clock::to_builtin_time(&clock.get_now().unwrap_or_default());
        Header { stamp, frame_id: self.map_frame.as_ref().to_owned() }
    }

    /// Sets the headers of a response that has any.
    fn complete(&self, response: &mut dyn Any) {
        if let Some(response) = response.downcast_mut::<PlatformGetStatus::Response>() {
            response.status.header = self.header();
        } else if let Some(response) = response.downcast_mut::<PlatformGetDebugData::Response>() {
            response.data.objects.markers.iter_mut().for_each(|marker| marker.header = self.header());
        }
    }
}

/// Creates a service for every row.
struct Offering<'a> {
    node: &'a mut Node,
    stamp: Stamp,
    all: SelectAll<BoxStream<'static, Asked>>,
}

impl Visitor for Offering<'_> {
    type Error = dragoman_ros::Error;

    fn visit<S>(&mut self, service: Service<S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let name = service.kind.service();
        let requests = self.node.create_service::<S>(name, QosProfile::services_default())?;
        let stamp = self.stamp.clone();
        let asked = requests.map(move |request| {
            let stamp = stamp.clone();
            Asked {
                command: service.command(request.message.clone()),
                respond: Box::new(move |outcome| {
                    let mut response = service.response(outcome);
                    stamp.complete(&mut response);
                    if let Err(error) = request.respond(response) {
                        tracing::warn!(%error, service = name, "sending a response failed");
                    }
                }),
            }
        });
        self.all.push(asked.boxed());
        Ok(())
    }
}
