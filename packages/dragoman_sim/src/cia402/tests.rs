//! A simulated drive of the profile on virtual time.

use canopen_rs::{DataType, NmtCommand};
use dragoman_arm::canopen::{Service, sdo::TransferError};
use dragoman_arm::driver::cia402::ON_LOSS_QUICK_STOP;
use dragoman_arm::simpliq::objects::{self, EVERY_SYNC, RPDO1, TPDO4};
use proptest::prelude::*;

use super::*;
use crate::device::Fault;
use crate::fixture::{MASTER, ms, node};

type Fixture = crate::fixture::Fixture<Cia402>;

/// 4 ms are 11 position loops of 360 us.
const CYCLE: Duration = Duration::from_micros(3960);

impl Fixture {
    fn set_up() -> Self {
        Self::set_up_with(Cia402Settings::default())
    }

    fn set_up_with(settings: Cia402Settings) -> Self {
        let mut fixture = Self::of(Cia402Drive::new(node(), settings));
        let mut writes = vec![
            (ABORT_CONNECTION, Value::Integer16(ON_LOSS_QUICK_STOP)),
            (objects::HEARTBEAT_CONSUMER, Value::Unsigned32(u32::from(MASTER) << 16 | 50)),
            (MODE, Value::Integer8(CYCLIC_SYNCHRONOUS_POSITION)),
            (PERIOD_MANTISSA, Value::Unsigned8(40)),
            (PERIOD_EXPONENT, Value::Integer8(-4)),
        ];
        objects::map(&mut writes, node(), RPDO1, EVERY_SYNC, &[(CONTROL_WORD, 16), (TARGET_POSITION, 32)]);
        objects::map(&mut writes, node(), TPDO4, EVERY_SYNC, &[(STATUS_WORD, 16), (POSITION, 32)]);
        for (address, value) in writes {
            assert_eq!(fixture.write(address, value), Ok(()), "{address:?} {value:?}");
        }
        fixture.command(NmtCommand::StartRemoteNode);
        fixture
    }

    fn enabled() -> Self {
        let mut fixture = Self::set_up();
        for word in [control::SHUTDOWN, control::SWITCH_ON, control::ENABLE_OPERATION] {
            fixture.cycle(word, 0);
        }
        assert_eq!(fixture.drive.state(), DriveState::OperationEnabled);
        fixture
    }

    /// One cycle: the command, and the SYNC at which it takes effect.
    fn cycle(&mut self, word: u16, target: i32) {
        let ([a, b], [c, d, e, f]) = (word.to_le_bytes(), target.to_le_bytes());
        self.send(Service::Rpdo(1, node()), &[a, b, c, d, e, f]);
        self.sync();
        self.run_for(CYCLE);
    }

    fn follow(&mut self, target: i32) {
        self.cycle(control::ENABLE_OPERATION, target);
    }
}

#[test]
fn commands_lead_through_the_states_and_the_status_word_shows_them() {
    let mut fixture = Fixture::set_up();
    let way = [
        (control::SWITCH_ON, 0x0250, DriveState::SwitchOnDisabled),
        (control::SHUTDOWN, 0x0231, DriveState::ReadyToSwitchOn),
        (control::SWITCH_ON, 0x0233, DriveState::SwitchedOn),
        (control::ENABLE_OPERATION, 0x1237, DriveState::OperationEnabled),
        (control::SWITCH_ON, 0x0233, DriveState::SwitchedOn),
        (control::ENABLE_OPERATION, 0x1237, DriveState::OperationEnabled),
        (control::SHUTDOWN, 0x0231, DriveState::ReadyToSwitchOn),
        (control::QUICK_STOP, 0x0250, DriveState::SwitchOnDisabled),
    ];
    for (word, status, state) in way {
        fixture.cycle(word, 0);
        assert_eq!((fixture.drive.status_word(), fixture.drive.state()), (status, state), "{word:#x}");
        assert_eq!(DriveState::of(status.into()), state);
        fixture.sent.clear();
        fixture.sync();
        let [low, high] = status.to_le_bytes();
        assert_eq!(fixture.take(Service::Tpdo(4, node()))[0].1, [low, high, 0, 0, 0, 0]);
    }
}

#[test]
fn targets_are_reached_one_period_after_their_sync() {
    let mut fixture = Fixture::enabled();
    for step in 1..=20 {
        fixture.follow(step * 100);
        assert_eq!(fixture.counts(), f64::from(step * 100));
        assert!((fixture.drive.velocity() - 100.0 / CYCLE.as_secs_f64()).abs() < 1e-6);
    }
    fixture.run_for(ms(20));
    assert_eq!((fixture.counts(), fixture.drive.velocity()), (2000.0, 0.0));
    assert_eq!(fixture.take_emergencies(), []);
}

#[test]
fn a_target_that_is_too_far_away_is_a_following_error_until_it_is_reset() {
    let mut fixture = Fixture::enabled();
    // 500,000 counts/s in 3.96 ms.
    fixture.follow(1981);
    assert_eq!(fixture.drive.state(), DriveState::Fault);
    assert_eq!(fixture.take_emergencies()[0].1.code, 0x8611);
    assert_eq!(fixture.counts(), 0.0);
    assert_eq!(fixture.read(ERROR_CODE, DataType::Unsigned16), Ok(Some(Value::Unsigned16(0x8611))));
    fixture.follow(0);
    assert_eq!(fixture.drive.state(), DriveState::Fault);
    fixture.cycle(control::FAULT_RESET, 0);
    assert_eq!(fixture.drive.state(), DriveState::SwitchOnDisabled);
    assert_eq!(fixture.read(ERROR_CODE, DataType::Unsigned16), Ok(Some(Value::Unsigned16(0))));
}

