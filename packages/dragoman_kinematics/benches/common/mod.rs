//! The robots and the pseudo-random numbers that both benches share.
#![allow(dead_code, reason = "each bench uses a part")]

use dragoman_kinematics::{Model, Robot};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// One robot of the comparison.
pub(crate) struct Case {
    pub(crate) label: &'static str,
    /// Denavit-Hartenberg table, as in `tests/data`.
    pub(crate) table: &'static str,
    pub(crate) home: &'static [f64],
    /// Joints and the positions, rad, that make a singular configuration each.
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
        Robot::new(&Model::from_dh_yaml(self.table).expect("a table of ours")).expect("few joints")
    }
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform within the joint limits.
    pub(crate) fn configuration(&mut self, robot: &Robot) -> Vec<f64> {
        robot.joints().iter().map(|joint| joint.lower + (joint.upper - joint.lower) * self.unit()).collect()
    }
}

/// A smooth closed path about the middle of the joint ranges: step `i` of `n`.
pub(crate) fn lissajous(robot: &Robot, i: usize, n: usize) -> Vec<f64> {
    let phase = i as f64 / n as f64 * 2.0 * PI;
    let joints = robot.joints().iter().enumerate();
    joints
        .map(|(j, joint)| {
            let half = (0.5 * (joint.upper - joint.lower)).min(1.0);
            let frequency = (j + 1) as f64;
            0.5 * (joint.lower + joint.upper) + 0.6 * half * (frequency * phase + 0.3 * frequency).sin()
        })
        .collect()
}
