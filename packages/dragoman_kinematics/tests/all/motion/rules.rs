//! Modes, goals, stops, via points, time and drives.

use super::lab::{HOME, Lab, PERIOD, ranger_mk1};
use dragoman_kinematics::motion::cartesian::pose_distance;
use dragoman_kinematics::motion::{
    Axis, CommandMode, Event, MotionConfig, Pipeline, RawPose, Rejected, Workspace,
};
use nalgebra::{Isometry3, Translation3};
use std::time::Duration;

fn shifted(pose: &Isometry3<f64>, x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Translation3::new(x, y, z) * pose
}

fn near(q: &[f64; 6], by: f64) -> [f64; 6] {
    q.map(|value| value + by)
}

#[test]
fn nothing_is_commanded_in_mode_off_and_for_two_cycles_after_a_switch() {
    let config = MotionConfig { workspace: Workspace::unlimited(), ..MotionConfig::default() };
    let mut lab = Lab::new(ranger_mk1(), config, &HOME);
    assert_eq!(lab.pipeline.begin_motion(), Err(Rejected::NotReady));
    for _ in 0..5 {
        lab.cycle();
        assert_eq!(lab.command, None);
    }
    for mode in [CommandMode::Joint, CommandMode::Cartesian] {
        lab.pipeline.set_command_mode(mode);
        for _ in 0..2 {
            assert!(lab.cycle().settling);
            assert_eq!(lab.command, None);
        }
        assert!(!lab.cycle().settling);
        assert_eq!(lab.command.as_deref(), Some(lab.measured.as_slice()));
    }
    lab.pipeline.set_command_mode(CommandMode::Off);
    lab.cycles(4);
    assert_eq!(lab.command, None);
}

#[test]
fn a_mode_switch_drops_the_motion_and_starts_from_the_measured_state() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    lab.lag = 5;
    lab.go(&shifted(&lab.tool(), 0.0, 0.0, 0.2));
    lab.cycles(150);
    lab.pipeline.set_command_mode(CommandMode::Joint);
    assert!(!lab.cycle().moving);
    lab.blocked = true;
    let measured = lab.measured.clone();
    lab.cycles(2);
    assert_eq!(lab.command, Some(measured));
}

#[test]
fn a_begin_sent_together_with_a_mode_switch_starts_after_it() {
    let mut lab = Lab::ranger(CommandMode::Off);
    let goal = shifted(&lab.tool(), 0.0, 0.0, 0.05);
    lab.pipeline.set_command_mode(CommandMode::Cartesian);
    lab.go(&goal);
    lab.run(20.0);
    assert!(pose_distance(&lab.tool(), &goal) < 1e-6);
}

#[test]
fn begin_needs_a_goal_the_right_mode_and_rest() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    assert_eq!(lab.pipeline.begin_motion(), Err(Rejected::NoGoal));
    let wrong = Rejected::WrongMode { needed: CommandMode::Joint, actual: CommandMode::Cartesian };
    assert_eq!(lab.pipeline.begin_joint_motion(), Err(wrong));
    assert_eq!(lab.pipeline.execute_joint_via_points(), Err(wrong));
    assert_eq!(lab.pipeline.execute_via_points(), Err(Rejected::NoViaPoints));
    let goal = shifted(&lab.tool(), 0.0, 0.0, 0.05);
    lab.go(&goal);
    assert_eq!(lab.pipeline.begin_motion(), Err(Rejected::Busy { via_point: None }));
    assert!(lab.cycle().moving);
    assert_eq!(lab.pipeline.begin_motion(), Err(Rejected::Busy { via_point: None }));
    assert!(lab.pipeline.set_twist([0.0; 3], [0.0; 3]).is_err());
    lab.run(20.0);
    // The goal stays; already reached, the motion ends at once.
    lab.pipeline.begin_motion().unwrap();
    assert!(lab.run(20.0) < 0.1);
}

