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

/// A station with an arm that executes commands at once, unless a test changes that.
struct Fixture {
    station: Station,
    now: Duration,
    /// What the arm reports at each tick; `None`: it is silent.
    reports: Option<(CommandMode, bool)>,
}

impl Fixture {
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
        let mut fixture = Self { station, now: Duration::from_secs(1), reports: None };
        fixture.measure(CommandMode::Cartesian, false);
        fixture
    }

    fn measure(&mut self, mode: CommandMode, moving: bool) {
        self.reports = Some((mode, moving));
        let temperature = [33.0, 32.0, 27.0, 35.0, 31.0].map(Some).into_iter().chain([None]).collect();
        self.receives(Update::Joints(JOINTS.to_vec()));
        self.receives(Update::Pose(POSE));
        self.receives(Update::Drives { enabled: true, temperature });
        self.receives(Update::Motion { mode, moving });
    }

    fn receives(&mut self, update: Update) {
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
        self.receives(Update::Answer { id, answer: answer.map_err(str::to_owned) });
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
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Up);
    let (goal, values) = fixture.order(Command::SetGoalPose);
    assert!(close(&values[..3], &[-0.0503, 0.5242, 0.2138]), "{values:?}");
    assert!(close(&values[3..], &POSE.quaternion_xyzw), "{values:?}");
    // Before the goal is answered nothing else is sent.
    fixture.press(KeyCode::PageDown);
    assert_eq!(fixture.orders(), []);
    fixture.answers(goal, Ok(()));
    let (begin, _) = fixture.order(Command::BeginMotion);
    fixture.answers(begin, Ok(()));
    fixture.measure(CommandMode::Cartesian, true);
    fixture.press(KeyCode::Left);
    assert_eq!(fixture.orders(), []);
    // The keys that came meanwhile are one motion.
    fixture.measure(CommandMode::Cartesian, false);
    let (_, values) = fixture.order(Command::SetGoalPose);
    assert!(close(&values[..3], &[-0.0503, 0.5282, 0.2098]), "{values:?}");
}

#[test]
fn a_motion_too_short_to_be_seen_does_not_block_the_next() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Up);
    let (goal, _) = fixture.order(Command::SetGoalPose);
    fixture.answers(goal, Ok(()));
    let (begin, _) = fixture.order(Command::BeginMotion);
    fixture.answers(begin, Ok(()));
    fixture.press(KeyCode::Up);
    fixture.tick(900);
    assert_eq!(fixture.orders(), []);
    fixture.tick(200);
    fixture.order(Command::SetGoalPose);
}

#[test]
fn letters_turn_the_tool_about_the_axes_of_the_base() {
    let mut fixture = Fixture::new();
    fixture.receives(Update::Pose(ToolPose { position: [0.0; 3], quaternion_xyzw: [0.0, 0.0, 0.0, 1.0] }));
    fixture.press(KeyCode::Char('l'));
    let (_, values) = fixture.order(Command::SetGoalPose);
    let half = -0.004_f64; // Scale 4, 0.002 rad: half of the angle.
    assert!(close(&values, &[0.0, 0.0, 0.0, 0.0, 0.0, half.sin(), half.cos()]), "{values:?}");
}

#[test]
fn a_held_key_leads_the_arm_by_a_few_steps_only() {
    let mut fixture = Fixture::new();
    (0..100).for_each(|_| fixture.press(KeyCode::Up));
    let desired = fixture.station.desired_pose().unwrap().position[0] - POSE.position[0];
    assert!((desired - 0.020).abs() < 1e-9, "{desired}");
    (0..100).for_each(|_| fixture.press(KeyCode::Char('u')));
    fixture.press(KeyCode::Tab);
    fixture.measure(CommandMode::Joint, false);
    (0..100).for_each(|_| fixture.press(KeyCode::Right));
    let desired = fixture.station.desired_joints().unwrap()[0] - JOINTS[0];
    assert!((desired - 0.1).abs() < 1e-9, "{desired}");
}

