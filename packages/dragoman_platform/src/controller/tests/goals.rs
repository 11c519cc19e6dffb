//! Motions by their numbers: driven by another navigator, given up, and recorded ones driven again.

use super::*;
use crate::motion::automatic::{MotionEnd, Navigation, Target};
use crate::replay::{Recording, ReplayError};

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
    let mut bench = Bench::moving(Settings::default(), MotionMode::Velocity);
    assert_eq!(bench.tell(replay()), Err(Refusal::WrongMode(MotionMode::Velocity)));
    bench.tell(Command::Stop).unwrap();
    bench.tell(Command::SetMode(MotionMode::Replay)).unwrap();
    assert_eq!(bench.tell(Command::StartReplay(Recording::default())), Err(ReplayError::TooShort.into()));
    assert_eq!(bench.platform.status().operation, Operation::Ready);
    bench.tell(replay()).unwrap();
    assert_eq!(bench.platform.status().operation, Operation::Moving);
    bench.run(1.0);
    assert!(bench.pose.x > 0.1, "{:?}", bench.pose);
    assert!(bench.platform.status().commanded_pose.x > 0.1);

    // A break, and something in the way: it goes on with what is left.
    bench.tell(Command::Break).unwrap();
    bench.run(3.0);
    let broken = bench.pose;
    bench.run(1.0);
    assert!((position(bench.pose) - position(broken)).norm() < 1e-3);
    bench.things = (-5..=5).map(|part| Point::new(broken.x + 0.75, f64::from(part) * 0.05)).collect();
    bench.tell(Command::Continue).unwrap();
    bench.run(10.0);
    assert!(bench.pose.x < broken.x + 0.2 && bench.platform.status().collision, "{:?}", bench.pose);
    assert_eq!(bench.platform.status().operation, Operation::Moving);
    bench.things.clear();
    bench.run(10.0);
    assert_eq!(bench.platform.status().operation, Operation::Ready);
    assert!(bench.events.contains(&Event::ReplayEnded), "{:?}", bench.events);
    let end = recording().samples()[99].pose;
    let error = dragoman_geometry::relative(end, bench.pose);
    assert!(error.x.hypot(error.y) < 0.03 && error.heading.abs() < 0.04, "{error:?}");

    // From elsewhere it is refused; carried off, it is given up.
    assert!(matches!(bench.tell(replay()), Err(Refusal::Replay(ReplayError::Elsewhere { .. }))));
    bench.tell(Command::SetPose(Pose::ORIGIN)).unwrap();
    bench.tell(replay()).unwrap();
    bench.run(0.5);
    bench.tell(Command::SetPose(Pose::new(3.0, 0.0, 0.0))).unwrap();
    bench.run(0.1);
    assert_eq!(bench.platform.status().operation, Operation::Ready);
    assert!(bench.events.contains(&Event::ReplayAstray));
    bench.run(2.0);
    assert_eq!(bench.output.twist, Twist::ZERO);
}

#[test]
fn where_another_navigator_drives_it_is_told_where_to() {
    let settings = Settings { is_delegated: true, ..Settings::default() };
    let mut bench = Bench::moving(settings, MotionMode::Automatic);
    assert_eq!(bench.platform.delegated(), None);
    let goal = Pose::new(2.0, 0.0, 0.0);
    bench.tell(Command::MoveAbsolute(goal)).unwrap();
    let (number, target) = bench.platform.delegated().unwrap();
    assert_eq!((number, target), (1, &Target::Pose(goal)));
    assert_eq!(bench.platform.status().goal, Some(goal));
    bench.platform.navigated(1, Navigation::Accepted);
    assert_eq!(bench.platform.status().planner, PlannerState::PathFound);
    bench.run(1.0);
    assert_eq!(bench.output.twist, Twist::ZERO);
    // Nothing is to be done during a break or an emergency stop.
    bench.tell(Command::Break).unwrap();
    assert_eq!(bench.platform.delegated(), None);
    bench.tell(Command::Continue).unwrap();
    assert_eq!(bench.platform.delegated().unwrap().0, 1);
    // News of another motion are none.
    bench.platform.navigated(7, Navigation::Arrived);
    assert!(!bench.platform.status().target_reached);
    bench.platform.navigated(1, Navigation::Arrived);
    assert!(bench.platform.status().target_reached && bench.platform.delegated().is_none());
    assert_eq!(bench.platform.motion().end, Some(MotionEnd::Arrived));

    bench.tell(Command::MovePath(vec![Pose::ORIGIN, goal])).unwrap();
    assert_eq!(bench.platform.delegated().unwrap().0, 2);
    bench.platform.navigated(2, Navigation::Failed);
    assert_eq!(bench.platform.status().planner, PlannerState::NoPath);
    assert_eq!(bench.platform.motion().end, Some(MotionEnd::NotNavigated));
    bench.tell(Command::MoveAbsolute(goal)).unwrap();
    bench.input.emergency_stop = true;
    bench.cycle();
    assert_eq!((bench.platform.delegated(), bench.platform.motion().end), (None, Some(MotionEnd::GivenUp)));

    // What the map forbids goes nowhere.
    let area = [[1.0, -1.0], [3.0, -1.0], [3.0, 1.0], [1.0, 1.0]].map(Point::from).to_vec();
    let area = dragoman_geometry::Polygon::new(area).unwrap();
    let settings = Settings { is_delegated: true, ..Settings::default() };
    let mut bench = Bench::moving(settings, MotionMode::Automatic);
    bench.tell(Command::SetMap(Map { prohibited: vec![area], ..Map::default() })).unwrap();
    let refused = Err(Refusal::Plan(PlanError::CollisionTarget));
    assert_eq!(bench.tell(Command::MoveAbsolute(goal)), refused);
    assert_eq!(bench.platform.would_drive(&Target::Pose(goal)), refused);
    assert_eq!(bench.platform.delegated(), None);
}

#[test]
fn motions_have_numbers_and_ends() {
    let mut bench = Bench::moving(Settings::default(), MotionMode::Automatic);
    bench.tell(Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0))).unwrap();
    assert_eq!((bench.platform.motion().number, bench.platform.motion().end), (1, None));
    bench.tell(Command::MoveAbsolute(Pose::new(0.5, 0.0, 0.0))).unwrap();
    assert_eq!((bench.platform.motion().number, bench.platform.motion().end), (2, None));
    bench.run(0.5);
    bench.platform.give_up(1);
    assert_eq!(bench.platform.motion().end, None);
    bench.platform.give_up(2);
    assert_eq!(bench.platform.motion().end, Some(MotionEnd::GivenUp));
    bench.run(2.0);
    assert_eq!((bench.output.twist, bench.platform.status().operation), (Twist::ZERO, Operation::Moving));
    bench.tell(Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0))).unwrap();
    bench.run(10.0);
    assert_eq!((bench.platform.motion().number, bench.platform.motion().end), (3, Some(MotionEnd::Arrived)));
    assert_eq!(bench.platform.would_drive(&Target::Path(Vec::new())), Err(Refusal::EmptyPath));
    assert_eq!(
        bench.platform.would_drive(&Target::Pose(Pose::new(f64::NAN, 0.0, 0.0))),
        Err(Refusal::NotFinite)
    );
    bench.tell(Command::Stop).unwrap();
    let target = Target::Pose(Pose::ORIGIN);
    assert_eq!(bench.platform.would_drive(&target), Err(Refusal::WrongState(Operation::Ready)));
}
