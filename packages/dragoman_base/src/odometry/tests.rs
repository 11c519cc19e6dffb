use std::f64::consts::{FRAC_PI_2, PI, TAU};

use proptest::prelude::*;

use super::*;

const STEP: Duration = Duration::from_millis(20);

/// A base with exact wheels, whose encoders are whole.
struct Roller {
    metres: [f64; 2],
    start: [i64; 2],
}

impl Roller {
    /// Rolls by these distances and counts with 16 bits.
    fn roll(&mut self, distances: [f64; 2]) -> [i64; 2] {
        [0, 1].map(|wheel| {
            self.metres[wheel] += distances[wheel];
            let ticks = (self.metres[wheel] * WheelGeometry::KOBUKI.ticks_per_metre).round() as i64;
            (self.start[wheel] + ticks).rem_euclid(65536)
        })
    }
}

fn started(start: [i64; 2]) -> (Roller, Odometry) {
    let mut odometry = Odometry::new(WheelGeometry::KOBUKI);
    odometry.update(Measurement { ticks: start, interval: STEP, speeds: None, gyro: None });
    assert_eq!(odometry.pose(), Pose::ORIGIN, "the first reading is only a reference");
    (Roller { metres: [0.0; 2], start }, odometry)
}

fn near(left: f64, right: f64, tolerance: f64) {
    assert!((left - right).abs() <= tolerance, "{left} instead of {right}");
}

#[test]
fn a_kobuki_has_11_7_ticks_per_millimetre() {
    near(WheelGeometry::KOBUKI.ticks_per_metre, 11_700.0, 30.0);
}

#[test]
fn a_metre_straight_on_passes_the_end_of_the_encoders() {
    let (mut roller, mut odometry) = started([65000, 3]);
    for _ in 0..100 {
        odometry.update(Measurement {
            ticks: roller.roll([0.01; 2]),
            interval: STEP,
            speeds: None,
            gyro: None,
        });
    }
    near(odometry.pose().x, 1.0, 1e-4);
    near(odometry.pose().y, 0.0, 1e-4);
    near(odometry.twist().linear, 0.5, 5e-3);
    for wheel in odometry.wheels() {
        near(wheel.angle, 1.0 / 0.035, 3e-3);
        near(wheel.rate, 0.5 / 0.035, 0.2);
    }
    for _ in 0..200 {
        odometry.update(Measurement {
            ticks: roller.roll([-0.01; 2]),
            interval: STEP,
            speeds: None,
            gyro: None,
        });
    }
    near(odometry.pose().x, -1.0, 1e-4);
}

#[test]
fn a_square_ends_where_it_began() {
    let (mut roller, mut odometry) = started([0, 0]);
    for _ in 0..4 {
        for _ in 0..200 {
            odometry.update(Measurement {
                ticks: roller.roll([0.01; 2]),
                interval: STEP,
                speeds: None,
                gyro: None,
            });
        }
        let turn = FRAC_PI_2 * 0.115 / 50.0;
        for _ in 0..50 {
            odometry.update(Measurement {
                ticks: roller.roll([-turn, turn]),
                interval: STEP,
                speeds: None,
                gyro: None,
            });
        }
    }
    near(odometry.pose().x, 0.0, 3e-3);
    near(odometry.pose().y, 0.0, 3e-3);
    near(wrap_angle(odometry.pose().heading), 0.0, 2e-3);
}

#[test]
fn an_arc_in_one_step_is_exact() {
    let mut geometry = WheelGeometry { ticks_per_metre: 1e6, tick_modulus: 1 << 32, ..WheelGeometry::KOBUKI };
    geometry.max_speed = 100.0;
    let mut odometry = Odometry::new(geometry);
    odometry.update(Measurement { ticks: [0, 0], interval: STEP, speeds: None, gyro: None });
    // A quarter of a circle with a radius of 1 m, to the left.
    let ticks = [0.885, 1.115].map(|radius: f64| (radius * FRAC_PI_2 * 1e6).round() as i64);
    odometry.update(Measurement { ticks, interval: Duration::from_secs(1), speeds: None, gyro: None });
    near(odometry.pose().x, 1.0, 1e-5);
    near(odometry.pose().y, 1.0, 1e-5);
    near(odometry.pose().heading, FRAC_PI_2, 1e-5);
    near(odometry.twist().angular, FRAC_PI_2, 1e-5);
}

#[test]
fn the_gyro_s_heading_is_relative_to_its_first_reading_and_wraps() {
    let (_, mut odometry) = started([0, 0]);
    let mut heading = 3.0;
    for _ in 0..=100 {
        let gyro = GyroReading { heading: wrap_angle(heading), rate: 0.7 };
        odometry.update(Measurement { ticks: [0, 0], interval: STEP, speeds: None, gyro: Some(gyro) });
        heading += 0.1;
    }
    near(odometry.pose().heading, wrap_angle(10.0), 1e-9);
    near(odometry.twist().angular, 0.7, 0.0);
    assert_eq!(odometry.pose_covariance()[35], 0.05);
}

