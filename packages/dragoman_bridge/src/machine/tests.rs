//! The conversation with a simulated machine, both from one description, on a time of their own.

use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::Codec;
use dragoman_protocol::model::bridge::{Bridge, Setting};

use super::conversation::{Conversation, Event, Refusal, Ticket};
use super::outgoing::Outgoing;
use super::plan::{Missing, NoNames, Plan};
use super::simulated::Simulated;
use super::term::Constants;

mod histories;

const ROVER: &str = include_str!("../../../dragoman_protocol/machines/rover.yaml");

pub(super) fn milliseconds(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// A conversation and its machine, with a link between them.
struct Pair {
    conversation: Conversation,
    machine: Simulated,
    now: Duration,
    is_cut: bool,
    /// Messages of the machine by name, with their time.
    heard: Vec<(Duration, String)>,
    events: Vec<Event>,
    /// What was sent: the message's code, with its time.
    sent: Vec<(Duration, u8)>,
    /// Questions that were answered.
    answered: Vec<Ticket>,
    is_linked: bool,
    /// There is a command that moves it, since the last loss, stop or time-out.
    may_move: bool,
    /// How often one was sent without.
    moved_alone: usize,
}

fn codec(change: impl FnOnce(&str) -> String) -> Arc<Codec> {
    Arc::new(Codec::new(Protocol::read(&change(ROVER)).unwrap()).unwrap())
}

impl Pair {
    fn new(change: impl FnOnce(&str) -> String) -> Self {
        let codec = codec(change);
        let none = Bridge::default();
        let plan = Plan::new(Arc::clone(&codec), codec.protocol().bridge.as_ref().unwrap_or(&none)).unwrap();
        let mut pair = Self {
            conversation: Conversation::new(Arc::new(plan)).unwrap(),
            machine: Simulated::new(codec).unwrap(),
            now: Duration::ZERO,
            is_cut: false,
            heard: Vec::new(),
            events: Vec::new(),
            sent: Vec::new(),
            answered: Vec::new(),
            is_linked: true,
            may_move: false,
            moved_alone: 0,
        };
        pair.conversation.handle_connected(pair.now);
        pair
    }

    /// Everything that is due now.
    fn settle(&mut self) {
        loop {
            let mut is_busy = false;
            self.take_events();
            while let Some(frame) = self.conversation.poll_transmit(self.now) {
                is_busy = true;
                self.sent.push((self.now, frame.bytes[3]));
                let moves = frame.bytes[3] == 1 && frame.bytes[4..8] != [0; 4];
                self.moved_alone += usize::from(moves && !self.may_move);
                if !self.is_cut {
                    self.machine.handle_bytes(self.now, &frame.bytes);
                }
            }
            while let Some(frame) = self.machine.poll_transmit(self.now) {
                is_busy = true;
                if !self.is_cut {
                    self.conversation.handle_bytes(self.now, &frame.bytes);
                }
            }
            while let Some(heard) = self.conversation.next_message(self.now) {
                let name = self.conversation.plan().name_of(heard.message);
                self.heard.push((self.now, name));
                self.answered.extend(heard.ticket);
            }
            self.take_events();
            if !is_busy {
                return;
            }
        }
    }

    fn take_events(&mut self) {
        for event in std::iter::from_fn(|| self.conversation.poll_event()) {
            let ends = matches!(event, Event::Expired | Event::Silent | Event::State { is_fault: true, .. });
            self.may_move &= !ends;
            self.events.push(event);
        }
    }

    /// Lets time pass.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.settle();
            let next =
                [self.conversation.poll_timeout(), self.machine.poll_timeout()].into_iter().flatten().min();
            let next = next.unwrap_or(end).max(self.now + milliseconds(1)).min(end);
            self.now = next;
            self.conversation.handle_timeout(self.now);
            self.machine.handle_timeout(self.now);
            if self.now >= end {
                self.settle();
                return;
            }
        }
    }

    /// Pulls the cable, or plugs it in.
    fn link(&mut self, is_linked: bool) {
        if std::mem::replace(&mut self.is_linked, is_linked) == is_linked {
            return;
        }
        if is_linked {
            self.machine.handle_connected(self.now);
            self.conversation.handle_connected(self.now);
        } else {
            self.may_move = false;
            self.conversation.handle_disconnected();
        }
        self.settle();
    }

    fn outgoing(&self, name: &str, fields: &[(&str, f64)]) -> Outgoing {
        let settings =
            fields.iter().map(|(name, value)| ((*name).to_owned(), Setting::Real(*value))).collect();
        let codec = self.conversation.plan().codec();
        Outgoing::new(codec, name, &settings, &Default::default(), &Constants::default(), &mut NoNames)
            .unwrap()
    }

    /// Drives with this velocity of both wheels.
    fn drive(&mut self, velocity: f64) -> Result<(), Refusal> {
        let outgoing = self.outgoing("drive", &[("left", velocity), ("right", velocity)]);
        self.conversation.admit(Some(0))?;
        let prepared = self.conversation.prepare(&outgoing, &Missing)?;
        let commanded = self.conversation.command(self.now, 0, prepared, Some(milliseconds(600)), Some(0));
        self.may_move |= commanded.is_ok();
        commanded
    }

    fn ask(&mut self, name: &str) -> Result<Ticket, Refusal> {
        let outgoing = self.outgoing(name, &[]);
        let prepared = self.conversation.prepare(&outgoing, &Missing)?;
        self.conversation.ask(self.now, prepared, None, None)
    }

    fn count(&self, name: &str) -> usize {
        self.heard.iter().filter(|(_, heard)| heard == name).count()
    }
}

