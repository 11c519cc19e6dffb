//! Functions that the platform does not have itself are topics: speech, sounds, head, camera, CAN bus.

use dragoman_neobotix::file_name::plain_file_name;
use dragoman_ros::dragoman_msgs::msg::CanMessage;
use dragoman_ros::shared::listened;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};
use dragoman_ros::{Node, Publisher, QosProfile, WrappedTypesupport};

use super::state::{NodeState, Refused};

/// Maximum length of a text, bytes.
const MAX_TEXT: usize = 64 * 1024;

/// The topics.
pub(super) struct Outlets {
    speech: Publisher<Text>,
    sound: Publisher<Text>,
    pan_tilt: Publisher<Text>,
    head_position: Publisher<Float64>,
    head_velocity: Publisher<Float64>,
    can: Publisher<CanMessage>,
    /// The last commanded angle of the head, rad.
    pub(super) head_angle: f64,
}

impl Outlets {
    pub(super) fn new(node: &mut Node) -> dragoman_ros::Result<Self> {
        let qos = QosProfile::default;
        Ok(Self {
            speech: node.create_publisher("speech", qos())?,
            sound: node.create_publisher("sound", qos())?,
            pan_tilt: node.create_publisher("pan_tilt", qos())?,
            head_position: node.create_publisher("head/position", qos())?,
            head_velocity: node.create_publisher("head/velocity", qos())?,
            can: node.create_publisher("can/sent", qos().keep_last(100))?,
            head_angle: 0.0,
        })
    }

    pub(super) fn speak(&self, text: String) -> Result<(), Refused> {
        send(&self.speech, &Text { data: checked(text)? }, "speech")
    }

    /// Commands the camera in its own syntax.
    pub(super) fn move_camera(&self, position: String) -> Result<(), Refused> {
        send(&self.pan_tilt, &Text { data: checked(position)? }, "pan-tilt camera")
    }

    /// Turns the head to an angle, rad.
    pub(super) fn turn_head(&mut self, angle: f64) -> Result<(), Refused> {
        send(&self.head_position, &Float64 { data: finite(angle)? }, "head")?;
        self.head_angle = angle;
        Ok(())
    }

    /// Turns the head at a velocity, rad/s.
    pub(super) fn turn_head_at(&self, velocity: f64) -> Result<(), Refused> {
        send(&self.head_velocity, &Float64 { data: finite(velocity)? }, "head")
    }

    pub(super) fn send_can(&self, message: &CanMessage) -> Result<(), Refused> {
        send(&self.can, message, "CAN bus")
    }
}

impl NodeState {
    /// Publishes the path of a sound file of the data folder.
    pub(super) fn play(&self, name: &str) -> Result<(), Refused> {
        let path = self.data_folder.join("sounds").join(plain_file_name(name)?);
        if !dragoman_time::on_disk(&path).is_file() {
            return Err(Refused(format!("there is no sound file {}", path.display())));
        }
        send(&self.outlets.sound, &Text { data: path.to_string_lossy().into_owned() }, "sound")
    }
}

fn checked(text: String) -> Result<String, Refused> {
    if text.len() <= MAX_TEXT {
        Ok(text)
    } else {
        Err(Refused(format!("the text has more than {MAX_TEXT} bytes")))
    }
}

fn finite(value: f64) -> Result<f64, Refused> {
    if value.is_finite() { Ok(value) } else { Err(Refused("a value is not finite".to_owned())) }
}

/// Publishes a message; refused without subscribers.
fn send<T: WrappedTypesupport + 'static>(
    publisher: &Publisher<T>,
    message: &T,
    what: &str,
) -> Result<(), Refused> {
    if !listened(publisher) {
        return Err(Refused(format!("there is no {what}: its topic has no subscribers")));
    }
    Ok(publisher.publish(message)?)
}
