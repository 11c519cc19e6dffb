//! Topics: one subscription for all clients, publishers for each client.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dragoman_ros::raw::{self, SerializedMessage, Strictest};
use dragoman_ros::{Node, QosProfile};
use dragoman_types::json::{from_whole_cdr, to_cdr_at};
use dragoman_types::schema::{Structure, full_name};
use futures::StreamExt;
use futures::future::{AbortHandle, abortable};
use futures::stream::BoxStream;
use parking_lot::Mutex;
use serde_json::Value;

use super::bounds::{BYTES, PUBLISHERS, SUBSCRIPTIONS, Share};
use super::client::Client;
use super::driving;
use super::hub::Hub;
use super::overlap::Overlap;
use super::ros::Ros;
use super::temporary::Place;
use crate::rosbridge::Sample;

/// Queue depth of subscriptions, and of publishers.
const DEPTH: usize = 10;
/// Time that a publisher of velocities stays after its client has left.
const LINGER_TIME: Duration = Duration::from_secs(1);
/// Interval of comparing subscriptions with what publishers offer.
const REVIEW_PERIOD: Duration = Duration::from_millis(500);
/// Time for which a replaced subscription continues: publishers need a while to discover the new one.
const OVERLAP_TIME: Duration = Duration::from_secs(1);
/// Messages of a latched topic that are kept for later subscribers, if there are several publishers, and their bytes.
const MAX_KEPT: usize = 32;
const MAX_KEPT_BYTES: usize = 16 << 20;
/// Bytes of those of all topics.
const MAX_KEPT_IN_ALL: usize = 128 << 20;

/// Subscriptions and publishers of clients.
#[derive(Default)]
pub(crate) struct Topics {
    subscribed: Mutex<BTreeMap<String, Subscribed>>,
    publications: Mutex<BTreeMap<(u64, String), Arc<Publication>>>,
    /// Publishers by topic and type that all clients share: every page prepares those of the emergency stop.
    writers: Mutex<BTreeMap<(String, String), Weak<Writer>>>,
    /// Held while a topic is being subscribed to, so that it is subscribed to once.
    subscribing: tokio::sync::Mutex<()>,
}

/// A topic with subscribers.
struct Subscribed {
    structure: Arc<Structure>,
    subscribers: BTreeMap<u64, Arc<Client>>,
    request: Strictest,
    publishers: usize,
    /// Of a latched topic, for later subscribers; oldest first.
    kept: VecDeque<Arc<Sample>>,
    kept_bytes: usize,
    /// Messages and their bytes since the subscription.
    received: [u64; 2],
    /// Ends the subscription.
    receiving: AbortHandle,
    /// Its node.
    place: Arc<Place>,
    /// How often it was replaced.
    turn: u64,
    /// The subscription that this one replaces.
    overlap: Option<Overlap>,
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        self.receiving.abort();
    }
}

/// A publisher in ROS, which ends with its last user.
struct Writer {
    publisher: Mutex<Option<raw::Publisher>>,
    ros: Ros,
}

impl Drop for Writer {
    fn drop(&mut self) {
        let publisher = self.publisher.get_mut().take();
        if let Some(publisher) = publisher {
            self.ros.later(move |inside| raw::destroy_publisher(&mut inside.node, publisher));
        }
    }
}

/// A topic that a client publishes.
pub(crate) struct Publication {
    pub(crate) structure: Arc<Structure>,
    writer: Arc<Writer>,
    is_velocity: bool,
    /// Of a latched topic: what the message takes that is kept for later subscribers.
    kept: Option<Mutex<Option<Share>>>,
}

impl Publication {
    /// Publishes serialized data of its client.
    pub(crate) fn publish(&self, client: &Client, data: &[u8]) -> Result<(), String> {
        if let Some(kept) = &self.kept {
            let mut kept = kept.lock();
            match &mut *kept {
                Some(kept) => kept.replace(data.len(), &BYTES)?,
                None => *kept = Some(client.keep(data.len())?),
            }
        }
        self.send(data)
    }

    /// Publishes serialized data that is not kept for later subscribers.
    pub(crate) fn send(&self, data: &[u8]) -> Result<(), String> {
        match &*self.writer.publisher.lock() {
            Some(publisher) => publisher.publish(data).map_err(|error| error.to_string()),
            None => Err("the publisher has ended".to_owned()),
        }
    }
}

