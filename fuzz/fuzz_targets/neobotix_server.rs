//! Bytes into the server's side of Neobotix' protocol.
//!
//! Input: a sequence of steps, one operation byte each (low two bits: kind; the others: amount or variant), followed by
//! its data. Checked: no panic, bounded buffers, every call is a command that was sent, in the order of sending, and
//! the client receives whole replies.

#![no_main]

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_bridge::neobotix::wire::{Command, Decoder, MAX_DATA_LEN, Message, Received, Reply};
use dragoman_bridge::neobotix::{Outcome, Refusal, ServerConfig, Session};
use dragoman_bridge::session::ServerSession;
use libfuzzer_sys::fuzz_target;

const MAX_BUFFERED: usize = 512;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fn outcome(choice: u8, data: &[u8]) -> Outcome {
    match choice % 4 {
        0 => Outcome::Done,
        1 => Outcome::Refused(Refusal::TimedOut),
        2 => Outcome::Refused(Refusal::Rejected(String::from_utf8_lossy(data).repeat(50))),
        // May belong to another command.
        _ => Reply::decode(data).map_or(Outcome::Done, Outcome::Answered),
    }
}

fuzz_target!(|input: &[u8]| {
    let mut input = input;
    let mut now = Duration::ZERO;
    let mut session = Session::new(ServerConfig { max_buffered: MAX_BUFFERED }, now);
    // The commands that the server should decode, from a second decoder of the same bytes.
    let mut reader = Decoder::<Command>::default();
    let mut expected = VecDeque::new();
    let mut replies = Decoder::<Reply>::default();
    let mut called = false;
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = operation >> 2;
        match operation & 3 {
            0 | 1 => {
                let bytes = take(&mut input, 4 * usize::from(argument) + 1);
                if session.wants_input() {
                    session.handle_bytes(now, bytes);
                    reader.push(bytes);
                    while let Ok(Some(Received { message, .. })) = reader.next() {
                        expected.extend(message.ok());
                    }
                }
            }
            2 => {
                let data = take(&mut input, usize::from(argument));
                if std::mem::take(&mut called) {
                    session.handle_outcome(now, outcome(argument, data));
                }
            }
            _ => {
                now += Duration::from_millis(u64::from(argument) * 100);
                let unsent = session.unsent().to_vec();
                replies.push(&unsent);
                session.handle_sent(unsent.len());
                while let Some(received) = replies.next().expect("lengths are lengths") {
                    received.message.expect("a reply");
                }
                assert_eq!(replies.buffered(), 0, "replies are whole");
            }
        }
        if !called && let Some(command) = session.poll_call(now) {
            called = true;
            // Names that are too long were already refused.
            while expected.front().is_some_and(|next| *next != command) {
                expected.pop_front();
            }
            assert!(expected.pop_front().is_some(), "it was sent");
        }
        while let Some(event) = session.poll_event() {
            assert!(event.to_string().chars().count() <= 300);
        }
        assert!(session.unsent().len() < MAX_BUFFERED + MAX_DATA_LEN + 8);
    }
});
