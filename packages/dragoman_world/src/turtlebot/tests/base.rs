//! Wheels, bumpers, cliffs, hanging wheels.

use super::*;

const WALL: &str = "  - {name: wall, xyz: [1, 0, 0.5], shapes: [{box: [0.1, 6, 1]}]}\n";

#[test]
fn it_goes_where_its_wheels_take_it() {
    let mut lab = Lab::new("");
    lab.drive(0.3, 0.0, 2.0);
    lab.stop();
    lab.drive(0.2, 0.5, 3.0);
    lab.stop();
    let ([x, y, z, heading], [odometry_x, odometry_y, turned]) = (lab.place(), lab.odometry());
    assert!(x > 0.8 && y > 0.2, "{x}, {y}");
    near(z, 0.0, 1e-9);
    near(turned, heading, 1e-9);
    // The world applies the turn before the translation, in steps of 10 ms.
    near(odometry_x, x, 2e-3);
    near(odometry_y, y, 2e-3);
    // The simulated base knows its true pose.
    let pose = lab.kobuki.pose();
    near(pose.x, x, 1e-12);
    near(pose.heading, heading, 1e-12);
    assert_eq!((lab.bumpers(), lab.cliffs()), ([false; 3], [false; 3]));
    let origin = lab.robot.odometry_origin(&mut lab.worlds).unwrap();
    near(origin.translation.vector.norm(), 0.0, 1e-6);
    near(origin.rotation.angle(), 0.0, 1e-9);
}

#[test]
fn a_wall_ahead_stops_it_and_presses_the_middle() {
    let mut lab = Lab::new(WALL);
    lab.drive(0.5, 0.0, 4.0);
    let gap = lab.worlds.distance(None, ROBOT, "wall").unwrap();
    assert!(gap > 0.0 && gap < 2e-4, "{gap}");
    assert_eq!(lab.bumpers(), [false, true, false]);
    assert_eq!(lab.kobuki.inputs.motion, Some(Twist::ZERO));
    assert_eq!(lab.kobuki.twist(), Twist::ZERO);
    // The wheels slip: the odometry pose is inside the wall.
    assert!(lab.odometry()[0] > 1.5, "{:?}", lab.odometry());
    lab.drive(-0.2, 0.0, 0.5);
    assert_eq!((lab.bumpers(), lab.kobuki.inputs.motion), ([false; 3], None));
    assert!(lab.worlds.distance(None, ROBOT, "wall").unwrap() > 0.03);
}

#[test]
fn a_wall_beside_presses_that_side() {
    for (side, pressed) in [(1.0, [true, false, false]), (-1.0, [false, false, true])] {
        let mut lab = Lab::new(WALL);
        // The wall is 60 degrees to the side.
        assert!(
            lab.worlds
                .place_m_robot(None, ROBOT, [0.5, 0.0, 0.1], -side * std::f64::consts::FRAC_PI_3)
                .unwrap()
        );
        lab.drive(0.3, 0.0, 2.5);
        assert_eq!(lab.bumpers(), pressed);
    }
}

#[test]
fn a_wall_behind_presses_nothing() {
    let mut lab = Lab::new(WALL);
    assert!(lab.worlds.place_m_robot(None, ROBOT, [0.6, 0.0, 0.1], std::f64::consts::PI).unwrap());
    lab.drive(-0.3, 0.0, 2.0);
    assert_eq!((lab.bumpers(), lab.kobuki.inputs.motion), ([false; 3], Some(Twist::ZERO)));
}

#[test]
fn what_is_above_the_bumper_stops_it_and_presses_nothing() {
    // A shelf at the height of the plates.
    let mut lab = Lab::new("  - {name: shelf, xyz: [1, 0, 0.3], shapes: [{box: [0.4, 1, 0.3]}]}\n");
    lab.drive(0.3, 0.0, 3.0);
    assert!(lab.place()[0] < 0.8);
    assert_eq!((lab.bumpers(), lab.kobuki.inputs.motion), ([false; 3], Some(Twist::ZERO)));
}

#[test]
fn pressed_against_a_wall_it_can_still_turn() {
    let mut lab = Lab::new(WALL);
    lab.drive(0.4, 0.0, 3.0);
    let before = lab.place()[3];
    lab.drive(0.1, 0.8, 1.0);
    let turned = lab.place()[3] - before;
    assert!((0.6..0.81).contains(&turned), "{turned}");
    near(lab.kobuki.twist().angular, 0.8, 0.05);
}

#[test]
fn the_sensors_see_the_edge_of_a_table_and_it_does_not_fall() {
    let mut lab = Lab::new("  - {name: table, xyz: [3, 3, 0.25], shapes: [{box: [1.5, 1.5, 0.5]}]}\n");
    assert!(lab.worlds.place_m_robot(None, ROBOT, [3.0, 3.0, 0.6], 0.0).unwrap());
    lab.run(0.1);
    assert_eq!(lab.cliffs(), [false; 3]);
    // The front sensor is beyond the edge, the others are not.
    lab.drive(0.2, 0.0, 3.1);
    lab.stop();
    let [x, _, z, _] = lab.place();
    assert!((3.594..3.65).contains(&x), "{x}");
    near(z, 0.5, 1e-9);
    assert_eq!(lab.cliffs(), [false, true, false]);
    // It drives on despite the warnings: held where its caster would lose the ground.
    lab.drive(0.2, 0.0, 3.0);
    let [x, _, z, _] = lab.place();
    near(z, 0.5, 1e-9);
    near(x, 3.75 - 0.115, 1e-3);
    assert_eq!(lab.kobuki.inputs.motion, Some(Twist::ZERO));
    // Beyond the edge with one side.
    assert!(lab.worlds.place_m_robot(None, ROBOT, [3.3, 3.62, 0.6], 0.0).unwrap());
    lab.run(0.1);
    assert_eq!(lab.cliffs(), [true, false, false]);
}

