//! Platforms that move sideways (PlatformCtrl guide, 4.1: holonomic kinematics).

use super::*;
use crate::settings::Kinematics;

fn settings(kinematics: Kinematics) -> Settings {
    Settings { kinematics, wheel_base: 0.5, wheel_separation: 0.548, ..Settings::default() }
}

#[test]
fn sideways_velocities_reach_the_drives_that_can_produce_them() {
    for kinematics in [Kinematics::Mecanum, Kinematics::Steered] {
        let mut fixture = Fixture::moving(settings(kinematics), MotionMode::Velocity);
        fixture.send(Command::Move(Twist::planar(0.2, 0.3, 0.0))).unwrap();
        fixture.run(0.9);
        assert!((fixture.output.twist.lateral - 0.3).abs() < 1e-9, "{:?}", fixture.output);
        assert!(fixture.pose.y > 0.1 && fixture.pose.x > 0.05, "{:?}", fixture.pose);
        assert!((fixture.platform.status().velocity.lateral - 0.3).abs() < 1e-9);
        // It expires as a whole.
        fixture.run(1.5);
        assert_eq!(fixture.output.twist, Twist::ZERO);
    }
    let mut fixture = Fixture::moving(settings(Kinematics::Differential), MotionMode::Velocity);
    fixture.send(Command::Move(Twist::planar(0.2, 0.3, 0.0))).unwrap();
    fixture.run(0.9);
    assert_eq!(fixture.output.twist, Twist::new(0.2, 0.0));
    let refused = fixture.send(Command::Move(Twist::planar(0.0, f64::NAN, 0.0)));
    assert_eq!(refused, Err(Refusal::NotFinite));
}

/// With 8 rad/s and wheels of 0.125 m, a wheel's rim moves at 1 m/s.
#[test]
fn the_drives_limit_what_is_wanted_on_the_same_path() {
    let slow = Settings { max_wheel_rate: 8.0, ..settings(Kinematics::Mecanum) };
    let mut fixture = Fixture::moving(slow, MotionMode::Velocity);
    for _ in 0..4 {
        fixture.send(Command::Move(Twist::planar(1.0, 1.0, 0.0))).unwrap();
        fixture.run(0.5);
    }
    let Twist { linear, lateral, angular } = fixture.output.twist;
    assert!((linear - 0.5).abs() < 1e-9 && (lateral - 0.5).abs() < 1e-9 && angular == 0.0);
    // Both sides at 0.4 m/s and -0.4 m/s: the turn rate of four Mecanum wheels.
    for _ in 0..4 {
        fixture.send(Command::MoveWheels { right: 0.4, left: -0.4 }).unwrap();
        fixture.run(0.5);
    }
    assert!((fixture.output.twist.angular - 0.8 / 1.048).abs() < 1e-9, "{:?}", fixture.output);
}

#[test]
fn sideways_it_stops_for_obstacles() {
    let mut fixture = Fixture::moving(settings(Kinematics::Mecanum), MotionMode::Velocity);
    fixture.things = vec![Point::new(0.2, 2.0)];
    for _ in 0..20 {
        fixture.send(Command::Move(Twist::planar(0.0, 0.5, 0.0))).unwrap();
        fixture.run(0.5);
    }
    let gap = 2.0 - fixture.pose.y - 0.3;
    assert!((0.13..0.25).contains(&gap) && fixture.platform.status().collision, "{gap}");
}

#[test]
fn goals_are_reached_with_omnidirectional_drives() {
    for kinematics in [Kinematics::Mecanum, Kinematics::Steered] {
        let mut fixture = Fixture::moving(settings(kinematics), MotionMode::Automatic);
        let goal = Pose::new(2.0, 0.5, 1.0);
        fixture.drive(Command::MoveAbsolute(goal));
        fixture.assert_at(goal);
    }
}

#[test]
fn a_motion_sideways_is_recorded_and_replayed() {
    let mut recording = crate::replay::Recording::default();
    for part in 0..40 {
        let time = Duration::from_millis(50) * part;
        let pose = Pose::new(0.0, 0.01 * f64::from(part), 0.0);
        recording.push(crate::replay::Sample { time, pose, twist: Twist::planar(0.0, 0.2, 0.0) });
    }
    let recording = crate::replay::Recording::read(&recording.to_string()).unwrap();
    assert_eq!(recording.samples()[7].twist, Twist::planar(0.0, 0.2, 0.0));
    let mut fixture = Fixture::moving(settings(Kinematics::Mecanum), MotionMode::Replay);
    fixture.send(Command::StartReplay(recording)).unwrap();
    fixture.run(6.0);
    assert!(fixture.events.contains(&Event::ReplayEnded), "{:?}", fixture.events);
    let Pose { x, y, heading } = fixture.pose;
    assert!(x.abs() < 0.01 && (y - 0.39).abs() < 0.03 && heading.abs() < 0.02, "{:?}", fixture.pose);
}
