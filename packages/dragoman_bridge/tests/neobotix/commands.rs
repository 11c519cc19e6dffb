//! Every command byte by byte, as the tables of the PlatformCtrl guide, 6.3, have it.

use std::collections::BTreeMap;

use dragoman_bridge::neobotix::status::{Board, MotionMode, Motor};
use dragoman_bridge::neobotix::wire::{
    CanId, Command, CommandKind, DecodeError, Decoder, Fault, FileName, Frame, Framing, GetCanMessages,
    GetParameter, HeadPosition, HeadVelocity, Message, MouseButton, MouseMove, MovePath, MoveToStation,
    MoveVelocity, MoveWheelVelocity, NamedDocument, PanTiltPosition, PostProcessEvent, ProgramDocument,
    SendCanMessage, SetBrake, SetDigitalOutput, SetEvent, SetMode, SetParameter, SpeakText, StartUltrasonic,
    Tail,
};

/// All commands with their data. Those that are not listed have none but their number.
pub(super) fn cases() -> Vec<(Command, Vec<u8>)> {
    let mut listed: BTreeMap<_, _> =
        listed().into_iter().map(|(command, data)| (command.kind(), (command, data))).collect();
    let case = |kind: CommandKind| {
        listed.remove(&kind).unwrap_or_else(|| {
            let data = vec![kind.number()];
            let command =
                Command::decode(&data).unwrap_or_else(|error| panic!("{kind} is not listed: {error}"));
            (command, data)
        })
    };
    CommandKind::all().map(case).collect()
}

