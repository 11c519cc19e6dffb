//! The two applications as the TurtleBot thesis prints them (5.2, 5.3): the same calls in the same order with the same
//! numbers, on the simulator's settings of the thesis. Numbers that it names without a value are ours, and marked.

mod common;

use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Duration;

use common::virtual_lab::{LabSettings, ROBOT, VirtualLab};
use dragoman_apps::program::{Action, Joint};
use dragoman_geometry::{Pose, Twist};
use dragoman_sim::kobuki::Noise;
use dragoman_world::{CameraFigures, Worlds};

/// Speed ahead, m/s (TurtleBot thesis, A.4).
const LINEAR: f64 = 0.2;
/// Normal and slow turn rate, rad/s. The first is that of A.4, the second is ours.
const TURN: f64 = FRAC_PI_2;
const SLOW_TURN: f64 = 0.05;

/// A scene with the noise of the thesis' simulator; the robot stands at its pose in the scene.
fn lab(scene: &str, seed: u64) -> VirtualLab {
    let settings = LabSettings { seed, noise: Noise::Raw, start: Pose::ORIGIN };
    VirtualLab::new(Worlds::scene(scene).unwrap().unwrap(), settings).unwrap()
}

/// The toolbox of the thesis, as its programs use it.
struct Turtle {
    lab: VirtualLab,
}

impl Turtle {
    fn velocity(&mut self, linear: f64, angular: f64) {
        self.lab.execute(Action::Velocity(Twist::new(linear, angular))).unwrap();
    }

    fn pause(&mut self, seconds: f64) {
        self.lab.wait(Duration::from_secs_f64(seconds)).unwrap();
    }

    fn command(&mut self, joint: Joint, position: f64) {
        self.lab.execute(Action::Command(joint, position)).unwrap();
    }

    fn speed(&mut self, joint: Joint, speed: f64) {
        self.lab.execute(Action::SetSpeed(joint, speed)).unwrap();
    }

    /// Position, m, and heading, degrees; and whether a bumper or a cliff sensor is active.
    fn sense(&mut self) -> (f64, f64, f64, bool) {
        let (pose, contacts) = self.lab.receive().unwrap();
        (pose.x, pose.y, pose.heading.to_degrees(), contacts.obstacle())
    }

    /// What both drives do at an obstacle.
    fn back_off(&mut self, speed: f64) {
        self.velocity(-speed, 0.0);
        self.pause(1.5);
        self.velocity(0.0, TURN);
        self.pause(1.5);
    }
}

/// The first application (TurtleBot thesis, 5.2).
fn carry(turtle: &mut Turtle) {
    let (mut x, ..) = turtle.sense();
    while x < 2.915 {
        let (here, _, theta, obstacle) = turtle.sense();
        x = here;
        if obstacle {
            turtle.back_off(0.2);
        } else {
            turtle.velocity(LINEAR, -0.1 * theta);
        }
    }
    turtle.velocity(0.0, 0.0);
    turtle.pause(1.0);

    turtle.command(Joint::Biceps, FRAC_PI_2);
    turtle.pause(1.5);
    turtle.command(Joint::Forearm, -FRAC_PI_2);
    turtle.pause(1.5);
    turtle.command(Joint::Arm, 0.0);
    turtle.pause(1.5);
    turtle.speed(Joint::Shoulder, 10_f64.to_radians());
    turtle.command(Joint::Shoulder, 65_f64.to_radians());
    turtle.pause(5.0);
    turtle.speed(Joint::Shoulder, 100_f64.to_radians());
    turtle.command(Joint::Wrist, 0.0);
    turtle.pause(1.5);
    turtle.command(Joint::Gripper, 1.0);
    turtle.pause(2.0);

    turtle.command(Joint::Shoulder, (-15_f64).to_radians());
    turtle.command(Joint::Forearm, FRAC_PI_2);
    turtle.command(Joint::Biceps, -FRAC_PI_2);
    turtle.command(Joint::Wrist, 0.0);
    turtle.command(Joint::Shoulder, -FRAC_PI_2);
    turtle.pause(1.0);

    let (_, _, mut theta, _) = turtle.sense();
    while !(179.5..=180.5).contains(&theta) {
        (_, _, theta, _) = turtle.sense();
        let rate = if theta > 180.5 {
            if (theta - 180.5).abs() > 15.0 { -TURN } else { -SLOW_TURN }
        } else if (theta - 179.5).abs() > 15.0 {
            TURN
        } else {
            SLOW_TURN
        };
        turtle.velocity(0.0, rate);
    }
    turtle.velocity(0.0, 0.0);

    let (mut x, ..) = turtle.sense();
    while x > -3.0 {
        let (here, _, _, obstacle) = turtle.sense();
        x = here;
        if obstacle {
            turtle.back_off(TURN);
        } else {
            turtle.velocity(LINEAR, 0.0);
        }
    }
    turtle.velocity(0.0, 0.0);
    turtle.pause(1.0);

    turtle.command(Joint::Shoulder, 40_f64.to_radians());
    turtle.command(Joint::Biceps, 50_f64.to_radians());
    turtle.command(Joint::Forearm, -FRAC_PI_2);
    turtle.pause(2.0);
    turtle.command(Joint::Gripper, 0.0);
    turtle.pause(2.0);
    turtle.command(Joint::Shoulder, 0.0);
    turtle.command(Joint::Forearm, 0.0);
    turtle.command(Joint::Biceps, 0.0);
    turtle.pause(2.0);
    for joint in [Joint::Arm, Joint::Shoulder, Joint::Biceps, Joint::Forearm, Joint::Wrist] {
        turtle.lab.execute(Action::Relax(joint)).unwrap();
    }
}

