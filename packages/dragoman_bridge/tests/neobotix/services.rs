//! The table of services: commands match requests, replies match responses.

use std::any::Any;
use std::collections::BTreeMap;

use dragoman_bridge::neobotix::services::{PlatformServiceRow, rows};
use dragoman_bridge::neobotix::status::Board;
use dragoman_bridge::neobotix::wire::{
    Camera, CanId, CanMessage, CanMessages, Circle, Cluster, Coded, Command, CommandKind, DebugData,
    DocumentReply, Frame, GraphicalColor, GraphicalKind, GraphicalObject, Line, Mapping, NamedDocument,
    ParameterReplies, ParameterReply, PathPose, Point, Position, ProgramDocument, QueueEntry, Reply,
    SafeVelocities, ScanPoint, Segment, SetDigitalOutput, Status, Variable,
};
use dragoman_bridge::neobotix::{Outcome, Refusal};
use dragoman_bridge::services::Service;
use dragoman_ros::WrappedServiceTypeSupport;
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{PlatformGetStatus, PlatformMoveToPose, PlatformSetMode};
use dragoman_ros::geometry_msgs::msg::{Point32, Pose2D};

use super::commands::cases;

fn each(mut act: impl FnMut(CommandKind, &PlatformServiceRow)) {
    for row in rows() {
        let kind = CommandKind::all().find(|kind| kind.service() == row.name());
        act(kind.expect("a command"), &row);
    }
}

/// A command after its way through the request of its service.
fn command(row: &PlatformServiceRow, command: Command) -> Result<Command, Outcome> {
    row.call_there_and_back(command).map(|command| command.expect("a request of a command"))
}

/// An outcome after its way through the response of its service.
fn outcome(row: &PlatformServiceRow, outcome: Outcome) -> Outcome {
    row.outcome_there_and_back(Ok(outcome))
}

#[test]
fn there_is_a_row_for_every_command_but_one() {
    let mut kinds = Vec::new();
    each(|kind, _| kinds.push(kind));
    let expected: Vec<_> = CommandKind::all().filter(|kind| *kind != CommandKind::CloseSocket).collect();
    assert_eq!(kinds, expected);
}

#[test]
fn commands_survive_their_services() {
    let commands: BTreeMap<_, _> =
        cases().into_iter().map(|(command, _)| (command.kind(), command)).collect();
    each(|kind, row| {
        assert_eq!(command(row, commands[&kind].clone()), Ok(commands[&kind].clone()));
        let other = if kind == CommandKind::Stop { Command::Start } else { Command::Stop };
        assert!(matches!(command(row, other), Err(Outcome::Refused(Refusal::Rejected(_)))), "{kind}");
    });
}

fn some_status() -> Status {
    let mut status = Status {
        commanded: Frame { x_mm: 1, y_mm: -2, angle_mdeg: 3000 },
        estimated: Frame { x_mm: 1000, y_mm: 2000, angle_mdeg: 90_000 },
        scan: vec![ScanPoint { x_mm: 32_767, y_mm: -32_768 }, ScanPoint { x_mm: 5, y_mm: 6 }],
        reflectors: vec![Point { x_mm: 7, y_mm: 8 }],
        lines: vec![Line { target: Point { x_mm: 500, y_mm: 0 }, source: Point { x_mm: 0, y_mm: 300 } }],
        circles: vec![Circle { center: Point { x_mm: 9, y_mm: 10 }, radius_mm: 11 }],
        corners: vec![Point { x_mm: 12, y_mm: 13 }],
        path: vec![Point { x_mm: 14, y_mm: 15 }],
        joystick_buttons: vec![true.into(), false.into()],
        ultrasonic_mm: std::array::from_fn(|index| 100 * index as i32),
        latitude: 48.5,
        longitude: 9.25,
        is_initialized: true.into(),
        motion_mode: Coded::from_code(4),
        operation_state: Coded::from_code(1),
        emergency_state: Coded::from_code(2),
        application_mode: 3,
        planner_state: Coded::from_code(5),
        application_error: Coded::from_code(1),
        is_docked: true.into(),
        lookup_percent: 6,
        head_angle_deg: -45,
        ..Status::default()
    };
    status.covariance.principal_mm = 16;
    status.covariance.minor_mm = 17;
    status.covariance.angle_mdeg = 18;
    status.covariance.principal_axis_mdeg = 19;
    status.velocity.translation_mm_per_s = 20;
    status.velocity.rotation_mrad_per_s = -21;
    status.relay_board.digital_in = 22;
    status.relay_board.status = 23;
    status.relay_board.analog_in[7] = 24;
    status.relay_board.optical_distance[3] = 25;
    status.io_board.battery_voltage = 26;
    status.io_board.digital_in = 27;
    status.io_board.digital_out = 28;
    status.io_board.board.status = 29;
    status.io_board.board.analog_in[0] = 30;
    status.motors.right_status = 31;
    status.motors.left_status = 32;
    status.motors.right_temperature = 33;
    status.motors.left_temperature = 34;
    status.ultrasonic_board.analog_in[1] = 35;
    status.ultrasonic_board.status = 36;
    status.radar_board.velocity_mm_per_s[2] = -37;
    status.radar_board.status = 38;
    status.gyro.acceleration_e4 = [39, 40, 41];
    status.gyro.angle_rad_e4 = 42;
    status.gyro.temperature = 43;
    status.gyro.status = 44;
    status.is_target_reached = true.into();
    status.is_localization_lost = true.into();
    status.is_colliding = true.into();
    status.surveillance.infrared[3] = true.into();
    status.surveillance.siren = true.into();
    status.surveillance.flash_light = true.into();
    status
}

