//! `dragoman task`: programs run by the platform, by this computer over ROS and over the socket, and step by step.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use clap::Parser;
use dragoman_ros::dragoman_msgs::msg::{PlatformStatus, ProgramState};
use dragoman_ros::dragoman_msgs::srv::PlatformRaiseEvent;
use dragoman_time::{Program, Run, Surroundings};
use dragoman_tools::task::{self, RunCommand, StepCommand};
use tokio::sync::{Notify, mpsc};

use crate::common::neobotix::{NeobotixClient, queue};
use crate::common::platform::Operator;
use crate::common::{Folder, block_on, context};

/// Time after which a program has failed.
const JOURNEY: Duration = Duration::from_secs(60);

/// The command line of `dragoman task`.
#[derive(Parser)]
enum Cli {
    Run(RunCommand),
    Step(StepCommand),
}

type Ended = Result<(), String>;

/// A running `dragoman task`, with its output. It is a program beside the lab, and runs while one waits for it.
struct Running {
    future: Run<Pin<Box<dyn Future<Output = Ended>>>>,
    ended: Option<Ended>,
    program: Program,
    input: mpsc::UnboundedSender<String>,
    stop: Arc<Notify>,
    seen: Vec<String>,
}

impl Running {
    fn new(operator: &Operator, arguments: &[&str]) -> Self {
        let command =
            Cli::try_parse_from([&["task"], arguments].concat()).unwrap_or_else(|error| panic!("{error}"));
        let domain = operator.lab.domain;
        let program = Program::new(Surroundings::default());
        let (input, lines) = mpsc::unbounded_channel();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let future: Pin<Box<dyn Future<Output = Ended>>> = Box::pin(async move {
            let input = || lines;
            let stop = stopped.notified();
            let server = |server: Option<&str>| server.map(|server| server.parse().unwrap());
            let ended = match &command {
                Cli::Run(run) => match server(run.server().unwrap()) {
                    Some(server) => task::on_socket(&run.options, server, false, input, stop).await,
                    None => task::run(&context(domain), run, input, stop).await,
                },
                Cli::Step(step) => match server(step.options.server.as_deref()) {
                    Some(server) => task::on_socket(&step.options, server, true, input, stop).await,
                    None => task::step(&context(domain), step, input, stop).await,
                },
            };
            ended.map_err(|error| error.to_string())
        });
        let future = program.run(future);
        Self { future, ended: None, program, input, stop, seen: Vec::new() }
    }

    /// Runs it for a moment; returns its new lines.
    fn run(&mut self) -> Vec<String> {
        assert!(self.ended.is_none(), "it has ended");
        self.ended = block_on(async {
            let mut moment = pin!(dragoman_time::sleep(Duration::from_millis(10)));
            poll_fn(|task| match Pin::new(&mut self.future).poll(task) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending => moment.as_mut().poll(task).map(|()| None),
            })
            .await
        });
        let lines: Vec<String> = self.program.take_output().lines().map(str::to_owned).collect();
        self.seen.extend_from_slice(&lines);
        lines
    }

    /// Runs it until a further line ends with this text.
    #[track_caller]
    fn until(&mut self, text: &str) {
        let start = dragoman_time::now();
        while !self.run().iter().any(|line| line.ends_with(text)) {
            assert!(self.ended.is_none(), "no line with '{text}': {:?}: {:#?}", self.ended, self.seen);
            assert!(dragoman_time::since(start) < JOURNEY, "no line with '{text}': {:#?}", self.seen);
        }
    }

    fn line(&self, line: &str) {
        self.input.send(line.to_owned()).unwrap();
    }

    /// Asks it to end, as SIGINT does.
    fn stop(&self) {
        self.stop.notify_one();
    }

    /// Runs it until its end: whether it succeeded, its lines, its error.
    #[track_caller]
    fn end(mut self) -> (bool, Vec<String>, String) {
        let start = dragoman_time::now();
        while self.ended.is_none() {
            self.run();
            assert!(dragoman_time::since(start) < JOURNEY, "it does not end: {:#?}", self.seen);
        }
        let ended = self.ended.take().unwrap();
        (ended.is_ok(), std::mem::take(&mut self.seen), ended.err().unwrap_or_default())
    }
}

