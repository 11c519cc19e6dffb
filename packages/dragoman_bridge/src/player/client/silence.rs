//! Devices of Stage that fall silent: they are opened again.
//!
//! Stage stops a device's data for all clients as soon as one of them closes it. Whoever opens it again gets its data.
//! Only devices of Stage are treated like this: closing others may stop a driver that has nothing to tell, such as a
//! localization whose robot stands.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Client, Link, Purpose, SERVER};
use crate::player::wire::player::{self, Subscription};
use crate::player::wire::{Address, Device, Xdr};

/// The name of Stage's driver.
const STAGE: &str = "stage";

/// Devices of Stage that have sent data, and when they count as silent.
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
    pub(super) fn note_data(&mut self, now: Duration, device: Device) {
        let is_of_stage = self.setup.device(device).is_some_and(|info| info.driver == STAGE);
        if is_of_stage && !self.unwanted.contains(&device) {
            self.silences.0.insert(device, now.saturating_add(self.config.silence_timeout));
        }
    }

    /// Opens the devices again that have fallen silent.
    pub(super) fn open_silent(&mut self, now: Duration) {
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

    /// Opens or closes a device at the server; in the list of devices it stays open.
    pub(super) fn change_access(&mut self, now: Duration, device: Device, access: u8) {
        let address = Address { host: 0, robot: 0, device };
        let subscription = Subscription { address, access, driver: String::new() };
        let (subtype, purpose) = (player::SUBSCRIBE.subtype, Purpose::Interest(device));
        self.ask(now, SERVER, subtype, &subscription.to_bytes(), purpose);
    }
}
