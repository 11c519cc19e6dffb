//! Our planner against OMPL's RRT-Connect, with the same collision check, in one process:
//! `cargo run --release --manifest-path packages/dragoman_kinematics/benches/ompl/Cargo.toml`. Needs a C++ compiler and OMPL
//! (`apt-get install g++ libompl-dev`). Arguments: problems per scene (200), rounds (3), OMPL's range, rad (0: its default),
//! attempts of both to make a path shorter (100).
//!
//! Both planners get the same random problems one after the other, so that the load of the machine is the same for both.
//! OMPL's states and motions are checked by [`Checker`], as ours are, at the cost of a call through a pointer. Times are CPU
//! time of the thread; preparing a problem does not count for either. Every round is another random search of both, and
//! counts as a problem of its own.

use dragoman_kinematics::planning::{Checker, PlanOptions, plan};
use scenes::{CLEARANCE, Setup, setups};
use std::ffi::c_void;

#[path = "../../tests/all/planning/scenes.rs"]
mod scenes;

const RANDOM_SEED: u128 = 20;
/// Maximum time of a search of OMPL, s.
const MAX_TIME: f64 = 10.0;
/// Maximum number of values of a path that is read.
const CAPACITY: usize = 1 << 16;

unsafe extern "C" {
    safe fn thread_seconds() -> f64;
    safe fn ompl_seed(seed: u32);
    fn ompl_plan(
        user: *mut c_void,
        is_free: extern "C" fn(*mut c_void, *const f64) -> bool,
        is_motion_free: extern "C" fn(*mut c_void, *const f64, *const f64) -> bool,
        width: u32,
        lower: *const f64,
        upper: *const f64,
        start: *const f64,
        goal: *const f64,
        range: f64,
        longest: f64,
        shortcuts: u32,
        times: *mut f64,
        path: *mut f64,
        capacity: usize,
    ) -> usize;
}

/// What the callbacks get.
struct User<'a, 'b> {
    checker: &'b mut Checker<'a>,
    width: usize,
}