#[test]
fn plus_and_minus_set_the_step_within_limits() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Char('+'));
    fixture.shows("Scale: 8.0000   8 mm, 0.92 deg for a key press");
    (0..20).for_each(|_| fixture.press(KeyCode::Char('+')));
    fixture.shows("Scale: 64.0000");
    (0..20).for_each(|_| fixture.press(KeyCode::Char('-')));
    fixture.shows("Scale: 0.0625");
    fixture.types("scale 1.5");
    fixture.shows("Scale: 1.5000");
    fixture.types("scale 1000");
    fixture.shows("the scale is 0.0625 to 64");
    fixture.press(KeyCode::Right);
    let (_, values) = fixture.order(Command::SetGoalPose);
    assert!(close(&values[..3], &[-0.0543, 0.5227, 0.2138]), "{values:?}");
}

#[test]
fn space_stops_and_the_desired_pose_is_the_present_one_again() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Up);
    let (goal, _) = fixture.order(Command::SetGoalPose);
    fixture.press(KeyCode::Char(' '));
    let (stop, _) = fixture.order(Command::Stop);
    // The goal that was on its way is not begun.
    fixture.answers(goal, Ok(()));
    fixture.answers(stop, Ok(()));
    fixture.tick(2000);
    assert_eq!(fixture.orders(), []);
    fixture.measure(CommandMode::Cartesian, false);
    assert_eq!(fixture.station.desired_pose(), Some(&POSE));
}

#[test]
fn a_start_that_overlaps_with_a_stop_is_stopped_again() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Up);
    let (goal, _) = fixture.order(Command::SetGoalPose);
    fixture.answers(goal, Ok(()));
    let (begin, _) = fixture.order(Command::BeginMotion);
    fixture.press(KeyCode::Char(' '));
    let (stop, _) = fixture.order(Command::Stop);
    fixture.answers(stop, Ok(()));
    assert!(fixture.station.is_stopping());
    fixture.answers(begin, Ok(()));
    let (again, _) = fixture.order(Command::Stop);
    fixture.answers(again, Ok(()));
    assert!(!fixture.station.is_stopping());
    assert_eq!(fixture.orders(), []);
}

#[test]
fn nothing_moves_in_another_mode_with_drives_off_or_without_measurements() {
    let mut fixture = Fixture::new();
    fixture.measure(CommandMode::Off, false);
    fixture.press(KeyCode::Up);
    fixture.shows("the arm is in mode off; m switches to mode Cartesian");
    fixture.press(KeyCode::Char('m'));
    let (_, values) = fixture.order(Command::SetCommandMode);
    assert_eq!(values, [2.0]);
    fixture.measure(CommandMode::Cartesian, false);
    fixture.receives(Update::Drives { enabled: false, temperature: Vec::new() });
    fixture.press(KeyCode::Up);
    fixture.shows("the drives are off; the command ON switches them on");
    fixture.measure(CommandMode::Cartesian, false);
    fixture.reports = None;
    fixture.tick(2000);
    fixture.press(KeyCode::Up);
    fixture.shows("the arm reports no measurements");
    fixture.tick(3000);
    fixture.press(KeyCode::Up);
    fixture.shows("the arm does not report its state");
    fixture.shows("no connection to the arm");
    assert_eq!(fixture.orders(), []);
    assert!(!fixture.screen(80, 24).join("\n").contains("0.5242"), "old values are not shown");
}

#[test]
fn the_joint_page_moves_one_joint() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Tab);
    fixture.press(KeyCode::Right);
    fixture.shows("m switches to mode joint");
    fixture.measure(CommandMode::Joint, false);
    fixture.press(KeyCode::Char('3'));
    fixture.press(KeyCode::Down);
    fixture.press(KeyCode::Left);
    let (goal, values) = fixture.order(Command::SetJointGoal);
    let mut expected = JOINTS;
    expected[3] -= 0.02;
    assert!(close(&values, &expected), "{values:?}");
    fixture.answers(goal, Ok(()));
    let (begin, _) = fixture.order(Command::BeginJointMotion);
    fixture.answers(begin, Err("the drives are disabled"));
    fixture.shows("jB: the drives are disabled");
    assert_eq!(fixture.station.desired_joints(), Some(&JOINTS.to_vec()));
    // Beyond the last joint, and keys of other pages.
    for key in [KeyCode::Char('9'), KeyCode::Down, KeyCode::PageUp, KeyCode::Char('u')] {
        fixture.press(key);
    }
    assert_eq!(fixture.station.joint(), 5);
    assert_eq!(fixture.orders(), []);
}

