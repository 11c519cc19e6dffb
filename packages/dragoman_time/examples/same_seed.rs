//! The same seed gives the same history; a fault that was found once is found again.
//!
//!     cargo run -p dragoman_time --example same_seed

use std::time::Duration;

use dragoman_time::{Fingerprint, Simulation, note, random, sleep};

fn history(seed: u64) -> Fingerprint {
    let simulation = Simulation::new(seed);
    simulation.block_on(async {
        for _ in 0..10 {
            sleep(Duration::from_millis(random("pause") % 1000)).await;
            note("message", "/lab/state", &random("state").to_le_bytes());
        }
    });
    simulation.fingerprint()
}

fn main() {
    for seed in [1, 2, 1] {
        println!("seed {seed}: {}", history(seed));
    }
    assert_eq!(history(1), history(1));
    assert_ne!(history(1), history(2));
}
