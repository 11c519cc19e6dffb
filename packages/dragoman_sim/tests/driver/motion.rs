//! Start-up, motion and stop without faults.

use std::time::Duration;

use dragoman_arm::driver::trajectory::{Point, Tolerance, Tolerances, Trajectory};
use dragoman_arm::driver::{AxisConfig, ControlMode, End, Event, GroupConfig, GroupState};

use super::lab::{COUNTS_PER_REVOLUTION, Lab, six};

#[test]
fn the_drives_are_set_up_and_stay_off_until_they_are_enabled() {
    let mut lab = Lab::new(six());
    assert_eq!(lab.group.state(), GroupState::Unconfigured);
    lab.until(GroupState::Disabled, 2.0);
    assert!(lab.drives.iter().all(|drive| !drive.status().is_motor_on()));
    let home = std::f64::consts::FRAC_PI_2;
    assert_eq!(lab.positions(), [home, 0.0, home, 0.0, home, 0.0]);
    assert!(lab.group.temperatures().all(|temperature| temperature > 0.0));
    lab.group.enable().unwrap();
    lab.until(GroupState::Enabled, 1.0);
    lab.run(3.0);
    assert_eq!(lab.group.state(), GroupState::Enabled, "{:?}", lab.events);
    assert!(lab.drives.iter().all(|drive| drive.status().is_motor_on()));
    assert_eq!(lab.positions(), [home, 0.0, home, 0.0, home, 0.0]);
    assert!(lab.group.emergencies().records().is_empty(), "{:?}", lab.group.emergencies());
}

#[test]
fn commands_are_followed_and_reached() {
    let mut lab = Lab::enabled(six());
    let target = [1.0, 0.2, 1.2, -0.3, 1.9, 0.4];
    lab.group.command(lab.now, None, &target).unwrap();
    lab.run(2.0);
    for (position, target) in lab.positions().iter().zip(target) {
        assert!((position - target).abs() < 1e-4, "{position} {target}");
    }
    lab.group.disable(lab.now);
    lab.until(GroupState::Disabled, 1.0);
    assert!(lab.drives.iter().all(|drive| !drive.status().is_motor_on()));
}

#[test]
fn halt_brings_the_joints_to_rest_and_they_hold() {
    let mut lab = Lab::enabled(six());
    let start = lab.positions();
    lab.group
        .command(lab.now, None, &start.iter().map(|position| position + 1.0).collect::<Vec<_>>())
        .unwrap();
    lab.run(0.5);
    assert!(lab.is_moving());
    lab.group.halt();
    lab.run(0.5);
    assert!(!lab.is_moving());
    let stopped = lab.positions();
    assert!(stopped[0] - start[0] > 0.1 && stopped[0] - start[0] < 0.8, "{stopped:?}");
    lab.run(0.5);
    assert_eq!(lab.positions(), stopped);
    assert_eq!(lab.group.state(), GroupState::Enabled);
}

#[test]
fn a_relaxed_joint_has_no_power_until_its_next_command_without_effect_on_others() {
    let mut lab = Lab::enabled(six());
    let start = lab.positions();
    lab.group.relax(2).unwrap();
    lab.group
        .command(lab.now, None, &start.iter().map(|position| position + 0.2).collect::<Vec<_>>())
        .unwrap();
    lab.run(1.0);
    assert!(!lab.drives[2].status().is_motor_on());
    let moved: Vec<f64> = lab.positions().iter().zip(&start).map(|(after, before)| after - before).collect();
    assert!(moved[2].abs() < 1e-9, "{moved:?}");
    assert!(moved.iter().enumerate().all(|(joint, way)| joint == 2 || (way - 0.2).abs() < 1e-4), "{moved:?}");
    assert_eq!(lab.group.state(), GroupState::Enabled, "{:?}", lab.events);

    lab.group.command_joint(lab.now, 2, start[2] - 0.1).unwrap();
    lab.run(1.5);
    assert!(lab.drives[2].status().is_motor_on());
    assert!((lab.positions()[2] - start[2] + 0.1).abs() < 1e-4, "{:?}", lab.positions());
    assert!((lab.positions()[0] - start[0] - 0.2).abs() < 1e-4);
    assert_eq!(lab.group.state(), GroupState::Enabled, "{:?}", lab.events);

    // Before it has been switched off.
    lab.group.relax(2).unwrap();
    lab.group.command_joint(lab.now, 2, start[2]).unwrap();
    lab.run(1.5);
    assert!((lab.positions()[2] - start[2]).abs() < 1e-4, "{:?}", lab.positions());
    assert_eq!(lab.group.state(), GroupState::Enabled, "{:?}", lab.events);
}

/// Position of joint `joint` at point `index` of 10,000.
fn path(joint: usize, index: usize, start: f64) -> f64 {
    let phase = 0.004 * index as f64 * (1.0 + 0.1 * joint as f64);
    start + 0.3 * (1.0 - phase.cos())
}

