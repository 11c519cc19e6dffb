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

/// What an attacker is given.
#[derive(Clone, Debug, Parser)]
#[command(name = "figures attacker")]
pub(crate) struct Means {
    /// Its name
    pub(crate) name: String,
    /// Whom it attacks: an address of this machine
    #[arg(long)]
    pub(crate) target: SocketAddr,
    /// The lab's domain
    #[arg(long)]
    pub(crate) domain: u16,
    /// How many of what it is about: clients, maps, names
    #[arg(long)]
    pub(crate) count: u32,
    /// What it sends in a second at most; 0: without limit
    #[arg(long)]
    pub(crate) rate: u32,
    /// Size of what it sends
    #[arg(long)]
    pub(crate) bytes: usize,
    /// Time after which it ends by itself
    #[arg(long)]
    pub(crate) seconds: u64,
    /// Where its chance begins
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
    pub(crate) chance: Rand32,
    began: Instant,
    over: Arc<AtomicBool>,
    sent: u64,
}

impl Attack {
    /// What happens is counted; the rate is kept.
    pub(crate) fn sent(&mut self, count: u64) {
        self.sent += count;
        if self.means.rate > 0 {
            let due = Duration::from_secs_f64(self.sent as f64 / f64::from(self.means.rate));
            std::thread::sleep(due.saturating_sub(self.began.elapsed()));
        }
    }

    /// Whether the attacker has more time.
    pub(crate) fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed) && self.began.elapsed() < Duration::from_secs(self.means.seconds)
    }

    /// Says that all that it wanted is there.
    pub(crate) fn is_complete(&self) {
        println!("complete");
    }

    /// Keeps what it has taken until it is told to leave.
    pub(crate) fn stay(&self) {
        while self.goes_on() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Runs an attacker; its standard input ends when it shall leave.
pub(crate) fn attack(arguments: impl Iterator<Item = String>) {
    pin(Pid::this());
    let means = Means::parse_from(std::iter::once("attacker".to_owned()).chain(arguments));
    let Some((_, act)) = ATTACKERS.iter().find(|(name, _)| *name == means.name) else {
        eprintln!("figures: there is no attacker '{}'", means.name);
        std::process::exit(2);
    };
    assert!(means.target.ip().is_loopback(), "only this machine is attacked");
    let over = Arc::new(AtomicBool::new(false));
    let told = over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        told.store(true, Ordering::Relaxed);
    });
    let chance = Rand32::new(means.seed);
    let mut attack = Attack { means, chance, began: Instant::now(), over, sent: 0 };
    act(&mut attack);
    let load = processor_time(std::process::id()) / attack.began.elapsed().as_secs_f64();
    println!("{} {load}", attack.sent);
}

/// A running attacker, as the bench has it.
pub(crate) struct Attacker {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    began: Instant,
}

/// What an attacker has done.
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

    /// Waits until it has all that it wanted, or has ended.
    pub(crate) fn complete(&mut self) {
        while self.lines.next().is_some_and(|line| line.is_ok_and(|line| line != "complete")) {}
    }

    /// Lets it go on for a while, if it does.
    pub(crate) fn goes_on_for(&mut self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it has done all by itself.
    pub(crate) fn end(mut self) -> Done {
        let line = self.lines.by_ref().map_while(Result::ok).find(|line| line != "complete");
        let seconds = self.began.elapsed().as_secs_f64();
        let is_whole = self.child.wait().is_ok_and(|status| status.success());
        let words: Vec<f64> = line.iter().flat_map(|line| line.split(' ')).flat_map(str::parse).collect();
        let [sent, load] = words[..] else { return Done { sent: 0.0, seconds, load: 0.0, is_whole: false } };
        Done { sent, seconds, load, is_whole }
    }

    /// Stops it, lets it go on, or kills it.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill(pid(self.child.id()), signal);
    }

    /// Tells it to leave.
    pub(crate) fn leave(mut self) -> Done {
        drop(self.child.stdin.take());
        self.end()
    }
}

/// It has ended already, unless the row has failed.
impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Done {
    /// How much it did, and its own load.
    pub(crate) fn figure(&self) -> Figure {
        let end = if self.is_whole { "" } else { ", ended early" };
        let shown = format!(
            "{} in {:.1} s, {:.0} % of a core{end}",
            number(self.sent),
            self.seconds,
            100.0 * self.load
        );
        let figure = Figure::new("attacker: sent, own load", shown);
        // What half an attack has left proves nothing.
        if self.is_whole { figure } else { figure.goal("failures", 1.0, 0.0, 1.0) }
    }
}
