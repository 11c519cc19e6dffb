//! Any description, as a bridge and as a simulated machine, with any bytes and any history, on a time of its own. Both a fuzz
//! target and a property test run it.
//!
//! Checked: no panic; what is due is done, so that nothing waits for a time that has passed; a bounded number of frames; each
//! question has one outcome.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_bridge::machine::outgoing::Outgoing;
use dragoman_bridge::machine::simulated::Simulated;
use dragoman_bridge::machine::term::{Computed, Lookup, Names, Shape};
use dragoman_bridge::machine::{Conversation, Event, Plan, Ticket};
use dragoman_protocol::Protocol;
use dragoman_protocol::codec::Codec;
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::bridge::Settings;

/// Steps of a history, at most.
const MAX_STEPS: usize = 400;
/// How often what is due is done within one step of the time; then the rest of it passes at once.
const MAX_TURNS: usize = 200;
/// Turns that may follow each other at the same time.
const MAX_AT_ONCE: usize = 64;
/// How often frames go back and forth at the same time. Two machines that answer everything never stop.
const MAX_EXCHANGES: usize = 8;
/// Frames that are due at the same time, at most: what may wait, stops, and what a message causes.
const MAX_FRAMES: usize = 4096;
/// Messages with values that a history sends, at most.
const MAX_OUTGOING: usize = 32;

const TIMES: [u64; 8] = [0, 1, 1000, 20_000, 300_000, 1_000_000, 7_000_000, 100_000_000_000];

/// All names exist, and have the same value.
struct Any(f64);

impl Names for Any {
    fn find(&mut self, _name: &str) -> Result<(usize, Shape), String> {
        Ok((0, Shape::Number))
    }
}

impl Lookup for Any {
    fn number(&self, _name: usize) -> Option<Number> {
        Some(Number::Real(self.0))
    }

    fn whole(&self, _name: usize) -> Computed {
        Computed::List(vec![Number::Whole(1); 3])
    }
}

struct History {
    conversation: Option<Conversation>,
    machine: Option<Simulated>,
    outgoing: Vec<Outgoing>,
    has_stop: bool,
    now: Duration,
    is_linked: bool,
    asked: BTreeMap<Ticket, usize>,
}

/// Runs a history; whether the description is one that can be carried out.
pub(crate) fn run(text: &str, steps: &[u8]) -> bool {
    let Ok(protocol) = Protocol::read(text) else { return false };
    let Ok(codec) = Codec::new(protocol) else { return false };
    let codec = Arc::new(codec);
    let bridge = codec.protocol().bridge.clone().unwrap_or_default();
    let plan = Plan::new(Arc::clone(&codec), &bridge).ok().map(Arc::new);
    let conversation = plan.as_ref().and_then(|plan| Conversation::new(Arc::clone(plan)).ok());
    let machine = Simulated::new(Arc::clone(&codec)).ok();
    if conversation.is_none() && machine.is_none() {
        return false;
    }
    let constants = plan.as_ref().map(|plan| plan.constants.clone()).unwrap_or_default();
    let mut outgoing = Vec::new();
    let mut add = |name: &str, fields: &Settings| {
        let of = |fields: &Settings| {
            Outgoing::new(&codec, name, fields, &BTreeMap::new(), &constants, &mut Any(0.0))
        };
        if outgoing.len() < MAX_OUTGOING
            && let Ok(one) = of(fields).or_else(|_| of(&Settings::new()))
        {
            outgoing.push(one);
        }
    };
    bridge.services.iter().for_each(|one| add(&one.command.send, &one.command.fields));
    bridge.subscribe.iter().for_each(|one| add(&one.command.send, &one.command.fields));
    codec.protocol().messages.iter().for_each(|message| add(&message.name, &Settings::new()));
    let mut history = History {
        conversation,
        machine,
        outgoing,
        has_stop: !bridge.stop.0.is_empty(),
        now: Duration::ZERO,
        is_linked: false,
        asked: BTreeMap::new(),
    };
    history.link();
    let mut rest = steps;
    for _ in 0..MAX_STEPS {
        let Some((step, behind)) = rest.split_first() else { break };
        rest = history.step(*step, behind);
        history.settle();
    }
    history.end();
    true
}

