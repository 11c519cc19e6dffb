//! Arms, robots on wheels, collisions and distances.

use std::time::Duration;

use proptest::prelude::*;

use super::super::{WorldError, Worlds, pose};
use super::{load, near};

const FLOOR: &str = "  - {name: floor, xyz: [0, 0, -0.5], shapes: [{box: [20, 20, 1]}]}\n";

/// A floor, `bodies` and a robot of 0.5 x 0.4 m with four wheels of radius 0.1.
fn room(bodies: &str, robot: &str) -> Worlds {
    load(&format!(
        "worlds:
- name: Room
  seed: 7
  bodies:
{FLOOR}{bodies}
  wheeled_robots:
  - name: Cart
    body: [{{box: [0.5, 0.4, 0.2], xyz: [0, 0, 0.2]}}]
    supports: [[0.2, 0.15], [0.2, -0.15], [-0.2, 0.15], [-0.2, -0.15]]
    wheel_radius: 0.1
    {robot}
"
    ))
}

/// Player's position2d (RoMAA page): geometry, and motors that are off.
#[test]
fn without_motor_power_a_robot_takes_no_velocities() {
    let mut room = room("", "");
    let [low, high] = room.outline(None, "Cart").unwrap();
    for (value, expected) in
        low.into_iter().zip([-0.25, -0.2, 0.1]).chain(high.into_iter().zip([0.25, 0.2, 0.3]))
    {
        near(value, expected, 1e-9);
    }
    room.set_twist(None, "Cart", [0.5, 0.0]).unwrap();
    room.set_motor_power(None, "Cart", false).unwrap();
    room.advance(Duration::from_secs(1));
    near(room.location_m_robot(None, "Cart").unwrap()[0], 0.0, 1e-12);
    let off = Err(WorldError::MotorsOff { robot: "Cart".to_owned() });
    assert_eq!(room.set_twist(None, "Cart", [0.5, 0.0]), off);
    assert_eq!(room.move_m_robot(None, "Cart", [0.5, 0.0], 1.0).map(|_| ()), off);
    // Standing still is no motion.
    room.set_twist(None, "Cart", [0.0; 2]).unwrap();
    room.set_motor_power(None, "Cart", true).unwrap();
    room.set_twist(None, "Cart", [0.5, 0.0]).unwrap();
    room.advance(Duration::from_secs(1));
    near(room.location_m_robot(None, "Cart").unwrap()[0], 0.5, 1e-9);
    assert!(room.set_motor_power(None, "floor", true).is_err() && room.outline(None, "nothing").is_err());
}

#[test]
fn one_motion_in_one_go() {
    let mut room = room("", "");
    // The figures are in the documentation of Apolo's protocol.
    assert!(room.move_m_robot(None, "Cart", [0.5, 0.1], 0.5).unwrap());
    let [x, y, z, yaw] = room.location_m_robot(None, "cart").unwrap();
    near(x, 0.249688, 5e-7);
    near(y, 0.012495, 5e-7);
    near(z, 0.0, 1e-12);
    near(yaw, 0.05, 1e-12);
    assert!(room.place_m_robot(None, "Cart", [0.0; 3], 0.0).unwrap());
    assert!(room.move_m_robot(None, "Cart", [50.0, -50.0], 0.5).unwrap());
    let [x, y, _, yaw] = room.location_m_robot(None, "Cart").unwrap();
    near(x, 0.5_f64.cos(), 1e-12);
    near(y, -0.5_f64.sin(), 1e-12);
    near(yaw, -0.5, 1e-12);
}

