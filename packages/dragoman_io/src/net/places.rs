//! Places for connections: how many connections a server may have, so that the clients of one port cannot use up the
//! files that other ports need.
//!
//! `RLIMIT_NOFILE` limits the number of open files of a process. [`RESERVE`] of them are for files that are not
//! connections. The others are places. A server gets a further one while it has fewer than are free: one greedy server
//! gets half of them, a second one half of the rest, and there is always one for a server that has none. (Choudhury and
//! Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking
//! 6(2), 1998.)

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dragoman_time::Held;
use nix::sys::resource::{Resource, getrlimit};
use parking_lot::Mutex;

/// Files that are not connections: sockets of ROS, serial lines, recordings.
const RESERVE: usize = 96;
/// Files of a lab on virtual time, whatever machine it runs on.
const OF_LAB: usize = 8192;
/// Time between two warnings of a server.
const REMINDER: Duration = Duration::from_secs(60);

/// The places of a process.
#[derive(Debug)]
struct Places {
    number: usize,
    taken: AtomicUsize,
}

impl Default for Places {
    fn default() -> Self {
        let limit = || getrlimit(Resource::RLIMIT_NOFILE).map_or(OF_LAB as u64, |(soft, _)| soft);
        let files =
            if dragoman_time::is_virtual() { OF_LAB } else { usize::try_from(limit()).unwrap_or(OF_LAB) };
        Self::new(files)
    }
}

impl Places {
    fn new(files: usize) -> Self {
        Self { number: files.saturating_sub(RESERVE), taken: AtomicUsize::new(0) }
    }
}

/// The connections of one server.
#[derive(Debug)]
pub struct Group {
    name: String,
    places: Arc<Places>,
    own: Arc<AtomicUsize>,
    warned: Mutex<Option<Instant>>,
}

impl Group {
    /// A server without connections; `name` is for the log. Make it after the limit of files was raised.
    pub fn new(name: impl Into<String>) -> Self {
        Self::of(dragoman_time::shared(), name)
    }

    fn of(places: Arc<Places>, name: impl Into<String>) -> Self {
        Self { name: name.into(), places, own: Arc::default(), warned: Mutex::default() }
    }

    /// A place for a further connection; `None`: the connection must be refused, which is logged from time to time.
    pub fn take(&self) -> Option<Place> {
        let own = self.own.fetch_add(1, Ordering::Relaxed);
        let taken = self.places.taken.fetch_add(1, Ordering::Relaxed);
        // Dropped, and so given back, if the connection is refused.
        let held = Held::new("connections");
        held.add(1);
        let place = Place { places: Arc::clone(&self.places), own: Arc::clone(&self.own), _held: held };
        if own < self.places.number.saturating_sub(taken) {
            return Some(place);
        }
        let mut warned = self.warned.lock();
        if warned.is_none_or(|warned| dragoman_time::since(warned) >= REMINDER) {
            *warned = Some(dragoman_time::now());
            tracing::warn!(
                server = self.name,
                connections = own,
                "connection refused: limit of open files reached (ulimit -n)"
            );
        }
        None
    }
}

/// The place of a connection. It is free when this is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    own: Arc<AtomicUsize>,
    _held: Held,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.own.fetch_sub(1, Ordering::Relaxed);
        self.places.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_server_uses_up_the_places_of_another() {
        let places = Arc::new(Places::new(RESERVE + 160));
        let group = || Group::of(Arc::clone(&places), "test");
        let take_all = |group: &Group| std::iter::from_fn(|| group.take()).collect::<Vec<_>>();
        let [greedy, second, third, modest] = [group(), group(), group(), group()];
        let taken = take_all(&greedy);
        assert_eq!(taken.len(), 80);
        let others = (take_all(&second), take_all(&third));
        assert_eq!((others.0.len(), others.1.len()), (40, 20));
        assert!(modest.take().is_some());
        assert!(greedy.take().is_none());
        // What is given back is there again.
        drop((taken, others));
        assert_eq!(take_all(&modest).len(), 80);
        assert_eq!(places.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn without_files_there_are_no_places() {
        assert!(Group::of(Arc::new(Places::new(10)), "test").take().is_none());
    }
}
