//! The arm in the room, and objects held by its gripper.

use std::f64::consts::FRAC_PI_2;

use super::*;

/// As in the TurtleBot thesis, 5.2, with the gripper open: to take the cube and to release it.
const REACHING: [f64; 6] = [0.0, 1.134_464, FRAC_PI_2, -FRAC_PI_2, 0.0, 0.0];
const ABOVE: [f64; 6] = [0.0, 0.698_132, 0.872_665, -FRAC_PI_2, 0.0, 0.0];
/// 44 percent closed, as in the thesis.
const CLOSED: f64 = 1.0;
/// Position of the cube for [`REACHING`] with the robot at the origin.
const CUBE: [f64; 3] = [0.34, 0.0, 0.4851];
/// Position of the gripper's joint at which 3 cm fit between the fingers.
const HOLDS: f64 = 2.5 * (1.0 - 0.015 / 0.0185);

/// A table of 47 cm, and on it a cube of 3 cm.
fn tables(cube: [f64; 3]) -> String {
    format!(
        "  - {{name: table, xyz: [0.6, 0, 0.445], shapes: [{{box: [0.55, 0.55, 0.05]}}]}}
  - {{name: cube, xyz: {cube:?}, graspable: true, mass: 0.05, shapes: [{{box: [0.03, 0.03, 0.03]}}]}}
"
    )
}

/// The arm at this pose with this gripper position.
fn with_gripper(mut pose: [f64; 6], gripper: f64) -> [f64; 6] {
    pose[5] = gripper;
    pose
}

/// Puts the open gripper around the object on the table, from above, as in the thesis: the shoulder last.
fn reach(lab: &mut Lab) {
    lab.arm([0.0, FOLDED[1], REACHING[2], REACHING[3], 0.0, 0.0]);
    lab.arm(REACHING);
}

/// Lifts the arm and folds it.
fn fold(lab: &mut Lab, gripper: f64) {
    lab.arm([0.0, -0.26, REACHING[2], REACHING[3], 0.0, gripper]);
    lab.arm(with_gripper(FOLDED, gripper));
}

/// A robot that holds the cube with its arm folded.
fn carrying() -> Lab {
    let mut lab = Lab::new(&tables(CUBE));
    reach(&mut lab);
    lab.arm(with_gripper(REACHING, CLOSED));
    fold(&mut lab, CLOSED);
    lab
}

#[test]
fn the_arm_goes_where_its_servos_go_and_with_the_robot() {
    let mut lab = Lab::new("");
    lab.arm(with_gripper(ABOVE, 1.5));
    for (joint, servo) in lab.joints().into_iter().zip(lab.widowx.positions()) {
        near(joint, servo, 1e-12);
    }
    near(lab.joints()[1], ABOVE[1], 0.01);
    near(lab.joints()[5], 1.5, 0.01);
    let before = lab.worlds.tool_pose(None, ARM).unwrap().translation.vector;
    lab.drive(0.3, 0.0, 1.0);
    let after = lab.worlds.tool_pose(None, ARM).unwrap().translation.vector;
    near(after.x - before.x, lab.place()[0], 1e-9);
    // It is part of the robot.
    assert!(lab.worlds.place_xyz(None, ARM, [0.0; 3]).is_err());
    assert_eq!(lab.worlds.world(None).unwrap().collisions(), []);
}

#[test]
fn gravity_loads_the_joints_as_energy_says() {
    let mut worlds = room("");
    let robot = urdf_rs::read_from_string(std::str::from_utf8(URDF).unwrap()).unwrap();
    let chain = k::Chain::<f64>::from(&robot);
    let joints = ["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint"];
    let energy = |positions: [f64; 5]| -> f64 {
        for (name, position) in joints.into_iter().zip(positions) {
            chain.find(name).unwrap().set_joint_position(position).unwrap();
        }
        chain.update_transforms();
        let of_link = |node: &k::Node<f64>| {
            let name = node.link().as_ref()?.name.clone();
            let inertial = &robot.links.iter().find(|link| link.name == name)?.inertial;
            let centre = nalgebra::Point3::from(*inertial.origin.xyz);
            Some(inertial.mass.value * 9.806_65 * (node.world_transform()? * centre).z)
        };
        chain.iter().filter_map(of_link).sum()
    };
    for positions in [[0.3, 0.9, 0.2, -0.4, 0.0], [-1.0, -0.5, 1.2, 0.7, 1.0], [0.0, 1.5, 0.0, 0.0, 0.5]] {
        // The fingers at the positions used for the energy: k leaves mimicking joints at zero.
        worlds.set_robot_joints(None, ARM, &positions).unwrap();
        let loads = worlds.at_mut(0).unwrap().gravity_load(ARM_OBJECT);
        for joint in 0..5 {
            let moved = |by: f64| {
                let mut positions = positions;
                positions[joint] += by;
                energy(positions)
            };
            near(loads[joint], -(moved(1e-5) - moved(-1e-5)) / 2e-5, 2e-3);
        }
    }
    // Stretched out, its load is more than 1 N m, and within the servo's torque.
    worlds.set_robot_joints(None, ARM, &[0.0, 1.5, 1.5, 0.0, 0.0]).unwrap();
    let load = worlds.at_mut(0).unwrap().gravity_load(ARM_OBJECT)[1];
    assert!((1.0..6.0).contains(&load), "{load}");
}

