//! Any input at any time, and any polling times.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Drive(i16, i16),
    Outputs(u16),
    Run(u64),
    Stall(bool, bool),
    Lift(bool),
    Carry(f64, f64),
    Reset,
    Silence(u64),
    Garbage(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..60).prop_map(Step::Bytes),
        (any::<i16>(), any::<i16>()).prop_map(|(speed, radius)| Step::Drive(speed, radius)),
        (-400_i16..400, -600_i16..600).prop_map(|(speed, radius)| Step::Drive(speed, radius)),
        any::<u16>().prop_map(Step::Outputs),
        (0_u64..700).prop_map(Step::Run),
        (0_u64..30).prop_map(Step::Run),
        any::<(bool, bool)>().prop_map(|(left, right)| Step::Stall(left, right)),
        any::<bool>().prop_map(Step::Lift),
        (any::<f64>(), any::<f64>()).prop_map(|(linear, angular)| Step::Carry(linear, angular)),
        Just(Step::Reset),
        (0_u64..1000).prop_map(Step::Silence),
        (0_usize..200).prop_map(Step::Garbage),
    ]
}

/// Whether an encoder's counter matches an angle, relative to its zero; except for rounding at the edge of a tick.
fn fits(counter: u16, angle: f64, zero: f64) -> bool {
    let turned = (angle - zero) * 2_578.333_869_740_464 / std::f64::consts::TAU;
    (turned - f64::from(counter) + 1e-6).rem_euclid(65_536.0) < 1.0 + 2e-6
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_panic_and_the_watchdog_always_stops_it(
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let mut fixture = Fixture::new();
        let mut zero = fixture.kobuki.wheel_angles();
        for step in steps {
            match step {
                Step::Bytes(bytes) => fixture.kobuki.handle_bytes(fixture.now, &bytes),
                Step::Drive(speed_mm_per_s, radius_mm) => fixture.send(&speed(speed_mm_per_s, radius_mm)),
                Step::Outputs(bits) => fixture.send(&Command::SetOutputs(Outputs::from_bits_retain(bits))),
                Step::Run(time) => fixture.run(ms(time)),
                Step::Stall(left, right) => fixture.kobuki.inputs.stalled = Wheels { left, right },
                Step::Lift(left) => fixture.kobuki.inputs.wheel_drops.left = left,
                Step::Carry(linear, angular) => {
                    fixture.kobuki.inputs.motion = Some(Twist::new(linear, angular)).filter(|_| linear > 0.0);
                }
                Step::Reset => {
                    fixture.kobuki.reset();
                    fixture.run(KobukiSettings::default().boot_time);
                    zero = fixture.kobuki.wheel_angles();
                }
                Step::Silence(time) => fixture.kobuki.silence(ms(time)),
                Step::Garbage(count) => fixture.kobuki.garbage(count),
            }
            let Wheels { left, right } = fixture.kobuki.wheel_rates();
            let limit = (MAX_SPEED + MAX_TURN_RATE * 0.115) / 0.035;
            prop_assert!(left.abs() <= limit && right.abs() <= limit, "{} {}", left, right);
            let Pose { x, y, heading } = fixture.kobuki.pose();
            prop_assert!(x.is_finite() && y.is_finite() && heading.is_finite());
        }
        fixture.kobuki.inputs = Inputs::default();
        fixture.run(ms(1000) + WATCHDOG);
        prop_assert_eq!(fixture.kobuki.wheel_rates(), Wheels { left: 0.0, right: 0.0 });
        prop_assert_eq!(fixture.kobuki.twist(), Twist::ZERO);
        fixture.run(ms(1000));
        let (core, angles) = (fixture.core(), fixture.kobuki.wheel_angles());
        prop_assert!(fits(core.left_encoder_ticks, angles.left, zero.left));
        prop_assert!(fits(core.right_encoder_ticks, angles.right, zero.right));
    }

    #[test]
    fn the_polling_times_have_no_effect(
        times in proptest::collection::vec(0_u64..200, 1..30),
        forward in -700_i16..700, radius in -500_i16..500,
    ) {
        let settings = KobukiSettings { seed: 7, ..KobukiSettings::default() };
        let (mut often, mut once) = (Fixture::with(settings.clone()), Fixture::with(settings));
        for fixture in [&mut often, &mut once] {
            fixture.send(&speed(forward, radius));
        }
        for time in &times {
            often.run(ms(*time));
        }
        once.run(ms(times.iter().sum()));
        prop_assert_eq!(often.kobuki.pose(), once.kobuki.pose());
        prop_assert_eq!(often.packets, once.packets);
    }
}
