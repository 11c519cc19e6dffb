//! The status as a message, and back (PlatformCtrl guide, 6.4, CMD_GET_STATUS).
//!
//! The protocol has lines in the platform's frame, the message has them in the map. Scan points beyond the range of
//! INT16 are omitted: clamped, they would mark a position where nothing is.

use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::PlatformGetStatus;
use dragoman_ros::geometry_msgs::msg::{Point32, Pose2D};

use super::ReplyBody;
use super::arguments::pose;
use super::units::{MILLI, first, from_mdeg, rounded, rounded_mdeg};
use crate::neobotix::call::OutOfRange;
use crate::neobotix::status::ULTRASONIC_IDLE;
use crate::neobotix::wire::{
    AnalogBoard, Circle, Coded, Covariance, Frame, Gyro, IoBoard, Line, MotorBoards, Point, RadarBoard,
    RelayBoard, ScanPoint, Status, Surveillance, UltrasonicBoard, Velocity,
};

/// Accelerations and the gyro's angle come in ten-thousandths.
const E4: f64 = 1e-4;

impl ReplyBody<PlatformGetStatus::Response> for Box<Status> {
    fn into_response(self) -> PlatformGetStatus::Response {
        PlatformGetStatus::Response { status: message(&self), ..Default::default() }
    }

    fn from_response(response: PlatformGetStatus::Response) -> Result<Self, OutOfRange> {
        Ok(Self::new(reply(&response.status)))
    }
}

/// Milliseconds modulo 2^31: the protocol's INT has room for 24 days.
fn time_stamp_ms(message: &PlatformStatus) -> i32 {
    let stamp = &message.header.stamp;
    let ms = i64::from(stamp.sec) * 1000 + i64::from(stamp.nanosec / 1_000_000);
    // The mask ensures the range of an i32.
    (ms & i64::from(i32::MAX)) as i32
}

fn frame(pose: &Pose2D) -> Frame {
    Frame { x_mm: rounded(pose.x, MILLI), y_mm: rounded(pose.y, MILLI), angle_mdeg: rounded_mdeg(pose.theta) }
}

fn mm(point: &Point32) -> Point {
    Point { x_mm: rounded(point.x.into(), MILLI), y_mm: rounded(point.y.into(), MILLI) }
}

/// `None`: out of range, or not finite.
fn scan_point(point: &Point32) -> Option<ScanPoint> {
    let within = |place: f32| {
        let mm = (f64::from(place) / MILLI).round();
        (f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&mm).then_some(mm as i16)
    };
    Some(ScanPoint { x_mm: within(point.x)?, y_mm: within(point.y)? })
}

/// Transforms a point from the map to the platform's frame.
fn seen(from: &Pose2D, point: &Point32) -> Point {
    let (dx, dy) = (f64::from(point.x) - from.x, f64::from(point.y) - from.y);
    let (sin, cos) = from.theta.sin_cos();
    Point { x_mm: rounded(cos * dx + sin * dy, MILLI), y_mm: rounded(cos * dy - sin * dx, MILLI) }
}

/// Transforms a point from the platform's frame to the map.
fn placed(at: &Pose2D, point: Point) -> Point32 {
    let (x, y) = (f64::from(point.x_mm) * MILLI, f64::from(point.y_mm) * MILLI);
    let (sin, cos) = at.theta.sin_cos();
    Point32 { x: (at.x + cos * x - sin * y) as f32, y: (at.y + sin * x + cos * y) as f32, z: 0.0 }
}

