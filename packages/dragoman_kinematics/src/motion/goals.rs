//! Goals and via points.

use nalgebra::Isometry3;

use super::via_points::{ViaPoint, ViaPoints};

#[derive(Clone, Debug, Default)]
pub(super) struct Goals {
    pub(super) pose: Option<ViaPoint<Isometry3<f64>>>,
    pub(super) joints: Option<ViaPoint<Vec<f64>>>,
    pub(super) via: ViaPoints<Isometry3<f64>>,
    pub(super) joint_via: ViaPoints<Vec<f64>>,
}

impl Goals {
    /// The via point to which the running sequence moves.
    pub(super) fn via_point(&self) -> Option<usize> {
        self.via.current().or(self.joint_via.current())
    }

    pub(super) fn halt(&mut self) {
        self.via.halt();
        self.joint_via.halt();
    }
}
