//! What is set on the way is in force on the running motion, which keeps its goal.

use super::*;
use crate::motion::automatic::MotionEnd;
use crate::settings::Kinematics;
use crate::testing;

const GOAL: Pose = Pose { x: 7.0, y: 0.5, heading: 0.5 };

/// Driving to [`GOAL`].
fn under_way(mut settings: Settings) -> Bench {
    // The pose is that of the wheels: the laser does not see the walls of the maps.
    settings.localization.local = false;
    let mut bench = Bench::moving(settings, MotionMode::Automatic);
    bench.send(Command::MoveAbsolute(GOAL)).unwrap();
    bench.run(2.5);
    assert!(bench.output.twist.linear > 0.7, "{:?}", bench.output);
    bench.events.clear();
    bench
}

fn set(bench: &mut Bench, change: impl FnOnce(&mut Settings)) {
    let mut settings = bench.platform.settings().clone();
    change(&mut settings);
    bench.send(Command::SetSettings(Box::new(settings))).unwrap();
}

/// Runs until the motion has ended.
fn finish(bench: &mut Bench) {
    for _ in 0..5000 {
        bench.cycle();
        if bench.platform.motion().end.is_some() {
            return;
        }
    }
    panic!("{:?}", bench.platform.status());
}

/// PlatformCtrl guide, 4.4: properties can be set online.
#[test]
fn velocities_are_in_force_on_the_running_motion() {
    for settings in [Settings::default(), without_planning()] {
        let mut bench = under_way(settings);
        for speed in [0.2, 0.5, 0.0, 0.01] {
            set(&mut bench, |settings| settings.interpolation.linear_velocity = speed);
            bench.run(1.5);
            let now = bench.output.twist.linear;
            assert!((speed - 0.02..=speed + 1e-9).contains(&now), "{now} instead of {speed}");
            assert_eq!(bench.platform.motion().end, None);
        }
        set(&mut bench, |settings| settings.interpolation.linear_velocity = 1.0);
        finish(&mut bench);
        bench.assert_at(GOAL);

        bench.send(Command::MoveRelative(Pose::new(0.0, 0.0, 3.0))).unwrap();
        for rate in [0.3, 0.1, 0.0, 0.02] {
            set(&mut bench, |settings| settings.interpolation.angular_velocity = rate);
            bench.run(1.0);
            assert!((bench.output.twist.angular - rate).abs() < 1e-9, "{:?}, not {rate}", bench.output);
            assert_eq!(bench.platform.motion().end, None);
        }
        set(&mut bench, |settings| settings.interpolation.angular_velocity = 0.6);
        finish(&mut bench);
        assert_eq!(bench.platform.motion().end, Some(MotionEnd::Arrived));
        // The limits of the platform, too.
        bench.send(Command::MoveRelative(Pose::new(4.0, 0.0, 0.0))).unwrap();
        bench.run(2.5);
        set(&mut bench, |settings| settings.limits.linear.velocity = 0.3);
        bench.run(1.0);
        assert!((bench.output.twist.linear - 0.3).abs() < 1e-9, "{:?}", bench.output);
    }
}

/// An omnidirectional platform corrects its pose at these velocities as well.
#[test]
fn a_platform_that_may_not_move_does_not_say_that_it_is_there() {
    let mut settings = Settings { kinematics: Kinematics::Mecanum, ..Settings::default() };
    settings.interpolation.linear_velocity = 0.0;
    settings.interpolation.angular_velocity = 0.0;
    let mut bench = Bench::moving(settings, MotionMode::Automatic);
    for goal in [Pose::new(0.0, 0.03, 0.0), Pose::new(0.0, 0.0, 1.0), Pose::new(1.0, 0.0, 0.0)] {
        bench.send(Command::MoveAbsolute(goal)).unwrap();
        bench.run(5.0);
        assert_eq!((bench.pose, bench.platform.motion().end), (Pose::ORIGIN, None), "{goal:?}");
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
            let mut bench = under_way(settings);
            let before = bench.platform.motion();
            set(&mut bench, change);
            assert_eq!(bench.platform.status().planner, PlannerState::Planning);
            finish(&mut bench);
            bench.assert_at(GOAL);
            assert_eq!(bench.platform.motion().number, before.number);
        }
    }
    // Those that do not change it do not stop the platform.
    let mut bench = under_way(Settings::default());
    set(&mut bench, |settings| {
        (settings.wheel_separation, settings.motion.offset_gain, settings.collision.min_distance) =
            (0.4, 10.0, 0.2);
    });
    assert_eq!(bench.platform.status().planner, PlannerState::PathFound);
    bench.run(0.5);
    assert!(bench.output.twist.linear > 0.7, "{:?}", bench.output);
}

