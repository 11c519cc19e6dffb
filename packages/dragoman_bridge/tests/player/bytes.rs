//! Every message byte by byte.

use dragoman_bridge::player::wire::laser::{AngledScan, FilterKind, PosedScan, Scan};
use dragoman_bridge::player::wire::ranger::{
    Config, Geometry, Intensities, Ranges, StampedIntensities, StampedRanges,
};
use dragoman_bridge::player::wire::{
    Address, Decoder, Device, Header, INTERFACES, Interface, Message, MessageKind, Request, Xdr, actarray,
    bumper, camera, common, gripper, imu, interface, ir, laser, limb, localize, log, map, opaque, planner,
    player, position2d, power, properties, ranger, simulation, sonar, vectormap,
};
use dragoman_bridge::player::wire::{MapData, MapError};

use super::literals::{
    Literals, bytes, f32, f64, i32, orientation3d, point3d, pose2d, pose3d, segment, size3d, text, u8, u16,
    u32,
};

fn address(place: u8) -> Address {
    let device = Device { interface: u16(place + 2), index: u16(place + 3) };
    Address { host: u32(place), robot: u32(place + 1), device }
}

#[test]
fn header() {
    let header = Header {
        address: address(1),
        kind: MessageKind::Data,
        subtype: u8(6),
        timestamp: f64(7),
        sequence: u32(8),
    };
    let mut bytes = Vec::new();
    header.write_message(b"abc", &mut bytes);
    let shown: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let expected = "010203010102030200000203000002040000000100000016401f000000000000\
                    0102030800000003616263";
    assert_eq!(shown, expected);
    let mut decoder = Decoder::default();
    decoder.push(&bytes);
    assert_eq!(decoder.next(), Some(Ok(Message { header, body: b"abc".to_vec() })));
    assert_eq!((decoder.next(), decoder.buffered()), (None, 0));
}

#[test]
fn player() {
    let mut literals = Literals::of(&player::INTERFACE);
    literals.answer(&player::DEVICES, vec![address(1), address(5)]);
    literals.both(&player::DRIVER, player::Driver { address: address(1), name: text(5) });
    let subscription = player::Subscription { address: address(1), access: player::OPEN, driver: text(6) };
    literals.both(&player::SUBSCRIBE, subscription);
    literals.question(&player::MODE, player::PUSH);
    literals.question(&player::AUTHENTICATE, bytes(1));
    literals.both(&player::NAME_SERVICE, player::NameService { name: text(1), port: u16(4) });
    let rule = player::ReplaceRule {
        interface: i32(1),
        index: i32(2),
        kind: i32(3),
        subtype: i32(4),
        replace: i32(5),
    };
    literals.question(&player::REPLACE_RULE, rule);
    literals.finish();
}

#[test]
fn power() {
    let mut literals = Literals::of(&power::INTERFACE);
    let state = power::State {
        valid: u32(1),
        volts: f32(2),
        percent: f32(3),
        joules: f32(4),
        watts: f32(5),
        charging: power::Charging::Receiving,
    };
    literals.note(&power::STATE, state);
    literals.question(&power::SET_CHARGING_POLICY, power::Policy { input: true, output: true });
    literals.finish();
}

#[test]
fn gripper() {
    let mut literals = Literals::of(&gripper::INTERFACE);
    let state = gripper::State { fingers: gripper::Fingers::Open, beams: u32(2), stored: u8(3) };
    literals.note(&gripper::STATE, state);
    let geometry = gripper::Geometry {
        pose: pose3d(1),
        outer_size: size3d(7),
        inner_size: size3d(10),
        beams: u8(13),
        capacity: u8(14),
    };
    literals.answer(&gripper::GET_GEOMETRY, geometry);
    literals.finish();
}

fn geometry() -> common::Geometry {
    common::Geometry { pose: pose3d(1), size: size3d(7) }
}