#[test]
fn the_first_application_as_printed_carries_the_cube() {
    for seed in 1..=4 {
        let mut turtle = Turtle { lab: lab("laboratory", seed) };
        let place = |turtle: &mut Turtle, name| turtle.lab.worlds().location(None, name).unwrap();
        let [x, ..] = place(&mut turtle, "cube");
        assert!(x > 3.0, "it begins on the far table");
        carry(&mut turtle);
        let [x, y, z, ..] = place(&mut turtle, "cube");
        let [table_x, table_y, ..] = place(&mut turtle, "near table");
        // On the table of 55 cm, whose top is 46 cm high; the cube has 3 cm.
        let most = 0.275 - 0.015;
        assert!((x - table_x).abs() < most && (y - table_y).abs() < most, "seed {seed}: x {x} y {y}");
        assert!((z - 0.475).abs() < 1e-3, "seed {seed}: {z}");
        // The odometry is exact: a tick is 0.085 mm, the heading has hundredths of a degree.
        let odometry = turtle.lab.odometry();
        let [true_x, true_y, _, heading] = turtle.lab.worlds().location_m_robot(None, ROBOT).unwrap();
        assert!((odometry.x - true_x).abs() < 0.005 && (odometry.y - true_y).abs() < 0.005, "{odometry:?}");
        assert!(
            ((odometry.heading - heading + PI).rem_euclid(2.0 * PI) - PI).abs() < 3e-4,
            "{odometry:?} {heading}"
        );
    }
}

/// What the thesis names without a value (5.3): factors of attraction and repulsion, and both speeds.
#[derive(Debug, Clone, Copy)]
struct Ours {
    attraction: f64,
    repulsion: f64,
    fast: f64,
    slow: f64,
}

/// The second application (TurtleBot thesis, 5.3). `watch` is called in every cycle with the repulsion, and ends the
/// program with false.
fn navigate(
    turtle: &mut Turtle,
    targets: &[[f64; 2]],
    ours: Ours,
    mut watch: impl FnMut(&mut Turtle, f64) -> bool,
) {
    for (number, &[goal_x, goal_y]) in targets.iter().enumerate() {
        let (x, y, ..) = turtle.sense();
        let mut distance = (goal_x - x).hypot(goal_y - y);
        while distance > 0.05 {
            let (x, y, theta, _) = turtle.sense();
            let theta = theta.to_radians();
            distance = (goal_x - x).hypot(goal_y - y);
            let (grey, column) = nearest(turtle);
            let repulsion = if grey < 120.0 { 0.0 } else { ours.repulsion * (grey - 120.0) };
            let angle = ((320.0 - column) * (28.5 / 320.0)).to_radians();
            let push = [(angle + theta + PI).cos(), (angle + theta + PI).sin()].map(|part| repulsion * part);
            let is_last = number + 1 == targets.len();
            let speed = if distance < 0.5 && is_last { ours.slow } else { ours.fast };
            let attraction = ours.attraction * distance.max(0.5);
            let total = [push[0] + attraction * (goal_x - x), push[1] + attraction * (goal_y - y)];
            let own = [10.0 * theta.cos(), 10.0 * theta.sin()];
            let angle = total[1].atan2(total[0]) - own[1].atan2(own[0]);
            let rate = if angle.abs() > PI { -angle } else { angle };
            turtle.velocity(speed, rate.clamp(-FRAC_PI_2, FRAC_PI_2));
            if !watch(turtle, repulsion) {
                return;
            }
        }
    }
    turtle.velocity(0.0, 0.0);
    turtle.pause(1.0);
}