#[test]
fn a_goal_is_kept_when_the_map_or_the_pose_is_set_on_the_way() {
    let obstacle = testing::rectangle(4.0, -1.0, 5.0, 1.5);
    let changed = Map { prohibited: vec![obstacle], ..Map::default() };
    for settings in [Settings::default(), without_planning()] {
        let plans = settings.planning.enabled;
        let bench = || under_way(settings.clone());
        let here = bench().platform.status().pose;
        for command in [
            Command::SetMap(Map::default()),
            Command::SetPose(here),
            Command::SetPose(Pose { y: here.y + 0.4, heading: here.heading - 0.2, ..here }),
            Command::StartMapping,
            Command::StopMapping,
        ] {
            let mut bench = bench();
            let before = bench.platform.motion();
            bench.send(command.clone()).unwrap();
            bench.send(Command::StopMapping).unwrap();
            let status = bench.platform.status();
            assert_eq!((status.goal, status.target_reached), (Some(GOAL), false), "{command:?}");
            finish(&mut bench);
            let now = bench.platform.motion();
            assert_eq!((now.number, now.end), (before.number, Some(MotionEnd::Arrived)), "{command:?}");
            let there = bench.platform.status().pose;
            assert!((position(there) - position(GOAL)).norm() < 0.02, "{command:?}: {there:?}");
        }
        // Round what is in the way now, or the planner says that there is no way.
        let mut bench = bench();
        bench.send(Command::SetMap(changed.clone())).unwrap();
        assert_eq!(bench.platform.status().planner, PlannerState::Planning);
        finish(&mut bench);
        let end = if plans { MotionEnd::Arrived } else { MotionEnd::Failed(PlanError::NoPath) };
        assert_eq!(bench.platform.motion().end, Some(end));
        assert!(!changed.forbids(&bench.platform.settings().footprint.at(bench.pose)));
    }
}

#[test]
fn a_goal_that_the_new_map_prohibits_ends_with_the_planner_s_error() {
    let around = testing::rectangle(6.0, -0.5, 8.0, 1.5);
    for settings in
        [Settings::default(), without_planning(), Settings { is_delegated: true, ..Settings::default() }]
    {
        let is_delegated = settings.is_delegated;
        let mut bench = if is_delegated {
            let mut bench = Bench::moving(settings, MotionMode::Automatic);
            bench.send(Command::MoveAbsolute(GOAL)).unwrap();
            bench
        } else {
            under_way(settings)
        };
        bench.send(Command::SetMap(Map { prohibited: vec![around.clone()], ..Map::default() })).unwrap();
        let status = bench.platform.status();
        assert_eq!((status.planner, status.goal), (PlannerState::CollisionTarget, None));
        let end = Some(MotionEnd::Failed(PlanError::CollisionTarget));
        assert_eq!((bench.platform.motion().end, status.target_reached), (end, false));
        bench.run(2.0);
        assert_eq!(bench.output.twist, Twist::ZERO);
        let failed = Event::Motion(MotionEvent::Failed(PlanError::CollisionTarget));
        assert!(bench.events.contains(&failed), "{:?}", bench.events);
    }
}

#[test]
fn a_plan_of_the_map_before_is_not_driven() {
    let mut bench = Bench::moving(Settings::default(), MotionMode::Automatic);
    bench.platform.plan_beside();
    bench.send(Command::MoveAbsolute(GOAL)).unwrap();
    bench.cycle();
    let old = bench.platform.poll_plan().expect("a plan is wanted");
    bench.send(Command::SetMap(Map::default())).unwrap();
    bench.platform.handle_planned(old.solve());
    assert_eq!(bench.platform.status().planner, PlannerState::Planning);
    bench.cycle();
    let new = bench.platform.poll_plan().expect("another plan is wanted");
    bench.platform.handle_planned(new.solve());
    assert_eq!(bench.platform.status().planner, PlannerState::PathFound);
}
