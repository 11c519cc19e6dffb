//! Finds topics as they appear and subscribes to them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dragoman_ros::raw::{self, SerializedMessage, Strictest};
use dragoman_ros::{Node, QosProfile};
use futures::StreamExt;
use futures::channel::mpsc::UnboundedSender;
use futures::stream::BoxStream;

use super::channel;
use super::selection::{Selection, with_hint};
use crate::worker::Worker;

/// Polling interval of the graph.
const PERIOD: Duration = Duration::from_millis(500);

/// Number of polls of the graph after which a missing requested topic is reported.
const MISSING_AFTER: u32 = 6;
/// Maximum number of topics that were not requested, among which a misspelt one is searched.
const MAX_OTHERS: usize = 10_000;

/// Maximum duration of one delivery, and so of the shutdown.
const SPIN_TIMEOUT: Duration = Duration::from_millis(50);

/// What was found in the graph.
pub(super) enum Found {
    Topic(Subscribed),
    /// A topic of pictures that are not wanted.
    LeftOut(String),
    /// A topic that was not requested.
    Other(String),
}

/// A subscribed topic, new or resubscribed because a publisher with a weaker offer appeared.
pub(super) struct Subscribed {
    pub(super) topic: String,
    pub(super) type_name: String,
    pub(super) definition: Option<String>,
    pub(super) offered: Vec<QosProfile>,
    pub(super) messages: BoxStream<'static, SerializedMessage>,
}

/// Starts the polling, with a thread of its own. r2r needs one for `spin_once` anyway, and allows only the spinning thread
/// to subscribe.
pub(super) fn watch(
    mut node: Node,
    selection: Selection,
    found: UnboundedSender<Found>,
) -> std::io::Result<Worker> {
    Worker::start("record graph", |mut stop| async move {
        let mut subscriptions = Subscriptions::default();
        loop {
            subscriptions.update(&mut node, &selection, &found);
            let looked = dragoman_time::now();
            while dragoman_time::since(looked) < PERIOD {
                if stop.spin(&mut node, SPIN_TIMEOUT).await {
                    return;
                }
            }
        }
    })
}

#[derive(Default)]
struct Subscriptions {
    /// By topic and type; `None` if subscribing failed, which is not retried.
    made: BTreeMap<(String, String), Option<Strictest>>,
    undefined: BTreeSet<String>,
    left_out: BTreeSet<String>,
    /// Topics that were not requested.
    others: BTreeSet<String>,
    looks: u32,
}

impl Subscriptions {
    fn update(&mut self, node: &mut Node, selection: &Selection, found: &UnboundedSender<Found>) {
        let topics = match node.get_topic_names_and_types() {
            // In a fixed order.
            Ok(topics) => BTreeMap::from_iter(topics),
            Err(error) => return tracing::warn!(%error, "listing the topics failed"),
        };
        self.look_for_missing(&topics, selection, found);
        // Sorted: subscriptions are made in the same order in every run.
        let topics: BTreeMap<String, Vec<String>> =
            topics.into_iter().filter(|(topic, _)| selection.wants(topic)).collect();
        for (topic, types) in &topics {
            let publishers = match node.get_publishers_info_by_topic(topic, false) {
                Ok(publishers) => publishers,
                Err(error) => {
                    tracing::warn!(%error, topic, "listing the publishers failed");
                    continue;
                }
            };
            for type_name in types {
                let of_type = publishers.iter().filter(|publisher| publisher.topic_type == *type_name);
                let offered: Vec<_> = of_type.map(|publisher| publisher.qos_profile.clone()).collect();
                let news = if selection.wants_type(type_name) {
                    self.subscribe(node, topic, type_name.clone(), offered).map(Found::Topic)
                } else if selection.reports_pictures() {
                    self.leave_out(topic, &topics)
                } else {
                    None
                };
                if let Some(news) = news {
                    // Fails only when the recording has ended.
                    let _ = found.unbounded_send(news);
                }
            }
        }
    }

    /// Reports topics that were not requested, and after a while once those that were and are not there.
    fn look_for_missing(
        &mut self,
        topics: &BTreeMap<String, Vec<String>>,
        selection: &Selection,
        found: &UnboundedSender<Found>,
    ) {
        if !selection.names_topics() {
            return;
        }
        let names = || topics.keys().map(String::as_str);
        for other in topics.keys().filter(|topic| !selection.wants(topic)) {
            if self.others.len() < MAX_OTHERS && self.others.insert(other.clone()) {
                // Fails only when the recording has ended.
                let _ = found.unbounded_send(Found::Other(other.clone()));
            }
        }
        self.looks = self.looks.saturating_add(1);
        if self.looks == MISSING_AFTER {
            for missing in selection.missing(names()) {
                tracing::warn!("topic not published yet: {}", with_hint(&missing, names()));
            }
        }
    }

    /// Reports once that a topic of pictures is not recorded, and which one is instead.
    fn leave_out(&mut self, topic: &str, topics: &BTreeMap<String, Vec<String>>) -> Option<Found> {
        if !self.left_out.insert(topic.to_owned()) {
            return None;
        }
        let below = format!("{topic}/compressed");
        match topics.keys().find(|name| name.starts_with(&below)) {
            Some(instead) => tracing::info!(topic, instead, "raw images not recorded (--all)"),
            None => {
                tracing::info!(topic, "raw images not recorded (--all); no compressed ones are published")
            }
        }
        Some(Found::LeftOut(topic.to_owned()))
    }

    fn subscribe(
        &mut self,
        node: &mut Node,
        topic: &str,
        type_name: String,
        offered: Vec<QosProfile>,
    ) -> Option<Subscribed> {
        let request = Strictest::of(&offered)?;
        let key = (topic.to_owned(), type_name);
        match self.made.get(&key) {
            Some(Some(present)) if request.is_weaker_than(*present) => {}
            Some(_) => return None,
            None => {}
        }
        let type_name = key.1.clone();
        let messages = match raw::subscribe(node, topic, &type_name, channel::qos(request, &type_name)) {
            Ok(messages) => messages.boxed(),
            Err(error) => {
                tracing::warn!(%error, topic, type_name, "subscribing failed");
                self.made.insert(key, None);
                return None;
            }
        };
        let definition = raw::definition(&type_name);
        if definition.is_none() && self.undefined.insert(type_name.clone()) {
            tracing::warn!(type_name, topic, "unknown type; recording its messages without schema");
        }
        tracing::debug!(topic, type_name, "recording the topic");
        self.made.insert(key, Some(request));
        Some(Subscribed { topic: topic.to_owned(), type_name, definition, offered, messages })
    }
}
