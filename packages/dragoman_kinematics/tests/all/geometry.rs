//! Forward kinematics and Jacobian: compared with the Ranger thesis, with tables multiplied out, and with `k`.

use crate::common::{MK1, MK2, PLATFORM, Random, TABLES, by_matrices, robot, urdf};
use dragoman_kinematics::{Model, Robot, RobotSettings};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::FRAC_PI_2;

/// The pose of Ranger Mark I, as these settings have it, at the joints of figure 3.3 of the Ranger thesis.
fn pose_of_figure_3_3(settings: &str) -> Isometry3<f64> {
    let settings = RobotSettings::from_yaml(settings).unwrap();
    let robot = Robot::new(&settings.model(&urdf(&settings.urdf)).unwrap()).unwrap();
    robot.forward(&[-1.5838, 2.0360, 1.3499, -0.2471, 1.2428, -0.0595])
}

/// The figure prints four decimals of joints, position and orientation.
#[test]
fn the_geometry_of_appendix_d_gives_the_pose_of_figure_3_3() {
    let text = include_str!("../../../../launch/config/robots/ranger_mk1_appendix_d.yaml");
    let pose = pose_of_figure_3_3(text);
    let position = pose.translation.vector;
    for (got, printed) in position.iter().zip([-0.0543, 0.5242, 0.2138]) {
        assert!((got - printed).abs() < 1.5e-4, "{position}");
    }
    let quaternion = pose.rotation.coords;
    for (got, printed) in quaternion.iter().zip([-0.5266, 0.4212, 0.5767, 0.4612]) {
        assert!((got - printed).abs() < 1.5e-4, "{quaternion}");
    }
    let (roll, pitch, yaw) = pose.rotation.euler_angles();
    // Near a pitch of pi/2 roll and yaw share one rounding error.
    for (got, printed) in [roll, pitch, yaw].iter().zip([-0.0007, 1.4801, 1.7917]) {
        assert!((got - printed).abs() < 1.2e-3, "{roll} {pitch} {yaw}");
    }
}

/// From table 2.1, multiplied out.
#[test]
fn the_measured_geometry_gives_a_pose_beside_figure_3_3() {
    let pose = pose_of_figure_3_3(include_str!("../../../../launch/config/robots/ranger_mk1.yaml"));
    let position = pose.translation.vector;
    for (got, expected) in position.iter().zip([-0.054_893_4, 0.526_289, 0.213_323_9]) {
        assert!((got - expected).abs() < 1e-6, "{position}");
    }
    assert!((position - Vector3::new(-0.0543, 0.5242, 0.2138)).norm() > 1e-3, "{position}");
}

#[test]
fn urdf_table_and_matrices_agree() {
    type Case = (&'static str, &'static str, &'static [[f64; 4]], &'static [usize]);
    let cases: [Case; 3] = [
        ("ranger_mk1.urdf", include_str!("../data/ranger_mk1.yaml"), &MK1, &[]),
        ("ranger_mk2.urdf", include_str!("../data/ranger_mk2.yaml"), &MK2, &[]),
        ("platform_arm.urdf", include_str!("../data/platform_arm.yaml"), &PLATFORM, &[0, 1]),
    ];
    for (file, table, rows, prismatic) in cases {
        let from_urdf = Robot::new(&Model::from_urdf(&urdf(file), None, None).unwrap()).unwrap();
        let from_table = robot(table);
        let mut random = Random::announced(file, 11);
        for _ in 0..200 {
            let q = random.configuration(&from_table);
            let matrix = by_matrices(rows, &q, prismatic);
            let (one, other) = (from_urdf.forward(&q), from_table.forward(&q));
            assert!((one.to_homogeneous() - matrix).norm() < 1e-12, "{file} at {q:?}");
            assert!((other.to_homogeneous() - matrix).norm() < 1e-12, "{file} at {q:?}");
        }
        for (one, other) in from_urdf.joints().iter().zip(from_table.joints()) {
            assert_eq!(
                (&one.name, one.kind, one.lower, one.upper),
                (&other.name, other.kind, other.lower, other.upper)
            );
        }
    }
}

#[test]
fn ranger_at_home() {
    let robot = robot(include_str!("../data/ranger_mk1.yaml"));
    let home = [FRAC_PI_2, 0.0, FRAC_PI_2, 0.0, FRAC_PI_2, 0.0];
    let position = robot.forward(&home).translation.vector;
    // Upper arm level along y, forearm folded back over it, hand along the column.
    let expected = Vector3::new(0.0, 0.5589 - 0.5388, 0.2491 + 0.1514 + 0.2666);
    assert!((position - expected).norm() < 1e-12, "{position}");
}

/// `k` walks its own tree with its own transforms.
#[test]
fn k_agrees_on_every_description() {
    for file in ["ranger_mk1.urdf", "ranger_mk2.urdf", "platform_arm.urdf"] {
        let xml = urdf(file);
        let ours = Robot::new(&Model::from_urdf(&xml, Some("base_link"), Some("tool0")).unwrap()).unwrap();
        let tree = k::Chain::<f64>::from(urdf_rs::read_from_string(&xml).unwrap());
        let peer = k::SerialChain::from_end(tree.find_link("tool0").unwrap());
        let mut random = Random::announced(file, 12);
        for _ in 0..100 {
            let q = random.configuration(&ours);
            peer.set_joint_positions_unchecked(&q);
            peer.update_transforms();
            assert_same(&peer.end_transform(), &ours.forward(&q), 1e-12);
        }
    }
}

