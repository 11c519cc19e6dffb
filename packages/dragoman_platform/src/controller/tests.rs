use dragoman_geometry::{Point, direction, position};
use dragoman_neobotix::codes::Code;
use dragoman_neobotix::map::Map;

use super::*;
use crate::planning::PlanError;
use crate::program::{Awaited, Condition, Effect, Instruction, Movement, Program, Task, TrackedObject};

const STEP: Duration = Duration::from_millis(20);

/// A platform that follows its commands exactly, in a world of points.
struct Fixture {
    platform: Platform,
    now: Duration,
    /// True pose, in the map; the odometry starts at the origin.
    pose: Pose,
    output: Output,
    input: Input<'static>,
    /// Obstacles, in the map.
    things: Vec<Point>,
    /// Whether the laser measures.
    sees: bool,
    events: Vec<Event>,
}

impl Fixture {
    fn new(settings: Settings) -> Self {
        let platform = Platform::new(settings).unwrap();
        let output =
            Output { twist: Twist::ZERO, brakes: [true; 2], digital_outputs: [0; 2], ultrasonics: 0 };
        let input = Input::at(Duration::ZERO, Pose::ORIGIN);
        let (things, events) = (Vec::new(), Vec::new());
        let now = Duration::from_secs(5);
        Self { platform, now, pose: Pose::ORIGIN, output, input, things, sees: true, events }
    }

    /// A moving platform in this mode.
    fn moving(settings: Settings, mode: MotionMode) -> Self {
        let mut fixture = Self::new(settings);
        for command in [Command::Connect, Command::Initialize, Command::SetMode(mode), Command::Start] {
            fixture.send(command).unwrap();
        }
        fixture.run(0.1);
        fixture.events.clear();
        fixture
    }

    fn send(&mut self, command: Command) -> Result<(), Refusal> {
        self.platform.command(command)
    }

    fn cycle(&mut self) {
        self.now += STEP;
        let time = STEP.as_secs_f64();
        let twist = self.output.twist;
        let ahead = direction(self.pose.heading + twist.angular * time / 2.0) * time;
        let way = ahead * twist.linear + dragoman_geometry::Vector::new(-ahead.y, ahead.x) * twist.lateral;
        self.pose = compose(
            Pose::new(self.pose.x + way.x, self.pose.y + way.y, self.pose.heading),
            Pose::new(0.0, 0.0, twist.angular * time),
        );
        let seen: Vec<Point> =
            self.things.iter().map(|&thing| dragoman_geometry::inverse_transform(self.pose, thing)).collect();
        let scan = Scan { origin: Point::new(0.4, 0.0), points: &seen };
        let scan = self.sees.then_some(scan);
        let input = Input { now: self.now, odometry: self.pose, scan, ..self.input };
        self.output = self.platform.cycle(&input);
        while let Some(event) = self.platform.poll_event() {
            self.events.push(event);
        }
    }

    fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / STEP.as_secs_f64()).round() as usize {
            self.cycle();
        }
    }

    /// Runs until a motion has ended; returns all poses on the way.
    fn drive(&mut self, command: Command) -> Vec<Pose> {
        self.send(command).unwrap();
        let mut poses = Vec::new();
        for _ in 0..20_000 {
            self.cycle();
            poses.push(self.pose);
            let ended = |event: &Event| {
                matches!(
                    event,
                    Event::Motion(MotionEvent::Arrived | MotionEvent::Missed | MotionEvent::Failed(_))
                )
            };
            if self.events.iter().any(ended) {
                return poses;
            }
        }
        panic!("not arrived: {:?} {:?}", self.platform.status(), self.events);
    }

    fn assert_at(&self, goal: Pose) {
        assert!(self.events.contains(&Event::Motion(MotionEvent::Arrived)), "{:?}", self.events);
        assert!((position(self.pose) - position(goal)).norm() < 0.02, "{:?} {goal:?}", self.pose);
        let wrong = dragoman_geometry::wrap_angle(self.pose.heading - goal.heading);
        assert!(wrong.abs() < 1.0_f64.to_radians(), "{:?} {goal:?}", self.pose);
        assert!(self.platform.status().target_reached);
    }
}