#[test]
fn a_machine_is_started_asked_and_heard() {
    let mut pair = Pair::new(str::to_owned);
    pair.run(milliseconds(10_050));
    assert_eq!(pair.count("odometry"), 100);
    // At once, and each second.
    assert_eq!(pair.count("battery"), 11);
    assert_eq!(pair.machine.value("beats"), Some(21.0));
    assert_eq!(pair.events, [Event::Ready, Event::State { name: "ready".to_owned(), is_fault: false }]);
    let statistics = pair.conversation.statistics();
    assert_eq!((statistics.wrong, statistics.unanswered, statistics.unexpected), (0, 0, 0));
}

#[test]
fn a_command_that_is_not_renewed_ends_in_a_stop() {
    let mut pair = Pair::new(str::to_owned);
    pair.run(milliseconds(1000));
    for _ in 0..10 {
        pair.drive(0.4).unwrap();
        pair.run(milliseconds(100));
    }
    assert_eq!(pair.machine.value("wanted_left"), Some(0.4));
    assert!(!pair.events.contains(&Event::Expired));
    // 0.6 s after the last command.
    pair.run(milliseconds(499));
    assert_eq!(pair.machine.value("wanted_left"), Some(0.4));
    pair.run(milliseconds(1));
    assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
    assert_eq!(pair.events.iter().filter(|event| **event == Event::Expired).count(), 1);
    pair.run(milliseconds(5000));
    assert_eq!(pair.conversation.statistics().expired, 1);
}

#[test]
fn a_stop_passes_the_pace_and_the_queue() {
    let slow = |text: &str| text.replace("silence: 1 }", "silence: 1, pace: 0.2 }");
    let mut pair = Pair::new(slow);
    pair.run(milliseconds(1000));
    for _ in 0..20 {
        pair.ask("clear").unwrap();
    }
    pair.drive(0.4).unwrap();
    pair.run(milliseconds(250));
    let before = pair.sent.len();
    pair.conversation.stop().unwrap();
    pair.settle();
    assert_eq!(pair.sent[before], (pair.now, 1), "the stop is the next message, at once");
    pair.run(milliseconds(8000));
    let drives = pair.sent.iter().filter(|(_, code)| *code == 1).count();
    assert_eq!(drives, 1, "the command that waited is not sent behind the stop");
    // Pace: 0.2 s between all other messages.
    let times: Vec<Duration> = pair.sent[..before].iter().map(|(time, _)| *time).collect();
    assert!(times.windows(2).all(|two| two[1] - two[0] >= milliseconds(200)), "{times:?}");
}

