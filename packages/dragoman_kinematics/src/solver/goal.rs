//! The error between a pose and its target, and its weights.

use super::chain::{Chain, Pass, columns, quaternion};
use super::options::{GoalMask, IkOptions};
use super::vector::{Vec3, cross, dot, norm, scale, sub};
use nalgebra::Isometry3;
use std::f64::consts::PI;

/// A target pose with tolerances and weights.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    rotation: [Vec3; 3],
    position: Vec3,
    pub(super) mask: GoalMask,
    /// Whether all six coordinates count, which avoids rotating the Jacobian.
    pub(super) full: bool,
    pub(super) rotation_weight: f64,
    pub(super) position_tolerance: f64,
    pub(super) rotation_tolerance: f64,
}

/// Error of one configuration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Residual {
    /// Weighted rows: remaining translation, m, and rotation, rad times weight.
    pub(super) rows: [f64; 6],
    /// Half the squared norm of the rows.
    pub(super) cost: f64,
    pub(super) position_error: f64,
    pub(super) rotation_error: f64,
}

impl Goal {
    pub(super) fn new(target: &Isometry3<f64>, options: &IkOptions) -> Self {
        let t = &target.translation;
        Self {
            rotation: columns(target),
            position: [t.x, t.y, t.z],
            mask: options.mask,
            full: options.mask == GoalMask::POSE,
            rotation_weight: options.rotation_weight,
            position_tolerance: options.position_tolerance,
            rotation_tolerance: options.rotation_tolerance,
        }
    }

    /// Distance of the target from the base origin, m.
    pub(super) fn distance(&self) -> f64 {
        norm(&self.position)
    }

    #[inline(always)]
    pub(super) fn is_met(&self, residual: &Residual) -> bool {
        residual.position_error <= self.position_tolerance
            && residual.rotation_error <= self.rotation_tolerance
    }

    /// Error of a pose. Position rows are in the base frame; rotation rows in the base frame for a full goal and
    /// in the tool frame for a masked one.
    #[inline(always)]
    pub(super) fn residual<const N: usize, const FULL: bool>(&self, pass: &Pass<N>) -> Residual {
        let mut position = sub(&self.position, &pass.position);
        let rotation = if FULL {
            self.rotation_vector(&pass.rotation)
        } else {
            for (component, counts) in position.iter_mut().zip(self.mask.position) {
                *component = if counts { *component } else { 0.0 };
            }
            self.masked_rotation(&pass.rotation)
        };
        let weighted = scale(&rotation, self.rotation_weight);
        let position_squared = dot(&position, &position);
        let rotation_squared = dot(&rotation, &rotation);
        Residual {
            rows: [position[0], position[1], position[2], weighted[0], weighted[1], weighted[2]],
            cost: 0.5 * (position_squared + dot(&weighted, &weighted)),
            position_error: position_squared.sqrt(),
            rotation_error: rotation_squared.sqrt(),
        }
    }

    /// Converts the columns of a fresh pass to those of the Jacobian of [`Goal::residual`], with the same weights.
    #[inline(always)]
    pub(super) fn jacobian<const N: usize, const FULL: bool>(&self, chain: &Chain<N>, pass: &mut Pass<N>) {
        chain.jacobian(pass);
        // The directions about which a rotation reduces the rotation rows to zero.
        let mut axes = pass.rotation;
        if !FULL && let Some(k) = self.only_rotation() {
            axes[k] = self.twist(k, &pass.rotation).1;
        }
        for column in &mut pass.columns {
            if FULL {
                for row in &mut column[3..] {
                    *row *= self.rotation_weight;
                }
            } else {
                let angular = [column[3], column[4], column[5]];
                for k in 0..3 {
                    column[k] = if self.mask.position[k] { column[k] } else { 0.0 };
                    let about = dot(&axes[k], &angular) * self.rotation_weight;
                    column[3 + k] = if self.mask.rotation[k] { about } else { 0.0 };
                }
            }
        }
    }

