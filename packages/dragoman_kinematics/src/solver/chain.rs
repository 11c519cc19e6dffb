//! The compiled serial chain: forward kinematics and the geometric Jacobian.
//!
//! Every joint axis is made the z axis of its frame, and every fixed rotation between two axes is split as
//! `Rz Rx Rz` (Euler angles). Rotations about z commute with the joint motion next to them, so the outer two merge
//! into constant offsets of the joint angles, and a single `Rx(alpha)` remains: the step from joint to joint costs
//! two plane rotations and one translation, for any URDF.

use super::redundant::Redundant;
use super::trig::sin_cos;
use super::wrist::SphericalWrist;
use crate::model::{JointKind, Model};
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// A vector in three dimensions.
pub(super) type Vec3 = Vector3<f64>;

/// Geometry and limits of a chain of `N` joints in flat arrays.
#[derive(Debug, Clone)]
pub(super) struct Chain<const N: usize> {
    /// First two columns of the rotation of the base, a rotation about z.
    pub(super) base: [Vec3; 2],
    /// Origin of joint `i` in the frame after joint `i - 1`, m.
    pub(super) translation: [Vec3; N],
    /// Cosine and sine of the twist between the axes of joints `i - 1` and `i`.
    pub(super) twist: [(f64, f64); N],
    /// Constant part of the joint angle, rad.
    pub(super) angle_offset: [f64; N],
    /// 1 for a revolute joint, 0 for a prismatic one.
    turning: [f64; N],
    pub(super) all_turning: bool,
    /// Tool point in the last joint's frame, m.
    pub(super) tool_point: Vec3,
    /// Tool orientation in the last joint's frame: columns.
    pub(super) tool_rotation: [Vec3; 3],
    tool_is_turned: bool,
    pub(super) lower: [f64; N],
    pub(super) upper: [f64; N],
    pub(super) velocity: [f64; N],
    /// Upper bound of the tool point's distance from the base origin, m; infinite if a prismatic joint has no limit.
    pub(super) reach: f64,
    /// Upper bound of the tool point's speed when all joints move at 1 rad/s or 1 m/s, m/s.
    pub(super) leverage: f64,
    /// Steps of the restart sequence, as fractions of the joint ranges.
    pub(super) stride: [f64; N],
    /// Closed form of a six-joint arm with a spherical wrist.
    pub(super) wrist: Option<SphericalWrist>,
    /// The same of a seven-joint arm with one joint held.
    pub(super) redundant: Option<Redundant>,
}

/// One Jacobian column: linear velocity of the tool point, then angular velocity, per unit of joint velocity.
pub(super) type Column = [f64; 6];

/// Result of one pass along the chain, all in the base frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass<const N: usize> {
    /// Per joint a point on its axis, m, and the axis direction; [`Chain::jacobian`] turns these into the columns
    /// of the Jacobian in place.
    pub(super) columns: [Column; N],
    /// Tool orientation: columns.
    pub(super) rotation: [Vec3; 3],
    /// Tool point, m.
    pub(super) position: Vec3,
}