type Messages = BoxStream<'static, SerializedMessage>;

impl Topics {
    /// The number of subscribed topics.
    pub(crate) fn count(&self) -> usize {
        self.subscribed.lock().len()
    }

    /// Messages and bytes received on each subscribed topic.
    pub(crate) fn received(&self) -> BTreeMap<String, [u64; 2]> {
        self.subscribed.lock().iter().map(|(topic, entry)| (topic.clone(), entry.received)).collect()
    }

    /// Subscribes a client.
    pub(crate) async fn subscribe(
        &self,
        hub: &Arc<Hub>,
        client: &Arc<Client>,
        topic: &str,
        type_name: Option<&str>,
    ) -> Result<(), String> {
        let _alone = self.subscribing.lock().await;
        let type_name =
            type_name.map(|name| full_name(name, "msg")).transpose().map_err(|e| e.to_string())?;
        if self.join(client, topic, type_name.as_deref())? {
            return Ok(());
        }
        let type_name = match type_name {
            Some(name) => name,
            None => type_in_graph(hub, topic).await?,
        };
        let structure = hub.types.message(&type_name).map_err(|error| error.to_string())?;
        {
            let topics = self.subscribed.lock();
            let own = topics.values().filter(|entry| entry.subscribers.contains_key(&client.id)).count();
            SUBSCRIPTIONS.check(own + 1, topics.len() + 1)?;
        }
        let name = topic.to_owned();
        let subscribed = hub.temporary.make(&hub.temporary.topics, move |inside| {
            let (request, publishers) = wanted(&mut inside.node, &name, &type_name);
            subscribe(&mut inside.node, &name, &type_name, request)
                .map(|messages| (request, publishers, messages))
        });
        let (made, place) = subscribed.await.map_err(|error| error.to_string())?;
        let (request, publishers, messages) = made?;
        let entry = Subscribed {
            receiving: receive(hub, topic, 0, &structure, messages),
            structure,
            subscribers: BTreeMap::from([(client.id, Arc::clone(client))]),
            request,
            publishers,
            kept: VecDeque::new(),
            kept_bytes: 0,
            received: [0, 0],
            place,
            turn: 0,
            overlap: None,
        };
        self.subscribed.lock().insert(topic.to_owned(), entry);
        Ok(())
    }

    /// Adds a client to a subscribed topic; returns whether it is one.
    fn join(&self, client: &Arc<Client>, topic: &str, type_name: Option<&str>) -> Result<bool, String> {
        let mut topics = self.subscribed.lock();
        let Some(entry) = topics.get_mut(topic) else { return Ok(false) };
        let known = &entry.structure.name;
        if let Some(other) = type_name.filter(|name| name != known) {
            return Err(format!("it is subscribed to as {known}, not as {other}"));
        }
        let is_new = entry.subscribers.insert(client.id, Arc::clone(client)).is_none();
        if is_new {
            // With the lock, so that no newer message is delivered before.
            for sample in &entry.kept {
                client.deliver(topic, sample);
            }
        }
        Ok(true)
    }

    /// Removes a client from a topic.
    pub(crate) fn unsubscribe(&self, client: &Client, topic: &str) {
        let mut topics = self.subscribed.lock();
        if let Some(entry) = topics.get_mut(topic) {
            entry.subscribers.remove(&client.id);
            if entry.subscribers.is_empty() {
                topics.remove(topic);
            }
        }
    }

    /// Removes a client from all topics.
    pub(crate) fn leave(&self, client: &Client) {
        self.subscribed.lock().retain(|_, entry| {
            entry.subscribers.remove(&client.id);
            !entry.subscribers.is_empty()
        });
        let mut publications = self.publications.lock();
        let own: Vec<_> = publications.keys().filter(|(id, _)| *id == client.id).cloned().collect();
        for key in own {
            if let Some(publication) = publications.remove(&key) {
                linger(publication);
            }
        }
    }

