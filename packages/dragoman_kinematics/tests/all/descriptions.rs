//! Every description in `urdf/`: parsed by `urdf-rs` and `k`, complete, physically plausible, and the same robot as its
//! Denavit-Hartenberg table.

use std::collections::HashSet;
use std::f64::consts::{FRAC_PI_2, PI};

use crate::common::{MK1, MK2, PLATFORM, Random, by_matrices, link_poses, root_of, urdf};
use dragoman_kinematics::state::Tree;
use nalgebra::{Isometry3, Matrix3, Matrix4};
use urdf_rs::{Geometry, JointType, Link, Robot};

/// File and content of all descriptions.
fn all() -> Vec<(String, Robot)> {
    let read = |(file, text): (String, String)| (file, urdf_rs::read_from_string(&text).unwrap());
    texts().into_iter().map(read).collect()
}

/// File and text of all descriptions.
pub(crate) fn texts() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../urdf");
    let names =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = names.filter(|name| name.ends_with(".urdf")).collect();
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    files.into_iter().map(|file| (file.clone(), urdf(&file))).collect()
}

#[test]
fn every_reader_sees_the_same_tree() {
    for (file, robot) in all() {
        assert_eq!(format!("{}.urdf", robot.name), file);
        let mut tree = Tree::from_urdf(&urdf(&file)).unwrap();
        let chain = k::Chain::<f64>::from(&robot);
        let moving = robot.joints.iter().filter(|joint| !matches!(joint.joint_type, JointType::Fixed));
        let by_itself: HashSet<&str> =
            moving.filter(|joint| joint.mimic.is_none()).map(|joint| joint.name.as_str()).collect();
        assert_eq!(tree.joint_names().collect::<HashSet<_>>(), by_itself, "{file}");
        // All joints at zero, whether or not that is within the limits: only poses are compared.
        chain.set_joint_positions_unchecked(&vec![0.0; chain.dof()]);
        chain.update_transforms();
        for (link, pose) in link_poses(&mut tree, root_of(&robot), |_| Some(0.0)) {
            let node = chain.find_link(&link).unwrap_or_else(|| panic!("{file}: {link}"));
            if !has_mimicked_ancestor(&robot, &link) {
                assert_close(
                    &node.world_transform().unwrap(),
                    &pose.to_homogeneous(),
                    &format!("{file}: {link}"),
                );
            }
        }
    }
}

/// `k` was given zero for mimic joints, whose positions are different.
fn has_mimicked_ancestor(robot: &Robot, link: &str) -> bool {
    let joint = robot.joints.iter().find(|joint| joint.child.link == link);
    joint.is_some_and(|joint| joint.mimic.is_some() || has_mimicked_ancestor(robot, &joint.parent.link))
}

/// A link has a visual, a collision body and a mass, or it is a fixed frame of its parent.
#[test]
fn every_link_is_complete_or_a_frame() {
    for (file, robot) in all() {
        for link in &robot.links {
            let name = format!("{file}: {}", link.name);
            let has_mass = link.inertial.mass.value != 0.0;
            let parts = [has_mass, !link.visual.is_empty(), !link.collision.is_empty()];
            if parts == [false; 3] {
                let carried = robot.joints.iter().find(|joint| joint.child.link == link.name);
                assert!(carried.is_none_or(|joint| matches!(joint.joint_type, JointType::Fixed)), "{name}");
                continue;
            }
            assert_eq!(parts, [true; 3], "{name} has [mass, visual, collision]");
            assert_possible(link, &name);
            let looks = link.visual.iter().map(|visual| &visual.geometry);
            for shape in looks.chain(link.collision.iter().map(|collision| &collision.geometry)) {
                let sizes = match shape {
                    Geometry::Box { size } => size.to_vec(),
                    Geometry::Cylinder { radius, length } => vec![*radius, *length],
                    Geometry::Sphere { radius } => vec![*radius],
                    other => panic!("{name}: {other:?}"),
                };
                assert!(sizes.iter().all(|size| (1e-3..10.0).contains(size)), "{name}: {sizes:?}");
            }
            for material in link.visual.iter().filter_map(|visual| visual.material.as_ref()) {
                assert!(
                    robot.materials.iter().any(|known| known.name == material.name),
                    "{name}: {}",
                    material.name
                );
            }
        }
    }
}

/// KDL does not support an inertia of the root: robot_state_publisher would warn.
#[test]
fn roots_are_frames() {
    for (file, robot) in all() {
        let is_root = |link: &&Link| robot.joints.iter().all(|joint| joint.child.link != link.name);
        let roots: Vec<&Link> = robot.links.iter().filter(is_root).collect();
        let [root] = roots[..] else { panic!("{file} has {} roots", roots.len()) };
        assert_eq!(root.inertial.mass.value, 0.0, "{file}: {}", root.name);
    }
}

