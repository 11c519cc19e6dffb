//! The robots of both benches, and code shared with the tests.
#![allow(dead_code, reason = "each bench uses a part")]

#[path = "../../tests/all/common.rs"]
mod tests_common;

use dragoman_kinematics::Robot;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
pub(crate) use tests_common::{Random, lissajous};

/// One robot of the comparison.
pub(crate) struct Case {
    pub(crate) label: &'static str,
    /// Denavit-Hartenberg table, as in `tests/data`.
    pub(crate) table: &'static str,
    pub(crate) home: &'static [f64],
    /// Joints and positions, rad, each of which makes a singular configuration.
    pub(crate) singular: &'static [(usize, f64)],
}

pub(crate) const CASES: [Case; 5] = [
    Case {
        label: "Ranger Mk I",
        table: include_str!("../../tests/data/ranger_mk1.yaml"),
        home: &[FRAC_PI_2, 0.0, FRAC_PI_2, 0.0, FRAC_PI_2, 0.0],
        singular: &[(4, PI), (2, -1.296_871_3)],
    },
    Case {
        label: "PPRRRR",
        table: include_str!("../../tests/data/platform_arm.yaml"),
        home: &[0.0; 6],
        singular: &[(4, 0.0), (3, FRAC_PI_2)],
    },
    Case {
        label: "Ranger Mk II",
        table: include_str!("../../tests/data/ranger_mk2.yaml"),
        home: &[0.0, 0.5, 0.0, 1.0, 0.0, -0.5, 0.5, 0.0],
        singular: &[(1, 0.0), (3, 0.0)],
    },
    Case {
        label: "Puma 560",
        table: include_str!("../../tests/data/puma560.yaml"),
        home: &[0.0, -FRAC_PI_4, FRAC_PI_2, 0.0, FRAC_PI_4, 0.0],
        singular: &[(4, 0.0), (2, 1.617_771_4)],
    },
    Case {
        label: "Panda",
        table: include_str!("../../tests/data/panda.yaml"),
        home: &[0.0, -FRAC_PI_4, 0.0, -3.0 * FRAC_PI_4, 0.0, FRAC_PI_2, FRAC_PI_4],
        singular: &[(5, 0.0), (1, 0.0)],
    },
];

impl Case {
    pub(crate) fn robot(&self) -> Robot {
        tests_common::robot(self.table)
    }
}
