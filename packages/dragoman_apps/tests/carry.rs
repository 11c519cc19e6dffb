//! The first application on virtual time, checked against the true state of the world.

mod common;

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use common::virtual_lab::{ARM, ROBOT, VirtualLab};
use common::{run, start};
use dragoman_apps::carry::{Carry, FAR_TABLE, NEAR_TABLE};
use dragoman_apps::program::{
    Action, Contacts, Failure, Joint, Observation, Positions, Program, Stamped, Status,
};
use dragoman_geometry::{Pose, Twist};
use dragoman_world::Worlds;

/// Height of the tables and half of their edge; half of the cube's edge, m.
const TOP: f64 = 0.46;
const HALF_TABLE: f64 = 0.275;
const HALF_CUBE: f64 = 0.015;

/// Pose of the cube: x, y, z, m, roll, pitch, yaw, rad.
fn cube(lab: &mut VirtualLab) -> [f64; 6] {
    lab.worlds().location(None, "cube").unwrap()
}

/// Checks that the cube stands on this table.
#[track_caller]
fn assert_stands(lab: &mut VirtualLab, table: &str) {
    let [x, y, z, roll, pitch, _] = cube(lab);
    let [table_x, table_y, ..] = lab.worlds().location(None, table).unwrap();
    let most = HALF_TABLE - HALF_CUBE;
    assert!((x - table_x).abs() < most && (y - table_y).abs() < most, "x {x} y {y} on {table}");
    assert!((z - TOP - HALF_CUBE).abs() < 1e-3, "{z}");
    for angle in [roll, pitch] {
        let off = angle.rem_euclid(FRAC_PI_2);
        assert!(off.min(FRAC_PI_2 - off) < 1e-6, "roll {roll} pitch {pitch}");
    }
}

#[test]
fn the_cube_stands_on_the_near_table_from_every_seed() {
    for seed in 1..=5 {
        let mut lab = start("laboratory", seed);
        // A person does not place it with millimetre accuracy either.
        let mut random = oorandom::Rand64::new(seed.into());
        let mut off = |most: f64| (2.0 * random.rand_float() - 1.0) * most;
        let place = [3.28 + off(0.004), off(0.0015), TOP + HALF_CUBE + 1e-4];
        lab.worlds().place(None, "cube", place, [0.0, 0.0, off(0.05)]).unwrap();
        assert_stands(&mut lab, "far table");
        let end = run(&mut lab, &mut Carry::new(), seed);
        assert_eq!(end.status, Status::Done, "seed {seed}");
        assert_stands(&mut lab, "near table");
        // It is at rest, and not held: the arm has moved home.
        let before = cube(&mut lab);
        let tool = lab.worlds().tool_pose(None, ARM).unwrap().translation.vector;
        assert!((tool - nalgebra::Vector3::new(before[0], before[1], before[2])).norm() > 0.1);
        let [x, y, ..] = lab.worlds().location_m_robot(None, ROBOT).unwrap();
        lab.worlds().place_m_robot(None, ROBOT, [x + 1.0, y, 0.0], 0.0).unwrap();
        lab.run(&mut Idle, Duration::from_secs(2), |_| {}).unwrap();
        assert_eq!(cube(&mut lab), before, "seed {seed}");
    }
}

/// A program that does nothing.
struct Idle;

impl Program for Idle {
    fn step(&mut self, _: &Observation<'_>, _: &mut Vec<Action>) -> Status {
        Status::Running
    }
}

