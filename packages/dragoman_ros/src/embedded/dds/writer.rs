//! Writers of serialized samples.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::memory::Memory;
use super::network_writer::NetworkWriter;
use super::postponed::Postponed;
use super::{Endpoint, Guid, Participant, Peer, Sample, SampleId, WRITER};
use crate::embedded::background::Spawner;
use crate::embedded::cdr::Encoding;
use crate::embedded::error::Result;
use crate::embedded::local::Outlet;

impl Participant {
    pub(crate) fn writer(&self, endpoint: Endpoint<'_>) -> Result<Arc<Writer>> {
        let outlet = self.local.writer(endpoint.topic, endpoint.type_name, endpoint.qos);
        let network = match &self.network {
            Some(network) => {
                let outlet = Arc::clone(&outlet);
                Some(NetworkWriter::new(network, self.spawner.clone(), endpoint, outlet)?)
            }
            None => None,
        };
        let guid = network.as_ref().map_or_else(|| self.next_guid(WRITER), |writer| writer.guid());
        outlet.identify(guid);
        Ok(Arc::new(Writer {
            topic: endpoint.topic.to_owned(),
            guid,
            outlet,
            unsent: Mutex::new(0),
            memory: self.local.memories.add(),
            spawner: self.spawner.clone(),
            network,
        }))
    }
}

/// A writer of serialized samples. It waits neither for its readers nor for the network. The one exception is a writer
/// that keeps all samples, whose readers slow it down, as DDS defines; none of our nodes has one.
pub(crate) struct Writer {
    topic: String,
    /// Its id in memory.
    guid: Guid,
    outlet: Arc<Outlet>,
    /// Number of samples delivered within this process only. Locked while a sample is written.
    unsent: Mutex<i64>,
    memory: Memory,
    spawner: Spawner,
    network: Option<Arc<NetworkWriter>>,
}

/// Samples within the process are numbered from here, so that numbers are unique.
const FIRST_UNSENT: i64 = 1 << 40;

impl Writer {
    /// An empty vector for the next payload, with the memory of an earlier one.
    pub(crate) fn room(&self) -> Vec<u8> {
        self.memory.take()
    }

    /// Writes one sample; `related` is the request that a reply answers.
    ///
    /// # Errors
    /// Readers in other processes lag so far that they do not get it; those of this process do.
    pub(crate) fn write(&self, payload: Vec<u8>, related: Option<SampleId>) -> Result<SampleId> {
        let payload = self.memory.lend(payload);
        if let Some(network) = &self.network {
            network.wait_for_room();
        }
        let mut unsent = self.unsent.lock();
        let source_time = u64::try_from(dragoman_time::wall_time().as_nanos()).ok();
        let unsent_id = |unsent: i64| SampleId { writer: self.guid(), sequence: FIRST_UNSENT + unsent };
        // Its number follows.
        let id = SampleId { writer: self.guid, sequence: FIRST_UNSENT };
        let mut sample = Sample { payload, encoding: Encoding::LittleEndian, id, related, source_time };
        let id = self.network.as_ref().and_then(|network| network.write(&sample)).unwrap_or_else(|| {
            *unsent += 1;
            Ok(unsent_id(*unsent))
        });
        sample.id = id.as_ref().map_or_else(|_| unsent_id(*unsent), |id| *id);
        dragoman_time::note("message", &self.topic, &sample.payload);
        self.outlet.deliver(&sample);
        id
    }

    pub(crate) fn guid(&self) -> Guid {
        self.network.as_ref().map_or(self.guid, |network| network.guid())
    }

    /// Makes all writes wait until the returned value is dropped.
    #[cfg(test)]
    pub(crate) fn stall(&self) -> impl Drop {
        self.unsent.lock()
    }

    /// Number of matched readers. Without any, the memory that is kept for the next sample is given back.
    pub(crate) fn matched(&self) -> usize {
        let elsewhere = self.network.as_ref().map_or(0, |network| network.matched());
        let matched = elsewhere + self.outlet.readers();
        if matched == 0 {
            self.memory.give_back();
        }
        matched
    }

    /// Whether a reader is matched.
    pub(crate) fn is_matched(&self, reader: Peer) -> bool {
        self.network.as_ref().is_none_or(|network| network.is_matched(reader))
    }

    /// As [`write`](Self::write), for one reader that may not be matched yet: the sample waits for that, but the caller
    /// does not.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) fn write_to(
        self: &Arc<Self>,
        reader: Peer,
        payload: Vec<u8>,
        related: Option<SampleId>,
    ) -> Result<()> {
        match &self.network {
            Some(network) if !network.is_matched(reader) => {
                let writer = Arc::clone(self);
                network.postponed.add(Postponed { writer, reader, payload, related }, &self.spawner);
                Ok(())
            }
            _ => self.write(payload, related).map(|_id| ()),
        }
    }

    /// Age of the oldest match; readers of this context count as old.
    pub(crate) fn matched_for(&self) -> Option<Duration> {
        if self.outlet.readers() > 0 {
            return Some(Duration::MAX);
        }
        self.network.as_ref().and_then(|network| network.matched_for())
    }
}
