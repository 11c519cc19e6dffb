//! Motions by their numbers: with an external navigator, cancelled, and replayed.

use std::sync::Arc;

use dragoman_neobotix::map::{Edge, Roadmap, RouteError, Station};

use super::*;
use crate::motion::automatic::{MotionEnd, Navigation, Target};
use crate::replay::{Recording, ReplayError};
use crate::testing;

/// Half a metre ahead, and a quarter turn.
fn recording() -> Recording {
    let mut recording = Recording::default();
    let mut pose = Pose::ORIGIN;
    for part in 0..100 {
        let twist = if part < 50 { Twist::new(0.3, 0.0) } else { Twist::new(0.0, 0.5) };
        let time = Duration::from_millis(50) * part;
        recording.push(crate::replay::Sample { time, pose, twist });
        pose = compose(pose, Pose::new(twist.linear * 0.05, 0.0, twist.angular * 0.05));
    }
    recording
}

#[test]
fn a_recorded_motion_is_driven_again_and_waits_for_obstacles() {
    let replay = || Command::StartReplay(recording());
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Velocity);
    assert_eq!(fixture.send(replay()), Err(Refusal::WrongMode(MotionMode::Velocity)));
    fixture.send(Command::Stop).unwrap();
    fixture.send(Command::SetMode(MotionMode::Replay)).unwrap();
    assert_eq!(fixture.send(Command::StartReplay(Recording::default())), Err(ReplayError::TooShort.into()));
    assert_eq!(fixture.platform.status().operation, Operation::Ready);
    fixture.send(replay()).unwrap();
    assert_eq!(fixture.platform.status().operation, Operation::Moving);
    fixture.run(1.0);
    assert!(fixture.pose.x > 0.1, "{:?}", fixture.pose);
    assert!(fixture.platform.status().commanded_pose.x > 0.1);

    // After a break or an obstacle, it continues with the rest of the path.
    fixture.send(Command::Break).unwrap();
    fixture.run(3.0);
    let broken = fixture.pose;
    fixture.run(1.0);
    assert!((position(fixture.pose) - position(broken)).norm() < 1e-3);
    fixture.things = (-5..=5).map(|part| Point::new(broken.x + 0.75, f64::from(part) * 0.05)).collect();
    fixture.send(Command::Continue).unwrap();
    fixture.run(10.0);
    assert!(fixture.pose.x < broken.x + 0.2 && fixture.platform.status().collision, "{:?}", fixture.pose);
    assert_eq!(fixture.platform.status().operation, Operation::Moving);
    fixture.things.clear();
    fixture.run(10.0);
    assert_eq!(fixture.platform.status().operation, Operation::Ready);
    assert!(fixture.events.contains(&Event::ReplayEnded), "{:?}", fixture.events);
    let end = recording().samples()[99].pose;
    let error = dragoman_geometry::relative(end, fixture.pose);
    assert!(error.x.hypot(error.y) < 0.03 && error.heading.abs() < 0.04, "{error:?}");

    // Refused from another pose; cancelled when the platform is carried away.
    assert!(matches!(fixture.send(replay()), Err(Refusal::Replay(ReplayError::Elsewhere { .. }))));
    fixture.send(Command::SetPose(Pose::ORIGIN)).unwrap();
    fixture.send(replay()).unwrap();
    fixture.run(0.5);
    fixture.send(Command::SetPose(Pose::new(3.0, 0.0, 0.0))).unwrap();
    fixture.run(0.1);
    assert_eq!(fixture.platform.status().operation, Operation::Ready);
    assert!(fixture.events.contains(&Event::ReplayAstray));
    fixture.run(2.0);
    assert_eq!(fixture.output.twist, Twist::ZERO);
}