fn without_planning() -> Settings {
    let mut settings = Settings::default();
    settings.planning.enabled = false;
    settings
}

#[test]
fn the_session_of_a_real_client_drives() {
    let mut fixture = Fixture::new(Settings::default());
    let wheels = Command::MoveWheels { right: 0.3, left: 0.3 };
    fixture.run(0.1);
    fixture.send(Command::Connect).unwrap();
    fixture.send(Command::Stop).unwrap();
    fixture.send(Command::SetMode(MotionMode::Velocity)).unwrap();
    fixture.send(Command::Continue).unwrap();
    for _ in 0..10 {
        fixture.send(wheels.clone()).unwrap();
        fixture.run(0.4);
    }
    assert!((fixture.output.twist.linear - 0.3).abs() < 1e-9);
    assert!((1.0..1.2).contains(&fixture.pose.x), "{:?}", fixture.pose);
    // Without further commands it brakes after a second.
    fixture.run(1.0);
    assert!(fixture.output.twist.linear < 0.3 && fixture.events.contains(&Event::WatchdogExpired));
    fixture.run(1.0);
    assert_eq!(fixture.output.twist, Twist::ZERO);
}

#[test]
fn the_state_chart_is_that_of_the_guide() {
    let mut fixture = Fixture::new(Settings::default());
    let state = |fixture: &Fixture| fixture.platform.status().operation;
    assert_eq!(fixture.send(Command::Initialize), Err(Refusal::NotConnected));
    assert_eq!(fixture.send(Command::Stop), Err(Refusal::NotConnected));
    assert_eq!(fixture.send(Command::Start), Err(Refusal::WrongState(Operation::NotInitialized)));
    fixture.send(Command::Connect).unwrap();
    assert_eq!(state(&fixture), Operation::NotInitialized);
    fixture.send(Command::Initialize).unwrap();
    assert_eq!(state(&fixture), Operation::Ready);
    assert_eq!(fixture.send(Command::Break), Err(Refusal::WrongState(Operation::Ready)));
    fixture.send(Command::SetMode(MotionMode::Velocity)).unwrap();
    fixture.send(Command::Start).unwrap();
    assert_eq!(state(&fixture), Operation::Moving);
    assert_eq!(fixture.send(Command::SetMode(MotionMode::None)), Err(Refusal::WrongState(Operation::Moving)));
    fixture.send(Command::Break).unwrap();
    assert_eq!(state(&fixture), Operation::Broken);
    assert_eq!(fixture.send(Command::Start), Err(Refusal::WrongState(Operation::Broken)));
    fixture.send(Command::Continue).unwrap();
    assert_eq!(state(&fixture), Operation::Moving);
    fixture.send(Command::Stop).unwrap();
    assert_eq!(state(&fixture), Operation::Ready);
    fixture.send(Command::Shutdown).unwrap();
    assert_eq!(state(&fixture), Operation::NotInitialized);
    assert_eq!(fixture.output.brakes, [true; 2]);
    fixture.run(0.02);
    let changes: Vec<Operation> = fixture
        .events
        .iter()
        .filter_map(|event| if let Event::Operation(state) = event { Some(*state) } else { None })
        .collect();
    let wanted = [
        Operation::Ready,
        Operation::Moving,
        Operation::Broken,
        Operation::Moving,
        Operation::Ready,
        Operation::NotInitialized,
    ];
    assert_eq!(changes, wanted);
}

