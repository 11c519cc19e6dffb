//! Faults of the drives and of the bus.

use dragoman_io::can::BusFault;

use super::super::fault::{EmergencyLog, Fault};

#[derive(Debug)]
pub(super) struct Faults {
    /// The fault that stopped the drives, until it is acknowledged.
    pub(super) current: Option<Fault>,
    /// The last set-up failure of a drive.
    pub(super) set_up: Option<Fault>,
    pub(super) emergencies: EmergencyLog,
}

impl Default for Faults {
    fn default() -> Self {
        Self { current: None, set_up: None, emergencies: EmergencyLog::new() }
    }
}

#[derive(Debug, Default)]
pub(super) struct BusState {
    pub(super) lost: bool,
    /// The last warning of a bus that still works.
    pub(super) warning: Option<BusFault>,
    /// Number of warnings.
    pub(super) warnings: u64,
}

impl BusState {
    pub(super) fn note(&mut self, fault: &BusFault) {
        match fault {
            BusFault::BusOff | BusFault::Down => self.lost = true,
            BusFault::Up | BusFault::Active => (self.lost, self.warning) = (false, None),
            BusFault::Passive => self.warning = Some(fault.clone()),
            // A minor fault is reported as a warning until the bus has recovered.
            _ => {
                self.warnings += 1;
                if self.warning != Some(BusFault::Passive) {
                    self.warning = Some(fault.clone());
                }
            }
        }
    }
}