#[test]
fn an_external_navigator_gets_the_targets() {
    let settings = Settings { is_delegated: true, ..Settings::default() };
    let mut fixture = Fixture::moving(settings, MotionMode::Automatic);
    assert_eq!(fixture.platform.delegated(), None);
    let goal = Pose::new(2.0, 0.0, 0.0);
    fixture.send(Command::MoveAbsolute(goal)).unwrap();
    let (number, target) = fixture.platform.delegated().unwrap();
    assert_eq!((number, target), (1, &Target::Pose(goal)));
    assert_eq!(fixture.platform.status().goal, Some(goal));
    fixture.platform.navigated(1, Navigation::Accepted);
    assert_eq!(fixture.platform.status().planner, PlannerState::PathFound);
    fixture.run(1.0);
    assert_eq!(fixture.output.twist, Twist::ZERO);
    // No task during a break or an emergency stop.
    fixture.send(Command::Break).unwrap();
    assert_eq!(fixture.platform.delegated(), None);
    fixture.send(Command::Continue).unwrap();
    assert_eq!(fixture.platform.delegated().unwrap().0, 1);
    // Reports on another motion are ignored.
    fixture.platform.navigated(7, Navigation::Arrived);
    assert!(!fixture.platform.status().target_reached);
    fixture.platform.navigated(1, Navigation::Arrived);
    assert!(fixture.platform.status().target_reached && fixture.platform.delegated().is_none());
    assert_eq!(fixture.platform.motion().end, Some(MotionEnd::Arrived));

    fixture.send(Command::MovePath(vec![Pose::ORIGIN, goal])).unwrap();
    assert_eq!(fixture.platform.delegated().unwrap().0, 2);
    fixture.platform.navigated(2, Navigation::Failed);
    assert_eq!(fixture.platform.status().planner, PlannerState::NoPath);
    assert_eq!(fixture.platform.motion().end, Some(MotionEnd::NotNavigated));
    fixture.send(Command::MoveAbsolute(goal)).unwrap();
    fixture.input.emergency_stop = true;
    fixture.cycle();
    assert_eq!(
        (fixture.platform.delegated(), fixture.platform.motion().end),
        (None, Some(MotionEnd::GivenUp))
    );

    // A goal that the map prohibits is refused.
    let area = [[1.0, -1.0], [3.0, -1.0], [3.0, 1.0], [1.0, 1.0]].map(Point::from).to_vec();
    let area = dragoman_geometry::Polygon::new(area).unwrap();
    let settings = Settings { is_delegated: true, ..Settings::default() };
    let mut fixture = Fixture::moving(settings, MotionMode::Automatic);
    fixture.send(Command::SetMap(Map { prohibited: vec![area], ..Map::default() })).unwrap();
    let refused = Err(Refusal::Plan(PlanError::CollisionTarget));
    assert_eq!(fixture.send(Command::MoveAbsolute(goal)), refused);
    assert_eq!(fixture.platform.would_drive(&Target::Pose(goal)), refused);
    assert_eq!(fixture.platform.delegated(), None);
}

