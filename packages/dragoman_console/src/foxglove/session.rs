//! The session of one client.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use dragoman_types::schema::full_name;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{
    self, Advertised, AdvertisedService, ClientBinary, ClientText, Parameter, Part, ServerText,
};
use super::{Call, Connections, ENCODINGS, Encoding, Nodes, Offered, Order};
use crate::bounded::{self, MAX_NAME_LEN};
use crate::rosbridge::{Frame, Level, Outgoing, Sample};

/// Maximum number of subscriptions of a client, of topics that it advertises, of parameters that it watches or asks for by name, and
/// most reports on one of its frames: several times those of a whole lab.
const MAX_ITEMS: usize = 500;
/// The form of all schemas.
const ROS2MSG: &str = "ros2msg";
const CAPABILITIES: [&str; 6] =
    ["clientPublish", "services", "parameters", "parametersSubscribe", "connectionGraph", "assets"];

/// One client. Outputs are [`poll_frame`](Self::poll_frame) and [`poll_order`](Self::poll_order), to be drained after
/// every input.
#[derive(Debug, Default)]
pub struct Session {
    offered: Arc<Offered>,
    /// Channels by the client's numbers of subscriptions.
    subscriptions: BTreeMap<u32, u32>,
    /// By the client's numbers.
    channels: BTreeMap<u32, ClientChannel>,
    watched: Watched,
    /// What the client knows of the connection graph; none if it does not follow it.
    connections: Option<Connections>,
    frames: VecDeque<Outgoing>,
    orders: VecDeque<Order>,
}

#[derive(Debug)]
struct ClientChannel {
    topic: String,
    encoding: Encoding,
}

/// The parameters whose changes a client wants.
#[derive(Debug)]
enum Watched {
    All,
    These(BTreeSet<String>),
}

impl Default for Watched {
    fn default() -> Self {
        Self::These(BTreeSet::new())
    }
}

impl Session {
    /// A new client. `distribution` is that of ROS; `id` distinguishes this server from one that is started later.
    pub fn new(distribution: &str, id: &str) -> Self {
        let mut session = Self::default();
        session.send(&ServerText::ServerInfo {
            name: "dragoman",
            capabilities: &CAPABILITIES,
            supported_encodings: &ENCODINGS.map(|(name, _)| name),
            // Foxglove knows ROS 2 by it.
            metadata: &json!({ "ROS_DISTRO": distribution }),
            session_id: id,
        });
        session
    }

    /// Takes the content of the graph, and sends the client what is new and what has ended.
    pub fn handle_offered(&mut self, offered: &Arc<Offered>) {
        if Arc::ptr_eq(&self.offered, offered) {
            return;
        }
        let before = std::mem::replace(&mut self.offered, Arc::clone(offered));
        let ended: Vec<u32> = missing(&before.channels, &offered.channels);
        if !ended.is_empty() {
            let (lost, kept) =
                std::mem::take(&mut self.subscriptions).into_iter().partition(|(_, id)| ended.contains(id));
            self.subscriptions = kept;
            let lost: BTreeMap<u32, u32> = lost;
            for channel in lost.values().filter_map(|id| before.channels.get(id)) {
                if !self.is_subscribed(&channel.topic) {
                    self.orders.push_back(Order::Unsubscribe { topic: channel.topic.clone() });
                }
            }
            self.send(&ServerText::Unadvertise { channel_ids: ended });
        }
        let ended: Vec<u32> = missing(&before.services, &offered.services);
        if !ended.is_empty() {
            self.send(&ServerText::UnadvertiseServices { service_ids: ended });
        }
        let new = offered.channels.values().filter(|channel| !before.channels.contains_key(&channel.id));
        let channels: Vec<Advertised<'_>> = new
            .map(|channel| Advertised {
                id: channel.id,
                topic: &channel.topic,
                encoding: Encoding::Cdr.name(),
                schema_name: &channel.type_name,
                schema_encoding: ROS2MSG,
                schema: &channel.schema,
            })
            .collect();
        if !channels.is_empty() {
            self.send(&ServerText::Advertise { channels });
        }
        let new = offered.services.values().filter(|service| !before.services.contains_key(&service.id));
        let part = |type_name: &str, ending: &str| format!("{type_name}_{ending}");
        let services: Vec<AdvertisedService<'_>> = new
            .map(|service| AdvertisedService {
                id: service.id,
                name: &service.name,
                type_name: &service.type_name,
                request: Part::new(part(&service.type_name, "Request"), ROS2MSG, &service.request),
                response: Part::new(part(&service.type_name, "Response"), ROS2MSG, &service.response),
            })
            .collect();
        if !services.is_empty() {
            self.send(&ServerText::AdvertiseServices { services });
        }
        self.send_connections();
    }

