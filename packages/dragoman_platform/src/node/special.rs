//! Special functions, CAN messages, debugging: what the platform cannot do itself is a topic for whoever can.

use std::collections::VecDeque;

use dragoman_ros::dragoman_msgs::msg::{CanMessage, PlatformDebugData};
use dragoman_ros::dragoman_msgs::srv::{
    PlatformAddCanListeningId, PlatformGetCamera, PlatformGetCanMessages, PlatformGetDebugData,
    PlatformSendCanMessage, PlatformSetEvent, PlatformSetFile, PlatformSetHeadPosition,
    PlatformSetHeadVelocity, PlatformSetText,
};
use dragoman_ros::geometry_msgs::msg::Point as PointMessage;
use dragoman_ros::parameters::Parameters;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::visualization_msgs::msg::Marker;
use dragoman_ros::{Context, Publisher, QosProfile, Result, WrappedTypesupport};

use super::picture;
use super::services::{Answer, answers, serve_order, serve_question};
use super::state::{Refused, Shared, State};
use crate::file_name::plain_file_name;
use crate::geometry::{Point, position};

/// Most identifiers on the listening list.
const MAX_LISTENING: usize = 1024;
/// Most CAN messages that wait to be read; the oldest go first.
const MAX_CAN_MESSAGES: usize = 1000;
/// Longest text to speak, bytes.
const MAX_TEXT: usize = 64 * 1024;

answers! { PlatformGetCamera PlatformGetCanMessages PlatformGetDebugData }

pub(super) fn serve(
    tasks: &mut NodeTasks,
    shared: &Shared,
    values: &Parameters,
    context: &Context,
) -> Result<()> {
    serve_can(tasks, shared)?;
    serve_texts(tasks, shared)?;
    serve_head(tasks, shared)?;
    picture::serve(tasks, shared, values, context)?;
    let camera = ["camera_address", "camera_id"].map(|name| values.value::<String>(name));
    serve_question::<PlatformGetCamera::Service>(tasks, shared, "get_camera", move |_, _| {
        let [address, id] = camera.clone();
        Ok(PlatformGetCamera::Response { address, id, ..Default::default() })
    })?;
    serve_order::<PlatformSetEvent::Service>(tasks, shared, "set_event", |_, request| {
        Err(Refused(match u32::from(request.event) {
            PlatformSetEvent::Request::START_RECORDING..=PlatformSetEvent::Request::CONTINUE_REPLAY => {
                "there is no recorder; dragoman record writes down what happens".to_owned()
            }
            other => format!("there is no event {other}; 1 to 6"),
        }))
    })?;
    serve_question::<PlatformGetDebugData::Service>(tasks, shared, "get_debug_data", |state, _| {
        Ok(PlatformGetDebugData::Response { data: debug_data(state), ..Default::default() })
    })
}

fn serve_can(tasks: &mut NodeTasks, shared: &Shared) -> Result<()> {
    type Id = PlatformAddCanListeningId::Service;
    serve_order::<Id>(tasks, shared, "add_can_listening_id", |state, request| {
        let id = can_id(request.id)?;
        if state.can.listening.len() >= MAX_LISTENING && !state.can.listening.contains(&id) {
            return Err(Refused(format!("the listening list is full: {MAX_LISTENING} identifiers")));
        }
        state.can.listening.insert(id);
        Ok(())
    })?;
    serve_order::<Id>(tasks, shared, "remove_can_listening_id", |state, request| {
        if state.can.listening.remove(&request.id) {
            return Ok(());
        }
        Err(Refused(format!("{:#x} is not on the listening list", request.id)))
    })?;
    let sent =
        tasks.node().create_publisher::<CanMessage>("can/sent", QosProfile::default().keep_last(100))?;
    serve_order::<PlatformSendCanMessage::Service>(
        tasks,
        shared,
        "send_can_message",
        move |state, request| {
            let message = CanMessage { stamp: state.stamp(), id: can_id(request.id)?, data: request.data };
            send(&sent, &message, "CAN bus")
        },
    )?;
    let heard = shared.clone();
    let received = QosProfile::default().keep_last(100);
    tasks.subscribe("can/received", received, move |message: CanMessage| {
        heard.with(|state| {
            if !state.can.listening.contains(&message.id) {
                return;
            }
            if state.can.messages.len() == MAX_CAN_MESSAGES {
                state.can.messages.pop_front();
            }
            state.can.messages.push_back(message);
        });
    })?;
    serve_question::<PlatformGetCanMessages::Service>(tasks, shared, "get_can_messages", |state, request| {
        let kept: VecDeque<CanMessage> = if request.delete_after_read {
            std::mem::take(&mut state.can.messages)
        } else {
            state.can.messages.clone()
        };
        Ok(PlatformGetCanMessages::Response { messages: kept.into(), ..Default::default() })
    })
}

fn can_id(id: u32) -> std::result::Result<u32, Refused> {
    if id < 1 << 29 {
        Ok(id)
    } else {
        Err(Refused(format!("{id:#x} is no CAN identifier; it has 29 bits at most")))
    }
}