#[test]
fn each_mode_accepts_only_its_commands() {
    let velocity = || Command::Move(Twist::new(0.2, 0.0));
    let wheels = || Command::MoveWheels { right: 0.2, left: 0.2 };
    let goal = || Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0));
    let modes = MotionMode::ALL.iter().copied();
    for (number, mode) in (0..).zip(modes.clone()) {
        assert_eq!(Command::set_mode(number), Ok(Command::SetMode(mode)));
    }
    for (mode, accepted) in modes.zip(["", "", "v", "vw", "g", "", ""]) {
        let mut fixture = Fixture::moving(Settings::default(), mode);
        for (letter, command) in [('v', velocity()), ('w', wheels()), ('g', goal())] {
            let wanted = if accepted.contains(letter) { Ok(()) } else { Err(Refusal::WrongMode(mode)) };
            assert_eq!(fixture.send(command), wanted, "{mode:?} {letter}");
        }
        fixture.run(0.5);
        assert_eq!(fixture.output.twist != Twist::ZERO, !accepted.is_empty(), "{mode:?}");
        fixture.send(Command::Stop).unwrap();
        assert!(fixture.send(velocity()).is_err());
        fixture.run(1.0);
        assert_eq!(fixture.output.twist, Twist::ZERO);
    }
    assert_eq!(Command::set_mode(7), Err(Refusal::UnknownMode(7)));
    assert_eq!(Command::set_mode(-1), Err(Refusal::UnknownMode(-1)));
    // The joystick comes with the measurements.
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::JoystickHardware);
    fixture.input.joystick = Some(Twist::new(0.2, 0.0));
    fixture.run(0.5);
    assert_eq!(fixture.output.twist.linear, 0.2);
    fixture.input.joystick = Some(Twist::new(f64::NAN, 0.0));
    fixture.run(0.5);
    assert_eq!(fixture.output.twist, Twist::ZERO);
}

#[test]
fn an_emergency_stop_secures_the_platform_until_its_reset() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Velocity);
    fixture.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    fixture.run(0.9);
    assert!(fixture.output.twist.linear > 0.4);
    fixture.input.emergency_stop = true;
    fixture.cycle();
    assert_eq!((fixture.output.twist, fixture.output.brakes), (Twist::ZERO, [true; 2]));
    let status = fixture.platform.status();
    assert_eq!((status.operation, status.emergency), (Operation::Broken, Emergency::Active));
    let refused = Err(Refusal::Emergency(Emergency::Active));
    for command in [Command::Continue, Command::Start, Command::Stop] {
        assert_eq!(fixture.send(command), refused);
    }
    assert_eq!(fixture.send(Command::SetBrake { motor: Motor::Left, applied: false }), refused);
    fixture.input.emergency_stop = false;
    fixture.cycle();
    assert_eq!(fixture.platform.status().emergency, Emergency::Reset);
    fixture.run(0.6);
    let status = fixture.platform.status();
    assert_eq!((status.operation, status.emergency), (Operation::Ready, Emergency::Inactive));
    // No autonomous motion.
    fixture.run(1.0);
    assert_eq!((fixture.output.twist, fixture.output.brakes), (Twist::ZERO, [false; 2]));
}

#[test]
fn a_silent_base_has_to_be_initialized_again() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Velocity);
    fixture.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    fixture.run(0.5);
    fixture.input.base_alive = false;
    fixture.run(0.1);
    assert_eq!(fixture.output.twist, Twist::ZERO);
    assert_eq!(fixture.send(Command::Initialize), Err(Refusal::BaseSilent));
    fixture.input.base_alive = true;
    fixture.run(0.5);
    assert_eq!(fixture.output.twist, Twist::ZERO);
    assert_eq!(fixture.platform.status().operation, Operation::NotInitialized);
    fixture.send(Command::Initialize).unwrap();
    assert_eq!(fixture.platform.status().operation, Operation::Ready);
}

#[test]
fn brakes_outputs_and_ultrasonics_are_set() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Velocity);
    fixture.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    fixture.send(Command::SetBrake { motor: Motor::Left, applied: true }).unwrap();
    fixture.send(Command::SetDigitalOutput { board: Board::Relay, channel: 15, high: true }).unwrap();
    fixture.send(Command::SetDigitalOutput { board: Board::Io, channel: 0, high: true }).unwrap();
    fixture.send(Command::StartUltrasonic { channels: 5 }).unwrap();
    fixture.run(0.5);
    let wanted =
        Output { twist: Twist::ZERO, brakes: [false, true], digital_outputs: [1, 1 << 15], ultrasonics: 5 };
    assert_eq!(fixture.output, wanted);
    fixture.send(Command::SetDigitalOutput { board: Board::Io, channel: 0, high: false }).unwrap();
    fixture.send(Command::StopUltrasonic).unwrap();
    fixture.send(Command::SetBrake { motor: Motor::Left, applied: false }).unwrap();
    fixture.run(0.2);
    assert_eq!((fixture.output.digital_outputs[0], fixture.output.ultrasonics), (0, 0));
    // The brake has interrupted the motion: it does not drive on by itself.
    assert_eq!((fixture.output.twist, fixture.platform.status().operation), (Twist::ZERO, Operation::Broken));
    fixture.send(Command::Continue).unwrap();
    fixture.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    fixture.run(0.2);
    assert!(fixture.output.twist.linear > 0.0);
    let unknown = fixture.send(Command::SetDigitalOutput { board: Board::Io, channel: 16, high: true });
    assert_eq!(unknown, Err(Refusal::UnknownChannel(16)));
}

