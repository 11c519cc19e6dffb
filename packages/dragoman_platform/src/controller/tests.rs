use dragoman_geometry::{Point, direction, position};
use dragoman_neobotix::codes::Code;
use dragoman_neobotix::map::Map;

use super::*;
use crate::planning::PlanError;
use crate::program::{Awaited, Condition, Effect, Instruction, Movement, Program, Task, TrackedObject};

const STEP: Duration = Duration::from_millis(20);

/// A platform that follows its commands exactly, in a world of points.
struct Bench {
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

impl Bench {
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
        let mut bench = Self::new(settings);
        for command in [Command::Connect, Command::Initialize, Command::SetMode(mode), Command::Start] {
            bench.send(command).unwrap();
        }
        bench.run(0.1);
        bench.events.clear();
        bench
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
    let mut bench = Bench::new(Settings::default());
    let wheels = Command::MoveWheels { right: 0.3, left: 0.3 };
    bench.run(0.1);
    bench.send(Command::Connect).unwrap();
    bench.send(Command::Stop).unwrap();
    bench.send(Command::SetMode(MotionMode::Velocity)).unwrap();
    bench.send(Command::Continue).unwrap();
    for _ in 0..10 {
        bench.send(wheels.clone()).unwrap();
        bench.run(0.4);
    }
    assert!((bench.output.twist.linear - 0.3).abs() < 1e-9);
    assert!((1.0..1.2).contains(&bench.pose.x), "{:?}", bench.pose);
    // Without further commands it brakes after a second.
    bench.run(1.0);
    assert!(bench.output.twist.linear < 0.3 && bench.events.contains(&Event::WatchdogExpired));
    bench.run(1.0);
    assert_eq!(bench.output.twist, Twist::ZERO);
}

#[test]
fn the_state_chart_is_that_of_the_guide() {
    let mut bench = Bench::new(Settings::default());
    let state = |bench: &Bench| bench.platform.status().operation;
    assert_eq!(bench.send(Command::Initialize), Err(Refusal::NotConnected));
    assert_eq!(bench.send(Command::Stop), Err(Refusal::NotConnected));
    assert_eq!(bench.send(Command::Start), Err(Refusal::WrongState(Operation::NotInitialized)));
    bench.send(Command::Connect).unwrap();
    assert_eq!(state(&bench), Operation::NotInitialized);
    bench.send(Command::Initialize).unwrap();
    assert_eq!(state(&bench), Operation::Ready);
    assert_eq!(bench.send(Command::Break), Err(Refusal::WrongState(Operation::Ready)));
    bench.send(Command::SetMode(MotionMode::Velocity)).unwrap();
    bench.send(Command::Start).unwrap();
    assert_eq!(state(&bench), Operation::Moving);
    assert_eq!(bench.send(Command::SetMode(MotionMode::None)), Err(Refusal::WrongState(Operation::Moving)));
    bench.send(Command::Break).unwrap();
    assert_eq!(state(&bench), Operation::Broken);
    assert_eq!(bench.send(Command::Start), Err(Refusal::WrongState(Operation::Broken)));
    bench.send(Command::Continue).unwrap();
    assert_eq!(state(&bench), Operation::Moving);
    bench.send(Command::Stop).unwrap();
    assert_eq!(state(&bench), Operation::Ready);
    bench.send(Command::Shutdown).unwrap();
    assert_eq!(state(&bench), Operation::NotInitialized);
    assert_eq!(bench.output.brakes, [true; 2]);
    bench.run(0.02);
    let changes: Vec<Operation> = bench
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
fn each_mode_listens_to_its_commands_alone() {
    let velocity = || Command::Move(Twist::new(0.2, 0.0));
    let wheels = || Command::MoveWheels { right: 0.2, left: 0.2 };
    let goal = || Command::MoveAbsolute(Pose::new(1.0, 0.0, 0.0));
    let modes = MotionMode::ALL.iter().copied();
    for (number, mode) in (0..).zip(modes.clone()) {
        assert_eq!(Command::set_mode(number), Ok(Command::SetMode(mode)));
    }
    for (mode, accepted) in modes.zip(["", "", "v", "vw", "g", "", ""]) {
        let mut bench = Bench::moving(Settings::default(), mode);
        for (letter, command) in [('v', velocity()), ('w', wheels()), ('g', goal())] {
            let wanted = if accepted.contains(letter) { Ok(()) } else { Err(Refusal::WrongMode(mode)) };
            assert_eq!(bench.send(command), wanted, "{mode:?} {letter}");
        }
        bench.run(0.5);
        assert_eq!(bench.output.twist != Twist::ZERO, !accepted.is_empty(), "{mode:?}");
        bench.send(Command::Stop).unwrap();
        assert!(bench.send(velocity()).is_err());
        bench.run(1.0);
        assert_eq!(bench.output.twist, Twist::ZERO);
    }
    assert_eq!(Command::set_mode(7), Err(Refusal::UnknownMode(7)));
    assert_eq!(Command::set_mode(-1), Err(Refusal::UnknownMode(-1)));
    // The joystick comes with the measurements.
    let mut bench = Bench::moving(Settings::default(), MotionMode::JoystickHardware);
    bench.input.joystick = Some(Twist::new(0.2, 0.0));
    bench.run(0.5);
    assert_eq!(bench.output.twist.linear, 0.2);
    bench.input.joystick = Some(Twist::new(f64::NAN, 0.0));
    bench.run(0.5);
    assert_eq!(bench.output.twist, Twist::ZERO);
}

#[test]
fn an_emergency_stop_secures_the_platform_until_its_reset() {
    let mut bench = Bench::moving(Settings::default(), MotionMode::Velocity);
    bench.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    bench.run(0.9);
    assert!(bench.output.twist.linear > 0.4);
    bench.input.emergency_stop = true;
    bench.cycle();
    assert_eq!((bench.output.twist, bench.output.brakes), (Twist::ZERO, [true; 2]));
    let status = bench.platform.status();
    assert_eq!((status.operation, status.emergency), (Operation::Broken, Emergency::Active));
    let refused = Err(Refusal::Emergency(Emergency::Active));
    for command in [Command::Continue, Command::Start, Command::Stop] {
        assert_eq!(bench.send(command), refused);
    }
    assert_eq!(bench.send(Command::SetBrake { motor: Motor::Left, applied: false }), refused);
    bench.input.emergency_stop = false;
    bench.cycle();
    assert_eq!(bench.platform.status().emergency, Emergency::Reset);
    bench.run(0.6);
    let status = bench.platform.status();
    assert_eq!((status.operation, status.emergency), (Operation::Ready, Emergency::Inactive));
    // No autonomous motion.
    bench.run(1.0);
    assert_eq!((bench.output.twist, bench.output.brakes), (Twist::ZERO, [false; 2]));
}

#[test]
fn a_silent_base_has_to_be_initialized_anew() {
    let mut bench = Bench::moving(Settings::default(), MotionMode::Velocity);
    bench.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    bench.run(0.5);
    bench.input.base_alive = false;
    bench.run(0.1);
    assert_eq!(bench.output.twist, Twist::ZERO);
    assert_eq!(bench.send(Command::Initialize), Err(Refusal::BaseSilent));
    bench.input.base_alive = true;
    bench.run(0.5);
    assert_eq!(bench.output.twist, Twist::ZERO);
    assert_eq!(bench.platform.status().operation, Operation::NotInitialized);
    bench.send(Command::Initialize).unwrap();
    assert_eq!(bench.platform.status().operation, Operation::Ready);
}

#[test]
fn brakes_outputs_and_ultrasonics_are_set() {
    let mut bench = Bench::moving(Settings::default(), MotionMode::Velocity);
    bench.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    bench.send(Command::SetBrake { motor: Motor::Left, applied: true }).unwrap();
    bench.send(Command::SetDigitalOutput { board: Board::Relay, channel: 15, high: true }).unwrap();
    bench.send(Command::SetDigitalOutput { board: Board::Io, channel: 0, high: true }).unwrap();
    bench.send(Command::StartUltrasonic { channels: 5 }).unwrap();
    bench.run(0.5);
    let wanted =
        Output { twist: Twist::ZERO, brakes: [false, true], digital_outputs: [1, 1 << 15], ultrasonics: 5 };
    assert_eq!(bench.output, wanted);
    bench.send(Command::SetDigitalOutput { board: Board::Io, channel: 0, high: false }).unwrap();
    bench.send(Command::StopUltrasonic).unwrap();
    bench.send(Command::SetBrake { motor: Motor::Left, applied: false }).unwrap();
    bench.run(0.2);
    assert_eq!((bench.output.digital_outputs[0], bench.output.ultrasonics), (0, 0));
    // The brake has interrupted the motion: it does not drive on by itself.
    assert_eq!((bench.output.twist, bench.platform.status().operation), (Twist::ZERO, Operation::Broken));
    bench.send(Command::Continue).unwrap();
    bench.send(Command::Move(Twist::new(0.5, 0.0))).unwrap();
    bench.run(0.2);
    assert!(bench.output.twist.linear > 0.0);
    let unknown = bench.send(Command::SetDigitalOutput { board: Board::Io, channel: 16, high: true });
    assert_eq!(unknown, Err(Refusal::UnknownChannel(16)));
}

#[test]
fn what_is_not_finite_is_refused() {
    let mut bench = Bench::moving(Settings::default(), MotionMode::Automatic);
    let wrong = Pose::new(0.0, f64::NAN, 0.0);
    for command in [
        Command::MoveAbsolute(wrong),
        Command::MoveRelative(wrong),
        Command::MovePath(vec![Pose::ORIGIN, wrong]),
        Command::SetPose(wrong),
        Command::PlaceObstacle(Some(Point::new(f64::INFINITY, 0.0))),
    ] {
        assert_eq!(bench.send(command), Err(Refusal::NotFinite));
    }
    // The maximum INT of a telegram in mm.
    let far = Pose::new(2_147_483.647, 0.0, 0.0);
    for command in [
        Command::MoveAbsolute(far),
        Command::MoveRelative(far),
        Command::MovePath(vec![Pose::ORIGIN, far]),
        Command::SetPose(far),
    ] {
        assert_eq!(bench.send(command), Err(Refusal::TooFar));
    }
    assert_eq!(bench.send(Command::MovePath(Vec::new())), Err(Refusal::EmptyPath));
    bench.run(0.1);
    assert_eq!(bench.output.twist, Twist::ZERO);
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
                let mut bench = Bench::moving(settings, MotionMode::Automatic);
                bench.drive(Command::MoveAbsolute(goal));
                bench.assert_at(goal);
                // It waits for the next goal.
                assert_eq!(bench.platform.status().operation, Operation::Moving);
                bench.events.clear();
                let next = compose(bench.pose, Pose::new(1.0, 0.0, 0.5));
                bench.drive(Command::MoveRelative(Pose::new(1.0, 0.0, 0.5)));
                bench.assert_at(next);
            }
        }
    }
}

