//! The client side's services of a platform: requests as [`Command`](super::super::wire::Command)s.

use std::any::Any;
use std::sync::Arc;

use dragoman_ros::dragoman_msgs::srv::{PlatformGetDebugData, PlatformGetStatus};
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::times::SharedClock;
use dragoman_ros::{Node, Result, times};
use futures::stream::{BoxStream, SelectAll};

use crate::neobotix::Outcome;
use crate::neobotix::services::rows;
use crate::neobotix::wire::Command;
use crate::services::{self, Asked, Complete};

/// Offers all services in the namespace of `node`. Data in the answers are in `map_frame`.
pub(super) fn offer(
    node: &mut Node,
    map_frame: &str,
) -> Result<SelectAll<BoxStream<'static, Asked<Command, Outcome>>>> {
    let stamp = Stamp { clock: node.get_ros_clock(), map_frame: map_frame.into() };
    let complete: Complete = Arc::new(move |response| stamp.complete(response));
    services::offer(node, &rows(), Some(&complete))
}

/// Data that the protocol does not transmit: the time, and the name of the map's frame.
#[derive(Clone)]
pub(super) struct Stamp {
    pub(super) clock: SharedClock,
    pub(super) map_frame: Arc<str>,
}

impl Stamp {
    /// Header for data in the map frame.
    pub(super) fn header(&self) -> Header {
        Header { stamp: times::stamp(&self.clock), frame_id: self.map_frame.as_ref().to_owned() }
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
