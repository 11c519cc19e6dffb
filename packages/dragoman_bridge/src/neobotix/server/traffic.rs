//! Data rates of a connection.

use std::time::Duration;

use super::super::wire::TcpStatistics;

/// Rates are averages over the last complete period.
const PERIOD: Duration = Duration::from_secs(1);

/// Counts bytes and messages.
#[derive(Debug)]
pub(super) struct Traffic {
    since: Duration,
    now: Counts,
    before: TcpStatistics,
}

#[derive(Debug, Default)]
struct Counts {
    received_bytes: usize,
    sent_bytes: usize,
    received_telegrams: usize,
    sent_telegrams: usize,
}

impl Traffic {
    pub(super) fn new(now: Duration) -> Self {
        Self { since: now, now: Counts::default(), before: TcpStatistics::default() }
    }

    pub(super) fn receive(&mut self, now: Duration, bytes: usize) {
        self.turn(now);
        self.now.received_bytes += bytes;
    }

    pub(super) fn receive_telegram(&mut self, now: Duration) {
        self.turn(now);
        self.now.received_telegrams += 1;
    }

    pub(super) fn send_telegram(&mut self, now: Duration, bytes: usize) {
        self.turn(now);
        self.now.sent_bytes += bytes;
        self.now.sent_telegrams += 1;
    }

    /// The protocol has times and shares in whole seconds and percent; these are left 0.
    pub(super) fn statistics(&mut self, now: Duration) -> TcpStatistics {
        self.turn(now);
        self.before
    }

    fn turn(&mut self, now: Duration) {
        let elapsed = now.saturating_sub(self.since);
        if elapsed < PERIOD {
            return;
        }
        let rate = |count: usize| (count as f64 / elapsed.as_secs_f64()).round() as i32;
        self.before = TcpStatistics {
            received_bytes_per_s: rate(self.now.received_bytes),
            sent_bytes_per_s: rate(self.now.sent_bytes),
            received_telegrams_per_s: rate(self.now.received_telegrams),
            sent_telegrams_per_s: rate(self.now.sent_telegrams),
            ..TcpStatistics::default()
        };
        (self.now, self.since) = (Counts::default(), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_last_period() {
        let at = Duration::from_millis;
        let mut traffic = Traffic::new(at(500));
        traffic.receive(at(600), 300);
        traffic.receive_telegram(at(600));
        traffic.send_telegram(at(700), 1000);
        assert_eq!(traffic.statistics(at(1400)), TcpStatistics::default());
        let rates = TcpStatistics {
            received_bytes_per_s: 150,
            sent_bytes_per_s: 500,
            received_telegrams_per_s: 1,
            sent_telegrams_per_s: 1,
            ..TcpStatistics::default()
        };
        assert_eq!(traffic.statistics(at(2500)), rates);
        // A clock that runs backwards is harmless.
        assert_eq!(traffic.statistics(at(0)), rates);
        assert_eq!(traffic.statistics(at(3500)), TcpStatistics::default());
    }
}