#[test]
fn a_motion_is_interrupted_goes_on_and_is_replaced() {
    let mut bench = Bench::moving(without_planning(), MotionMode::Automatic);
    bench.send(Command::MoveAbsolute(Pose::new(4.0, 0.0, 0.0))).unwrap();
    bench.run(2.0);
    bench.send(Command::Break).unwrap();
    bench.run(2.0);
    let stood = bench.pose;
    assert!(stood.x > 0.5 && bench.output.twist == Twist::ZERO);
    bench.run(2.0);
    assert_eq!(bench.pose, stood);
    bench.send(Command::Continue).unwrap();
    bench.run(2.0);
    assert!(bench.pose.x > 1.5);
    // Another goal while it moves takes effect at once.
    bench.drive(Command::MoveAbsolute(Pose::new(2.0, 2.0, 0.0)));
    bench.assert_at(Pose::new(2.0, 2.0, 0.0));
    bench.send(Command::MoveAbsolute(Pose::ORIGIN)).unwrap();
    bench.send(Command::Stop).unwrap();
    bench.send(Command::Start).unwrap();
    bench.run(2.0);
    assert_eq!(bench.platform.status().goal, None);
    assert_eq!(bench.output.twist, Twist::ZERO);
}

#[test]
fn without_planning_obstacles_are_waited_for() {
    let mut bench = Bench::moving(without_planning(), MotionMode::Automatic);
    bench.things = vec![Point::new(2.5, 0.05)];
    bench.send(Command::MoveAbsolute(Pose::new(4.0, 0.0, 0.0))).unwrap();
    bench.run(20.0);
    assert!(bench.platform.status().collision && bench.events.contains(&Event::Motion(MotionEvent::Blocked)));
    let gap = 2.5 - bench.pose.x - 0.45;
    assert!((0.13..0.25).contains(&gap), "{gap}");
    bench.things.clear();
    bench.run(15.0);
    assert!(bench.events.contains(&Event::Motion(MotionEvent::Resumed)));
    bench.assert_at(Pose::new(4.0, 0.0, 0.0));
}