#[test]
fn a_wall_stops_it_and_the_pose_stays() {
    let mut room = room("  - {name: wall, xyz: [1, 0, 0.5], shapes: [{box: [0.1, 4, 1]}]}\n", "");
    let before = room.location(None, "Cart").unwrap();
    assert!(room.move_m_robot(None, "Cart", [0.69, 0.0], 1.0).unwrap());
    near(room.distance(None, "Cart", "wall").unwrap(), 0.01, 1e-9);
    let close = room.location(None, "Cart").unwrap();
    assert_ne!(close, before);
    assert!(!room.move_m_robot(None, "Cart", [0.02, 0.0], 1.0).unwrap());
    assert_eq!(room.location(None, "Cart").unwrap(), close);
    assert_eq!(room.odometry(None, "Cart").unwrap(), [0.69, 0.0, 0.0]);
    assert!(!room.place_m_robot(None, "Cart", [1.0, 0.0, 0.0], 0.0).unwrap());
    assert_eq!(room.location(None, "Cart").unwrap(), close);
}

#[test]
fn a_twist_drives_until_the_wall_and_not_through_it() {
    let mut room = room("  - {name: wall, xyz: [1, 0, 0.5], shapes: [{box: [0.02, 4, 1]}]}\n", "");
    room.set_twist(None, "Cart", [2.0, 0.0]).unwrap();
    room.advance(Duration::from_secs(5));
    let gap = room.distance(None, "Cart", "wall").unwrap();
    assert!(gap > 0.0 && gap <= 0.02 + 1e-9, "{gap}");
    assert_eq!(room.world(None).unwrap().time(), Duration::from_secs(5));
}

#[test]
fn dropped_onto_the_floor_a_table_a_ramp_and_nothing() {
    let slope = 0.2_f64;
    let mut room = room(
        &format!(
            "  - {{name: table, xyz: [3, 0, 0.35], shapes: [{{box: [1, 1, 0.7]}}]}}
  - {{name: ramp, xyz: [-3, 0, 0], rpy: [0, -{slope}, 0], shapes: [{{box: [2, 2, 0.2]}}]}}
  - {{name: kerb, xyz: [0, 3, 0.025], shapes: [{{box: [1, 1, 0.05]}}]}}\n"
        ),
        "",
    );
    let mut drop = |x: f64, y: f64, z: f64| {
        let stands = room.place_m_robot(None, "Cart", [x, y, z], 0.0).unwrap();
        (stands, room.location(None, "Cart").unwrap())
    };
    let (stands, at) = drop(3.0, 0.0, 2.0);
    assert!(stands);
    near(at[2], 0.7, 1e-9);
    // Two wheels beyond the edge: the floor under them is too deep.
    assert!(!drop(3.45, 0.0, 2.0).0);
    // On the ramp it has the ramp's inclination: nose up is a negative pitch.
    let (stands, at) = drop(-3.0, 0.0, 2.0);
    assert!(stands);
    near(at[4], -slope, 1e-9);
    near(at[2], 0.1 / slope.cos(), 1e-9);
    // Two wheels on the kerb and two on the floor are in one plane.
    assert!(drop(0.0, 2.5, 0.5).0);
    // Without any ground it is not moved.
    let (stands, at) = drop(30.0, 0.0, 1.0);
    assert!(!stands);
    near(at[1], 2.5, 1e-12);
    // Below the floor there is no ground.
    assert!(!drop(0.0, -3.0, -2.0).0);
}

#[test]
fn it_does_not_drive_off_a_table() {
    let mut room = room("  - {name: table, xyz: [3, 0, 0.35], shapes: [{box: [1, 1, 0.7]}]}\n", "");
    assert!(room.place_m_robot(None, "Cart", [3.0, 0.0, 1.0], 0.0).unwrap());
    room.set_twist(None, "Cart", [0.5, 0.0]).unwrap();
    room.advance(Duration::from_secs(10));
    let [x, _, z, _] = room.location_m_robot(None, "Cart").unwrap();
    assert!(x < 3.31, "{x}");
    near(z, 0.7, 1e-9);
    // Nor in one step beyond it, onto the floor.
    assert!(!room.move_m_robot(None, "Cart", [2.0, 0.0], 2.0).unwrap());
}

