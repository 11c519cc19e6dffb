//! The session of one client.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dragoman_types::cdr::Sink;
use dragoman_types::json as text;
use dragoman_types::schema::Structure;
use serde_json::{Value, json};

use super::fragments::{Dropped, Fragments, Incomplete};
use super::operation::{self, Operation};
use super::subscription::{MAX_REQUESTS, Subscription};
use super::{Compression, Frame, Level, Order, Outgoing, Reply, Sample, Split, picture, quoted};
use crate::{bounded, cbor};

/// Maximum number of topics to which a client subscribes: several times those of a whole lab.
const MAX_TOPICS: usize = 500;
/// Bytes of messages that wait for their time, of all topics of a client. Beyond them those of a topic are lost.
const MAX_QUEUED_BYTES: usize = 16 << 20;
/// Frames within frames: pictures in fragments and the like.
const MAX_WRAPPED: usize = 3;
/// Minimum time between two warnings about a client.
const WARNING_PERIOD: Duration = Duration::from_secs(10);

/// One client. Outputs are [`poll_frame`](Self::poll_frame) and [`poll_order`](Self::poll_order), to be drained after
/// every input.
#[derive(Debug)]
pub struct Session {
    level: Level,
    subscriptions: BTreeMap<String, Subscription>,
    fragments: Fragments,
    frames: VecDeque<Outgoing>,
    orders: VecDeque<Order>,
    /// For the ids of fragments.
    last_split: u64,
    warning: Option<String>,
    /// What was refused of the client.
    refused: u64,
    /// Earliest time of the next warning.
    next_warning: Duration,
}

impl Default for Session {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Session {
    /// A new client, whose incomplete frames are counted with those of the others.
    pub fn new(incomplete: Arc<Incomplete>) -> Self {
        Self {
            level: Level::Error,
            subscriptions: BTreeMap::new(),
            fragments: Fragments::new(incomplete),
            frames: VecDeque::new(),
            orders: VecDeque::new(),
            last_split: 0,
            warning: None,
            refused: 0,
            next_warning: Duration::ZERO,
        }
    }

    /// Takes a text frame.
    pub fn handle_text(&mut self, now: Duration, frame: &str) {
        self.take_text(now, frame, 0);
    }

    /// Takes a binary frame: CBOR.
    pub fn handle_binary(&mut self, now: Duration, frame: &[u8]) {
        match cbor::to_json(frame) {
            Ok(frame) => self.take(now, frame, 0),
            Err(error) => self.status(Level::Error, None, &error.to_string()),
        }
    }

    /// Takes a message of a topic to which the client may have subscribed.
    pub fn handle_sample(&mut self, now: Duration, topic: &str, sample: &Arc<Sample>) {
        let Some(subscription) = self.subscriptions.get_mut(topic) else { return };
        if let Some(sample) = subscription.take(now, sample) {
            let (compression, fragment_size) = (subscription.compression, subscription.fragment_size);
            return self.send_sample(&sample, compression, fragment_size);
        }
        let own = subscription.queued_bytes();
        let all = || self.subscriptions.values().map(Subscription::queued_bytes).sum::<usize>();
        if own > 0
            && all() > MAX_QUEUED_BYTES
            && let Some(subscription) = self.subscriptions.get_mut(topic)
        {
            subscription.clear();
        }
    }

    /// Sends what is due, and drops what is late.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.fragments.drop_late(now);
        self.report_dropped(now);
        let mut due = Vec::new();
        for subscription in self.subscriptions.values_mut() {
            while let Some(sample) = subscription.due(now) {
                due.push((sample, subscription.compression, subscription.fragment_size));
            }
        }
        for (sample, compression, fragment_size) in due {
            self.send_sample(&sample, compression, fragment_size);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.subscriptions.values().filter_map(Subscription::timeout).chain(self.fragments.timeout()).min()
    }