/// Index of the arm in the room's objects: after the floor.
const ARM_OBJECT: usize = 1;

#[test]
fn driving_with_the_arm_stretched_out_the_arm_meets_the_wall() {
    let mut lab = Lab::new("  - {name: wall, xyz: [1.5, 0, 0.5], shapes: [{box: [0.1, 6, 1]}]}\n");
    lab.arm(ABOVE);
    lab.drive(0.3, 0.0, 6.0);
    let gap = lab.worlds.distance(None, ARM, "wall").unwrap();
    assert!(gap > 0.0 && gap < 2e-4, "{gap}");
    assert!(lab.worlds.distance(None, ROBOT, "wall").unwrap() > 0.1);
    assert_eq!((lab.bumpers(), lab.kobuki.inputs.motion), ([false; 3], Some(Twist::ZERO)));
    assert_eq!(lab.worlds.world(None).unwrap().collisions(), []);
    // Apolo's services report the arm as well.
    assert!(!lab.worlds.move_m_robot(None, ROBOT, [0.1, 0.0], 1.0).unwrap());
    assert!(lab.worlds.move_m_robot(None, ROBOT, [-0.1, 0.0], 1.0).unwrap());
}

#[test]
fn what_is_in_the_way_of_the_arm_holds_its_servos_back() {
    // At the height of the stretched arm, to the left.
    let mut lab = Lab::new("  - {name: post, xyz: [0.2, 0.25, 0.5], shapes: [{box: [0.05, 0.05, 1]}]}\n");
    lab.arm(ABOVE);
    let mut sweep = ABOVE;
    sweep[0] = 1.5;
    // Short enough that the servo does not shut down.
    lab.arm_for(sweep, 1.0);
    let (joint, servo) = (lab.joints()[0], lab.widowx.positions()[0]);
    assert!(joint > 0.3 && joint < 1.0, "{joint}");
    assert!(servo > joint && servo - joint < 0.06, "{servo} {joint}");
    let gap = lab.worlds.distance(None, ARM, "post").unwrap();
    assert!(gap > 0.0 && gap < 2e-4, "{gap}");
    lab.arm(ABOVE);
    near(lab.joints()[0], 0.0, 0.01);
}

#[test]
fn the_gripper_takes_the_cube_carries_it_and_lets_it_go_over_another_table() {
    let mut lab = Lab::new(&tables(CUBE));
    reach(&mut lab);
    assert_eq!(lab.worlds.world(None).unwrap().collisions(), []);
    lab.arm(with_gripper(REACHING, CLOSED));
    near(lab.joints()[5], HOLDS, 1e-6);
    near(lab.widowx.inputs.gripper_stop.unwrap(), HOLDS, 1e-6);
    near(lab.widowx.positions()[5], HOLDS, 1e-3);
    near(lab.middle("cube")[1], 0.0, 1e-6);
    fold(&mut lab, CLOSED);
    let cube = lab.middle("cube");
    assert!(cube[0].hypot(cube[1]) < 0.1 && cube[2] > 0.7, "{cube:?}");
    // It moves with the robot.
    lab.drive(-0.3, 0.0, 2.0);
    lab.stop();
    near(lab.middle("cube")[0] - cube[0], lab.place()[0], 1e-9);
    let ahead = lab.place()[0] + 0.5;
    lab.worlds.place_xyz(None, "table", [ahead, 0.0, 0.445]).unwrap();
    lab.arm(with_gripper(ABOVE, CLOSED));
    lab.arm(ABOVE);
    // It stands upright on the table, below the position of its release.
    let pose = lab.worlds.pose(None, "cube").unwrap();
    near(pose.translation.vector.z, 0.47 + 0.015, 2e-4);
    let up = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| (pose.rotation * axis).z.abs());
    near(up.into_iter().fold(0.0, f64::max), 1.0, 1e-9);
    let distance = lab.worlds.distance(None, "cube", "table").unwrap();
    assert!(distance > 0.0 && distance < 2e-4, "{distance}");
    assert_eq!(lab.widowx.inputs.gripper_stop, None);
    fold(&mut lab, 0.0);
    near(lab.worlds.pose(None, "cube").unwrap().translation.vector.z, 0.485, 2e-4);
    assert_eq!(lab.worlds.world(None).unwrap().collisions(), []);
}

#[test]
fn a_body_released_beside_a_table_falls_to_the_floor() {
    let mut lab = carrying();
    lab.drive(-0.4, 0.0, 3.0);
    lab.stop();
    lab.arm(with_gripper(ABOVE, CLOSED));
    lab.arm(ABOVE);
    near(lab.middle("cube")[2], 0.015, 2e-4);
    assert_eq!(lab.worlds.world(None).unwrap().collisions(), []);
    // Beyond the edge of a table with its centre: likewise.
    let mut lab = carrying();
    lab.arm(with_gripper(ABOVE, CLOSED));
    let [x, y, _] = lab.middle("cube");
    lab.worlds.place_xyz(None, "table", [x + 0.275 + 0.01, y, 0.41]).unwrap();
    lab.arm(ABOVE);
    near(lab.middle("cube")[2], 0.015, 2e-4);
    assert!(lab.worlds.distance(None, "cube", "table").unwrap() > 0.0);
}

