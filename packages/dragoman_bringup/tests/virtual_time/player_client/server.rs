//! A Player server with devices of every interface that is shown, made with the codec.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use dragoman_bridge::player::wire::common::{
    Geometry as Body, Orientation3d, Point3d, Pose2d, Pose3d, Size3d,
};
use dragoman_bridge::player::wire::*;
use dragoman_io::net::{TcpListener, TcpStream};
use dragoman_time::now;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Period of the data.
const PERIOD: Duration = Duration::from_millis(50);

/// Its behaviour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Manner {
    /// Normal operation.
    Good,
    /// It accepts connections, and sends nothing.
    Silent,
    /// It sends bytes that are not messages.
    Garbage,
    /// It refuses all connections.
    Closed,
}

/// A message of a device: its number and body.
pub(super) type Body1 = (u8, Vec<u8>);

pub(super) struct Script {
    pub(super) manner: Manner,
    pub(super) devices: Vec<Device>,
    /// Devices that cannot be opened.
    pub(super) broken: Vec<Device>,
    /// Devices that are open.
    pub(super) open: Vec<Device>,
    /// Answers to requests; `None` refuses.
    pub(super) answers: HashMap<(Device, u8), Option<Vec<u8>>>,
    pub(super) data: HashMap<Device, Vec<Body1>>,
    /// Commands and requests to devices, without those that ask.
    pub(super) received: Vec<(Instant, Device, MessageKind, u8, Vec<u8>)>,
    pub(super) mode: u8,
    pub(super) pulls: usize,
    pub(super) connections: usize,
}

impl Script {
    /// Bodies of the received messages with this number.
    pub(super) fn bodies(&self, device: Device, kind: MessageKind, subtype: u8) -> Vec<Vec<u8>> {
        let is_it = |message: &&(Instant, Device, MessageKind, u8, Vec<u8>)| {
            (message.1, message.2, message.3) == (device, kind, subtype)
        };
        self.received.iter().filter(is_it).map(|message| message.4.clone()).collect()
    }
}

pub(super) struct PlayerServer {
    pub(super) address: SocketAddr,
    script: Arc<Mutex<Script>>,
}

impl PlayerServer {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind(([127, 0, 0, 1], 0).into(), 16).unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Mutex::new(robot()));
        let served = Arc::clone(&script);
        dragoman_time::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = Arc::clone(&served);
                if served.lock().unwrap().manner != Manner::Closed {
                    served.lock().unwrap().connections += 1;
                    dragoman_time::spawn(async move { serve(stream, &served).await });
                }
            }
        });
        Self { address, script }
    }

    pub(super) fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }
}

/// A panic while the script is locked is the end of the test, which locks it as well.
async fn serve(mut stream: TcpStream, script: &Mutex<Script>) {
    let mut open = Vec::new();
    let mut decoder = Decoder::default();
    let mut banner = b"Player v.3.1.0".to_vec();
    banner.resize(BANNER_LEN, 0);
    let manner = script.lock().unwrap().manner;
    if manner != Manner::Silent && stream.write_all(&banner).await.is_err() {
        return;
    }
    let mut next = now();
    let mut is_pulled = false;
    loop {
        let mut bytes = [0; 4096];
        match dragoman_time::timeout(Duration::from_millis(5), stream.read(&mut bytes)).await {
            Ok(Ok(0) | Err(_)) => return,
            Ok(Ok(len)) => decoder.push(&bytes[..len]),
            Err(_) => {}
        }
        let mut sent = Vec::new();
        let manner = script.lock().unwrap().manner;
        match manner {
            Manner::Good => {}
            Manner::Silent => continue,
            Manner::Garbage => sent.extend([0x55; 80]),
            Manner::Closed => return,
        }
        {
            let mut script = script.lock().unwrap();
            while let Some(message) = decoder.next() {
                let message = message.expect("the client sends messages");
                is_pulled |= answer(&mut script, &message, &mut open, &mut sent);
            }
            let is_pulling = script.mode == player::PULL;
            if next <= now() && (!is_pulling || is_pulled) {
                next = now() + PERIOD;
                for device in &open {
                    for (subtype, body) in script.data.get(device).into_iter().flatten() {
                        send(*device, MessageKind::Data, *subtype, 0, body, &mut sent);
                    }
                }
                if std::mem::take(&mut is_pulled) {
                    send(
                        player::INTERFACE.device(0),
                        MessageKind::Synch,
                        player::SYNCH,
                        0x5555,
                        &[],
                        &mut sent,
                    );
                }
            }
        }
        if stream.write_all(&sent).await.is_err() {
            return;
        }
    }
}

