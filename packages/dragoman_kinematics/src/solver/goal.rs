//! The error between a pose and its target, and its weights.

use super::chain::{Chain, Pass, Vec3, columns, quaternion};
use super::options::{FreeRotation, GoalMask, IkOptions};
use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};
use std::f64::consts::PI;

/// A target pose with tolerances and weights.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    /// The tool pose.
    pub(super) target: Isometry3<f64>,
    /// Orientation: the axes of the tool or, for a masked goal, those of `frame`.
    pub(super) rotation: [Vec3; 3],
    pub(super) position: Vec3,
    /// Coordinates of the position that count, base frame.
    pub(super) position_counts: [bool; 3],
    /// Rotations that count, about the axes of `frame`.
    rotation_counts: [bool; 3],
    /// Columns, in the tool frame, of a frame whose z axis is that of the mask.
    frame: [Vec3; 3],
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
        let GoalMask { position, free } = options.mask;
        let mut orientation = target.rotation;
        orientation.renormalize_fast();
        let (rotation_counts, axis) = match free {
            FreeRotation::None => ([true; 3], None),
            FreeRotation::About(axis) => ([true, true, false], Some(axis)),
            FreeRotation::Tilt(axis) => ([false, false, true], Some(axis)),
            FreeRotation::All => ([false; 3], None),
        };
        let (rotation, frame) = match axis.map(|axis| z_to(&axis)) {
            None => (orientation, [Vec3::x(), Vec3::y(), Vec3::z()]),
            Some(to_axis) => (orientation * to_axis, columns(to_axis.to_rotation_matrix().matrix())),
        };
        Self {
            target: Isometry3::from_parts(target.translation, orientation),
            rotation: columns(rotation.to_rotation_matrix().matrix()),
            position: target.translation.vector,
            position_counts: position,
            rotation_counts,
            frame,
            full: position == [true; 3] && free == FreeRotation::None,
            rotation_weight: options.rotation_weight,
            position_tolerance: options.position_tolerance,
            rotation_tolerance: options.rotation_tolerance,
        }
    }

    /// Distance of the target from the base origin, m.
    pub(super) fn distance(&self) -> f64 {
        self.position.norm()
    }

    #[inline(always)]
    pub(super) fn is_met(&self, residual: &Residual) -> bool {
        residual.position_error <= self.position_tolerance
            && residual.rotation_error <= self.rotation_tolerance
    }

    /// Error of a pose. Position rows are in the base frame; rotation rows in the base frame for a full goal and
    /// about the axes of `frame` for a masked one.
    #[inline(always)]
    pub(super) fn residual<const N: usize, const FULL: bool>(&self, pass: &Pass<N>) -> Residual {
        let mut position = self.position - pass.position;
        let rotation = if FULL {
            self.rotation_vector(&pass.rotation)
        } else {
            for (component, counts) in position.iter_mut().zip(self.position_counts) {
                *component = if counts { *component } else { 0.0 };
            }
            self.masked_rotation(&self.axes(&pass.rotation))
        };
        let weighted = rotation * self.rotation_weight;
        Residual {
            rows: [position[0], position[1], position[2], weighted[0], weighted[1], weighted[2]],
            cost: 0.5 * (position.norm_squared() + weighted.norm_squared()),
            position_error: position.norm(),
            rotation_error: rotation.norm(),
        }
    }

    /// Converts the columns of a fresh pass to those of the Jacobian of [`Goal::residual`], with the same weights.
    #[inline(always)]
    pub(super) fn jacobian<const N: usize, const FULL: bool>(&self, chain: &Chain<N>, pass: &mut Pass<N>) {
        chain.jacobian(pass);
        // The directions about which a rotation reduces the rotation rows to zero.
        let mut axes = if FULL { pass.rotation } else { self.axes(&pass.rotation) };
        if !FULL && self.only_turn() {
            axes[2] = self.turn(&axes).1;
        }
        for column in &mut pass.columns {
            if FULL {
                for row in &mut column[3..] {
                    *row *= self.rotation_weight;
                }
            } else {
                let angular = Vec3::new(column[3], column[4], column[5]);
                for k in 0..3 {
                    column[k] = if self.position_counts[k] { column[k] } else { 0.0 };
                    let about = axes[k].dot(&angular) * self.rotation_weight;
                    column[3 + k] = if self.rotation_counts[k] { about } else { 0.0 };
                }
            }
        }
    }

    /// Rotation vector (axis times angle, base frame) that turns `current` into the target.
    #[inline(always)]
    fn rotation_vector(&self, current: &[Vec3; 3]) -> Vec3 {
        // The antisymmetric part of target times current transposed, 2 sin(angle) times the axis.
        let [x, y, z] = &self.rotation;
        let double_sine = current[0].cross(x) + current[1].cross(y) + current[2].cross(z);
        let trace = current[0].dot(x) + current[1].dot(y) + current[2].dot(z);
        let sine_squared = 0.25 * double_sine.norm_squared();
        if trace > 2.98 {
            // Series of angle / sin(angle); its next term is below 1e-11 here.
            let s = sine_squared;
            return double_sine
                * (0.5 + s * (1.0 / 12.0 + s * (3.0 / 80.0 + s * (5.0 / 224.0 + s * 35.0 / 2304.0))));
        }
        let sine = sine_squared.sqrt();
        let cosine = 0.5 * (trace - 1.0);
        if sine > 1e-5 {
            return double_sine * (0.5 * sine.atan2(cosine) / sine);
        }
        self.half_turn(current)
    }

    /// Rotation vector for an angle near pi, where the antisymmetric part vanishes: from the symmetric part.
    #[cold]
    fn half_turn(&self, current: &[Vec3; 3]) -> Vec3 {
        let mut symmetric = Matrix3::identity();
        for (target, column) in self.rotation.iter().zip(current) {
            symmetric += (target * column.transpose() + column * target.transpose()) * 0.5;
        }
        let columns = symmetric.column_iter();
        let longest = columns.max_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()));
        longest.and_then(|axis| axis.try_normalize(0.0)).map_or(Vec3::x() * PI, |axis| axis * PI)
    }

    /// The axes of `frame`, in the base frame, for a tool with these axes.
    #[inline(always)]
    fn axes(&self, tool: &[Vec3; 3]) -> [Vec3; 3] {
        self.frame.map(|axis| tool[0] * axis[0] + tool[1] * axis[1] + tool[2] * axis[2])
    }

    /// Remaining rotation about the axes that count, for the present axes of `frame`.
    fn masked_rotation(&self, current: &[Vec3; 3]) -> Vec3 {
        match self.rotation_counts {
            [false, false, false] => Vec3::zeros(),
            [false, false, true] => Vec3::new(0.0, 0.0, self.turn(current).0),
            [true, true, false] => {
                let base = pointing(&current[2], &self.rotation[2], &current[0]);
                Vec3::new(current[0].dot(&base), current[1].dot(&base), 0.0)
            }
            _ => {
                let base = self.rotation_vector(current);
                Vec3::new(current[0].dot(&base), current[1].dot(&base), current[2].dot(&base))
            }
        }
    }

    /// Whether only the turn about the axis of the mask counts.
    fn only_turn(&self) -> bool {
        self.rotation_counts == [false, false, true]
    }

    /// For a goal whose axis, z of `frame`, may tilt freely: the turn about it that is left of the rotation from
    /// `current` to the target once its tilt is taken out, within -pi and pi, and the direction (base frame) about
    /// which turning the tool reduces it fastest.
    ///
    /// With the rotation as a quaternion (w, v) in `frame` the turn is `2 atan2(v_z, w)` (swing-twist decomposition);
    /// the direction is its gradient, where `w' = v . omega / 2` and `v' = (v x omega - w omega) / 2` for a tool that
    /// turns with `omega`.
    fn turn(&self, current: &[Vec3; 3]) -> (f64, Vec3) {
        let between = Matrix3::from_fn(|row, column| current[row].dot(&self.rotation[column]));
        let q = quaternion(between);
        // Of q and -q the one with w >= 0 has the turn within -pi and pi.
        let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
        let (w, [x, y, z]) = (sign * q.w, [sign * q.i, sign * q.j, sign * q.k]);
        // Zero where the axis points backwards: the turn is undefined there, and the tilt must change first.
        let share = (w * w + z * z).max(1e-6);
        let (along_x, along_y) = ((w * y + z * x) / share, (z * y - w * x) / share);
        (2.0 * z.atan2(w), current[2] + current[0] * along_x + current[1] * along_y)
    }
}

