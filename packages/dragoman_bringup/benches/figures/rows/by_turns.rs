//! All attackers in random order, for minutes: they leave, are killed, or are suspended for a while.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use oorandom::Rand32;

use super::given_back::{Folder, LEASE, Recorder};
use super::{FigureRow, Run, Scene};
use crate::attacker::{Attacker, Means};
use crate::common::Lab;
use crate::good::ALL;
use crate::table::Figure;

pub(super) const ROWS: &[FigureRow] = &[FigureRow {
    name: "by-turns",
    what: "clients, recorders and peers that leave, are killed or suspended",
    // How long good clients wait is checked with each attacker alone.
    // After the full attack 24 MB remain, of which 1 MB is in use: the pages are fragmented.
    open: &["memory", "STOP", "call"],
    run: by_turns,
}];

/// Sets an attacker's options.
type Equip = fn(&mut Means, &Lab);

/// The attackers with their options; without the participants that stay for a day.
const ATTACKERS: &[(&str, Equip)] = &[
    ("apolo-unread", |means, lab| (means.target, means.count) = (lab.apolo, 50)),
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

/// The lease that the participants of `long-names` announce, and one checking period.
const LONG_LEASE: Duration = Duration::from_secs(102);

/// One of the attackers, or a recorder of all topics.
enum Participant {
    Attacker(Attacker),
    Recorder(Recorder),
}

impl Participant {
    fn signal(&self, signal: Signal) {
        match self {
            Self::Attacker(attacker) => attacker.signal(signal),
            Self::Recorder(recorder) => recorder.signal(signal),
        }
    }
}

/// Ten minutes; the short attack takes 20 s.
fn by_turns(run: &Run) -> Vec<Figure> {
    let folder = Folder::new("turns");
    let lab = run.lab(&[], &["-p", &folder.data()]);
    let mut random = Rand32::new(run.seed);
    let attack = || {
        let began = Instant::now();
        let (mut left, mut killed, mut suspended) = (0, 0, 0);
        let mut released = began;
        while began.elapsed() < Duration::from_secs(run.of(600, 20).into()) {
            let (participant, lease) = start_next(run, &lab, &mut random);
            std::thread::sleep(Duration::from_millis(random.rand_range(200..3000).into()));
            if random.rand_range(0..3) == 0 {
                suspended += 1;
                participant.signal(Signal::SIGSTOP);
                std::thread::sleep(Duration::from_millis(random.rand_range(200..8000).into()));
                participant.signal(Signal::SIGCONT);
            }
            if random.rand_range(0..2) == 0 {
                killed += 1;
                participant.signal(Signal::SIGKILL);
                released = released.max(Instant::now() + lease);
            }
            left += 1;
            match participant {
                Participant::Attacker(attacker) => drop(attacker.leave()),
                Participant::Recorder(recorder) => drop(recorder.end(Signal::SIGINT)),
            }
        }
        let shown = format!(
            "{left} in {:.0} s, {suspended} suspended, {killed} killed",
            began.elapsed().as_secs_f64()
        );
        (Figure::new("came", shown), released)
    };
    Scene::during(&lab, ALL, attack).figures(None)
}

/// Starts the next one; returns it with the time for which the lab may still count it after it was killed.
fn start_next(run: &Run, lab: &Lab, random: &mut Rand32) -> (Participant, Duration) {
    let number = random.rand_range(0..ATTACKERS.len() as u32 + 2) as usize;
    let Some((name, equip)) = ATTACKERS.get(number) else {
        return (Participant::Recorder(Recorder::start(run, lab)), LEASE);
    };
    let mut means = run.means(name, lab);
    means.seed = random.rand_u32().into();
    equip(&mut means, lab);
    let lease = if *name == "long-names" { LONG_LEASE } else { LEASE };
    (Participant::Attacker(Attacker::start(&means)), lease)
}