#[test]
fn every_command_of_the_appendix_can_be_typed() {
    for command in Command::all() {
        let mut fixture = Fixture::new();
        let count = command.value_count();
        let mut words = vec![command.to_string()];
        words.extend((0..count).map(|value| value.to_string()));
        words.extend(command.is_indexed().then(|| "7".to_owned()));
        fixture.types(&words.join(" "));
        match command {
            Command::Pose => fixture.shows("PS: -0.0543 0.5242 0.2138"),
            Command::JointPositions => fixture.shows("jP: -1.5838 2.0360"),
            Command::Temperatures => fixture.shows("TM: 33.0000 32.0000 27.0000 35.0000 31.0000 -1000.0000"),
            _ => {
                let orders = fixture.orders();
                let [(id, order)] = orders.as_slice() else { panic!("{orders:?}") };
                assert_eq!(order.command, command);
                assert_eq!(order.values.len(), count);
                assert_eq!(order.index, if command.is_indexed() { 7 } else { 0 });
                fixture.answers(*id, Ok(()));
                let answer =
                    if command == Command::Stop { "stopped".into() } else { format!("{command} accepted") };
                fixture.shows(&answer);
            }
        }
    }
}

#[test]
fn refusals_and_invalid_input_are_events() {
    let mut fixture = Fixture::new();
    fixture.types("BG");
    let (id, _) = fixture.order(Command::BeginMotion);
    fixture.answers(id, Err("no goal is set"));
    fixture.shows("BG: no goal is set");
    fixture.types("GL 1 2");
    fixture.shows("GL takes 7 values, 2 were given");
    fixture.types("GL 1 2 3 4 5 6 inf");
    fixture.shows("'inf' is not a finite number");
    assert_eq!(fixture.orders(), []);
    for _ in 0..3 {
        fixture.receives(Update::Event(Level::Error, "ER21 Work space limit.".to_owned()));
    }
    fixture.shows("1.0 ER21 Work space limit. (3 times)");
    fixture.types("help VP");
    fixture.shows("VP x y z roll pitch yaw T i: Cartesian via point");
}

#[test]
fn a_twist_lasts_as_long_as_the_key_is_repeated() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::BackTab);
    fixture.press(KeyCode::Up);
    let forward = [0.01, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(fixture.twists(), [forward]);
    // X11 repeats a key after 660 ms.
    fixture.tick(700);
    assert_eq!(fixture.twists(), [forward; 14]);
    for _ in 0..5 {
        fixture.press(KeyCode::Up);
        fixture.tick(100);
        assert_eq!(fixture.twists(), [forward; 3]);
    }
    // Released: no more repetitions.
    fixture.tick(250);
    assert_eq!(fixture.twists(), [forward; 5]);
    fixture.tick(1000);
    assert_eq!(fixture.twists(), [[0.0; 6]; 3]);
    // Pressed once.
    fixture.press(KeyCode::Up);
    fixture.tick(750);
    assert!(fixture.twists().iter().all(|twist| *twist == forward));
    fixture.tick(50);
    assert_eq!(fixture.twists(), [[0.0; 6]]);
    fixture.tick(1000);
    fixture.twists();
    // Another key replaces it.
    fixture.press(KeyCode::Up);
    fixture.press(KeyCode::Char('k'));
    assert_eq!(fixture.twists(), [forward, [0.0, 0.0, 0.0, 0.0, -0.02, 0.0]]);
    fixture.press(KeyCode::Char(' '));
    let actions = fixture.actions();
    assert_eq!(actions.first(), Some(&Action::Twist([0.0; 6])));
    assert!(matches!(actions.last(), Some(Action::Order { order, .. }) if order.command == Command::Stop));
}