#[test]
fn what_is_not_finite_is_refused() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Automatic);
    let wrong = Pose::new(0.0, f64::NAN, 0.0);
    for command in [
        Command::MoveAbsolute(wrong),
        Command::MoveRelative(wrong),
        Command::MovePath(vec![Pose::ORIGIN, wrong]),
        Command::SetPose(wrong),
        Command::PlaceObstacle(Some(Point::new(f64::INFINITY, 0.0))),
    ] {
        assert_eq!(fixture.send(command), Err(Refusal::NotFinite));
    }
    // The maximum INT of a telegram in mm.
    let far = Pose::new(2_147_483.647, 0.0, 0.0);
    for command in [
        Command::MoveAbsolute(far),
        Command::MoveRelative(far),
        Command::MovePath(vec![Pose::ORIGIN, far]),
        Command::SetPose(far),
    ] {
        assert_eq!(fixture.send(command), Err(Refusal::TooFar));
    }
    assert_eq!(fixture.send(Command::MovePath(Vec::new())), Err(Refusal::EmptyPath));
    fixture.run(0.1);
    assert_eq!(fixture.output.twist, Twist::ZERO);
}

#[test]
fn goals_are_reached_with_and_without_planning() {
    for planning in [false, true] {
        for (start_turn, end_turn) in [(true, true), (true, false), (false, true), (false, false)] {
            for goal in [Pose::new(2.0, 1.5, -1.0), Pose::new(-3.0, 0.5, 3.0), Pose::new(0.0, 0.0, 1.0)] {
                let mut settings = Settings::default();
                settings.planning.enabled = planning;
                settings.interpolation.start_turn = start_turn;
                settings.interpolation.end_turn = end_turn;
                let mut fixture = Fixture::moving(settings, MotionMode::Automatic);
                fixture.drive(Command::MoveAbsolute(goal));
                fixture.assert_at(goal);
                // It waits for the next goal.
                assert_eq!(fixture.platform.status().operation, Operation::Moving);
                fixture.events.clear();
                let next = compose(fixture.pose, Pose::new(1.0, 0.0, 0.5));
                fixture.drive(Command::MoveRelative(Pose::new(1.0, 0.0, 0.5)));
                fixture.assert_at(next);
            }
        }
    }
}

#[test]
fn a_motion_is_interrupted_goes_on_and_is_replaced() {
    let mut fixture = Fixture::moving(without_planning(), MotionMode::Automatic);
    fixture.send(Command::MoveAbsolute(Pose::new(4.0, 0.0, 0.0))).unwrap();
    fixture.run(2.0);
    fixture.send(Command::Break).unwrap();
    fixture.run(2.0);
    let stood = fixture.pose;
    assert!(stood.x > 0.5 && fixture.output.twist == Twist::ZERO);
    fixture.run(2.0);
    assert_eq!(fixture.pose, stood);
    fixture.send(Command::Continue).unwrap();
    fixture.run(2.0);
    assert!(fixture.pose.x > 1.5);
    // Another goal while it moves takes effect at once.
    fixture.drive(Command::MoveAbsolute(Pose::new(2.0, 2.0, 0.0)));
    fixture.assert_at(Pose::new(2.0, 2.0, 0.0));
    fixture.send(Command::MoveAbsolute(Pose::ORIGIN)).unwrap();
    fixture.send(Command::Stop).unwrap();
    fixture.send(Command::Start).unwrap();
    fixture.run(2.0);
    assert_eq!(fixture.platform.status().goal, None);
    assert_eq!(fixture.output.twist, Twist::ZERO);
}

