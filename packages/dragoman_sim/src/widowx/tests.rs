//! A simulated WidowX on virtual time.

use std::f64::consts::FRAC_PI_2;

use dragoman_arm::dynamixel::wire::table::{
    self, Block, Control, Identity, Measurement, Register, TABLE_LENGTH,
};
use dragoman_arm::dynamixel::wire::{Model, Status, sync_write_words};

use super::*;

/// An arm at the other end of a line.
struct Fixture {
    arm: Widowx,
    now: Duration,
}

/// Answer of a servo.
#[derive(Debug, PartialEq)]
struct ServoAnswer {
    id: u8,
    errors: ErrorFlags,
    parameters: Vec<u8>,
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

impl Fixture {
    fn new(settings: WidowxSettings) -> Self {
        Self { arm: Widowx::new(settings), now: Duration::ZERO }
    }

    fn held() -> Self {
        Self::new(WidowxSettings::default())
    }

    fn run(&mut self, time: Duration) {
        self.now += time;
        self.arm.handle_timeout(self.now);
    }

    fn answers(&mut self) -> Vec<ServoAnswer> {
        let mut decoder = Decoder::default();
        let mut answers = Vec::new();
        while let Some(bytes) = self.arm.poll_transmit() {
            let mut bytes = bytes.as_slice();
            while let Some(packet) = decoder.next(&mut bytes) {
                let Status { id, errors, parameters } = Status::new(&packet);
                answers.push(ServoAnswer { id, errors, parameters: parameters.to_vec() });
            }
        }
        answers
    }

    fn ask(&mut self, id: u8, instruction: &Instruction<'_>) -> Vec<ServoAnswer> {
        let mut bytes = Vec::new();
        instruction.encode(&mut bytes, id).expect("it fits");
        self.arm.handle_bytes(self.now, &bytes);
        self.answers()
    }

    fn read<B: Block>(&mut self, id: u8) -> B {
        let answers = self.ask(id, &Instruction::Read { address: B::ADDRESS, length: B::LENGTH });
        let [ServoAnswer { parameters, .. }] = answers.as_slice() else { panic!("{answers:?}") };
        B::decode(parameters).expect("the block")
    }

