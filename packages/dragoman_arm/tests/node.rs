//! The arm's node on simulated drives, in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use canopen_rs::NodeId;
use dragoman_arm::driver::{AxisConfig, Clock, Drives, GroupConfig, GroupState};
use dragoman_arm::node::{ArmBus, ArmNode, ArmSettings, start};
use dragoman_io::can::{Bus, BusFault, Frame, Received, SendError};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use dragoman_sim::{Rack, RackBus, Whistle, WhistleSettings};
use futures::stream::{BoxStream, StreamExt};

const TIME_LIMIT: Duration = Duration::from_secs(20);
const NODES: [u8; 2] = [101, 102];

/// A bus that can be unplugged.
struct Cable<B> {
    bus: B,
    unplugged: Arc<AtomicBool>,
    reported: bool,
}

impl<B: Bus> Bus for Cable<B> {
    fn send(&mut self, frame: &Frame) -> Result<(), SendError> {
        if self.unplugged.load(Ordering::Relaxed) { Err(SendError::Down) } else { self.bus.send(frame) }
    }

    fn receive(&mut self) -> Option<Received> {
        let unplugged = self.unplugged.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.reported, unplugged) != unplugged {
            return Some(Received::Fault(if unplugged { BusFault::Down } else { BusFault::Up }));
        }
        let received = self.bus.receive();
        received.filter(|_| !unplugged)
    }

    fn wait(&mut self, timeout: Duration) {
        self.bus.wait(timeout);
    }
}

struct Arm {
    runtime: tokio::runtime::Runtime,
    drives: Arc<Drives>,
    unplugged: Arc<AtomicBool>,
    states: BoxStream<'static, JointState>,
    _listener: Node,
}

impl Arm {
    fn start() -> Self {
        let discovery = Discovery { domain_id: 78, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let axes = NODES.map(|node| AxisConfig::whistle(node, 100_000.0, 0.0));
        let settings = ArmSettings {
            namespace: "/arm".to_owned(),
            joint_names: vec!["shoulder".to_owned(), "elbow".to_owned()],
            hardware_id: "test".to_owned(),
            drives: GroupConfig { axes: axes.to_vec(), ..GroupConfig::default() },
        };
        let unplugged = Arc::new(AtomicBool::new(false));
        let plug = Arc::clone(&unplugged);
        let ArmNode { node, drives } = start(&context, settings, move |_| {
            let clock = Clock::with_max_step(Duration::from_millis(10));
            let drive = |node| Whistle::new(NodeId::new(node).unwrap(), WhistleSettings::default());
            let bus = RackBus::new(Rack::new(NODES.map(drive).into()), clock.clone());
            let bus = Box::new(Cable { bus, unplugged: plug, reported: false });
            Ok(ArmBus { bus, clock, enable_at_start: true, controller: None })
        })
        .unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(node);
        let mut listener = Node::create(context, "listener", "").unwrap();
        let states =
            listener.subscribe("/arm/joint_states", QosProfile::default().keep_last(100)).unwrap().boxed();
        Self { runtime, drives, unplugged, states, _listener: listener }
    }

    /// The next message, if one comes in time.
    fn next(&mut self, within: Duration) -> Option<JointState> {
        let next = async { tokio::time::timeout(within, self.states.next()).await };
        self.runtime.block_on(next).ok().map(|next| next.expect("the stream goes on"))
    }

    #[track_caller]
    fn until(&self, state: GroupState) {
        let end = Instant::now() + TIME_LIMIT;
        while self.drives.with(|_, group| group.state()) != state {
            assert!(Instant::now() < end, "{:?}", self.drives.with(|_, group| group.state()));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn joint_states_stop_after_the_bus_is_lost_and_return_with_it() {
    let mut arm = Arm::start();
    arm.until(GroupState::Enabled);
    let state = arm.next(TIME_LIMIT).expect("joint_states come");
    assert_eq!(state.name, ["shoulder", "elbow"]);

    arm.unplugged.store(true, Ordering::Relaxed);
    arm.until(GroupState::Faulted);
    // Messages on their way arrive; then there is silence.
    let quiet = Duration::from_millis(500);
    let end = Instant::now() + TIME_LIMIT;
    while let Some(state) = arm.next(quiet) {
        assert!(Instant::now() < end, "joint_states go on without a bus: {state:?}");
    }

    arm.unplugged.store(false, Ordering::Relaxed);
    let end = Instant::now() + TIME_LIMIT;
    while arm.drives.with(|_, group| group.recover()).is_err() {
        assert!(Instant::now() < end, "the drives do not recover");
        std::thread::sleep(Duration::from_millis(5));
    }
    let state = arm.next(TIME_LIMIT).expect("joint_states return");
    assert_eq!(state.name, ["shoulder", "elbow"]);
}
