//! Arguments of commands as requests of services, and back (PlatformCtrl guide, 6.3).

use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::geometry_msgs::msg::Pose2D;

use super::Arguments;
use super::units::{MILLI, asked, asked_mdeg, first, from_mdeg};
use crate::neobotix::call::OutOfRange;
use crate::neobotix::documents::declared_as_utf8;
use crate::neobotix::status::{Board, Code, MotionMode, Motor};
use crate::neobotix::wire::{
    CanId, FileName, Frame, GetCanMessages, GetParameter, HeadPosition, HeadVelocity, MouseButton, MouseMove,
    MovePath, MoveToStation, MoveVelocity, MoveWheelVelocity, NamedDocument, PanTiltPosition,
    PostProcessEvent, ProgramDocument, SendCanMessage, SetBrake, SetDigitalOutput, SetEvent, SetMode,
    SetParameter, SpeakText, StartUltrasonic, Tail, Text,
};

/// A code of the protocol.
fn coded<T: Code>(field: &'static str, number: u8) -> Result<T, OutOfRange> {
    T::from_code(number.into()).ok_or(OutOfRange { field, value: number.into() })
}

/// ROS strings cannot contain NUL; r2r panics on one. A final NUL, which C programs may count as part of a text, is
/// removed.
fn ros_string(text: &Text) -> Result<String, OutOfRange> {
    let text = text.to_str();
    let trimmed = text.trim_end_matches('\0');
    if trimmed.contains('\0') {
        return Err(OutOfRange { field: "a character of a text", value: 0.0 });
    }
    Ok(trimmed.to_owned())
}

/// A CAN identifier, which has 29 bits at most.
fn id(id: u32) -> Result<i32, OutOfRange> {
    i32::try_from(id).map_err(|_| OutOfRange { field: "id", value: id.into() })
}

fn identifier(id: i32) -> Result<u32, OutOfRange> {
    u32::try_from(id).map_err(|_| OutOfRange { field: "id", value: id.into() })
}

pub(super) fn pose(frame: Frame) -> Pose2D {
    let Frame { x_mm, y_mm, angle_mdeg } = frame;
    Pose2D { x: f64::from(x_mm) * MILLI, y: f64::from(y_mm) * MILLI, theta: from_mdeg(angle_mdeg) }
}

fn frame(pose: &Pose2D) -> Result<Frame, OutOfRange> {
    Ok(Frame {
        x_mm: asked("x, m", pose.x, MILLI)?,
        y_mm: asked("y, m", pose.y, MILLI)?,
        angle_mdeg: asked_mdeg("theta, rad", pose.theta)?,
    })
}

impl Arguments<PlatformSetBrake::Request> for SetBrake {
    fn into_request(self) -> Result<PlatformSetBrake::Request, OutOfRange> {
        Ok(PlatformSetBrake::Request { motor: self.motor.code(), disabled: self.is_disabled })
    }

    fn from_request(request: PlatformSetBrake::Request) -> Result<Self, OutOfRange> {
        Ok(Self { motor: coded::<Motor>("motor", request.motor)?, is_disabled: request.disabled })
    }
}

impl Arguments<PlatformSetDigitalOutput::Request> for SetDigitalOutput {
    fn into_request(self) -> Result<PlatformSetDigitalOutput::Request, OutOfRange> {
        let refused = |_| OutOfRange { field: "channel", value: self.channel.into() };
        let channel = u8::try_from(self.channel).map_err(refused)?;
        Ok(PlatformSetDigitalOutput::Request { board: self.board.code(), channel, high: self.is_high })
    }

    fn from_request(request: PlatformSetDigitalOutput::Request) -> Result<Self, OutOfRange> {
        let board = coded::<Board>("board", request.board)?;
        Ok(Self { board, channel: request.channel.into(), is_high: request.high })
    }
}

impl Arguments<PlatformStartUltrasonic::Request> for StartUltrasonic {
    fn into_request(self) -> Result<PlatformStartUltrasonic::Request, OutOfRange> {
        Ok(PlatformStartUltrasonic::Request { channel: self.channel })
    }

    fn from_request(request: PlatformStartUltrasonic::Request) -> Result<Self, OutOfRange> {
        Ok(Self { channel: request.channel })
    }
}

impl Arguments<PlatformAddCanListeningId::Request> for CanId {
    fn into_request(self) -> Result<PlatformAddCanListeningId::Request, OutOfRange> {
        Ok(PlatformAddCanListeningId::Request { id: identifier(self.id)? })
    }

    fn from_request(request: PlatformAddCanListeningId::Request) -> Result<Self, OutOfRange> {
        Ok(Self { id: id(request.id)? })
    }
}

impl Arguments<PlatformSendCanMessage::Request> for SendCanMessage {
    fn into_request(self) -> Result<PlatformSendCanMessage::Request, OutOfRange> {
        let id = identifier(self.id)?;
        Ok(PlatformSendCanMessage::Request { id, data: self.data.to_vec() })
    }

    fn from_request(request: PlatformSendCanMessage::Request) -> Result<Self, OutOfRange> {
        Ok(Self { id: id(request.id)?, data: first(&request.data) })
    }
}

