//! The history of a simulation, as a number.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use crate::executor::{self, lock};

/// Something that has happened: a message, a frame, a datagram, a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Time since the start.
    pub time: Duration,
    /// `message`, `frame`, `log` and the like.
    pub kind: &'a str,
    /// The topic, bus or connection.
    pub name: &'a str,
    /// Its bytes.
    pub content: &'a [u8],
}

type Observer = Box<dyn FnMut(Event<'_>) + Send>;

#[derive(Default)]
pub(crate) struct History {
    hash: DefaultHasher,
    events: u64,
    pub(crate) observer: Option<Observer>,
}

/// A number that is the same for the same histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    /// The hash of all events, with their times.
    pub hash: u64,
    /// Their number.
    pub events: u64,
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x} of {} events", self.hash, self.events)
    }
}

impl History {
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint { hash: self.hash.finish(), events: self.events }
    }
}

/// Adds an event to the history of the lab. In real time there is none.
pub fn note(kind: &str, name: &str, content: &[u8]) {
    executor::with_lab(|executor, lab| {
        let time = executor.passed();
        let mut history = lock(&lab.history);
        history.events += 1;
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        history.hash.write_u64(nanoseconds);
        for part in [kind.as_bytes(), name.as_bytes(), content] {
            history.hash.write_usize(part.len());
            history.hash.write(part);
        }
        if let Some(observer) = &mut history.observer {
            observer(Event { time, kind, name, content });
        }
    });
}
