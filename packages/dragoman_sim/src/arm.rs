//! An arm as the load of several drives: its mass matrix, gravity and friction couple their shafts.

use std::time::Duration;

use dragoman_arm::simpliq::POSITION_LOOP;
use dragoman_kinematics::dynamics::{Dynamics, DynamicsError, Inertia};
use nalgebra::SVector;

use crate::axis::{Drive, tick_at, time_of};
use crate::device::{Application, Device};

/// Position loops between two steps of the arm.
const LOOPS: u64 = 3;

/// One joint and its drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmJoint {
    /// Node number of the drive.
    pub node: u8,
    /// Counts per rad or m; negative where the drive counts the other way.
    pub counts_per_unit: f64,
    /// Position at the start, rad or m.
    pub home: f64,
    /// Torque of the joint per current of the motor, N m/A or N/A. Positive current moves the joint in the direction in
    /// which the drive counts.
    pub torque_per_ampere: f64,
    /// Inertia of the motor's rotor as seen by the joint, kg m^2 or kg.
    pub rotor_inertia: f64,
}

/// An arm that cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArmError {
    /// The description has no usable dynamics.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// Too many joints, or none.
    #[error("the dynamics of arms with 1 to 8 joints are simulated; this one has {0}")]
    Joints(usize),
}

/// An arm on the shafts of its drives.
pub struct ArmLoad {
    joints: Vec<ArmJoint>,
    chain: Box<dyn Chain>,
    tick: u64,
    states: Vec<JointMotion>,
}

/// A joint between two steps.
#[derive(Debug, Clone, Copy)]
struct JointMotion {
    /// rad or m.
    position: f64,
    /// Per second.
    velocity: f64,
    /// Torque of the motor.
    torque: f64,
    /// The velocity that the brake leaves.
    braked: Option<f64>,
}

/// Dynamics of an arm with any number of joints.
trait Chain: Send {
    /// Moves the joints by `dt` seconds.
    fn advance(&self, joints: &mut [JointMotion], dt: f64) -> Result<(), DynamicsError>;
    /// Inertia that a joint moves at positions, with the others at rest.
    fn inertia(&self, positions: &[f64], joint: usize) -> f64;
}

impl<const N: usize> Chain for Dynamics<N> {
    fn advance(&self, joints: &mut [JointMotion], dt: f64) -> Result<(), DynamicsError> {
        let all = |of: fn(&JointMotion) -> f64| SVector::<f64, N>::from_iterator(joints.iter().map(of));
        let (q, v) = (all(|joint| joint.position), all(|joint| joint.velocity));
        let torques = all(|joint| joint.torque);
        let mut given = [None; N];
        given.iter_mut().zip(joints.iter()).for_each(|(given, joint)| *given = joint.braked);
        let (q, v) = self.step(&q, &v, &torques, &given, dt)?;
        for (joint, (position, velocity)) in joints.iter_mut().zip(q.iter().zip(v.iter())) {
            (joint.position, joint.velocity) = (*position, *velocity);
        }
        Ok(())
    }

    fn inertia(&self, positions: &[f64], joint: usize) -> f64 {
        let q = SVector::<f64, N>::from_fn(|index, _| positions.get(index).copied().unwrap_or(0.0));
        self.mass_matrix(&q).diagonal().get(joint).copied().unwrap_or(0.0)
    }
}

impl ArmLoad {
    /// The arm of a URDF from `base` to `tip` that carries a payload (tool frame), at home with its brakes engaged.
    ///
    /// # Errors
    /// [`ArmError`].
    pub fn new(
        xml: &str,
        base: Option<&str>,
        tip: Option<&str>,
        payload: &Inertia,
        joints: Vec<ArmJoint>,
    ) -> Result<Self, ArmError> {
        macro_rules! with_joints {
            ($($count:literal)*) => {
                match joints.len() {
                    $($count => chain::<$count>(xml, base, tip, payload, &joints)?,)*
                    other => return Err(ArmError::Joints(other)),
                }
            };
        }
        let chain = with_joints!(1 2 3 4 5 6 7 8);
        let at_home = |joint: &ArmJoint| JointMotion {
            position: joint.home,
            velocity: 0.0,
            torque: 0.0,
            braked: Some(0.0),
        };
        Ok(Self { states: joints.iter().map(at_home).collect(), joints, chain, tick: 0 })
    }