/// A rotation that takes the z axis to `axis`.
fn z_to(axis: &Vector3<f64>) -> UnitQuaternion<f64> {
    let half_turn = || UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
    UnitQuaternion::rotation_between(&Vector3::z(), axis).unwrap_or_else(half_turn)
}

impl GoalMask {
    /// Distance between two poses in the coordinates that count: metres of translation plus radians of rotation.
    pub fn distance(&self, pose: &Isometry3<f64>, target: &Isometry3<f64>) -> f64 {
        let goal = Goal::new(target, &IkOptions { mask: *self, ..IkOptions::default() });
        let rotation = columns(pose.rotation.to_rotation_matrix().matrix());
        let pass = Pass::<1> { columns: [[0.0; 6]], rotation, position: pose.translation.vector };
        let residual = goal.residual::<1, false>(&pass);
        residual.position_error + residual.rotation_error
    }
}

/// The shortest rotation vector that takes direction `from` to direction `to`; `aside` is any direction
/// perpendicular to `from`, used where the two oppose each other.
fn pointing(from: &Vec3, to: &Vec3, aside: &Vec3) -> Vec3 {
    let axis = from.cross(to);
    let sine = axis.norm();
    let cosine = from.dot(to);
    if sine > 1e-9 {
        axis * (sine.atan2(cosine) / sine)
    } else if cosine > 0.0 {
        axis
    } else {
        aside * PI
    }
}
