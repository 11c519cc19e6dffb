//! Random commands on all four protocols and on the web over a bad network, five minutes of the lab for each seed.
//!
//! | file | holds |
//! | --- | --- |
//! | `main.rs` | the seeds, the run, what must hold |
//! | `callers.rs` | programs in ROS that call random services of the client sides, with random requests |
//! | `texts.rs` | check that no text from outside forges a line |
//! | `raw_clients.rs` | raw clients that send garbage, incomplete messages, or nothing, and leave or hang |
//! | `motion.rs` | what moves, and STOP |
//!
//! `DRAGOMAN_SEEDS=30 cargo test --workspace --test seeds` runs 30 fresh seeds, which are printed. `DRAGOMAN_SEED=N` runs
//! that one, and prints its calls. A seed that has found a fault stays in [`KEPT`].

#![allow(dead_code, unreachable_pub, reason = "the harness is that of the tests on virtual time")]

mod callers;
#[path = "../virtual_time/common.rs"]
mod common;
#[path = "../virtual_time/host.rs"]
mod host;
mod motion;
mod raw_clients;
mod texts;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::{Lab, sleep};
use dragoman_io::net::{Conditions, set_conditions};
use dragoman_time::Fingerprint;
use motion::Motion;
use texts::{EVIL, Texts};

/// Seeds that have found a fault, with what it was. Most of the faults have a short test of their own as well.
const KEPT: &[(u64, &str)] = &[
    (478_041, "Player's client side took a base for another device when its size differed in the last digit"),
    (47, "STOP did not end what the Ranger's drives do by themselves"),
    (12, "an arm that was far behind its command went on after STOP"),
];

/// Time of random commands before everything is stopped, and how often that happens; `DRAGOMAN_ROUNDS` replaces it.
const ROUND: Duration = Duration::from_secs(60);
const ROUNDS: u32 = 5;

/// A network cable with short interruptions.
const BAD: Conditions = Conditions {
    delay: Duration::from_micros(200),
    jitter: Duration::from_millis(5),
    loss: 0.05,
    duplication: 0.03,
    reset: 0.0005,
    cut: 0.0001,
};

/// Bounds of what all clients together may hold: those of `docs/bounds.md` times the clients that there are.
const BOUNDS: &[(&str, usize)] = &[
    ("connections", 60),
    ("bytes of answers that wait for clients", 8 * (64 << 10)),
    ("bytes that wait for Player's clients", 4 * (32 << 20)),
    ("bytes of incomplete web messages", 4 << 20),
    ("bytes that wait for web clients", 4 * (8 << 20)),
    ("calls of web clients that wait", 4 * 64),
    ("bytes that are kept for web clients", 4 * (32 << 20)),
];

/// Bytes that a lab may have allocated more than before: its log, which the test keeps, and what it has discovered.
const MAX_KEPT: i64 = 8 << 20;

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    /// Commands that were answered, and those that were refused.
    answered: u64,
    refused: u64,
    fingerprint: Fingerprint,
}

/// Runs the lab and its clients.
fn run(seed: u64, rounds: u32) -> Run {
    let lab = Lab::try_start(seed, &[], 0, &["up"], &[]).unwrap();
    let mut motion = Motion::observe(&lab);
    sleep(Duration::from_secs(2));
    motion.nothing_moves("before the first command");
    let texts = Texts::follow(&lab);
    let (at_rest, held) = (lab.simulation().tasks(), lab.held());
    let mut done = None;
    let memory = allocation_counter::measure(|| done = Some(disturb(&lab, &mut motion, seed, rounds)));
    let (answered, refused) = done.expect("it has run");
    motion.nothing_moves("after the last client has left");
    motion.all_parts_run();
    texts.are_plain();
    assert_eq!(lab.simulation().tasks(), at_rest, "tasks are left");
    assert_eq!(lab.held(), held, "something is held");
    for (name, held) in lab.simulation().held() {
        let (_, bound) = BOUNDS.iter().find(|(bounded, _)| *bounded == name).expect(name);
        println!("seed {seed}: {name}: {} at most", held.most);
        assert!(held.most <= *bound, "{name}: {} at most", held.most);
    }
    println!("seed {seed}: {} bytes kept", memory.bytes_current);
    assert!(memory.bytes_current < MAX_KEPT, "{} bytes are kept", memory.bytes_current);
    Run { answered, refused, fingerprint: lab.simulation().fingerprint() }
}

