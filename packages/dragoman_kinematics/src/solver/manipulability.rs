//! How far a configuration is from a singularity, the gradient of that distance, and motions of the joints that do not
//! move the tool.
//!
//! Sources: Yoshikawa, "Manipulability of robotic mechanisms", 1985 (the measure); Marani et al., "A real-time approach
//! for singularity avoidance in resolved motion rate control of robotic manipulators", ICRA 2002 (its derivative in the
//! space of the tool). The derivative of the Jacobian follows from the chain alone: joint i turns all columns from i
//! on, and moves the tool point of the columns before it.

use nalgebra::{Matrix6, SMatrix, Vector3, Vector6};

use super::Robot;
use crate::model::MAX_JOINTS;

/// A Jacobian; unused columns are zero.
type Columns = SMatrix<f64, 6, MAX_JOINTS>;
/// Damping of the inverse of J J', relative to its trace: finite in a singularity.
const DAMPING: f64 = 1e-12;

/// Manipulability at a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manipulability {
    /// The root of the determinant of J J', in metres and radians mixed; 0 in a singularity, and for arms with fewer than six
    /// joints.
    pub value: f64,
    /// Its change with a motion of the tool: per metre along x, y, z and per radian about them, base frame.
    pub along: Vector6<f64>,
}

impl Robot {
    /// The manipulability at `q`; `gradient` is its derivative for each joint, per rad or m.
    ///
    /// Values that do not fit `gradient` are left out. Does not allocate.
    pub fn manipulability(&self, q: &[f64], gradient: &mut [f64]) -> Manipulability {
        let joints = self.joint_count();
        let columns = self.columns(q);
        gradient.fill(0.0);
        let gram = columns * columns.transpose();
        let value = if joints < 6 { 0.0 } else { gram.determinant().max(0.0).sqrt() };
        let Some(inverse) = damped_inverse(&gram).filter(|_| value > 0.0) else {
            return Manipulability { value, along: Vector6::zeros() };
        };
        // Columns of the transposed pseudoinverse.
        let inverse_columns = inverse * columns;
        let mut all = SMatrix::<f64, MAX_JOINTS, 1>::zeros();
        for joint in 0..joints {
            let change = (0..joints).map(|column| {
                derivative(&columns, column, joint).dot(&inverse_columns.column(column).into_owned())
            });
            all[joint] = value * change.sum::<f64>();
        }
        for (slot, entry) in gradient.iter_mut().zip(all.iter()) {
            *slot = *entry;
        }
        Manipulability { value, along: inverse_columns * all }
    }

    /// The derivative of the Jacobian in time at joint velocities `rates`, in the layout of [`Robot::jacobian`].
    pub fn jacobian_derivative(&self, q: &[f64], rates: &[f64], out: &mut [f64]) {
        let columns = self.columns(q);
        let joints = self.joint_count();
        for (column, slot) in out.chunks_exact_mut(6).enumerate().take(joints) {
            let moving = rates.iter().enumerate().take(joints);
            let change: Vector6<f64> =
                moving.map(|(joint, rate)| derivative(&columns, column, joint) * *rate).sum();
            slot.copy_from_slice(change.as_slice());
        }
    }

    /// The part of the joint velocities `rates` that does not move the tool; zero for arms that are not redundant. Does not
    /// allocate.
    pub fn null_space(&self, q: &[f64], rates: &mut [f64]) {
        let columns = self.columns(q);
        let mut all = SMatrix::<f64, MAX_JOINTS, 1>::zeros();
        for (slot, rate) in all.iter_mut().zip(rates.iter().take(self.joint_count())) {
            *slot = *rate;
        }
        let Some(inverse) = damped_inverse(&(columns * columns.transpose())) else {
            rates.fill(0.0);
            return;
        };
        let rest = all - columns.transpose() * (inverse * (columns * all));
        let is_redundant = self.joint_count() > 6;
        for (rate, value) in rates.iter_mut().zip(rest.iter()) {
            *rate = if is_redundant { *value } else { 0.0 };
        }
    }

    fn columns(&self, q: &[f64]) -> Columns {
        let mut columns = Columns::zeros();
        let used = 6 * self.joint_count();
        if let Some(slice) = columns.as_mut_slice().get_mut(..used) {
            self.jacobian(q, slice);
        }
        columns
    }
}

fn damped_inverse(gram: &Matrix6<f64>) -> Option<Matrix6<f64>> {
    (gram + Matrix6::identity() * (DAMPING * gram.trace())).try_inverse()
}

/// The derivative of a column of the Jacobian for a joint.
fn derivative(columns: &Columns, column: usize, joint: usize) -> Vector6<f64> {
    let part = |index: usize, first: usize| {
        Vector3::new(columns[(first, index)], columns[(first + 1, index)], columns[(first + 2, index)])
    };
    let (linear, angular) = (part(column, 0), part(column, 3));
    let (linear, angular) = if joint <= column {
        let axis = part(joint, 3);
        (axis.cross(&linear), axis.cross(&angular))
    } else {
        (angular.cross(&part(joint, 0)), Vector3::zeros())
    };
    Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
}
