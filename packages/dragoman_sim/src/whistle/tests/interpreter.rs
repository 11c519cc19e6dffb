//! The binary interpreter: its two slots, its refusals.

use dragoman_arm::simpliq::commands::error;

use super::*;

#[test]
fn a_third_request_takes_the_place_of_the_one_that_waits() {
    let mut fixture = Fixture::set_up();
    for letters in [b"PX", b"VX", b"UM"] {
        fixture.request(DriveRequest::Get(Command::new(letters)));
    }
    fixture.run_for(ms(5));
    let answered: Vec<_> =
        fixture.sent.iter().filter_map(|(at, f)| Some((*at, answer(f)?.command.letters))).collect();
    assert_eq!(answered, [(us(500), *b"PX"), (us(1000), *b"UM")]);
}

#[test]
fn commands_are_refused_with_their_reasons() {
    let mut fixture = Fixture::set_up();
    let refused = [
        (DriveRequest::Get(Command::new(b"ZZ")), error::BAD_COMMAND),
        (DriveRequest::Set(Command::STATUS, Argument::Integer(0)), error::BAD_COMMAND),
        (DriveRequest::Get(Command::MOTION), error::BAD_INDEX),
        (DriveRequest::Get(Command::MOTION.at(7)), error::BAD_INDEX),
        (DriveRequest::Get(Command::QUEUE.at(1025)), error::BAD_INDEX),
        (DriveRequest::Set(Command::MOTOR, Argument::Integer(2)), error::OUT_OF_RANGE),
        (DriveRequest::Set(Command::MOTION.at(4), Argument::Integer(0)), error::OUT_OF_RANGE),
        (DriveRequest::Set(Command::UNIT_MODE, Argument::Integer(9)), error::OUT_OF_RANGE),
        (DriveRequest::Set(Command::JOG, Argument::Integer(500_001)), error::OUT_OF_RANGE),
        (DriveRequest::Set(Command::JOG, Argument::Float(f32::NAN)), error::OUT_OF_RANGE),
        (DriveRequest::Set(Command::TORQUE, Argument::Float(1.0)), error::BAD_UNIT_MODE),
        (DriveRequest::Set(Command::PT, Argument::Integer(1)), error::MOTOR_MUST_BE_ON),
        (DriveRequest::Get(Command::BEGIN), error::MOTOR_MUST_BE_ON),
    ];
    for (request, code) in refused {
        assert_eq!(fixture.ask(request), Err(code), "{request}");
        assert_eq!(fixture.get(Command::new(b"EC")), Ok(code.into()));
    }
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert_eq!(fixture.get(Command::BEGIN), Err(error::BAD_INITIAL_DATA));
    assert_eq!(fixture.set(Command::UNIT_MODE, 2), Err(error::MOTOR_MUST_BE_OFF));
    assert!(!fixture.drive.is_moving());
}

#[test]
fn invalid_letters_are_refused_and_incomplete_requests_are_reported() {
    let mut fixture = Fixture::set_up();
    fixture.send(Service::Rpdo(2, node()), b"p*\0\0");
    fixture.run_for(ms(1));
    assert_eq!(fixture.take(Service::Tpdo(2, node())).remove(0).1, [b'p', b'*', 0, 0x40, 2, 0, 0, 0]);
    fixture.send(Service::Rpdo(2, node()), b"PX");
    assert_eq!(fixture.take_emergencies().remove(0).1.code, 0x8210);
}

#[test]
fn the_motor_goes_on_and_off_and_the_status_shows_it() {
    let mut fixture = Fixture::set_up();
    assert!(!fixture.drive.status().is_motor_on());
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert!(fixture.drive.status().is_motor_on());
    assert_eq!(fixture.get(Command::MOTOR), Ok(1));
    assert_eq!(fixture.get(Command::STATUS), Ok(1 << 4));
    assert_eq!(fixture.set(Command::MOTOR, 0), Ok(0));
    assert_eq!(fixture.get(Command::STATUS), Ok(0));
}

#[test]
fn a_jog_accelerates_and_stops_with_the_stops_deceleration() {
    let mut fixture = Fixture::set_up();
    assert_eq!(fixture.set(Command::UNIT_MODE, 2), Ok(2));
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert_eq!(fixture.set(Command::JOG, -100_000), Ok(-100_000));
    assert_eq!(fixture.drive.velocity(), 0.0);
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    // 100 ms with 1e6 counts/s^2.
    fixture.run_for(ms(50));
    assert!((-51_000.0..=-49_000.0).contains(&fixture.drive.velocity()), "{}", fixture.drive.velocity());
    fixture.run_for(ms(100));
    assert_eq!(fixture.get(Command::VELOCITY), Ok(-100_000));
    let current = fixture.ask(DriveRequest::Get(Command::CURRENT)).unwrap();
    assert!(matches!(current, Argument::Float(amperes) if (amperes + 0.2).abs() < 1e-6), "{current}");
    let before = fixture.counts();
    assert_eq!(fixture.get(Command::STOP), Ok(0));
    // 33 ms with 3e6 counts/s^2.
    fixture.run_for(ms(35));
    assert!(!fixture.drive.is_moving());
    assert!((before - fixture.counts() - 1_717.0).abs() < 60.0, "{}", before - fixture.counts());
}

