//! A simulated drive of the profile on virtual time.

use canopen_rs::{DataType, NmtCommand};
use dragoman_arm::canopen::{Service, sdo::TransferError};
use dragoman_arm::driver::cia402::ON_LOSS_QUICK_STOP;
use dragoman_arm::simpliq::objects::{self, EVERY_SYNC, RPDO1, TPDO4};
use proptest::prelude::*;

use super::*;
use crate::bench::{MASTER, ms, node};
use crate::device::Fault;

type Bench = crate::bench::Bench<Cia402>;

/// 4 ms are 11 position loops of 360 us.
const CYCLE: Duration = Duration::from_micros(3960);

impl Bench {
    fn set_up() -> Self {
        Self::set_up_with(Cia402Settings::default())
    }

    fn set_up_with(settings: Cia402Settings) -> Self {
        let mut bench = Self::of(Cia402Drive::new(node(), settings));
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
            assert_eq!(bench.write(address, value), Ok(()), "{address:?} {value:?}");
        }
        bench.command(NmtCommand::StartRemoteNode);
        bench
    }

    fn enabled() -> Self {
        let mut bench = Self::set_up();
        for word in [control::SHUTDOWN, control::SWITCH_ON, control::ENABLE_OPERATION] {
            bench.cycle(word, 0);
        }
        assert_eq!(bench.drive.state(), DriveState::OperationEnabled);
        bench
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
    let mut bench = Bench::set_up();
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
        bench.cycle(word, 0);
        assert_eq!((bench.drive.status_word(), bench.drive.state()), (status, state), "{word:#x}");
        assert_eq!(DriveState::of(status.into()), state);
        bench.sent.clear();
        bench.sync();
        let [low, high] = status.to_le_bytes();
        assert_eq!(bench.take(Service::Tpdo(4, node()))[0].1, [low, high, 0, 0, 0, 0]);
    }
}

#[test]
fn targets_are_reached_one_period_after_their_sync() {
    let mut bench = Bench::enabled();
    for step in 1..=20 {
        bench.follow(step * 100);
        assert_eq!(bench.counts(), f64::from(step * 100));
        assert!((bench.drive.velocity() - 100.0 / CYCLE.as_secs_f64()).abs() < 1e-6);
    }
    bench.run_for(ms(20));
    assert_eq!((bench.counts(), bench.drive.velocity()), (2000.0, 0.0));
    assert_eq!(bench.take_emergencies(), []);
}

#[test]
fn a_target_that_is_too_far_away_is_a_following_error_until_it_is_reset() {
    let mut bench = Bench::enabled();
    // 500,000 counts/s in 3.96 ms.
    bench.follow(1981);
    assert_eq!(bench.drive.state(), DriveState::Fault);
    assert_eq!(bench.take_emergencies()[0].1.code, 0x8611);
    assert_eq!(bench.counts(), 0.0);
    assert_eq!(bench.read(ERROR_CODE, DataType::Unsigned16), Ok(Some(Value::Unsigned16(0x8611))));
    bench.follow(0);
    assert_eq!(bench.drive.state(), DriveState::Fault);
    bench.cycle(control::FAULT_RESET, 0);
    assert_eq!(bench.drive.state(), DriveState::SwitchOnDisabled);
    assert_eq!(bench.read(ERROR_CODE, DataType::Unsigned16), Ok(Some(Value::Unsigned16(0))));
}

#[test]
fn a_quick_stop_brakes_and_ends_without_power() {
    let mut bench = Bench::enabled();
    (1..=50).for_each(|step| bench.follow(step * 400));
    let at = bench.counts();
    bench.cycle(control::QUICK_STOP, 0);
    assert_eq!(bench.drive.state(), DriveState::QuickStopActive);
    bench.run_for(ms(60));
    assert_eq!(bench.drive.state(), DriveState::SwitchOnDisabled);
    // v^2 / 2a.
    assert!((bench.counts() - at - 2550.0).abs() < 100.0, "{}", bench.counts() - at);
    assert!(!bench.drive.is_moving());
}

