//! Arms, robots on wheels, collisions and distances.

use std::time::Duration;

use dragoman_geometry::Twist;
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
    room.set_twist(None, "Cart", Twist::new(0.5, 0.0)).unwrap();
    room.set_motor_power(None, "Cart", false).unwrap();
    room.advance(Duration::from_secs(1));
    near(room.location_m_robot(None, "Cart").unwrap()[0], 0.0, 1e-12);
    let off = Err(WorldError::MotorsOff { robot: "Cart".to_owned() });
    assert_eq!(room.set_twist(None, "Cart", Twist::new(0.5, 0.0)), off);
    assert_eq!(room.move_m_robot(None, "Cart", [0.5, 0.0], 1.0).map(|_| ()), off);
    // A zero velocity is not a motion.
    room.set_twist(None, "Cart", Twist::ZERO).unwrap();
    room.set_motor_power(None, "Cart", true).unwrap();
    room.set_twist(None, "Cart", Twist::new(0.5, 0.0)).unwrap();
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

/// 0.4 m/s to the left for 2 s; wheels 0.5 m and 0.548 m apart, as Neobotix' MPO-500.
#[test]
fn mecanum_wheels_carry_it_sideways_within_the_limits_of_the_drives() {
    let mut room = room("", "mecanum: {length: 0.5, width: 0.548, max_wheel_speed: 1.0}");
    room.set_twist(None, "Cart", Twist::planar(0.0, 0.4, 0.0)).unwrap();
    room.advance(Duration::from_secs(2));
    let [x, y, _, yaw] = room.location_m_robot(None, "Cart").unwrap();
    near(x, 0.0, 1e-9);
    near(y, 0.8, 1e-9);
    near(yaw, 0.0, 1e-9);
    let [x, y, yaw] = room.odometry(None, "Cart").unwrap();
    near(x, 0.0, 1e-9);
    near(y, 0.8, 1e-9);
    near(yaw, 0.0, 1e-9);
    // 1.5 m/s ahead and to the left: one pair of wheels would turn at 3 m/s.
    assert!(room.place_m_robot(None, "Cart", [0.0; 3], 0.0).unwrap());
    room.set_twist(None, "Cart", Twist::planar(1.5, 1.5, 0.0)).unwrap();
    room.advance(Duration::from_secs(1));
    let [x, y, _, _] = room.location_m_robot(None, "Cart").unwrap();
    near(x, 0.5, 1e-9);
    near(y, 0.5, 1e-9);
    // A wall stops it.
    let mut walled = self::room(
        "  - {name: wall, xyz: [0, 1, 0.5], shapes: [{box: [4, 0.02, 1]}]}\n",
        "mecanum: {length: 0.5, width: 0.548}",
    );
    walled.set_twist(None, "Cart", Twist::planar(0.0, 1.0, 0.0)).unwrap();
    walled.advance(Duration::from_secs(3));
    let gap = walled.distance(None, "Cart", "wall").unwrap();
    assert!(gap > 0.0 && gap <= 0.01 + 1e-9, "{gap}");
}