impl<const N: usize> Chain<N> {
    /// Compiles a model; `None` if it does not have `N` joints.
    pub(super) fn compile(model: &Model) -> Option<Self> {
        if model.joints().len() != N {
            return None;
        }
        let mut chain = Self {
            base: [Vec3::x(), Vec3::y()],
            translation: [Vec3::zeros(); N],
            twist: [(1.0, 0.0); N],
            angle_offset: [0.0; N],
            turning: [0.0; N],
            all_turning: true,
            tool_point: Vec3::zeros(),
            tool_rotation: [Vec3::x(), Vec3::y(), Vec3::z()],
            tool_is_turned: false,
            lower: [0.0; N],
            upper: [0.0; N],
            velocity: [0.0; N],
            reach: 0.0,
            leverage: 0.0,
            stride: super::search::strides(),
            wrist: None,
            redundant: if N == 7 { Redundant::of(model) } else { None },
        };
        // Fixed transforms between frames whose z axes are the joint axes.
        let mut fixed = Vec::with_capacity(N);
        let mut unturn = UnitQuaternion::identity();
        for placement in model.placements() {
            let turn = z_to(&placement.axis);
            fixed.push(Isometry3::from_parts(Translation3::identity(), unturn) * placement.origin * turn);
            unturn = turn.inverse();
        }
        let tool = Isometry3::from_parts(Translation3::identity(), unturn) * model.tool();

        // From the tip to the base: the rest of each fixed rotation after its `Rz Rx Rz` split moves on.
        let (first, rest) = split(tool.rotation.to_rotation_matrix().matrix());
        let mut carried = first;
        chain.tool_point = turned(&tool.translation.vector, -first);
        chain.tool_is_turned = (rest - Matrix3::identity()).norm() > 1e-15;
        chain.tool_rotation = columns(&rest);
        // Distance from a joint to the tool, at most.
        let mut lever = tool.translation.vector.norm();
        for (i, (fixed, joint)) in fixed.iter().zip(model.joints()).enumerate().rev() {
            let (first, rest) = split(fixed.rotation.to_rotation_matrix().matrix());
            let (cosine, sine) = (rest[(2, 2)], -rest[(1, 2)]);
            let last = {
                let untwist = Matrix3::new(1.0, 0.0, 0.0, 0.0, cosine, sine, 0.0, -sine, cosine);
                let about_z = untwist * rest;
                about_z[(1, 0)].atan2(about_z[(0, 0)])
            };
            chain.translation[i] = turned(&fixed.translation.vector, -first);
            chain.twist[i] = (cosine, sine);
            chain.angle_offset[i] = last + carried;
            chain.turning[i] = if joint.kind == JointKind::Revolute { 1.0 } else { 0.0 };
            chain.all_turning &= joint.kind == JointKind::Revolute;
            chain.lower[i] = joint.lower;
            chain.upper[i] = joint.upper;
            chain.velocity[i] = joint.velocity;
            chain.leverage += if joint.kind == JointKind::Revolute { lever } else { 1.0 };
            lever += fixed.translation.vector.norm();
            chain.reach += fixed.translation.vector.norm();
            if joint.kind == JointKind::Prismatic {
                lever += joint.lower.abs().max(joint.upper.abs());
                chain.reach += joint.lower.abs().max(joint.upper.abs());
            }
            carried = first;
        }
        chain.reach += tool.translation.vector.norm();
        let (sine, cosine) = carried.sin_cos();
        chain.base = [Vec3::new(cosine, sine, 0.0), Vec3::new(-sine, cosine, 0.0)];
        chain.wrist = SphericalWrist::of(&chain);
        Some(chain)
    }

    /// One pass along the chain for joint positions `q` (rad or m).
    #[inline(always)]
    pub(super) fn pass(&self, q: &[f64; N], pass: &mut Pass<N>) {
        let mut angles = [0.0; N];
        for i in 0..N {
            angles[i] = self.angle_offset[i] + self.turning[i] * q[i];
        }
        let (sines, cosines) = sin_cos(&angles);
        let [x, y] = &self.base;
        let (mut x, mut y) = (padded(x), padded(y));
        let mut z = [0.0, 0.0, 1.0, 0.0];
        let mut p = [0.0; 4];
        for i in 0..N {
            advance(&mut p, &self.translation[i], &x, &y, &z);
            let (cosine, sine) = self.twist[i];
            let across = turn(&y, cosine, &z, sine);
            z = turn(&z, cosine, &y, -sine);
            let ahead = turn(&x, cosines[i], &across, sines[i]);
            y = turn(&across, cosines[i], &x, -sines[i]);
            x = ahead;
            if !self.all_turning {
                let slide = (1.0 - self.turning[i]) * q[i];
                for k in 0..4 {
                    p[k] += z[k] * slide;
                }
            }
            pass.columns[i] = [p[0], p[1], p[2], z[0], z[1], z[2]];
        }
        advance(&mut p, &self.tool_point, &x, &y, &z);
        let (x, y, z) = (trimmed(&x), trimmed(&y), trimmed(&z));
        pass.position = trimmed(&p);
        pass.rotation = [x, y, z];
        if self.tool_is_turned {
            for (column, c) in pass.rotation.iter_mut().zip(&self.tool_rotation) {
                *column = x * c[0] + y * c[1] + z * c[2];
            }
        }
    }

