//! Ranger Mark I on simulated drives with its masses, on virtual time: the circles of its thesis (4.5).

use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use canopen_rs::NodeId;
use dragoman_arm::driver::{AxisConfig, ControlMode, Controller, Group, GroupConfig, GroupState};
use dragoman_io::can::{Bus, InProcessBus};
use dragoman_kinematics::control::{Law, Method, law};
use dragoman_kinematics::dynamics::Inertia;
use dragoman_kinematics::evaluation::Path;
use dragoman_kinematics::{IkOptions, Model, Robot};
use dragoman_sim::whistle::Simpliq;
use dragoman_sim::{ArmJoint, ArmLoad, AxisSettings, Rack, Whistle, WhistleSettings};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use std::sync::{Arc, Mutex};

const URDF: &str = include_str!("../../../../urdf/ranger_mk1.urdf");
/// As in `launch/config/robots/ranger_mk1.yaml`.
const COUNTS_PER_REVOLUTION: [f64; 6] = [817_741.0, 817_741.0, -414_246.0, 414_246.0, -414_246.0, 414_246.0];
const TORQUE_PER_AMPERE: [f64; 6] = [12.0, 12.0, 8.0, 4.0, 4.0, 2.0];
const ROTOR_INERTIA: [f64; 6] = [0.6, 0.6, 0.4, 0.2, 0.2, 0.1];
/// Close to the beginning of the circle, in the branch of the thesis.
const SEED: [f64; 6] = [-1.57, 1.32, 1.03, 0.0, 2.36, 0.0];
/// As the default of parameter `control_bandwidth`.
const BANDWIDTH: f64 = 15.0;

/// What follows the set-points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlledBy {
    /// The drives, each for itself.
    Drives,
    /// A controller at the host.
    Host(Method),
}

/// The arm, its drives and their driver.
pub(crate) struct Fixture {
    pub(crate) group: Group,
    pub(crate) rack: Rack<Simpliq>,
    pub(crate) now: Duration,
    /// Nothing passes between driver and drives.
    pub(crate) cut: bool,
    master: InProcessBus,
    place: InProcessBus,
    robot: Robot,
    home: Vec<f64>,
    law: Arc<Mutex<Box<dyn Law>>>,
}

/// A point of the thesis' circle round the centre of its sinusoids: nearer to the arm, which can hold the payload there.
fn at(phase: f64) -> Point3<f64> {
    let nearer = Point3::from(Path::CENTER) - Point3::from(Path::CIRCLE_CENTER);
    Path::Circle { period: 1.0 }.at(phase) + nearer
}

impl Fixture {
    /// Switched on at the beginning of the circle, with a payload that the controller does not know. `sample_ratio` is
    /// the period of the set-points in position loops.
    pub(crate) fn enabled(who: ControlledBy, payload: &Inertia, sample_ratio: u16) -> Self {
        Self::with_bandwidth(who, payload, sample_ratio, BANDWIDTH)
    }

    /// The same with another bandwidth of the controller, rad/s.
    pub(crate) fn with_bandwidth(
        who: ControlledBy,
        payload: &Inertia,
        sample_ratio: u16,
        bandwidth: f64,
    ) -> Self {
        let robot = Robot::new(&Model::from_urdf(URDF, None, Some("tool0")).unwrap()).unwrap();
        let mut home = SEED.to_vec();
        robot.inverse(&pose(at(0.0)), &SEED, &IkOptions::default(), &mut home).unwrap();
        let axes = (0..6).map(|joint| AxisConfig {
            max_velocity: 2.5,
            torque_per_ampere: TORQUE_PER_AMPERE[joint],
            rotor_inertia: ROTOR_INERTIA[joint],
            ..AxisConfig::whistle(101 + joint as u8, COUNTS_PER_REVOLUTION[joint], home[joint])
        });
        let mode = if who == ControlledBy::Drives { ControlMode::Position } else { ControlMode::Host };
        let config = GroupConfig { axes: axes.collect(), sample_ratio, mode, ..GroupConfig::default() };
        let joints = config.axes.iter().map(|axis| ArmJoint {
            node: axis.node,
            counts_per_unit: axis.counts_per_unit,
            home: axis.home,
            torque_per_ampere: axis.torque_per_ampere,
            rotor_inertia: axis.rotor_inertia,
        });
        let arm = ArmLoad::new(URDF, None, Some("tool0"), payload, joints.collect()).unwrap();
        let drives = config.axes.iter().enumerate().map(|(joint, axis)| {
            let motor = AxisSettings {
                velocity_limit: 3.0 * axis.max_velocity * axis.counts_per_unit.abs(),
                current_limit: axis.max_current,
                inertia: arm.tuned_inertia(joint).unwrap(),
                heating: 0.2,
                position_limits: [-1.5, 1.5].map(|limit| limit * axis.counts_per_unit.abs()),
                ..AxisSettings::default()
            };
            let settings = WhistleSettings { axis: motor, ..WhistleSettings::default() };
            Whistle::new(NodeId::new(axis.node).unwrap(), settings)
        });
        let rack = Rack::new(drives.collect()).with_arm(arm);
        let method = if let ControlledBy::Host(method) = who { method } else { Method::ComputedTorque };
        let law = law(URDF, None, Some("tool0"), &ROTOR_INERTIA, method, bandwidth).unwrap();
        let law = Arc::new(Mutex::new(law));
        let again = Arc::clone(&law);
        let controller = Controller::new(move |step, torques| {
            let mut law = again.lock().unwrap();
            law.torques(step.position, step.velocity, step.target, step.period, torques);
        });
        let now = Duration::from_secs(1);
        let mut group = Group::new(now, config).unwrap();
        group.set_controller(controller);
        let master = InProcessBus::new();
        let place = master.another();
        let mut fixture = Self { group, rack, now, cut: false, master, place, robot, home, law };
        fixture.until(GroupState::Disabled);
        fixture.group.enable().unwrap();
        fixture.until(GroupState::Enabled);
        fixture
    }

