//! An attacker: a process of this program on one core, bounded in number and time.

use std::io::{BufRead, BufReader, Lines, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use oorandom::Rand32;

use crate::attackers::ATTACKERS;
use crate::common::processor_time;
use crate::rows::pid;
use crate::table::{Figure, number};

/// Command line of an attacker.
#[derive(Clone, Debug, Parser)]
#[command(name = "figures attacker")]
pub(crate) struct Means {
    /// Its name
    pub(crate) name: String,
    /// The attacked address, on this machine
    #[arg(long)]
    pub(crate) target: SocketAddr,
    /// The lab's domain
    #[arg(long)]
    pub(crate) domain: u16,
    /// Number of clients, maps, names or the like
    #[arg(long)]
    pub(crate) count: u32,
    /// Maximum number of messages per second; 0: without limit
    #[arg(long)]
    pub(crate) rate: u32,
    /// Size of a message
    #[arg(long)]
    pub(crate) bytes: usize,
    /// Time after which it ends by itself
    #[arg(long)]
    pub(crate) seconds: u64,
    /// Seed of its random numbers
    #[arg(long)]
    pub(crate) seed: u64,
}

impl Means {
    fn arguments(&self) -> Vec<String> {
        let Self { name, target, domain, count, rate, bytes, seconds, seed } = self;
        let options = format!(
            "attacker {name} --target {target} --domain {domain} --count {count} --rate {rate} --bytes {bytes} \
             --seconds {seconds} --seed {seed}"
        );
        options.split(' ').map(str::to_owned).collect()
    }
}

/// The last core is for attackers.
pub(crate) fn pin(process: Pid) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = CpuSet::new();
    let pinned = set.set(cores - 1).and_then(|()| sched_setaffinity(process, &set));
    if let Err(error) = pinned {
        eprintln!("figures: an attacker is not pinned: {error}");
    }
}

/// An attack, in the attacker's process.
pub(crate) struct Attack {
    pub(crate) means: Means,
    pub(crate) random: Rand32,
    began: Instant,
    over: Arc<AtomicBool>,
    sent: u64,
}

impl Attack {
    /// Counts sent messages, and waits as the rate requires.
    pub(crate) fn sent(&mut self, count: u64) {
        self.sent += count;
        if self.means.rate > 0 {
            let due = Duration::from_secs_f64(self.sent as f64 / f64::from(self.means.rate));
            std::thread::sleep(due.saturating_sub(self.began.elapsed()));
        }
    }

    /// Whether the attacker has time left, and has not been asked to leave.
    pub(crate) fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed) && self.began.elapsed() < Duration::from_secs(self.means.seconds)
    }

    /// Reports that all its clients are connected, or all its messages are sent.
    pub(crate) fn is_complete(&self) {
        println!("complete");
    }

    /// Holds its connections and requests until it is asked to leave.
    pub(crate) fn stay(&self) {
        while self.goes_on() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Runs an attacker. The end of its standard input asks it to leave.
pub(crate) fn attack(arguments: impl Iterator<Item = String>) {
    pin(Pid::this());
    let means = Means::parse_from(std::iter::once("attacker".to_owned()).chain(arguments));
    let Some((_, act)) = ATTACKERS.iter().find(|(name, _)| *name == means.name) else {
        eprintln!("figures: there is no attacker '{}'", means.name);
        std::process::exit(2);
    };
    assert!(means.target.ip().is_loopback(), "only this machine is attacked");
    let over = Arc::new(AtomicBool::new(false));
    let asked_to_leave = over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        asked_to_leave.store(true, Ordering::Relaxed);
    });
    let random = Rand32::new(means.seed);
    let mut attack = Attack { means, random, began: Instant::now(), over, sent: 0 };
    act(&mut attack);
    let load = processor_time(std::process::id()) / attack.began.elapsed().as_secs_f64();
    println!("{} {load}", attack.sent);
}

/// A running attacker, in the process of the bench.
pub(crate) struct Attacker {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    began: Instant,
}

/// The result of an attacker.
pub(crate) struct Done {
    sent: f64,
    seconds: f64,
    /// Share of a core.
    load: f64,
    is_whole: bool,
}

impl Attacker {
    pub(crate) fn start(means: &Means) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(program)
            .args(means.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("an attacker starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { child, lines, began: Instant::now() }
    }

    /// Waits until it is [complete](Attack::is_complete), or has ended.
    pub(crate) fn complete(&mut self) {
        while self.lines.next().is_some_and(|line| line.is_ok_and(|line| line != "complete")) {}
    }

    /// Waits for this time, or until it has ended.
    pub(crate) fn goes_on_for(&mut self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it has ended.
    pub(crate) fn end(mut self) -> Done {
        let line = self.lines.by_ref().map_while(Result::ok).find(|line| line != "complete");
        let seconds = self.began.elapsed().as_secs_f64();
        let is_whole = self.child.wait().is_ok_and(|status| status.success());
        let words: Vec<f64> = line.iter().flat_map(|line| line.split(' ')).flat_map(str::parse).collect();
        let [sent, load] = words[..] else { return Done { sent: 0.0, seconds, load: 0.0, is_whole: false } };
        Done { sent, seconds, load, is_whole }
    }

    /// Sends it a signal that suspends, continues or kills it.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill(pid(self.child.id()), signal);
    }

    /// Asks it to leave, and waits for its end.
    pub(crate) fn leave(mut self) -> Done {
        drop(self.child.stdin.take());
        self.end()
    }
}

/// The process has already ended, unless the row has failed.
impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Done {
    /// The number of sent messages, and the load of its process.
    pub(crate) fn figure(&self) -> Figure {
        let end = if self.is_whole { "" } else { ", ended early" };
        let shown = format!(
            "{} in {:.1} s, {:.0} % of a core{end}",
            number(self.sent),
            self.seconds,
            100.0 * self.load
        );
        let figure = Figure::new("attacker: sent, own load", shown);
        // The figures of an incomplete attack prove nothing.
        if self.is_whole { figure } else { figure.goal("failures", 1.0, 0.0, 1.0) }
    }
}
