//! Paths and their comparison, and the limit of the drives that explains the figures of the Ranger thesis.

use std::f64::consts::FRAC_PI_2;

use dragoman_kinematics::evaluation::{Path, Sample, TrackError, Tracking, static_points, track};
use dragoman_kinematics::nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use dragoman_kinematics::{IkOptions, Model, Robot};

/// Five cycles of a path that reaches its speed in an eighth of the first one.
fn commanded(path: Path, cycles: f64) -> Vec<Sample> {
    let period = path.period();
    let sample = |index: usize| {
        let time = index as f64 * 0.01;
        let cycle = time / period;
        let phase = if cycle < 0.125 { 4.0 * cycle * cycle } else { cycle - 0.0625 };
        Sample { time, point: path.at(phase) }
    };
    (0..(100.0 * cycles * period) as usize).map(sample).collect()
}

fn seen(path: &[Sample], frame: &Isometry3<f64>, lag: f64) -> Vec<Sample> {
    let see = |sample: &Sample| Sample { time: sample.time + lag, point: frame.inverse() * sample.point };
    let first = path.first().copied().unwrap();
    let rest = (1..100).rev().map(|step| Sample { time: first.time - 0.01 * f64::from(step), ..first });
    rest.chain(path.iter().copied()).map(|sample| see(&sample)).collect()
}

fn tracker() -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::new(1.2, -0.4, 0.1), UnitQuaternion::from_euler_angles(0.1, 0.2, 2.0))
}

#[test]
fn lag_and_frame_are_found() {
    for path in [
        Path::Rectangle,
        Path::Circle { period: 5.0 },
        Path::SinusoidX { period: 2.0 },
        Path::SinusoidZ { period: 1.0 },
    ] {
        let commanded = commanded(path, 3.0);
        for clock in [0.0, 0.13, -0.2, 1.6e9] {
            let measured = seen(&commanded, &tracker(), clock);
            let found = track(&commanded, &measured, None, 0.5 * path.period()).unwrap();
            assert!((found.lag - clock).abs() < 2e-3, "{path:?}: {} of {clock}", found.lag);
            assert!(found.errors.mean < 5e-4, "{path:?}: {:?}", found.errors);
            let known = track(&commanded, &measured, Some(&tracker()), 0.5 * path.period()).unwrap();
            assert!(known.errors.mean < 5e-4 && (known.lag - clock).abs() < 2e-3, "{path:?}");
        }
    }
}

#[test]
fn an_error_has_its_size() {
    let path = Path::Circle { period: 10.0 };
    let commanded = commanded(path, 3.0);
    let center = Point3::from(Path::CIRCLE_CENTER);
    // A circle of 19.6 cm, as the thesis saw it: 4 mm away.
    let small: Vec<Sample> = commanded
        .iter()
        .map(|sample| Sample { point: center + 0.98 * (sample.point - center), ..*sample })
        .collect();
    let found = track(&commanded, &seen(&small, &tracker(), 0.05), None, 5.0).unwrap();
    assert!((found.errors.mean - 4e-3).abs() < 2e-4, "{:?}", found.errors);
    assert!(found.errors.deviation < 5e-4, "{:?}", found.errors);
}

