//! Control of Ranger Mark I by torques, on virtual time: the circles of its thesis, with and without a payload.

use dragoman_kinematics::control::{Adaptation, Adaptive, ComputedTorque, Target};
use dragoman_kinematics::dynamics::{Dynamics, Inertia};
use dragoman_kinematics::evaluation::Path;
use dragoman_kinematics::{IkOptions, Model, Robot};
use nalgebra::{Isometry3, SVector, Translation3, UnitQuaternion};

use crate::common::urdf;

type Joints = SVector<f64, 6>;

/// Period of the control, and of the simulation, s.
const PERIOD: f64 = 0.004;
const SUBSTEPS: usize = 4;
const BANDWIDTH: f64 = 25.0;
/// Close to the beginning of the circle, in the branch of the thesis.
const SEED: [f64; 6] = [-1.57, 1.32, 1.03, 0.0, 2.36, 0.0];
const ADAPTATION: Adaptation = Adaptation::DEFAULT;

struct Fixture {
    robot: Robot,
    arm: Dynamics<6>,
    /// Maximum torques.
    effort: [f64; 6],
}

impl Fixture {
    fn new() -> Self {
        let xml = urdf("ranger_mk1.urdf");
        let robot = Robot::new(&Model::from_urdf(&xml, None, Some("tool0")).unwrap()).unwrap();
        // As in `launch/config/robots/ranger_mk1.yaml`.
        let rotors = [0.6, 0.6, 0.4, 0.2, 0.2, 0.1];
        let arm = Dynamics::from_urdf(&xml, None, Some("tool0")).unwrap().with_rotors(rotors);
        let description = urdf_rs::read_from_string(&xml).unwrap();
        let effort = std::array::from_fn(|index| {
            let name = &robot.joints()[index].name;
            description.joints.iter().find(|joint| joint.name == *name).unwrap().limit.effort
        });
        Self { robot, arm, effort }
    }

    /// Positions along `turns` circles, one per period of control, with one more at each end.
    fn circle(&self, period: f64, turns: f64) -> Vec<Joints> {
        let attitude =
            UnitQuaternion::from_euler_angles(0.0, std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2);
        let options =
            IkOptions { position_tolerance: 1e-10, rotation_tolerance: 1e-10, ..IkOptions::default() };
        // One second each to begin and to end, at half the speed in the mean.
        let duration = turns * period + 1.0;
        let ramp = |time: f64| time * time * time * (1.0 - time / 2.0);
        let steps = (duration / PERIOD) as i64;
        let mut q = SEED.to_vec();
        let mut path = Vec::new();
        for step in -1..=steps + 1 {
            let time = (step as f64 * PERIOD).clamp(0.0, duration);
            let rest = duration - time;
            let way = match time {
                _ if time < 1.0 => ramp(time),
                _ if rest < 1.0 => duration - 1.0 - ramp(rest),
                _ => time - 0.5,
            };
            let phase = way / period;
            let point = Path::Circle { period }.at(phase);
            let pose = Isometry3::from_parts(Translation3::from(point.coords), attitude);
            let before = q.clone();
            if path.is_empty() {
                self.robot.inverse(&pose, &before, &options, &mut q).unwrap();
            } else {
                self.robot.track(&pose, &before, &options, &mut q).unwrap();
            }
            path.push(Joints::from_column_slice(&q));
        }
        path
    }

    /// Mean and maximum distance of the tool from its circle in the last turn, m, when the arm carries a payload.
    fn run(
        &self,
        period: f64,
        turns: f64,
        payload: &Inertia,
        mut control: impl FnMut(&Joints, &Joints, &Target<6>) -> Joints,
    ) -> [f64; 2] {
        let loaded = self.arm.clone().with_payload(payload);
        let path = self.circle(period, turns);
        let (mut q, mut v) = (path[0], Joints::zeros());
        let mut errors = Vec::new();
        let last = path.len() - (period / PERIOD) as usize;
        for (step, around) in path.windows(3).enumerate() {
            let target = Target {
                position: around[1],
                velocity: (around[2] - around[0]) / (2.0 * PERIOD),
                acceleration: (around[2] - 2.0 * around[1] + around[0]) / (PERIOD * PERIOD),
            };
            if step >= last {
                let [is, wanted] =
                    [&q, &around[1]].map(|q| self.robot.forward(q.as_slice()).translation.vector);
                errors.push((is - wanted).norm());
            }
            let asked = control(&q, &v, &target);
            // As the drives do.
            let torques =
                Joints::from_fn(|joint, _| asked[joint].clamp(-self.effort[joint], self.effort[joint]));
            for _ in 0..SUBSTEPS {
                (q, v) = loaded.step(&q, &v, &torques, &[None; 6], PERIOD / SUBSTEPS as f64).unwrap();
            }
            assert!(q.iter().all(|value| value.is_finite()));
        }
        [errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().copied().fold(0.0, f64::max)]
    }