#[test]
fn odometry_drifts_the_same_way_for_the_same_seed() {
    let run = |noise: &str| {
        let mut room = room("", noise);
        for step in 0..500 {
            let turn = if step % 100 < 50 { 0.9 } else { -0.9 };
            assert!(room.move_m_robot(None, "Cart", [0.2, turn], 0.05).unwrap());
        }
        (room.odometry(None, "Cart").unwrap(), room.location_m_robot(None, "Cart").unwrap())
    };
    let noisy = "odometry_noise: {distance: 0.05, heading: 0.05}";
    let (odometry, truth) = run(noisy);
    assert_eq!(run(noisy).0, odometry);
    assert_eq!(run(noisy).1, truth);
    let error = (odometry[0] - truth[0]).hypot(odometry[1] - truth[1]);
    assert!(error > 1e-4 && error < 0.5, "{error}");
    let (exact, truth) = run("");
    near(exact[0], truth[0], 1e-9);
    near(exact[1], truth[1], 1e-9);
    near(exact[2], truth[3], 1e-9);
}

#[test]
fn odometry_is_reset_to_what_one_says() {
    let mut room = room("", "");
    room.reset_odometry(None, "Cart", [1.0, 2.0, 0.5]).unwrap();
    room.move_m_robot(None, "Cart", [1.0, 0.0], 1.0).unwrap();
    let [x, y, heading] = room.odometry(None, "Cart").unwrap();
    near(x, 1.0 + 0.5_f64.cos(), 1e-12);
    near(y, 2.0 + 0.5_f64.sin(), 1e-12);
    near(heading, 0.5, 1e-12);
}

#[test]
fn refusals_move_nothing() {
    let mut room = room("", "");
    let before = room.location(None, "Cart").unwrap();
    let revision = room.world(None).unwrap().revision();
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300] {
        assert!(matches!(room.place_xyz(None, "Cart", [0.0, bad, 0.0]), Err(WorldError::OutOfRange { .. })));
        assert!(room.place(None, "Cart", [0.0; 3], [0.0, 0.0, bad]).is_err());
        assert!(room.place_m_robot(None, "Cart", [bad, 0.0, 0.0], 0.0).is_err());
        assert!(room.place_m_robot(None, "Cart", [0.0; 3], bad).is_err());
        assert!(room.move_m_robot(None, "Cart", [0.1, 0.1], bad).is_err());
        assert!(room.reset_odometry(None, "Cart", [bad, 0.0, 0.0]).is_err());
    }
    assert!(room.move_m_robot(None, "Cart", [f64::NAN, 0.0], 1.0).is_err());
    assert!(room.set_twist(None, "Cart", [0.0, f64::INFINITY]).is_err());
    assert!(room.move_m_robot(None, "Cart", [0.1, 0.1], -1.0).is_err());
    assert_eq!(room.location(None, "Cart").unwrap(), before);
    assert_eq!(room.world(None).unwrap().revision(), revision);
}

/// Two links of 1 m in the plane z = 0.5, the base at the origin, tool at the end.
const ARM: &str = "
worlds:
- name: A
  bodies:
  - {name: post, xyz: [0, 1.5, 0.5], shapes: [{box: [0.2, 0.2, 1]}]}
  - {name: cup, xyz: [2.0, 0.2, 0.5], shapes: [{sphere: {radius: 0.05}}]}
  - {name: lid, xyz: [5, 5, 0.5], shapes: [{sphere: {radius: 0.05}}]}
  arms:
  - name: Planar
    xyz: [0, 0, 0.5]
    convention: standard
    joints:
    - {name: one, type: revolute, a: 1, lower: -3, upper: 3, link: [{box: [0.9, 0.05, 0.05], xyz: [-0.5, 0, 0]}]}
    - {name: two, type: revolute, a: 1, lower: -3, upper: 3, link: [{box: [0.9, 0.05, 0.05], xyz: [-0.5, 0, 0]}]}
";