#[test]
fn ten_thousand_points_come_out_within_a_count() {
    let mut lab = Lab::enabled(six());
    lab.drives.iter_mut().for_each(dragoman_sim::whistle::Whistle::record);
    let (start, cycle) = (lab.positions(), lab.group.config().cycle());
    let points: Vec<Point> = (1..=10_000)
        .map(|index| Point {
            time: cycle.as_secs_f64() * index as f64,
            position: start.iter().enumerate().map(|(joint, start)| path(joint, index, *start)).collect(),
            ..Point::default()
        })
        .collect();
    let trajectory = Trajectory::new(points, &start, &[0.9; 6]).unwrap();
    let tolerances = Tolerances {
        path: vec![Tolerance { position: Some(0.01), velocity: None }; 6],
        goal: vec![Tolerance { position: Some(1e-4), velocity: None }; 6],
        goal_time: 0.5,
    };
    let id = lab.group.follow_trajectory(trajectory, tolerances).unwrap();
    lab.run(cycle.as_secs_f64() * 10_050.0);
    assert!(lab.events.contains(&Event::Trajectory { id, end: End::Reached }), "{:?}", lab.events);
    assert!(lab.group.emergencies().records().is_empty(), "{:?}", lab.group.emergencies());
    for (joint, drive) in lab.drives.iter().enumerate() {
        let counts = |index: usize| {
            (path(joint, index, start[joint]) - start[joint]) * COUNTS_PER_REVOLUTION[joint]
                / std::f64::consts::TAU
        };
        // The rows that were executed, from the first that moves on.
        let rows: Vec<i32> = drive.reached().iter().map(|(_, row)| *row).collect();
        let first = rows.iter().position(|row| *row != rows[0]).unwrap();
        let moved = (1..).find(|index| counts(*index).round() != 0.0).unwrap();
        let offset = first - moved;
        for index in moved..=10_000 {
            let error = f64::from(rows[offset + index]) - counts(index);
            assert!(error.abs() <= 1.0, "joint {joint}, point {index}: {error}");
        }
        let times: Vec<Duration> = drive.reached().iter().map(|(time, _)| *time).collect();
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == cycle), "rows come at the cycle's pace");
    }
}

#[test]
fn velocities_are_followed_and_expire() {
    let config = GroupConfig { mode: ControlMode::Velocity, sample_ratio: 28, ..six() };
    let mut lab = Lab::enabled(config);
    let start = lab.positions();
    assert!(lab.group.command(lab.now, None, &start).is_err(), "positions are for the other mode");
    assert!(lab.group.command_rates(lab.now, ControlMode::Velocity, &[5.0; 6]).is_err(), "too fast");
    for _ in 0..100 {
        lab.group.command_rates(lab.now, ControlMode::Velocity, &[0.1, -0.1, 0.2, 0.0, 0.1, -0.2]).unwrap();
        lab.run(0.01);
    }
    let way: Vec<f64> = lab.positions().iter().zip(&start).map(|(after, before)| after - before).collect();
    for (way, expected) in way.iter().zip([0.1, -0.1, 0.2, 0.0, 0.1, -0.2]) {
        assert!((way - expected).abs() < 0.01, "{way} {expected}");
    }
    // No further commands.
    lab.run(0.5);
    assert!(!lab.is_moving());
    assert_eq!(lab.group.state(), GroupState::Enabled, "{:?} {:?}", lab.group.fault(), lab.events);
}

#[test]
fn currents_move_the_joints_and_expire() {
    let config = GroupConfig { mode: ControlMode::Torque, sample_ratio: 28, ..six() };
    let mut lab = Lab::enabled(config);
    let start = lab.positions();
    for _ in 0..30 {
        lab.group.command_rates(lab.now, ControlMode::Torque, &[0.5, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        lab.run(0.01);
    }
    let after = lab.positions();
    assert!(after[0] > start[0] && after[1..] == start[1..], "{start:?} {after:?}");
    assert_eq!(lab.group.state(), GroupState::Enabled, "{:?} {:?}", lab.group.fault(), lab.events);
    let speed = lab.drives[0].velocity();
    lab.run(1.0);
    assert!(lab.drives[0].velocity() < speed, "without current, friction slows it down");
}

#[test]
fn a_joint_without_drive_follows_its_commands() {
    let mut config = six();
    config.axes[5] = AxisConfig::suppressed(0.25);
    let mut lab = Lab::enabled(config);
    assert_eq!(lab.drives.len(), 5);
    let target: Vec<f64> = lab.positions().iter().map(|position| position + 0.1).collect();
    lab.group.command(lab.now, None, &target).unwrap();
    lab.run(1.0);
    for (position, target) in lab.positions().iter().zip(&target) {
        assert!((position - target).abs() < 1e-4, "{position} {target}");
    }
}

#[test]
fn recalibration_changes_the_positions_without_a_motion() {
    let mut lab = Lab::enabled(six());
    let shafts: Vec<f64> = lab.drives.iter().map(dragoman_sim::Whistle::shaft_counts).collect();
    lab.group.recalibrate(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
    lab.run(0.5);
    for (position, expected) in lab.positions().iter().zip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) {
        assert!((position - expected).abs() < 1e-9, "{position} {expected}");
    }
    assert_eq!(shafts, lab.drives.iter().map(dragoman_sim::Whistle::shaft_counts).collect::<Vec<_>>());
    assert!(lab.group.recalibrate(&[f64::NAN; 6]).is_err());
    assert!(lab.group.recalibrate(&[0.0; 5]).is_err());
    lab.group.command(lab.now, None, &[0.2; 6]).unwrap();
    lab.run(0.05);
    assert!(lab.group.recalibrate(&[0.0; 6]).is_err(), "it moves");
}
