//! `urdf/turtlebot2_widowx.urdf`: figures of the TurtleBot thesis, and figures used by this module.

use std::f64::consts::{FRAC_PI_2, PI};

use super::*;

fn chain() -> k::Chain<f64> {
    let chain = k::Chain::from(&robot());
    chain.update_transforms();
    chain
}

fn robot() -> urdf_rs::Robot {
    urdf_rs::read_from_string(std::str::from_utf8(URDF).unwrap()).unwrap()
}

/// Checks the position of a link, relative to the ground below the robot.
fn at(chain: &k::Chain<f64>, link: &str, x: f64, y: f64, z: f64) {
    let node = chain.iter().find(|node| node.link().as_ref().is_some_and(|found| found.name == link));
    let found = node.unwrap_or_else(|| panic!("{link}")).world_transform().unwrap().translation.vector;
    assert!((found - Vector3::new(x, y, z)).norm() < 1e-9, "{link}: {found}");
}

#[test]
fn every_frame_and_joint_that_others_rely_on() {
    let robot = robot();
    let links = "base_footprint base_link wheel_left_link wheel_right_link gyro_link dock_ir_link camera_link \
        camera_rgb_frame camera_rgb_optical_frame camera_depth_frame camera_depth_optical_frame laser_link arm_base_link arm_1_link \
        arm_2_link arm_3_link arm_4_link arm_5_link gripper_rail_link gripper_left_link gripper_right_link tool0";
    for link in links.split_whitespace() {
        assert!(robot.links.iter().any(|found| found.name == link), "{link}");
    }
    let joint =
        |name: &str| robot.joints.iter().find(|joint| joint.name == name).unwrap_or_else(|| panic!("{name}"));
    let limits = |name: &str| [joint(name).limit.lower, joint(name).limit.upper];
    for (name, most) in [
        ("arm_1_joint", PI),
        ("arm_2_joint", FRAC_PI_2),
        ("arm_3_joint", FRAC_PI_2),
        ("arm_4_joint", FRAC_PI_2),
        ("arm_5_joint", 150.0_f64.to_radians()),
    ] {
        let [lower, upper] = limits(name);
        near(lower, -most, 1e-9);
        near(upper, most, 1e-9);
    }
    assert_eq!((limits("gripper_1_joint"), limits("gripper_left_joint")), ([0.0, 2.5], [0.0, 0.0185]));
    for wheel in ["wheel_left_joint", "wheel_right_joint"] {
        assert_eq!(joint(wheel).joint_type, urdf_rs::JointType::Continuous);
    }
}

#[test]
fn the_robot_has_the_dimensions_and_weights_of_the_thesis() {
    let (chain, robot) = (chain(), robot());
    let WheelGeometry { separation, radius, .. } = WheelGeometry::KOBUKI;
    at(&chain, "wheel_left_link", 0.0, separation / 2.0, radius);
    at(&chain, "wheel_right_link", 0.0, -separation / 2.0, radius);
    let sensors = ["cliff_sensor_left_link", "cliff_sensor_front_link", "cliff_sensor_right_link"];
    for (link, [x, y, z]) in sensors.into_iter().zip(CLIFF_SENSORS) {
        at(&chain, link, x, y, z);
    }
    // 420 mm, with the arm on top.
    at(&chain, "arm_base_link", 0.0, 0.0, 0.42);
    let of_arm = |name: &str| name.starts_with("arm_") || name.starts_with("gripper_") || name == "tool0";
    let mass = |with_arm: bool| -> f64 {
        let links = robot.links.iter().filter(|link| of_arm(&link.name) == with_arm);
        links.map(|link| link.inertial.mass.value).sum()
    };
    near(mass(true), 1.4, 1e-6);
    near(mass(false), 6.3, 1e-6);
    let [low, high] = room("").worlds()[0].extent_for_test(ROBOT);
    for side in 0..2 {
        near(low[side], -0.177, 1e-3);
        near(high[side], 0.177, 1e-3);
    }
    near(high[2], 0.42, 1e-9);
}

#[test]
fn the_arm_has_the_lengths_of_the_makers() {
    let chain = chain();
    let [x, z] = [0.04825, 0.42 + 0.125 + 0.14203];
    at(&chain, "arm_2_link", 0.0, 0.0, 0.545);
    at(&chain, "arm_3_link", x, 0.0, z);
    at(&chain, "arm_4_link", x + 0.14203, 0.0, z);
    at(&chain, "arm_5_link", x + 0.14203 + 0.0715, 0.0, z);
    at(&chain, "gripper_rail_link", x + 0.14203 + 0.0715 + 0.043, 0.0, z);
}

#[test]
fn the_application_of_the_thesis_reaches_a_table_and_folds_the_arm() {
    let mut worlds = room("");
    let mut tool = |degrees: [f64; 5]| {
        let joints = degrees.map(f64::to_radians);
        assert!(!worlds.check_robot_joints(None, ARM, &joints).unwrap(), "{degrees:?}");
        let pose = worlds.tool_pose(None, ARM).unwrap();
        (pose.translation.vector, pose.rotation * Vector3::x())
    };
    // TurtleBot thesis, 5.2: to take the cube, beyond the base and above a table of 45 cm; the gripper points down.
    let (at, ahead) = tool([0.0, 65.0, 90.0, -90.0, 0.0]);
    assert!(at.x > 0.3 && (0.45..0.5).contains(&at.z) && ahead.z < -0.85, "{at} {ahead}");
    // To carry it: the gripper points to the ceiling.
    let (at, ahead) = tool([0.0, -90.0, -90.0, 90.0, 0.0]);
    assert!(at.x.hypot(at.y) < 0.1 && ahead.z > 0.99, "{at} {ahead}");
    // To release it.
    let (at, ahead) = tool([0.0, 40.0, 50.0, -90.0, 0.0]);
    assert!(at.x > 0.25 && (0.46..0.52).contains(&at.z) && ahead.z < -0.95, "{at} {ahead}");
    // At rest (TurtleBot thesis, 3.6.2) it ends just above its own plate.
    let (at, ahead) = tool([45.0, 0.0, -45.0, -45.0, 0.0]);
    assert!((0.43..0.46).contains(&at.z) && ahead.z < -0.99, "{at} {ahead}");
}

#[test]
fn the_pillars_are_in_the_way_of_the_laser_and_nothing_else_is() {
    let mut worlds = room("");
    let chain = chain();
    let is_laser = |node: &&k::Node<f64>| node.link().as_ref().is_some_and(|link| link.name == "laser_link");
    let laser = chain.iter().find(is_laser).unwrap().world_transform().unwrap();
    // Upside down.
    near((laser.rotation * Vector3::z()).z, -1.0, 1e-9);
    let world = worlds.at_mut(0).unwrap();
    let angles = (0..684).map(|beam| -2.0944 + 2.0 * 2.0944 / 683.0 * f64::from(beam));
    let hits: Vec<f64> = angles.filter_map(|angle| world.ray_for_test(&laser, angle, 4.0)).collect();
    // Four pillars of 12 mm at 155 mm: 4.4 degrees each.
    assert!((40..60).contains(&hits.len()), "{} beams", hits.len());
    assert!(hits.iter().all(|way| (0.14..0.16).contains(way)), "{hits:?}");
}
