//! Requests: their order, time limits and answers.

use std::time::Duration;

use super::setup::Step;
use super::{Client, ClientEvent, Refusal, SERVER};
use crate::CallId;
use crate::player::wire::{Device, HEADER_LEN, Header, Message, MessageKind, player};

/// Device and subtype, which match an answer with its request.
pub(super) type Key = (Device, u8);

/// A request without an answer yet.
#[derive(Debug)]
pub(super) struct OpenRequest {
    sequence: u32,
    /// `None`: it has timed out.
    purpose: Option<Purpose>,
    deadline: Duration,
}

/// A request that waits for the answer to another one.
#[derive(Debug)]
pub(super) struct WaitingRequest {
    key: Key,
    question: Vec<u8>,
    purpose: Purpose,
    deadline: Duration,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Call(CallId),
    Setup(Step),
    Map,
    /// Opens a device whose data is needed again, or closes a device whose data is not needed.
    Interest(Device),
    /// Checks whether the server answers.
    Probe,
}

impl Client {
    /// Purposes of all requests without an outcome.
    pub(super) fn purposes(&self) -> impl Iterator<Item = Purpose> {
        let waiting = self.waiting.iter().map(|waiting| waiting.purpose);
        self.open.values().filter_map(|open| open.purpose).chain(waiting)
    }

    /// When requests time out.
    pub(super) fn deadlines(&self) -> impl Iterator<Item = Duration> {
        let waiting = self.waiting.iter().map(|waiting| waiting.deadline);
        self.open.values().map(|open| open.deadline).chain(waiting)
    }

    pub(super) fn is_probing(&self) -> bool {
        self.purposes().any(|purpose| purpose == Purpose::Probe)
    }

    /// Sends a request, or lets it wait for the answer to another one.
    pub(super) fn ask(
        &mut self,
        now: Duration,
        device: Device,
        subtype: u8,
        question: &[u8],
        purpose: Purpose,
    ) {
        if self.unsent.len().saturating_add(HEADER_LEN + question.len()) > self.config.max_unsent {
            if let Purpose::Call(id) = purpose {
                let outcome = Err(Refusal::NotConnected);
                self.events.push_back(ClientEvent::Result { id, outcome });
            }
            // A request that has waited this long must not be carried out later.
            return self.give_up_connection(now, "the server does not read");
        }
        let key = (device, subtype);
        if self.open.contains_key(&key) {
            // Time for the previous request's answer, after a time-out once more, and for this request's answer.
            let deadline = now.saturating_add(self.limit(purpose).saturating_mul(3));
            self.waiting.push_back(WaitingRequest { key, question: question.to_vec(), purpose, deadline });
            return;
        }
        // Messages without an answer have number 0.
        self.sequence = self.sequence.checked_add(1).unwrap_or(1);
        self.statistics.requests += 1;
        let deadline = now.saturating_add(self.limit(purpose));
        self.open.insert(key, OpenRequest { sequence: self.sequence, purpose: Some(purpose), deadline });
        self.send(device, MessageKind::Request, subtype, self.sequence, question);
    }

    fn limit(&self, purpose: Purpose) -> Duration {
        match purpose {
            Purpose::Setup(Step::Subscribe(_)) | Purpose::Interest(_) => self.config.subscription_timeout,
            _ => self.config.answer_timeout,
        }
    }

    /// Sends the waiting requests that no longer have to wait.
    pub(super) fn send_waiting(&mut self, now: Duration) {
        for _ in 0..self.waiting.len() {
            let Some(waiting) = self.waiting.pop_front() else { return };
            let (device, subtype) = waiting.key;
            if self.open.contains_key(&waiting.key) {
                self.waiting.push_back(waiting);
            } else {
                self.ask(now, device, subtype, &waiting.question, waiting.purpose);
            }
        }
    }

    /// Ends the requests that have timed out. `true`: the server does not answer at all.
    pub(super) fn end_timed_out(&mut self, now: Duration) -> bool {
        let mut late = Vec::new();
        let answer_timeout = self.config.answer_timeout;
        self.open.retain(|_, open| {
            if now < open.deadline {
                return true;
            }
            open.deadline = now.saturating_add(answer_timeout);
            let purpose = open.purpose.take();
            late.extend(purpose);
            purpose.is_some()
        });
        self.waiting.retain(|waiting| {
            if now < waiting.deadline {
                return true;
            }
            late.push(waiting.purpose);
            false
        });
        self.statistics.timeouts += late.len() as u64;
        if late.contains(&Purpose::Probe) {
            for purpose in late {
                if let Purpose::Call(id) = purpose {
                    let outcome = Err(Refusal::TimedOut);
                    self.events.push_back(ClientEvent::Result { id, outcome });
                }
            }
            return true;
        }
        for purpose in late {
            self.conclude(now, purpose, Err(Refusal::TimedOut));
        }
        false
    }

    pub(super) fn handle_answer(&mut self, now: Duration, message: &Message) {
        let Header { address, kind, subtype, sequence, .. } = message.header;
        let key = (address.device, subtype);
        let fits = |open: &OpenRequest| sequence == 0 || sequence == open.sequence;
        let is_read = key == (SERVER, player::READ.subtype);
        if is_read || !self.open.get(&key).is_some_and(fits) {
            self.statistics.unsolicited += u64::from(!is_read);
            return;
        }
        let Some(open) = self.open.remove(&key) else { return };
        self.statistics.answers += 1;
        let answer = match kind {
            MessageKind::Acknowledge => Ok(message.body.as_slice()),
            _ => Err(Refusal::Refused),
        };
        if let Some(purpose) = open.purpose {
            self.conclude(now, purpose, answer);
        }
        self.send_waiting(now);
    }

    /// A request has ended.
    pub(super) fn conclude(&mut self, now: Duration, purpose: Purpose, answer: Result<&[u8], Refusal>) {
        match purpose {
            Purpose::Call(id) => {
                let outcome = answer.map(<[u8]>::to_vec);
                self.events.push_back(ClientEvent::Result { id, outcome });
            }
            Purpose::Setup(step) => self.conclude_step(now, step, answer),
            Purpose::Map => self.conclude_map(now, answer),
            Purpose::Interest(device) => self.conclude_interest(device, answer),
            Purpose::Probe => {}
        }
    }

    /// A device that could not be opened again is tried the next time that its data is needed.
    fn conclude_interest(&mut self, device: Device, answer: Result<&[u8], Refusal>) {
        let granted = answer.and_then(|answer| player::SUBSCRIBE.answer(answer).map_err(Refusal::Invalid));
        let refusal = match granted {
            Ok(answer) if answer.access != player::DENIED => return,
            Ok(_) => Refusal::Refused,
            Err(refusal) => refusal,
        };
        if !self.unwanted.contains(&device) {
            self.unwanted.insert(device);
            self.silences.forget(device);
            self.problem(device, &format!("the device is not open any more: {refusal}"));
        }
    }
}
