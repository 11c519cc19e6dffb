use std::f64::consts::FRAC_PI_2;

use nalgebra::{Isometry3, Translation3};
use proptest::prelude::*;

use super::*;
use crate::{Model, Robot};

const RANGER: &str = include_str!("../../../../urdf/ranger_mk1.urdf");
const RANGER_8: &str = include_str!("../../../../urdf/ranger_mk2.urdf");
const CLEARANCE: f64 = 0.01;

fn arm(xml: &str) -> Robot {
    let model = Model::from_urdf(xml, None, None).unwrap();
    let accelerations = vec![2.0; model.joints().len()];
    Robot::new(&model.with_accelerations(&accelerations).unwrap()).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Translation3::new(x, y, z).into()
}

/// A shelf in front of the arm, a post at its side.
fn shelf() -> Scene {
    let mut scene = Scene::default();
    for height in [0.25, 0.65, 1.05] {
        scene.add("board", &Shape::Box([0.3, 1.0, 0.02]), at(0.75, 0.0, height)).unwrap();
    }
    scene.add("back", &Shape::Box([0.02, 1.0, 1.2]), at(0.95, 0.0, 0.6)).unwrap();
    scene.add("post", &Shape::Cylinder { radius: 0.05, length: 1.6 }, at(0.1, 0.6, 0.8)).unwrap();
    scene.add("ball", &Shape::Sphere(0.1), at(-0.5, -0.4, 0.7)).unwrap();
    scene
}

/// With the robot's own limits, scaled.
fn time(
    (robot, bodies, scene): (&Robot, &ArmBodies, &Scene),
    path: &[Vec<f64>],
    rounding: f64,
    [velocity, acceleration]: [f64; 2],
    period: f64,
) -> Trajectory {
    let limits =
        robot.joints().iter().map(|joint| [joint.velocity * velocity, joint.acceleration * acceleration]);
    let limits: Vec<[f64; 2]> = limits.collect();
    super::time(&mut Checker::new(robot, bodies, scene), path, &limits, rounding, period).unwrap()
}

fn random_configuration(robot: &Robot, random: &mut oorandom::Rand64) -> Vec<f64> {
    let sample = |joint: &crate::Joint| {
        let (lower, upper) = (joint.lower.max(-3.0), joint.upper.min(3.0));
        lower + (upper - lower) * random.rand_float()
    };
    robot.joints().iter().map(sample).collect()
}

/// Checks single configurations: links must be this far from the scene, and from each other, m.
struct Sampler {
    robot: Robot,
    /// For the scene, and for links with each other.
    bodies: [ArmBodies; 2],
}

impl Sampler {
    fn new(xml: &str, robot: &Robot, distance: f64) -> Self {
        // The first is larger by one and a half times what is given, the others by half of the distance each.
        let bodies =
            [distance / 1.5, distance / 2.0].map(|size| ArmBodies::from_urdf(xml, robot, size).unwrap());
        let [for_scene, for_links] = bodies;
        let pairs = ArmBodies::from_urdf(xml, robot, CLEARANCE).unwrap().pairs;
        let bodies = [ArmBodies { pairs: Vec::new(), ..for_scene }, ArmBodies { pairs, ..for_links }];
        Self { robot: robot.clone(), bodies }
    }

    /// The first collision along straight motions with a thousand samples per radian.
    fn collision_along(&self, scene: &Scene, path: &[Vec<f64>]) -> Option<Collision> {
        let none = Scene::default();
        let mut checkers = [
            Checker::new(&self.robot, &self.bodies[0], scene),
            Checker::new(&self.robot, &self.bodies[1], &none),
        ];
        path.windows(2).find_map(|pair| {
            let far = pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let steps = (far * 1000.0).ceil().max(1.0) as usize;
            (0..=steps).find_map(|step| {
                let share = step as f64 / steps as f64;
                let q: Vec<f64> = pair[0].iter().zip(&pair[1]).map(|(a, b)| a + (b - a) * share).collect();
                checkers.iter_mut().find_map(|checker| checker.collision(&q))
            })
        })
    }
}

