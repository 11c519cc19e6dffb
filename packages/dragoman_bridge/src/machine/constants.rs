//! Numbers with names, which are known in all terms, and which may change while the machine runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers with names. Clones share their values.
#[derive(Debug, Clone, Default)]
pub struct Constants(Arc<[(String, AtomicU64)]>);

impl Constants {
    /// The number of a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(one, _)| one == name)
    }

    /// The value of a number that [`find`](Self::find) gives.
    pub(crate) fn value(&self, number: usize) -> Option<f64> {
        self.0.get(number).map(|(_, bits)| f64::from_bits(bits.load(Ordering::Relaxed)))
    }

    /// The names and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, bits)| (name.as_str(), f64::from_bits(bits.load(Ordering::Relaxed))))
    }

    /// Changes values, in the order of [`iter`](Self::iter): all terms have them from now on.
    #[cfg(feature = "node")]
    pub(crate) fn set(&self, values: &[f64]) {
        for ((_, bits), value) in self.0.iter().zip(values) {
            bits.store(value.to_bits(), Ordering::Relaxed);
        }
    }
}

impl<N: Into<String>> FromIterator<(N, f64)> for Constants {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(all: I) -> Self {
        Self(all.into_iter().map(|(name, value)| (name.into(), AtomicU64::new(value.to_bits()))).collect())
    }
}

impl PartialEq for Constants {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