#[test]
fn paths_that_cannot_be_compared_are_refused() {
    let path = commanded(Path::SinusoidX { period: 2.0 }, 2.0);
    let good = seen(&path, &tracker(), 0.1);
    let fails = |change: &dyn Fn(&mut Vec<Sample>)| {
        let mut bad = good.clone();
        change(&mut bad);
        track(&path, &bad, None, 1.0).unwrap_err().to_string()
    };
    for (error, reason) in [
        (fails(&|bad| bad[6].point.y = f64::NAN), "measured path: point 7: y is NaN"),
        (fails(&|bad| bad[3].time = f64::INFINITY), "point 4: time is inf"),
        (fails(&|bad| bad.truncate(7)), "has 7 points; at least 20"),
        (fails(&|bad| bad[50] = bad[49]), "point 51: time"),
        (fails(&|bad| bad.iter_mut().for_each(|sample| sample.point *= 1e3)), "are these millimetres?"),
        (fails(&|bad| bad.iter_mut().for_each(|sample| sample.point *= 1e2)), "are these centimetres?"),
        (fails(&|bad| bad.iter_mut().for_each(|sample| sample.point = Point3::origin())), "does not move"),
        (fails(&|bad| bad.truncate(250)), "of the motion"),
    ] {
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let millimetres: Vec<Sample> =
        path.iter().map(|sample| Sample { point: sample.point * 1e3, ..*sample }).collect();
    let error = track(&millimetres, &good, None, 1.0).unwrap_err();
    assert!(matches!(error, TrackError::Unit { .. }) && error.to_string().contains("commanded ones"));
}

#[test]
fn the_paths_are_those_of_the_thesis() {
    let speed = |path: Path| (path.speed().unwrap() * 1e3).round();
    assert_eq!(speed(Path::Circle { period: 5.0 }), 251.0);
    assert_eq!(speed(Path::SinusoidX { period: 3.0 }), 209.0);
    assert_eq!(speed(Path::SinusoidZ { period: 1.0 }), 628.0);
    assert!((Path::Rectangle.at(2.0 / 14.0) - Point3::from(Path::CORNERS[1])).norm() < 1e-12);
    assert!((Path::Rectangle.at(1.0) - Path::Rectangle.start()).norm() < 1e-12);
    let points = static_points();
    let [first, last] = [points[0], points[7]];
    assert!(((last - first).norm() - 0.1).abs() < 1e-12, "lines 10 cm apart");
    assert!(((last.z - first.z) / (last.y - first.y) - 2.0_f64.sqrt()).abs() < 1e-12);
}

/// Ranger Mark I with a level tool, and joint positions at the start of a path.
fn ranger_at(path: Path) -> (Robot, [f64; 6]) {
    let urdf = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../urdf/ranger_mk1.urdf");
    let urdf = std::fs::read_to_string(urdf).unwrap();
    let model = Model::from_urdf(&urdf, Some("base_link"), Some("tool0")).unwrap();
    let robot = Robot::new(&model).unwrap();
    let mut joints = [-1.57, 1.32, 1.03, 0.0, 2.36, 0.0];
    follow(&robot, path.start(), &mut joints);
    (robot, joints)
}

fn follow(robot: &Robot, point: Point3<f64>, joints: &mut [f64; 6]) {
    let level = UnitQuaternion::from_euler_angles(0.0, FRAC_PI_2, FRAC_PI_2);
    let pose = Isometry3::from_parts(Translation3::from(point.coords), level);
    let from = *joints;
    let options = IkOptions { max_joint_step: 1.0, ..IkOptions::default() };
    robot.track(&pose, &from, &options, joints).unwrap();
}

/// The path of an arm whose joints follow exact inverse kinematics no faster than `limits`, rad/s.
fn limited(path: Path, limits: [f64; 6]) -> Tracking {
    let (robot, mut joints) = ranger_at(path);
    let mut actual = joints;
    let commanded = commanded(path, 8.0);
    let measured = commanded
        .iter()
        .map(|sample| {
            follow(&robot, sample.point, &mut joints);
            for ((actual, wanted), limit) in actual.iter_mut().zip(joints).zip(limits) {
                *actual += (wanted - *actual).clamp(-limit * 0.01, limit * 0.01);
            }
            let point = Point3::from(robot.forward(&actual).translation.vector);
            Sample { point, ..*sample }
        })
        .collect::<Vec<_>>();
    track(
        &commanded,
        &seen(&measured, &Isometry3::identity(), 0.0),
        Some(&Isometry3::identity()),
        0.5 * path.period(),
    )
    .unwrap()
}

/// The maximum rate of each joint on a path, rad/s.
fn rates(path: Path) -> [f64; 6] {
    let (robot, mut joints) = ranger_at(path);
    let mut greatest = [0.0_f64; 6];
    for sample in commanded(path, 2.0) {
        let before = joints;
        follow(&robot, sample.point, &mut joints);
        for ((greatest, before), now) in greatest.iter_mut().zip(before).zip(joints) {
            *greatest = greatest.max((now - before).abs() / 0.01);
        }
    }
    greatest
}

/// Ranger thesis, 4.5.4: "commanded rates of approximately 1.5 rad/sec on both joints 4 and 6" in the circle.
#[test]
fn joints_4_and_6_turn_as_fast_as_in_the_thesis() {
    let [.., fourth, _, sixth] = rates(Path::Circle { period: 5.0 });
    assert!([fourth, sixth].iter().all(|rate| (1.3..1.6).contains(rate)), "{fourth} and {sixth}");
}

/// Ranger thesis, 4.5.4: 42 mm in the circle with T = 5 s, 37 and 21 mm in x, next to 4 mm and less. A limit of 0.9 rad/s for
/// every joint gives a fourth of it or nothing. One count rate for every drive, so half the speed for joints 1 and 2, gives
/// these figures: 50,000 counts/s.
#[test]
fn one_count_rate_for_all_drives_explains_the_fast_runs() {
    let counts: [f64; 6] = [817_741.0, 817_741.0, 414_246.0, 414_246.0, 414_246.0, 414_246.0];
    let rate =
        |counts_per_second: f64| counts.map(|per_turn| counts_per_second * std::f64::consts::TAU / per_turn);
    let error = |path, limits| 1e3 * limited(path, limits).errors.mean;
    // The table of docs/evaluation-method.md.
    for path in [
        Path::Circle { period: 5.0 },
        Path::Circle { period: 7.0 },
        Path::SinusoidX { period: 2.0 },
        Path::SinusoidX { period: 3.0 },
        Path::SinusoidX { period: 5.0 },
        Path::SinusoidZ { period: 1.0 },
    ] {
        let errors = [[0.9; 6], rate(59_336.0), rate(54_062.0), rate(50_000.0)].map(|limits| {
            let errors = limited(path, limits).errors;
            format!("{:.1} ({:.1})", errors.mean * 1e3, errors.deviation * 1e3)
        });
        println!("{path:?}: {}", errors.join(" | "));
    }
    let limits = rate(50_000.0);
    for (path, thesis) in [
        (Path::Circle { period: 5.0 }, 42.0),
        (Path::SinusoidX { period: 2.0 }, 37.0),
        (Path::SinusoidX { period: 3.0 }, 21.0),
    ] {
        let is_like = |error: f64| (thesis / 1.5..=thesis * 1.5).contains(&error);
        assert!(is_like(error(path, limits)), "{path:?}: {}", error(path, limits));
        assert!(!is_like(error(path, [0.9; 6])), "{path:?}: {}", error(path, [0.9; 6]));
        assert!(error(path, [9.0; 6]) < 0.1);
    }
    for slow in [
        Path::Circle { period: 7.0 },
        Path::Circle { period: 20.0 },
        Path::SinusoidX { period: 5.0 },
        Path::SinusoidZ { period: 2.0 },
    ] {
        assert!(error(slow, limits) < 2.5, "{slow:?}: {}", error(slow, limits));
    }
}
