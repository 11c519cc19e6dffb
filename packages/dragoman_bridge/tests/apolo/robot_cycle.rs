//! The cycles of a mobile robot.

use std::time::Duration;

use dragoman_bridge::apolo::client::robot::{RobotConfig, RobotCycle, RobotEvent};
use dragoman_bridge::apolo::wire::Request;
use dragoman_bridge::apolo::{Outcome, Refusal};

const PERIOD: Duration = Duration::from_millis(100);

fn cycle(laser: Option<&str>) -> (RobotCycle, Duration) {
    let now = Duration::ZERO;
    let config = RobotConfig {
        world: "W".into(),
        robot: "Neo".into(),
        laser: laser.map(str::to_owned),
        period: PERIOD,
        command_timeout: Duration::from_millis(600),
    };
    (RobotCycle::new(now, config), now)
}

fn odometry() -> Request {
    Request::GetOdometry { world: "W".into(), robot: "Neo".into() }
}

#[test]
fn without_a_command_it_is_only_asked() {
    let (mut cycle, now) = cycle(Some("LMS100"));
    assert_eq!(cycle.poll_call(now), Some(odometry()));
    assert_eq!((cycle.poll_call(now), cycle.poll_timeout()), (None, None), "one call at a time");
    let event = cycle.handle_outcome(now, Outcome::Values(vec![1.0, 2.0, 0.5]));
    assert_eq!(event, Some(RobotEvent::Odometry { x: 1.0, y: 2.0, yaw: 0.5, velocity: [0.0; 2] }));
    assert_eq!(
        cycle.poll_call(now),
        Some(Request::GetLaserData { world: "W".into(), laser: "LMS100".into() })
    );
    let event = cycle.handle_outcome(now, Outcome::Values(vec![3.0; 541]));
    assert_eq!(event, Some(RobotEvent::Scan { ranges: vec![3.0; 541] }));
    assert_eq!((cycle.poll_call(now), cycle.poll_timeout()), (None, Some(now + PERIOD)));
    assert_eq!(cycle.poll_call(now + PERIOD), Some(odometry()));
}

#[test]
fn a_command_moves_it_for_as_long_as_it_counts() {
    let (mut cycle, mut now) = cycle(None);
    assert!(cycle.handle_command(now, 0.5, -0.1));
    let mut moves = 0;
    for _ in 0..10 {
        match cycle.poll_call(now) {
            Some(Request::MoveMRobot { speed, rotation_speed, duration, .. }) => {
                assert_eq!((speed, rotation_speed, duration), (0.5, -0.1, 0.1));
                moves += 1;
                cycle.handle_outcome(now, Outcome::Verdict(true));
                assert_eq!(cycle.poll_call(now), Some(Request::Update { world: "W".into() }));
                cycle.handle_outcome(now, Outcome::Done);
                assert_eq!(cycle.poll_call(now), Some(odometry()));
                let event = cycle.handle_outcome(now, Outcome::Values(vec![0.0; 3]));
                assert_eq!(
                    event,
                    Some(RobotEvent::Odometry { x: 0.0, y: 0.0, yaw: 0.0, velocity: [0.5, -0.1] })
                );
            }
            Some(other) => {
                assert_eq!(other, odometry());
                cycle.handle_outcome(now, Outcome::Values(vec![0.0; 3]));
            }
            None => panic!("a cycle"),
        }
        now += PERIOD;
    }
    assert_eq!(moves, 7, "at 0, 0.1, ... 0.6 s");
}

#[test]
fn a_collision_is_reported_as_zero_velocity() {
    let (mut cycle, now) = cycle(None);
    cycle.handle_command(now, 0.5, 0.0);
    cycle.poll_call(now);
    cycle.handle_outcome(now, Outcome::Verdict(false));
    cycle.poll_call(now);
    cycle.handle_outcome(now, Outcome::Done);
    cycle.poll_call(now);
    let event = cycle.handle_outcome(now, Outcome::Values(vec![0.0; 3]));
    assert_eq!(event, Some(RobotEvent::Odometry { x: 0.0, y: 0.0, yaw: 0.0, velocity: [0.0; 2] }));
}

#[test]
fn a_refusal_is_reported_and_delays_the_next_cycle_by_a_second() {
    let (mut cycle, now) = cycle(Some("LMS100"));
    cycle.poll_call(now);
    let event = cycle.handle_outcome(now, Outcome::Refused(Refusal::TimedOut));
    assert_eq!(event, Some(RobotEvent::Refused(Refusal::TimedOut)));
    let next = now + Duration::from_secs(1);
    assert_eq!((cycle.poll_call(now + PERIOD), cycle.poll_timeout()), (None, Some(next)));
    assert_eq!(cycle.poll_call(next), Some(odometry()));
}

#[test]
fn values_that_are_not_finite_are_neither_accepted_nor_reported() {
    let (mut cycle, now) = cycle(None);
    assert!(!cycle.handle_command(now, f64::NAN, 0.0));
    assert!(!cycle.handle_command(now, 0.0, f64::INFINITY));
    assert_eq!(cycle.poll_call(now), Some(odometry()));
    assert_eq!(cycle.handle_outcome(now, Outcome::Values(vec![0.0, f64::NAN, 0.0])), None);
    assert_eq!(cycle.handle_outcome(now, Outcome::Values(vec![0.0; 3])), None, "no call was open");
}

/// A server slower than the period determines the rate.
#[test]
fn late_answers_make_cycles_longer() {
    let (mut cycle, now) = cycle(None);
    cycle.poll_call(now);
    let late = now + 5 * PERIOD / 2;
    cycle.handle_outcome(late, Outcome::Values(vec![0.0; 3]));
    assert_eq!(cycle.poll_call(late), Some(odometry()));
    cycle.handle_outcome(late, Outcome::Values(vec![0.0; 3]));
    assert_eq!(cycle.poll_timeout(), Some(late + PERIOD));
}