#[test]
fn a_quick_stop_brakes_and_ends_without_power() {
    let mut fixture = Fixture::enabled();
    (1..=50).for_each(|step| fixture.follow(step * 400));
    let at = fixture.counts();
    fixture.cycle(control::QUICK_STOP, 0);
    assert_eq!(fixture.drive.state(), DriveState::QuickStopActive);
    fixture.run_for(ms(60));
    assert_eq!(fixture.drive.state(), DriveState::SwitchOnDisabled);
    // v^2 / 2a.
    assert!((fixture.counts() - at - 2550.0).abs() < 100.0, "{}", fixture.counts() - at);
    assert!(!fixture.drive.is_moving());
}

#[test]
fn a_lost_master_stops_the_drive() {
    let mut fixture = Fixture::enabled();
    fixture.beat();
    for step in 1..=12 {
        fixture.follow(step * 100);
    }
    assert_eq!(fixture.take_emergencies(), []);
    assert_eq!(fixture.drive.state(), DriveState::OperationEnabled);
    for step in 13..=20 {
        fixture.follow(step * 100);
    }
    assert_eq!(fixture.take_emergencies()[0].1.code, 0x8130);
    assert!(!fixture.drive.is_moving());
    assert_eq!(fixture.drive.state(), DriveState::SwitchOnDisabled);
}

#[test]
fn heat_is_a_fault_that_cannot_be_reset_before_it_has_cooled_down() {
    let mut settings = Cia402Settings::default();
    settings.axis.warming_time = ms(100);
    settings.axis.heating = 2000.0;
    let mut fixture = Fixture::set_up_with(settings);
    for word in [control::SHUTDOWN, control::SWITCH_ON] {
        fixture.cycle(word, 0);
    }
    let mut step = 0;
    while fixture.drive.state() != DriveState::Fault {
        step += 1;
        assert!(step < 500);
        fixture.follow(step * 400);
    }
    assert_eq!(fixture.take_emergencies()[0].1.code, 0x4310);
    fixture.cycle(control::FAULT_RESET, 0);
    assert_eq!(fixture.drive.state(), DriveState::Fault);
    fixture.run_for(ms(500));
    fixture.cycle(0, 0);
    fixture.cycle(control::FAULT_RESET, 0);
    assert_eq!(fixture.drive.state(), DriveState::SwitchOnDisabled);
}

#[test]
fn unsupported_modes_and_periods_are_refused() {
    let mut fixture = Fixture::set_up();
    for (address, value) in [
        (MODE, Value::Integer8(1)),
        (PERIOD_MANTISSA, Value::Unsigned8(0)),
        (PERIOD_EXPONENT, Value::Integer8(3)),
        (ABORT_CONNECTION, Value::Integer16(7)),
    ] {
        let refused = fixture.write(address, value);
        assert!(
            matches!(refused, Err(TransferError::Aborted { code: 0x0609_0030, .. })),
            "{address:?} {refused:?}"
        );
    }
    assert_eq!(fixture.read(MODE_DISPLAY, DataType::Integer8), Ok(Some(Value::Integer8(8))));
}

#[test]
fn a_power_cycle_and_a_silent_exit_end_the_motion() {
    for fault in [Fault::PowerCycle, Fault::ExitEnabled] {
        let mut fixture = Fixture::enabled();
        (1..=50).for_each(|step| fixture.follow(step * 400));
        fixture.drive.inject(fixture.now, fault);
        fixture.run_for(ms(10));
        assert!(!fixture.drive.is_moving());
        assert_eq!(fixture.drive.state(), DriveState::SwitchOnDisabled);
        assert_eq!(fixture.take_emergencies(), []);
        assert!(fixture.drive.shaft_counts() >= 20_000.0);
        assert_eq!(fixture.counts() < 1000.0, fault == Fault::PowerCycle);
    }
}

proptest! {
    #[test]
    fn no_frames_move_a_drive_that_is_not_enabled(
        frames in prop::collection::vec((0_u16..0x800, prop::collection::vec(any::<u8>(), 0..=8), 0_u64..20), 1..200)
    ) {
        let mut fixture = Fixture::set_up();
        for (id, data, wait) in frames {
            let id = if id % 4 == 0 { [0x080, 0x265, 0x665, 0x000][usize::from(id / 4 % 4)] } else { id };
            let frame = dragoman_io::can::Frame::standard(id, &data).unwrap();
            fixture.drive.handle_frame(fixture.now, &frame);
            // Random control words may well enable it.
            let may_move = fixture.drive.state() == DriveState::OperationEnabled || fixture.drive.is_moving();
            let before = fixture.drive.shaft_counts();
            fixture.run_for(ms(wait));
            prop_assert!(may_move || fixture.drive.shaft_counts() == before);
            prop_assert!(fixture.drive.velocity().abs() <= 500_000.0);
        }
    }
}