/// The error with which it ends.
#[track_caller]
fn fails(operator: &Operator, arguments: &[&str]) -> String {
    let (is_success, lines, error) = Running::new(operator, arguments).end();
    assert!(!is_success, "{lines:#?}");
    error
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
    let folder = Folder::new();
    let file = folder.write("program.txt", PROGRAM);
    let mut operator = Operator::new();
    let server = operator.lab.neobotix[0].to_string();
    // Not initialized: nothing is sent.
    let error = fails(&operator, &["run", &file]);
    assert!(error.contains("the platform is not initialized: use --init"), "{error}");
    operator.begin(4);
    let error = fails(&operator, &["run", &file]);
    assert!(
        error.contains("the platform is ST_OP_RUNNING in MODE_MOTION_AUTOMATIC: stop it first"),
        "{error}"
    );
    operator.order("stop").unwrap();

    let mut programs = operator.beside.latched::<ProgramState>("/neobotix/program_state");
    let (is_success, local, error) = Running::new(&operator, &["run", &file]).end();
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
    let remote = ["run", "--remote"];
    let socket = ["run", "--remote", "--server", &server];
    for mode in [&remote[..], &socket[..]] {
        let (is_success, lines, error) = Running::new(&operator, &[mode, &[&file]].concat()).end();
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
    let folder = Folder::new();
    let file = folder.write("program.txt", BRANCHES);
    let mut operator = Operator::new();
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
    let remote = ["run", "--remote", "--data", &data];
    let socket = ["run", "--remote", "--data", &data, "--server", &server];
    for (mode, is_local) in [(&["run"][..], true), (&remote, false), (&socket, false)] {
        let mut running = Running::new(&operator, &[mode, &[&file]].concat());
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
    let folder = Folder::new();
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
    let mut operator = Operator::new();
    for mode in [&["run", "--init"][..], &["run", "--remote"]] {
        let mut running = Running::new(&operator, &[mode, &[&file]].concat());
        running.until("t: step 6 of 6: wait > delay 1500");
        let (is_success, lines, error) = running.end();
        assert!(is_success, "{mode:?}: {lines:#?} {error}");
        assert!(lines.iter().all(|line| !line.contains("unknown")), "{lines:#?}");
        operator.is(PlatformStatus::READY);
    }
}

#[test]
fn programs_are_stopped_by_the_user_and_end_when_others_stop_them() {
    let folder = Folder::new();
    let file = folder.write(
        "program.txt",
        "program\n  task endless\n    log type=info message=\"it begins\"\n    audio > speak hello\n    wait > userevent go\n    wait > userevent never\n",
    );
    let mut operator = Operator::new();
    let server = operator.lab.neobotix[1].to_string();
    let modes: [&[&str]; 3] = [
        &["run", "--init"],
        &["run", "--init", "--remote"],
        &["run", "--init", "--remote", "--server", &server],
    ];
    for (index, mode) in modes.iter().enumerate() {
        for stopped_by_others in [false, true] {
            let mut running = Running::new(&operator, &[*mode, &[&file]].concat());
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
                // No node subscribes to speech.
                assert!(running.seen.iter().any(|line| line.contains("refused: ")), "{:?}", running.seen);
            }
            operator.is(PlatformStatus::MOVING);
            if stopped_by_others {
                operator.order("stop").unwrap();
            } else {
                running.stop();
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
    let mut running = Running::new(&operator, &[modes[2], &[&file]].concat());
    running.until("endless: step 3 of 4: wait > userevent go");
    operator.lab.end().0.unwrap();
    let (is_success, _, error) = running.end();
    assert!(!is_success && error.contains("the platform does not report its status"), "{error}");
}

#[test]
fn steps_begin_when_the_user_confirms() {
    let folder = Folder::new();
    let file = folder
        .write("program.txt", "program\n  task one\n    log first\n    wait > userevent go\n    log last\n");
    let mut operator = Operator::new();
    let server = operator.lab.neobotix[0].to_string();
    let modes: [&[&str]; 2] = [&["step", "--init", "--server", &server], &["step", "--init"]];
    for mode in modes {
        let mut running = Running::new(&operator, &[mode, &[&file]].concat());
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

/// In every mode: what a program has set is in force for what follows, and its messages are shown. What the platform
/// refuses of it is also reported to the protocol's clients.
#[test]
fn what_a_program_sets_is_in_force_and_its_messages_are_shown() {
    let folder = Folder::new();
    let file = folder.write(
        "program.txt",
        "program
  task t
    parameter > set key=SirenEnabled value=true
    goto on condition=\"Siren Enabled\"
    log type=error message=\"not in force\"
    label on
    parameter > set key=SirenEnabled value=false
    goto end condition=SirenEnabled
    log type=info message=\"off again\"
    audio > speak hello
    label end
",
    );
    let mut operator = Operator::new();
    let server = operator.lab.neobotix[0].to_string();
    let remote = ["run", "--remote"];
    let socket = ["run", "--remote", "--server", &server];
    for (mode, sees_refusals) in [(&["run", "--init"][..], true), (&remote, true), (&socket, false)] {
        let (is_success, lines, error) = Running::new(&operator, &[mode, &[&file]].concat()).end();
        assert!(is_success, "{mode:?}: {lines:#?} {error}");
        let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
        assert_eq!((count("info: off again"), count("error: not in force")), (1, 0), "{mode:?}: {lines:#?}");
        assert_eq!(count("there is no speech"), usize::from(sees_refusals), "{mode:?}: {lines:#?}");
        operator.is(PlatformStatus::READY);
    }
    let client = &mut NeobotixClient::new(operator.lab.neobotix[1]);
    let lines = queue(client.ask(&[50]));
    let expected = ["info: off again", "refused: there is no speech: its topic has no subscribers"];
    assert!(lines.starts_with(&expected.map(str::to_owned)), "{lines:?}");
}

/// A program sends more messages than the platform keeps; the number of missing ones is shown.
#[test]
fn messages_that_are_missing_are_counted() {
    let folder = Folder::new();
    let logs: String = (1..=100).map(|number| format!("    log type=info message={number}\n")).collect();
    let file = folder.write("program.txt", &format!("program\n  task t\n{logs}"));
    let operator = Operator::new();
    let (is_success, lines, error) = Running::new(&operator, &["run", "--init", &file]).end();
    assert!(is_success, "{lines:#?} {error}");
    assert!(lines.iter().any(|line| line.ends_with("68 messages came too fast to be shown")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.ends_with("info: 100")), "{lines:#?}");
}
