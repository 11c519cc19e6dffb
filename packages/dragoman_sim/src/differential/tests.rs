//! A simulated base behind the line protocol, on virtual time.

use dragoman_base::differential::driver::Driver;
use proptest::prelude::*;

use super::*;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn base() -> DifferentialBase {
    DifferentialBase::new(DifferentialSettings::default()).expect("settings")
}

/// Sends this text, and returns the answer.
fn ask(base: &mut DifferentialBase, text: &str) -> String {
    let now = base.now();
    base.handle_bytes(now, text.as_bytes());
    std::iter::from_fn(|| base.poll_transmit()).map(|bytes| String::from_utf8(bytes).expect("text")).collect()
}

fn run(base: &mut DifferentialBase, time: Duration) {
    let end = base.now() + time;
    base.handle_timeout(end);
}

#[test]
fn every_line_gets_its_answer() {
    let mut base = base();
    assert_eq!(ask(&mut base, "e\r"), "0 0\r\n");
    assert_eq!(ask(&mut base, "m 10 10\rx\r"), "OK\r\nInvalid Command\r\n");
    assert_eq!(ask(&mut base, "m 10 "), "");
    assert_eq!(ask(&mut base, "-10\r"), "OK\r\n");
}

#[test]
fn speeds_are_ticks_per_period() {
    let mut base = base();
    ask(&mut base, "m 24 24\r");
    run(&mut base, ms(1000));
    // 24 ticks at 30 Hz are half a turn per second: 0.102 m/s.
    assert!((base.twist().linear - 0.1021).abs() < 1e-3, "{:?}", base.twist());
    ask(&mut base, "m -30000 30000\r");
    run(&mut base, ms(1500));
    assert!((base.twist().angular - 2.0 / 0.3).abs() < 1e-2, "{:?}", base.twist());
    let ticks = base.wheel_angles().map(|angle| (angle * 1440.0 / std::f64::consts::TAU).floor());
    assert_eq!(ask(&mut base, "e\r"), format!("{} {}\r\n", ticks.left, ticks.right));
}

#[test]
fn without_commands_the_wheels_stop_after_two_seconds() {
    let mut base = base();
    ask(&mut base, "m 50 50\r");
    run(&mut base, ms(2000));
    assert!(base.twist().linear > 0.2);
    for _ in 0..10 {
        ask(&mut base, "e\r");
        run(&mut base, ms(100));
    }
    assert_eq!(base.twist(), Twist::ZERO);
    let events: Vec<_> = std::iter::from_fn(|| base.poll_event()).collect();
    assert!(matches!(events.as_slice(), [Event::PowerOn, Event::Speeds(_), Event::AutoStop]), "{events:?}");
}

#[test]
fn to_reset_the_encoders_stops_it() {
    let mut base = base();
    ask(&mut base, "m 50 -50\r");
    run(&mut base, ms(1000));
    assert_eq!(ask(&mut base, "r\re\r"), "OK\r\n0 0\r\n");
    run(&mut base, ms(1000));
    assert_eq!(base.twist(), Twist::ZERO);
}

#[test]
fn a_held_wheel_does_not_turn() {
    let mut base = base();
    base.stalled.left = true;
    ask(&mut base, "m 50 50\r");
    run(&mut base, ms(1000));
    assert!(ask(&mut base, "e\r").starts_with("0 1"), "the right one does");
}

#[test]
fn invalid_settings_are_refused() {
    let settings = DifferentialSettings { wheel_radius: -0.1, ..DifferentialSettings::default() };
    let error = DifferentialBase::new(settings).expect_err("refused");
    assert_eq!(error.to_string(), "wheel radius cannot be -0.1");
    let settings = DifferentialSettings { max_speed: f64::NAN, ..DifferentialSettings::default() };
    assert!(DifferentialBase::new(settings).is_err());
}

#[test]
fn the_odometry_of_the_driver_is_the_true_pose() {
    let mut base = base();
    let mut driver = Driver::new(Config::default()).expect("config");
    let mut now = Duration::ZERO;
    driver.handle_connected(now);
    for step in 0..7000 {
        now += ms(1);
        base.handle_timeout(now);
        while let Some(answer) = base.poll_transmit() {
            let mut bytes = answer.as_slice();
            while driver.handle_bytes(now, &mut bytes) {}
        }
        driver.handle_timeout(now);
        let bytes = match step {
            1000..5000 if step % 50 == 0 => driver.command(now, Twist::new(0.2, 0.8)).expect("taken"),
            _ => driver.poll_transmit(),
        };
        base.handle_bytes(now, bytes);
    }
    let (estimated, real) = (driver.state().pose, base.pose());
    assert!(real.heading.abs() > 0.5 && base.twist() == Twist::ZERO, "{real:?}");
    let apart = (estimated.x - real.x).hypot(estimated.y - real.y);
    assert!(apart < 0.003 && (estimated.heading - real.heading).abs() < 0.003, "{estimated:?} {real:?}");
}

proptest! {
    #[test]
    fn nothing_makes_it_panic_and_it_always_stops(
        steps in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 0..40), 0_u64..500), 0..40),
        speeds in any::<[i16; 2]>(),
    ) {
        let mut base = base();
        for (bytes, time) in steps {
            let now = base.now();
            base.handle_bytes(now, &bytes);
            ask(&mut base, &format!("\rm {} {}\r", speeds[0], speeds[1]));
            run(&mut base, ms(time));
            let Twist { linear, angular, .. } = base.twist();
            prop_assert!(linear.abs() <= 1.0 + 1e-9 && angular.abs() <= 2.0 / 0.3 + 1e-9);
        }
        run(&mut base, AUTO_STOP + ms(1500));
        prop_assert_eq!(base.twist(), Twist::ZERO);
        ask(&mut base, "\rr\r");
        let zero = base.wheel_angles();
        ask(&mut base, &format!("m {} {}\r", speeds[0], speeds[1]));
        run(&mut base, ms(300));
        let answer = ask(&mut base, "e\r");
        let counts: Vec<f64> = answer.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        let angles = base.wheel_angles();
        for (count, turned) in counts.iter().zip([angles.left - zero.left, angles.right - zero.right]) {
            let turned = turned * 1440.0 / std::f64::consts::TAU;
            // A tick begins exactly at its position, except for rounding.
            prop_assert!((-1e-6..1.0 + 1e-6).contains(&(turned - count)), "{} {}", turned, count);
        }
    }
}
