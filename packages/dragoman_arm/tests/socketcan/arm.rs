//! An arm for tests: the driver on one socket of a bus, six simulated drives on another.

use std::f64::consts::TAU;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use canopen_rs::NodeId;
use dragoman_arm::driver::{AxisConfig, Clock, Drives, Event, GroupConfig, GroupState};
use dragoman_io::can::{Bus, SocketCanBus};
use dragoman_sim::Rack;
use dragoman_sim::whistle::{Simpliq, Whistle, WhistleSettings};

use crate::support::{TIMEOUT, stay_on_a_processor};

/// Counts per revolution of the arm of the Ranger thesis (`elmoarm.cpf`).
pub(crate) const COUNTS_PER_REVOLUTION: [f64; 6] =
    [817_741.0, 817_741.0, -414_246.0, 414_246.0, -414_246.0, 414_246.0];

/// Six Whistles, nodes 101 to 106, with a driver that tolerates pauses of an emulated machine.
pub(crate) fn six() -> GroupConfig {
    let axes = COUNTS_PER_REVOLUTION.iter().zip(101..).map(|(counts, node)| {
        let home = if node % 2 == 1 { TAU / 4.0 } else { 0.0 };
        AxisConfig { max_velocity: 0.9, ..AxisConfig::whistle(node, *counts, home) }
    });
    GroupConfig {
        axes: axes.collect(),
        lead: Duration::from_millis(200),
        heartbeat_loss: Duration::from_millis(500),
        feedback_loss: Duration::from_millis(500),
        ..GroupConfig::default()
    }
}

/// Simulated drives in a thread, on a bus; dropped with this value.
pub(crate) struct SimulatedDrives {
    pub(crate) rack: Rack<Simpliq>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SimulatedDrives {
    pub(crate) fn start(nodes: impl IntoIterator<Item = u8>, bus: SocketCanBus) -> Self {
        let drive = |node| Whistle::new(NodeId::new(node).unwrap(), WhistleSettings::default());
        let rack = Rack::new(nodes.into_iter().map(drive).collect());
        let stop = Arc::new(AtomicBool::new(false));
        let (run, until) = (rack.clone(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            stay_on_a_processor(1);
            run.run(Box::new(bus), until);
        });
        Self { rack, stop, thread: Some(thread) }
    }
}

impl Drop for SimulatedDrives {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The driver and its drives.
pub(crate) struct Arm {
    pub(crate) drives: Drives,
    pub(crate) simulated: SimulatedDrives,
    pub(crate) events: Vec<Event>,
}

impl Arm {
    /// Starts both, each on its own socket.
    pub(crate) fn start(config: GroupConfig, ours: SocketCanBus, theirs: SocketCanBus) -> Self {
        let nodes: Vec<u8> = config.axes.iter().map(|axis| axis.node).collect();
        let simulated = SimulatedDrives::start(nodes, theirs);
        Self::of(config, Box::new(ours), simulated)
    }

    /// Starts the driver of drives that already run.
    pub(crate) fn of(config: GroupConfig, bus: Box<dyn Bus>, simulated: SimulatedDrives) -> Self {
        Self { drives: start_driver(config, bus), simulated, events: Vec::new() }
    }

    pub(crate) fn state(&self) -> GroupState {
        self.drives.with(|_, group| group.state())
    }

    pub(crate) fn fault(&self) -> String {
        self.drives.with(|_, group| group.fault().map(ToString::to_string).unwrap_or_default())
    }

    pub(crate) fn positions(&self) -> Vec<f64> {
        self.drives.with(|_, group| group.positions().collect())
    }

    /// Positions of the shafts, whatever the drives count.
    pub(crate) fn shafts(&self) -> Vec<f64> {
        self.simulated.rack.drives().iter().map(Whistle::shaft_counts).collect()
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.simulated.rack.drives().iter().any(Whistle::is_moving)
    }

    pub(crate) fn take_events(&mut self) {
        let new: Vec<Event> =
            self.drives.with(|_, group| std::iter::from_fn(|| group.poll_event()).collect());
        self.events.extend(new);
    }

    /// Waits until a condition holds, within [`TIMEOUT`].
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            self.take_events();
            assert!(
                began.elapsed() < TIMEOUT,
                "not {what}: {:?}, '{}', {:?}",
                self.state(),
                self.fault(),
                self.events
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        self.take_events();
    }

    #[track_caller]
    pub(crate) fn until_state(&mut self, state: GroupState) {
        self.until(&format!("{state:?}"), |arm| arm.state() == state);
    }

    /// Switches on the drives, which must be set up or about to be.
    #[track_caller]
    pub(crate) fn enable(&mut self) {
        self.until_state(GroupState::Disabled);
        self.drives.with(|_, group| group.enable()).unwrap();
        self.until_state(GroupState::Enabled);
    }

    /// Moves all joints to `target`.
    #[track_caller]
    pub(crate) fn go_to(&mut self, target: &[f64]) {
        self.until(&format!("at {target:?}"), |arm| {
            arm.command(target);
            arm.positions().iter().zip(target).all(|(position, target)| (position - target).abs() < 1e-4)
        });
    }

    /// Sets all joints moving, for more than a second.
    #[track_caller]
    pub(crate) fn set_moving(&mut self) {
        let (start, shafts) = (self.positions(), self.shafts());
        let target: Vec<f64> = start.iter().map(|position| position + 1.5).collect();
        self.until("moving", |arm| {
            arm.command(&target);
            arm.shafts().iter().zip(&shafts).all(|(now, before)| (now - before).abs() > 1000.0)
        });
        assert!(self.is_moving());
    }

    /// Repeats a refused command: the driver may be about to restart after a pause.
    fn command(&self, target: &[f64]) {
        let _ = self.drives.with(|now, group| group.command(now, None, target));
    }
}

/// Starts the driver on a processor where its frames keep their order.
pub(crate) fn start_driver(config: GroupConfig, bus: Box<dyn Bus>) -> Drives {
    let start = move || {
        // The driver's thread inherits the processor.
        stay_on_a_processor(0);
        Drives::start(config, bus, Clock::real()).unwrap()
    };
    std::thread::spawn(start).join().unwrap()
}
