//! Random values for tests.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Source of random values.
#[derive(Debug)]
pub(crate) struct Source(TestRng);

impl Source {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(u32::from_be_bytes(self.bytes())).expect("32 bits") % end
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
