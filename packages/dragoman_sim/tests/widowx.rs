//! The driver of `dragoman_arm` and the simulated WidowX, over a line of bytes, on virtual time.

use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Duration;

use dragoman_arm::dynamixel::driver::{Config, Driver, Event, JointState, Mode, Motion, Refusal};
use dragoman_arm::dynamixel::wire::{BROADCAST, ErrorFlags, Instruction, Model, table};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Widowx, WidowxSettings};

const GRIPPER: usize = 5;

struct Fixture {
    driver: Driver,
    arm: Widowx,
    now: Duration,
    /// Time between two calls.
    step: Duration,
    events: Vec<Event>,
    is_connected: bool,
    /// The driver's bytes are not received.
    is_cut: bool,
    sent: usize,
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn limp() -> WidowxSettings {
    WidowxSettings { is_held: false, ..WidowxSettings::default() }
}

impl Fixture {
    fn new(settings: WidowxSettings) -> Self {
        Self::with(settings, Config::widowx())
    }

    fn with(settings: WidowxSettings, config: Config) -> Self {
        let mut fixture = Self {
            driver: Driver::new(config).unwrap(),
            arm: Widowx::new(settings),
            now: Duration::ZERO,
            step: ms(1),
            events: Vec::new(),
            is_connected: true,
            is_cut: false,
            sent: 0,
        };
        fixture.driver.handle_connected(fixture.now);
        fixture.run(ms(300));
        fixture
    }

    fn held() -> Self {
        let mut fixture = Self::new(WidowxSettings::default());
        fixture.events.clear();
        fixture
    }

    /// Advances the time in steps.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += self.step;
            self.arm.handle_timeout(self.now);
            self.pass_on();
            self.driver.handle_timeout(self.now);
            self.pass_on();
        }
    }

    /// Passes bytes in both directions until there are none.
    fn pass_on(&mut self) {
        loop {
            let said = self.driver.poll_transmit().to_vec();
            self.sent += said.len();
            if self.is_connected && !self.is_cut {
                self.arm.handle_bytes(self.now, &said);
            }
            let mut received = Vec::new();
            while let Some(packet) = self.arm.poll_transmit() {
                received.extend(packet);
            }
            let mut bytes = received.as_slice();
            while self.is_connected && self.driver.handle_bytes(self.now, &mut bytes) {}
            if said.is_empty() && received.is_empty() {
                break;
            }
        }
        self.events.extend(std::iter::from_fn(|| self.driver.poll_event()));
        for joint in self.driver.state().joints {
            let Some(Motion { position, velocity, effort, .. }) = joint.motion else { continue };
            assert!(position.is_finite() && velocity.is_finite() && effort.is_finite());
        }
    }

    fn command(&mut self, joint: usize, position: f64) {
        self.driver.command(self.now, joint, position).unwrap();
        self.pass_on();
    }

    fn joint(&self, joint: usize) -> JointState {
        self.driver.state().joints[joint].clone()
    }

    fn motion(&self, joint: usize) -> Motion {
        self.joint(joint).motion.unwrap()
    }

    /// Writes a servo's register without the driver.
    fn tamper(&mut self, joint: usize, register: table::Register, value: u16) {
        let bytes = value.to_le_bytes();
        let mut packet = Vec::new();
        let data = &bytes[..usize::from(register.size)];
        Instruction::Write { address: register.address, data }.encode(&mut packet, joint as u8 + 1).unwrap();
        self.arm.handle_bytes(self.now, &packet);
        while self.arm.poll_transmit().is_some() {}
    }
}

/// A tick of the coarser servos, and the remaining distance.
const NEAR: f64 = 0.006;

