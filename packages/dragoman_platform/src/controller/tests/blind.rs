//! A platform whose laser has never measured, or has stopped measuring.

use super::*;

/// Moving in this mode; the laser has never measured.
fn blind(settings: Settings, mode: MotionMode) -> Fixture {
    let mut fixture = Fixture::new(settings);
    fixture.sees = false;
    for command in [Command::Connect, Command::Initialize, Command::SetMode(mode), Command::Start] {
        fixture.send(command).unwrap();
    }
    fixture.run(0.1);
    fixture
}

#[test]
fn a_platform_without_a_first_scan_does_not_move_autonomously() {
    let goal = Pose::new(2.0, 0.0, 0.0);
    // With and without the collision check.
    for enabled in [true, false] {
        let mut settings = without_planning();
        settings.collision.enabled = enabled;
        let mut fixture = blind(settings, MotionMode::Automatic);
        assert!(fixture.platform.status().blind);
        assert!(fixture.events.contains(&Event::LaserSilent), "{:?}", fixture.events);
        fixture.send(Command::MoveAbsolute(goal)).unwrap();
        fixture.run(10.0);
        assert_eq!((fixture.pose, fixture.output.twist), (Pose::ORIGIN, Twist::ZERO));
        assert!(fixture.platform.status().collision);
        // It continues as soon as the laser measures.
        fixture.sees = true;
        fixture.run(20.0);
        assert!(!fixture.platform.status().blind && fixture.events.contains(&Event::LaserFound));
        fixture.assert_at(goal);
        // It stops when the laser stops measuring.
        fixture.send(Command::MoveAbsolute(Pose::ORIGIN)).unwrap();
        fixture.run(1.5);
        fixture.sees = false;
        fixture.run(3.0);
        let stood = fixture.pose;
        assert!(fixture.output.twist == Twist::ZERO && stood.x > 0.5, "{stood:?}");
        fixture.run(5.0);
        assert_eq!(fixture.pose, stood);
    }
}

#[test]
fn programs_and_other_navigators_wait_for_the_first_scan() {
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
    let mut fixture = Fixture::new(without_planning());
    fixture.sees = false;
    fixture.send(Command::SetProgram(Program { tasks: vec![drive] })).unwrap();
    for command in
        [Command::Connect, Command::Initialize, Command::SetMode(MotionMode::Program), Command::Start]
    {
        fixture.send(command).unwrap();
    }
    fixture.run(10.0);
    assert_eq!(fixture.pose, Pose::ORIGIN);
    fixture.sees = true;
    fixture.run(20.0);
    assert!((fixture.pose.x - 1.0).abs() < 0.02, "{:?}", fixture.pose);

    let delegated = Settings { is_delegated: true, ..without_planning() };
    let mut fixture = blind(delegated, MotionMode::Automatic);
    fixture.send(Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0))).unwrap();
    fixture.run(0.1);
    assert_eq!(fixture.platform.delegated(), None);
    fixture.sees = true;
    fixture.run(0.1);
    assert!(fixture.platform.delegated().is_some());
}

#[test]
fn a_person_drives_blind_only_without_the_collision_check() {
    let velocity = Command::Move(Twist::new(0.3, 0.0));
    let mut fixture = blind(Settings::default(), MotionMode::Velocity);
    fixture.send(velocity.clone()).unwrap();
    fixture.run(0.5);
    assert!(fixture.output.twist == Twist::ZERO && fixture.platform.status().collision);
    let mut settings = Settings::default();
    settings.collision.enabled = false;
    fixture.send(Command::SetSettings(Box::new(settings))).unwrap();
    fixture.send(velocity).unwrap();
    fixture.run(0.5);
    assert!(fixture.output.twist.linear > 0.1);
}

#[test]
fn a_platform_without_a_laser_is_not_blind() {
    let settings = Settings { has_laser: false, ..without_planning() };
    let mut fixture = blind(settings, MotionMode::Automatic);
    assert!(!fixture.platform.status().blind);
    let goal = Pose::new(1.0, 0.0, 0.0);
    fixture.drive(Command::MoveAbsolute(goal));
    fixture.assert_at(goal);
}
