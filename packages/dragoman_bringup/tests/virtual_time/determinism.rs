//! The same seed gives the same history.

use std::time::Duration;

use super::common::{Lab, sleep};
use dragoman_time::Fingerprint;

/// The history of the lab at rest.
fn history(seed: u64) -> Fingerprint {
    let lab = Lab::try_start(seed, &[], 0, &["up"], &[]).unwrap();
    sleep(Duration::from_secs(5));
    lab.simulation().fingerprint()
}

#[test]
fn four_labs_in_four_threads_have_the_histories_that_they_have_alone() {
    let alone: Vec<_> = (1..=4).map(history).collect();
    let threads: Vec<_> = (1..=4).map(|seed| std::thread::spawn(move || history(seed))).collect();
    let beside: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(alone, beside);
    assert!(alone[0].events > 10_000, "{}", alone[0]);
    assert_ne!(alone[0], alone[1], "the noise of sensors depends on the seed");
}

#[test]
fn a_lab_ends_at_once_and_leaves_no_tasks() {
    let lab = Lab::start();
    sleep(Duration::from_secs(1));
    let (ended, after) = lab.end();
    assert_eq!(ended, Ok(()));
    assert!(after < Duration::from_millis(1500), "{after:?}");
    assert!(lab.output().ends_with("stopping\n"));
}
