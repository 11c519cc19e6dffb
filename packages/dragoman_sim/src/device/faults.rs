//! What can be made to go wrong with a simulated drive.

use std::time::Duration;

/// A fault to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The power fails for a moment: the drive boots, and has lost its set-up and its count.
    PowerCycle,
    /// It neither sends nor takes anything any more.
    Silent,
    /// Answers and process data come this much later.
    AnswerLate(Duration),
    /// The motor goes off, and nobody is told.
    ExitEnabled,
    /// Emergencies come without end.
    EmergencyStorm {
        /// How many in a second.
        per_second: u32,
    },
    /// Accesses to this object are refused.
    SdoAbort(u16),
    /// Accesses to objects are not answered.
    IgnoreSdo,
}

/// Why a text names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no fault; there are power-cycle, silent, exit-enabled, ignore-sdo, late=MS, storm=PER_SECOND and \
     sdo-abort=INDEX (hexadecimal)"
)]
pub struct ParseFaultError(String);

/// As one gives it on the command line.
impl std::str::FromStr for Fault {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let fault = match (name, value) {
            ("power-cycle", "") => Some(Self::PowerCycle),
            ("silent", "") => Some(Self::Silent),
            ("exit-enabled", "") => Some(Self::ExitEnabled),
            ("ignore-sdo", "") => Some(Self::IgnoreSdo),
            ("late", ms) => ms.parse().ok().map(|ms| Self::AnswerLate(Duration::from_millis(ms))),
            ("storm", rate) => rate.parse().ok().map(|per_second| Self::EmergencyStorm { per_second }),
            ("sdo-abort", index) => {
                u16::from_str_radix(index.trim_start_matches("0x"), 16).ok().map(Self::SdoAbort)
            }
            _ => None,
        };
        fault.ok_or_else(|| ParseFaultError(text.to_owned()))
    }
}

/// The faults that last.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) is_silent: bool,
    pub(super) ignores_sdo: bool,
    pub(super) refused_object: Option<u16>,
    pub(super) delay: Duration,
    pub(super) storm: Option<Storm>,
}

/// Emergencies at a rate, in bursts of a millisecond.
#[derive(Debug)]
pub(super) struct Storm {
    per_second: u32,
    started: Duration,
    sent: u64,
    pub(super) next: Duration,
}

const BURST: Duration = Duration::from_millis(1);

impl Storm {
    pub(super) fn new(now: Duration, per_second: u32) -> Self {
        Self { per_second, started: now, sent: 0, next: now + BURST }
    }

    /// How many are due at `now`, beyond those that were.
    pub(super) fn take(&mut self, now: Duration) -> u64 {
        if now < self.next {
            return 0;
        }
        self.next = now + BURST;
        let elapsed = now.saturating_sub(self.started).as_secs_f64();
        let due = (elapsed * f64::from(self.per_second)) as u64;
        let count = due.saturating_sub(self.sent);
        self.sent = due;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_the_command_line() {
        for (text, fault) in [
            ("silent", Fault::Silent),
            ("late=25", Fault::AnswerLate(Duration::from_millis(25))),
            ("storm=10000", Fault::EmergencyStorm { per_second: 10_000 }),
            ("sdo-abort=0x1017", Fault::SdoAbort(0x1017)),
        ] {
            assert_eq!(text.parse(), Ok(fault));
        }
        for text in ["", "late", "late=-1", "storm=x", "sdo-abort=10000", "silent=1"] {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }
}
