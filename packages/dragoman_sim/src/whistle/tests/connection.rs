//! Network management, heartbeats, objects, process data and faults.

use canopen_rs::ByteString;

use super::*;
use crate::device::Fault;

fn code(result: Result<impl std::fmt::Debug, TransferError>) -> u32 {
    match result {
        Err(TransferError::Aborted { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_drive_boots_and_obeys_network_management() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.take(Service::Heartbeat(node())), [(Duration::ZERO, vec![0])]);
    assert_eq!(fixture.drive.nmt_state(), NmtState::PreOperational);
    fixture.request(DriveRequest::Get(Command::POSITION));
    fixture.run_for(ms(10));
    assert_eq!(fixture.sent, [], "no process data before it is operational");
    fixture.send(Service::Nmt, &[1, 102]);
    assert_eq!(fixture.drive.nmt_state(), NmtState::PreOperational);
    fixture.send(Service::Nmt, &[1, 0]);
    assert_eq!(fixture.drive.nmt_state(), NmtState::Operational);
    assert_eq!(fixture.get(Command::POSITION), Ok(0));
    fixture.command(NmtCommand::StopRemoteNode);
    assert!(fixture.read(Address::new(0x1000, 0), DataType::Unsigned32).is_err());
    fixture.command(NmtCommand::ResetCommunication);
    assert_eq!(fixture.take(Service::Heartbeat(node())).len(), 1);
    assert_eq!(fixture.drive.nmt_state(), NmtState::PreOperational);
    fixture.command(NmtCommand::ResetNode);
    assert_eq!(fixture.drive.nmt_state(), NmtState::Initialising);
    fixture.run_for(ms(200));
    assert_eq!(fixture.take(Service::Heartbeat(node())).len(), 1);
}

#[test]
fn its_heartbeat_has_the_period_and_the_state() {
    let mut fixture = Fixture::set_up();
    fixture.sent.clear();
    fixture.run_for(ms(350));
    assert_eq!(
        fixture.take(Service::Heartbeat(node())),
        [(ms(100), vec![5]), (ms(200), vec![5]), (ms(300), vec![5])]
    );
    assert_eq!(fixture.write(objects::HEARTBEAT_PRODUCER, Value::Unsigned16(0)), Ok(()));
    fixture.run_for(ms(1000));
    assert_eq!(fixture.take(Service::Heartbeat(node())), []);
}

fn jogging(reaction: i16) -> Fixture {
    let mut fixture = Fixture::enabled();
    assert_eq!(fixture.write(objects::ABORT_CONNECTION, Value::Integer16(reaction)), Ok(()));
    fixture.beat();
    assert_eq!(fixture.set(Command::JOG, 50_000), Ok(50_000));
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    for _ in 0..10 {
        fixture.run_for(ms(20));
        fixture.beat();
    }
    assert_eq!(fixture.drive.velocity(), 50_000.0);
    fixture
}

#[test]
fn a_lost_heartbeat_stops_the_drive_within_its_time() {
    for (reaction, is_on, is_moving) in
        [(0, true, true), (1, false, false), (2, false, false), (3, true, false)]
    {
        let mut fixture = jogging(reaction);
        let last_beat = fixture.now;
        fixture.run_for(ms(49));
        assert_eq!(fixture.drive.velocity(), 50_000.0);
        assert_eq!(fixture.take_emergencies(), []);
        // 25 ms from 50,000 counts/s with 2e6 counts/s^2.
        fixture.run_for(ms(27));
        assert_eq!(fixture.drive.status().is_motor_on(), is_on, "{reaction}");
        assert_eq!(fixture.drive.is_moving(), is_moving, "{reaction}");
        let (at, emergency) = fixture.take_emergencies().remove(0);
        assert_eq!((at, emergency.code, emergency.register), (last_beat + ms(50), 0x8130, 0x11));
        assert_eq!(
            fixture.read(Address::new(0x1001, 0), DataType::Unsigned8).map(|value| value.is_some()),
            Ok(true)
        );
        let rested = fixture.counts();
        fixture.beat();
        assert_eq!(fixture.take_emergencies()[0].1.code, 0, "the master is back");
        fixture.run_for(ms(10));
        assert_eq!(fixture.counts() == rested, !is_moving, "{reaction}");
    }
}

#[test]
fn monitoring_begins_with_the_first_heartbeat_of_the_master_only() {
    let mut fixture = Fixture::enabled();
    fixture.run_for(ms(1000));
    fixture.send(Service::Heartbeat(NodeId::new(5).unwrap()), &[5]);
    fixture.run_for(ms(1000));
    assert_eq!(fixture.take_emergencies(), []);
    fixture.beat();
    fixture.run_for(ms(60));
    assert_eq!(fixture.take_emergencies().len(), 1);
}

#[test]
fn a_stopped_node_stops_its_motor() {
    let mut fixture = jogging(3);
    fixture.command(NmtCommand::StopRemoteNode);
    fixture.run_for(ms(30));
    assert!(!fixture.drive.is_moving());
}

#[test]
fn objects_can_be_read_and_the_name_comes_in_segments() {
    let mut fixture = Fixture::set_up();
    let name = fixture.read(Address::new(0x1008, 0), DataType::VisibleString);
    assert_eq!(
        name,
        Ok(Some(Value::VisibleString(ByteString::from_str("Whistle (simulated by Dragoman)").unwrap())))
    );
    assert_eq!(fixture.read(objects::STATUS, DataType::Unsigned32), Ok(Some(Value::Unsigned32(0))));
    assert_eq!(fixture.set(Command::POSITION, -77), Ok(-77));
    assert_eq!(fixture.read(objects::POSITION, DataType::Integer32), Ok(Some(Value::Integer32(-77))));
    assert_eq!(fixture.read(Address::new(0x1018, 4), DataType::Unsigned32), Ok(Some(Value::Unsigned32(101))));
    assert_eq!(
        fixture.read(objects::HEARTBEAT_PRODUCER, DataType::Unsigned16),
        Ok(Some(Value::Unsigned16(100)))
    );
}

#[test]
fn invalid_accesses_are_aborted_with_their_reasons() {
    let mut fixture = Fixture::set_up();
    assert_eq!(code(fixture.read(Address::new(0x2fff, 0), DataType::Unsigned8)), 0x0602_0000);
    assert_eq!(code(fixture.read(Address::new(0x1018, 9), DataType::Unsigned8)), 0x0609_0011);
    assert_eq!(code(fixture.read(objects::PT_DATA, DataType::Unsigned64)), 0x0601_0001);
    let writes = [
        (Address::new(0x1000, 0), Value::Unsigned32(1), 0x0601_0002),
        (objects::HEARTBEAT_PRODUCER, Value::Unsigned8(1), 0x0607_0013),
        (objects::HEARTBEAT_PRODUCER, Value::Unsigned32(1), 0x0607_0012),
        (objects::ABORT_CONNECTION, Value::Integer16(4), 0x0609_0030),
        (objects::HEARTBEAT_CONSUMER, Value::Unsigned32(200 << 16 | 50), 0x0609_0030),
        (objects::PT_DATA, Value::Unsigned64(1), 0x0601_0000),
        (Address::new(0x1802, 2), Value::Unsigned8(1), 0x0602_0000),
        (Address::new(0x1803, 2), Value::Unsigned8(245), 0x0609_0030),
        (Address::new(0x1803, 1), Value::Unsigned32(0x181), 0x0609_0030),
    ];
    for (address, value, expected) in writes {
        assert_eq!(code(fixture.write(address, value)), expected, "{address:?} {value:?}");
    }
    assert_eq!(fixture.read(objects::ABORT_CONNECTION, DataType::Integer16), Ok(Some(Value::Integer16(3))));
}

#[test]
fn invalid_mappings_are_refused() {
    let mut fixture = Fixture::set_up();
    let of = |index, subindex| Address::new(index, subindex);
    let entry = |address: Address, bits: u32| {
        Value::Unsigned32(u32::from(address.index) << 16 | u32::from(address.subindex) << 8 | bits)
    };
    assert_eq!(code(fixture.write(of(0x1a03, 1), entry(objects::POSITION, 32))), 0x0800_0022, "it is in use");
    assert_eq!(fixture.write(of(0x1a03, 0), Value::Unsigned8(0)), Ok(()));
    assert_eq!(code(fixture.write(of(0x1a03, 1), entry(objects::POSITION, 16))), 0x0604_0041);
    assert_eq!(code(fixture.write(of(0x1a03, 1), entry(objects::PT_DATA, 64))), 0x0604_0041, "the other way");
    assert_eq!(code(fixture.write(of(0x1a03, 1), entry(Address::new(0x1000, 0), 32))), 0x0604_0041);
    for place in 1..=3 {
        assert_eq!(fixture.write(of(0x1a03, place), entry(objects::POSITION, 32)), Ok(()));
    }
    assert_eq!(code(fixture.write(of(0x1a03, 0), Value::Unsigned8(3))), 0x0604_0042, "96 bits");
    assert_eq!(code(fixture.write(of(0x1a03, 0), Value::Unsigned8(9))), 0x0604_0042);
    assert_eq!(fixture.write(of(0x1a03, 0), Value::Unsigned8(1)), Ok(()));
    fixture.sync();
    assert_eq!(fixture.take(Service::Tpdo(4, node())), [(Duration::ZERO, vec![0; 4])]);
}

#[test]
fn position_and_status_come_at_every_sync() {
    let mut fixture = Fixture::enabled();
    fixture.set(Command::new(b"PA"), 1000).unwrap();
    fixture.get(Command::BEGIN).unwrap();
    fixture.sent.clear();
    fixture.run_for(ms(200));
    fixture.sync();
    fixture.sync();
    let sent = fixture.take(Service::Tpdo(4, node()));
    assert_eq!(sent, vec![(fixture.now, vec![0xe8, 3, 0, 0, 1 << 4, 0, 0, 0]); 2]);
    // Every third.
    assert_eq!(fixture.write(Address::new(0x1803, 2), Value::Unsigned8(3)), Ok(()));
    (0..7).for_each(|_| fixture.sync());
    assert_eq!(fixture.take(Service::Tpdo(4, node())).len(), 2);
}

#[test]
fn a_power_cycle_loses_set_up_and_count_but_does_not_move_the_shaft() {
    let mut fixture = jogging(3);
    fixture.drive.inject(fixture.now, Fault::PowerCycle);
    assert_eq!(fixture.drive.nmt_state(), NmtState::Initialising);
    fixture.run_for(ms(100));
    assert!(!fixture.drive.is_moving(), "the brake falls in");
    let shaft = fixture.drive.shaft_counts();
    fixture.sent.clear();
    fixture.run_for(ms(100));
    assert_eq!(fixture.take(Service::Heartbeat(node())).len(), 1);
    assert!(!fixture.drive.status().is_motor_on());
    assert!(fixture.counts() < 100.0 && shaft > 5000.0, "{} {shaft}", fixture.counts());
    assert_eq!(
        fixture.read(objects::HEARTBEAT_CONSUMER, DataType::Unsigned32),
        Ok(Some(Value::Unsigned32(0)))
    );
    fixture.command(NmtCommand::StartRemoteNode);
    fixture.sync();
    assert_eq!(fixture.take(Service::Tpdo(4, node())), [], "nothing is mapped");
    fixture.run_for(ms(1000));
    assert_eq!(fixture.drive.shaft_counts(), shaft);
}

#[test]
fn a_silent_drive_neither_sends_nor_takes_and_its_own_watch_stops_it() {
    let mut fixture = jogging(3);
    fixture.drive.inject(fixture.now, Fault::Silent);
    fixture.sent.clear();
    for _ in 0..8 {
        fixture.beat();
        fixture.sync();
        fixture.run_for(ms(10));
    }
    assert_eq!(fixture.sent, []);
    assert!(!fixture.drive.is_moving());
    fixture.drive.repair();
    fixture.sync();
    assert_eq!(fixture.take(Service::Tpdo(4, node())).len(), 1);
}

#[test]
fn late_answers_come_late_and_heartbeats_do_not() {
    let mut fixture = Fixture::set_up();
    fixture.drive.inject(fixture.now, Fault::AnswerLate(ms(30)));
    fixture.sent.clear();
    fixture.request(DriveRequest::Get(Command::POSITION));
    fixture.sync();
    fixture.run_for(ms(110));
    assert_eq!(fixture.take(Service::Tpdo(2, node()))[0].0, us(30_500));
    assert_eq!(fixture.take(Service::Tpdo(4, node()))[0].0, ms(30));
    assert_eq!(fixture.take(Service::Heartbeat(node()))[0].0, ms(100));
}

#[test]
fn a_motor_that_goes_off_without_a_message_shows_only_in_the_status() {
    let mut fixture = jogging(3);
    fixture.sent.clear();
    fixture.drive.inject(fixture.now, Fault::ExitEnabled);
    fixture.run_for(ms(30));
    assert_eq!(fixture.take_emergencies(), []);
    assert!(!fixture.drive.status().is_motor_on() && !fixture.drive.status().has_failed());
    assert!(!fixture.drive.is_moving());
}

#[test]
fn a_storm_of_emergencies_has_its_rate() {
    let mut fixture = Fixture::set_up();
    fixture.drive.inject(fixture.now, Fault::EmergencyStorm { per_second: 10_000 });
    fixture.run_for(ms(1000));
    let count = fixture.take_emergencies().len();
    assert!((9_980..=10_000).contains(&count), "{count}");
    assert_eq!(fixture.get(Command::POSITION), Ok(0));
}

#[test]
fn accesses_are_refused_or_ignored_on_demand() {
    let mut fixture = Fixture::set_up();
    fixture.drive.inject(fixture.now, Fault::SdoAbort(0x1017));
    assert_eq!(code(fixture.write(objects::HEARTBEAT_PRODUCER, Value::Unsigned16(1))), 0x0800_0000);
    assert_eq!(fixture.write(objects::ABORT_CONNECTION, Value::Integer16(1)), Ok(()));
    fixture.drive.inject(fixture.now, Fault::IgnoreSdo);
    let unanswered = fixture.write(objects::ABORT_CONNECTION, Value::Integer16(1));
    assert!(matches!(unanswered, Err(TransferError::TimedOut { .. })), "{unanswered:?}");
}
