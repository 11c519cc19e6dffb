//! Replies as responses of services, and back (PlatformCtrl guide, 6.4).

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::msg::{CanMessage as CanMessageMessage, PlatformParameter};
use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::geometry_msgs::msg::Pose2D;

use super::ReplyBody;
use super::units::{MILLI, first, rounded};
use crate::neobotix::call::OutOfRange;
use crate::neobotix::documents::declared_as_utf8;
use crate::neobotix::wire::{
    Camera, CanMessage, CanMessages, Coded, DocumentReply, NamedDocument, ParameterReplies, ParameterReply,
    Position, ProgramDocument, Text,
};

/// ROS strings cannot contain NUL.
pub(super) fn ros_string(text: &Text) -> String {
    text.to_str().replace('\0', "\u{fffd}")
}

/// Seconds since 1970.
fn seconds(time: &Time) -> f64 {
    f64::from(time.sec) + f64::from(time.nanosec) * 1e-9
}

/// 0 for an invalid time.
fn time(seconds: f64) -> Time {
    let whole = seconds.floor();
    Time { sec: whole as i32, nanosec: ((seconds - whole) * 1e9) as u32 }
}

fn finite(field: &'static str, value: f64) -> Result<f64, OutOfRange> {
    if value.is_finite() { Ok(value) } else { Err(OutOfRange { field, value }) }
}

impl ReplyBody<PlatformGetCanMessages::Response> for CanMessages {
    fn into_response(self) -> PlatformGetCanMessages::Response {
        // Without a valid identifier there is no message.
        let message = |message: CanMessage| {
            let CanMessage { time_stamp, id, data } = message;
            let id = u32::try_from(id).ok()?;
            Some(CanMessageMessage { stamp: time(time_stamp), id, data: data.to_vec() })
        };
        let messages = self.messages.into_iter().filter_map(message).collect();
        PlatformGetCanMessages::Response { messages, ..Default::default() }
    }

    fn from_response(response: PlatformGetCanMessages::Response) -> Result<Self, OutOfRange> {
        let message = |message: CanMessageMessage| {
            let id = i32::try_from(message.id)
                .map_err(|_| OutOfRange { field: "id", value: message.id.into() })?;
            Ok(CanMessage { time_stamp: seconds(&message.stamp), id, data: first(&message.data) })
        };
        Ok(Self { messages: response.messages.into_iter().map(message).collect::<Result<_, _>>()? })
    }
}

impl ReplyBody<PlatformGetDocument::Response> for DocumentReply {
    fn into_response(self) -> PlatformGetDocument::Response {
        PlatformGetDocument::Response {
            name: ros_string(&self.name),
            document: declared_as_utf8(ros_string(&self.document)),
            ..Default::default()
        }
    }

    fn from_response(response: PlatformGetDocument::Response) -> Result<Self, OutOfRange> {
        let (name, document) = (response.name.into(), response.document.into());
        Ok(Self::new(NamedDocument { name, document }))
    }
}

impl ReplyBody<PlatformGetDocument::Response> for ProgramDocument {
    fn into_response(self) -> PlatformGetDocument::Response {
        let document = declared_as_utf8(ros_string(&self.document));
        PlatformGetDocument::Response { document, ..Default::default() }
    }

    fn from_response(response: PlatformGetDocument::Response) -> Result<Self, OutOfRange> {
        Ok(Self { document: response.document.into() })
    }
}

fn parameter(message: PlatformParameter) -> ParameterReply {
    ParameterReply {
        key: message.key.into(),
        value: message.value.into(),
        category: Coded::from_code(message.category),
        kind: Coded::from_code(message.type_),
        minimum: message.minimum,
        maximum: message.maximum,
    }
}

fn parameter_message(reply: &ParameterReply) -> PlatformParameter {
    PlatformParameter {
        key: ros_string(&reply.key),
        value: ros_string(&reply.value),
        type_: reply.kind.code(),
        category: reply.category.code(),
        minimum: reply.minimum,
        maximum: reply.maximum,
    }
}

impl ReplyBody<PlatformGetParameter::Response> for ParameterReply {
    fn into_response(self) -> PlatformGetParameter::Response {
        PlatformGetParameter::Response { parameter: parameter_message(&self), ..Default::default() }
    }

    fn from_response(response: PlatformGetParameter::Response) -> Result<Self, OutOfRange> {
        Ok(parameter(response.parameter))
    }
}

impl ReplyBody<PlatformGetParameters::Response> for ParameterReplies {
    fn into_response(self) -> PlatformGetParameters::Response {
        let parameters = self.parameters.iter().map(parameter_message).collect();
        PlatformGetParameters::Response { parameters, ..Default::default() }
    }

    fn from_response(response: PlatformGetParameters::Response) -> Result<Self, OutOfRange> {
        Ok(Self { parameters: response.parameters.into_iter().map(parameter).collect() })
    }
}

impl ReplyBody<PlatformGetCamera::Response> for Camera {
    fn into_response(self) -> PlatformGetCamera::Response {
        PlatformGetCamera::Response {
            address: ros_string(&self.address),
            id: ros_string(&self.id),
            ..Default::default()
        }
    }

    fn from_response(response: PlatformGetCamera::Response) -> Result<Self, OutOfRange> {
        Ok(Self { address: response.address.into(), id: response.id.into() })
    }
}

impl ReplyBody<PlatformGetPosition::Response> for Position {
    fn into_response(self) -> PlatformGetPosition::Response {
        let [x, y] = [self.x_mm, self.y_mm].map(|place| f64::from(place) * MILLI);
        let pose = Pose2D { x, y, theta: self.angle_rad };
        let mut response = PlatformGetPosition::Response { pose, ..Default::default() };
        response.twist.linear.x = self.translation_mm_per_s * MILLI;
        response.twist.angular.z = self.rotation_rad_per_s;
        response
    }

    fn from_response(response: PlatformGetPosition::Response) -> Result<Self, OutOfRange> {
        let PlatformGetPosition::Response { pose, twist, .. } = response;
        Ok(Self {
            x_mm: rounded(pose.x, MILLI),
            y_mm: rounded(pose.y, MILLI),
            angle_rad: finite("theta, rad", pose.theta)?,
            translation_mm_per_s: finite("linear.x, m/s", twist.linear.x)? / MILLI,
            rotation_rad_per_s: finite("angular.z, rad/s", twist.angular.z)?,
        })
    }
}