#[test]
fn invalid_values_are_refused_by_name() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let pose = RawPose::from(&lab.tool());
    let pipeline: &mut Pipeline = &mut lab.pipeline;
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let position = RawPose { position: [0.0, bad, 0.0], ..pose };
        let quaternion = RawPose { quaternion: [0.0, 0.0, bad, 1.0], ..pose };
        assert!(matches!(
            pipeline.set_goal_pose(&position, 0.0),
            Err(Rejected::NotFinite { name: "position", .. })
        ));
        assert!(matches!(pipeline.set_via_point(0, &quaternion, 0.0), Err(Rejected::NotFinite { .. })));
        assert!(matches!(pipeline.set_goal_pose(&pose, bad), Err(Rejected::NotFinite { .. })));
        assert!(matches!(pipeline.set_joint_goal(&[bad; 6], 0.0), Err(Rejected::NotFinite { .. })));
        assert!(matches!(pipeline.set_joint_via_point(0, &[0.0; 6], bad), Err(Rejected::NotFinite { .. })));
        assert!(matches!(pipeline.set_twist([bad; 3], [0.0; 3]), Err(Rejected::NotFinite { .. })));
        assert!(matches!(
            pipeline.begin_circle(0.1, bad, [Axis::X, Axis::Y]),
            Err(Rejected::NotFinite { .. })
        ));
        assert!(matches!(pipeline.begin_sinusoid(bad, 1.0, Axis::X), Err(Rejected::NotFinite { .. })));
    }
    let zero = RawPose { quaternion: [0.0; 4], ..pose };
    assert_eq!(pipeline.set_goal_pose(&zero, 0.0), Err(Rejected::ZeroQuaternion));
    let far = RawPose { position: [1e30, 0.0, 0.0], ..pose };
    assert!(matches!(pipeline.set_goal_pose(&far, 0.0), Err(Rejected::OutOfRange { name: "position", .. })));
    assert!(matches!(pipeline.begin_circle(-0.1, 5.0, [Axis::X, Axis::Y]), Err(Rejected::OutOfRange { .. })));
    assert!(matches!(pipeline.begin_sinusoid(0.1, 0.0, Axis::X), Err(Rejected::OutOfRange { .. })));
    assert_eq!(
        pipeline.begin_circle(0.1, 5.0, [Axis::X, Axis::X]),
        Err(Rejected::SameAxes { axis: Axis::X })
    );
    assert_eq!(pipeline.set_joint_goal(&[0.0; 7], 0.0), Err(Rejected::WrongLength { expected: 6, found: 7 }));
    assert_eq!(pipeline.set_via_point(20, &pose, 0.0), Err(Rejected::ViaPointIndex { index: 20, last: 19 }));
    assert_eq!(
        pipeline.set_joint_via_point(20, &HOME, 0.0),
        Err(Rejected::ViaPointIndex { index: 20, last: 19 })
    );
    let status = lab.cycle();
    assert!(!status.has_goal && !status.has_joint_goal && !status.moving);
}

#[test]
fn quaternions_are_normalized_and_negative_durations_are_none() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let goal = shifted(&lab.tool(), 0.0, 0.0, 0.02);
    for scale in [1e-200, 3.0, 1e200] {
        let raw = RawPose::from(&goal);
        let raw = RawPose { quaternion: raw.quaternion.map(|value| value * scale), ..raw };
        assert!(pose_distance(&raw.to_isometry().unwrap(), &goal) < 1e-12);
        lab.pipeline.set_goal_pose(&raw, -3.0).unwrap();
    }
    lab.pipeline.begin_motion().unwrap();
    // 0.02 m at 0.01 m/s^2: a triangle of 2.83 s.
    assert!((lab.run(20.0) - 2.83).abs() < 0.1);
    let euler = RawPose::from_roll_pitch_yaw([0.0; 3], [0.1, 0.2, 0.3]).to_isometry().unwrap();
    let (roll, pitch, yaw) = euler.rotation.euler_angles();
    assert!((roll - 0.1).abs() + (pitch - 0.2).abs() + (yaw - 0.3).abs() < 1e-12);
}