    /// As drives without knowledge of the arm: each joint for itself, with the same bandwidth.
    fn independent(&self) -> impl FnMut(&Joints, &Joints, &Target<6>) -> Joints + use<> {
        let inertia = self.arm.mass_matrix(&Joints::from(SEED)).diagonal();
        let holding = self.arm.gravity(&Joints::from(SEED));
        let mut sum = Joints::zeros();
        move |q, v, target| {
            let error = target.position - q;
            sum += error * PERIOD;
            let acceleration = BANDWIDTH.powi(2) * error
                + 2.0 * BANDWIDTH * (target.velocity - v)
                + 0.2 * BANDWIDTH.powi(3) * sum;
            inertia.component_mul(&acceleration) + holding
        }
    }
}

/// Less than what the drives can hold: with 3 kg the third joint would need 1.1 times its effort on this circle.
fn payload() -> Inertia {
    Inertia::point(1.5, [0.0, 0.0, 0.05])
}

#[test]
fn the_dynamics_make_circles_accurate_and_adaptation_keeps_them_so_with_a_payload() {
    let fixture = Fixture::new();
    let mut rows = Vec::new();
    for period in [5.0, 10.0] {
        let turns = 3.0;
        let computed = ComputedTorque::new(fixture.arm.clone(), BANDWIDTH).unwrap();
        let by_model = |q: &Joints, v: &Joints, target: &Target<6>| computed.torques(q, v, target);
        for (load, body) in [("none", Inertia::default()), ("1.5 kg", payload())] {
            let mut adaptive = Adaptive::new(fixture.arm.clone(), BANDWIDTH, ADAPTATION).unwrap();
            let independent = fixture.run(period, turns, &body, fixture.independent());
            let model = fixture.run(period, turns, &body, by_model);
            let adapted =
                fixture.run(period, turns, &body, |q, v, target| adaptive.torques(q, v, target, PERIOD));
            let found = adaptive.payload();
            println!(
                "| {period:.0} | {load} | {} | {:.2} kg |",
                [independent, model, adapted]
                    .map(|[mean, most]| format!("{:.2}, {:.2}", mean * 1e3, most * 1e3))
                    .join(" | "),
                found.mass
            );
            assert!((found.mass - body.mass).abs() < 0.05, "{body:?}: {found:?}");
            rows.push((load, independent, model, adapted));
        }
    }
    for (load, independent, model, adapted) in rows {
        if load == "none" {
            assert!(model[1] < 0.2 * independent[1] && model[1] < 1e-3, "{independent:?} {model:?}");
        } else {
            assert!(adapted[0] < 0.25 * model[0], "a payload that is unknown: {model:?} {adapted:?}");
        }
        assert!(adapted[1] < 1e-3, "{adapted:?}");
    }
}

#[test]
fn the_learned_payload_is_a_possible_body() {
    let fixture = Fixture::new();
    let mut adaptive = Adaptive::new(fixture.arm.clone(), BANDWIDTH, ADAPTATION).unwrap();
    let mut random = crate::common::Random::announced("control", 9);
    let mut joints = |most: f64| Joints::from_fn(|_, _| most * (2.0 * random.unit() - 1.0));
    for _ in 0..500 {
        let target = Target { position: joints(1.0), velocity: joints(1.0), acceleration: joints(5.0) };
        let torques = adaptive.torques(&joints(1.0), &joints(2.0), &target, 0.05);
        assert!(torques.iter().all(|torque| torque.is_finite()));
        let body = adaptive.payload();
        assert!((0.0..=ADAPTATION.max_mass).contains(&body.mass), "{body:?}");
        assert!(body.moment.norm() <= body.mass * ADAPTATION.max_distance + 1e-9, "{body:?}");
    }
    let before = adaptive.payload();
    let target = Target { position: joints(1.0), velocity: joints(1.0), acceleration: joints(1.0) };
    for dt in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        adaptive.torques(&joints(1.0), &joints(1.0), &target, dt);
    }
    assert_eq!(adaptive.payload(), before);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(ComputedTorque::new(fixture.arm.clone(), wrong).is_err());
        assert!(Adaptive::new(fixture.arm.clone(), 10.0, Adaptation { rate: wrong, ..ADAPTATION }).is_err());
    }
}
