//! Lasers, ultrasonic sensors and landmarks.

use proptest::prelude::*;

use super::super::{LaserFigures, Sighting, UltrasonicFigures};
use super::{load, near};

/// A laser and an ultrasonic sensor at the origin, facing along x, and bodies.
fn room(bodies: &str) -> super::Worlds {
    load(&format!(
        "worlds:
- name: A
  seed: 3
  bodies:
{bodies}
  lasers:
  - {{name: laser, model: lms100}}
  - {{name: short, model: hokuyo}}
  - {{name: noisy, model: lms100, noise: 0.01}}
  - {{name: coarse, scan: {{beams: 5, first_angle: -3.141592653589793, last_angle: 3.141592653589793, min_range: 0.5, max_range: 8}}}}
  ultrasonics:
  - {{name: sonar}}
  - {{name: noisy_sonar, noise: 0.01}}
  landmarks:
  - {{name: LM1, id: 1, xyz: [3, 0, 0]}}
  - {{name: LM2, id: 2, xyz: [0, 6, 0]}}
  - {{name: LM3, id: 3, xyz: [-3, 0.1, 0]}}
  - {{name: LM4, id: 4, xyz: [0, -30, 0]}}
"
    ))
}

#[test]
fn figures_of_the_lasers() {
    let mut room = room("  - {name: far, xyz: [100, 0, 0], shapes: [{box: [1, 1, 1]}]}");
    let lms100 = room.laser_data(None, "laser").unwrap();
    assert_eq!(lms100, vec![20.0; 541]);
    assert_eq!(room.laser_data(None, "short").unwrap(), vec![4.095; 684]);
    assert_eq!(room.laser_data(None, "coarse").unwrap(), vec![8.0; 5]);
    let figures = room.laser_figures(None, "laser").unwrap();
    assert_eq!(figures, LaserFigures::LMS100);
    near(figures.first_angle.to_degrees(), -135.0, 1e-12);
    near((figures.first_angle + 540.0 * figures.angle_step).to_degrees(), 135.0, 1e-9);
    let hokuyo = LaserFigures::HOKUYO;
    near(hokuyo.first_angle + 683.0 * hokuyo.angle_step, 2.0944, 1e-12);
    // Distances below the laser's minimum range read as that.
    room.place_xyz(None, "far", [0.0; 3]).unwrap();
    assert_eq!(room.laser_data(None, "coarse").unwrap(), vec![0.5; 5]);
    assert_eq!(room.laser_data(None, "laser").unwrap(), vec![0.0; 541]);
    room.set_as_original(false);
    assert_eq!(room.ultrasonic(None, "sonar").unwrap(), 0.05);
}

#[test]
fn a_laser_does_not_see_what_is_above_or_below_its_plane() {
    let mut room = room("  - {name: low, xyz: [2, 0, -0.6], shapes: [{box: [1, 1, 1]}]}");
    assert!(room.laser_data(None, "laser").unwrap().iter().all(|range| *range == 20.0));
    // Tilted down by atan(0.3 / 2) it faces the front at x = 1.5, below -0.1.
    room.place(None, "laser", [0.0; 3], [0.0, 0.15, 0.0]).unwrap();
    near(room.laser_data(None, "laser").unwrap()[270], 1.5 / 0.15_f64.cos(), 1e-9);
}

#[test]
fn landmarks_need_a_line_of_sight() {
    let mut room = room("  - {name: screen, xyz: [0, 3, 0], shapes: [{box: [1, 0.1, 1]}]}");
    room.set_as_original(false);
    let seen = room.laser_landmarks(None, "laser").unwrap();
    // LM2 is behind the screen, LM3 behind the laser, LM4 too far away.
    assert_eq!(seen, [Sighting { id: 1, angle: 0.0, distance: 3.0 }]);
    room.place_xyz(None, "screen", [1.0, 0.0, 0.0]).unwrap();
    let seen = room.laser_landmarks(None, "laser").unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].id, 2);
    near(seen[0].angle, std::f64::consts::FRAC_PI_2, 1e-12);
    near(seen[0].distance, 6.0, 1e-12);
    // A landmark on a wall is seen, on the far face it is not.
    room.place_xyz(None, "screen", [3.5, 0.0, 0.0]).unwrap();
    assert_eq!(room.laser_landmarks(None, "laser").unwrap().len(), 2);
    room.place_xyz(None, "LM1", [4.0, 0.0, 0.0]).unwrap();
    assert_eq!(room.laser_landmarks(None, "laser").unwrap().len(), 1);
}