    /// A warning about the client for the log.
    pub fn poll_warning(&mut self) -> Option<String> {
        self.warning.take()
    }

    /// The next frame for the client.
    pub fn poll_frame(&mut self) -> Option<Outgoing> {
        self.frames.pop_front()
    }

    /// Whether orders wait.
    pub fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// The next order of the client.
    pub fn poll_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// Ends the subscription to a topic that cannot be subscribed to.
    pub fn end_subscription(&mut self, topic: &str) {
        self.subscriptions.remove(topic);
    }

    /// Reports something to the client, as plain text, if it wants reports of this level.
    pub fn status(&mut self, level: Level, id: Option<&Value>, message: &str) {
        if level == Level::Error {
            self.note_refusal(message);
        }
        if level <= self.level {
            let mut frame =
                json!({ "op": "status", "level": level.name(), "msg": dragoman_text::line(message) });
            if let (Some(id), Some(frame)) = (id, frame.as_object_mut()) {
                frame.insert("id".to_owned(), id.clone());
            }
            self.send(frame.to_string().into(), None, false);
        }
    }

    /// Some clients cannot read a status: what is refused is for the log, too, less and less often of the same client.
    fn note_refusal(&mut self, message: &str) {
        self.refused += 1;
        if self.warning.is_none() && (self.refused < 4 || self.refused.is_power_of_two()) {
            self.warning = Some(format!("request refused ({}): {message}", self.refused));
        }
    }

    /// Answers a `call_service`: with the serialized response, or with the reason of the failure.
    pub fn service_response(
        &mut self,
        reply: &Reply,
        service: &str,
        response: Result<(&Structure, &[u8]), &str>,
    ) {
        let head = [("op", "service_response"), ("service", service)];
        self.answer(reply, &head, response, &[("result", response.is_ok().into())], false);
    }

    /// Answers a `call_service` with values that are already JSON.
    pub fn service_response_json(&mut self, reply: &Reply, service: &str, values: &Value) {
        let frame = json!({ "op": "service_response", "service": service, "values": values, "result": true });
        self.send_json(reply, frame);
    }

    /// Sends feedback of a goal of the client.
    pub fn action_feedback(&mut self, reply: &Reply, action: &str, feedback: (&Structure, &[u8])) {
        let head = [("op", "action_feedback"), ("action", action)];
        self.answer(reply, &head, Ok(feedback), &[], true);
    }

    /// Sends the end of a goal of the client, with a code of `action_msgs/msg/GoalStatus`.
    pub fn action_result(
        &mut self,
        reply: &Reply,
        action: &str,
        status: i8,
        result: Result<(&Structure, &[u8]), &str>,
    ) {
        let head = [("op", "action_result"), ("action", action)];
        self.answer(
            reply,
            &head,
            result,
            &[("status", status.into()), ("result", result.is_ok().into())],
            false,
        );
    }

    /// Asks the client, which offers the service, to answer a request.
    pub fn call_service(&mut self, id: &str, service: &str, request: (&Structure, &[u8])) {
        self.request("call_service", "service", id, service, None, request);
    }

    /// Asks the client, which offers the action, to execute a goal.
    pub fn send_goal(&mut self, id: &str, action: &str, type_name: &str, goal: (&Structure, &[u8])) {
        self.request("send_action_goal", "action", id, action, Some(type_name), goal);
    }

    /// Asks the client, which offers the action, to end a goal.
    pub fn cancel_goal(&mut self, id: &str, action: &str) {
        let frame = json!({ "op": "cancel_action_goal", "id": id, "action": action });
        self.send(frame.to_string().into(), None, false);
    }