#[test]
fn answers_that_are_late_or_there_twice_are_no_answers() {
    let mut pair = Pair::new(|text| text.replace("    - { send: battery, period: 1 }\n", ""));
    pair.run(milliseconds(1000));
    pair.machine.faults().late = milliseconds(400);
    let ticket = pair.ask("clear").unwrap();
    pair.run(milliseconds(1000));
    let reason = "no answer to clear within 0.3 s".to_owned();
    assert!(pair.events.contains(&Event::Failed(ticket, reason)), "{:?}", pair.events);
    assert_eq!(pair.conversation.statistics().unexpected, 1);
    assert_eq!(pair.count("clear"), 0, "a late answer is not heard");
    pair.machine.faults().late = Duration::ZERO;
    // What is late goes first.
    pair.run(milliseconds(500));
    pair.machine.faults().twice = true;
    pair.ask("clear").unwrap();
    pair.run(milliseconds(1000));
    assert_eq!((pair.count("clear"), pair.conversation.statistics().unexpected), (1, 2));
}

#[test]
fn a_lost_link_fails_what_is_open_and_begins_again() {
    let mut pair = Pair::new(str::to_owned);
    pair.run(milliseconds(1000));
    pair.drive(0.4).unwrap();
    pair.settle();
    pair.is_cut = true;
    let ticket = pair.ask("clear").unwrap();
    pair.settle();
    pair.conversation.handle_disconnected();
    pair.settle();
    assert_eq!(
        pair.events.last(),
        Some(&Event::Failed(ticket, "the connection to the machine is lost".to_owned()))
    );
    assert_eq!(pair.drive(0.1), Err(Refusal::NotConnected));
    let sent = pair.sent.len();
    pair.run(milliseconds(5000));
    assert_eq!(pair.sent.len(), sent, "nothing is sent without a link");
    pair.is_cut = false;
    pair.conversation.handle_connected(pair.now);
    pair.settle();
    assert!(
        pair.events.ends_with(&[Event::Ready, Event::State { name: "ready".to_owned(), is_fault: false }])
    );
    let drives = pair.sent[sent..].iter().filter(|(_, code)| *code == 1).count();
    assert_eq!(drives, 1, "the stop, and no old command");
    assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
}

#[test]
fn commands_are_for_a_state() {
    let mut pair = Pair::new(str::to_owned);
    assert_eq!(pair.drive(0.1), Ok(()));
    pair.machine.set("fault", 1.0);
    pair.run(milliseconds(300));
    assert!(pair.events.contains(&Event::State { name: "fault".to_owned(), is_fault: true }));
    let refused = Refusal::State { is: "fault".to_owned(), needed: "ready".to_owned() };
    assert_eq!(pair.drive(0.1), Err(refused.clone()));
    assert_eq!(refused.to_string(), "the machine is in state fault, not in ready");
    pair.ask("clear").unwrap();
    pair.run(milliseconds(300));
    assert_eq!(pair.drive(0.1), Ok(()));
}

#[test]
fn a_silent_machine_is_noticed_and_stopped() {
    let mut pair = Pair::new(str::to_owned);
    pair.run(milliseconds(1000));
    pair.machine.faults().silent_until = milliseconds(4000);
    for _ in 0..20 {
        let _ = pair.drive(0.4);
        pair.run(milliseconds(100));
    }
    assert!(pair.events.contains(&Event::Silent), "{:?}", pair.events);
    assert!(pair.conversation.is_silent());
    pair.run(milliseconds(3000));
    assert!(pair.events.contains(&Event::Heard));
    assert!(!pair.conversation.is_silent());
}

#[test]
fn wrong_frames_are_counted_and_what_follows_is_found() {
    let mut pair = Pair::new(str::to_owned);
    pair.run(milliseconds(1000));
    pair.machine.faults().corrupt = 5;
    pair.run(milliseconds(1000));
    assert!(pair.conversation.statistics().wrong >= 5);
    assert!(pair.conversation.take_reason().is_some_and(|reason| reason.contains("check sum")));
    pair.conversation.handle_bytes(pair.now, b"RV\x10garbage RVRV");
    let before = pair.count("odometry");
    pair.run(milliseconds(3000));
    assert!(pair.count("odometry") >= before + 28);
}