/// PlatformCtrl guide, 4.3: a new command ends the old motion at once. CMD_GET_STATUS: PLANNER_NO_PATH is 2.
#[test]
fn an_unknown_or_unreachable_station_ends_the_old_motion_and_the_status_says_so() {
    let station =
        |name: &str, x: f64| Station { id: name.into(), name: name.into(), pose: Pose::new(x, 0.0, 0.0) };
    let roadmap = Roadmap {
        stations: vec![station("near", 0.5), station("island", 9.0), station("far", 4.0)],
        edges: vec![Edge { start: "near".into(), end: "far".into(), points: Vec::new() }],
    };
    for (command, reason) in [
        (
            Command::MoveToStation("nowhere".into()),
            RouteError::UnknownStation { name: "nowhere".into(), hint: "; known: near, island, far".into() }
                .into(),
        ),
        (Command::MoveToStation("island".into()), RouteError::Unreachable("island".into()).into()),
        (Command::MovePath(Vec::new()), Refusal::EmptyPath),
    ] {
        let mut fixture = Fixture::moving(without_planning(), MotionMode::Automatic);
        fixture.send(Command::SetRoadmap(roadmap.clone())).unwrap();
        fixture.drive(Command::MoveAbsolute(Pose::new(0.3, 0.0, 0.0)));
        assert!(fixture.platform.status().target_reached);
        // At rest: what was reached is not the new target.
        assert_eq!(fixture.send(command.clone()), Err(Refusal::clone(&reason)));
        let status = fixture.platform.status();
        assert_eq!((status.target_reached, status.planner as i32), (false, 2), "{command:?}");
        // While driving: it stops at once.
        fixture.send(Command::MoveToStation("far".into())).unwrap();
        fixture.run(2.0);
        assert!(fixture.output.twist.linear > 0.3);
        let number = fixture.platform.motion().number;
        assert_eq!(fixture.send(command.clone()), Err(reason));
        assert_eq!(fixture.platform.motion().number, number + 1);
        assert_eq!(fixture.platform.motion().end, Some(MotionEnd::Failed(PlanError::NoPath)));
        let before = fixture.pose;
        fixture.run(2.0);
        // 0.5 m are its way to brake from 1 m/s.
        assert!(
            fixture.output.twist == Twist::ZERO && fixture.pose.x - before.x < 0.55,
            "{:?}",
            fixture.pose
        );
        let status = fixture.platform.status();
        assert_eq!((status.target_reached, status.planner, status.goal), (false, PlannerState::NoPath, None));
        // In another mode it has no effect.
        fixture.send(Command::Stop).unwrap();
        fixture.send(Command::SetMode(MotionMode::Velocity)).unwrap();
        assert_eq!(fixture.send(command), Err(Refusal::WrongMode(MotionMode::Velocity)));
        assert_eq!(fixture.platform.status().planner, PlannerState::Standby);
    }
}

#[test]
fn motions_have_numbers_and_ends() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Automatic);
    fixture.send(Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0))).unwrap();
    assert_eq!((fixture.platform.motion().number, fixture.platform.motion().end), (1, None));
    fixture.send(Command::MoveAbsolute(Pose::new(0.5, 0.0, 0.0))).unwrap();
    assert_eq!((fixture.platform.motion().number, fixture.platform.motion().end), (2, None));
    fixture.run(0.5);
    fixture.platform.give_up(1);
    assert_eq!(fixture.platform.motion().end, None);
    fixture.platform.give_up(2);
    assert_eq!(fixture.platform.motion().end, Some(MotionEnd::GivenUp));
    fixture.run(2.0);
    assert_eq!((fixture.output.twist, fixture.platform.status().operation), (Twist::ZERO, Operation::Moving));
    fixture.send(Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0))).unwrap();
    fixture.run(10.0);
    assert_eq!(
        (fixture.platform.motion().number, fixture.platform.motion().end),
        (3, Some(MotionEnd::Arrived))
    );
    assert_eq!(fixture.platform.would_drive(&Target::Path(Vec::new())), Err(Refusal::EmptyPath));
    assert_eq!(
        fixture.platform.would_drive(&Target::Pose(Pose::new(f64::NAN, 0.0, 0.0))),
        Err(Refusal::NotFinite)
    );
    fixture.send(Command::Stop).unwrap();
    let target = Target::Pose(Pose::ORIGIN);
    assert_eq!(fixture.platform.would_drive(&target), Err(Refusal::WrongState(Operation::Ready)));
}