#[test]
fn with_planning_obstacles_are_gone_round() {
    let mut bench = Bench::moving(Settings::default(), MotionMode::Automatic);
    bench.send(Command::MoveAbsolute(Pose::new(6.0, 0.0, 0.0))).unwrap();
    bench.run(2.0);
    bench.things = (-5..=5).map(|step| Point::new(3.0, f64::from(step) * 0.1)).collect();
    let things = bench.things.clone();
    for _ in 0..3000 {
        bench.cycle();
        for &thing in &things {
            let seen = dragoman_geometry::inverse_transform(bench.pose, thing);
            assert!(!bench.platform.settings().footprint.contains(seen), "{:?}", bench.pose);
        }
    }
    bench.assert_at(Pose::new(6.0, 0.0, 0.0));
}

#[test]
fn a_path_is_waited_on_and_entered_again_behind_an_obstacle() {
    let path = [[1.0, 0.0], [5.0, 0.0], [5.0, 4.0]].map(|[x, y]| Pose::new(x, y, 1.0));
    let mut bench = Bench::moving(Settings::default(), MotionMode::Automatic);
    bench.things = (-3..=3).map(|step| Point::new(3.0, f64::from(step) * 0.1)).collect();
    let poses = bench.drive(Command::MovePath(path.to_vec()));
    bench.assert_at(path[2]);
    let blocked = bench.events.iter().position(|event| *event == Event::Motion(MotionEvent::Blocked));
    let replanned = bench.events.iter().position(|event| *event == Event::Motion(MotionEvent::Replanned));
    assert!(blocked.is_some() && blocked < replanned, "{:?}", bench.events);
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
    let mut bench = Bench::moving(without_planning(), MotionMode::Automatic);
    bench.send(Command::SetMap(map.clone())).unwrap();
    let refused = bench.send(Command::MoveAbsolute(Pose::new(6.0, 0.0, 0.0)));
    assert_eq!(refused, Err(Refusal::Plan(PlanError::NoPath)));
    let refused = bench.send(Command::MoveAbsolute(Pose::new(3.0, 0.0, 0.0)));
    assert_eq!(refused, Err(Refusal::Plan(PlanError::CollisionTarget)));
    assert_eq!(bench.platform.status().planner, PlannerState::CollisionTarget);
    // The path cuts a corner of the area.
    let path = [[1.2, 0.0], [1.2, 1.4], [6.0, 1.4]].map(|[x, y]| Pose::new(x, y, 0.0)).to_vec();
    bench.run(0.1);
    for pose in bench.drive(Command::MovePath(path)) {
        assert!(!map.forbids(&bench.platform.settings().footprint.at(pose)), "{pose:?}");
    }
    let mut bench = Bench::moving(Settings::default(), MotionMode::Automatic);
    bench.send(Command::SetMap(map.clone())).unwrap();
    for pose in bench.drive(Command::MoveAbsolute(Pose::new(6.0, 0.0, 1.0))) {
        assert!(!map.forbids(&bench.platform.settings().footprint.at(pose)), "{pose:?}");
    }
    bench.assert_at(Pose::new(6.0, 0.0, 1.0));
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
    let mut bench = Bench::new(Settings::default());
    for command in [Command::Connect, Command::Initialize, Command::SetMode(MotionMode::Program)] {
        bench.send(command).unwrap();
    }
    bench.send(Command::SetProgram(program.clone())).unwrap();
    bench.send(Command::Start).unwrap();
    bench.run(1.0);
    assert_eq!(bench.send(Command::SetProgram(program)), Err(Refusal::WrongState(Operation::Moving)));
    assert_eq!(bench.send(Command::MoveAbsolute(Pose::ORIGIN)), Err(Refusal::WrongMode(MotionMode::Program)));
    // When interrupted it stops, and then continues.
    bench.send(Command::Break).unwrap();
    bench.run(2.0);
    let stood = bench.pose;
    bench.run(2.0);
    assert_eq!(bench.pose, stood);
    bench.send(Command::Continue).unwrap();
    bench.run(30.0);
    let logs: Vec<&str> = bench
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Program(Effect::Log { message, .. }) => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(logs, ["two seconds", "nobody", "there", "no charging station"]);
    assert!((position(bench.pose) - position(goal)).norm() < 0.02, "{:?}", bench.pose);
    // What was reached is not the unknown station.
    let status = bench.platform.status();
    assert_eq!((status.target_reached, status.planner), (false, PlannerState::NoPath));
    assert_eq!(bench.output.digital_outputs, [1 << 3, 0]);
    assert!(bench.events.contains(&Event::ProgramEnded));
    let refused = bench.events.iter().filter(|event| matches!(event, Event::ProgramRefused(_))).count();
    assert_eq!(refused, 2);
}

mod blind;
mod goals;
mod kept;
mod omnidirectional;
mod sensing;
