//! Matches with endpoints of other participants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use rustdds::GUID;
use rustdds::dds::statusevents::DomainParticipantStatusEvent as Event;

/// Pairs of our endpoints and matched ones in other participants, from the events of ours.
pub(super) struct Matches {
    own: GUID,
    remotes: BTreeMap<GUID, Match>,
    /// Endpoints of ours that were dropped since the last review, and before it.
    dropped: [Vec<GUID>; 2],
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
        Self { own, remotes: BTreeMap::new(), dropped: Default::default() }
    }

    /// Whether `remote` belongs to our participant.
    pub(super) fn is_own(&self, remote: &GUID) -> bool {
        remote.prefix == self.own.prefix
    }

    /// Notes that our endpoint was dropped. Events of its last matches may still come: they are forgotten with it at the
    /// review after the next.
    pub(super) fn drop_local(&mut self, local: GUID) {
        let [recently, _] = &mut self.dropped;
        recently.push(local);
    }

    /// Forgets endpoints of ours that were dropped before the last review.
    pub(super) fn review(&mut self) {
        let [recently, before] = &mut self.dropped;
        for local in std::mem::replace(before, std::mem::take(recently)) {
            self.remotes.remove(&local);
        }
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
                    "new subscription requests incompatible QoS; no messages will be sent to it"
                );
            }
            Event::RemoteWriterQosIncompatible { requested_qos, offered_qos, .. } => {
                tracing::warn!(
                    ?requested_qos,
                    ?offered_qos,
                    "new publisher offers incompatible QoS; no messages will be received from it"
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

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(number: u8) -> GUID {
        GUID::from_bytes([number; 16])
    }

    #[test]
    fn dropped_endpoints_are_forgotten_with_matches_that_are_reported_late() {
        let mut matches = Matches::new(endpoint(0));
        for number in 1..=100 {
            let local_reader = endpoint(number);
            matches.drop_local(local_reader);
            matches.review();
            matches.observe(&Event::RemoteWriterMatched { local_reader, remote_writer: endpoint(200) });
            matches.review();
            assert_eq!(matches.count(&local_reader), 0);
        }
        assert!(matches.remotes.is_empty());
    }
}