    fn write(&mut self, id: u8, register: Register, value: u16) -> ErrorFlags {
        let bytes = value.to_le_bytes();
        let data = &bytes[..usize::from(register.size)];
        let answers = self.ask(id, &Instruction::Write { address: register.address, data });
        let [ServoAnswer { errors, parameters, .. }] = answers.as_slice() else { panic!("{answers:?}") };
        assert!(parameters.is_empty());
        *errors
    }
}

const NONE: ErrorFlags = ErrorFlags::empty();

#[test]
fn servos_are_those_of_the_thesis() {
    let mut fixture = Fixture::held();
    for design in JOINTS {
        let identity: Identity = fixture.read(design.id);
        assert_eq!(Model::from_number(identity.model_number), Some(design.model));
        assert_eq!(identity.status_return_level, 2);
        assert!(fixture.read::<Control>(design.id).torque_enable);
        assert_eq!(
            fixture.ask(design.id, &Instruction::Ping),
            [ServoAnswer { id: design.id, errors: NONE, parameters: vec![] }]
        );
    }
    assert_eq!(fixture.ask(7, &Instruction::Ping), []);
    // 45, 0, -45, -45 degrees, the last two of servos that turn the other way; the gripper open.
    let ticks = [1, 2, 3, 4, 5, 6].map(|id| fixture.read::<Measurement>(id).position_ticks);
    assert_eq!(ticks, [2560, 2048, 2560, 2560, 512, 512]);
    fixture.run(ms(2000));
    assert_eq!(fixture.arm.positions(), WidowxSettings::default().positions);
}

#[test]
fn joints_go_to_their_goals_at_the_commanded_speed() {
    let mut fixture = Fixture::held();
    // 146 is 100 degrees/s.
    assert_eq!(fixture.write(2, table::MOVING_SPEED, 146), NONE);
    assert_eq!(fixture.write(2, table::GOAL_POSITION, 3072), NONE);
    fixture.run(ms(500));
    let [_, position, ..] = fixture.arm.positions();
    let [_, velocity, ..] = fixture.arm.velocities();
    assert!((position - 0.5 * 1.743).abs() < 0.02, "{position}");
    assert!((velocity - 1.743).abs() < 0.001, "{velocity}");
    let measured: Measurement = fixture.read(2);
    assert_eq!(measured.speed, 146);
    fixture.run(ms(700));
    assert!((fixture.arm.positions()[1] - FRAC_PI_2).abs() < 1e-3);
    // In reverse: the joint goes down as the ticks go up.
    fixture.write(3, table::GOAL_POSITION, 2049);
    fixture.run(ms(1000));
    let expected = -Model::Mx28.radians_per_tick();
    assert!((fixture.arm.positions()[2] - expected).abs() < 1e-6);
}

#[test]
fn several_servos_start_at_once_without_an_answer() {
    let mut fixture = Fixture::held();
    let mut bytes = Vec::new();
    let goals = [(1, 2048), (2, 1536), (6, 23)];
    sync_write_words(&mut bytes, table::GOAL_POSITION.address, goals).unwrap();
    fixture.arm.handle_bytes(fixture.now, &bytes);
    assert_eq!(fixture.answers(), []);
    fixture.run(ms(1500));
    let [base, shoulder, .., gripper] = fixture.arm.positions();
    assert!(base.abs() < 1e-3 && (shoulder + FRAC_PI_4).abs() < 1e-3, "{base} {shoulder}");
    assert!((gripper - 2.5).abs() < 0.01, "{gripper}");
    let goals: Vec<_> = std::iter::from_fn(|| fixture.arm.poll_event()).map(|e| e.to_string()).collect();
    assert_eq!(goals, ["arm_1_joint goal 0.000", "arm_2_joint goal -0.785", "gripper_1_joint goal 2.500"]);
    // Registered first, then executed by all at the same time.
    let later = Instruction::RegWrite { address: table::GOAL_POSITION.address, data: &[0, 8] };
    fixture.ask(2, &later);
    fixture.run(ms(500));
    assert!((fixture.arm.positions()[1] + FRAC_PI_4).abs() < 1e-3);
    assert_eq!(fixture.ask(BROADCAST, &Instruction::Action), []);
    fixture.run(ms(1500));
    assert!(fixture.arm.positions()[1].abs() < 1e-3);
}

#[test]
fn without_torque_only_friction_holds() {
    for (joint, friction) in [(0, 0.26), (1, 0.50), (2, 0.26), (3, 0.26), (4, 0.13)] {
        let mut fixture = Fixture::held();
        let start = fixture.arm.positions()[joint];
        fixture.arm.inputs.load[joint] = -4.0 * friction;
        if joint == 4 {
            fixture.arm.inputs.load[joint] = -1.4;
        }
        fixture.run(ms(1000));
        assert_eq!(fixture.arm.positions()[joint], start, "its motor holds it");
        fixture.write(joint as u8 + 1, table::TORQUE_ENABLE, 0);
        fixture.arm.inputs.load[joint] = -0.99 * friction;
        fixture.run(ms(1000));
        assert_eq!(fixture.arm.positions()[joint], start, "its friction holds it");
        fixture.arm.inputs.load[joint] = -1.5 * friction;
        fixture.run(ms(5000));
        let low = JOINTS[joint].limits[0];
        assert!(fixture.arm.positions()[joint] < start - 0.5, "joint {joint} falls");
        fixture.run(ms(30_000));
        assert_eq!(
            (fixture.arm.positions()[joint], fixture.arm.velocities()[joint]),
            (low, 0.0),
            "to its end"
        );
    }
}

#[test]
fn a_load_beyond_the_torque_turns_the_joint_and_shuts_the_motor_down() {
    for (joint, torque) in [2.5, 6.0, 2.5, 2.5, 1.5].into_iter().enumerate() {
        let mut fixture = Fixture::held();
        fixture.arm.inputs.load[joint] = 0.98 * torque;
        fixture.run(ms(5000));
        assert_eq!(fixture.arm.positions()[joint], WidowxSettings::default().positions[joint]);
        assert!((fixture.arm.torques()[joint] + 0.98 * torque).abs() < 1e-9);
        fixture.arm.inputs.load[joint] = torque + 1.0;
        fixture.run(ms(10_000));
        let high = JOINTS[joint].limits[1];
        assert_eq!(fixture.arm.positions()[joint], high);
        let events: Vec<_> = std::iter::from_fn(|| fixture.arm.poll_event()).collect();
        assert_eq!(events, [Event::Shutdown { joint, errors: ErrorFlags::OVERLOAD }]);
        let id = joint as u8 + 1;
        assert_eq!(fixture.read::<Control>(id).torque_limit, 0);
        // With a torque limit it continues.
        fixture.arm.inputs.load[joint] = 0.0;
        assert_eq!(fixture.write(id, table::TORQUE_LIMIT, 1023), NONE);
        fixture.run(ms(3000));
        let error = fixture.arm.positions()[joint] - WidowxSettings::default().positions[joint];
        assert!(error.abs() < 1e-3, "{error}");
    }
}

#[test]
fn the_gripper_closes_up_to_what_is_between_its_fingers_and_presses() {
    let mut fixture = Fixture::held();
    fixture.arm.inputs.gripper_stop = Some(0.9);
    fixture.write(6, table::GOAL_POSITION, 23);
    fixture.run(ms(60_000));
    assert_eq!(fixture.arm.positions()[GRIPPER], 0.9);
    assert!(fixture.arm.torques()[GRIPPER] > 0.3);
    assert!(fixture.arm.torque_enabled()[GRIPPER], "it holds permanently");
    // Removing and changing the object later does not open them.
    fixture.arm.inputs.gripper_stop = Some(0.5);
    fixture.run(ms(1000));
    assert_eq!(fixture.arm.positions()[GRIPPER], 0.9);
    fixture.arm.inputs.gripper_stop = None;
    fixture.run(ms(2000));
    assert!((fixture.arm.positions()[GRIPPER] - 2.5).abs() < 0.01);
    fixture.write(6, table::GOAL_POSITION, 512);
    fixture.run(ms(2000));
    assert!(fixture.arm.positions()[GRIPPER].abs() < 1e-3);
}

#[test]
fn heat_shuts_a_motor_down_until_it_is_cool() {
    let mut fixture = Fixture::held();
    fixture.arm.set_temperature(1, 85.0);
    fixture.run(ms(10));
    let answers = fixture.ask(2, &Instruction::Ping);
    assert_eq!(answers[0].errors, ErrorFlags::OVERHEATING);
    assert!(!fixture.arm.torque_enabled()[1]);
    assert_eq!(fixture.read::<Measurement>(2).celsius, 85);
    fixture.write(2, table::TORQUE_LIMIT, 1023);
    fixture.run(ms(10));
    assert!(!fixture.arm.torque_enabled()[1], "still too hot");
    fixture.run(ms(120_000));
    assert_eq!(fixture.ask(2, &Instruction::Ping)[0].errors, NONE);
    fixture.write(2, table::TORQUE_LIMIT, 1023);
    fixture.run(ms(10));
    assert!(fixture.arm.torque_enabled()[1]);
}

#[test]
fn invalid_values_are_refused_without_effect() {
    let mut fixture = Fixture::held();
    let before: Control = fixture.read(1);
    assert_eq!(fixture.write(1, table::MOVING_SPEED, 1024), ErrorFlags::RANGE);
    assert_eq!(fixture.write(1, table::PRESENT_POSITION, 5), ErrorFlags::RANGE);
    assert_eq!(
        fixture.write(1, table::CCW_ANGLE_LIMIT, 3000),
        ErrorFlags::RANGE,
        "while its motor has torque"
    );
    assert_eq!(fixture.write(5, table::GOAL_POSITION, 1024), ErrorFlags::ANGLE_LIMIT);
    for data in [&[1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13][..], &[1]] {
        let address = if data.len() == 1 { table::GOAL_POSITION.address + 1 } else { 40 };
        let answers = fixture.ask(1, &Instruction::Write { address, data });
        assert_eq!(answers[0].errors, ErrorFlags::RANGE);
    }
    let beyond = Instruction::Read { address: TABLE_LENGTH as u8 - 1, length: 2 };
    assert_eq!(fixture.ask(1, &beyond)[0].errors, ErrorFlags::RANGE);
    assert_eq!(fixture.ask(1, &Instruction::Action)[0].errors, ErrorFlags::INSTRUCTION);
    // The reset to the factory settings.
    fixture.arm.handle_bytes(fixture.now, &[0xff, 0xff, 0x01, 0x02, 0x06, 0xf6]);
    assert_eq!(fixture.answers()[0].errors, ErrorFlags::INSTRUCTION);
    assert_eq!(fixture.read::<Control>(1), before);
}

#[test]
fn a_servo_that_was_switched_off_has_lost_torque_and_goal() {
    let mut fixture = Fixture::held();
    fixture.write(2, table::MOVING_SPEED, 50);
    fixture.arm.inputs.load[1] = 1.0;
    fixture.arm.reset(Some(1));
    assert_eq!(fixture.ask(2, &Instruction::Ping), [], "it boots");
    fixture.run(ms(2000));
    let control: Control = fixture.read(2);
    assert_eq!((control.torque_enable, control.moving_speed, control.torque_limit), (false, 0, 1023));
    assert!(fixture.arm.positions()[1] > 0.1, "it has fallen");
    assert_eq!(fixture.arm.positions()[0], FRAC_PI_4);
    assert!(fixture.read::<Control>(1).torque_enable);
}

#[test]
fn answers_take_their_time_where_the_line_has_a_speed() {
    let settings = WidowxSettings { baud: Some(57_600), ..WidowxSettings::default() };
    let mut fixture = Fixture::new(settings);
    let mut bytes = Vec::new();
    let read = Instruction::Read { address: Measurement::ADDRESS, length: Measurement::LENGTH };
    read.encode(&mut bytes, 1).unwrap();
    fixture.arm.handle_bytes(fixture.now, &bytes);
    // 8 bytes there and 14 back, of 174 us each.
    assert_eq!(fixture.answers(), []);
    let due = fixture.arm.poll_timeout();
    assert!((3.8..3.9).contains(&(due.as_secs_f64() * 1e3)), "{due:?}");
    fixture.arm.handle_timeout(due);
    assert_eq!(fixture.answers().len(), 1);
}

#[test]
fn no_inputs_from_the_world_make_it_panic() {
    let mut fixture = Fixture::held();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        fixture.arm.inputs = Inputs {
            load: [value; 5],
            lowest: [Some(value); 5],
            highest: [Some(value); 5],
            gripper_stop: Some(value),
        };
        fixture.arm.set_temperature(0, value);
        fixture.run(ms(100));
        assert_eq!(fixture.arm.positions(), WidowxSettings::default().positions);
    }
    fixture.arm.reset(Some(COUNT));
    fixture.arm.silence(Some(usize::MAX - 1), ms(1));
    let settings =
        WidowxSettings { positions: [f64::NAN, 9.0, -9.0, 0.0, 0.0, 9.0], ..WidowxSettings::default() };
    let arm = Widowx::new(settings);
    assert_eq!(arm.positions(), [0.0, FRAC_PI_2, -FRAC_PI_2, 0.0, 0.0, 2.5]);
}

#[test]
fn no_load_turns_a_joint_faster_than_its_gear_could_take() {
    for load in [1e3, -1e3, 1e300, -f64::MAX] {
        for is_held in [true, false] {
            let mut fixture = Fixture::new(WidowxSettings { is_held, ..WidowxSettings::default() });
            fixture.arm.inputs.load = [load; 5];
            let mut fastest = 0.0_f64;
            for _ in 0..100 {
                fixture.run(ms(1));
                for velocity in fixture.arm.velocities() {
                    fastest = fastest.max(velocity.abs());
                }
            }
            assert!((1.0..100.0).contains(&fastest), "{load} N m: {fastest} rad/s");
        }
    }
}