fn some_replies() -> Vec<Reply> {
    let parameter = ParameterReply {
        key: "IpoRotvel".into(),
        value: "0.6".into(),
        category: Coded::from_code(2),
        kind: Coded::from_code(2),
        minimum: -1,
        maximum: 10,
    };
    let document = NamedDocument { name: "lab".into(), document: "<map/>".into() };
    let message = CanMessage { time_stamp: 1.5, id: 0x181, data: *b"01234567" };
    let object = |kind: GraphicalKind, color: GraphicalColor| GraphicalObject {
        kind: kind.into(),
        color: color.into(),
        x_mm: 1,
        y_mm: -2,
        ..GraphicalObject::default()
    };
    let line = GraphicalObject {
        second_x_mm: 3,
        second_y_mm: 4,
        ..object(GraphicalKind::LineThin, GraphicalColor::Cyan)
    };
    let data = DebugData {
        path: vec![
            PathPose { x_mm: 0, y_mm: 0, angle_rad: 2 },
            PathPose { x_mm: 0, y_mm: 1000, angle_rad: 2 },
        ],
        graphical_objects: vec![
            object(GraphicalKind::PointRectangle, GraphicalColor::Red),
            object(GraphicalKind::PointRectangle, GraphicalColor::Red),
            object(GraphicalKind::PointLargeDot, GraphicalColor::Orange),
            object(GraphicalKind::PointPixel, GraphicalColor::DarkGray),
            line,
        ],
        variables: vec![
            Variable { id: 0, value: "mapping: false".into() },
            Variable { id: 1, value: "obstacles: 3".into() },
        ],
        moving_clusters: vec![
            Cluster { x_mm: 1500, y_mm: -20, index: 1 },
            Cluster { x_mm: 5, y_mm: 6, index: 2 },
        ],
        person_clusters: vec![Cluster { x_mm: 7, y_mm: 8, index: 1 }],
        ball_clusters: vec![Cluster { x_mm: 9, y_mm: 10, index: 1 }],
        protocol_queue: vec![QueueEntry { text: "info: there".into(), number: 7 }],
        safe_velocities: SafeVelocities {
            forward_laser_mm_per_s: 1500,
            backward_laser_mm_per_s: 1400,
            forward_ultrasonic_mm_per_s: 1300,
            backward_ultrasonic_mm_per_s: 1200,
            optocoupler_mm_per_s: 0,
        },
        ..DebugData::default()
    };
    let segment = Segment { source: Point { x_mm: 1, y_mm: 2 }, target: Point { x_mm: 3, y_mm: 4 } };
    let mapping = DebugData {
        mapping: Some(Mapping { segments: vec![segment], ..Mapping::default() }),
        variables: vec![Variable { id: 0, value: "mapping: true".into() }],
        ..DebugData::default()
    };
    let position = Position {
        x_mm: 1000,
        y_mm: -1,
        angle_rad: 0.5,
        translation_mm_per_s: 250.0,
        rotation_rad_per_s: -0.25,
    };
    vec![
        Reply::GetCanMessages(CanMessages { messages: vec![message] }),
        Reply::GetStatus(Box::new(some_status())),
        Reply::GetMap(DocumentReply::new(document.clone())),
        Reply::GetRoadmap(DocumentReply::new(document)),
        Reply::GetPltfParam(parameter.clone()),
        Reply::GetPltfParamVec(ParameterReplies { parameters: vec![parameter; 3] }),
        Reply::GetProgram(ProgramDocument { document: "<program/>".into() }),
        Reply::GetDebugData(Box::new(data)),
        Reply::GetDebugData(Box::new(mapping)),
        Reply::GetCamera(Camera { address: "10.0.0.1".into(), id: "front".into() }),
        Reply::GetPosition(position),
    ]
}

#[test]
fn replies_survive_their_services() {
    let replies = some_replies();
    each(|kind, row| {
        let of_kind: Vec<_> = replies.iter().filter(|reply| reply.kind() == kind).collect();
        assert_eq!(of_kind.is_empty(), !kind.is_answered(), "{kind}");
        for reply in of_kind {
            assert_eq!(outcome(row, Outcome::Answered(reply.clone())), Outcome::Answered(reply.clone()));
        }
        let refused = |reason: &str| Outcome::Refused(Refusal::Rejected(reason.to_owned()));
        assert_eq!(outcome(row, refused("no")), refused("no"));
        assert_eq!(outcome(row, Outcome::Refused(Refusal::TimedOut)), refused("no answer in time"));
        if !kind.is_answered() {
            assert_eq!(outcome(row, Outcome::Done), Outcome::Done);
        }
    });
}