    /// Rotation vector (axis times angle, base frame) that turns `current` into the target.
    #[inline(always)]
    fn rotation_vector(&self, current: &[Vec3; 3]) -> Vec3 {
        // The antisymmetric part of target times current transposed, 2 sin(angle) times the axis.
        let [x, y, z] = &self.rotation;
        let a = cross(&current[0], x);
        let b = cross(&current[1], y);
        let c = cross(&current[2], z);
        let double_sine = [a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]];
        let trace = dot(&current[0], x) + dot(&current[1], y) + dot(&current[2], z);
        let sine_squared = 0.25 * dot(&double_sine, &double_sine);
        if trace > 2.98 {
            // Series of angle / sin(angle); its next term is below 1e-11 here.
            let s = sine_squared;
            return scale(
                &double_sine,
                0.5 + s * (1.0 / 12.0 + s * (3.0 / 80.0 + s * (5.0 / 224.0 + s * 35.0 / 2304.0))),
            );
        }
        let sine = sine_squared.sqrt();
        let cosine = 0.5 * (trace - 1.0);
        if sine > 1e-5 {
            return scale(&double_sine, 0.5 * sine.atan2(cosine) / sine);
        }
        self.half_turn(current)
    }

    /// Rotation vector for an angle near pi, where the antisymmetric part vanishes: from the symmetric part.
    #[cold]
    fn half_turn(&self, current: &[Vec3; 3]) -> Vec3 {
        let mut symmetric = [[0.0; 3]; 3];
        for (i, row) in symmetric.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                for (target, column) in self.rotation.iter().zip(current) {
                    *entry += 0.5 * (target[i] * column[j] + target[j] * column[i]);
                }
            }
            row[i] += 1.0;
        }
        let longest =
            symmetric.iter().copied().fold([0.0; 3], |a, b| if dot(&b, &b) > dot(&a, &a) { b } else { a });
        let length = norm(&longest);
        if length > 0.0 { scale(&longest, PI / length) } else { [PI, 0.0, 0.0] }
    }

    /// Remaining rotation about the masked axes, in the tool frame.
    fn masked_rotation(&self, current: &[Vec3; 3]) -> Vec3 {
        let mut rows = [0.0; 3];
        if let Some(k) = self.only_rotation() {
            rows[k] = self.twist(k, current).0;
            return rows;
        }
        let mut free = (0..3).filter(|k| !self.mask.rotation[*k]);
        let base = match (free.next(), free.next()) {
            (Some(k), None) => pointing(&current[k], &self.rotation[k], &current[(k + 1) % 3]),
            (None, _) => self.rotation_vector(current),
            _ => return rows,
        };
        for k in 0..3 {
            rows[k] = if self.mask.rotation[k] { dot(&current[k], &base) } else { 0.0 };
        }
        rows
    }

    /// The axis of the tool frame about which rotation counts, if there is only one.
    fn only_rotation(&self) -> Option<usize> {
        match self.mask.rotation {
            [true, false, false] => Some(0),
            [false, true, false] => Some(1),
            [false, false, true] => Some(2),
            _ => None,
        }
    }

    /// For a goal whose tool axis `k` may tilt at will: the turn about it that is left of the rotation from `current`
    /// to the target once its tilt is taken out, within -pi and pi, and the direction (base frame) about which turning
    /// the tool reduces it fastest.
    ///
    /// With the rotation as a quaternion (w, v) in the tool frame the turn is `2 atan2(v_k, w)` (swing-twist
    /// decomposition); the direction is its gradient, where `w' = v . omega / 2` and `v' = (v x omega - w omega) / 2`
    /// for a tool that turns with `omega`.
    fn twist(&self, k: usize, current: &[Vec3; 3]) -> (f64, Vec3) {
        let between = [0, 1, 2].map(|column| [0, 1, 2].map(|row| dot(&current[row], &self.rotation[column])));
        let [x, y, z] = &between;
        let q = quaternion(x, y, z);
        // Of q and -q the one with w >= 0 has the turn within -pi and pi.
        let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
        let (w, v) = (sign * q.w, [sign * q.i, sign * q.j, sign * q.k]);
        let (l, m) = ((k + 1) % 3, (k + 2) % 3);
        // Zero where the axis points backwards: the turn is undefined there, and the tilt must change first.
        let share = (w * w + v[k] * v[k]).max(1e-6);
        let (along_l, along_m) = ((w * v[m] + v[k] * v[l]) / share, (v[k] * v[m] - w * v[l]) / share);
        let mut direction = current[k];
        for (i, component) in direction.iter_mut().enumerate() {
            *component += along_l * current[l][i] + along_m * current[m][i];
        }
        (2.0 * v[k].atan2(w), direction)
    }
}

/// The shortest rotation vector that takes direction `from` to direction `to`; `aside` is any direction
/// perpendicular to `from`, used where the two oppose each other.
fn pointing(from: &Vec3, to: &Vec3, aside: &Vec3) -> Vec3 {
    let axis = cross(from, to);
    let sine = norm(&axis);
    let cosine = dot(from, to);
    if sine > 1e-9 {
        scale(&axis, sine.atan2(cosine) / sine)
    } else if cosine > 0.0 {
        axis
    } else {
        scale(aside, PI)
    }
}