fn metres(x_mm: i32, y_mm: i32) -> Point32 {
    Point32 { x: (f64::from(x_mm) * MILLI) as f32, y: (f64::from(y_mm) * MILLI) as f32, z: 0.0 }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// The distances of all sensors. What is not finite was not measured: 0 would be a contact.
pub(in crate::neobotix) fn ultrasonic_mm(distances: &[f64]) -> [i32; 16] {
    let mm = |channel: usize| {
        let measured = distances.get(channel).copied().filter(|distance| distance.is_finite());
        rounded(measured.unwrap_or(ULTRASONIC_IDLE), MILLI)
    };
    std::array::from_fn(mm)
}

/// Converts the message to the protocol's status.
pub(super) fn reply(message: &PlatformStatus) -> Status {
    let points = |points: &[Point32]| points.iter().map(mm).collect::<Vec<_>>();
    let circle = |point: &Point32| Circle { center: mm(point), radius_mm: rounded(point.z.into(), MILLI) };
    let line = |ends: &[Point32]| match ends {
        [source, target] => {
            Some(Line { target: seen(&message.estimated, target), source: seen(&message.estimated, source) })
        }
        _ => None,
    };
    let millis = |values: &[f64]| values.iter().map(|value| rounded(*value, MILLI)).collect::<Vec<_>>();
    let flags: [bool; 4] = first(&message.infrared);
    Status {
        commanded: frame(&message.commanded),
        estimated: frame(&message.estimated),
        covariance: Covariance {
            principal_mm: rounded(message.principal_deviation, MILLI),
            minor_mm: rounded(message.minor_deviation, MILLI),
            angle_mdeg: rounded_mdeg(message.heading_deviation),
            principal_axis_mdeg: rounded_mdeg(message.principal_axis),
        },
        scan: message.scan.iter().filter_map(scan_point).collect(),
        reflectors: points(&message.reflectors),
        lines: message.lines.chunks(2).filter_map(line).collect(),
        circles: message.circles.iter().map(circle).collect(),
        corners: points(&message.corners),
        path: points(&message.path),
        joystick_buttons: message.joystick_buttons.iter().map(|pressed| (*pressed).into()).collect(),
        velocity: Velocity {
            translation_mm_per_s: rounded(message.translation_velocity, MILLI),
            rotation_mrad_per_s: rounded(message.rotation_velocity, MILLI),
        },
        relay_board: RelayBoard {
            digital_in: message.relay_digital_in,
            status: message.relay_status,
            analog_in: first(&message.relay_analog_in),
            optical_distance: first(&message.optical_distance),
        },
        io_board: IoBoard {
            battery_voltage: message.battery_voltage,
            digital_in: message.io_digital_in,
            digital_out: message.io_digital_out,
            board: AnalogBoard { status: message.io_status, analog_in: first(&message.io_analog_in) },
        },
        motors: MotorBoards {
            right_status: message.motor_right_status,
            left_status: message.motor_left_status,
            right_temperature: message.motor_right_temperature,
            left_temperature: message.motor_left_temperature,
        },
        ultrasonic_mm: ultrasonic_mm(&message.ultrasonic),
        ultrasonic_board: UltrasonicBoard {
            analog_in: first(&message.ultrasonic_analog_in),
            status: message.ultrasonic_status,
        },
        radar_board: RadarBoard {
            velocity_mm_per_s: first(&millis(&message.radar_velocity)),
            status: message.radar_status,
        },
        latitude: finite(message.latitude),
        longitude: finite(message.longitude),
        gyro: Gyro {
            acceleration_e4: first(&message.acceleration).map(|value: f64| rounded(value, E4)),
            angle_rad_e4: rounded(message.gyro_angle, E4),
            temperature: message.gyro_temperature,
            status: message.gyro_status,
        },
        is_initialized: message.initialized.into(),
        is_target_reached: message.target_reached.into(),
        motion_mode: Coded::from_code(message.motion_mode),
        operation_state: Coded::from_code(message.operation_state),
        emergency_state: Coded::from_code(message.emergency_state),
        application_mode: message.application_mode,
        planner_state: Coded::from_code(message.planner_state),
        time_stamp: time_stamp_ms(message),
        application_error: Coded::from_code(message.application_error),
        is_docked: message.docked.into(),
        is_localization_lost: message.localization_lost.into(),
        is_colliding: message.collision.into(),
        lookup_percent: message.lookup_percent,
        surveillance: Surveillance {
            infrared: flags.map(Into::into),
            siren: message.siren.into(),
            flash_light: message.flash_light.into(),
        },
        head_angle_deg: rounded(message.head_angle.to_degrees(), 1.0),
    }
}

/// Converts the reply to SI units. The time stamp is from the platform's own clock, so the publisher sets the header. A
/// flag is set by any number other than 0.
pub(in crate::neobotix) fn message(reply: &Status) -> PlatformStatus {
    let estimated = pose(reply.estimated);
    let points = |points: &[Point]| points.iter().map(|point| metres(point.x_mm, point.y_mm)).collect();
    let circle = |circle: &Circle| Point32 {
        z: (f64::from(circle.radius_mm) * MILLI) as f32,
        ..metres(circle.center.x_mm, circle.center.y_mm)
    };
    let flag = |coded: Coded<bool, u8>| coded.code() != 0;
    let lines = reply.lines.iter().flat_map(|line| [line.source, line.target]);
    let si = |values: &[i32]| values.iter().map(|value| f64::from(*value) * MILLI).collect();
    let Surveillance { infrared, siren, flash_light } = reply.surveillance;
    PlatformStatus {
        header: Default::default(),
        commanded: pose(reply.commanded),
        principal_deviation: f64::from(reply.covariance.principal_mm) * MILLI,
        minor_deviation: f64::from(reply.covariance.minor_mm) * MILLI,
        heading_deviation: from_mdeg(reply.covariance.angle_mdeg),
        principal_axis: from_mdeg(reply.covariance.principal_axis_mdeg),
        scan: reply.scan.iter().map(|point| metres(point.x_mm.into(), point.y_mm.into())).collect(),
        reflectors: points(&reply.reflectors),
        lines: lines.map(|end| placed(&estimated, end)).collect(),
        circles: reply.circles.iter().map(circle).collect(),
        corners: points(&reply.corners),
        path: points(&reply.path),
        joystick_buttons: reply.joystick_buttons.iter().map(|button| flag(*button)).collect(),
        translation_velocity: f64::from(reply.velocity.translation_mm_per_s) * MILLI,
        rotation_velocity: f64::from(reply.velocity.rotation_mrad_per_s) * MILLI,
        // Not in the protocol.
        lateral_velocity: 0.0,
        relay_digital_in: reply.relay_board.digital_in,
        relay_status: reply.relay_board.status,
        relay_analog_in: reply.relay_board.analog_in.to_vec(),
        optical_distance: reply.relay_board.optical_distance.to_vec(),
        battery_voltage: reply.io_board.battery_voltage,
        io_digital_in: reply.io_board.digital_in,
        io_digital_out: reply.io_board.digital_out,
        io_status: reply.io_board.board.status,
        io_analog_in: reply.io_board.board.analog_in.to_vec(),
        motor_right_status: reply.motors.right_status,
        motor_left_status: reply.motors.left_status,
        motor_right_temperature: reply.motors.right_temperature,
        motor_left_temperature: reply.motors.left_temperature,
        ultrasonic: si(&reply.ultrasonic_mm),
        ultrasonic_analog_in: reply.ultrasonic_board.analog_in.to_vec(),
        ultrasonic_status: reply.ultrasonic_board.status,
        radar_velocity: si(&reply.radar_board.velocity_mm_per_s),
        radar_status: reply.radar_board.status,
        latitude: finite(reply.latitude),
        longitude: finite(reply.longitude),
        acceleration: reply.gyro.acceleration_e4.iter().map(|value| f64::from(*value) * E4).collect(),
        gyro_angle: f64::from(reply.gyro.angle_rad_e4) * E4,
        gyro_temperature: reply.gyro.temperature,
        gyro_status: reply.gyro.status,
        initialized: flag(reply.is_initialized),
        target_reached: flag(reply.is_target_reached),
        motion_mode: reply.motion_mode.code(),
        operation_state: reply.operation_state.code(),
        emergency_state: reply.emergency_state.code(),
        application_mode: reply.application_mode,
        planner_state: reply.planner_state.code(),
        application_error: reply.application_error.code(),
        docked: flag(reply.is_docked),
        localization_lost: flag(reply.is_localization_lost),
        collision: flag(reply.is_colliding),
        // Not in the protocol.
        blind: false,
        lookup_percent: reply.lookup_percent,
        infrared: infrared.into_iter().map(flag).collect(),
        siren: flag(siren),
        flash_light: flag(flash_light),
        head_angle: f64::from(reply.head_angle_deg).to_radians(),
        estimated,
    }
}