/// Lets ROS programs and raw clients act, and waits until all of them have left. Returns how many commands were
/// answered, and how many refused.
fn disturb(lab: &Lab, motion: &mut Motion, seed: u64, rounds: u32) -> (u64, u64) {
    let address = |address: std::net::SocketAddr| address.to_string();
    let clients = [
        Lab::start_with(1, &["arm31", "--controller", &address(lab.address)], &[]),
        Lab::start_with(1, &["apolo", "--server", &address(lab.apolo)], &[]),
        Lab::start_with(1, &["neobotix", "--server", &address(lab.neobotix[0])], &[]),
        Lab::start_with(1, &["player", "--server", &address(lab.player)], &[]),
    ];
    sleep(Duration::from_secs(3));
    set_conditions(BAD);
    let mut callers = callers::Callers::new(1);
    let raw_clients = raw_clients::RawClients::start(lab);
    for round in 1..=rounds {
        callers.call_for(ROUND);
        motion.stop(lab);
        println!(
            "seed {seed}, round {round}: {} answered, {} refused",
            callers.answered(),
            callers.refused()
        );
    }

    raw_clients.leave();
    let (answered, refused) = (callers.answered(), callers.refused());
    drop(callers);
    for client in &clients {
        assert_eq!(client.end().0, Ok(()), "a client side");
    }
    // Peers behind a cut cable are noticed by their silence.
    set_conditions(Conditions::default());
    sleep(Duration::from_secs(180));
    motion.unsubscribe();
    (answered, refused)
}

/// Runs a seed, and names it if the run fails.
fn check(seed: u64) {
    let rounds =
        number("DRAGOMAN_ROUNDS").map_or(ROUNDS, |rounds| u32::try_from(rounds).expect("a small number"));
    let ran = std::panic::catch_unwind(|| run(seed, rounds));
    match ran {
        Ok(run) => {
            println!("seed {seed}: {run:?}");
            assert!(run.answered > 100, "seed {seed}: only {} commands were answered", run.answered);
        }
        Err(panic) => {
            eprintln!("seed {seed} failed: DRAGOMAN_SEED={seed} cargo test --workspace --test seeds");
            std::panic::resume_unwind(panic);
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
#[ignore = "half a minute each; .ci/run seeds runs them"]
fn kept_seeds_find_no_faults() {
    let kept = Mutex::new(KEPT.iter());
    let take = || kept.lock().unwrap_or_else(PoisonError::into_inner).next();
    beside(|| {
        while let Some((seed, fault)) = take() {
            println!("seed {seed}: {fault}");
            check(*seed);
        }
    });
}

#[test]
fn fresh_seeds_find_no_faults() {
    if let Some(seed) = number("DRAGOMAN_SEED") {
        return check(seed);
    }
    let left = AtomicU64::new(number("DRAGOMAN_SEEDS").unwrap_or(1));
    let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    beside(|| {
        while take().is_ok() {
            // Small numbers are easier to type.
            check(dragoman_time::random("seeds") % 1_000_000);
        }
    });
}

/// Works on every processor.
fn beside(work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(&work);
        }
    });
}

#[test]
fn a_seed_repeats_its_history() {
    assert_eq!(run(3, 1), run(3, 1));
}

#[test]
fn no_text_of_a_client_forges_a_line() {
    let lab = Lab::try_start(1, &[], 0, &["up"], &[]).unwrap();
    let texts = Texts::follow(&lab);
    let address = |address: std::net::SocketAddr| address.to_string();
    let _clients = [
        Lab::start_with(1, &["apolo", "--server", &address(lab.apolo)], &[]),
        Lab::start_with(1, &["neobotix", "--server", &address(lab.neobotix[0])], &[]),
        Lab::start_with(1, &["player", "--server", &address(lab.player)], &[]),
    ];
    sleep(Duration::from_secs(3));
    // The client sides send them by the old protocols; the lab's own nodes get them by ROS as well.
    let mut shown = Vec::new();
    for domain in [0, 1] {
        callers::Callers::new(domain).call_each_with(&[EVIL]);
        shown.push(texts.marks());
    }
    assert!(shown[1] > 0, "some are shown: {shown:?}");
    let reasons = raw_clients::send_texts(&lab, EVIL);
    println!("{reasons:#?}");
    assert!(reasons.iter().filter(|reason| reason.contains(texts::MARK)).count() > 10, "{reasons:?}");
    for reason in reasons {
        assert_eq!(reason, dragoman_text::line(&reason));
    }
    texts.are_plain();
}