    /// Current per acceleration that a drive's position loop is tuned for: that of its joint at home, A per count/s^2.
    pub fn tuned_inertia(&self, joint: usize) -> Option<f64> {
        let ArmJoint { counts_per_unit, torque_per_ampere, .. } = self.joints.get(joint)?;
        let home: Vec<f64> = self.joints.iter().map(|joint| joint.home).collect();
        Some(self.chain.inertia(&home, joint) / (torque_per_ampere * counts_per_unit.abs()))
    }

    /// Hangs the arm on the drives.
    pub(crate) fn attach<A: Application>(&self, drives: &mut [Device<A>]) {
        for joint in &self.joints {
            if let Some(drive) = of_node(drives, joint.node) {
                drive.application.axis_mut().attach_load();
            }
        }
    }

    /// Advances the drives and the arm to `now`, loop by loop.
    pub(crate) fn advance<A: Application>(&mut self, drives: &mut [Device<A>], now: Duration) {
        let last = tick_at(now);
        while self.tick < last {
            if drives.iter().all(|drive| drive.application.axis().is_at_rest()) {
                self.tick = last;
                break;
            }
            self.tick += 1;
            let time = time_of(self.tick);
            drives.iter_mut().for_each(|drive| drive.handle_timeout(time));
            if self.tick.is_multiple_of(LOOPS) {
                self.step(drives);
            }
        }
        drives.iter_mut().for_each(|drive| drive.handle_timeout(now));
    }

    fn step<A: Application>(&mut self, drives: &mut [Device<A>]) {
        for (joint, state) in self.joints.iter().zip(&mut self.states) {
            let Some(drive) = of_node(drives, joint.node) else { continue };
            let axis = drive.application.axis();
            match axis.drive() {
                Drive::Current(current) => {
                    state.torque = current * joint.torque_per_ampere * joint.counts_per_unit.signum();
                    state.braked = None;
                }
                Drive::Brake(velocity) => {
                    state.position = joint.home + axis.shaft_position() / joint.counts_per_unit;
                    state.velocity = velocity / joint.counts_per_unit;
                    state.braked = Some(state.velocity);
                }
            }
        }
        // A massless joint does not move.
        if let Err(error) = self.chain.advance(&mut self.states, LOOPS as f64 * POSITION_LOOP.as_secs_f64()) {
            debug_assert!(false, "{error}");
            return;
        }
        for (joint, state) in self.joints.iter().zip(&self.states) {
            if let Some(drive) = of_node(drives, joint.node) {
                drive.application.axis_mut().load_moved(
                    (state.position - joint.home) * joint.counts_per_unit,
                    state.velocity * joint.counts_per_unit,
                );
            }
        }
    }
}

fn chain<const N: usize>(
    xml: &str,
    base: Option<&str>,
    tip: Option<&str>,
    payload: &Inertia,
    joints: &[ArmJoint],
) -> Result<Box<dyn Chain>, ArmError> {
    let mut rotors = [0.0; N];
    rotors.iter_mut().zip(joints).for_each(|(rotor, joint)| *rotor = joint.rotor_inertia);
    let payload = payload.checked("payload")?;
    let dynamics = Dynamics::<N>::from_urdf(xml, base, tip)?.with_rotors(rotors).with_payload(&payload);
    // A massless joint is found now, not in motion.
    let zero = SVector::zeros();
    dynamics.forward(&zero, &zero, &zero)?;
    Ok(Box::new(dynamics))
}

fn of_node<A: Application>(drives: &mut [Device<A>], node: u8) -> Option<&mut Device<A>> {
    drives.iter_mut().find(|drive| drive.node().raw() == node)
}
