use proptest::prelude::*;

use super::*;

fn limits() -> Limits {
    Limits {
        linear: AxisLimits { velocity: 0.7, acceleration: Some(0.5), deceleration: Some(1.0) },
        angular: AxisLimits::velocity(2.0),
    }
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The linear velocity after each of some steps.
fn run(ramp: &mut Ramp, target: f64, steps: &[u64]) -> Vec<f64> {
    steps
        .iter()
        .map(|step| {
            let velocity = ramp.step(Twist::new(target, 0.0), milliseconds(*step)).linear;
            (velocity * 1e6).round() / 1e6
        })
        .collect()
}

#[test]
fn speeds_up_and_brakes_by_different_limits_on_steps_of_any_length() {
    let mut ramp = Ramp::new(limits()).unwrap();
    assert_eq!(run(&mut ramp, 0.1, &[20, 40, 0, 100, 100]), [0.01, 0.03, 0.03, 0.08, 0.1]);
    assert_eq!(run(&mut ramp, 0.0, &[20, 30, 100]), [0.08, 0.05, 0.0]);
}

#[test]
fn a_reversal_brakes_first() {
    let mut ramp = Ramp::new(limits()).unwrap();
    run(&mut ramp, 0.04, &[100]);
    // 40 ms of braking, then 60 ms of speeding up.
    assert_eq!(run(&mut ramp, -1.0, &[100, 100]), [-0.03, -0.08]);
    assert_eq!(run(&mut ramp, -0.03, &[20, 100]), [-0.06, -0.03]);
}

#[test]
fn the_maximum_is_kept_and_without_acceleration_limits_it_is_reached_at_once() {
    let mut ramp = Ramp::new(limits()).unwrap();
    assert_eq!(ramp.step(Twist::new(0.0, -9.0), milliseconds(0)).angular, -2.0);
    for _ in 0..100 {
        ramp.step(Twist::new(9.0, 0.0), milliseconds(20));
    }
    assert_eq!(ramp.velocity(), Twist::new(0.7, 0.0));
    ramp.stop();
    assert_eq!(ramp.velocity(), Twist::ZERO);
}

/// Both axes limited, the linear one more tightly.
fn coupled() -> Ramp {
    let angular = AxisLimits { velocity: 2.0, acceleration: Some(4.0), deceleration: Some(4.0) };
    Ramp::new(Limits { angular, ..limits() }).unwrap()
}

#[test]
fn a_step_along_keeps_the_arc_of_the_target() {
    let mut ramp = coupled();
    let target = Twist::new(0.4, 0.8);
    // The linear axis needs 0.8 s, the angular one alone 0.2 s.
    for step in 1..8 {
        let velocity = ramp.step_along(target, milliseconds(100));
        assert!((velocity.linear - 0.05 * f64::from(step)).abs() < 1e-12, "{velocity:?}");
        assert!((velocity.angular - 2.0 * velocity.linear).abs() < 1e-12, "{velocity:?}");
    }
    let last = ramp.step_along(target, milliseconds(100));
    assert!((last.linear - 0.4).abs() < 1e-12 && (last.angular - 0.8).abs() < 1e-12, "{last:?}");
    assert_eq!(ramp.step_along(target, milliseconds(100)), target, "exactly, without overshoot");
    // On the way to standstill the linear axis brakes at 1 m/s^2.
    let velocity = ramp.step_along(Twist::ZERO, milliseconds(100));
    assert!((velocity.linear - 0.3).abs() < 1e-12 && (velocity.angular - 0.6).abs() < 1e-12, "{velocity:?}");
}

#[test]
fn a_step_along_with_one_changing_axis_is_an_ordinary_step() {
    let (mut along, mut alone) = (coupled(), coupled());
    for (target, time) in [(0.3, 40), (0.3, 100), (-0.2, 100), (-0.2, 500), (9.0, 100), (f64::NAN, 100)] {
        let target = Twist::new(target, 0.0);
        let (along, alone) =
            (along.step_along(target, milliseconds(time)), alone.step(target, milliseconds(time)));
        assert!((along.linear - alone.linear).abs() < 1e-12, "{target:?}: {along:?}, {alone:?}");
        assert_eq!(along.angular, 0.0);
    }
    assert_eq!(along.velocity().angular, 0.0);
}

#[test]
fn a_step_along_without_acceleration_limits_is_at_the_target_at_once() {
    let mut ramp = Ramp::new(Limits::KOBUKI).unwrap();
    assert_eq!(ramp.step_along(Twist::new(0.5, -1.0), Duration::ZERO), Twist::new(0.5, -1.0));
    assert_eq!(ramp.step_along(Twist::new(9.0, 1.0), Duration::ZERO), Twist::new(0.7, 1.0));
}

#[test]
fn a_long_pause_does_not_make_a_long_step() {
    let mut ramp = Ramp::new(limits()).unwrap();
    let velocity = ramp.step(Twist::new(0.7, 0.0), Duration::MAX).linear;
    assert!((velocity - 0.05).abs() < 1e-12);
}

#[test]
fn a_target_that_is_not_finite_means_standstill() {
    let mut ramp = Ramp::new(Limits::KOBUKI).unwrap();
    ramp.step(Twist::new(0.5, 0.0), milliseconds(20));
    assert_eq!(ramp.step(Twist::new(f64::NAN, 0.0), milliseconds(20)), Twist::ZERO);
}

#[test]
fn invalid_limits_are_refused() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let angular = AxisLimits { velocity: 1.0, acceleration: None, deceleration: Some(value) };
        let error = Ramp::new(Limits { angular, ..limits() }).unwrap_err();
        assert_eq!((error.axis, error.limit), ("angular", "deceleration"));
        let mut ramp = Ramp::new(limits()).unwrap();
        assert!(ramp.set_limits(Limits { linear: AxisLimits::velocity(value), ..limits() }).is_err());
        assert_eq!(ramp.limits(), limits());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_step_goes_beyond_a_limit_or_past_its_target(
        steps in proptest::collection::vec((-2.0..2.0_f64, 0_u64..200), 1..60),
    ) {
        let mut ramp = Ramp::new(limits()).unwrap();
        let mut before = 0.0_f64;
        for (target, time) in steps {
            let velocity = ramp.step(Twist::new(target, 0.0), milliseconds(time)).linear;
            let seconds = milliseconds(time.min(100)).as_secs_f64();
            prop_assert!(velocity.abs() <= 0.7);
            prop_assert!((velocity - before).abs() <= seconds + 1e-9, "faster than braking");
            prop_assert!(velocity.abs() - before.abs() <= 0.5 * seconds + 1e-9, "faster than speeding up");
            let target = target.clamp(-0.7, 0.7);
            prop_assert!((before.min(target) - 1e-9..=before.max(target) + 1e-9).contains(&velocity));
            before = velocity;
        }
    }

    #[test]
    fn a_step_along_stays_within_the_limits_and_on_the_line_to_its_target(
        steps in proptest::collection::vec((-2.0..2.0_f64, -5.0..5.0_f64, 0_u64..200), 1..60),
    ) {
        let mut ramp = coupled();
        for (linear, angular, time) in steps {
            let before = ramp.velocity();
            let target = Twist::new(linear.clamp(-0.7, 0.7), angular.clamp(-2.0, 2.0));
            let velocity = ramp.step_along(Twist::new(linear, angular), milliseconds(time));
            let seconds = milliseconds(time.min(100)).as_secs_f64();
            prop_assert!((velocity.linear - before.linear).abs() <= seconds + 1e-9);
            prop_assert!((velocity.angular - before.angular).abs() <= 4.0 * seconds + 1e-9);
            let change = |to: Twist| Twist::new(to.linear - before.linear, to.angular - before.angular);
            let (way, done) = (change(target), change(velocity));
            let off = way.linear * done.angular - way.angular * done.linear;
            prop_assert!(off.abs() < 1e-9, "{before:?} to {target:?}: {velocity:?}");
            prop_assert!(way.linear * done.linear >= -1e-12 && way.angular * done.angular >= -1e-12);
            prop_assert!(done.linear.abs() <= way.linear.abs() + 1e-12);
        }
    }
}
