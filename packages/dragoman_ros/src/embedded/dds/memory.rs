//! Reuses the memory of large samples.
//!
//! Fresh memory costs a page fault for every 4 KiB: for an image several times the time of copying it. What no sample has
//! used for a while is given back, for example after one large document.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use parking_lot::Mutex;

/// Smaller pieces come from the allocator without page faults; larger ones are too big to keep.
const WORTH_KEEPING: std::ops::RangeInclusive<usize> = 64 << 10..=16 << 20;
/// One for the next sample, and one for the case of a slow reader.
const MAX_KEPT: usize = 2;

/// Memory of released samples of a writer or reader. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Kept>);

#[derive(Default)]
struct Kept {
    pieces: Mutex<Vec<Vec<u8>>>,
    /// Whether a piece was asked for since the last review.
    is_used: AtomicBool,
}

/// All memory of the writers and readers of a context.
#[derive(Default)]
pub(crate) struct Memories(Mutex<Vec<Weak<Kept>>>);

impl Memories {
    /// Memory for another writer or reader.
    pub(crate) fn add(&self) -> Memory {
        let memory = Memory::default();
        self.0.lock().push(Arc::downgrade(&memory.0));
        memory
    }

    /// Gives back what was not used since the last call.
    pub(crate) fn review(&self) {
        self.0.lock().retain(|kept| {
            let Some(kept) = kept.upgrade() else { return false };
            if !kept.is_used.swap(false, Ordering::Relaxed) {
                Memory(kept).give_back();
            }
            true
        });
    }
}

impl Memory {
    /// An empty vector, with the capacity of a released one if available.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.is_used.store(true, Ordering::Relaxed);
        self.0.pieces.lock().pop().unwrap_or_default()
    }

    /// Drops what is kept.
    pub(crate) fn give_back(&self) {
        self.0.pieces.lock().clear();
    }

    /// Bytes whose memory returns here with their last clone.
    pub(crate) fn lend(&self, bytes: Vec<u8>) -> Bytes {
        if WORTH_KEEPING.contains(&bytes.capacity()) {
            Bytes::from_owner(Lent { bytes, memory: self.clone() })
        } else {
            Bytes::from(bytes)
        }
    }
}

struct Lent {
    bytes: Vec<u8>,
    memory: Memory,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let mut kept = self.memory.0.pieces.lock();
        if kept.len() < MAX_KEPT {
            kept.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_with_the_last_clone() {
        let memory = Memory::default();
        let mut bytes = memory.take();
        bytes.resize(100_000, 1);
        let place = bytes.as_ptr();
        let lent = memory.lend(bytes);
        let clone = lent.clone();
        drop(lent);
        assert_eq!(memory.take().capacity(), 0, "a clone holds it");
        assert_eq!(clone, vec![1; 100_000]);
        drop(clone);
        let again = memory.take();
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
    }

    #[test]
    fn neither_small_nor_huge_nor_many_pieces_are_kept() {
        let memory = Memory::default();
        for size in [100, (16 << 20) + 1] {
            drop(memory.lend(vec![0; size]));
            assert_eq!(memory.take().capacity(), 0, "{size}");
        }
        let many = [(); 3].map(|()| memory.lend(vec![0; 100_000]));
        drop(many);
        assert_eq!(memory.0.pieces.lock().len(), MAX_KEPT);
    }

    #[test]
    fn memory_that_is_not_used_is_given_back() {
        let memories = Memories::default();
        let memory = memories.add();
        let kept = || memory.0.pieces.lock().len();
        drop(memory.lend([memory.take(), vec![0; 100_000]].concat()));
        memories.review();
        assert_eq!(kept(), 1, "it was used");
        memories.review();
        assert_eq!(kept(), 0);
        drop(memory);
        memories.review();
        assert!(memories.0.lock().is_empty());
    }
}