#[test]
fn reported_releases_end_a_twist_at_once_and_let_keys_be_combined() {
    let mut fixture = Fixture::with(true, true);
    fixture.press(KeyCode::BackTab);
    fixture.press(KeyCode::Up);
    fixture.press(KeyCode::Left);
    assert_eq!(fixture.twists().last(), Some(&[0.01, 0.01, 0.0, 0.0, 0.0, 0.0]));
    let mut release = KeyEvent::new(KeyCode::Up, KeyModifiers::NONE);
    release.kind = KeyEventKind::Release;
    fixture.station.handle_key(fixture.now, release);
    assert_eq!(fixture.twists(), [[0.0, 0.01, 0.0, 0.0, 0.0, 0.0]]);
    // The connection to the terminal is lost: no release comes.
    fixture.tick(1000);
    assert_eq!(fixture.twists().last(), Some(&[0.0; 6]));
}

#[test]
fn a_twist_ends_with_its_page_its_mode_and_its_measurements() {
    for end in 0..4 {
        let mut fixture = Fixture::new();
        fixture.press(KeyCode::BackTab);
        fixture.press(KeyCode::Up);
        fixture.tick(50);
        fixture.twists();
        fixture.reports = None;
        match end {
            0 => fixture.press(KeyCode::Tab),
            1 => fixture.receives(Update::Motion { mode: CommandMode::Joint, moving: false }),
            2 => fixture.press(KeyCode::Char(':')),
            _ => fixture.receives(Update::Drives { enabled: false, temperature: Vec::new() }),
        }
        fixture.tick(50);
        assert_eq!(fixture.twists().first(), Some(&[0.0; 6]), "{end}");
        assert!(fixture.twists().iter().all(|twist| *twist == [0.0; 6]), "{end}");
    }
}

#[test]
fn a_joystick_moves_while_its_dead_man_button_is_pressed() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::BackTab);
    fixture.shows("joystick: none");
    let axes = [0.0, 0.5, 0.0, 0.0, -1.0];
    let joy = |fixture: &mut Fixture, pressed: bool| {
        let buttons = [false, false, false, false, pressed, false];
        fixture.station.handle_joystick(fixture.now, &axes, &buttons);
    };
    joy(&mut fixture, false);
    fixture.tick(200);
    assert_eq!(fixture.twists(), Vec::<[f64; 6]>::new());
    fixture.shows("dead-man button released");
    joy(&mut fixture, true);
    fixture.tick(100);
    assert_eq!(fixture.twists(), [[0.005, 0.0, -0.01, 0.0, 0.0, 0.0]; 2]);
    fixture.shows("dead-man button pressed");
    joy(&mut fixture, false);
    assert_eq!(fixture.twists(), [[0.0; 6]]);
    // A joystick that falls silent.
    joy(&mut fixture, true);
    fixture.tick(900);
    assert_eq!(fixture.twists().last(), Some(&[0.0; 6]));
    joy(&mut fixture, true);
    fixture.tick(50);
    fixture.station.handle_joystick_lost(fixture.now, "the joystick cannot be read".to_owned());
    assert_eq!(fixture.twists().last(), Some(&[0.0; 6]));
    fixture.shows("joystick: none");
    // On the other pages it moves nothing.
    fixture.press(KeyCode::Tab);
    fixture.tick(200);
    fixture.twists();
    joy(&mut fixture, true);
    fixture.tick(200);
    assert_eq!(fixture.twists(), Vec::<[f64; 6]>::new());
}

#[test]
fn a_protocol_without_twists_is_reported() {
    let mut fixture = Fixture::with(false, false);
    fixture.press(KeyCode::BackTab);
    fixture.press(KeyCode::Up);
    assert_eq!(fixture.actions(), []);
    fixture.shows("the 31-byte protocol has no twists");
}

