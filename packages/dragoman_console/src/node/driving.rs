//! Who drives. A client that publishes velocity commands drives their topic, until another does. When it leaves, or gives
//! no sign for a moment, one zero is published, so that a robot does not follow the last command of a page that is gone.
//! And which services a client has called last: they command as well.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dragoman_types::json::to_cdr_at;
use dragoman_types::schema::Structure;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::client::Client;
use super::hub::Hub;
use super::topics::Publication;

/// Time after the last command for which a client counts as the driver.
const DRIVER_TIME: Duration = Duration::from_secs(1);

/// The types of velocity commands.
const TWIST: &str = "geometry_msgs/msg/Twist";
const TWIST_STAMPED: &str = "geometry_msgs/msg/TwistStamped";

/// Whether messages of a type drive a robot.
pub(crate) fn is_velocity(structure: &Structure) -> bool {
    matches!(structure.name.as_str(), TWIST | TWIST_STAMPED)
}

/// The drivers by topic.
#[derive(Default)]
pub(crate) struct Driving {
    drivers: Mutex<BTreeMap<String, Driver>>,
}

struct Driver {
    client: Arc<Client>,
    publication: Arc<Publication>,
    since: Instant,
    last: Instant,
    is_moving: bool,
}

impl Driving {
    /// Takes a velocity command that a client has published.
    pub(crate) fn take(
        &self,
        client: &Arc<Client>,
        topic: &str,
        publication: &Arc<Publication>,
        message: &Value,
    ) {
        let now = dragoman_time::now();
        let mut drivers = self.drivers.lock();
        let is_moving = is_moving(message);
        let before = drivers.remove(topic);
        if let Some(before) = before.as_ref().filter(|before| before.client.id != client.id) {
            let previous = before.client.address;
            tracing::info!(topic, client = %client.address, %previous, "driving client changed");
        }
        let same = before.filter(|before| {
            before.client.id == client.id && dragoman_time::since(before.last) < DRIVER_TIME
        });
        let driver = Driver {
            client: Arc::clone(client),
            publication: Arc::clone(publication),
            since: same.map_or(now, |same| same.since),
            last: now,
            is_moving,
        };
        client.is_driving.store(true, Ordering::Relaxed);
        drivers.insert(topic.to_owned(), driver);
    }

    /// Removes the topics of a client, or one of them; returns those on which it drives.
    fn remove(&self, client: &Client, topic: Option<&str>) -> Vec<(String, Arc<Publication>)> {
        let mut drivers = self.drivers.lock();
        let of_client = |name: &str, driver: &Driver| {
            driver.client.id == client.id && topic.is_none_or(|topic| topic == name)
        };
        let names: Vec<String> = drivers
            .iter()
            .filter(|(name, driver)| of_client(name, driver))
            .map(|(name, _)| name.clone())
            .collect();
        let removed = names.into_iter().filter_map(|name| drivers.remove_entry(&name));
        let moving = removed.filter(|(_, driver)| driver.is_moving);
        let moving = moving.map(|(name, driver)| (name, driver.publication)).collect();
        let still = drivers.values().any(|driver| driver.client.id == client.id);
        client.is_driving.store(still, Ordering::Relaxed);
        moving
    }

    /// The drivers, for pages.
    pub(crate) fn list(&self) -> Value {
        let drivers = self.drivers.lock();
        let mut list: Vec<_> =
            drivers.iter().filter(|(_, driver)| dragoman_time::since(driver.last) < DRIVER_TIME).collect();
        list.sort_by_key(|(topic, _)| topic.as_str());
        let driver = |(topic, driver): (&String, &Driver)| {
            json!({
                "topic": topic,
                "client": driver.client.id,
                "address": driver.client.address.to_string(),
                "moving": driver.is_moving,
                "seconds": dragoman_time::since(driver.since).as_secs_f64(),
            })
        };
        list.into_iter().map(driver).collect()
    }