#[test]
fn without_planning_obstacles_are_waited_for() {
    let mut fixture = Fixture::moving(without_planning(), MotionMode::Automatic);
    fixture.things = vec![Point::new(2.5, 0.05)];
    fixture.send(Command::MoveAbsolute(Pose::new(4.0, 0.0, 0.0))).unwrap();
    fixture.run(20.0);
    assert!(
        fixture.platform.status().collision && fixture.events.contains(&Event::Motion(MotionEvent::Blocked))
    );
    let gap = 2.5 - fixture.pose.x - 0.45;
    assert!((0.13..0.25).contains(&gap), "{gap}");
    fixture.things.clear();
    fixture.run(15.0);
    assert!(fixture.events.contains(&Event::Motion(MotionEvent::Resumed)));
    fixture.assert_at(Pose::new(4.0, 0.0, 0.0));
}

#[test]
fn with_planning_obstacles_are_driven_around() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Automatic);
    fixture.send(Command::MoveAbsolute(Pose::new(6.0, 0.0, 0.0))).unwrap();
    fixture.run(2.0);
    fixture.things = (-5..=5).map(|step| Point::new(3.0, f64::from(step) * 0.1)).collect();
    let things = fixture.things.clone();
    for _ in 0..3000 {
        fixture.cycle();
        for &thing in &things {
            let seen = dragoman_geometry::inverse_transform(fixture.pose, thing);
            assert!(!fixture.platform.settings().footprint.contains(seen), "{:?}", fixture.pose);
        }
    }
    fixture.assert_at(Pose::new(6.0, 0.0, 0.0));
}

#[test]
fn a_path_is_waited_on_and_entered_again_behind_an_obstacle() {
    let path = [[1.0, 0.0], [5.0, 0.0], [5.0, 4.0]].map(|[x, y]| Pose::new(x, y, 1.0));
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Automatic);
    fixture.things = (-3..=3).map(|step| Point::new(3.0, f64::from(step) * 0.1)).collect();
    let poses = fixture.drive(Command::MovePath(path.to_vec()));
    fixture.assert_at(path[2]);
    let blocked = fixture.events.iter().position(|event| *event == Event::Motion(MotionEvent::Blocked));
    let replanned = fixture.events.iter().position(|event| *event == Event::Motion(MotionEvent::Replanned));
    assert!(blocked.is_some() && blocked < replanned, "{:?}", fixture.events);
    // It stood for the three seconds of the settings, and was on the path before and after.
    let waited = poses.windows(2).filter(|pair| pair[0] == pair[1] && pair[0].x > 1.5).count();
    assert!(waited > 125, "{waited}");
    let farthest =
        |poses: &mut dyn Iterator<Item = &Pose>| poses.map(|pose| pose.y.abs()).fold(0.0, f64::max);
    assert!(farthest(&mut poses.iter().filter(|pose| (0.5..1.5).contains(&pose.x) && pose.y < 1.0)) < 0.05);
    let behind = poses.iter().filter(|pose| pose.y > 1.0 && pose.x > 4.0);
    assert!(behind.map(|pose| (pose.x - 5.0).abs()).fold(0.0, f64::max) < 0.05);
}

#[test]
fn what_the_map_forbids_is_refused_and_never_entered() {
    let corners = [[2.0, -1.0], [4.0, -1.0], [4.0, 1.0], [2.0, 1.0]].map(Point::from);
    let area = dragoman_geometry::Polygon::new(corners.to_vec()).unwrap();
    let map = Map { prohibited: vec![area], ..Map::default() };
    let mut fixture = Fixture::moving(without_planning(), MotionMode::Automatic);
    fixture.send(Command::SetMap(map.clone())).unwrap();
    let refused = fixture.send(Command::MoveAbsolute(Pose::new(6.0, 0.0, 0.0)));
    assert_eq!(refused, Err(Refusal::Plan(PlanError::NoPath)));
    let refused = fixture.send(Command::MoveAbsolute(Pose::new(3.0, 0.0, 0.0)));
    assert_eq!(refused, Err(Refusal::Plan(PlanError::CollisionTarget)));
    assert_eq!(fixture.platform.status().planner, PlannerState::CollisionTarget);
    // The path cuts a corner of the area.
    let path = [[1.2, 0.0], [1.2, 1.4], [6.0, 1.4]].map(|[x, y]| Pose::new(x, y, 0.0)).to_vec();
    fixture.run(0.1);
    for pose in fixture.drive(Command::MovePath(path)) {
        assert!(!map.forbids(&fixture.platform.settings().footprint.at(pose)), "{pose:?}");
    }
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::Automatic);
    fixture.send(Command::SetMap(map.clone())).unwrap();
    for pose in fixture.drive(Command::MoveAbsolute(Pose::new(6.0, 0.0, 1.0))) {
        assert!(!map.forbids(&fixture.platform.settings().footprint.at(pose)), "{pose:?}");
    }
    fixture.assert_at(Pose::new(6.0, 0.0, 1.0));
}