fn serve_texts(tasks: &mut NodeTasks, shared: &Shared) -> Result<()> {
    let topic =
        |tasks: &mut NodeTasks, name| tasks.node().create_publisher::<Text>(name, QosProfile::default());
    let speech = topic(tasks, "speech")?;
    serve_order::<PlatformSetText::Service>(tasks, shared, "speak_text", move |_, request| {
        send(&speech, &Text { data: checked(request.text)? }, "speech")
    })?;
    let pan_tilt = topic(tasks, "pan_tilt")?;
    serve_order::<PlatformSetText::Service>(tasks, shared, "set_pos_pan_tilt_camera", move |_, request| {
        send(&pan_tilt, &Text { data: checked(request.text)? }, "pan-tilt camera")
    })?;
    let sound = topic(tasks, "sound")?;
    serve_order::<PlatformSetFile::Service>(tasks, shared, "play_sound", move |state, request| {
        let path = state.data_folder.join("sounds").join(plain_file_name(&request.file_name)?);
        if !path.is_file() {
            return Err(Refused(format!("there is no sound {}", path.display())));
        }
        send(&sound, &Text { data: path.to_string_lossy().into_owned() }, "sound")
    })
}

fn checked(text: String) -> std::result::Result<String, Refused> {
    if text.len() <= MAX_TEXT {
        Ok(text)
    } else {
        Err(Refused(format!("the text has more than {MAX_TEXT} bytes")))
    }
}

fn serve_head(tasks: &mut NodeTasks, shared: &Shared) -> Result<()> {
    let topic =
        |tasks: &mut NodeTasks, name| tasks.node().create_publisher::<Float64>(name, QosProfile::default());
    let position = topic(tasks, "head/position")?;
    serve_order::<PlatformSetHeadPosition::Service>(
        tasks,
        shared,
        "set_pos_head_drive",
        move |state, request| {
            send(&position, &Float64 { data: finite(request.angle)? }, "head")?;
            state.head_angle = request.angle;
            Ok(())
        },
    )?;
    let velocity = topic(tasks, "head/velocity")?;
    serve_order::<PlatformSetHeadVelocity::Service>(tasks, shared, "set_vel_head_drive", move |_, request| {
        send(&velocity, &Float64 { data: finite(request.velocity)? }, "head")
    })
}

fn finite(value: f64) -> std::result::Result<f64, Refused> {
    if value.is_finite() { Ok(value) } else { Err(Refused("a value is not finite".to_owned())) }
}

/// Passes something on to whoever does it.
fn send<T: WrappedTypesupport>(
    publisher: &Publisher<T>,
    message: &T,
    what: &str,
) -> std::result::Result<(), Refused> {
    if !super::topics::listened(publisher) {
        return Err(Refused(format!("there is no {what}: nobody listens to its topic")));
    }
    Ok(publisher.publish(message)?)
}

/// The way, what is in the way, the goal, mapped lines, and where the platform may be, as markers.
fn debug_data(state: &State) -> PlatformDebugData {
    let status = state.platform.status();
    let marker = |id: i32, kind: i32, color: [f32; 3], points: Vec<Point>| {
        let mut marker = Marker { ns: "platform".to_owned(), id, type_: kind, ..Default::default() };
        marker.header.stamp = state.stamp();
        marker.header.frame_id = state.values.value("map_frame");
        marker.pose.orientation.w = 1.0;
        (marker.scale.x, marker.scale.y, marker.scale.z) = (0.05, 0.05, 0.05);
        (marker.color.r, marker.color.g, marker.color.b, marker.color.a) =
            (color[0], color[1], color[2], 1.0);
        marker.points = points.iter().map(|point| PointMessage { x: point.x, y: point.y, z: 0.0 }).collect();
        marker
    };
    let mut data = PlatformDebugData::default();
    let mapped = state.platform.mapped_lines().flat_map(|line| [line.a, line.b]).collect();
    let candidates = state.platform.candidates().map(position).collect();
    let [strip, cubes, lines] =
        [Marker::LINE_STRIP, Marker::CUBE_LIST, Marker::LINE_LIST].map(|kind| kind as i32);
    data.objects.markers = vec![
        marker(0, strip, [0.0, 0.0, 1.0], state.platform.path().collect()),
        marker(1, cubes, [1.0, 0.0, 0.0], state.platform.obstacles().collect()),
        marker(2, cubes, [0.0, 1.0, 0.0], status.goal.map(position).into_iter().collect()),
        marker(3, lines, [1.0, 0.0, 1.0], mapped),
        marker(4, cubes, [1.0, 1.0, 0.0], candidates),
    ];
    data.objects.markers.retain(|marker| !marker.points.is_empty());
    for (name, value) in [
        ("mapping", status.is_mapping.to_string()),
        ("operation", format!("{:?}", status.operation)),
        ("planner", format!("{:?}", status.planner)),
        ("obstacles", state.platform.obstacles().count().to_string()),
    ] {
        data.names.push(name.to_owned());
        data.values.push(value);
    }
    data
}