/// Modbus TCP: several open questions, which differ by their numbers, and answers that refuse.
#[test]
fn answers_belong_to_questions_by_their_numbers() {
    const MODBUS: &str = include_str!("../../../dragoman_protocol/machines/modbus_io.yaml");
    let codec = Arc::new(Codec::new(Protocol::read(MODBUS).unwrap()).unwrap());
    let plan = Plan::new(Arc::clone(&codec), codec.protocol().bridge.as_ref().unwrap()).unwrap();
    let mut conversation = Conversation::new(Arc::new(plan)).unwrap();
    let now = milliseconds(10);
    conversation.handle_connected(now);
    let write = |number: f64| {
        let fields = [("number", number), ("state", 65280.0)];
        let settings = fields.map(|(name, value)| (name.to_owned(), Setting::Real(value)));
        let (limits, constants) = Default::default();
        Outgoing::new(&codec, "write_coil", &settings.into(), &limits, &constants, &mut NoNames).unwrap()
    };
    let mut tickets = Vec::new();
    for number in [1.0, 2.0, 3.0] {
        let prepared = conversation.prepare(&write(number), &Missing).unwrap();
        tickets.push(conversation.ask(now, prepared, None, None).unwrap());
    }
    let frames: Vec<Vec<u8>> =
        std::iter::from_fn(|| conversation.poll_transmit(now)).map(|frame| frame.bytes).collect();
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[1][4..], [0, 6, 1, 5, 0, 2, 0xff, 0]);
    // The second question is answered first; the first is refused; an answer with an unknown number is dropped.
    let mut refused = frames[0][..2].to_vec();
    refused.extend_from_slice(&[0, 0, 0, 3, 1, 0x85, 2]);
    let mut other = frames[2].clone();
    other[0] = 0x77;
    conversation.handle_bytes(now, &[frames[1].as_slice(), &refused, &other].concat());
    let heard: Vec<_> = std::iter::from_fn(|| conversation.next_message(now)).collect();
    assert_eq!(heard.iter().map(|heard| heard.ticket).collect::<Vec<_>>(), [Some(tickets[1]), None]);
    let events: Vec<Event> = std::iter::from_fn(|| conversation.poll_event()).collect();
    assert_eq!(events, [Event::Ready, Event::Failed(tickets[0], "illegal data address".to_owned())]);
    assert_eq!(conversation.statistics().unexpected, 1);
    conversation.handle_bytes(now, &frames[2]);
    assert_eq!(conversation.next_message(now).and_then(|heard| heard.ticket), Some(tickets[2]));
}

/// A command whose answer is lost is not sent again: it may have been stopped meanwhile.
#[test]
fn what_moves_is_not_repeated() {
    let change = |text: &str| {
        let answered = text.replacen(
            "scale: 0.001 }\n  - name: odometry",
            "scale: 0.001 }\n    answer: []\n  - name: odometry",
            1,
        );
        let answered = answered.replacen("    role: start\n", "", 1);
        answered.replacen("silence: 1 }", "silence: 1, retries: 3 }", 1)
    };
    let mut pair = Pair::new(change);
    pair.run(milliseconds(1000));
    pair.machine.faults().silent_until = milliseconds(1900);
    pair.drive(0.4).unwrap();
    pair.run(milliseconds(100));
    pair.conversation.stop().unwrap();
    pair.run(milliseconds(1500));
    assert_eq!(pair.machine.value("wanted_left"), Some(0.0), "{:?}", pair.sent);
    let drives = pair.sent.iter().filter(|(_, code)| *code == 1).count();
    assert!(drives >= 3, "the stop is repeated until it is answered: {:?}", pair.sent);
}

