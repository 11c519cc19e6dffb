//! The rows of the tables, and what they share.

mod by_turns;
mod everyday;
mod given_back;
mod waiting;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use crate::attacker::{Attacker, Means};
use crate::common::{Lab, domain};
use crate::good::{Good, Machine, Times, Working};
use crate::table::Figure;
use crate::watch::{Course, Watch};

/// All rows, in the order of the tables.
pub(crate) const TABLES: &[(&str, &[FigureRow])] = &[
    ("Released resources", given_back::ROWS),
    ("All attackers in turn", by_turns::ROWS),
    ("Waiting times during an attack", waiting::ROWS),
    ("Everyday waiting times and costs", everyday::ROWS),
];

/// An attack on a lab, or its normal use, and the measurements.
pub(crate) struct FigureRow {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// Figures whose goal is not reached yet, by the beginning of their names: shown, but not checked.
    pub(crate) open: &'static [&'static str],
    pub(crate) run: fn(&Run) -> Vec<Figure>,
}

impl FigureRow {
    pub(crate) fn is_open(&self, figure: &str) -> bool {
        self.open.iter().any(|open| figure.starts_with(open))
    }
}

/// Minimum time for which an attack is observed.
const ATTACK: Duration = Duration::from_secs(4);

/// One program in one row.
pub(crate) struct Run {
    pub(crate) program: PathBuf,
    pub(crate) seed: u64,
    /// Whether counts and times are those of the whole attack.
    pub(crate) is_full: bool,
}

impl Run {
    /// A lab at rest.
    fn lab(&self, arguments: &[&str], ros_arguments: &[&str]) -> Lab {
        let arguments = [&["up", "--log", "error"], arguments].concat();
        let ros_arguments = [&["-p", "arm31:port:=0"], ros_arguments].concat();
        let lab = Lab::start_as(Command::new(&self.program), domain(), &arguments, &ros_arguments);
        // The limit protects the machine: a faulty lab could take all memory.
        let limit = ["--pid", &lab.child.id().to_string(), "--as=6000000000"];
        let _ = Command::new("prlimit").args(limit).status();
        std::thread::sleep(Duration::from_secs(2));
        lab
    }

    /// A command of the program in the lab's domain, as an attacker.
    fn command(&self, lab: &Lab, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).args(["--log", "error", "--domain", &lab.domain.to_string()]);
        command.env_remove("ROS_DOMAIN_ID").env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        command
    }

    fn of(&self, full: u32, short: u32) -> u32 {
        if self.is_full { full } else { short }
    }

    fn means(&self, name: &str, lab: &Lab) -> Means {
        Means {
            name: name.to_owned(),
            target: lab.console,
            domain: lab.domain,
            count: 1,
            rate: 0,
            bytes: 0,
            seconds: 60,
            seed: self.seed,
        }
    }
}

/// Measurements during an attack.
struct Scene {
    course: Course,
    good: Vec<Figure>,
    machine: Times,
    attacker: Figure,
}

impl Scene {
    /// Good clients work while an attacker starts, completes its attack, continues for a while and leaves.
    fn of(lab: &Lab, good: &[Good], means: &Means, time: Duration) -> Self {
        Self::during(lab, good, || {
            let began = Instant::now();
            let mut attacker = Attacker::start(means);
            attacker.complete();
            attacker.goes_on_for(time);
            // In a short time one late answer would weigh too much.
            std::thread::sleep(ATTACK.saturating_sub(began.elapsed()));
            (attacker.leave().figure(), Instant::now())
        })
    }

    /// Good clients work during an attack, which returns its figure, and the time at which the lab has removed its
    /// state.
    fn during(lab: &Lab, good: &[Good], attack: impl FnOnce() -> (Figure, Instant)) -> Self {
        let good = Working::start(lab, good);
        std::thread::sleep(Duration::from_millis(500));
        let watch = Watch::start(lab);
        good.measure();
        let machine = Machine::start();
        let (attacker, released) = attack();
        let machine = machine.times();
        let good = good.figures(&machine);
        std::thread::sleep(released.saturating_duration_since(Instant::now()));
        Self { course: watch.after(), good, machine, attacker }
    }

    /// The resources, with a goal for the peak if there is one, and how long the good clients waited.
    fn figures(self, peak: Option<f64>) -> Vec<Figure> {
        let mut figures = self.course.figures();
        if let Some(peak) = peak {
            figures.push(Figure::at_most("memory: more at the peak, MB", self.course.rise(), peak, 1.3));
        }
        figures.extend(self.good);
        figures.extend([self.attacker, machine(&self.machine)]);
        figures
    }

    /// How long the good clients waited, and how much memory was not released.
    fn waits(self) -> Vec<Figure> {
        self.good
            .into_iter()
            .chain(self.course.memory())
            .chain([self.attacker, machine(&self.machine)])
            .collect()
    }
}

/// The delays of the machine, which are not caused by the lab.
fn machine(times: &Times) -> Figure {
    times.figure("the machine itself: p50 / p99 / longest, ms")
}

pub(crate) fn pid(process: u32) -> Pid {
    Pid::from_raw(process.cast_signed())
}
