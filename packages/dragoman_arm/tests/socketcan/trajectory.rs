//! Set-points and positions, as candump and the drives report them.

use std::f64::consts::TAU;
use std::time::{Duration, Instant};

use dragoman_arm::canopen::Service;
use dragoman_arm::driver::trajectory::{Point, Tolerance, Tolerances, Trajectory};
use dragoman_arm::driver::{End, Event, GroupConfig, GroupState};
use dragoman_io::can::Frame;
use dragoman_io::can::candump::Content;
use dragoman_sim::whistle::Whistle;

use crate::arm::{Arm, COUNTS_PER_REVOLUTION, six};
use crate::recorder::Candump;
use crate::support::{TIMEOUT, Vcan, alone};
use crate::test_name;

const POINTS: usize = 10_000;

/// Offset of joint `joint` from its start at a point, rad.
fn way(joint: usize, point: usize) -> f64 {
    let phase = 0.004 * point as f64 * (1.0 + 0.1 * joint as f64);
    0.3 * (1.0 - phase.cos())
}

/// The same in counts of the joint's encoder.
fn counts(joint: usize, point: usize) -> f64 {
    way(joint, point) * COUNTS_PER_REVOLUTION[joint] / TAU
}

#[test]
fn ten_thousand_points_come_out_at_the_drives_within_a_count() {
    let test = test_name!();
    let _alone = alone();
    let Some(vcan) = Vcan::new(test, "vcan_ten") else { return };
    let Some(candump) = Candump::start(test, &vcan) else { return };
    // The period of set-points is 3.96 ms.
    let mut arm = Arm::start(GroupConfig { sample_ratio: 11, ..six() }, vcan.bus(), vcan.bus());
    arm.enable();
    arm.simulated.rack.drives().iter_mut().for_each(Whistle::record);

    let (start, cycle) = (arm.positions(), arm.drives.with(|_, group| group.config().cycle()));
    let point = |index: usize| Point {
        time: cycle.as_secs_f64() * index as f64,
        position: start.iter().enumerate().map(|(joint, start)| start + way(joint, index)).collect(),
        ..Point::default()
    };
    let trajectory = Trajectory::new((1..=POINTS).map(point).collect(), &start, &[0.9; 6]).unwrap();
    let at_goal = Tolerance { position: Some(1e-4), velocity: None };
    let tolerances = Tolerances { path: Vec::new(), goal: vec![at_goal; 6], goal_time: 5.0 };
    let id = arm.drives.with(|_, group| group.follow_trajectory(trajectory, tolerances)).unwrap();
    let ended = |event: &Event| matches!(event, Event::Trajectory { .. });
    let began = Instant::now();
    while !arm.events.iter().any(ended) {
        assert!(began.elapsed() < cycle * POINTS as u32 + TIMEOUT, "{:?}", arm.events);
        std::thread::sleep(Duration::from_millis(100));
        arm.take_events();
    }
    assert!(arm.events.contains(&Event::Trajectory { id, end: End::Reached }), "{:?}", arm.events);
    assert_eq!(arm.state(), GroupState::Enabled);
    let interrupted = |event: &Event| matches!(event, Event::Interrupted(_) | Event::Fault(_));
    assert!(!arm.events.iter().any(interrupted), "{:?}", arm.events);
    arm.drives.with(|now, group| group.disable(now));
    arm.until_state(GroupState::Disabled);

    let content = candump.stop().into_iter().filter_map(|line| match line.content {
        Content::Frame(frame) => Some(frame),
        _ => None,
    });
    let frames: Vec<Frame> = content.collect();
    let emergencies: Vec<&Frame> =
        frames.iter().filter(|frame| matches!(service(frame), Some(Service::Emergency(_)))).collect();
    assert!(emergencies.is_empty(), "no queue low, empty or full: {emergencies:?}");
    for (joint, drive) in arm.simulated.rack.drives().iter().enumerate() {
        let sent: Vec<i32> = frames
            .iter()
            .filter(|frame| service(frame) == Some(Service::Rpdo(3, drive.node())))
            .flat_map(|frame| {
                let rows: &[u8; 8] = frame.data().try_into().unwrap();
                let [a, b, c, d, e, f, g, h] = *rows;
                [[a, b, c, d], [e, f, g, h]].map(i32::from_le_bytes)
            })
            .collect();
        compare("sent, as candump saw it", joint, &sent);
        let reached: Vec<i32> = drive.reached().iter().map(|(_, row)| *row).collect();
        compare("reached by the drive", joint, &reached);
        let times = drive.reached().windows(2);
        assert!(
            times.map(|pair| pair[1].0 - pair[0].0).all(|pause| pause == cycle),
            "the drive's rows come at the cycle's pace"
        );
    }
}

fn service(frame: &Frame) -> Option<Service> {
    frame.standard_id().and_then(Service::of)
}

/// Fractions of a row by which the driver changes the spacing of rows while a drive's queue is too short or too long
/// (`dragoman_arm/src/driver/queue.rs`), which happens on a machine with pauses.
const PARTS: usize = 64;

/// Compares rows with the straight lines between points: the first row that moves is near the start, and each is 1 row
/// later than the one before, or a fraction more or less.
fn compare(what: &str, joint: usize, rows: &[i32]) {
    let path = |at: usize| {
        let (point, part) = ((at / PARTS).min(POINTS), at % PARTS);
        let (from, to) = (counts(joint, point), counts(joint, (point + 1).min(POINTS)));
        from + (to - from) * part as f64 / PARTS as f64
    };
    let first = rows.iter().position(|row| *row != rows[0]).unwrap();
    // Possible positions of the previous row.
    let mut at: Vec<usize> = (0..10 * PARTS).collect();
    for (index, row) in rows.iter().enumerate().skip(first) {
        let mut next: Vec<usize> = at.iter().flat_map(|at| at + PARTS - 1..=at + PARTS + 1).collect();
        next.sort_unstable();
        next.dedup();
        let errors = next.iter().map(|at| f64::from(*row) - path(*at));
        let error =
            errors.fold(f64::INFINITY, |least, error| if error.abs() < least.abs() { error } else { least });
        assert!(error.abs() <= 1.0, "{what}, joint {joint}, row {index} at {next:?}: off by {error}");
        next.retain(|at| (f64::from(*row) - path(*at)).abs() <= 1.0);
        at = next;
    }
    assert!(at.iter().any(|at| *at >= POINTS * PARTS), "{what}, joint {joint}: not to its end");
}
