//! PT motion: rows on time, the queue, refusals and failures.

use dragoman_arm::simpliq::{POSITION_LOOP, commands::error, emergencies::code};

use super::*;

/// A running motion: rows of 100 counts each, `rows` of them queued.
fn begun(rows: i32, queue: u16, low_mark: i32) -> Fixture {
    let mut fixture = Fixture::enabled();
    fixture.set_queue(queue, 11, low_mark);
    for pair in 0..rows / 2 {
        fixture.put(200 * pair, 200 * pair + 100);
    }
    assert_eq!(fixture.set(Command::PT, 1), Ok(1));
    fixture.drive.record();
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    assert_eq!(fixture.take_emergencies(), []);
    fixture
}

fn period() -> Duration {
    POSITION_LOOP * 11
}

#[test]
fn every_row_is_reached_at_its_time_with_its_value() {
    let mut fixture = begun(20, 64, 0);
    fixture.run_for(period() * 25);
    let reached = fixture.drive.reached().to_vec();
    assert_eq!(reached.len(), 20);
    let start = reached[0].0;
    for (row, (at, position)) in (0_u16..).zip(&reached) {
        assert_eq!((*at, *position), (start + period() * u32::from(row), 100 * i32::from(row)));
    }
    // In the next position loop after the command.
    assert!(start <= fixture.now && start.as_nanos().is_multiple_of(POSITION_LOOP.as_nanos()));
}

#[test]
fn the_way_between_rows_is_smooth() {
    let mut fixture = begun(20, 64, 0);
    let (mut before, mut velocity) = (fixture.counts(), fixture.drive.velocity());
    for _ in 0..11 * 22 {
        fixture.run_for(POSITION_LOOP);
        assert!(fixture.counts() >= before - 1e-9, "backwards at {:?}", fixture.now);
        assert!((fixture.drive.velocity() - velocity).abs() < 12_000.0, "a kink at {:?}", fixture.now);
        (before, velocity) = (fixture.counts(), fixture.drive.velocity());
    }
    assert_eq!(fixture.counts(), 1900.0);
}

#[test]
fn a_queue_that_runs_low_is_reported_once_and_an_empty_one_ends_at_the_last_row() {
    let mut fixture = begun(10, 64, 3);
    fixture.run_for(period() * 12);
    let emergencies = fixture.take_emergencies();
    let codes: Vec<_> = emergencies.iter().map(|(_, e)| e.maker[0]).collect();
    assert_eq!(codes, [code::QUEUE_LOW, code::TERMINATED]);
    // Row 7 was reached, and three more are queued; 11 is written next.
    assert_eq!(emergencies[0].1.maker, [code::QUEUE_LOW, 11, 0, 7, 0]);
    let reached = fixture.drive.reached().to_vec();
    assert_eq!(emergencies[0].0, reached[6].0);
    assert_eq!(emergencies[1].0, reached[9].0);
    assert_eq!((fixture.counts(), fixture.drive.velocity()), (900.0, 0.0));
    assert!(fixture.drive.status().is_motor_on() && !fixture.drive.status().has_failed());
    fixture.run_for(ms(100));
    assert_eq!(fixture.counts(), 900.0);
}

#[test]
fn a_queue_that_is_fed_goes_round_and_warns_again_only_after_it_was_filled() {
    let mut fixture = begun(4, 8, 4);
    let mut next = 400;
    for _ in 0..40 {
        fixture.put(next, next + 100);
        next += 200;
        fixture.run_for(period() * 2);
    }
    // At every other row the queue falls from five to four.
    let emergencies = fixture.take_emergencies();
    assert!(emergencies.iter().all(|(_, e)| e.maker[0] == code::QUEUE_LOW), "{emergencies:?}");
    assert!((30..=41).contains(&emergencies.len()), "{}", emergencies.len());
    let reached = fixture.drive.reached().to_vec();
    assert!(reached.len() > 78);
    assert!((0..).zip(&reached).all(|(row, (_, position))| *position == 100 * row));
    let row = fixture.get(Command::PT);
    assert_eq!(row, Ok(((fixture.drive.reached().len() - 1) % 8 + 1) as i32));
}

