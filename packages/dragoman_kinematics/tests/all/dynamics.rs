//! Dynamics against Pinocchio, and the laws that they obey.

use dragoman_kinematics::dynamics::{Dynamics, DynamicsError, GRAVITY, Inertia};
use nalgebra::{DMatrix, Matrix3, SVector, Vector3};
use serde::Deserialize;

use crate::common::{Random, urdf};

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    robot: String,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    torques: Vec<f64>,
    gravity: Vec<f64>,
    mass: Vec<f64>,
    accelerations: Vec<f64>,
}

fn described<const N: usize>(robot: &str) -> Dynamics<N> {
    Dynamics::from_urdf(&urdf(&format!("{robot}.urdf")), None, Some("tool0")).unwrap()
}

fn random<const N: usize>(random: &mut Random, most: f64) -> SVector<f64, N> {
    SVector::from_fn(|_, _| most * (2.0 * random.unit() - 1.0))
}

/// Difference relative to the maximum of the expected values, at least 1.
fn difference(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0_f64, |scale, value| scale.max(value.abs()));
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}

fn compare<const N: usize>(case: &Case) -> f64 {
    let arm = described::<N>(&case.robot).with_friction([0.0; N], [0.0; N]);
    let [q, v, a, torques] =
        [&case.q, &case.v, &case.a, &case.torques].map(|values| SVector::from_column_slice(values));
    let forward = arm.forward(&q, &v, &(torques * 0.5)).unwrap();
    [
        difference(arm.inverse(&q, &v, &a).as_slice(), &case.torques),
        difference(arm.gravity(&q).as_slice(), &case.gravity),
        difference(arm.mass_matrix(&q).as_slice(), &case.mass),
        difference(forward.as_slice(), &case.accelerations),
    ]
    .into_iter()
    .fold(0.0, f64::max)
}

#[test]
fn five_robots_have_the_dynamics_that_pinocchio_computes() {
    let reference: Reference =
        serde_norway::from_str(include_str!("../data/dynamics_pinocchio.yaml")).unwrap();
    assert_eq!(reference.cases.len(), 40);
    for (number, case) in reference.cases.iter().enumerate() {
        let error = match case.q.len() {
            5 => compare::<5>(case),
            6 => compare::<6>(case),
            8 => compare::<8>(case),
            joints => panic!("{joints} joints"),
        };
        assert!(error < 1e-9, "case {number}, {}: {error:e}", case.robot);
    }
}

fn laws<const N: usize>(robot: &str, seed: u64) {
    let mut numbers = Random::announced(robot, seed);
    let arm = described::<N>(robot)
        .with_payload(&Inertia::about_center(
            2.0,
            Vector3::new(0.05, -0.02, 0.1),
            Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04)),
        ))
        .with_friction([1.5; N], [3.0; N]);
    for _ in 0..50 {
        let [q, v, r, a] = [3.0, 2.0, 2.0, 5.0].map(|most| random::<N>(&mut numbers, most));
        let mass = arm.mass_matrix(&q);
        let dense = DMatrix::from_column_slice(N, N, mass.as_slice());
        assert!(mass == mass.transpose() && dense.symmetric_eigenvalues().min() > 0.0, "{mass}");
        let torques = arm.inverse(&q, &v, &a);
        let expected = mass * a + arm.coriolis(&q, &v, &v) + arm.gravity(&q);
        assert!(difference(torques.as_slice(), expected.as_slice()) < 1e-10);
        let back = arm.forward(&q, &v, &(torques + arm.friction(&v))).unwrap();
        assert!(difference(back.as_slice(), a.as_slice()) < 1e-7, "{back} {a}");
        // C is that of the Christoffel symbols: v' (dM/dt - 2 C) v = 0 for any velocity with which it is multiplied.
        let step = 1e-5;
        let change = (arm.mass_matrix(&(q + v * step)) - arm.mass_matrix(&(q - v * step))) / (2.0 * step);
        let power = r.dot(&(change * r)) - 2.0 * r.dot(&arm.coriolis(&q, &v, &r));
        assert!(power.abs() < 1e-5 * (1.0 + change.norm() * r.norm_squared()), "{power}");
        // Joints that are held do not move; the others obey the equations of motion of all joints.
        let mut given = [None; N];
        given[0] = Some(0.0);
        given[N - 1] = Some(-1.0);
        let held = arm.forward_with(&q, &v, &torques, &given).unwrap();
        assert!(held[0] == 0.0 && held[N - 1] == -1.0);
        let needed = arm.inverse(&q, &v, &held) + arm.friction(&v);
        assert!(difference(&needed.as_slice()[1..N - 1], &torques.as_slice()[1..N - 1]) < 1e-9);
    }
}

#[test]
fn the_laws_of_motion_hold_for_every_robot() {
    laws::<6>("ranger_mk1", 1);
    laws::<8>("ranger_mk2", 2);
    laws::<6>("platform_arm", 3);
    laws::<6>("puma560", 4);
    laws::<5>("turtlebot2_widowx", 5);
}

