//! Configurations of a seven-joint arm that becomes one with a spherical wrist when one of its outer joints is held.
//!
//! With the first joint held, the rest may have a spherical wrist; with the last one held, the rest, seen from the
//! tool, may have a spherical shoulder in place of it. For each position of the held joint the others follow in closed
//! form.

use super::chain::{Chain, columns};
use super::wrist::{Branches, SphericalWrist};
use crate::model::{JointKind, Model, Placement};
use nalgebra::{Isometry3, UnitQuaternion};

/// Such an arm.
#[derive(Debug, Clone)]
pub(super) struct Redundant {
    rest: SphericalWrist,
    /// Whether the last joint is held, not the first.
    holds_last: bool,
    held: Placement,
    /// Limits of the held joint, rad.
    range: [f64; 2],
    tool: Isometry3<f64>,
}

impl Redundant {
    pub(super) fn of(model: &Model) -> Option<Self> {
        let (placements, joints) = (model.placements(), model.joints());
        let with = |part: Option<Model>, index: usize, holds_last| {
            let rest = SphericalWrist::of(&Chain::<6>::compile(&part?)?)?;
            let (held, joint) = (placements.get(index)?.clone(), joints.get(index)?);
            let range = [joint.lower, joint.upper];
            let is_limited = joint.kind == JointKind::Revolute && range.iter().all(|limit| limit.is_finite());
            is_limited.then(|| Self { rest, holds_last, held, range, tool: *model.tool() })
        };
        if joints.len() != 7 {
            return None;
        }
        with(model.without_first(), 0, false).or_else(|| with(model.reversed_without_last(), 6, true))
    }

    /// The position of the held joint in a configuration.
    pub(super) fn held_position(&self, q: &[f64; 7]) -> f64 {
        if self.holds_last { q[6] } else { q[0] }
    }

    pub(super) fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Configurations of the other joints at position `q` of the held one, for a tool pose; `seed` and `margin` as in
    /// [`SphericalWrist::branches`]. [`Redundant::complete`] puts them together.
    pub(super) fn branches(
        &self,
        target: &Isometry3<f64>,
        held: f64,
        seed: &[f64; 7],
        margin: f64,
    ) -> Branches {
        let turn = UnitQuaternion::from_axis_angle(&self.held.axis, held);
        let moved = self.held.origin * turn;
        let pose =
            if self.holds_last { moved * self.tool * target.inverse() } else { moved.inverse() * target };
        let rotation = columns(pose.rotation.to_rotation_matrix().matrix());
        self.rest.branches(&rotation, &pose.translation.vector, &self.rest_of(seed), margin)
    }

    /// The joints other than the held one, in the order of the closed form.
    pub(super) fn rest_of(&self, q: &[f64; 7]) -> [f64; 6] {
        let [a, b, c, d, e, f, g] = *q;
        if self.holds_last { [f, e, d, c, b, a] } else { [b, c, d, e, f, g] }
    }

    /// The whole configuration.
    pub(super) fn complete(&self, held: f64, rest: &[f64; 6]) -> [f64; 7] {
        let [a, b, c, d, e, f] = *rest;
        if self.holds_last { [f, e, d, c, b, a, held] } else { [held, a, b, c, d, e, f] }
    }
}
