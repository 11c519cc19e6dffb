//! What a lab costs that nobody uses.

#![cfg(target_os = "linux")]

mod common;

use std::time::Duration;

use common::Lab;
use common::peers::report;

/// Percent of a core. Release builds take 6 of them; this one may not be optimized.
const MOST: f64 = 30.0;

/// Ticks in which Linux tells processor time, per second; the same on all machines that are common.
const USER_HZ: f64 = 100.0;

/// Processor time of a process so far, s.
fn processor_time(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // Behind the name, which may hold blanks: proc(5), fields 14 and 15.
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / USER_HZ
}

#[test]
fn a_lab_at_rest_leaves_the_machine_alone() {
    const TIME: Duration = Duration::from_secs(10);
    let lab = Lab::start();
    std::thread::sleep(Duration::from_secs(3));
    let before = processor_time(lab.child.id());
    std::thread::sleep(TIME);
    let share = 100.0 * (processor_time(lab.child.id()) - before) / TIME.as_secs_f64();
    report(&format!("a lab at rest: {share:.1} % of a core, {} MB", lab.resident_kib() / 1024));
    assert!(share < MOST, "{share:.1} % of a core");
}