/// A program that does not hold the cube does not report success.
#[test]
fn a_cube_that_is_not_carried_is_a_failure() {
    let gone = |lab: &mut VirtualLab| {
        lab.worlds().place(None, "cube", [2.0, 2.0, HALF_CUBE + 1e-4], [0.0; 3]).unwrap();
    };
    // There is none; it is taken away while it is lifted, and on the way.
    for (taken, when) in
        [("", "after grasping"), ("lifting it", "after lifting"), ("to the near", "at the near table")]
    {
        let mut lab = start("laboratory", 1);
        if taken.is_empty() {
            gone(&mut lab);
        }
        let mut program = Watched { program: Carry::new(), said: taken, has_said: false };
        let mut is_gone = taken.is_empty();
        let mut said = Vec::new();
        let mut status = Status::Running;
        while status == Status::Running {
            let part = lab.run(&mut program, Duration::from_millis(100), |_| {}).unwrap();
            said.extend(part.said.into_iter().map(|(_, text)| text));
            status = part.status;
            if program.has_said && !is_gone {
                is_gone = true;
                gone(&mut lab);
            }
        }
        let Status::Failed(Failure::NotHeld { when: noticed, .. }) = status else {
            panic!("{taken}: {status:?}")
        };
        assert_eq!(noticed, when, "{taken}");
        assert!(said.iter().all(|text| text != "done"), "{said:?}");
    }
}

/// A program, and whether it has said something.
struct Watched {
    program: Carry,
    said: &'static str,
    has_said: bool,
}

impl Program for Watched {
    fn step(&mut self, seen: &Observation<'_>, actions: &mut Vec<Action>) -> Status {
        let status = self.program.step(seen, actions);
        let says = |action: &Action| matches!(action, Action::Say(text) if text.starts_with(self.said));
        self.has_said |= actions.iter().any(says);
        status
    }
}

/// A joint that does not follow, as one that is disabled: the gripper would close beside the cube.
#[test]
fn an_arm_that_does_not_arrive_is_a_failure() {
    let mut lab = start("laboratory", 1);
    let end = lab.run(&mut LosesBicepsCommands(Carry::new()), Duration::from_secs(300), |_| {}).unwrap();
    let Status::Failed(failure @ Failure::Unreached { .. }) = end.status else { panic!("{:?}", end.status) };
    println!("{failure}");
}

/// A program whose commands to the biceps get lost.
struct LosesBicepsCommands(Carry);

impl Program for LosesBicepsCommands {
    fn step(&mut self, seen: &Observation<'_>, actions: &mut Vec<Action>) -> Status {
        let status = self.0.step(seen, actions);
        actions.retain(|action| !matches!(action, Action::Command(Joint::Biceps, _)));
        status
    }
}

/// A box on the way: the bumper detects it, the robot passes it, and still grasps the cube.
#[test]
fn a_box_on_the_way_is_passed() {
    let scene = dragoman_world::SCENES.iter().find(|(name, _)| *name == "laboratory").unwrap().1;
    let obstacle =
        "    bodies:\n      - { name: box, xyz: [1.2, 0.12, 0.05], shapes: [{ box: [0.1, 0.1, 0.1] }] }\n";
    let scene = scene.replacen("    bodies:\n", obstacle, 1);
    let description = |_: &str| Ok(include_bytes!("../../../urdf/turtlebot2_widowx.urdf").to_vec());
    let mut lab = common::start_in(Worlds::from_yaml(&scene, &description).unwrap(), 1);
    let end = lab.run(&mut Carry::new(), Duration::from_secs(300), |_| {}).unwrap();
    assert_eq!(end.status, Status::Done, "{:?}", end.said);
    assert!(end.said.iter().any(|(_, text)| text.starts_with("something is in the way")), "{:?}", end.said);
    assert_stands(&mut lab, "near table");
}