impl Arguments<PlatformGetCanMessages::Request> for GetCanMessages {
    fn into_request(self) -> Result<PlatformGetCanMessages::Request, OutOfRange> {
        Ok(PlatformGetCanMessages::Request { delete_after_read: self.is_deleting })
    }

    fn from_request(request: PlatformGetCanMessages::Request) -> Result<Self, OutOfRange> {
        Ok(Self { is_deleting: request.delete_after_read })
    }
}

impl Arguments<PlatformSetMode::Request> for SetMode {
    fn into_request(self) -> Result<PlatformSetMode::Request, OutOfRange> {
        Ok(PlatformSetMode::Request { mode: self.mode.code() })
    }

    fn from_request(request: PlatformSetMode::Request) -> Result<Self, OutOfRange> {
        Ok(Self { mode: coded::<MotionMode>("mode", request.mode)? })
    }
}

impl Arguments<PlatformMovePath::Request> for MovePath {
    fn into_request(self) -> Result<PlatformMovePath::Request, OutOfRange> {
        Ok(PlatformMovePath::Request { poses: self.frames.into_iter().map(pose).collect() })
    }

    fn from_request(request: PlatformMovePath::Request) -> Result<Self, OutOfRange> {
        Ok(Self { frames: request.poses.iter().map(frame).collect::<Result<_, _>>()? })
    }
}

impl Arguments<PlatformMoveToStation::Request> for MoveToStation {
    fn into_request(self) -> Result<PlatformMoveToStation::Request, OutOfRange> {
        Ok(PlatformMoveToStation::Request { station: ros_string(&self.station)? })
    }

    fn from_request(request: PlatformMoveToStation::Request) -> Result<Self, OutOfRange> {
        Ok(Self { station: request.station.into() })
    }
}

impl Arguments<PlatformMoveToPose::Request> for Frame {
    fn into_request(self) -> Result<PlatformMoveToPose::Request, OutOfRange> {
        Ok(PlatformMoveToPose::Request { pose: pose(self) })
    }

    fn from_request(request: PlatformMoveToPose::Request) -> Result<Self, OutOfRange> {
        frame(&request.pose)
    }
}

impl Arguments<PlatformSetPose::Request> for Frame {
    fn into_request(self) -> Result<PlatformSetPose::Request, OutOfRange> {
        Ok(PlatformSetPose::Request { pose: pose(self) })
    }

    fn from_request(request: PlatformSetPose::Request) -> Result<Self, OutOfRange> {
        frame(&request.pose)
    }
}

impl Arguments<PlatformMoveWheels::Request> for MoveWheelVelocity {
    fn into_request(self) -> Result<PlatformMoveWheels::Request, OutOfRange> {
        let [right, left] = [self.right_mm_per_s, self.left_mm_per_s].map(|speed| f64::from(speed) * MILLI);
        Ok(PlatformMoveWheels::Request { right, left })
    }

    fn from_request(request: PlatformMoveWheels::Request) -> Result<Self, OutOfRange> {
        Ok(Self {
            right_mm_per_s: asked("right, m/s", request.right, MILLI)?,
            left_mm_per_s: asked("left, m/s", request.left, MILLI)?,
        })
    }
}

/// The guide's telegram has no lateral velocity: it is only sent if it is not 0.
impl Arguments<PlatformMoveVelocity::Request> for MoveVelocity {
    fn into_request(self) -> Result<PlatformMoveVelocity::Request, OutOfRange> {
        let lateral = self.lateral_mm_per_s.0.unwrap_or_default();
        let [translation, rotation, lateral] = [self.translation_mm_per_s, self.rotation_mrad_per_s, lateral]
            .map(|speed| f64::from(speed) * MILLI);
        Ok(PlatformMoveVelocity::Request { translation, rotation, lateral })
    }

    fn from_request(request: PlatformMoveVelocity::Request) -> Result<Self, OutOfRange> {
        let lateral = asked("lateral, m/s", request.lateral, MILLI)?;
        Ok(Self {
            translation_mm_per_s: asked("translation, m/s", request.translation, MILLI)?,
            rotation_mrad_per_s: asked("rotation, rad/s", request.rotation, MILLI)?,
            lateral_mm_per_s: Tail((lateral != 0).then_some(lateral)),
        })
    }
}

impl Arguments<PlatformSetDocument::Request> for NamedDocument {
    fn into_request(self) -> Result<PlatformSetDocument::Request, OutOfRange> {
        let document = declared_as_utf8(ros_string(&self.document)?);
        Ok(PlatformSetDocument::Request { name: ros_string(&self.name)?, document })
    }

    fn from_request(request: PlatformSetDocument::Request) -> Result<Self, OutOfRange> {
        Ok(Self { name: request.name.into(), document: declared_as_utf8(request.document).into() })
    }
}

/// In the protocol a program has no name.
impl Arguments<PlatformSetDocument::Request> for ProgramDocument {
    fn into_request(self) -> Result<PlatformSetDocument::Request, OutOfRange> {
        let document = declared_as_utf8(ros_string(&self.document)?);
        Ok(PlatformSetDocument::Request { name: String::new(), document })
    }