fn listed() -> Vec<(Command, Vec<u8>)> {
    let named = |name: &str, document: &str| NamedDocument { name: name.into(), document: document.into() };
    let frame = Frame { x_mm: 1000, y_mm: -2, angle_mdeg: 90_000 };
    let frame_bytes = b"\x00\x00\x03\xe8\xff\xff\xff\xfe\x00\x01\x5f\x90";
    let file = || FileName { file_name: "../x".into() };
    vec![
        (Command::ConnectToPltf, b"\x00".to_vec()),
        (Command::ShutdownPltf, b"\x01".to_vec()),
        (Command::InitPltf, b"\x02".to_vec()),
        (Command::SetBrake(SetBrake { motor: Motor::Left, is_disabled: true }), b"\x03\x02\x01".to_vec()),
        (
            Command::SetDigout(SetDigitalOutput { board: Board::Relay, channel: 7, is_high: true }),
            b"\x04\x00\x00\x00\x01\x00\x00\x00\x07\x01".to_vec(),
        ),
        (Command::StartUltrasonic(StartUltrasonic { channel: 3 }), b"\x05\x00\x00\x00\x03".to_vec()),
        (Command::StopUltrasonic, b"\x06".to_vec()),
        (Command::AddCanListeningId(CanId { id: 0x181 }), b"\x07\x00\x00\x01\x81".to_vec()),
        (Command::RemoveCanListeningId(CanId { id: 0x181 }), b"\x08\x00\x00\x01\x81".to_vec()),
        (
            Command::SendCanMessage(SendCanMessage { id: 0x601, data: *b"01234567" }),
            b"\x09\x00\x00\x06\x0101234567".to_vec(),
        ),
        (Command::GetCanMessages(GetCanMessages { is_deleting: true }), b"\x0a\x01".to_vec()),
        (Command::Start, b"\x0b".to_vec()),
        (Command::Break, b"\x0c".to_vec()),
        (Command::Continue, b"\x0d".to_vec()),
        (Command::Stop, b"\x0e".to_vec()),
        (Command::SetMode(SetMode { mode: MotionMode::Automatic }), b"\x0f\x00\x00\x00\x04".to_vec()),
        (Command::Exit, b"\x10".to_vec()),
        (Command::CloseSocket, b"\x11".to_vec()),
        (Command::GetStatus, b"\x12".to_vec()),
        (
            Command::MovePath(MovePath { frames: vec![frame, Frame::default()] }),
            [b"\x13\x00\x00\x00\x02", &frame_bytes[..], &[0; 12]].concat(),
        ),
        (
            Command::MoveToStation(MoveToStation { station: "dock".into() }),
            b"\x14\x00\x00\x00\x04dock".to_vec(),
        ),
        (Command::MoveAbs(frame), [b"\x15", &frame_bytes[..]].concat()),
        (Command::MoveRel(frame), [b"\x16", &frame_bytes[..]].concat()),
        (
            Command::MoveVelWheel(MoveWheelVelocity { right_mm_per_s: 300, left_mm_per_s: -300 }),
            b"\x17\x00\x00\x01\x2c\xff\xff\xfe\xd4".to_vec(),
        ),
        (
            Command::MoveVel(MoveVelocity {
                translation_mm_per_s: 500,
                rotation_mrad_per_s: -250,
                lateral_mm_per_s: Tail(None),
            }),
            b"\x18\x00\x00\x01\xf4\xff\xff\xff\x06".to_vec(),
        ),
        (Command::SetMap(named("a", "<map/>")), b"\x19\x00\x00\x00\x01a\x00\x00\x00\x06<map/>".to_vec()),
        (Command::GetMap, b"\x1a".to_vec()),
        (Command::LoadMap, b"\x1b".to_vec()),
        (Command::SaveMap, b"\x1c".to_vec()),
        (Command::MappingStart, b"\x1d".to_vec()),
        (Command::MappingReset, b"\x1e".to_vec()),
        (Command::MappingStop, b"\x1f".to_vec()),
        (Command::SetRoadmap(named("", "x")), b"\x20\x00\x00\x00\x00\x00\x00\x00\x01x".to_vec()),
        (Command::GetRoadmap, b"\x21".to_vec()),
        (Command::LoadRoadmap, b"\x22".to_vec()),
        (Command::SaveRoadmap, b"\x23".to_vec()),
        (Command::SetFrmPltf(frame), [b"\x24", &frame_bytes[..]].concat()),
        (
            Command::SetPltfParam(SetParameter { key: "IpoRotvel".into(), value: "0.5".into() }),
            b"\x25\x00\x00\x00\x09IpoRotvel\x00\x00\x00\x030.5".to_vec(),
        ),
        (
            Command::GetPltfParam(GetParameter { key: "IpoRotvel".into() }),
            b"\x26\x00\x00\x00\x09IpoRotvel".to_vec(),
        ),
        (Command::GetPltfParamVec, b"\x27".to_vec()),
        (
            Command::SetProgram(ProgramDocument { document: "<program/>".into() }),
            b"\x28\x00\x00\x00\x0a<program/>".to_vec(),
        ),
        (Command::GetProgram, b"\x29".to_vec()),
        (Command::LoadProgram, b"\x2a".to_vec()),
        (Command::SaveProgram, b"\x2b".to_vec()),
        (Command::SpeakText(SpeakText { text: "Hi".into() }), b"\x2c\x00\x00\x00\x02Hi".to_vec()),
        (Command::PlaySound(file()), b"\x2d\x00\x00\x00\x04../x".to_vec()),
        (Command::GrabImage(file()), b"\x2e\x00\x00\x00\x04../x".to_vec()),
        (Command::SetPosHeadDrive(HeadPosition { angle_deg: -45 }), b"\x2f\xff\xff\xff\xd3".to_vec()),
        (
            Command::SetVelHeadDrive(HeadVelocity { velocity_cdeg_per_s: 1000 }),
            b"\x30\x00\x00\x03\xe8".to_vec(),
        ),
        (
            Command::SetPosPanTiltCamera(PanTiltPosition { position: "p1".into() }),
            b"\x31\x00\x00\x00\x02p1".to_vec(),
        ),
        (Command::GetDebugData, b"\x32".to_vec()),
        (Command::Debug1, b"\x33".to_vec()),
        (Command::Debug2, b"\x34".to_vec()),
        (Command::Debug3, b"\x35".to_vec()),
        (Command::Debug4, b"\x36".to_vec()),
        (
            Command::MouseMove(MouseMove { x_mm: 1, y_mm: -1, button: MouseButton::RightUp }),
            b"\x37\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x05".to_vec(),
        ),
        (Command::SetLogEnabled, b"\x38".to_vec()),
        (Command::SetPostProcessFilename, b"\x39".to_vec()),
        (
            Command::SetEvent(SetEvent { event: PostProcessEvent::ContinueReplay }),
            b"\x3a\x00\x00\x00\x06".to_vec(),
        ),
        (Command::GetCamera, b"\x3b".to_vec()),
        (Command::GetPosition, b"\x4a".to_vec()),
    ]
}

#[test]
fn every_command_byte_by_byte() {
    let cases = cases();
    let kinds: Vec<_> = cases.iter().map(|(command, _)| command.kind()).collect();
    assert_eq!(kinds, CommandKind::all().collect::<Vec<_>>());
    for (command, data) in cases {
        assert_eq!(Command::decode(&data).as_ref(), Ok(&command));
        let len = u8::try_from(data.len()).unwrap();
        let bare = [&[0, 0, 0, len], &data[..]].concat();
        assert_eq!(command.encode(Framing::Bare).as_ref(), Ok(&bare));
        assert_eq!(command.encode(Framing::Header), Ok([&b"\xff\x01\xfe\x02"[..], &bare].concat()));
    }
}

