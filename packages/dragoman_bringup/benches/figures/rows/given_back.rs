//! Released resources: memory, files and threads before an attack, at the peak, and at most ten seconds after the
//! attackers have left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};

use super::{ATTACK, FigureRow, Run, Scene, pid};
use crate::attacker::{Attacker, pin};
use crate::common::{Lab, domain, processor_time};
use crate::good::Good;
use crate::table::{Figure, number};
use crate::watch::{Resources, Watch, sockets};

pub(super) const ROWS: &[FigureRow] = &[
    FigureRow { name: "rest", what: "no attack: at rest", open: &[], run: rest },
    FigureRow { name: "few-files", what: "no attack: a limit of 256 files", open: &[], run: few_files },
    FigureRow {
        name: "recorder-killed",
        what: "`record` of all topics, killed with -9 after 5 s",
        open: &[],
        run: recorder_killed,
    },
    FigureRow {
        name: "recorder-suspended",
        what: "`record` of all topics, suspended",
        open: &[],
        run: recorder_suspended,
    },
    FigureRow {
        name: "web-visits",
        what: "web clients, one after another: three topics, five messages",
        open: &["kept per client"],
        run: web_visits,
    },
    FigureRow {
        name: "web-fragments",
        what: "64 rosbridge clients, fragments never completed",
        open: &["memory: more at the peak"],
        run: web_fragments,
    },
    FigureRow {
        name: "web-subscriptions",
        what: "20 clients with 1,000 subscriptions each",
        open: &[],
        run: web_subscriptions,
    },
    FigureRow {
        name: "player-subscribers",
        what: "Player, 200 clients that subscribe everything",
        open: &[],
        run: player_subscribers,
    },
    FigureRow { name: "maps", what: "maps of 16.5 MB, in the end the old one again", open: &[], run: maps },
    FigureRow {
        name: "long-names",
        what: "names of 30,000 characters in discovery",
        open: &[],
        run: long_names,
    },
    FigureRow {
        name: "downloads",
        what: "`/recording_status` that names a FIFO, then downloads",
        open: &[],
        run: downloads,
    },
];

fn rest(run: &Run) -> Vec<Figure> {
    let start = Instant::now();
    let lab = Lab::start_as(
        Command::new(&run.program),
        domain(),
        &["up", "--log", "error"],
        &["-p", "arm31:port:=0"],
    );
    let ready = start.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_secs(3));
    let process = lab.child.id();
    let before = processor_time(process);
    let time = run.of(20, 5);
    std::thread::sleep(Duration::from_secs(time.into()));
    let share = 100.0 * (processor_time(process) - before) / f64::from(time);
    let state = Resources::of(process);
    vec![
        Figure::at_most("files", state.files, 200.0, 1.0),
        Figure::new("of them sockets", sockets(process).to_string()),
        Figure::at_most("memory, MB", state.memory, 42.0, 1.2),
        Figure::at_most("threads", state.threads, 40.0, 1.5),
        Figure::at_most("% of a core", share, 8.0, 2.0),
        Figure::at_most("ready after, s", ready, 1.5, 2.0),
    ]
}

fn few_files(run: &Run) -> Vec<Figure> {
    let mut command = Command::new("prlimit");
    command.arg("--nofile=256:256").arg(&run.program);
    let started = catch_unwind(AssertUnwindSafe(|| {
        Lab::start_as(command, domain(), &["up", "--log", "error"], &["-p", "arm31:port:=0"])
    }));
    let (shown, value) = if started.is_ok() { ("it starts", 0.0) } else { ("it does not start", 1.0) };
    vec![Figure::new("start", shown).goal("failures", value, 0.0, 1.0)]
}

/// `dragoman record` of all topics, on the attackers' core.
pub(super) struct Recorder {
    child: Child,
    file: PathBuf,
    began: Instant,
}

impl Recorder {
    pub(super) fn start(run: &Run, lab: &Lab) -> Self {
        let file =
            std::env::temp_dir().join(format!("dragoman_figures_{}_{}.mcap", std::process::id(), lab.domain));
        let mut command = run.command(lab, &["record", "--output", &file.to_string_lossy()]);
        command.stdout(Stdio::null());
        let child = command.spawn().expect("a recorder starts");
        pin(pid(child.id()));
        Self { child, file, began: Instant::now() }
    }

    pub(super) fn signal(&self, signal: Signal) {
        let _ = kill(pid(self.child.id()), signal);
    }

