//! Keys and commands without an arm: on a terminal in memory and on virtual time.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{CommandMode, ToolPose};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::command::Order;
use super::*;

/// The pose and the joints of the Ranger thesis, figure 3.3.
const POSE: ToolPose =
    ToolPose { position: [-0.0543, 0.5242, 0.2138], quaternion_xyzw: [-0.5266, 0.4212, 0.5767, 0.4612] };
const JOINTS: [f64; 6] = [-1.5838, 2.0360, 1.3499, -0.2471, 1.2428, -0.0595];

/// A station at an arm that does what it is told at once, unless a test says something else.
struct Bench {
    station: Station,
    now: Duration,
    /// What the arm reports at each tick; `None`: it is silent.
    reports: Option<(CommandMode, bool)>,
}

impl Bench {
    fn new() -> Self {
        Self::with(true, false)
    }

    fn with(has_twist: bool, reports_release: bool) -> Self {
        let station = Station::new(Setup {
            title: "/ranger".to_owned(),
            has_twist,
            reports_release,
            hold: Duration::from_millis(800),
            joystick: Mapping { axes: [1, 0, 4], dead_man: 4, turn: 5 },
        });
        let mut bench = Self { station, now: Duration::from_secs(1), reports: None };
        bench.measure(CommandMode::Cartesian, false);
        bench
    }

    fn measure(&mut self, mode: CommandMode, moving: bool) {
        self.reports = Some((mode, moving));
        let temperature = [33.0, 32.0, 27.0, 35.0, 31.0].map(Some).into_iter().chain([None]).collect();
        self.hears(Update::Joints(JOINTS.to_vec()));
        self.hears(Update::Pose(POSE));
        self.hears(Update::Drives { enabled: true, temperature });
        self.hears(Update::Motion { mode, moving });
    }

    fn hears(&mut self, update: Update) {
        self.station.handle_update(self.now, update);
    }

    fn press(&mut self, code: KeyCode) {
        self.station.handle_key(self.now, KeyEvent::new(code, KeyModifiers::NONE));
    }

    fn types(&mut self, line: &str) {
        self.press(KeyCode::Char(':'));
        line.chars().for_each(|character| self.press(KeyCode::Char(character)));
        self.press(KeyCode::Enter);
    }

    fn actions(&mut self) -> Vec<Action> {
        std::iter::from_fn(|| self.station.poll_action()).collect()
    }

    /// The orders since the last call; nothing else may have happened.
    #[track_caller]
    fn orders(&mut self) -> Vec<(u64, Order)> {
        let actions = self.actions().into_iter();
        actions
            .map(|action| match action {
                Action::Order { id, order } => (id, order),
                Action::Twist(twist) => panic!("a twist was sent: {twist:?}"),
            })
            .collect()
    }

    /// The only order since the last call.
    #[track_caller]
    fn order(&mut self, command: Command) -> (u64, Vec<f64>) {
        let orders = self.orders();
        let [(id, order)] = orders.as_slice() else { panic!("{orders:?}") };
        assert_eq!(order.command, command);
        (*id, order.values.clone())
    }

    fn answers(&mut self, id: u64, answer: std::result::Result<(), &str>) {
        self.hears(Update::Answer { id, answer: answer.map_err(str::to_owned) });
    }

    fn twists(&mut self) -> Vec<[f64; 6]> {
        let twists = self.actions().into_iter();
        twists
            .filter_map(|action| if let Action::Twist(twist) = action { Some(twist) } else { None })
            .collect()
    }

    fn tick(&mut self, milliseconds: u64) {
        for _ in 0..milliseconds / 50 {
            self.now += TICK;
            if let Some((mode, moving)) = self.reports {
                self.measure(mode, moving);
            }
            self.station.handle_tick(self.now);
        }
    }

    /// The rows of a terminal of this size.
    fn screen(&self, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw::draw(&self.station, frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..height).map(row).collect()
    }

    #[track_caller]
    fn shows(&self, text: &str) {
        let screen = self.screen(100, 60).join("\n");
        assert!(screen.contains(text), "'{text}' is not shown:\n{screen}");
    }
}