    /// Makes a publisher for a client, if it has none of this topic and type.
    pub(crate) async fn advertise(
        &self,
        hub: &Arc<Hub>,
        client: &Arc<Client>,
        topic: &str,
        type_name: &str,
        latch: bool,
    ) -> Result<(), String> {
        let structure = hub.types.message(type_name).map_err(|error| error.to_string())?;
        let key = (client.id, topic.to_owned());
        {
            let publications = self.publications.lock();
            if let Some(present) = publications.get(&key) {
                return if present.structure.name == structure.name {
                    Ok(())
                } else {
                    Err(format!("it is advertised as {}", present.structure.name))
                };
            }
            let own = publications.keys().filter(|(id, _)| *id == client.id).count();
            PUBLISHERS.check(own + 1, publications.len() + 1)?;
        }
        let writer = self.writer(hub, topic, &structure, latch).await?;
        let publication = Publication {
            is_velocity: driving::is_velocity(&structure),
            structure,
            writer,
            kept: latch.then(Mutex::default),
        };
        self.publications.lock().insert(key, Arc::new(publication));
        Ok(())
    }

    /// The publisher of a topic and type, new or shared. A latched one keeps its own last message, and is not shared.
    async fn writer(
        &self,
        hub: &Hub,
        topic: &str,
        structure: &Structure,
        latch: bool,
    ) -> Result<Arc<Writer>, String> {
        let key = (topic.to_owned(), structure.name.clone());
        let shared = self.writers.lock().get(&key).and_then(Weak::upgrade);
        if let Some(shared) = shared.filter(|_| !latch) {
            return Ok(shared);
        }
        let qos = QosProfile::default();
        let qos = if latch { qos.keep_last(1).transient_local() } else { qos.keep_last(DEPTH) };
        let (name, type_name) = key.clone();
        let made = hub.ros.run(move |inside| raw::create_publisher(&mut inside.node, &name, &type_name, qos));
        let publisher = made.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let writer = Arc::new(Writer { publisher: Mutex::new(Some(publisher)), ros: hub.ros.clone() });
        if !latch {
            let mut writers = self.writers.lock();
            writers.retain(|_, writer| writer.strong_count() > 0);
            writers.insert(key, Arc::downgrade(&writer));
        }
        Ok(writer)
    }

    /// Ends a publisher of a client.
    pub(crate) fn unadvertise(&self, client: &Client, topic: &str) {
        let removed = self.publications.lock().remove(&(client.id, topic.to_owned()));
        if let Some(publication) = removed {
            linger(publication);
        }
    }

    /// Publishes a message of a client, which may not have advertised the topic. `now`: of the stamps that it leaves out.
    pub(crate) async fn publish(
        &self,
        hub: &Arc<Hub>,
        client: &Arc<Client>,
        topic: &str,
        type_name: Option<&str>,
        message: &Value,
        now: Option<Duration>,
    ) -> Result<(), String> {
        let key = (client.id, topic.to_owned());
        let mut publication = self.publications.lock().get(&key).cloned();
        if publication.is_none() {
            let type_name = match type_name {
                Some(name) => name.to_owned(),
                None => type_in_graph(hub, topic).await?,
            };
            self.advertise(hub, client, topic, &type_name, false).await?;
            publication = self.publications.lock().get(&key).cloned();
        }
        let publication = publication.ok_or("it is not advertised")?;
        let data = to_cdr_at(&publication.structure, message, now).map_err(|error| error.to_string())?;
        publication.publish(client, &data)?;
        if publication.is_velocity {
            hub.driving.take(client, topic, &publication, message);
        }
        Ok(())
    }

    /// Publishes serialized data of a client that has advertised the topic.
    pub(crate) fn publish_serialized(
        &self,
        hub: &Hub,
        client: &Arc<Client>,
        topic: &str,
        data: &[u8],
    ) -> Result<(), String> {
        let publication = self.publications.lock().get(&(client.id, topic.to_owned())).cloned();
        let publication = publication.ok_or("it is not advertised")?;
        // Also checks that it is a message of the type.
        let text = from_whole_cdr(&publication.structure, data).map_err(|error| error.to_string())?;
        publication.publish(client, data)?;
        if publication.is_velocity {
            let message = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            hub.driving.take(client, topic, &publication, &message);
        }
        Ok(())
    }