#[test]
fn an_arm_and_what_is_in_its_way() {
    let mut worlds = load(ARM);
    let quarter = std::f64::consts::FRAC_PI_2;
    assert!(!worlds.check_robot_joints(None, "Planar", &[0.0, 0.0]).unwrap());
    assert!(worlds.check_robot_joints(None, "Planar", &[quarter]).unwrap());
    // The first n joints are set, the others stay: folded back it reaches y = 1, before the post.
    assert!(!worlds.check_robot_joints(None, "Planar", &[quarter, 2.5]).unwrap());
    let tool = worlds.tool_pose(None, "Planar").unwrap().translation.vector;
    near(tool.x, (quarter + 2.5).cos(), 1e-12);
    near(tool.y, 1.0 + (quarter + 2.5).sin(), 1e-12);
    near(tool.z, 0.5, 1e-12);
    // From tool to post with the arm upright: the link ends 5 cm before the tool.
    worlds.set_robot_joints(None, "Planar", &[0.0, 0.0]).unwrap();
    near(
        worlds.distance(None, "Planar", "cup").unwrap(),
        0.2_f64.min((0.05_f64 * 0.05 + 0.175 * 0.175).sqrt()) - 0.05,
        1e-6,
    );
}

#[test]
fn joints_are_refused_all_or_none() {
    let mut worlds = load(ARM);
    let limit = worlds.set_robot_joints(None, "Planar", &[1.0, 3.5]).unwrap_err();
    assert!(matches!(limit, WorldError::JointLimit { value, .. } if value == 3.5));
    assert!(worlds.set_robot_joints(None, "Planar", &[f64::NAN]).is_err());
    let many = worlds.check_robot_joints(None, "Planar", &[0.0; 3]).unwrap_err();
    assert_eq!(many, WorldError::TooManyJoints { robot: "Planar".to_owned(), joints: 2, got: 3 });
    assert!(worlds.robot_joints(None, "Planar").unwrap().iter().all(|joint| joint.position == 0.0));
    assert!(matches!(worlds.set_robot_joints(None, "cup", &[]), Err(WorldError::WrongKind { .. })));
    worlds.set_robot_joints(None, "Planar", &[]).unwrap();
}

#[test]
fn a_linked_object_moves_with_the_tool() {
    let mut worlds = load(ARM);
    let quarter = std::f64::consts::FRAC_PI_2;
    worlds.link_to_robot_tcp(None, "Planar", "cup").unwrap();
    worlds.set_robot_joints(None, "Planar", &[-quarter]).unwrap();
    let at = worlds.location(None, "cup").unwrap();
    near(at[0], 0.2, 1e-12);
    near(at[1], -2.0, 1e-12);
    near(at[5], -quarter, 1e-12);
    // Moving the base moves the object, too; it counts as a part of the arm.
    worlds.place(None, "Planar", [0.0, 0.0, 1.5], [0.0; 3]).unwrap();
    near(worlds.location(None, "cup").unwrap()[2], 1.5, 1e-12);
    worlds.place(None, "Planar", [0.0, 0.0, 0.5], [0.0; 3]).unwrap();
    worlds.place_xyz(None, "post", [0.2, -2.0, 0.5]).unwrap();
    assert!(worlds.check_robot_joints(None, "Planar", &[-quarter]).unwrap());
    // A new object replaces it; the released one stays.
    worlds.link_to_robot_tcp(None, "Planar", "lid").unwrap();
    worlds.set_robot_joints(None, "Planar", &[0.0]).unwrap();
    near(worlds.location(None, "cup").unwrap()[1], -2.0, 1e-12);
    assert_ne!(worlds.location(None, "lid").unwrap()[0], 5.0);
    // Placing it releases it as well.
    worlds.place_xyz(None, "lid", [4.0, 4.0, 4.0]).unwrap();
    worlds.set_robot_joints(None, "Planar", &[1.0]).unwrap();
    assert_eq!(worlds.location(None, "lid").unwrap()[..3], [4.0, 4.0, 4.0]);
    worlds.link_to_robot_tcp(None, "Planar", "lid").unwrap();
    worlds.link_to_robot_tcp(None, "Planar", "").unwrap();
    worlds.set_robot_joints(None, "Planar", &[0.0]).unwrap();
    assert_eq!(worlds.location(None, "lid").unwrap()[..3], [4.0, 4.0, 4.0]);
    assert!(worlds.link_to_robot_tcp(None, "Planar", "Planar").is_err());
    assert!(worlds.link_to_robot_tcp(None, "cup", "lid").is_err());
}

