//! Calibration against robots whose true geometry is known.

use dragoman_kinematics::calibration::{
    CalibrationError, DhTable, Entry, Fit, FitOptions, Layout, Loss, Measurement, MeasuringFrame, Method,
    Parameter, PlanOptions, arcs, fit, plan,
};
use dragoman_kinematics::{Model, Robot};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use crate::common::{Random, TABLES, urdf};

/// Standard deviation of a coordinate, m (issue: 0.3 mm).
const NOISE: f64 = 3e-4;

/// An arm that is not as described, and a measuring device.
struct Fixture {
    model: Model,
    truth: DhTable,
    frame: Isometry3<f64>,
    random: Random,
}

impl Fixture {
    /// A Ranger Mark I with offsets of up to a degree and lengths that are up to 3 mm off.
    fn ranger(seed: u64) -> Self {
        let mut random = Random::announced("calibration", seed);
        let model = Model::from_urdf(&urdf("ranger_mk1.urdf"), Some("base_link"), Some("tool0")).unwrap();
        let mut truth = DhTable::of(&model);
        for parameter in truth.usual_parameters() {
            let size = if parameter.entry.is_angle() { 1_f64.to_radians() } else { 3e-3 };
            truth.set(parameter, truth.value(parameter) + size * (2.0 * random.unit() - 1.0));
        }
        let turn = Vector3::new(0.3, -0.2, 2.0);
        let frame =
            Isometry3::from_parts(Translation3::new(1.2, -0.4, 0.1), UnitQuaternion::from_scaled_axis(turn));
        Self { model, truth, frame, random }
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (self.random.unit(), self.random.unit());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    fn measure(&mut self, joints: Vec<f64>) -> Measurement {
        let noise = Vector3::new(self.normal(), self.normal(), self.normal()) * NOISE;
        let tool = Point3::from(self.truth.forward(&joints).translation.vector);
        Measurement { joints, point: self.frame.inverse() * tool + noise }
    }

    fn measure_random(&mut self, poses: usize) -> Vec<Measurement> {
        let robot = Robot::new(&self.model).unwrap();
        (0..poses)
            .map(|_| {
                let joints = self.random.configuration(&robot);
                self.measure(joints)
            })
            .collect()
    }

    fn fit(&self, measurements: &[Measurement], options: &FitOptions) -> Fit {
        fit(&self.model, measurements, options).unwrap()
    }

    fn error(&self, measurements: &[Measurement], options: &FitOptions) -> CalibrationError {
        fit(&self.model, measurements, options).unwrap_err()
    }
}

fn names(fit: &Fit) -> Vec<String> {
    fit.estimates.iter().map(|estimate| fit.table.name(estimate.parameter)).collect()
}

fn assert_recovered(fixture: &Fixture, fit: &Fit) {
    for estimate in &fit.estimates {
        let name = fit.table.name(estimate.parameter);
        let error = (estimate.value - fixture.truth.value(estimate.parameter)).abs();
        let limit = if estimate.parameter.entry.is_angle() { 0.1_f64.to_radians() } else { 3e-4 };
        assert!(error < limit, "{name}: error {error}, standard deviation {}", estimate.deviation);
        assert!(
            error < 5.0 * estimate.deviation,
            "{name}: error {error}, standard deviation {}",
            estimate.deviation
        );
    }
}

#[test]
fn a_table_is_the_robot_for_every_description() {
    let mut random = Random::announced("tables", 7);
    let chains = [
        ("ranger_mk1.urdf", "base_link", "tool0"),
        ("ranger_mk2.urdf", "base_link", "tool0"),
        ("platform_arm.urdf", "base_link", "tool0"),
        ("puma560.urdf", "base_link", "tool0"),
        ("turtlebot2_widowx.urdf", "arm_base_link", "tool0"),
    ];
    let urdfs = chains.map(|(file, base, tip)| Model::from_urdf(&urdf(file), Some(base), Some(tip)).unwrap());
    let tables = TABLES.map(|(_, text)| Model::from_dh_yaml(text).unwrap());
    let crooked = Model::from_urdf(include_str!("../data/crooked.urdf"), None, Some("camera")).unwrap();
    for model in urdfs.into_iter().chain(tables).chain([crooked]) {
        let (robot, table) = (Robot::new(&model).unwrap(), DhTable::of(&model));
        let mut bent = table.clone();
        for parameter in table.parameters() {
            bent.set(parameter, table.value(parameter) + 0.02 * (random.unit() - 0.5));
        }
        let corrected = Robot::new(&bent.corrected(&model).unwrap()).unwrap();
        let offsets = bent.joint_offsets(&table);
        for _ in 0..20 {
            let q: Vec<f64> = robot.joints().iter().map(|_| 3.0 * (random.unit() - 0.5)).collect();
            let same = |a: Isometry3<f64>, b: Isometry3<f64>| {
                let difference = a.inverse() * b;
                assert!(difference.translation.vector.norm() < 1e-8, "{}: {difference}", model.name());
                assert!(difference.rotation.angle() < 1e-7, "{}: {difference}", model.name());
            };
            same(table.forward(&q), robot.forward(&q));
            // A corrected description with corrected readings is the bent arm.
            let readings: Vec<f64> = q.iter().zip(&offsets).map(|(q, offset)| q + offset).collect();
            same(bent.forward(&q), corrected.forward(&readings));
        }
    }
}

#[test]
fn the_table_of_ranger_mark_1_is_that_of_the_thesis() {
    let model = Model::from_urdf(&urdf("ranger_mk1.urdf"), Some("base_link"), Some("tool0")).unwrap();
    let mut table = DhTable::of(&model);
    for (row, given) in table.rows().iter().zip(crate::common::MK1) {
        let got = [row.alpha, row.a, row.d, row.theta];
        assert!(got.iter().zip(given).all(|(got, given)| (got - given).abs() < 1e-12), "{got:?}");
    }
    let usual: Vec<String> =
        table.usual_parameters().iter().map(|parameter| table.name(*parameter)).collect();
    let thesis = "d_1 theta_1 theta_2 a_2 theta_3 a_3 d_4 theta_4 theta_5 theta_6 a_6 d_T";
    assert_eq!(usual.join(" "), thesis, "the twelve of 4.4.1");
    // Table 4.1.
    let optimized = [
        ("d_1", 0.2477),
        ("theta_1", -0.001197),
        ("theta_2", 0.001839),
        ("a_2", 0.5616),
        ("theta_3", 0.004736),
        ("a_3", 0.1489),
        ("d_4", 0.5366),
        ("theta_4", -0.003007),
        ("theta_5", -0.01497),
        ("theta_6", 1.3),
        ("a_6", -0.003229),
        ("d_T", 0.3118),
    ];
    let parameters = optimized.map(|(name, value)| {
        let parameter = table.named(name).unwrap();
        table.set(parameter, value);
        parameter
    });
    let text = Layout { table: &table, marked: &parameters }.to_string();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["1", "0", "0", "0.24770*", "theta_1", "-", "0.001197*"], "{text}");
    assert_eq!(rows[1], ["2", "pi/2", "0", "0", "theta_2", "+", "0.001839*"], "{text}");
    assert_eq!(rows[3], ["4", "-pi/2", "0.14890*", "0.53660*", "theta_4", "-", "0.003007*"], "{text}");
    assert_eq!(rows[6], ["T", "0", "-0.00323*", "0.31180*", "0"], "{text}");
    let missing = Parameter { row: 9, entry: Entry::A };
    assert_eq!(table.value(missing), 0.0);
}

