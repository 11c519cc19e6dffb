//! The history of a simulation, as a number.

use std::fmt;
use std::time::Duration;

use crate::executor;

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
    hash: Hash,
    events: u64,
    pub(crate) observer: Option<Observer>,
}

/// A hash that does not depend on the version of the standard library: FNV-1a over words of eight bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hash(pub(crate) u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hash {
    pub(crate) fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01B3);
        // The low bits depend on the high ones as well.
        self.0 ^= self.0 >> 32;
    }

    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            self.add(u64::from_le_bytes(word));
        }
    }
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
        Fingerprint { hash: self.hash.0, events: self.events }
    }
}

/// Adds an event to the history of the lab. In real time there is none.
pub fn note(kind: &str, name: &str, content: &[u8]) {
    executor::with_lab(|executor, lab| {
        let time = executor.passed();
        let mut history = lab.history.lock();
        history.events += 1;
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        history.hash.add(nanoseconds);
        for part in [kind.as_bytes(), name.as_bytes(), content] {
            history.hash.add_bytes(part);
        }
        if let Some(observer) = &mut history.observer {
            observer(Event { time, kind, name, content });
        }
    });
}
