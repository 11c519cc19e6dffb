//! Settings, maps and poses that are changed during a motion: the motion keeps its goal.

use super::*;
use crate::motion::automatic::MotionEnd;
use crate::settings::Kinematics;
use crate::testing;

const GOAL: Pose = Pose { x: 7.0, y: 0.5, heading: 0.5 };

/// Driving to [`GOAL`].
fn under_way(mut settings: Settings) -> Fixture {
    // The pose is that of the wheels: the laser does not see the walls of the maps.
    settings.localization.local = false;
    let mut fixture = Fixture::moving(settings, MotionMode::Automatic);
    fixture.send(Command::MoveAbsolute(GOAL)).unwrap();
    fixture.run(2.5);
    assert!(fixture.output.twist.linear > 0.7, "{:?}", fixture.output);
    fixture.events.clear();
    fixture
}

fn set(fixture: &mut Fixture, change: impl FnOnce(&mut Settings)) {
    let mut settings = fixture.platform.settings().clone();
    change(&mut settings);
    fixture.send(Command::SetSettings(Box::new(settings))).unwrap();
}

/// Runs until the motion has ended.
fn finish(fixture: &mut Fixture) {
    for _ in 0..5000 {
        fixture.cycle();
        if fixture.platform.motion().end.is_some() {
            return;
        }
    }
    panic!("{:?}", fixture.platform.status());
}

/// PlatformCtrl guide, 4.4: properties can be set online.
#[test]
fn velocities_are_in_force_on_the_running_motion() {
    for settings in [Settings::default(), without_planning()] {
        let mut fixture = under_way(settings);
        for speed in [0.2, 0.5, 0.0, 0.01] {
            set(&mut fixture, |settings| settings.interpolation.linear_velocity = speed);
            fixture.run(1.5);
            let now = fixture.output.twist.linear;
            assert!((speed - 0.02..=speed + 1e-9).contains(&now), "{now} instead of {speed}");
            assert_eq!(fixture.platform.motion().end, None);
        }
        set(&mut fixture, |settings| settings.interpolation.linear_velocity = 1.0);
        finish(&mut fixture);
        fixture.assert_at(GOAL);

        fixture.send(Command::MoveRelative(Pose::new(0.0, 0.0, 3.0))).unwrap();
        for rate in [0.3, 0.1, 0.0, 0.02] {
            set(&mut fixture, |settings| settings.interpolation.angular_velocity = rate);
            fixture.run(1.0);
            assert!((fixture.output.twist.angular - rate).abs() < 1e-9, "{:?}, not {rate}", fixture.output);
            assert_eq!(fixture.platform.motion().end, None);
        }
        set(&mut fixture, |settings| settings.interpolation.angular_velocity = 0.6);
        finish(&mut fixture);
        assert_eq!(fixture.platform.motion().end, Some(MotionEnd::Arrived));
        // The limits of the platform, too.
        fixture.send(Command::MoveRelative(Pose::new(4.0, 0.0, 0.0))).unwrap();
        fixture.run(2.5);
        set(&mut fixture, |settings| settings.limits.linear.velocity = 0.3);
        fixture.run(1.0);
        assert!((fixture.output.twist.linear - 0.3).abs() < 1e-9, "{:?}", fixture.output);
    }
}

/// An omnidirectional platform corrects its pose at these velocities as well.
#[test]
fn a_platform_that_cannot_move_does_not_report_its_arrival() {
    let mut settings = Settings { kinematics: Kinematics::Mecanum, ..Settings::default() };
    settings.interpolation.linear_velocity = 0.0;
    settings.interpolation.angular_velocity = 0.0;
    let mut fixture = Fixture::moving(settings, MotionMode::Automatic);
    for goal in [Pose::new(0.0, 0.03, 0.0), Pose::new(0.0, 0.0, 1.0), Pose::new(1.0, 0.0, 0.0)] {
        fixture.send(Command::MoveAbsolute(goal)).unwrap();
        fixture.run(5.0);
        assert_eq!((fixture.pose, fixture.platform.motion().end), (Pose::ORIGIN, None), "{goal:?}");
    }
}

