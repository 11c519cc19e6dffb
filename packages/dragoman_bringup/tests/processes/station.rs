//! `dragoman station` at a pseudo-terminal in front of a lab's arm: keys and a joystick move it, it stops, and the
//! terminal is as it was. It needs the system's terminals and signals.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::Signal;
use nix::sys::termios::{Termios, tcgetattr};

use crate::common::device::TestPath;
use crate::common::{ArmClient, ArmReply, Lab, distance};
use dragoman_ros::sensor_msgs::msg::Joy;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};

/// Time limit of immediate reactions, on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Distance at which the tool has left a place, m. It is short, because on a busy machine messages of a joystick are late now
/// and then, and the tool stops and starts again.
const MOVED: f32 = 0.0002;
/// Time after which a user presses a key again.
const AGAIN: Duration = Duration::from_secs(6);
/// So that the largest step takes sixteen seconds: it is stopped on its way, however busy the machine is.
const UNHURRIED: &str = "kinematics:cartesian.max_acceleration:=[0.001, 0.001, 0.001, 0.05, 0.05, 0.05]";
const ARM_ONLY: &[&str] = &["up", "--only", "ranger"];

/// A terminal in memory, with the station on it.
struct Terminal {
    child: Child,
    keyboard: File,
    /// The side of the station; open, so that its settings can be read after the end.
    line: OwnedFd,
    settings: Termios,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    fn start(domain: u16, options: &[&str]) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let settings = tcgetattr(&pty.slave).unwrap();
        let side = || Stdio::from(pty.slave.try_clone().unwrap());
        let mut command = Command::new("setsid");
        // It becomes the terminal's session, so that signals of the terminal reach it.
        command.arg("--ctty").arg(env!("CARGO_BIN_EXE_dragoman")).arg("station").args(options);
        if !options.contains(&"--udp") {
            command.args(["--domain", &domain.to_string()]);
        }
        let child = command
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .env_remove("ROS_DOMAIN_ID")
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap();
        let keyboard = File::from(pty.master);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 0)));
        let (mut output, written) = (keyboard.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The end of the station is an error here.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                written.lock().unwrap().process(&bytes[..count]);
                // A question for the kind of terminal, which every terminal answers.
                if bytes[..count].windows(3).any(|window| window == b"\x1b[c") {
                    let _ = output.write_all(b"\x1b[?62c");
                }
            }
        });
        Self { child, keyboard, line: pty.slave, settings, screen }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen fulfils a condition.
    #[track_caller]
    fn waits(&self, what: &str, mut condition: impl FnMut(&str) -> bool) {
        let start = Instant::now();
        while !condition(&self.text()) {
            assert!(start.elapsed() < TIME_LIMIT, "{what} does not appear:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Types keys until the screen shows `text`: on a busy machine the arm may not be measured, or not answer, for a moment,
    /// and the station says so.
    #[track_caller]
    fn answers(&self, keys: &str, text: &str) {
        let mut typed: Option<Instant> = None;
        self.waits(text, |screen| {
            if typed.is_none_or(|typed| typed.elapsed() > AGAIN) {
                self.types(keys);
                typed = Some(Instant::now());
            }
            screen.contains(text)
        });
    }

    #[track_caller]
    fn shows(&self, text: &str) {
        self.waits(text, |screen| screen.contains(text));
    }

    fn types(&self, keys: &str) {
        (&self.keyboard).write_all(keys.as_bytes()).unwrap();
    }

    fn resize(&self, rows: u16, columns: u16) {
        let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        self.screen.lock().unwrap().screen_mut().set_size(rows, columns);
        rustix::termios::tcsetwinsize(&self.keyboard, size).unwrap();
    }

    fn signal(&self, signal: Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    fn end(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < TIME_LIMIT, "it does not leave:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Checks that the terminal is as before the start.
    #[track_caller]
    fn is_restored(&self) {
        assert_eq!(tcgetattr(&self.line).unwrap(), self.settings);
        // The last bytes may still be on their way.
        let start = Instant::now();
        loop {
            let screen = self.screen.lock().unwrap();
            let (alternate, hidden) = (screen.screen().alternate_screen(), screen.screen().hide_cursor());
            if !alternate && !hidden {
                return;
            }
            assert!(start.elapsed() < TIME_LIMIT, "alternate screen: {alternate}, hidden cursor: {hidden}");
            drop(screen);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A lab with the arm alone, and its tool's position.
fn lab() -> (Lab, ArmClient, [f32; 3]) {
    let lab = Lab::start_with(crate::common::domain(), ARM_ONLY, &["-p", "arm31:port:=0", "-p", UNHURRIED]);
    let client = lab.client();
    let start = Instant::now();
    while matches!(client.ask("PS", [0.0; 7], 0), ArmReply::Text(_)) {
        assert!(start.elapsed() < TIME_LIMIT, "the arm is not measured");
        std::thread::sleep(Duration::from_millis(50));
    }
    let position = client.position();
    (lab, client, position)
}

/// Waits until the tool has left `from`.
#[track_caller]
fn moves(client: &ArmClient, terminal: &Terminal, from: [f32; 3]) {
    terminal.waits("a motion of the tool", |_| distance(client.position(), from) >= MOVED);
}

/// Presses a key until something is `done`: again when the station refuses it, as on a busy machine.
#[track_caller]
fn presses(terminal: &Terminal, key: &str, what: &str, done: impl Fn() -> bool) {
    const REFUSALS: [&str; 3] = ["reports no measurements", "does not report its state", "no answer"];
    terminal.types(key);
    let mut typed = Instant::now();
    terminal.waits(what, |screen| {
        let is_done = done();
        if !is_done && typed.elapsed() > AGAIN && REFUSALS.iter().any(|why| screen.contains(why)) {
            terminal.types(key);
            typed = Instant::now();
        }
        is_done
    });
}

/// Presses a key that moves the tool.
#[track_caller]
fn steps(client: &ArmClient, terminal: &Terminal, key: &str, from: [f32; 3]) {
    presses(terminal, key, "a motion of the tool", || distance(client.position(), from) >= MOVED);
}

/// Waits until the tool stands, and returns where.
#[track_caller]
fn stands(client: &ArmClient) -> [f32; 3] {
    let start = Instant::now();
    let mut before = client.position();
    let mut still = 0;
    while still < 5 {
        assert!(start.elapsed() < TIME_LIMIT, "the tool does not stop");
        std::thread::sleep(Duration::from_millis(100));
        let now = client.position();
        still = if distance(now, before) < 1e-5 { still + 1 } else { 0 };
        before = now;
    }
    before
}

/// What both links have in common: steps of the tool and of a joint, a long motion and a stop, commands, refusals.
fn operate(client: &ArmClient, terminal: &Terminal, home: [f32; 3]) {
    terminal.shows("mode off, at rest");
    // Nothing moves in the wrong mode.
    terminal.answers("\x1b[B", "m switches to mode Cartesian");
    terminal.answers("m", "mode Cartesian, at rest");
    // One step along -x.
    steps(client, terminal, "\x1b[B", stands(client));
    assert!(client.arrives([home[0] - 0.004, home[1], home[2]], 5e-4, TIME_LIMIT), "{:?}", client.position());
    terminal.shows("mode Cartesian, at rest");
    // The maximum step, and a stop on its way.
    terminal.types("++++");
    terminal.shows("Scale: 64.0000");
    let from = stands(client);
    steps(client, terminal, "\x1b[6~", from);
    terminal.answers(" ", "stopped");
    let stood = stands(client);
    assert!(distance(stood, from) < 0.05, "{from:?} {stood:?}: it has gone all the way");
    terminal.shows("mode Cartesian, at rest");
    // A joint.
    terminal.types("\t");
    terminal.answers("m", "mode joint, at rest");
    let joint = client.ask("jP", [0.0; 7], 0).values()[5];
    terminal.types("----6");
    presses(terminal, "\x1b[C", "steps of the joint", || {
        let way = client.ask("jP", [0.0; 7], 0).values()[5] - joint;
        let steps = (way / 0.02).round();
        steps >= 1.0 && (way - 0.02 * steps).abs() < 1e-3
    });
    // Commands by name, completed and refused.
    terminal.answers(":jg\t\t\t\t\t\t\t\r", "jG accepted");
    terminal.types(":TM\r");
    terminal.shows("TM: ");
    terminal.types(":CM 7\r");
    terminal.shows("7 is not a command mode");
    terminal.types(":BG\r");
    terminal.shows("BG: ");
}

#[test]
fn keys_move_the_arm_over_ros() {
    let (lab, client, home) = lab();
    let mut terminal = Terminal::start(lab.domain, &[]);
    operate(&client, &terminal, home);
    // By twist: it moves while the key is repeated, and stops by itself afterwards.
    terminal.types("\t");
    terminal.answers("m", "mode Cartesian, at rest");
    let from = stands(&client);
    let start = Instant::now();
    while distance(client.position(), from) < 0.004 {
        assert!(start.elapsed() < TIME_LIMIT, "the tool does not move:\n{}", terminal.text());
        terminal.types("\x1b[B");
        std::thread::sleep(Duration::from_millis(100));
    }
    let stood = stands(&client);
    assert!(distance(stood, from) < 0.05, "{from:?} {stood:?}");
    // A narrow terminal, and a wide one.
    terminal.resize(12, 40);
    terminal.waits("a narrow page", |screen| {
        screen.contains("Scale: 4.0000") && !screen.contains("Ranger station")
    });
    terminal.resize(30, 100);
    terminal.shows("Ranger station, /ranger");
    terminal.types("?");
    terminal.shows("Help");
    terminal.types("xq");
    assert!(terminal.end().success());
    terminal.is_restored();
}

#[test]
fn keys_move_the_arm_over_udp() {
    let (lab, client, home) = lab();
    let mut terminal = Terminal::start(lab.domain, &["--udp", &lab.address.to_string()]);
    operate(&client, &terminal, home);
    terminal.types("\t\x1b[B");
    terminal.shows("the 31-byte protocol has no twists");
    // Ctrl-C on a motion's way stops it.
    terminal.types("\t");
    terminal.answers("m", "mode Cartesian, at rest");
    terminal.types("++++");
    let from = client.position();
    steps(&client, &terminal, "\x1b[5~", from);
    terminal.types("\x03");
    assert!(terminal.end().success(), "{}", terminal.text());
    terminal.is_restored();
    let stood = stands(&client);
    assert!(distance(stood, from) < 0.05, "{from:?} {stood:?}: it has gone all the way");
}

/// The terminal's window is closed, and the station is ended, while the arm moves.
#[test]
fn a_closed_terminal_stops_the_arm() {
    let (lab, client, _) = lab();
    let address = lab.address.to_string();
    for (link, hangs_up) in [(vec![], true), (vec![], false), (vec!["--udp", address.as_str()], true)] {
        let mut terminal = Terminal::start(lab.domain, &link);
        terminal.waits("the arm", |screen| screen.contains(", at rest"));
        terminal.answers("m", "mode Cartesian, at rest");
        let from = stands(&client);
        // In turn, so that the tool stays about where it is.
        terminal.types("++++");
        steps(&client, &terminal, if hangs_up { "\x1b[5~" } else { "\x1b[6~" }, from);
        terminal.signal(if hangs_up { Signal::SIGHUP } else { Signal::SIGTERM });
        assert!(terminal.end().success(), "{}", terminal.text());
        terminal.is_restored();
        let stood = stands(&client);
        assert!(distance(stood, from) < 0.05, "{from:?} {stood:?}: it has gone all the way");
    }
}

/// A named pipe stands for the device: the kernel's joysticks need hardware.
#[test]
fn a_joystick_device_moves_the_arm_while_its_dead_man_button_is_pressed() {
    let (lab, client, _) = lab();
    let TestPath(path) = &TestPath::new("joystick");
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // For both directions, so that neither side waits for the other.
    let mut device = File::options().read(true).write(true).open(path).unwrap();
    let mut terminal = Terminal::start(lab.domain, &["--joystick", path.to_str().unwrap()]);
    terminal.shows("mode off, at rest");
    terminal.answers("m", "mode Cartesian, at rest");
    terminal.types("\x1b[Z");
    let event = |value: i16, kind: u8, number: u8| {
        let [low, high] = value.to_le_bytes();
        [0, 0, 0, 0, low, high, kind, number]
    };
    let from = stands(&client);
    // The stick alone moves nothing.
    device.write_all(&event(32767, 2, 1)).unwrap();
    terminal.shows("dead-man button released");
    assert!(distance(stands(&client), from) < 1e-4);
    device.write_all(&event(1, 1, 4)).unwrap();
    moves(&client, &terminal, from);
    device.write_all(&event(0, 1, 4)).unwrap();
    terminal.shows("dead-man button released");
    let stood = stands(&client);
    assert!(stood[0] < from[0], "{from:?} {stood:?}");
    terminal.types("q");
    assert!(terminal.end().success(), "{}", terminal.text());
    terminal.is_restored();
}

/// Publishes `/joy` at 20 Hz while there is a message.
fn joystick(domain: u16) -> Arc<Mutex<Option<Joy>>> {
    let discovery =
        Discovery { domain_id: domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    let mut node = Node::create(context, "joystick", "").unwrap();
    let publisher = node.create_publisher::<Joy>("/joy", QosProfile::default()).unwrap();
    let joy = Arc::new(Mutex::new(None));
    // It ends with the test, which has the other reference.
    let shown = Arc::downgrade(&joy);
    std::thread::spawn(move || {
        let _node = node;
        while let Some(joy) = shown.upgrade() {
            if let Some(joy) = &*joy.lock().unwrap() {
                publisher.publish(joy).unwrap();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    joy
}

#[test]
fn a_joystick_topic_moves_the_arm_while_its_dead_man_button_is_pressed() {
    let (lab, client, _) = lab();
    let mut terminal = Terminal::start(lab.domain, &[]);
    terminal.shows("mode off, at rest");
    terminal.answers("m", "mode Cartesian, at rest");
    terminal.types("\x1b[Z");
    let from = stands(&client);
    let joy = joystick(lab.domain);
    // Forwards; the dead-man button is the fifth.
    let state = |is_pressed: bool| Joy {
        axes: vec![0.0, 1.0, 0.0, 0.0],
        buttons: vec![0, 0, 0, 0, i32::from(is_pressed)],
        ..Joy::default()
    };
    let set = |state: Option<Joy>| *joy.lock().unwrap() = state;
    // The stick alone moves nothing.
    set(Some(state(false)));
    terminal.shows("dead-man button released");
    assert!(distance(stands(&client), from) < 1e-4);
    set(Some(state(true)));
    moves(&client, &terminal, from);
    set(Some(state(false)));
    terminal.shows("dead-man button released");
    let stood = stands(&client);
    assert!(stood[0] > from[0], "{from:?} {stood:?}");
    // A joystick that is silent while the button is pressed counts as released.
    set(Some(state(true)));
    moves(&client, &terminal, stood);
    set(None);
    stands(&client);
    terminal.types("q");
    assert!(terminal.end().success(), "{}", terminal.text());
    terminal.is_restored();
}

#[test]
fn a_missing_terminal_or_arm_is_reported() {
    for options in [&["--udp", "127.0.0.1:5031"][..], &[]] {
        let output = Command::new(env!("CARGO_BIN_EXE_dragoman"))
            .arg("station")
            .args(options)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(!output.status.success());
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("station needs a terminal; standard input is not a terminal"), "{message}");
    }
    let mut terminal = Terminal::start(crate::common::domain(), &["--joystick", "/nowhere"]);
    assert!(!terminal.end().success());
    terminal.shows("joystick /nowhere: No such file");
    terminal.is_restored();
    // A part that panics ends it, with the reason on the restored terminal.
    let mut terminal = Terminal::start(crate::common::domain(), &["--fault", "middleware=panic@1"]);
    assert!(!terminal.end().success());
    terminal.is_restored();
    terminal.shows("dragoman: middleware");
    let mut terminal = Terminal::start(crate::common::domain(), &[]);
    terminal.shows("no connection to the arm");
    terminal.types("\x1b[A");
    terminal.shows("the arm does not report its state");
    terminal.shows("no arm in /ranger: is the arm running, and in this domain?");
    terminal.types("q");
    assert!(terminal.end().success());
    terminal.is_restored();
    let lab = Lab::start();
    let terminal = Terminal::start(lab.domain, &["--namespace", "/rangr"]);
    terminal.shows("no arm in /rangr; did you mean '/ranger'?");
}