    /// Converts the columns of a fresh pass to those of the geometric Jacobian at the tool point, in the base frame.
    #[inline(always)]
    pub(super) fn jacobian(&self, pass: &mut Pass<N>) {
        for column in &mut pass.columns {
            let [px, py, pz, wx, wy, wz] = *column;
            let v = Vec3::new(wx, wy, wz).cross(&(pass.position - Vec3::new(px, py, pz)));
            *column = [v[0], v[1], v[2], wx, wy, wz];
        }
        if !self.all_turning {
            for (column, turning) in pass.columns.iter_mut().zip(&self.turning) {
                if *turning == 0.0 {
                    let [_, _, _, wx, wy, wz] = *column;
                    *column = [wx, wy, wz, 0.0, 0.0, 0.0];
                }
            }
        }
    }

    /// Whether joint `i` is revolute.
    #[inline(always)]
    pub(super) fn is_turning(&self, i: usize) -> bool {
        self.turning[i] != 0.0
    }
}

const ORIGIN: Vec3 = Vec3::new(0.0, 0.0, 0.0);

impl<const N: usize> Pass<N> {
    /// A buffer for a pass.
    pub(super) const EMPTY: Self = Self { columns: [[0.0; 6]; N], rotation: [ORIGIN; 3], position: ORIGIN };

    /// The tool pose as an nalgebra type.
    #[inline]
    pub(super) fn pose(&self) -> Isometry3<f64> {
        Isometry3::from_parts(self.position.into(), quaternion(Matrix3::from_columns(&self.rotation)))
    }
}

/// A vector with a fourth entry of zero: pairs of entries fill the vector registers of every x86-64 and AArch64.
type Padded = [f64; 4];

#[inline(always)]
fn padded(v: &Vec3) -> Padded {
    [v[0], v[1], v[2], 0.0]
}

#[inline(always)]
fn trimmed(v: &Padded) -> Vec3 {
    Vec3::new(v[0], v[1], v[2])
}

/// `a * s + b * t`.
#[inline(always)]
fn turn(a: &Padded, s: f64, b: &Padded, t: f64) -> Padded {
    [a[0] * s + b[0] * t, a[1] * s + b[1] * t, a[2] * s + b[2] * t, a[3] * s + b[3] * t]
}

/// Moves the point `p` by `offset`, given in the frame with columns `x`, `y`, `z`.
#[inline(always)]
fn advance(p: &mut Padded, offset: &Vec3, x: &Padded, y: &Padded, z: &Padded) {
    for k in 0..4 {
        p[k] += x[k] * offset[0] + (y[k] * offset[1] + z[k] * offset[2]);
    }
}

/// Unit quaternion of a rotation matrix.
#[inline]
pub(super) fn quaternion(rotation: Matrix3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation))
}

/// Columns of a rotation matrix.
#[inline]
pub(super) fn columns(rotation: &Matrix3<f64>) -> [Vec3; 3] {
    [0, 1, 2].map(|column| rotation.column(column).into_owned())
}

/// A rotation that takes the z axis to `axis`.
fn z_to(axis: &Vector3<f64>) -> UnitQuaternion<f64> {
    if axis.z < 0.0 {
        // By a half turn about x, which keeps the remaining angle below a quarter turn.
        let half = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
        let rest =
            UnitQuaternion::rotation_between(&-Vector3::z(), axis).unwrap_or_else(UnitQuaternion::identity);
        return rest * half;
    }
    UnitQuaternion::rotation_between(&Vector3::z(), axis).unwrap_or_else(UnitQuaternion::identity)
}

/// Splits `rotation` into `Rz(angle) * rest`, where `rest = Rx Rz` has its first row free of a z component.
fn split(rotation: &Matrix3<f64>) -> (f64, Matrix3<f64>) {
    let (towards_x, towards_y) = (rotation[(0, 2)], rotation[(1, 2)]);
    // If the axes are parallel any angle is valid; none is exact.
    let angle = if towards_x.hypot(towards_y) < 1e-15 { 0.0 } else { towards_x.atan2(-towards_y) };
    (angle, Rotation3::from_axis_angle(&Vector3::z_axis(), -angle).matrix() * rotation)
}

/// `v` rotated about z by `angle`.
fn turned(v: &Vector3<f64>, angle: f64) -> Vec3 {
    let (sine, cosine) = angle.sin_cos();
    Vec3::new(cosine * v.x - sine * v.y, sine * v.x + cosine * v.y, v.z)
}