#[test]
fn leaving_stops_what_the_station_began_and_nothing_else() {
    // The motion of another client.
    let mut fixture = Fixture::new();
    fixture.measure(CommandMode::Cartesian, true);
    fixture.press(KeyCode::Char('q'));
    assert!(fixture.station.leaves());
    assert!(!fixture.station.handle_end(fixture.now));
    assert_eq!(fixture.actions(), []);
    // Its own, by a key and by a command.
    for is_typed in [false, true] {
        let mut fixture = Fixture::new();
        if is_typed {
            fixture.types("VE");
        } else {
            fixture.press(KeyCode::Up);
            let (goal, _) = fixture.order(Command::SetGoalPose);
            fixture.answers(goal, Ok(()));
        }
        let id = fixture.orders().last().unwrap().0;
        fixture.answers(id, Ok(()));
        fixture.measure(CommandMode::Cartesian, true);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        fixture.station.handle_key(fixture.now, interrupt);
        assert!(fixture.station.leaves());
        assert!(fixture.station.handle_end(fixture.now));
        let (stop, _) = fixture.order(Command::Stop);
        assert!(fixture.station.is_stopping());
        fixture.answers(stop, Ok(()));
        assert!(!fixture.station.is_stopping());
    }
    // A twist.
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::BackTab);
    fixture.press(KeyCode::Up);
    fixture.twists();
    assert!(!fixture.station.handle_end(fixture.now));
    assert_eq!(fixture.twists().last(), Some(&[0.0; 6]));
    // A motion of which no message has come for long, as on a busy machine.
    let mut fixture = Fixture::new();
    fixture.types("BG");
    let (id, _) = fixture.order(Command::BeginMotion);
    fixture.answers(id, Ok(()));
    fixture.measure(CommandMode::Cartesian, true);
    fixture.reports = None;
    fixture.tick(10_000);
    assert!(fixture.station.handle_end(fixture.now));
    fixture.order(Command::Stop);
    // After its motion has ended.
    let mut fixture = Fixture::new();
    fixture.types("BG");
    let (id, _) = fixture.order(Command::BeginMotion);
    fixture.answers(id, Ok(()));
    fixture.measure(CommandMode::Cartesian, true);
    fixture.measure(CommandMode::Cartesian, false);
    assert!(!fixture.station.handle_end(fixture.now));
}

#[test]
fn the_pages_are_those_in_the_documentation() {
    let documentation = include_str!("../../../../docs/station.md");
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Up);
    fixture.receives(Update::Event(Level::Warning, "WN12 Joint limit.".to_owned()));
    let contained = |screen: Vec<String>| {
        let screen = screen.join("\n");
        assert!(
            documentation.contains(screen.trim_end()),
            "docs/station.md does not have this page:\n{screen}"
        );
    };
    contained(fixture.screen(80, 17));
    fixture.press(KeyCode::Tab);
    fixture.measure(CommandMode::Joint, false);
    contained(fixture.screen(80, 17));
}

#[test]
fn forty_columns_and_twelve_rows_are_enough() {
    let mut fixture = Fixture::new();
    fixture.press(KeyCode::Up);
    assert_eq!(
        fixture.screen(40, 12),
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
    fixture.receives(Update::Event(Level::Error, "ER21 Work space limit.".to_owned()));
    assert_eq!(fixture.screen(40, 12)[11], "1.0 ER21 Work space limit.");
    fixture.receives(Update::Event(
        Level::Error,
        "a text that is longer than a line of the terminal".to_owned(),
    ));
    let screen = fixture.screen(40, 14);
    assert_eq!(screen[11], "1.0 a text that is longer than a line of");
    assert_eq!(screen[12], " the terminal");
    fixture.press(KeyCode::Char(':'));
    for character in "VP 0.1 0.2 0.3 0.0 0.0 0.0 12.5 1 and what is too long".chars() {
        fixture.press(KeyCode::Char(character));
    }
    let screen = fixture.screen(40, 12);
    assert_eq!(screen[10], "VP x y z roll pitch yaw T i: Cartesian v");
    assert!(screen[11].starts_with(':') && screen[11].ends_with("what is too long"), "{screen:?}");
}

#[test]
fn any_terminal_size_and_any_key_are_handled() {
    let mut fixture = Fixture::new();
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
        fixture.press(key);
        for (width, height) in [(0, 0), (1, 1), (2, 30), (39, 5), (60, 16), (300, 2)] {
            fixture.screen(width, height);
        }
    }
    fixture.press(KeyCode::F(1));
    fixture.shows("Help: up and down scroll");
    fixture.shows("GT x y z roll pitch yaw T: Cartesian goal");
    (0..100).for_each(|_| fixture.press(KeyCode::Down));
    assert!(
        fixture.screen(30, 12).join(" ").contains("VP x y z roll pitch yaw T i"),
        "{:?}",
        fixture.screen(30, 12)
    );
}
