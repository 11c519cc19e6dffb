//! `dragoman bridge` and `dragoman device machine` on an interface: the motor of a DBC file, with can-utils as others on the bus.

use std::time::{Duration, Instant};

use dragoman_io::can::candump::{Content, LogLine};
use dragoman_io::can::{Bus, Received};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile};
use futures::StreamExt;
use futures::stream::BoxStream;

use crate::recorder::Candump;
use crate::support::{TIMEOUT, Vcan, alone, cansend};
use crate::test_name;
use crate::up::Program;

const MOTOR: &str = include_str!("../../../dragoman_protocol/machines/motor_can.yaml");
/// A ROS domain that no other test uses.
const DOMAIN: u16 = 98;

/// Commands the motor, and sees it.
struct Operator {
    runtime: tokio::runtime::Runtime,
    node: Node,
    speed: Publisher<Float64>,
    joints: BoxStream<'static, JointState>,
}

impl Operator {
    fn new() -> Self {
        let range = DiscoveryRange::Localhost;
        let discovery = Discovery { domain_id: DOMAIN, range, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let mut node = Node::create(context, "operator", "").unwrap();
        let speed = node.create_publisher("/motor_can/speed", QosProfile::default()).unwrap();
        let joints = node.subscribe("/motor_can/joint_states", QosProfile::default()).unwrap().boxed();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, node, speed, joints }
    }

    fn call<S: dragoman_ros::WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        let client = self.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
        let called = async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        };
        self.runtime
            .block_on(async { tokio::time::timeout(TIMEOUT, called).await })
            .unwrap_or_else(|_| panic!("{name} does not answer"))
    }

    /// Waits until the motor stands; its stop is on the bus then.
    fn until_it_stands(&mut self) {
        let began = Instant::now();
        loop {
            let next = async { tokio::time::timeout(TIMEOUT, self.joints.next()).await };
            if let Ok(Some(state)) = self.runtime.block_on(next)
                && state.velocity[0].abs() < 1.0
            {
                return;
            }
            assert!(began.elapsed() < TIMEOUT, "the motor does not stand");
        }
    }

    /// Repeats the command until the motor turns as fast, rad/s.
    fn drive(&mut self, speed: f64) {
        let began = Instant::now();
        loop {
            self.speed.publish(&Float64 { data: speed }).unwrap();
            let next = async { tokio::time::timeout(Duration::from_millis(50), self.joints.next()).await };
            if let Ok(Some(state)) = self.runtime.block_on(next)
                && (state.velocity[0] - speed).abs() < 0.05 * speed.abs()
            {
                return;
            }
            assert!(began.elapsed() < TIMEOUT, "the motor does not turn");
        }
    }
}

/// The data of a frame with this identifier of 11 bits.
fn data_of(line: &LogLine, id: u16) -> Option<&[u8]> {
    let Content::Frame(frame) = &line.content else { return None };
    (frame.standard_id() == Some(id) && !frame.is_remote()).then(|| frame.data())
}

#[test]
fn a_motor_of_a_dbc_file_turns_on_an_interface() {
    let test = test_name!();
    let _alone = alone();
    let Some(vcan) = Vcan::new(test, "vcan_motor") else { return };
    let Some(candump) = Candump::start(test, &vcan) else { return };
    let file = std::env::temp_dir().join(format!("{test}_{}.yaml", std::process::id()));
    std::fs::write(&file, MOTOR).unwrap();
    let file = file.to_str().unwrap();
    let on_bus = |words: &[&str]| Program::start(test, &[words, &["--link", vcan.name]].concat(), DOMAIN);
    let Some(motor) = on_bus(&["device", "machine", file]) else { return };
    motor.until_printed("ready");
    let Some(bridge) = on_bus(&["bridge", file]) else { return };
    bridge.until_printed("appears in /motor_can");

    let mut operator = Operator::new();
    let power =
        operator.call::<SetBool::Service>("/motor_can/set_motor_power", SetBool::Request { data: true });
    assert!(power.success, "{}", power.message);
    operator.drive(100.0);

    // What is shown to somebody who listens: commands to the motor, and what it says.
    let Some(sniffer) = on_bus(&["bridge", "sniff", file]) else { return };
    sniffer.until_printed("listening");
    operator.drive(50.0);
    for message in ["-> motor_command", "<- motor_state"] {
        sniffer.until_printed(message);
    }
    drop(sniffer);

    // Others on the bus: the same numbers with the other number of bits, remote frames, and a frame of the motor that is too short.
    for frame in [
        "00000200#00",
        "00000201#0000000000000000",
        "001#0102030405060708",
        "200#R1",
        "201#R8",
        "18FF0001#R8",
    ] {
        cansend(vcan.name, frame);
    }
    operator.drive(-100.0);
    cansend(vcan.name, "18FF0001#00");
    bridge.until_printed("received what is no message");

    let stop = operator.call::<Trigger::Service>("/motor_can/stop", Trigger::Request::default());
    assert!(stop.success, "{}", stop.message);
    operator.until_it_stands();
    let stopped = |data: &[u8]| data.get(2..5) == Some(&[0, 0, 1][..]);
    let seen = candump.stop();
    let of = |id| seen.iter().filter_map(move |line| data_of(line, id)).collect::<Vec<_>>();
    assert!(of(0x200).len() > 5, "heartbeats");
    let commands = of(0x201);
    assert!(commands.iter().all(|data| data.len() == 8), "{commands:x?}");
    // 100 rad/s in steps of 0.2 rpm.
    assert!(commands.iter().any(|data| data[2..4] == 4775_i16.to_le_bytes()), "{commands:x?}");
    assert!(commands.iter().any(|data| stopped(data)), "{commands:x?}");

    // The bus is lost, and back.
    vcan.down();
    bridge.until_printed("link lost");
    vcan.up();
    bridge.until_printed("the CAN bus is back");
    operator.drive(50.0);
    drop(bridge);
    // The motor goes on without its bridge.
    let mut bus = vcan.bus();
    let began = Instant::now();
    loop {
        if let Some(Received::Frame(frame)) = bus.receive()
            && frame.to_string().starts_with("18FF0001#")
        {
            break;
        }
        assert!(began.elapsed() < TIMEOUT, "no state");
        bus.wait(TIMEOUT);
    }
    std::fs::remove_file(file).unwrap();
}