/// Calls a function with the row of one command, whose service has this type.
fn with_row<S: WrappedServiceTypeSupport + 'static>(
    kind: CommandKind,
    act: impl FnOnce(&Service<S, Command, Outcome>),
) {
    let rows = rows();
    let row = rows.iter().find(|row| row.name() == kind.service()).expect("a row");
    let any: &dyn Any = &**row;
    act(any.downcast_ref().expect("the row has this service"));
}

/// ROS uses SI units; values beyond the protocol's range are refused in requests, and clamped in answers.
#[test]
fn units_are_converted_at_the_boundary() {
    with_row::<PlatformMoveToPose::Service>(CommandKind::MoveAbs, |move_abs| {
        let frame = Frame { x_mm: 1500, y_mm: -250, angle_mdeg: 180_000 };
        let request = (move_abs.request)(Command::MoveAbs(frame)).unwrap();
        assert_eq!(request.pose, Pose2D { x: 1.5, y: -0.25, theta: std::f64::consts::PI });
        let cases = [(2_147_483.0, true), (2_147_484.0, false), (f64::NAN, false), (f64::INFINITY, false)];
        for (x, fits) in cases {
            let request = PlatformMoveToPose::Request { pose: Pose2D { x, y: 0.0, theta: 0.0 } };
            assert_eq!((move_abs.call)(request).is_ok(), fits, "{x}");
        }
    });
    with_row::<PlatformSetMode::Service>(CommandKind::SetMode, |set_mode| {
        let error = (set_mode.call)(PlatformSetMode::Request { mode: 7 }).unwrap_err();
        assert_eq!(error, "mode: 7 cannot be represented");
    });
}

#[test]
fn a_status_is_in_the_protocol_s_units_and_within_their_range() {
    let point = |x: f32, y: f32| Point32 { x, y, z: 0.0 };
    let mut status = PlatformStatus {
        estimated: Pose2D { x: 1.0, y: 2.0, theta: std::f64::consts::FRAC_PI_2 },
        scan: vec![point(1.0, 2.0), point(32.768, 0.0), point(f32::NAN, 0.0), point(-32.768, 0.0)],
        lines: vec![point(1.0, 3.0), point(0.0, 2.0), point(9.0, 9.0)],
        translation_velocity: f64::NAN,
        rotation_velocity: f64::INFINITY,
        latitude: f64::NAN,
        head_angle: 1.0,
        ultrasonic: [1.5, f64::NAN, f64::INFINITY].into_iter().chain([3.0; 13]).collect(),
        ..Default::default()
    };
    (status.header.stamp.sec, status.header.stamp.nanosec) = (1_700_000_000, 123_456_789);
    let response = PlatformGetStatus::Response { success: true, status, ..Default::default() };
    let mut outcome = Outcome::Done;
    with_row::<PlatformGetStatus::Service>(CommandKind::GetStatus, |row| outcome = (row.outcome)(response));
    let Outcome::Answered(Reply::GetStatus(reply)) = outcome else { panic!("a status") };
    // INT16s reach 32 m; points further away are omitted.
    assert_eq!(reply.scan, [ScanPoint { x_mm: 1000, y_mm: 2000 }, ScanPoint { x_mm: -32_768, y_mm: 0 }]);
    // In the platform's frame, the target first; an end without a line is omitted.
    let (source, target) = (Point { x_mm: 1000, y_mm: 0 }, Point { x_mm: 0, y_mm: 1000 });
    assert_eq!(reply.lines, [Line { target, source }]);
    assert_eq!((reply.velocity.translation_mm_per_s, reply.velocity.rotation_mrad_per_s), (0, i32::MAX));
    assert_eq!((reply.latitude, reply.head_angle_deg), (0.0, 57));
    // What was not measured is no contact.
    assert_eq!(reply.ultrasonic_mm[..4], [1500, 10_000, 10_000, 3000]);
    assert_eq!(i64::from(reply.time_stamp), 1_700_000_000_123 % (1 << 31));
}

#[test]
fn values_that_no_service_can_represent_are_refused() {
    each(|kind, row| {
        let unsayable = match kind {
            CommandKind::SetDigout => {
                Command::SetDigout(SetDigitalOutput { board: Board::Io, channel: 256, is_high: true })
            }
            CommandKind::AddCanListeningId => Command::AddCanListeningId(CanId { id: -1 }),
            CommandKind::RemoveCanListeningId => Command::RemoveCanListeningId(CanId { id: -1 }),
            _ => return,
        };
        assert!(matches!(command(row, unsayable), Err(Outcome::Refused(Refusal::OutOfRange(_)))), "{kind}");
    });
}
