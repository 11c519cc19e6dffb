//! Ends the process if a task of a simulation does not yield, and names the task. On virtual time no other task runs
//! that could do it.

use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

/// Maximum processor time of one poll. Other programs do not use it up, so that a busy machine ends nothing.
const MAX_BUSY: Duration = Duration::from_secs(10);
/// Maximum time of a poll in which the thread waits instead, for a lock that is never released.
const MAX_BLOCKED: Duration = Duration::from_secs(300);
/// Blocked time is counted in checks, so that a process that was suspended is not ended.
const CHECK_PERIOD: Duration = Duration::from_millis(250);

pub(crate) struct Watchdog {
    /// Counts begins and ends of polls: odd while a task is polled.
    turns: AtomicU64,
    polled: Mutex<Option<Polled>>,
}

/// Where the polled task was spawned, and the file in which the system reports the processor time of the polling
/// thread.
#[derive(Clone)]
struct Polled {
    spawned_at: &'static Location<'static>,
    thread: Arc<Path>,
}

impl Watchdog {
    pub(crate) fn start() -> Arc<Self> {
        let watchdog = Arc::new(Self { turns: AtomicU64::new(0), polled: Mutex::default() });
        let watched = Arc::downgrade(&watchdog);
        let watch = move || {
            let mut poll = Poll::default();
            loop {
                std::thread::park_timeout(CHECK_PERIOD);
                let Some(watchdog) = watched.upgrade() else { return };
                let Some(polled) = watchdog.polled.lock().clone() else { continue };
                let turns = watchdog.turns.load(Ordering::Relaxed);
                if let Some(reason) = poll.check(turns, || processor_time(&polled.thread)) {
                    // Not `eprintln`: a test harness keeps that, and loses it when the process ends.
                    let spawned_at = polled.spawned_at;
                    let _ = writeln!(
                        std::io::stderr(),
                        "virtual time: the task spawned at {spawned_at} {reason}"
                    );
                    std::process::abort();
                }
            }
        };
        // A simulation also runs without a watchdog.
        let _ = std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
        watchdog
    }

    /// A task is polled until the result is dropped.
    pub(crate) fn polling(&self, spawned_at: &'static Location<'static>) -> Polling<'_> {
        thread_local! {
            static THREAD: Arc<Path> = std::fs::read_link("/proc/thread-self")
                .map(|thread| Path::new("/proc").join(thread).join("stat"))
                .unwrap_or_else(|_| PathBuf::new())
                .into();
        }
        *self.polled.lock() = Some(Polled { spawned_at, thread: THREAD.with(Arc::clone) });
        self.turns.fetch_add(1, Ordering::Relaxed);
        Polling(self)
    }
}

pub(crate) struct Polling<'a>(&'a Watchdog);

/// Also after a panic.
impl Drop for Polling<'_> {
    fn drop(&mut self) {
        self.0.turns.fetch_add(1, Ordering::Relaxed);
    }
}

/// The poll that was seen at the last check.
#[derive(Default)]
struct Poll {
    turns: u64,
    checks: u32,
    /// Processor time at the first check.
    started: Option<Duration>,
}

impl Poll {
    /// Why the process has to end. `processor_time` is that of the thread, `None` if the system does not report it.
    fn check(&mut self, turns: u64, processor_time: impl FnOnce() -> Option<Duration>) -> Option<String> {
        if turns != self.turns || turns.is_multiple_of(2) {
            *self = Self { turns, ..Self::default() };
            return None;
        }
        let now = processor_time();
        self.checks += 1;
        self.started = self.started.or(now);
        if let (Some(now), Some(started)) = (now, self.started)
            && now.saturating_sub(started) >= MAX_BUSY
        {
            return Some(format!("has not yielded for {} s of processor time", MAX_BUSY.as_secs()));
        }
        (self.checks * CHECK_PERIOD >= MAX_BLOCKED)
            .then(|| format!("has not yielded for {} s", MAX_BLOCKED.as_secs()))
    }
}

/// Processor time of a thread from its `stat` (proc(5), `utime` and `stime`).
fn processor_time(stat: &Path) -> Option<Duration> {
    parse_processor_time(&std::fs::read_to_string(stat).ok()?)
}

fn parse_processor_time(stat: &str) -> Option<Duration> {
    // The name, in parentheses, may have blanks; 11 fields between it and `utime`.
    let (_name, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    let (user, system) = (fields.next()?.ok()?, fields.next()?.ok()?);
    // A hundredth of a second on all architectures that Rust knows.
    Some(Duration::from_millis(10 * user.checked_add(system)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(period: Duration) -> u32 {
        (period.as_millis() / CHECK_PERIOD.as_millis()).try_into().unwrap()
    }

    #[test]
    fn a_task_that_computes_for_too_long_is_named() {
        let mut poll = Poll::default();
        let mut time = Duration::from_secs(7);
        let ended = (0..).find_map(|n| {
            let reason = poll.check(1, || Some(time));
            time += CHECK_PERIOD;
            reason.map(|reason| (n, reason))
        });
        let (n, reason) = ended.unwrap();
        assert_eq!(n, checks(MAX_BUSY) + 1, "the first check sees a new poll, the second one its time");
        assert_eq!(reason, "has not yielded for 10 s of processor time");
    }

    #[test]
    fn a_task_without_its_turn_on_a_busy_machine_is_not_ended() {
        let mut poll = Poll::default();
        for n in 0..checks(MAX_BLOCKED) {
            assert_eq!(poll.check(1, || Some(Duration::from_millis(n.into()))), None);
        }
        assert!(poll.check(1, || Some(Duration::from_secs(1))).is_some(), "a lock that is never released");
    }

    #[test]
    fn a_new_poll_begins_a_new_time() {
        let mut poll = Poll::default();
        for turns in 1..1000 {
            let time = Duration::from_secs(9) * turns;
            assert_eq!(poll.check(turns.into(), || Some(time)), None);
            assert_eq!(poll.check(turns.into(), || Some(time)), None);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_time_of_this_thread_advances() {
        let stat = Path::new("/proc").join(std::fs::read_link("/proc/thread-self").unwrap()).join("stat");
        let start = processor_time(&stat).unwrap();
        let mut work = 0_u64;
        while processor_time(&stat).unwrap() < start + Duration::from_millis(50) {
            work = std::hint::black_box(work.wrapping_add(1));
        }
        assert!(work > 0);
    }

    #[test]
    fn names_with_blanks_and_parentheses_are_skipped() {
        let stat = "12 (a ) b) R 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 1 0";
        assert_eq!(parse_processor_time(stat), Some(Duration::from_secs(2)));
        for broken in ["", "12 (a", "12 (a) R 1", "12 (a) R 1 2 3 4 5 6 7 8 9 10 x 50"] {
            assert_eq!(parse_processor_time(broken), None, "{broken}");
        }
    }
}