#[test]
fn position2d() {
    let mut literals = Literals::of(&position2d::INTERFACE);
    let state = position2d::State { pose: pose2d(1), velocity: pose2d(4), stalled: true };
    literals.note(&position2d::STATE, state);
    literals.note(&position2d::GEOMETRY_CHANGED, geometry());
    let velocity = position2d::Velocity { velocity: pose2d(1), motors_on: true };
    literals.note(&position2d::VELOCITY, velocity);
    let position = position2d::Position { pose: pose2d(1), velocity: pose2d(4), motors_on: true };
    literals.note(&position2d::POSITION, position);
    let steering = || position2d::Steering { speed: f64(1), angle: f64(2) };
    literals.note(&position2d::CAR, steering());
    literals.note(&position2d::VELOCITY_HEADING, steering());
    literals.answer(&position2d::GET_GEOMETRY, geometry());
    literals.question(&position2d::MOTOR_POWER, true);
    literals.question(&position2d::VELOCITY_MODE, u32(1));
    literals.question(&position2d::POSITION_MODE, u32(1));
    literals.question(&position2d::SET_ODOMETRY, pose2d(1));
    let pid = || position2d::Pid { kp: f32(1), ki: f32(2), kd: f32(3) };
    literals.question(&position2d::SPEED_PID, pid());
    literals.question(&position2d::POSITION_PID, pid());
    let profile = position2d::Profile { speed: f32(1), acceleration: f32(2) };
    literals.question(&position2d::SPEED_PROFILE, profile);
    literals.finish();
}

#[test]
fn sonar() {
    let mut literals = Literals::of(&sonar::INTERFACE);
    literals.note(&sonar::RANGES, sonar::Ranges { ranges: vec![f32(1), f32(2)] });
    let geometry = || sonar::Geometry { poses: vec![pose3d(1), pose3d(7)] };
    literals.note(&sonar::GEOMETRY_CHANGED, geometry());
    literals.answer(&sonar::GET_GEOMETRY, geometry());
    literals.question(&sonar::POWER, true);
    literals.finish();
}

#[test]
fn laser() {
    let mut literals = Literals::of(&laser::INTERFACE);
    let scan = || Scan {
        min_angle: f32(1),
        max_angle: f32(2),
        resolution: f32(3),
        max_range: f32(4),
        ranges: vec![f32(5), f32(6)],
        intensities: bytes(7),
        id: u32(10),
    };
    literals.note(&laser::SCAN, scan());
    literals.note(&laser::POSED_SCAN, PosedScan { scan: scan(), pose: pose2d(11) });
    let scan = AngledScan {
        max_range: f32(1),
        ranges: vec![f32(2), f32(3)],
        angles: vec![f32(4), f32(5)],
        intensities: bytes(6),
        id: u32(9),
    };
    literals.note(&laser::ANGLED_SCAN, scan);
    literals.answer(&laser::GET_GEOMETRY, geometry());
    let config = || laser::Config {
        min_angle: f32(1),
        max_angle: f32(2),
        resolution: f32(3),
        max_range: f32(4),
        range_resolution: f32(5),
        intensity: true,
        frequency: f32(7),
    };
    literals.both(&laser::SET_CONFIG, config());
    literals.answer(&laser::GET_CONFIG, config());
    literals.question(&laser::POWER, true);
    literals.answer(&laser::GET_ID, u32(1));
    let filter = laser::Filter { kind: FilterKind::Median, parameters: vec![f32(2), f32(3)] };
    literals.question(&laser::SET_FILTER, filter);
    literals.finish();
}

#[test]
fn bumper() {
    let mut literals = Literals::of(&bumper::INTERFACE);
    literals.note(&bumper::STATE, bumper::State { bumpers: bytes(1) });
    let bumper =
        |place: u8| bumper::Bumper { pose: pose3d(place), length: f32(place + 6), radius: f32(place + 7) };
    let geometry = || bumper::Geometry { bumpers: vec![bumper(1), bumper(9)] };
    literals.note(&bumper::GEOMETRY_CHANGED, geometry());
    literals.answer(&bumper::GET_GEOMETRY, geometry());
    literals.finish();
}