#[test]
fn fifty_noisy_measurements_give_the_parameters_back() {
    let robot = Fixture::ranger(0).model;
    let poses = plan(&robot, &PlanOptions::default(), |_| true).unwrap().poses;
    for seed in 1..=8 {
        let mut fixture = Fixture::ranger(seed);
        let measurements: Vec<_> = poses.iter().map(|pose| fixture.measure(pose.clone())).collect();
        let fit = fixture.fit(&measurements, &FitOptions::default());
        assert_recovered(&fixture, &fit);
        // Base height and the first joint are those of the measuring frame; a tool near the last axis does not show
        // its turn.
        let held: Vec<String> = fit.held.iter().map(|held| fit.table.name(held.parameter)).collect();
        assert!(held.contains(&"d_1".to_owned()) && held.contains(&"theta_1".to_owned()), "{held:?}");
        assert!(
            fit.held
                .iter()
                .filter(|held| fit.table.name(held.parameter).ends_with('1'))
                .all(|held| held.like_frame)
        );
        assert!(fit.estimates.len() >= 9, "{held:?}");
        let [before, after] = fit.errors();
        assert!(before.mean > 3e-3 && after.mean < 5e-4, "{before:?} {after:?}");
        let left_out = dragoman_kinematics::calibration::Statistics::of(&fit.left_out);
        assert!(left_out.mean > after.mean && left_out.mean < 1.0e-3, "{left_out:?}");
        assert!((fit.noise - NOISE).abs() < 0.3 * NOISE, "{}", fit.noise);
    }
}