#[test]
fn paths_lead_round_obstacles_and_their_timed_motions_too() {
    for (xml, problems) in [(RANGER, 12), (RANGER_8, 6)] {
        let robot = arm(xml);
        let bodies = ArmBodies::from_urdf(xml, &robot, CLEARANCE).unwrap();
        let sampler = Sampler::new(xml, &robot, 0.999 * CLEARANCE);
        // Lines between the points of a trajectory are not quite its curve.
        let loose = Sampler::new(xml, &robot, 0.9 * CLEARANCE);
        let scene = shelf();
        let mut random = oorandom::Rand64::new(7);
        let (mut bent, mut tried) = (0, 0);
        while tried < problems {
            let [start, goal] = [(); 2].map(|()| {
                loop {
                    let q = random_configuration(&robot, &mut random);
                    if Checker::new(&robot, &bodies, &scene).collision(&q).is_none() {
                        break q;
                    }
                }
            });
            let goals = [goal];
            let planned =
                plan(&mut Checker::new(&robot, &bodies, &scene), &start, &goals, &PlanOptions::default())
                    .unwrap();
            tried += 1;
            bent += usize::from(planned.path.len() > 2);
            assert_eq!((&planned.path[0], planned.path.last()), (&start, Some(&goals[0])));
            assert_eq!(sampler.collision_along(&scene, &planned.path), None);
            let again =
                plan(&mut Checker::new(&robot, &bodies, &scene), &start, &goals, &PlanOptions::default())
                    .unwrap();
            assert_eq!(again, planned, "the same question has the same answer");

            let timed = time((&robot, &bodies, &scene), &planned.path, 0.3, [1.0, 1.0], 0.02);
            check_limits(&robot, &timed, 0.02);
            let positions: Vec<Vec<f64>> = timed.points.iter().map(|point| point.position.clone()).collect();
            assert_eq!(loose.collision_along(&scene, &positions), None);
            assert_eq!(
                (&positions[0], positions.last().map(|q| distance(q, &goals[0]) < 1e-9)),
                (&start, Some(true))
            );
        }
        assert!(bent > 2, "the scene is in the way of some: {bent} of {tried}");
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn check_limits(robot: &Robot, timed: &Trajectory, period: f64) {
    let (first, last) = (timed.points.first().unwrap(), timed.points.last().unwrap());
    assert!(first.velocity.iter().chain(&last.velocity).all(|velocity| velocity.abs() < 1e-9));
    for pair in timed.points.windows(2) {
        let step = pair[1].time - pair[0].time;
        assert!(step > 0.0 && step < 1.2 * period, "{step}");
        for (index, joint) in robot.joints().iter().enumerate() {
            let moved = (pair[1].position[index] - pair[0].position[index]) / step;
            assert!(moved.abs() <= joint.velocity * 1.001, "{moved} of {}", joint.name);
            assert!(pair[0].velocity[index].abs() <= joint.velocity * 1.001);
            assert!(pair[0].acceleration[index].abs() <= joint.acceleration * 1.02, "{:?}", pair[0]);
            let change = (pair[1].velocity[index] - pair[0].velocity[index]) / step;
            assert!(
                change.abs() <= joint.acceleration * 1.02,
                "{change} of {} at {}",
                joint.name,
                pair[0].time
            );
        }
    }
}

#[test]
fn a_straight_motion_takes_as_long_as_its_slowest_joint() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let start = vec![0.0; 6];
    let path = [start.clone(), vec![1.8, 0.5, 0.1, 0.0, 0.0, 0.0]];
    let timed = time((&robot, &bodies, &Scene::default()), &path, 0.3, [1.0, 1.0], 0.01);
    // A trapezoid with 0.9 rad/s and 2 rad/s^2; the grid costs a little.
    let known = 1.8 / 0.9 + 0.9 / 2.0;
    assert!(timed.duration() >= known - 1e-6 && timed.duration() < 1.03 * known, "{}", timed.duration());
    check_limits(&robot, &timed, 0.01);
    let slow = time((&robot, &bodies, &Scene::default()), &path, 0.3, [0.5, 0.25], 0.01);
    assert!((slow.duration() / timed.duration() - 2.0).abs() < 0.01, "{}", slow.duration());
    let still = time((&robot, &bodies, &Scene::default()), &[start.clone(), start], 0.3, [1.0, 1.0], 0.01);
    assert_eq!((still.points.len(), still.duration()), (1, 0.0));
}

#[test]
fn a_corner_is_rounded_where_there_is_room_and_a_stop_elsewhere() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let path = [vec![0.0; 6], vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0], vec![1.0, 1.0, 0.0, 0.0, 0.0, 0.0]];
    let [round, stop] = [0.4, 0.0]
        .map(|rounding| time((&robot, &bodies, &Scene::default()), &path, rounding, [1.0, 1.0], 0.01));
    assert!(round.duration() < 0.9 * stop.duration(), "{} and {}", round.duration(), stop.duration());
    check_limits(&robot, &round, 0.01);
    check_limits(&robot, &stop, 0.01);
    let corner = stop.points.iter().map(|point| distance(&point.position, &path[1])).fold(f64::MAX, f64::min);
    assert!(corner < 0.01, "it passes the corner itself: {corner}");
}

