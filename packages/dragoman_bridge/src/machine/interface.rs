//! How a machine appears in ROS: topics and services of a description, with all names and types found. Without a node, so
//! that a description is checked without ROS.

mod actions;
mod compile;
mod service;

use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path};
use dragoman_protocol::expression::Number;
use dragoman_ros::QosProfile;
use dragoman_types::schema::{Structure, Types};
use serde_json::{Map, Value};

pub(crate) use actions::{Action, Ended};
use compile::Compiler;

use super::mapping::{RosMessage, RosPath, ToRos};
use super::outbox::Period;
use super::outgoing::Outgoing;
use super::plan::{Plan, error, is_name};
use super::standard::{Standard, VELOCITIES};
use super::term::{Lookup, Term};

/// How a machine appears in ROS.
pub struct Interface {
    pub(crate) plan: Arc<Plan>,
    pub(crate) publications: Vec<Publication>,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) services: Vec<Service>,
    pub(crate) actions: Vec<Action>,
    pub(crate) velocity: Option<Velocity>,
    /// What switches the motors on, and off.
    pub(crate) motor_power: Option<[Switch; 2]>,
    pub(crate) standard: Standard,
}

/// A topic of what the machine says.
pub(crate) struct Publication {
    pub(crate) topic: String,
    pub(crate) kind: String,
    pub(crate) qos: QosProfile,
    pub(crate) from: MessageId,
    pub(crate) to: ToRos,
    pub(crate) period: Period,
}

/// What a message or request of ROS sends.
pub(crate) struct Command {
    pub(crate) structure: Arc<Structure>,
    pub(crate) paths: Vec<RosPath>,
    pub(crate) outgoing: Outgoing,
    /// It moves something, which is stopped after this time.
    pub(crate) timeout: Option<Duration>,
    /// Only in this state.
    pub(crate) state: Option<usize>,
}

/// A topic whose messages are sent to the machine.
pub(crate) struct Subscription {
    pub(crate) topic: String,
    pub(crate) kind: String,
    pub(crate) qos: QosProfile,
    pub(crate) command: Command,
}

/// A service that asks the machine.
pub(crate) struct Service {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) command: Command,
    pub(crate) response: Arc<Structure>,
    answer: Option<ToRos>,
    fails: Option<Failure>,
}

/// Answers that are errors.
pub(crate) struct Failure {
    when: Term,
    paths: Vec<Path>,
    reason: Option<Path>,
}

/// A message that switches something.
pub(crate) struct Switch {
    pub(crate) outgoing: Outgoing,
    pub(crate) fails: Option<Failure>,
}

/// Velocity commands.
pub(crate) struct Velocity {
    /// The messages of a command.
    pub(crate) outgoing: Vec<Outgoing>,
    /// Maxima ahead, to the left, m/s, and about the vertical axis, rad/s.
    pub(crate) limits: [Option<f64>; 3],
    pub(crate) timeout: Duration,
    pub(crate) state: Option<usize>,
}

/// Velocities of a command, within their limits.
pub(crate) struct Velocities([f64; 3]);

impl Lookup for Velocities {
    fn number(&self, name: usize) -> Option<Number> {
        self.0.get(name).copied().map(Number::Real)
    }
}

impl Velocity {
    /// The velocities ahead, to the left, m/s, and about the vertical axis, rad/s, within their limits.
    ///
    /// # Errors
    /// One is not finite.
    pub(crate) fn limited(velocities: [f64; 3], limits: [Option<f64>; 3]) -> Result<Velocities, String> {
        let mut limited = velocities;
        for ((value, limit), name) in limited.iter_mut().zip(limits).zip(VELOCITIES) {
            if !value.is_finite() {
                return Err(format!("{name}: {value} is not finite"));
            }
            let limit = limit.unwrap_or(0.0);
            *value = value.clamp(-limit, limit);
        }
        Ok(Velocities(limited))
    }

