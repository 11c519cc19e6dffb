//! Health of the DDS library.

use super::{Participant, loop_back};
use crate::health::Fault;

/// Activity of the library's threads, its refusals since the start of the process, and whether it can be reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// Number of loops of the thread that receives and sends, and of the discovery thread. Each completes one at least
    /// every two seconds, so a constant count means that the participant no longer works. Empty in memory.
    pub(crate) turns: Vec<u64>,
    /// Counts of invalid or excessive input by kind, of all participants of the process.
    pub(crate) refused: Vec<(&'static str, u64)>,
    /// Why other participants do not reach this one, or not all of them. Empty in memory.
    pub(crate) faults: Vec<Fault>,
    /// Number of checks for `faults` so far.
    pub(crate) checks: u64,
}

impl Participant {
    /// Takes no lock that is held for long, so that a watchdog does not wait for the watched threads.
    pub(crate) fn health(&self) -> Health {
        let Some(network) = &self.network else { return Health::default() };
        let refused = rustdds::refused::refused();
        let reached = network.loop_back.report();
        Health {
            turns: vec![network.turns.event_loop(), network.turns.discovery()],
            refused: vec![
                ("malformed messages", refused.malformed),
                ("invalid numbers", refused.numbers),
                ("data of unmatched writers", refused.unmatched),
                ("fragments", refused.fragments),
                ("requests for fragments", refused.fragment_requests),
                ("participants", refused.participants),
                ("participants of other domains", refused.domains),
                ("endpoints", refused.endpoints),
                ("long names", refused.names),
                ("datagrams to unconfirmed addresses", refused.destinations),
            ],
            faults: loop_back::faults(&reached),
            checks: reached.rounds,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::super::background::Background;
    use super::super::super::discovery::{Discovery, DiscoveryRange};
    use super::*;

    #[test]
    fn both_threads_of_a_participant_complete_loops() {
        let discovery = Discovery { domain_id: 105, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let background = Background::start().unwrap();
        let participant = Participant::new(&discovery, "/", &background).unwrap();
        let before = participant.health();
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let now = participant.health();
            if before.turns.iter().zip(&now.turns).all(|(before, now)| now > before) {
                break;
            }
            assert!(Instant::now() < end, "{before:?} {now:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let names: std::collections::BTreeSet<_> = before.refused.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), before.refused.len());
    }
}