    /// Delivers a message of the subscription of this turn.
    fn deliver(&self, topic: &str, turn: u64, sample: Arc<Sample>) {
        let subscribers: Vec<Arc<Client>> = {
            let mut topics = self.subscribed.lock();
            let Some(entry) = topics.get_mut(topic) else { return };
            let is_old = entry.turn != turn;
            let is_first = match &mut entry.overlap {
                Some(overlap) => overlap.is_first(sample.data(), is_old),
                None => !is_old,
            };
            if !is_first {
                return;
            }
            let [messages, bytes] = entry.received;
            entry.received = [messages + 1, bytes + sample.data().len() as u64];
            let subscribers = entry.subscribers.values().cloned().collect();
            if entry.request.transient_local {
                entry.keep(&sample);
                let all: usize = topics.values().map(|entry| entry.kept_bytes).sum();
                // Without the last one the older ones of its topic are wrong.
                if all > MAX_KEPT_IN_ALL
                    && let Some(entry) = topics.get_mut(topic)
                {
                    entry.remove_kept();
                }
            }
            subscribers
        };
        for client in subscribers {
            client.deliver(topic, &sample);
        }
    }
}

impl Subscribed {
    /// Removes the messages for later subscribers.
    fn remove_kept(&mut self) {
        self.kept.clear();
        self.kept_bytes = 0;
    }

    /// Keeps a message for later subscribers.
    fn keep(&mut self, sample: &Arc<Sample>) {
        let most = if self.publishers <= 1 { 1 } else { MAX_KEPT };
        self.kept.push_back(Arc::clone(sample));
        self.kept_bytes += sample.data().len();
        while self.kept.len() > most || (self.kept.len() > 1 && self.kept_bytes > MAX_KEPT_BYTES) {
            let removed = self.kept.pop_front();
            self.kept_bytes -= removed.map_or(0, |sample| sample.data().len());
        }
    }
}

/// Compares subscriptions with what publishers offer, until the hub is gone.
pub(crate) async fn review(hub: std::sync::Weak<Hub>) {
    let mut changed: BTreeMap<String, Instant> = BTreeMap::new();
    loop {
        dragoman_time::sleep(REVIEW_PERIOD).await;
        let Some(hub) = hub.upgrade() else { return };
        if hub.temporary.replace(&hub.temporary.calls) {
            hub.calls.remove_kept();
        }
        if hub.temporary.replace(&hub.temporary.topics) {
            let topics: Vec<(String, String, Strictest)> = {
                let topics = hub.topics.subscribed.lock();
                let of = |(topic, entry): (&String, &Subscribed)| {
                    (topic.clone(), entry.structure.name.clone(), entry.request)
                };
                topics.iter().map(of).collect()
            };
            for (topic, type_name, request) in topics {
                renew(&hub, &topic, type_name, request).await;
            }
        }
        let topics: Vec<(String, String)> = hub
            .topics
            .subscribed
            .lock()
            .iter()
            .map(|(topic, entry)| (topic.clone(), entry.structure.name.clone()))
            .collect();
        if topics.is_empty() {
            continue;
        }
        let found = hub.ros.run(move |inside| {
            let wanted = |(topic, type_name): (String, String)| {
                let (request, publishers) = wanted(&mut inside.node, &topic, &type_name);
                (topic, type_name, request, publishers)
            };
            topics.into_iter().map(wanted).collect::<Vec<_>>()
        });
        for (topic, type_name, request, publishers) in found.await.unwrap_or_default() {
            let current = match hub.topics.subscribed.lock().get_mut(&topic) {
                Some(entry) => {
                    entry.publishers = publishers;
                    if publishers == 0 {
                        entry.remove_kept();
                    }
                    entry.request
                }
                None => continue,
            };
            let is_better = request.transient_local && !current.transient_local;
            if publishers == 0 || !(request.is_weaker_than(current) || is_better) {
                continue;
            }
            // Publishers that come and go do not make subscriptions follow at once.
            if changed.get(&topic).is_some_and(|last| dragoman_time::since(*last) < 4 * REVIEW_PERIOD) {
                continue;
            }
            changed.retain(|_, last| dragoman_time::since(*last) < 4 * REVIEW_PERIOD);
            changed.insert(topic.clone(), dragoman_time::now());
            renew(&hub, &topic, type_name, request).await;
        }
    }
}