impl History {
    fn step<'a>(&mut self, step: u8, rest: &'a [u8]) -> &'a [u8] {
        let argument = usize::from(step >> 3);
        let is_can = self
            .conversation
            .as_ref()
            .is_some_and(|conversation| conversation.plan().codec().protocol().frame.cut.can);
        match step & 7 {
            0 => self.link(),
            1 => self.pass(Duration::from_micros(TIMES[argument % TIMES.len()])),
            kind @ (2 | 3) => {
                let (bytes, rest) = rest.split_at(argument.min(rest.len()));
                let id = bytes.first().map_or(0, |byte| u64::from(*byte));
                match (kind, &mut self.conversation, &mut self.machine) {
                    (2, Some(conversation), _) if is_can => {
                        let _ = conversation.handle_frame(self.now, id, bytes.get(1..9).unwrap_or(bytes));
                    }
                    (2, Some(conversation), _) => conversation.handle_bytes(self.now, bytes),
                    (3, _, Some(machine)) if is_can => {
                        machine.handle_frame(self.now, std::iter::once(id), bytes)
                    }
                    (3, _, Some(machine)) => machine.handle_bytes(self.now, bytes),
                    _ => {}
                }
                return rest;
            }
            kind @ (4 | 5) => {
                let values = [0.0, 1.0, -1.0, 0.5, 255.0, 1e300, -1e-300, 70_000.0];
                let value = Any(values[rest.len() % values.len()]);
                let at = argument % self.outgoing.len().max(1);
                let (Some(conversation), Some(outgoing)) = (&mut self.conversation, self.outgoing.get(at))
                else {
                    return rest;
                };
                let Ok(prepared) = conversation.prepare(outgoing, &value) else { return rest };
                // Nothing moves that cannot be stopped: the interface refuses it.
                let moves = argument & 1 == 1 && self.has_stop;
                let timeout = moves.then_some(Duration::from_millis(600));
                if kind == 5 {
                    let _ = conversation.command(self.now, at, prepared, timeout, None);
                } else if let Ok(ticket) = conversation.ask(self.now, prepared, timeout, None) {
                    self.asked.insert(ticket, 0);
                }
            }
            6 => {
                if let Some(conversation) = &mut self.conversation {
                    let _ = conversation.stop();
                }
            }
            _ => {
                if let Some(machine) = &mut self.machine {
                    let faults = machine.faults();
                    match argument & 3 {
                        0 => faults.late = Duration::from_millis(100 * (argument as u64 >> 2)),
                        1 => faults.twice ^= true,
                        2 => faults.corrupt = argument as u32 >> 2,
                        _ => faults.silent_until = self.now + Duration::from_secs(argument as u64 >> 2),
                    }
                }
            }
        }
        rest
    }

    /// Pulls the cable, or plugs it in.
    fn link(&mut self) {
        self.is_linked = !self.is_linked;
        match (&mut self.conversation, self.is_linked) {
            (Some(conversation), true) => conversation.handle_connected(self.now),
            (Some(conversation), false) => conversation.handle_disconnected(),
            (None, _) => {}
        }
        if let (Some(machine), true) = (&mut self.machine, self.is_linked) {
            machine.handle_connected(self.now);
        }
    }

    /// Everything that is due now.
    fn settle(&mut self) {
        let mut frames = 0;
        for _ in 0..MAX_EXCHANGES {
            let mut is_busy = false;
            if let Some(conversation) = &mut self.conversation {
                while let Some(frame) = conversation.poll_transmit(self.now) {
                    (is_busy, frames) = (true, frames + 1);
                    assert!(frames < MAX_FRAMES, "more and more frames are sent");
                    if let Some(machine) = self.machine.as_mut().filter(|_| self.is_linked) {
                        match frame.id {
                            Some(id) => machine.handle_frame(self.now, std::iter::once(id), &frame.bytes),
                            None => machine.handle_bytes(self.now, &frame.bytes),
                        }
                    }
                }
            }
            if let Some(machine) = &mut self.machine {
                while let Some(frame) = machine.poll_transmit(self.now) {
                    (is_busy, frames) = (true, frames + 1);
                    assert!(frames < 4 * MAX_FRAMES, "more and more frames are answered");
                    match (self.conversation.as_mut().filter(|_| self.is_linked), frame.id) {
                        (Some(conversation), Some(id)) => {
                            if let Some(heard) = conversation.handle_frame(self.now, id, &frame.bytes) {
                                count(&mut self.asked, heard.ticket);
                            }
                        }
                        (Some(conversation), None) => conversation.handle_bytes(self.now, &frame.bytes),
                        (None, _) => {}
                    }
                }
            }
            let Some(conversation) = &mut self.conversation else { return };
            while let Some(heard) = conversation.next_message(self.now) {
                count(&mut self.asked, heard.ticket);
            }
            while let Some(event) = conversation.poll_event() {
                if let Event::Sent(ticket) | Event::Failed(ticket, _) = event {
                    count(&mut self.asked, Some(ticket));
                }
            }
            if !is_busy {
                break;
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        let mut at_once = 0;
        for _ in 0..MAX_TURNS {
            self.settle();
            let ours = self.conversation.as_ref().and_then(Conversation::poll_timeout);
            let theirs = self.machine.as_ref().and_then(Simulated::poll_timeout);
            let Some(next) = [ours, theirs].into_iter().flatten().min().filter(|next| *next < end) else {
                break;
            };
            at_once = if next > self.now { 0 } else { at_once + 1 };
            assert!(
                at_once < MAX_AT_ONCE,
                "it waits for a time that has passed: {ours:?} {theirs:?} {:?}",
                self.now
            );
            self.now = self.now.max(next);
            self.tick();
        }
        self.now = end;
        self.tick();
    }

    fn tick(&mut self) {
        if let Some(conversation) = &mut self.conversation {
            conversation.handle_timeout(self.now);
            let _ = conversation.take_reason();
            let _ = (conversation.statistics(), conversation.state());
        }
        if let Some(machine) = &mut self.machine {
            machine.handle_timeout(self.now);
        }
    }

    /// The link is lost for good.
    fn end(&mut self) {
        if let Some(conversation) = &mut self.conversation {
            conversation.handle_disconnected();
        }
        self.is_linked = false;
        self.settle();
        for (ticket, outcomes) in &self.asked {
            assert_eq!(*outcomes, 1, "outcomes of {ticket:?}");
        }
    }
}

fn count(asked: &mut BTreeMap<Ticket, usize>, ticket: Option<Ticket>) {
    if let Some(outcomes) = ticket.and_then(|ticket| asked.get_mut(&ticket)) {
        *outcomes += 1;
    }
}