fn close(values: &[f64], expected: &[f64]) -> bool {
    values.len() == expected.len() && values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn arrows_move_the_desired_pose_and_one_motion_follows_the_other() {
    let mut bench = Bench::new();
    bench.press(KeyCode::Up);
    let (goal, values) = bench.order(Command::SetGoalPose);
    assert!(close(&values[..3], &[-0.0503, 0.5242, 0.2138]), "{values:?}");
    assert!(close(&values[3..], &POSE.quaternion_xyzw), "{values:?}");
    // Before the goal is answered nothing else is sent.
    bench.press(KeyCode::PageDown);
    assert_eq!(bench.orders(), []);
    bench.answers(goal, Ok(()));
    let (begin, _) = bench.order(Command::BeginMotion);
    bench.answers(begin, Ok(()));
    bench.measure(CommandMode::Cartesian, true);
    bench.press(KeyCode::Left);
    assert_eq!(bench.orders(), []);
    // The keys that came meanwhile are one motion.
    bench.measure(CommandMode::Cartesian, false);
    let (_, values) = bench.order(Command::SetGoalPose);
    assert!(close(&values[..3], &[-0.0503, 0.5282, 0.2098]), "{values:?}");
}

#[test]
fn a_motion_too_short_to_be_seen_does_not_block_the_next() {
    let mut bench = Bench::new();
    bench.press(KeyCode::Up);
    let (goal, _) = bench.order(Command::SetGoalPose);
    bench.answers(goal, Ok(()));
    let (begin, _) = bench.order(Command::BeginMotion);
    bench.answers(begin, Ok(()));
    bench.press(KeyCode::Up);
    bench.tick(900);
    assert_eq!(bench.orders(), []);
    bench.tick(200);
    bench.order(Command::SetGoalPose);
}

#[test]
fn letters_turn_the_tool_about_the_axes_of_the_base() {
    let mut bench = Bench::new();
    bench.hears(Update::Pose(ToolPose { position: [0.0; 3], quaternion_xyzw: [0.0, 0.0, 0.0, 1.0] }));
    bench.press(KeyCode::Char('l'));
    let (_, values) = bench.order(Command::SetGoalPose);
    let half = -0.004_f64; // Scale 4, 0.002 rad: half of the angle.
    assert!(close(&values, &[0.0, 0.0, 0.0, 0.0, 0.0, half.sin(), half.cos()]), "{values:?}");
}

#[test]
fn a_held_key_leads_the_arm_by_a_few_steps_only() {
    let mut bench = Bench::new();
    (0..100).for_each(|_| bench.press(KeyCode::Up));
    let desired = bench.station.desired_pose().unwrap().position[0] - POSE.position[0];
    assert!((desired - 0.020).abs() < 1e-9, "{desired}");
    (0..100).for_each(|_| bench.press(KeyCode::Char('u')));
    bench.press(KeyCode::Tab);
    bench.measure(CommandMode::Joint, false);
    (0..100).for_each(|_| bench.press(KeyCode::Right));
    let desired = bench.station.desired_joints().unwrap()[0] - JOINTS[0];
    assert!((desired - 0.1).abs() < 1e-9, "{desired}");
}

#[test]
fn plus_and_minus_set_the_step_within_limits() {
    let mut bench = Bench::new();
    bench.press(KeyCode::Char('+'));
    bench.shows("Scale: 8.0000   8 mm, 0.92 deg for a key press");
    (0..20).for_each(|_| bench.press(KeyCode::Char('+')));
    bench.shows("Scale: 64.0000");
    (0..20).for_each(|_| bench.press(KeyCode::Char('-')));
    bench.shows("Scale: 0.0625");
    bench.types("scale 1.5");
    bench.shows("Scale: 1.5000");
    bench.types("scale 1000");
    bench.shows("the scale is 0.0625 to 64");
    bench.press(KeyCode::Right);
    let (_, values) = bench.order(Command::SetGoalPose);
    assert!(close(&values[..3], &[-0.0543, 0.5227, 0.2138]), "{values:?}");
}

#[test]
fn space_stops_and_the_desired_pose_is_the_present_one_again() {
    let mut bench = Bench::new();
    bench.press(KeyCode::Up);
    let (goal, _) = bench.order(Command::SetGoalPose);
    bench.press(KeyCode::Char(' '));
    let (stop, _) = bench.order(Command::Stop);
    // The goal that was on its way is not begun.
    bench.answers(goal, Ok(()));
    bench.answers(stop, Ok(()));
    bench.tick(2000);
    assert_eq!(bench.orders(), []);
    bench.measure(CommandMode::Cartesian, false);
    assert_eq!(bench.station.desired_pose(), Some(&POSE));
}

#[test]
fn a_start_that_overlaps_with_a_stop_is_stopped_again() {
    let mut bench = Bench::new();
    bench.press(KeyCode::Up);
    let (goal, _) = bench.order(Command::SetGoalPose);
    bench.answers(goal, Ok(()));
    let (begin, _) = bench.order(Command::BeginMotion);
    bench.press(KeyCode::Char(' '));
    let (stop, _) = bench.order(Command::Stop);
    bench.answers(stop, Ok(()));
    assert!(bench.station.is_stopping());
    bench.answers(begin, Ok(()));
    let (again, _) = bench.order(Command::Stop);
    bench.answers(again, Ok(()));
    assert!(!bench.station.is_stopping());
    assert_eq!(bench.orders(), []);
}

#[test]
fn nothing_moves_in_another_mode_with_drives_off_or_without_measurements() {
    let mut bench = Bench::new();
    bench.measure(CommandMode::Off, false);
    bench.press(KeyCode::Up);
    bench.shows("the arm is in mode off; m switches to mode Cartesian");
    bench.press(KeyCode::Char('m'));
    let (_, values) = bench.order(Command::SetCommandMode);
    assert_eq!(values, [2.0]);
    bench.measure(CommandMode::Cartesian, false);
    bench.hears(Update::Drives { enabled: false, temperature: Vec::new() });
    bench.press(KeyCode::Up);
    bench.shows("the drives are off; the command ON switches them on");
    bench.measure(CommandMode::Cartesian, false);
    bench.reports = None;
    bench.tick(2000);
    bench.press(KeyCode::Up);
    bench.shows("the arm reports no measurements");
    bench.tick(3000);
    bench.press(KeyCode::Up);
    bench.shows("the arm does not report its state");
    bench.shows("no connection to the arm");
    assert_eq!(bench.orders(), []);
    assert!(!bench.screen(80, 24).join("\n").contains("0.5242"), "old values are not shown");
}

#[test]
fn the_joint_page_moves_one_joint() {
    let mut bench = Bench::new();
    bench.press(KeyCode::Tab);
    bench.press(KeyCode::Right);
    bench.shows("m switches to mode joint");
    bench.measure(CommandMode::Joint, false);
    bench.press(KeyCode::Char('3'));
    bench.press(KeyCode::Down);
    bench.press(KeyCode::Left);
    let (goal, values) = bench.order(Command::SetJointGoal);
    let mut expected = JOINTS;
    expected[3] -= 0.02;
    assert!(close(&values, &expected), "{values:?}");
    bench.answers(goal, Ok(()));
    let (begin, _) = bench.order(Command::BeginJointMotion);
    bench.answers(begin, Err("the drives are disabled"));
    bench.shows("jB: the drives are disabled");
    assert_eq!(bench.station.desired_joints(), Some(&JOINTS.to_vec()));
    // Beyond the last joint, and keys of other pages.
    for key in [KeyCode::Char('9'), KeyCode::Down, KeyCode::PageUp, KeyCode::Char('u')] {
        bench.press(key);
    }
    assert_eq!(bench.station.joint(), 5);
    assert_eq!(bench.orders(), []);
}

#[test]
fn every_command_of_the_appendix_can_be_typed() {
    for command in Command::all() {
        let mut bench = Bench::new();
        let count = command.value_count();
        let mut words = vec![command.to_string()];
        words.extend((0..count).map(|value| value.to_string()));
        words.extend(command.is_indexed().then(|| "7".to_owned()));
        bench.types(&words.join(" "));
        match command {
            Command::Pose => bench.shows("PS: -0.0543 0.5242 0.2138"),
            Command::JointPositions => bench.shows("jP: -1.5838 2.0360"),
            Command::Temperatures => bench.shows("TM: 33.0000 32.0000 27.0000 35.0000 31.0000 -1000.0000"),
            _ => {
                let orders = bench.orders();
                let [(id, order)] = orders.as_slice() else { panic!("{orders:?}") };
                assert_eq!(order.command, command);
                assert_eq!(order.values.len(), count);
                assert_eq!(order.index, if command.is_indexed() { 7 } else { 0 });
                bench.answers(*id, Ok(()));
                let answer =
                    if command == Command::Stop { "stopped".into() } else { format!("{command} accepted") };
                bench.shows(&answer);
            }
        }
    }
}

#[test]
fn refusals_and_what_makes_no_sense_are_events() {
    let mut bench = Bench::new();
    bench.types("BG");
    let (id, _) = bench.order(Command::BeginMotion);
    bench.answers(id, Err("no goal is set"));
    bench.shows("BG: no goal is set");
    bench.types("GL 1 2");
    bench.shows("GL takes 7 values, 2 were given");
    bench.types("GL 1 2 3 4 5 6 inf");
    bench.shows("'inf' is not a finite number");
    assert_eq!(bench.orders(), []);
    for _ in 0..3 {
        bench.hears(Update::Event(Level::Error, "ER21 Work space limit.".to_owned()));
    }
    bench.shows("1.0 ER21 Work space limit. (3 times)");
    bench.types("help VP");
    bench.shows("VP x y z roll pitch yaw T i: Cartesian via point");
}

#[test]
fn a_twist_lasts_as_long_as_the_key_is_repeated() {
    let mut bench = Bench::new();
    bench.press(KeyCode::BackTab);
    bench.press(KeyCode::Up);
    let forward = [0.01, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(bench.twists(), [forward]);
    // X11 repeats a key after 660 ms.
    bench.tick(700);
    assert_eq!(bench.twists(), [forward; 14]);
    for _ in 0..5 {
        bench.press(KeyCode::Up);
        bench.tick(100);
        assert_eq!(bench.twists(), [forward; 3]);
    }
    // Released: no more repetitions.
    bench.tick(250);
    assert_eq!(bench.twists(), [forward; 5]);
    bench.tick(1000);
    assert_eq!(bench.twists(), [[0.0; 6]; 3]);
    // Pressed once.
    bench.press(KeyCode::Up);
    bench.tick(750);
    assert!(bench.twists().iter().all(|twist| *twist == forward));
    bench.tick(50);
    assert_eq!(bench.twists(), [[0.0; 6]]);
    bench.tick(1000);
    bench.twists();
    // Another key replaces it.
    bench.press(KeyCode::Up);
    bench.press(KeyCode::Char('k'));
    assert_eq!(bench.twists(), [forward, [0.0, 0.0, 0.0, 0.0, -0.02, 0.0]]);
    bench.press(KeyCode::Char(' '));
    let actions = bench.actions();
    assert_eq!(actions.first(), Some(&Action::Twist([0.0; 6])));
    assert!(matches!(actions.last(), Some(Action::Order { order, .. }) if order.command == Command::Stop));
}

#[test]
fn reported_releases_end_a_twist_at_once_and_let_keys_be_combined() {
    let mut bench = Bench::with(true, true);
    bench.press(KeyCode::BackTab);
    bench.press(KeyCode::Up);
    bench.press(KeyCode::Left);
    assert_eq!(bench.twists().last(), Some(&[0.01, 0.01, 0.0, 0.0, 0.0, 0.0]));
    let mut release = KeyEvent::new(KeyCode::Up, KeyModifiers::NONE);
    release.kind = KeyEventKind::Release;
    bench.station.handle_key(bench.now, release);
    assert_eq!(bench.twists(), [[0.0, 0.01, 0.0, 0.0, 0.0, 0.0]]);
    // The connection to the terminal is lost: no release comes.
    bench.tick(1000);
    assert_eq!(bench.twists().last(), Some(&[0.0; 6]));
}

#[test]
fn a_twist_ends_with_its_page_its_mode_and_its_measurements() {
    for end in 0..4 {
        let mut bench = Bench::new();
        bench.press(KeyCode::BackTab);
        bench.press(KeyCode::Up);
        bench.tick(50);
        bench.twists();
        bench.reports = None;
        match end {
            0 => bench.press(KeyCode::Tab),
            1 => bench.hears(Update::Motion { mode: CommandMode::Joint, moving: false }),
            2 => bench.press(KeyCode::Char(':')),
            _ => bench.hears(Update::Drives { enabled: false, temperature: Vec::new() }),
        }
        bench.tick(50);
        assert_eq!(bench.twists().first(), Some(&[0.0; 6]), "{end}");
        assert!(bench.twists().iter().all(|twist| *twist == [0.0; 6]), "{end}");
    }
}

#[test]
fn a_joystick_moves_while_its_dead_man_button_is_pressed() {
    let mut bench = Bench::new();
    bench.press(KeyCode::BackTab);
    bench.shows("joystick: none");
    let axes = [0.0, 0.5, 0.0, 0.0, -1.0];
    let joy = |bench: &mut Bench, pressed: bool| {
        let buttons = [false, false, false, false, pressed, false];
        bench.station.handle_joystick(bench.now, &axes, &buttons);
    };
    joy(&mut bench, false);
    bench.tick(200);
    assert_eq!(bench.twists(), Vec::<[f64; 6]>::new());
    bench.shows("dead-man button released");
    joy(&mut bench, true);
    bench.tick(100);
    assert_eq!(bench.twists(), [[0.005, 0.0, -0.01, 0.0, 0.0, 0.0]; 2]);
    bench.shows("dead-man button pressed");
    joy(&mut bench, false);
    assert_eq!(bench.twists(), [[0.0; 6]]);
    // A joystick that falls silent.
    joy(&mut bench, true);
    bench.tick(900);
    assert_eq!(bench.twists().last(), Some(&[0.0; 6]));
    joy(&mut bench, true);
    bench.tick(50);
    bench.station.handle_joystick_lost(bench.now, "the joystick cannot be read".to_owned());
    assert_eq!(bench.twists().last(), Some(&[0.0; 6]));
    bench.shows("joystick: none");
    // On the other pages it moves nothing.
    bench.press(KeyCode::Tab);
    bench.tick(200);
    bench.twists();
    joy(&mut bench, true);
    bench.tick(200);
    assert_eq!(bench.twists(), Vec::<[f64; 6]>::new());
}

#[test]
fn the_protocol_without_twists_says_so() {
    let mut bench = Bench::with(false, false);
    bench.press(KeyCode::BackTab);
    bench.press(KeyCode::Up);
    assert_eq!(bench.actions(), []);
    bench.shows("the 31-byte protocol has no twists");
}

#[test]
fn leaving_stops_what_the_station_began_and_nothing_else() {
    // The motion of another client.
    let mut bench = Bench::new();
    bench.measure(CommandMode::Cartesian, true);
    bench.press(KeyCode::Char('q'));
    assert!(bench.station.leaves());
    assert!(!bench.station.handle_end(bench.now));
    assert_eq!(bench.actions(), []);
    // Its own, by a key and by a command.
    for is_typed in [false, true] {
        let mut bench = Bench::new();
        if is_typed {
            bench.types("VE");
        } else {
            bench.press(KeyCode::Up);
            let (goal, _) = bench.order(Command::SetGoalPose);
            bench.answers(goal, Ok(()));
        }
        let id = bench.orders().last().unwrap().0;
        bench.answers(id, Ok(()));
        bench.measure(CommandMode::Cartesian, true);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        bench.station.handle_key(bench.now, interrupt);
        assert!(bench.station.leaves());
        assert!(bench.station.handle_end(bench.now));
        let (stop, _) = bench.order(Command::Stop);
        assert!(bench.station.is_stopping());
        bench.answers(stop, Ok(()));
        assert!(!bench.station.is_stopping());
    }
    // A twist.
    let mut bench = Bench::new();
    bench.press(KeyCode::BackTab);
    bench.press(KeyCode::Up);
    bench.twists();
    assert!(!bench.station.handle_end(bench.now));
    assert_eq!(bench.twists().last(), Some(&[0.0; 6]));
    // A motion of which no message has come for long, as on a busy machine.
    let mut bench = Bench::new();
    bench.types("BG");
    let (id, _) = bench.order(Command::BeginMotion);
    bench.answers(id, Ok(()));
    bench.measure(CommandMode::Cartesian, true);
    bench.reports = None;
    bench.tick(10_000);
    assert!(bench.station.handle_end(bench.now));
    bench.order(Command::Stop);
    // After its motion has ended.
    let mut bench = Bench::new();
    bench.types("BG");
    let (id, _) = bench.order(Command::BeginMotion);
    bench.answers(id, Ok(()));
    bench.measure(CommandMode::Cartesian, true);
    bench.measure(CommandMode::Cartesian, false);
    assert!(!bench.station.handle_end(bench.now));
}

#[test]
fn the_pages_are_those_in_the_documentation() {
    let documentation = include_str!("../../../../docs/station.md");
    let mut bench = Bench::new();
    bench.press(KeyCode::Up);
    bench.hears(Update::Event(Level::Warning, "WN12 Joint limit.".to_owned()));
    let contained = |screen: Vec<String>| {
        let screen = screen.join("\n");
        assert!(
            documentation.contains(screen.trim_end()),
            "docs/station.md does not have this page:\n{screen}"
        );
    };
    contained(bench.screen(80, 17));
    bench.press(KeyCode::Tab);
    bench.measure(CommandMode::Joint, false);
    contained(bench.screen(80, 17));
}

#[test]
fn forty_columns_and_twelve_rows_are_enough() {
    let mut bench = Bench::new();
    bench.press(KeyCode::Up);
    assert_eq!(
        bench.screen(40, 12),
        [
            " Cartesian  Joints  Twist  /ranger",
            "mode Cartesian, at rest    Scale: 4.0000",
            " Current   Desired   Joints    Temp(C)",
            " -0.0543   -0.0503   -1.5838      33.0",
            "  0.5242    0.5242    2.0360      32.0",
            "  0.2138    0.2138    1.3499      27.0",
            " -0.5266   -0.5266   -0.2471      35.0",
            "  0.4212    0.4212    1.2428      31.0",
            "  0.5767    0.5767   -0.0595   -",
            "  0.4612    0.4612",
            "RPY: 0.0008 1.4801 1.7932",
            "q quit  ? help  : command  m mode  space",
        ]
    );
    // What happens is seen, and what is typed.
    bench.hears(Update::Event(Level::Error, "ER21 Work space limit.".to_owned()));
    assert_eq!(bench.screen(40, 12)[11], "1.0 ER21 Work space limit.");
    bench.hears(Update::Event(Level::Error, "a text that is longer than a line of the terminal".to_owned()));
    let screen = bench.screen(40, 14);
    assert_eq!(screen[11], "1.0 a text that is longer than a line of");
    assert_eq!(screen[12], " the terminal");
    bench.press(KeyCode::Char(':'));
    for character in "VP 0.1 0.2 0.3 0.0 0.0 0.0 12.5 1 and what is too long".chars() {
        bench.press(KeyCode::Char(character));
    }
    let screen = bench.screen(40, 12);
    assert_eq!(screen[10], "VP x y z roll pitch yaw T i: Cartesian v");
    assert!(screen[11].starts_with(':') && screen[11].ends_with("what is too long"), "{screen:?}");
}

#[test]
fn no_size_of_the_terminal_and_no_key_is_too_much() {
    let mut bench = Bench::new();
    let keys = [
        KeyCode::Char('?'),
        KeyCode::PageDown,
        KeyCode::PageDown,
        KeyCode::PageDown,
        KeyCode::Up,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::Tab,
        KeyCode::Char(':'),
        KeyCode::Char('ä'),
        KeyCode::Char('漢'),
        KeyCode::Tab,
        KeyCode::Enter,
    ];
    for key in keys {
        bench.press(key);
        for (width, height) in [(0, 0), (1, 1), (2, 30), (39, 5), (60, 16), (300, 2)] {
            bench.screen(width, height);
        }
    }
    bench.press(KeyCode::F(1));
    bench.shows("Help: up and down scroll");
    bench.shows("GT x y z roll pitch yaw T: Cartesian goal");
    (0..100).for_each(|_| bench.press(KeyCode::Down));
    assert!(
        bench.screen(30, 12).join(" ").contains("VP x y z roll pitch yaw T i"),
        "{:?}",
        bench.screen(30, 12)
    );
}