/// Replaces a subscription by one with this request, on the present node.
async fn renew(hub: &Arc<Hub>, topic: &str, type_name: String, request: Strictest) {
    let name = topic.to_owned();
    let made = hub
        .temporary
        .make(&hub.temporary.topics, move |inside| subscribe(&mut inside.node, &name, &type_name, request))
        .await;
    let Ok((Ok(messages), place)) = made else { return };
    let turn = {
        let mut topics = hub.topics.subscribed.lock();
        let Some(entry) = topics.get_mut(topic) else { return };
        entry.turn += 1;
        let receiving = receive(hub, topic, entry.turn, &entry.structure, messages);
        let place = std::mem::replace(&mut entry.place, place);
        let receiving = std::mem::replace(&mut entry.receiving, receiving);
        // Latched messages come again.
        let kept = entry.kept.iter().map(|sample| sample.data());
        entry.overlap = Some(Overlap::new(receiving, place, kept));
        entry.request = request;
        entry.turn
    };
    let (hub, topic) = (Arc::downgrade(hub), topic.to_owned());
    dragoman_time::spawn(async move {
        dragoman_time::sleep(OVERLAP_TIME).await;
        let Some(hub) = hub.upgrade() else { return };
        let mut topics = hub.topics.subscribed.lock();
        if let Some(entry) = topics.get_mut(&topic).filter(|entry| entry.turn == turn) {
            entry.overlap = None;
        }
    });
}

/// The strictest subscription that all publishers of a topic meet, and their number.
fn wanted(node: &mut Node, topic: &str, type_name: &str) -> (Strictest, usize) {
    let publishers = node.get_publishers_info_by_topic(topic, false).unwrap_or_default();
    let of_type = publishers.into_iter().filter(|publisher| publisher.topic_type == type_name);
    let offered: Vec<QosProfile> = of_type.map(|publisher| publisher.qos_profile).collect();
    let default = Strictest { reliable: true, transient_local: false };
    (Strictest::of(&offered).unwrap_or(default), offered.len())
}

fn subscribe(node: &mut Node, topic: &str, type_name: &str, request: Strictest) -> Result<Messages, String> {
    // A latched topic may have many publishers with a message each.
    let depth = if request.transient_local { MAX_KEPT } else { DEPTH };
    let messages = raw::subscribe(node, topic, type_name, request.qos(depth));
    messages.map(StreamExt::boxed).map_err(|error| error.to_string())
}

/// Delivers messages until it is aborted.
fn receive(
    hub: &Arc<Hub>,
    topic: &str,
    turn: u64,
    structure: &Arc<Structure>,
    mut messages: Messages,
) -> AbortHandle {
    let (hub, topic, structure): (_, Arc<str>, _) =
        (Arc::downgrade(hub), topic.into(), Arc::clone(structure));
    let (receiving, handle) = abortable(async move {
        while let Some(message) = messages.next().await {
            let Some(hub) = hub.upgrade() else { return };
            let received = dragoman_time::wall_time();
            let sample = Sample::new(Arc::clone(&topic), Arc::clone(&structure), message.data, received);
            hub.topics.deliver(&topic, turn, Arc::new(sample));
            // Other clients and topics are served.
            tokio::task::yield_now().await;
        }
    });
    dragoman_time::spawn(receiving);
    handle
}

async fn type_in_graph(hub: &Hub, topic: &str) -> Result<String, String> {
    let graph = hub.graph().await.map_err(|error| error.to_string())?;
    let types = graph.topic_types(topic);
    match types.iter().collect::<Vec<_>>().as_slice() {
        [] => Err("its type is unknown: it has no publishers and no subscribers".to_owned()),
        [only] => Ok((**only).to_owned()),
        [first, second, ..] => Err(format!("it has several types, for example {first} and {second}")),
    }
}

/// Ends a publisher. That of velocities stays for a while: the last one is a zero, which a robot may not have
/// acknowledged yet, and it is not repeated after the end.
fn linger(publication: Arc<Publication>) {
    // Where nothing can be spawned the process ends, and waits for nothing.
    if publication.is_velocity && dragoman_time::can_spawn() {
        dragoman_time::spawn(async move {
            dragoman_time::sleep(LINGER_TIME).await;
            drop(publication);
        });
    }
}