    /// Another controller in the same place.
    pub(crate) fn replace(&mut self, controller: Controller) {
        self.group.set_controller(controller);
    }

    pub(crate) fn until(&mut self, state: GroupState) {
        let end = self.now + Duration::from_secs(5);
        while self.group.state() != state {
            assert!(self.now < end, "{:?} {:?}", self.group.state(), self.group.fault());
            self.run(0.002);
        }
    }

    /// Runs for `seconds`.
    pub(crate) fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.now = (self.now + Duration::from_micros(360)).min(end);
            self.rack.step(self.now, &mut self.place);
            while let Some(received) = self.master.receive() {
                if !self.cut {
                    self.group.handle_received(self.now, &received);
                }
            }
            self.group.handle_timeout(self.now);
            while let Some(frame) = self.group.poll_transmit().copied() {
                self.group.handle_sent();
                if !self.cut {
                    self.master.send(&frame).unwrap();
                }
            }
        }
    }

    /// Where the shafts are, rad.
    pub(crate) fn joints(&self) -> Vec<f64> {
        let drives = self.rack.drives();
        let axes = &self.group.config().axes;
        drives
            .iter()
            .zip(axes)
            .map(|(drive, axis)| axis.home + drive.shaft_counts() / axis.counts_per_unit)
            .collect()
    }

    pub(crate) fn home(&self) -> &[f64] {
        &self.home
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.rack.drives().iter().any(Whistle::is_moving)
    }

    /// The mass that the controller assumes, kg.
    pub(crate) fn learned(&self) -> f64 {
        self.law.lock().unwrap().payload().mass
    }

    /// Goes round for `turns`; mean and maximum distance of the tool from its circle in the last turn, m. Paths are
    /// aligned in time as in the thesis, because the drives are `lead` behind.
    pub(crate) fn circle(&mut self, period: f64, turns: f64) -> [f64; 2] {
        let cycle = self.group.config().cycle().as_secs_f64();
        let duration = turns * period + 1.0;
        let ramp = |time: f64| time * time * time * (1.0 - time / 2.0);
        let options =
            IkOptions { position_tolerance: 1e-9, rotation_tolerance: 1e-9, ..IkOptions::default() };
        let mut q = self.home.clone();
        let (mut wanted, mut is) = (Vec::new(), Vec::new());
        for step in 0..((duration + 0.5) / cycle) as usize {
            let time = (step as f64 * cycle).min(duration);
            let rest = duration - time;
            let way = match time {
                _ if time < 1.0 => ramp(time),
                _ if rest < 1.0 => duration - 1.0 - ramp(rest),
                _ => time - 0.5,
            };
            let point = at(way / period);
            let before = q.clone();
            self.robot.track(&pose(point), &before, &options, &mut q).unwrap();
            self.group.command(self.now, None, &q).unwrap();
            self.run(cycle);
            wanted.push(point);
            is.push(Point3::from(self.robot.forward(&self.joints()).translation.vector));
        }
        let last = wanted.len() - (period / cycle) as usize;
        // Lags of tenths of a cycle.
        let errors = |lag: usize| {
            let part = (lag % 10) as f64 / 10.0;
            let pairs = is.iter().zip(&wanted).enumerate().skip(last).map(|(at, (is, _))| {
                // A shaft may also be ahead, by up to two cycles.
                let at = (at + 2 - lag / 10).min(wanted.len() - 1);
                let [later, earlier]: [Point3<f64>; 2] = [wanted[at], wanted[at - 1]];
                (is, later + part * (earlier - later))
            });
            let errors: Vec<f64> = pairs.map(|(is, wanted)| (is - wanted).norm()).collect();
            [errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().copied().fold(0.0, f64::max)]
        };
        let lags = (0..400).map(errors);
        lags.fold([f64::INFINITY; 2], |best, next| if next[0] < best[0] { next } else { best })
    }
}

fn pose(point: Point3<f64>) -> Isometry3<f64> {
    let attitude = UnitQuaternion::from_euler_angles(0.0, FRAC_PI_2, FRAC_PI_2);
    Isometry3::from_parts(Translation3::from(point.coords), attitude)
}

/// A payload that the drives can hold, kg in the hand.
pub(crate) fn payload() -> Inertia {
    Inertia::point(1.5, [0.0, 0.0, 0.05])
}