#[test]
fn a_full_queue_refuses_and_keeps_what_it_has() {
    let mut fixture = begun(8, 8, 0);
    fixture.put(5_000_000, 5_000_000);
    let emergencies = fixture.take_emergencies();
    assert_eq!(emergencies[0].1.maker, [code::QUEUE_FULL, 1, 0, 1, 0]);
    fixture.run_for(period() * 9);
    assert_eq!(fixture.counts(), 700.0);
}

#[test]
fn a_full_queue_refuses_before_the_motion_as_well() {
    let mut fixture = Fixture::enabled();
    fixture.set_queue(6, 11, 0);
    (0..3).for_each(|_| fixture.put(0, 0));
    assert_eq!(fixture.take_emergencies(), []);
    fixture.put(9, 9);
    assert_eq!(fixture.take_emergencies()[0].1.maker[0], code::QUEUE_FULL);
    assert_eq!(fixture.get(Command::QUEUE.at(1)), Ok(0));
}

#[test]
fn rows_written_one_by_one_count_up_to_the_row_to_write() {
    let mut fixture = Fixture::enabled();
    fixture.set_queue(16, 5, 0);
    for row in 1..=5 {
        assert_eq!(
            fixture.set(Command::QUEUE.at(row), i32::from(row) * 10 - 10),
            Ok(i32::from(row) * 10 - 10)
        );
    }
    assert_eq!(fixture.set(Command::PT, 1), Ok(1));
    assert_eq!(fixture.get(Command::BEGIN), Err(error::BAD_INITIAL_DATA), "nothing is queued");
    assert_eq!(fixture.set(Command::MOTION.at(mp::WRITE_ROW), 6), Ok(6));
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    fixture.run_for(POSITION_LOOP * 30);
    assert_eq!(fixture.counts(), 40.0);
    assert_eq!(fixture.take_emergencies().remove(0).1.maker, [code::TERMINATED, 6, 0, 5, 0]);
}

/// As ElmoArm2 starts its drives (Ranger thesis, `updateHook`): six rows by `QP`, and `MP[6]` stays 1.
#[test]
fn the_queue_of_the_thesis_repeats_six_rows_endlessly() {
    let mut fixture = Fixture::enabled();
    fixture.set_queue(6, 54, 1);
    for row in 1..=6 {
        assert_eq!(fixture.set(Command::new(b"QT").at(row), 19), Ok(19));
        assert_eq!(fixture.set(Command::QUEUE.at(row), 0), Ok(0));
    }
    assert_eq!(fixture.set(Command::PT, 1), Ok(1));
    fixture.drive.record();
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    fixture.run_for(POSITION_LOOP * 54 * 7);
    assert_eq!(fixture.get(Command::PT), Ok(2));
    assert_eq!(fixture.set(Command::QUEUE.at(6), 300), Ok(300));
    fixture.run_for(POSITION_LOOP * 54 * 4);
    assert_eq!(fixture.drive.reached().last().map(|(_, position)| *position), Some(300));
    assert_eq!(fixture.take_emergencies(), []);
    assert_eq!(fixture.get(Command::STOP), Ok(0));
}

#[test]
fn a_bad_set_up_does_not_begin() {
    let mut fixture = Fixture::enabled();
    fixture.set_queue(8, 11, 0);
    assert_eq!(fixture.set(Command::PT, 9), Err(error::OUT_OF_RANGE));
    assert_eq!(fixture.set(Command::PT, 1), Ok(1));
    assert_eq!(fixture.get(Command::BEGIN), Err(error::BAD_INITIAL_DATA), "nothing is queued");
    fixture.put(0, 0);
    assert_eq!(fixture.set(Command::MOTION.at(mp::FIRST_ROW), 8), Ok(8));
    assert_eq!(fixture.get(Command::BEGIN), Err(error::BAD_INITIAL_DATA), "one row is no queue");
    assert_eq!(fixture.set(Command::MOTION.at(mp::WRITE_ROW), 9), Ok(9));
    fixture.put(0, 0);
    assert_eq!(fixture.take_emergencies()[0].1.maker[0], code::BAD_HEAD);
    assert!(!fixture.drive.is_moving());
}

