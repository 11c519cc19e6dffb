//! The arm of the lab: its drives, simulated or on a CAN bus, its nodes, and its 31-byte protocol.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use canopen_rs::NodeId;
use dragoman_arm::driver::{
    AxisConfig, Clock, Controller, DriveKind, Drives, GroupConfig, GroupState, Payload,
};
use dragoman_arm::node::{ArmBus, ArmNode, ArmSettings, BusSettings};
use dragoman_bridge::arm31::node::start_server;
use dragoman_io::can::Bus;
use dragoman_kinematics::calibration::DhTable;
use dragoman_kinematics::control::{Method, law};
use dragoman_kinematics::dynamics::Inertia;
use dragoman_kinematics::nalgebra::Point3;
use dragoman_kinematics::node::{KinematicsNode, KinematicsSettings};
use dragoman_kinematics::{Joint, Model};
use dragoman_ros::naming::below;
use dragoman_ros::outln;
use dragoman_ros::process::Process;
use dragoman_sim::device::{Application, Device};
use dragoman_sim::{
    ArmJoint, ArmLoad, AxisSettings, Cia402Drive, Cia402Settings, Rack, RackBus, Whistle, WhistleSettings,
};
use dragoman_world::node::tracker;
use futures::FutureExt;
use futures::channel::oneshot;
use parking_lot::Mutex;

use super::UpOptions;
use super::part::{ConnectionRow, IN_ROS, Lab, Part, START_TIMEOUT, Started};
use crate::address::with_advice;
use crate::robot::{self, Nominal, RobotDescription};

pub(super) struct Ranger;

/// Namespace of the arm.
const NAMESPACE: &str = "/ranger";
/// Where it stands in the lab's world.
const IN_WORLD: &str = "Ranger Mark I";

/// Time after which drives on a bus that have not responded are reported.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(500);

impl Part for Ranger {
    fn name(&self) -> &'static str {
        "ranger"
    }

    fn help(&self) -> &'static str {
        "The arm with its 31-byte protocol"
    }

    fn planners(&self, options: &UpOptions) -> Vec<String> {
        vec![format!("{IN_WORLD}={}", below(&options.namespace, NAMESPACE))]
    }

    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let (process, bind) = (lab.process, lab.options.bind);
        let namespace = lab.below(NAMESPACE);
        let mut robot = IN_ROS.to_owned();
        let mut arm = None;
        if !lab.options.bridge_only {
            let description = robot::load(&lab.options.robot)?;
            description.model.name().clone_into(&mut robot);
            process.claims.claim_namespace(&process.context, "arm", &namespace)?;
            arm = Some(Arm::start(process, &namespace, description)?);
        }
        let bridge = start_server(&process.context, &namespace, bind)
            .map_err(|error| with_advice(error, "arm31:port:=PORT"))?;
        let (context, again) = (process.context.clone(), namespace.clone());
        process.supervisor.spawn_restartable_node(bridge.node, move || {
            start_server(&context, &again, bind).map(|bridge| bridge.node)
        });
        let address = bridge.address.to_string();
        let row = ConnectionRow { robot, protocol: "31-byte arm protocol, UDP", address, namespace };
        let ready = arm.map(|arm| arm.ready(bridge.measured).boxed());
        Ok(Started { rows: vec![row], ready: ready.into_iter().collect(), ..Started::default() })
    }
}

/// A running arm.
struct Arm {
    drives: Arc<Drives>,
    /// Whether its drives are simulated in this process.
    is_simulated: bool,
    /// Resolves when the arm can move.
    drives_on: oneshot::Receiver<()>,
}

