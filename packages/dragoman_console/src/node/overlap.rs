//! Two subscriptions to a topic, of which one replaces the other: each message counts once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use futures::future::AbortHandle;

use super::temporary::Place;

/// A replaced subscription that continues for a while. It ends when this is dropped.
pub(crate) struct Overlap {
    receiving: AbortHandle,
    /// Its node.
    _place: Arc<Place>,
    pairs: Pairs,
}

impl Drop for Overlap {
    fn drop(&mut self) {
        self.receiving.abort();
    }
}

impl Overlap {
    /// `known`: messages that have come with it, and come again with the new one.
    pub(crate) fn new<'a>(
        receiving: AbortHandle,
        place: Arc<Place>,
        known: impl Iterator<Item = &'a [u8]>,
    ) -> Self {
        let mut pairs = Pairs::default();
        for data in known {
            pairs.is_first(data, true);
        }
        Self { receiving, _place: place, pairs }
    }

    /// Takes a message of the old or the new subscription; returns whether it has not come yet with the other one.
    pub(crate) fn is_first(&mut self, data: &[u8], is_old: bool) -> bool {
        self.pairs.is_first(data, is_old)
    }
}

/// Messages that come with two subscriptions: by their hash, how many have come with the old one and not yet with the new
/// one; less than 0: the other way round.
#[derive(Default)]
struct Pairs(BTreeMap<u64, i32>);

impl Pairs {
    /// Takes a message; returns whether it has not come yet with the other subscription.
    fn is_first(&mut self, data: &[u8], is_old: bool) -> bool {
        let mut hasher = DefaultHasher::new();
        hasher.write(data);
        let (hash, way) = (hasher.finish(), if is_old { 1 } else { -1 });
        let ahead = self.0.entry(hash).or_default();
        *ahead += way;
        let is_first = ahead.signum() == way;
        if *ahead == 0 {
            self.0.remove(&hash);
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_subscriptions_each_message_counts_once() {
        let mut pairs = Pairs::default();
        let old = |pairs: &mut Pairs, data: &str| pairs.is_first(data.as_bytes(), true);
        let new = |pairs: &mut Pairs, data: &str| pairs.is_first(data.as_bytes(), false);
        assert!(old(&mut pairs, "a") && old(&mut pairs, "a") && old(&mut pairs, "b"));
        assert!(!new(&mut pairs, "a") && !new(&mut pairs, "a") && new(&mut pairs, "a"), "a third time");
        assert!(!new(&mut pairs, "b") && new(&mut pairs, "c"));
        assert!(!old(&mut pairs, "a") && !old(&mut pairs, "c"));
        assert!(pairs.0.is_empty());
    }
}
