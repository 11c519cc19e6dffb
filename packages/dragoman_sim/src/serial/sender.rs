//! The sending half of a device's line, and its faults.

use std::collections::VecDeque;
use std::time::Duration;

use oorandom::Rand64;

/// Maximum number of waiting packets; then the oldest is lost.
pub(crate) const MAX_PACKETS: usize = 16;

/// The sending half of a device's line.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    packets: VecDeque<Vec<u8>>,
    random: Rand64,
    /// Fraction of the packets with a changed byte.
    corrupted: f64,
    silent_until: Option<Duration>,
}

impl Sender {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Rand64::new(seed.into());
        Self { packets: VecDeque::new(), random, corrupted: 0.0, silent_until: None }
    }

    /// Sends a packet, unless a fault suppresses it.
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

    /// The next packet to send.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        self.packets.pop_front()
    }

    /// Sends nothing until this time.
    pub(crate) fn silence(&mut self, until: Duration) {
        self.silent_until = Some(until);
    }

    /// Sends this number of random bytes.
    pub(crate) fn garbage(&mut self, now: Duration, count: usize) {
        let bytes = (0..count).map(|_| self.random.rand_u64() as u8).collect();
        self.send(now, bytes);
    }

    /// From now on changes a random byte in this fraction of the packets, 0 to 1.
    pub(crate) fn corrupt(&mut self, share: f64) {
        self.corrupted = share;
    }

    /// Discards waiting packets, and ends the silence.
    pub(crate) fn restart(&mut self) {
        self.packets.clear();
        self.silent_until = None;
    }
}