/// Its grid and its lines take long to compute.
#[test]
fn a_prepared_map_is_not_prepared_again() {
    let map = testing::lab_map();
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Velocity);
    let prepared = PreparedMap::new(map.clone(), fixture.platform.settings()).unwrap();
    let (lines, ground) = (prepared.lines.clone(), prepared.ground.clone());
    let is_in_force = |platform: &Platform| {
        Arc::ptr_eq(&platform.area.lines, &lines) && Arc::ptr_eq(&platform.area.ground, &ground)
    };
    fixture.platform.set_prepared_map(prepared);
    assert_eq!(**fixture.platform.map(), map);
    assert!(is_in_force(&fixture.platform));
    // Parameters that do not change the grid do not cause a new computation, nor does mapping.
    let mut settings = fixture.platform.settings().clone();
    settings.planning.enabled = false;
    fixture.send(Command::SetSettings(Box::new(settings))).unwrap();
    fixture.send(Command::StartMapping).unwrap();
    fixture.send(Command::StopMapping).unwrap();
    assert!(is_in_force(&fixture.platform));
    // Besides the platform, the localization has them, and this test.
    assert_eq!(Arc::strong_count(&lines), 3);
}

#[test]
fn an_emergency_stop_is_obeyed_while_a_plan_is_made() {
    let goal = Pose::new(3.0, 1.0, 0.5);
    let mut settings = Settings::default();
    // The pose is that of the wheels: the laser does not see the walls of this map.
    settings.localization.local = false;
    let mut fixture = Fixture::moving(settings, MotionMode::Automatic);
    fixture.platform.plan_beside();
    // Errors that need no planning are reported at once.
    let prohibited = testing::rectangle(8.0, 8.0, 10.0, 10.0);
    fixture.send(Command::SetMap(Map { prohibited: vec![prohibited], ..Map::default() })).unwrap();
    let refused = fixture.send(Command::MoveAbsolute(Pose::new(9.0, 9.0, 0.0)));
    assert_eq!(refused, Err(PlanError::CollisionTarget.into()));
    fixture.send(Command::MoveAbsolute(goal)).unwrap();
    fixture.cycle();
    let job = fixture.platform.poll_plan().expect("a plan is wanted");
    assert_eq!(fixture.platform.status().planner, PlannerState::Planning);
    assert!(fixture.platform.poll_plan().is_none(), "one at a time");
    // The plan is no longer needed.
    fixture.input.emergency_stop = true;
    fixture.cycle();
    assert_eq!((fixture.platform.status().emergency, fixture.output.brakes), (Emergency::Active, [true; 2]));
    fixture.input.emergency_stop = false;
    fixture.run(1.0);
    fixture.send(Command::Start).unwrap();
    fixture.platform.handle_planned(job.solve());
    fixture.run(1.0);
    assert_eq!((fixture.pose, fixture.platform.status().goal), (Pose::ORIGIN, None), "a plan of before");

    fixture.send(Command::MoveAbsolute(goal)).unwrap();
    fixture.events.clear();
    for _ in 0..1500 {
        fixture.cycle();
        if let Some(job) = fixture.platform.poll_plan() {
            // Planning takes a while.
            fixture.run(0.3);
            fixture.platform.handle_planned(job.solve());
        }
    }
    fixture.assert_at(goal);
    // A goal that cannot be reached is cancelled.
    let wall = |ax: f64, ay: f64, bx: f64, by: f64| {
        dragoman_geometry::Segment::new(Point::new(ax, ay), Point::new(bx, by))
    };
    let lines = vec![
        wall(10.0, -2.0, 14.0, -2.0),
        wall(14.0, -2.0, 14.0, 2.0),
        wall(14.0, 2.0, 10.0, 2.0),
        wall(10.0, 2.0, 10.0, -2.0),
    ];
    fixture.send(Command::SetMap(Map { lines, ..Map::default() })).unwrap();
    fixture.send(Command::MoveAbsolute(Pose::new(12.0, 0.0, 0.0))).unwrap();
    fixture.cycle();
    let job = fixture.platform.poll_plan().expect("a plan is wanted");
    fixture.platform.handle_planned(job.solve());
    assert_eq!(fixture.platform.motion().end, Some(MotionEnd::Failed(PlanError::NoPath)));
    fixture.cycle();
    assert!(fixture.events.contains(&Event::Motion(MotionEvent::Failed(PlanError::NoPath))));
}