    fn from_request(request: PlatformSetDocument::Request) -> Result<Self, OutOfRange> {
        Ok(Self { document: declared_as_utf8(request.document).into() })
    }
}

impl Arguments<PlatformSetParameter::Request> for SetParameter {
    fn into_request(self) -> Result<PlatformSetParameter::Request, OutOfRange> {
        Ok(PlatformSetParameter::Request { key: ros_string(&self.key)?, value: ros_string(&self.value)? })
    }

    fn from_request(request: PlatformSetParameter::Request) -> Result<Self, OutOfRange> {
        Ok(Self { key: request.key.into(), value: request.value.into() })
    }
}

impl Arguments<PlatformGetParameter::Request> for GetParameter {
    fn into_request(self) -> Result<PlatformGetParameter::Request, OutOfRange> {
        Ok(PlatformGetParameter::Request { key: ros_string(&self.key)? })
    }

    fn from_request(request: PlatformGetParameter::Request) -> Result<Self, OutOfRange> {
        Ok(Self { key: request.key.into() })
    }
}

impl Arguments<PlatformSetText::Request> for SpeakText {
    fn into_request(self) -> Result<PlatformSetText::Request, OutOfRange> {
        Ok(PlatformSetText::Request { text: ros_string(&self.text)? })
    }

    fn from_request(request: PlatformSetText::Request) -> Result<Self, OutOfRange> {
        Ok(Self { text: request.text.into() })
    }
}

impl Arguments<PlatformSetText::Request> for PanTiltPosition {
    fn into_request(self) -> Result<PlatformSetText::Request, OutOfRange> {
        Ok(PlatformSetText::Request { text: ros_string(&self.position)? })
    }

    fn from_request(request: PlatformSetText::Request) -> Result<Self, OutOfRange> {
        Ok(Self { position: request.text.into() })
    }
}

impl Arguments<PlatformSetFile::Request> for FileName {
    fn into_request(self) -> Result<PlatformSetFile::Request, OutOfRange> {
        Ok(PlatformSetFile::Request { file_name: ros_string(&self.file_name)? })
    }

    fn from_request(request: PlatformSetFile::Request) -> Result<Self, OutOfRange> {
        Ok(Self { file_name: request.file_name.into() })
    }
}

impl Arguments<PlatformSetHeadPosition::Request> for HeadPosition {
    fn into_request(self) -> Result<PlatformSetHeadPosition::Request, OutOfRange> {
        Ok(PlatformSetHeadPosition::Request { angle: f64::from(self.angle_deg).to_radians() })
    }

    fn from_request(request: PlatformSetHeadPosition::Request) -> Result<Self, OutOfRange> {
        Ok(Self { angle_deg: asked("angle, degrees", request.angle.to_degrees(), 1.0)? })
    }
}

impl Arguments<PlatformSetHeadVelocity::Request> for HeadVelocity {
    fn into_request(self) -> Result<PlatformSetHeadVelocity::Request, OutOfRange> {
        let velocity = (f64::from(self.velocity_cdeg_per_s) / 100.0).to_radians();
        Ok(PlatformSetHeadVelocity::Request { velocity })
    }

    fn from_request(request: PlatformSetHeadVelocity::Request) -> Result<Self, OutOfRange> {
        let velocity = request.velocity.to_degrees();
        Ok(Self { velocity_cdeg_per_s: asked("velocity, degrees/s", velocity, 0.01)? })
    }
}

impl Arguments<PlatformMouseMove::Request> for MouseMove {
    fn into_request(self) -> Result<PlatformMouseMove::Request, OutOfRange> {
        let [x, y] = [self.x_mm, self.y_mm].map(|place| f64::from(place) * MILLI);
        Ok(PlatformMouseMove::Request { x, y, present: self.button == MouseButton::RightDown })
    }

    fn from_request(request: PlatformMouseMove::Request) -> Result<Self, OutOfRange> {
        let button = if request.present { MouseButton::RightDown } else { MouseButton::RightUp };
        Ok(Self { x_mm: asked("x, m", request.x, MILLI)?, y_mm: asked("y, m", request.y, MILLI)?, button })
    }
}

impl Arguments<PlatformSetEvent::Request> for SetEvent {
    fn into_request(self) -> Result<PlatformSetEvent::Request, OutOfRange> {
        Ok(PlatformSetEvent::Request { event: self.event.code() })
    }

    fn from_request(request: PlatformSetEvent::Request) -> Result<Self, OutOfRange> {
        Ok(Self { event: coded::<PostProcessEvent>("event", request.event)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_nul_is_refused() {
        let request = |text: &str| SpeakText { text: text.into() }.into_request();
        for (text, expected) in [("año", "año"), ("north\0", "north"), ("\0\0", "")] {
            assert_eq!(request(text).unwrap().text, expected);
        }
        for text in ["a\0b", "\0a", "a\0b\0"] {
            assert_eq!(
                request(text).unwrap_err().to_string(),
                "a character of a text: 0 cannot be represented"
            );
        }
    }
}
