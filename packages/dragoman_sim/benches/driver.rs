//! Cost of the driver of six SimplIQ drives: time and allocations per cycle, frames and bus load. For comparison, the
//! arm of the Ranger thesis (5.2.1): 51 Hz at about 60 % of 500 kbit/s.
//!
//! ```text
//! cargo bench -p dragoman_sim --bench driver
//! ```

#[path = "../tests/driver/lab.rs"]
#[allow(dead_code)]
mod lab;

use std::alloc::System;
use std::time::Duration;

use dragoman_arm::driver::GroupConfig;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Simulated time per row.
const SECONDS: f64 = 20.0;

fn main() {
    println!(
        "{:<26} {:>9} {:>9} {:>8} {:>9} {:>7} {:>7}",
        "six axes, moving", "us/cycle", "max 1 s", "allocs", "frames/s", "frames", "load"
    );
    println!(
        "{:<26} {:>9} {:>9} {:>8} {:>9} {:>7} {:>6}%",
        "the thesis, 51 Hz, 500k", "", "", "", "", "", 60
    );
    row("500 kbit/s", 28, 500_000);
    row("1 Mbit/s", 11, 1_000_000);
}

fn row(name: &str, sample_ratio: u16, bit_rate: u32) {
    let mut lab = lab::Lab::enabled(GroupConfig { sample_ratio, ..lab::six() });
    let cycle = lab.group.config().cycle();
    let start = lab.positions();
    lab.allocations = || {
        let stats = ALLOCATOR.stats();
        stats.allocations + stats.reallocations
    };
    // Commands at 100 Hz, as from the motion pipeline.
    let drive = |lab: &mut lab::Lab, step: u32| {
        let phase = f64::from(step) * 0.01;
        let target: Vec<f64> = start.iter().map(|start| start + 0.3 * phase.sin()).collect();
        lab.group.command(lab.now, None, &target).expect("the arm is on");
        lab.run(0.01);
    };
    for step in 0..100 {
        drive(&mut lab, step);
    }
    (lab.spent, lab.allocated) = (Duration::ZERO, 0);
    lab.frames = Some(Vec::new());
    let mut slowest = Duration::ZERO;
    let mut before = Duration::ZERO;
    for step in 100..100 + (SECONDS * 100.0) as u32 {
        drive(&mut lab, step);
        if step % 100 == 99 {
            slowest = slowest.max(lab.spent - before);
            before = lab.spent;
        }
    }
    let frames = lab.frames.take().unwrap_or_default();
    let cycles = SECONDS / cycle.as_secs_f64();
    let bits: f64 = frames.iter().map(|(_, frame)| f64::from(frame.bits())).sum();
    println!(
        "{:<26} {:>9.2} {:>9.2} {:>8.3} {:>9.0} {:>7.1} {:>6.1}%",
        format!("{name}, {:.0} Hz", 1.0 / cycle.as_secs_f64()),
        lab.spent.as_secs_f64() * 1e6 / cycles,
        slowest.as_secs_f64() * 1e6 * cycle.as_secs_f64(),
        lab.allocated as f64 / cycles,
        frames.len() as f64 / SECONDS,
        frames.len() as f64 / cycles,
        100.0 * bits / SECONDS / f64::from(bit_rate)
    );
}
