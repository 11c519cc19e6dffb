//! What moves, and STOP.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman_bridge::player::wire::player::{OPEN, SUBSCRIBE, Subscription};
use dragoman_bridge::player::wire::{Address, BANNER_LEN, Decoder, Header, MessageKind, Xdr, actarray};
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::{QosProfile, geometry_msgs};

use super::common::player::SERVER;
use super::common::{ArmReply, Lab, Log, Program, sleep, within};
use crate::host::TcpStream;

/// Odometry of the lab's bases.
const BASES: [&str; 6] = [
    "/odom",
    "/neobotix/odom",
    "/apolo/pioneer3at/odom",
    "/apolo/neo/odom",
    "/apolo/marvin/odom",
    "/apolo/romaa/odom",
];

/// Time after which everything stands that was stopped, or that lost its commander.
const STOP_TIME: Duration = Duration::from_secs(3);

/// Follows all machines of a lab.
pub(super) struct Motion {
    bases: Vec<(&'static str, Log<Odometry>)>,
    arms: Vec<(&'static str, Log<JointState>)>,
    parts: Arc<Mutex<Option<(u8, String)>>>,
}

impl Motion {
    pub(super) fn observe(lab: &Lab) -> Self {
        let mut program = Program::new(lab);
        let qos = || QosProfile::default().keep_last(100);
        let bases = BASES.map(|topic| (topic, program.record(topic, qos())));
        let arms =
            ["/ranger/joint_states", "/joint_states"].map(|topic| (topic, program.record(topic, qos())));
        let parts = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&parts);
        program
            .tasks
            .subscribe("/diagnostics", qos(), move |array: DiagnosticArray| {
                for status in array.status.into_iter().filter(|status| status.name.ends_with("parts")) {
                    *seen.lock().unwrap() = Some((status.level, status.message));
                }
            })
            .unwrap();
        program.start();
        Self { bases: bases.into(), arms: arms.into(), parts }
    }

    /// Follows everything for two seconds: it stands.
    #[track_caller]
    pub(super) fn nothing_moves(&mut self, when: &str) {
        self.unsubscribe();
        sleep(Duration::from_secs(2));
        for (name, log) in &self.bases {
            let log = log.lock().unwrap();
            assert!(!log.is_empty(), "{when}: {name} is silent");
            for odometry in log.iter() {
                let geometry_msgs::msg::Twist { linear, angular } = &odometry.twist.twist;
                assert!(
                    linear.x.hypot(linear.y) < 0.005 && angular.z.abs() < 0.02,
                    "{when}: {name} moves: {linear:?} {angular:?}"
                );
            }
        }
        for (name, log) in &self.arms {
            let log = log.lock().unwrap();
            for joint in log.iter().flat_map(|state| state.name.iter()) {
                let positions: Vec<f64> = log
                    .iter()
                    .filter_map(|state| state.position.get(state.name.iter().position(|name| name == joint)?))
                    .copied()
                    .collect();
                let (low, high) = positions.iter().fold((f64::MAX, f64::MIN), |(low, high), position| {
                    (low.min(*position), high.max(*position))
                });
                assert!(high - low < 0.005, "{when}: {joint} of {name} moves from {low} to {high}");
            }
        }
        self.unsubscribe();
    }

    /// Ends the subscriptions.
    pub(super) fn unsubscribe(&self) {
        self.bases.iter().for_each(|(_, log)| drop(std::mem::take(&mut *log.lock().unwrap())));
        self.arms.iter().for_each(|(_, log)| drop(std::mem::take(&mut *log.lock().unwrap())));
    }

    /// Stops everything by the old protocols: again and again until it is confirmed.
    #[track_caller]
    pub(super) fn stop(&mut self, lab: &Lab) {
        let arm = lab.client();
        arm.socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        within(Duration::from_secs(5), "the arm's confirmation of STOP", || {
            arm.send("ST", [0.0; 7], 0);
            matches!(arm.receive(), Some(ArmReply::Values([b'T', b'S'], ..)))
        });
        // CMD_STOP, then a question whose answer shows that it was carried out.
        let stopped = || -> std::io::Result<()> {
            let mut platform = TcpStream::connect(lab.neobotix[1])?;
            platform.set_read_timeout(Some(Duration::from_millis(500)))?;
            platform.write_all(&[0, 0, 0, 1, 14, 0, 0, 0, 1, 74])?;
            platform.read_exact(&mut [0; 4 + 33])
        };
        within(Duration::from_secs(60), "the platform's confirmation of STOP", || stopped().is_ok());
        within(Duration::from_secs(60), "the confirmation of the WidowX", || hold(lab.player).is_ok());
        sleep(STOP_TIME);
        self.nothing_moves("after STOP");
    }

    #[track_caller]
    pub(super) fn all_parts_run(&self) {
        let parts = self.parts.lock().unwrap().clone();
        assert_eq!(parts, Some((0, "all parts are running".to_owned())));
    }
}

/// Stops the joints of the WidowX: speed zero for each, then a question whose answer shows that they were taken.
fn hold(player: SocketAddr) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(player)?;
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    let widowx = actarray::INTERFACE.device(0);
    let mut bytes = Vec::new();
    let mut send = |device, kind, subtype, body: &[u8]| {
        let address = Address { device, ..Address::default() };
        Header { address, kind, subtype, timestamp: 0.0, sequence: 0 }.write_message(body, &mut bytes);
    };
    let address = Address { device: widowx, ..Address::default() };
    let open = Subscription { address, access: OPEN, driver: String::new() };
    send(SERVER, MessageKind::Request, SUBSCRIBE.subtype, &open.to_bytes());
    for joint in 0..5 {
        let stop = actarray::JointSpeed { joint, speed: 0.0 };
        send(widowx, MessageKind::Command, actarray::SPEED.subtype, &stop.to_bytes());
    }
    send(widowx, MessageKind::Request, actarray::GET_GEOMETRY.subtype, &[]);
    stream.write_all(&bytes)?;
    stream.read_exact(&mut [0; BANNER_LEN])?;
    let mut decoder = Decoder::default();
    loop {
        while let Some(message) = decoder.next() {
            let Header { address, kind, subtype, .. } = message.expect("the server sends messages").header;
            let is_answer = (address.device, subtype) == (widowx, actarray::GET_GEOMETRY.subtype);
            match kind {
                MessageKind::Acknowledge if is_answer => return Ok(()),
                // The arm is not measured.
                MessageKind::Refuse => return Err(std::io::ErrorKind::NotConnected.into()),
                _ => {}
            }
        }
        let mut buffer = [0; 65_536];
        match stream.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            len => decoder.push(&buffer[..len]),
        }
    }
}