/// A tree with fixed joints in between, tilted axes, an inner base and a side branch.
#[test]
fn a_crooked_tree_matches_k() {
    let xml = include_str!("../data/crooked.urdf");
    let ours = Robot::new(&Model::from_urdf(xml, Some("pedestal"), Some("camera")).unwrap()).unwrap();
    assert_eq!(ours.joint_count(), 4);
    assert_eq!(ours.joints()[3].lower, f64::NEG_INFINITY);
    let whole = Robot::new(&Model::from_urdf(xml, None, Some("camera")).unwrap()).unwrap();
    let tree = k::Chain::<f64>::from(urdf_rs::read_from_string(xml).unwrap());
    let peer = k::SerialChain::from_end(tree.find_link("camera").unwrap());
    let world_to_pedestal = tree.find("stand").unwrap().origin();
    let mut random = Random::announced("crooked", 13);
    for _ in 0..100 {
        let q: Vec<f64> = (0..4).map(|_| 4.0 * random.unit() - 2.0).collect();
        peer.set_joint_positions_unchecked(&q);
        peer.update_transforms();
        assert_same(&peer.end_transform(), &whole.forward(&q), 1e-12);
        assert_same(&peer.end_transform(), &(world_to_pedestal * ours.forward(&q)), 1e-12);
    }
}

#[test]
fn jacobian_is_the_derivative_and_link_frames_end_in_the_pose() {
    for (name, table) in TABLES {
        let robot = robot(table);
        let n = robot.joint_count();
        let mut random = Random::announced(name, 14);
        let (mut jacobian, mut frames) = (vec![0.0; 6 * n], Vec::new());
        for _ in 0..50 {
            let q = random.configuration(&robot);
            let pose = robot.jacobian(&q, &mut jacobian);
            assert_same(&pose, &robot.forward(&q), 1e-15);
            robot.link_frames(&q, &mut frames);
            assert_eq!(frames.len(), n + 1);
            assert_same(&frames[n], &pose, 1e-12);
            for i in 0..n {
                let step = 1e-6;
                let (mut ahead, mut behind) = (q.clone(), q.clone());
                ahead[i] += step;
                behind[i] -= step;
                let (ahead, behind) = (robot.forward(&ahead), robot.forward(&behind));
                let linear = (ahead.translation.vector - behind.translation.vector) / (2.0 * step);
                let angular = (ahead.rotation * behind.rotation.inverse()).scaled_axis() / (2.0 * step);
                let column = &jacobian[6 * i..6 * i + 6];
                for k in 0..3 {
                    assert!((column[k] - linear[k]).abs() < 1e-8, "{name} joint {i} at {q:?}");
                    assert!((column[3 + k] - angular[k]).abs() < 1e-8, "{name} joint {i} at {q:?}");
                }
            }
        }
    }
}

#[test]
fn slices_of_a_wrong_length_are_accepted() {
    let robot = robot(include_str!("../data/panda.yaml"));
    let zeros = robot.forward(&[0.0; 7]);
    assert_same(&robot.forward(&[]), &zeros, 0.0);
    assert_same(&robot.forward(&[0.0; 9]), &zeros, 0.0);
    let mut short = [7.0; 13];
    robot.jacobian(&[0.0; 7], &mut short);
    assert_eq!(short[12], 7.0);
    let mut frames = Vec::new();
    robot.link_frames(&[], &mut frames);
    assert_same(&frames[7], &zeros, 1e-12);
    assert!(!robot.forward(&[f64::NAN; 7]).translation.x.is_finite());
}

#[test]
fn tool_frames_can_be_exchanged() {
    let model = Model::from_dh_yaml(include_str!("../data/ranger_mk1.yaml")).unwrap();
    let bare = Robot::new(&model.clone().with_tool(Isometry3::identity()).unwrap()).unwrap();
    let tool = Isometry3::new(Vector3::new(0.1, -0.2, 0.3), Vector3::new(0.4, 1.5, -0.6));
    let fitted = Robot::new(&model.with_tool(tool).unwrap()).unwrap();
    let q = [0.3, 0.5, -0.7, 1.1, 1.3, -2.0];
    assert_same(&fitted.forward(&q), &(bare.forward(&q) * tool), 1e-14);
}

#[test]
fn every_settings_file_fits_its_description() {
    for name in ["ranger_mk1", "ranger_mk1_appendix_d", "ranger_mk2", "platform_arm"] {
        let path = format!("{}/../../launch/config/robots/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let settings = RobotSettings::from_yaml(&std::fs::read_to_string(path).unwrap()).unwrap();
        let model = settings.model(&urdf(&settings.urdf)).unwrap();
        assert!(name.starts_with(model.name()));
        for (joint, home) in model.joints().iter().zip(&settings.home) {
            assert!((joint.lower..=joint.upper).contains(home), "{name}: {} at {home}", joint.name);
            assert!(joint.acceleration.is_finite());
        }
    }
}

fn assert_same(one: &Isometry3<f64>, other: &Isometry3<f64>, tolerance: f64) {
    let difference = (one.to_homogeneous() - other.to_homogeneous()).norm();
    assert!(difference <= tolerance, "{one} {other} differ by {difference}");
}
