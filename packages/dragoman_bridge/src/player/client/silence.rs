//! Opens devices of Stage again that have stopped sending data.
//!
//! Stage stops a device's data for all clients as soon as one of them closes it. A client that opens it again gets the
//! data. This is only done for devices of Stage. Other drivers send no data while nothing changes, for example a
//! localization whose robot stands, and closing their device may stop them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Client, Link};
use crate::player::wire::{Device, player};

/// The name of Stage's driver.
const STAGE: &str = "stage";

/// Devices of Stage that have sent data, each with the time at which it counts as silent.
#[derive(Debug, Default)]
pub(super) struct Silences(BTreeMap<Device, Duration>);

impl Silences {
    /// When the next device counts as silent.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.0.values().min().copied()
    }

    /// The device is closed, or its data is not wanted.
    pub(super) fn forget(&mut self, device: Device) {
        self.0.remove(&device);
    }
}

impl Client {
    /// Data of an open device was received.
    pub(super) fn record_data(&mut self, now: Duration, device: Device) {
        let is_of_stage = self.setup.device(device).is_some_and(|info| info.driver == STAGE);
        if is_of_stage && !self.unwanted.contains(&device) {
            self.silences.0.insert(device, now.saturating_add(self.config.silence_timeout));
        }
    }

    /// Opens silent devices again.
    pub(super) fn reopen_silent_devices(&mut self, now: Duration) {
        let next = now.saturating_add(self.config.silence_timeout);
        let mut silent = Vec::new();
        for (device, due) in &mut self.silences.0 {
            if *due <= now {
                *due = next;
                silent.push(*device);
            }
        }
        for device in silent {
            if self.link != Link::Up {
                return;
            }
            self.problem(device, "the device sends no data any more; it is opened again");
            for access in [player::CLOSE, player::OPEN] {
                self.change_access(now, device, access);
            }
        }
    }
}