#[test]
fn a_stop_brakes_and_a_begin_during_it_starts_afterwards() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let start = lab.tool();
    lab.go(&shifted(&start, 0.0, 0.0, 0.3));
    lab.cycles(250);
    let before = lab.setpoint;
    lab.pipeline.stop();
    lab.cycles(2);
    lab.go(&start);
    lab.cycles(5);
    assert_eq!(lab.saw(|event| *event == Event::MotionStopped), 1);
    let (height, at_stop) = (lab.setpoint.translation.z, before.translation.z);
    assert!(height > at_stop && height - at_stop < 0.002, "{}", height - at_stop);
    lab.run(60.0);
    assert!(pose_distance(&lab.tool(), &start) < 1e-6);
}

#[test]
fn a_stop_gives_way_to_a_blocked_arm() {
    let mut lab = Lab::ranger(CommandMode::Joint);
    lab.pipeline.set_joint_goal(&near(&HOME, -0.5), 0.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    lab.blocked = true;
    lab.cycles(200);
    assert!((lab.command.as_ref().unwrap()[2] - HOME[2]) < -0.1);
    lab.pipeline.stop();
    // It brakes within 0.1 s. After some cycles without a command, the command is the measured position.
    assert!(lab.run(1.0) < 0.2);
    let silent = lab.pipeline.config().mode_switch_cycles;
    lab.cycles(silent as usize + 2);
    assert_eq!(lab.command.as_deref(), Some(HOME.as_slice()));
}

#[test]
fn reset_joint_motion_stops_joint_motions_only() {
    let mut lab = Lab::ranger(CommandMode::Joint);
    lab.pipeline.set_joint_goal(&near(&HOME, 0.5), 0.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    lab.cycles(50);
    lab.pipeline.reset_joint_motion();
    assert!(lab.run(1.0) < 0.3);
    lab.pipeline.set_command_mode(CommandMode::Cartesian);
    lab.cycles(3);
    lab.go(&shifted(&lab.tool(), 0.0, 0.0, 0.05));
    lab.pipeline.reset_joint_motion();
    assert!(lab.cycle().moving);
}

#[test]
fn disabled_drives_hold_everything_and_enabling_starts_from_the_measured_state() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    lab.go(&shifted(&lab.tool(), 0.0, 0.0, 0.2));
    lab.cycles(100);
    lab.enabled = false;
    assert!(!lab.cycle().moving);
    assert_eq!((lab.command.clone(), lab.events.last()), (None, Some(&Event::Disabled)));
    assert_eq!(lab.pipeline.begin_motion(), Err(Rejected::Disabled));
    assert_eq!(lab.pipeline.set_twist([0.0; 3], [0.0; 3]), Err(Rejected::Disabled));
    // The arm sags; it must not jump back when it is enabled.
    lab.measured[1] -= 0.3;
    let sagged = lab.measured.clone();
    lab.cycles(10);
    lab.enabled = true;
    lab.cycle();
    assert_eq!(lab.command, Some(sagged.clone()));
    lab.cycles(10);
    assert_eq!(lab.measured, sagged);
}

#[test]
fn joint_via_points_run_in_order_on_a_copy() {
    let mut lab = Lab::ranger(CommandMode::Joint);
    let points = [near(&HOME, -0.1), near(&HOME, -0.02), near(&HOME, -0.05)];
    for (index, point) in points.iter().enumerate() {
        lab.pipeline.set_joint_via_point(index, point, 1.0).unwrap();
    }
    lab.pipeline.execute_joint_via_points().unwrap();
    assert!(matches!(lab.pipeline.execute_joint_via_points(), Err(Rejected::Busy { via_point: Some(0) })));
    lab.pipeline.clear_joint_via_points();
    lab.cycles(3);
    lab.pipeline.set_joint_via_point(2, &HOME, 0.0).unwrap();
    lab.run(30.0);
    let reached = |index| Event::ViaPointReached { index };
    assert_eq!(lab.events, [reached(0), reached(1), reached(2), Event::SequenceFinished]);
    assert_eq!(lab.measured, points[2]);
    assert_eq!(lab.pipeline.execute_joint_via_points(), Err(Rejected::NoViaPoints));
}

#[test]
fn a_sequence_accepts_a_small_offset_late_and_aborts_on_a_large_one() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let start = lab.tool();
    for (index, height) in [0.05, 0.2, 0.4].iter().enumerate() {
        lab.pipeline.set_via_point(index, &RawPose::from(&shifted(&start, 0.0, 0.0, *height)), 0.0).unwrap();
    }
    lab.pipeline.execute_via_points().unwrap();
    // Blocked on the way, the arm is 0.05 m from the first point, then 0.2 m from the second.
    lab.blocked = true;
    lab.run(60.0);
    assert_eq!(lab.saw(|event| *event == Event::ViaPointReached { index: 0 }), 1);
    let aborted = lab.events.iter().find_map(|event| match event {
        Event::SequenceAborted { index, distance } => Some((*index, *distance)),
        _ => None,
    });
    let (index, distance) = aborted.unwrap();
    assert_eq!(index, 1);
    assert!((distance - 0.2).abs() < 1e-6);
}

