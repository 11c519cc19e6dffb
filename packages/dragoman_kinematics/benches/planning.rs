//! Times of the planner in five scenes: `cargo bench -p dragoman_kinematics --bench planning`.
//!
//! Each row is of random problems: the planned path with its shortcuts, without the timing of the motion. Every path is
//! checked as in the tests.

#[path = "../tests/all/planning/scenes.rs"]
mod scenes;

use dragoman_kinematics::planning::{Checker, PlanOptions, plan};
use scenes::{CLEARANCE, setups};
use std::time::Instant;

const PROBLEMS: usize = 200;

fn main() {
    let urdf = |file: &str| {
        std::fs::read_to_string(format!("{}/../../urdf/{file}", env!("CARGO_MANIFEST_DIR")))
            .expect("the workspace has it")
    };
    println!(
        "| scene | solved | straight | median, ms | 99th percentile, ms | checks, median | least distance, mm |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut random = oorandom::Rand64::new(20);
    for setup in setups(urdf) {
        let (mut times, mut checks) = (Vec::new(), Vec::new());
        let (mut straight, mut least) = (0, f64::INFINITY);
        for _ in 0..PROBLEMS {
            let [start, goal] = [(); 2].map(|()| setup.random(&mut random));
            let mut checker = Checker::new(&setup.robot, &setup.bodies, &setup.scene);
            let begin = Instant::now();
            let planned = plan(&mut checker, &start, &[goal], &PlanOptions::default());
            let took = begin.elapsed().as_secs_f64() * 1e3;
            let Ok(planned) = planned else { continue };
            times.push(took);
            checks.push(planned.checks);
            straight += usize::from(planned.path.len() == 2);
            least = least.min(setup.min_distance(&planned.path));
        }
        assert!(least >= CLEARANCE - 1e-6, "{}: {least}", setup.name);
        times.sort_by(f64::total_cmp);
        checks.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!(
            "| {} | {} of {PROBLEMS} | {straight} | {:.2} | {:.1} | {} | {:.1} |",
            setup.name,
            times.len(),
            at(0.5),
            at(0.99),
            checks[checks.len() / 2],
            least * 1e3
        );
    }
}