#[test]
fn each_motion_has_its_own_time() {
    let mut pair = Pair::new(str::to_owned);
    pair.run(milliseconds(1000));
    pair.drive(0.4).unwrap();
    let lift = pair.outgoing("lamp", &[]);
    let prepared = pair.conversation.prepare(&lift, &Missing).unwrap();
    pair.conversation.ask(pair.now, prepared, Some(milliseconds(30_000)), None).unwrap();
    pair.run(milliseconds(700));
    assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
}

#[test]
fn what_waits_for_a_state_is_not_sent_in_another() {
    let slow = |text: &str| text.replace("silence: 1 }", "silence: 1, pace: 0.3 }");
    let mut pair = Pair::new(slow);
    pair.run(milliseconds(2000));
    pair.machine.set("fault", 1.0);
    pair.ask("clear").unwrap();
    pair.drive(0.4).unwrap();
    pair.run(milliseconds(200));
    assert!(pair.events.iter().any(|event| matches!(event, Event::State { is_fault: true, .. })));
    pair.run(milliseconds(2000));
    assert_eq!(pair.sent.iter().filter(|(_, code)| *code == 1).count(), 1, "only the stop: {:?}", pair.sent);
}

const NMEA: &str = include_str!("../../../dragoman_protocol/machines/nmea0183.yaml");
const DASHBOARD: &str = include_str!("../../../dragoman_protocol/machines/ur_dashboard.yaml");

#[test]
fn messages_that_nobody_needs_are_ignored_if_the_description_says_so() {
    for (text, wrong) in [(NMEA.to_owned(), 0), (NMEA.replace("others: ignore", "others: report"), 1)] {
        let codec = Arc::new(Codec::new(Protocol::read(&text).unwrap()).unwrap());
        let plan = Plan::new(Arc::clone(&codec), codec.protocol().bridge.as_ref().unwrap()).unwrap();
        let mut conversation = Conversation::new(Arc::new(plan)).unwrap();
        conversation.handle_connected(Duration::ZERO);
        let sentences = b"$GPGSV,1,1,00*79\r\n$GNGGA,,,,,,0,00,99.99,,,,,,*56\r\n";
        conversation.handle_bytes(Duration::ZERO, sentences);
        let heard = conversation.next_message(Duration::ZERO).unwrap();
        assert_eq!(conversation.plan().name_of(heard.message), "fix");
        assert_eq!(
            (conversation.next_message(Duration::ZERO), conversation.statistics().wrong),
            (None, wrong)
        );
    }
}