#[test]
fn joints_are_taken_over_as_they_are_and_nothing_moves() {
    for settings in [WidowxSettings::default(), limp()] {
        let is_held = settings.is_held;
        let mut fixture = Fixture::new(settings.clone());
        fixture.run(ms(3000));
        assert_eq!(fixture.arm.positions(), settings.positions);
        let events: Vec<_> = std::iter::from_fn(|| fixture.arm.poll_event()).collect();
        assert_eq!(events, [], "no command moves or switches it");
        let state = fixture.driver.state();
        assert!(state.is_alive());
        for (joint, position) in state.joints.iter().zip(settings.positions) {
            assert_eq!(joint.has_torque, is_held);
            assert_eq!(joint.mode, Some(if is_held { Mode::Enabled } else { Mode::Relaxed }));
            let motion = joint.motion.unwrap();
            assert!((motion.position - position).abs() < NEAR, "{joint:?}");
            assert_eq!((motion.velocity, motion.volts, motion.celsius), (0.0, 12.0, 25.0));
        }
        let models = state.joints.iter().map(|joint| joint.model.unwrap());
        use Model::{Ax12, Mx28, Mx64};
        assert!(models.eq([Mx28, Mx64, Mx28, Mx28, Ax12, Ax12]));
        assert_eq!(fixture.events.len(), 6, "{:?}", fixture.events);
        assert_eq!((state.statistics.timeouts, state.statistics.unexpected), (0, 0));
    }
}

#[test]
fn every_joint_follows_its_commands_and_no_other_does() {
    for joint in 0..6 {
        let mut fixture = Fixture::held();
        let before = fixture.arm.positions();
        let goal = if joint == GRIPPER { 2.0 } else { -1.0 };
        fixture.command(joint, goal);
        fixture.run(ms(3000));
        for (other, (before, after)) in before.into_iter().zip(fixture.arm.positions()).enumerate() {
            let expected = if other == joint { goal } else { before };
            assert!((after - expected).abs() < NEAR, "joint {other}: {before} {after}");
        }
        assert!((fixture.motion(joint).position - goal).abs() < NEAR);
        assert!((fixture.joint(joint).goal.unwrap() - goal).abs() < NEAR);
    }
}

#[test]
fn the_ends_of_the_way_can_be_reached() {
    let mut fixture = Fixture::held();
    for sign in [-1.0, 1.0] {
        let goals = [PI, FRAC_PI_2, FRAC_PI_2, FRAC_PI_2, 150_f64.to_radians()].map(|end| sign * end);
        for (joint, goal) in goals.into_iter().enumerate() {
            fixture.command(joint, goal);
        }
        fixture.command(GRIPPER, if sign < 0.0 { 0.0 } else { 2.5 });
        fixture.run(ms(5000));
        for (joint, goal) in goals.into_iter().enumerate() {
            assert!((fixture.arm.positions()[joint] - goal).abs() < NEAR, "{:?}", fixture.arm.positions());
        }
    }
    assert!((fixture.motion(GRIPPER).position - 2.5).abs() < NEAR);
}

#[test]
fn joints_move_at_the_speed_of_the_thesis_and_of_set_speed() {
    let mut fixture = Fixture::held();
    let travel = |fixture: &mut Fixture, joint: usize, goal: f64, speed: f64| {
        let start = fixture.motion(joint).position;
        fixture.command(joint, goal);
        let began = fixture.now;
        while (fixture.arm.positions()[joint] - goal).abs() > 0.05 {
            fixture.run(ms(1));
            assert!(fixture.now - began < ms(20_000));
        }
        let took = (fixture.now - began).as_secs_f64();
        let expected = ((goal - start).abs() - 0.05) / speed;
        assert!(
            (took - expected).abs() < 0.05 + 0.02 * expected,
            "joint {joint}: {took} s, not {expected} s"
        );
        fixture.run(ms(500));
    };
    travel(&mut fixture, 1, 1.2, 100_f64.to_radians());
    travel(&mut fixture, 4, 1.2, 100_f64.to_radians());
    travel(&mut fixture, GRIPPER, 2.0, 100_f64.to_radians());
    fixture.driver.set_speed(fixture.now, 1, 10_f64.to_radians()).unwrap();
    travel(&mut fixture, 1, 0.0, 10_f64.to_radians());
    // Also during a motion.
    fixture.command(1, 1.5);
    fixture.run(ms(500));
    fixture.driver.set_speed(fixture.now, 1, 2.0).unwrap();
    fixture.run(ms(100));
    assert!((fixture.arm.velocities()[1] - 2.0).abs() < 0.02, "{:?}", fixture.arm.velocities());
    assert!((fixture.motion(1).velocity - 2.0).abs() < 0.02);
}