#[test]
fn a_swinging_arm_keeps_its_energy() {
    let arm = described::<6>("ranger_mk1").with_friction([0.0; 6], [0.0; 6]);
    let (mut q, mut v) =
        (SVector::<f64, 6>::from_column_slice(&[0.3, 0.8, -0.5, 0.4, 1.2, 0.1]), SVector::zeros());
    let energy =
        |q: &SVector<f64, 6>, v: &SVector<f64, 6>| arm.kinetic_energy(q, v) + arm.potential_energy(q);
    let start = energy(&q, &v);
    let slope =
        |q: &SVector<f64, 6>, v: &SVector<f64, 6>| (*v, arm.forward(q, v, &SVector::zeros()).unwrap());
    let h = 2e-4;
    let mut fastest = 0.0_f64;
    for _ in 0..5000 {
        let (dq1, dv1) = slope(&q, &v);
        let (dq2, dv2) = slope(&(q + dq1 * (h / 2.0)), &(v + dv1 * (h / 2.0)));
        let (dq3, dv3) = slope(&(q + dq2 * (h / 2.0)), &(v + dv2 * (h / 2.0)));
        let (dq4, dv4) = slope(&(q + dq3 * h), &(v + dv3 * h));
        q += (dq1 + 2.0 * dq2 + 2.0 * dq3 + dq4) * (h / 6.0);
        v += (dv1 + 2.0 * dv2 + 2.0 * dv3 + dv4) * (h / 6.0);
        fastest = fastest.max(arm.kinetic_energy(&q, &v));
    }
    assert!(fastest > 50.0, "it hardly moved: {fastest} J");
    assert!((energy(&q, &v) - start).abs() < 1e-4 * fastest, "{start} J, then {} J", energy(&q, &v));
}

#[test]
fn a_payload_pulls_with_its_weight_and_is_linear_in_its_parameters() {
    let arm = described::<6>("ranger_mk1");
    let load = Inertia::about_center(3.0, Vector3::new(0.1, 0.0, 0.2), Matrix3::identity() * 0.05);
    let loaded = arm.clone().with_payload(&load);
    let mut numbers = Random::announced("payload", 7);
    let seen = load.seen_from(arm.tool());
    for _ in 0..20 {
        let [q, v, r, a] = [3.0, 2.0, 2.0, 5.0].map(|most| random::<6>(&mut numbers, most));
        let torques =
            |arm: &Dynamics<6>| arm.mass_matrix(&q) * a + arm.coriolis(&q, &v, &r) + arm.gravity(&q);
        let added = torques(&loaded) - torques(&arm);
        let regressor = arm.payload_regressor(&q, &v, &r, &a);
        let linear = regressor * SVector::<f64, 10>::from(seen.parameters());
        assert!(difference(linear.as_slice(), added.as_slice()) < 1e-9, "{linear} {added}");
    }
    // The force of joint 1 of an arm without gravity, which turns about the vertical, is zero; a weight changes it not.
    let still = SVector::<f64, 6>::zeros();
    assert!(loaded.gravity(&still)[0].abs() < 1e-12);
    let floating = loaded.clone().with_gravity([0.0; 3]);
    assert!(floating.gravity(&still).norm() < 1e-12);
    let lifted = loaded.potential_energy(&still) - arm.potential_energy(&still);
    let model = dragoman_kinematics::Model::from_urdf(&urdf("ranger_mk1.urdf"), None, Some("tool0")).unwrap();
    let tool = dragoman_kinematics::Robot::new(&model).unwrap().forward(&[0.0; 6]);
    let height = (tool * nalgebra::Point3::new(0.1, 0.0, 0.2)).z;
    assert!((lifted - 3.0 * GRAVITY * height).abs() < 1e-9, "{lifted}");
}

#[test]
fn friction_is_read_from_the_description_and_opposes_the_motion() {
    let text = urdf("ranger_mk1.urdf");
    let arm = Dynamics::<6>::from_urdf(&text, None, None).unwrap();
    let forces = arm.friction(&SVector::repeat(0.5));
    let described = urdf_rs::read_from_string(&text).unwrap();
    let moving = described.joints.iter().filter_map(|joint| joint.dynamics.as_ref());
    let expected: Vec<f64> = moving.map(|d| d.damping * 0.5 + d.friction).collect();
    assert!(expected.iter().all(|force| *force > 0.0), "{expected:?}");
    assert_eq!(forces.as_slice(), expected);
    assert_eq!(arm.friction(&SVector::repeat(-0.5)), -forces);
    assert_eq!(arm.friction(&SVector::zeros()).norm(), 0.0);
}

#[test]
fn impossible_bodies_are_refused_with_their_names() {
    let text = urdf("ranger_mk1.urdf");
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Dynamics::<6>::from_urdf(&text.replacen(from, to, 1), None, None).unwrap_err().to_string()
    };
    for (mass, reason) in [("-6", "a mass of -6 kg"), ("NaN", "value=\"NaN\" of <mass> is no number")] {
        let error = refused("<mass value=\"6\"/>", &format!("<mass value=\"{mass}\"/>"));
        assert_eq!(error, format!("robot description, line 53: link link_1: {reason}"));
    }
    assert!(refused("izz=\"0.025392\"", "izz=\"0.25392\"").starts_with("link_1: no rigid body has"));
    let friction = refused("<dynamics damping=\"", "<dynamics damping=\"-");
    assert!(friction.starts_with("joint_1: the damping is -"), "{friction}");
    let other = Dynamics::<5>::from_urdf(&text, None, None).unwrap_err();
    assert_eq!(other, DynamicsError::Joints { expected: 5, got: 6 });
    let massless = text.replace("<inertial>", "<!--").replace("</inertial>", "-->");
    let massless = Dynamics::<6>::from_urdf(&massless, None, None).unwrap();
    let zero = SVector::zeros();
    assert_eq!(massless.forward(&zero, &zero, &zero), Err(DynamicsError::Massless));
}