#[test]
fn a_known_frame_gives_the_base_as_well() {
    let mut fixture = Fixture::ranger(3);
    let measurements = fixture.measure_random(50);
    let frame = MeasuringFrame::Known(fixture.frame);
    let fit = fixture.fit(&measurements, &FitOptions { frame, ..FitOptions::default() });
    assert_recovered(&fixture, &fit);
    assert!(names(&fit).contains(&"theta_1".to_owned()) && names(&fit).contains(&"d_1".to_owned()));
}

#[test]
fn both_optimizers_find_the_same() {
    let mut fixture = Fixture::ranger(5);
    let measurements = fixture.measure_random(50);
    let descent = fixture.fit(&measurements, &FitOptions { loss: Loss::Squares, ..FitOptions::default() });
    let options = FitOptions { method: Method::NelderMead, loss: Loss::Squares, ..FitOptions::default() };
    let simplex = fixture.fit(&measurements, &options);
    for (a, b) in descent.estimates.iter().zip(&simplex.estimates) {
        assert!((a.value - b.value).abs() < 0.5 * a.deviation, "{a:?} {b:?}");
    }
    let errors: Vec<f64> = simplex.stages.iter().map(|stage| stage.errors.mean).collect();
    // As in the thesis: offsets only, then lengths, then all.
    assert!(errors.len() == 3 && errors[0] > errors[1] && errors[1] >= 0.99 * errors[2], "{errors:?}");
    assert!(simplex.errors()[0].mean > errors[0]);
}

#[test]
fn nelder_mead_counts_squares_in_all_its_figures() {
    let mut fixture = Fixture::ranger(5);
    let mut measurements = fixture.measure_random(16);
    measurements[3].point.y += 0.02;
    let of = |loss| FitOptions { method: Method::NelderMead, loss, ..FitOptions::default() };
    let simplex = fixture.fit(&measurements, &of(Loss::Huber));
    assert_eq!(simplex, fixture.fit(&measurements, &of(Loss::Squares)));
    // Leave-one-out has the same optimum as that of the other method.
    let squares = fixture.fit(&measurements, &FitOptions { loss: Loss::Squares, ..FitOptions::default() });
    let huber = fixture.fit(&measurements, &FitOptions::default());
    let gap = |other: &Fit| {
        let gaps = simplex.left_out.iter().zip(&other.left_out).map(|(a, b)| (a - b).abs());
        gaps.fold(0.0, f64::max)
    };
    assert_eq!(simplex.left_out.len(), 16);
    assert!(gap(&squares) < 0.2 * gap(&huber), "{} {}", gap(&squares), gap(&huber));
}

#[test]
fn outliers_are_named_and_do_not_count() {
    for loss in [Loss::Huber, Loss::Cauchy] {
        let mut fixture = Fixture::ranger(11);
        let mut measurements = fixture.measure_random(50);
        for (index, by) in [(4, 0.04), (17, -0.03), (33, 0.1)] {
            measurements[index].point.y += by;
        }
        let fit = fixture.fit(&measurements, &FitOptions { loss, ..FitOptions::default() });
        assert_eq!(fit.outliers, [4, 17, 33], "{loss:?}");
        assert_recovered(&fixture, &fit);
        let squares =
            fixture.fit(&measurements, &FitOptions { loss: Loss::Squares, ..FitOptions::default() });
        assert!(squares.noise > 5.0 * NOISE);
    }
}

#[test]
fn parameters_with_the_same_effect_are_held_and_named() {
    let mut fixture = Fixture::ranger(2);
    let measurements = fixture.measure_random(40);
    let table = DhTable::of(&fixture.model);
    let named = |name: &str| table.named(name).unwrap();
    let mut parameters = table.usual_parameters();
    // Axes 2 and 3 are parallel, and the tool lies on axis 6.
    parameters.extend([named("d_2"), named("d_3"), named("d_6")]);
    let fit = fixture.fit(&measurements, &FitOptions { parameters, ..FitOptions::default() });
    let held = |name: &str| fit.held.iter().find(|held| held.parameter == named(name));
    assert_eq!(held("d_3").unwrap().like, [named("d_2")]);
    assert_eq!(held("d_6").unwrap().like, [named("d_T")]);
    assert!(held("d_2").is_none() && held("d_T").is_none());
    // One joint alone moves: nothing but a circle.
    let measurements: Vec<Measurement> = (0..40)
        .map(|step| fixture.measure(vec![-1.5 + 0.07 * f64::from(step), 0.8, 0.3, 0.2, 1.6, 0.1]))
        .collect();
    let fit = fixture.fit(&measurements, &FitOptions::default());
    assert!(fit.held.len() >= 10, "{:?}", fit.estimates);
}