#[test]
fn ir() {
    let mut literals = Literals::of(&ir::INTERFACE);
    let ranges = ir::Ranges { voltages: vec![f32(1), f32(2)], ranges: vec![f32(3), f32(4)] };
    literals.note(&ir::RANGES, ranges);
    literals.answer(&ir::GET_GEOMETRY, ir::Geometry { poses: vec![pose3d(1), pose3d(7)] });
    literals.question(&ir::POWER, true);
    literals.finish();
}

fn covariance(place: u8) -> [f64; 6] {
    std::array::from_fn(|index| f64(place + index as u8))
}

#[test]
fn localize() {
    let mut literals = Literals::of(&localize::INTERFACE);
    let hypothesis = |place: u8| localize::Hypothesis {
        mean: pose2d(place),
        covariance: covariance(place + 3),
        weight: f64(place + 9),
    };
    let hypotheses = localize::Hypotheses {
        pending: u32(1),
        time: f64(2),
        hypotheses: vec![hypothesis(3), hypothesis(13)],
    };
    literals.note(&localize::HYPOTHESES, hypotheses);
    let estimate = localize::Estimate { mean: pose2d(1), covariance: covariance(4) };
    literals.question(&localize::SET_POSE, estimate);
    let particle = |place: u8| localize::Particle { pose: pose2d(place), weight: f64(place + 3) };
    let particles =
        localize::Particles { mean: pose2d(1), variance: f64(4), particles: vec![particle(5), particle(9)] };
    literals.answer(&localize::GET_PARTICLES, particles);
    literals.finish();
}

#[test]
fn simulation() {
    let mut literals = Literals::of(&simulation::INTERFACE);
    let pose = || simulation::NamedPose2d { name: text(1), pose: pose2d(4) };
    literals.both(&simulation::GET_POSE2D, pose());
    literals.question(&simulation::SET_POSE2D, pose());
    let pose = || simulation::NamedPose3d { name: text(1), pose: pose3d(4), time: f64(10) };
    literals.both(&simulation::GET_POSE3D, pose());
    literals.question(&simulation::SET_POSE3D, pose());
    let property = || simulation::Property {
        name: text(1),
        property: text(4),
        index: u32(7),
        value: dragoman_bridge::player::wire::Bytes(b"hij".to_vec()),
    };
    literals.both(&simulation::GET_PROPERTY, property());
    literals.question(&simulation::SET_PROPERTY, property());
    literals.finish();
}

#[test]
fn camera() {
    let mut literals = Literals::of(&camera::INTERFACE);
    let image = || camera::Image {
        width: u32(1),
        height: u32(2),
        bits: u32(3),
        format: camera::Format::Rgb888,
        divisor: u32(5),
        compression: camera::Compression::Jpeg,
        data: bytes(7),
    };
    literals.note(&camera::IMAGE, image());
    literals.answer(&camera::GET_IMAGE, image());
    let source = || camera::Source { norm: text(1), source: i32(4) };
    literals.answer(&camera::GET_SOURCE, source());
    literals.question(&camera::SET_SOURCE, source());
    literals.finish();
}

#[test]
fn map() {
    let mut literals = Literals::of(&map::INTERFACE);
    let info = || map::Info { scale: f32(1), width: u32(2), height: u32(3), origin: pose2d(4) };
    literals.note(&map::INFO, info());
    literals.answer(&map::GET_INFO, info());
    let tile = MapData {
        column: u32(1),
        row: u32(2),
        width: u32(3),
        height: u32(4),
        range: -6,
        data: vec![7, 0xf8, 9],
    };
    literals.both(&map::GET_DATA, tile);
    let vector = map::Vector {
        min_x: f32(1),
        max_x: f32(2),
        min_y: f32(3),
        max_y: f32(4),
        segments: vec![segment(5), segment(9)],
    };
    literals.answer(&map::GET_VECTOR, vector);
    literals.finish();
}