#[test]
fn revisions_show_what_moved() {
    let mut worlds = load(ARM);
    let seen = worlds.world(None).unwrap().revision();
    worlds.place_xyz(None, "cup", [3.0, 3.0, 0.5]).unwrap();
    let world = worlds.world(None).unwrap();
    let moved: Vec<&str> =
        world.parts().iter().filter(|part| part.revision() > seen).map(|part| part.name.as_str()).collect();
    assert_eq!(moved, ["cup"]);
    assert!(world.revision() > seen);
}

fn number(range: f64) -> impl Strategy<Value = f64> {
    -range..range
}

proptest! {
    /// Distances of a sphere from a box, a cylinder and a sphere at any pose.
    #[test]
    fn distances_have_closed_forms(
        x in number(3.0), y in number(3.0), z in number(3.0),
        roll in number(3.0), pitch in number(1.5), yaw in number(3.0),
    ) {
        let mut worlds = load("
worlds:
- name: A
  bodies:
  - {name: point, shapes: [{sphere: {radius: 0.1}}]}
  - {name: box, shapes: [{box: [1, 2, 0.5]}]}
  - {name: can, shapes: [{cylinder: {radius: 0.5, length: 1.5}}]}
  - {name: prism, shapes: [{extrusion: {polygon: [[-0.5, -1], [0.5, -1], [0.5, 1], [-0.5, 1]], height: 0.5}, xyz: [0, 0, -0.25]}]}
");
        let frame = pose([0.3, -0.2, 0.1], [roll, pitch, yaw]);
        let centre = frame * nalgebra::Point3::new(x, y, z);
        for name in ["box", "can", "prism"] {
            worlds.place(None, name, [0.3, -0.2, 0.1], [roll, pitch, yaw]).unwrap();
        }
        worlds.place_xyz(None, "point", centre.coords.into()).unwrap();
        let beyond = |value: f64, half: f64| (value.abs() - half).max(0.0);
        let from_box = beyond(x, 0.5).hypot(beyond(y, 1.0)).hypot(beyond(z, 0.25));
        let from_can = beyond(x.hypot(y), 0.5).hypot(beyond(z, 0.75));
        for (name, expected) in [("box", from_box), ("can", from_can), ("prism", from_box)] {
            let distance = worlds.distance(None, "point", name).unwrap();
            prop_assert!((distance - (expected - 0.1).max(0.0)).abs() < 1e-6, "{name}: {distance}, {expected}");
        }
    }

    /// For any request, the robot stands on the floor or at its last pose, and never in the wall.
    #[test]
    fn it_never_ends_up_in_a_wall(
        motions in proptest::collection::vec((number(3.0), number(2.0), 0.0..1.0_f64), 1..40),
    ) {
        let mut room = room("  - {name: wall, xyz: [1, 0, 0.5], shapes: [{box: [0.1, 4, 1]}]}
  - {name: pillar, xyz: [-1, 0.5, 0.5], shapes: [{cylinder: {radius: 0.2, length: 1}}]}\n", "");
        for (speed, turn_rate, time) in motions {
            let before = room.location_m_robot(None, "Cart").unwrap();
            let moved = room.move_m_robot(None, "Cart", [speed, turn_rate], time).unwrap();
            let after = room.location_m_robot(None, "Cart").unwrap();
            prop_assert!(moved || before == after);
            prop_assert!(room.distance(None, "Cart", "wall").unwrap() > 0.0);
            prop_assert!(room.distance(None, "Cart", "pillar").unwrap() > 0.0);
            prop_assert!(after[2].abs() < 1e-9);
        }
    }
}
