//! Any frames, times and faults for a simulated Whistle.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: variant or duration),
//! followed by its data. Checked: no panic, events are in the future, all queues are bounded, the shaft keeps to its
//! limit, and it does not move before the motor is on.

#![no_main]

use std::time::Duration;

use canopen_rs::NodeId;
use dragoman_io::can::Frame;
use dragoman_sim::{Fault, Whistle, WhistleSettings};
use libfuzzer_sys::fuzz_target;

/// Identifiers that node 101 receives: NMT, SYNC, its process data, objects, the master's heartbeat.
const IDENTIFIERS: [u16; 8] = [0x000, 0x080, 0x265, 0x365, 0x465, 0x665, 0x77f, 0x365];
const VELOCITY_LIMIT: f64 = 500_000.0;
/// More than the maximum number of waiting frames.
const MANY: usize = 300;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

struct Fixture {
    drive: Whistle,
    now: Duration,
    was_on: bool,
}

impl Fixture {
    fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(due) = self.drive.poll_timeout().filter(|due| *due <= end) {
            self.drive.handle_timeout(due);
            self.check();
        }
        self.now = end;
        self.drive.handle_timeout(end);
        self.check();
        assert!(self.drive.poll_timeout().is_none_or(|due| due > end), "events lie in the future");
    }

    fn check(&mut self) {
        let sent = std::iter::from_fn(|| self.drive.poll_transmit()).count();
        assert!(sent < MANY, "{sent} frames at once");
        self.was_on |= self.drive.status().is_motor_on();
        assert!(self.was_on || self.drive.shaft_counts() == 0.0);
        assert!(self.drive.velocity().abs() <= VELOCITY_LIMIT * 1.01, "{}", self.drive.velocity());
        assert!(self.drive.shaft_counts().is_finite() && self.drive.temperature().is_finite());
    }
}

fuzz_target!(|input: &[u8]| {
    let mut input = input;
    let node = NodeId::new(101).expect("a node number");
    let drive = Whistle::new(node, WhistleSettings::default());
    let mut fixture = Fixture { drive, now: Duration::ZERO, was_on: false };
    fixture.run_for(Duration::ZERO);
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = operation >> 3;
        match operation & 7 {
            0..=3 => {
                let id = IDENTIFIERS[usize::from(argument & 7)];
                let length = if argument & 8 == 0 { 8 } else { 4 };
                if let Some(frame) = Frame::standard(id, take(&mut input, length)) {
                    fixture.drive.handle_frame(fixture.now, &frame);
                }
                if argument & 16 == 0 {
                    fixture.run_for(Duration::from_micros(500));
                }
            }
            4 => fixture.run_for(Duration::from_micros(4 << (argument & 15))),
            5 => {
                for _ in 0..=argument {
                    if let Some(sync) = Frame::standard(0x080, &[]) {
                        fixture.drive.handle_frame(fixture.now, &sync);
                    }
                    fixture.run_for(Duration::from_millis(4));
                }
            }
            6 => {
                let now = fixture.now;
                match argument & 7 {
                    0 => fixture.drive.inject(now, Fault::PowerCycle),
                    1 => fixture.drive.inject(now, Fault::Silent),
                    2 => fixture.drive.inject(now, Fault::ExitEnabled),
                    3 => fixture.drive.inject(now, Fault::AnswerLate(Duration::from_millis(argument.into()))),
                    4 => fixture.drive.inject(now, Fault::EmergencyStorm { per_second: 1 << argument }),
                    5 => fixture.drive.inject(now, Fault::IgnoreSdo),
                    _ => fixture.drive.repair(),
                }
            }
            _ => {
                let [low, high, length] = *take(&mut input, 3) else { break };
                let id = u16::from_le_bytes([low, high]) & 0x7ff;
                if let Some(frame) = Frame::standard(id, take(&mut input, usize::from(length % 9))) {
                    fixture.drive.handle_frame(fixture.now, &frame);
                }
            }
        }
        fixture.check();
    }
    fixture.run_for(Duration::from_secs(1));
});