/// The maximum grey value of the image's row 240, and its column, both counted from 1; the first of equal ones.
fn nearest(turtle: &mut Turtle) -> (f64, f64) {
    let figures = CameraFigures::KINECT;
    let image = turtle.lab.receive_depth().unwrap();
    let line = &image.depths()[239 * image.width()..][..image.width()];
    let greys = line.iter().map(|depth| figures.grey(*depth));
    let (column, grey) =
        greys.enumerate().fold((0, 0), |best, next| if next.1 > best.1 { next } else { best });
    (f64::from(grey), column as f64 + 1.0)
}

/// Where the robot stands, whether it has touched something, and how often an obstacle repelled it.
struct Journey {
    place: [f64; 4],
    has_touched: bool,
    repelled: u32,
}

fn journey(targets: &[[f64; 2]], ours: Ours, seed: u64) -> Journey {
    let mut turtle = Turtle { lab: lab("corridor", seed) };
    let mut journey = Journey { place: [0.0; 4], has_touched: false, repelled: 0 };
    navigate(&mut turtle, targets, ours, |turtle, repulsion| {
        let bumpers = turtle.lab.kobuki().inputs.bumpers;
        journey.has_touched |= bumpers.left || bumpers.center || bumpers.right;
        journey.repelled += u32::from(repulsion > 0.0);
        !journey.has_touched && turtle.lab.now() < Duration::from_secs(150)
    });
    journey.place = turtle.lab.worlds().location_m_robot(None, ROBOT).unwrap();
    journey
}

/// From the laboratory at the bottom right through both doors to that at the top left (figure 5.6), with beacons on the
/// way. The law of the thesis has several targets, because it gets stuck otherwise.
#[test]
fn the_second_application_as_printed_gets_through_the_corridor() {
    let targets = [
        [1.4, -0.2],
        [2.5, 0.7],
        [2.8, 2.0],
        [2.6, 3.2],
        [1.9, 3.8],
        [1.1, 3.9],
        [0.3, 3.5],
        [-0.4, 3.1],
        [-1.6, 3.0],
        [-2.9, 3.0],
        [-3.5, 3.5],
        [-4.3, 3.7],
        [-5.0, 4.3],
        [-5.0, 5.2],
        [-5.2, 6.2],
        [-6.2, 6.5],
    ];
    let ours = Ours { attraction: 1.0, repulsion: 0.0003, fast: 0.25, slow: LINEAR };
    for seed in 1..=3 {
        let Journey { place: [x, y, ..], has_touched, repelled } = journey(&targets, ours, seed);
        assert!(!has_touched && (x + 6.2).hypot(y - 6.5) < 0.1, "seed {seed}: {has_touched} {x} {y}");
        assert!(repelled > 100, "seed {seed}: {repelled}");
    }
}

/// The beacon before the first door is beside the straight way: without the repulsion by grey values above 120 the robot
/// hits it.
#[test]
fn the_printed_law_steers_around_a_beacon_by_its_grey_values() {
    for (repulsion, touches) in [(0.01, false), (0.0, true)] {
        let ours = Ours { attraction: 1.0, repulsion, fast: LINEAR, slow: LINEAR };
        let Journey { place: [x, y, ..], has_touched, repelled } = journey(&[[2.9, 1.5]], ours, 1);
        assert_eq!(has_touched, touches, "{x} {y}");
        assert_eq!(repelled > 0, !touches);
        assert_eq!((x - 2.9).hypot(y - 1.5) < 0.1, !touches, "{x} {y}");
    }
}
