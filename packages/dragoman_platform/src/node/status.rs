//! The status of the platform as a message.

use dragoman_geometry::{Point, Pose, transform};
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::geometry_msgs::msg::{Point32, Pose2D};

use super::state::NodeState;
use crate::controller::{Operation, Status};

/// The complete status; data that the platform does not have are 0.
pub(super) fn message(state: &NodeState, frame: &str) -> PlatformStatus {
    let status = state.platform.status();
    let Status { pose, velocity, .. } = status;
    let mut message = PlatformStatus {
        commanded: pose2d(status.commanded_pose),
        estimated: pose2d(pose),
        principal_deviation: status.uncertainty.major,
        minor_deviation: status.uncertainty.minor,
        heading_deviation: status.uncertainty.heading,
        principal_axis: status.uncertainty.axis,
        localization_lost: status.localization_lost,
        lines: state
            .platform
            .scanned_lines()
            .flat_map(|line| [line.a, line.b])
            .map(|end| point32(transform(pose, end)))
            .collect(),
        // An old scan does not match the current pose.
        scan: state
            .inputs
            .points
            .iter()
            .filter(|_| !status.blind)
            .map(|&point| point32(transform(pose, point)))
            .collect(),
        corners: state.platform.corners().map(|corner| point32(transform(pose, corner))).collect(),
        path: state.platform.path().map(point32).collect(),
        joystick_buttons: state.inputs.joystick_buttons.clone(),
        translation_velocity: velocity.linear,
        rotation_velocity: velocity.angular,
        lateral_velocity: velocity.lateral,
        battery_voltage: state.inputs.battery.as_ref().map_or(0, |battery| (battery.voltage * 1000.0) as i32),
        io_digital_out: state.platform.digital_outputs()[0].into(),
        initialized: status.operation != Operation::NotInitialized,
        target_reached: status.target_reached,
        motion_mode: status.mode as u8,
        operation_state: status.operation as u8,
        emergency_state: status.emergency as i32,
        planner_state: status.planner as i32,
        collision: status.collision,
        blind: status.blind,
        siren: state.flag("SirenEnabled"),
        flash_light: state.flag("FlashlightEnabled"),
        head_angle: state.outlets.head_angle,
        ultrasonic: state.inputs.ultrasonics.distances(state.platform.ultrasonics()),
        ..Default::default()
    };
    state.fill(&mut message);
    message.header.stamp = state.stamp();
    frame.clone_into(&mut message.header.frame_id);
    message
}

pub(super) fn pose2d(pose: Pose) -> Pose2D {
    Pose2D { x: pose.x, y: pose.y, theta: pose.heading }
}

pub(super) fn point32(point: Point) -> Point32 {
    Point32 { x: point.x as f32, y: point.y as f32, z: 0.0 }
}
