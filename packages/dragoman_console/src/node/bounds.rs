//! How much clients may have in ROS.
//!
//! The bound of all clients together does not shut out a modest client: up to its share, a client gets what it asks for
//! whatever the others have. With 64 clients, the default of `max_clients`, all together have at most `all + 64 * share`.

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

const fn bound(kind: &'static str, client: usize, all: usize, share: usize) -> Bound {
    Bound { kind, client, all, share }
}

impl Bound {
    /// Whether a client that has `own` of `all` may have one more.
    ///
    /// # Errors
    /// The reason for the client.
    pub(crate) fn check(&self, own: usize, all: usize) -> Result<(), String> {
        let Self { kind, client, .. } = self;
        if own >= *client {
            return Err(format!("more than {client} {kind}"));
        }
        if all >= self.all && own >= self.share {
            let (all, share) = (self.all, self.share);
            return Err(format!("all clients have {all} {kind}: a client may have {share} now"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modest_client_is_not_shut_out() {
        let things = bound("things", 5, 10, 2);
        let (mut all, mut greedy) = (0, [0; 4]);
        for own in &mut greedy {
            while things.check(*own, all).is_ok() {
                *own += 1;
                all += 1;
            }
        }
        assert_eq!(greedy, [5, 5, 2, 2]);
        assert_eq!(things.check(5, 5).unwrap_err(), "more than 5 things");
        assert_eq!(things.check(2, all).unwrap_err(), "all clients have 10 things: a client may have 2 now");
        assert_eq!(things.check(1, all), Ok(()));
    }
}