impl Arm {
    /// Starts the nodes of an arm in `namespace`.
    fn start(process: &Process, namespace: &str, robot: RobotDescription) -> Result<Self, Box<dyn Error>> {
        let RobotDescription { model, urdf, motion, drives, source } = robot;
        let settings = ArmSettings {
            namespace: namespace.to_owned(),
            joint_names: model.joints().iter().map(|joint| joint.name.clone()).collect(),
            hardware_id: model.name().to_owned(),
            drives,
        };
        let carried = Carried { model: model.clone(), urdf: urdf.clone(), file: source.urdf_name() };
        let kinematics = KinematicsSettings { namespace: namespace.to_owned(), model, urdf, motion };
        let KinematicsNode { node, drives_on } =
            dragoman_kinematics::node::start(&process.context, kinematics)?;
        process.supervisor.spawn_node(node);
        let mut shafts = None;
        let ArmNode { node, drives } = dragoman_arm::node::start(&process.context, settings, |wanted| {
            let controller = carried.controller(wanted)?;
            if !wanted.can.is_empty() {
                let (bus, clock) = (open(&wanted.can, wanted.group)?, Clock::real());
                return Ok(ArmBus { bus, clock, enable_at_start: false, controller });
            }
            let Simulated { bus, clock, shafts: of_drives } = simulate(wanted, &carried)?;
            shafts = Some(of_drives);
            Ok(ArmBus { bus, clock, enable_at_start: true, controller })
        })?;
        process.supervisor.spawn_node(node);
        let is_simulated = shafts.is_some();
        if let Some(shafts) = shafts {
            let truth = |misalignment: &str| truth(&source.nominal, shafts, misalignment);
            process.supervisor.spawn_node(tracker::start(&process.context, namespace, truth)?);
        }
        Ok(Self { drives, is_simulated, drives_on })
    }

    /// Waits until the arm works; drives on a bus may respond later. `measured` resolves when the bridge can answer.
    async fn ready(self, measured: oneshot::Receiver<()>) -> Result<(), String> {
        if !self.is_simulated {
            outln!("drives: {}", self.start_up().await);
            return Ok(());
        }
        let served = async { tokio::join!(measured, self.drives_on) };
        match dragoman_time::timeout(START_TIMEOUT, served).await {
            Ok(_) => Ok(()),
            Err(_) => Err("the simulated arm does not start".to_owned()),
        }
    }

    /// The state of the drives after at most [`RESPONSE_TIMEOUT`], for the terminal.
    async fn start_up(&self) -> String {
        let there = async {
            while self.drives.with(|_, group| group.state()) == GroupState::Unconfigured {
                dragoman_time::sleep(Duration::from_millis(5)).await;
            }
        };
        // The group's state is valid with or without a timeout.
        let _ = dragoman_time::timeout(RESPONSE_TIMEOUT, there).await;
        self.drives.with(|_, group| match group.state() {
            GroupState::Unconfigured => {
                let reason = group.fault().map_or("no answer yet".to_owned(), ToString::to_string);
                format!("waiting for them ({reason}); see /diagnostics")
            }
            GroupState::Enabling | GroupState::Enabled => "on".to_owned(),
            GroupState::Faulted | GroupState::Stopping => {
                let reason = group.fault().map_or(String::new(), ToString::to_string);
                format!("stopped ({reason}); the service recover acknowledges that")
            }
            GroupState::Disabled => "off; the service enable switches them on".to_owned(),
        })
    }
}