/// The rule of the original: the first surface in the direction of the landmark is at least 1 cm behind it.
#[test]
fn landmarks_are_seen_in_front_of_a_wall_only() {
    let mut room = room("  - {name: wall, xyz: [5, 0, 0], shapes: [{box: [0.1, 4, 4]}]}");
    let mut sees = |x: f64, z: f64| {
        room.place_xyz(None, "LM1", [x, 0.0, z]).unwrap();
        room.laser_landmarks(None, "laser").unwrap()
    };
    assert_eq!(sees(4.93, 0.0), [Sighting { id: 1, angle: 0.0, distance: 4.93 }]);
    // On the near face, nearer than 1 cm, on the far face, 5 mm behind it.
    for x in [4.95, 4.945, 5.05, 5.055] {
        assert_eq!(sees(x, 0.0), [], "{x}");
    }
    // The distance is that in space. Higher than the size of a landmark it is not seen, deeper it is.
    near(sees(4.0, -0.7)[0].distance, 4.0_f64.hypot(0.7), 1e-12);
    assert_eq!(sees(4.0, 0.39).len(), 1);
    assert_eq!(sees(4.0, 0.41), []);
    // Nothing behind it: not seen.
    room.place_xyz(None, "wall", [-50.0, 0.0, 0.0]).unwrap();
    room.place_xyz(None, "LM1", [4.0, 0.0, 0.0]).unwrap();
    assert_eq!(room.laser_landmarks(None, "laser").unwrap(), []);
}

#[test]
fn landmarks_have_the_noise_of_the_laser() {
    let mut worlds = load(
        "worlds:
- name: A
  seed: 5
  bodies: [{name: wall, xyz: [5, 0, 0], shapes: [{box: [0.1, 4, 4]}]}]
  lasers: [{name: laser, model: lms100, landmark_noise: {distance: 0.014, angle: 0.017}}]
  landmarks: [{name: LM1, id: 1, xyz: [4, 0, 0]}]
",
    );
    let mut squares = [0.0; 2];
    for _ in 0..4000 {
        let seen = worlds.laser_landmarks(None, "laser").unwrap()[0];
        squares[0] += (seen.distance - 4.0).powi(2);
        squares[1] += seen.angle.powi(2);
    }
    let [distance, angle] = squares.map(|sum| (sum / 4000.0).sqrt());
    near(distance, 0.014, 5e-4);
    near(angle, 0.017, 6e-4);
    // The beams have a noise of their own: none.
    near(worlds.laser_data(None, "laser").unwrap()[270], 4.95, 1e-12);
}

#[test]
fn the_cone_of_an_ultrasonic_sensor() {
    let room = |figures: &str| {
        load(&format!(
            "worlds:
- name: A
  bodies: [{{name: ball, shapes: [{{sphere: {{radius: 0.1}}}}]}}, {{name: wall, xyz: [20, 0, 0], shapes: [{{box: [0.1, 40, 40]}}]}}]
  ultrasonics: [{{name: sonar{figures}}}]
"
        ))
    };
    let at = |degrees: f64, distance: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        [distance * cos, distance * sin, 0.0]
    };
    for original in [false, true] {
        let mut usual = room("");
        usual.set_as_original(original);
        let mut range = |place: [f64; 3]| {
            usual.place_xyz(None, "ball", place).unwrap();
            usual.ultrasonic(None, "sonar").unwrap()
        };
        // 10 degrees to each side: a ball on the rim is met ahead of its centre.
        near(range(at(10.0, 2.0)), 1.9, 1e-9);
        near(range(at(-10.0, 2.0)), 1.9, 1e-9);
        assert_eq!(range(at(15.0, 2.0)), 3.0, "its edge is at 12.1 degrees");
        let mut wide = room(", half_angle: 0.3, min_range: 0.2, max_range: 6");
        wide.set_as_original(original);
        let mut range = |place: [f64; 3]| {
            wide.place_xyz(None, "ball", place).unwrap();
            wide.ultrasonic(None, "sonar").unwrap()
        };
        near(range(at(0.3_f64.to_degrees(), 2.0)), 1.9, 1e-9);
        near(range(at(0.0, 5.5)), 5.4, 1e-9);
        assert_eq!(range(at(0.0, 6.2)), 6.0);
        // What is nearer than the minimum range reads as that; the original looks past it.
        let close = range(at(0.0, 0.25));
        if original { assert_eq!(close, 6.0) } else { assert_eq!(close, 0.2) }
    }
    for bad in [", min_range: 4", ", half_angle: 1.6", ", half_angle: -0.1", ", max_range: .nan"] {
        let text = format!("worlds:\n- name: A\n  ultrasonics: [{{name: sonar{bad}}}]\n");
        super::refusal(&text);
    }
}

