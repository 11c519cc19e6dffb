//! The driver of `dragoman_arm` and the simulated WidowX, over a line of bytes, on virtual time.

use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Duration;

use dragoman_arm::dynamixel::driver::{Config, Driver, Event, JointState, Mode, Motion, Refusal};
use dragoman_arm::dynamixel::wire::{BROADCAST, ErrorFlags, Instruction, Model, table};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Widowx, WidowxSettings};

const GRIPPER: usize = 5;

struct Bench {
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

impl Bench {
    fn new(settings: WidowxSettings) -> Self {
        Self::with(settings, Config::widowx())
    }

    fn with(settings: WidowxSettings, config: Config) -> Self {
        let mut bench = Self {
            driver: Driver::new(config).unwrap(),
            arm: Widowx::new(settings),
            now: Duration::ZERO,
            step: ms(1),
            events: Vec::new(),
            is_connected: true,
            is_cut: false,
            sent: 0,
        };
        bench.driver.handle_connected(bench.now);
        bench.run(ms(300));
        bench
    }

    fn held() -> Self {
        let mut bench = Self::new(WidowxSettings::default());
        bench.events.clear();
        bench
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
        let mut bench = Bench::new(settings.clone());
        bench.run(ms(3000));
        assert_eq!(bench.arm.positions(), settings.positions);
        let events: Vec<_> = std::iter::from_fn(|| bench.arm.poll_event()).collect();
        assert_eq!(events, [], "no command moves or switches it");
        let state = bench.driver.state();
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
        assert_eq!(bench.events.len(), 6, "{:?}", bench.events);
        assert_eq!((state.statistics.timeouts, state.statistics.unexpected), (0, 0));
    }
}

#[test]
fn every_joint_follows_its_commands_and_no_other_does() {
    for joint in 0..6 {
        let mut bench = Bench::held();
        let before = bench.arm.positions();
        let goal = if joint == GRIPPER { 2.0 } else { -1.0 };
        bench.command(joint, goal);
        bench.run(ms(3000));
        for (other, (before, after)) in before.into_iter().zip(bench.arm.positions()).enumerate() {
            let expected = if other == joint { goal } else { before };
            assert!((after - expected).abs() < NEAR, "joint {other}: {before} {after}");
        }
        assert!((bench.motion(joint).position - goal).abs() < NEAR);
        assert!((bench.joint(joint).goal.unwrap() - goal).abs() < NEAR);
    }
}

#[test]
fn the_ends_of_the_way_can_be_reached() {
    let mut bench = Bench::held();
    for sign in [-1.0, 1.0] {
        let goals = [PI, FRAC_PI_2, FRAC_PI_2, FRAC_PI_2, 150_f64.to_radians()].map(|end| sign * end);
        for (joint, goal) in goals.into_iter().enumerate() {
            bench.command(joint, goal);
        }
        bench.command(GRIPPER, if sign < 0.0 { 0.0 } else { 2.5 });
        bench.run(ms(5000));
        for (joint, goal) in goals.into_iter().enumerate() {
            assert!((bench.arm.positions()[joint] - goal).abs() < NEAR, "{:?}", bench.arm.positions());
        }
    }
    assert!((bench.motion(GRIPPER).position - 2.5).abs() < NEAR);
}

#[test]
fn joints_move_at_the_speed_of_the_thesis_and_of_set_speed() {
    let mut bench = Bench::held();
    let travel = |bench: &mut Bench, joint: usize, goal: f64, speed: f64| {
        let start = bench.motion(joint).position;
        bench.command(joint, goal);
        let began = bench.now;
        while (bench.arm.positions()[joint] - goal).abs() > 0.05 {
            bench.run(ms(1));
            assert!(bench.now - began < ms(20_000));
        }
        let took = (bench.now - began).as_secs_f64();
        let expected = ((goal - start).abs() - 0.05) / speed;
        assert!(
            (took - expected).abs() < 0.05 + 0.02 * expected,
            "joint {joint}: {took} s, not {expected} s"
        );
        bench.run(ms(500));
    };
    travel(&mut bench, 1, 1.2, 100_f64.to_radians());
    travel(&mut bench, 4, 1.2, 100_f64.to_radians());
    travel(&mut bench, GRIPPER, 2.0, 100_f64.to_radians());
    bench.driver.set_speed(bench.now, 1, 10_f64.to_radians()).unwrap();
    travel(&mut bench, 1, 0.0, 10_f64.to_radians());
    // Also during a motion.
    bench.command(1, 1.5);
    bench.run(ms(500));
    bench.driver.set_speed(bench.now, 1, 2.0).unwrap();
    bench.run(ms(100));
    assert!((bench.arm.velocities()[1] - 2.0).abs() < 0.02, "{:?}", bench.arm.velocities());
    assert!((bench.motion(1).velocity - 2.0).abs() < 0.02);
}

#[test]
fn relaxed_joints_fall_and_the_next_command_takes_them_up() {
    let mut bench = Bench::held();
    bench.arm.inputs.load[1] = 1.5;
    bench.run(ms(1000));
    assert_eq!(bench.arm.positions()[1], 0.0, "it is held");
    assert!((bench.motion(1).effort + 1.5).abs() < 0.01, "{:?}", bench.motion(1));
    bench.driver.relax(bench.now, 1).unwrap();
    bench.run(ms(1000));
    let fallen = bench.arm.positions()[1];
    assert!(fallen > 0.5, "{fallen}");
    assert_eq!((bench.joint(1).mode, bench.joint(1).has_torque), (Some(Mode::Relaxed), false));
    assert_eq!(bench.events, []);
    bench.command(1, -0.5);
    bench.run(ms(3000));
    assert!((bench.arm.positions()[1] + 0.5).abs() < NEAR);
    assert_eq!((bench.joint(1).mode, bench.joint(1).has_torque), (Some(Mode::Enabled), true));
}

#[test]
fn within_its_friction_a_relaxed_joint_stays() {
    let mut bench = Bench::held();
    bench.arm.inputs.load = [0.25, 0.49, -0.25, 0.25, 0.12];
    for joint in 0..6 {
        bench.driver.relax(bench.now, joint).unwrap();
    }
    bench.run(ms(3000));
    assert_eq!(bench.arm.torque_enabled(), [false; 6]);
    assert_eq!(bench.arm.positions(), WidowxSettings::default().positions);
}

#[test]
fn disabled_joints_ignore_commands_until_they_are_enabled() {
    let mut bench = Bench::held();
    bench.driver.enable(bench.now, 1, false).unwrap();
    bench.run(ms(100));
    assert!(!bench.arm.torque_enabled()[1]);
    let refusal = bench.driver.command(bench.now, 1, 1.0).unwrap_err();
    assert_eq!(refusal, Refusal::Disabled { joint: "arm_2_joint".to_owned() });
    // A relaxed joint still does not accept commands.
    bench.driver.relax(bench.now, 1).unwrap();
    assert!(bench.driver.command(bench.now, 1, 1.0).is_err());
    bench.run(ms(1000));
    assert_eq!(bench.arm.positions()[1], 0.0);
    // It falls, and holds its position when it is enabled: no jump.
    bench.arm.inputs.load[1] = 1.5;
    bench.run(ms(700));
    let fallen = bench.arm.positions()[1];
    assert!(fallen > 0.2, "{fallen}");
    bench.driver.enable(bench.now, 1, true).unwrap();
    bench.run(ms(1000));
    let held = bench.arm.positions()[1];
    assert!((held - fallen).abs() < 0.1 && bench.arm.velocities()[1].abs() < 1e-3, "{fallen} {held}");
    bench.command(1, 0.3);
    bench.run(ms(2000));
    assert!((bench.arm.positions()[1] - 0.3).abs() < NEAR);
    // Enabling an enabled joint does not stop it.
    bench.command(1, 1.0);
    bench.run(ms(100));
    bench.driver.enable(bench.now, 1, true).unwrap();
    bench.run(ms(2000));
    assert!((bench.arm.positions()[1] - 1.0).abs() < NEAR);
}

#[test]
fn what_makes_no_sense_is_refused_and_moves_nothing() {
    let mut bench = Bench::held();
    let now = bench.now;
    let driver = &mut bench.driver;
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
    bench.run(ms(1000));
    assert_eq!(bench.arm.positions(), WidowxSettings::default().positions);
    let events: Vec<_> = std::iter::from_fn(|| bench.arm.poll_event()).collect();
    assert_eq!(events, []);
}

#[test]
fn the_servos_own_limits_count_too() {
    let mut bench = Bench::new(limp());
    bench.tamper(0, table::CCW_ANGLE_LIMIT, 3000);
    bench.driver.handle_connected(bench.now);
    bench.run(ms(300));
    let refusal = bench.driver.command(bench.now, 0, 1.5).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_1_joint: its servo's own angle limits do not allow 1.5 rad");
    bench.command(0, 1.45);
    bench.tamper(1, table::CCW_ANGLE_LIMIT, 0);
    bench.driver.handle_connected(bench.now);
    bench.run(ms(300));
    let refusal = bench.driver.command(bench.now, 1, 0.5).unwrap_err();
    assert!(refusal.to_string().starts_with("arm_2_joint: it is set up as a wheel"), "{refusal}");
    assert!(!bench.driver.state().is_alive());
}

#[test]
fn a_lost_line_is_taken_up_again_and_what_was_said_meanwhile_is_not_done() {
    let mut bench = Bench::held();
    bench.command(0, -1.0);
    bench.run(ms(200));
    bench.is_connected = false;
    bench.driver.handle_disconnected(bench.now);
    let refusal = bench.driver.command(bench.now, 1, 1.0).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_2_joint: its servo (id 2) does not answer");
    assert!(bench.driver.set_speed(bench.now, 1, 0.5).is_ok(), "kept");
    assert!(bench.driver.enable(bench.now, 3, false).is_ok(), "kept");
    bench.run(ms(3000));
    assert!(bench.driver.state().joints.iter().all(|joint| !joint.is_online && joint.motion.is_none()));
    bench.is_connected = true;
    bench.driver.handle_connected(bench.now);
    bench.run(ms(500));
    assert!(bench.driver.state().is_alive());
    assert!((bench.arm.positions()[0] + 1.0).abs() < NEAR, "its servo has gone on");
    assert_eq!(bench.arm.positions()[1], 0.0);
    assert_eq!(bench.arm.torque_enabled(), [true, true, true, false, true, true]);
    let online = |online| {
        bench.events.iter().filter(|e| matches!(e, Event::Servo { online: o, .. } if *o == online)).count()
    };
    assert_eq!((online(false), online(true)), (6, 6));
    bench.command(1, 0.5);
    bench.run(ms(500));
    assert!((bench.arm.velocities()[1] - 0.5).abs() < 0.01, "with the speed that was set meanwhile");
}

#[test]
fn a_silent_servo_is_reported_and_the_others_continue() {
    let mut bench = Bench::held();
    bench.arm.silence(Some(2), ms(3000));
    bench.run(ms(1000));
    assert_eq!(bench.events, [Event::Servo { joint: 2, online: false }]);
    assert_eq!(bench.joint(2).motion, None);
    assert!(matches!(bench.driver.command(bench.now, 2, 0.0), Err(Refusal::Silent { .. })));
    bench.command(1, 1.0);
    bench.run(ms(1500));
    assert!((bench.motion(1).position - 1.0).abs() < NEAR);
    let before = bench.driver.state().statistics.cycles;
    bench.run(ms(300));
    let cycles = bench.driver.state().statistics.cycles - before;
    assert!(cycles >= 8, "{cycles} cycles in 0.3 s");
    bench.run(ms(1500));
    assert_eq!(bench.events[1..], [Event::Servo { joint: 2, online: true }]);
    bench.command(2, 0.5);
    bench.run(ms(2000));
    assert!((bench.motion(2).position - 0.5).abs() < NEAR);
}

#[test]
fn a_position_that_was_not_measured_in_a_cycle_is_left_out() {
    let mut bench = Bench::held();
    bench.command(2, 1.2);
    bench.run(ms(100));
    // Too short for the servo to count as disconnected.
    bench.arm.silence(Some(2), ms(300));
    let (mut cycles, mut left_out) = (bench.driver.state().statistics.cycles, 0);
    for _ in 0..600 {
        bench.run(ms(1));
        let state = bench.driver.state();
        if state.statistics.cycles == cycles {
            continue;
        }
        cycles = state.statistics.cycles;
        left_out += i32::from(state.joints[2].motion.is_none());
        for (joint, position) in state.joints.iter().zip(bench.arm.positions()) {
            assert!(joint.is_online && (joint.motion.is_some() || joint.id == 3), "{joint:?}");
            // At 100 deg/s, for as long as a cycle with two timeouts takes.
            let error = joint.motion.map_or(0.0, |motion| (motion.position - position).abs());
            assert!(error < 0.17, "{joint:?}, but its position is {position}");
        }
    }
    assert!(left_out >= 3, "{left_out} cycles");
    assert!(bench.joint(2).motion.is_some(), "it is measured again");
    assert_eq!(bench.events, []);
}

#[test]
fn a_servo_that_was_switched_off_and_on_is_found_out_and_comes_back() {
    let mut bench = Bench::held();
    bench.driver.set_speed(bench.now, 1, 0.5).unwrap();
    bench.run(ms(100));
    bench.arm.reset(Some(1));
    bench.run(ms(1000));
    assert!(bench.events.contains(&Event::Reset { joint: 1 }), "{:?}", bench.events);
    assert_eq!(bench.joint(1).mode, Some(Mode::Relaxed));
    bench.command(1, 1.0);
    bench.run(ms(500));
    assert!((bench.arm.velocities()[1] - 0.5).abs() < 0.01, "its speed is set again");
    bench.run(ms(3000));
    assert!((bench.arm.positions()[1] - 1.0).abs() < NEAR);
    // Another program switches a motor off repeatedly.
    bench.events.clear();
    bench.tamper(0, table::TORQUE_ENABLE, 0);
    bench.run(ms(300));
    assert_eq!(bench.events, [Event::Reset { joint: 0 }]);
}

#[test]
fn an_overloaded_servo_shuts_down_is_reported_and_moves_again() {
    let mut bench = Bench::held();
    bench.arm.inputs.load[1] = 7.0;
    bench.run(ms(5000));
    assert_eq!(bench.joint(1).mode, Some(Mode::Relaxed));
    let errors = ErrorFlags::OVERLOAD;
    assert!(bench.events.contains(&Event::Shutdown { joint: 1, errors }), "{:?}", bench.events);
    assert!(bench.events.contains(&Event::Alarm { joint: 1, errors }), "{:?}", bench.events);
    bench.arm.inputs.load[1] = 0.5;
    bench.run(ms(3000));
    let pushed = bench.arm.positions()[1];
    assert!(pushed > 0.5, "it does not jump back by itself: {pushed}");
    bench.command(1, 0.2);
    bench.run(ms(3000));
    assert!((bench.arm.positions()[1] - 0.2).abs() < NEAR);
    assert_eq!(bench.events.last(), Some(&Event::Alarm { joint: 1, errors: ErrorFlags::empty() }));
    assert_eq!(bench.joint(1).errors, ErrorFlags::empty());
}

#[test]
fn a_hot_servo_is_left_alone_until_it_is_cool() {
    let mut bench = Bench::held();
    bench.arm.set_temperature(2, 90.0);
    bench.run(ms(500));
    let errors = ErrorFlags::OVERHEATING;
    assert!(bench.events.contains(&Event::Shutdown { joint: 2, errors }), "{:?}", bench.events);
    let refusal = bench.driver.command(bench.now, 2, 0.0).unwrap_err();
    assert_eq!(refusal.to_string(), "arm_3_joint: its servo is too hot (90 degrees Celsius)");
    assert!(bench.driver.enable(bench.now, 2, true).is_err());
    bench.arm.set_temperature(2, 40.0);
    bench.run(ms(500));
    bench.command(2, 0.0);
    bench.run(ms(2000));
    assert!(bench.arm.positions()[2].abs() < NEAR);
}

#[test]
fn goals_that_get_lost_are_sent_again() {
    let mut bench = Bench::held();
    bench.is_cut = true;
    bench.driver.command(bench.now, 0, -0.5).unwrap();
    // The answer that is already on the line is awaited first.
    bench.pass_on();
    bench.is_cut = false;
    bench.run(ms(3000));
    assert!((bench.arm.positions()[0] + 0.5).abs() < NEAR, "{:?}", bench.arm.positions());
    assert_eq!(bench.events, []);
}

#[test]
fn a_noisy_line_costs_time_only() {
    for seed in 0..5 {
        let mut bench = Bench::new(WidowxSettings { seed, ..WidowxSettings::default() });
        bench.arm.corrupt(0.2);
        let goals = [0.5, -0.5, 1.0, 0.7, -1.0, 1.5];
        for (joint, goal) in goals.into_iter().enumerate() {
            bench.arm.garbage(40);
            while bench.driver.command(bench.now, joint, goal).is_err() {
                bench.run(ms(50));
            }
            bench.run(ms(100));
        }
        for _ in 0..40 {
            bench.arm.garbage(20);
            bench.run(ms(100));
        }
        for (joint, goal) in goals.into_iter().enumerate() {
            let position = bench.arm.positions()[joint];
            assert!((position - goal).abs() < NEAR, "seed {seed}, joint {joint}: {position}");
        }
        let state = bench.driver.state();
        assert!(state.statistics.timeouts > 10 && state.line.checksum_errors > 10, "{state:?}");
        assert!(!bench.events.iter().any(|event| matches!(event, Event::Servo { online: false, .. })));
    }
}

#[test]
fn a_line_that_returns_what_is_sent_is_no_trouble() {
    let mut bench = Bench::held();
    for _ in 0..2000 {
        bench.now += ms(1);
        bench.arm.handle_timeout(bench.now);
        bench.driver.handle_timeout(bench.now);
        loop {
            let mut received = bench.driver.poll_transmit().to_vec();
            if received.is_empty() {
                break;
            }
            bench.arm.handle_bytes(bench.now, &received.clone());
            while let Some(packet) = bench.arm.poll_transmit() {
                received.extend(packet);
            }
            let mut bytes = received.as_slice();
            while bench.driver.handle_bytes(bench.now, &mut bytes) {}
        }
        if bench.now == ms(500) {
            bench.driver.command(bench.now, 1, 1.0).unwrap();
        }
    }
    let state = bench.driver.state();
    assert!(state.is_alive() && state.statistics.timeouts == 0, "{state:?}");
    assert!(state.statistics.unexpected > 300);
    assert!((bench.arm.positions()[1] - 1.0).abs() < NEAR);
}

#[test]
fn six_servos_are_read_thirty_times_a_second_at_every_speed_of_the_line() {
    // A cycle at 57600 takes 23 ms: 6 requests of 8 bytes, 6 answers of 14, and the commands.
    for baud in [1_000_000, 115_200, 57_600] {
        let mut bench = Bench::new(WidowxSettings { baud: Some(baud), ..WidowxSettings::default() });
        bench.step = Duration::from_micros(50);
        bench.run(ms(1000));
        let before = bench.driver.state().statistics;
        bench.run(ms(10_000));
        let after = bench.driver.state().statistics;
        let cycles = after.cycles - before.cycles;
        assert!((299..=301).contains(&cycles), "{cycles} cycles in 10 s at {baud} bit/s");
        assert_eq!((after.timeouts, after.unexpected, after.late_cycles), (0, 0, before.late_cycles));
    }
}

#[test]
fn joints_that_move_stop_when_the_line_is_given_away_and_the_grip_stays() {
    let mut bench = Bench::held();
    bench.arm.inputs.gripper_stop = Some(1.0);
    bench.command(GRIPPER, 2.0);
    bench.run(ms(2000));
    bench.command(0, -PI);
    bench.run(ms(300));
    let before = bench.arm.positions()[0];
    bench.driver.stop();
    bench.pass_on();
    bench.is_connected = false;
    bench.driver.handle_disconnected(bench.now);
    bench.run(ms(2000));
    let after = bench.arm.positions()[0];
    assert!((after - before).abs() < 0.1, "{before} {after}");
    assert!(bench.arm.torques()[GRIPPER] > 0.3, "it holds what it has");
    // Changes by others are adopted.
    bench.tamper(3, table::TORQUE_ENABLE, 0);
    bench.tamper(0, table::GOAL_POSITION, 2048);
    bench.events.clear();
    bench.is_connected = true;
    bench.driver.handle_connected(bench.now);
    bench.run(ms(2000));
    assert!(!bench.arm.torque_enabled()[3] && bench.arm.positions()[0].abs() < NEAR);
    assert!(!bench.events.iter().any(|event| matches!(event, Event::Reset { .. })), "{:?}", bench.events);
}

#[test]
fn a_clock_that_goes_back_stops_nothing() {
    let mut bench = Bench::held();
    bench.run(ms(5000));
    let offset = bench.now;
    // The arm's own clock continues.
    for step in 1..2000 {
        let now = ms(step);
        bench.arm.handle_timeout(offset + now);
        let mut received = Vec::new();
        while let Some(packet) = bench.arm.poll_transmit() {
            received.extend(packet);
        }
        let mut bytes = received.as_slice();
        while bench.driver.handle_bytes(now, &mut bytes) {}
        bench.driver.handle_timeout(now);
        if step == 100 {
            bench.driver.command(now, 0, -0.5).unwrap();
        }
        let said = bench.driver.poll_transmit().to_vec();
        bench.arm.handle_bytes(offset + now, &said);
        assert!(bench.driver.poll_timeout().is_some_and(|deadline| deadline <= now + ms(40)));
    }
    assert!((bench.arm.positions()[0] + 0.5).abs() < NEAR);
}

#[test]
fn all_goals_of_a_moment_go_in_one_packet() {
    let mut bench = Bench::held();
    bench.run(ms(20));
    for joint in 0..6 {
        bench.driver.command(bench.now, joint, 0.5).unwrap();
    }
    let mut said = Vec::new();
    for _ in 0..10 {
        bench.now += ms(1);
        bench.arm.handle_timeout(bench.now);
        bench.driver.handle_timeout(bench.now);
        let bytes = bench.driver.poll_transmit().to_vec();
        bench.arm.handle_bytes(bench.now, &bytes);
        said.extend(bytes);
    }
    let broadcasts = said.windows(5).filter(|w| w[..3] == [0xff, 0xff, BROADCAST] && w[4] == 0x83).count();
    assert!(broadcasts <= 2, "{broadcasts} packets: {said:02x?}");
    bench.run(ms(2000));
    for position in bench.arm.positions() {
        assert!((position - 0.5).abs() < NEAR);
    }
}