    /// Sends the signal that ends it, waits until it has ended, and returns its load.
    pub(super) fn end(mut self, signal: Signal) -> Vec<Figure> {
        let seconds = self.began.elapsed().as_secs_f64();
        let load = 100.0 * processor_time(self.child.id()) / seconds;
        let size = std::fs::metadata(&self.file).map_or(0, |file| file.len()) as f64 / 1e6;
        self.signal(signal);
        let asked = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && asked.elapsed() < CLOSING {
            std::thread::sleep(Duration::from_millis(20));
        }
        let shown = format!("{size:.1} MB in {seconds:.1} s, {load:.0} % of a core");
        vec![
            Figure::new("attacker: recorded, own load", shown),
            Figure::new("attacker: ended after, s", number(asked.elapsed().as_secs_f64())),
        ]
    }
}

/// Time for a recorder to write the rest and to leave. If it is killed instead, the lab counts it until its lease ends.
const CLOSING: Duration = Duration::from_secs(30);

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Runs a recorder of all topics for five seconds, calls `then`, and ends it with the signal `last`. After `wait` the
/// lab must have removed its state.
fn recorded(run: &Run, then: impl FnOnce(&Recorder), last: Signal, wait: Duration) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let watch = Watch::start(&lab);
    let recorder = Recorder::start(run, &lab);
    std::thread::sleep(Duration::from_secs(5));
    then(&recorder);
    let recorder = recorder.end(last);
    std::thread::sleep(wait);
    let course = watch.after();
    let rise = Figure::at_most("memory: more at the peak, MB", course.rise(), 60.0, 1.3);
    course.figures().into_iter().chain([rise]).chain(recorder).collect()
}

/// A lost reader is counted until the lease of its participant ends, and for one checking period.
pub(super) const LEASE: Duration = Duration::from_secs(22);

fn recorder_killed(run: &Run) -> Vec<Figure> {
    recorded(run, |_| {}, Signal::SIGKILL, LEASE)
}

fn recorder_suspended(run: &Run) -> Vec<Figure> {
    let suspend = |recorder: &Recorder| {
        recorder.signal(Signal::SIGSTOP);
        std::thread::sleep(Duration::from_secs(run.of(20, 10).into()));
        recorder.signal(Signal::SIGCONT);
        std::thread::sleep(Duration::from_secs(2));
    };
    recorded(run, suspend, Signal::SIGINT, Duration::ZERO)
}

fn web_visits(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let watch = Watch::start(&lab);
    let mut memory = Vec::new();
    let mut done = None;
    for count in [20, run.of(80, 40), run.of(100, 60)] {
        let mut means = run.means("web-visits", &lab);
        means.count = count;
        done = Some(Attacker::start(&means).end().figure());
        std::thread::sleep(Duration::from_secs(2));
        memory.push(Resources::of(lab.child.id()).memory);
    }
    let shown: Vec<String> = memory.iter().map(|&memory| number(memory)).collect();
    let all = run.of(200, 120);
    let per_client = 1e3 * (memory[2] - memory[0]) / f64::from(all - 20);
    let kept = Figure::new(format!("memory after 20 / {} / {all}, MB", run.of(100, 60)), shown.join(" / "));
    let each = Figure::at_most("kept per client after the first 20, kB", per_client, 5.0, 1.5);
    watch.after().figures().into_iter().chain([kept, each]).chain(done).collect()
}

fn web_fragments(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let mut means = run.means("web-fragments", &lab);
    means.count = run.of(64, 32);
    means.bytes = 8_000_000;
    Scene::of(&lab, &[Good::Web], &means, Duration::from_secs(1)).figures(Some(80.0))
}

fn web_subscriptions(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let mut means = run.means("web-subscriptions", &lab);
    means.count = run.of(20, 10);
    means.seconds = 30;
    Scene::of(&lab, &[Good::Web], &means, ATTACK).figures(None)
}

fn player_subscribers(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let mut means = run.means("player-subscribers", &lab);
    (means.target, means.count) = (lab.player, run.of(200, 50));
    Scene::of(&lab, &[Good::Player], &means, ATTACK).figures(None)
}

fn maps(run: &Run) -> Vec<Figure> {
    let folder = Folder::new("maps");
    let lab = run.lab(&[], &["-p", &folder.data()]);
    let mut means = run.means("maps", &lab);
    means.target = lab.neobotix[1];
    means.count = run.of(8, 3);
    means.bytes = 16_500_000;
    Scene::of(&lab, &[], &means, ATTACK).figures(None)
}

fn long_names(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let mut means = run.means("long-names", &lab);
    means.count = run.of(2000, 1000);
    means.bytes = 30_000;
    means.rate = 500;
    Scene::of(&lab, &[Good::Arm31], &means, Duration::from_secs(1)).figures(None)
}

fn downloads(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let mut means = run.means("downloads", &lab);
    means.count = 600;
    Scene::of(&lab, &[Good::Web], &means, Duration::from_secs(2)).figures(None)
}

/// A folder of its own; removed at the end.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("dragoman_figures_{name}_{}", std::process::id())))
    }

    pub(super) fn data(&self) -> String {
        format!("platform:data_folder:={}", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
