//! PT motion: rows on time, the queue, refusals and failures.

use dragoman_arm::simpliq::{POSITION_LOOP, commands::error, emergencies::code};

use super::*;

/// A running motion: rows of 100 counts each, `rows` of them queued.
fn begun(rows: i32, queue: u16, low_mark: i32) -> Bench {
    let mut bench = Bench::enabled();
    bench.set_queue(queue, 11, low_mark);
    for pair in 0..rows / 2 {
        bench.put(200 * pair, 200 * pair + 100);
    }
    assert_eq!(bench.set(Command::PT, 1), Ok(1));
    bench.drive.record();
    assert_eq!(bench.get(Command::BEGIN), Ok(0));
    assert_eq!(bench.take_emergencies(), []);
    bench
}

fn period() -> Duration {
    POSITION_LOOP * 11
}

#[test]
fn every_row_is_reached_at_its_time_with_its_value() {
    let mut bench = begun(20, 64, 0);
    bench.run_for(period() * 25);
    let reached = bench.drive.reached().to_vec();
    assert_eq!(reached.len(), 20);
    let start = reached[0].0;
    for (row, (at, position)) in (0_u16..).zip(&reached) {
        assert_eq!((*at, *position), (start + period() * u32::from(row), 100 * i32::from(row)));
    }
    // In the next position loop after the command.
    assert!(start <= bench.now && start.as_nanos().is_multiple_of(POSITION_LOOP.as_nanos()));
}

#[test]
fn the_way_between_rows_is_smooth() {
    let mut bench = begun(20, 64, 0);
    let (mut before, mut velocity) = (bench.counts(), bench.drive.velocity());
    for _ in 0..11 * 22 {
        bench.run_for(POSITION_LOOP);
        assert!(bench.counts() >= before - 1e-9, "backwards at {:?}", bench.now);
        assert!((bench.drive.velocity() - velocity).abs() < 12_000.0, "a kink at {:?}", bench.now);
        (before, velocity) = (bench.counts(), bench.drive.velocity());
    }
    assert_eq!(bench.counts(), 1900.0);
}

#[test]
fn a_queue_that_runs_low_is_reported_once_and_an_empty_one_ends_at_the_last_row() {
    let mut bench = begun(10, 64, 3);
    bench.run_for(period() * 12);
    let emergencies = bench.take_emergencies();
    let codes: Vec<_> = emergencies.iter().map(|(_, e)| e.maker[0]).collect();
    assert_eq!(codes, [code::QUEUE_LOW, code::TERMINATED]);
    // Row 7 was reached, and three more are queued; 11 is written next.
    assert_eq!(emergencies[0].1.maker, [code::QUEUE_LOW, 11, 0, 7, 0]);
    let reached = bench.drive.reached().to_vec();
    assert_eq!(emergencies[0].0, reached[6].0);
    assert_eq!(emergencies[1].0, reached[9].0);
    assert_eq!((bench.counts(), bench.drive.velocity()), (900.0, 0.0));
    assert!(bench.drive.status().is_motor_on() && !bench.drive.status().has_failed());
    bench.run_for(ms(100));
    assert_eq!(bench.counts(), 900.0);
}

#[test]
fn a_queue_that_is_fed_goes_round_and_warns_again_only_after_it_was_filled() {
    let mut bench = begun(4, 8, 4);
    let mut next = 400;
    for _ in 0..40 {
        bench.put(next, next + 100);
        next += 200;
        bench.run_for(period() * 2);
    }
    // At every other row the queue falls from five to four.
    let emergencies = bench.take_emergencies();
    assert!(emergencies.iter().all(|(_, e)| e.maker[0] == code::QUEUE_LOW), "{emergencies:?}");
    assert!((30..=41).contains(&emergencies.len()), "{}", emergencies.len());
    let reached = bench.drive.reached().to_vec();
    assert!(reached.len() > 78);
    assert!((0..).zip(&reached).all(|(row, (_, position))| *position == 100 * row));
    let row = bench.get(Command::PT);
    assert_eq!(row, Ok(((bench.drive.reached().len() - 1) % 8 + 1) as i32));
}