#[test]
fn a_torque_accelerates_what_friction_and_inertia_let_it() {
    let mut fixture = Fixture::set_up();
    assert_eq!(fixture.set(Command::UNIT_MODE, 1), Ok(1));
    assert_eq!(fixture.set_float(Command::TORQUE, 0.1), Err(error::MOTOR_MUST_BE_ON));
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert_eq!(fixture.set_float(Command::TORQUE, 5.1), Err(error::OUT_OF_RANGE));
    assert_eq!(fixture.set_float(Command::TORQUE, f32::INFINITY), Err(error::OUT_OF_RANGE));
    assert_eq!(fixture.set_float(Command::TORQUE, 0.2), Ok(Argument::Float(0.2)));
    // A time constant of 1 s towards 100,000 counts/s.
    fixture.run_for(ms(1000));
    assert!((62_000.0..=65_000.0).contains(&fixture.drive.velocity()), "{}", fixture.drive.velocity());
    assert_eq!(fixture.set_float(Command::TORQUE, 5.0), Ok(Argument::Float(5.0)));
    fixture.run_for(ms(1));
    assert!(fixture.drive.status().is_current_limited());
    fixture.run_for(ms(2000));
    assert_eq!(fixture.take_emergencies().remove(0).1.code, 0x8481);
    assert!(!fixture.drive.status().is_motor_on() && fixture.drive.status().has_failed());
    fixture.run_for(ms(1000));
    assert!(!fixture.drive.is_moving());
}

#[test]
fn an_absolute_position_is_reached() {
    let mut fixture = Fixture::enabled();
    assert_eq!(fixture.set(Command::new(b"PA"), 50_000), Ok(50_000));
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    fixture.run_for(ms(300));
    assert!(fixture.drive.is_moving());
    fixture.run_for(ms(1000));
    assert_eq!(fixture.get(Command::POSITION), Ok(50_000));
    assert_eq!(fixture.get(Command::VELOCITY), Ok(0));
}

#[test]
fn heat_switches_the_motor_off_until_it_has_cooled_down() {
    let mut settings = WhistleSettings { unit_mode: 1, ..WhistleSettings::default() };
    settings.axis.warming_time = ms(500);
    let mut fixture = Fixture::set_up_with(settings);
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert_eq!(fixture.get(Command::TEMPERATURE), Ok(25));
    // 4.5 A would bring 81 degrees more; the speed limit is 0.25 s away.
    assert_eq!(fixture.set_float(Command::TORQUE, 4.5), Ok(Argument::Float(4.5)));
    fixture.run_for(ms(150));
    assert!(fixture.get(Command::TEMPERATURE).unwrap() > 40);
    assert_eq!(fixture.set_float(Command::TORQUE, -4.5), Ok(Argument::Float(-4.5)));
    fixture.run_for(ms(250));
    assert_eq!(fixture.set_float(Command::TORQUE, 4.5), Ok(Argument::Float(4.5)));
    while fixture.drive.status().is_motor_on() {
        fixture.run_for(ms(1));
    }
    assert!(fixture.drive.temperature() >= 84.0, "{}", fixture.drive.temperature());
    assert_eq!(fixture.take_emergencies().remove(0).1.code, 0x4310);
    assert_eq!(fixture.get(Command::MOTOR_FAILURE), Ok(super::super::drive::failure::TEMPERATURE));
    assert_eq!(fixture.set(Command::MOTOR, 1), Err(error::MOTOR_COULD_NOT_START));
    assert!(fixture.drive.status().has_failed());
    fixture.run_for(ms(2000));
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert!(!fixture.drive.status().has_failed());
}

#[test]
fn the_counter_is_set_while_the_motor_is_off_and_nothing_moves() {
    let mut fixture = Fixture::set_up();
    assert_eq!(fixture.set(Command::POSITION, 1234), Ok(1234));
    assert_eq!(fixture.get(Command::POSITION), Ok(1234));
    assert_eq!(fixture.drive.shaft_counts(), 0.0);
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert_eq!(fixture.set(Command::POSITION, 0), Err(error::MOTOR_MUST_BE_OFF));
}