#[test]
fn bounds_and_fixed_parameters_are_kept() {
    let mut fixture = Fixture::ranger(4);
    let measurements = fixture.measure_random(50);
    let table = DhTable::of(&fixture.model);
    let [a_2, theta_3] = ["a_2", "theta_3"].map(|name| table.named(name).unwrap());
    let true_change = (fixture.truth.value(theta_3) - table.value(theta_3)).abs();
    let options = FitOptions { max_changes: vec![(theta_3, 0.5 * true_change)], ..FitOptions::default() };
    let fit = fixture.fit(&measurements, &options);
    let bounded = fit.estimates.iter().find(|estimate| estimate.parameter == theta_3).unwrap();
    assert!(bounded.at_bound && (bounded.value.abs() - 0.5 * true_change).abs() < 1e-12);
    let parameters = table.usual_parameters().into_iter().filter(|parameter| *parameter != a_2).collect();
    let options = FitOptions { parameters, start: vec![(a_2, 0.56)], ..FitOptions::default() };
    assert_eq!(fixture.fit(&measurements, &options).table.value(a_2), 0.56);
    for change in [0.0, -1.0, f64::NAN] {
        let options = FitOptions { max_angle: change, ..FitOptions::default() };
        assert!(fixture.error(&measurements, &options).to_string().contains("greatest change of theta_1"));
    }
}

#[test]
fn bad_measurements_are_refused_with_the_reason() {
    let mut fixture = Fixture::ranger(6);
    let good = fixture.measure_random(50);
    let refused = |change: &dyn Fn(&mut Vec<Measurement>)| {
        let mut bad = good.clone();
        change(&mut bad);
        fixture.error(&bad, &FitOptions::default()).to_string()
    };
    let each =
        |rows: &mut Vec<Measurement>, change: &dyn Fn(&mut Measurement)| rows.iter_mut().for_each(change);
    assert_eq!(refused(&|rows| rows[6].point.y = f64::NAN), "measurement 7: y is NaN");
    assert_eq!(refused(&|rows| rows[0].joints[2] = f64::INFINITY), "measurement 1: joint_3 is inf");
    let error = refused(&|rows| rows[1].joints.truncate(5));
    assert_eq!(error, "measurement 2 has 5 joint positions; the arm has 6 joints");
    let error = refused(&|rows| each(rows, &|row| row.joints.iter_mut().for_each(|q| *q = q.to_degrees())));
    assert!(error.contains("are these degrees?"), "{error}");
    let error = refused(&|rows| each(rows, &|row| row.point *= 1e3));
    assert!(error.contains("are these millimetres?"), "{error}");
    let error = refused(&|rows| each(rows, &|row| row.point /= 0.0254));
    assert!(error.contains("are these inches?"), "{error}");
    let error = refused(&|rows| each(rows, &|row| row.point.x = -row.point.x));
    assert!(error.contains("mirrored"), "{error}");
    let error = refused(&|rows| rows.truncate(5));
    assert!(
        error.starts_with("5 different poses (5 measurements)") && error.contains("at least 7"),
        "{error}"
    );
    let error = refused(&|rows| *rows = (0..50).map(|index| rows[index % 4].clone()).collect());
    assert!(error.starts_with("4 different poses (50 measurements)"), "{error}");
    let error = refused(&|rows| each(rows, &|row| row.point = Point3::new(0.3, 0.2, 0.1)));
    assert!(error.contains("times as large"), "{error}");
    let error = refused(&|rows| each(rows, &|row| row.joints.swap(1, 2)));
    assert!(error.contains("do not fit") || error.contains("limits") || error.contains("large"), "{error}");
    let error = refused(&|rows| {
        let first = rows[0].point;
        let count = rows.len();
        for index in 0..count - 1 {
            rows[index].point = rows[index + 1].point;
        }
        rows[count - 1].point = first;
    });
    assert!(error.contains("do not fit"), "{error}");
}