/// The data is that of zlib's own `compress`.
#[test]
fn tiles_are_compressed() {
    let tile = |width, height, data: &[u8]| MapData {
        width,
        height,
        range: 1,
        data: data.to_vec(),
        ..MapData::default()
    };
    let compressed = b"\x78\x9c\xfb\xff\x1f\x1f\x00\x00\xcf\x5c\x1d\xe3";
    let plain = tile(10, 3, &[0xff; 30]);
    assert_eq!(tile(10, 3, compressed).decompress(), Ok(plain.clone()));
    assert_eq!(plain.compress().decompress(), Ok(plain.clone()));
    assert_eq!(tile(10, 2, compressed).decompress(), Err(MapError::Compression { width: 10, height: 2 }));
    let error = MapError::TooFew { cells: 30, width: 10, height: 4 };
    assert_eq!(tile(10, 4, compressed).decompress(), Err(error));
    assert_eq!(tile(10, 3, b"\x78").decompress(), Err(MapError::Compression { width: 10, height: 3 }));
    let error = MapError::TooLarge { width: u32::MAX, height: u32::MAX };
    assert_eq!(tile(u32::MAX, u32::MAX, compressed).decompress(), Err(error));
    assert_eq!(tile(0, 0, &[]).compress().decompress(), Ok(tile(0, 0, &[])));
}

#[test]
fn planner() {
    let mut literals = Literals::of(&planner::INTERFACE);
    let state = planner::State {
        valid: true,
        done: true,
        pose: pose2d(3),
        goal: pose2d(6),
        waypoint: pose2d(9),
        waypoint_index: i32(12),
        waypoint_count: u32(13),
    };
    literals.note(&planner::STATE, state);
    literals.note(&planner::GOAL, planner::Goal { pose: pose2d(1) });
    literals.note(&planner::START, planner::Goal { pose: pose2d(1) });
    let waypoints = planner::Waypoints { length: f64(1), waypoints: vec![pose2d(2), pose2d(5)] };
    literals.answer(&planner::GET_WAYPOINTS, waypoints);
    literals.question(&planner::ENABLE, true);
    literals.finish();
}

#[test]
fn log() {
    let mut literals = Literals::of(&log::INTERFACE);
    literals.question(&log::SET_WRITE_STATE, true);
    literals.question(&log::SET_READ_STATE, true);
    literals.answer(&log::GET_STATE, log::State { kind: log::LogKind::Read, enabled: true });
    literals.question(&log::SET_FILE_NAME, text(1));
    literals.finish();
}

#[test]
fn opaque() {
    let mut literals = Literals::of(&opaque::INTERFACE);
    literals.note(&opaque::STATE, bytes(1));
    literals.note(&opaque::COMMAND, bytes(1));
    literals.both(&opaque::REQUEST, bytes(1));
    literals.finish();
}

#[test]
fn actarray() {
    let mut literals = Literals::of(&actarray::INTERFACE);
    let joint = |place: u8| actarray::Joint {
        position: f32(place),
        speed: f32(place + 1),
        acceleration: f32(place + 2),
        current: f32(place + 3),
        state: actarray::JointState::Idle,
    };
    literals.note(&actarray::STATE, actarray::State { joints: vec![joint(1), joint(6)], motors_on: true });
    let position = actarray::JointPosition { joint: i32(1), position: f32(2) };
    literals.note(&actarray::POSITION, position);
    let two = || vec![f32(1), f32(2)];
    literals.note(&actarray::MULTI_POSITION, actarray::Positions { positions: two() });
    let speed = || actarray::JointSpeed { joint: i32(1), speed: f32(2) };
    literals.note(&actarray::SPEED, speed());
    literals.note(&actarray::MULTI_SPEED, actarray::Speeds { speeds: two() });
    literals.note(&actarray::HOME, i32(1));
    literals.note(&actarray::CURRENT, actarray::JointCurrent { joint: i32(1), current: f32(2) });
    literals.note(&actarray::MULTI_CURRENT, actarray::Currents { currents: two() });
    literals.question(&actarray::POWER, true);
    literals.question(&actarray::BRAKES, true);
    let joint = |place: u8| actarray::JointGeometry {
        kind: actarray::JointKind::Linear,
        length: f32(place + 1),
        orientation: orientation3d(place + 2),
        axis: point3d(place + 5),
        min: f32(place + 8),
        center: f32(place + 9),
        max: f32(place + 10),
        home: f32(place + 11),
        speed: f32(place + 12),
        has_brake: true,
    };
    let geometry = actarray::Geometry {
        joints: vec![joint(1), joint(15)],
        base_position: point3d(29),
        base_orientation: orientation3d(32),
    };
    literals.answer(&actarray::GET_GEOMETRY, geometry);
    literals.question(&actarray::SET_SPEED, speed());
    let acceleration = actarray::JointAcceleration { joint: i32(1), acceleration: f32(2) };
    literals.question(&actarray::SET_ACCELERATION, acceleration);
    literals.finish();
}

