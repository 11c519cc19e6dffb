//! Frames of a client and changes of the graph into a session of Foxglove's protocol.
//!
//! Input: a sequence of steps, one byte each (low two bits: kind; the others: amount), followed by its data. Checked:
//! no panic; text that is sent is JSON; ROS is asked to subscribe to a topic, and to end that, in turns.

#![no_main]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dragoman_console::foxglove::{Catalogue, Connections, Order, Session};
use dragoman_console::parameter::{foxglove_of_parameter, parameter_of_foxglove};
use dragoman_console::rosbridge::{Frame, Sample};
use dragoman_types::schema::{Builtin, Types};
use libfuzzer_sys::fuzz_target;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fuzz_target!(|input: &[u8]| {
    let types = Types::new(vec![Box::new(Builtin::default())]);
    let structure = types.message("std_msgs/String").unwrap();
    let (mut catalogue, mut session) = (Catalogue::default(), Session::new("jazzy", "1"));
    let names = ["/a", "/b", "/c", "/_d"];
    let mut subscribed = BTreeSet::new();
    let mut input = input;
    while let Some((step, rest)) = input.split_first() {
        input = rest;
        let amount = usize::from(step >> 2);
        match step & 3 {
            0 => {
                let len = amount * 8;
                session.handle_text(&String::from_utf8_lossy(take(&mut input, len)));
            }
            1 => session.handle_binary(take(&mut input, amount)),
            2 => {
                let chosen = |shift: usize| {
                    names.into_iter().enumerate().filter(move |(i, _)| amount >> (i + shift) & 1 == 1)
                };
                let topics = chosen(0).map(|(_, name)| (name, "std_msgs/msg/String")).collect();
                let services = chosen(2).map(|(_, name)| (name, "std_srvs/srv/SetBool")).collect();
                let offered = catalogue.update(&types, &topics, &services, Connections::default());
                session.handle_offered(offered);
            }
            _ => {
                let data = [&[0, 1, 0, 0], take(&mut input, amount)].concat();
                for topic in names {
                    let sample =
                        Sample::new(topic.into(), Arc::clone(&structure), data.clone(), Duration::ZERO);
                    session.handle_sample(topic, &sample);
                }
            }
        }
        while let Some(order) = session.poll_order() {
            match order {
                Order::Subscribe { channel } => assert!(subscribed.insert(channel.topic.clone())),
                Order::Unsubscribe { topic } => assert!(subscribed.remove(&topic)),
                Order::Call { call, .. } => session.call_response(&call, Err("there is none")),
                Order::SetParameters { parameters, id } => {
                    for given in &parameters {
                        let (value, kind) = (given.value.as_ref(), given.kind.as_deref());
                        let value = parameter_of_foxglove(value, kind, &serde_json::Value::Null);
                        value.as_ref().and_then(foxglove_of_parameter);
                    }
                    session.handle_parameters(&parameters);
                    session.parameter_values(&parameters, id.as_deref());
                }
                Order::FetchAsset { uri, request } => session.asset(request, Err(&uri)),
                _ => {}
            }
        }
        while let Some(outgoing) = session.poll_frame() {
            if let Frame::Text(text) = outgoing.frame {
                assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
            }
        }
    }
});
