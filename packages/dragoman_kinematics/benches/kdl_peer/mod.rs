//! Orocos KDL.

use crate::common::Case;
use dragoman_kinematics::Robot;
use nalgebra::Isometry3;

pub(crate) fn run(_case: &Case, _robot: &Robot, _targets: &[Isometry3<f64>]) {}