    /// Takes a text frame.
    pub fn handle_text(&mut self, frame: &str) {
        match bounded::json(frame.as_bytes()) {
            Ok(frame) => self.take(frame),
            Err(error) => self.status(Level::Error, &format!("invalid message: {error}")),
        }
    }

    /// Takes a binary frame.
    pub fn handle_binary(&mut self, frame: &[u8]) {
        match wire::parse(frame) {
            Some(ClientBinary::Message { channel, data }) => {
                let Some(channel) = self.channels.get(&channel) else {
                    return self
                        .status(Level::Error, &format!("message: channel {channel} is not advertised"));
                };
                let (topic, encoding) = (channel.topic.clone(), channel.encoding);
                self.orders.push_back(Order::Publish { topic, encoding, data: data.to_vec() });
            }
            Some(ClientBinary::Call { service, id, encoding, data }) => {
                match (self.offered.services.get(&service), Encoding::named(encoding)) {
                    (Some(service), Some(encoding)) => {
                        let call = Call { service: Arc::clone(service), id, encoding };
                        self.orders.push_back(Order::Call { call, data: data.to_vec() });
                    }
                    (None, _) => self.call_failure(service, id, &format!("service {service} does not exist")),
                    (_, None) => self.call_failure(service, id, &unknown_encoding(encoding)),
                }
            }
            None => self.status(Level::Error, "invalid binary message"),
        }
    }

    /// Takes a message of a topic to which the client may have subscribed.
    pub fn handle_sample(&mut self, topic: &str, sample: &Sample) {
        let wanted = self.subscriptions.iter().filter(|(_, channel)| {
            let channel = self.offered.channels.get(channel);
            channel.is_some_and(|channel| channel.topic == topic && channel.type_name == sample.type_name())
        });
        let nanoseconds = u64::try_from(sample.received().as_nanos()).unwrap_or(u64::MAX);
        let frames = wanted.map(|(id, _)| wire::message(*id, nanoseconds, sample.data()));
        self.frames.extend(frames.map(|frame| Outgoing::whole(Frame::Binary(frame.into()), true)));
    }