    fn request(
        &mut self,
        operation: &str,
        kind: &str,
        id: &str,
        name: &str,
        type_name: Option<&str>,
        (structure, data): (&Structure, &[u8]),
    ) {
        let args = match text::from_cdr(structure, data) {
            Ok(args) => args,
            Err(error) => return self.status(Level::Error, None, &format!("{name}: {error}")),
        };
        let type_name =
            type_name.map(|name| format!(r#","action_type":{}"#, quoted(name))).unwrap_or_default();
        let (id, name) = (quoted(id), quoted(name));
        let frame = format!(r#"{{"op":"{operation}","id":{id},"{kind}":{name}{type_name},"args":{args}}}"#);
        self.send(frame.into(), None, false);
    }

    fn take_text(&mut self, now: Duration, frame: &str, depth: usize) {
        match bounded::json(frame.as_bytes()) {
            Ok(frame) => self.take(now, frame, depth),
            Err(error) => self.status(Level::Error, None, &format!("invalid JSON: {error}")),
        }
    }

    fn take(&mut self, now: Duration, frame: Value, depth: usize) {
        let id = operation::id_of(&frame);
        let operation = match operation::parse(frame) {
            Ok(operation) => operation,
            Err(reason) => return self.status(Level::Error, id.as_ref(), &reason),
        };
        if depth > MAX_WRAPPED {
            return self.status(Level::Error, id.as_ref(), "too many frames within frames");
        }
        match operation {
            Operation::Order(order) => self.orders.push_back(order),
            Operation::Subscribe { topic, type_name, request } => self.subscribe(topic, type_name, request),
            Operation::Unsubscribe { topic, id } => {
                if let Some(subscription) = self.subscriptions.get_mut(&topic)
                    && subscription.remove(id.as_ref())
                {
                    self.subscriptions.remove(&topic);
                    self.orders.push_back(Order::Unsubscribe { topic });
                }
            }
            Operation::Fragment { id: name, number, total, data } => {
                let taken = self.fragments.take(now, name, number, total, data);
                self.report_dropped(now);
                match taken {
                    Ok(None) => {}
                    Ok(Some(frame)) => self.take_text(now, &frame, depth + 1),
                    Err(reason) => self.status(Level::Error, id.as_ref(), &format!("fragment: {reason}")),
                }
            }
            Operation::Png { data } => match picture::unwrap(&data) {
                Ok(frame) => self.take_text(now, &frame, depth + 1),
                Err(reason) => self.status(Level::Error, id.as_ref(), &format!("png: {reason}")),
            },
            Operation::SetLevel(level) => self.level = level,
            Operation::Status => {}
        }
    }

    /// Reports to the client which of its incomplete frames were dropped, and now and then to the log.
    fn report_dropped(&mut self, now: Duration) {
        for Dropped { id, reason } in self.fragments.dropped() {
            let message = format!("fragment: an incomplete frame is dropped: {reason}");
            if now >= self.next_warning {
                self.next_warning = now + WARNING_PERIOD;
                self.warning = Some(message.clone());
            }
            self.status(Level::Error, Some(&id.into()), &message);
        }
    }

    fn subscribe(
        &mut self,
        topic: String,
        type_name: Option<String>,
        request: super::subscription::SubscribeRequest,
    ) {
        let id = request.id.clone();
        if let Some(subscription) = self.subscriptions.get_mut(&topic) {
            if !subscription.add(request) {
                return self.status(
                    Level::Error,
                    id.as_ref(),
                    &format!("subscribe {topic}: more than {MAX_REQUESTS} subscriptions to it"),
                );
            }
            // The type may be known only now, and latched messages are for every subscription.
            self.orders.push_back(Order::Subscribe { id, topic, type_name });
            return;
        }
        if self.subscriptions.len() >= MAX_TOPICS {
            let message = format!("subscribe {topic}: more than {MAX_TOPICS} topics");
            return self.status(Level::Error, id.as_ref(), &message);
        }
        let mut subscription = Subscription::default();
        subscription.add(request);
        self.subscriptions.insert(topic.clone(), subscription);
        self.orders.push_back(Order::Subscribe { id, topic, type_name });
    }

    fn send_sample(&mut self, sample: &Sample, compression: Compression, fragment_size: Option<usize>) {
        match sample.frame(compression) {
            Ok(Frame::Text(text)) => self.send(text, fragment_size, true),
            Ok(frame) => self.frames.push_back(Outgoing::whole(frame, true)),
            Err(error) => self.status(Level::Error, None, &format!("{}: {error}", sample.topic)),
        }
    }

    /// Sends a frame with `head`, the id of the request, `values` and `tail`. `may_drop`: a slow client may lose it.
    fn answer(
        &mut self,
        reply: &Reply,
        head: &[(&str, &str)],
        values: Result<(&Structure, &[u8]), &str>,
        tail: &[(&str, Value)],
        may_drop: bool,
    ) {
        let converted = match (values, reply.compression) {
            (Ok((structure, data)), Compression::Cbor | Compression::CborRaw) => {
                match cbor::from_cdr(structure, data) {
                    Ok(values) => return self.answer_in_cbor(reply, head, &values, tail, may_drop),
                    Err(error) => Err(error),
                }
            }
            (Ok((structure, data)), _) => text::from_cdr(structure, data),
            (Err(reason), _) => Ok(quoted(&dragoman_text::line(reason))),
        };
        let (values, tail) = match converted {
            Ok(values) => (values, tail.to_vec()),
            Err(error) => (quoted(&dragoman_text::line(&error.to_string())), vec![("result", false.into())]),
        };
        let mut frame = String::from("{");
        for (key, value) in head {
            frame.push_str(&format!("\"{key}\":{},", quoted(value)));
        }
        if let Some(id) = &reply.id {
            frame.push_str(&format!("\"id\":{id},"));
        }
        frame.push_str("\"values\":");
        frame.push_str(&values);
        for (key, value) in tail {
            frame.push_str(&format!(",\"{key}\":{value}"));
        }
        frame.push('}');
        self.send_reply(reply, frame, may_drop);
    }

    fn answer_in_cbor(
        &mut self,
        reply: &Reply,
        head: &[(&str, &str)],
        values: &[u8],
        tail: &[(&str, Value)],
        may_drop: bool,
    ) {
        let mut frame = cbor::Writer::with_capacity(values.len() + 128);
        frame.map(head.len() + usize::from(reply.id.is_some()) + 1 + tail.len());
        for (key, value) in head {
            frame.text(key);
            frame.text(value);
        }
        for (key, value) in
            reply.id.iter().map(|id| ("id", id)).chain(tail.iter().map(|(key, value)| (*key, value)))
        {
            frame.text(key);
            match value {
                Value::Bool(value) => frame.boolean(*value),
                Value::Number(number) => match number.as_i64() {
                    Some(number) => frame.signed(number),
                    None => frame.float64(number.as_f64().unwrap_or_default()),
                },
                Value::String(text) => frame.text(text),
                other => frame.text(&other.to_string()),
            }
        }
        frame.text("values");
        frame.raw(values);
        self.frames.push_back(Outgoing::whole(Frame::Binary(frame.finish().into()), may_drop));
    }

    fn send_json(&mut self, reply: &Reply, mut frame: Value) {
        if let (Some(id), Some(frame)) = (&reply.id, frame.as_object_mut()) {
            frame.insert("id".to_owned(), id.clone());
        }
        self.send_reply(reply, frame.to_string(), false);
    }

    fn send_reply(&mut self, reply: &Reply, frame: String, may_drop: bool) {
        let frame = if reply.compression == Compression::Png { picture::wrap(&frame) } else { frame };
        self.send(frame.into(), reply.fragment_size, may_drop);
    }

    fn send(&mut self, text: Arc<str>, fragment_size: Option<usize>, may_drop: bool) {
        let mut outgoing = Outgoing::whole(Frame::Text(text), may_drop);
        if let Some(size) = fragment_size {
            self.last_split += 1;
            outgoing.split = Some(Split { size, id: self.last_split });
        }
        self.frames.push_back(outgoing);
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
