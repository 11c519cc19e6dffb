//! An arm of the lab: its drives, simulated or on a CAN bus, and the nodes that serve it.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use canopen_rs::NodeId;
use dragoman_arm::can::{Bus, InProcessBus};
use dragoman_arm::driver::{DriveKind, GroupConfig, State};
use dragoman_arm::node::{ArmNode, ArmSettings};
use dragoman_kinematics::node::KinematicsSettings;
use dragoman_ros::Context;
use dragoman_sim::{AxisSettings, Cia402Drive, Cia402Settings, Rack, Whistle, WhistleSettings};
use tokio::task::JoinSet;

use crate::robot::RobotDescription;

/// An arm at work.
pub(crate) struct Arm {
    drives: Arc<dragoman_arm::driver::Drives>,
    /// Whether its drives are simulated in this process.
    pub(crate) is_simulated: bool,
    /// Ends after the drives, which are switched off through it.
    _rack: Option<RunningRack>,
}

/// Starts the nodes of an arm in `namespace`.
pub(crate) fn start(
    context: &Context,
    namespace: &str,
    robot: RobotDescription,
    nodes: &mut JoinSet<()>,
) -> Result<Arm, Box<dyn Error>> {
    let RobotDescription { model, urdf, motion, drives } = robot;
    let settings = ArmSettings {
        namespace: namespace.to_owned(),
        joint_names: model.joints().iter().map(|joint| joint.name.clone()).collect(),
        hardware_id: model.name().to_owned(),
        drives,
    };
    let kinematics = KinematicsSettings { namespace: namespace.to_owned(), model, urdf, motion };
    nodes.spawn(dragoman_kinematics::node::start(context, kinematics)?);
    let mut rack = None;
    let ArmNode { node, drives } = dragoman_arm::node::start(context, settings, |group, can| {
        if can.is_empty() {
            let (bus, running) = simulate(group).map_err(|error| error.to_string())?;
            rack = Some(running);
            Ok(bus)
        } else {
            open(can)
        }
    })?;
    nodes.spawn(node);
    Ok(Arm { drives, is_simulated: rack.is_some(), _rack: rack })
}

impl Arm {
    /// Resolves when the drives are on.
    pub(crate) async fn enabled(&self) {
        while self.drives.with(|_, group| group.state()) != State::Enabled {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A place on a CAN bus; one that is not there yet is waited for.
#[cfg(target_os = "linux")]
fn open(interface: &str) -> Result<Box<dyn Bus>, String> {
    use dragoman_arm::can::SocketCanBus;
    match SocketCanBus::open(interface, &[]) {
        Ok(bus) => Ok(Box::new(bus)),
        Err(error) => {
            tracing::error!(%error, "waiting for the CAN interface");
            Ok(Box::new(SocketCanBus::expect(interface, &[])))
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn open(interface: &str) -> Result<Box<dyn Bus>, String> {
    Err(format!("{interface}: CAN interfaces are known on Linux only"))
}

/// Simulated drives in a thread of their own.
struct RunningRack {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for RunningRack {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told so.
            let _ = thread.join();
        }
    }
}

/// The drives of `group`, simulated, and the bus on which they are.
fn simulate(group: &GroupConfig) -> std::io::Result<(Box<dyn Bus>, RunningRack)> {
    let bus = InProcessBus::new();
    let theirs: Box<dyn Bus> = Box::new(bus.another());
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // One kind for all: the node has one parameter for it.
    let cia402 = group.axes.iter().any(|axis| axis.kind == DriveKind::Cia402);
    let with_drive = group.axes.iter().filter(|axis| axis.kind != DriveKind::Suppressed);
    let devices = with_drive.filter_map(|axis| {
        // Stiff enough for what the joint may do, and for the peaks of its trajectories.
        let velocity_limit = 3.0 * axis.max_velocity * axis.counts_per_unit.abs();
        let motor = AxisSettings { velocity_limit, ..AxisSettings::default() };
        Some((NodeId::new(axis.node).ok()?, motor))
    });
    let thread = std::thread::Builder::new().name("simulated drives".to_owned());
    let thread = if cia402 {
        let settings = |axis| Cia402Settings { axis, ..Cia402Settings::default() };
        let drives = devices.map(|(node, axis)| Cia402Drive::new(node, settings(axis))).collect();
        thread.spawn(move || Rack::new(drives).run(theirs, stopped))?
    } else {
        let settings = |axis| WhistleSettings { axis, ..WhistleSettings::default() };
        let drives = devices.map(|(node, axis)| Whistle::new(node, settings(axis))).collect();
        thread.spawn(move || Rack::new(drives).run(theirs, stopped))?
    };
    Ok((Box::new(bus), RunningRack { stop, thread: Some(thread) }))
}