#[test]
fn relaxed_joints_fall_and_the_next_command_takes_them_up() {
    let mut fixture = Fixture::held();
    fixture.arm.inputs.load[1] = 1.5;
    fixture.run(ms(1000));
    assert_eq!(fixture.arm.positions()[1], 0.0, "it is held");
    assert!((fixture.motion(1).effort + 1.5).abs() < 0.01, "{:?}", fixture.motion(1));
    fixture.driver.relax(fixture.now, 1).unwrap();
    fixture.run(ms(1000));
    let fallen = fixture.arm.positions()[1];
    assert!(fallen > 0.5, "{fallen}");
    assert_eq!((fixture.joint(1).mode, fixture.joint(1).has_torque), (Some(Mode::Relaxed), false));
    assert_eq!(fixture.events, []);
    fixture.command(1, -0.5);
    fixture.run(ms(3000));
    assert!((fixture.arm.positions()[1] + 0.5).abs() < NEAR);
    assert_eq!((fixture.joint(1).mode, fixture.joint(1).has_torque), (Some(Mode::Enabled), true));
}

#[test]
fn within_its_friction_a_relaxed_joint_stays() {
    let mut fixture = Fixture::held();
    fixture.arm.inputs.load = [0.25, 0.49, -0.25, 0.25, 0.12];
    for joint in 0..6 {
        fixture.driver.relax(fixture.now, joint).unwrap();
    }
    fixture.run(ms(3000));
    assert_eq!(fixture.arm.torque_enabled(), [false; 6]);
    assert_eq!(fixture.arm.positions(), WidowxSettings::default().positions);
}

#[test]
fn disabled_joints_ignore_commands_until_they_are_enabled() {
    let mut fixture = Fixture::held();
    fixture.driver.enable(fixture.now, 1, false).unwrap();
    fixture.run(ms(100));
    assert!(!fixture.arm.torque_enabled()[1]);
    let refusal = fixture.driver.command(fixture.now, 1, 1.0).unwrap_err();
    assert_eq!(refusal, Refusal::Disabled { joint: "arm_2_joint".to_owned() });
    // A relaxed joint still does not accept commands.
    fixture.driver.relax(fixture.now, 1).unwrap();
    assert!(fixture.driver.command(fixture.now, 1, 1.0).is_err());
    fixture.run(ms(1000));
    assert_eq!(fixture.arm.positions()[1], 0.0);
    // It falls, and holds its position when it is enabled: no jump.
    fixture.arm.inputs.load[1] = 1.5;
    fixture.run(ms(700));
    let fallen = fixture.arm.positions()[1];
    assert!(fallen > 0.2, "{fallen}");
    fixture.driver.enable(fixture.now, 1, true).unwrap();
    fixture.run(ms(1000));
    let held = fixture.arm.positions()[1];
    assert!((held - fallen).abs() < 0.1 && fixture.arm.velocities()[1].abs() < 1e-3, "{fallen} {held}");
    fixture.command(1, 0.3);
    fixture.run(ms(2000));
    assert!((fixture.arm.positions()[1] - 0.3).abs() < NEAR);
    // Enabling an enabled joint does not stop it.
    fixture.command(1, 1.0);
    fixture.run(ms(100));
    fixture.driver.enable(fixture.now, 1, true).unwrap();
    fixture.run(ms(2000));
    assert!((fixture.arm.positions()[1] - 1.0).abs() < NEAR);
}

