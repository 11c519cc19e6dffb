//! Data that the base sends only on request.

use super::Event;
use crate::kobuki::wire::{
    ControllerGains, Feedback, FirmwareVersion, HardwareVersion, RequestFlags, UniqueDeviceId,
};

/// Data that the base sends only on request; requested again on every connection.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Identity {
    /// The version of its hardware.
    pub hardware: Option<HardwareVersion>,
    /// The version of its firmware.
    pub firmware: Option<FirmwareVersion>,
    /// The unique id of the base.
    pub unique_id: Option<UniqueDeviceId>,
    /// Gains of its controller.
    pub gains: Option<ControllerGains>,
}

impl Identity {
    /// Stores a part of it; returns the resulting event.
    pub(super) fn take(&mut self, feedback: &Feedback) -> Option<Event> {
        let known = self.missing().is_empty();
        match feedback {
            Feedback::HardwareVersion(version) => self.hardware = Some(*version),
            Feedback::FirmwareVersion(version) => self.firmware = Some(*version),
            Feedback::UniqueDeviceId(id) => self.unique_id = Some(*id),
            Feedback::ControllerGains(gains) => {
                self.gains = Some(*gains);
                return Some(Event::Gains(*gains));
            }
            _ => {}
        }
        (!known && self.missing().is_empty()).then_some(Event::Identified)
    }

    /// The parts not yet received, except the gains.
    pub(super) fn missing(&self) -> RequestFlags {
        let mut missing = RequestFlags::empty();
        missing.set(RequestFlags::HARDWARE_VERSION, self.hardware.is_none());
        missing.set(RequestFlags::FIRMWARE_VERSION, self.firmware.is_none());
        missing.set(RequestFlags::UNIQUE_DEVICE_ID, self.unique_id.is_none());
        missing
    }
}