#[test]
fn a_stop_halts_a_sequence() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let up = shifted(&lab.tool(), 0.0, 0.0, 0.1);
    lab.pipeline.set_via_point(0, &RawPose::from(&up), 0.0).unwrap();
    lab.pipeline.execute_via_points().unwrap();
    assert_eq!(lab.cycles(50).via_point, Some(0));
    lab.pipeline.stop();
    lab.run(1.0);
    assert_eq!(lab.events, [Event::SequenceHalted { index: 0 }, Event::MotionStopped]);
    assert!(lab.setpoint.translation.z < up.translation.z - 0.05);
}

#[test]
fn time_may_jump_but_the_arm_does_not() {
    let config = MotionConfig {
        workspace: Workspace::unlimited(),
        // Otherwise the jump counts as missing measurements.
        measurement_timeout: 1e30,
        ..MotionConfig::default()
    };
    let mut lab = Lab::ready(ranger_mk1(), config, &HOME, CommandMode::Cartesian);
    lab.go(&shifted(&lab.tool(), 0.0, 0.0, 0.2));
    lab.cycles(100);
    let before = lab.setpoint.translation.z;
    let (now, short, long) = (lab.now(), Duration::from_secs(50), Duration::from_secs(10_000_000));
    for (now, jumped) in [(now - short, 0.0), (now + long, 0.1), (Duration::ZERO, 0.0), (Duration::MAX, 0.1)]
    {
        let at = lab.setpoint.translation.z;
        lab.cycle_at(now, 0.1);
        assert!((lab.setpoint.translation.z - at).abs() <= 0.03 * jumped + 1e-9);
    }
    assert_eq!(lab.saw(|event| matches!(event, Event::ClockJump { .. })), 4);
    lab.time += 1e7;
    lab.run(60.0);
    assert!((lab.setpoint.translation.z - before) > 0.1);
}

#[test]
fn without_measurements_the_motion_ends_and_nothing_is_accepted_until_they_return() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    lab.go(&shifted(&lab.tool(), 0.0, 0.0, 0.2));
    lab.cycles(100);
    let last = lab.now();
    let check = |lab: &mut Lab, milliseconds| {
        lab.pipeline.check_measurement(last + Duration::from_millis(milliseconds))
    };
    assert_eq!(check(&mut lab, 500), None);
    assert!(lab.pipeline.status().moving);
    let event = check(&mut lab, 501);
    assert!(matches!(event, Some(Event::MeasurementTimeout { seconds }) if (0.5..0.51).contains(&seconds)));
    assert!(!lab.pipeline.status().moving);
    assert_eq!(check(&mut lab, 600), None, "reported once");
    assert_eq!(lab.pipeline.begin_motion(), Err(Rejected::NotReady));
    assert_eq!(lab.pipeline.set_twist([0.01, 0.0, 0.0], [0.0; 3]), Err(Rejected::NotReady));
    // Meanwhile the arm was pushed; it does not return, and the earlier motion is not resumed.
    lab.time += 1.0;
    lab.measured[1] -= 0.2;
    let pushed = lab.measured.clone();
    lab.cycle();
    assert_eq!(lab.command, None);
    assert!(!lab.cycle().moving);
    assert_eq!(lab.command, Some(pushed.clone()));
    lab.cycles(20);
    assert_eq!(lab.measured, pushed);
    lab.pipeline.begin_motion().unwrap();
    lab.run(60.0);
    assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1);
}

