//! Resources of a process: memory, open files, threads.

use std::fs::{read_dir, read_link, read_to_string};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::common::Lab;
use crate::common::web::get;
use crate::table::{Figure, number};

/// Time between two measurements.
const PERIOD: Duration = Duration::from_millis(50);
/// Time in which the resources must be released.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Resources that need not be released: memory in MB, files, threads.
const KEPT: Resources = Resources { memory: 15.0, files: 10.0, threads: 4.0 };
/// Tolerance of [`KEPT`]: the kernel counts pages, and the allocator keeps some on a busy machine.
const SLACK: f64 = 1.3;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resources {
    /// Resident memory, MB.
    pub(crate) memory: f64,
    pub(crate) files: f64,
    pub(crate) threads: f64,
}

impl Resources {
    /// Of a running process; zeros if it has ended.
    pub(crate) fn of(process: u32) -> Self {
        let status = read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let field = |name: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
        };
        let files = read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
        Self { memory: field("VmRSS:") * 1024.0 / 1e6, files: files as f64, threads: field("Threads:") }
    }

    fn zip(self, other: Self, with: fn(f64, f64) -> f64) -> Self {
        Self {
            memory: with(self.memory, other.memory),
            files: with(self.files, other.files),
            threads: with(self.threads, other.threads),
        }
    }

    fn is_within(self, limit: Self) -> bool {
        self.memory <= limit.memory && self.files <= limit.files && self.threads <= limit.threads
    }
}

/// Open sockets of a process.
pub(crate) fn sockets(process: u32) -> usize {
    let files = read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    files
        .filter(|file| read_link(file.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:")))
        .count()
}

/// MB that the Rust code of a lab has allocated. Only a lab on r2r reports it, because its middleware is not in Rust.
fn allocated(lab: &Lab) -> Option<f64> {
    let (_, response) = get(lab.console, "/api/lab", "");
    let (_, body) = response.split_once("\r\n\r\n")?;
    let state: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(state["allocated_bytes"].as_f64()? / 1e6)
}

/// Measures a process until the attackers have left.
pub(crate) struct Watch<'a> {
    lab: &'a Lab,
    allocated: Option<f64>,
    before: Resources,
    over: Arc<AtomicBool>,
    peak: JoinHandle<Resources>,
}

/// Resources before the attack, their maximum during it, and after the attackers have left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub(crate) before: Resources,
    pub(crate) peak: Resources,
    pub(crate) after: Resources,
    /// Seconds after which all resources were released.
    back: Option<f64>,
    /// Memory allocated by Rust code, before and after, MB.
    allocated: Option<(f64, f64)>,
}

impl<'a> Watch<'a> {
    pub(crate) fn start(lab: &'a Lab) -> Self {
        let (process, allocated) = (lab.child.id(), allocated(lab));
        let before = Resources::of(process);
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let peak = std::thread::spawn(move || {
            let mut peak = before;
            while !seen.load(Ordering::Relaxed) {
                peak = peak.zip(Resources::of(process), f64::max);
                std::thread::sleep(PERIOD);
            }
            peak
        });
        Self { lab, allocated, before, over, peak }
    }

    /// Waits until the resources are released, at most ten seconds.
    pub(crate) fn after(self) -> Course {
        let left = Instant::now();
        let limit = self.before.zip(KEPT, |before, kept| before + kept);
        let (after, back) = loop {
            let after = Resources::of(self.lab.child.id());
            if after.is_within(limit) {
                break (after, Some(left.elapsed().as_secs_f64()));
            }
            if left.elapsed() > TIME_LIMIT {
                break (after, None);
            }
            std::thread::sleep(PERIOD);
        };
        // The last measurement counts as well.
        self.over.store(true, Ordering::Relaxed);
        let peak = self.peak.join().unwrap_or(self.before);
        let allocated = self.allocated.zip(allocated(self.lab));
        Course { before: self.before, peak, after, back, allocated }
    }
}

impl Course {
    /// Before, at the peak and after, with a goal for the difference of the last and the first.
    fn figure(&self, name: &str, of: fn(&Resources) -> f64) -> Figure {
        let [before, peak, after] = [&self.before, &self.peak, &self.after].map(of);
        let shown = format!("{} / {} / {}", number(before), number(peak), number(after));
        Figure::new(format!("{name}: before / peak / after"), shown).goal(
            "more after",
            after - before,
            of(&KEPT),
            SLACK,
        )
    }

    /// Memory, and the part allocated by Rust code if that is known.
    pub(crate) fn memory(&self) -> impl Iterator<Item = Figure> + use<> {
        let of_rust = self.allocated.map(|(before, after)| {
            let shown = format!("{} / {}", number(before), number(after));
            Figure::new("of it allocated by Rust code, MB: before / after", shown)
        });
        [self.figure("memory, MB", |state| state.memory)].into_iter().chain(of_rust)
    }

    /// Memory, files and threads, and when they were released.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let back = self.back.map_or_else(|| "not in 10 s".into(), |back| format!("{back:.1} s"));
        let rest = [
            self.figure("files", |state| state.files),
            self.figure("threads", |state| state.threads),
            Figure::new("given back after", back),
        ];
        self.memory().chain(rest).collect()
    }

    /// How much more memory there was at the peak, MB.
    pub(crate) fn rise(&self) -> f64 {
        self.peak.memory - self.before.memory
    }
}
