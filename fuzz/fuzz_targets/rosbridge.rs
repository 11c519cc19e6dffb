//! Frames of a client, messages of topics and the time into a session of rosbridge.
//!
//! Input: a sequence of steps, one byte each (low two bits: kind; the others: amount), followed by its data. Checked:
//! no panic, and what is sent is JSON or CBOR.

#![no_main]

use std::sync::Arc;
use std::time::Duration;

use dragoman_console::cbor;
use dragoman_console::rosbridge::{Frame, Level, Order, Sample, Session};
use dragoman_types::json;
use dragoman_types::schema::{Builtin, Types};
use libfuzzer_sys::fuzz_target;

/// Frames of a step that are looked at.
const MAX_FRAMES: usize = 10_000;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fuzz_target!(|input: &[u8]| {
    let types = Types::new(vec![Box::new(Builtin::default())]);
    let structure = types.message("sensor_msgs/JointState").unwrap();
    let mut session = Session::default();
    let mut now = Duration::ZERO;
    let mut topics: Vec<String> = vec!["/t".to_owned()];
    let mut input = input;
    while let Some((step, rest)) = input.split_first() {
        input = rest;
        let amount = usize::from(step >> 2);
        match step & 3 {
            0 => {
                let len = amount * 8;
                session.handle_text(now, &String::from_utf8_lossy(take(&mut input, len)));
            }
            1 => session.handle_binary(now, take(&mut input, amount * 4)),
            2 => {
                let data = [&[0, 1, 0, 0], take(&mut input, amount)].concat();
                for topic in &topics {
                    let sample =
                        Sample::new(topic.as_str().into(), Arc::clone(&structure), data.clone(), now);
                    session.handle_sample(now, topic, &Arc::new(sample));
                }
            }
            _ => {
                now += Duration::from_millis(amount as u64 * 10);
                session.handle_timeout(now);
            }
        }
        while let Some(order) = session.poll_order() {
            match order {
                Order::Subscribe { topic, .. } if topics.len() < 8 => topics.push(topic),
                Order::Publish { message, .. } => {
                    if let Ok(data) = json::to_cdr(&structure, &message) {
                        assert!(json::from_cdr(&structure, &data).is_ok());
                    }
                }
                Order::CallService { reply, service, .. } => {
                    session.service_response(&reply, &service, Err("there is none"));
                    session.service_response(&reply, &service, Ok((&structure, &[0, 1, 0, 0])));
                }
                _ => {}
            }
        }
        session.status(Level::Info, None, "step");
        for _ in 0..MAX_FRAMES {
            match session.poll_frame().map(|outgoing| outgoing.frame) {
                None => break,
                Some(Frame::Text(text)) => {
                    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}")
                }
                Some(Frame::Binary(bytes)) => assert!(cbor::to_json(&bytes).is_ok()),
            }
        }
    }
});