    /// Checks that the largest velocities are possible, in all directions.
    ///
    /// # Errors
    /// Why they are not.
    pub(crate) fn check(&self, codec: &Codec) -> Result<(), String> {
        for signs in 0..8 {
            let most = [1, 2, 4].map(|bit| if signs & bit == 0 { f64::MAX } else { f64::MIN });
            let most = Self::limited(most, self.limits)?;
            for outgoing in &self.outgoing {
                outgoing.prepare(codec, &most, 0).map_err(|reason| format!("at the limits: {reason}"))?;
            }
        }
        Ok(())
    }
}

impl Interface {
    /// What the section `bridge` of a description says.
    ///
    /// # Errors
    /// A message, field or type does not exist; something that moves has no limits, or nothing that stops it.
    pub fn new(codec: Arc<Codec>, types: &Types) -> Result<Self, CodecError> {
        let protocol = codec.protocol();
        let place = format!("{}: bridge", protocol.name);
        let none = "there is no section bridge, which says how the machine appears in ROS";
        let bridge = protocol.bridge.as_ref().ok_or_else(|| error(&protocol.name, none))?;
        if !is_name(&protocol.name) {
            let reason =
                "is the namespace in ROS, so it has letters, digits and _, and does not begin with a digit";
            return Err(error("protocol", format!("'{}' {reason}", protocol.name)));
        }
        let plan = Arc::new(Plan::new(Arc::clone(&codec), bridge)?);
        let compiler = Compiler { codec: &codec, plan: &plan, types, bridge };
        let mut publications = Vec::new();
        for described in &bridge.publish {
            let place = format!("{place}: publish: topic {}", described.topic);
            let publication = compiler.publication(&place, described)?;
            let mut others = publications.iter().zip(&bridge.publish);
            if others.any(|(other, one): (&Publication, _)| {
                other.topic == publication.topic
                    && (&other.kind, one.qos) != (&publication.kind, described.qos)
            }) {
                return Err(error(&place, "is there with another type or qos"));
            }
            publications.push(publication);
        }
        let mut subscriptions = Vec::new();
        for described in &bridge.subscribe {
            let place = format!("{place}: subscribe: topic {}", described.topic);
            subscriptions.push(compiler.subscription(&place, described)?);
        }
        let mut services = Vec::new();
        for described in &bridge.services {
            let place = format!("{place}: services: service {}", described.service);
            services.push(compiler.service(&place, described)?);
        }
        let mut actions = Vec::new();
        for described in &bridge.actions {
            let place = format!("{place}: actions: action {}", described.action);
            actions.push(compiler.action(&place, described)?);
        }
        let velocity = bridge.cmd_vel.as_ref();
        let velocity = velocity.map(|described| compiler.velocity(&format!("{place}: cmd_vel"), described));
        let motor_power = bridge.motor_power.as_ref();
        let motor_power =
            motor_power.map(|described| compiler.motor_power(&format!("{place}: motor_power"), described));
        let standard = Standard::new(&codec, bridge, &plan.constants)?;
        let interface = Self {
            velocity: velocity.transpose()?,
            motor_power: motor_power.transpose()?,
            plan: Arc::clone(&plan),
            publications,
            subscriptions,
            services,
            actions,
            standard,
        };
        interface.unique(&place)?;
        Ok(interface)
    }