/// Opens a CAN interface; waits for a missing one.
#[cfg(target_os = "linux")]
fn open(interface: &str, group: &GroupConfig) -> Result<Box<dyn Bus>, String> {
    use dragoman_io::can::SocketCanBus;
    use dragoman_io::can::socketcan::{Filter, OpenError};
    // The kernel drops other frames: the low seven bits of CANopen's identifiers are the node.
    let with_drive = group.axes.iter().filter(|axis| axis.kind != DriveKind::Suppressed);
    let filters: Vec<Filter> = with_drive.map(|axis| Filter { id: axis.node.into(), mask: 0x7f }).collect();
    match SocketCanBus::open(interface, &filters) {
        Ok(bus) => Ok(Box::new(bus)),
        Err(error @ OpenError::NoInterface { .. }) => {
            tracing::error!(%error, "waiting for the CAN interface");
            Ok(Box::new(SocketCanBus::expect(interface, &filters)))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open(interface: &str, _group: &GroupConfig) -> Result<Box<dyn Bus>, String> {
    Err(format!("{interface}: CAN interfaces are supported on Linux only"))
}

/// The maximum step of the simulated drives' time: well below the pauses that a driver tolerates.
const MAX_STEP: Duration = Duration::from_millis(10);

/// Positions of the shafts of simulated drives, counts since the start, by node number.
type Shafts = Box<dyn Fn() -> Vec<(u8, f64)> + Send>;

/// Simulated drives.
struct Simulated {
    bus: Box<dyn Bus>,
    clock: Clock,
    shafts: Shafts,
}

/// Maximum product of the bandwidth of a controller and its period.
const MAX_BANDWIDTH_PRODUCT: f64 = 0.2;

/// The arm that the drives carry.
struct Carried {
    model: Model,
    /// Empty for an arm from a Denavit-Hartenberg table.
    urdf: String,
    /// Name of its file, for errors, whose lines are those of the file.
    file: String,
}

impl Carried {
    /// The controller of the control mode; `None` where the drives control the joints.
    fn controller(&self, wanted: &BusSettings<'_>) -> Result<Option<Controller>, String> {
        let method = match wanted.control_mode.as_str() {
            "computed_torque" => Method::ComputedTorque,
            "adaptive" => Method::Adaptive,
            _ => return Ok(None),
        };
        let fastest = MAX_BANDWIDTH_PRODUCT / wanted.group.cycle().as_secs_f64();
        if wanted.bandwidth > fastest {
            return Err(format!(
                "control_bandwidth is {} rad/s; with this sample_ratio at most {fastest:.1} is stable",
                wanted.bandwidth
            ));
        }
        let rotors: Vec<f64> = wanted.group.axes.iter().map(|axis| axis.rotor_inertia).collect();
        let [base, tip] = self.links(&wanted.control_mode)?;
        let law = law(&self.urdf, Some(base), Some(tip), &rotors, method, wanted.bandwidth);
        let mut law = law.map_err(|error| format!("{}: {error}", self.of_file(&wanted.control_mode)))?;
        if method == Method::ComputedTorque {
            return Ok(Some(Controller::new(move |step, torques| {
                law.torques(step.position, step.velocity, step.target, step.period, torques);
            })));
        }
        // In the frame of the last joint.
        let learned = Arc::new(Mutex::new(Inertia::default()));
        let (known, tool, link) = (Arc::clone(&learned), self.model.tool().inverse(), Arc::from(tip));
        let controller = Controller::new(move |step, torques| {
            law.torques(step.position, step.velocity, step.target, step.period, torques);
            *learned.lock() = law.payload();
        });
        Ok(Some(controller.learning(move || {
            let payload = *known.lock();
            let center = match payload.mass {
                mass if mass > 0.0 => (tool * Point3::from(payload.moment / mass)).into(),
                _ => [0.0; 3],
            };
            Payload { link: Arc::clone(&link), mass: payload.mass, center }
        })))
    }

    /// The load of the simulated drives, if they carry the arm.
    fn load(&self, wanted: &BusSettings<'_>) -> Result<Option<ArmLoad>, String> {
        if !wanted.dynamics {
            return Ok(None);
        }
        if wanted.group.axes.iter().any(|axis| axis.kind != DriveKind::Whistle) {
            return Err("simulated_dynamics is for arms with a SimplIQ drive in each joint".to_owned());
        }
        let [mass, x, y, z] = *wanted.payload.as_slice() else {
            return Err(format!("simulated_payload needs four numbers, not {}", wanted.payload.len()));
        };
        let joints = wanted.group.axes.iter().map(|axis| ArmJoint {
            node: axis.node,
            counts_per_unit: axis.counts_per_unit,
            home: axis.home,
            torque_per_ampere: axis.torque_per_ampere,
            rotor_inertia: axis.rotor_inertia,
        });
        let [base, tip] = self.links("simulated_dynamics")?;
        let payload = Inertia::point(mass, [x, y, z]);
        ArmLoad::new(&self.urdf, Some(base), Some(tip), &payload, joints.collect())
            .map(Some)
            .map_err(|error| format!("{}: {error}", self.of_file("simulated_dynamics")))
    }

    /// What an error is about, with the file of the description.
    fn of_file(&self, what: &str) -> String {
        if self.file.is_empty() { what.to_owned() } else { format!("{what}, {}", self.file) }
    }

    /// The ends of the chain.
    fn links(&self, what: &str) -> Result<[&str; 2], String> {
        if self.urdf.is_empty() {
            return Err(format!("{what}: a Denavit-Hartenberg table has no masses; it needs a URDF"));
        }
        Ok([self.model.base_link(), self.model.tip_link()])
    }
}

/// Warming of a motor at its maximum current, degrees.
const WARMING: f64 = 40.0;
/// Way beyond the limits of a joint after which its drive switches off, rad or m.
const BEYOND: f64 = 0.05;

/// The motor of a drive that carries an arm: it keeps the limits of its joint.
fn loaded(motor: AxisSettings, axis: &AxisConfig, joint: &Joint, inertia: Option<f64>) -> AxisSettings {
    let counts = |position: f64| (position - axis.home) * axis.counts_per_unit;
    let ends = [counts(joint.lower - BEYOND), counts(joint.upper + BEYOND)];
    AxisSettings {
        current_limit: axis.max_current,
        heating: WARMING / axis.max_current.powi(2),
        inertia: inertia.unwrap_or(motor.inertia),
        position_limits: [ends[0].min(ends[1]), ends[0].max(ends[1])],
        ..motor
    }
}

/// A bus with the simulated drives of a group, which turn no faster than the limit of their velocity unless it is 0, and
/// carry the arm if that is wanted.
fn simulate(wanted: &BusSettings<'_>, carried: &Carried) -> Result<Simulated, String> {
    let (group, load) = (wanted.group, carried.load(wanted)?);
    let following_limit = if wanted.velocity_limit > 0.0 { wanted.velocity_limit } else { f64::INFINITY };
    // All drives are of one kind: the node has one parameter for it.
    let cia402 = group.axes.iter().any(|axis| axis.kind == DriveKind::Cia402);
    let joints = group.axes.iter().zip(carried.model.joints()).enumerate();
    let with_drive = joints.filter(|(_, (axis, _))| axis.kind != DriveKind::Suppressed);
    let devices = with_drive.filter_map(|(index, (axis, joint))| {
        // Stiff enough for the joint's limits, and for the peaks of its trajectories.
        let velocity_limit = 3.0 * axis.max_velocity * axis.counts_per_unit.abs();
        let motor = AxisSettings { velocity_limit, following_limit, ..AxisSettings::default() };
        let motor = match &load {
            Some(arm) => loaded(motor, axis, joint, arm.tuned_inertia(index)),
            None => motor,
        };
        Some((NodeId::new(axis.node).ok()?, motor))
    });
    Ok(if cia402 {
        let settings = |axis| Cia402Settings { axis, ..Cia402Settings::default() };
        in_rack(devices.map(|(node, axis)| Cia402Drive::new(node, settings(axis))).collect(), None)
    } else {
        let settings = |axis| WhistleSettings { axis, ..WhistleSettings::default() };
        let drives = devices.map(|(node, axis)| Whistle::new(node, settings(axis))).collect();
        in_rack(drives, load)
    })
}

fn in_rack<A: Application + 'static>(drives: Vec<Device<A>>, load: Option<ArmLoad>) -> Simulated {
    let clock = Clock::with_max_step(MAX_STEP);
    let rack = Rack::new(drives);
    let rack = match load {
        Some(arm) => rack.with_arm(arm),
        None => rack,
    };
    let seen = rack.clone();
    let shafts =
        move || seen.drives().iter().map(|drive| (drive.node().raw(), drive.shaft_counts())).collect();
    Simulated { bus: Box::new(RackBus::new(rack, clock.clone())), clock, shafts: Box::new(shafts) }
}

/// Where the tool of the simulated arm is: the arm as described, except for the `misalignment`, with its shafts where they
/// are. A joint without a drive stays at home.
fn truth(nominal: &Nominal, shafts: Shafts, misalignment: &str) -> Result<tracker::Truth, String> {
    let mut table = DhTable::of(&nominal.model);
    for change in misalignment.split(',').map(str::trim).filter(|change| !change.is_empty()) {
        let known =
            || table.parameters().map(|parameter| table.name(parameter)).collect::<Vec<_>>().join(", ");
        let (name, value) = change.split_once('=').ok_or_else(|| format!("{change} is not NAME=VALUE"))?;
        let parameter = table.named(name.trim());
        let parameter = parameter.ok_or_else(|| format!("there is no {name}; this arm has {}", known()))?;
        let value = value.trim().parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.ok_or_else(|| format!("{change}: the value is not a finite number"))?;
        table.set(parameter, table.value(parameter) + value);
    }
    let axes = nominal.drives.axes.clone();
    Ok(Box::new(move || {
        let counts = shafts();
        let joint = |axis: &AxisConfig| {
            let counts =
                counts.iter().find(|(node, _)| *node == axis.node).map_or(0.0, |(_, counts)| *counts);
            axis.home + counts / axis.counts_per_unit
        };
        let joints: Vec<f64> = axes.iter().map(joint).collect();
        Some(table.forward(&joints).translation.vector.into())
    }))
}

#[cfg(test)]
mod tests {
    use dragoman_arm::driver::ControlMode;

    use super::*;

    fn wanted<'a>(group: &'a GroupConfig, control_mode: &str, payload: &[f64]) -> BusSettings<'a> {
        BusSettings {
            group,
            can: String::new(),
            control_mode: control_mode.to_owned(),
            bandwidth: 15.0,
            velocity_limit: 0.0,
            dynamics: true,
            payload: payload.to_vec(),
        }
    }

    #[test]
    fn what_drives_cannot_carry_is_refused_with_the_reason() {
        let RobotDescription { model, urdf, drives, .. } = robot::load("ranger_mk1").unwrap();
        let carried = Carried { model: model.clone(), urdf, file: String::new() };
        let load = |group: &GroupConfig, payload: &[f64]| carried.load(&wanted(group, "position", payload));
        assert!(load(&drives, &[1.0, 0.0, 0.0, 0.05]).unwrap().is_some());
        let refused = |group: &GroupConfig, payload: &[f64]| load(group, payload).err().unwrap();
        assert_eq!(refused(&drives, &[1.0, 0.0]), "simulated_payload needs four numbers, not 2");
        let (model_of_file, urdf) = (model.clone(), carried.urdf.clone());
        let of_file = Carried { model: model_of_file, urdf, file: "lift.urdf".to_owned() };
        let error = of_file.load(&wanted(&drives, "position", &[-1.0, 0.0, 0.0, 0.0])).err().unwrap();
        assert!(error.starts_with("simulated_dynamics, lift.urdf: "), "{error}");
        assert_eq!(
            refused(&drives, &[-1.0, 0.0, 0.0, 0.0]),
            "simulated_dynamics: payload: the mass is -1 kg"
        );
        assert!(refused(&drives, &[f64::NAN, 0.0, 0.0, 0.0]).contains("finite"));
        let mut other = drives.clone();
        other.axes[2].kind = DriveKind::Cia402;
        assert!(refused(&other, &[0.0; 4]).contains("SimplIQ drive in each joint"));
        let without_masses = Carried { model, urdf: String::new(), file: String::new() };
        let error = without_masses.load(&wanted(&drives, "position", &[0.0; 4])).err().unwrap();
        assert!(error.contains("needs a URDF"), "{error}");
        let error = without_masses.controller(&wanted(&drives, "adaptive", &[0.0; 4])).err().unwrap();
        assert!(error.starts_with("adaptive: a Denavit-Hartenberg table"), "{error}");
    }

    #[test]
    fn modes_at_the_host_have_a_controller() {
        let RobotDescription { model, urdf, drives, .. } = robot::load("ranger_mk1").unwrap();
        let carried = Carried { model, urdf, file: String::new() };
        for (mode, has_one) in [
            ("position", false),
            ("velocity", false),
            ("torque", false),
            ("computed_torque", true),
            ("adaptive", true),
        ] {
            let found = carried.controller(&wanted(&drives, mode, &[0.0; 4])).unwrap();
            assert_eq!(found.is_some(), has_one, "{mode}");
        }
        // CiA 402 drives take positions only: the configuration says so, before anything is opened.
        let mut cia402 = drives.clone();
        cia402.axes.iter_mut().for_each(|axis| axis.kind = DriveKind::Cia402);
        cia402.check().unwrap();
        cia402.mode = ControlMode::Host;
        let error = cia402.check().unwrap_err().to_string();
        assert_eq!(error, "joint 0: only SimplIQ drives take velocities and currents");
        let fast = BusSettings { bandwidth: 50.0, ..wanted(&drives, "adaptive", &[0.0; 4]) };
        assert!(carried.controller(&fast).err().unwrap().contains("at most 19.8"));
    }
}
