//! Special functions, debugging.

use dragoman_geometry::{Point, Pose, position};
use dragoman_neobotix::wire::CommandKind::*;
use dragoman_ros::Result;
use dragoman_ros::dragoman_msgs::msg::PlatformDebugData;
use dragoman_ros::dragoman_msgs::srv::{
    PlatformGetCamera, PlatformGetDebugData, PlatformSetFile, PlatformSetHeadPosition,
    PlatformSetHeadVelocity, PlatformSetText,
};
use dragoman_ros::geometry_msgs::msg::Point as PointMessage;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::visualization_msgs::msg::Marker;

use super::services::{serve_order, serve_question};
use super::state::{NodeState, Shared};

pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> Result<()> {
    serve_outlets(tasks, shared)?;
    serve_question::<PlatformGetCamera::Service>(tasks, shared, GetCamera, |state, _| {
        let values = state.parameters.read();
        let (address, id) = (values.camera_address.clone(), values.camera_id.clone());
        Ok(PlatformGetCamera::Response { address, id, ..Default::default() })
    })?;
    serve_question::<PlatformGetDebugData::Service>(tasks, shared, GetDebugData, |state, _| {
        Ok(PlatformGetDebugData::Response { data: debug_data(state), ..Default::default() })
    })
}

fn serve_outlets(tasks: &mut NodeTasks, shared: &Shared) -> Result<()> {
    serve_order::<PlatformSetText::Service>(tasks, shared, SpeakText, |state, request| {
        state.outlets.speak(request.text)
    })?;
    serve_order::<PlatformSetText::Service>(tasks, shared, SetPosPanTiltCamera, |state, request| {
        state.outlets.move_camera(request.text)
    })?;
    serve_order::<PlatformSetFile::Service>(tasks, shared, PlaySound, |state, request| {
        state.play(&request.file_name)
    })?;
    serve_order::<PlatformSetHeadPosition::Service>(tasks, shared, SetPosHeadDrive, |state, request| {
        state.outlets.turn_head(request.angle)
    })?;
    serve_order::<PlatformSetHeadVelocity::Service>(tasks, shared, SetVelHeadDrive, |state, request| {
        state.outlets.turn_head_at(request.velocity)
    })
}

/// The path, obstacles, the goal, mapped lines, and possible poses, as markers.
fn debug_data(state: &NodeState) -> PlatformDebugData {
    let status = state.platform.status();
    let marker = |id: i32, kind: i32, color: [f32; 3], points: Vec<Point>| {
        let mut marker = Marker { ns: "platform".to_owned(), id, type_: kind, ..Default::default() };
        marker.header.stamp = state.stamp();
        marker.header.frame_id.clone_from(&state.parameters.read().map_frame);
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
        [Marker::LINE_STRIP as i32, Marker::CUBE_LIST as i32, Marker::LINE_LIST as i32];
    // Planning uses the obstacles in any case.
    let shows = state.flag("ViewPlanObstEnabled");
    let obstacles = state.platform.obstacles().filter(|_| shows).collect();
    data.objects.markers = vec![
        marker(0, strip, [0.0, 0.0, 1.0], state.platform.path().collect()),
        marker(1, cubes, [1.0, 0.0, 0.0], obstacles),
        marker(2, cubes, [0.0, 1.0, 0.0], status.goal.map(position).into_iter().collect()),
        marker(3, lines, [1.0, 0.0, 1.0], mapped),
        marker(4, cubes, [1.0, 1.0, 0.0], candidates),
    ];
    data.objects.markers.retain(|marker| !marker.points.is_empty());
    let numbered = |poses: Vec<Pose>| {
        let points = (1..).zip(poses);
        points.map(|(number, pose)| PointMessage { x: pose.x, y: pose.y, z: f64::from(number) }).collect()
    };
    data.moving_objects = numbered(state.moving_objects());
    data.persons = numbered(state.persons());
    data.balls = numbered(state.balls());
    (data.log_numbers, data.log) = state.programs.log.messages();
    data.safe_velocities = state.platform.safe_speeds().to_vec();
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
