//! Bounds on the resources of clients in ROS, and in the console's memory.
//!
//! The bound of all clients together does not shut out a modest client: up to its share, a client gets what it asks for
//! independent of the others. With 64 clients, the default of `max_clients`, all together have at most `all + 64 *
//! share`.
//! The resources of a client are released within a second after it has left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragoman_time::Held;
use serde_json::Value;

/// A bound on things of one kind.
#[derive(Debug)]
pub(crate) struct Bound {
    /// In the plural.
    kind: &'static str,
    /// Maximum number of one client.
    client: usize,
    /// Number of all clients, beyond which a client gets its share only.
    all: usize,
    share: usize,
}

/// Topics that clients subscribe to. The whole lab has about 170 topics: a client may want all of them.
pub(crate) const SUBSCRIPTIONS: Bound = bound("topics that are subscribed to", 500, 1000, 32);
/// Topics that clients advertise.
pub(crate) const PUBLISHERS: Bound = bound("advertised topics", 256, 1000, 32);
/// Calls, goals and other requests that wait for their responses.
pub(crate) const CALLS: Bound = bound("calls that wait for their responses", 256, 1000, 16);
/// Services that clients offer.
pub(crate) const SERVICES: Bound = bound("offered services", 64, 256, 8);
/// Actions that clients offer: three services and two topics each.
pub(crate) const ACTIONS: Bound = bound("offered actions", 16, 64, 2);

/// Bytes that are kept for clients: calls and goals that wait, latched messages, results of goals.
pub(crate) const BYTES: Bound =
    bound("bytes of calls, latched messages and results", 32 << 20, 128 << 20, 1 << 20);

const fn bound(kind: &'static str, client: usize, all: usize, share: usize) -> Bound {
    Bound { kind, client, all, share }
}

impl Bound {
    /// Checks whether a client may use `own` of `all`.
    ///
    /// # Errors
    /// The reason for the client.
    pub(crate) fn check(&self, own: usize, all: usize) -> Result<(), String> {
        let Self { kind, client, .. } = self;
        if own > *client {
            return Err(format!("more than {client} {kind}"));
        }
        if all > self.all && own > self.share {
            let (all, share) = (self.all, self.share);
            return Err(format!("all clients have {all} {kind}: a client may have {share} now"));
        }
        Ok(())
    }
}

/// The use of a bounded resource by a client, which is counted for all clients as well. It is released when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Account {
    own: Held,
    all: Arc<AtomicUsize>,
}

impl Account {
    /// Nothing yet. `kind` as in [`Held::new`]; `all` is the sum of all clients.
    pub(crate) fn new(kind: &'static str, all: &Arc<AtomicUsize>) -> Self {
        Self { own: Held::new(kind), all: Arc::clone(all) }
    }

    /// Takes more.
    pub(crate) fn add(&self, count: usize) {
        self.own.add(count);
        self.all.fetch_add(count, Ordering::Relaxed);
    }

    /// Gives back what was taken.
    pub(crate) fn remove(&self, count: usize) {
        self.own.remove(count);
        self.all.fetch_sub(count, Ordering::Relaxed);
    }

    /// What the client has, and what all have.
    pub(crate) fn get(&self) -> (usize, usize) {
        (self.own.get(), self.all.load(Ordering::Relaxed))
    }

    /// Takes more until the share is dropped.
    ///
    /// # Errors
    /// The bound is exceeded: the reason for the client.
    pub(crate) fn take(self: &Arc<Self>, count: usize, bound: &Bound) -> Result<Share, String> {
        self.add(count);
        let share = Share { account: Arc::clone(self), count };
        let (own, all) = self.get();
        bound.check(own, all)?;
        Ok(share)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own.get(), Ordering::Relaxed);
    }
}

/// A part of an [`Account`].
#[derive(Debug)]
pub(crate) struct Share {
    account: Arc<Account>,
    count: usize,
}

impl Share {
    /// Replaces what was taken by this much.
    ///
    /// # Errors
    /// The bound is exceeded: the reason for the client. It is as before.
    pub(crate) fn replace(&mut self, count: usize, bound: &Bound) -> Result<(), String> {
        let before = std::mem::replace(&mut self.count, count);
        self.account.remove(before);
        self.account.add(count);
        let (own, all) = self.account.get();
        let checked = bound.check(own, all);
        if checked.is_err() {
            self.account.remove(count);
            self.account.add(before);
            self.count = before;
        }
        checked
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.account.remove(self.count);
    }
}

/// Approximate memory of a value, bytes.
pub(crate) fn bytes_of(value: &Value) -> usize {
    let more = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(bytes_of).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| size_of::<String>() + key.len() + bytes_of(value)).sum()
        }
    };
    size_of::<Value>() + more
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_modest_client_is_not_shut_out() {
        let things = bound("things", 5, 10, 2);
        let (mut all, mut greedy) = (0, [0; 4]);
        for own in &mut greedy {
            while things.check(*own + 1, all + 1).is_ok() {
                *own += 1;
                all += 1;
            }
        }
        assert_eq!(greedy, [5, 5, 2, 2]);
        assert_eq!(things.check(6, 6).unwrap_err(), "more than 5 things");
        let refused = things.check(3, all + 1).unwrap_err();
        assert_eq!(refused, "all clients have 10 things: a client may have 2 now");
        assert_eq!(things.check(2, all + 1), Ok(()));
    }

    #[test]
    fn refused_and_dropped_shares_are_released() {
        let all = Arc::default();
        let things = bound("things", 5, 7, 2);
        let [first, second] = [(); 2].map(|()| Arc::new(Account::new("things", &all)));
        let shares = [first.take(3, &things).unwrap(), first.take(2, &things).unwrap()];
        assert_eq!(first.take(1, &things).unwrap_err(), "more than 5 things");
        let _other = second.take(2, &things).unwrap();
        assert!(second.take(1, &things).is_err());
        assert_eq!((first.get(), second.get()), ((5, 7), (2, 7)));
        let [mut three, two] = shares;
        assert!(three.replace(4, &things).is_err());
        assert_eq!(first.get(), (5, 7));
        three.replace(1, &things).unwrap();
        assert_eq!(first.get(), (3, 5));
        drop((three, two));
        assert_eq!(second.get(), (2, 2));
        second.add(1);
        drop((_other, second));
        assert_eq!(first.get(), (0, 0));
    }

    #[test]
    fn a_value_counts_with_all_that_it_holds() {
        let value = json!({ "data": [1, 2.5, true, "four"], "none": null });
        assert_eq!(bytes_of(&value), 7 * size_of::<Value>() + 2 * size_of::<String>() + "datafournone".len());
    }
}