#[test]
fn rates_stay_while_the_clock_stands() {
    let (mut roller, mut odometry) = started([0, 0]);
    odometry.update(Measurement { ticks: roller.roll([0.01; 2]), interval: STEP, speeds: None, gyro: None });
    let twist = odometry.twist();
    let standing =
        Measurement { ticks: roller.roll([0.01; 2]), interval: Duration::ZERO, speeds: None, gyro: None };
    odometry.update(standing);
    assert_eq!(odometry.twist(), twist);
    near(odometry.pose().x, 0.02, 1e-4);
}

#[test]
fn an_encoder_that_restarts_is_not_motion() {
    let (mut roller, mut odometry) = started([30000, 30000]);
    odometry.update(Measurement { ticks: roller.roll([0.01; 2]), interval: STEP, speeds: None, gyro: None });
    let pose = odometry.pose();
    odometry.update(Measurement { ticks: [0, 0], interval: STEP, speeds: None, gyro: None });
    assert_eq!((odometry.pose(), odometry.twist(), odometry.jumps()), (pose, Twist::ZERO, 1));
    odometry.interrupt();
    odometry.update(Measurement { ticks: [500, 9], interval: STEP, speeds: None, gyro: None });
    assert_eq!(odometry.pose(), pose);
    odometry.update(Measurement { ticks: [617, 126], interval: STEP, speeds: None, gyro: None });
    near(odometry.pose().x - pose.x, 0.01, 1e-4);
}

#[test]
fn set_and_reset() {
    let (mut roller, mut odometry) = started([0, 0]);
    odometry.set(Pose::new(1.0, 2.0, FRAC_PI_2)).unwrap();
    odometry.update(Measurement { ticks: roller.roll([0.01; 2]), interval: STEP, speeds: None, gyro: None });
    near(odometry.pose().y, 2.01, 1e-4);
    assert!(odometry.wheels()[0].angle > 0.0);
    assert!(odometry.set(Pose::new(f64::NAN, 0.0, 0.0)).is_err());
    near(odometry.pose().x, 1.0, 1e-4);
    odometry.set(Pose::new(0.0, 0.0, 7.0)).unwrap();
    near(odometry.pose().heading, 7.0 - TAU, 1e-12);
    assert!(odometry.wheels()[0].angle > 0.0, "no reset");
    odometry.set(Pose::ORIGIN).unwrap();
    assert_eq!((odometry.pose(), odometry.wheels()[0].angle), (Pose::ORIGIN, 0.0));
}

#[test]
fn covariance() {
    let odometry = Odometry::new(WheelGeometry::KOBUKI);
    let covariance = odometry.pose_covariance();
    let diagonal: Vec<f64> = (0..6).map(|index| covariance[7 * index]).collect();
    assert_eq!(diagonal, [0.1, 0.1, f64::MAX, f64::MAX, f64::MAX, 0.2]);
    assert_eq!(covariance.iter().filter(|value| **value != 0.0).count(), 6);
}

#[test]
fn wheel_speeds_and_twists_are_inverse() {
    let twist = Twist::new(0.3, -1.2);
    let speeds = WheelGeometry::KOBUKI.wheel_speeds(twist);
    near(speeds[0], 0.3 + 1.2 * 0.115, 1e-12);
    let again = WheelGeometry::KOBUKI.twist(speeds);
    near(again.linear, twist.linear, 1e-12);
    near(again.angular, twist.angular, 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_measurements_leave_a_finite_pose_and_no_step_beyond_the_fastest(
        measurements in proptest::collection::vec((any::<i64>(), any::<i64>(), 0_u64..70_000, -4.0..4.0_f64), 1..50),
    ) {
        let mut odometry = Odometry::new(WheelGeometry::KOBUKI);
        for (left, right, milliseconds, heading) in measurements {
            let before = odometry.pose();
            let interval = Duration::from_millis(milliseconds);
            let gyro = (heading > 0.0).then_some(GyroReading { heading, rate: heading });
            odometry.update(Measurement { ticks: [left, right], interval, speeds: None, gyro });
            let pose = odometry.pose();
            prop_assert!(pose.is_finite() && odometry.twist().is_finite());
            prop_assert!((-PI..=PI).contains(&pose.heading));
            let step = (pose.x - before.x).hypot(pose.y - before.y);
            prop_assert!(step <= 2.0 * (interval.as_secs_f64() + 0.1) + 1e-9);
        }
    }

    #[test]
    fn angles_are_wrapped(angle in -1e6..1e6_f64) {
        let wrapped = wrap_angle(angle);
        prop_assert!((-PI..=PI).contains(&wrapped));
        prop_assert!((wrapped.sin() - angle.sin()).abs() < 1e-8 && (wrapped.cos() - angle.cos()).abs() < 1e-8);
    }
}
