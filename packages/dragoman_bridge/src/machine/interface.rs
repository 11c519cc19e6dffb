//! How a machine appears in ROS: topics and services of a description, with all names and types found. Without a node, so
//! that a description is checked without ROS.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::Role;
use dragoman_protocol::model::bridge::{self, Bridge, Quality, Setting, Settings};
use dragoman_ros::QosProfile;
use dragoman_types::schema::{Structure, Types};
use serde_json::{Map, Value};

use super::conversation::reason_of;
use super::mapping::{RosMessage, RosNames, RosPath, ToRos};
use super::outgoing::{Outgoing, named};
use super::plan::{MOTION_TIMEOUT, Plan, error, heard, is_sent, seconds, stands_still};
use super::standard::{Standard, VELOCITIES, VelocityNames};
use super::term::{Lookup, Message, MessageNames, Names, Shape, Term};

/// How a machine appears in ROS.
pub struct Interface {
    pub(crate) plan: Arc<Plan>,
    pub(crate) publications: Vec<Publication>,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) services: Vec<Service>,
    pub(crate) velocity: Option<Velocity>,
    /// Messages that switch the motors on, and off.
    pub(crate) motor_power: Option<[Outgoing; 2]>,
    pub(crate) standard: Standard,
}

/// A topic of what the machine says.
pub(crate) struct Publication {
    pub(crate) topic: String,
    pub(crate) kind: String,
    pub(crate) qos: QosProfile,
    pub(crate) from: MessageId,
    pub(crate) to: ToRos,
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
struct Failure {
    when: Term,
    paths: Vec<Path>,
    reason: Option<Path>,
}

/// Velocity commands.
pub(crate) struct Velocity {
    pub(crate) outgoing: Outgoing,
    limits: [Option<f64>; 3],
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
    pub(crate) fn limited(&self, velocities: [f64; 3]) -> Result<Velocities, String> {
        let mut limited = velocities;
        for ((value, limit), name) in limited.iter_mut().zip(self.limits).zip(VELOCITIES) {
            if !value.is_finite() {
                return Err(format!("{name}: {value} is not finite"));
            }
            let limit = limit.unwrap_or(0.0);
            *value = value.clamp(-limit, limit);
        }
        Ok(Velocities(limited))
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
            publications.push(compiler.publication(&place, described)?);
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
        let velocity = bridge.cmd_vel.as_ref();
        let velocity = velocity.map(|described| compiler.velocity(&format!("{place}: cmd_vel"), described));
        let motor_power = bridge.motor_power.as_ref().map(|described| {
            let place = format!("{place}: motor_power");
            let one = |sending: &bridge::Sending| {
                let new = is_sent(&codec, &sending.send).and_then(|()| stands_still(&codec, &sending.send));
                let new = new.and_then(|()| {
                    let no_limits = BTreeMap::new();
                    let names = &mut super::plan::NoNames;
                    Outgoing::new(&codec, &sending.send, &sending.fields, &no_limits, &plan.constants, names)
                });
                new.map_err(|reason| error(&place, reason))
            };
            Ok([one(&described.on)?, one(&described.off)?])
        });
        let standard = Standard::new(&codec, bridge, &plan.constants)?;
        let interface = Self {
            velocity: velocity.transpose()?,
            motor_power: motor_power.transpose()?,
            plan: Arc::clone(&plan),
            publications,
            subscriptions,
            services,
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
        let published = self.publications.iter().map(|one| format!("publishes {} ({})", one.topic, one.kind));
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
        let stop = (!self.plan.stop.is_empty()).then(|| "serves stop (std_srvs/srv/Trigger)".to_owned());
        let motors =
            self.motor_power.iter().map(|_| "serves set_motor_power (std_srvs/srv/SetBool)".to_owned());
        published
            .chain(standard)
            .chain(subscribed)
            .chain(velocity)
            .chain(served)
            .chain(stop)
            .chain(motors)
            .collect()
    }

    /// The services whose types r2r cannot serve.
    pub fn not_on_r2r(&self) -> impl Iterator<Item = &str> {
        let others = self.services.iter().filter(|one| !super::services::ON_R2R.contains(&one.kind.as_str()));
        others.map(|one| one.name.as_str())
    }

    /// No two have the same name.
    fn unique(&self, place: &str) -> Result<(), CodecError> {
        let mut topics: Vec<&str> = self.publications.iter().map(|one| one.topic.as_str()).collect();
        topics.extend(self.standard.topics());
        // A topic that is published and subscribed to would give the machine its own reports as commands.
        topics.extend(self.subscriptions.iter().map(|one| one.topic.as_str()));
        topics.extend(self.velocity.iter().map(|_| "cmd_vel"));
        let services = self.services.iter().map(|one| one.name.as_str()).collect();
        for (what, names) in [("topic", topics), ("service", services)] {
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

impl Service {
    /// The response to a question that the machine has answered, or that was sent if nothing answers it.
    pub(crate) fn answered(&self, codec: &Codec, answer: Option<(MessageId, &Values)>) -> Value {
        let Some((message, values)) = answer else { return self.response(Ok(Map::new())) };
        if let Some(failure) = &self.fails {
            let lookup = Message { codec, message, values, paths: &failure.paths };
            let fails = failure.when.number(&lookup);
            if !matches!(fails, Ok(Some(_))) {
                return self.response(Err("the answer does not say whether it has failed".to_owned()));
            }
            if failure.when.is_true(&lookup) {
                let reason = failure.reason.as_ref().map(|path| reason_of(codec, message, values, path));
                return self.response(Err(reason.unwrap_or_else(|| "the machine refuses".to_owned())));
            }
        }
        let Some(to) = &self.answer else { return self.response(Ok(Map::new())) };
        self.response(to.object(&Message { codec, message, values, paths: to.paths() }))
    }

    /// The response with these fields, or one that reports the failure and its reason.
    pub(crate) fn response(&self, fields: Result<Map<String, Value>, String>) -> Value {
        let has = |name: &str| self.response.fields.iter().any(|field| field.name == name);
        let (mut fields, success, reason) = match fields {
            Ok(fields) => (fields, true, String::new()),
            Err(reason) => (Map::new(), false, reason),
        };
        if has("success") && !fields.contains_key("success") {
            fields.insert("success".to_owned(), success.into());
        }
        let text = ["message", "status_message", "error_message"].into_iter().find(|name| has(name));
        if let Some(text) = text.filter(|text| !fields.contains_key(*text)) {
            fields.insert(text.to_owned(), reason.into());
        }
        Value::Object(fields)
    }
}

impl Command {
    /// Looks values of a message of ROS up.
    pub(crate) fn lookup<'a>(&'a self, value: &'a Value) -> RosMessage<'a> {
        RosMessage { value, paths: &self.paths }
    }
}

struct Compiler<'a> {
    codec: &'a Codec,
    plan: &'a Plan,
    types: &'a Types,
    bridge: &'a Bridge,
}

/// What a message or a request sends.
struct Sent<'a> {
    send: &'a str,
    fields: &'a Settings,
    limits: &'a BTreeMap<String, [f64; 2]>,
    moves: bool,
    timeout: Option<f64>,
    state: Option<&'a str>,
}

impl Compiler<'_> {
    fn publication(&self, place: &str, described: &bridge::Publish) -> Result<Publication, CodecError> {
        let structure = self.structure(place, &described.kind)?;
        let from = heard(self.codec, &described.from).map_err(|reason| error(place, reason))?;
        let frame = described.frame.clone().map(Setting::Text);
        let to = ToRos::new(
            self.codec,
            from,
            Arc::clone(&structure),
            &described.fields,
            [described.when.as_ref(), frame.as_ref()],
            &self.plan.constants,
        );
        Ok(Publication {
            topic: self.name(place, &described.topic)?,
            kind: structure.name.clone(),
            qos: quality(described.qos),
            from,
            to: to.map_err(|reason| error(place, reason))?,
        })
    }

    fn subscription(&self, place: &str, described: &bridge::Subscribe) -> Result<Subscription, CodecError> {
        let structure = self.structure(place, &described.kind)?;
        let sent = Sent {
            send: &described.send,
            fields: &described.fields,
            limits: &described.limits,
            moves: described.moves,
            timeout: described.timeout,
            state: described.state.as_deref(),
        };
        Ok(Subscription {
            topic: self.name(place, &described.topic)?,
            kind: structure.name.clone(),
            qos: quality(described.qos),
            command: self.command(place, structure, &sent)?,
        })
    }

    fn service(&self, place: &str, described: &bridge::Service) -> Result<Service, CodecError> {
        let wrong = |reason: String| error(place, reason);
        let [request, response] = self.types.service(&described.kind).map_err(|reason| {
            let kinds = super::services::ON_R2R.into_iter();
            let hint = dragoman_text::nearest(&described.kind, kinds)
                .map_or(String::new(), |kind| format!("; did you mean '{kind}'?"));
            // A service is two types, of which the reason names one.
            wrong(reason.to_string().replace("_Request", "") + &hint)
        })?;
        let sent = Sent {
            send: &described.send,
            fields: &described.fields,
            limits: &described.limits,
            moves: described.moves,
            timeout: described.timeout,
            state: described.state.as_deref(),
        };
        let command = self.command(place, request, &sent)?;
        let asked = command.outgoing.message;
        if !self.plan.is_question(asked) && (described.fails.is_some() || !described.response.is_empty()) {
            return Err(wrong(format!(
                "nothing answers {}: response and fails have no fields",
                described.send
            )));
        }
        let other = self.plan.other_answer(asked);
        let message = other.unwrap_or(MessageId { is_answer: true, ..asked });
        let constants = &self.plan.constants;
        let answer = self.plan.is_question(asked).then(|| {
            ToRos::new(
                self.codec,
                message,
                Arc::clone(&response),
                &described.response,
                [None, None],
                constants,
            )
            .map_err(|reason| wrong(format!("response: {reason}")))
        });
        let fails = described.fails.as_ref().map(|fails| {
            let mut paths = Vec::new();
            let mut names = MessageNames::new(self.codec, message, &mut paths);
            let when = Term::read(&fails.when, constants, &mut names)
                .map_err(|reason| wrong(format!("fails: when: {reason}")))?;
            let reason = fails.reason.as_deref().map(|name| self.codec.path(message, name)).transpose();
            let reason = reason.map_err(|reason| wrong(format!("fails: reason: {reason}")))?;
            Ok::<_, CodecError>(Failure { when, paths, reason })
        });
        Ok(Service {
            name: self.name(place, &described.service)?,
            kind: described.kind.clone(),
            command,
            response,
            answer: answer.transpose()?,
            fails: fails.transpose()?,
        })
    }

    fn command(
        &self,
        place: &str,
        structure: Arc<Structure>,
        sent: &Sent<'_>,
    ) -> Result<Command, CodecError> {
        let wrong = |reason: String| error(place, reason);
        is_sent(self.codec, sent.send).map_err(wrong)?;
        let mut paths = Vec::new();
        let mut names = RosNames::new(&structure, &mut paths);
        let constants = &self.plan.constants;
        let outgoing = Outgoing::new(self.codec, sent.send, sent.fields, sent.limits, constants, &mut names)
            .map_err(|reason| error(place, reason))?;
        let message = named(self.codec, sent.send).map_err(|reason| error(place, reason))?;
        let role = self.codec.protocol().messages.get(message.number).map(|message| message.role);
        let moves = sent.moves || role == Some(Role::Start);
        if !moves && sent.timeout.is_some() {
            return Err(error(place, "timeout is for what moves something: moves: true"));
        }
        let timeout = if moves {
            if let Some(field) = outgoing.unlimited() {
                return Err(error(place, format!("it moves the machine: limits need a range of {field}")));
            }
            self.check_stop(place)?;
            Some(seconds(&format!("{place}: timeout"), sent.timeout.unwrap_or(MOTION_TIMEOUT), 0.01)?)
        } else {
            None
        };
        Ok(Command {
            structure,
            paths,
            outgoing,
            timeout,
            state: self.plan.state_named(&format!("{place}: in"), sent.state)?,
        })
    }

    fn velocity(&self, place: &str, described: &bridge::CmdVel) -> Result<Velocity, CodecError> {
        /// Velocities that are used.
        struct Used([bool; 3]);
        impl Names for Used {
            fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
                let found = VelocityNames.find(name)?;
                if let Some(used) = self.0.get_mut(found.0) {
                    *used = true;
                }
                Ok(found)
            }
        }
        is_sent(self.codec, &described.send).map_err(|reason| error(place, reason))?;
        let (mut used, no_limits) = (Used([false; 3]), BTreeMap::new());
        let constants = &self.plan.constants;
        let outgoing =
            Outgoing::new(self.codec, &described.send, &described.fields, &no_limits, constants, &mut used)
                .map_err(|reason| error(place, reason))?;
        if let Some(name) = described.limits.keys().find(|name| !VELOCITIES.contains(&name.as_str())) {
            let hint = dragoman_text::hint(name, VELOCITIES.iter().copied());
            return Err(error(&format!("{place}: limits"), format!("there is no velocity {name}{hint}")));
        }
        let mut limits = [None; 3];
        for ((limit, name), used) in limits.iter_mut().zip(VELOCITIES).zip(used.0) {
            *limit = described.limits.get(name).copied();
            if let Some(value) = limit.filter(|value| !value.is_finite() || *value < 0.0) {
                return Err(error(
                    &format!("{place}: limits: {name}"),
                    format!("{value} is not a maximum: it must be 0 or more"),
                ));
            }
            if used && limit.is_none() {
                return Err(error(place, format!("it moves the machine: limits need a maximum of {name}")));
            }
        }
        self.check_stop(place)?;
        let timeout =
            seconds(&format!("{place}: timeout"), described.timeout.unwrap_or(MOTION_TIMEOUT), 0.01)?;
        let velocity = Velocity {
            outgoing,
            limits,
            timeout,
            state: self.plan.state_named(&format!("{place}: in"), described.state.as_deref())?,
        };
        // The largest velocities must be possible, in all directions.
        for signs in 0..8 {
            let most = [1, 2, 4].map(|bit| if signs & bit == 0 { f64::MAX } else { f64::MIN });
            let most = velocity.limited(most).map_err(|reason| error(place, reason))?;
            if let Err(reason) = velocity.outgoing.prepare(self.codec, &most, 0) {
                return Err(error(place, format!("at the limits: {reason}")));
            }
        }
        Ok(velocity)
    }

    fn check_stop(&self, place: &str) -> Result<(), CodecError> {
        if self.bridge.stop.0.is_empty() {
            let reason = "it moves the machine: bridge needs stop, the message that stops it";
            return Err(error(place, reason));
        }
        Ok(())
    }

    fn structure(&self, place: &str, kind: &str) -> Result<Arc<Structure>, CodecError> {
        self.types.message(kind).map_err(|reason| error(place, reason.to_string()))
    }

    /// A name of a topic or service, below the machine's unless it begins with a slash.
    fn name(&self, place: &str, name: &str) -> Result<String, CodecError> {
        if name.strip_prefix('/').unwrap_or(name).split('/').all(is_name) {
            return Ok(name.to_owned());
        }
        Err(error(place, format!("'{name}' is not a name: letters, digits, _ and / between them")))
    }
}

/// Whether a text is a part of a name in ROS.
fn is_name(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn quality(described: Quality) -> QosProfile {
    let qos = QosProfile::default().keep_last(described.depth.max(1));
    let qos = if described.reliable { qos.reliable() } else { qos.best_effort() };
    if described.transient_local { qos.transient_local() } else { qos.volatile() }
}