    /// The drivers in one line.
    pub(crate) fn summary(&self) -> String {
        let drivers = self.drivers.lock();
        let active = drivers.iter().filter(|(_, driver)| dragoman_time::since(driver.last) < DRIVER_TIME);
        let mut list: Vec<String> =
            active.map(|(topic, driver)| format!("{topic} by {}", driver.client.address)).collect();
        list.sort();
        list.join(", ")
    }
}

/// Maximum number of services and actions that are kept for a client.
const MAX_COMMANDS: usize = 16;
/// Beginnings of names of services that only ask.
const QUESTIONS: [&str; 3] = ["get_", "list_", "describe_"];

/// The services that a client has called, and the actions whose goals it has sent, with the last time of each.
#[derive(Default)]
pub(crate) struct Commands(Mutex<BTreeMap<String, Instant>>);

impl Commands {
    /// Takes a call, unless it only asks.
    pub(crate) fn take(&self, name: &str) {
        let last = name.rsplit('/').next().unwrap_or(name);
        if name.starts_with("/rosapi/") || QUESTIONS.iter().any(|question| last.starts_with(question)) {
            return;
        }
        let mut times = self.0.lock();
        if times.len() >= MAX_COMMANDS && !times.contains_key(name) {
            let oldest = times.iter().min_by_key(|(_, time)| **time).map(|(name, _)| name.clone());
            if let Some(oldest) = oldest {
                times.remove(&oldest);
            }
        }
        times.insert(name.to_owned(), dragoman_time::now());
    }

    /// The commands of a client, for pages.
    pub(crate) fn list(&self, client: &Client) -> Vec<Value> {
        let command = |(name, time): (&String, &Instant)| {
            json!({
                "name": name,
                "client": client.id,
                "address": client.address.to_string(),
                "seconds": dragoman_time::since(*time).as_secs_f64(),
            })
        };
        self.0.lock().iter().map(command).collect()
    }
}

impl Hub {
    /// Stops all that a client moves.
    pub(crate) fn stop_driving(&self, client: &Client, reason: &str) {
        for (topic, publication) in self.driving.remove(client, None) {
            tracing::warn!(topic, client = %client.address, "{reason}; publishing zero velocity");
            publish_zero(&topic, &publication, self.now());
        }
    }

    /// Stops what a client moves on one topic.
    pub(crate) fn stop_topic(&self, client: &Client, topic: &str) {
        for (topic, publication) in self.driving.remove(client, Some(topic)) {
            publish_zero(&topic, &publication, self.now());
        }
    }
}

fn publish_zero(topic: &str, publication: &Publication, now: Duration) {
    let published = to_cdr_at(&publication.structure, &json!({}), Some(now))
        .map_err(|error| error.to_string())
        .and_then(|data| publication.send(&data));
    if let Err(reason) = published {
        tracing::error!(topic, reason, "publishing zero velocity failed");
    }
}

/// Whether a velocity command has a component that is not zero.
fn is_moving(message: &Value) -> bool {
    match message {
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Object(fields) => fields.iter().any(|(name, value)| name != "header" && is_moving(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_commands_are_known_and_questions_are_not() {
        let commands = Commands::default();
        dragoman_time::Simulation::new(1).block_on(async {
            for name in ["/rosapi/topics", "/neobotix/get_parameters", "/arm/list_parameters"] {
                commands.take(name);
            }
            assert!(commands.0.lock().is_empty());
            for number in 0..=MAX_COMMANDS {
                commands.take(&format!("/arm/command_{number}"));
                dragoman_time::sleep(Duration::from_secs(1)).await;
            }
            let times = commands.0.lock();
            assert_eq!(times.len(), MAX_COMMANDS);
            assert!(!times.contains_key("/arm/command_0"), "the oldest is forgotten");
        });
    }

    #[test]
    fn zero_does_not_move() {
        assert!(!is_moving(&json!({ "linear": { "x": 0.0 }, "angular": { "z": -0.0 } })));
        assert!(!is_moving(&json!({ "header": { "stamp": { "sec": 5 } }, "twist": {} })));
        assert!(is_moving(&json!({ "twist": { "linear": { "x": 1e-3 } } })));
    }
}
