#![doc = include_str!("../README.md")]

use std::time::Duration;

/// Period of looking at the size of the process.
const PERIOD: Duration = Duration::from_secs(4);
/// Growth above the smallest size at which memory is given back: below it, the call costs more than it gives.
const WORTH_IT: usize = 6 << 20;

/// Gives memory back now and then, in a thread of its own, until the process ends.
///
/// # Errors
/// No thread can be started.
pub fn watch() -> std::io::Result<()> {
    let look = || {
        let mut trimmer = Trimmer::default();
        loop {
            std::thread::sleep(PERIOD);
            if let Some(size) = resident()
                && trimmer.is_due(size)
            {
                give_back();
                trimmer.handle_size(resident().unwrap_or(size));
            }
        }
    };
    std::thread::Builder::new().name("memory".to_owned()).stack_size(64 << 10).spawn(look).map(drop)
}

/// Returns free pages of the allocator to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn give_back() {
    // SAFETY: it takes no pointer, and is safe to call from any thread at any time (malloc_trim(3)).
    unsafe { libc::malloc_trim(0) };
}

/// Nothing is known of the allocators of other systems.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}

/// Memory of this process that is in the machine's memory, in bytes; `None` where the system does not tell.
fn resident() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    // Pages of other sizes only make it more or less eager.
    pages.split_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(4096)
}

/// When to give memory back.
#[derive(Debug, Default)]
struct Trimmer {
    /// The smallest size that was seen.
    smallest: Option<usize>,
}

impl Trimmer {
    /// Whether the process has grown since it was smallest.
    fn is_due(&mut self, size: usize) -> bool {
        self.handle_size(size);
        self.smallest.is_some_and(|smallest| size > smallest + WORTH_IT)
    }

    fn handle_size(&mut self, size: usize) {
        self.smallest = Some(self.smallest.map_or(size, |smallest| smallest.min(size)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_while_the_process_is_larger_than_it_was() {
        let mut trimmer = Trimmer::default();
        assert!(!trimmer.is_due(50 << 20), "the first size is all that is known");
        assert!(!trimmer.is_due(52 << 20));
        assert!(trimmer.is_due(60 << 20));
        assert!(!trimmer.is_due(40 << 20));
        assert!(trimmer.is_due(50 << 20));
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn what_was_freed_below_something_in_use_is_given_back() {
        // Small enough for the heap, where only the end returns by itself.
        let many: Vec<Box<[u8]>> = (0..4096).map(|_| vec![1; 32 << 10].into_boxed_slice()).collect();
        let last = Box::new([1_u8; 1 << 10]);
        let full = resident().unwrap();
        drop(many);
        give_back();
        assert!(resident().unwrap() + (100 << 20) < full, "128 MiB were freed");
        assert_eq!(last[0], 1);
    }
}