#[test]
fn a_body_released_above_the_plate_moves_with_the_robot() {
    let mut lab = carrying();
    let open = with_gripper(FOLDED, 0.0);
    lab.arm(open);
    let [x, y, z] = lab.middle("cube");
    assert!(z < 0.6, "{z}");
    lab.drive(-0.3, 0.4, 2.0);
    lab.stop();
    let [back, aside, _, heading] = lab.place();
    assert!(back.hypot(aside) > 0.3);
    let [now_x, now_y, now_z] = lab.middle("cube");
    near(now_x - back, x * heading.cos() - y * heading.sin(), 1e-9);
    near(now_y - aside, x * heading.sin() + y * heading.cos(), 1e-9);
    near(now_z, z, 1e-9);
}

#[test]
fn a_cube_that_is_not_in_the_middle_is_pushed_there() {
    let mut lab = Lab::new(&tables([CUBE[0], 0.003, CUBE[2]]));
    reach(&mut lab);
    lab.arm(with_gripper(REACHING, 0.2));
    // 17 mm on each side: one finger has pushed it.
    near(lab.middle("cube")[1], 0.0185 * (1.0 - 0.2 / 2.5) - 0.015, 2e-4);
    assert!(lab.worlds.link_to_robot_tcp(None, ARM, "").is_ok());
    lab.arm(with_gripper(REACHING, CLOSED));
    near(lab.middle("cube")[1], 0.0, 1e-6);
}

#[test]
fn a_body_beside_the_fingers_is_not_held() {
    let mut lab = Lab::new(&tables([CUBE[0], 0.05, CUBE[2]]));
    reach(&mut lab);
    lab.arm(with_gripper(REACHING, 2.5));
    near(lab.joints()[5], 2.5, 0.01);
    assert_eq!(lab.widowx.inputs.gripper_stop, None);
    assert_eq!(lab.middle("cube"), [CUBE[0], 0.05, CUBE[2]]);
}

#[test]
fn what_cannot_be_held_stops_the_fingers_and_stays() {
    let mut lab = Lab::new(&tables(CUBE).replace("graspable: true, ", ""));
    reach(&mut lab);
    lab.arm(with_gripper(REACHING, CLOSED));
    near(lab.joints()[5], HOLDS, 0.02);
    assert!(lab.widowx.inputs.gripper_stop.is_some());
    fold(&mut lab, CLOSED);
    assert_eq!(lab.middle("cube"), CUBE);
    assert_eq!(lab.widowx.inputs.gripper_stop, None);
}

#[test]
fn what_the_gripper_holds_meets_the_room() {
    let mut lab = carrying();
    lab.worlds.place_xyz(None, "table", [3.0, 3.0, 0.5]).unwrap();
    lab.arm(with_gripper([0.0, 1.4, 1.4, 0.0, 0.0, 0.0], CLOSED));
    let [x, y, z] = lab.middle("cube");
    assert!(x > 0.4, "{x}");
    // Only the cube reaches so far ahead.
    lab.worlds.place(None, "table", [x + 0.4, y, z], [0.0; 3]).unwrap();
    lab.drive(0.2, 0.0, 3.0);
    let gap = lab.worlds.distance(None, "cube", "table").unwrap();
    assert!(gap > 0.0 && gap < 2e-4, "{gap}");
    assert_eq!(lab.kobuki.inputs.motion, Some(Twist::ZERO));
}

#[test]
fn a_held_cube_weighs_on_the_servos() {
    let mut lab = carrying();
    lab.arm(with_gripper(ABOVE, CLOSED));
    let [x, ..] = lab.middle("cube");
    let with = lab.widowx.inputs.load[1];
    lab.arm(ABOVE);
    let without = lab.widowx.inputs.load[1];
    // The shoulder is above the middle of the robot, which is at the origin.
    near(with - without, 0.05 * 9.806_65 * x, 2e-3);
}

#[test]
fn a_body_taken_away_by_apolo_frees_the_gripper() {
    let mut lab = carrying();
    lab.worlds.place_xyz(None, "cube", [3.0, 0.0, 0.1]).unwrap();
    lab.arm(with_gripper(FOLDED, 2.0));
    near(lab.joints()[5], 2.0, 0.01);
    assert_eq!(lab.widowx.inputs.gripper_stop, None);
    assert_eq!(lab.middle("cube"), [3.0, 0.0, 0.1]);
}

#[test]
fn the_same_grasp_twice_is_the_same() {
    let run = || {
        let mut lab = carrying();
        lab.drive(-0.2, 0.3, 1.5);
        lab.arm(ABOVE);
        (lab.worlds.pose(None, "cube").unwrap(), lab.joints(), lab.widowx.inputs.clone())
    };
    assert_eq!(run(), run());
}