#[test]
fn a_simulated_machine_greets_and_says_what_is_true() {
    let machine =
        |text| Simulated::new(Arc::new(Codec::new(Protocol::read(text).unwrap()).unwrap())).unwrap();
    let mut arm = machine(DASHBOARD);
    arm.handle_connected(milliseconds(10));
    let greeting = arm.poll_transmit(milliseconds(10)).unwrap().bytes;
    assert_eq!(String::from_utf8_lossy(&greeting), "Connected: Universal Robots Dashboard Server\n");
    assert_eq!(arm.poll_transmit(milliseconds(10)), None);
    let mut receiver = machine(NMEA);
    for (quality, due, sentence) in
        [(1.0, 200, "4026.4000,N,00341.33"), (0.0, 400, "$GNGGA,,,,,,0,00,99.9,,,,,,*")]
    {
        receiver.set("quality", quality);
        receiver.handle_connected(milliseconds(due - 200));
        receiver.handle_timeout(milliseconds(due));
        let sent = receiver.poll_transmit(milliseconds(due)).unwrap().bytes;
        let sent = String::from_utf8_lossy(&sent);
        assert!(sent.contains(sentence), "{sent}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

    /// Any history of commands, questions, faults and pulled cables: each question has one outcome, a stop is obeyed at
    /// once, and the machine stands still when commands end.
    #[test]
    fn any_history_ends_still_and_answered(
        steps in proptest::collection::vec((0_u8..10, 1_u64..400), 1..80),
        pace in 0_u64..3,
    ) {
        let pace = format!("silence: 1, pace: 0.0{pace} }}");
        let mut pair = Pair::new(|text| text.replace("silence: 1 }", &pace));
        let mut asked = Vec::new();
        for (step, time) in steps {
            match step {
                0 | 1 => drop(pair.drive(0.4)),
                2 => asked.extend(pair.ask("clear")),
                3 if pair.is_linked => {
                    pair.conversation.stop().unwrap();
                    pair.settle();
                    proptest::prop_assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
                }
                4 => pair.link(false),
                5 => pair.link(true),
                6 => pair.machine.faults().late = milliseconds(time),
                7 => pair.machine.faults().twice ^= true,
                8 => drop(pair.machine.set("fault", (time % 3) as f64)),
                _ => pair.machine.faults().corrupt += 1,
            }
            pair.run(milliseconds(time));
        }
        pair.link(true);
        *pair.machine.faults() = Default::default();
        pair.run(milliseconds(3000));
        proptest::prop_assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
        for ticket in asked {
            let answers = pair.answered.iter().filter(|one| **one == ticket).count();
            let outcome = |event: &&Event| matches!(event, Event::Failed(one, _) | Event::Sent(one) if *one == ticket);
            proptest::prop_assert_eq!(answers + pair.events.iter().filter(outcome).count(), 1);
        }
    }
}

#[test]
fn silence_leads_to_another_state() {
    let states = "[{ to: fault, silent: true }] }\n    - { name: fault, enter: clear, fault: true, next: [{ to: ready, from: clear }] }\n";
    let mut pair = Pair::new(|text| {
        let (before, rest) = text.split_once("[{ to: fault, from").unwrap();
        let (_, after) = rest.split_once("  cmd_vel:").unwrap();
        format!("{before}{states}  cmd_vel:{after}")
    });
    let state = |pair: &Pair| pair.conversation.state().map(|(name, _)| name.to_owned()).unwrap();
    pair.run(milliseconds(500));
    pair.drive(0.4).unwrap();
    pair.run(milliseconds(50));
    pair.machine.faults().silent_until = pair.now + milliseconds(1300);
    pair.run(milliseconds(900));
    assert_eq!(state(&pair), "ready");
    pair.run(milliseconds(150));
    assert_eq!((&*state(&pair), pair.machine.value("wanted_left")), ("fault", Some(0.0)));
    // The question of the fault was not answered; the next one is.
    pair.run(milliseconds(500));
    assert_eq!(state(&pair), "fault");
    assert!(pair.events.contains(&Event::NotAnswered("clear".to_owned())));
    pair.ask("clear").unwrap();
    pair.run(milliseconds(100));
    assert_eq!(state(&pair), "ready");
}

#[test]
fn plans_that_make_no_sense_say_why() {
    for (right, wrong, expected) in [
        ("stop: drive", "stop: drives", "stop: there is no message drives; did you mean 'drive'?"),
        ("stop: drive", "stop: odometry", "stop: odometry is what the machine sends, not what is sent to it"),
        (
            "stop: drive",
            "stop: { send: drive, fields: { left: 99 } }",
            "stop: drive: field left: 99000 does not fit",
        ),
        (
            "{ send: heartbeat, period: 0.5 }",
            "{ send: heartbeat, period: 0 }",
            "every: send heartbeat: period: 0 s is not between 0.001 and 86400 s",
        ),
        ("silence: 1 }", "silence: -1 }", "timing: silence: -1 s is not between 0.01 and 86400 s"),
        ("silence: 1 }", "silence: 1e300 }", "timing: silence: 1e300 s is not between 0.01 and 86400 s"),
        ("silence: 1 }", "silence: .nan }", "timing: silence: NaN s is not between 0.01 and 86400 s"),
        ("silence: 1 }", "in_flight: 0 }", "timing: in_flight: 0 is not between 1 and 32"),
        (
            "{ send: heartbeat, period: 0.5 }",
            "{ send: drive, period: 0.5 }",
            "every: send drive: drive moves the machine: only cmd_vel, subscribe and services do",
        ),
        (
            "to: fault, from",
            "to: faulty, from",
            "states: ready: to faulty: there is no state faulty; did you mean 'fault'?",
        ),
        (
            "from: odometry, when: fault != 0",
            "from: odometry, when: faults != 0",
            "states: ready: to fault: when: there is no field faults; did you mean 'fault'?",
        ),
        (
            "from: odometry, when: fault != 0",
            "when: fault != 0",
            "states: ready: to fault: needs one of from, the message that leads there, after, a time, and silent",
        ),
        (
            "from: odometry, when: fault != 0",
            "from: odometry, silent: true",
            "states: ready: to fault: needs one of from, the message that leads there, after, a time, and silent",
        ),
        (
            "{ send: heartbeat, period: 0.5 }",
            "{ send: heartbeat, period: 0.5, when: 1 }",
            "every: send heartbeat: when is for serve; here in names a state",
        ),
        (
            "[{ to: fault, from: odometry, when: fault != 0 }]",
            "[]",
            "states: fault: no change leads to this state",
        ),
        (
            "from: odometry, when: fault != 0",
            "from: drive, when: 1",
            "states: ready: to fault: nothing answers drive: it is only sent to the machine",
        ),
    ] {
        let text = ROVER.replacen(right, wrong, 1);
        assert_ne!(text, ROVER, "{right}");
        let codec = Arc::new(Codec::new(Protocol::read(&text).unwrap()).unwrap());
        let bridge = codec.protocol().bridge.clone().unwrap();
        let error = Plan::new(codec, &bridge).err().unwrap_or_else(|| panic!("{wrong}: it is taken"));
        assert_eq!(error.to_string(), format!("rover: bridge: {expected}"), "{wrong}");
        assert!(error.line(&text).is_some(), "{wrong}: {error}");
    }
}

#[test]
fn a_stop_drops_a_command_that_took_the_place_of_a_standstill() {
    let slow = |text: &str| text.replace("silence: 1 }", "silence: 1, pace: 0.2 }");
    let mut pair = Pair::new(slow);
    pair.run(milliseconds(1000));
    pair.ask("clear").unwrap();
    pair.settle();
    let still = pair.outgoing("drive", &[]);
    let prepared = pair.conversation.prepare(&still, &Missing).unwrap();
    pair.conversation.command(pair.now, 0, prepared, None, Some(0)).unwrap();
    pair.drive(0.4).unwrap();
    pair.conversation.stop().unwrap();
    pair.run(milliseconds(2000));
    let drives = pair.sent.iter().filter(|(_, code)| *code == 1).count();
    assert_eq!(drives, 1, "the stop");
    assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
}

#[test]
fn one_motion_ends_before_everything_that_waits() {
    let mut pair = Pair::new(|text: &str| text.replace("silence: 1 }", "silence: 1, pace: 0.2 }"));
    pair.run(milliseconds(1000));
    pair.drive(0.4).unwrap();
    // Behind the heartbeat and a question.
    pair.run(milliseconds(500));
    assert_eq!(pair.machine.value("wanted_left"), Some(0.4));
    for _ in 0..20 {
        pair.ask("clear").unwrap();
    }
    let halt = pair.outgoing("drive", &[]);
    let ticket = pair.conversation.cancel(halt.message, std::slice::from_ref(&halt)).unwrap();
    pair.settle();
    assert_eq!(pair.machine.value("wanted_left"), Some(0.0));
    assert!(pair.events.contains(&Event::Sent(ticket)));
    // Nothing moves that would have to be stopped.
    pair.run(milliseconds(5000));
    assert!(!pair.events.contains(&Event::Expired));
    assert_eq!(pair.conversation.stops(), 0);
    // A stop takes the place of an end that waits; who waits for this is told.
    let ticket = pair.conversation.cancel(halt.message, &[halt]).unwrap();
    pair.conversation.stop().unwrap();
    pair.settle();
    assert!(pair.events.contains(&Event::Failed(ticket, "the machine was stopped before".to_owned())));
}

#[test]
fn constants_are_known_by_their_names_and_ranges() {
    let read = |constants: &str| {
        let text = ROVER.replace("constants: { half_track: 0.15 }", &format!("constants: {{ {constants} }}"));
        let codec = Arc::new(Codec::new(Protocol::read(&text).unwrap()).unwrap());
        Plan::new(Arc::clone(&codec), codec.protocol().bridge.as_ref().unwrap())
            .map(|plan| plan.constants)
            .map_err(|error| error.to_string())
    };
    let constants = read("half_track: { value: 1, unit: m, range: [0, 2] }, other: -2").unwrap();
    assert_eq!(constants.iter().collect::<Vec<_>>(), [("half_track", 1.0), ("other", -2.0)]);
    for (wrong, expected) in [
        ("link: 1", "link: this parameter belongs to the node itself"),
        ("a.b: 1", "is a parameter of the node, so it has letters, digits and _"),
        ("half_track: { value: 3, range: [0, 2] }", "half_track: 3 is outside of 0 to 2"),
        ("half_track: { value: 1, range: [2, 0] }", "half_track: [2, 0] is not a range"),
        ("half_track: .inf", "half_track: inf is not finite"),
    ] {
        let error = read(wrong).unwrap_err();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

#[cfg(feature = "node")]
#[test]
fn descriptions_to_begin_with_appear_in_ros() {
    use dragoman_protocol::skeleton::{Answers, CutAnswer, LinkAnswer, skeleton};
    use dragoman_types::schema::{Builtin, Types};

    let types = Types::new(vec![Box::new(Builtin::default())]);
    let all = LinkAnswer::ALL.into_iter().flat_map(|(_, link)| CutAnswer::ALL.map(|(_, cut)| (link, cut)));
    for (link, cut) in all {
        for checksum in [None, Some("xor"), Some("CRC-16/MODBUS"), Some("CRC-32/ISO-HDLC")] {
            let checksum = checksum.map(str::to_owned);
            let answers = Answers { link, cut, checksum, to_machine: "on".into(), ..Answers::default() };
            let text = skeleton(&answers).unwrap();
            let codec = Arc::new(Codec::new(Protocol::read(&text).unwrap()).unwrap());
            let interface =
                super::Interface::new(codec, &types).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let lines = interface.lines().join("\n");
            assert!(lines.contains("publishes odom"), "{lines}");
            let has_marks = cut == CutAnswer::Marks && link != LinkAnswer::Can;
            assert_eq!(lines.contains("subscribes to cmd_vel"), !has_marks, "{lines}");
        }
    }
}

#[cfg(feature = "node")]
#[test]
fn actions_are_checked() {
    use dragoman_types::schema::{Builtin, Types};

    const GRIPPER: &str = include_str!("../../../dragoman_protocol/machines/gripper.yaml");
    let types = Types::new(vec![Box::new(Builtin::default())]);
    let read = |from: &str, to: &str| {
        assert!(GRIPPER.contains(from), "{from}");
        let text = GRIPPER.replacen(from, to, 1);
        let codec = Arc::new(Codec::new(Protocol::read(&text).unwrap()).unwrap());
        super::Interface::new(codec, &types)
            .map(|interface| interface.lines().join("\n"))
            .map_err(|error| error.to_string())
    };
    let lines = read("GripperCommand", "GripperCommand").unwrap();
    let expected = "offers the action gripper_cmd (control_msgs/action/GripperCommand), moves the machine; stopped after 3 s";
    assert!(lines.contains(expected), "{lines}");
    for (from, to, expected) in [
        ("action/GripperCommand", "action/GripperComand", "actions have one of the types "),
        ("      timeout: 3\n", "", "needs timeout, the time in s within which a goal is done"),
        ("width: [0, 0.085], ", "", "it moves the machine: limits need a range of width"),
        ("  stop: halt\n", "", "it moves the machine: bridge needs stop"),
        ("done: { from: status", "done: { from: statu", "there is no message statu"),
        ("when: state == 2, reason: state", "when: state == 2, reason: stat", "failed: reason: "),
        ("      settle: 0.1\n", "      settle: -1\n", "settle: -1 s is not between 0 and 86400 s"),
        ("      settle: 0.1\n", "      cancel: status\n", "cancel: status is what the machine sends"),
    ] {
        let error = read(from, to).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
    }
}