/// Positive masses, positive definite inertias, and no moment that exceeds the sum of the others.
fn assert_possible(link: &Link, name: &str) {
    let urdf_rs::Inertia { ixx, ixy, ixz, iyy, iyz, izz } = link.inertial.inertia;
    let inertia = Matrix3::new(ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz);
    let moments = inertia.symmetric_eigenvalues();
    assert!(link.inertial.mass.value > 0.0 && moments.min() > 0.0, "{name}: {moments}");
    // Printed figures are rounded: a moment equal to the sum of the others may exceed it by a rounding error.
    assert!(moments.max() <= (moments.sum() - moments.max()) * (1.0 + 1e-9), "{name}: {moments}");
    // A body no larger than these robots.
    assert!(moments.max() / link.inertial.mass.value < 1.0, "{name}: {moments}");
}

#[test]
fn every_joint_that_moves_has_its_limits() {
    for (file, robot) in all() {
        for joint in robot.joints.iter().filter(|joint| !matches!(joint.joint_type, JointType::Fixed)) {
            let name = format!("{file}: {}", joint.name);
            let limit = &joint.limit;
            assert!(limit.effort > 0.0 && limit.velocity > 0.0, "{name}: {limit:?}");
            match joint.joint_type {
                JointType::Revolute | JointType::Prismatic => {
                    assert!(limit.lower < limit.upper, "{name}: {limit:?}")
                }
                JointType::Continuous => {}
                ref other => panic!("{name}: {other:?}"),
            }
        }
    }
}

/// Unimation PUMA 560: Corke and Armstrong-Helouvry (1994), and 0.1 m of tool. The paper's rows end at the far end of
/// their link; here `alpha` and `a` are in the row after theirs.
const PUMA: [[f64; 4]; 7] = [
    [0.0, 0.0, 0.0, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [0.0, 0.4318, 0.15005, 0.0],
    [-FRAC_PI_2, 0.0203, 0.4318, 0.0],
    [FRAC_PI_2, 0.0, 0.0, 0.0],
    [-FRAC_PI_2, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.1, 0.0],
];

#[test]
fn k_finds_the_tools_where_the_tables_have_them() {
    type Case = (&'static str, &'static [[f64; 4]], &'static [usize]);
    let cases: [Case; 4] = [
        ("ranger_mk1.urdf", &MK1, &[]),
        ("ranger_mk2.urdf", &MK2, &[]),
        ("platform_arm.urdf", &PLATFORM, &[0, 1]),
        ("puma560.urdf", &PUMA, &[]),
    ];
    for (file, rows, prismatic) in cases {
        compare(file, "base_link", 21, |q| by_matrices(rows, q, prismatic));
    }
}

/// The table that follows from the manufacturer's lengths (m): shoulder 0.125 above the foot, upper arm 0.14203 up and
/// 0.04825 forward, forearm 0.14203, wrist 0.0715, tool 0.073 in front of it.
#[test]
fn k_finds_the_tool_of_the_widowx_where_its_table_has_it() {
    let (up, ahead) = (0.14203_f64, 0.04825_f64);
    let elbow = (-up).atan2(ahead);
    let rows = [
        [0.0, 0.0, 0.125, 0.0],
        [-FRAC_PI_2, 0.0, 0.0, elbow],
        [PI, up.hypot(ahead), 0.0, elbow],
        [0.0, 0.14203, 0.0, FRAC_PI_2],
        [FRAC_PI_2, 0.0, 0.0715, 0.0],
    ];
    // x of the tool is the axis of the last joint.
    let tool = Matrix4::new(
        0.0, 0.0, 1.0, 0.0, //
        0.0, -1.0, 0.0, 0.0, //
        1.0, 0.0, 0.0, 0.073, //
        0.0, 0.0, 0.0, 1.0,
    );
    compare("turtlebot2_widowx.urdf", "arm_base_link", 22, |q| by_matrices(&rows, q, &[]) * tool);
}

/// Compares `k`'s poses of `tool0` in the frame of `base` with those of a table, at random joints within the limits.
fn compare(file: &str, base: &str, seed: u64, table: impl Fn(&[f64]) -> Matrix4<f64>) {
    let tree = k::Chain::<f64>::from(urdf_rs::read_from_string(&urdf(file)).unwrap());
    tree.update_transforms();
    let base = tree.find_link(base).unwrap().world_transform().unwrap();
    let arm = k::SerialChain::from_end(tree.find_link("tool0").unwrap());
    let limits: Vec<_> = arm.iter_joints().map(|joint| joint.limits.unwrap()).collect();
    let mut random = Random::announced(file, seed);
    for _ in 0..500 {
        let q: Vec<f64> =
            limits.iter().map(|limit| limit.min + (limit.max - limit.min) * random.unit()).collect();
        arm.set_joint_positions(&q).unwrap();
        arm.update_transforms();
        assert_close(&(base.inverse() * arm.end_transform()), &table(&q), &format!("{file} at {q:?}"));
    }
}

fn assert_close(one: &Isometry3<f64>, other: &Matrix4<f64>, what: &str) {
    let difference = (one.to_homogeneous() - other).norm();
    assert!(difference < 1e-12, "{what}: {difference}");
}
