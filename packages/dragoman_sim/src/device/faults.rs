//! Faults of a simulated drive.

use std::time::Duration;

/// A fault to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A short power failure: the drive boots, and has lost its configuration and its count.
    PowerCycle,
    /// It neither sends nor receives.
    Silent,
    /// Answers and process data are delayed by this time.
    AnswerLate(Duration),
    /// The motor is switched off without a message.
    ExitEnabled,
    /// A continuous stream of emergencies.
    EmergencyStorm {
        /// Rate, 1/s.
        per_second: u32,
    },
    /// Accesses to this object are refused.
    SdoAbort(u16),
    /// Accesses to objects are not answered.
    IgnoreSdo,
}

/// A text is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a fault; use power-cycle, silent, exit-enabled, ignore-sdo, late=MS, storm=PER_SECOND or \
     sdo-abort=INDEX (hexadecimal)"
)]
pub struct ParseFaultError(String);

/// Syntax of the command line.
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

/// The active faults.
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

    /// Number of emergencies that have become due until `now`.
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
