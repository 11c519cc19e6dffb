//! Strangers of every kind by turns, for minutes: they leave, are killed, or fall silent for a while.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use oorandom::Rand32;

use super::given_back::{Folder, LEASE, Recorder};
use super::{Row, Run, Scene};
use crate::attacker::{Attacker, Means};
use crate::common::Lab;
use crate::good::ALL;
use crate::table::Figure;

pub(super) const ROWS: &[Row] = &[Row {
    name: "by-turns",
    what: "clients, recorders and peers that leave, are killed or suspended",
    // How long good clients wait is held with each attacker alone.
    // Of the whole attack 24 MB stay, of which one is in use: pages of which little is.
    open: &["memory", "STOP", "call"],
    run: by_turns,
}];

/// Gives an attacker its means.
type Equip = fn(&mut Means, &Lab);

/// Who comes, and with what. Not the participants that stay for a day.
const STRANGERS: &[(&str, Equip)] = &[
    ("apolo-deaf", |means, lab| (means.target, means.count) = (lab.apolo, 50)),
    ("datagrams", |means, lab| (means.target, means.rate) = (lab.address, 10_000)),
    ("maps", |means, lab| (means.target, means.count, means.bytes) = (lab.neobotix[1], 1, 500_000)),
    ("player-subscribers", |means, lab| (means.target, means.count) = (lab.player, 20)),
    ("web-calls", |means, _| means.count = 5),
    ("web-fragments", |means, _| (means.count, means.bytes) = (8, 4_000_000)),
    ("web-publishers", |means, _| (means.count, means.bytes) = (5, 100)),
    ("web-subscriptions", |means, _| means.count = 3),
    ("web-visits", |means, _| means.count = 20),
    ("goals-without-reader", |means, _| means.rate = 12),
    ("lists-without-reader", |means, _| (means.count, means.rate) = (100, 200)),
    ("long-names", |means, _| (means.count, means.bytes, means.rate) = (200, 30_000, 500)),
];

/// What the participants of `long-names` announce, and one look more.
const LONG_LEASE: Duration = Duration::from_secs(102);

/// One that comes: a stranger of the list, or a recorder of all topics.
enum Guest {
    Attacker(Attacker),
    Recorder(Recorder),
}

impl Guest {
    fn signal(&self, signal: Signal) {
        match self {
            Self::Attacker(attacker) => attacker.signal(signal),
            Self::Recorder(recorder) => recorder.signal(signal),
        }
    }
}

/// Ten minutes; the short attack is a third of one.
fn by_turns(run: &Run) -> Vec<Figure> {
    let folder = Folder::new("turns");
    let lab = run.lab(&[], &["-p", &folder.data()]);
    let mut chance = Rand32::new(run.seed);
    let strangers = || {
        let began = Instant::now();
        let (mut left, mut killed, mut suspended) = (0, 0, 0);
        let mut forgotten = began;
        while began.elapsed() < Duration::from_secs(run.of(600, 20).into()) {
            let (guest, lease) = come(run, &lab, &mut chance);
            std::thread::sleep(Duration::from_millis(chance.rand_range(200..3000).into()));
            if chance.rand_range(0..3) == 0 {
                suspended += 1;
                guest.signal(Signal::SIGSTOP);
                std::thread::sleep(Duration::from_millis(chance.rand_range(200..8000).into()));
                guest.signal(Signal::SIGCONT);
            }
            if chance.rand_range(0..2) == 0 {
                killed += 1;
                guest.signal(Signal::SIGKILL);
                forgotten = forgotten.max(Instant::now() + lease);
            }
            left += 1;
            match guest {
                Guest::Attacker(attacker) => drop(attacker.leave()),
                Guest::Recorder(recorder) => drop(recorder.end(Signal::SIGINT)),
            }
        }
        let shown = format!(
            "{left} in {:.0} s, {suspended} suspended, {killed} killed",
            began.elapsed().as_secs_f64()
        );
        (Figure::new("came", shown), forgotten)
    };
    Scene::during(&lab, ALL, strangers).figures(None)
}

/// The next one, and the time for which the lab may count it as there after it was killed.
fn come(run: &Run, lab: &Lab, chance: &mut Rand32) -> (Guest, Duration) {
    let number = chance.rand_range(0..STRANGERS.len() as u32 + 2) as usize;
    let Some((name, equip)) = STRANGERS.get(number) else {
        return (Guest::Recorder(Recorder::start(run, lab)), LEASE);
    };
    let mut means = run.means(name, lab);
    means.seed = chance.rand_u32().into();
    equip(&mut means, lab);
    let lease = if *name == "long-names" { LONG_LEASE } else { LEASE };
    (Guest::Attacker(Attacker::start(&means)), lease)
}
