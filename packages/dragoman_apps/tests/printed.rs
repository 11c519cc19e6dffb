//! The two applications as the TurtleBot thesis prints them (5.2, 5.3): the same calls in the same order with the same
//! numbers, on the simulator's settings of the thesis. Numbers that it names without a value are ours, and marked.

mod common;

use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Duration;

use common::virtual_lab::{LabSettings, VirtualLab};
use dragoman_apps::program::{Action, Joint};
use dragoman_geometry::{Pose, Twist};
use dragoman_sim::kobuki::Noise;
use dragoman_world::{CameraFigures, Worlds};

/// Speed ahead, m/s (TurtleBot thesis, A.4).
const LINEAR: f64 = 0.2;
/// Normal and slow turn rate, rad/s. The first is that of A.4, the second is ours.
const TURN: f64 = FRAC_PI_2;
const SLOW_TURN: f64 = 0.05;

/// A scene with the noise of the thesis' simulator; the robot stands as the scene has it.
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
        let [true_x, true_y, _, heading] = turtle.lab.worlds().location_m_robot(None, common::virtual_lab::ROBOT).unwrap();
        assert!((odometry.x - true_x).abs() < 0.005 && (odometry.y - true_y).abs() < 0.005, "{odometry:?}");
        assert!(((odometry.heading - heading + PI).rem_euclid(2.0 * PI) - PI).abs() < 3e-4, "{odometry:?} {heading}");
    }
}

/// What the thesis names without a value (5.3): factors of attraction and repulsion, both speeds, and the targets.
#[derive(Debug, Clone, Copy)]
struct Ours {
    attraction: f64,
    repulsion: f64,
    fast: f64,
    slow: f64,
}

/// The second application (TurtleBot thesis, 5.3). `watch` is called in every cycle, and ends the program with false.
fn navigate(turtle: &mut Turtle, targets: &[[f64; 2]], ours: Ours, mut watch: impl FnMut(&mut Turtle) -> bool) {
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
            if !watch(turtle) {
                return;
            }
        }
    }
    turtle.velocity(0.0, 0.0);
    turtle.pause(1.0);
}

/// The largest grey value of the image's row 240, and its column, both counted from 1; the first of equal ones.
fn nearest(turtle: &mut Turtle) -> (f64, f64) {
    let figures = CameraFigures::KINECT;
    let image = turtle.lab.receive_depth().unwrap();
    let line = &image.depths()[239 * image.width()..][..image.width()];
    let greys = line.iter().map(|depth| figures.grey(*depth));
    let (column, grey) = greys.enumerate().fold((0, 0), |best, next| if next.1 > best.1 { next } else { best });
    (f64::from(grey), column as f64 + 1.0)
}

#[test]
#[ignore = "search"]
fn search() {
    let read = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let targets: Vec<[f64; 2]> = read("TARGETS", "2.8 1.7; 2.8 3.4; -1.4 3.5; -5.0 3.6; -5.0 5.4; -6.5 6.5")
        .split(';')
        .map(|pair| {
            let mut numbers = pair.split_whitespace().map(|number| number.parse().unwrap());
            [numbers.next().unwrap(), numbers.next().unwrap()]
        })
        .collect();
    let list = |name: &str, default: &str| -> Vec<f64> {
        read(name, default).split_whitespace().map(|number| number.parse().unwrap()).collect()
    };
    for repulsion in list("KR", "0.001 0.002 0.004 0.008 0.016") {
        for fast in list("FAST", "0.2 0.3") {
            for seed in 1..=2 {
                let ours = Ours { attraction: 1.0, repulsion, fast, slow: LINEAR };
                let mut turtle = Turtle { lab: lab("corridor", seed) };
                let (mut end, mut touched) = ([0.0; 4], None);
                navigate(&mut turtle, &targets, ours, |turtle| {
                    end = turtle.lab.worlds().location_m_robot(None, common::virtual_lab::ROBOT).unwrap();
                    let bumpers = turtle.lab.kobuki().inputs.bumpers;
                    if bumpers.left || bumpers.center || bumpers.right {
                        touched = Some(turtle.lab.now());
                    }
                    if seed == 1 && read("TRACE", "") == "1" && turtle.lab.now().as_millis() % 1000 < 120 {
                        println!("    {:?} {end:.2?}", turtle.lab.now());
                    }
                    touched.is_none() && turtle.lab.now() < Duration::from_secs(200)
                });
                println!("KR {repulsion} fast {fast} seed {seed}: {:?} touched {touched:?} at {end:.2?}", turtle.lab.now());
            }
        }
    }
}