#[test]
fn a_program_with_two_tasks_runs_to_its_end() {
    let task = |name: &str, priority, instructions| {
        let (name, steps) = (name.to_owned(), Vec::new());
        Task { name, priority, instructions, steps }
    };
    let wait = |event, seconds: Option<u64>, label: Option<&str>| Instruction::Wait {
        events: vec![event],
        timeout: seconds.map(Duration::from_secs),
        timeout_label: label.map(str::to_owned),
    };
    let log =
        |message: &str| Instruction::Do(Effect::Log { kind: "info".to_owned(), message: message.to_owned() });
    let label = |name: &str| Instruction::Label(name.to_owned());
    let goal = Pose::new(2.0, 1.0, 0.5);
    let mut outputs = [None; 12];
    outputs[3] = Some(true);
    let driver = vec![
        Instruction::Do(Effect::SetOutputs(outputs)),
        Instruction::Move(Movement::Pose(goal)),
        wait(Awaited::Target, Some(60), Some("late")),
        log("there"),
        Instruction::Move(Movement::Station("nowhere".to_owned())),
        Instruction::Move(Movement::After {
            object: TrackedObject::ChargingStation,
            on_error: Some("rescue".to_owned()),
        }),
        Instruction::Goto { label: "end".to_owned(), condition: Condition::Constant(true) },
        label("late"),
        log("late"),
        label("end"),
    ];
    let watcher = vec![
        wait(Awaited::Delay(Duration::from_secs(2)), None, None),
        log("two seconds"),
        wait(Awaited::Person, Some(3), Some("nobody")),
        log("somebody"),
        label("nobody"),
        log("nobody"),
    ];
    let rescue = vec![log("no charging station")];
    let tasks = vec![task("driver", 1, driver), task("watcher", 5, watcher), task("rescue", 0, rescue)];
    let program = Program { tasks };
    let mut fixture = Fixture::new(Settings::default());
    for command in [Command::Connect, Command::Initialize, Command::SetMode(MotionMode::Program)] {
        fixture.send(command).unwrap();
    }
    fixture.send(Command::SetProgram(program.clone())).unwrap();
    fixture.send(Command::Start).unwrap();
    fixture.run(1.0);
    assert_eq!(fixture.send(Command::SetProgram(program)), Err(Refusal::WrongState(Operation::Moving)));
    assert_eq!(
        fixture.send(Command::MoveAbsolute(Pose::ORIGIN)),
        Err(Refusal::WrongMode(MotionMode::Program))
    );
    // When interrupted it stops, and then continues.
    fixture.send(Command::Break).unwrap();
    fixture.run(2.0);
    let stood = fixture.pose;
    fixture.run(2.0);
    assert_eq!(fixture.pose, stood);
    fixture.send(Command::Continue).unwrap();
    fixture.run(30.0);
    let logs: Vec<&str> = fixture
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Program(Effect::Log { message, .. }) => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(logs, ["two seconds", "nobody", "there", "no charging station"]);
    assert!((position(fixture.pose) - position(goal)).norm() < 0.02, "{:?}", fixture.pose);
    // What was reached is not the unknown station.
    let status = fixture.platform.status();
    assert_eq!((status.target_reached, status.planner), (false, PlannerState::NoPath));
    assert_eq!(fixture.output.digital_outputs, [1 << 3, 0]);
    assert!(fixture.events.contains(&Event::ProgramEnded));
    let refused = fixture.events.iter().filter(|event| matches!(event, Event::ProgramRefused(_))).count();
    assert_eq!(refused, 2);
}

mod blind;
mod goals;
mod kept;
mod omnidirectional;
mod sensing;