fn send(device: Device, kind: MessageKind, subtype: u8, sequence: u32, body: &[u8], bytes: &mut Vec<u8>) {
    let address = Address { host: 0x0100_007f, robot: 6665, device };
    Header { address, kind, subtype, timestamp: 12.25, sequence }.write_message(body, bytes);
}

/// `true`: the client asks for data.
fn answer(script: &mut Script, message: &Message, open: &mut Vec<Device>, sent: &mut Vec<u8>) -> bool {
    let Header { address, kind, subtype, sequence, .. } = message.header;
    let device = address.device;
    let mut reply = |sequence, answer: Option<Vec<u8>>| {
        let kind = if answer.is_some() { MessageKind::Acknowledge } else { MessageKind::Refuse };
        send(device, kind, subtype, sequence, &answer.unwrap_or_default(), sent);
    };
    if device != player::INTERFACE.device(0) {
        script.received.push((now(), device, kind, subtype, message.body.clone()));
        assert!(open.contains(&device), "{device:?} is not open");
        // As the original, drivers answer with number 0.
        if kind == MessageKind::Request {
            reply(0, script.answers.get(&(device, subtype)).cloned().flatten());
        }
        return false;
    }
    assert_eq!(kind, MessageKind::Request);
    let full = |device| Address { host: 0x0100_007f, robot: 6665, device };
    if subtype == player::DEVICES.subtype {
        let list: Vec<Address> = script.devices.iter().map(|device| full(*device)).collect();
        reply(sequence, Some(list.to_bytes()));
    } else if subtype == player::DRIVER.subtype {
        let asked = player::DRIVER.question(&message.body).unwrap();
        let answer = player::Driver { address: full(asked.address.device), name: "maker".to_owned() };
        reply(sequence, Some(answer.to_bytes()));
    } else if subtype == player::SUBSCRIBE.subtype {
        let asked = player::SUBSCRIBE.question(&message.body).unwrap();
        let wanted = asked.address.device;
        let access = if asked.access == player::CLOSE {
            open.retain(|device| *device != wanted);
            player::CLOSE
        } else if script.broken.contains(&wanted) {
            player::DENIED
        } else {
            assert!(!open.contains(&wanted), "opened twice: data would come twice");
            open.push(wanted);
            player::OPEN
        };
        script.open.clone_from(open);
        let driver = "maker".to_owned();
        let answer = player::Subscription { address: full(wanted), access, driver };
        reply(sequence, Some(answer.to_bytes()));
    } else if subtype == player::READ.subtype {
        script.pulls += 1;
        reply(sequence, Some(Vec::new()));
        return true;
    } else if subtype == player::MODE.subtype {
        script.mode = player::MODE.question(&message.body).unwrap();
        reply(sequence, Some(Vec::new()));
    } else {
        reply(sequence, Some(Vec::new()));
    }
    false
}

pub(super) fn at(x: f64, y: f64, z: f64, yaw: f64) -> Pose3d {
    Pose3d { position: Point3d { x, y, z }, orientation: Orientation3d { yaw, ..Orientation3d::default() } }
}