#[test]
fn limb() {
    let mut literals = Literals::of(&limb::INTERFACE);
    let state = limb::State {
        position: point3d(1),
        approach: point3d(4),
        orientation: point3d(7),
        motion: limb::Motion::Idle,
    };
    literals.note(&limb::STATE, state);
    let pose = limb::Pose { position: point3d(1), approach: point3d(4), orientation: point3d(7) };
    literals.note(&limb::SET_POSE, pose);
    literals.note(&limb::SET_POSITION, point3d(1));
    literals.note(&limb::MOVE_ALONG, limb::Move { direction: point3d(1), length: f32(4) });
    literals.question(&limb::POWER, true);
    literals.question(&limb::BRAKES, true);
    literals.answer(&limb::GET_GEOMETRY, point3d(1));
    literals.question(&limb::SET_SPEED, f32(1));
    literals.finish();
}

#[test]
fn imu() {
    let mut literals = Literals::of(&imu::INTERFACE);
    literals.note(&imu::STATE, pose3d(1));
    let vector = |place: u8| imu::Vector { x: f32(place), y: f32(place + 1), z: f32(place + 2) };
    let calibrated = || imu::Calibrated {
        acceleration: vector(1),
        angular_velocity: vector(4),
        magnetic_field: vector(7),
    };
    literals.note(&imu::CALIBRATED, calibrated());
    let orientation = [10, 11, 12, 13].map(f32);
    literals.note(&imu::QUATERNION, imu::Quaternion { calibrated: calibrated(), orientation });
    literals.note(&imu::EULER, imu::Euler { calibrated: calibrated(), orientation: orientation3d(10) });
    let state = imu::FullState { pose: pose3d(1), velocity: pose3d(7), acceleration: pose3d(13) };
    literals.note(&imu::FULL_STATE, state);
    literals.question(&imu::SET_DATA_KIND, imu::DataKind::State);
    literals.question(&imu::RESET_ORIENTATION, u32(1));
    literals.question(&imu::RESET_EULER, pose3d(1));
    literals.finish();
}

fn ranger_geometry(place: u8) -> Geometry {
    Geometry {
        pose: pose3d(place),
        size: size3d(place + 6),
        element_poses: vec![pose3d(place + 9), pose3d(place + 15)],
        element_sizes: vec![size3d(place + 21), size3d(place + 24)],
    }
}

fn ranger_config(place: u8) -> Config {
    Config {
        min_angle: f64(place),
        max_angle: f64(place + 1),
        angular_resolution: f64(place + 2),
        min_range: f64(place + 3),
        max_range: f64(place + 4),
        range_resolution: f64(place + 5),
        frequency: f64(place + 6),
    }
}

#[test]
fn ranger() {
    let mut literals = Literals::of(&ranger::INTERFACE);
    let ranges = || Ranges { ranges: vec![f64(1), f64(2)] };
    literals.note(&ranger::RANGES, ranges());
    let stamped = StampedRanges {
        ranges: ranges(),
        has_geometry: true,
        geometry: ranger_geometry(4),
        has_config: true,
        config: ranger_config(32),
    };
    literals.note(&ranger::STAMPED_RANGES, stamped);
    let intensities = || Intensities { intensities: vec![f64(1), f64(2)] };
    literals.note(&ranger::INTENSITIES, intensities());
    let stamped = StampedIntensities {
        intensities: intensities(),
        has_geometry: true,
        geometry: ranger_geometry(4),
        has_config: true,
        config: ranger_config(32),
    };
    literals.note(&ranger::STAMPED_INTENSITIES, stamped);
    literals.note(&ranger::GEOMETRY_CHANGED, ranger_geometry(1));
    literals.answer(&ranger::GET_GEOMETRY, ranger_geometry(1));
    literals.question(&ranger::POWER, true);
    literals.question(&ranger::SEND_INTENSITIES, true);
    literals.both(&ranger::SET_CONFIG, ranger_config(1));
    literals.answer(&ranger::GET_CONFIG, ranger_config(1));
    literals.finish();
}

