//! Every reply against the rows of the tables of the PlatformCtrl guide, 6.4.
//!
//! A table is written as a word with a letter for each row: `b` BYTE, `h` INT16, `i` INT, `d` DOUBLE. The rows get the
//! numbers 1, 2, 3 and so on; after decoding, the numbers show whether every row is in its place.

use dragoman_bridge::neobotix::wire::{
    Camera, CanMessage, CanMessages, Cluster, Coded, DebugData, DecodeError, DocumentReply, Fault, Framing,
    GlobalLocalization, GraphicalObject, Line, Mapping, Message, NamedDocument, ParameterReply, PathPose,
    Point, Position, ProgramDocument, QueueEntry, Reply, ScanPoint, Segment, Status, ValidationGate,
    Variable,
};

/// Encoded rows, numbered from 1.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    last: u8,
}

impl Rows {
    fn rows(mut self, kinds: &str) -> Self {
        for kind in kinds.chars().filter(|kind| *kind != ' ') {
            self.last += 1;
            match kind {
                'b' => self.bytes.push(self.last),
                'h' => self.bytes.extend([0, self.last]),
                'i' => self.bytes.extend([0, 0, 0, self.last]),
                'd' => self.bytes.extend(f64::from(self.last).to_be_bytes()),
                other => panic!("{other} is not a kind of row"),
            }
        }
        self
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// A number of elements.
    fn count(self, count: u8) -> Self {
        self.raw(&[0, 0, 0, count])
    }
}

const CHECK: [u8; 4] = [0xff; 4];

/// Checks that the bytes decode to this reply, and the reply encodes to these bytes.
fn is(data: &[u8], reply: &Reply) {
    assert_eq!(Reply::decode(data).as_ref(), Ok(reply));
    let len = u32::try_from(data.len()).unwrap().to_be_bytes();
    assert_eq!(reply.encode(Framing::Bare), Ok([&len, data].concat()));
}

#[test]
fn the_status_row_by_row() {
    let table = Rows::default()
        .raw(&[18])
        .rows("iii iii iiii")
        .count(2)
        .rows("hh hh")
        .count(1)
        .rows("ii")
        .count(1)
        .rows("iiii")
        .count(1)
        .rows("iii")
        .count(1)
        .rows("ii")
        .count(1)
        .rows("ii")
        .count(2)
        .rows("bb")
        .rows("ii")
        .rows("ii iiiiiiii iiii")
        .rows("iiii iiiiiiii")
        .rows("iiii")
        .rows("iiiiiiii iiiiiiii")
        .rows("iiiiiiii i")
        .rows("iiii i")
        .rows("dd")
        .rows("iii i i i")
        .rows("bbbb i b i i i bbbb")
        .rows("bbbb b b")
        .rows("i")
        .raw(&CHECK);
    let data = table.bytes;
    let reply = Reply::decode(&data).expect("a status");
    let Reply::GetStatus(status) = &reply else { panic!("{reply:?}") };
    let one_point = |x_mm, y_mm| vec![Point { x_mm, y_mm }];
    let Status { commanded, estimated, covariance, .. } = **status;
    assert_eq!([commanded.x_mm, commanded.y_mm, commanded.angle_mdeg], [1, 2, 3]);
    assert_eq!([estimated.x_mm, estimated.y_mm, estimated.angle_mdeg], [4, 5, 6]);
    assert_eq!([covariance.principal_mm, covariance.minor_mm], [7, 8]);
    assert_eq!([covariance.angle_mdeg, covariance.principal_axis_mdeg], [9, 10]);
    assert_eq!(status.scan, [ScanPoint { x_mm: 11, y_mm: 12 }, ScanPoint { x_mm: 13, y_mm: 14 }]);
    assert_eq!(status.reflectors, one_point(15, 16));
    let line = Line { target: Point { x_mm: 17, y_mm: 18 }, source: Point { x_mm: 19, y_mm: 20 } };
    assert_eq!(status.lines, [line]);
    assert_eq!((status.circles[0].center, status.circles[0].radius_mm), (Point { x_mm: 21, y_mm: 22 }, 23));
    assert_eq!((&status.corners, &status.path), (&one_point(24, 25), &one_point(26, 27)));
    assert_eq!(status.joystick_buttons, [Coded::from_code(28), Coded::from_code(29)]);
    assert_eq!([status.velocity.translation_mm_per_s, status.velocity.rotation_mrad_per_s], [30, 31]);
    let relay = status.relay_board;
    assert_eq!([relay.digital_in, relay.status], [32, 33]);
    assert_eq!(
        (relay.analog_in, relay.optical_distance),
        ([34, 35, 36, 37, 38, 39, 40, 41], [42, 43, 44, 45])
    );
    let io = status.io_board;
    assert_eq!([io.battery_voltage, io.digital_in, io.digital_out, io.board.status], [46, 47, 48, 49]);
    assert_eq!(io.board.analog_in, [50, 51, 52, 53, 54, 55, 56, 57]);
    let motors = status.motors;
    assert_eq!([motors.right_status, motors.left_status], [58, 59]);
    assert_eq!([motors.right_temperature, motors.left_temperature], [60, 61]);
    assert_eq!(status.ultrasonic_mm, std::array::from_fn::<i32, 16, _>(|index| 62 + index as i32));
    assert_eq!(status.ultrasonic_board.analog_in, [78, 79, 80, 81, 82, 83, 84, 85]);
    assert_eq!(status.ultrasonic_board.status, 86);
    assert_eq!((status.radar_board.velocity_mm_per_s, status.radar_board.status), ([87, 88, 89, 90], 91));
    assert_eq!([status.latitude, status.longitude], [92.0, 93.0]);
    let gyro = status.gyro;
    assert_eq!((gyro.acceleration_e4, gyro.angle_rad_e4), ([94, 95, 96], 97));
    assert_eq!([gyro.temperature, gyro.status], [98, 99]);
    assert_eq!([status.is_initialized.code(), status.is_target_reached.code()], [100, 101]);
    assert_eq!([status.motion_mode.code(), status.operation_state.code()], [102, 103]);
    assert_eq!((status.emergency_state.code(), status.application_mode), (104, 105));
    assert_eq!((status.planner_state.code(), status.time_stamp), (106, 107));
    assert_eq!(status.application_error.code(), 108);
    assert_eq!([status.is_docked.code(), status.is_localization_lost.code()], [109, 110]);
    assert_eq!([status.is_colliding.code(), status.lookup_percent], [111, 112]);
    let surveillance = status.surveillance;
    assert_eq!(surveillance.infrared.map(Coded::code), [113, 114, 115, 116]);
    assert_eq!([surveillance.siren.code(), surveillance.flash_light.code()], [117, 118]);
    assert_eq!((status.head_angle_deg, table.last), (119, 119));
    is(&data, &reply);
}

#[test]
fn the_end_check_is_checked() {
    for (number, reply) in [(18, Reply::GetStatus(Box::default())), (50, Reply::GetDebugData(Box::default()))]
    {
        let mut bytes = reply.encode(Framing::Bare).expect("a message");
        let end = bytes.len() - 1;
        bytes[end] = 0xfe;
        let error = Reply::decode(&bytes[4..]).expect_err("-2");
        let fault = Fault::EndCheck { value: -2 };
        assert_eq!(error, DecodeError { number, field: "end check", offset: end - 7, fault });
    }
}

#[test]
fn the_position_row_by_row() {
    let data = Rows::default().raw(&[74]).rows("ii ddd").bytes;
    let position =
        Position { x_mm: 1, y_mm: 2, angle_rad: 3.0, translation_mm_per_s: 4.0, rotation_rad_per_s: 5.0 };
    is(&data, &Reply::GetPosition(position));
    assert!(position.is_finite());
    assert!(!Position { angle_rad: f64::NAN, ..position }.is_finite());
}

#[test]
fn can_messages_row_by_row() {
    let data = Rows::default().raw(&[10]).count(2).rows("di bbbbbbbb di bbbbbbbb").bytes;
    let message = |first: u8| CanMessage {
        time_stamp: first.into(),
        id: i32::from(first) + 1,
        data: std::array::from_fn(|index| first + 2 + index as u8),
    };
    is(&data, &Reply::GetCanMessages(CanMessages { messages: vec![message(1), message(11)] }));
}

/// BYTE characters of the name, INT length and document, INT length and name.
#[test]
fn documents_byte_by_byte() {
    let named = NamedDocument { name: "hall".into(), document: "<map/>".into() };
    let data = |number| [&[number, 4, 0, 0, 0, 6], &b"<map/>\0\0\0\x04hall"[..]].concat();
    is(&data(26), &Reply::GetMap(DocumentReply::new(named.clone())));
    is(&data(33), &Reply::GetRoadmap(DocumentReply::new(named)));
    let program = ProgramDocument { document: "<program/>".into() };
    is(b"\x29\0\0\0\x0a<program/>", &Reply::GetProgram(program));
    let camera = Camera { address: "10.0.0.2".into(), id: "c".into() };
    is(b"\x3b\0\0\0\x0810.0.0.2\0\0\0\x01c", &Reply::GetCamera(camera));
}

#[test]
fn parameters_row_by_row() {
    let one = |number: u8| {
        Rows::default().raw(&[number, 0, 0, 0, 1, b'k', 0, 0, 0, 2, b'4', b'2']).rows("iiii").bytes
    };
    let reply = ParameterReply {
        key: "k".into(),
        value: "42".into(),
        category: Coded::from_code(1),
        kind: Coded::from_code(2),
        minimum: 3,
        maximum: 4,
    };
    is(&one(38), &Reply::GetPltfParam(reply.clone()));
    let parameters = vec![reply.clone(), reply];
    let data = [&[39, 0, 0, 0, 2], &one(38)[1..], &one(38)[1..]].concat();
    is(&data, &Reply::GetPltfParamVec(dragoman_bridge::neobotix::wire::ParameterReplies { parameters }));
}

/// Complete in mapping mode; otherwise without segments and global localization.
#[test]
fn debug_data_row_by_row() {
    let point = |x_mm| Point { x_mm, y_mm: x_mm + 1 };
    let gate = |first: i32| ValidationGate {
        corners: [point(first), point(first + 2), point(first + 4), point(first + 6)],
    };
    let pose = |x_mm| PathPose { x_mm, y_mm: x_mm + 1, angle_rad: x_mm + 2 };
    let segment = |first| Segment { source: point(first), target: point(first + 2) };
    let cluster = |x_mm| Cluster { x_mm, y_mm: x_mm + 1, index: x_mm + 2 };
    let end = |rows: Rows| {
        rows.count(1)
            .rows("iii")
            .count(1)
            .rows("ii iii iii i")
            .count(1)
            .rows("i")
            .raw(b"\0\0\0\x01v")
            .count(1)
            .rows("iii")
            .count(1)
            .rows("iii")
            .count(1)
            .rows("iii")
            .count(1)
            .raw(b"\0\0\0\x03log")
            .rows("iiiiiiiiii")
            .rows("iiiii")
            .raw(&CHECK)
            .bytes
    };
    let expected = |first: i32, validation_gates, mapping| {
        let object = first + 3;
        let mut data = DebugData {
            validation_gates,
            mapping,
            path: vec![pose(first)],
            graphical_objects: vec![GraphicalObject {
                kind: Coded::from_code(object),
                color: Coded::from_code(object + 1),
                x_mm: object + 2,
                y_mm: object + 3,
                angle_deg: object + 4,
                second_x_mm: object + 5,
                second_y_mm: object + 6,
                second_angle_mdeg: object + 7,
                reserved: object + 8,
            }],
            variables: vec![Variable { id: object + 9, value: "v".into() }],
            moving_clusters: vec![cluster(object + 10)],
            person_clusters: vec![cluster(object + 13)],
            ball_clusters: vec![cluster(object + 16)],
            protocol_queue: vec![QueueEntry { text: "log".into(), number: 0 }],
            ..DebugData::default()
        };
        let tcp = object + 19;
        data.tcp.receive_time_s = tcp;
        data.tcp.receive_percent = tcp + 1;
        data.tcp.send_time_s = tcp + 2;
        data.tcp.send_percent = tcp + 3;
        data.tcp.received_bytes_per_s = tcp + 4;
        data.tcp.sent_bytes_per_s = tcp + 5;
        data.tcp.received_telegrams_per_s = tcp + 6;
        data.tcp.sent_telegrams_per_s = tcp + 7;
        data.tcp.wait_time_s = tcp + 8;
        data.tcp.wait_percent = tcp + 9;
        data.safe_velocities.forward_laser_mm_per_s = tcp + 10;
        data.safe_velocities.backward_laser_mm_per_s = tcp + 11;
        data.safe_velocities.forward_ultrasonic_mm_per_s = tcp + 12;
        data.safe_velocities.backward_ultrasonic_mm_per_s = tcp + 13;
        data.safe_velocities.optocoupler_mm_per_s = tcp + 14;
        Reply::GetDebugData(Box::new(data))
    };
    let begin = || Rows::default().raw(&[50]).count(1).rows("iiiiiiii");
    let idle = end(begin().raw(&[0]));
    is(&idle, &expected(9, vec![gate(1)], None));
    let mapping = begin()
        .raw(&[1])
        .count(1)
        .rows("iiii")
        .count(1)
        .rows("iiii")
        .count(1)
        .rows("iii")
        .count(1)
        .rows("iiii")
        .count(1)
        .rows("iiiiiiii");
    let global_localization = GlobalLocalization {
        frames: vec![pose(17)],
        visible_lines: vec![segment(20)],
        validation_gates: vec![gate(24)],
    };
    let mapped =
        Mapping { segments: vec![segment(9)], explored_segments: vec![segment(13)], global_localization };
    is(&end(mapping), &expected(32, vec![gate(1)], Some(mapped)));
}

#[test]
fn what_is_no_reply_is_refused() {
    for number in [0, 14, 17, 60, 255] {
        let error = Reply::decode(&[number]).expect_err("no reply");
        assert_eq!(error, DecodeError { number, field: "telegram", offset: 0, fault: Fault::Unknown });
    }
    assert!(Reply::decode(&[]).is_err());
}