#[test]
fn invalid_commands_are_refused_and_move_nothing() {
    let mut fixture = Fixture::held();
    let now = fixture.now;
    let driver = &mut fixture.driver;
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(driver.command(now, 0, value), Err(Refusal::NotFinite { .. })));
        assert!(matches!(driver.set_speed(now, 0, value), Err(Refusal::Speed { .. })));
    }
    let refusal = driver.command(now, 1, 1.6).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_2_joint: the position 1.6 rad is not in -1.5708 to 1.5708 rad");
    assert!(driver.command(now, GRIPPER, 2.6).is_err() && driver.command(now, GRIPPER, -0.1).is_err());
    let refusal = driver.set_speed(now, 2, 0.0).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_3_joint: a speed of 0 rad/s is not above 0 and up to 3.1416 rad/s");
    assert!(driver.set_speed(now, 2, -1.0).is_err() && driver.set_speed(now, 2, 3.2).is_err());
    for result in [driver.command(now, 6, 0.0), driver.relax(now, 6), driver.enable(now, 6, true)] {
        assert_eq!(result, Err(Refusal::NoSuchJoint { joint: 6, joints: 6 }));
    }
    fixture.run(ms(1000));
    assert_eq!(fixture.arm.positions(), WidowxSettings::default().positions);
    let events: Vec<_> = std::iter::from_fn(|| fixture.arm.poll_event()).collect();
    assert_eq!(events, []);
}

#[test]
fn the_servos_own_limits_count_too() {
    let mut fixture = Fixture::new(limp());
    fixture.tamper(0, table::CCW_ANGLE_LIMIT, 3000);
    fixture.driver.handle_connected(fixture.now);
    fixture.run(ms(300));
    let refusal = fixture.driver.command(fixture.now, 0, 1.5).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_1_joint: its servo's own angle limits do not allow 1.5 rad");
    fixture.command(0, 1.45);
    fixture.tamper(1, table::CCW_ANGLE_LIMIT, 0);
    fixture.driver.handle_connected(fixture.now);
    fixture.run(ms(300));
    let refusal = fixture.driver.command(fixture.now, 1, 0.5).unwrap_err();
    assert!(refusal.to_string().starts_with("arm_2_joint: it is set up as a wheel"), "{refusal}");
    assert!(!fixture.driver.state().is_alive());
}

#[test]
fn a_lost_line_is_used_again_and_commands_given_meanwhile_are_dropped() {
    let mut fixture = Fixture::held();
    fixture.command(0, -1.0);
    fixture.run(ms(200));
    fixture.is_connected = false;
    fixture.driver.handle_disconnected(fixture.now);
    let refusal = fixture.driver.command(fixture.now, 1, 1.0).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_2_joint: its servo (id 2) does not answer");
    assert!(fixture.driver.set_speed(fixture.now, 1, 0.5).is_ok(), "kept");
    assert!(fixture.driver.enable(fixture.now, 3, false).is_ok(), "kept");
    fixture.run(ms(3000));
    assert!(fixture.driver.state().joints.iter().all(|joint| !joint.is_online && joint.motion.is_none()));
    fixture.is_connected = true;
    fixture.driver.handle_connected(fixture.now);
    fixture.run(ms(500));
    assert!(fixture.driver.state().is_alive());
    assert!((fixture.arm.positions()[0] + 1.0).abs() < NEAR, "its servo has gone on");
    assert_eq!(fixture.arm.positions()[1], 0.0);
    assert_eq!(fixture.arm.torque_enabled(), [true, true, true, false, true, true]);
    let online = |online| {
        fixture.events.iter().filter(|e| matches!(e, Event::Servo { online: o, .. } if *o == online)).count()
    };
    assert_eq!((online(false), online(true)), (6, 6));
    fixture.command(1, 0.5);
    fixture.run(ms(500));
    assert!((fixture.arm.velocities()[1] - 0.5).abs() < 0.01, "with the speed that was set meanwhile");
}

