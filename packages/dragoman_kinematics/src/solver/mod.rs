//! The compiled robot: forward, differential and inverse kinematics of a serial chain.
//!
//! Order of reading: [`Robot`] here; `chain` (forward kinematics, Jacobian), `goal` (pose error), `descent`
//! (Levenberg-Marquardt), `search` (restarts and tracking), `wrist` and `redundant` (closed forms), `velocity`, `manipulability`. `trig`
//! and `linear` are the arithmetic in which nalgebra was slower.

#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "loops of constant length over several arrays at once read like the formulas and unroll"
)]

mod chain;
mod descent;
mod goal;
mod linear;
mod manipulability;
mod options;
mod redundant;
mod search;
mod trig;
mod velocity;
mod wrist;

pub use manipulability::Manipulability;
pub use options::{
    FreeRotation, FreeRotationError, GoalMask, IkError, IkOptions, IkReport, SearchEnd, VelocityReport,
};

use crate::model::{Joint, JointKind, Link, MAX_JOINTS, Model, ModelError};
use chain::{Chain, Pass};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use search::SearchResult;
use std::fmt::Debug;
use std::sync::Arc;

/// A robot ready for computing. Cheap to clone; clones share the geometry.
///
/// Positions are radians or metres by joint, poses are those of the tool frame in the base frame.
#[derive(Debug, Clone)]
pub struct Robot {
    model: Arc<Model>,
    solver: Arc<dyn Solver>,
}

impl Robot {
    /// Compiles a model.
    ///
    /// # Errors
    /// [`ModelError::TooManyJoints`] or [`ModelError::NoJoints`].
    pub fn new(model: &Model) -> Result<Self, ModelError> {
        Ok(Self { model: Arc::new(model.clone()), solver: compile(model)? })
    }

    /// The model this robot was compiled from.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The joints from base to tip.
    pub fn joints(&self) -> &[Joint] {
        self.model.joints()
    }

    /// Number of joints.
    pub fn joint_count(&self) -> usize {
        self.model.joints().len()
    }

    /// Pose of the tool frame in the base frame.
    ///
    /// Never fails: where `q` is too short the missing positions count as zero, surplus ones are ignored.
    #[inline]
    pub fn forward(&self, q: &[f64]) -> Isometry3<f64> {
        self.solver.forward(q)
    }

    /// Frames of all links in the base frame: entry `i` moves with joint `i`, the last one, at index
    /// [`Robot::joint_count`], is the tool. Replaces the contents of `out`. A wrong length of `q` is treated as in
    /// [`Robot::forward`].
    pub fn link_frames(&self, q: &[f64], out: &mut Vec<Isometry3<f64>>) {
        out.clear();
        let mut frame = Isometry3::identity();
        let positions = q.iter().copied().chain(std::iter::repeat(0.0));
        for ((placement, joint), position) in self.model.placements().iter().zip(self.joints()).zip(positions)
        {
            frame *= placement.origin;
            match joint.kind {
                JointKind::Revolute => frame *= UnitQuaternion::from_axis_angle(&placement.axis, position),
                JointKind::Prismatic => frame *= Translation3::from(placement.axis.into_inner() * position),
            }
            out.push(frame);
        }
        out.push(frame * self.model.tool());
    }

    /// Pose in the base frame of one of the [`Model::links`] at positions `q`; a wrong length of `q` is treated as in
    /// [`Robot::forward`].
    pub fn link_pose(&self, link: &Link, q: &[f64]) -> Isometry3<f64> {
        let mut frames = Vec::with_capacity(self.joint_count() + 1);
        self.link_frames(q, &mut frames);
        match link.joints_below.checked_sub(1).and_then(|joint| frames.get(joint)) {
            Some(frame) => frame * link.offset,
            None => link.offset,
        }
    }