/// The guide's telegram ends after the rotation; the third INT is ours, for omnidirectional platforms: to the left.
#[test]
fn a_velocity_may_have_a_lateral_component() {
    let lateral_mm_per_s = Tail(Some(-300));
    let sideways = MoveVelocity { translation_mm_per_s: 500, rotation_mrad_per_s: 0, lateral_mm_per_s };
    let data = b"\x18\x00\x00\x01\xf4\x00\x00\x00\x00\xff\xff\xfe\xd4";
    assert_eq!(Command::decode(data), Ok(Command::MoveVel(sideways)));
    let bytes = Command::MoveVel(sideways).encode(Framing::Bare).expect("short");
    assert_eq!(bytes[4..], data[..]);
    let expected = "CMD_MOVE_VEL (24): end at byte 9: 2 bytes too many";
    assert_eq!(error(&data[..11]), expected);
}

fn error(data: &[u8]) -> String {
    Command::decode(data).expect_err("refused").to_string()
}

#[test]
fn wrong_arguments_are_named() {
    for (data, expected) in [
        (&b"\x0e\x00"[..], "CMD_STOP (14): end at byte 1: 1 bytes too many"),
        (b"\x03\x00\x01", "CMD_SET_BRAKE (3): motor at byte 1: 0, which is not one of [1, 2]"),
        (b"\x03\x01\x02", "CMD_SET_BRAKE (3): is_disabled at byte 2: 2, which is not one of [0, 1]"),
        (b"\x04\0\0\0\x02\0\0\0\0\0", "CMD_SET_DIGOUT (4): board at byte 1: 2, which is not one of [0, 1]"),
        (
            b"\x0f\0\0\0\x07",
            "CMD_SET_MODE (15): mode at byte 1: 7, which is not one of [0, 1, 2, 3, 4, 5, 6]",
        ),
        (b"\x0f\0\0\x04", "CMD_SET_MODE (15): mode at byte 1: 4 bytes are needed, 3 are left"),
        (b"\x13\0\0\0\x01\0\0\0\0", "CMD_MOVE_PATH (19): frames at byte 1: a count of 1 with 4 bytes left"),
        (b"\x13\xff\xff\xff\xff", "CMD_MOVE_PATH (19): frames at byte 1: a count of -1 with 0 bytes left"),
        (
            b"\x14\0\0\0\x05dock",
            "CMD_MOVE_TO_STATION (20): station at byte 1: a count of 5 with 4 bytes left",
        ),
        (
            b"\x19\0\0\0\x01a\0\0\0\x07<map/>",
            "CMD_SET_MAP (25): document at byte 6: a count of 7 with 6 bytes left",
        ),
        (b"\x3a\0\0\0\0", "CMD_SET_EVENT (58): event at byte 1: 0, which is not one of [1, 2, 3, 4, 5, 6]"),
        (b"\x3c", "command 60: command at byte 0: unknown"),
        (b"\xff", "command 255: command at byte 0: unknown"),
    ] {
        assert_eq!(error(data), expected);
    }
    let error = Command::decode(b"\x63").expect_err("unknown");
    assert_eq!(error, DecodeError { number: 99, field: "command", offset: 0, fault: Fault::Unknown });
}

/// How a client begins a session: connect, stop, velocity mode, continue, wheel velocities; without START or INIT.
#[test]
fn a_real_client_s_session() {
    let header = b"\xff\x01\xfe\x02\x00\x00\x00";
    let mut stream =
        [&header[..], b"\x01\x00", header, b"\x01\x0e", header, b"\x05\x0f\x00\x00\x00\x03"].concat();
    stream.extend([&header[..], b"\x01\x0d", header, b"\x09\x17\x00\x00\x01\x2c\x00\x00\x01\x2c"].concat());
    let mut decoder = Decoder::<Command>::default();
    decoder.push(&stream);
    let commands: Vec<_> = std::iter::from_fn(|| decoder.next().expect("in step"))
        .map(|received| received.message.expect("a command"))
        .collect();
    let wheels = MoveWheelVelocity { right_mm_per_s: 300, left_mm_per_s: 300 };
    let expected = [
        Command::ConnectToPltf,
        Command::Stop,
        Command::SetMode(SetMode { mode: MotionMode::Velocity }),
        Command::Continue,
        Command::MoveVelWheel(wheels),
    ];
    assert_eq!(commands, expected);
}
