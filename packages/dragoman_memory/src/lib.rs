//! Gives memory that was freed back to the system.
//!
//! glibc keeps what a program frees in two ways.
//!
//! - It keeps the end of each thread's heap up to a size that grows with the largest block ever freed, to 64 MiB, and
//!   `malloc_trim` does not look at the ends of these heaps: after one message of 32 MB each thread could keep 64 MiB.
//!   [`watch`] fixes the sizes (mallopt(3)).
//! - It keeps what lies below anything in use. [`watch`] looks at the size of the process every few seconds, and returns
//!   free pages ([`give_back`]) when it is well above the smallest size that was seen.
//!
//! With other systems and C libraries it does nothing.
//!
//! | file | holds |
//! | --- | --- |
//! | `trimmer` | when memory is given back |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod trimmer;

use std::time::Duration;

use trimmer::Trimmer;

/// Period of looking at the size of the process.
const PERIOD: Duration = Duration::from_secs(4);
/// Time before the first look. By then a program has started, and few clients have come: its size is the one at rest.
const FIRST_LOOK: Duration = Duration::from_millis(500);

/// Gives memory back when it is freed, and now and then, in a thread of its own, until the process ends. For the beginning
/// of a program.
///
/// # Errors
/// No thread can be started.
pub fn watch() -> std::io::Result<()> {
    fix_sizes();
    let look = || {
        let mut trimmer = Trimmer::default();
        let mut pause = FIRST_LOOK;
        loop {
            std::thread::sleep(pause);
            pause = PERIOD;
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

/// Ends the growth of what each heap keeps.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn fix_sizes() {
    /// Blocks of this size and more are mapped by themselves, and so returned when they are freed. Pictures of the lab's
    /// cameras are smaller: a new mapping costs a page fault for each page.
    const MAPPED: libc::c_int = 1 << 20;
    /// What a heap may keep at its end: what glibc begins with. There are a dozen heaps.
    const KEPT: libc::c_int = 128 << 10;
    for (parameter, value) in [(libc::M_MMAP_THRESHOLD, MAPPED), (libc::M_TRIM_THRESHOLD, KEPT)] {
        // SAFETY: it takes no pointer, and is safe to call from any thread at any time (mallopt(3)).
        let is_set = unsafe { libc::mallopt(parameter, value) };
        debug_assert_eq!(is_set, 1, "mallopt({parameter}, {value})");
    }
}

/// Nothing is known of the allocators of other systems.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn fix_sizes() {}

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

/// Bytes that the program has allocated and not freed, of all threads. For tests: it stops allocation for a moment.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn in_use() -> usize {
    // SAFETY: it takes no pointer, and is safe to call from any thread at any time (mallinfo(3)).
    let figures = unsafe { libc::mallinfo2() };
    figures.uordblks + figures.hblkhd
}

#[cfg(feature = "counted")]
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// Bytes that Rust code has allocated and not freed, without what libraries in C and C++ have; `None` without the feature
/// `counted`.
#[cfg(feature = "counted")]
pub fn allocated() -> Option<usize> {
    let all = stats_alloc::INSTRUMENTED_SYSTEM.stats();
    // A block may be freed between both.
    Some(all.bytes_allocated.saturating_sub(all.bytes_deallocated))
}

/// None, without the feature `counted`: bytes that Rust code has allocated and not freed.
#[cfg(not(feature = "counted"))]
pub fn allocated() -> Option<usize> {
    None
}

/// Memory of this process that is in the machine's memory, in bytes; `None` if the system does not report it.
fn resident() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    // Pages of other sizes only make it more or less eager.
    pages.split_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(4096)
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    /// Memory belongs to the process: one test at a time.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn what_is_in_use_is_counted_until_it_is_freed() {
        let _alone = ALONE.lock();
        let before = in_use();
        let small: Vec<Box<[u8]>> = (0..1000).map(|_| vec![1; 10 << 10].into_boxed_slice()).collect();
        let large = vec![1_u8; 50 << 20];
        let between = in_use();
        assert!(between > before + (59 << 20), "{before} {between}");
        drop((small, large));
        assert!(in_use() + (58 << 20) < between);
    }

    /// Also after a large block was freed, which makes glibc keep more.
    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_end_of_a_threads_heap_is_returned() {
        let _alone = ALONE.lock();
        fix_sizes();
        let work = || {
            let first = Box::new([1_u8; 1 << 10]);
            drop(vec![1_u8; 20 << 20]);
            let before = resident().unwrap();
            drop((0..1024).map(|_| vec![1; 32 << 10].into_boxed_slice()).collect::<Vec<Box<[u8]>>>());
            give_back();
            assert!(resident().unwrap() < before + (1 << 20), "32 MiB were freed");
            assert_eq!(first[0], 1);
        };
        std::thread::spawn(work).join().unwrap();
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn what_was_freed_below_something_in_use_is_given_back() {
        let _alone = ALONE.lock();
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
