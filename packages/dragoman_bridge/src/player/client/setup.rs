//! The steps after connecting, one request after the other.

use std::collections::VecDeque;
use std::time::Duration;

use super::data;
use super::{Client, ClientEvent, DeviceInfo, DeviceState, Pull, Purpose, Refusal, SERVER};
use crate::player::wire::player::{self, Driver, ReplaceRule, Subscription};
use crate::player::wire::{Address, Answer, BodyError, Device, MessageKind, Xdr};

/// Any device, kind or subtype in a rule.
const ANY: i32 = -1;
/// Replacement rule: newer data replaces older.
const REPLACE: i32 = 1;

/// A step with one request. Numbers are indices in the list of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Mode,
    /// In mode pull: newer data replaces older.
    Replace,
    Devices,
    Driver(usize),
    Subscribe(usize),
    /// A question about geometry or configuration.
    Question(usize, u8),
}

/// The remaining steps, and the devices known so far.
#[derive(Debug, Default)]
pub(super) struct Setup {
    steps: VecDeque<Step>,
    is_waiting: bool,
    pulls: bool,
    /// Whether a device was opened or refused since the last report.
    has_news: bool,
    retry: Option<Duration>,
    pub(super) devices: Vec<DeviceInfo>,
}

impl Setup {
    pub(super) fn begin(&mut self, pulls: bool) {
        self.pulls = pulls;
        self.steps.push_back(Step::Mode);
        if pulls {
            self.steps.push_back(Step::Replace);
        }
        self.steps.push_back(Step::Devices);
    }

    pub(super) fn device(&self, device: Device) -> Option<&DeviceInfo> {
        self.devices.iter().find(|info| info.device == device)
    }

    /// When refused devices are tried again.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Adds the steps for trying refused devices again, if that is due. Returns whether steps were added.
    pub(super) fn retry_is_due(&mut self, now: Duration) -> bool {
        if self.retry.take_if(|retry| *retry <= now).is_none() {
            return false;
        }
        for (place, info) in self.devices.iter().enumerate() {
            if matches!(info.state, DeviceState::Refused(_)) {
                self.steps.push_back(Step::Subscribe(place));
            }
        }
        true
    }
}

impl Client {
    /// Sends the next request of the setup, if none is open.
    pub(super) fn advance(&mut self, now: Duration) {
        if self.setup.is_waiting {
            return;
        }
        let Some(step) = self.setup.steps.pop_front() else { return self.finish(now) };
        let place = match step {
            Step::Driver(place) | Step::Subscribe(place) | Step::Question(place, _) => place,
            Step::Mode | Step::Replace | Step::Devices => 0,
        };
        let device = self.setup.devices.get(place).map_or(SERVER, |info| info.device);
        let address = Address { host: 0, robot: 0, device };
        let (receiver, subtype, question) = match step {
            Step::Mode => {
                let mode = if self.setup.pulls { player::PULL } else { player::PUSH };
                (SERVER, player::MODE.subtype, mode.to_bytes())
            }
            Step::Replace => {
                let kind = i32::from(MessageKind::Data as u8);
                let rule = ReplaceRule { interface: ANY, index: ANY, kind, subtype: ANY, replace: REPLACE };
                (SERVER, player::REPLACE_RULE.subtype, rule.to_bytes())
            }
            Step::Devices => (SERVER, player::DEVICES.subtype, Vec::new()),
            Step::Driver(_) => {
                (SERVER, player::DRIVER.subtype, Driver { address, name: String::new() }.to_bytes())
            }
            Step::Subscribe(_) => {
                let subscription = Subscription { address, access: player::OPEN, driver: String::new() };
                (SERVER, player::SUBSCRIBE.subtype, subscription.to_bytes())
            }
            Step::Question(_, subtype) => (device, subtype, Vec::new()),
        };
        self.setup.is_waiting = true;
        self.ask(now, receiver, subtype, &question, Purpose::Setup(step));
    }

