//! Matches with endpoints of other participants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use rustdds::GUID;
use rustdds::dds::statusevents::DomainParticipantStatusEvent as Event;

/// Pairs of our endpoints and matched ones in other participants, from the events of ours.
pub(super) struct Matches {
    own: GUID,
    remotes: BTreeMap<GUID, Match>,
}

#[derive(Default)]
struct Match {
    remotes: BTreeSet<GUID>,
    since: Option<Instant>,
    generation: u64,
}

impl Matches {
    /// No matches; `own` is our participant.
    pub(super) fn new(own: GUID) -> Self {
        Self { own, remotes: BTreeMap::new() }
    }

    /// Whether `remote` belongs to our participant.
    pub(super) fn is_own(&self, remote: &GUID) -> bool {
        remote.prefix == self.own.prefix
    }

    pub(super) fn observe(&mut self, event: &Event) {
        match event {
            Event::RemoteReaderMatched { local_writer, remote_reader } => {
                self.add(*local_writer, *remote_reader)
            }
            Event::RemoteWriterMatched { local_reader, remote_writer } => {
                self.add(*local_reader, *remote_writer)
            }
            Event::ReaderLost { guid, .. } | Event::WriterLost { guid, .. } => {
                self.remotes.remove(guid);
                self.retain(|remote| remote != guid);
            }
            Event::ParticipantLost { id, .. } => self.retain(|remote| remote.prefix != *id),
            Event::RemoteReaderQosIncompatible { requested_qos, offered_qos, .. } => {
                tracing::warn!(
                    ?requested_qos,
                    ?offered_qos,
                    "a subscription requests an incompatible quality of service"
                );
            }
            Event::RemoteWriterQosIncompatible { requested_qos, offered_qos, .. } => {
                tracing::warn!(
                    ?requested_qos,
                    ?offered_qos,
                    "a publisher offers an incompatible quality of service"
                );
            }
            _ => {}
        }
    }

    fn add(&mut self, local: GUID, remote: GUID) {
        if self.is_own(&remote) {
            return;
        }
        let entry = self.remotes.entry(local).or_default();
        if entry.remotes.insert(remote) {
            entry.generation += 1;
            entry.since.get_or_insert_with(dragoman_time::now);
        }
    }

    fn retain(&mut self, keep: impl Fn(&GUID) -> bool) {
        for entry in self.remotes.values_mut() {
            entry.remotes.retain(&keep);
            if entry.remotes.is_empty() {
                entry.since = None;
            }
        }
    }

    pub(super) fn has(&self, local: &GUID, remote: &GUID) -> bool {
        self.remotes.get(local).is_some_and(|entry| entry.remotes.contains(remote))
    }

    /// Whether `local` is matched with an endpoint of the participant of `remote`.
    pub(super) fn has_one_beside(&self, local: &GUID, remote: &GUID) -> bool {
        let beside = |entry: &Match| entry.remotes.iter().any(|other| other.prefix == remote.prefix);
        self.remotes.get(local).is_some_and(beside)
    }

    pub(super) fn count(&self, local: &GUID) -> usize {
        self.remotes.get(local).map_or(0, |entry| entry.remotes.len())
    }

    pub(super) fn generation(&self, local: &GUID) -> u64 {
        self.remotes.get(local).map_or(0, |entry| entry.generation)
    }

    pub(super) fn since(&self, local: &GUID) -> Option<Instant> {
        self.remotes.get(local).and_then(|entry| entry.since)
    }
}
