//! Code shared by several test files and the benches.
#![allow(dead_code, reason = "the benches use a part")]

use dragoman_kinematics::state::{Transform, Tree};
use dragoman_kinematics::{Model, Robot};
use nalgebra::{Isometry3, Matrix4};
use std::f64::consts::{FRAC_PI_2, TAU};

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

/// Multiplies a table out with 4 x 4 matrices, an implementation independent of the compiled chain. Rows are `alpha`,
/// `a`, `d` and `theta` in the convention of Craig (1989), base first; those after the joints are the tool's. Joints of
/// `prismatic` slide.
pub(crate) fn by_matrices(rows: &[[f64; 4]], q: &[f64], prismatic: &[usize]) -> Matrix4<f64> {
    let mut product = Matrix4::identity();
    for (i, [alpha, a, d, theta]) in rows.iter().enumerate() {
        let position = q.get(i).copied().unwrap_or(0.0);
        let (d, theta) = if prismatic.contains(&i) { (d + position, *theta) } else { (*d, theta + position) };
        let ((st, ct), (sa, ca)) = (theta.sin_cos(), alpha.sin_cos());
        product *= Matrix4::new(
            ct,
            -st,
            0.0,
            *a, //
            st * ca,
            ct * ca,
            -sa,
            -sa * d, //
            st * sa,
            ct * sa,
            ca,
            ca * d, //
            0.0,
            0.0,
            0.0,
            1.0,
        );
    }
    product
}

/// Ranger thesis, table 2.1.
pub(crate) const MK1: [[f64; 4]; 7] = [
    [0.0, 0.0, 0.2491, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [0.0, 0.5589, 0.0, 0.0],
    [-FRAC_PI_2, 0.1514, 0.5388, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.2666, 0.0],
];
/// Ranger thesis, table of Ranger Mark II.
pub(crate) const MK2: [[f64; 4]; 9] = [
    [0.0, 0.0, 0.1524, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [-FRAC_PI_2, 0.0, 0.5389, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [-FRAC_PI_2, 0.1524, 0.5117, 0.0],
    [FRAC_PI_2 / 2.0, 0.0, 0.0, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [-FRAC_PI_2, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.1, 0.0],
];
/// Ranger thesis, table 4.6.
pub(crate) const PLATFORM: [[f64; 4]; 6] = [
    [FRAC_PI_2, 0.0, 0.0, FRAC_PI_2],
    [FRAC_PI_2, 0.0, 0.0, FRAC_PI_2],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [0.0, 0.5, 0.0, 0.0],
    [FRAC_PI_2, 0.0, 0.5, 0.0],
];

/// Poses of the links in the frame of `root`, each after its parent, as tf2 composes them from the published transforms;
/// without those behind a joint whose position is unknown.
pub(crate) fn link_poses(
    tree: &mut Tree,
    root: &str,
    position: impl Fn(&str) -> Option<f64>,
) -> Vec<(String, Isometry3<f64>)> {
    let mut transforms: Vec<Transform> = tree.fixed().collect();
    transforms.extend(tree.moving(position));
    let mut poses = vec![(root.to_owned(), Isometry3::identity())];
    let mut done = 0;
    while let Some((parent, pose)) = poses.get(done).cloned() {
        let children = transforms.iter().filter(|transform| transform.parent == parent);
        poses.extend(children.map(|transform| (transform.child.clone(), pose * transform.pose)));
        done += 1;
    }
    poses
}

/// The root link of a description.
pub(crate) fn root_of(robot: &urdf_rs::Robot) -> &str {
    let is_root = |link: &&urdf_rs::Link| robot.joints.iter().all(|joint| joint.child.link != link.name);
    &robot.links.iter().find(is_root).unwrap().name
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