#[test]
fn a_step_counts_as_a_cliff_from_five_centimetres_on() {
    assert_eq!(cliff_adc(0.03, Some(0.03)), CLIFF_ADC_FLOOR);
    assert!(cliff_adc(0.03, Some(0.078)) > CLIFF_THRESHOLD);
    assert!(cliff_adc(0.03, Some(0.082)) < CLIFF_THRESHOLD);
    assert_eq!(cliff_adc(0.03, None), CLIFF_ADC_EDGE);
}

#[test]
fn turning_wheels_do_not_move_a_lifted_base() {
    let mut lab = Lab::new("");
    lab.drive(0.2, 0.0, 1.0);
    lab.stop();
    let (held, odometry) = ([lab.place()[0], 1.0, 0.3], lab.odometry());
    lab.worlds.place(None, ROBOT, held, [0.0, 0.0, 0.5]).unwrap();
    lab.run(0.1);
    assert_eq!(lab.odometry(), odometry);
    lab.drive(0.3, 0.0, 1.0);
    lab.stop();
    assert_eq!(lab.kobuki.inputs.wheel_drops, Wheels { left: true, right: true });
    assert_eq!(lab.cliffs(), [true; 3]);
    for (is, was) in lab.place().into_iter().zip([held[0], held[1], held[2], 0.5]) {
        near(is, was, 1e-12);
    }
    // Back on the ground it continues to drive.
    assert!(lab.worlds.place_m_robot(None, ROBOT, [0.0, 1.0, 0.3], 0.5).unwrap());
    lab.drive(0.3, 0.0, 1.0);
    assert_eq!((lab.kobuki.inputs.wheel_drops, lab.cliffs()), (Wheels::default(), [false; 3]));
    let [x, y, _, _] = lab.place();
    assert!(x > 0.2, "{x}");
    near(y - 1.0, x * 0.5_f64.tan(), 1e-6);
}

#[test]
fn one_wheel_over_an_edge_hangs_alone() {
    let mut lab = Lab::new("  - {name: block, xyz: [0, 3, 0.15], shapes: [{box: [0.6, 0.6, 0.3]}]}\n");
    lab.worlds.place(None, ROBOT, [0.0, 3.25, 0.3], [0.0; 3]).unwrap();
    lab.run(0.1);
    assert_eq!(lab.kobuki.inputs.wheel_drops, Wheels { left: true, right: false });
}

#[test]
fn put_into_a_wall_it_can_drive_out() {
    let mut lab = Lab::new(WALL);
    lab.worlds.place(None, ROBOT, [0.8, 0.0, 0.0], [0.0; 3]).unwrap();
    lab.drive(-0.3, 0.0, 1.0);
    assert!(lab.worlds.distance(None, ROBOT, "wall").unwrap() > 0.05);
}

#[test]
fn apolo_may_carry_it_and_the_odometry_does_not_notice() {
    let mut lab = Lab::new("");
    lab.drive(0.2, 0.0, 1.0);
    lab.stop();
    let (x, counted) = (lab.place()[0], lab.kobuki.wheel_angles());
    assert!(lab.worlds.move_m_robot(None, ROBOT, [0.5, 0.0], 1.0).unwrap());
    lab.run(0.1);
    near(lab.place()[0], x + 0.5, 1e-9);
    assert_eq!(lab.kobuki.wheel_angles(), counted);
    let origin = lab.robot.odometry_origin(&mut lab.worlds).unwrap();
    near(origin.translation.vector.x, 0.5, 1e-6);
}

#[test]
fn worlds_without_the_robot_are_refused() {
    let mut lab = Lab::new("");
    let mut others = Worlds::from_yaml("worlds: [{name: Empty}]", &|_| Err(String::new())).unwrap();
    assert!(lab.robot.exchange_base(&mut others, &mut lab.kobuki).is_err());
    assert!(Turtlebot::new(&mut others, None, ROBOT).is_err());
    assert!(Turtlebot::new(&mut lab.worlds, None, ARM).is_err());
    assert!(Turtlebot::new(&mut lab.worlds, None, "floor").is_err());
}

#[test]
fn the_same_run_twice_is_the_same() {
    let run = || {
        let mut lab = Lab::new(WALL);
        for (linear, angular) in [(0.4, 0.3), (0.5, -0.6), (0.3, 0.0), (-0.2, 0.9)] {
            lab.drive(linear, angular, 1.3);
        }
        (lab.place(), lab.odometry(), lab.kobuki.inputs.clone())
    };
    assert_eq!(run(), run());
}