#[test]
fn a_surface_that_the_sound_grazes_gives_no_echo() {
    // 0.3 m above the floor the cone reaches it 1.7 m ahead, at 10 degrees.
    for original in [false, true] {
        let mut room = room("  - {name: floor, xyz: [0, 0, -0.8], shapes: [{box: [40, 40, 1]}]}");
        room.set_as_original(original);
        assert_eq!(room.ultrasonic(None, "sonar").unwrap(), 3.0);
        // Tilted down by 30 degrees it hits the floor at up to 40 degrees.
        room.place(None, "sonar", [0.0; 3], [0.0, 30_f64.to_radians(), 0.0]).unwrap();
        near(room.ultrasonic(None, "sonar").unwrap(), 0.3 / 40_f64.to_radians().sin(), 0.01);
    }
}

#[test]
fn a_robot_does_not_see_itself() {
    let mut worlds = load(
        "worlds:
- name: A
  bodies: [{name: wall, xyz: [2, 0, 0.3], shapes: [{box: [0.2, 4, 1]}]}, {name: floor, xyz: [0, 0, -0.5], shapes: [{box: [9, 9, 1]}]}]
  wheeled_robots:
  - {name: Cart, wheel_radius: 0.1, supports: [[0.2, 0.2], [0.2, -0.2], [-0.2, 0]], body: [{box: [0.6, 0.5, 0.4], xyz: [0, 0, 0.3]}]}
  lasers: [{name: laser, on: Cart, xyz: [0.1, 0, 0.3], model: lms100}]
  ultrasonics: [{name: front, on: cart, xyz: [0, 0, 0.3]}, {name: free, xyz: [0, 0, 5]}, {name: left, on: Cart, xyz: [0, 0, 0.3], rpy: [0, 0, 1.5708]}]
",
    );
    near(worlds.laser_data(None, "laser").unwrap()[270], 1.8, 1e-9);
    let all = worlds.all_ultrasonics(None, "Cart").unwrap();
    assert_eq!(all.len(), 2);
    near(all[0], 1.9, 1e-9);
    assert_eq!(all[1], 3.0);
    assert_eq!(worlds.ultrasonic(None, "front").unwrap(), all[0]);
    assert_eq!(worlds.all_ultrasonics(None, "wall").unwrap(), Vec::<f64>::new());
    // They move with the robot.
    worlds.move_m_robot(None, "Cart", [1.0, 0.0], 0.5).unwrap();
    near(worlds.laser_data(None, "laser").unwrap()[270], 1.3, 1e-9);
    near(worlds.location(None, "laser").unwrap()[0], 0.6, 1e-9);
    let world = worlds.world(None).unwrap();
    assert_eq!(world.carrier("laser").map(|object| object.name()), Some("Cart"));
    assert!(world.carrier("free").is_none());
}