#[test]
fn repeated_measurements_count_once_as_poses() {
    let mut fixture = Fixture::ranger(8);
    let poses = fixture.measure_random(12);
    let repeated: Vec<Measurement> =
        (0..48).map(|index| fixture.measure(poses[index % 12].joints.clone())).collect();
    let fit = fixture.fit(&repeated, &FitOptions::default());
    assert_eq!((fit.poses, fit.left_out.len()), (12, 48));
    let [_, after] = fit.errors();
    // A pose that is left out is left out with all its measurements.
    let left_out = dragoman_kinematics::calibration::Statistics::of(&fit.left_out);
    assert!(left_out.mean > 1.05 * after.mean, "{left_out:?} {after:?}");
}

#[test]
fn planned_poses_are_better_than_random_ones() {
    let mut fixture = Fixture::ranger(9);
    let is_allowed = |q: &[f64]| q[1] > 0.0;
    let options = PlanOptions { poses: 12, candidates: 300, ..PlanOptions::default() };
    let planned = plan(&fixture.model, &options, is_allowed).unwrap();
    assert_eq!(planned.poses.len(), 12);
    assert!(planned.poses.iter().all(|pose| pose[1] > 0.0));
    assert!(
        planned.condition < planned.random_condition,
        "{} {}",
        planned.condition,
        planned.random_condition
    );
    let measurements: Vec<Measurement> =
        planned.poses.iter().map(|pose| fixture.measure(pose.clone())).collect();
    let fitted = fixture.fit(&measurements, &FitOptions::default());
    for estimate in &fitted.estimates {
        let expected = planned.expected.iter().find(|expected| expected.parameter == estimate.parameter);
        let ratio = estimate.deviation / expected.unwrap().deviation;
        assert!((0.3..3.0).contains(&ratio), "{}: {ratio}", fitted.table.name(estimate.parameter));
    }
    // Further poses complete those that exist.
    let measured = planned.poses[..6].to_vec();
    let more =
        plan(&fixture.model, &PlanOptions { poses: 6, measured, ..options.clone() }, is_allowed).unwrap();
    assert!(more.condition < 1.5 * planned.condition, "{} {}", more.condition, planned.condition);
    let error = plan(&fixture.model, &options, |_| false).unwrap_err().to_string();
    assert!(error.contains("only 0 of"), "{error}");
}

#[test]
fn arcs_give_the_counts_per_radian() {
    // Ranger thesis, 4.2: 130,148 counts per radian.
    let arc = arcs::from_length(-130_148.0 * 1.2, 1.2 * 0.8, 0.8).unwrap();
    assert!((arc.counts_per_radian - 130_148.0).abs() < 1e-6);
    let mut fixture = Fixture::ranger(10);
    let sweep = |fixture: &mut Fixture, angle: f64| -> Vec<(f64, Point3<f64>)> {
        (0..=20)
            .map(|step| {
                let turned = angle * f64::from(step) / 20.0;
                let measured = fixture.measure(vec![-1.5, 0.3, -1.0 + turned, 0.0, 1.6, 0.0]);
                (-65_929.0 * turned, measured.point)
            })
            .collect()
    };
    let arc = arcs::from_points(&sweep(&mut fixture, 2.0)).unwrap();
    assert!((arc.counts_per_radian / 65_929.0 - 1.0).abs() < 1e-3, "{arc:?}");
    assert!((arc.counts_per_radian - 65_929.0).abs() < 5.0 * arc.deviation, "{arc:?}");
    assert!((arc.angle - 2.0).abs() < 2e-3, "{arc:?}");
    assert!(arcs::from_points(&sweep(&mut fixture, 0.05)).is_err());
    let mut points = sweep(&mut fixture, 2.0);
    points[3].1.x = f64::NAN;
    assert_eq!(arcs::from_points(&points).unwrap_err().to_string(), "x is NaN");
    let line: Vec<_> = (0..9).map(|at| (f64::from(at), Point3::new(f64::from(at), 0.0, 0.0))).collect();
    assert!(arcs::from_points(&line).is_err());
    let shuffled: Vec<_> = sweep(&mut fixture, 2.0)
        .iter()
        .enumerate()
        .map(|(at, point)| (((at * 7) % 21) as f64, point.1))
        .collect();
    assert!(arcs::from_points(&shuffled).is_err(), "mixed rows");
    assert!(arcs::from_length(0.0, 1.0, 1.0).is_err() && arcs::from_length(1.0, f64::NAN, 1.0).is_err());
}