#[test]
fn vectormap() {
    let mut literals = Literals::of(&vectormap::INTERFACE);
    let layer = |place: u8| vectormap::LayerInfo { name: text(place), bounds: segment(place + 3) };
    let info = vectormap::Info { reference: u32(1), layers: vec![layer(2), layer(9)], bounds: segment(16) };
    literals.answer(&vectormap::GET_INFO, info);
    let feature = |place: u8| vectormap::Feature {
        name: text(place),
        shape: bytes(place + 3),
        attributes: text(place + 6),
    };
    let layer = || vectormap::Layer { name: text(1), features: vec![feature(4), feature(13)] };
    literals.both(&vectormap::GET_LAYER, layer());
    literals.question(&vectormap::WRITE_LAYER, layer());
    literals.finish();
}

#[test]
fn properties() {
    let mut literals = Literals::of(&properties::INTERFACE);
    let name = || text(1);
    literals.question(&properties::SET_BOOL, properties::BoolProperty { name: name(), value: true });
    literals.both(&properties::GET_BOOL, properties::BoolProperty { name: name(), value: true });
    literals.question(&properties::SET_TEXT, properties::TextProperty { name: name(), value: text(4) });
    literals.both(&properties::GET_TEXT, properties::TextProperty { name: name(), value: text(4) });
    literals.question(&properties::SET_DOUBLE, properties::DoubleProperty { name: name(), value: f64(4) });
    literals.both(&properties::GET_DOUBLE, properties::DoubleProperty { name: name(), value: f64(4) });
    literals.question(&properties::SET_INT, properties::IntProperty { name: name(), value: i32(4) });
    literals.both(&properties::GET_INT, properties::IntProperty { name: name(), value: i32(4) });
    let capability = properties::Capability { kind: u32(1), subtype: u32(2) };
    literals.question(&properties::CAPABILITY, capability);
    literals.finish();
}

/// Codes without a name are written again.
#[test]
fn unknown_codes_are_kept() {
    let bytes = b"\0\0\0\x63";
    assert_eq!(gripper::Fingers::from_bytes(bytes), Ok(gripper::Fingers::Other(0x63)));
    assert_eq!(gripper::Fingers::Other(0x63).to_bytes(), bytes);
    assert_eq!(power::Charging::from_bytes(&[0xff; 4]), Ok(power::Charging::Providing));
    assert_eq!(camera::Compression::default(), camera::Compression::Raw);
    let all = (0..=255).map(|code| (code, u8::from(limb::Motion::from(code))));
    assert!(all.into_iter().all(|(code, again)| code == again));
}

/// Codes and names are unique, and so are the places of an interface's messages. All of them find the common requests.
#[test]
fn places_are_unique() {
    let sorted = |mut codes: Vec<u16>| {
        let len = codes.len();
        codes.sort_unstable();
        codes.dedup();
        codes.len() == len
    };
    assert!(sorted(INTERFACES.iter().map(|interface| interface.code).collect()));
    let own = |interface: &'static Interface| {
        let place =
            |row: &dragoman_bridge::player::wire::MessageInfo| row.kind as u16 * 256 + u16::from(row.subtype);
        sorted(interface.messages.iter().map(place).collect())
    };
    assert!(INTERFACES.iter().all(|interface| own(interface)));
    for one in INTERFACES {
        assert_eq!(interface(one.code).map(|found| found.name), Some(one.name));
        let body = properties::Capability::default();
        let read = Request::read_any(one.code, properties::CAPABILITY.subtype, &body.to_bytes());
        assert_eq!(read, Ok(Request::EveryInterface(properties::Request::Capability(body))));
    }
    assert!(interface(0).is_none() && interface(999).is_none());
}
