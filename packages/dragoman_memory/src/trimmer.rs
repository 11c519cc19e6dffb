//! When memory is given back.

/// Growth above the smallest size at which memory is given back: below it, the call costs more than it gives.
const WORTH_IT: usize = 6 << 20;

/// When to give memory back.
#[derive(Debug, Default)]
pub(crate) struct Trimmer {
    /// The minimum size that was seen.
    smallest: Option<usize>,
}

impl Trimmer {
    /// Whether the process has grown since it was smallest.
    pub(crate) fn is_due(&mut self, size: usize) -> bool {
        self.handle_size(size);
        self.smallest.is_some_and(|smallest| size > smallest + WORTH_IT)
    }

    /// Notes a size of the process.
    pub(crate) fn handle_size(&mut self, size: usize) {
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
}