/// The order of the commands is that of the TurtleBot thesis, 5.2, and without pictures only its figures count.
#[test]
fn without_pictures_it_uses_the_figures_of_the_thesis() {
    let (mut program, mut pose, mut velocity) = (Carry::new(), Pose::ORIGIN, Twist::ZERO);
    // The joints are at once where they are commanded to; the fingers stop at the cube.
    let (mut joints, mut positions) = (Positions::default(), BTreeMap::<Joint, f64>::new());
    let (mut arm, mut actions, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    for tick in 0..6000_u64 {
        let now = Duration::from_millis(20 * tick);
        joints.take(now, positions.iter().map(|(joint, position)| (joint.name(), *position)));
        pose.heading += velocity.angular * 0.02;
        pose.x += velocity.linear * pose.heading.cos() * 0.02;
        pose.y += velocity.linear * pose.heading.sin() * 0.02;
        let seen = Observation {
            now,
            odometry: Some(Stamped { at: now, value: pose }),
            contacts: Some(Stamped { at: now, value: Contacts::default() }),
            joints,
            depth: None,
            refusal: None,
        };
        let status = program.step(&seen, &mut actions);
        for action in actions.drain(..) {
            match action {
                Action::Velocity(twist) => {
                    if twist == Twist::ZERO && velocity.linear > 0.0 {
                        stops.push(pose.x);
                    }
                    velocity = twist;
                }
                Action::Command(joint, position) => {
                    arm.push((joint, position.to_degrees().round()));
                    positions
                        .insert(joint, if joint == Joint::Gripper { position.min(0.47) } else { position });
                }
                Action::SetSpeed(joint, speed) => arm.push((joint, speed.to_degrees().round())),
                Action::Relax(joint) => arm.push((joint, f64::INFINITY)),
                Action::Say(_) => {}
            }
        }
        if status != Status::Running {
            assert_eq!(status, Status::Done);
            break;
        }
    }
    let [far, near] = stops.as_slice() else { panic!("{stops:?}") };
    assert!((far - FAR_TABLE).abs() < 0.005 && (near - NEAR_TABLE).abs() < 0.005, "{stops:?}");
    use Joint::{Arm, Biceps, Forearm, Gripper, Shoulder, Wrist};
    let grasp = 1.0_f64.to_degrees().round();
    let relaxed = [Arm, Shoulder, Biceps, Forearm, Wrist].map(|joint| (joint, f64::INFINITY));
    let mut expected = vec![(Biceps, 90.0), (Forearm, -90.0), (Arm, 0.0), (Shoulder, 10.0), (Shoulder, 65.0)];
    expected.extend([(Shoulder, 100.0), (Wrist, 0.0), (Gripper, grasp)]);
    expected.extend([(Shoulder, -15.0), (Forearm, 90.0), (Biceps, -90.0), (Wrist, 0.0), (Shoulder, -90.0)]);
    expected.extend([(Shoulder, 40.0), (Biceps, 50.0), (Forearm, -90.0), (Gripper, 0.0)]);
    expected.extend([(Shoulder, 0.0), (Forearm, 0.0), (Biceps, 0.0)]);
    expected.extend(relaxed);
    assert_eq!(arm, expected);
}

/// The calculation in the scene file: position of the fingers at the angles of the thesis, for grasping and for putting
/// down.
#[test]
fn the_tables_are_as_high_as_the_arm_reaches() {
    let mut worlds = Worlds::scene("laboratory").unwrap().unwrap();
    // From the rail of the fingers, by the lengths of the links, to the point between their pads and to their tips.
    for (degrees, rail, pitch) in
        [([65.0, 90.0], [0.3262, 0.5175], 65.0_f64), ([40.0, 50.0], [0.2880, 0.5347], 80.0)]
    {
        let [shoulder, biceps] = degrees.map(f64::to_radians);
        worlds.set_robot_joints(None, ARM, &[0.0, shoulder, biceps, -FRAC_PI_2, 0.0, 0.0]).unwrap();
        let tool = worlds.tool_pose(None, ARM).unwrap();
        let (sin, cos) = pitch.to_radians().sin_cos();
        let [x, _, z]: [f64; 3] = tool.translation.vector.into();
        assert!(
            (x - rail[0] - 0.03 * cos).abs() < 1e-3 && (z - rail[1] + 0.03 * sin).abs() < 1e-3,
            "{x} {z}"
        );
        // Down to grasp, they reach the cube but not the table; to put it down they are a little higher.
        let tips = tool * nalgebra::Point3::new(0.015, 0.0, 0.0);
        assert!((TOP + 0.005..TOP + 0.035).contains(&tips.z), "{tips}");
    }
}