#[test]
fn requests_that_cannot_be_planned_are_refused_with_the_reason() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let free = vec![0.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let plan = |scene: &Scene, start: &[f64], goals: &[Vec<f64>]| {
        let options = PlanOptions { max_iterations: 50, ..PlanOptions::default() };
        plan(&mut Checker::new(&robot, &bodies, scene), start, goals, &options)
    };
    let none = Scene::default();
    assert_eq!(plan(&none, &free, &[]), Err(PlanningError::NoGoal));
    assert!(matches!(
        plan(&none, &free[..5], std::slice::from_ref(&free)),
        Err(PlanningError::WrongLength { found: 5, .. })
    ));
    let far = [vec![5.0, 1.0, -1.0, 0.0, 1.57, 0.0]];
    assert!(plan(&none, &free, &far).unwrap_err().to_string().contains("joint_1"));
    let wrong = [vec![f64::NAN; 6]];
    assert!(matches!(plan(&none, &free, &wrong), Err(PlanningError::Limit { .. })));

    let tool = robot.forward(&free);
    let mut scene = Scene::default();
    scene.add("cube", &Shape::Box([0.1; 3]), tool).unwrap();
    let other = vec![2.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let text = |found: Result<Planned, PlanningError>| found.unwrap_err().to_string();
    assert!(text(plan(&scene, &free, std::slice::from_ref(&other))).starts_with("at the start, "));
    assert!(text(plan(&scene, &other, std::slice::from_ref(&free))).ends_with("is too near to cube"));
    // A second goal is taken then.
    let more = vec![1.5, 1.0, -1.0, 0.0, 1.57, 0.0];
    assert_eq!(plan(&scene, &other, &[free.clone(), more]).unwrap().goal, 1);
    assert!(scene.remove("cube") && !scene.remove("cube"));

    // The cube is in the straight way, and no other is searched.
    scene.add("cube", &Shape::Box([0.1; 3]), tool).unwrap();
    let ends = [-1.0, 1.0].map(|turn| vec![turn, 1.0, -1.0, 0.0, 1.57, 0.0]);
    let options = PlanOptions { max_iterations: 0, ..PlanOptions::default() };
    let found = super::plan(&mut Checker::new(&robot, &bodies, &scene), &ends[0], &ends[1..], &options);
    assert_eq!(found, Err(PlanningError::NotFound { iterations: 0 }));
    for (shape, reason) in [
        (Shape::Sphere(-1.0), ShapeError::Size),
        (Shape::Box([1.0, f64::NAN, 1.0]), ShapeError::Size),
        (Shape::Hull(vec![[f64::NAN; 3]]), ShapeError::Size),
    ] {
        let body = "wrong".to_owned();
        assert_eq!(scene.add("wrong", &shape, at(0.0, 0.0, 0.0)), Err(PlanningError::Shape { body, reason }));
    }
    assert!(scene.add("wrong", &Shape::Sphere(1.0), at(f64::INFINITY, 0.0, 0.0)).is_err());
    assert!(!scene.remove("wrong"));
    let mesh =
        RANGER.replace(r#"<cylinder radius="0.06" length="0.559667"/>"#, r#"<mesh filename="a.stl"/>"#);
    assert!(
        ArmBodies::from_urdf(&mesh, &robot, CLEARANCE)
            .is_err_and(|error| error.to_string().contains("link_3"))
    );
}

#[test]
fn an_arm_that_is_measured_a_little_beyond_a_limit_can_leave_it() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let scene = Scene::default();
    let goal = vec![0.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let plan = |start: &[f64], goal: &[f64]| {
        let goals = [goal.to_vec()];
        super::plan(&mut Checker::new(&robot, &bodies, &scene), start, &goals, &PlanOptions::default())
    };
    let upper = robot.joints()[1].upper;
    let mut start = goal.clone();
    start[1] = upper + 1e-4;
    let path = plan(&start, &goal).unwrap().path;
    assert_eq!((&path[0], path.last()), (&start, Some(&goal)));
    // As a goal it is refused, and so is a start that is far beyond.
    assert!(matches!(plan(&goal, &start), Err(PlanningError::Limit { what: "goal", .. })));
    start[1] = upper + 2.0 * START_TOLERANCE;
    assert!(matches!(plan(&start, &goal), Err(PlanningError::Limit { what: "start", .. })));
}

#[test]
fn a_line_of_the_tool_is_straight_and_ends_at_obstacles() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let start = [0.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let begin = robot.forward(&start);
    let turn = nalgebra::UnitQuaternion::from_scaled_axis(nalgebra::Vector3::new(0.1, 0.0, 0.2));
    let target = Isometry3::from_parts(
        (begin.translation.vector + nalgebra::Vector3::new(-0.05, 0.2, -0.1)).into(),
        turn * begin.rotation,
    );
    let options = crate::IkOptions::default();
    let none = Scene::default();
    let path = line(&mut Checker::new(&robot, &bodies, &none), &start, &target, &options).unwrap();
    let along = target.translation.vector - begin.translation.vector;
    let timed = time((&robot, &bodies, &none), &path, 0.3, [1.0, 1.0], 0.02);
    let reached = robot.forward(&timed.points.last().unwrap().position);
    assert!((reached.inverse() * target).translation.vector.norm() < 1e-5);
    assert!((reached.inverse() * target).rotation.angle() < 1e-5);
    for point in &timed.points {
        let offset = robot.forward(&point.position).translation.vector - begin.translation.vector;
        let off = (offset - along * (offset.dot(&along) / along.norm_squared())).norm();
        assert!(off < 5e-5, "{off}");
    }
    check_limits(&robot, &timed, 0.02);

    let mut scene = Scene::default();
    let middle = (begin.translation.vector + target.translation.vector) / 2.0;
    scene.add("ball", &Shape::Sphere(0.03), Translation3::from(middle).into()).unwrap();
    let found = line(&mut Checker::new(&robot, &bodies, &scene), &start, &target, &options);
    let error = found.unwrap_err();
    assert!(matches!(error, PlanningError::Line { share, .. } if share > 0.05 && share < 0.5), "{error:?}");
    assert!(error.to_string().ends_with("is too near to ball"), "{error}");
    let far = at(3.0, 0.0, 0.0) * begin;
    let error = line(&mut Checker::new(&robot, &bodies, &none), &start, &far, &options).unwrap_err();
    assert!(matches!(error, PlanningError::Line { .. }), "{error}");
}

#[test]
fn a_search_ends_on_request() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let ends = [-1.0, 1.0].map(|turn| vec![turn, 1.0, -1.0, 0.0, 1.57, 0.0]);
    let mut scene = Scene::default();
    let middle = robot.forward(&[0.0, 1.0, -1.0, 0.0, 1.57, 0.0]);
    scene.add("cube", &Shape::Box([0.1; 3]), middle).unwrap();
    let asked = std::cell::Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 4
    };
    let goals = &ends[1..];
    let options = PlanOptions { step: 1e-3, ..PlanOptions::default() };
    let mut checker = Checker::new(&robot, &bodies, &scene);
    let found = plan_while(&mut checker, &ends[0], goals, &options, goes_on);
    assert_eq!(found, Err(PlanningError::Ended { iterations: 3 }));
}

