//! Effects of speed commands.

use super::*;

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} instead of {expected}");
}

#[test]
fn radius_zero_is_straight_on() {
    let mut fixture = Fixture::new();
    fixture.drive(300, 0, ms(3000));
    let pose = fixture.kobuki.pose();
    // 0.3 m/s for 3 s, minus the distance lost by inertia.
    assert!((0.85..0.9).contains(&pose.x), "{pose:?}");
    assert_eq!((pose.y, pose.heading), (0.0, 0.0));
    assert_near(fixture.kobuki.twist().linear, 0.3, 1e-6);
}

#[test]
fn radius_one_is_on_the_spot() {
    for (radius, sign) in [(1, 1.0), (-1, -1.0)] {
        let mut fixture = Fixture::new();
        // 1 rad/s: 0.115 m/s at the wheels.
        fixture.drive(115, radius, ms(2000));
        assert_near(fixture.kobuki.twist().angular, sign, 1e-6);
        let Pose { x, y, heading } = fixture.kobuki.pose();
        assert!(x.hypot(y) < 1e-9 && (1.8..2.0).contains(&(heading * sign)), "{x} {y} {heading}");
    }
}

#[test]
fn otherwise_the_speed_is_that_of_the_outer_wheel() {
    // 0.2 m/s and 0.5 rad/s to either side: the radius is 400 mm, the outer wheel has 515 mm * rate.
    for (speed, radius, rate) in [(258, 400, 0.5), (258, -400, -0.5)] {
        let mut fixture = Fixture::new();
        fixture.drive(speed, radius, ms(3000));
        let twist = fixture.kobuki.twist();
        assert_near(twist.angular, rate, 0.002);
        assert_near(twist.linear, 0.2, 0.001);
    }
    let mut fixture = Fixture::new();
    fixture.drive(-258, 400, ms(3000));
    let twist = fixture.kobuki.twist();
    assert!(twist.linear < -0.19 && twist.angular < -0.49, "{twist:?}");
}

#[test]
fn a_circle_comes_back_to_its_start() {
    let mut fixture = Fixture::new();
    fixture.drive(258, 400, ms(2000));
    let before = fixture.kobuki.pose();
    let rate = fixture.kobuki.twist().angular;
    // A whole turn at this rate, with millisecond accuracy.
    fixture.drive(258, 400, Duration::from_secs_f64(std::f64::consts::TAU / rate));
    let after = fixture.kobuki.pose();
    assert!((after.x - before.x).hypot(after.y - before.y) < 1e-3, "{before:?} {after:?}");
    assert_near(after.heading, before.heading, 1e-3);
}

#[test]
fn speeds_keep_to_the_limits_and_curves_to_their_radius() {
    for (speed, radius) in
        [(i16::MAX, 0), (i16::MIN, 0), (i16::MAX, 1), (i16::MAX, 2), (i16::MIN, -500), (950, 400)]
    {
        let mut fixture = Fixture::new();
        fixture.drive(speed, radius, ms(2000));
        let Twist { linear, angular, .. } = fixture.kobuki.twist();
        assert!(
            linear.abs() <= MAX_SPEED + 1e-9 && angular.abs() <= MAX_TURN_RATE + 1e-9,
            "{speed} {radius}"
        );
        assert!(
            linear.abs() > MAX_SPEED - 1e-6 || angular.abs() > MAX_TURN_RATE - 1e-6,
            "{linear} {angular}"
        );
        if radius.abs() > 1 {
            assert_near(linear / angular, f64::from(radius) / 1000.0, 1e-6);
        }
    }
}

#[test]
fn wheels_have_inertia() {
    let mut fixture = Fixture::new();
    let mut last = 0.0;
    for _ in 0..100 {
        fixture.drive(700, 0, ms(10));
        let speed = fixture.kobuki.twist().linear;
        assert!(speed >= last && speed - last <= 2.0 * 0.01 + 1e-9, "{last} {speed}");
        last = speed;
    }
    assert_near(last, 0.7, 1e-3);
}

#[test]
fn without_commands_the_wheels_stop_after_600_ms() {
    let mut fixture = Fixture::new();
    fixture.send(&speed(200, 0));
    fixture.run(ms(600));
    assert_near(fixture.kobuki.twist().linear, 0.2, 1e-3);
    fixture.run(ms(500));
    assert_eq!(fixture.kobuki.twist(), Twist::ZERO);
    let switched: Vec<_> = fixture.events.iter().filter(|event| matches!(event, Event::Motors(_))).collect();
    assert_eq!(switched, [&Event::Motors(true), &Event::Motors(false)]);
}

#[test]
fn other_commands_do_not_keep_it_going() {
    let mut fixture = Fixture::new();
    fixture.send(&speed(200, 0));
    for _ in 0..20 {
        fixture.send(&Command::SoundSequence(SoundSequence::Button));
        fixture.run(ms(50));
    }
    assert_eq!(fixture.kobuki.twist(), Twist::ZERO);
}

#[test]
fn the_firmware_does_not_stop_for_its_sensors() {
    let mut fixture = Fixture::new();
    fixture.kobuki.inputs.bumpers.center = true;
    fixture.kobuki.inputs.cliff_adc.left = inputs::CLIFF_ADC_EDGE;
    fixture.drive(200, 0, ms(1000));
    assert_near(fixture.kobuki.twist().linear, 0.2, 1e-6);
}

#[test]
fn a_lifted_machine_turns_its_wheels_in_the_air() {
    let mut fixture = Fixture::new();
    fixture.kobuki.inputs.wheel_drops.left = true;
    fixture.drive(200, 0, ms(1000));
    assert_eq!(fixture.kobuki.pose(), Pose::ORIGIN);
    assert!(fixture.kobuki.wheel_angles().left > 4.0);
}

#[test]
fn a_blocked_wheel_draws_current_until_the_overcurrent_is_reported() {
    let mut fixture = Fixture::new();
    fixture.kobuki.inputs.stalled.right = true;
    fixture.drive(200, 0, ms(1000));
    assert_eq!(fixture.kobuki.overcurrent(), Wheels { left: false, right: true });
    assert_eq!(fixture.core().overcurrents.bits(), 2);
    assert!(fixture.last().currents.expect("currents").right_centiamperes > 200);
    assert_eq!(fixture.kobuki.wheel_angles().right, 0.0);
    fixture.kobuki.inputs.stalled.right = false;
    fixture.drive(200, 0, ms(1000));
    assert_eq!(fixture.kobuki.overcurrent(), Wheels::default());
}

#[test]
fn the_world_can_hold_and_carry_it() {
    let mut fixture = Fixture::new();
    fixture.kobuki.inputs.motion = Some(Twist::ZERO);
    fixture.drive(200, 0, ms(1000));
    assert_eq!(fixture.kobuki.pose(), Pose::ORIGIN);
    fixture.kobuki.inputs.motion = Some(Twist::new(0.0, -0.5));
    fixture.run(ms(2000));
    assert_near(fixture.kobuki.pose().heading, -1.0, 1e-9);
    // The gyro measures that, the encoders do not.
    assert_eq!(fixture.inertia().rate_centidegrees_per_s, -2865);
    fixture.kobuki.inputs.motion = Some(Twist::new(f64::NAN, f64::INFINITY));
    fixture.run(ms(100));
    assert_near(fixture.kobuki.pose().heading, -1.0, 1e-9);
}