#[test]
fn a_silent_servo_is_reported_and_the_others_continue() {
    let mut fixture = Fixture::held();
    fixture.arm.silence(Some(2), ms(3000));
    fixture.run(ms(1000));
    assert_eq!(fixture.events, [Event::Servo { joint: 2, online: false }]);
    assert_eq!(fixture.joint(2).motion, None);
    assert!(matches!(fixture.driver.command(fixture.now, 2, 0.0), Err(Refusal::Silent { .. })));
    fixture.command(1, 1.0);
    fixture.run(ms(1500));
    assert!((fixture.motion(1).position - 1.0).abs() < NEAR);
    let before = fixture.driver.state().statistics.cycles;
    fixture.run(ms(300));
    let cycles = fixture.driver.state().statistics.cycles - before;
    assert!(cycles >= 8, "{cycles} cycles in 0.3 s");
    fixture.run(ms(1500));
    assert_eq!(fixture.events[1..], [Event::Servo { joint: 2, online: true }]);
    fixture.command(2, 0.5);
    fixture.run(ms(2000));
    assert!((fixture.motion(2).position - 0.5).abs() < NEAR);
}

#[test]
fn a_position_that_was_not_measured_in_a_cycle_is_left_out() {
    let mut fixture = Fixture::held();
    fixture.command(2, 1.2);
    fixture.run(ms(100));
    // Too short for the servo to count as disconnected.
    fixture.arm.silence(Some(2), ms(300));
    let (mut cycles, mut left_out) = (fixture.driver.state().statistics.cycles, 0);
    for _ in 0..600 {
        fixture.run(ms(1));
        let state = fixture.driver.state();
        if state.statistics.cycles == cycles {
            continue;
        }
        cycles = state.statistics.cycles;
        left_out += i32::from(state.joints[2].motion.is_none());
        for (joint, position) in state.joints.iter().zip(fixture.arm.positions()) {
            assert!(joint.is_online && (joint.motion.is_some() || joint.id == 3), "{joint:?}");
            // At 100 deg/s, for as long as a cycle with two timeouts takes.
            let error = joint.motion.map_or(0.0, |motion| (motion.position - position).abs());
            assert!(error < 0.17, "{joint:?}, but its position is {position}");
        }
    }
    assert!(left_out >= 3, "{left_out} cycles");
    assert!(fixture.joint(2).motion.is_some(), "it is measured again");
    assert_eq!(fixture.events, []);
}

#[test]
fn a_servo_that_was_power_cycled_is_detected_and_used_again() {
    let mut fixture = Fixture::held();
    fixture.driver.set_speed(fixture.now, 1, 0.5).unwrap();
    fixture.run(ms(100));
    fixture.arm.reset(Some(1));
    fixture.run(ms(1000));
    assert!(fixture.events.contains(&Event::Reset { joint: 1 }), "{:?}", fixture.events);
    assert_eq!(fixture.joint(1).mode, Some(Mode::Relaxed));
    fixture.command(1, 1.0);
    fixture.run(ms(500));
    assert!((fixture.arm.velocities()[1] - 0.5).abs() < 0.01, "its speed is set again");
    fixture.run(ms(3000));
    assert!((fixture.arm.positions()[1] - 1.0).abs() < NEAR);
    // Another program switches a motor off repeatedly.
    fixture.events.clear();
    fixture.tamper(0, table::TORQUE_ENABLE, 0);
    fixture.run(ms(300));
    assert_eq!(fixture.events, [Event::Reset { joint: 0 }]);
}

#[test]
fn an_overloaded_servo_shuts_down_is_reported_and_moves_again() {
    let mut fixture = Fixture::held();
    fixture.arm.inputs.load[1] = 7.0;
    fixture.run(ms(5000));
    assert_eq!(fixture.joint(1).mode, Some(Mode::Relaxed));
    let errors = ErrorFlags::OVERLOAD;
    assert!(fixture.events.contains(&Event::Shutdown { joint: 1, errors }), "{:?}", fixture.events);
    assert!(fixture.events.contains(&Event::Alarm { joint: 1, errors }), "{:?}", fixture.events);
    fixture.arm.inputs.load[1] = 0.5;
    fixture.run(ms(3000));
    let pushed = fixture.arm.positions()[1];
    assert!(pushed > 0.5, "it does not jump back by itself: {pushed}");
    fixture.command(1, 0.2);
    fixture.run(ms(3000));
    assert!((fixture.arm.positions()[1] - 0.2).abs() < NEAR);
    assert_eq!(fixture.events.last(), Some(&Event::Alarm { joint: 1, errors: ErrorFlags::empty() }));
    assert_eq!(fixture.joint(1).errors, ErrorFlags::empty());
}