#[test]
fn steered_drives_need_time_to_turn_before_it_moves_sideways() {
    let mut room = room("", "steered: {positions: [[0.2, 0.15], [-0.2, -0.15]], max_rate: 3.14159265}");
    // Half a turn per second: a quarter turn takes 0.5 s.
    room.set_twist(None, "Cart", Twist::planar(0.0, 0.4, 0.0)).unwrap();
    room.advance(Duration::from_millis(100));
    assert!(room.location_m_robot(None, "Cart").unwrap()[1] < 0.01);
    room.advance(Duration::from_millis(400));
    let [x, y, _, _] = room.location_m_robot(None, "Cart").unwrap();
    assert!(y > 0.05 && y < 0.15 && x > 0.0, "{x} {y}");
    room.advance(Duration::from_secs(1));
    let [later, left, _, yaw] = room.location_m_robot(None, "Cart").unwrap();
    near(later, x, 2e-3);
    near(left - y, 0.4, 2e-3);
    near(yaw, 0.0, 1e-9);
    // The odometry comes from the same wheels.
    let odometry = room.odometry(None, "Cart").unwrap();
    near(odometry[1], left, 1e-9);
    // Without such wheels nothing moves it sideways.
    let mut plain = self::room("", "");
    plain.set_twist(None, "Cart", Twist::planar(0.0, 0.4, 0.0)).unwrap();
    plain.advance(Duration::from_secs(1));
    assert_eq!(plain.location_m_robot(None, "Cart").unwrap(), [0.0; 4]);
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
    room.set_twist(None, "Cart", Twist::new(2.0, 0.0)).unwrap();
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
    room.set_twist(None, "Cart", Twist::new(0.5, 0.0)).unwrap();
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

fn assert_near<const N: usize>(got: [f64; N], expected: [f64; N]) {
    for (value, wanted) in got.into_iter().zip(expected) {
        assert!((value - wanted).abs() < 1e-6, "{got:?} is not {expected:?}");
    }
}

#[test]
fn a_negative_time_drives_back() {
    let mut room = room("", "");
    assert!(room.move_m_robot(None, "Cart", [0.5, 0.0], 0.4).unwrap());
    assert!(room.move_m_robot(None, "Cart", [0.5, 0.0], -1.0).unwrap());
    assert_near(room.location_m_robot(None, "Cart").unwrap(), [-0.3, 0.0, 0.0, 0.0]);
    // The heading changes by -0.2, and the step is along the new heading.
    assert!(room.move_m_robot(None, "Cart", [0.5, 0.2], -1.0).unwrap());
    let (sin, cos) = 0.2_f64.sin_cos();
    assert_near(room.location_m_robot(None, "Cart").unwrap(), [-0.3 - 0.5 * cos, 0.5 * sin, 0.0, -0.2]);
}

#[test]
fn increments_of_the_odometry_are_along_the_axes_of_the_robot_at_the_reset() {
    let mut room = room("", "");
    assert!(room.place_m_robot(None, "Cart", [0.0; 3], 0.15).unwrap());
    room.reset_odometry(None, "Cart", [1.0, 2.0, 0.5]).unwrap();
    assert!(room.move_m_robot(None, "Cart", [0.2, 0.0], 1.0).unwrap());
    assert_near(room.odometry(None, "Cart").unwrap(), [1.2, 2.0, 0.5]);
    // A turn to the left, and 0.1 m ahead: to the left of the axes of the reset.
    assert!(room.move_m_robot(None, "Cart", [0.1, 1.0], 1.0).unwrap());
    let ahead = [1.2 + 0.1 * 1.0_f64.cos(), 2.0 + 0.1 * 1.0_f64.sin(), 1.5];
    assert_near(room.odometry(None, "Cart").unwrap(), ahead);
    // At another heading the axes are others.
    room.reset_odometry(None, "Cart", [0.0; 3]).unwrap();
    assert!(room.move_m_robot(None, "Cart", [0.3, 0.0], 1.0).unwrap());
    assert_near(room.odometry(None, "Cart").unwrap(), [0.3, 0.0, 0.0]);
}

#[test]
fn placing_a_robot_changes_the_odometry_with_its_next_motion() {
    let mut room = room("", "");
    assert!(room.place_m_robot(None, "Cart", [1.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2).unwrap());
    room.reset_odometry(None, "Cart", [0.0; 3]).unwrap();
    assert!(room.place_m_robot(None, "Cart", [3.0, 4.0, 0.0], 0.0).unwrap());
    assert_near(room.odometry(None, "Cart").unwrap(), [0.0; 3]);
    // The jump, (2, 4) in the world, is (4, -2) along the axes of the robot at the reset; then 0.1 m to the east.
    assert!(room.move_m_robot(None, "Cart", [0.1, 0.0], 1.0).unwrap());
    assert_near(room.odometry(None, "Cart").unwrap(), [4.0, -2.1, -std::f64::consts::FRAC_PI_2]);
    // apoloPlace does the same. A reset forgets the jump.
    room.place(None, "Cart", [0.0; 3], [0.0; 3]).unwrap();
    room.reset_odometry(None, "Cart", [5.0, 5.0, 4.0]).unwrap();
    assert!(room.move_m_robot(None, "Cart", [0.1, 0.0], 1.0).unwrap());
    assert_near(room.odometry(None, "Cart").unwrap(), [5.1, 5.0, 4.0 - std::f64::consts::TAU]);
    // A motion that fails does not see the jump either.
    room.place(None, "Cart", [0.0, 0.0, 7.0], [0.0; 3]).unwrap();
    assert!(!room.move_m_robot(None, "Cart", [0.1, 0.0], 1.0).unwrap());
    assert_near(room.odometry(None, "Cart").unwrap(), [5.1, 5.0, 4.0 - std::f64::consts::TAU]);
}

/// What MRCore's `WBodometry` reads without noise, for the same calls in the same order.
#[test]
fn odometry_reads_what_the_original_reads() {
    let mut room = room("", "");
    let mut after = |act: &dyn Fn(&mut Worlds), odometry: [f64; 3]| {
        act(&mut room);
        assert_near(room.odometry(None, "Cart").unwrap(), odometry);
    };
    let place = |x: f64, y: f64, yaw: f64| {
        move |room: &mut Worlds| assert!(room.place_m_robot(None, "Cart", [x, y, 0.0], yaw).unwrap())
    };
    let drive = |speed: f64, turn: f64, time: f64| {
        move |room: &mut Worlds| assert!(room.move_m_robot(None, "Cart", [speed, turn], time).unwrap())
    };
    let reset =
        |odometry: [f64; 3]| move |room: &mut Worlds| room.reset_odometry(None, "Cart", odometry).unwrap();
    after(&drive(0.5, 0.1, 0.5), [0.249687565, 0.012494792, 0.05]);
    after(&place(0.0, 0.0, 0.15), [0.249687565, 0.012494792, 0.05]);
    after(&reset([1.0, 2.0, 0.5]), [1.0, 2.0, 0.5]);
    after(&drive(0.2, 0.0, 1.0), [1.2, 2.0, 0.5]);
    after(&drive(0.1, 1.0, 1.0), [1.254030231, 2.084147098, 1.5]);
    after(&place(3.0, 4.0, -0.4), [1.254030231, 2.084147098, 1.5]);
    after(&drive(0.1, 0.2, 0.5), [4.609088119, 5.485021638, 0.05]);
    after(&place(-2.0, 1.0, 2.5), [4.609088119, 5.485021638, 0.05]);
    after(&place(-2.0, -1.0, 3.0), [4.609088119, 5.485021638, 0.05]);
    after(&drive(0.3, -0.5, 1.0), [-1.337794211, 1.523547193, 2.85]);
    after(&reset([0.0, 0.0, 4.0]), [0.0, 0.0, -2.283185307]);
    after(&drive(0.3, 0.0, -1.0), [-0.3, 0.0, -2.283185307]);
    after(
        &|room| room.place(None, "Cart", [1.0, 1.0, 0.0], [0.0, 0.0, -1.0]).unwrap(),
        [-0.3, 0.0, -2.283185307],
    );
    after(&drive(0.25, 0.5, 0.4), [-1.605234535, -3.381929094, 0.7]);
}

#[test]
fn before_the_first_reset_odometry_counts_from_where_the_robot_began() {
    let mut room = room("", "xyz: [1, 0, 0]\n    yaw: 0.15");
    assert!(room.move_m_robot(None, "Cart", [0.2, 0.0], 1.0).unwrap());
    assert_near(room.odometry(None, "Cart").unwrap(), [0.2, 0.0, 0.0]);
}

#[test]
fn otherwise_odometry_follows_the_wheels() {
    let mut room = room("", "");
    room.set_as_original(false);
    room.reset_odometry(None, "Cart", [1.0, 2.0, 0.5]).unwrap();
    assert!(room.place_m_robot(None, "Cart", [3.0, 4.0, 0.0], 0.15).unwrap());
    assert!(room.move_m_robot(None, "Cart", [0.2, 0.0], 1.0).unwrap());
    let (sin, cos) = 0.5_f64.sin_cos();
    assert_near(room.odometry(None, "Cart").unwrap(), [1.0 + 0.2 * cos, 2.0 + 0.2 * sin, 0.5]);
}

/// Users' programs measure the noise so: reset, move, compare; and again from the same place.
#[test]
fn a_calibration_of_the_odometry_finds_its_noise() {
    let mut room = room("", "odometry_noise: {distance: 0.045, heading: 0.02}");
    let mut errors = Vec::new();
    for _ in 0..2000 {
        assert!(room.place_m_robot(None, "Cart", [-4.0, 1.0, 0.0], 0.3).unwrap());
        room.reset_odometry(None, "Cart", [0.0; 3]).unwrap();
        assert!(room.move_m_robot(None, "Cart", [0.3, 0.0], 1.0).unwrap());
        let [x, y, _] = room.odometry(None, "Cart").unwrap();
        near(y, 0.0, 1e-9);
        errors.push(x - 0.3);
    }
    let variance = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    // (0.3 * 0.045)^2 = 1.8e-4
    assert!((1.6e-4..2.0e-4).contains(&variance), "{variance}");
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
    assert!(room.set_twist(None, "Cart", Twist::new(0.0, f64::INFINITY)).is_err());
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