#[test]
fn a_laser_can_see_the_pillars_of_its_robot() {
    // In a housing between four pillars, upside down, as on a TurtleBot 2; the plates are above and below its plane.
    let room = |sees: bool| {
        load(&format!(
            "worlds:
- name: A
  bodies: [{{name: left, xyz: [0, 2, 0.3], shapes: [{{box: [8, 0.2, 1]}}]}}]
  wheeled_robots:
  - name: Cart
    wheel_radius: 0.1
    supports: [[0.2, 0.2], [0.2, -0.2], [-0.2, 0]]
    body:
    - {{box: [0.06, 0.06, 0.06], xyz: [0, 0, 0.36]}}
    - {{cylinder: {{radius: 0.165, length: 0.006}}, xyz: [0, 0, 0.2]}}
    - {{cylinder: {{radius: 0.165, length: 0.006}}, xyz: [0, 0, 0.41]}}
    - {{cylinder: {{radius: 0.006, length: 0.2}}, xyz: [0.0381, 0.1505, 0.3]}}
    - {{cylinder: {{radius: 0.006, length: 0.2}}, xyz: [0.0381, -0.1505, 0.3]}}
    - {{cylinder: {{radius: 0.006, length: 0.2}}, xyz: [-0.0381, 0.1505, 0.3]}}
    - {{cylinder: {{radius: 0.006, length: 0.2}}, xyz: [-0.0381, -0.1505, 0.3]}}
  lasers: [{{name: laser, on: Cart, xyz: [0, 0, 0.35], rpy: [3.141592653589793, 0, 0], model: hokuyo, sees_carrier: {sees}}}]
"
        ))
    };
    let figures = LaserFigures::HOKUYO;
    let angle = |beam: usize| figures.first_angle + beam as f64 * figures.angle_step;
    let beam = |angle: f64| ((angle - figures.first_angle) / figures.angle_step).round() as usize;
    let free = room(false).laser_data(None, "laser").unwrap();
    let ranges = room(true).laser_data(None, "laser").unwrap();
    // Upside down, its left is the robot's right: the wall is at negative angles.
    near(free[beam(-std::f64::consts::FRAC_PI_2)], 1.9, 1e-3);
    assert_eq!(free[beam(std::f64::consts::FRAC_PI_2)], 4.095);
    // All pillars are within its angles, behind as well as ahead.
    let pillar = 0.1505_f64.atan2(0.0381);
    for direction in [pillar, -pillar, std::f64::consts::PI - pillar, pillar - std::f64::consts::PI] {
        near(ranges[beam(direction)], 0.1505_f64.hypot(0.0381) - 0.006, 1e-4);
    }
    let half_width = (0.006 / 0.1505_f64.hypot(0.0381)).asin();
    for (at, (range, free)) in ranges.iter().zip(&free).enumerate() {
        let off = [pillar, std::f64::consts::PI - pillar].map(|middle| (angle(at).abs() - middle).abs());
        let hidden = off.iter().any(|off| *off < half_width);
        assert_eq!(*range < 0.2, hidden, "beam {at}: {range}");
        assert!(hidden || range == free, "beam {at}: {range}, {free}");
    }
}

#[test]
fn noise_depends_on_the_seed_and_has_the_right_size() {
    let scans = || {
        let mut room = room("  - {name: shell, xyz: [5, 0, 0], shapes: [{box: [0.1, 100, 1]}]}");
        let quiet = room.laser_data(None, "laser").unwrap();
        let noisy = room.laser_data(None, "noisy").unwrap();
        let again = room.laser_data(None, "noisy").unwrap();
        let sonar = room.ultrasonic(None, "noisy_sonar").unwrap();
        (quiet, noisy, again, sonar)
    };
    let (quiet, noisy, again, _) = scans();
    assert_eq!(scans(), scans());
    assert_ne!(noisy, again);
    let errors: Vec<f64> =
        quiet.iter().zip(&noisy).filter(|(range, _)| **range < 19.0).map(|(a, b)| a - b).collect();
    let len = errors.len() as f64;
    let deviation = (errors.iter().map(|error| error * error).sum::<f64>() / len).sqrt();
    assert!(len > 250.0 && deviation > 0.008 && deviation < 0.012, "{deviation} of {len}");
    // No noise if nothing was measured.
    assert!(noisy.iter().zip(&quiet).all(|(noisy, quiet)| *quiet < 20.0 || *noisy == 20.0));
}

