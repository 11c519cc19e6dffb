//! What several test files and the benches share.
#![allow(dead_code, reason = "each of them uses a part")]

use dragoman_kinematics::{Model, Robot};
use std::f64::consts::TAU;

pub(crate) const TABLES: [(&str, &str); 6] = [
    ("ranger_mk1", include_str!("../data/ranger_mk1.yaml")),
    ("ranger_mk2", include_str!("../data/ranger_mk2.yaml")),
    ("platform_arm", include_str!("../data/platform_arm.yaml")),
    ("puma560", include_str!("../data/puma560.yaml")),
    ("panda", include_str!("../data/panda.yaml")),
    ("five_joint", include_str!("../data/five_joint.yaml")),
];

pub(crate) fn robot(table: &str) -> Robot {
    Robot::new(&Model::from_dh_yaml(table).unwrap()).unwrap()
}

/// Text of a file in the workspace's folder `urdf/`.
pub(crate) fn urdf(file: &str) -> String {
    std::fs::read_to_string(format!("{}/../../urdf/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A generator whose seed is printed, so that a failure can be repeated.
    pub(crate) fn announced(what: &str, seed: u64) -> Self {
        println!("{what}: random seed {seed}");
        Self(seed)
    }

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
    let phase = i as f64 / n as f64 * TAU;
    let joints = robot.joints().iter().enumerate();
    joints
        .map(|(j, joint)| {
            let half = (0.5 * (joint.upper - joint.lower)).min(1.0);
            let frequency = (j + 1) as f64;
            0.5 * (joint.lower + joint.upper) + 0.6 * half * (frequency * phase + 0.3 * frequency).sin()
        })
        .collect()
}