    /// The geometric Jacobian at the tool point, and the pose.
    ///
    /// `out` is 6 x N in column-major order: column `i` is the tool's velocity per unit velocity of joint `i`, rows
    /// vx, vy, vz (m/s), wx, wy, wz (rad/s), in the base frame. Columns that do not fit `out` whole are left out;
    /// a wrong length of `q` is treated as in [`Robot::forward`].
    #[inline]
    pub fn jacobian(&self, q: &[f64], out: &mut [f64]) -> Isometry3<f64> {
        self.solver.jacobian(q, out)
    }

    /// Finds joint positions, within the limits, that put the tool at `target`; looks in the whole joint space,
    /// first near `seed`.
    ///
    /// The answer goes to `out`. Turning joints come as near to the seed as full turns within their limits allow.
    /// The same question has the same answer; no allocation, no clock. A solution within 0.1 rad or m of the seed in
    /// every joint is preferred to all others. For six-joint arms with a spherical wrist the answer is that of the
    /// closed form that is nearest to the seed.
    ///
    /// # Errors
    /// [`IkError::NotConverged`], where `out` holds the best configuration found and the error its residuals and the
    /// reason for giving up; otherwise the input is invalid, and `out` untouched.
    pub fn inverse(
        &self,
        target: &Isometry3<f64>,
        seed: &[f64],
        options: &IkOptions,
        out: &mut [f64],
    ) -> Result<IkReport, IkError> {
        self.check(target, "seed", seed, options, out)?;
        self.solver.inverse(target, seed, options, out)
    }

    /// Follows a path: finds the joint positions for `target` on the branch of `previous`, no joint moving farther
    /// than [`IkOptions::max_joint_step`]. A redundant robot moves its joints as little as possible.
    ///
    /// A single descent, no allocation. If it fails, a few more from the neighbourhood follow. An arm that has lost its
    /// path by more than 2 mm, because a limit or an obstacle of its geometry blocked it, goes back by itself: a
    /// solution is searched as by [`Robot::inverse`], and `out` goes towards it by `max_joint_step`, until a later call
    /// arrives.
    ///
    /// # Errors
    /// As [`Robot::inverse`].
    pub fn track(
        &self,
        target: &Isometry3<f64>,
        previous: &[f64],
        options: &IkOptions,
        out: &mut [f64],
    ) -> Result<IkReport, IkError> {
        self.check(target, "previous", previous, options, out)?;
        self.solver.track(target, previous, options, out)
    }

    /// Joint velocities (rad/s or m/s) that give the tool the twist (vx, vy, vz, wx, wy, wz: m/s and rad/s, base
    /// frame, at the tool point), damped near singularities and scaled as a whole to the rate limits. A joint at a
    /// position limit does not move outwards.
    ///
    /// # Errors
    /// [`IkError::WrongLength`] and [`IkError::NotFinite`]; `out` is then untouched.
    pub fn inverse_velocity(
        &self,
        q: &[f64],
        twist: &[f64; 6],
        out: &mut [f64],
    ) -> Result<VelocityReport, IkError> {
        self.check_slices("q", q, out)?;
        if !twist.iter().all(|value| value.is_finite()) {
            return Err(IkError::NotFinite { name: "twist" });
        }
        Ok(self.solver.inverse_velocity(q, twist, out))
    }

    fn check(
        &self,
        target: &Isometry3<f64>,
        name: &'static str,
        q: &[f64],
        options: &IkOptions,
        out: &[f64],
    ) -> Result<(), IkError> {
        options.check()?;
        self.check_slices(name, q, out)?;
        let numbers = target.translation.vector.iter().chain(target.rotation.coords.iter());
        if !numbers.copied().all(f64::is_finite) {
            return Err(IkError::NotFinite { name: "target" });
        }
        let square = target.rotation.norm_squared();
        if !options::is_unit(square) {
            return Err(IkError::NotUnit { length: square.sqrt() });
        }
        Ok(())
    }