#[test]
fn a_hot_servo_gets_no_commands_until_it_is_cool() {
    let mut fixture = Fixture::held();
    fixture.arm.set_temperature(2, 90.0);
    fixture.run(ms(500));
    let errors = ErrorFlags::OVERHEATING;
    assert!(fixture.events.contains(&Event::Shutdown { joint: 2, errors }), "{:?}", fixture.events);
    let refusal = fixture.driver.command(fixture.now, 2, 0.0).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_3_joint: its servo is too hot (90 degrees Celsius)");
    assert!(fixture.driver.enable(fixture.now, 2, true).is_err());
    fixture.arm.set_temperature(2, 40.0);
    fixture.run(ms(500));
    fixture.command(2, 0.0);
    fixture.run(ms(2000));
    assert!(fixture.arm.positions()[2].abs() < NEAR);
}

#[test]
fn goals_that_get_lost_are_sent_again() {
    let mut fixture = Fixture::held();
    fixture.is_cut = true;
    fixture.driver.command(fixture.now, 0, -0.5).unwrap();
    // The answer that is already on the line is awaited first.
    fixture.pass_on();
    fixture.is_cut = false;
    fixture.run(ms(3000));
    assert!((fixture.arm.positions()[0] + 0.5).abs() < NEAR, "{:?}", fixture.arm.positions());
    assert_eq!(fixture.events, []);
}

#[test]
fn a_noisy_line_costs_time_only() {
    for seed in 0..5 {
        let mut fixture = Fixture::new(WidowxSettings { seed, ..WidowxSettings::default() });
        fixture.arm.corrupt(0.2);
        let goals = [0.5, -0.5, 1.0, 0.7, -1.0, 1.5];
        for (joint, goal) in goals.into_iter().enumerate() {
            fixture.arm.garbage(40);
            while fixture.driver.command(fixture.now, joint, goal).is_err() {
                fixture.run(ms(50));
            }
            fixture.run(ms(100));
        }
        for _ in 0..40 {
            fixture.arm.garbage(20);
            fixture.run(ms(100));
        }
        for (joint, goal) in goals.into_iter().enumerate() {
            let position = fixture.arm.positions()[joint];
            assert!((position - goal).abs() < NEAR, "seed {seed}, joint {joint}: {position}");
        }
        let state = fixture.driver.state();
        assert!(state.statistics.timeouts > 10 && state.line.checksum_errors > 10, "{state:?}");
        assert!(!fixture.events.iter().any(|event| matches!(event, Event::Servo { online: false, .. })));
    }
}

#[test]
fn a_line_that_echoes_all_bytes_does_no_harm() {
    let mut fixture = Fixture::held();
    for _ in 0..2000 {
        fixture.now += ms(1);
        fixture.arm.handle_timeout(fixture.now);
        fixture.driver.handle_timeout(fixture.now);
        loop {
            let mut received = fixture.driver.poll_transmit().to_vec();
            if received.is_empty() {
                break;
            }
            fixture.arm.handle_bytes(fixture.now, &received.clone());
            while let Some(packet) = fixture.arm.poll_transmit() {
                received.extend(packet);
            }
            let mut bytes = received.as_slice();
            while fixture.driver.handle_bytes(fixture.now, &mut bytes) {}
        }
        if fixture.now == ms(500) {
            fixture.driver.command(fixture.now, 1, 1.0).unwrap();
        }
    }
    let state = fixture.driver.state();
    assert!(state.is_alive() && state.statistics.timeouts == 0, "{state:?}");
    assert!(state.statistics.unexpected > 300);
    assert!((fixture.arm.positions()[1] - 1.0).abs() < NEAR);
}

