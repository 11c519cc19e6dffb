//! `dragoman task`: programs checked and converted; run by the platform, by this computer over ROS and over the socket,
//! and step by step.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};

use crate::common::platform::{JOURNEY, Operator};
use dragoman_ros::dragoman_msgs::msg::{PlatformStatus, ProgramState};
use dragoman_ros::dragoman_msgs::srv::PlatformRaiseEvent;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dragoman-task-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.arg("task").args(arguments);
    command.env_remove("ROS_DOMAIN_ID").env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
    command
}

fn task(arguments: &[&str]) -> Output {
    command(arguments).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = task(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(arguments: &[&str]) -> String {
    let output = task(arguments);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// A running program, with its output.
struct Running {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Running {
    fn new(arguments: &[&str]) -> Self {
        let mut command = command(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { input: child.stdin.take().unwrap(), child, lines, seen: Vec::new() }
    }

    /// Waits for a further line that ends with this text.
    #[track_caller]
    fn until(&mut self, text: &str) {
        loop {
            match self.lines.recv_timeout(JOURNEY) {
                Ok(line) => self.seen.push(line),
                Err(error) => {
                    let reason = self.error();
                    panic!("no line with '{text}': {error}: {:#?}; {reason}", self.seen);
                }
            }
            if self.seen.last().is_some_and(|line| line.ends_with(text)) {
                return;
            }
        }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    fn error(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// Waits for the end: whether it succeeded, its lines, its errors.
    fn end(mut self) -> (bool, Vec<String>, String) {
        while let Ok(line) = self.lines.recv_timeout(JOURNEY) {
            self.seen.push(line);
        }
        let mut error = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        let is_success = self.child.wait().unwrap().success();
        (is_success, std::mem::take(&mut self.seen), error)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn programs_are_checked_and_converted_without_a_platform() {
    let folder = Folder::new("convert");
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config/neobotix/program.xml");
    let roadmap = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config/neobotix/roadmap.xml");
    let text = succeeds(&["convert", lab, "-"]);
    assert!(text.starts_with("# For the default lab: "), "{text}");
    assert!(text.contains(
        "\n    motion > settarget > station middle\n    wait timeout=120000 timeoutlabel=late > target\n"
    ));
    let [file, xml] = ["lab.txt", "lab.xml"].map(|name| folder.path(name));
    succeeds(&["convert", lab, &file]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    succeeds(&["convert", &file, &xml]);
    assert_eq!(succeeds(&["convert", &xml, "-"]), text);
    let error = fails(&["convert", &file, &xml]);
    assert!(error.contains("exists: use --force"), "{error}");
    succeeds(&["convert", "--force", &file, &xml]);
    for file in [lab, &file, &xml] {
        assert!(succeeds(&["check", "--roadmap", roadmap, file]).contains("no errors; tasks: 2, steps: 17"));
    }
    // Each error has its place in the file, in both forms.
    let wrong = folder.write(
        "wrong.txt",
        "program\n  task t\n    goto nowhere\n    turnhead 900\n    motion > settarget > station x\n",
    );
    let error = fails(&["check", &wrong]);
    for expected in
        [":3:5: there is no label 'nowhere'", ":4:5: an angle in degrees is 900", "wrong.txt: 2 errors"]
    {
        assert!(error.contains(expected), "{error}");
    }
    let wrong = folder.write("wrong.xml", "<program>\n<task name='t'>\n<dance/>\n<wait/></task></program>");
    let error = fails(&["check", &wrong]);
    assert!(
        error.contains(":3:1: <dance> is not known") && error.contains(":4:1: the wait has neither"),
        "{error}"
    );
    let station = folder.write("station.txt", "program\n  task t\n    motion > settarget > station x\n");
    let error = fails(&["check", "--roadmap", roadmap, &station]);
    assert!(error.contains(":3:26: there is no station 'x'"), "{error}");
    // Nothing is sent.
    let error = fails(&["run", "--remote", "--server", "127.0.0.1:1", &wrong]);
    assert!(error.contains("<dance> is not known"), "{error}");
    let charge = folder.write("charge.txt", "program\n  task t\n    wait > batterycharge 80\n");
    let error = fails(&["run", "--remote", "--server", "127.0.0.1:1", &charge]);
    assert!(error.contains(":3:5: the protocol has the battery's voltage"), "{error}");
    let error = fails(&["run", "--remote", "--server", "127.0.0.1:1", &station]);
    assert!(error.contains("127.0.0.1:1: "), "{error}");
}

/// Two tasks: the first has the more urgent motion, and both end.
const PROGRAM: &str = "program
  task drive priority=1
    motion > settarget > coord x=4100 y=3800 angle=180
    wait timeout=120000 timeoutlabel=late > target
    parameter > set key=FlashlightEnabled value=true
    wait > delay 1000
    goto on condition=FlashlightEnabled
    goto late
    label on
    ioevent > digitalout D3=1
    wait > delay 2500
    label late
    parameter > set key=FlashlightEnabled value=false
  task back
    wait > delay 1000
    motion > settarget > coord x=4500 y=3800 angle=180
    wait timeout=120000 > target
    wait > delay 1500
    motion stop=1
";

/// A time limit, an event, documents, a loop, and a motion that fails.
const BRANCHES: &str = "program
  task main priority=1
    wait timeout=1500 timeoutlabel=late > userevent never
    log never
    label late
    wait > userevent go
    label round
    load map=hall roadmap=ways
    wait > delay 2000
    goto done condition=SirenEnabled
    parameter > set key=SirenEnabled value=true
    goto round
    label done
    parameter > set key=SirenEnabled value=false
    motion > moveto onErrorTask=help > trackedball
    wait > delay 4000
  task help
    audio > speak help
    wait > delay 1500
";

/// What is shown of each task, without the times.
fn states(lines: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut tasks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines {
        let rest = line.split_once(" s  ").map_or(line.as_str(), |(_, rest)| rest);
        if let Some((task, state)) = rest.split_once(": ")
            && ["drive", "back"].contains(&task)
            // A command that takes effect at once may come and go between two looks.
            && (!state.contains("> settarget") || state.contains("waits for"))
        {
            tasks.entry(task.to_owned()).or_default().push(state.to_owned());
        }
    }
    tasks
}

/// The guide's two modes: the platform, or another computer, executes the same program in the same way.
#[test]
fn local_and_remote_modes_have_the_same_states() {
    let folder = Folder::new("modes");
    let file = folder.write("program.txt", PROGRAM);
    let mut operator = Operator::new("task_modes");
    let domain = operator.lab.domain.to_string();
    let server = operator.lab.neobotix[0].to_string();
    // Not initialized: nothing is sent.
    let error = fails(&["run", "--domain", &domain, &file]);
    assert!(error.contains("the platform is not initialized: use --init"), "{error}");
    operator.begin(4);
    let error = fails(&["run", "--domain", &domain, &file]);
    assert!(
        error.contains("the platform is ST_OP_RUNNING in MODE_MOTION_AUTOMATIC: stop it first"),
        "{error}"
    );
    operator.order("stop").unwrap();

    let mut programs = operator.beside.latched::<ProgramState>("/neobotix/program_state");
    let (is_success, local, error) = Running::new(&["run", "--domain", &domain, &file]).end();
    assert!(is_success, "{local:#?} {error}");
    operator.is(PlatformStatus::READY);
    let state = operator.beside.find("the result", &mut programs, |state| !state.result.is_empty());
    assert_eq!((state.run, state.result.as_str(), state.refusal.as_str()), (1, "completed", ""));
    let local_states = states(&local);
    let shown = |task: &str| local_states[task].join("\n");
    for (task, expected) in [
        ("drive", "step 2 of 11: wait timeout=120000 timeoutlabel=late > target (its motion is under way)"),
        ("drive", "step 9 of 11: wait > delay 2500"),
        ("drive", "ended"),
        (
            "back",
            "step 2 of 5: motion > settarget > coord x=4500 y=3800 angle=180 (waits for the motion of drive)",
        ),
        ("back", "step 3 of 5: wait timeout=120000 > target (its motion is under way)"),
        ("back", "ended"),
    ] {
        assert!(shown(task).contains(expected), "{expected}: {local:#?}");
    }
    let remote = ["run", "--remote", "--domain", &domain];
    let socket = ["run", "--remote", "--server", &server];
    for mode in [&remote[..], &socket[..]] {
        let (is_success, lines, error) = Running::new(&[mode, &[&file]].concat()).end();
        assert!(is_success, "{lines:#?} {error}");
        assert_eq!(states(&lines), local_states, "{mode:?}: {lines:#?}\n{local:#?}");
        operator.is(PlatformStatus::READY);
        // It has moved there, by the world's own pose.
        assert!((operator.truth()[0] - 4.5).abs() < 0.05, "{:?}", operator.truth());
    }
}

/// As before, with branches: the waits and the ends of the tasks are the same.
#[test]
fn local_and_remote_modes_take_the_same_branches() {
    let folder = Folder::new("branches");
    let file = folder.write("program.txt", BRANCHES);
    let mut operator = Operator::new("task_branches");
    let domain = operator.lab.domain.to_string();
    let server = operator.lab.neobotix[0].to_string();
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config/neobotix");
    for (kind, name) in [("map", "hall"), ("roadmap", "ways")] {
        let text = std::fs::read_to_string(format!("{config}/{kind}.xml")).unwrap();
        folder.write(&format!("{name}.xml"), &text);
        let platform = operator.folder.join(format!("{kind}s"));
        std::fs::create_dir_all(&platform).unwrap();
        std::fs::write(platform.join(format!("{name}.xml")), text).unwrap();
    }
    operator.begin(4);
    operator.order("stop").unwrap();
    let waits = |lines: &[String]| -> Vec<String> {
        let shown = lines.iter().map(|line| line.split_once(" s  ").map_or(line.as_str(), |(_, rest)| rest));
        let waits = shown.filter(|line| {
            ["main: ", "help: "].iter().any(|task| line.starts_with(task))
                && (line.contains(": wait ") || line.ends_with(": ended"))
        });
        waits.map(str::to_owned).collect()
    };
    let expected = [
        "main: step 1 of 14: wait timeout=1500 timeoutlabel=late > userevent never",
        "main: step 4 of 14: wait > userevent go",
        "main: step 7 of 14: wait > delay 2000",
        "main: step 7 of 14: wait > delay 2000",
        "main: step 14 of 14: wait > delay 4000",
        "help: step 2 of 2: wait > delay 1500",
        "help: ended",
        "main: ended",
    ];
    let data = folder.path("");
    let remote = ["run", "--remote", "--data", &data, "--domain", &domain];
    let socket = ["run", "--remote", "--data", &data, "--server", &server];
    for (mode, is_local) in [(&["run", "--domain", &domain][..], true), (&remote, false), (&socket, false)] {
        let mut running = Running::new(&[mode, &[&file]].concat());
        running.until("main: step 4 of 14: wait > userevent go");
        if is_local {
            let request = PlatformRaiseEvent::Request { id: "go".to_owned(), ..Default::default() };
            let answer = operator.call::<PlatformRaiseEvent::Service>("raise_event", request);
            assert!(answer.success, "{}", answer.message);
        } else {
            running.line("go");
        }
        let (is_success, lines, error) = running.end();
        assert!(is_success, "{mode:?}: {lines:#?} {error}");
        let mut found = waits(&lines);
        // Between two rounds of the loop a look may see no other step.
        found.dedup();
        let mut expected = expected.to_vec();
        expected.dedup();
        assert_eq!(found, expected, "{mode:?}: {lines:#?}");
        operator.is(PlatformStatus::READY);
    }
}

/// The protocol has no charge; in ROS the platform and this computer have the same source of it.
#[test]
fn a_program_waits_for_the_charge_of_the_battery_in_ros() {
    let folder = Folder::new("charge");
    let file = folder.write(
        "program.txt",
        "program
  task t
    wait timeout=60000 timeoutlabel=late > batterycharge 20
    wait timeout=1500 timeoutlabel=full > batterycharge 150
    label late
    wait > delay 1000000
    label full
    wait > delay 1500
",
    );
    let mut operator = Operator::new("task_charge");
    let domain = operator.lab.domain.to_string();
    for mode in [&["run", "--init", "--domain", &domain][..], &["run", "--remote", "--domain", &domain]] {
        let mut running = Running::new(&[mode, &[&file]].concat());
        running.until("t: step 6 of 6: wait > delay 1500");
        let (is_success, lines, error) = running.end();
        assert!(is_success, "{mode:?}: {lines:#?} {error}");
        assert!(lines.iter().all(|line| !line.contains("unknown")), "{lines:#?}");
        operator.is(PlatformStatus::READY);
    }
}

#[test]
fn programs_are_stopped_by_the_user_and_end_when_others_stop_them() {
    let folder = Folder::new("stop");
    let file = folder.write(
        "program.txt",
        "program\n  task endless\n    log type=info message=\"it begins\"\n    audio > speak hello\n    wait > userevent go\n    wait > userevent never\n",
    );
    let mut operator = Operator::new("task_stop");
    let domain = operator.lab.domain.to_string();
    let server = operator.lab.neobotix[1].to_string();
    let modes: [&[&str]; 3] = [
        &["run", "--init", "--domain", &domain],
        &["run", "--init", "--remote", "--domain", &domain],
        &["run", "--init", "--remote", "--server", &server],
    ];
    for (index, mode) in modes.iter().enumerate() {
        for stopped_by_others in [false, true] {
            let mut running = Running::new(&[*mode, &[&file]].concat());
            running.until("endless: step 3 of 4: wait > userevent go");
            if index > 0 {
                assert!(
                    running.seen.iter().any(|line| line.ends_with("info: it begins")),
                    "{:?}",
                    running.seen
                );
                running.line("go");
                running.until("endless: step 4 of 4: wait > userevent never");
            }
            if index < 2 {
                // Nobody listens to speech.
                assert!(running.seen.iter().any(|line| line.contains("refused: ")), "{:?}", running.seen);
            }
            operator.is(PlatformStatus::MOVING);
            if stopped_by_others {
                operator.order("stop").unwrap();
            } else {
                running.signal("-INT");
            }
            let (is_success, lines, error) = running.end();
            let expected = match (stopped_by_others, index) {
                (false, _) => "stopped before the end of the program",
                (true, 0) => "the program was stopped by others before its end",
                (true, _) => "the platform is ST_OP_READY in MODE_MOTION_AUTOMATIC: it was stopped by others",
            };
            assert!(!is_success && error.contains(expected), "{mode:?}: {lines:?} {error}");
            operator.is(PlatformStatus::READY);
        }
    }
    // A lost connection is an error, too.
    let mut running = Running::new(&[modes[2], &[&file]].concat());
    running.until("endless: step 3 of 4: wait > userevent go");
    operator.lab.signal("-KILL");
    let (is_success, _, error) = running.end();
    assert!(!is_success && error.contains("the platform does not report its status"), "{error}");
}

#[test]
fn steps_begin_at_the_user_s_word() {
    let folder = Folder::new("step");
    let file = folder
        .write("program.txt", "program\n  task one\n    log first\n    wait > userevent go\n    log last\n");
    let mut operator = Operator::new("task_step");
    let domain = operator.lab.domain.to_string();
    let server = operator.lab.neobotix[0].to_string();
    let modes: [&[&str]; 2] =
        [&["step", "--init", "--server", &server], &["step", "--init", "--domain", &domain]];
    for mode in modes {
        let mut running = Running::new(&[mode, &[&file]].concat());
        running.until("one: step 1 of 3: log first (next)");
        // An event before its wait is lost; each line is taken in a cycle of its own, in their order.
        running.line("go");
        running.line("");
        running.until("one: step 2 of 3: wait > userevent go (next)");
        running.line("");
        running.until("one: step 2 of 3: wait > userevent go");
        assert!(!running.seen.iter().any(|line| line.contains("step 3")), "{:?}", running.seen);
        running.line("go");
        running.until("one: step 3 of 3: log last (next)");
        assert!(!running.seen.iter().any(|line| line.contains("log: last")), "{:?}", running.seen);
        operator.is(PlatformStatus::MOVING);
        running.line("");
        let (is_success, lines, error) = running.end();
        assert!(is_success && lines.iter().any(|line| line.ends_with("log: last")), "{lines:?} {error}");
        operator.is(PlatformStatus::READY);
    }
}