#[test]
fn a_full_queue_refuses_and_keeps_what_it_has() {
    let mut bench = begun(8, 8, 0);
    bench.put(5_000_000, 5_000_000);
    let emergencies = bench.take_emergencies();
    assert_eq!(emergencies[0].1.maker, [code::QUEUE_FULL, 1, 0, 1, 0]);
    bench.run_for(period() * 9);
    assert_eq!(bench.counts(), 700.0);
}

#[test]
fn a_full_queue_refuses_before_the_motion_as_well() {
    let mut bench = Bench::enabled();
    bench.set_queue(6, 11, 0);
    (0..3).for_each(|_| bench.put(0, 0));
    assert_eq!(bench.take_emergencies(), []);
    bench.put(9, 9);
    assert_eq!(bench.take_emergencies()[0].1.maker[0], code::QUEUE_FULL);
    assert_eq!(bench.get(Command::QUEUE.at(1)), Ok(0));
}

#[test]
fn rows_written_one_by_one_count_up_to_the_row_to_write() {
    let mut bench = Bench::enabled();
    bench.set_queue(16, 5, 0);
    for row in 1..=5 {
        assert_eq!(bench.set(Command::QUEUE.at(row), i32::from(row) * 10 - 10), Ok(i32::from(row) * 10 - 10));
    }
    assert_eq!(bench.set(Command::PT, 1), Ok(1));
    assert_eq!(bench.get(Command::BEGIN), Err(error::BAD_INITIAL_DATA), "nothing is queued");
    assert_eq!(bench.set(Command::MOTION.at(mp::WRITE_ROW), 6), Ok(6));
    assert_eq!(bench.get(Command::BEGIN), Ok(0));
    bench.run_for(POSITION_LOOP * 30);
    assert_eq!(bench.counts(), 40.0);
    assert_eq!(bench.take_emergencies().remove(0).1.maker, [code::TERMINATED, 6, 0, 5, 0]);
}

/// As ElmoArm2 starts its drives (Ranger thesis, `updateHook`): six rows by `QP`, and `MP[6]` stays 1.
#[test]
fn the_queue_of_the_thesis_repeats_six_rows_endlessly() {
    let mut bench = Bench::enabled();
    bench.set_queue(6, 54, 1);
    for row in 1..=6 {
        assert_eq!(bench.set(Command::new(b"QT").at(row), 19), Ok(19));
        assert_eq!(bench.set(Command::QUEUE.at(row), 0), Ok(0));
    }
    assert_eq!(bench.set(Command::PT, 1), Ok(1));
    bench.drive.record();
    assert_eq!(bench.get(Command::BEGIN), Ok(0));
    bench.run_for(POSITION_LOOP * 54 * 7);
    assert_eq!(bench.get(Command::PT), Ok(2));
    assert_eq!(bench.set(Command::QUEUE.at(6), 300), Ok(300));
    bench.run_for(POSITION_LOOP * 54 * 4);
    assert_eq!(bench.drive.reached().last().map(|(_, position)| *position), Some(300));
    assert_eq!(bench.take_emergencies(), []);
    assert_eq!(bench.get(Command::STOP), Ok(0));
}

#[test]
fn a_bad_set_up_does_not_begin() {
    let mut bench = Bench::enabled();
    bench.set_queue(8, 11, 0);
    assert_eq!(bench.set(Command::PT, 9), Err(error::OUT_OF_RANGE));
    assert_eq!(bench.set(Command::PT, 1), Ok(1));
    assert_eq!(bench.get(Command::BEGIN), Err(error::BAD_INITIAL_DATA), "nothing is queued");
    bench.put(0, 0);
    assert_eq!(bench.set(Command::MOTION.at(mp::FIRST_ROW), 8), Ok(8));
    assert_eq!(bench.get(Command::BEGIN), Err(error::BAD_INITIAL_DATA), "one row is no queue");
    assert_eq!(bench.set(Command::MOTION.at(mp::WRITE_ROW), 9), Ok(9));
    bench.put(0, 0);
    assert_eq!(bench.take_emergencies()[0].1.maker[0], code::BAD_HEAD);
    assert!(!bench.drive.is_moving());
}