#[test]
fn six_servos_are_read_thirty_times_a_second_at_every_speed_of_the_line() {
    // A cycle at 57600 takes 23 ms: 6 requests of 8 bytes, 6 answers of 14, and the commands.
    for baud in [1_000_000, 115_200, 57_600] {
        let mut fixture = Fixture::new(WidowxSettings { baud: Some(baud), ..WidowxSettings::default() });
        fixture.step = Duration::from_micros(50);
        fixture.run(ms(1000));
        let before = fixture.driver.state().statistics;
        fixture.run(ms(10_000));
        let after = fixture.driver.state().statistics;
        let cycles = after.cycles - before.cycles;
        assert!((299..=301).contains(&cycles), "{cycles} cycles in 10 s at {baud} bit/s");
        assert_eq!((after.timeouts, after.unexpected, after.late_cycles), (0, 0, before.late_cycles));
    }
}

#[test]
fn moving_joints_stop_when_the_line_is_closed_and_the_gripper_holds() {
    let mut fixture = Fixture::held();
    fixture.arm.inputs.gripper_stop = Some(1.0);
    fixture.command(GRIPPER, 2.0);
    fixture.run(ms(2000));
    fixture.command(0, -PI);
    fixture.run(ms(300));
    let before = fixture.arm.positions()[0];
    fixture.driver.stop();
    fixture.pass_on();
    fixture.is_connected = false;
    fixture.driver.handle_disconnected(fixture.now);
    fixture.run(ms(2000));
    let after = fixture.arm.positions()[0];
    assert!((after - before).abs() < 0.1, "{before} {after}");
    assert!(fixture.arm.torques()[GRIPPER] > 0.3, "it holds what it has");
    // Changes by others are adopted.
    fixture.tamper(3, table::TORQUE_ENABLE, 0);
    fixture.tamper(0, table::GOAL_POSITION, 2048);
    fixture.events.clear();
    fixture.is_connected = true;
    fixture.driver.handle_connected(fixture.now);
    fixture.run(ms(2000));
    assert!(!fixture.arm.torque_enabled()[3] && fixture.arm.positions()[0].abs() < NEAR);
    assert!(!fixture.events.iter().any(|event| matches!(event, Event::Reset { .. })), "{:?}", fixture.events);
}

#[test]
fn a_clock_that_goes_back_stops_nothing() {
    let mut fixture = Fixture::held();
    fixture.run(ms(5000));
    let offset = fixture.now;
    // The arm's own clock continues.
    for step in 1..2000 {
        let now = ms(step);
        fixture.arm.handle_timeout(offset + now);
        let mut received = Vec::new();
        while let Some(packet) = fixture.arm.poll_transmit() {
            received.extend(packet);
        }
        let mut bytes = received.as_slice();
        while fixture.driver.handle_bytes(now, &mut bytes) {}
        fixture.driver.handle_timeout(now);
        if step == 100 {
            fixture.driver.command(now, 0, -0.5).unwrap();
        }
        let said = fixture.driver.poll_transmit().to_vec();
        fixture.arm.handle_bytes(offset + now, &said);
        assert!(fixture.driver.poll_timeout().is_some_and(|deadline| deadline <= now + ms(40)));
    }
    assert!((fixture.arm.positions()[0] + 0.5).abs() < NEAR);
}

#[test]
fn all_goals_of_a_moment_go_in_one_packet() {
    let mut fixture = Fixture::held();
    fixture.run(ms(20));
    for joint in 0..6 {
        fixture.driver.command(fixture.now, joint, 0.5).unwrap();
    }
    let mut said = Vec::new();
    for _ in 0..10 {
        fixture.now += ms(1);
        fixture.arm.handle_timeout(fixture.now);
        fixture.driver.handle_timeout(fixture.now);
        let bytes = fixture.driver.poll_transmit().to_vec();
        fixture.arm.handle_bytes(fixture.now, &bytes);
        said.extend(bytes);
    }
    let broadcasts = said.windows(5).filter(|w| w[..3] == [0xff, 0xff, BROADCAST] && w[4] == 0x83).count();
    assert!(broadcasts <= 2, "{broadcasts} packets: {said:02x?}");
    fixture.run(ms(2000));
    for position in fixture.arm.positions() {
        assert!((position - 0.5).abs() < NEAR);
    }
}
