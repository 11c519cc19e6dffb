//! The lab on virtual time.

use std::time::Duration;

use dragoman_bringup::lab::{Lab, LabOptions};

fn rest(seed: u64, seconds: u64) -> dragoman_time::Fingerprint {
    let real = std::time::Instant::now();
    let mut lab = Lab::start(LabOptions {
        seed,
        is_log_shown: std::env::var_os("SHOW").is_some(),
        ..LabOptions::default()
    })
    .unwrap();
    println!(
        "ready after {:?} ({:?} real)\n{}",
        lab.elapsed(),
        real.elapsed(),
        lab.simulation().take_output()
    );
    lab.run_for(Duration::from_secs(seconds));
    println!("{seconds} s in {:?}: {}", real.elapsed(), lab.fingerprint());
    let print = lab.fingerprint();
    lab.end().unwrap();
    print
}

#[test]
fn the_lab_at_rest_repeats_its_history() {
    assert_eq!(rest(7, 10), rest(7, 10));
}