#[test]
fn a_start_far_from_the_shaft_fails_without_a_movement() {
    let mut bench = Bench::enabled();
    bench.set_queue(8, 11, 0);
    bench.put(201, 201);
    assert_eq!(bench.set(Command::PT, 1), Ok(1));
    assert_eq!(bench.get(Command::BEGIN), Ok(0));
    assert_eq!(bench.take_emergencies()[0].1.code, 0x8611);
    assert!(!bench.drive.status().is_motor_on() && bench.drive.status().has_failed());
    assert_eq!(bench.get(Command::MOTOR_FAILURE), Ok(super::super::drive::failure::POSITION_TRACKING));
    bench.run_for(ms(100));
    assert_eq!(bench.counts(), 0.0);
    // Switching on clears the failure.
    assert_eq!(bench.set(Command::MOTOR, 1), Ok(1));
    assert!(!bench.drive.status().has_failed());
}

#[test]
fn a_row_that_is_too_far_away_is_a_tracking_error() {
    let mut bench = begun(4, 64, 0);
    // 3.96 ms to the next row, 500,000 counts/s: 1980 counts.
    bench.put(5_000, 5_000);
    bench.run_for(period() * 8);
    assert_eq!(bench.take_emergencies()[0].1.code, 0x8611);
    assert!(!bench.drive.status().is_motor_on());
    assert!(bench.counts() < 1000.0 && !bench.drive.is_moving(), "{}", bench.counts());
}

#[test]
fn a_stop_ends_the_motion_within_its_deceleration() {
    let mut bench = begun(40, 64, 0);
    bench.run_for(period() * 5);
    assert_eq!(bench.get(Command::STOP), Ok(0));
    let (at, velocity) = (bench.counts(), bench.drive.velocity());
    bench.run_for(ms(20));
    assert!(!bench.drive.is_moving());
    let way = bench.counts() - at;
    assert!((0.0..=velocity * velocity / 4e6 + 30.0).contains(&way), "{way}");
    assert_eq!(bench.take_emergencies(), []);
    bench.run_for(ms(200));
    assert_eq!(bench.counts(), at + way);
}

#[test]
fn positions_go_on_across_the_wrap_of_the_counter() {
    let mut bench = Bench::set_up();
    assert_eq!(bench.set(Command::POSITION, i32::MAX - 50), Ok(i32::MAX - 50));
    assert_eq!(bench.set(Command::MOTOR, 1), Ok(1));
    bench.set_queue(16, 11, 0);
    for row in 0..4 {
        let at = |row: i32| (i32::MAX - 50).wrapping_add(100 * row);
        bench.put(at(2 * row), at(2 * row + 1));
    }
    assert_eq!(bench.set(Command::PT, 1), Ok(1));
    assert_eq!(bench.get(Command::BEGIN), Ok(0));
    bench.run_for(period() * 9);
    assert_eq!(bench.drive.shaft_counts(), 700.0);
    assert_eq!(bench.get(Command::POSITION), Ok((i32::MAX - 50).wrapping_add(700)));
}

#[test]
fn a_group_begins_in_the_same_position_loop_after_one_sync() {
    let mut drives = [Bench::enabled(), Bench::enabled()];
    let mut starts = Vec::new();
    let end = drives[0].now + ms(20);
    for bench in &mut drives {
        bench.set_queue(8, 11, 0);
        bench.put(0, 0);
        assert_eq!(bench.set(Command::PT, 1), Ok(1));
        bench.drive.record();
        let (bytes, length) = Request::Get(Command::BEGIN).encode();
        bench.send(Service::Rpdo(1, node()), &bytes[..length]);
        bench.run_until(end);
        assert_eq!(bench.drive.reached(), [], "it waits for the SYNC");
        bench.sync();
        bench.run_for(ms(2));
        assert_eq!(bench.take(Service::Tpdo(2, node())).last().unwrap().1, *b"BG\0\0\0\0\0\0");
        starts.push(bench.drive.reached()[0].0);
    }
    assert_eq!(starts[0], starts[1]);
}