/// # Safety
/// `user` is a [`User`] that nothing else uses, and the configurations have as many values as the arm has joints.
unsafe fn parts<'u, const COUNT: usize>(
    user: *mut c_void,
    configurations: [*const f64; COUNT],
) -> (&'u mut Checker<'u>, [&'u [f64]; COUNT]) {
    // SAFETY: by the rules of this function.
    unsafe {
        let user = &mut *user.cast::<User<'u, 'u>>();
        let values = configurations.map(|values| std::slice::from_raw_parts(values, user.width));
        (user.checker, values)
    }
}

extern "C" fn is_free(user: *mut c_void, q: *const f64) -> bool {
    // SAFETY: `ompl_plan` passes on its `user`, and values of a state of its space.
    let (checker, [q]) = unsafe { parts(user, [q]) };
    checker.collision(q).is_none()
}

extern "C" fn is_motion_free(user: *mut c_void, from: *const f64, to: *const f64) -> bool {
    // SAFETY: as in `is_free`.
    let (checker, [from, to]) = unsafe { parts(user, [from, to]) };
    // OMPL's contract: the first is known to be free.
    checker.reaches(from, to)
}

/// One answer to one problem.
struct PlannerResult {
    /// Until a path was known, and until it was short, ms.
    times: [f64; 2],
    /// Of search and shortcuts.
    checks: u64,
    path: Vec<Vec<f64>>,
}

fn ours(setup: &Setup, start: &[f64], goal: &[f64], seed: u64, shortcuts: u32) -> Option<PlannerResult> {
    let goals = [goal.to_vec()];
    let run = |shortcuts: u32| {
        let mut checker = Checker::new(&setup.robot, &setup.bodies, &setup.scene);
        let options = PlanOptions { shortcuts, seed, ..PlanOptions::default() };
        let begin = thread_seconds();
        let planned = plan(&mut checker, start, &goals, &options);
        planned.ok().map(|planned| ((thread_seconds() - begin) * 1e3, planned))
    };
    let (first, _) = run(0)?;
    let (whole, planned) = run(shortcuts)?;
    Some(PlannerResult { times: [first, whole], checks: planned.checks, path: planned.path })
}

fn ompl(setup: &Setup, start: &[f64], goal: &[f64], range: f64, shortcuts: u32) -> Option<PlannerResult> {
    let width = setup.robot.joint_count();
    let joints = setup.robot.joints();
    let lower: Vec<f64> = joints.iter().map(|joint| joint.lower).collect();
    let upper: Vec<f64> = joints.iter().map(|joint| joint.upper).collect();
    let mut checker = Checker::new(&setup.robot, &setup.bodies, &setup.scene);
    let mut user = User { checker: &mut checker, width };
    let (mut times, mut path) = ([0.0; 2], vec![0.0; CAPACITY]);
    // SAFETY: all lists have `width` values, `times` has two, `path` as many as the argument gives; the callbacks fit
    // `User`, which lives until the call ends.
    let count = unsafe {
        ompl_plan(
            (&raw mut user).cast(),
            is_free,
            is_motion_free,
            width as u32,
            lower.as_ptr(),
            upper.as_ptr(),
            start.as_ptr(),
            goal.as_ptr(),
            range,
            MAX_TIME,
            shortcuts,
            times.as_mut_ptr(),
            path.as_mut_ptr(),
            path.len(),
        )
    };
    let path: Vec<Vec<f64>> = path.chunks_exact(width).take(count).map(<[f64]>::to_vec).collect();
    let times = [times[0] * 1e3, (times[0] + times[1]) * 1e3];
    (count > 0).then_some(PlannerResult { times, checks: checker.checks, path })
}

/// Length of a path in joint space, rad.
fn length(path: &[Vec<f64>]) -> f64 {
    let edge =
        |pair: &[Vec<f64>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    path.windows(2).map(edge).sum()
}

/// The answers of one planner in one scene.
#[derive(Default)]
struct Column {
    times: [Vec<f64>; 2],
    checks: Vec<f64>,
    lengths: Vec<f64>,
    unsolved: usize,
    least: f64,
}

impl Column {
    fn add(&mut self, setup: &Setup, answer: Option<PlannerResult>) {
        let Some(answer) = answer else {
            self.unsolved += 1;
            return;
        };
        for (times, took) in self.times.iter_mut().zip(answer.times) {
            times.push(took);
        }
        self.checks.push(answer.checks as f64);
        self.lengths.push(length(&answer.path));
        self.least = self.least.min(setup.min_distance(&answer.path));
    }

    fn print(&self, scene: &str, planner: &str, problems: usize) {
        let at = |values: &[f64], share: f64| {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted.get(((sorted.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or(f64::NAN)
        };
        let [first, whole] = &self.times;
        println!(
            "| {scene} | {planner} | {} of {problems} | {:.3} | {:.2} | {:.3} | {:.2} | {:.0} | {:.0} | {:.2} | {:.1} |",
            problems - self.unsolved,
            at(first, 0.5),
            at(first, 0.99),
            at(whole, 0.5),
            at(whole, 0.99),
            at(&self.checks, 0.5),
            at(&self.checks, 0.99),
            at(&self.lengths, 0.5),
            self.least * 1e3,
        );
    }
}

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let number = |index: usize, default: f64| numbers.get(index).copied().unwrap_or(default);
    let (problems, rounds, range) = (number(0, 200.0) as usize, number(1, 3.0) as usize, number(2, 0.0));
    let shortcuts = number(3, 100.0) as u32;
    ompl_seed(1);
    let urdf = |file: &str| {
        let path = format!("{}/../../../../urdf/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the workspace has it")
    };
    println!("{problems} problems per scene, random seed {RANDOM_SEED}; {rounds} rounds; CPU time");
    println!(
        "| scene | planner | solved | search, ms: median | 99 % | with shortcuts, ms: median | 99 % | checks, median | 99 % | \
         length, median, rad | least distance, mm |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut random = oorandom::Rand64::new(RANDOM_SEED);
    for setup in setups(urdf) {
        let mut columns = [(); 2].map(|()| Column { least: f64::INFINITY, ..Column::default() });
        for _ in 0..problems {
            let [start, goal] = [(); 2].map(|()| setup.random(&mut random));
            for round in 0..rounds {
                columns[0].add(&setup, ours(&setup, &start, &goal, 1 + round as u64, shortcuts));
                columns[1].add(&setup, ompl(&setup, &start, &goal, range, shortcuts));
            }
        }
        for (column, planner) in columns.iter().zip(["Dragoman", "OMPL"]) {
            assert!(column.least >= CLEARANCE - 1e-6, "{}, {planner}: {}", setup.name, column.least);
            column.print(setup.name, planner, problems * rounds);
        }
    }
}