    /// A request of the setup has ended.
    pub(super) fn conclude_step(&mut self, now: Duration, step: Step, answer: Result<&[u8], Refusal>) {
        self.setup.is_waiting = false;
        match step {
            // Servers that refuse support only one mode, or no replacement of messages.
            Step::Mode | Step::Replace => {}
            Step::Devices => {
                let list = answer.and_then(|answer| player::DEVICES.answer(answer).map_err(Refusal::Invalid));
                match list {
                    Ok(list) => self.list(&list),
                    Err(refusal) => {
                        let reason = format!("the server does not tell its devices: {refusal}");
                        return self.give_up_connection(now, &reason);
                    }
                }
            }
            Step::Driver(place) => {
                let driver = answer.ok().and_then(|answer| player::DRIVER.answer(answer).ok());
                if let (Some(info), Some(driver)) = (self.setup.devices.get_mut(place), driver) {
                    info.driver = driver.name;
                }
            }
            Step::Subscribe(place) => self.subscribed(place, answer),
            Step::Question(place, subtype) => self.answered(place, subtype, answer),
        }
        self.advance(now);
    }

    fn list(&mut self, list: &[Address]) {
        self.pause = self.config.reconnect_min;
        for Address { device, .. } in list {
            let setup = &mut self.setup;
            let is_further = setup.devices.len() < self.config.max_devices;
            if !is_further || *device == SERVER || setup.device(*device).is_some() {
                continue;
            }
            let place = setup.devices.len();
            let is_shown = data::is_shown(device.interface);
            setup.steps.push_back(Step::Driver(place));
            if is_shown {
                setup.steps.push_back(Step::Subscribe(place));
            }
            let state = if is_shown { DeviceState::Refused(Refusal::NotOpen) } else { DeviceState::NotShown };
            let (driver, facts) = (String::new(), Vec::new());
            setup.devices.push(DeviceInfo { device: *device, driver, state, facts });
        }
        self.setup.has_news = true;
    }

    fn subscribed(&mut self, place: usize, answer: Result<&[u8], Refusal>) {
        let granted =
            answer.and_then(|answer| player::SUBSCRIBE.answer(answer).map_err(Refusal::Invalid)).and_then(
                |answer| if answer.access == player::OPEN { Ok(answer) } else { Err(Refusal::Refused) },
            );
        let Some(info) = self.setup.devices.get_mut(place) else { return };
        let device = info.device;
        match granted {
            Ok(answer) => {
                if !answer.driver.is_empty() {
                    info.driver = answer.driver;
                }
                info.state = DeviceState::Open;
                info.facts.clear();
                self.setup.has_news = true;
                for subtype in data::questions(device.interface).iter().rev() {
                    self.setup.steps.push_front(Step::Question(place, *subtype));
                }
            }
            Err(refusal) => {
                let is_known = info.state == DeviceState::Refused(refusal.clone());
                info.state = DeviceState::Refused(refusal.clone());
                if !is_known {
                    self.setup.has_news = true;
                    self.problem(device, &format!("the device is not open: {refusal}"));
                }
            }
        }
    }

    fn answered(&mut self, place: usize, subtype: u8, answer: Result<&[u8], Refusal>) {
        let Some(info) = self.setup.devices.get_mut(place) else { return };
        let device = info.device;
        // Many drivers refuse: what they do not report is unknown.
        let Ok(answer) = answer else { return };
        match Answer::read(device.interface, subtype, answer) {
            Ok(fact) => info.facts.push(fact),
            Err(BodyError::Malformed { error, .. }) => {
                self.invalid(device, &format!("invalid answer {subtype}: {error}"));
            }
            Err(BodyError::Unknown { .. }) => {}
        }
    }

    /// Ends the setup after its last step.
    fn finish(&mut self, now: Duration) {
        let refused = |info: &DeviceInfo| matches!(info.state, DeviceState::Refused(_));
        if self.setup.devices.iter().any(refused) {
            self.setup.retry = now.checked_add(self.config.retry_period);
        }
        if !std::mem::take(&mut self.setup.has_news) {
            return;
        }
        self.events.push_back(ClientEvent::Devices(self.setup.devices.clone()));
        if self.setup.pulls && self.pull.is_none() {
            self.pull = Some(Pull::Due(now));
            self.pull(now);
        }
        // The receiver of new devices needs their maps as well, also if they have not changed.
        self.known.clear();
        self.read_maps(now, true);
    }
}