    /// Takes new values of parameters.
    pub fn handle_parameters(&mut self, parameters: &[Parameter]) {
        let wanted: Vec<Parameter> = match &self.watched {
            Watched::All => parameters.to_vec(),
            Watched::These(names) => {
                parameters.iter().filter(|parameter| names.contains(&parameter.name)).cloned().collect()
            }
        };
        if !wanted.is_empty() {
            self.parameter_values(&wanted, None);
        }
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

    /// Whether the client subscribes to the topic.
    pub fn is_subscribed(&self, topic: &str) -> bool {
        let mut channels = self.subscriptions.values().filter_map(|id| self.offered.channels.get(id));
        channels.any(|channel| channel.topic == topic)
    }

    /// Ends the subscriptions to a channel that cannot be subscribed to.
    pub fn end_subscription(&mut self, channel: u32) {
        self.subscriptions.retain(|_, known| *known != channel);
    }

    /// Ends a channel of the client that cannot be advertised.
    pub fn end_channel(&mut self, channel: u32) {
        self.channels.remove(&channel);
    }

    /// Reports something to the client, as plain text.
    pub fn status(&mut self, level: Level, message: &str) {
        let level = match level {
            Level::None => return,
            Level::Info => 0,
            Level::Warning => 1,
            Level::Error => 2,
        };
        // A frame may request a million nonexistent items.
        if self.frames.len() < MAX_ITEMS {
            self.send(&ServerText::Status { level, message: &dragoman_text::line(message) });
        }
    }

    /// Answers a call: with the response in the encoding of the request, or with the reason of the failure.
    pub fn call_response(&mut self, call: &Call, response: Result<&[u8], &str>) {
        match response {
            Ok(data) => {
                self.send_binary(wire::response(call.service.id, call.id, call.encoding.name(), data));
            }
            Err(reason) => self.call_failure(call.service.id, call.id, reason),
        }
    }

    /// Sends values of parameters; with an `id` as an answer.
    pub fn parameter_values(&mut self, parameters: &[Parameter], id: Option<&str>) {
        self.send(&ServerText::ParameterValues { parameters, id });
    }

    /// Answers the request for an asset.
    pub fn asset(&mut self, request: u32, asset: Result<&[u8], &str>) {
        let asset = asset.map_err(dragoman_text::line);
        self.send_binary(wire::asset(request, asset.as_deref().map_err(|reason| reason.as_ref())));
    }

    fn take(&mut self, frame: ClientText) {
        match frame {
            ClientText::Subscribe { subscriptions } => {
                for subscription in subscriptions {
                    if let Err(reason) = self.subscribe(subscription.id, subscription.channel_id) {
                        self.status(Level::Error, &format!("subscription {}: {reason}", subscription.id));
                    }
                }
            }
            ClientText::Unsubscribe { subscription_ids } => {
                for id in subscription_ids {
                    self.unsubscribe(id);
                }
            }
            ClientText::Advertise { channels } => {
                for channel in channels {
                    if let Err(reason) = self.advertise(&channel) {
                        self.status(Level::Error, &format!("advertise {}: {reason}", channel.topic));
                    }
                }
            }
            ClientText::Unadvertise { channel_ids } => {
                for id in channel_ids {
                    match self.channels.remove(&id) {
                        Some(ended) if self.channels.values().all(|other| other.topic != ended.topic) => {
                            self.orders.push_back(Order::Unadvertise { topic: ended.topic });
                        }
                        Some(_) => {}
                        None => self
                            .status(Level::Warning, &format!("unadvertise: channel {id} is not advertised")),
                    }
                }
            }
            ClientText::GetParameters { parameter_names, .. } if parameter_names.len() > MAX_ITEMS => {
                self.status(Level::Error, &format!("more than {MAX_ITEMS} parameters"));
            }
            ClientText::SetParameters { parameters, .. } if parameters.len() > MAX_ITEMS => {
                self.status(Level::Error, &format!("more than {MAX_ITEMS} parameters"));
            }
            ClientText::GetParameters { parameter_names: names, id } => {
                self.orders.push_back(Order::GetParameters { names, id });
            }
            ClientText::SetParameters { parameters, id } => {
                self.orders.push_back(Order::SetParameters { parameters, id });
            }
            ClientText::SubscribeParameterUpdates { parameter_names } => self.watch(parameter_names),
            ClientText::UnsubscribeParameterUpdates { parameter_names } => {
                match &mut self.watched {
                    Watched::These(names) if !parameter_names.is_empty() => {
                        for name in &parameter_names {
                            names.remove(name);
                        }
                    }
                    // Single parameters cannot be removed from a subscription to all.
                    Watched::All if !parameter_names.is_empty() => {
                        self.status(Level::Warning, "all parameters are subscribed to");
                    }
                    watched => *watched = Watched::default(),
                }
            }
            ClientText::SubscribeConnectionGraph => {
                self.connections.get_or_insert_default();
                self.send_connections();
            }
            ClientText::UnsubscribeConnectionGraph => self.connections = None,
            ClientText::FetchAsset { uri, request_id: request } => {
                self.orders.push_back(Order::FetchAsset { uri, request });
            }
        }
    }

    fn subscribe(&mut self, id: u32, channel: u32) -> Result<(), String> {
        if self.subscriptions.contains_key(&id) {
            return Err("the number is in use".to_owned());
        }
        if self.subscriptions.values().any(|known| *known == channel) {
            return Err(format!("channel {channel} is subscribed to already"));
        }
        if self.subscriptions.len() >= MAX_ITEMS {
            return Err(format!("more than {MAX_ITEMS} subscriptions"));
        }
        let known = self.offered.channels.get(&channel);
        let known = known.ok_or_else(|| format!("channel {channel} does not exist"))?;
        self.orders.push_back(Order::Subscribe { channel: Arc::clone(known) });
        self.subscriptions.insert(id, channel);
        Ok(())
    }

    fn unsubscribe(&mut self, id: u32) {
        let Some(channel) = self.subscriptions.remove(&id) else {
            return self.status(Level::Warning, &format!("unsubscribe: there is no subscription {id}"));
        };
        let Some(channel) = self.offered.channels.get(&channel) else { return };
        let topic = channel.topic.clone();
        if !self.is_subscribed(&topic) {
            self.orders.push_back(Order::Unsubscribe { topic });
        }
    }

    fn advertise(&mut self, channel: &wire::ClientChannel) -> Result<(), String> {
        if self.channels.contains_key(&channel.id) {
            return Err(format!("channel {} is in use", channel.id));
        }
        if self.channels.len() >= MAX_ITEMS {
            return Err(format!("more than {MAX_ITEMS} channels"));
        }
        if channel.topic.len() > MAX_NAME_LEN {
            return Err(format!("the name of the topic has more than {MAX_NAME_LEN} bytes"));
        }
        let encoding = Encoding::named(&channel.encoding);
        let encoding = encoding.ok_or_else(|| unknown_encoding(&channel.encoding))?;
        let type_name = full_name(&channel.schema_name, "msg").map_err(|error| error.to_string())?;
        let topic = channel.topic.clone();
        self.channels.insert(channel.id, ClientChannel { topic: topic.clone(), encoding });
        self.orders.push_back(Order::Advertise { channel: channel.id, topic, type_name });
        Ok(())
    }

    fn watch(&mut self, more: Vec<String>) {
        if more.is_empty() {
            self.watched = Watched::All;
        }
        let Watched::These(names) = &mut self.watched else { return };
        names.extend(more.into_iter().filter(|name| name.len() <= MAX_NAME_LEN));
        let is_too_many = names.len() > MAX_ITEMS;
        while names.len() > MAX_ITEMS {
            names.pop_last();
        }
        if is_too_many {
            self.status(Level::Error, &format!("more than {MAX_ITEMS} parameters"));
        }
    }

    /// Sends the difference to what the client knows of the connection graph.
    fn send_connections(&mut self) {
        let Some(known) = &mut self.connections else { return };
        let now = &self.offered.connections;
        if known == now {
            return;
        }
        let changed = |before: &Nodes, after: &Nodes, list: &str| -> Vec<Value> {
            let ended = before.keys().filter(|name| !after.contains_key(*name)).map(|name| (name, json!([])));
            let new = after.iter().filter(|(name, nodes)| before.get(*name) != Some(nodes));
            let new = new.map(|(name, nodes)| (name, json!(nodes)));
            new.chain(ended).map(|(name, nodes)| json!({ "name": name, list: nodes })).collect()
        };
        let topics = |connections: &Connections| -> BTreeSet<String> {
            connections.publishers.keys().chain(connections.subscribers.keys()).cloned().collect()
        };
        let services = |connections: &Connections| -> BTreeSet<String> {
            connections.providers.keys().cloned().collect()
        };
        let update = json!({
            "op": "connectionGraphUpdate",
            "publishedTopics": changed(&known.publishers, &now.publishers, "publisherIds"),
            "subscribedTopics": changed(&known.subscribers, &now.subscribers, "subscriberIds"),
            "advertisedServices": changed(&known.providers, &now.providers, "providerIds"),
            "removedTopics": topics(known).difference(&topics(now)).collect::<Vec<_>>(),
            "removedServices": services(known).difference(&services(now)).collect::<Vec<_>>(),
        });
        known.clone_from(now);
        self.send(&update);
    }

    fn call_failure(&mut self, service_id: u32, call_id: u32, message: &str) {
        let message = &dragoman_text::line(message);
        self.send(&ServerText::ServiceCallFailure { service_id, call_id, message });
    }

    fn send(&mut self, frame: &impl Serialize) {
        // Writing to memory does not fail.
        let Ok(text) = serde_json::to_string(frame) else { return };
        self.frames.push_back(Outgoing::whole(Frame::Text(text.into()), false));
    }

    fn send_binary(&mut self, frame: Vec<u8>) {
        self.frames.push_back(Outgoing::whole(Frame::Binary(frame.into()), false));
    }
}

impl<'a> Part<'a> {
    fn new(schema_name: String, schema_encoding: &'a str, schema: &'a str) -> Self {
        Self { encoding: Encoding::Cdr.name(), schema_name, schema_encoding, schema }
    }
}

/// The ids that are no longer there.
fn missing<T>(before: &BTreeMap<u32, T>, after: &BTreeMap<u32, T>) -> Vec<u32> {
    before.keys().filter(|id| !after.contains_key(id)).copied().collect()
}

fn unknown_encoding(name: &str) -> String {
    format!("encoding '{name}' is not supported: use {}", ENCODINGS.map(|(name, _)| name).join(" or "))
}
