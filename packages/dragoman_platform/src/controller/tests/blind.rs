//! A platform whose laser has never measured, or has stopped measuring.

use super::*;

/// Moving in this mode; the laser has never measured.
fn blind(settings: Settings, mode: MotionMode) -> Bench {
    let mut bench = Bench::new(settings);
    bench.sees = false;
    for command in [Command::Connect, Command::Initialize, Command::SetMode(mode), Command::Start] {
        bench.send(command).unwrap();
    }
    bench.run(0.1);
    bench
}

#[test]
fn a_platform_that_has_never_seen_does_not_move_by_itself() {
    let goal = Pose::new(2.0, 0.0, 0.0);
    // With and without the collision check.
    for enabled in [true, false] {
        let mut settings = without_planning();
        settings.collision.enabled = enabled;
        let mut bench = blind(settings, MotionMode::Automatic);
        assert!(bench.platform.status().blind);
        assert!(bench.events.contains(&Event::LaserSilent), "{:?}", bench.events);
        bench.send(Command::MoveAbsolute(goal)).unwrap();
        bench.run(10.0);
        assert_eq!((bench.pose, bench.output.twist), (Pose::ORIGIN, Twist::ZERO));
        assert!(bench.platform.status().collision);
        // It continues as soon as the laser measures.
        bench.sees = true;
        bench.run(20.0);
        assert!(!bench.platform.status().blind && bench.events.contains(&Event::LaserFound));
        bench.assert_at(goal);
        // It stops when the laser stops measuring.
        bench.send(Command::MoveAbsolute(Pose::ORIGIN)).unwrap();
        bench.run(1.5);
        bench.sees = false;
        bench.run(3.0);
        let stood = bench.pose;
        assert!(bench.output.twist == Twist::ZERO && stood.x > 0.5, "{stood:?}");
        bench.run(5.0);
        assert_eq!(bench.pose, stood);
    }
}

#[test]
fn programs_and_other_navigators_wait_until_it_sees() {
    let drive = Task {
        name: "drive".to_owned(),
        priority: 1,
        steps: Vec::new(),
        instructions: vec![
            Instruction::Move(Movement::Pose(Pose::new(1.0, 0.0, 0.0))),
            Instruction::Wait {
                events: vec![Awaited::Target],
                timeout: Some(Duration::from_secs(60)),
                timeout_label: None,
            },
        ],
    };
    let mut bench = Bench::new(without_planning());
    bench.sees = false;
    bench.send(Command::SetProgram(Program { tasks: vec![drive] })).unwrap();
    for command in
        [Command::Connect, Command::Initialize, Command::SetMode(MotionMode::Program), Command::Start]
    {
        bench.send(command).unwrap();
    }
    bench.run(10.0);
    assert_eq!(bench.pose, Pose::ORIGIN);
    bench.sees = true;
    bench.run(20.0);
    assert!((bench.pose.x - 1.0).abs() < 0.02, "{:?}", bench.pose);

    let delegated = Settings { is_delegated: true, ..without_planning() };
    let mut bench = blind(delegated, MotionMode::Automatic);
    bench.send(Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0))).unwrap();
    bench.run(0.1);
    assert_eq!(bench.platform.delegated(), None);
    bench.sees = true;
    bench.run(0.1);
    assert!(bench.platform.delegated().is_some());
}

#[test]
fn a_person_drives_blind_only_without_the_collision_check() {
    let velocity = Command::Move(Twist::new(0.3, 0.0));
    let mut bench = blind(Settings::default(), MotionMode::Velocity);
    bench.send(velocity.clone()).unwrap();
    bench.run(0.5);
    assert!(bench.output.twist == Twist::ZERO && bench.platform.status().collision);
    let mut settings = Settings::default();
    settings.collision.enabled = false;
    bench.send(Command::SetSettings(Box::new(settings))).unwrap();
    bench.send(velocity).unwrap();
    bench.run(0.5);
    assert!(bench.output.twist.linear > 0.1);
}

#[test]
fn a_platform_without_a_laser_is_not_blind() {
    let settings = Settings { has_laser: false, ..without_planning() };
    let mut bench = blind(settings, MotionMode::Automatic);
    assert!(!bench.platform.status().blind);
    let goal = Pose::new(1.0, 0.0, 0.0);
    bench.drive(Command::MoveAbsolute(goal));
    bench.assert_at(goal);
}