/// A robot with everything.
#[allow(clippy::too_many_lines, reason = "a table")]
fn robot() -> Script {
    let size = Size3d { width: 0.4, length: 0.5, height: 0.3 };
    let plane = |x, y, yaw| Pose2d { x, y, yaw };
    let data = HashMap::from([
        (
            position2d::INTERFACE.device(0),
            vec![(
                position2d::STATE.subtype,
                position2d::State {
                    pose: plane(1.0, 2.0, 0.5),
                    velocity: plane(0.1, 0.0, -0.2),
                    stalled: false,
                }
                .to_bytes(),
            )],
        ),
        (
            position2d::INTERFACE.device(1),
            vec![(
                position2d::STATE.subtype,
                position2d::State { pose: plane(-1.0, 0.0, 0.0), ..Default::default() }.to_bytes(),
            )],
        ),
        (
            laser::INTERFACE.device(0),
            vec![(
                laser::SCAN.subtype,
                laser::Scan {
                    min_angle: -1.0,
                    max_angle: 1.0,
                    resolution: 1.0,
                    max_range: 8.0,
                    ranges: vec![1.0, 2.0, 8.0],
                    intensities: Bytes(vec![1, 2, 3]),
                    id: 7,
                }
                .to_bytes(),
            )],
        ),
        (
            ranger::INTERFACE.device(0),
            vec![(ranger::RANGES.subtype, ranger::Ranges { ranges: vec![0.5, 5.0] }.to_bytes())],
        ),
        (
            ranger::INTERFACE.device(1),
            vec![(ranger::RANGES.subtype, ranger::Ranges { ranges: vec![1.0, 2.0, 3.0, 4.0] }.to_bytes())],
        ),
        (
            sonar::INTERFACE.device(0),
            vec![(sonar::RANGES.subtype, sonar::Ranges { ranges: vec![0.75, 1.5] }.to_bytes())],
        ),
        (
            ir::INTERFACE.device(0),
            vec![(ir::RANGES.subtype, ir::Ranges { voltages: vec![2.0], ranges: vec![0.25] }.to_bytes())],
        ),
        (
            bumper::INTERFACE.device(0),
            vec![(bumper::STATE.subtype, bumper::State { bumpers: Bytes(vec![0, 1, 0]) }.to_bytes())],
        ),
        (
            power::INTERFACE.device(0),
            vec![(
                power::STATE.subtype,
                power::State {
                    valid: power::VOLTS | power::PERCENT,
                    volts: 12.5,
                    percent: 75.0,
                    ..Default::default()
                }
                .to_bytes(),
            )],
        ),
        (
            imu::INTERFACE.device(0),
            vec![(
                imu::QUATERNION.subtype,
                imu::Quaternion {
                    calibrated: imu::Calibrated {
                        acceleration: imu::Vector { x: 0.0, y: 0.0, z: 9.75 },
                        angular_velocity: imu::Vector { x: 0.0, y: 0.0, z: 0.5 },
                        magnetic_field: imu::Vector { x: 0.25, y: 0.0, z: 0.0 },
                    },
                    orientation: [1.0, 0.0, 0.0, 0.0],
                }
                .to_bytes(),
            )],
        ),
        (
            actarray::INTERFACE.device(0),
            vec![(
                actarray::STATE.subtype,
                actarray::State {
                    joints: vec![
                        actarray::Joint { position: 0.5, speed: 0.25, ..Default::default() },
                        actarray::Joint { position: -0.5, ..Default::default() },
                    ],
                    motors_on: true,
                }
                .to_bytes(),
            )],
        ),
        (
            gripper::INTERFACE.device(0),
            vec![(
                gripper::STATE.subtype,
                gripper::State { fingers: gripper::Fingers::Closed, ..Default::default() }.to_bytes(),
            )],
        ),
        (
            camera::INTERFACE.device(0),
            vec![(
                camera::IMAGE.subtype,
                camera::Image {
                    width: 2,
                    height: 2,
                    bits: 24,
                    format: camera::Format::Rgb888,
                    divisor: 1,
                    compression: camera::Compression::Raw,
                    data: Bytes((0..12).collect()),
                }
                .to_bytes(),
            )],
        ),
        (
            localize::INTERFACE.device(0),
            vec![(
                localize::HYPOTHESES.subtype,
                localize::Hypotheses {
                    hypotheses: vec![
                        localize::Hypothesis { weight: 0.25, ..Default::default() },
                        localize::Hypothesis {
                            mean: plane(3.0, 4.0, 0.5),
                            covariance: [0.01, 0.02, 0.03, 0.004, 0.005, 0.006],
                            weight: 0.75,
                        },
                    ],
                    ..Default::default()
                }
                .to_bytes(),
            )],
        ),
        (planner::INTERFACE.device(0), vec![(planner::STATE.subtype, planner::State::default().to_bytes())]),
        (
            limb::INTERFACE.device(0),
            vec![(
                limb::STATE.subtype,
                limb::State {
                    position: Point3d { x: 0.25, y: 0.0, z: 0.5 },
                    approach: Point3d { x: 1.0, ..Default::default() },
                    orientation: Point3d { y: 1.0, ..Default::default() },
                    motion: limb::Motion::Moving,
                }
                .to_bytes(),
            )],
        ),
        (opaque::INTERFACE.device(0), vec![(opaque::STATE.subtype, Bytes(vec![1, 2, 3]).to_bytes())]),
    ]);
    // A line string of two points, little endian.
    let mut wall = vec![1, 2, 0, 0, 0, 2, 0, 0, 0];
    wall.extend([0.0_f64, 1.0, 2.0, 1.0].iter().flat_map(|value| value.to_le_bytes()));
    let wall = vectormap::Feature { name: "wall".to_owned(), shape: Bytes(wall), ..Default::default() };
    let walls = || "walls".to_owned();
    let tile = MapData { column: 0, row: 0, width: 3, height: 2, range: 1, data: vec![255, 0, 1, 1, 0, 255] };
    let elements = vec![at(0.1, 0.2, 0.0, 0.0), at(0.1, -0.2, 0.0, 0.0)];
    let answers = [
        (
            (position2d::INTERFACE.device(0), position2d::GET_GEOMETRY.subtype),
            position2d::Geometry { pose: at(-0.05, 0.0, 0.0, 0.0), size: size.clone() }.to_bytes(),
        ),
        ((position2d::INTERFACE.device(0), position2d::MOTOR_POWER.subtype), Vec::new()),
        ((position2d::INTERFACE.device(0), position2d::SET_ODOMETRY.subtype), Vec::new()),
        (
            (laser::INTERFACE.device(0), laser::GET_GEOMETRY.subtype),
            Body { pose: at(0.15, 0.0, 0.2, 0.0), size: size.clone() }.to_bytes(),
        ),
        (
            (laser::INTERFACE.device(0), laser::GET_CONFIG.subtype),
            laser::Config { frequency: 10.0, ..Default::default() }.to_bytes(),
        ),
        (
            (ranger::INTERFACE.device(0), ranger::GET_GEOMETRY.subtype),
            ranger::Geometry { element_poses: elements.clone(), ..Default::default() }.to_bytes(),
        ),
        (
            (ranger::INTERFACE.device(0), ranger::GET_CONFIG.subtype),
            ranger::Config { min_angle: -0.1, max_angle: 0.1, max_range: 5.0, ..Default::default() }
                .to_bytes(),
        ),
        (
            (ranger::INTERFACE.device(1), ranger::GET_GEOMETRY.subtype),
            ranger::Geometry { pose: at(0.0, 0.0, 0.5, 0.0), ..Default::default() }.to_bytes(),
        ),
        (
            (ranger::INTERFACE.device(1), ranger::GET_CONFIG.subtype),
            ranger::Config { min_angle: -1.5, max_angle: 1.5, max_range: 4.0, ..Default::default() }
                .to_bytes(),
        ),
        (
            (sonar::INTERFACE.device(0), sonar::GET_GEOMETRY.subtype),
            sonar::Geometry { poses: elements.clone() }.to_bytes(),
        ),
        (
            (ir::INTERFACE.device(0), ir::GET_GEOMETRY.subtype),
            ir::Geometry { poses: vec![at(0.3, 0.0, 0.0, 0.0)] }.to_bytes(),
        ),
        (
            (actarray::INTERFACE.device(0), actarray::GET_GEOMETRY.subtype),
            actarray::Geometry { joints: vec![Default::default(); 2], ..Default::default() }.to_bytes(),
        ),
        ((actarray::INTERFACE.device(0), actarray::POWER.subtype), Vec::new()),
        ((actarray::INTERFACE.device(0), actarray::SET_SPEED.subtype), Vec::new()),
        (
            (map::INTERFACE.device(0), map::GET_INFO.subtype),
            map::Info { scale: 0.5, width: 3, height: 2, origin: plane(-1.0, -0.5, 0.0) }.to_bytes(),
        ),
        ((map::INTERFACE.device(0), map::GET_DATA.subtype), tile.compress().to_bytes()),
        ((localize::INTERFACE.device(0), localize::SET_POSE.subtype), Vec::new()),
        ((planner::INTERFACE.device(0), planner::ENABLE.subtype), Vec::new()),
        (
            (planner::INTERFACE.device(0), planner::GET_WAYPOINTS.subtype),
            planner::Waypoints { length: 2.0, waypoints: vec![plane(1.0, 0.0, 0.0), plane(2.0, 0.0, 0.0)] }
                .to_bytes(),
        ),
        (
            (simulation::INTERFACE.device(0), simulation::GET_POSE2D.subtype),
            simulation::NamedPose2d { name: "box".to_owned(), pose: plane(5.0, 6.0, 0.75) }.to_bytes(),
        ),
        ((simulation::INTERFACE.device(0), simulation::SET_POSE2D.subtype), Vec::new()),
        ((limb::INTERFACE.device(0), limb::POWER.subtype), Vec::new()),
        ((limb::INTERFACE.device(0), limb::SET_SPEED.subtype), Vec::new()),
        (
            (vectormap::INTERFACE.device(0), vectormap::GET_INFO.subtype),
            vectormap::Info {
                layers: vec![vectormap::LayerInfo { name: walls(), ..Default::default() }],
                ..Default::default()
            }
            .to_bytes(),
        ),
        (
            (vectormap::INTERFACE.device(0), vectormap::GET_LAYER.subtype),
            vectormap::Layer { name: walls(), features: vec![wall] }.to_bytes(),
        ),
        ((log::INTERFACE.device(0), log::SET_FILE_NAME.subtype), Vec::new()),
        ((log::INTERFACE.device(0), log::SET_WRITE_STATE.subtype), Vec::new()),
        ((log::INTERFACE.device(0), log::SET_READ_STATE.subtype), Vec::new()),
        ((log::INTERFACE.device(0), log::REWIND.subtype), Vec::new()),
    ];
    let mut devices: Vec<Device> = data.keys().copied().collect();
    devices.sort();
    devices.push(map::INTERFACE.device(0));
    devices.push(simulation::INTERFACE.device(0));
    devices.push(power::INTERFACE.device(1));
    devices.push(log::INTERFACE.device(0));
    devices.push(vectormap::INTERFACE.device(0));
    // A camera's head, of an interface without a file here.
    devices.push(Device { interface: 8, index: 0 });
    Script {
        manner: Manner::Good,
        devices,
        broken: vec![power::INTERFACE.device(1)],
        open: Vec::new(),
        answers: answers.into_iter().map(|(key, body)| (key, Some(body))).collect(),
        data,
        received: Vec::new(),
        mode: 0,
        pulls: 0,
        connections: 0,
    }
}