#[test]
fn a_step_after_a_silence_ends_a_sequence_itself() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let up = shifted(&lab.tool(), 0.0, 0.0, 0.1);
    lab.pipeline.set_via_point(0, &RawPose::from(&up), 0.0).unwrap();
    lab.pipeline.execute_via_points().unwrap();
    lab.cycles(50);
    lab.time += 2.0;
    assert!(!lab.cycle().moving);
    let timeout = |event: &Event| matches!(event, Event::MeasurementTimeout { .. });
    assert_eq!((lab.saw(timeout), lab.saw(|event| *event == Event::SequenceHalted { index: 0 })), (1, 1));
}

#[test]
fn measurements_that_stay_invalid_count_as_none() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    lab.go(&shifted(&lab.tool(), 0.0, 0.0, 0.1));
    lab.cycles(50);
    for _ in 0..27 {
        lab.time += PERIOD;
        let now = lab.now();
        lab.pipeline.step(now, &[f64::NAN; 6], true);
    }
    assert!(!lab.pipeline.status().moving);
}

#[test]
fn a_new_configuration_is_for_the_next_motion() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let start = lab.tool();
    let up = shifted(&start, 0.0, 0.0, 0.09);
    // 0.09 m at 0.03 m/s and 0.01 m/s^2: 3 s to speed up, 3 s to slow down.
    lab.go(&up);
    lab.cycles(20);
    let mut other = lab.pipeline.config().clone();
    other.cartesian.max_velocity[2] = 0.01;
    lab.pipeline.set_config(other.clone()).unwrap();
    assert_ne!(*lab.pipeline.config(), other, "not before this one has ended");
    assert!((lab.run(20.0) - (6.0 - 20.0 * PERIOD)).abs() < 3.0 * PERIOD);
    lab.go(&start);
    // 1 s to speed up, 8 s at full speed, 1 s to slow down.
    assert!((lab.run(20.0) - 10.0).abs() < 3.0 * PERIOD);
    assert_eq!(*lab.pipeline.config(), other);

    let bad = MotionConfig { twist_timeout: 0.0, ..other.clone() };
    assert!(lab.pipeline.set_config(bad).is_err());
    assert_eq!(*lab.pipeline.config(), other);
    let mut slow = other;
    slow.joint.max_rate = vec![0.01; 6];
    lab.pipeline.set_config(slow).unwrap();
    assert_eq!(lab.pipeline.config().joint.max_velocity, [0.01; 6], "the command guard never bends a path");
}

#[test]
fn an_invalid_measurement_pauses_the_motion() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    lab.go(&shifted(&lab.tool(), 0.0, 0.0, 0.1));
    lab.cycles(100);
    let (good, command) = (lab.measured.clone(), lab.command.clone());
    for bad in [vec![], vec![0.0; 5], vec![f64::NAN; 6], vec![f64::INFINITY; 6]] {
        lab.time += PERIOD;
        let now = lab.now();
        let step = lab.pipeline.step(now, &bad, true);
        assert_eq!(step.command, command.as_deref());
        assert_eq!(step.events.iter().collect::<Vec<_>>(), [&Event::MeasurementInvalid]);
    }
    lab.measured = good;
    lab.run(20.0);
    assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1);
}

#[test]
fn a_requested_duration_is_kept() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let goal = shifted(&lab.tool(), 0.0, 0.0, 0.05);
    lab.pipeline.set_goal_pose(&RawPose::from(&goal), 12.0).unwrap();
    lab.pipeline.begin_motion().unwrap();
    assert!((lab.run(20.0) - 12.0).abs() < 3.0 * PERIOD);
    lab.pipeline.set_command_mode(CommandMode::Joint);
    lab.cycles(3);
    lab.pipeline.set_joint_goal(&HOME, 9.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    assert!((lab.run(20.0) - 9.0).abs() < 3.0 * PERIOD);
}