    /// The plan of the conversation.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The topics and services, a line each, for people.
    pub fn lines(&self) -> Vec<String> {
        let published = self.topics().map(|one| format!("publishes {} ({})", one.topic, one.kind));
        let standard = self.standard.lines();
        let subscribed = self.subscriptions.iter().map(|one| {
            let moves = one.command.timeout.map(moves).unwrap_or_default();
            format!("subscribes to {} ({}){moves}", one.topic, one.kind)
        });
        let velocity = self
            .velocity
            .iter()
            .map(|one| format!("subscribes to cmd_vel (geometry_msgs/msg/Twist){}", moves(one.timeout)));
        let served = self.services.iter().map(|one| {
            let moves = one.command.timeout.map(moves).unwrap_or_default();
            format!("serves {} ({}){moves}", one.name, one.kind)
        });
        let acted = self.actions.iter().map(|one| {
            let moves = one.command.timeout.map(moves).unwrap_or_default();
            format!("offers the action {} ({}){moves}", one.name, one.kind)
        });
        let stop = (!self.plan.stop.is_empty()).then(|| "serves stop (std_srvs/srv/Trigger)".to_owned());
        let motors =
            self.motor_power.iter().map(|_| "serves set_motor_power (std_srvs/srv/SetBool)".to_owned());
        published
            .chain(standard)
            .chain(subscribed)
            .chain(velocity)
            .chain(served)
            .chain(acted)
            .chain(stop)
            .chain(motors)
            .collect()
    }

    /// The services whose types r2r cannot serve.
    pub fn not_on_r2r(&self) -> impl Iterator<Item = &str> {
        let others = self.services.iter().filter(|one| !super::services::ON_R2R.contains(&one.kind.as_str()));
        others.map(|one| one.name.as_str())
    }

    /// The first publication of each topic: several messages may have the same one.
    fn topics(&self) -> impl Iterator<Item = &Publication> {
        let is_first =
            |at: usize, topic: &str| !self.publications.iter().take(at).any(|one| one.topic == topic);
        let all = self.publications.iter().enumerate();
        all.filter(move |(at, one)| is_first(*at, &one.topic)).map(|(_, one)| one)
    }

    /// No two have the same name.
    fn unique(&self, place: &str) -> Result<(), CodecError> {
        let mut topics: Vec<&str> = self.topics().map(|one| one.topic.as_str()).collect();
        topics.extend(self.standard.topics());
        // A topic that is published and subscribed to would give the machine its own reports as commands.
        topics.extend(self.subscriptions.iter().map(|one| one.topic.as_str()));
        topics.extend(self.velocity.iter().map(|_| "cmd_vel"));
        let services = self.services.iter().map(|one| one.name.as_str()).collect();
        let actions = self.actions.iter().map(|one| one.name.as_str()).collect();
        for (what, names) in [("topic", topics), ("service", services), ("action", actions)] {
            for (at, name) in names.iter().enumerate() {
                if names.iter().take(at).any(|other| other == name) {
                    let place = format!("{place}: {what} {name}");
                    return Err(error(
                        &place,
                        format!("two entries have this {what}; each needs a name of its own"),
                    ));
                }
            }
        }
        let own = [("stop", !self.plan.stop.is_empty()), ("set_motor_power", self.motor_power.is_some())];
        for (name, is_there) in own {
            if is_there && self.services.iter().any(|service| service.name == name) {
                let place = format!("{place}: services: service {name}");
                return Err(error(&place, "this name belongs to the bridge itself"));
            }
        }
        Ok(())
    }
}

fn moves(timeout: Duration) -> String {
    format!(", moves the machine; stopped after {} s", timeout.as_secs_f64())
}

impl Command {
    /// Looks values of a message of ROS up.
    pub(crate) fn lookup<'a>(&'a self, value: &'a Value) -> RosMessage<'a> {
        RosMessage { value, paths: &self.paths }
    }
}

/// Adds the reason of a failure to the first field for it that is not set yet.
fn insert_reason(structure: &Structure, fields: &mut Map<String, Value>, reason: &str) {
    let has = |name: &str| structure.fields.iter().any(|field| field.name == name);
    let names = ["message", "status_message", "error_message", "error_string", "error_msg"];
    let text = names.into_iter().find(|name| has(name));
    if let Some(text) = text.filter(|text| !fields.contains_key(*text)) {
        fields.insert(text.to_owned(), reason.into());
    }
}
