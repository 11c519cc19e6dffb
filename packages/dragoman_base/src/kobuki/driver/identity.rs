//! What the base tells only when asked.

use super::Event;
use crate::kobuki::wire::{
    ControllerGains, Feedback, FirmwareVersion, HardwareVersion, RequestFlags, UniqueDeviceId,
};

/// What the base tells only when asked; asked anew on every connection.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Identity {
    /// The version of its hardware.
    pub hardware: Option<HardwareVersion>,
    /// The version of its firmware.
    pub firmware: Option<FirmwareVersion>,
    /// What tells it from every other base.
    pub unique_id: Option<UniqueDeviceId>,
    /// Gains of its controller.
    pub gains: Option<ControllerGains>,
}

impl Identity {
    /// Takes what is part of it; what is to be told of that.
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

    /// What has not been told yet, without the gains.
    pub(super) fn missing(&self) -> RequestFlags {
        let mut missing = RequestFlags::empty();
        missing.set(RequestFlags::HARDWARE_VERSION, self.hardware.is_none());
        missing.set(RequestFlags::FIRMWARE_VERSION, self.firmware.is_none());
        missing.set(RequestFlags::UNIQUE_DEVICE_ID, self.unique_id.is_none());
        missing
    }
}
