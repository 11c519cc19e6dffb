//! How long good clients wait during an attack, and that STOP never waits.

use std::time::Duration;

use super::given_back::Folder;
use super::{ATTACK, FigureRow, Run, Scene, machine};
use crate::attacker::Means;
use crate::common::{Lab, processor_time};
use crate::good::{ALL, Gaps, Good, LEGACY, Machine, Working};
use crate::table::Figure;

pub(super) const ROWS: &[FigureRow] = &[
    FigureRow { name: "no-attack", what: "no attack", open: &[], run: no_attack },
    FigureRow {
        name: "apolo-unread",
        what: "50 Apolo clients that do not read",
        open: &[],
        run: apolo_unread,
    },
    FigureRow {
        name: "web-publishers",
        what: "10 rosbridge publishers at full rate",
        open: &[],
        run: web_publishers,
    },
    FigureRow {
        name: "web-calls",
        what: "10 rosbridge clients flood a service with calls",
        open: &[],
        run: web_calls,
    },
    FigureRow {
        name: "map-lines",
        what: "maps of 80,000 lines from one PlatformCtrl client",
        open: &[],
        run: map_lines,
    },
    FigureRow {
        name: "datagrams",
        what: "50,000 datagrams/s of the 31-byte protocol",
        open: &[],
        run: datagrams,
    },
    FigureRow {
        name: "goals-without-reader",
        what: "12 goals/s of a client without a reader",
        open: &[],
        run: goals_without_reader,
    },
    FigureRow {
        name: "lists-without-reader",
        what: "500 requests of a client without a reader",
        open: &[],
        run: lists_without_reader,
    },
    FigureRow {
        name: "fragment-zero",
        what: "RTPS: NACK_FRAG of fragment 0",
        open: &[],
        run: |run| rtps(run, "fragment-zero"),
    },
    FigureRow {
        name: "heartbeat",
        what: "RTPS: HEARTBEAT 1..2^40",
        open: &[],
        run: |run| rtps(run, "heartbeat"),
    },
    FigureRow { name: "gap", what: "RTPS: GAP 5..2^40", open: &[], run: |run| rtps(run, "gap") },
    FigureRow {
        name: "fragment-of-4-gb",
        what: "RTPS: DATA_FRAG of 4 GB",
        open: &[],
        run: |run| rtps(run, "fragment-of-4-gb"),
    },
    FigureRow {
        name: "restarts",
        what: "RTPS: 500 restarts of a participant",
        open: &[],
        run: |run| rtps(run, "restarts"),
    },
    FigureRow { name: "participants", what: "RTPS: 5,000 participants", open: &[], run: participants },
];

/// How long good clients wait without an attack.
fn no_attack(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let good = Working::start(&lab, ALL);
    std::thread::sleep(Duration::from_millis(500));
    good.measure();
    let times = Machine::start();
    std::thread::sleep(ATTACK);
    let times = times.times();
    let mut figures = good.figures(&times);
    figures.push(machine(&times));
    figures
}

/// Runs this attacker with these options beside good clients.
fn flood(run: &Run, name: &str, good: &[Good], means: impl FnOnce(&mut Means, &Lab)) -> Vec<Figure> {
    let folder = Folder::new("flood");
    let lab = run.lab(&[], &["-p", &folder.data()]);
    let mut given = run.means(name, &lab);
    means(&mut given, &lab);
    let time = if run.is_full { 3 * ATTACK } else { ATTACK };
    Scene::of(&lab, good, &given, time).waits()
}

fn apolo_unread(run: &Run) -> Vec<Figure> {
    flood(run, "apolo-unread", LEGACY, |means, lab| (means.target, means.count) = (lab.apolo, 50))
}

fn web_publishers(run: &Run) -> Vec<Figure> {
    flood(run, "web-publishers", ALL, |means, _| (means.count, means.bytes) = (10, 100))
}

fn web_calls(run: &Run) -> Vec<Figure> {
    flood(run, "web-calls", ALL, |means, _| means.count = 10)
}

fn map_lines(run: &Run) -> Vec<Figure> {
    const LINE: usize = 68;
    flood(run, "maps", LEGACY, |means, lab| {
        (means.target, means.count, means.bytes) = (lab.neobotix[1], 2, 80_000 * LINE);
    })
}

fn datagrams(run: &Run) -> Vec<Figure> {
    flood(run, "datagrams", LEGACY, |means, lab| (means.target, means.rate) = (lab.address, 50_000))
}

fn goals_without_reader(run: &Run) -> Vec<Figure> {
    flood(run, "goals-without-reader", LEGACY, |means, _| means.rate = 12)
}

fn lists_without_reader(run: &Run) -> Vec<Figure> {
    flood(run, "lists-without-reader", LEGACY, |means, _| (means.count, means.rate) = (500, 800))
}

/// Hostile packets: the arm's STOP, the joint states, and the memory.
fn rtps(run: &Run, name: &str) -> Vec<Figure> {
    attacked(run, name).1
}

fn attacked(run: &Run, name: &str) -> (Lab, Vec<Figure>) {
    let lab = run.lab(&[], &[]);
    let gaps = Gaps::start(lab.domain);
    let scene = Scene::of(&lab, &[Good::Arm31], &run.means(name, &lab), Duration::from_secs(60));
    let gaps = gaps.figure(&scene.machine);
    let mut figures = scene.waits();
    figures.insert(1, gaps);
    (lab, figures)
}

/// Participants that stay for a day: the processor time that the lab needs for them.
fn participants(run: &Run) -> Vec<Figure> {
    const TIME: f64 = 3.0;
    let (lab, mut figures) = attacked(run, "participants");
    let before = processor_time(lab.child.id());
    std::thread::sleep(Duration::from_secs_f64(TIME));
    let share = 100.0 * (processor_time(lab.child.id()) - before) / TIME;
    figures.push(Figure::at_most("% of a core afterwards", share, 30.0, 1.5));
    figures
}
