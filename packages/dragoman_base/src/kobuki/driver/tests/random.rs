//! Random events in any order.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Feedback {
        bumper: u8,
        drop: u8,
        clock: u16,
    },
    Time(u64),
    /// Number of cycles with feedback only.
    Cycles(u8),
    Jump(u64),
    Command(f64, f64),
    Lost,
    Opened,
    Power(bool),
    Other(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Step::Bytes),
        10 => (0_u8..8, 0_u8..40, prop_oneof![20 => Just(20_u16), 1 => any::<u16>()])
            .prop_map(|(bumper, drop, clock)| Step::Feedback { bumper, drop, clock }),
        2 => (0_u8..50).prop_map(Step::Cycles),
        10 => (0_u64..60).prop_map(Step::Time),
        1 => (0_u64..100_000).prop_map(Step::Time),
        1 => (0_u64..100_000).prop_map(Step::Jump),
        8 => (-1.0..1.0_f64, -4.0..4.0_f64).prop_map(|(linear, angular)| Step::Command(linear, angular)),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY)].prop_map(|bad| Step::Command(bad, 0.0)),
        1 => Just(Step::Lost),
        2 => Just(Step::Opened),
        1 => any::<bool>().prop_map(Step::Power),
        1 => any::<u8>().prop_map(Step::Other),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    /// For any input, the base is commanded to stand still within the timeouts, and only moves by accepted commands.
    #[test]
    fn the_base_never_moves_on_by_itself(steps in proptest::collection::vec(step(), 1..150), smooth in any::<bool>()) {
        let ramps = Limits {
            linear: AxisLimits { acceleration: Some(0.3), deceleration: Some(0.36), ..Limits::KOBUKI.linear },
            angular: AxisLimits { acceleration: Some(3.5), deceleration: Some(4.2), ..Limits::KOBUKI.angular },
        };
        let limits = if smooth { ramps } else { Limits::KOBUKI };
        let config = Config { limits, motors_off_on_wheel_drop: smooth, ..Config::default() };
        let mut fixture = Fixture::new(config);
        // The last motion on the wire, and the time until which it may hold.
        let mut moving = false;
        let mut until = Duration::ZERO;
        for step in steps {
            let mut sent = Vec::new();
            match step {
                Step::Bytes(bytes) => {
                    let mut rest = &bytes[..];
                    while fixture.driver.handle_bytes(fixture.now, &mut rest) {}
                }
                Step::Feedback { bumper, drop, clock } => {
                    fixture.core.bumpers = Bumpers::from_bits_retain(bumper);
                    fixture.core.wheel_drops = WheelDrops::from_bits_retain(if drop > 3 { 0 } else { drop });
                    fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_add(clock);
                    let bytes = fixture.bytes(&[]);
                    let mut rest = &bytes[..];
                    while fixture.driver.handle_bytes(fixture.now, &mut rest) {}
                }
                Step::Time(time) => {
                    let end = fixture.now + milliseconds(time);
                    while let Some(deadline) = fixture.driver.poll_timeout().filter(|deadline| *deadline <= end) {
                        fixture.driver.handle_timeout(deadline);
                        sent.extend(fixture.sent());
                    }
                    fixture.now = end;
                    fixture.driver.handle_timeout(end);
                }
                Step::Cycles(count) => {
                    for _ in 0..count {
                        fixture.now += milliseconds(20);
                        fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_add(20);
                        let bytes = fixture.bytes(&[]);
                        let mut rest = &bytes[..];
                        while fixture.driver.handle_bytes(fixture.now, &mut rest) {}
                    }
                }
                Step::Jump(now) => {
                    fixture.now = milliseconds(now);
                    fixture.driver.handle_timeout(fixture.now);
                }
                Step::Command(linear, angular) => {
                    if let Ok(bytes) = fixture.command(linear, angular) {
                        prop_assert!(bytes.iter().any(|command| matches!(command, Command::BaseControl(_))));
                        prop_assert!(fixture.driver.state().alive && linear.is_finite());
                        until = fixture.now + milliseconds(600);
                        sent = bytes;
                    }
                }
                Step::Lost => {
                    fixture.driver.handle_disconnected(fixture.now);
                    // Its own watchdog then stops the base.
                    moving = false;
                }
                Step::Opened => {
                    fixture.driver.handle_connected(fixture.now);
                    moving = false;
                }
                Step::Power(on) => drop(fixture.driver.set_motor_power(on)),
                Step::Other(what) => match what % 4 {
                    0 => fixture.driver.set_led(Led::One, LedColor::Red),
                    1 => drop(fixture.driver.play(Sound { period_2_75_us: 826, duration_ms: what })),
                    2 => fixture.driver.set_odometry(Pose::new(f64::from(what), 0.0, 1.0)).unwrap(),
                    _ => drop(fixture.driver.set_controller_gains(ControllerGains::DEFAULT)),
                },
            }
            sent.extend(fixture.sent());
            let state = fixture.driver.state();
            prop_assert!(sent.is_empty() || state.connected);
            for command in sent {
                if let Command::BaseControl(control) = command {
                    moving = control.speed_mm_per_s != 0;
                    prop_assert!(control.speed_mm_per_s.abs() <= 1100, "{}", control);
                }
            }
            prop_assert!(!moving || fixture.now < until, "moves at {:?}, allowed until {:?}", fixture.now, until);
            let free = state.alive && state.motor_power;
            prop_assert!(!moving || free, "moves with {:?}", state.standstill);
            prop_assert!(state.pose.is_finite() && state.twist.is_finite());
            prop_assert!(fixture.events().len() <= MAX_EVENTS);
        }
    }
}