#[test]
fn a_start_far_from_the_shaft_fails_without_a_movement() {
    let mut fixture = Fixture::enabled();
    fixture.set_queue(8, 11, 0);
    fixture.put(201, 201);
    assert_eq!(fixture.set(Command::PT, 1), Ok(1));
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    assert_eq!(fixture.take_emergencies()[0].1.code, 0x8611);
    assert!(!fixture.drive.status().is_motor_on() && fixture.drive.status().has_failed());
    assert_eq!(fixture.get(Command::MOTOR_FAILURE), Ok(super::super::drive::failure::POSITION_TRACKING));
    fixture.run_for(ms(100));
    assert_eq!(fixture.counts(), 0.0);
    // Switching on clears the failure.
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    assert!(!fixture.drive.status().has_failed());
}

#[test]
fn a_row_that_is_too_far_away_is_a_tracking_error() {
    let mut fixture = begun(4, 64, 0);
    // 3.96 ms to the next row, 500,000 counts/s: 1980 counts.
    fixture.put(5_000, 5_000);
    fixture.run_for(period() * 8);
    assert_eq!(fixture.take_emergencies()[0].1.code, 0x8611);
    assert!(!fixture.drive.status().is_motor_on());
    assert!(fixture.counts() < 1000.0 && !fixture.drive.is_moving(), "{}", fixture.counts());
}

#[test]
fn a_stop_ends_the_motion_within_its_deceleration() {
    let mut fixture = begun(40, 64, 0);
    fixture.run_for(period() * 5);
    assert_eq!(fixture.get(Command::STOP), Ok(0));
    let (at, velocity) = (fixture.counts(), fixture.drive.velocity());
    fixture.run_for(ms(20));
    assert!(!fixture.drive.is_moving());
    let way = fixture.counts() - at;
    assert!((0.0..=velocity * velocity / 4e6 + 30.0).contains(&way), "{way}");
    assert_eq!(fixture.take_emergencies(), []);
    fixture.run_for(ms(200));
    assert_eq!(fixture.counts(), at + way);
}

#[test]
fn positions_go_on_across_the_wrap_of_the_counter() {
    let mut fixture = Fixture::set_up();
    assert_eq!(fixture.set(Command::POSITION, i32::MAX - 50), Ok(i32::MAX - 50));
    assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
    fixture.set_queue(16, 11, 0);
    for row in 0..4 {
        let at = |row: i32| (i32::MAX - 50).wrapping_add(100 * row);
        fixture.put(at(2 * row), at(2 * row + 1));
    }
    assert_eq!(fixture.set(Command::PT, 1), Ok(1));
    assert_eq!(fixture.get(Command::BEGIN), Ok(0));
    fixture.run_for(period() * 9);
    assert_eq!(fixture.drive.shaft_counts(), 700.0);
    assert_eq!(fixture.get(Command::POSITION), Ok((i32::MAX - 50).wrapping_add(700)));
}

#[test]
fn a_group_begins_in_the_same_position_loop_after_one_sync() {
    let mut drives = [Fixture::enabled(), Fixture::enabled()];
    let mut starts = Vec::new();
    let end = drives[0].now + ms(20);
    for fixture in &mut drives {
        fixture.set_queue(8, 11, 0);
        fixture.put(0, 0);
        assert_eq!(fixture.set(Command::PT, 1), Ok(1));
        fixture.drive.record();
        let (bytes, length) = DriveRequest::Get(Command::BEGIN).encode();
        fixture.send(Service::Rpdo(1, node()), &bytes[..length]);
        fixture.run_until(end);
        assert_eq!(fixture.drive.reached(), [], "it waits for the SYNC");
        fixture.sync();
        fixture.run_for(ms(2));
        assert_eq!(fixture.take(Service::Tpdo(2, node())).last().unwrap().1, *b"BG\0\0\0\0\0\0");
        starts.push(fixture.drive.reached()[0].0);
    }
    assert_eq!(starts[0], starts[1]);
}