#[test]
fn planned_paths_avoid_collisions_of_the_links() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let pairs: Vec<_> = bodies.checked_links().collect();
    assert!(pairs.contains(&("base_link_inertia", "link_3")), "{pairs:?}");
    assert!(!pairs.contains(&("link_2", "link_3")), "neighbours touch: {pairs:?}");
    // Folded back on the upper arm.
    let folded = [0.0, 1.5, -2.35, 0.0, 1.9, 0.0];
    let scene = Scene::default();
    let mut random = oorandom::Rand64::new(3);
    let mut checker = Checker::new(&robot, &bodies, &scene);
    let own = |random: &mut oorandom::Rand64, checker: &mut Checker<'_>| {
        checker.collision(&random_configuration(&robot, random)).is_some()
    };
    let touching = (0..1000).filter(|_| own(&mut random, &mut checker)).count();
    assert!((10..700).contains(&touching), "{touching} of 1000; folded: {:?}", checker.collision(&folded));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The bound by which motions are checked.
    #[test]
    fn no_point_moves_farther_than_the_bound(seed in any::<u64>(), share in 0.0..1.0_f64) {
        for xml in [RANGER, RANGER_8, include_str!("../../../../urdf/platform_arm.urdf")] {
            let robot = arm(xml);
            let bodies = ArmBodies::from_urdf(xml, &robot, 0.0).unwrap();
            let mut random = oorandom::Rand64::new(seed.into());
            let a = random_configuration(&robot, &mut random);
            let other = random_configuration(&robot, &mut random);
            let b: Vec<f64> = a.iter().zip(&other).map(|(a, b)| a + (b - a) * share).collect();
            let scene = Scene::default();
            let bound = Checker::new(&robot, &bodies, &scene).displacement(&a, &b);
            let [mut before, mut after] = [Vec::new(), Vec::new()];
            let mut frames = Vec::new();
            for (q, poses) in [(&a, &mut before), (&b, &mut after)] {
                robot.link_frames(q, &mut frames);
                bodies.place(&frames, poses);
            }
            for ((part, one), two) in bodies.parts.iter().zip(&before).zip(&after) {
                let centre = part.solid.centre;
                for direction in [nalgebra::Vector3::x(), nalgebra::Vector3::y(), nalgebra::Vector3::z()] {
                    let point = centre + direction * part.solid.radius;
                    let moved = (one * point - two * point).norm();
                    prop_assert!(moved <= bound + 1e-9, "{} moved {moved} > {bound}", part.link);
                }
            }
        }
    }
}

#[test]
fn a_folded_arm_leaves_its_rest_and_does_not_plan_to_come_back() {
    let robot = arm(RANGER);
    let bodies = ArmBodies::from_urdf(RANGER, &robot, CLEARANCE).unwrap();
    let scene = Scene::default();
    let rest = vec![FRAC_PI_2, 0.0, FRAC_PI_2, 0.0, FRAC_PI_2, 0.0];
    assert!(Checker::new(&robot, &bodies, &scene).collision(&rest).is_some(), "the shapes overlap there");
    let free = vec![0.0, 1.0, -1.0, 0.0, 1.57, 0.0];
    let plan = |start: &Vec<f64>, goal: &Vec<f64>| {
        let goals = [goal.clone()];
        super::plan(&mut Checker::new(&robot, &bodies, &scene), start, &goals, &PlanOptions::default())
    };
    let out = plan(&rest, &free).unwrap();
    assert_eq!(out.path.last(), Some(&free));
    assert!(matches!(plan(&free, &rest), Err(PlanningError::GoalCollides(_))));
    assert!(plan(&rest, &rest).is_ok(), "it stays");
}