#[test]
fn settings_that_change_the_path_plan_it_again() {
    let changes: [fn(&mut Settings); 4] = [
        |settings| settings.planning.enabled = !settings.planning.enabled,
        |settings| settings.interpolation.start_turn = false,
        |settings| settings.interpolation.end_turn = false,
        |settings| settings.footprint.front += 0.2,
    ];
    for change in changes {
        for settings in [Settings::default(), without_planning()] {
            let mut fixture = under_way(settings);
            let before = fixture.platform.motion();
            set(&mut fixture, change);
            assert_eq!(fixture.platform.status().planner, PlannerState::Planning);
            finish(&mut fixture);
            fixture.assert_at(GOAL);
            assert_eq!(fixture.platform.motion().number, before.number);
        }
    }
    // Those that do not change it do not stop the platform.
    let mut fixture = under_way(Settings::default());
    set(&mut fixture, |settings| {
        (settings.wheel_separation, settings.motion.offset_gain, settings.collision.min_distance) =
            (0.4, 10.0, 0.2);
    });
    assert_eq!(fixture.platform.status().planner, PlannerState::PathFound);
    fixture.run(0.5);
    assert!(fixture.output.twist.linear > 0.7, "{:?}", fixture.output);
}

#[test]
fn a_goal_is_kept_when_the_map_or_the_pose_is_set_on_the_way() {
    let obstacle = testing::rectangle(4.0, -1.0, 5.0, 1.5);
    let changed = Map { prohibited: vec![obstacle], ..Map::default() };
    for settings in [Settings::default(), without_planning()] {
        let plans = settings.planning.enabled;
        let fixture = || under_way(settings.clone());
        let here = fixture().platform.status().pose;
        for command in [
            Command::SetMap(Map::default()),
            Command::SetPose(here),
            Command::SetPose(Pose { y: here.y + 0.4, heading: here.heading - 0.2, ..here }),
            Command::StartMapping,
            Command::StopMapping,
        ] {
            let mut fixture = fixture();
            let before = fixture.platform.motion();
            fixture.send(command.clone()).unwrap();
            fixture.send(Command::StopMapping).unwrap();
            let status = fixture.platform.status();
            assert_eq!((status.goal, status.target_reached), (Some(GOAL), false), "{command:?}");
            finish(&mut fixture);
            let now = fixture.platform.motion();
            assert_eq!((now.number, now.end), (before.number, Some(MotionEnd::Arrived)), "{command:?}");
            let there = fixture.platform.status().pose;
            assert!((position(there) - position(GOAL)).norm() < 0.02, "{command:?}: {there:?}");
        }
        // Around the new obstacles, or the planner reports that there is no path.
        let mut fixture = fixture();
        fixture.send(Command::SetMap(changed.clone())).unwrap();
        assert_eq!(fixture.platform.status().planner, PlannerState::Planning);
        finish(&mut fixture);
        let end = if plans { MotionEnd::Arrived } else { MotionEnd::Failed(PlanError::NoPath) };
        assert_eq!(fixture.platform.motion().end, Some(end));
        assert!(!changed.forbids(&fixture.platform.settings().footprint.at(fixture.pose)));
    }
}

#[test]
fn a_goal_that_the_new_map_prohibits_ends_with_the_planner_s_error() {
    let around = testing::rectangle(6.0, -0.5, 8.0, 1.5);
    for settings in
        [Settings::default(), without_planning(), Settings { is_delegated: true, ..Settings::default() }]
    {
        let is_delegated = settings.is_delegated;
        let mut fixture = if is_delegated {
            let mut fixture = Fixture::moving(settings, MotionMode::Automatic);
            fixture.send(Command::MoveAbsolute(GOAL)).unwrap();
            fixture
        } else {
            under_way(settings)
        };
        fixture.send(Command::SetMap(Map { prohibited: vec![around.clone()], ..Map::default() })).unwrap();
        let status = fixture.platform.status();
        assert_eq!((status.planner, status.goal), (PlannerState::CollisionTarget, None));
        let end = Some(MotionEnd::Failed(PlanError::CollisionTarget));
        assert_eq!((fixture.platform.motion().end, status.target_reached), (end, false));
        fixture.run(2.0);
        assert_eq!(fixture.output.twist, Twist::ZERO);
        let failed = Event::Motion(MotionEvent::Failed(PlanError::CollisionTarget));
        assert!(fixture.events.contains(&failed), "{:?}", fixture.events);
    }
}

#[test]
fn a_plan_for_the_previous_map_is_not_driven() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Automatic);
    fixture.platform.plan_beside();
    fixture.send(Command::MoveAbsolute(GOAL)).unwrap();
    fixture.cycle();
    let old = fixture.platform.poll_plan().expect("a plan is wanted");
    fixture.send(Command::SetMap(Map::default())).unwrap();
    fixture.platform.handle_planned(old.solve());
    assert_eq!(fixture.platform.status().planner, PlannerState::Planning);
    fixture.cycle();
    let new = fixture.platform.poll_plan().expect("another plan is wanted");
    fixture.platform.handle_planned(new.solve());
    assert_eq!(fixture.platform.status().planner, PlannerState::PathFound);
}