#[test]
fn a_lost_master_stops_the_drive() {
    let mut bench = Bench::enabled();
    bench.beat();
    for step in 1..=12 {
        bench.follow(step * 100);
    }
    assert_eq!(bench.take_emergencies(), []);
    assert_eq!(bench.drive.state(), DriveState::OperationEnabled);
    for step in 13..=20 {
        bench.follow(step * 100);
    }
    assert_eq!(bench.take_emergencies()[0].1.code, 0x8130);
    assert!(!bench.drive.is_moving());
    assert_eq!(bench.drive.state(), DriveState::SwitchOnDisabled);
}

#[test]
fn heat_is_a_fault_that_cannot_be_reset_before_it_has_cooled_down() {
    let mut settings = Cia402Settings::default();
    settings.axis.warming_time = ms(100);
    settings.axis.heating = 2000.0;
    let mut bench = Bench::set_up_with(settings);
    for word in [control::SHUTDOWN, control::SWITCH_ON] {
        bench.cycle(word, 0);
    }
    let mut step = 0;
    while bench.drive.state() != DriveState::Fault {
        step += 1;
        assert!(step < 500);
        bench.follow(step * 400);
    }
    assert_eq!(bench.take_emergencies()[0].1.code, 0x4310);
    bench.cycle(control::FAULT_RESET, 0);
    assert_eq!(bench.drive.state(), DriveState::Fault);
    bench.run_for(ms(500));
    bench.cycle(0, 0);
    bench.cycle(control::FAULT_RESET, 0);
    assert_eq!(bench.drive.state(), DriveState::SwitchOnDisabled);
}

#[test]
fn modes_and_periods_that_it_has_not_are_refused() {
    let mut bench = Bench::set_up();
    for (address, value) in [
        (MODE, Value::Integer8(1)),
        (PERIOD_MANTISSA, Value::Unsigned8(0)),
        (PERIOD_EXPONENT, Value::Integer8(3)),
        (ABORT_CONNECTION, Value::Integer16(7)),
    ] {
        let refused = bench.write(address, value);
        assert!(
            matches!(refused, Err(TransferError::Aborted { code: 0x0609_0030, .. })),
            "{address:?} {refused:?}"
        );
    }
    assert_eq!(bench.read(MODE_DISPLAY, DataType::Integer8), Ok(Some(Value::Integer8(8))));
}

#[test]
fn a_power_cycle_and_a_silent_exit_end_the_motion() {
    for fault in [Fault::PowerCycle, Fault::ExitEnabled] {
        let mut bench = Bench::enabled();
        (1..=50).for_each(|step| bench.follow(step * 400));
        bench.drive.inject(bench.now, fault);
        bench.run_for(ms(10));
        assert!(!bench.drive.is_moving());
        assert_eq!(bench.drive.state(), DriveState::SwitchOnDisabled);
        assert_eq!(bench.take_emergencies(), []);
        assert!(bench.drive.shaft_counts() >= 20_000.0);
        assert_eq!(bench.counts() < 1000.0, fault == Fault::PowerCycle);
    }
}

proptest! {
    #[test]
    fn no_frames_move_a_drive_that_is_not_enabled(
        frames in prop::collection::vec((0_u16..0x800, prop::collection::vec(any::<u8>(), 0..=8), 0_u64..20), 1..200)
    ) {
        let mut bench = Bench::set_up();
        for (id, data, wait) in frames {
            let id = if id % 4 == 0 { [0x080, 0x265, 0x665, 0x000][usize::from(id / 4 % 4)] } else { id };
            let frame = dragoman_io::can::Frame::standard(id, &data).unwrap();
            bench.drive.handle_frame(bench.now, &frame);
            // Random control words may well enable it.
            let may_move = bench.drive.state() == DriveState::OperationEnabled || bench.drive.is_moving();
            let before = bench.drive.shaft_counts();
            bench.run_for(ms(wait));
            prop_assert!(may_move || bench.drive.shaft_counts() == before);
            prop_assert!(bench.drive.velocity().abs() <= 500_000.0);
        }
    }
}