    fn check_slices(&self, name: &'static str, q: &[f64], out: &[f64]) -> Result<(), IkError> {
        let expected = self.joint_count();
        for (name, got) in [(name, q.len()), ("out", out.len())] {
            if got != expected {
                return Err(IkError::WrongLength { name, expected, got });
            }
        }
        if !q.iter().all(|value| value.is_finite()) {
            return Err(IkError::NotFinite { name });
        }
        Ok(())
    }
}

/// The operations of a chain whose size is no longer part of its type.
trait Solver: Debug + Send + Sync {
    fn forward(&self, q: &[f64]) -> Isometry3<f64>;
    fn jacobian(&self, q: &[f64], out: &mut [f64]) -> Isometry3<f64>;
    fn inverse(
        &self,
        target: &Isometry3<f64>,
        seed: &[f64],
        options: &IkOptions,
        out: &mut [f64],
    ) -> Result<IkReport, IkError>;
    fn track(
        &self,
        target: &Isometry3<f64>,
        previous: &[f64],
        options: &IkOptions,
        out: &mut [f64],
    ) -> Result<IkReport, IkError>;
    fn inverse_velocity(&self, q: &[f64], twist: &[f64; 6], out: &mut [f64]) -> VelocityReport;
}

impl<const N: usize> Solver for Chain<N> {
    fn forward(&self, q: &[f64]) -> Isometry3<f64> {
        let mut pass = Pass::EMPTY;
        self.pass(&array(q), &mut pass);
        pass.pose()
    }

    fn jacobian(&self, q: &[f64], out: &mut [f64]) -> Isometry3<f64> {
        let mut pass = Pass::EMPTY;
        self.pass(&array(q), &mut pass);
        Chain::jacobian(self, &mut pass);
        for (slot, column) in out.chunks_exact_mut(6).zip(&pass.columns) {
            slot.copy_from_slice(column);
        }
        pass.pose()
    }

    fn inverse(
        &self,
        target: &Isometry3<f64>,
        seed: &[f64],
        options: &IkOptions,
        out: &mut [f64],
    ) -> Result<IkReport, IkError> {
        deliver(self.search(target, &array(seed), options), out)
    }

    fn track(
        &self,
        target: &Isometry3<f64>,
        previous: &[f64],
        options: &IkOptions,
        out: &mut [f64],
    ) -> Result<IkReport, IkError> {
        deliver(self.follow(target, &array(previous), options), out)
    }

    fn inverse_velocity(&self, q: &[f64], twist: &[f64; 6], out: &mut [f64]) -> VelocityReport {
        let (rates, report) = self.rates(&array(q), twist);
        out.copy_from_slice(&rates);
        report
    }
}

/// The first `N` entries, zero where there are fewer.
#[inline(always)]
fn array<const N: usize>(slice: &[f64]) -> [f64; N] {
    match slice.first_chunk() {
        Some(entries) => *entries,
        None => {
            let mut entries = [0.0; N];
            for (entry, value) in entries.iter_mut().zip(slice) {
                *entry = *value;
            }
            entries
        }
    }
}

fn deliver<const N: usize>(answer: SearchResult<N>, out: &mut [f64]) -> Result<IkReport, IkError> {
    out.copy_from_slice(&answer.q);
    if answer.converged { Ok(answer.report) } else { Err(IkError::NotConverged(answer.report)) }
}

/// Picks the chain type by size, once.
fn compile(model: &Model) -> Result<Arc<dyn Solver>, ModelError> {
    macro_rules! by_size {
        ($($size:literal)*) => {
            match model.joints().len() {
                $($size => Chain::<$size>::compile(model).map(|chain| Arc::new(chain) as Arc<dyn Solver>),)*
                _ => None,
            }
        };
    }
    by_size!(1 2 3 4 5 6 7 8 9 10 11 12)
        .ok_or(ModelError::TooManyJoints { count: model.joints().len(), most: MAX_JOINTS })
}