proptest! {
    /// A box wall ahead, rotated by an angle: every beam compared with the line's equation.
    #[test]
    fn beams_against_a_wall(distance in 0.5..8.0_f64, turned in -1.2..1.2_f64) {
        // Its front is the line with normal (cos, sin) at this distance.
        let (sin, cos) = turned.sin_cos();
        let (x, y) = (distance + 0.1, 0.0);
        let mut room = room("  - {name: wall, shapes: [{box: [0.2, 400, 2]}]}");
        room.place(None, "wall", [x * cos - y * sin, x * sin + y * cos, 0.0], [0.0, 0.0, turned]).unwrap();
        room.set_as_original(false);
        let figures = LaserFigures::LMS100;
        for (beam, range) in room.laser_data(None, "laser").unwrap().into_iter().enumerate() {
            let off = (figures.first_angle + beam as f64 * figures.angle_step - turned).cos();
            let expected = if off > 1e-3 { (distance / off).min(20.0) } else { 20.0 };
            prop_assert!((range - expected).abs() < 1e-6, "beam {beam}: {range}, {expected}");
        }
        // In the cone the nearest point is the foot of the perpendicular, or on its rim.
        let off = (turned.abs() - UltrasonicFigures::default().half_angle).max(0.0);
        let expected = (distance / off.cos()).clamp(0.05, 3.0);
        let measured = room.ultrasonic(None, "sonar").unwrap();
        prop_assert!((measured - expected).abs() < 1e-6, "{measured}, {expected}");
    }

    /// A cylinder anywhere around the laser: every beam compared with the circle's equation. A sphere and the same
    /// cylinder give the same scan in the plane of their centres.
    #[test]
    fn beams_against_a_cylinder(distance in 0.6..10.0_f64, towards in -3.2..3.2_f64, radius in 0.05..0.5_f64) {
        let mut room = room(&format!(
            "  - {{name: can, shapes: [{{cylinder: {{radius: {radius}, length: 1}}}}]}}
  - {{name: ball, xyz: [0, 0, 90], shapes: [{{sphere: {{radius: {radius}}}}}]}}"
        ));
        let (sin, cos) = towards.sin_cos();
        for (here, away) in [("can", "ball"), ("ball", "can")] {
            room.place_xyz(None, away, [0.0, 0.0, 90.0]).unwrap();
            room.place_xyz(None, here, [distance * cos, distance * sin, 0.0]).unwrap();
            let figures = LaserFigures::LMS100;
            for (beam, range) in room.laser_data(None, "laser").unwrap().into_iter().enumerate() {
                let (across, along) = (figures.first_angle + beam as f64 * figures.angle_step - towards).sin_cos();
                let root = radius * radius - distance * distance * across * across;
                // Exactly at the edge both results are right.
                if root.abs() > 1e-9 {
                    let hit = root > 0.0 && along > 0.0;
                    let expected = if hit { distance * along - root.sqrt() } else { 20.0 };
                    prop_assert!((range - expected).abs() < 1e-6, "{here}, beam {beam}: {range}, {expected}");
                }
            }
        }
    }

    /// A sphere near the cone: the nearest point in it has a closed form.
    #[test]
    fn cone_against_a_sphere(distance in 0.5..2.5_f64, off in 0.0..0.4_f64, around in 0.0..6.3_f64, radius in 0.02..0.4_f64) {
        let half = UltrasonicFigures::default().half_angle;
        let across = distance * off.sin();
        let centre = [distance * off.cos(), across * around.cos(), across * around.sin()];
        let mut room = room(&format!("  - {{name: ball, shapes: [{{sphere: {{radius: {radius}}}}}]}}"));
        room.place_xyz(None, "ball", centre).unwrap();
        room.set_as_original(false);
        let outside = (off - half).max(0.0);
        let root = radius * radius - (distance * outside.sin()).powi(2);
        // The sine of the angle at which the sound meets the sphere; below 0.4 there is no echo.
        let incidence = root.max(0.0).sqrt() / radius;
        if root.abs() > 1e-6 && (incidence - 0.4).abs() > 1e-3 {
            let expected = if incidence > 0.4 { distance * outside.cos() - root.sqrt() } else { 3.0 };
            let measured = room.ultrasonic(None, "sonar").unwrap();
            prop_assert!((measured - expected.clamp(0.05, 3.0)).abs() < 1e-5, "{measured}, {expected}");
        }
    }
}
