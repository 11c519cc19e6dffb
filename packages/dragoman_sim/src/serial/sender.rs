//! What a device has to send, and what can go wrong with it.

use std::collections::VecDeque;
use std::time::Duration;

use oorandom::Rand64;

/// Packets that wait to be fetched; then the oldest is lost.
pub(crate) const MAX_PACKETS: usize = 16;

/// The sending half of a device's line.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    packets: VecDeque<Vec<u8>>,
    random: Rand64,
    /// Share of the packets in which a byte is changed.
    corrupted: f64,
    silent_until: Option<Duration>,
}

impl Sender {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Rand64::new(seed.into());
        Self { packets: VecDeque::new(), random, corrupted: 0.0, silent_until: None }
    }

    /// Sends a packet, if nothing is wrong with the line.
    pub(crate) fn send(&mut self, now: Duration, mut packet: Vec<u8>) {
        if self.silent_until.is_some_and(|end| now <= end) {
            return;
        }
        if self.corrupted > 0.0 && self.random.rand_float() < self.corrupted {
            let at = self.random.rand_range(0..packet.len().max(1) as u64);
            let change = self.random.rand_range(1..256) as u8;
            if let Some(byte) = packet.get_mut(at as usize) {
                *byte ^= change;
            }
        }
        if self.packets.len() == MAX_PACKETS {
            self.packets.pop_front();
        }
        self.packets.push_back(packet);
    }

    /// What is sent next.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        self.packets.pop_front()
    }

    /// Says nothing up to this time.
    pub(crate) fn silence(&mut self, until: Duration) {
        self.silent_until = Some(until);
    }

    /// Sends so many random bytes.
    pub(crate) fn garbage(&mut self, now: Duration, count: usize) {
        let bytes = (0..count).map(|_| self.random.rand_u64() as u8).collect();
        self.send(now, bytes);
    }

    /// From now on changes a random byte in this share of the packets, 0 to 1.
    pub(crate) fn corrupt(&mut self, share: f64) {
        self.corrupted = share;
    }

    /// Forgets what waits; it is not silent any more.
    pub(crate) fn restart(&mut self) {
        self.packets.clear();
        self.silent_until = None;
    }
}
